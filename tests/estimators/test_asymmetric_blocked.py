"""A kernel of the user's is judged the same, whether its matrix is stored or not."""

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression
from kreinlearn.exceptions import IndefiniteKernelWarning
from kreinlearn.operators import MIRROR_ROWS

N = 60
X = np.random.default_rng(0).uniform(size=(N, 3))
Y = (X[:, 0] > 0.5).astype(int)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("kreinlearn.operators.MIRROR_ROWS", 16)
    assert MIRROR_ROWS > N  # the usual ones would hold everything at once


class Changed:
    """The inner product, with another value from one sample to another."""

    def __init__(self, value, i=7, j=50, both=False):
        self.value, self.pairs = value, [(i, j), (j, i)] if both else [(i, j)]

    def __call__(self, A, B):
        K = np.asarray(A) @ np.asarray(B).T
        for i, j in self.pairs:
            rows = (np.asarray(A) == X[i]).all(axis=1)
            K[np.ix_(rows, (np.asarray(B) == X[j]).all(axis=1))] += self.value
        return K


def fitted(kernel, operator, **settings):
    return KreinLogisticRegression(kernel, operator=operator, **settings).fit(X, Y)


def message(kernel, operator):
    with pytest.raises(ValueError) as caught:
        fitted(kernel, operator)
    return str(caught.value)


@pytest.mark.parametrize("pair", [(7, 50), (50, 7), (3, 4), (59, 58)])
def test_one_pair_that_differs_is_found_whatever_the_operator(pair):
    kernel = Changed(0.25, *pair)
    said = message(kernel, "blocked")
    assert "A Gram matrix must be symmetric, but entries" in said
    assert "differ by up to 0.25" in said
    assert said == message(kernel, "dense")


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("both", [False, True])
def test_one_entry_that_is_not_finite_is_found_whatever_the_operator(value, both):
    kernel = Changed(value, both=both)
    said = message(kernel, "blocked")
    assert said == f"The kernel must give finite numbers, got {value} in row 7, " + (
        "column 50."
    )
    assert said == message(kernel, "dense")


@pytest.mark.slow
@pytest.mark.parametrize("rows", [[0], [33], [20, 59]])
def test_an_overflow_of_a_kernel_with_a_name_is_found_whatever_the_operator(rows):
    Z = X.copy()
    Z[rows] *= 1e60
    said = []
    for operator in ("dense", "blocked"):
        with pytest.raises(ValueError, match="Kernel 'polynomial' must give") as caught:
            KreinLogisticRegression("polynomial", operator=operator).fit(Z, Y)
        said.append(str(caught.value))
    place = f"got inf in row {rows[0]}, column {rows[0]}."
    assert said[0] == said[1]
    assert place in said[0]


def test_asymmetry_warns_and_is_averaged_in_both():
    kernel = Changed(1e-7)
    with pytest.warns(IndefiniteKernelWarning, match="not quite symmetric") as told:
        models = [fitted(kernel, operator) for operator in ("dense", "blocked")]
    assert len({str(each.message) for each in told}) == 1
    a, b = (model.dual_coef_ for model in models)
    np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(a).max())


def test_symmetrize_and_the_euclidean_norm_take_it():
    kernel = Changed(0.25)
    for settings in ({"symmetrize": "max"}, {"norm": "euclidean"}):
        dense, blocked = (
            fitted(kernel, operator, **settings) for operator in ("dense", "blocked")
        )
        np.testing.assert_allclose(blocked.dual_coef_, dense.dual_coef_, atol=1e-6)
        np.testing.assert_array_equal(
            np.isnan(dense.mu_min_), np.isnan(blocked.mu_min_)
        )
    assert np.isnan(blocked.mu_min_)
