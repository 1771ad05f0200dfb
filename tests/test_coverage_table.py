"""The measured coverage of prediction sets, and what the documentation states of it."""

import csv
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def read_rows(method):
    with open(DOCS / "results" / "coverage.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == method]
    return {(row["data"], float(row["coverage"])): row for row in rows}


def test_statements_about_coverage_are_those_of_the_table():
    ours, machine = read_rows("KreinCV"), read_rows("SVC clip + Platt")
    low = {
        key: row
        for key, row in ours.items()
        if float(row["observed"]) < key[1] - 2 * float(row["error"])
    }
    sizes = [(float(ours[key]["size"]), float(machine[key]["size"])) for key in ours]
    larger, equal = sum(a < b for a, b in sizes), sum(a == b for a, b in sizes)
    text = " ".join((DOCS / "testing.md").read_text(encoding="utf-8").split())
    assert all(row["splits"] == "200" for row in ours.values())
    assert f"Of {len(ours)} mean coverages, {len(ours) - len(low)} are not" in text
    [((name, coverage), row)] = low.items()
    assert f"{name.split(',')[0]} at {coverage:g}: {float(row['observed']):.3f}" in text
    assert f"larger in {larger} of {len(sizes)} cases and equal in {equal}" in text


def test_statements_about_several_distances_are_those_of_the_table():
    with open(DOCS / "results" / "several.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cases = list(dict.fromkeys(row["data"] for row in rows))
    losses = {(row["data"], row["method"]): float(row["log_loss"]) for row in rows}
    better = [
        sum(losses[case, "combined"] < losses[case, method] for case in cases)
        for method in ("chosen alone", "mean by hand", "stacking")
    ]
    behind = [
        row["data"]
        for row in rows
        if row["method"] == "combined"
        and float(row["difference"]) > float(row["error"])
    ]
    text = " ".join((DOCS / "benchmarks.md").read_text(encoding="utf-8").split())
    assert (
        f"better than the chosen distance in {better[0]} of {len(cases)} cases, than "
        f"the mean in {better[1]}, and than stacking in {better[2]}." in text
    )
    assert f"in {len(behind)} cases: {' and '.join(behind)}." in text
