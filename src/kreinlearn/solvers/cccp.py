"""The published procedure: concave-convex, with exact or inexact inner solves."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.solvers.base import DC, Callback, Result, Row, Status
from kreinlearn.solvers.gradient import SGD, GradientDescent, Inner

OVERSHOT = 1e6
"""Growth of the objective that counts as divergence. Shrinking rates may bring an
overshooting run back, so this is far from its start, and farther from overflow."""
SUNK = 1e3
"""The same for values below zero, from which the procedure never comes back."""


@dataclass(frozen=True)
class CCCP:
    """Algorithm 1 of the paper: linearize the concave part, descend, repeat.

    The objective has no minimum if K is indefinite: run to accuracy, the procedure
    decreases it for ever. Start, stopping rule and iteration cap are therefore part
    of the model that it fits. It does *not* promise a minimum or a stationary point;
    `DualNewton` gives the latter.

    Parameters
    ----------
    inner : GradientDescent or SGD
        How the convex surrogate is decreased.
    eps : float
        Inner loops end when the surrogate changes by at most this: 1 is the paper's
        CCICP-GD, 1e-4 its CCCP-GD (with gradient descent) or CCICP-SGD (with SGD).
    outer_iter : int
        Number of linearizations, the paper's k_max.
    init : {"zeros", "ones", "minus-ones", "uniform"} or ndarray of shape (n,)
        First coefficients; "uniform" draws from (0, 1).
    split : {"paper", "tight", "shift"}
        Positive decomposition of K, see `kreinlearn.spectrum.split`. With "tight"
        the convex subproblem may itself be unbounded below: K+ does not hold back the
        negative directions.
    loss_scale : {"mean", "sum"}
        "sum" multiplies the whole objective by n, without which eps = 1 ends every
        inner loop after one step. It leaves lam and the stationary points alone.

    Notes
    -----
    Algorithm 1 shrinks the rate after every inner step and never sets it back.
    """

    needs: ClassVar[Literal["dc"]] = "dc"

    inner: Inner = field(default_factory=GradientDescent)
    eps: float = 1.0
    outer_iter: int = 20
    init: Literal["zeros", "ones", "minus-ones", "uniform"] | Array = "zeros"
    split: Literal["paper", "tight", "shift"] = "paper"
    loss_scale: Literal["mean", "sum"] = "mean"

    def start(self, problem: DC, rng: np.random.Generator) -> Array:
        """Return the first iterate; an intercept starts at zero.

        Parameters
        ----------
        problem : DC
            The problem, for its size.
        rng : numpy.random.Generator
            Used by "uniform" only.

        Returns
        -------
        ndarray of shape (dim,)
            Coefficients, then the intercept if there is one.
        """
        n = problem.n_terms
        if not isinstance(self.init, str):
            a = np.array(self.init, dtype=float)
            if a.shape != (n,):
                raise ValueError(
                    f"'init' must have one coefficient per sample, shape ({n},), "
                    f"got shape {a.shape}."
                )
        elif self.init == "uniform":
            a = rng.uniform(size=n)
        else:
            known = {"zeros": 0.0, "ones": 1.0, "minus-ones": -1.0}
            if self.init not in known:
                raise ValueError(
                    "'init' must be one of 'zeros', 'ones', 'minus-ones', 'uniform' "
                    f"or an array, got {self.init!r}."
                )
            a = np.full(n, known[self.init])
        return np.concatenate([a, np.zeros(problem.dim - n)])

    def solve(
        self,
        problem: DC,
        w0: Array | None = None,
        *,
        tol: float,
        callback: Callback | None = None,
        rng: np.random.Generator | None = None,
    ) -> Result:
        """Run the outer loop.

        Parameters
        ----------
        problem : DC
            The objective as a difference of convex functions.
        w0 : ndarray of shape (dim,), optional
            First iterate, in place of ``init``.
        tol : float
            Ends the run as converged when no entry of the gradient exceeds it.
        callback : callable, optional
            Called with each row of history; a true return stops.
        rng : numpy.random.Generator, optional
            Source of random starts and samples.

        Returns
        -------
        Result
            The last iterate, as Algorithm 1 has it; if the run diverged, the one with
            the lowest objective that is not yet negative (F is a mean loss plus a
            squared norm as long as it means something, so never below zero).
        """
        rng = np.random.default_rng() if rng is None else rng
        w = self.start(problem, rng) if w0 is None else np.array(w0, dtype=float)
        value, crit = problem.value(w), _largest(problem.grad(w))
        limit, floor = OVERSHOT * max(1.0, abs(value)), -SUNK * max(1.0, abs(value))
        best = (value if value >= 0 else np.inf, w)
        rows: list[Row] = []
        stop = _report(rows, callback, 0, value, crit, np.nan, False)
        rate: float | None = None
        status = Status.MAX_ITER
        while not stop and not crit <= tol and len(rows) <= self.outer_iter:
            # Step 5: linearize the concave part at the current point.
            surrogate = problem.surrogate(w)
            if rate is None or self.inner.reset_each_outer:
                rate = self.inner.first_rate(surrogate)
            # Steps 6 to 13: the inner loop.
            done = self.inner.run(
                surrogate, w, eps=self.eps, rate=rate, limit=limit, rng=rng
            )
            rate, before = done.rate, w
            new = problem.value(done.w)
            increased = new > value
            if done.status in (Status.DIVERGED, Status.NONFINITE) or new < floor:
                nonfinite = done.status is Status.NONFINITE
                status = Status.NONFINITE if nonfinite else Status.DIVERGED
                _report(rows, callback, done.n_iter, new, crit, rate, increased)
                w = best[1]
                crit = _largest(problem.grad(w))
                break
            # Step 15: accept.
            w, value, crit = done.w, new, _largest(problem.grad(done.w))
            if 0 <= value < best[0]:
                best = (value, w)
            stop = _report(rows, callback, done.n_iter, value, crit, rate, increased)
            if np.array_equal(w, before):
                status = Status.STALLED
                break
        if status in (Status.MAX_ITER, Status.STALLED) and crit <= tol:
            status = Status.CONVERGED
        return Result(w, (status,), (len(rows) - 1,), (crit,), tuple(rows))


PUBLISHED = {
    "cccp-gd": CCCP(inner=GradientDescent(), eps=1e-4),
    "ccicp-gd": CCCP(inner=GradientDescent(), eps=1.0),
    "ccicp-sgd": CCCP(inner=SGD(), eps=1e-4),
}
"""The three procedures of the paper's tables; SGD-I is ``CCCP(inner=SGD())``."""


def _largest(gradient: Array) -> float:
    return float(np.abs(gradient).max())


def _report(
    rows: list[Row],
    callback: Callback | None,
    inner: int,
    value: float,
    gradient: float,
    rate: float,
    increased: bool,
) -> bool:
    """Add a row of history, and tell whether the callback wants to stop."""
    row: Row = {
        "iter": len(rows),
        "inner": inner,
        "value": value,
        "gradient": gradient,
        "rate": rate,
        "increased": increased,
    }
    rows.append(row)
    return callback is not None and bool(callback(row))
