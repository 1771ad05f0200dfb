"""Inner loops of the published procedure, and the ends of outer ones."""

import numpy as np
import pytest

from kreinlearn.operators import Dense
from kreinlearn.problem import KreinRisk
from kreinlearn.solvers import CCCP, SGD, GradientDescent, Status
from kreinlearn.solvers.cccp import MAX_DESCENT, MAX_GROWTH, MAX_INNER_STEPS
from kreinlearn.solvers.gradient import InnerResult
from kreinlearn.spectrum import split
from tests.conftest import gram_of_signature


class Bowl:
    """The functions b x^2 / 2 of one variable each: a finite sum of equal terms."""

    n_terms = 5

    def __init__(self, bends):
        self.bends = np.array(bends, dtype=float)

    @property
    def lipschitz(self):
        return self.bends

    def value(self, w):
        with np.errstate(over="ignore"):
            return self.bends * w[0] ** 2 / 2

    def grad(self, w):
        return self.bends * w

    def take(self, which):
        return Bowl(self.bends[which])


def run(inner, bends, start, *, eps=0.0, limit=np.inf, most=3, rates=None):
    bowl, w = Bowl(bends), np.atleast_2d(np.array(start, dtype=float))
    rate = inner.first_rate(bowl) if rates is None else np.array(rates, dtype=float)
    rng = [np.random.default_rng(j) for j in range(w.shape[1])]
    limits = np.full(w.shape[1], limit)
    return inner.run(bowl, w, eps=eps, rate=rate, limit=limits, max_inner=most, rng=rng)


def test_first_rates():
    bowl = Bowl([2.0, 4.0])
    np.testing.assert_array_equal(GradientDescent().first_rate(bowl), [0.02, 0.02])
    safe = GradientDescent(step="lipschitz")
    np.testing.assert_array_equal(safe.first_rate(bowl), [0.5, 0.25])


def test_rates_shrink_as_set():
    once = run(GradientDescent(eta=0.5), [1.0], [1.0], most=1)
    np.testing.assert_allclose(once.w, [[0.5]])
    np.testing.assert_allclose(once.rate, [0.4])
    step = run(GradientDescent(eta=0.5), [1.0], [1.0])
    np.testing.assert_allclose(step.w, [[0.5 * 0.6 * (1 - 0.32)]])
    np.testing.assert_allclose(step.rate, [0.5 * 0.8**3])
    outer = run(GradientDescent(eta=0.5, shrink="outer"), [1.0], [1.0])
    np.testing.assert_allclose(outer.w, [[0.125]])
    np.testing.assert_allclose(outer.rate, [0.4])
    # Only steps that go up shrink it: 3 times the curve's own rate overshoots.
    rises = run(GradientDescent(eta=3.0, shrink="increase"), [1.0], [1.0], most=2)
    np.testing.assert_allclose(rises.w, [[-2.0 * (1 - 2.4)]])
    np.testing.assert_allclose(rises.rate, [3.0 * 0.8**2])
    falls = run(GradientDescent(eta=0.5, shrink="increase"), [1.0], [1.0])
    np.testing.assert_allclose(falls.rate, [0.5])
    even = run(GradientDescent(eta=2.0, shrink="increase"), [1.0], [1.0])
    assert even.w == -1.0 and even.rate == 2.0
    for shrink in ("step", "outer", "increase"):
        safe = GradientDescent(step="lipschitz", shrink=shrink)
        np.testing.assert_allclose(run(safe, [2.0], [1.0]).rate, [0.5])


def test_loops_end_one_by_one():
    # Settled after two steps, still running, gone too far, not finite.
    inner = GradientDescent(shrink="outer", decay=1.0)
    start, rates = [1.0, 1.0, 1.0, 1.0], [1.0, 0.5, 101.0, 1e200]
    found = run(inner, [1.0] * 4, start, limit=1e3, most=4, rates=rates)
    assert found.status == [
        Status.CONVERGED,
        Status.MAX_ITER,
        Status.DIVERGED,
        Status.NONFINITE,
    ]
    np.testing.assert_array_equal(found.n_iter, [2, 4, 1, 1])
    np.testing.assert_allclose(found.w, [[0.0, 0.5**4, -100.0, 1.0]])
    np.testing.assert_allclose(found.rate, rates)
    np.testing.assert_array_equal(
        run(inner, [1.0], [1.0], most=7, rates=[0.5]).n_iter, [7]
    )


def test_a_change_of_eps_is_settled():
    inner = GradientDescent(shrink="outer", decay=1.0)
    change = 0.5 - 0.125  # of the first step
    for eps, steps in ((change, 1), (0.999 * change, 2)):
        found = run(inner, [1.0], [1.0], eps=eps, rates=[0.5], most=9)
        assert found.n_iter[0] == steps and found.status == [Status.CONVERGED]
    # Just at the limit is not beyond it.
    at = run(inner, [1.0], [1.0], limit=0.125, rates=[0.5], most=1)
    assert at.status == [Status.MAX_ITER]


