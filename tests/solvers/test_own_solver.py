"""Solvers that keep the protocols of ``solvers.base`` and nothing else."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize

from kreinlearn.losses import Logistic, Multinomial
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual, KreinRisk
from kreinlearn.solvers import CCCP, DualNewton, Result, Status
from kreinlearn.solvers.newton import continuation
from kreinlearn.spectrum import split
from tests.conftest import gram_of_signature


@dataclass(frozen=True)
class LBFGS:
    """A solver of the objective, which needs values and gradients."""

    needs: ClassVar[str] = "dc"

    def solve(self, problem, *, tol, callback=None, rng=None):
        options = {"gtol": tol, "ftol": 0.0, "maxiter": 10_000}
        start = np.zeros(problem.dim)
        found = minimize(
            problem.value, start, jac=problem.grad, method="L-BFGS-B", options=options
        )
        crit = float(np.abs(problem.grad(found.x)).max())
        status = Status.CONVERGED if crit <= tol else Status.STALLED
        return Result(found.x, (status,), (found.nit,), (crit,), ())


@dataclass(frozen=True)
class SteepestDescent:
    """A solver of the dual, which goes down along the scaled gradient."""

    needs: ClassVar[str] = "dual"
    max_iter: int = 2000

    def solve(self, problem, *, tol, callback=None):
        point, rows = problem.point(problem.start()), []
        none = np.zeros(problem.n_problems)
        while point.residual.max() > tol and len(rows) < self.max_iter:
            model = problem.model(point, none)
            D, KD = model.apply(model.rhs)
            H = model.hessian_vector(
                D, KD, model.rhs
            )  # the best step of the quadratic model
            length = np.einsum("npc,npc->p", model.rhs, model.rhs)
            curvature = np.einsum("npc,npc->p", model.rhs, H)
            t = np.where(
                curvature > 0, length / np.where(curvature > 0, curvature, 1), 1
            )
            t = np.minimum(t, 0.9 * problem.largest_step(point, D).min(axis=0))
            while np.any(problem.change(point, D, KD, t) > 1e-14):
                t = t / 2
            point = problem.advance(point, D, KD, t)
            rows.append({"iter": len(rows) + 1, "residual": point.residual.max()})
            if callback is not None and callback(rows[-1]):
                break
        w = problem.variables(point)
        point = problem.point(w)
        status = tuple(
            Status.CONVERGED if r <= 2 * tol else Status.MAX_ITER
            for r in point.residual
        )
        n_iter = (len(rows),) * problem.n_problems
        return Result(w, status, n_iter, tuple(point.residual), tuple(rows), point.F)


def labels(n):
    return np.where(np.arange(n) % 3 == 0, 1.0, -1.0)


def test_solvers_state_what_they_need():
    assert (DualNewton.needs, CCCP.needs) == ("dual", "dc")
    assert "needs" not in repr(DualNewton()) + repr(CCCP())  # no setting


def test_a_solver_of_the_objective_agrees_with_newton(rng):
    X = rng.standard_normal((30, 3))
    K, y, lam = Dense(np.exp(-np.abs(X[:, None] - X[None]).sum(-1))), labels(30), 0.05
    weights = np.full(30, 1 / 30)
    result = LBFGS().solve(KreinRisk(K, split(K), y, weights, lam), tol=1e-7)
    assert result.status == (Status.CONVERGED,)
    Y = ((y + 1) / 2)[:, None, None]
    dual = KreinDual(K, Y, weights[:, None], np.array([lam]), Logistic())
    exact = DualNewton().solve(dual, tol=1e-10)
    point = dual.point(exact.w, exact.F)
    np.testing.assert_allclose(result.w[:30], point.A[:, 0, 0], atol=1e-3)
    np.testing.assert_allclose(result.w[30], point.c[0, 0], atol=1e-4)


@pytest.mark.parametrize("multinomial", [False, True])
def test_a_solver_of_the_dual_agrees_with_newton(multinomial):
    K = gram_of_signature(20, 6, seed=1)
    n = len(K)
    Y = (
        np.eye(3)[np.arange(n) % 3][:, None]
        if multinomial
        else labels(n)[:, None, None]
    )
    Y = np.repeat(np.maximum(Y, 0.0), 2, axis=1)
    lam = np.abs(np.linalg.eigvalsh(K)).max() / n * np.array([1.0, 3.0])  # one solution
    loss = Multinomial() if multinomial else Logistic()
    dual = KreinDual(Dense(K), Y, np.full((n, 2), 1 / n), lam, loss)
    seen = []
    result = SteepestDescent().solve(dual, tol=1e-7, callback=seen.append)
    assert result.status == (Status.CONVERGED,) * 2
    assert len(seen) == len(result.history) == result.n_iter[0]
    exact = DualNewton().solve(dual, tol=1e-10)
    np.testing.assert_allclose(result.F, exact.F, atol=1e-5)


def test_paths_begin_where_scores_are_moderate_and_end_at_each_lam():
    nodes = continuation([-1, 0, 0, -1], [1.0, 1e-3, 0.5, 1e-2], [1.0, 250.0])
    paths = {j: [node for node in nodes if node.problem == j] for j in range(4)}
    factors = {j: [node.factor for node in path] for j, path in paths.items()}
    assert [len(path) for path in paths.values()] == [1, 3, 1, 4]
    np.testing.assert_allclose(factors[1], [100.0, 10.0, 1.0])
    np.testing.assert_allclose(factors[3], [250.0, 25.0, 2.5, 1.0])
    assert [path[-1].is_final for path in paths.values()] == [True] * 4
    assert paths[1][0].before is paths[2][0].before is paths[0][0]
    assert paths[0][0].before is paths[3][0].before is None
    for node in nodes:
        assert node.before is None or nodes.index(node.before) < nodes.index(node)
