"""Exact fits know how far they reach."""

import warnings

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.estimators import _fit
from kreinlearn.estimators._fit import check_fit_cost, check_search_cost
from kreinlearn.kernels import resolve_kernel


def said_by(call, *args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*args)
    return [str(each.message) for each in found]


def test_short_fits_are_silent():
    assert said_by(check_fit_cost, 8000, 2, "krein", "newton") == []
    assert (
        said_by(
            check_search_cost,
            np.zeros((500, 1)),
            resolve_kernel("tl1"),
            ("krein",),
            500,
            6,
            2,
        )
        == []
    )


@pytest.mark.parametrize(
    ("n", "words"),
    [(60_000, "a minute"), (100_000, "4 minutes"), (1_000_000, "hours")],
)
def test_long_fits_are_estimated_with_a_way_out(n, words):
    (text,) = said_by(check_fit_cost, n, 2, "krein", "newton")
    assert f"{n:,} samples takes roughly" in text and words in text
    assert "LandmarkLogisticRegression" in text and "--landmarks 1000" in text


def test_classes_and_published_procedures_take_longer():
    assert said_by(check_fit_cost, 30_000, 2, "krein", "newton") == []
    assert said_by(check_fit_cost, 30_000, 10, "krein", "newton")
    assert said_by(check_fit_cost, 30_000, 2, "krein", "cccp-gd")


def test_a_long_search_names_what_is_less_work():
    X, both = np.zeros((20_000, 1)), ("hilbert", "euclidean")
    (text,) = said_by(
        check_search_cost, X, resolve_kernel("tl1"), ("euclidean",), 20_000, 6, 2
    )
    assert "one setting" in text and "norm euclidean" not in text and "--lam" in text
    (text,) = said_by(
        check_search_cost, X[:15_000], resolve_kernel("tl1"), both, 1000, 1, 2
    )
    assert "--norm euclidean" in text and "one setting" not in text


def test_no_estimate_of_what_is_refused(monkeypatch):
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 2**30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(MemoryError, match="--landmarks 1000"):
            check_search_cost(
                np.zeros((20_000, 1)), resolve_kernel("tl1"), ("hilbert",), 1000, 6, 2
            )
        with pytest.raises(MemoryError, match="LandmarkLogisticRegression"):
            check_fit_cost(20_000, 2, "hilbert", "newton")


def test_a_matrix_that_needs_no_eigenvectors_is_not_refused(monkeypatch):
    rng = np.random.default_rng(0)
    K = rng.random((60, 60))
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 60_000)
    both = ("hilbert", "euclidean")
    assert (
        said_by(check_search_cost, K, resolve_kernel("precomputed"), both, 60, 1, 2)
        == []
    )
    with pytest.raises(MemoryError, match="eigenvectors"):
        check_search_cost(K + K.T, resolve_kernel("precomputed"), both, 60, 1, 2)


@pytest.mark.parametrize(
    "model",
    [
        KreinLogisticRegression(),
        KreinLogisticRegressionCV(kernel="tl1", lams=[0.1], norms=("krein",), cv=2),
    ],
)
def test_estimators_raise_the_same_error(monkeypatch, model):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 2)), np.arange(40) % 2
    monkeypatch.setattr(_fit, "SLOW_SECONDS", 1e-9)
    monkeypatch.setattr("kreinlearn.estimators.logistic.MAX_QUICK_SAMPLES", 0)
    with pytest.warns(UserWarning, match="of 40 samples takes roughly"):
        model.fit(X, y)
