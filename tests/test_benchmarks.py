"""The benchmarks: their clock and rows, their page, and the command that runs them."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks import commands
from kreinlearn.app import cli

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "benchmarks"
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


def test_medians_and_ratios(script):
    seconds = {"kreinlearn": [3.0, 1.0, 2.0], "peer": [5.0, 4.0, 9.0], "lost": []}
    details = {"peer": {"accuracy": 0.5, "seconds": 9.0}, "lost": {"status": "timeout"}}
    ours, peer, lost = script("common").rows(
        "fit", "some work", seconds, details=details, n=7
    )
    assert (ours["median_s"], ours["min_s"], ours["repeats"]) == (2.0, 1.0, 3)
    assert ours["ours_faster"] == 1.0 and peer["ours_faster"] == 2.5
    assert peer["accuracy"] == 0.5 and "seconds" not in peer and peer["n"] == 7
    assert lost["median_s"] is None and lost["ours_faster"] is None
    assert lost["status"] == "timeout" and lost["repeats"] == 0


def test_competitors_take_turns(script):
    common, calls = script("common"), []
    functions = {name: lambda name=name: calls.append(name) for name in ("a", "b")}
    functions["c"] = common.Fresh(lambda: calls.append("c") or {"seconds": 8.0})
    functions["d"] = common.Fresh(lambda: calls.append("d") or {"status": "memory"})
    details = {}
    seconds = common.measure(functions, 3, budget=10.0, details=details)
    # A first round that does not count; no more turns beyond the budget or once failed.
    assert calls == ["a", "b", "a", "b", "c", "d", "a", "b", "c", "a", "b"]
    assert len(seconds["a"]) == 3 and seconds["c"] == [8.0, 8.0] and seconds["d"] == []
    assert details["d"] == {"status": "memory"}


def test_slopes_of_known_powers(script):
    common = script("common")
    n = np.array([1000, 2000, 4000, 8000])
    assert common.slope(n, 3e-7 * n**1.7) == pytest.approx(1.7)
    assert common.slope([1000], [1.0]) is None
    assert common.slope([1000, 1000], [1.0, 2.0]) is None
    assert common.larger_half([(4, 1), (1, 1), (3, 1)]) == [(3, 1), (4, 1)]
    assert common.larger_half([(2, 1), (1, 1), (4, 1), (3, 1)]) == [(3, 1), (4, 1)]


def test_a_fresh_process_reports_or_fails_with_a_word(script, tmp_path):
    common, child = script("common"), tmp_path / "child.py"
    child.write_text(
        "import json, sys\n"
        "task = json.loads(sys.argv[2])\n"
        "if task['full']: raise MemoryError('no room')\n"
        "print(json.dumps({'seconds': 1.5}))\n"
    )
    assert common.fresh(str(child), {"full": False}) == {"seconds": 1.5}
    failed = common.fresh(str(child), {"full": True})
    assert failed == {"status": "memory", "error": "MemoryError: no room"}
    assert common.fresh(str(child), {}, timeout=0.001)["status"] == "timeout"
    assert 1 < common.peak_mb() < 1e5


def test_missing_data_are_replaced_and_named(script, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("KREINLEARN_DATA", str(tmp_path))
    samples = script("samples")
    found = samples.halves("madelon")
    assert found.X_train.shape == (1000, 500) and found.data == "synthetic"
    ends = [found.X_train.min(), found.X_train.max()]
    assert ends == pytest.approx([0, 1])
    assert "madelon is not in the data folder" in capsys.readouterr().err
    X, y, data = samples.many_rows(500, quick=True)
    assert X.shape == (500, 22) and data == "synthetic"
    assert len(np.unique(X, axis=0)) == 500 and set(y) == {-1, 1}


def test_every_fit_has_its_settings(script):
    fit = script("bench_fit")
    chosen = json.loads(fit.CHOSEN.read_text())["chosen"]
    assert set(chosen) == set(fit.DATA)
    assert all(
        each["lam"] in fit.LAMS and each["C"] in fit.COSTS for each in chosen.values()
    )


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
    text = page.write(records, docs).read_text()
    expected = "| fit, EEG | 7490 | 22 | float64 | 2.00 s | SVC | 500 ms | 0.25x |"
    assert f"{expected} 0.912 / 0.898 | 3e-08 / – |" in text
    assert "| slope, larger half | 2.00 | 2.50 |" in text
    assert "| 8000 | 640 ms |  |" in text  # no peer at the largest size
    assert "Copy, 2 threads: 12.3 GB/s" in text and "99.0" not in text
    assert (FOLDER / "notes.md").read_text().strip() in text
    for name in ("speed-time", "speed-memory"):
        image = ElementTree.parse(docs / "images" / f"{name}.svg").getroot()
        assert image.tag.endswith("svg") and f"images/{name}.svg" in text


def test_the_page_without_records(script, tmp_path):
    text = script("page").write(tmp_path, tmp_path).read_text()
    assert "Nothing measured yet." in text and "kreinlearn[bench]" in text


def test_failures_have_names(script):
    page = script("page")
    assert page.seconds({"median_s": 0.0123}) == "12.3 ms"
    assert page.seconds({"median_s": 5e-5}) == "50.0 µs"
    lost = {"median_s": None, "status": "timeout", "limit_s": 900.0}
    assert page.seconds(lost) == "more than 900 s"
    assert page.seconds({"median_s": None, "status": "memory"}) == "out of memory"


def test_labels_do_not_overlap(script):
    heights = [0.5, 0.51, 0.1, 0.52]
    placed = script("page").spread(heights, 0.06)
    assert np.diff(np.sort(placed)).min() > 0.06 - 1e-6
    assert list(np.argsort(placed)) == list(np.argsort(heights))
    assert placed[2] == pytest.approx(0.1)


def test_the_command_prints_and_keeps_rows(capfd, tmp_path):
    args = ("machine", "--quick", "--json", "--out", str(tmp_path))
    with pytest.raises(SystemExit) as stop:
        cli.run_command(commands.app, commands.PROGRAM, args)
    out, _ = capfd.readouterr()
    rows = [json.loads(line) for line in out.splitlines()]
    assert stop.value.code == 0 and len(rows) == 6
    assert all(row.keys() >= REQUIRED for row in rows)
    assert {row["work"] for row in rows} >= {"copy, 1 thread", "copy, 2 threads"}
    assert (tmp_path / "machine.jsonl").read_text() == out


def test_nobody_reading_on_is_no_error():
    command = f"{sys.executable} -m benchmarks machine --quick --json"
    done = subprocess.run(
        f"{command} | head -n 1", shell=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout)["bench"] == "machine"
    assert done.stderr == ""
