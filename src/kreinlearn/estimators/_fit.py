"""Fits of one kernel matrix: dual and DC solvers, uniqueness, cost checks, warnings.

Letters: ``K`` (n, n) the similarities; ``columns`` (n, k) targets, 0 or 1, one column
per score; ``weights`` (n,) summing to one; ``a`` (n, k) and ``c`` (k,) coefficients and
intercepts.
"""

import time
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from kreinlearn._memory import check_bytes, fits
from kreinlearn._typing import Array
from kreinlearn._validation import SYMMETRY_TOL, asymmetry
from kreinlearn.exceptions import ConvergenceWarning, DivergenceWarning, warn_caller
from kreinlearn.kernels import ResolvedKernel, measuring
from kreinlearn.losses import loss_for
from kreinlearn.operators import Blocked, Dense, General, Symmetric
from kreinlearn.problem import KreinDual, KreinRisk
from kreinlearn.solvers.base import Callback, DCSolver, DualSolver, Row, Status
from kreinlearn.solvers.monitor import Printer, Watch
from kreinlearn.solvers.newton import DualNewton
from kreinlearn.spectrum.decompose import SMALL_MATRIX, has_factor, split
from kreinlearn.spectrum.lanczos import certify_above
from kreinlearn.spectrum.norms import EIGH_COPIES

STATUS_ORDER = list(Status).index
"""Key that orders endings from the best to the worst."""
REGIME_STEPS, BLOCKED_REGIME_STEPS = 50, 20
"""Lanczos steps that estimate mu_min: of a stored matrix, and of one that is computed
again in each step."""
MAX_FACTORED = 2000
"""Largest number of samples for which uniqueness is decided by a factorization."""
MIN_RELATIVE_LAM = 1e-20
"""Smallest lam of several classes, relative to the largest similarity: below, Newton's
matrices of a few samples take minutes and end in rounding."""
MAX_QUICK_SAMPLES = 1500
"""Samples up to which any fit ends soon."""
SLOW_SECONDS = 60.0
"""Expected seconds from which a fit is announced."""
# Seconds at a number of samples on two cores, and the power of n by which they grow:
# rough values of the speed page.
FIT_COST = (16.0, 32_000, 2.27)
PUBLISHED_COST = (28.2, 8_000, 3.06)
SEARCH_COST, HILBERT_SEARCH_COST = (0.45, 1_000, 1.9), (1.5, 1_000, 2.5)
"""The same for all folds and values of lam of one setting of the kernel; the second if
the norm needs eigenvectors of each fold."""
COST_FOLDS, COST_REFITS = 5, 3
"""Folds of that search, and final fits, about."""
LANDMARK_REMEDY = (
    "LandmarkLogisticRegression (--landmarks 1000 on the command line) takes time and "
    "memory that grow with the number of samples, not with its square."
)


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


class Deadline:
    """A callback that stops a solver after some seconds and passes on each row."""

    def __init__(self, seconds: float, callback: Callback | None) -> None:
        self.deadline = time.monotonic() + seconds
        self.callback, self.is_over = callback, False

    def __call__(self, row: Row) -> bool:
        """Return whether to stop."""
        asked = self.callback is not None and bool(self.callback(row))
        self.is_over |= time.monotonic() >= self.deadline
        return asked or self.is_over


def report_measures(verbose: int | Watch) -> AbstractContextManager[None]:
    """Print the progress of a measure between samples if ``verbose`` is above 0.

    A callable gets rows about the solve or the search only.
    """
    if callable(verbose) or not verbose:
        return nullcontext()
    show = Printer()

    def report(name: str, done: float, left: float) -> None:
        show({"measure": name, "done": f"{done:.0%}", "seconds left": round(left)})

    return measuring(progress=report)


def curvature_limit(lam: float, max_weight: float, multinomial: bool) -> float:
    """Return the modulus of the most negative eigenvalue that keeps J convex."""
    return lam / (max_weight * loss_for(multinomial).hessian_bound)


