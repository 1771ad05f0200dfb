"""From similarities to coefficients: the steps that estimators share.

Letters: ``K`` (n, n) the similarities; ``columns`` (n, k) targets, 0 or 1, one column
per score; ``weights`` (n,) summing to one; ``a`` (n, k) and ``c`` (k,) coefficients and
intercepts.
"""

from dataclasses import dataclass

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.losses import loss_for
from kreinlearn.operators import Symmetric
from kreinlearn.problem import KreinDual, KreinRisk
from kreinlearn.solvers.base import Callback, DCSolver, DualSolver, Row, Status
from kreinlearn.spectrum.decompose import split

WORST = list(Status).index
"""Orders endings, from the best to the worst."""


@dataclass(frozen=True)
class Fit:
    """Coefficients, and how the solve ended: the worst of all columns."""

    a: Array
    c: Array
    status: str
    n_iter: int
    crit: float
    residual: float
    history: list[Row]


def fit_dual(
    solver: DualSolver,
    K: Symmetric,
    columns: Array,
    weights: Array,
    lam: float,
    *,
    multinomial: bool,
    fit_intercept: bool,
    tol: float,
    callback: Callback | None = None,
) -> Fit:
    """Return a stationary point of each column, or of all together if multinomial.

    Parameters
    ----------
    solver : DualSolver
        Solves the dual problems.
    K, columns, weights
        See the module docstring.
    lam, multinomial, fit_intercept
        The model.
    tol : float
        Largest accepted residual.
    callback : callable, optional
        Watches the solve.

    Returns
    -------
    Fit
        With a certificate from a product of K with the coefficients.
    """
    n, k = columns.shape
    shape = (n, 1, k) if multinomial else (n, k, 1)
    block = KreinDual(
        K,
        columns.reshape(shape),
        np.repeat(weights[:, None], shape[1], axis=1),
        np.full(shape[1], lam),
        loss_for(multinomial),
        fit_intercept,
    )
    result = solver.solve(block, tol=tol, callback=callback)
    point = block.point(result.w, result.F)
    return Fit(
        point.A.reshape(n, k),
        point.c.reshape(k),
        str(max(result.status, key=WORST)),
        max(result.n_iter),
        max(result.crit),
        float(point.residual.max()),
        list(result.history),
    )


def fit_dc(
    solver: DCSolver,
    K: Symmetric,
    columns: Array,
    weights: Array,
    lam: float,
    *,
    fit_intercept: bool,
    tol: float,
    rng: np.random.Generator,
    callback: Callback | None = None,
) -> Fit:
    """Run a DC procedure, such as the published one, on each column in turn.

    Parameters
    ----------
    solver : DCSolver
        The procedure; what it says of the objective is in its attributes ``split``
        and ``loss_scale``, if any.
    K, columns, weights
        See the module docstring.
    lam, fit_intercept
        The model.
    tol : float
        Largest entry of the gradient that counts as converged.
    rng : numpy.random.Generator
        Source of random starts and samples.
    callback : callable, optional
        Watches the solve.

    Returns
    -------
    Fit
        Its last iterate, or the best one before it diverged.
    """
    n, k = columns.shape
    parts = split(K, getattr(solver, "split", "paper"))
    scale = float(n) if getattr(solver, "loss_scale", "mean") == "sum" else 1.0
    a, c = np.zeros((n, k)), np.zeros(k)
    results, residuals = [], []
    for j in range(k):
        risk = KreinRisk(
            K,
            parts,
            2 * columns[:, j] - 1,
            weights,
            lam,
            fit_intercept=fit_intercept,
            scale=scale,
        )
        result = solver.solve(risk, tol=tol, callback=callback, rng=rng)
        residuals.append(risk.residual(result.w))
        a[:, j], c[j] = result.w[:n], result.w[n] if fit_intercept else 0.0
        results.append(result)
    return Fit(
        a,
        c,
        str(max((r.status[0] for r in results), key=WORST)),
        max(r.n_iter[0] for r in results),
        max(r.crit[0] for r in results),
        max(residuals),
        [{"problem": j, **row} for j, r in enumerate(results) for row in r.history],
    )
