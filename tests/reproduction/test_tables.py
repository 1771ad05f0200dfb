import csv
import gzip
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kreinlearn.app.report import Entry, csv_text, format_statuses
from kreinlearn.app.runs import read_records as read
from reproduction import published
from reproduction.entries import Spread
from reproduction.markdown import format_table
from reproduction.notes import find_notes
from reproduction.page import write
from reproduction.summary import NUMBER_FIELDS, list_numbers, summarize_records
from reproduction.tables import TABLE_MAKERS

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def make_tables(stored, name, runs=3):
    records = read(stored(name, runs))
    return records, TABLE_MAKERS[name](summarize_records(records), find_notes(name))


def test_summary_by_hand(stored):
    records = read(stored("table3"))
    own = [r for r in records if (r["data"], r["method"]) == ("heart", "Flip")]
    summary = next(
        s for s in summarize_records(records) if (s.data, s.method) == ("heart", "Flip")
    )
    values = [r["acc"] for r in own]
    assert summary.spread("acc").mean == pytest.approx(np.mean(values))
    assert summary.spread("acc").std == pytest.approx(np.std(values, ddof=1))
    assert summary.cv == Counter(converged=90, diverged=15)
    assert summary.statuses == Counter(converged=3)
    assert summary.spread("gram_s") is None


def test_table3_numbers_by_hand(stored):
    records, (theirs, ours, overview) = make_tables(stored, "table3")
    names = [column.text for column in theirs.columns[1:]]
    assert names == list(published.TABLE3_METHODS)
    assert [column.text for column in ours.columns[1:]] == list(published.TABLE3_OURS)
    row = next(row for row in theirs.rows if row[0].text == "sonar")
    means = {}
    for record in records:
        if record["data"] == "sonar":
            means.setdefault(record["method"], []).append(record["acc"])
    means = {method: np.mean(values) for method, values in means.items()}
    for name, entry in zip(names, row[1:], strict=True):
        assert entry.value == pytest.approx(means[name])
        printed = published.TABLE3["sonar"][name].mean
        theirs_text, difference = entry.detail.replace("−", "-").split(", ")
        assert float(theirs_text) == printed
        assert float(difference) == pytest.approx(means[name] - printed, abs=5.1e-4)
    best = max(means, key=means.get)
    other = next(row for row in ours.rows if row[0].text == "sonar")
    marked = [
        column.text
        for table, entries in ((theirs, row), (ours, other))
        for column, entry in zip(table.columns, entries, strict=True)
        if entry.is_best
    ]
    assert marked == [best]


@pytest.mark.parametrize("name", TABLE_MAKERS)
def test_csv_survives_a_round_trip(stored, name):
    summaries = summarize_records(read(stored(name, 3)))
    text = csv_text(NUMBER_FIELDS, list_numbers(name, summaries))
    rows = list(csv.DictReader(io.StringIO(text)))
    index = {
        (s.data, s.method, " ".join(f"{k}={v}" for k, v in s.settings.items())): s
        for s in summaries
    }
    assert rows
    for row in rows:
        summary = index[row["data"], row["method"], row["settings"]]
        spread = summary.spread(row["measure"])
        assert float(row["ours"]) == pytest.approx(spread.mean, rel=1e-5)
        assert int(row["runs"]) == len(summary.values(row["measure"]))
        if row["published"]:
            gap = float(row["ours"]) - float(row["published"])
            assert float(row["difference"]) == pytest.approx(gap, abs=1e-5, rel=1e-3)


@pytest.mark.parametrize("name", TABLE_MAKERS)
def test_markdown_survives_a_round_trip(stored, name):
    _, tables = make_tables(stored, name)
    for table in tables:
        lines = format_table(table, find_notes(name)).splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("| "))
        pipes = [line for line in lines[start:] if line.startswith("|")]
        assert set(pipes[1]) <= set("|-: ")
        body = [line.strip("| ").split(" | ") for line in pipes[2:]]
        assert len(body) == len(table.rows) + len(table.totals)
        for cells, row in zip(body, table.rows + table.totals, strict=True):
            assert len(cells) == len(row)
            for cell, entry in zip(cells, row, strict=True):
                bare = re.sub(r"<sup>.*?</sup>|<br>.*|\*\*", "", cell)
                assert bare == entry.text


def test_statuses():
    assert format_statuses(Counter()) == "–"
    assert format_statuses(Counter(converged=1, error=1, timeout=1)) == (
        "error in 1 of 3 fits, timeout in 1"
    )


def test_a_table_with_gaps_is_still_a_table(stored):
    records = [r for r in read(stored("table3")) if r["run"] == 0]
    records = [r for r in records if (r["data"], r["method"]) != ("heart", "Flip")]
    theirs, *_ = TABLE_MAKERS["table3"](
        summarize_records(records), find_notes("table3")
    )
    column = [c.text for c in theirs.columns].index("Flip")
    row = next(row for row in theirs.rows if row[0].text == "heart")
    assert row[column] == Entry("–", None, "0.758")
    assert theirs.totals[0][column].text == "–"  # no mean over fewer sets
    assert Spread(0.5).std is None


def test_fig1_is_written(stored, tmp_path):
    files = write("fig1", stored("fig1"), tmp_path)
    assert {path.name for path in files} >= {"fig1.html", "fig1-yaleb.png"}
    page = (tmp_path / "fig1.html").read_text(encoding="utf-8")
    assert "Yale Face Database B" in page


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE_MAKERS)
def test_committed_tables_are_those_of_the_records(name, tmp_path):
    """If not: ``python docs/draw_results.py``."""
    packed = RESULTS / f"{name}.jsonl.gz"
    if not packed.exists():
        pytest.skip(f"there are no records of {name}")
    path = tmp_path / f"{name}.jsonl"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    notes = find_notes(name)
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    for table in TABLE_MAKERS[name](summarize_records(read(path)), notes):
        assert format_table(table, notes) in text