def find_regime(K: Dense | Blocked, limit: float) -> tuple[str, float]:
    """Return whether the stationary point is unique, and the smallest eigenvalue.

    Parameters
    ----------
    K : Dense or Blocked
        Similarities.
    limit : float
        Result of `curvature_limit`.

    Returns
    -------
    regime : {"unique", "unknown"}
        "unknown" means that uniqueness is not proven.
    mu_min : float
        Smallest eigenvalue; for large n an estimate from above.

    Notes
    -----
    `kreinlearn.spectrum.lanczos.certify_above` has the proof. It costs a few dozen
    products and stops early where it would take more. A Cholesky factor decides every
    case, but takes longer than the fit.
    """
    if isinstance(K, Dense) and K.shape[0] <= SMALL_MATRIX:
        matrix = K.K.astype(float, copy=False)
        mu_min = float(eigvalsh(matrix, subset_by_index=(0, 0))[0])
        return ("unique" if mu_min > -limit else "unknown"), mu_min
    steps = REGIME_STEPS if isinstance(K, Dense) else BLOCKED_REGIME_STEPS
    found = certify_above(K, -limit, max_steps=steps)
    return ("unique" if found.verdict else "unknown"), found.value


@dataclass(frozen=True)
class UniquenessCheck:
    """A fit for which convexity of J is not known yet; ``weights`` (n,) sum to one."""

    K: Array
    weights: Array
    lam: float
    multinomial: bool
    fit_intercept: bool

    def run(self) -> str:
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
    shares = np.repeat(weights[:, None], shape[1], axis=1)
    problem = (columns.reshape(shape), shares, np.full(shape[1], lam))
    block = KreinDual(K, *problem, loss_for(multinomial), fit_intercept)
    given: dict[str, Any] = {} if start is None else {"w0": start.reshape(shape)}
    result = solver.solve(block, **given, tol=tol, callback=callback)
    # Products of an end that was not certified are sums of steps, perhaps in single
    # precision: the reported residual comes from a fresh one.
    is_certified = isinstance(solver, DualNewton) and {*result.status} == {"converged"}
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
        str(max(result.status, key=STATUS_ORDER)),
        max(result.n_iter),
        max(result.crit) if is_certified else residual,
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
        The procedure; its attributes ``split`` and ``loss_scale``, if any, define the
        objective.
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
        y = 2 * columns[:, j] - 1
        risk = KreinRisk(K, parts, y, weights, lam, fit_intercept, scale)
        result = solver.solve(risk, tol=tol, callback=callback, rng=rng)
        residuals.append(risk.residual(result.w))
        a[:, j], c[j] = result.w[:n], result.w[n] if fit_intercept else 0.0
        results.append(result)
    return Fit(
        a,
        c,
        str(max((r.status[0] for r in results), key=STATUS_ORDER)),
        max(r.n_iter[0] for r in results),
        max(r.crit[0] for r in results),
        max(residuals),
        [{"problem": j, **row} for j, r in enumerate(results) for row in r.history],
    )


def check_relative_lam(K: Dense | General | Blocked, lam: float) -> None:
    """Raise if a lam is too small for the loss of several classes."""
    entries = K.diagonal() if isinstance(K, Blocked) else K.K
    largest = max(float(entries.max()), -float(entries.min()))
    if lam < MIN_RELATIVE_LAM * largest:
        raise ValueError(
            f"'lam' must be at least {MIN_RELATIVE_LAM:.0e} times the largest "
            f"similarity, which is {largest:.2g}, for several classes in one model, "
            f"got {lam:.2g}; divide the similarities by their scale, raise lam, or use "
            "multi_class='ovr'."
        )


def warn_not_converged(fit: Fit, solver: Any, needs: str, tol: float) -> None:
    """Warn that a fit did not converge: its status, the iterate kept, the remedy.

    ``solver`` is the parameter of the estimator, and ``needs`` the problem it solves.
    """
    name = solver if isinstance(solver, str) else repr(solver)
    measure = "residual" if needs == "dual" else "max |gradient|"
    text = (
        f"{name} stopped with status {fit.status!r} after {fit.n_iter} "
        f"iterations ({measure} {fit.crit:.1e}, tol {tol:.1e})."
    )
    if fit.status == Status.NONFINITE and needs == "dual":
        warn_caller(
            f"{text} The next step would overflow; the last finite iterate was "
            "kept. Raise lam, or divide K and lam by the same constant.",
            DivergenceWarning,
        )
    elif fit.status in (Status.DIVERGED, Status.NONFINITE):
        warn_caller(
            f"{text} The objective is unbounded below if K is indefinite, and "
            "steps too long overshoot it; the best iterate before that was kept. "
            "Use solver='newton', which finds the stationary point.",
            DivergenceWarning,
        )
    else:
        remedy = (
            "Raise max_time, max_iter or lam, or use a looser tol."
            if needs == "dual"
            else "The published procedure stops early by design; use "
            "solver='newton' for a stationary point."
        )
        warn_caller(f"{text} {remedy}", ConvergenceWarning)


