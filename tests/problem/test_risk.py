import numpy as np
import pytest

from kreinlearn.operators import Dense
from kreinlearn.problem import KreinRisk
from kreinlearn.spectrum import split
from tests.conftest import gram_of_signature


def make(mode="paper", intercept=True, scale=1.0, lam=0.1, n=30):
    rng = np.random.default_rng(2)
    K = gram_of_signature(n - 12, 12, scale=0.05)
    y = np.where(rng.uniform(size=n) < 0.5, -1.0, 1.0)
    weights = rng.uniform(0.5, 1.5, n)
    weights /= weights.sum()
    return KreinRisk(
        Dense(K),
        split(Dense(K), mode),
        y,
        weights,
        lam,
        fit_intercept=intercept,
        scale=scale,
    ), K


def finite_differences(function, w, step=1e-6):
    return np.array(
        [
            (function(w + step * e) - function(w - step * e)) / (2 * step)
            for e in np.eye(len(w))
        ]
    )


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_value_and_gradient(intercept, scale, rng):
    risk, K = make(intercept=intercept, scale=scale)
    w = rng.standard_normal(risk.dim)
    a = w[:30]
    f = K @ a + (w[-1] if intercept else 0.0)
    naive = (risk.weights * np.log1p(np.exp(-risk.y * f))).sum()
    naive += risk.lam / 2 * a @ K @ a
    assert risk.value(w) == pytest.approx(scale * naive)
    np.testing.assert_allclose(
        risk.grad(w), finite_differences(risk.value, w), rtol=1e-5, atol=1e-6 * scale
    )


@pytest.mark.parametrize("mode", ["paper", "tight", "shift"])
@pytest.mark.parametrize("intercept", [False, True])
def test_surrogate_touches_majorizes_and_is_convex(mode, intercept, rng):
    risk, _ = make(mode, intercept)
    base = rng.standard_normal(risk.dim)
    surrogate = risk.surrogate(base)
    assert surrogate.value(base) == pytest.approx(risk.value(base))
    np.testing.assert_allclose(surrogate.grad(base), risk.grad(base), atol=1e-12)
    np.testing.assert_allclose(
        surrogate.grad(base + 0.1),
        finite_differences(surrogate.value, base + 0.1),
        rtol=1e-5,
        atol=1e-6,
    )
    for _ in range(20):
        u, v = base + 3 * rng.standard_normal((2, risk.dim))
        assert surrogate.value(u) >= risk.value(u) - 1e-10
        middle = surrogate.value((u + v) / 2)
        assert middle <= (surrogate.value(u) + surrogate.value(v)) / 2 + 1e-10


@pytest.mark.parametrize("mode", ["paper", "tight", "shift"])
def test_lipschitz_constant_bounds_the_gradient(mode, rng):
    risk, _ = make(mode, lam=0.5)
    surrogate = risk.surrogate(np.zeros(risk.dim))
    for size in (1e-3, 1.0, 10.0):
        u = size * rng.standard_normal(risk.dim)
        v = u + 1e-3 * size * rng.standard_normal(risk.dim)
        change = np.linalg.norm(surrogate.grad(u) - surrogate.grad(v))
        assert change <= risk.lipschitz * np.linalg.norm(u - v) * (1 + 1e-9)


def test_batches_are_unbiased(rng):
    risk, _ = make()
    base = rng.standard_normal(risk.dim)
    w = base + 0.1 * rng.standard_normal(risk.dim)
    surrogate = risk.surrogate(base)
    each = [surrogate.grad_batch(w, np.array([j])) for j in range(30)]
    np.testing.assert_allclose(np.mean(each, axis=0), surrogate.grad(w), atol=1e-12)
    whole = surrogate.grad_batch(w, np.arange(30))
    np.testing.assert_allclose(whole, surrogate.grad(w), atol=1e-12)


def test_theorem_one_is_a_diagnostic():
    risk, K = make("tight", lam=0.3)
    values = np.linalg.eigvalsh(K)
    top, low = values[-1], -values[0]
    expected = 0.3 * (top - low) - max(top, low) ** 2 / (4 * 30)
    assert risk.theorem1_bound == pytest.approx(expected)
    assert make("paper", lam=0.3)[0].theorem1_bound == pytest.approx(expected)


def test_objective_is_unbounded_below_for_indefinite_matrices():
    risk, K = make(intercept=False)
    v = np.linalg.eigh(K)[1][:, 0]
    values = [risk.value(t * v) for t in (1e2, 1e4, 1e6)]
    assert values[0] > values[1] > values[2] and values[2] < -1e8


def test_a_point_is_evaluated_once(rng, monkeypatch):
    (problem, _), calls = make(), []
    usual = Dense.matmat
    monkeypatch.setattr(Dense, "matmat", lambda s, B: calls.append(1) or usual(s, B))
    w = rng.standard_normal(31)
    problem.value(w), problem.value(w), problem.surrogate(w)
    assert len(calls) == 1
    problem.value(w.copy())
    assert len(calls) == 2


def test_residuals_leave_out_samples_without_weight(rng):
    weights = np.full(30, 1 / 28)
    weights[[3, 4]] = 0.0
    K = gram_of_signature(20, 10, scale=0.02)
    y = np.where(np.arange(30) % 3, 1.0, -1.0)
    problem = KreinRisk(Dense(K), split(Dense(K)), y, weights, 0.1)
    w = np.r_[0.01 * rng.standard_normal(30), 0.2]
    w[3] = 1e6
    f = K @ w[:30] + w[30]
    b = 1 / (1 + np.exp(np.clip(y * f, -700, 700)))
    used = weights > 0
    expected = np.abs(0.1 * y * w[:30] / np.where(used, weights, 1) - b)[used].max()
    assert problem.residual(w) == pytest.approx(expected)
