"""Readings of Algorithm 1, and what a cell of each kind finds."""

from dataclasses import replace

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression
from kreinlearn.app.runs import Cell, make_record
from kreinlearn.kernels import gram
from reproduction import readings, splits
from reproduction.methods import GRID, TL1
from reproduction.published import INITS
from reproduction.run import evaluate

pytestmark = pytest.mark.slow

N = 30
"""Training samples of the small data."""
LETTERS = {"GD": "GD: step, mean, mean", "SGD": "SGD: step, mean, mean"}
CHOSEN = {"GD": "GD: outer, sum, mean, 100", "SGD": "SGD: outer, mean, mean, 100"}
KINDS = ("GD", "SGD")


@pytest.fixture
def small(monkeypatch, rings):
    """Let all cells have the same small halves."""
    parts = splits.halves(*rings, 0)
    monkeypatch.setattr(splits, "parts_of", lambda cell, home: parts)
    assert len(parts.y_train) == len(parts.y_test) == N
    return parts


def find_cell(name, evidence=None):
    """Return a cell; its data set is known, but that of `small` is used."""
    settings = (("evidence", evidence), ("half", "fixed")) if evidence else ()
    return Cell("readings", "monks1", name, 0, settings)


def fitted(parts, reading, lam, eps=None, **settings):
    """Return the estimator of a reading, for lam of its own loss."""
    solver = replace(reading.solver(eps), **settings)
    lam = lam / N if reading.loss == "sum" else lam
    model = KreinLogisticRegression("precomputed", lam=lam, solver=solver)
    return model.fit(gram(parts.X_train, **TL1[0]), parts.y_train)


@pytest.mark.parametrize("name", [LETTERS["GD"], CHOSEN["GD"], LETTERS["SGD"]])
def test_accuracy_of_a_reading(small, name):
    record = make_record(find_cell(name), evaluate(find_cell(name)))
    assert record["method"] == name
    assert record["status"] in ("max_iter", "diverged")
    assert 0.3 < record["acc"] <= 1
    assert record["n"] == N
    assert ("lam_of_mean" in record["chosen"]) == ("sum" in name)
    assert record["grid"] == {"lam": list(GRID)}
    assert sum(record["cv"].values()) == 5 * len(GRID)
    assert not {"hits", "curves", "steps", "split"} & set(record)


def started(name):
    record = make_record(find_cell(name, "starts"), evaluate(find_cell(name, "starts")))
    assert (record["status"], record["n"]) == ("done", N)
    assert list(record["hits"]) == list(INITS)
    assert all(len(hits) == len(GRID) == 7 for hits in record["hits"].values())
    assert list(record["curves"]) == ["0.0001", "1"]
    assert all(len(curves) == 7 for curves in record["curves"].values())
    assert not {"acc", "chosen", "steps"} & set(record)
    return record


@pytest.mark.parametrize(
    ("name", "first"),
    [
        (LETTERS["GD"], np.log(2)),
        (CHOSEN["GD"], N * np.log(2)),  # the summed loss
        (LETTERS["SGD"], np.log(2)),
        pytest.param(CHOSEN["SGD"], np.log(2), marks=pytest.mark.slow),
    ],
)
def test_starts_of_a_reading(small, name, first):
    record = started(name)
    for curves in record["curves"].values():
        starts = [curve[0] for curve in curves]
        assert starts == pytest.approx([first] * 7, rel=1e-5)
        assert all(2 <= len(curve) <= 21 for curve in curves)
    for init, hits in record["hits"].items():
        assert all(0 <= count <= N for count in hits)
        if "SGD" not in name and init != "uniform":
            assert all(count == round(count) for count in hits)
    # Means over ten streams, and chance makes a difference.
    uniform = [10 * count for count in record["hits"]["uniform"]]
    assert uniform == pytest.approx(np.round(uniform))
    assert any(round(count) % 10 for count in uniform)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_a_reading(small, kind):
    found = {}
    for name in (LETTERS[kind], CHOSEN[kind]):
        cell = find_cell(name, "steps")
        record = make_record(cell, evaluate(cell))
        assert (record["status"], record["n"]) == ("done", N)
        assert not {"acc", "hits", "curves"} & set(record)
        assert {eps: len(each) for eps, each in record["steps"].items()} == {
            eps: len(readings.STEP_LAMS) for eps in ("0.0001", "1")
        }
        found[name] = record["steps"]
        # One step in each of twenty outer iterations, or more.
        assert all(each >= 20 for own in record["steps"].values() for each in own)
    exact, inexact = (found[CHOSEN[kind]][eps][0] for eps in ("0.0001", "1"))
    assert inexact < exact <= 20 * 100
    assert exact > found[LETTERS[kind]]["0.0001"][0]