def check_fit_cost(n: int, n_classes: int, norm: str, solver: object) -> None:
    """Reject a fit that exceeds memory, and warn about a slow one.

    Parameters
    ----------
    n, n_classes : int
        Numbers of samples and of classes.
    norm : str
        Its norm; "hilbert" needs eigenvectors.
    solver : str or solver
        Its solver; names other than "newton" are the published procedures.
    """
    if norm == "hilbert":
        _check_eigenvectors(n)
    is_published = isinstance(solver, str) and solver != "newton"
    cost = PUBLISHED_COST if is_published else FIT_COST
    seconds = _predict_seconds(n, cost) * _count_columns(n_classes)
    _warn_slow(f"A fit of {n:,} samples", n, seconds, "")


def check_search_cost(
    X: Any,
    kernel: ResolvedKernel,
    norms: Collection[str],
    n_searched: int,
    n_settings: int,
    n_classes: int,
) -> None:
    """Reject a search that exceeds memory, and warn about a slow one.

    Parameters
    ----------
    X : sequence of n samples
        Training samples.
    kernel : ResolvedKernel
        The kernel, or the first of several.
    norms : collection of str
        Norms that are tried.
    n_searched : int
        Samples that settings are chosen by.
    n_settings : int
        Settings of the kernel that are tried.
    n_classes : int
        Number of classes.
    """
    n, has_hilbert = len(X), "hilbert" in norms
    if has_hilbert and not fits(EIGH_COPIES * n, n, float):
        # A given matrix that is not symmetric needs no eigenvectors.
        if not kernel.is_pairwise or asymmetry(np.asarray(X)) <= SYMMETRY_TOL:
            _check_eigenvectors(n)
        has_hilbert = False
    law = HILBERT_SEARCH_COST if has_hilbert else SEARCH_COST
    refits = _predict_seconds(n, FIT_COST)
    if has_hilbert:
        refits += _predict_seconds(n, HILBERT_SEARCH_COST) / COST_FOLDS
    seconds = n_settings * _predict_seconds(n_searched, law) + COST_REFITS * refits
    seconds *= _count_columns(n_classes)
    shorter = ["one setting of one kernel (--kernel, --param)"] * (n_settings > 1)
    if has_hilbert:
        shorter.append("the norm 'euclidean' alone (--norm euclidean)")
    shorter.append("a given lam (--lam)")
    what = f"Cross-validation of {n:,} samples"
    _warn_slow(what, n, seconds, f" Less work: {', '.join(shorter)}.")


def _count_columns(n_classes: int) -> int:
    return n_classes if n_classes > 2 else 1


def _predict_seconds(n: int, law: tuple[float, int, float]) -> float:
    seconds, at, power = law
    return float(seconds * (n / at) ** power)


def _check_eigenvectors(n: int) -> None:
    """Raise if eigenvectors of the matrix do not fit in memory."""
    check_bytes(
        EIGH_COPIES * n * n * np.dtype(float).itemsize,
        f"The norm 'hilbert' takes eigenvectors of a matrix of {n:,} samples, which "
        "need",
        f"Use the norm 'euclidean', which needs none. {LANDMARK_REMEDY}",
    )


def _warn_slow(what: str, n: int, seconds: float, less: str) -> None:
    """Warn if the expected time is long."""
    if seconds < SLOW_SECONDS:
        return
    minutes = seconds / 60
    taken = f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.0f} hours"
    taken = "a minute" if minutes < 1.5 else taken
    warn_caller(
        f"{what} takes roughly {taken}, and {8 * n * n / 2**30:.2g} GiB for a matrix "
        f"where it is stored. {LANDMARK_REMEDY}{less}"
    )
