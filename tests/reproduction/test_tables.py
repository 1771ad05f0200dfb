import csv
import gzip
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kreinlearn.app.report.tables import Entry, csv_text, format_statuses, make_table
from kreinlearn.app.runs import read_records as read
from reproduction import published
from reproduction.entries import Spread, find_marks
from reproduction.markdown import format_table
from reproduction.notes import find_notes
from reproduction.page import write
from reproduction.summary import NUMBER_FIELDS, numbers, summarize_records
from reproduction.tables import LAYOUTS

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def tables_of(stored, name, runs=3):
    records = read(stored(name, runs))
    return records, LAYOUTS[name](summarize_records(records), find_notes(name))


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


def test_failures_are_counted_and_left_out(stored):
    records = read(stored("table3"))
    own = [dict(r) for r in records if (r["data"], r["method"]) == ("heart", "Flip")]
    own[0] = {k: own[0][k] for k in ("key", "exp", "data", "method", "run")} | {
        "status": "timeout"
    }
    (summary,) = summarize_records(own)
    assert summary.statuses == Counter(converged=2, timeout=1)
    assert summary.spread("acc").mean == pytest.approx(
        (own[1]["acc"] + own[2]["acc"]) / 2
    )


def test_table3_numbers_by_hand(stored):
    records, (theirs, ours, overview) = tables_of(stored, "table3")
    names = [column.text for column in theirs.columns[1:]]
    assert names == list(published.TABLE3_METHODS)
    assert [column.text for column in ours.columns[1:]] == list(published.OURS)
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


def test_table3_means_with_and_without_the_doubtful_row(stored):
    records, (theirs, _, _) = tables_of(stored, "table3")
    everything, honest = theirs.totals
    assert [everything[0].text, honest[0].text] == [
        "mean of 16",
        "mean without parkinsons",
    ]
    per_set = [
        np.mean([r["acc"] for r in records if (r["data"], r["method"]) == (d, "KSVM")])
        for d in published.TABLE3_DATA
        if d != "parkinsons"
    ]
    column = [c.text for c in theirs.columns].index("KSVM")
    assert honest[column].value == pytest.approx(np.mean(per_set))


def test_overview_counts_statuses_and_ranks(stored):
    _, (_, _, overview) = tables_of(stored, "table3")
    rows = {row[0].text: row for row in overview.rows}
    assert len(rows) == 17
    assert rows["CCICP-GD"][-2].text == "max_iter in 48 of 48 fits"
    assert rows["CCICP-GD"][-1].text == "diverged in 240 of 1680 fits"
    ranks = [row[4].value for row in overview.rows]
    assert np.mean(ranks) == pytest.approx(9)  # of 1 to 17
    assert "Friedman" in overview.caption
    assert rows["KSVM"][3].text == "–"  # no probabilities


@pytest.mark.parametrize("name", ["table4", "table7"])
def test_costs_by_hand(stored, name):
    records, (table,) = tables_of(stored, name)
    costs = published.TABLE4 if name == "table4" else published.TABLE7
    row = next(
        row for row in table.rows if (row[0].text, row[1].text) == ("EEG", "CCICP-SGD")
    )
    own = [r for r in records if (r["data"], r["method"]) == ("EEG", "CCICP-SGD")]
    cost = costs["EEG"]["CCICP-SGD"]
    accuracy = np.mean([r["acc"] for r in own])
    assert row[2].value == cost.accuracy.mean
    assert row[3].value == pytest.approx(accuracy)
    assert row[4].value == pytest.approx(accuracy - cost.accuracy.mean)
    assert row[5].value == pytest.approx(np.mean([r["bacc"] for r in own]))
    assert (row[6].value, row[8].value) == (cost.training, cost.test)
    assert row[7].value == pytest.approx(np.mean([r["fit_s"] for r in own]))
    assert row[9].value == pytest.approx(np.mean([r["pred_s"] for r in own]))
    # The misprint is marked at the number itself.
    assert bool(row[2].marks) == (name == "table7")
    # Nothing is published for the letter.
    letter = next(
        row
        for row in table.rows
        if (row[0].text, row[1].text) == ("EEG", "CCICP-SGD as printed")
    )
    assert [letter[place].text for place in (2, 4, 6, 8)] == ["–"] * 4
    assert letter[3].value is not None


