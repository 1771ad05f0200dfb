import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kreinlearn.app import runs as progress_module
from kreinlearn.app.runs import (
    RunState,
    make_record,
    run,
    to_json,
)
from kreinlearn.app.runs import read_records as read
from reproduction.cells import grid
from tests.runs import work
from tests.stress.kills import descendants, outliving

ROOT = Path(__file__).parents[2]


def essence(records):
    """Return the fields that do not depend on the clock or the order of workers."""
    return sorted((r["key"], r["seed"], r["status"], r.get("acc")) for r in records)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "toy.jsonl"
    told = []
    how = {"cost": lambda cell: cell.run, "progress": told.append}
    assert run(work.cells(40), path, work.fair, jobs=1, **how) == 40
    return path, told


def test_runs_once_then_skips(uninterrupted):
    path, _ = uninterrupted
    told = []
    before = path.read_bytes()
    assert run(work.cells(40), path, work.fair, jobs=2, progress=told.append) == 0
    assert path.read_bytes() == before
    assert [(p.done, p.total) for p in told] == [(40, 40)]
    assert told[0].text == "40 found, 0 to run"
    expected = [make_record(cell, work.fair(cell)) for cell in work.cells(40)]
    assert essence(read(path)) == essence(map(to_json, expected))
    versions = read(path)[0]["ver"]
    assert {"python", "numpy", "scipy", "scikit-learn", "kreinlearn"} == set(versions)


def test_longest_first_and_progress(uninterrupted):
    path, told = uninterrupted
    runs = [record["run"] for record in read(path)]
    assert runs == [n for n in range(19, -1, -1) for _ in range(2)]
    assert [p.done for p in told] == list(range(41))
    assert told[0].left is None
    assert told[-1].left == 0
    last = read(path)[-1]
    assert told[-1].text == f"{last['data']}, m, run 1, accuracy {last['acc']:.3f}"


@pytest.fixture(scope="module")
def troubled(tmp_path_factory):
    """Return records, by key, of cells of which three have trouble, and the seconds.

    The cells in trouble come first, so that all others are left to replaced workers.
    """
    path = tmp_path_factory.mktemp("troubled") / "toy.jsonl"
    cells = grid("toy", ["hangs", "dies", "raises"], ["m"], 3)
    start = time.monotonic()
    how = {"jobs": 1, "limit": 4.0, "cost": lambda cell: -cell.run}
    assert run(cells, path, work.troubled, **how) == 9
    return {r["key"]: r for r in read(path)}, time.monotonic() - start


def test_failures_are_records_and_the_rest_goes_on(troubled):
    found, _ = troubled
    failed = found["toy/raises/m/0"]
    assert failed["status"] == "error"
    assert failed["error"] == "ValueError: no luck with toy/raises/m/0"
    others = [r for r in found.values() if r["run"] > 0]
    assert [r["status"] for r in others] == ["converged"] * 6
    assert len(found) == 9


def test_a_hanging_cell_is_stopped(troubled):
    found, seconds = troubled
    assert seconds < 120  # not ten minutes
    assert found["toy/hangs/m/0"]["status"] == "timeout"
    assert "limit of 4 seconds" in found["toy/hangs/m/0"]["error"]


def test_a_worker_that_dies_is_replaced(troubled):
    found, _ = troubled
    assert found["toy/dies/m/0"]["status"] == "error"
    assert "ended with code 7" in found["toy/dies/m/0"]["error"]


def test_workers_keep_to_one_thread(tmp_path):
    path = tmp_path / "toy.jsonl"
    before = dict(os.environ)
    run(work.cells(2)[:1], path, work.surveying, jobs=2)
    assert [r["n_iter"] for r in read(path)] == [1]
    assert dict(os.environ) == before


SCRIPT = """
import signal
import sys
from kreinlearn.app.runs import run
from reproduction.cells import grid
from tests.runs import work
# A job in the background may have inherited that interrupts are ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
run(work.cells(40), sys.argv[1], getattr(work, sys.argv[2]), jobs=2)
"""


def start(path, name="slow"):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), name],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(path, n, process):
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        if path.exists() and path.read_bytes().count(b"\n") >= n:
            return
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    raise AssertionError("no records in time")


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)],
)
def test_resuming_gives_what_an_uninterrupted_run_gives(
    tmp_path, uninterrupted, number
):
    path = tmp_path / "toy.jsonl"
    with start(path) as process:
        wait_for_lines(path, 10, process)
        process.send_signal(number)
        process.wait(timeout=60)
        said = process.stderr.read()
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in said
    half_way = read(path)
    assert 10 <= len(half_way) <= 35
    # A line in the middle of being written, as a kill may leave it.
    with open(path, "ab") as file:
        file.write(json.dumps(half_way[0]).encode()[:30])
    run(work.cells(40), path, work.fair, jobs=1)
    records = read(path)
    assert essence(records) == essence(read(uninterrupted[0]))
    assert len({r["key"] for r in records}) == len(records) == 40
    assert records[: len(half_way)] == half_way


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux to end workers")
@pytest.mark.parametrize("name", ["slow", "deaf"])
def test_workers_end_with_a_killed_parent(tmp_path, name):
    path = tmp_path / "toy.jsonl"
    with start(path, name) as process:
        if name == "deaf":  # no thread of a worker can look after the parent then
            assert [process.stderr.readline() for _ in range(2)] == ["begun\n"] * 2
        else:
            wait_for_lines(path, 2, process)
        workers = descendants(process.pid)
        assert len(workers) >= 2
        process.kill()
        process.wait(timeout=60)
        assert outliving(workers, 60) == []


def test_progress_lines_in_a_pipe():
    import io

    stream = io.StringIO()
    with progress_module.progress_bar(stream, "toy") as watch:
        watch(RunState(2, 4, "2 found, 2 to run"))
        watch(RunState(3, 4, "m, fold 1, accuracy 0.750", 61.0))
    assert stream.getvalue().splitlines() == [
        "toy 2/4: 2 found, 2 to run",
        "toy 3/4: m, fold 1, accuracy 0.750; 1m01s left",
    ]


def test_progress_bar_on_a_terminal():
    import io

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    with progress_module.progress_bar(stream, "toy") as watch:
        watch(RunState(2, 4, "", 61.0))
    assert "2/4" in stream.getvalue()
    assert "1m01s left" in stream.getvalue()
