"""The benchmarks: the command that runs them, their page, and scripts on landmarks."""

import csv
import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks import commands
from kreinlearn.app import cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
REQUIRED = {
    *("bench", "work", "library", "n", "m", "dtype", "median_s", "min_s", "repeats"),
    *("ours_faster", "versions", "threads", "cpu"),
}


def record(work, library, n, seconds, bench="scaling", **fields):
    machine = {"versions": {"python": "3.12"}, "threads": 2, "cpu": "A", "cores": 2}
    row = {"bench": bench, "work": work, "library": library, "n": n, "m": 22}
    row |= {"dtype": "float64", "median_s": seconds, "ours_faster": 1.0}
    return row | machine | fields


def write(folder, name, rows):
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(lines)


def test_the_page_has_the_numbers_of_the_records(script, tmp_path):
    page, records, docs = script("page"), tmp_path / "records", tmp_path / "docs"
    records.mkdir()
    sizes = (1000, 2000, 4000, 8000)
    grown = [
        record("fit", library, n, c * n**power, peak_mb=100 + n**2 / 1e4)
        for n in sizes
        for library, c, power in (("kreinlearn", 1e-8, 2), ("SVC", 1e-9, 2.5))
        if library != "SVC" or n < 8000
    ]
    write(records, "scaling", grown)
    ours = {"accuracy": 0.912, "residual": 3e-8, "bench": "fit"}
    peer = {"accuracy": 0.898, "ours_faster": 0.25, "bench": "fit"}
    write(
        records,
        "fit",
        [
            record("fit, EEG", "kreinlearn", 7490, 99.0, **ours),
            record(
                "fit, EEG", "kreinlearn", 7490, 2.0, **ours
            ),  # again: this one counts
            record("fit, EEG", "SVC", 7490, 0.5, **peer),
        ],
    )
    copy = record("copy, 2 threads", "numpy", 9, 1.0, bench="machine", gb_per_s=12.34)
    write(records, "machine", [copy])
    text = page.write_page(records, docs).read_text()
    expected = "| fit, EEG | 7490 | 22 | float64 | 2.00 s | SVC | 500 ms | 0.25x |"
    assert f"{expected} 0.912 / 0.898 | 3e-08 / – |" in text
    assert "| slope, larger half | 2.00 | 2.50 |" in text
    assert "| 8000 | 640 ms |  |" in text  # no peer at the largest size
    assert "Copy, 2 threads: 12.3 GB/s" in text and "99.0" not in text
    assert (ROOT / "benchmarks" / "notes.md").read_text().strip() in text
    for name in ("speed-time", "speed-memory"):
        image = ElementTree.parse(docs / "images" / f"{name}.svg").getroot()
        assert image.tag.endswith("svg") and f"images/{name}.svg" in text


def test_the_command_prints_and_keeps_rows(capfd, tmp_path):
    args = ("machine", "--quick", "--json", "--out", str(tmp_path))
    code, out, _ = run_benchmarks(capfd, *args)
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and len(rows) == 6
    assert all(row.keys() >= REQUIRED for row in rows)
    assert {row["work"] for row in rows} >= {"copy, 1 thread", "copy, 2 threads"}
    assert (tmp_path / "machine.jsonl").read_text() == out


ROW = {"bench": "made", "work": "tl1", "library": "ours", "n": 10, "dtype": "float64"}
ROWS = [
    ROW | {"median_s": 0.01234, "ours_faster": None},
    ROW | {"library": "other", "median_s": 0.05, "ours_faster": 4.05},
]


def run_benchmarks(capfd, *args):
    """Run the command in this process; return exit code, output and errors."""
    with pytest.raises(SystemExit) as stop:
        cli.run_command(commands.app, commands.PROGRAM, args)
    out, err = capfd.readouterr()
    return stop.value.code, out, err


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """Let the benchmarks be one that prints what it was asked, and one that fails."""
    good, bad = tmp_path / "bench_made.py", tmp_path / "bench_broken.py"
    lines = "\n".join(map(json.dumps, ROWS))
    good.write_text(
        "import os, sys\n"
        f"print({lines!r})\n"
        "print(sys.argv[1:], os.environ.get('KREINLEARN_DATA'), file=sys.stderr)\n"
    )
    bad.write_text("raise SystemExit(3)\n")
    found = {"broken": bad, "made": good}
    monkeypatch.setattr(commands, "find_scripts", lambda: found)
    return found


def test_a_table_is_printed(scripts, capfd):
    call = ["made", "--quick", "--repeats", "3", "--data", "there"]
    code, out, err = run_benchmarks(capfd, *call)
    assert code == 0
    first, second, third = out.splitlines()
    assert first.split() == ["made", *commands.COLUMN_TITLES]
    assert second.split() == ["tl1", "ours", "10", "float64", "0.0123"]
    assert third.split() == ["tl1", "other", "10", "float64", "0.05", "4.05"]
    assert err.strip() == "['--quick', '--repeats', '3'] there"


def test_results_are_kept_and_printed_as_json(scripts, capfd, tmp_path):
    folder = tmp_path / "new" / "records"
    for times in (1, 2):
        code, out, _ = run_benchmarks(capfd, "made", "--json", "--out", str(folder))
        assert code == 0
        assert [json.loads(line) for line in out.splitlines()] == ROWS
        kept = (folder / "made.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in kept] == ROWS * times


def test_help_names_every_script(capfd):
    code, out, _ = run_benchmarks(capfd, "--help")
    assert code == 0 and re.search(r"Examples:\s+python -m benchmarks ", out)
    assert set(commands.find_scripts()) >= {"machine", "fit"}
    assert all(name in out for name in commands.find_scripts())


def test_the_module_runs_from_a_checkout():
    call = [sys.executable, "-m", "benchmarks", "moons"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("benchmarks: 'NAME' must be one of ")


def test_seconds_of_each_unit_are_found_again(script):
    costs, plan = script("landmark_costs"), script("landmark_plan")
    true = {"single": 1e-9, "double": 2e-9, "products": 5e-10, "curvature": 1e-10}
    true |= {"matrices": 1e-9, "fits": 0.2}
    rng = np.random.default_rng(0)
    rows = [
        {unit: rng.uniform(0.1, 1) / true[unit] for unit in plan.WORK_UNITS}
        for _ in range(9)
    ]
    for row in rows:
        row["seconds"] = plan.predict_seconds(true, row)
    assert costs.fit_unit_seconds(rows) == pytest.approx(true, rel=1e-6)


def test_a_run_goes_on_where_it_was_ended(script, tmp_path, monkeypatch):
    curves, calls = script("landmark_curves"), []
    monkeypatch.setattr(
        curves, "measure_task", lambda *task: calls.append(task) or (9, 1, 0)
    )
    words = ["--quick", "--only", "clusters", "--out", str(tmp_path)]
    curves.main(words)
    assert len(calls) == 7
    curves.main(words)
    assert len(calls) == 7
    with (tmp_path / "results" / "landmarks.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 7


def test_the_figures_are_those_of_the_records(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "results").mkdir()
    shutil.copy(ROOT / "docs" / "results" / "landmarks.csv", tmp_path / "results")
    runpy.run_path(str(ROOT / "docs" / "draw_landmarks.py"))["main"](tmp_path)
    found = sorted(path.name for path in (tmp_path / "images").iterdir())
    assert found == ["landmarks-choice.svg", "landmarks-number.svg"]
