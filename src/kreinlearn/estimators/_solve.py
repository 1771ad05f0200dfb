"""From similarities to coefficients: the steps that estimators share.

Letters: ``K`` (n, n) the similarities; ``columns`` (n, k) targets, 0 or 1, one column
per score; ``weights`` (n,) summing to one; ``a`` (n, k) and ``c`` (k,) coefficients and
intercepts.
"""

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh

from kreinlearn._typing import Array
from kreinlearn.kernels import measuring
from kreinlearn.losses import loss_for
from kreinlearn.operators import Blocked, Dense, Symmetric
from kreinlearn.problem import KreinDual, KreinRisk
from kreinlearn.solvers.base import Callback, DCSolver, DualSolver, Row, Status
from kreinlearn.solvers.monitor import Printer, Watch
from kreinlearn.solvers.newton import DualNewton
from kreinlearn.spectrum.decompose import SMALL_MATRIX, has_factor, split
from kreinlearn.spectrum.lanczos import floor

WORST = list(Status).index
"""Orders endings, from the best to the worst."""
REGIME_STEPS = 50
"""Lanczos steps, enough to estimate mu_min; more would cost as much as the fit."""
FEW_STEPS = 20
"""The same where K is not stored, and each step computes it anew."""
DECIDED = 2000
"""Most samples for which an open question is settled by a factorization."""


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


class Clock:
    """Stops a solver after some seconds; another callback still gets every row."""

    def __init__(self, seconds: float, callback: Callback | None) -> None:
        self.deadline = time.monotonic() + seconds
        self.callback, self.is_over = callback, False

    def __call__(self, row: Row) -> bool:
        """Return whether to stop, by the clock or by the callback."""
        asked = self.callback is not None and bool(self.callback(row))
        self.is_over |= time.monotonic() >= self.deadline
        return asked or self.is_over


def measures_told(verbose: int | Watch) -> AbstractContextManager[None]:
    """Print how far a measure between samples is, if ``verbose`` is a number above 0.

    A function gets rows about the solve or the search alone.
    """
    if callable(verbose) or not verbose:
        return nullcontext()
    show = Printer()

    def tell(name: str, share: float, left: float) -> None:
        show({"measure": name, "done": f"{share:.0%}", "seconds left": round(left)})

    return measuring(progress=tell)


def limit_of(lam: float, max_weight: float, multinomial: bool) -> float:
    """Return how far below zero the spectrum may reach."""
    return lam / (max_weight * loss_for(multinomial).hessian_bound)


def regime(K: Dense | Blocked, limit: float) -> tuple[str, float]:
    """Tell whether the stationary point is unique, and the smallest eigenvalue.

    Parameters
    ----------
    K : Dense or Blocked
        Similarities.
    limit : float
        What `limit_of` gives.

    Returns
    -------
    regime : {"unique", "unknown"}
        "unknown" means that uniqueness is not proven.
    mu_min : float
        Smallest eigenvalue; for large n an estimate from above.

    Notes
    -----
    See `kreinlearn.spectrum.lanczos.floor` for the proof, which costs a few dozen
    products and is given up early where it would take more; a Cholesky factor would
    settle every case, but takes longer than the fit.
    """
    if isinstance(K, Dense) and K.shape[0] <= SMALL_MATRIX:
        matrix = K.K.astype(float, copy=False)
        mu_min = float(eigvalsh(matrix, subset_by_index=(0, 0))[0])
        return ("unique" if mu_min > -limit else "unknown"), mu_min
    steps = REGIME_STEPS if isinstance(K, Dense) else FEW_STEPS
    found = floor(K, -limit, max_steps=steps)
    return ("unique" if found.verdict else "unknown"), found.value


@dataclass(frozen=True)
class OpenQuestion:
    """A fit for which it is open whether J is convex; ``weights`` (n,) sum to one."""

    K: Array
    weights: Array
    lam: float
    multinomial: bool
    fit_intercept: bool

    def answer(self) -> str:
        """Return "unique" or "nonconvex", by a Cholesky factor.

        The dual J is convex, and its stationary point unique, if its Hessian is
        positive definite where it is smallest, at equal probabilities. It is K plus
        lam / (weights * b), with b the largest second derivative of the loss; with an
        intercept only coefficients that sum to zero count. If it is not positive
        definite, the factor meets a direction of negative curvature.
        """
        used = self.weights > 0
        bound = loss_for(self.multinomial).hessian_bound
        diagonal = self.lam / (self.weights[used] * bound)
        H = self.K[np.ix_(used, used)].astype(float)
        H.flat[:: len(H) + 1] += diagonal
        if self.fit_intercept:
            H -= H.mean(axis=0)
            H -= H.mean(axis=1, keepdims=True)
            H += diagonal.mean() / len(H)  # so that constants decide nothing
        return "unique" if has_factor(H, 0.0) else "nonconvex"


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
    start: Array | None = None,
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
    start : ndarray of shape (n, k), optional
        Scores to start from, with the solver `DualNewton`.

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
    if start is None:
        result = solver.solve(block, tol=tol, callback=callback)
    else:
        assert isinstance(solver, DualNewton)
        w0 = start.reshape(shape)
        result = solver.solve(block, w0, tol=tol, callback=callback)
    # Products of an end that was not certified are sums of steps, perhaps in single
    # precision: what is reported comes from one of its own.
    is_certified = isinstance(solver, DualNewton) and all(
        status == Status.CONVERGED for status in result.status
    )
    point = block.point(result.w, result.F if is_certified else None)
    if not (np.isfinite(point.A).all() and np.isfinite(point.c).all()):
        raise ValueError(
            "Similarities must be in proportion to 'lam', but coefficients overflow "
            f"with lam={lam:.3g}: raise lam, or divide the similarities by a constant."
        )
    residual = float(point.residual.max())
    return Fit(
        point.A.reshape(n, k),
        point.c.reshape(k),
        str(max(result.status, key=WORST)),
        max(result.n_iter),
        residual if not is_certified else max(result.crit),
        residual,
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
