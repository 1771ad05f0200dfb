"""Statements of the README: its size, its pictures, and the table of the demo."""

import re
from pathlib import Path

import numpy as np
import pytest

from kreinlearn.app.comparison import demo
from kreinlearn.app.comparison.summary import corrected_interval

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAX_WORDS = 700
METHODS = {
    "**KreinCV**": "KreinCV",
    "clip + logistic regression": "clip + KLR",
    "clip + `SVC`, calibrated": "SVC clip + Platt",
    "flip + `SVC`, calibrated": "SVC flip + Platt",
    "nearest neighbors": "k-NN",
}


def test_readme_is_short():
    assert len(README.split()) <= MAX_WORDS


def test_pictures_exist_for_every_screen():
    found = re.findall(r'(?:src|srcset)="([^"]+)"', README)
    assert len(found) == 4 and all((ROOT / name).is_file() for name in found)


@pytest.mark.slow
def test_table_is_that_of_the_demo():
    case = "digits"
    records = [record for found, _ in demo.run_methods(case) for record in found]
    rows = {r["method"]: r for r in demo.summarize_demo(case, records)["rows"]}
    for title, name in METHODS.items():
        line = next(each for each in README.splitlines() if f"| {title}" in each)
        cells = [each.strip(" *") for each in line.split("|")[2:-1]]
        row = rows[name]
        right = sum(counts[k] for k, counts in enumerate(row["confusion"]))
        loss = "" if row["log_loss"] is None else f"{row['log_loss']:.3f}"
        assert cells == [str(right), f"{demo.count_left(row):.0f}", loss]
    losses = {
        name: [record["ll"] for record in records if record["method"] == name]
        for name in ("KreinCV", "SVC clip + Platt")
    }
    gaps = np.subtract(losses["SVC clip + Platt"], losses["KreinCV"])
    low, high = corrected_interval(gaps.tolist(), 1 / 4)
    stated = f"higher by {gaps.mean():.3f}, with a 95% interval from {low:.3f} to"
    assert f"{stated} {high:.3f}" in README
