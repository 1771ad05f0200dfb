"""The similarities of the demo, and what is said of results."""

import numpy as np
import pytest

from kreinlearn.comparison import demo
from kreinlearn.comparison.demo_data import gaps, with_a_ruler
from kreinlearn.spectrum import describe


def test_the_matrix_is_indefinite_and_always_the_same():
    cells, again = gaps(), gaps()
    for one, other in zip(cells, again, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(cells.K, cells.K.T)
    assert cells.K.shape == (200, 200) and cells.y.sum() == 100
    report = describe(cells.K)
    assert report["signature"][1] > 150 and report["negative_share"] > 0.04


def test_gaps_would_be_euclidean_without_radii(monkeypatch):
    monkeypatch.setattr("kreinlearn.comparison.demo_data.RADII", (0.1, 0.1))
    monkeypatch.setattr("kreinlearn.comparison.demo_data.SPREAD", 0.0)
    monkeypatch.setattr("kreinlearn.comparison.demo_data.SMALLEST", 0.0)
    cells = gaps(60)
    # Gaps of equal balls, and their sizes again, are the distances of their centers.
    squares = np.add.outer(np.diag(cells.K), np.diag(cells.K)) - 2 * cells.K
    distances = np.sqrt(np.maximum(squares, 0)) + 0.2 * (1 - np.eye(60))
    center = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(-center @ distances**2 @ center / 2)
    assert (values > 1).sum() == 3 and np.abs(values[:-3]).max() < 1e-9


def test_a_ruler_is_what_the_radii_say():
    cells = gaps()
    right = [(r > 0.4) == large for r, large in zip(cells.radii, cells.y, strict=True)]
    assert with_a_ruler(cells) == pytest.approx(sum(right) / 200)
    assert 0.85 < with_a_ruler(cells) < 0.95


def test_every_sample_is_judged_once():
    held = [test for _, test in demo.job().splits.values()]
    assert len(held) == demo.FOLDS
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(200))


def row(method, accuracy, high=None, ends=(None, None)):
    gap = {"mean": 0.0, "low": None, "high": high}
    return {
        "method": method,
        "accuracy": accuracy,
        "accuracy_low": ends[0],
        "accuracy_high": ends[1],
        "behind": {"accuracy": gap, "log_loss": None},
    }


def test_the_verdict_admits_who_is_ahead():
    others = [row("SVC raw", 0.48, ends=(0.4, 0.6)), row("SVC clip", 0.7)]
    rows = [*others, row("SVC flip", 0.92), row("IKLR", 0.9, high=0.01)]
    headline, spectrum, honest = demo._verdict({"rows": rows})
    assert "IKLR tells 90\u00a0% of the cells right" in headline
    assert headline.endswith("tells 48\u00a0%, no better than a coin.")
    assert "without them (SVC clip) it is 70\u00a0%" in spectrum
    assert "SVC flip (92\u00a0%) comes out ahead, though not clearly" in honest
    clear = [*rows[:3], row("IKLR", 0.9, high=-0.01)]
    assert "comes out ahead, and clearly" in demo._verdict({"rows": clear})[2]
    first = [*others, row("SVC flip", 0.8), row("IKLR", 0.9)]
    assert len(demo._verdict({"rows": first})) == 2
    better = [row("SVC raw", 0.8, ends=(0.7, 0.9)), *first[1:]]
    assert "coin" not in demo._verdict({"rows": better})[0]


def test_trust_is_counted_where_the_method_is_sure():
    record = {"method": "IKLR", "proba": [0.95, 0.97, 0.02, 0.6], "truth": [1, 0, 0, 0]}
    said = demo._trust([record, {"method": "SVC raw"}])
    assert "Of the 3 cells of which IKLR was at least 90\u00a0% sure, 67" in said