def test_steps_that_overflow_warn_nobody():
    class Wild(Bowl):
        def value(self, w):
            return 2 * w[0] ** 2 - w[0] ** 2  # far away infinity minus infinity

    given = {"eps": 0.0, "limit": np.array([1e3]), "max_inner": 3, "rng": [None]}
    for rate in (1e200, 1e308):  # the square overflows, or the step does
        found = GradientDescent().run(
            Wild([2.0]), np.ones((1, 1)), rate=np.array([rate]), **given
        )
        assert found.status == [Status.NONFINITE] and found.w == 1.0


def risk(y=None, lam=0.1, mode="paper", **settings):
    K = gram_of_signature(20, 10, scale=0.02)
    y = np.where(np.arange(30) % 3, 1.0, -1.0) if y is None else y
    return KreinRisk(
        Dense(K), split(Dense(K), mode), y, np.full(30, 1 / 30), lam, **settings
    )


def test_samples_are_drawn_with_replacement_by_each_problem_for_itself():
    drawn = []

    class Watched:
        n_terms, lipschitz = 30, np.ones(2)

        def grad_batch(self, w, idx):
            drawn.append(idx)
            return np.zeros_like(w)

    rngs = [np.random.default_rng(j) for j in (4, 5)]
    SGD(batch_size=3)._gradient(Watched(), np.zeros((31, 2)), rngs)
    expected = [np.random.default_rng(j).integers(30, size=3) for j in (4, 5)]
    np.testing.assert_array_equal(drawn[0], np.array(expected).T)
    SGD()._gradient(Watched(), np.zeros((31, 2)), rngs)
    assert drawn[1].shape == (1, 2)


def test_batches_of_a_block_are_those_of_its_problems(rng):
    y = np.where(rng.uniform(size=(30, 3)) < 0.5, -1.0, 1.0)
    block = risk(y, np.array([0.1, 0.2, 0.3]), scale=30.0)
    base, w = rng.standard_normal((2, 31, 3))
    idx = rng.integers(30, size=(4, 3))
    surrogate = block.surrogate(base)
    found, full = surrogate.grad_batch(w, idx), surrogate.grad(w)
    values = surrogate.value(w)
    for j in range(3):
        alone = block.take(j).surrogate(base[:, j])
        np.testing.assert_allclose(found[:, j], alone.grad_batch(w[:, j], idx[:, j]))
        np.testing.assert_allclose(full[:, j], alone.grad(w[:, j]))
        np.testing.assert_allclose(values[j], alone.value(w[:, j]))
        one = surrogate.take(j)
        np.testing.assert_allclose(one.value(w[:, j]), values[j])
        assert (one.dim, one.n_terms) == (31, 30)


def test_blocks_of_one_are_the_problem_itself(rng):
    problem = risk()
    block = problem.block()
    assert (problem.n_problems, block.n_problems, block.block() is block) == (
        1,
        1,
        True,
    )
    w = rng.standard_normal(31)
    np.testing.assert_allclose(block.value(w[:, None]), [problem.value(w)])
    np.testing.assert_allclose(block.grad(w[:, None])[:, 0], problem.grad(w))
    np.testing.assert_allclose(block.lam, [0.1])
    assert risk(fit_intercept=False).dim == 30


def test_a_point_is_evaluated_once(rng, monkeypatch):
    problem, calls = risk(), []
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


class Given:
    """An inner solver that hands back one answer after another."""

    def __init__(self, answers, status=Status.CONVERGED, **attributes):
        self.answers, self.status, self.seen = list(answers), status, []
        vars(self).update(attributes)

    def first_rate(self, surrogate):
        return np.full_like(surrogate.lipschitz, 0.25)

    def run(self, surrogate, w, **given):
        self.seen.append((w, given))
        new = self.answers.pop(0) if self.answers else w
        return InnerResult(new, given["rate"] / 2, np.array([7]), [self.status])


