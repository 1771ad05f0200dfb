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


def test_objective_is_unbounded_below_for_indefinite_matrices():
    risk, K = make(intercept=False)
    v = np.linalg.eigh(K)[1][:, 0]
    values = [risk.value(t * v) for t in (1e2, 1e4, 1e6)]
    assert values[0] > values[1] > values[2] and values[2] < -1e8
