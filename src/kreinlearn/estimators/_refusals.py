"""What is said of a fit that cannot be done, or did not end as it should."""

from typing import Any

from kreinlearn.estimators._solve import Fit
from kreinlearn.exceptions import (
    ConvergenceWarning,
    DivergenceWarning,
    warn_caller,
)
from kreinlearn.operators import Blocked, Dense, General
from kreinlearn.solvers.base import Status

FAINT = 1e-20
"""Smallest lam of several classes, in units of the largest similarity: below, Newton's
matrices of a few samples take minutes, and end in rounding."""


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


def overflow(lam: float) -> ValueError:
    """Return what to raise if scores have left the range of numbers."""
    return ValueError(
        f"Scores overflow with similarities of this range and lam={lam:.2g}; raise "
        "lam, or divide the similarities and lam by one constant."
    )


def warn_of_ending(fit: Fit, solver: Any, needs: str, tol: float) -> None:
    """Say how a fit that did not converge has ended, what was kept, and what to do.

    ``solver`` is what was asked for, and ``needs`` what it solves.
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
