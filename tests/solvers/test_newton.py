import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from kreinlearn.losses import Logistic, Multinomial
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.solvers import DualNewton, Status
from tests.conftest import gram_of_signature, scaled, tl1_naive


class Counting(Dense):
    """A matrix that counts the columns it was multiplied by."""

    products = 0

    def matmat_native(self, B):
        self.products += B.shape[1]
        return super().matmat_native(B)


def binary(K, y, lam, *, intercept=True, weights=None):
    lam = np.atleast_1d(lam)
    n, P = len(y), len(lam)
    w = np.full((n, P), 1 / n) if weights is None else weights
    operator = K if hasattr(K, "matmat") else Dense(K)
    Y = np.repeat((y[:, None, None] + 1.0) / 2, P, axis=1)
    return KreinDual(operator, Y, w, lam, Logistic(), intercept)


def half(name, data_home, seed=0):
    """A random half of a real data set and its TL1 matrix, as in the paper."""
    from reproduction.data import load

    bunch = load(name, data_home)
    X, y = scaled(bunch.data), bunch.target
    rows = np.random.default_rng(seed).permutation(len(y))[: (len(y) + 1) // 2]
    return X[rows], y[rows].astype(float)


def tl1_matrix(X):
    from kreinlearn.kernels import gram

    return gram(X, kernel="tl1")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-4])
def test_agrees_with_lbfgs_where_the_matrix_is_positive_definite(rng, intercept, lam):
    X = rng.standard_normal((40, 3))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(40) > 0, 1.0, -1.0)
    L = np.linalg.cholesky(K + 1e-13 * np.eye(40))

    def primal(v):  # u = L'a, so that the penalty is |u|^2
        f = L @ v[:40] + v[40] * intercept
        b = expit(-y * f)
        g = np.append(lam * v[:40] - L.T @ (y * b) / 40, -(y * b).mean() * intercept)
        value = np.logaddexp(0, -y * f).mean() + lam / 2 * v[:40] @ v[:40]
        return value, g

    options = {"maxiter": 100_000, "ftol": 1e-16, "gtol": 1e-11, "maxfun": 10**6}
    oracle = minimize(
        primal, np.zeros(41), jac=True, method="L-BFGS-B", options=options
    )
    dual = binary(K, y, lam, intercept=intercept)
    result = DualNewton().solve(dual, tol=1e-10)
    assert result.status == (Status.CONVERGED,)
    point = dual.point(result.w)
    scores = (point.F + point.c)[:, 0, 0]
    expected = L @ oracle.x[:40] + oracle.x[40] * intercept
    np.testing.assert_allclose(expit(scores), expit(expected), atol=1e-6)


def test_multinomial_agrees_with_lbfgs(rng):
    X = rng.standard_normal((45, 2))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    K = X @ X.T
    lam = 0.05
    Y = np.eye(3)[y]

    def primal(v):
        W, c = v[:6].reshape(2, 3), v[6:]
        F = X @ W + c
        P = np.exp(F - logsumexp(F, axis=1, keepdims=True))
        G = (P - Y) / 45
        value = (logsumexp(F, axis=1) - (F * Y).sum(1)).mean() + lam / 2 * (W**2).sum()
        return value, np.append((X.T @ G + lam * W).ravel(), G.sum(0))

    oracle = minimize(primal, np.zeros(9), jac=True, method="BFGS", tol=1e-10)
    F = X @ oracle.x[:6].reshape(2, 3) + oracle.x[6:]
    dual = KreinDual(
        Dense(K), Y[:, None], np.full((45, 1), 1 / 45), np.array([lam]), Multinomial()
    )
    result = DualNewton().solve(dual, tol=1e-10)
    assert result.status == (Status.CONVERGED,)
    point = dual.point(result.w)
    mine = Multinomial().at(point.F + point.c).q[:, 0]
    np.testing.assert_allclose(mine, Multinomial().at(F).q, atol=1e-6)


