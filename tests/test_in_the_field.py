"""The comparison with other libraries: rows, claims, and the page."""

import csv
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"
TABLE = DOCS / "results" / "in-the-field.csv"


def make_records(method, accuracies, losses):
    for fold, (accuracy, loss) in enumerate(zip(accuracies, losses, strict=True)):
        found = {"exp": "folds", "data": "a", "method": method, "run": 0, "fit_s": 1.0}
        found |= {"set": {"fold": fold}, "acc": accuracy}
        yield found | ({} if loss is None else {"ll": loss})


def test_rows_and_claims_by_hand(script, tmp_path):
    page = script("field_page")
    measured = [
        *make_records("default", [0.8, 0.9], [0.5, 0.3]),
        *make_records("SVC", [0.7, 0.8], [0.6, 0.6]),
        *make_records("1-NN", [0.9, 1.0], [1.0, 1.2]),
        *make_records("MiniRocket", [0.8, 0.9], [None, None]),
        {**next(make_records("SVC", [0.75], [0.4])), "exp": "archive"},
    ]
    about = {"a": {"case": "a", "kind": "series", "n": 10}}
    rows = page.summarize_splits(measured, about, 2)
    assert [row["split"] for row in rows] == ["folds"] * 4 + ["archive"]
    # Losses 0.5 and 0.3: variance 0.02, times 1/2 for two folds plus 1/4.
    assert rows[0]["log_loss_se"] == pytest.approx(np.sqrt(0.75 * 0.02))
    script("findings").write_rows(rows, tmp_path / "rows.csv")
    again = script("findings").read_rows(tmp_path / "rows.csv")
    said = "\n".join(page.format_tables(again))
    assert "below that of SVC, calibrated: 1 of 1 cases (100%)" in said
    assert "below on 1: a (0.850 against 0.950)" in said  # one neighbor
    assert "| a | **0.400** ± 0.122 | 0.600 ± 0.000 | 1.100 ± 0.122 |" in said
    assert "Time series" in said and "| SVC |" in said


def test_the_page_keeps_its_prose(script, tmp_path):
    page, path = script("field_page"), tmp_path / "page.md"
    path.write_text("One.\n\n<!-- measured: seconds -->\nold\n<!-- end -->\n\nTwo.\n")
    measured = make_records("default", [0.8, 0.9], [0.5, 0.3])
    about = {"a": {"case": "a", "kind": "series", "n": 10}}
    rows = page.summarize_splits(list(measured), about, 2)
    page.update_regions(rows, path)
    page.update_regions(rows, path)
    text = path.read_text()
    assert text.startswith("One.\n") and text.endswith("Two.\n") and "old" not in text
    assert text.count("| a | 1 |") == 1


def test_the_page_has_the_numbers_of_its_table(script):
    page = script("field_page")
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    regions = page.format_regions(script("findings").read_rows(TABLE))
    several = script("several_similarities")
    regions["several"] = several.make_table(TABLE.with_name("several.csv"))
    for name in set(re.findall(r"<!-- measured: (.+) -->", text)) - {"data sets"}:
        part = re.search(
            rf"<!-- measured: {name} -->\n(.*?)\n<!-- end -->", text, flags=re.S
        )
        assert part and part[1].strip() == "\n".join(regions[name]).strip(), name


def test_the_page_has_the_means_of_its_data_sets(script):
    which = script("findings")
    rows = which.read_rows(TABLE.with_name("similarities.csv"))
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert "\n".join(which.format_summary(which.average_transforms(rows))) in text
    lost = [
        row
        for row in which.average_transforms(rows)
        if row["log_loss_difference"] < -2 * row["log_loss_difference_se"]
    ]
    assert lost == [] and "On no data set is another method better by more than" in text


def test_the_table_has_the_numbers_of_its_records(script, tmp_path):
    page = script("field_page")
    with gzip.open(TABLE.with_name("in-the-field-records.json.gz"), "rt") as file:
        measured = [json.loads(line) for line in file]
    with TABLE.open() as file:
        known = list(csv.DictReader(file))
    fields = ("case", "kind", "kernel", "n", "folded", "classes")
    about = {row["case"]: {name: row[name] for name in fields} for row in known}
    script("findings").write_rows(
        page.summarize_splits(measured, about, 5), tmp_path / "rows.csv"
    )

    def sorted_rows(path):
        with path.open() as file:
            rows = [dict(row) for row in csv.DictReader(file)]
        return sorted(rows, key=lambda r: (r["split"], r["case"], r["method"]))

    assert sorted_rows(tmp_path / "rows.csv") == sorted_rows(TABLE)
