"""What is asked of a fit, and what is said if it could not be done."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.linalg import LinAlgError

from kreinlearn._validation import check_choice, check_positive
from kreinlearn.estimators._solve import Fit
from kreinlearn.exceptions import (
    ConvergenceWarning,
    DivergenceWarning,
    warn_caller,
)
from kreinlearn.operators import Blocked, Dense, General
from kreinlearn.solvers.base import DCSolver, DualSolver, Status
from kreinlearn.solvers.cccp import PUBLISHED
from kreinlearn.solvers.newton import DualNewton

FAINT = 1e-20
"""Smallest lam of several classes, in units of the largest similarity: below, Newton's
matrices of a few samples take minutes, and end in rounding."""
SMALLEST = 1e-250
"""Smallest lam whose inverse leaves room for similarities in double precision."""
NEEDS = ("dual", "dc")
"""What a solver may ask for: the dual problem, or a difference of convex functions."""


def solver_of(solver: Any, max_iter: int) -> DualSolver | DCSolver:
    """Return the solver that a name or an object stands for, or raise."""
    if isinstance(solver, str):
        check_choice("solver", solver, ["newton", *PUBLISHED])
        return PUBLISHED.get(solver) or DualNewton(int(max_iter))
    if not hasattr(solver, "solve") or getattr(solver, "needs", None) not in NEEDS:
        raise TypeError(
            "'solver' must be a name, or an object with a method 'solve' and an "
            "attribute 'needs' that is 'dual' or 'dc', as kreinlearn.solvers has "
            f"them, got {solver!r}."
        )
    return solver


def check_lam(lam: float) -> None:
    """Raise unless lam is positive, and coefficients can be divided by it."""
    if check_positive("lam", lam) < SMALLEST:
        raise ValueError(
            f"'lam' must be at least {SMALLEST:g}, or coefficients overflow, got "
            f"{lam!r}; multiply the similarities and lam by one constant."
        )


def check_faint(K: Dense | General | Blocked, lam: float) -> None:
    """Raise if a lam is too small for the loss of several classes."""
    entries = K.diagonal() if isinstance(K, Blocked) else K.K
    largest = max(float(entries.max()), -float(entries.min()))
    if lam < FAINT * largest:
        raise ValueError(
            f"'lam' must be at least {FAINT:.0e} times the largest similarity, which "
            f"is {largest:.2g}, for several classes in one model, got {lam:.2g}; "
            "divide the similarities by their scale, raise lam, or use "
            "multi_class='ovr'."
        )


@contextmanager
def refused_if_it_overflows(lam: float) -> Iterator[None]:
    """Say in one sentence that scores have left the range of numbers."""
    try:
        yield
    except LinAlgError as error:  # of a matrix that is no longer finite
        raise ValueError(
            f"Scores overflow with similarities of this range and lam={lam:.2g}; raise "
            "lam, or divide the similarities and lam by one constant."
        ) from error


def warn_of_ending(fit: Fit, solver: Any, needs: str, tol: float) -> None:
    """Say how a fit has ended, what was kept of it, and what to do; unless all is well.

    ``solver`` is what was asked for, and ``needs`` what it solves.
    """
    if fit.status == Status.CONVERGED:
        return
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
