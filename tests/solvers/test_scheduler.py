"""Which problems of a block step, wait and end, and what is kept of them."""

import numpy as np
import pytest

from kreinlearn.losses import Logistic
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.solvers import DualNewton, Status, newton
from kreinlearn.solvers.newton import MAX_START_SCORE
from tests.conftest import gram_of_signature


class Rounded(Dense):
    """A matrix whose quick products are a little off, as in single precision."""

    def matmat_native(self, B):
        return super().matmat_native(B) * (1 + 1e-5)

    def matmat(self, B):
        return self.K @ B


def problem(lam, K=None, *, intercept=True, seed=3):
    K = Dense(gram_of_signature(25, 10, seed=seed)) if K is None else K
    n, lam = K.shape[0], np.atleast_1d(lam)
    y = np.random.default_rng(1).integers(0, 2, n)
    Y = np.repeat(y[:, None, None].astype(float), len(lam), axis=1)
    weights = np.full((n, len(lam)), 1 / n)
    return KreinDual(K, Y, weights, lam, Logistic(), intercept)


def test_rows_tell_the_way_of_each_problem():
    block = problem([1.0, 1e-3])
    result = DualNewton().solve(block, tol=1e-8, after=[-1, 0])
    rows = [dict(row) for row in result.history]
    assert set(rows[0]) == {"iter", "problem", "lam", "value", "residual", "products"}
    products = [row["products"] for row in rows]
    assert products == sorted(products) and products[-1] > products[0] == 0
    for p in (0, 1):
        mine = [row for row in rows if row["problem"] == p]
        steps = [row["iter"] for row in mine]
        # A value of lam on the path begins where the last one was: the same step.
        assert steps == sorted(steps) and set(np.diff(steps)) <= {0, 1}
        assert steps[-1] == result.n_iter[p]
        assert mine[-1]["lam"] == block.lam[p]
        assert mine[-1]["residual"] == result.crit[p] < 1e-8
    lams = sorted({row["lam"] for row in rows if row["problem"] == 1}, reverse=True)
    np.testing.assert_allclose(lams, [0.1, 0.01, 1e-3])


def test_a_tiny_lam_begins_where_scores_are_moderate():
    block = problem([1e-6])
    result = DualNewton().solve(block, tol=1e-6)
    size = np.abs(block.point(block.start()).F).max()
    first = result.history[0]["lam"]
    assert size > MAX_START_SCORE and first == pytest.approx(
        1e-6 * size / MAX_START_SCORE
    )
    assert result.status == (Status.CONVERGED,)
    # A large one begins with itself.
    assert DualNewton().solve(problem([10.0]), tol=1e-6).history[0]["lam"] == 10.0


def test_products_are_computed_again_before_an_end_is_told():
    K = gram_of_signature(25, 10, seed=3)
    block = problem([0.5], Rounded(K))
    result = DualNewton().solve(block, tol=1e-7)
    assert result.status == (Status.CONVERGED,)
    point = block.point(result.w)
    np.testing.assert_allclose(result.F, point.F, atol=1e-12)
    np.testing.assert_allclose(result.crit, point.residual)
    a, f = point.A[:, 0, 0], K @ point.A[:, 0, 0]
    np.testing.assert_allclose(result.F[:, 0, 0], f, atol=1e-10)
    assert abs(a.sum()) < 1e-9


def test_variables_and_products_belong_together_whatever_the_end():
    for most in (1, 2, 4, 100):
        block = problem([0.5, 1e-4])
        result = DualNewton(max_iter=most).solve(block, tol=1e-9, after=[-1, 0])
        assert max(result.n_iter) <= most
        point = block.point(result.w)
        ended = [status == Status.CONVERGED for status in result.status]
        np.testing.assert_allclose(result.F[:, ended], point.F[:, ended], atol=1e-7)
        for status, residual in zip(result.status, point.residual, strict=True):
            assert (status == Status.CONVERGED) == (residual < 1e-9)


def test_steps_without_gain_are_stalled():
    # No double is as near as that.
    result = DualNewton().solve(problem([0.01]), tol=1e-300)
    assert result.status == (Status.STALLED,) and result.crit[0] < 1e-12
    assert newton.MAX_STALLED_STEPS <= result.n_iter[0] < 30


def test_a_start_is_used():
    block = problem([0.5])
    solved = DualNewton().solve(block, tol=1e-10)
    again = DualNewton().solve(block, solved.w, tol=1e-9)
    assert again.n_iter == (0,) and again.status == (Status.CONVERGED,)
    assert len(again.history) == 1 and again.history[0]["iter"] == 0
    np.testing.assert_allclose(again.w, solved.w, atol=1e-8)


@pytest.mark.parametrize("enough", [True, False])
def test_preconditioned_where_it_pays(monkeypatch, enough):
    made = []
    usual = KreinDual.with_preconditioner
    monkeypatch.setattr(
        KreinDual, "with_preconditioner", lambda self: made.append(1) or usual(self)
    )
    monkeypatch.setattr(newton, "PRECONDITION_AFTER", 35 * 3 if enough else 35 * 10**6)
    block = problem([0.3, 0.01])
    result = DualNewton().solve(block, tol=1e-9)
    assert len(made) == int(enough)
    monkeypatch.undo()
    plain = DualNewton().solve(block, tol=1e-9)
    np.testing.assert_allclose(result.F, plain.F, atol=1e-5)


def test_one_that_breaks_leaves_the_others_alone(monkeypatch):
    usual = newton.NewtonStep.step

    def spoiled(self, block, point, state):
        point, state = usual(self, block, point, state)
        for j, lam in enumerate(point.lam):
            if lam == 0.5 and spoiled.steps >= 1:
                point.residual[j] = np.nan
        spoiled.steps += 1
        return point, state

    spoiled.steps = 0
    monkeypatch.setattr(newton.NewtonStep, "step", spoiled)
    block = problem([1.0, 0.5, 0.2])
    result = DualNewton().solve(block, tol=1e-9)
    assert result.status == (Status.CONVERGED, Status.NONFINITE, Status.CONVERGED)
    assert np.isfinite(result.w).all() and np.isfinite(result.F).all()
    assert result.n_iter[1] == 2 < result.n_iter[0]
    monkeypatch.undo()
    alone = DualNewton().solve(block.take([2]), tol=1e-9)
    np.testing.assert_allclose(result.F[:, 2], alone.F[:, 0], atol=1e-6)


class Counting(Dense):
    """A matrix that counts its products, of either kind."""

    def __init__(self, K):
        super().__init__(K)
        self.products = 0

    def matmat_native(self, B):
        self.products += 1
        return self.K @ B

    def matmat(self, B):
        self.products += 1
        return self.K @ B


@pytest.mark.parametrize("lam", [1.0, 1e-3, 1e-6])
def test_products_are_all_counted(lam):
    K = Counting(gram_of_signature(25, 10, seed=3))
    result = DualNewton().solve(problem([lam], K), tol=1e-9)
    assert result.status == (Status.CONVERGED,)
    # All but the one that tells where to start.
    assert result.history[-1]["products"] == K.products - 1
