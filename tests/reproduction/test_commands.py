"""``python -m reproduction``: experiments are run and resumed, data are checked."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from kreinlearn.app.cli import run_command
from reproduction import commands
from reproduction.catalog import EXPERIMENTS
from reproduction.data import names

ROOT = Path(__file__).parents[2]
SLOW = pytest.mark.slow


def run(capsys, *args):
    """Run a command in this process; return exit code, output and errors."""
    with pytest.raises(SystemExit) as stop:
        run_command(commands.app, "python -m reproduction", args)
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_data_are_listed_and_checked(capsys, tmp_path):
    code, out, _ = run(capsys, "data", "list", "--data", str(tmp_path))
    assert code == 0 and "monks1" in out and out.count("missing") == len(names())
    code, out, _ = run(capsys, "data", "list", "--data", str(tmp_path), "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [row["name"] for row in rows] == list(names())
    assert not any(row["here"] for row in rows)
    code, out, _ = run(capsys, "data", "check", "--data", str(tmp_path))
    assert code == 0 and out.count("missing") == len(names())
    code, out, _ = run(capsys, "data", "check", "--data", str(tmp_path), "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and {row["status"] for row in rows} == {"missing"}
    (tmp_path / "sonar.csv.gz").write_bytes(b"not a table")
    code, out, err = run(capsys, "data", "check", "--data", str(tmp_path))
    assert code == 2 and "1 data sets have unexpected contents: sonar" in err
    code, _, err = run(capsys, "data", "fetch", "moons", "--data", str(tmp_path))
    assert code == 2 and "'moons'" in err and len(err.splitlines()) == 1


def test_reproduce_without_data_names_the_source(capsys, tmp_path):
    args = ("--data", str(tmp_path), "--out", str(tmp_path / "out"))
    code, out, err = run(capsys, "table3", *args)
    assert code == 2 and out == "" and len(err.splitlines()) == 1
    assert "python -m reproduction data fetch" in err and "KREINLEARN_DATA" in err
    assert not (tmp_path / "out").exists()
    code, _, err = run(capsys, "table9", *args)
    assert code == 2 and "'table3'" in err and "'table9'" in err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table2", pytest.param("fig2", marks=SLOW)])
def test_reproduce_runs_writes_and_continues(
    capsys, tmp_path, data_home, monkeypatch, name
):
    small = replace(EXPERIMENTS[name], datasets=("monks1",))
    monkeypatch.setitem(EXPERIMENTS, name, small)
    args = ("--data", data_home, "--out", str(tmp_path), "--runs", "1", "--jobs", "1")
    code, out, err = run(capsys, name, *args)
    assert code == 0 and name in err
    for kind in ("html", "md", "csv", "jsonl"):
        assert (tmp_path / f"{name}.{kind}").stat().st_size > 0
    records = (tmp_path / f"{name}.jsonl").read_text()
    code, out, err = run(capsys, name, *args)
    assert code == 0 and (tmp_path / f"{name}.jsonl").read_text() == records
    code, out, err = run(capsys, name, *args, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and {row["experiment"] for row in rows} == {name}
    assert all(row["data"] == "monks1" for row in rows)


@pytest.mark.slow
def test_pages_name_the_command(capsys, tmp_path):
    out = str(tmp_path)
    args = ("--dataset", "2 x 2", "--runs", "1", "--jobs", "1", "--out", out)
    code, _, _ = run(capsys, "table1", *args)
    page = (tmp_path / "table1.html").read_text(encoding="utf-8")
    assert code == 0
    assert "<code>python -m reproduction table1 --runs 1 --dataset" in page


BAD_CALLS = {
    "table9": ["'table9'", "'table3'", "'data'"],
    "table3 --data a-folder": ["python -m reproduction data fetch"],
    "table3 --runs few": ["--runs", "'few'"],
    "table3 --runs 0": ["'runs'", "got 0"],
    "--fast": ["--fast"],
    "data fetch": ["NAME"],
    "data fetch moons --data a-folder": ["'moons'"],
    "data burn": ["'burn'"],
}


@pytest.mark.parametrize("call", BAD_CALLS)
def test_bad_calls_exit_with_two_and_one_line(capsys, tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *call.split())
    assert (code, out) == (2, "") and len(err.splitlines()) == 1
    assert err.startswith("reproduction: ")
    assert all(words in err for words in BAD_CALLS[call])
    assert not list(tmp_path.iterdir())


def test_downloads_name_the_package_that_they_need(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    code, _, err = run(capsys, "data", "fetch", "sonar", "--data", str(tmp_path / "x"))
    assert code == 2 and "pooch" in err and ".[reproduction]" in err
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_exits_with_130(tmp_path):
    call = [sys.executable, "-m", "reproduction", "table1", "--out", str(tmp_path)]
    # Processes that a shell starts in the background ignore this signal.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    call += ["--jobs", "1"]
    with subprocess.Popen(
        call, cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=heed
    ) as process:
        process.stderr.readline()  # the announcement
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "reproduction: interrupted."