def test_the_outer_loop_hands_on_what_it_has():
    K = risk()
    first, second = np.full((31, 1), 1e-3), np.full((31, 1), 2e-3)
    inner = Given([first, second])
    solver = CCCP(inner=inner, eps=0.5, outer_iter=2, max_inner=11)
    result = solver.solve(K, tol=1e-12, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(result.w, second[:, 0])
    (w0, given), (w1, again) = inner.seen
    np.testing.assert_array_equal(w0, np.zeros((31, 1)))
    np.testing.assert_array_equal(w1, first)
    assert given["eps"] == 0.5 and given["max_inner"] == 11 and len(given["rng"]) == 1
    np.testing.assert_array_equal([given["rate"], again["rate"]], [[0.25], [0.125]])
    np.testing.assert_array_equal(given["limit"], [MAX_GROWTH["step"]])
    assert [row["inner"] for row in result.history] == [0, 7, 7]
    assert [row["iter"] for row in result.history] == [0, 1, 2]
    assert np.isnan(result.history[0]["rate"])
    assert [row["rate"] for row in result.history[1:]] == [0.125, 0.0625]
    assert result.history[2]["value"] == pytest.approx(float(K.value(second[:, 0])))
    gradient = np.abs(K.grad(second[:, 0])).max()
    assert result.history[2]["gradient"] == pytest.approx(gradient)
    assert result.crit == (pytest.approx(gradient),) and result.n_iter == (2,)
    assert result.status == (Status.MAX_ITER,)
    assert CCCP().max_inner == MAX_INNER_STEPS


@pytest.mark.parametrize(("shrink", "reach"), MAX_GROWTH.items())
def test_how_far_is_too_far_depends_on_when_rates_shrink(shrink, reach):
    inner = Given([], shrink=shrink)
    problem = risk(scale=30.0)
    CCCP(inner=inner, outer_iter=1).solve(problem, tol=1e-12)
    start = float(problem.value(np.zeros(31)))
    assert inner.seen[0][1]["limit"][0] == pytest.approx(reach * start)


def test_where_a_run_is_lost_the_best_before_it_is_kept():
    problem = risk()
    downhill = -problem.grad(np.zeros(31))[:, None]
    better, worse = 1e-2 * downhill, -1e-2 * downhill
    values = [float(problem.value(w[:, 0])) for w in (0 * better, better, worse)]
    assert values[1] < values[0] < values[2]
    for status in (Status.DIVERGED, Status.NONFINITE):
        inner = Given([better, worse])
        lost = Given([worse], status)

        class Both(Given):
            def run(self, *args, inner=inner, lost=lost, **given):
                now = inner if len(inner.seen) < 2 else lost
                return now.run(*args, **given)

        result = CCCP(inner=Both([]), outer_iter=9).solve(problem, tol=1e-12)
        assert result.status == (status,) and result.n_iter == (3,)
        np.testing.assert_array_equal(result.w, better[:, 0])
        rows = result.history
        assert [row["increased"] for row in rows] == [False, False, True, False]
        assert rows[3]["gradient"] == rows[2]["gradient"]  # the last that was known


def test_values_far_below_zero_are_divergence():
    problem = risk(lam=1.0)
    v = np.r_[np.linalg.eigh(problem.K.K)[1][:, 0], 0.0][:, None]
    deep = next(
        t * v
        for t in np.geomspace(1, 1e6, 200)
        if problem.value(t * v[:, 0]) < -MAX_DESCENT
    )
    shallow = next(
        t * v for t in np.geomspace(1, 1e6, 200) if problem.value(t * v[:, 0]) < -1
    )
    result = CCCP(inner=Given([shallow, deep])).solve(problem, tol=1e-12)
    assert result.status == (Status.DIVERGED,) and result.n_iter == (2,)
    np.testing.assert_array_equal(result.w, np.zeros(31))  # shallow is below zero
    kept = CCCP(inner=Given([shallow]), outer_iter=1).solve(problem, tol=1e-12)
    assert kept.status == (Status.MAX_ITER,)
    np.testing.assert_array_equal(kept.w, shallow[:, 0])


def test_a_run_that_is_there_has_converged():
    problem = risk()
    result = CCCP(inner=Given([]), outer_iter=5).solve(problem, tol=1e3)
    assert result.status == (Status.CONVERGED,) and result.n_iter == (0,)
    stalled = CCCP(inner=Given([]), outer_iter=5).solve(problem, tol=1e-12)
    assert stalled.status == (Status.STALLED,) and stalled.n_iter == (1,)
    whole = CCCP(inner=Given([])).solve(problem, np.ones(31, dtype=int), tol=1e3)
    assert (
        whole.w.dtype == float
    )  # integers as a start do not make the solution integer


def test_starts_may_be_given_for_each_problem(rng):
    y = np.column_stack([np.where(np.arange(30) % 3, 1.0, -1.0)] * 2)
    block = risk(y, np.array([0.1, 0.2]))
    w0 = rng.standard_normal((31, 2))
    inner = Given([w0])

    def two(surrogate, w, **given):
        inner.seen.append(w)
        return InnerResult(w, given["rate"], np.array([1, 1]), [Status.CONVERGED] * 2)

    inner.run = two
    result = CCCP(inner=inner).solve(block, w0, tol=1e-12)
    np.testing.assert_array_equal(inner.seen[0], w0)
    np.testing.assert_array_equal(result.w, w0)
    assert result.status == (Status.STALLED,) * 2
