"""Properties of fits that hold for every similarity, on examples that are drawn."""

import numpy as np
import pytest
from scipy.special import expit

from kreinlearn import KreinLogisticRegression

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies
few = hypothesis.settings(derandomize=True, max_examples=25, deadline=None)
seeds = hypothesis.given(seed=st.integers(0, 10**6), n=st.integers(6, 25))


def drawn(seed, n, definite=False):
    """Return similarities, labels, and a lam far above the threshold of uniqueness."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    K = A @ A.T / n if definite else (A + A.T) / 2
    y = rng.integers(2, size=n)
    y[:2] = 0, 1
    return K, y, float(np.abs(np.linalg.eigvalsh(K)).max()) / n


def fitted(K, y, lam, weights=None, **settings):
    model = KreinLogisticRegression("precomputed", {"check": False}, lam, **settings)
    return model.set_params(tol=1e-9).fit(K, y, weights)


@few
@seeds
def test_the_certificate_is_true(seed, n):
    K, y, lam = drawn(seed, n)
    model = fitted(K, y, lam)
    a, f = model.dual_coef_[0], K @ model.dual_coef_[0] + model.intercept_
    assert model.regime_ == "unique"
    assert np.abs(n * lam * a - (y - expit(f))).max() <= 1e-8
    assert abs(a.sum()) <= 1e-8 * max(1.0, np.abs(a).sum())


@few
@seeds
def test_order_names_and_scale_do_not_matter(seed, n):
    K, y, lam = drawn(seed, n)
    f = fitted(K, y, lam).decision_function(K)
    order = np.random.default_rng(seed).permutation(n)
    moved = K[np.ix_(order, order)]
    g = fitted(moved, y[order], lam).decision_function(moved)
    np.testing.assert_allclose(g, f[order], atol=1e-6)
    np.testing.assert_allclose(
        fitted(K, 1 - y, lam).decision_function(K), -f, atol=1e-6
    )
    larger = fitted(7 * K, y, 7 * lam).decision_function(7 * K)
    np.testing.assert_allclose(larger, f, atol=1e-6)


@few
@seeds
def test_a_weight_of_two_is_a_row_repeated(seed, n):
    K, y, lam = drawn(seed, n)
    weights = np.ones(n)
    weights[0] = 2
    rows = np.r_[0, np.arange(n)]
    one = fitted(K, y, 2 * lam, weights).decision_function(K)
    model = fitted(K[np.ix_(rows, rows)], y[rows], 2 * lam)
    two = model.decision_function(K[:, rows])
    np.testing.assert_allclose(one, two, atol=1e-6)


@few
@seeds
def test_norms_agree_where_there_is_nothing_negative(seed, n):
    K, y, lam = drawn(seed, n, definite=True)
    f, g = (
        fitted(K, y, lam, norm=m).decision_function(K) for m in ("krein", "hilbert")
    )
    np.testing.assert_allclose(f, g, atol=1e-6)
