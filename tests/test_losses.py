import numpy as np
import pytest
from scipy.special import expit, softmax

from kreinlearn.losses import LOGIT_CAP, Logistic, Multinomial, logarithmic_mean

LOSSES = {"logistic": (Logistic(), 1), "multinomial": (Multinomial(), 4)}


def block(rng, columns, n=30, problems=3):
    F = 3 * rng.standard_normal((n, problems, columns))
    if columns == 1:
        Y = rng.integers(0, 2, F.shape).astype(float)
    else:
        Y = np.eye(columns)[rng.integers(0, columns, (n, problems))]
    return Y, F


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_matches_finite_differences(name, rng):
    loss, columns = LOSSES[name]
    Y, F = block(rng, columns)
    step = 1e-6
    for c in range(columns):
        E = np.zeros(columns)
        E[c] = step
        slope = (loss.value(Y, F + E) - loss.value(Y, F - E)) / (2 * step)
        np.testing.assert_allclose(-loss.error(Y, F)[..., c], slope, atol=1e-8)


@pytest.mark.parametrize("name", LOSSES)
def test_hessian_is_the_metric_at_one_point(name, rng):
    loss, columns = LOSSES[name]
    Y, F = block(rng, columns)
    V = rng.standard_normal(F.shape)
    step = 1e-6
    change = loss.error(Y, F + step * V) - loss.error(Y, F - step * V)
    metric = loss.metric(F, F)
    product = loss.root(metric, loss.root_t(metric, V))
    np.testing.assert_allclose(product, -change / (2 * step), atol=1e-8)
    assert metric.max() <= 1.0


@pytest.mark.parametrize("name", LOSSES)
def test_metric_is_a_secant(name, rng):
    loss, columns = LOSSES[name]
    Y, F = block(rng, columns)
    Z = F + 4 * rng.standard_normal(F.shape)
    metric = loss.metric(Z, F)
    moved = loss.root(metric, loss.root_t(metric, loss.gap(Z, F)))
    np.testing.assert_allclose(moved, loss.prob(Z) - loss.prob(F), atol=1e-14)


@pytest.mark.parametrize("name", LOSSES)
def test_outer_sums_the_metric(name, rng):
    loss, columns = LOSSES[name]
    Y, F = block(rng, columns)
    scale = rng.uniform(size=F.shape[:2])
    metric = loss.metric(F, F)
    outer = loss.outer(metric, scale)
    for d in range(columns):
        e = np.zeros(F.shape)
        e[..., d] = 1.0
        column = (scale[..., None] * loss.root(metric, loss.root_t(metric, e))).sum(0)
        np.testing.assert_allclose(outer[..., d], column, atol=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_moves_stay_inside_and_are_exact(name, rng):
    loss, columns = LOSSES[name]
    _, Z = block(rng, columns)
    dQ = rng.standard_normal(Z.shape)
    if columns > 1:
        dQ -= dQ.mean(axis=-1, keepdims=True)
    room = loss.room(Z, dQ)
    moved = loss.moved(Z, dQ, 0.99 * room)
    np.testing.assert_allclose(
        loss.prob(moved), loss.prob(Z) + 0.99 * room[..., None] * dQ, atol=1e-12
    )
    beyond = loss.prob(Z) + 1.01 * room[..., None] * dQ
    assert np.all((beyond < 0).any(axis=-1) | (beyond > 1).any(axis=-1))


@pytest.mark.parametrize("name", LOSSES)
def test_entropy_is_that_of_the_probabilities(name, rng):
    loss, columns = LOSSES[name]
    _, Z = block(rng, columns)
    Q = loss.prob(Z)
    if columns == 1:
        naive = (Q * np.log(Q) + (1 - Q) * np.log(1 - Q))[..., 0]
    else:
        naive = (Q * np.log(Q)).sum(axis=-1)
    np.testing.assert_allclose(loss.entropy(Z), naive, atol=1e-12)


def test_probabilities_are_the_usual_ones(rng):
    Z = rng.standard_normal((5, 2, 3))
    np.testing.assert_allclose(Multinomial().prob(Z), softmax(Z, axis=-1))
    np.testing.assert_allclose(Logistic().prob(Z[..., :1]), expit(Z[..., :1]))


def test_extreme_logits_stay_finite():
    Z = np.array([-700.0, 700.0, 0.0])[:, None, None]
    F = np.array([-1e6, -1e6, 1e6])[:, None, None]
    loss = Logistic()
    Y = np.ones_like(Z)
    for array in (loss.metric(Z, F), loss.entropy(Z), loss.error(Y, F), loss.gap(Z, F)):
        assert np.isfinite(array).all()
    wall = loss.moved(Z, -loss.prob(Z), np.ones((3, 1)))
    assert wall.min() >= -LOGIT_CAP


def test_logarithmic_mean_lies_between():
    p, q = np.array([1e-8, 0.3, 0.5]), np.array([1e-2, 0.3, 0.5 + 1e-12])
    mean = logarithmic_mean(np.log(p), np.log(q))
    assert np.all(mean >= p * (1 - 1e-12)) and np.all(mean <= q * (1 + 1e-12))
    assert mean[0] == pytest.approx((p[0] - q[0]) / np.log(p[0] / q[0]))
