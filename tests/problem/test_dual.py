from dataclasses import replace

import numpy as np
import pytest

from kreinlearn.losses import Logistic, Multinomial
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual, intercepts, uniqueness_threshold
from tests.conftest import gram_of_signature


def make(loss, columns, *, problems=2, intercept=False, seed=0, n=30):
    rng = np.random.default_rng(seed)
    K = gram_of_signature(n - 10, 10, scale=0.1)
    if columns == 1:
        Y = rng.integers(0, 2, (n, problems, 1)).astype(float)
    else:
        Y = np.eye(columns)[rng.integers(0, columns, (n, problems))]
    weights = rng.uniform(0.5, 1.5, (n, problems))
    weights[3] = 0.0
    weights /= weights.sum(axis=0)
    lam = np.array([0.1, 0.02])[:problems]
    return KreinDual(Dense(K), Y, weights, lam, loss, intercept), K


SEEDS = (*range(20), 93, 120, 625, 678, 802, 833, 1096, 1102, 1191, 1340, 2976)
LOSSES = [(Logistic(), 1), (Multinomial(), 3)]


def naive_value(dual, K, A):
    """J of a single problem by its definition, from the coefficients alone."""
    w = dual.weights[:, 0]
    used = w > 0
    Q = dual.Y[used, 0] - dual.lam[0] * A[used] / w[used, None]
    R = np.hstack([Q, 1 - Q]) if Q.shape[1] == 1 else Q
    entropy = (w[used, None] * R * np.log(R)).sum() / dual.lam[0]
    return 0.5 * np.einsum("ic,ij,jc->", A, K, A) + entropy


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
def test_value_is_the_definition(loss, columns, rng):
    dual, K = make(loss, columns, problems=1)
    point = dual.point(rng.standard_normal(dual.Y.shape))
    assert point.value[0] == pytest.approx(naive_value(dual, K, point.A[:, 0]))


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
def test_slope_and_curvature_match_finite_differences(loss, columns, rng):
    dual, K = make(loss, columns, problems=1)
    point = dual.point(rng.standard_normal(dual.Y.shape))
    other = loss.at(rng.standard_normal(dual.Y.shape))
    D = dual.coefficients(other) - point.A
    h = 1e-5

    def value(t):
        return naive_value(dual, K, point.A[:, 0] + t * D[:, 0])

    slope = (value(h) - value(-h)) / (2 * h)
    assert dual.slope(point, D)[0] == pytest.approx(slope, rel=1e-6)
    # Curvature from the model at Z = F: there the secant metric is the Hessian. A
    # step X of the model has squared length X'X = D' (metric)^-1 D.
    scores = point.F + point.c
    consistent = dual.point(scores)
    consistent = replace(consistent, B=consistent.Q)
    model = dual.model(consistent, np.zeros(dual.n_problems))
    X = rng.standard_normal(dual.Y.shape)
    X[3] = 0.0  # a sample without weight has no step
    if columns > 1:  # remove the direction that T maps to zero
        X = model.root.apply_t(X)
    D, KD = model.apply(X)
    h = 1e-4
    values = [
        naive_value(dual, K, consistent.A[:, 0] + t * D[:, 0]) for t in (-h, 0, h)
    ]
    curvature = (values[0] - 2 * values[1] + values[2]) / h**2
    product = model.hessian_vector(D, KD, X)
    assert (X * product).sum() == pytest.approx(curvature, rel=1e-4)


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_advance_agrees_with_a_fresh_point(loss, columns, intercept, rng):
    dual, K = make(loss, columns, intercept=intercept)
    point = dual.point(dual.start())
    model = dual.model(point, np.zeros(dual.n_problems))
    D, KD = model.apply(model.rhs)
    t = 0.5 * np.minimum(1.0, dual.largest_step(point, D).min(axis=0))
    moved = dual.advance(point, D, KD, t)
    fresh = dual.point(dual.variables(moved))
    np.testing.assert_allclose(moved.A, fresh.A, atol=1e-12)
    np.testing.assert_allclose(moved.F, fresh.F, atol=1e-10)
    np.testing.assert_allclose(
        dual.change(point, D, KD, t), fresh.value - point.value, atol=1e-9
    )
    if intercept:
        np.testing.assert_allclose(moved.A.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
def test_restored_steps_meet_the_constraint_inside_the_box(loss, columns, rng):
    dual, _ = make(loss, columns, intercept=True)
    point = dual.point(dual.start())
    D = 1e3 * rng.standard_normal(point.A.shape) * (dual.weights[..., None] > 0)
    if columns > 1:
        D -= D.mean(axis=-1, keepdims=True)
    scale = np.minimum(1.0, 0.9 * dual.largest_step(point, D))
    D = dual.project_step(point, D, scale)
    np.testing.assert_allclose((point.A + D).sum(axis=0), 0, atol=1e-10)
    assert dual.largest_step(point, D).min() > 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_multinomial_intercepts_from_far_away(seed):
    # A full Newton step halves the errors of some of these, and yet leads far astray.
    rng = np.random.default_rng(seed)
    n, k = rng.integers(6, 60), rng.integers(3, 6)
    Y = np.eye(k)[np.r_[np.arange(k), rng.integers(0, k, n - k)]]
    F = rng.uniform(1, 12) * Y + rng.uniform(0.1, 3) * rng.standard_normal((n, k))
    F += rng.uniform(0, 15) * rng.standard_normal(k)
    w = np.full((n, 1), 1 / n)
    loss = Multinomial()
    c = intercepts(loss, Y[:, None], F[:, None], w)
    error = (w[..., None] * loss.error(Y[:, None], loss.at(F[:, None] + c))).sum(axis=0)
    np.testing.assert_allclose(error, 0, atol=1e-9)


def test_threshold_of_uniqueness():
    assert uniqueness_threshold(-2.0, 1 / 50, Logistic()) == pytest.approx(2 / 200)
    assert uniqueness_threshold(-2.0, 1 / 50, Multinomial()) == pytest.approx(2 / 100)
    assert uniqueness_threshold(0.5, 1 / 50, Logistic()) == 0


@pytest.mark.parametrize(("loss", "columns"), LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_preconditioner_is_symmetric_positive_definite_and_keeps_the_space(
    loss, columns, intercept, rng
):
    dual, K = make(loss, columns, intercept=intercept)
    point = dual.point(dual.start())
    model = dual.with_preconditioner().model(point, np.zeros(dual.n_problems))

    def random():  # in the space where the model lives
        X = model.root.tangent(rng.standard_normal(dual.Y.shape))
        return model.project(X)

    def dot(U, V):
        return np.einsum("npc,npc->p", U, V)

    U, V = random(), random()
    np.testing.assert_allclose(
        dot(U, model.precondition(V)), dot(V, model.precondition(U)), rtol=1e-9
    )
    assert np.all(dot(U, model.precondition(U)) > 0)
    # stays where the model lives
    Z = model.precondition(U)
    np.testing.assert_allclose(model.project(model.root.tangent(Z)), Z)


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
