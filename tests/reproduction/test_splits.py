import numpy as np
import pytest
from sklearn.utils import Bunch

from kreinlearn.app.runs import Cell
from reproduction import splits as module
from reproduction.splits import halves, parts_of, spectrum_fields, table
from tests.conftest import gram_of_signature

FIXED = (("half", "fixed"),)


def same(parts, others):
    return all(np.array_equal(a, b) for a, b in zip(parts, others, strict=True))


def test_samples_of_a_cell_are_random_halves(monkeypatch, rng):
    samples = rng.normal(size=(31, 4)), np.where(rng.uniform(size=31) > 0.5, 1, -1)
    asked = []
    monkeypatch.setattr(module, "table", lambda *names: asked.append(names) or samples)
    cells = [Cell("table3", "monks1", "Flip", run) for run in (0, 1)]
    parts = [parts_of(cell, "somewhere") for cell in cells]
    for cell, found in zip(cells, parts, strict=True):
        assert same(found, halves(*samples, cell.half_seed))
    assert not np.array_equal(parts[0].X_train, parts[1].X_train)
    assert asked == [("monks1", "somewhere")] * 2
    # Fixed: one random half for all runs, where no samples are predefined.
    runs = [Cell("table6", "guide1-t", "Flip", run, FIXED) for run in (0, 1)]
    first, other = (parts_of(cell) for cell in runs)
    assert same(first, other)
    assert same(first, halves(*samples, runs[0].half_seed))


def test_breast_cancer_without_identifier_and_gaps(monkeypatch):
    X = np.arange(30.0).reshape(3, 10)
    X[1, 6] = 0
    stored = Bunch(data=X, target=np.array([1, -1, 1]))
    monkeypatch.setattr(module, "load", lambda name, home: stored)
    table.cache_clear()
    try:
        found, y = table("breast-cancer-683x9", "somewhere")
    finally:
        table.cache_clear()
    assert found.tolist() == [X[0, 1:].tolist(), X[2, 1:].tolist()]
    assert y.tolist() == [1, 1]
    assert module.stored_name("breast-cancer-683x9") == "breast-cancer"


def test_spectrum_fields_small_and_large(monkeypatch):
    K = gram_of_signature(20, 10)
    values = np.linalg.eigvalsh(K)
    small = spectrum_fields(K)
    assert small["sig"] == (20, 10, 0)
    assert small["mu"] == pytest.approx([values[0], values[-1]])
    monkeypatch.setattr(module, "ALL_EIGENVALUES", 10)
    large = spectrum_fields(K)
    assert large["mu_bound"] is True
    assert "sig" not in large
    assert large["mu"][0] >= values[0] - 1e-9
    assert large["mu"][1] == pytest.approx(values[-1], rel=1e-3)
