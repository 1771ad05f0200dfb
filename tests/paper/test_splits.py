import numpy as np
import pytest
from sklearn.utils import Bunch

from kreinlearn.paper import splits as module
from kreinlearn.paper.splits import halves, scale, spectrum_fields, table
from tests.conftest import gram_of_signature


def test_scaled_by_the_training_half_alone(rng):
    X, y = rng.normal(size=(31, 4)), np.where(rng.uniform(size=31) > 0.5, 1, -1)
    parts = halves(X, y, 3)
    assert parts.X_train.shape == (16, 4)
    assert parts.X_test.shape == (15, 4)
    assert np.allclose(parts.X_train.min(axis=0), 0)
    assert np.allclose(parts.X_train.max(axis=0), 1)
    X[module.half_rows(31, 3)[1]] *= 100  # test rows change nothing in training
    assert np.array_equal(halves(X, y, 3).X_train, parts.X_train)


def test_constant_features_become_zero_in_both_halves():
    reference, other = scale(np.array([[1.0, 5], [3, 5]]), np.array([[2.0, 9]]))
    assert reference.tolist() == [[0, 0], [1, 0]]
    assert other.tolist() == [[0.5, 0]]


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