def test_unique_above_the_threshold_from_twenty_starts(rng):
    X = scaled(rng.integers(0, 3, size=(80, 6)).astype(float))
    y = np.where(X[:, 0] == X[:, 1], 1.0, -1.0)
    K = tl1_naive(X, X, 0.7 * 6)
    mu_min = np.linalg.eigvalsh(K)[0]
    assert mu_min < -1e-3
    lam = 1.05 * -mu_min / (4 * 80)
    dual = binary(K, y, lam, intercept=False)
    solutions = []
    for _ in range(20):
        w0 = 3 * rng.standard_normal(dual.Y.shape)
        result = DualNewton().solve(dual, w0, tol=1e-11)
        assert result.status == (Status.CONVERGED,)
        solutions.append(dual.point(result.w).A[:, 0, 0])
    spread = np.ptp(solutions, axis=0).max() / np.abs(solutions[0]).max()
    assert spread < 1e-7
    a = solutions[0]
    gradient = K @ (lam * a - y * expit(-y * (K @ a)) / 80)
    assert np.abs(gradient).max() < 1e-8


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("lam", [1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("signature", [(30, 20, 0), (0, 40, 0), (10, 5, 25), (0, 0, 9)])
def test_always_ends_at_a_stationary_point(signature, lam, intercept):
    K = gram_of_signature(*signature, seed=4)
    n = len(K)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    dual = binary(K, y, lam, intercept=intercept)
    result = DualNewton(max_iter=300).solve(dual, tol=1e-6)
    point = dual.point(result.w)
    assert result.status == (Status.CONVERGED,)
    assert point.residual[0] < 2e-6
    assert np.isfinite(point.A).all() and np.isfinite(point.value).all()


@pytest.mark.parametrize("name", ["monks1", "monks2", "SPECT"])
def test_small_lam_on_real_data(name, data_home):
    X, y = half(name, data_home)
    K = tl1_matrix(X)
    n = len(y)
    threshold = -np.linalg.eigvalsh(K)[0] / (4 * n)
    for lam in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        dual = binary(K, y, lam)
        result = DualNewton().solve(dual, tol=1e-8 if lam > threshold else 1e-6)
        assert result.status == (Status.CONVERGED,), lam
        point = dual.point(result.w)
        a, c = point.A[:, 0, 0], point.c[0, 0]
        gradient = K @ (lam * a - y * expit(-y * (K @ a + c)) / n)
        assert np.isfinite(gradient).all()
        assert np.abs(gradient).max() < (1e-8 if lam > threshold else 1e-5)


def test_products_on_guide1(data_home):
    X, y = half("guide1-t", data_home)
    K = Counting(tl1_matrix(X))
    result = DualNewton().solve(binary(K, y, 1e-4), tol=1e-6)
    assert result.status == (Status.CONVERGED,)
    assert K.products < 60


def test_a_path_takes_fewer_products_than_its_problems_alone(rng):
    X = scaled(rng.standard_normal((150, 4)))
    y = np.where(X[:, 0] + 0.2 * rng.standard_normal(150) > 0.5, 1.0, -1.0)
    lams = 10.0 ** -np.arange(1, 6)
    shared, apart = Counting(tl1_naive(X, X, 2.8)), Counting(tl1_naive(X, X, 2.8))
    DualNewton().solve(binary(shared, y, lams), tol=1e-6, after=range(-1, 4))
    for lam in lams:
        DualNewton().solve(binary(apart, y, lam), tol=1e-6)
    assert shared.products < 0.75 * apart.products


def test_any_start_leads_to_the_same_point_where_there_is_one(rng):
    X = scaled(rng.standard_normal((60, 3)))
    y = np.where(X[:, 0] > 0.5, 1.0, -1.0)
    dual = binary(tl1_naive(X, X, 2.1) + 0.1 * np.eye(60), y, 1e-2)
    cold = dual.point(DualNewton().solve(dual, tol=1e-10).w)
    for size in (0.1, 3.0, 30.0):  # none of them meets sum(A) = 0
        w0 = size * rng.standard_normal(dual.Y.shape) + 1.0
        result = DualNewton().solve(dual, w0, tol=1e-10)
        assert result.status == (Status.CONVERGED,)
        np.testing.assert_allclose(dual.point(result.w).A, cold.A, atol=1e-6)
        assert result.n_iter[0] < 25


def test_history_and_callback(indefinite):
    K, y = indefinite
    rows = []
    dual = binary(K, y, 0.1)
    result = DualNewton().solve(dual, tol=1e-8, callback=rows.append)
    assert list(result.history) == rows
    values = [row["value"] for row in rows if row["lam"] == 0.1]
    assert values == sorted(values, reverse=True)  # the dual never increases
    assert rows[-1]["residual"] < 1e-8
    stopped = DualNewton().solve(dual, tol=1e-8, callback=lambda row: True)
    assert stopped.n_iter == (0,) and stopped.status == (Status.MAX_ITER,)


def test_max_iter_is_named(indefinite):
    K, y = indefinite
    result = DualNewton(max_iter=1).solve(binary(K, y, 1e-3), tol=1e-9)
    assert result.status == (Status.MAX_ITER,) and result.n_iter == (1,)


def test_a_non_finite_matrix_is_named(indefinite):
    K, y = indefinite
    K = K.copy()
    K[0, 0] = np.nan
    with np.errstate(invalid="ignore"):
        result = DualNewton().solve(binary(K, y, 0.1, intercept=False), tol=1e-9)
    assert result.status == (Status.NONFINITE,)
