"""Inner loops of the published procedure, and the ends of outer ones."""

import numpy as np
import pytest

from kreinlearn.operators import Dense
from kreinlearn.problem import KreinRisk
from kreinlearn.solvers import CCCP, Status
from kreinlearn.solvers.cccp import MAX_DESCENT
from kreinlearn.solvers.gradient import InnerResult
from kreinlearn.spectrum import split
from tests.conftest import gram_of_signature


def risk(y=None, lam=0.1, mode="paper", **settings):
    K = gram_of_signature(20, 10, scale=0.02)
    y = np.where(np.arange(30) % 3, 1.0, -1.0) if y is None else y
    return KreinRisk(
        Dense(K), split(Dense(K), mode), y, np.full(30, 1 / 30), lam, **settings
    )


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
    assert whole.w.dtype == float  # a start of integers is no model of integers
