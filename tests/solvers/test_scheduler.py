"""Which problems of a block step, wait and end, and what is kept of them."""

import numpy as np
import pytest

from kreinlearn.losses import Logistic
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.solvers import DualNewton, Status, newton
from kreinlearn.solvers.newton import CONTINUATION_TOL, MAX_START_SCORE, continuation
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


def test_rows_have_the_path_of_each_problem():
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


def test_each_value_of_lam_starts_where_the_one_before_has_roughly_arrived():
    result = DualNewton().solve(problem([1.0, 1e-3]), tol=1e-10, after=[-1, 0])
    rows = result.history
    order = [1.0, 0.1, 0.01, 1e-3]
    first = [
        min(i for i, r in enumerate(rows) if np.isclose(r["lam"], lam)) for lam in order
    ]
    assert first == sorted(first)
    for earlier, at in zip(order[:-1], first[1:], strict=True):
        before = [r["residual"] for r in rows[:at] if np.isclose(r["lam"], earlier)]
        assert before[-1] < CONTINUATION_TOL
        # None went on to its end before the next one started, but for the problem.
        assert all(residual >= CONTINUATION_TOL for residual in before[:-1])


def test_values_of_lam_on_the_path_end_when_they_are_loose():
    result = DualNewton().solve(problem([1.0, 1e-3]), tol=1e-10, after=[-1, 0])
    for lam in (0.1, 0.01):
        residuals = [
            row["residual"] for row in result.history if np.isclose(row["lam"], lam)
        ]
        assert residuals[-1] < CONTINUATION_TOL and 1e-10 < residuals[-1]


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


def test_a_start_that_is_not_finite_ends_that_problem_alone():
    K = Dense(np.full((20, 20), 1e308) + np.diag(np.full(20, 5e307)))
    with np.errstate(all="ignore"):
        result = DualNewton().solve(problem([1e-3, 1.0], K), tol=1e-8)
    assert result.status == (Status.NONFINITE, Status.CONVERGED)
    assert np.isfinite(result.w).all()
    lams = [row["lam"] for row in result.history if row["problem"] == 0]
    assert lams == [1e-3]


def test_long_paths_take_longer_strides():
    nodes = continuation([-1], [1e-300], [1e250])
    factors = [node.factor for node in nodes]
    assert len(factors) == 101 and factors[0] == 1e250 and factors[-1] == 1.0
    np.testing.assert_allclose(factors[0] / factors[1], 1e250**0.01)


def test_products_are_computed_again_before_a_problem_ends():
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


def test_what_is_stopped_on_its_path_is_kept_as_far_as_it_came():
    block = problem([1e-6])
    seen = []

    def stop(row):
        seen.append(row)
        return len(seen) == 3

    result = DualNewton().solve(block, tol=1e-9, callback=stop)
    assert len(seen) == len(result.history) == 3
    assert result.status == (Status.MAX_ITER,) and seen[-1]["lam"] > 1e-6
    point = block.point(result.w)
    # The same dual variables at the lam of the problem.
    np.testing.assert_allclose(result.F, point.F, rtol=1e-6)
    start = block.point(block.start())
    assert not np.allclose(result.w, block.start())
    assert point.value < start.value


def test_a_stop_ends_all_problems():
    block = problem([1.0, 0.5, 0.1])
    result = DualNewton().solve(block, tol=1e-12, callback=lambda row: row["iter"] == 2)
    assert set(result.n_iter) == {2} and set(result.status) == {Status.MAX_ITER}


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


def test_settings_reach_the_steps():
    block = problem([0.01])
    few = DualNewton(cg_iter=1).solve(block, tol=1e-6)
    many = DualNewton().solve(block, tol=1e-6)
    assert few.n_iter[0] > many.n_iter[0]


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


def test_a_step_that_overflows_warns_nobody(monkeypatch):
    # The status reports values that are not finite; solvers never warn.
    usual = newton.NewtonStep.step

    def rough(self, block, point, state):
        huge, nothing = np.full(2, 1e308), np.zeros(2)
        assert np.isnan(10 * huge - 10 * huge).all() and np.isinf(huge / nothing).all()
        return usual(self, block, point, state)

    monkeypatch.setattr(newton.NewtonStep, "step", rough)
    result = DualNewton().solve(problem(0.3), tol=1e-9)
    assert result.status == (Status.CONVERGED,)


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
    # All but the one that gives the start.
    assert result.history[-1]["products"] == K.products - 1


def test_short_paths_are_paths():
    factors = [node.factor for node in continuation([-1], [1.0], [1.5])]
    assert factors == [1.5, 1.0]
    nodes = continuation([-1, -1, 1, 0], [1.0, 1.0, 0.1, 0.05], [1.0, 1.0])
    assert [(node.problem, node.factor) for node in nodes] == [
        (0, 1.0),
        (1, 1.0),
        (2, 1.0),
        (3, 2.0),
        (3, 1.0),
    ]
    assert nodes[2].before is nodes[1] and nodes[3].before is nodes[0]
    assert nodes[4].before is nodes[3]
