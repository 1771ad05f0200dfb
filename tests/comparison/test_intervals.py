"""Intervals of scores and of differences, against formulas written out by hand."""

import statistics

import pytest
from scipy.stats import binomtest

from kreinlearn.app.comparison.summary import (
    accuracy_interval,
    differences_from_best,
)


@pytest.mark.parametrize("hits", [[0, 0], [20, 31], [40, 60]])
def test_two_folds_have_the_interval_of_wilson(hits):
    records = [
        {"run": 0, "acc": hit / n, "truth": [0] * n}
        for hit, n in zip(hits, (40, 60), strict=True)
    ]
    expected = binomtest(sum(hits), 100).proportion_ci(method="wilson")
    assert accuracy_interval(records) == pytest.approx(expected, abs=1e-6)
    # To judge the same rows again makes them no more.
    again = [records[0], records[0] | {"run": 1}]
    alone = binomtest(hits[0], 40).proportion_ci(method="wilson")
    assert accuracy_interval(again) == pytest.approx(alone, abs=1e-6)


def make_fold_records(scores, field="acc", n=80, held=20):
    shared = {"run": 0, "truth": [0] * held, "n": n}
    return [
        {**shared, field: score, "set": {"fold": fold}}
        for fold, score in enumerate(scores)
    ]


def test_more_folds_have_the_interval_of_nadeau_and_bengio():
    scores = [0.8, 0.9, 0.85, 0.95, 0.7]
    spread = statistics.variance(scores) * (1 / 5 + 20 / 80)
    half = 2.776445 * spread**0.5  # Student's, 4 degrees of freedom
    low, high = accuracy_interval(make_fold_records(scores))
    assert low == pytest.approx(0.84 - half, abs=1e-6)
    assert high == pytest.approx(min(1.0, 0.84 + half), abs=1e-6)
    assert accuracy_interval(make_fold_records([0.9] * 5)) is None


def test_differences_are_paired_by_fold():
    best, other = [0.8, 0.9, 0.7, 0.95], [0.75, 0.85, 0.65, 0.9]
    groups = {
        "a": make_fold_records(best),
        "b": make_fold_records(other),
        "c": make_fold_records(other[:2]),
    }
    found = differences_from_best(groups, "acc")
    assert found["a"] == {"mean": 0.0, "low": None, "high": None}
    # Equal up to rounding: the spread is meaningless.
    assert found["b"]["mean"] == pytest.approx(-0.05)
    assert found["b"]["low"] is None and found["b"]["high"] is None
    assert "c" not in found  # not scored on the same folds
    losses = {"a": make_fold_records(best, "ll"), "b": make_fold_records(other, "ll")}
    assert differences_from_best(losses, "ll", smaller=True)["a"][
        "mean"
    ] == pytest.approx(0.05)
    assert differences_from_best({"a": make_fold_records(best)}, "ll") == {}
