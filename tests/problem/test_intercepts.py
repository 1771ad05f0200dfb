"""Intercepts: from any start, to any accuracy, and in few steps."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from kreinlearn.losses import Logistic, Multinomial
from kreinlearn.problem.dual import intercepts, pseudo_inverse


def binary(rng, size=3.0, n=40, problems=3):
    F = size * rng.standard_normal((n, problems, 1))
    Y = rng.integers(0, 2, F.shape).astype(float)
    Y[:2] = np.array([0.0, 1.0])[:, None, None]
    w = rng.uniform(0.5, 1.5, (n, problems))
    return Y, F, w / w.sum(axis=0)


def roots(Y, F, w):
    """Return the intercepts of two classes by a root finder."""

    def total(c, p):
        return (w[:, p] * (Y[:, p, 0] - expit(F[:, p, 0] + c))).sum()

    return np.array(
        [[brentq(total, -2e4, 2e4, (p,), xtol=1e-14)] for p in range(F.shape[1])]
    )


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_pseudo_inverses_of_any_scale(rng, scale):
    half = rng.standard_normal((4, 3, 2))
    H = half @ half.transpose(0, 2, 1)  # of rank 2
    found = pseudo_inverse(scale * H)
    np.testing.assert_allclose(found * scale, np.linalg.pinv(H), atol=1e-9)
    one = np.array([[[2.0 * scale]]])
    np.testing.assert_allclose(pseudo_inverse(one), 0.5 / scale)


@pytest.mark.parametrize("size", [0.0, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("start", [None, -300.0, 0.1, 1e6, -1e300, 1e300])
def test_two_classes_from_any_start(rng, size, start):
    Y, F, w = binary(rng, size)
    F += np.array([0.0, 50.0, -200.0])[:, None]
    given = None if start is None else np.full((3, 1), start)
    found = intercepts(Logistic(), Y, F, w, given)
    np.testing.assert_allclose(found, roots(Y, F, w), rtol=1e-11, atol=1e-10)


def test_samples_on_one_side_are_balanced_by_bisection():
    # A plateau: the sum of errors has no slope between the scores.
    F = np.array([-1e3, -1e3, 1e3, 1e3])[:, None, None]
    Y = np.array([1.0, 0.0, 0.0, 0.0])[:, None, None]
    c = intercepts(Logistic(), Y, F, np.full((4, 1), 0.25))
    assert expit(F + c).sum() == pytest.approx(1.0, abs=1e-9)


def many(rng, size=3.0, n=40, problems=3, k=4):
    F = size * rng.standard_normal((n, problems, k))
    Y = np.eye(k)[np.r_[np.arange(k), rng.integers(0, k, n - k)]]
    w = rng.uniform(0.5, 1.5, (n, problems))
    return np.repeat(Y[:, None], problems, axis=1), F, w / w.sum(axis=0)


def imbalance(Y, F, w, c):
    loss = Multinomial()
    error = loss.error(Y, loss.at(F + c))
    return np.abs(np.einsum("np,npc->pc", w, error)).max(axis=1)


@pytest.mark.parametrize("size", [0.0, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("far", [0.0, 1.0, 300.0])
def test_several_classes_from_any_start(rng, size, far):
    Y, F, w = many(rng, size)
    start = far * rng.standard_normal((3, 4)) + far
    c = intercepts(Multinomial(), Y, F, w, start)
    assert imbalance(Y, F, w, c).max() < 1e-11
    np.testing.assert_allclose(c.mean(axis=1), 0, atol=1e-10 * max(1.0, size))


def test_scores_that_are_not_finite_have_no_intercepts():
    Y = np.eye(3)[:, None]
    F = np.full((3, 1, 3), 1e308) * np.array([1.0, -1.0, 1.0])
    with np.errstate(all="ignore"):
        c = intercepts(Multinomial(), Y, F, np.full((3, 1), 1 / 3))
    assert np.isnan(c).all()


def test_a_class_whose_probability_has_vanished_comes_back(rng):
    # exp(-800) is zero: Newton's method would not see the class at all.
    Y, F, w = many(rng, 1.0, problems=1, k=3)
    F[..., 2] -= 800.0
    c = intercepts(Multinomial(), Y, F, w)
    assert imbalance(Y, F, w, c).max() < 1e-11
    assert c[0, 2] - c[0, 0] > 700