def test_table2_table6_and_figures(stored):
    records, (table,) = tables_of(stored, "table2")
    assert len(table.rows) == 20
    high = np.mean([r["mu"][1] for r in records if r["data"] == "heart"])
    row = next(row for row in table.rows if row[0].text == "heart")
    assert row[7].value == pytest.approx(high)
    assert row[8].value == pytest.approx(100 * (high / 695.16 - 1))
    _, (table,) = tables_of(stored, "table6")
    assert [len(table.rows), len(table.columns)] == [4, 9]
    assert table.rows[1][1].detail.startswith("0.697, ")
    assert table.columns[5].text == "CCICP-GD as printed, monks1"
    assert [entry.detail for entry in table.rows[1][5:]] == [""] * 4
    _, (table,) = tables_of(stored, "fig2")
    assert len(table.rows) == 2 * 2 * 7
    for first, place in (
        (0, ["guide1-t", "CCICP-GD"]),
        (7, ["guide1-t", "CCICP-GD as printed"]),
        (14, ["monks1", "CCICP-GD"]),
    ):
        rows = table.rows[first : first + 7]
        assert all([entry.text for entry in row[:2]] == place for row in rows)
        assert [row[2].value for row in rows] == list(published.FIG2_EPS)
    _, (table,) = tables_of(stored, "fig3", 1)
    assert len(table.rows) == 12


def test_figure3_tells_where_a_curve_settles_and_whether_it_falls(stored):
    records = [dict(record) for record in read(stored("fig3", 1))]
    # Of a range of 50, 0.5 is a hundredth; what was before the first step is no part.
    records[0]["curve"] = [10.0, 50.0, 2.0, 1.0, 0.4, 0.0]
    records[1]["curve"] = [0.7, 0.3, 0.5, 0.2, None]
    records[1]["chosen"] = {"lam": 10.0, "lam_of_mean": 0.2}
    (table,) = LAYOUTS["fig3"](summarize_records(records), find_notes("fig3"))
    rows = {(row[0].text, row[1].text): row for row in table.rows}
    falling, rising = rows["monks1", "CCCP-GD"], rows["monks1", "CCICP-GD"]
    assert [e.text for e in falling[3:8]] == ["10", "0", "0", "4", "yes"]
    assert [e.text for e in rising[2:8]] == ["10", "0.7", "0.2", "0.2", "3", "no"]


@pytest.mark.parametrize("name", LAYOUTS)
def test_csv_survives_a_round_trip(stored, name):
    summaries = summarize_records(read(stored(name, 3)))
    text = csv_text(NUMBER_FIELDS, numbers(name, summaries))
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


@pytest.mark.parametrize("name", LAYOUTS)
def test_markdown_survives_a_round_trip(stored, name):
    _, tables = tables_of(stored, name)
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


def test_markdown_marks_best_and_notes():
    notes = find_notes("table3")
    mark = find_marks(notes, row="parkinsons")
    assert len(mark) == 1
    rows = [[Entry("parkinsons", marks=mark), Entry("0.9", 0.9, "1.0, −0.1", True)]]
    text = format_table(make_table("T", "C.", "data, m", rows), notes)
    assert f"| parkinsons<sup>{mark[0]}</sup> | **0.9**<br>1.0, −0.1 |" in text
    assert f"<sup>{mark[0]}</sup> No method here reaches the printed 1.000" in text


def test_marks_belong_to_exactly_one_place():
    notes = find_notes("table3")
    assert len(find_marks(notes, column="Flip")) == 1
    assert find_marks(notes, column="Flip") == find_marks(notes, column="Shift")
    assert find_marks(notes, column="Flip exact") == ()
    assert find_marks(notes, row="heart") == ()
    assert find_marks(notes) == ()
    # The letter is not the reading.
    read, letter = (
        set(find_marks(notes, column=name))
        for name in ("CCICP-GD", "CCICP-GD as printed")
    )
    assert read and letter and not read & letter
    notes = find_notes("table7")
    assert len(find_marks(notes, "EEG", "CCICP-SGD")) == 1
    assert find_marks(notes, "EEG", "CCICP-SGD-I") == ()


