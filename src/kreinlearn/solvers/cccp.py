"""The published procedure: concave-convex, with exact or inexact inner solves."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn._validation import check_choice
from kreinlearn.solvers.base import DC, Callback, Result, Row, Status
from kreinlearn.solvers.gradient import SGD, GradientDescent, Inner, InnerResult

MAX_GROWTH = {"step": 1e6, "outer": 1e12, "increase": 1e12}
"""Growth of the objective that counts as divergence, by when the rate shrinks.

Shrinking rates may bring an overshooting run back, so this is far from its start, and
farther from overflow. As long as the rate stays the same, scores swing much farther and
still come back; only exponential growth does not."""
MAX_DESCENT = 1e3
"""The same for values below zero, from which the procedure never comes back."""


MAX_INNER_STEPS = 100_000
"""Cap on inner steps where none is asked for; other rules end loops long before."""


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
        How the convex surrogate is decreased, and when the rate shrinks.
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
        The loss as it is printed, with 1/n, or without. "sum" multiplies the whole
        objective by n, and so lengthens the steps of gradient descent n times. It
        leaves lam and the stationary points alone: the lam that the paper would name
        is then n times ours.
    stop_on : {"mean", "sum"}, optional
        Whether ``eps`` is compared with the change of the mean or of the summed
        objective; by default that of ``loss_scale``. The mean loss is log 2 at the
        start, so that eps = 1 ends most loops on it after one step.
    max_inner : int
        Most steps of an inner loop. The paper prints no such cap.

    Notes
    -----
    The defaults are Algorithm 1 to the letter, which does not reproduce the tables it
    is printed for. The names of `PUBLISHED` are the nearest reading that does.
    """

    needs: ClassVar[Literal["dc"]] = "dc"

    inner: Inner = field(default_factory=GradientDescent)
    eps: float = 1.0
    outer_iter: int = 20
    init: Literal["zeros", "ones", "minus-ones", "uniform"] | Array = "zeros"
    split: Literal["paper", "tight", "shift"] = "paper"
    loss_scale: Literal["mean", "sum"] = "mean"
    stop_on: Literal["mean", "sum"] | None = None
    max_inner: int = MAX_INNER_STEPS

    def start(self, problem: DC, rng: np.random.Generator) -> Array:
        """Return the first iterate of one problem; an intercept starts at zero.

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
        rng: np.random.Generator | Sequence[np.random.Generator] | None = None,
    ) -> Result:
        """Run the outer loop, for one problem or for a block of them.

        Parameters
        ----------
        problem : DC
            The objective as a difference of convex functions.
        w0 : ndarray of shape (dim,) or (dim, P), optional
            First iterate, in place of ``init``.
        tol : float
            Ends a run as converged when no entry of the gradient exceeds it.
        callback : callable, optional
            Called with each row of history; a true return stops that run.
        rng : numpy.random.Generator, or one per problem, optional
            Source of random starts and samples.

        Returns
        -------
        Result
            The last iterates, as Algorithm 1 has it; where a run diverged, the one
            with the lowest objective that is not yet negative (F is a mean loss plus a
            squared norm as long as it means something, so never below zero).
        """
        block, eps = problem.block(), self.eps * self._unit(problem.n_terms)
        rngs = self._generators(rng, block.n_problems)
        if w0 is None:
            starts = [self.start(problem, each) for each in rngs]
        else:
            starts = list(np.array(w0, dtype=float).reshape(block.dim, -1).T)
        runs = self._begin(block, np.column_stack(starts), tol, callback)
        rates: Array | None = None
        while going := [j for j, run in enumerate(runs) if run.status is None]:
            here = block.take(np.array(going))
            w = np.column_stack([runs[j].w for j in going])
            # Step 5: linearize the concave part at the current point.
            surrogate = here.surrogate(w)
            if rates is None:
                rates = np.zeros(len(runs))
                rates[going] = self.inner.first_rate(surrogate)
            # Steps 6 to 14: the inner loop.
            done = self.inner.run(
                surrogate,
                w,
                eps=eps,
                rate=rates[going],
                limit=np.array([runs[j].limit for j in going]),
                max_inner=self.max_inner,
                rng=[rngs[j] for j in going],
            )
            rates[going] = done.rate
            # Step 15: accept.
            values, gradients = here.value(done.w), here.grad(done.w)
            for k, j in enumerate(going):
                runs[j].accept(done, k, float(values[k]), gradients[:, k])
        return self._result(problem, block, runs)

    def _unit(self, n: int) -> float:
        """Return the factor of ``eps``, for a comparison with our values."""
        scales = ("mean", "sum")
        scale = check_choice("loss_scale", self.loss_scale, scales)
        stop = check_choice("stop_on", self.stop_on or scale, scales)
        return {"mean": 1.0, "sum": 1.0 / n}[stop] * {"mean": 1.0, "sum": n}[scale]

    @staticmethod
    def _generators(
        rng: np.random.Generator | Sequence[np.random.Generator] | None, count: int
    ) -> Sequence[np.random.Generator]:
        if rng is None or isinstance(rng, np.random.Generator):
            rng = [np.random.default_rng() if rng is None else rng] * count
        return rng

    def _begin(
        self, block: DC, w: Array, tol: float, callback: Callback | None
    ) -> list["_Run"]:
        """Return the runs of a block at their first iterates."""
        values, gradients = block.value(w), block.grad(w)
        shrink = getattr(self.inner, "shrink", "step")
        reach = MAX_GROWTH.get(shrink, MAX_GROWTH["step"])
        ends = _Ends(tol, self.outer_iter, reach, callback)
        return [
            _Run(w[:, j], float(values[j]), gradients[:, j], ends)
            for j in range(w.shape[1])
        ]

    @staticmethod
    def _result(problem: DC, block: DC, runs: list["_Run"]) -> Result:
        w = np.column_stack([run.w for run in runs])
        crit = np.abs(block.grad(w)).max(axis=0)
        return Result(
            w[:, 0] if problem is not block else w,
            tuple(run.finish(each) for run, each in zip(runs, crit, strict=True)),
            tuple(len(run.rows) - 1 for run in runs),
            tuple(map(float, crit)),
            tuple(row for run in runs for row in run.rows),
        )


class _Ends(NamedTuple):
    """Conditions that end an outer loop."""

    tol: float
    outer_iter: int
    reach: float
    callback: Callback | None


class _Run:
    """The outer loop of one problem: where it is, its best point, and its history."""

    def __init__(self, w: Array, value: float, gradient: Array, ends: _Ends) -> None:
        self.w, self.value, self.ends = w, value, ends
        self.limit = ends.reach * max(1.0, abs(value))
        self.floor = -MAX_DESCENT * max(1.0, abs(value))
        self.best = (value if value >= 0 else np.inf, w)
        self.rows: list[Row] = []
        self.status: Status | None = None
        self._report(0, value, gradient, np.nan)

    def accept(self, done: InnerResult, k: int, value: float, gradient: Array) -> None:
        """Take the result of the inner loop of this problem, the k-th that ran."""
        inner, lost = int(done.n_iter[k]), done.status[k]
        if lost in (Status.DIVERGED, Status.NONFINITE) or value < self.floor:
            self._report(inner, value, None, done.rate[k])
            self.w = self.best[1]
            self.status = lost if lost is Status.NONFINITE else Status.DIVERGED
            return
        stalled = np.array_equal(done.w[:, k], self.w)
        self.w = done.w[:, k]
        if 0 <= value < self.best[0]:
            self.best = (value, self.w)
        self._report(inner, value, gradient, done.rate[k])
        if stalled and self.status is None:
            self.status = Status.STALLED

    def _report(
        self, inner: int, value: float, gradient: Array | None, rate: float
    ) -> None:
        """Add a row of history, and end the run if there is a reason to."""
        before = self.rows[-1]["gradient"] if self.rows else np.nan
        crit = before if gradient is None else float(np.abs(gradient).max())
        row: Row = {
            "iter": len(self.rows),
            "inner": inner,
            "value": value,
            "gradient": crit,
            "rate": float(rate),
            "increased": bool(self.rows) and value > self.value,
        }
        self.rows.append(row)
        self.value = value
        tol, outer_iter, _, callback = self.ends
        stop = callback is not None and bool(callback(row))
        if stop or crit <= tol or len(self.rows) > outer_iter:
            self.status = Status.MAX_ITER

    def finish(self, crit: float) -> Status:
        """Return how the run ended, given the largest entry of its last gradient."""
        status = self.status or Status.MAX_ITER
        if status in (Status.MAX_ITER, Status.STALLED) and crit <= self.ends.tol:
            return Status.CONVERGED
        return status


AS_PRINTED = {
    "cccp-gd": CCCP(inner=GradientDescent(), eps=1e-4),
    "ccicp-gd": CCCP(inner=GradientDescent(), eps=1.0),
    "ccicp-sgd": CCCP(inner=SGD(), eps=1e-4),
    "ccicp-sgd-i": CCCP(inner=SGD(), eps=1.0),
}
"""The procedures of the paper's tables, to the letter of Algorithm 1."""
MAX_INNER = 100
"""Cap on inner steps that comes nearest to the paper's tables."""


def _as_read(solver: CCCP) -> CCCP:
    """Return the reading of Algorithm 1 that comes nearest to the paper's tables."""
    summed = isinstance(solver.inner, GradientDescent)
    return replace(
        solver,
        inner=GradientDescent(shrink="outer") if summed else SGD(shrink="outer"),
        loss_scale="sum" if summed else "mean",
        stop_on="mean",
        max_inner=MAX_INNER,
    )


PUBLISHED = {name: _as_read(solver) for name, solver in AS_PRINTED.items()} | {
    f"{name}-as-printed": solver for name, solver in AS_PRINTED.items()
}
"""The published procedures by name: as they must have been run, and as printed."""
