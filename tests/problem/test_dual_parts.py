"""Parts of the dual by themselves: own matrices, walls, weights, intercepts."""

import numpy as np
import pytest

from kreinlearn.losses import Logistic
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
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