def test_statuses():
    assert format_statuses(Counter()) == "–"
    assert format_statuses(Counter(converged=1, error=1, timeout=1)) == (
        "error in 1 of 3 fits, timeout in 1"
    )


def test_a_table_with_gaps_is_still_a_table(stored):
    records = [r for r in read(stored("table3")) if r["run"] == 0]
    records = [r for r in records if (r["data"], r["method"]) != ("heart", "Flip")]
    theirs, *_ = LAYOUTS["table3"](summarize_records(records), find_notes("table3"))
    column = [c.text for c in theirs.columns].index("Flip")
    row = next(row for row in theirs.rows if row[0].text == "heart")
    assert row[column] == Entry("–", None, "0.758")
    assert theirs.totals[0][column].text == "–"  # no mean over fewer sets
    assert Spread(0.5).std is None


def rows_of(table):
    return {row[0].text: [entry.text for entry in row[1:]] for row in table.rows}


def test_table1(stored):
    summaries = summarize_records(read(stored("table1")))
    (table,) = LAYOUTS["table1"](summaries, find_notes("table1"))
    assert [head.text for head in table.columns[-4:]] == [
        "2 x 2",
        "3 x 3",
        "5 x 5",
        "9 x 9",
    ]
    rows = rows_of(table)
    assert list(rows) == ["Euclidean", "Log-Euclidean", "Affine-invariant", "Stein"]
    assert rows["Euclidean"][1:4] == ["no", "yes", "≥ 0"]
    assert rows["Affine-invariant"][1:3] == ["yes", "no"]
    assert rows["Affine-invariant"][3].startswith("−0.0")
    assert table.rows[0][4].detail == "0 of 630"
    assert table.rows[3][0].marks


def test_table5_has_published_numbers_beside_faces(stored):
    summaries = summarize_records(read(stored("table5")))
    (table,) = LAYOUTS["table5"](summaries, find_notes("table5"))
    rows = rows_of(table)
    assert len(rows) == 15
    assert rows["CCICP-GD"][0] == "0.983 ± 0.008"
    assert rows["CCICP-GD as printed"][0] == rows["CCCP-GD"][0] == "–"
    assert rows["KreinCV"][0] == "–"
    assert sum(row[2].is_best for row in table.rows) == 1
    assert "-160.28 and 670.05" in table.caption
    published = {r["method"]: r.get("published") for r in numbers("table5", summaries)}
    assert set(published) == set(rows)


def test_a_stand_in_is_called_one(stored, tmp_path):
    records = [record | {"data": "digits"} for record in read(stored("table5"))]
    (table,) = LAYOUTS["table5"](summarize_records(records), find_notes("table5"))
    assert table.title == "Table 5: digits"
    assert table.caption.startswith("NOT FACES")
    assert rows_of(table)["CCICP-GD"][0] == "–"
    assert all(
        "published" not in r for r in numbers("table5", summarize_records(records))
    )


def test_fig1_is_written(stored, tmp_path):
    files = write("fig1", stored("fig1"), tmp_path)
    assert {path.name for path in files} >= {"fig1.html", "fig1-yaleb.png"}
    page = (tmp_path / "fig1.html").read_text(encoding="utf-8")
    assert "Yale Face Database B" in page


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_committed_tables_are_those_of_the_records(name, tmp_path):
    """If not: ``python docs/draw_results.py``."""
    packed = RESULTS / f"{name}.jsonl.gz"
    if not packed.exists():
        pytest.skip(f"there are no records of {name}")
    path = tmp_path / f"{name}.jsonl"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    notes = find_notes(name)
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    for table in LAYOUTS[name](summarize_records(read(path)), notes):
        assert format_table(table, notes) in text
