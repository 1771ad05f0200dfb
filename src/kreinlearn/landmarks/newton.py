"""Newton's method by passes over rows; the solver stores M numbers and no rows.

Gradients are summed over all rows, Hessians over a subsample of some twenty rows for
each landmark. The problem is first solved to a loose tolerance on that subsample, where
a step is cheap. Then each step is a pass over all rows, and differences of gradients
correct the subsampled curvature (as in L-BFGS).

Problems (values of lam, folds, classes) share each pass; solved problems leave it.

With a convex penalty a step must decrease the value. With the penalty of a Krein space
the solution is a stationary point, not a minimum: a step must decrease the gradient,
and lam is lowered from a value for which the point is unique.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.landmarks.checkpoint import Checkpoint
from kreinlearn.landmarks.engine import Precision
from kreinlearn.landmarks.objective import (
    Evaluation,
    Objective,
    Solve,
    subsample_fraction,
)
from kreinlearn.operators import limit_blas_threads

HESSIAN_ROWS = 20
"""Rows that a Hessian is summed over, for each landmark."""
STAGE_TOL = 1e-3
"""Residual that ends a stage on a subsample, or with a larger lam."""
LAM_STEP_FACTOR = 4.0
"""Ratio of subsequent values of lam in the continuation for "krein"."""
REUSE_RATIO, SLOW_RATIO = 0.5, 0.8
"""Ratios of subsequent gradient norms. Below the first, the Newton matrix is reused;
above the second, it is summed over `HESSIAN_GROWTH` times as many rows."""
HESSIAN_GROWTH = 4
LBFGS_PAIRS = 10
"""Number of stored steps and differences of gradients."""
DECREASE_FRACTION = 1e-4
"""Fraction of the predicted decrease that an accepted step needs."""
MERIT_ROUNDING = 1e-11
"""Relative change of a value that can be due to rounding."""
SINGLE_ROUNDING = 0.1
"""The same for products in single precision, in units of ``min_gain``."""
MIN_STEP_LENGTH = 1e-6
"""A problem is stalled if the line search needs shorter steps."""
HistoryCallback = Callable[[dict[str, float]], bool | None]
"""Called with each row of history; a true return value stops the fit."""


@dataclass(frozen=True)
class ContinuationStage:
    """Fraction of the rows, factors (P,) of lam, and tolerance of one stage.

    On a path, a problem starts at the solution for the next larger lam.
    """

    fraction: float
    factor: Array
    tol: float
    is_path: bool = False


@dataclass
class SolverState:
    """State of a solver between two passes, in arrays and numbers for checkpoints."""

    u: Array
    """(r + 1, P, C) current points."""
    anchor: Array
    """(r + 1, P, C) points where the Newton matrices were computed."""
    d: Array
    """(r + 1, P, C) directions."""
    t: Array
    """(P,) step lengths to try."""
    is_moving: Array
    """(P,) whether there is a direction."""
    is_stale: Array
    """(P,) whether the Newton matrix must be recomputed."""
    is_stuck: Array
    """(P,) whether the line search failed."""
    is_good: Array
    """(P,) whether the predicted decrease is below ``min_gain``."""
    is_waiting: Array
    """(P,) whether the same problem with a larger lam is solved first."""
    n_iter: Array
    """(P,) steps so far."""
    steps: Array
    """(m, r + 1, P, C) the last steps."""
    changes: Array
    """(m, r + 1, P, C) and their differences of gradients."""
    value: Array = field(default_factory=lambda: np.zeros(0))
    """(P,) values, by which a checkpoint is compared with the data."""
    stage: int = 0
    step: int = 0
    curved: float = 1.0
    """Fraction of the rows that Hessians are summed over."""
    exact: bool = False
    """Whether similarities are currently computed in double precision."""

    @classmethod
    def start(cls, u: Array) -> "SolverState":
        """Return the state before the first pass, from coordinates (r + 1, P, C)."""
        no, pairs = np.zeros(u.shape[1], bool), np.zeros((0, *u.shape))
        flags = (no.copy(), ~no, no.copy(), no.copy(), no.copy())
        start = (u, u.copy(), np.zeros_like(u), np.ones(len(no)), *flags)
        return cls(*start, np.zeros(len(no), int), pairs, pairs.copy())


@dataclass(frozen=True)
class Solution:
    """Solutions of all problems.

    Attributes
    ----------
    B : ndarray of shape (M + 1, P, C)
        Coefficients; the last are intercepts.
    u : ndarray of shape (r + 1, P, C)
        The same in the coordinates of the penalty.
    residual : ndarray of shape (P,)
        Largest entry of the gradient, each in units of the mean similarity with its
        landmark; in double precision.
    gap : ndarray of shape (P,)
        Bound on the distance of the value from its minimum; NaN if there is none.
    status : list of str
        "converged", "max_iter" or "stalled".
    n_iter : ndarray of shape (P,)
        Newton steps.
    history : list of dict
        One row for each step.
    """

    B: Array
    u: Array
    residual: Array
    gap: Array
    status: list[str]
    n_iter: Array
    history: list[dict[str, float]]


@dataclass
class NewtonSolver:
    """Newton's method for all problems of an objective.

    Parameters
    ----------
    objective : Objective
        The problems, through the passes of an engine.
    tol : float
        Largest residual of a converged problem.
    max_iter : int
        Maximum number of Newton steps in a stage.
    fraction : float
        Fraction of the rows in the objective; all by default.
    min_gain : float
        For searches: a problem with a convex penalty is solved, without a certificate,
        if the predicted decrease of its value is smaller. Zero for none.
    callback : callable, optional
        Called with each row of history.
    checkpoint : Checkpoint, optional
        File for the state after each step; an existing one is resumed.
    """

    objective: Objective
    tol: float
    max_iter: int
    fraction: float = 1.0
    min_gain: float = 0.0
    callback: HistoryCallback | None = None
    checkpoint: Checkpoint | None = None

    def __post_init__(self) -> None:
        self.is_convex = self.objective.penalty.is_convex
        self.min_gain = self.min_gain if self.is_convex else 0.0
        self.lam = self.objective.lam
        self.history: list[dict[str, float]] = []
        self.solvers: dict[int, Solve] = {}
        self.is_stopped = False

    def solve(self, start: Array | None = None) -> Solution:
        """Solve all problems.

        Parameters
        ----------
        start : ndarray of shape (r + 1, P, C), optional
            Coordinates near the solution; without them, a subsample comes first.

        Returns
        -------
        Solution
            With a certificate in double precision.
        """
        with limit_blas_threads(self.objective.shape[0]):
            return self._solve(start)

    def _solve(self, start: Array | None) -> Solution:
        self._run_stages(start)
        at, state = self.at, self.state
        status = np.where(state.is_stuck, "stalled", "max_iter").astype(object)
        status[(at.residual <= self.tol) | state.is_good] = "converged"
        gap = np.full(len(self.lam), np.nan)
        if self.is_convex:
            gap = (at.g[:-1] ** 2).sum(axis=(0, 2)) / (2 * self.lam)
        B = self.objective.point(state.u, np.arange(len(gap))).B
        end = (status.tolist(), state.n_iter, self.history)
        return Solution(B, state.u, at.residual, gap, *end)

    def _run_stages(self, start: Array | None) -> None:
        shape, n_rows = self.objective.shape, self.objective.engine.n_rows
        M = len(self.objective.penalty.T)
        part = min(subsample_fraction(HESSIAN_ROWS, M, n_rows), self.fraction)
        stages = self._plan_stages(part, start is not None)
        state = SolverState.start(np.zeros(shape) if start is None else start.copy())
        state.curved = part
        found = None if self.checkpoint is None else self.checkpoint.read(state)
        self.state = state = state if found is None else found
        for number in range(state.stage, len(stages)):
            self.stage, self.is_last = stages[number], number == len(stages) - 1
            self.stage_lam = self.lam * self.stage.factor
            if found is None or number > found.stage:
                # Drop the values that belong to other rows, or to another lam.
                state.stage, state.step, state.exact = number, 0, False
                state.is_moving[:] = state.is_stuck[:] = state.is_good[:] = False
                state.is_stale[:] = True
                state.is_waiting = self.stage.is_path & (self.lam < self.lam.max())
                state.steps = state.changes = state.steps[:0]
                self.solvers = {}
                self.at = self._evaluate_all()
            else:
                self._resume()
            self._run_stage()

    def _plan_stages(self, part: float, is_near: bool) -> list[ContinuationStage]:
        one = np.ones(len(self.lam))
        last = ContinuationStage(self.fraction, one, self.tol)
        if is_near:
            return [last]
        path = []
        if not self.is_convex:
            reach = self.objective.unique_above(part) / self.lam
            n = np.log(max(1.0, reach.max())) / np.log(LAM_STEP_FACTOR)
            n_steps = int(np.ceil(n))
            for k in range(n_steps, 0, -1):
                factor = np.maximum(reach ** (k / max(1, n_steps)), 1.0)
                path.append(ContinuationStage(part, factor, STAGE_TOL))
        if part < self.fraction:
            is_path = self.is_convex and len(np.unique(self.lam)) > 1
            tol = max(STAGE_TOL, self.tol)
            path.append(ContinuationStage(part, one, tol, is_path))
        return [*path, last]

    def _resume(self) -> None:
        """Evaluate the points of a checkpoint; raise if its rows were others."""
        assert self.checkpoint is not None
        self.at = self._evaluate_all()
        value, state = self.at.value, self.state
        change = np.abs(value - state.value)
        if (change > 1e-6 * np.maximum(1.0, np.abs(value))).any():
            raise self.checkpoint.mismatch("the rows are not those that it began with")
        self._factorize(~state.is_stale)

    def _run_stage(self) -> None:
        state = self.state
        while not self.is_stopped:
            is_exact = state.exact or self.objective.engine.is_exact
            goal = self.stage.tol * (0.5 if self.is_last and not is_exact else 1.0)
            is_idle = state.is_stuck | state.is_good | state.is_waiting
            is_active = (self.at.residual > goal) & ~is_idle
            if is_active.any() and state.step < self.max_iter:
                self._step(np.flatnonzero(is_active))
            elif state.is_waiting.any():
                self._start_next()
            elif self.is_last and not is_exact and self.min_gain == 0:
                state.exact = True  # the certificate, and further steps if it fails
                state.is_moving[:], state.is_stuck[:] = False, False
                self.at = self._evaluate_all()
            else:
                break

    def _start_next(self) -> None:
        """Start waiting problems with the largest lam at the solutions before them."""
        state, problems, lam = self.state, self.objective, self.stage_lam
        largest = lam[state.is_waiting].max()
        which = np.flatnonzero(state.is_waiting & (lam == largest))
        before = lam[lam > largest].min()
        for p in which:
            is_same = (problems.positive == problems.positive[p]) & (lam == before)
            (source,) = np.flatnonzero(is_same & (problems.fold == problems.fold[p]))
            state.u[:, p] = state.u[:, source]
        state.is_waiting[which], state.step = False, 0
        self.at = self.at.put(which, self._evaluate(state.u[:, which], which))

    def _evaluate_all(self) -> Evaluation:
        return self._evaluate(self.state.u, np.arange(len(self.lam)))

    def _evaluate(self, u: Array, which: Array) -> Evaluation:
        usual: Precision = "single" if self.min_gain else "cached"
        precision: Precision = "double" if self.state.exact else usual
        lam, fraction = self.stage_lam[which], self.stage.fraction
        return self.objective.evaluate(u, which, lam, fraction, precision)

    def _step(self, active: Array) -> None:
        """Try one step of all active problems."""
        at, state = self.at, self.state
        self._factorize(state.is_stale & np.isin(range(len(self.lam)), active))
        fresh = [p for p in active if not state.is_moving[p]]
        self._set_directions(fresh)
        squares = (at.g**2).sum(axis=(0, 2))
        slope = (at.g * state.d).sum(axis=(0, 2)) if self.is_convex else -squares
        if self.min_gain > 0:  # half of the slope is the predicted decrease
            state.is_good[fresh] = -0.5 * slope[fresh] < self.min_gain
            active = active[~state.is_good[active]]
            if not len(active):
                return
        slope, t = slope[active], state.t[active]
        trial = state.u[:, active] + t[:, None] * state.d[:, active]
        new = self._evaluate(trial, active)
        old, merit = self._merit(at)[active], self._merit(new)
        rounding = SINGLE_ROUNDING * self.min_gain or MERIT_ROUNDING
        allowed = DECREASE_FRACTION * t * slope + rounding * np.abs(old)
        with np.errstate(invalid="ignore"):
            is_accepted = merit <= old + allowed  # False for NaN
        moved = active[is_accepted]
        pair = np.zeros((2, *state.u.shape))
        pair[0][:, moved] = trial[:, is_accepted] - state.u[:, moved]
        pair[1][:, moved] = new.g[:, is_accepted] - at.g[:, moved]
        state.u[:, moved] = trial[:, is_accepted]
        self.at = at = at.put(moved, new.take(is_accepted))
        if self.is_convex:
            state.steps = np.concatenate([state.steps, pair[:1]])[-LBFGS_PAIRS:]
            state.changes = np.concatenate([state.changes, pair[1:]])[-LBFGS_PAIRS:]
        self._check_curvature(np.sqrt(squares), moved)
        rest = ~is_accepted
        self._shorten(active[rest], slope[rest], old[rest], merit[rest])
        state.step += 1
        state.n_iter[active] += 1
        state.value = at.value
        row = {
            "stage": state.stage,
            "iteration": state.step,
            "rows": self.stage.fraction,
            "problems": len(active),
            "objective": float(at.value.mean()),
            "residual": float(at.residual.max()),
            "passes": self.objective.engine.n_passes,
        }
        self.history.append(row)
        if self.checkpoint is not None:
            self.checkpoint.write(state)
        self.is_stopped = self.callback is not None and bool(self.callback(row))

    def _merit(self, at: Evaluation) -> Array:
        """Return the function that a step must decrease."""
        return at.value if self.is_convex else 0.5 * (at.g**2).sum(axis=(0, 2))

    def _factorize(self, is_needed: Array) -> None:
        """Factorize the Newton matrices of some problems, at their anchors."""
        which, state = np.flatnonzero(is_needed), self.state
        if not len(which):
            return
        fresh = which[state.is_stale[which]]
        state.anchor[:, fresh] = state.u[:, fresh]
        state.is_stale[which] = False
        blocks = self.objective.curvatures(state.anchor[:, which], which, state.curved)
        for group, H in zip(self.objective.groups(which), blocks, strict=True):
            lam = float(self.stage_lam[which[group[0]]])
            solver = self.objective.solver(H, lam)
            self.solvers |= dict.fromkeys(which[group].tolist(), solver)

    def _set_directions(self, fresh: list[int]) -> None:
        """Set the directions of problems without one, by the two loops of L-BFGS."""
        if not fresh:
            return
        state, q = self.state, self.at.g[:, fresh].copy()
        S, Y = state.steps[:, :, fresh], state.changes[:, :, fresh]
        products = np.einsum("mipc,mipc->mp", S, Y)
        is_used = products > 0
        rho = np.where(is_used, 1.0 / np.where(is_used, products, 1.0), 0.0)
        alphas = []
        for s, y, r in zip(S[::-1], Y[::-1], rho[::-1], strict=True):
            alphas.append(r * np.einsum("ipc,ipc->p", s, q))
            q -= alphas[-1][:, None] * y
        d = np.stack([self.solvers[p](q[:, i]) for i, p in enumerate(fresh)], axis=1)
        for s, y, r, alpha in zip(S, Y, rho, alphas[::-1], strict=True):
            beta = r * np.einsum("ipc,ipc->p", y, d)
            d += (alpha - beta)[:, None] * s
        # A common shift of the intercepts of all classes changes nothing: remove it.
        d[-1] -= d[-1].mean(axis=1, keepdims=True) if d.shape[2] > 1 else 0.0
        state.d[:, fresh], state.t[fresh], state.is_moving[fresh] = -d, 1.0, True

    def _check_curvature(self, before: Array, moved: Array) -> None:
        """Decide whether the Newton matrices of problems that moved are reused."""
        state, after = self.state, np.sqrt((self.at.g**2).sum(axis=(0, 2)))
        ratio = after[moved] / np.maximum(before[moved], np.finfo(float).tiny)
        state.is_moving[moved] = False
        is_slow = (ratio > SLOW_RATIO) & (state.t[moved] == 1.0)
        state.is_stale[moved] = ratio > REUSE_RATIO
        can_grow = state.step > 1 and state.curved < self.stage.fraction
        if len(moved) and is_slow.all() and can_grow:
            self._grow_subsample()

    def _shorten(self, which: Array, slope: Array, old: Array, new: Array) -> None:
        """Shorten rejected steps by a parabola, at least to one half."""
        state, t = self.state, self.state.t[which]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            best = -slope * t**2 / (2 * (new - old - slope * t))
        best = np.where(np.isfinite(best), best, 0.0)
        state.t[which] = np.clip(best, 0.1 * t, 0.5 * t)
        short = which[state.t[which] < (MIN_STEP_LENGTH if self.is_convex else 0.05)]
        if len(short):
            is_full = state.curved >= self.fraction and not state.is_stale[short].any()
            state.is_stuck[short[state.t[short] < MIN_STEP_LENGTH]] = is_full
            if not is_full:
                self._grow_subsample()
                state.is_moving[short], state.is_stale[short] = False, True

    def _grow_subsample(self) -> None:
        """Sum Hessians over more rows from now on."""
        curved = HESSIAN_GROWTH * self.state.curved
        self.state.curved = self.fraction if curved >= 0.5 * self.fraction else curved
