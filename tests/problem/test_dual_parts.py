"""Parts of the dual by themselves: own matrices, bounds, weights, intercepts."""

from importlib import import_module

import numpy as np
import pytest
from scipy.special import expit

from kreinlearn.losses import LOG_FLOOR, Logistic, Multinomial
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.solvers import DualNewton
from tests.conftest import gram_of_signature
from tests.problem.test_dual import LOSSES, make


class Own:
    """Matrices of problems, and in which precision products were asked for."""

    def __init__(self, matrices, asked):
        self.matrices, self.asked = matrices, asked

    def take(self, which):
        return Own(self.matrices[which], self.asked)

    def product(self, B, *, native):
        self.asked.append(native)
        return np.einsum("pij,jpc->ipc", self.matrices, B)


def test_problems_may_have_matrices_of_their_own(rng):
    n = 12
    matrices = np.stack([gram_of_signature(8, 4, seed=seed) for seed in range(3)])
    Y = rng.integers(0, 2, (n, 3, 1)).astype(float)
    weights, lam, asked = np.full((n, 3), 1 / n), np.array([0.1, 0.2, 0.3]), []
    shared = {"weights": weights, "lam": lam, "loss": Logistic()}
    K = Dense(matrices.mean(axis=0))
    block = KreinDual(K, Y, **shared, own=Own(matrices, asked))
    w = block.feasible(rng.standard_normal(Y.shape))
    D = rng.standard_normal(Y.shape)
    point, product = block.point(w), block.product(D)
    assert asked == [False, True]  # double precision, then that of the matrix
    part = block.take([2, 0])
    np.testing.assert_allclose(part.product(D[:, [2, 0]]), product[:, [2, 0]])
    for p in range(3):
        alone = KreinDual(Dense(matrices[p]), Y, **shared).take([p])
        expected = alone.point(w[:, [p]])
        np.testing.assert_allclose(point.F[:, [p]], expected.F, atol=1e-10)
        np.testing.assert_allclose(point.value[[p]], expected.value)
        np.testing.assert_allclose(product[:, [p]], alone.product(D[:, [p]]))
    assert KreinDual(K, Y, **shared).take([0]).own is None


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
def test_variables_end_at_the_floor(loss, columns):
    dual, _ = make(loss, columns)
    w = np.zeros(dual.Y.shape)
    w[0, :, 0], w[1, :, 0] = 1e9, -1e9
    point = dual.point(w)
    assert np.isfinite(point.Q.log_q).all() and np.isfinite(point.value).all()
    expected = loss.at(np.clip(w, LOG_FLOOR, -LOG_FLOOR))
    np.testing.assert_array_equal(point.Q.log_q, expected.log_q)
    np.testing.assert_array_equal(dual.variables(point), loss.logits(point.Q))


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_start_is_that_of_the_class_frequencies(loss, columns, intercept):
    dual, _ = make(loss, columns, intercept=intercept)
    start = dual.start()
    if not intercept:
        assert not start.any()
        return
    q = loss.at(start).q
    shares = np.einsum("np,npc->pc", dual.weights, dual.Y)
    np.testing.assert_allclose(q, np.broadcast_to(shares, q.shape), atol=1e-12)
    A = dual.point(start).A
    np.testing.assert_allclose(A.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
def test_intercepts_after_a_step_are_good_enough(loss, columns):
    dual, _ = make(loss, columns, intercept=True)
    point = dual.point(dual.start())
    model = dual.model(point, np.zeros(dual.n_problems))
    D, KD = model.apply(model.rhs)
    t = 0.1 * np.minimum(1.0, dual.largest_step(point, D).min(axis=0))
    moved = dual.advance(point, D, KD, t)
    fresh = dual.point(dual.variables(moved))
    assert (np.abs(moved.c - fresh.c).max(axis=1) <= 1e-3 * point.residual).all()
    np.testing.assert_allclose(moved.residual, fresh.residual, rtol=1e-2)
    np.testing.assert_allclose(moved.value, fresh.value)
    np.testing.assert_array_equal(moved.lam, dual.lam)


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
def test_intercepts_are_looked_for_where_they_must_be(loss, columns, monkeypatch):
    dual, _ = make(loss, columns, intercept=True)
    w = DualNewton().solve(dual, tol=1e-10).w
    asked, module = [], import_module("kreinlearn.problem.dual")
    usual = module.intercepts
    monkeypatch.setattr(
        module, "intercepts", lambda *given: asked.append(given[4:]) or usual(*given)
    )
    # At a stationary point they follow from the dual variables, for any constants.
    point = dual.point(w)
    start, accuracy = asked.pop()
    np.testing.assert_allclose(start, point.c, atol=1e-8)
    assert accuracy is None and np.abs(point.c).min() > 1e-3
    if columns > 1:
        dual.point(w + np.arange(len(w))[:, None, None])
        np.testing.assert_allclose(asked.pop()[0], point.c, atol=1e-8)
    # After a step they are near to the last ones, and need not be better than the step.
    point = dual.point(dual.start())
    asked.clear()
    dual.advance(point, np.zeros(point.A.shape), np.zeros(point.A.shape), np.ones(2))
    ((start, accuracy),) = asked
    np.testing.assert_array_equal(start, point.c)
    np.testing.assert_allclose(accuracy, 1e-3 * point.residual)


def test_samples_without_weight_have_no_part_in_the_residual():
    dual, _ = make(Logistic(), 1, problems=1)
    w = np.zeros(dual.Y.shape)
    point = dual.point(w)
    w[3] = 600.0  # the one without weight: far off, and of no account
    moved = dual.point(w)
    np.testing.assert_array_equal(moved.residual, point.residual)
    np.testing.assert_array_equal(moved.value, point.value)
    assert (moved.A[3] == 0).all()


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
def test_iterates_are_taken_and_joined(loss, columns, rng):
    dual, _ = make(loss, columns)
    point = dual.point(rng.standard_normal(dual.Y.shape))
    joined = point.take([1]).concat(point.take([0]))
    for name in ("A", "F", "entropy"):
        found, expected = getattr(joined, name), getattr(point, name)[:, [1, 0]]
        np.testing.assert_array_equal(found, expected)
    for name in ("c", "value", "residual", "lam"):
        found, expected = getattr(joined, name), getattr(point, name)[[1, 0]]
        np.testing.assert_array_equal(found, expected)
    for name in ("Q", "B"):
        np.testing.assert_array_equal(
            getattr(joined, name).q, getattr(point, name).q[:, [1, 0]]
        )
    relaxed = dual.with_scaled_lam(np.array([2.0, 5.0]))
    np.testing.assert_allclose(relaxed.lam, dual.lam * [2, 5])
    np.testing.assert_allclose(
        relaxed.point(dual.variables(point)).A, point.A / np.array([2, 5])[:, None]
    )


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_models_of_some_problems_are_those_of_the_block(loss, columns, intercept, rng):
    dual, _ = make(loss, columns, intercept=intercept)
    point = dual.point(dual.start())
    shift = np.array([0.0, 2.0])
    model, X = dual.model(point, shift), rng.standard_normal(dual.Y.shape)
    D, KD = model.apply(X)
    H = model.hessian_vector(D, KD, X)
    one = model.take([1])
    np.testing.assert_array_equal(one.rhs, model.rhs[:, [1]])
    D1, KD1 = one.apply(X[:, [1]])
    np.testing.assert_allclose(one.hessian_vector(D1, KD1, X[:, [1]]), H[:, [1]])
    # The shift adds itself to K, in the problem that has one.
    bare = model.with_shift(np.zeros(2)).hessian_vector(D, KD, X)
    more = model.project(model.root.apply_t(shift[:, None] * D))
    np.testing.assert_allclose(H - bare, more, atol=1e-12)
    np.testing.assert_array_equal(H[:, 0], bare[:, 0])
    # What is projected keeps the sums of coefficients, and is projected once.
    projected = model.project(X)
    np.testing.assert_allclose(model.project(projected), projected, atol=1e-10)
    np.testing.assert_allclose(model.project(model.rhs), model.rhs, atol=1e-10)
    if intercept:
        steps = model.root.apply(projected).sum(axis=0)
        np.testing.assert_allclose(steps, 0, atol=1e-12)
    else:
        assert projected is X


def test_the_right_hand_side_is_minus_the_scaled_gradient():
    dual, K = make(Logistic(), 1, problems=1)
    point = dual.point(np.zeros(dual.Y.shape))
    model = dual.model(point, np.zeros(1))
    # J'(A) = K A - logit(Q), and T'T = metric w / lam, here between 1/2 and sigma(F).
    f = K @ point.A[:, 0, 0]
    metric = np.where(f == 0, 0.25, (expit(f) - 0.5) / np.where(f == 0, 1.0, f))
    root = np.sqrt(metric * dual.weights[:, 0] / dual.lam[0])
    np.testing.assert_allclose(model.rhs[:, 0, 0], root * (0.0 - f), atol=1e-12)


def test_products_are_those_of_a_block_of_columns(rng):
    K = gram_of_signature(10, 5)
    Y = np.eye(3)[rng.integers(0, 3, (15, 2))]
    dual = KreinDual(Dense(K), Y, np.full((15, 2), 1 / 15), np.ones(2), Multinomial())
    D = rng.standard_normal(Y.shape)
    np.testing.assert_allclose(dual.product(D), np.einsum("ij,jpc->ipc", K, D))
