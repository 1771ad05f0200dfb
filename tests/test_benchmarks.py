"""The benchmarks: their clock and rows, their page, and the command that runs them."""

import json
from pathlib import Path
from xml.etree import ElementTree

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
