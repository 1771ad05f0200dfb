"""Newton's method by passes over rows: the driver, which owns M numbers and no rows.

Gradients are summed over all rows, Hessians over a share of them, some twenty rows for
each landmark. First the problem is solved roughly on that share alone, which costs a
small part of a pass a step. Then each step is a pass over all rows, and differences of
gradients correct what the share says of the curvature (as in L-BFGS).

Problems (values of lam, folds, classes) share each pass; those that are done leave it.

With a convex penalty a step must decrease the value. With the penalty of a Krein space
there is no minimum, but a stationary point: Newton's method is then one for equations,
a step must decrease the gradient, and lam is lowered from where the point is unique.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.landmarks.checkpoint import Checkpoint
from kreinlearn.landmarks.engine import Precision
from kreinlearn.landmarks.objective import At, Objective, Solve, with_share
from kreinlearn.landmarks.state import Solution, Stage, State, started
from kreinlearn.operators import limit_blas_threads

ROWS_PER_NUMBER = 20
"""Rows that a Hessian is summed over, for each landmark."""
LOOSE = 1e-3
"""Residual at which all rows take over from the share, or the next lam follows."""
STRIDE = 4.0
"""Factor between values of lam on the way to the wanted one, for "krein"."""
GOOD, SLOW = 0.5, 0.8
"""What a step leaves of the gradient: less than the first, and Newton's matrix is used
again; more than the second, and it is summed over four times as many rows."""
MORE = 4
PAIRS = 10
"""Steps whose differences of gradients are remembered."""
ENOUGH = 1e-4
"""Share of the predicted decrease that a step must bring."""
ROUNDING = 1e-11
"""Relative change of a value that may be rounding."""
ROUGH = 0.1
"""The same in products in single precision, in units of the gain that is too little."""
SHORTEST = 1e-6
"""Shorter steps mean that nothing more can be gained."""
Watch = Callable[[dict[str, float]], bool | None]
"""Called with each row of history; a true return stops."""


def solve(
    objective: Objective,
    n_rows: int,
    *,
    tol: float,
    max_iter: int,
    share: float = 1.0,
    gain: float = 0.0,
    start: Array | None = None,
    watch: Watch | None = None,
    checkpoint: Checkpoint | None = None,
) -> Solution:
    """Solve all problems.

    Parameters
    ----------
    objective : Objective
        The problems, through the passes of an engine.
    n_rows : int
        Number of all rows.
    tol : float
        Largest residual that counts as converged.
    max_iter : int
        Most Newton steps on the same rows.
    share : float
        Share of the rows that problems are to be solved for; all by default.
    gain : float
        Decrease of the value below which a problem is left as it is, and without a
        certificate; for searches, with a convex penalty. Zero for none.
    start : ndarray of shape (r + 1, P, C), optional
        Coordinates to start from, near the solution: no share of the rows comes first.
    watch : callable, optional
        Sees each row of history.
    checkpoint : Checkpoint, optional
        Where the state is written after each step, and read from at the start.

    Returns
    -------
    Solution
        With a certificate in double precision.
    """
    driver = _Driver(objective, n_rows, tol, max_iter, share, watch, checkpoint)
    driver.gain = gain if driver.is_convex else 0.0
    with limit_blas_threads(objective.shape[0]):
        return driver.run(start)


class _Driver:
    """One solve."""

    def __init__(
        self,
        objective: Objective,
        n_rows: int,
        tol: float,
        max_iter: int,
        share: float,
        watch: Watch | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.objective, self.n_rows, self.share = objective, n_rows, share
        self.tol, self.max_iter = tol, max_iter
        self.watch, self.checkpoint = watch, checkpoint
        self.is_convex = objective.penalty.is_convex
        self.lam = objective.problems.lam
        self.history: list[dict[str, float]] = []
        self.solvers: dict[int, Solve] = {}
        self.is_ended = False
        self.gain = 0.0

    def run(self, start: Array | None) -> Solution:
        shape = self.objective.shape
        fewer = with_share(ROWS_PER_NUMBER, len(self.objective.penalty.T), self.n_rows)
        fewer = min(fewer, self.share)
        stages = self._stages(fewer, start is not None)
        u = np.zeros(shape) if start is None else start.copy()
        state = started(u)
        state.curved = fewer
        found = None if self.checkpoint is None else self.checkpoint.read(state)
        is_resumed = found is not None
        state = state if found is None else found
        at = None
        for number in range(state.stage, len(stages)):
            if not is_resumed:
                self._begin(state, number, stages[number])
            at = self._stage(
                state, stages[number], is_resumed, number == len(stages) - 1
            )
            is_resumed = False
        assert at is not None
        return self._solution(state, at)

    def _stages(self, fewer: float, is_near: bool) -> list[Stage]:
        """Return the way to the solution."""
        one = np.ones(len(self.lam))
        last = Stage(self.share, one, self.tol)
        if is_near:
            return [last]
        path = []
        if not self.is_convex:
            reach = self.objective.unique_above(fewer) / self.lam
            n_steps = int(np.ceil(np.log(max(1.0, reach.max())) / np.log(STRIDE)))
            factors = [reach ** (k / max(1, n_steps)) for k in range(n_steps, 0, -1)]
            path = [Stage(fewer, np.maximum(f, 1.0), LOOSE) for f in factors]
        if fewer < self.share:
            is_path = self.is_convex and len(np.unique(self.lam)) > 1
            path.append(Stage(fewer, one, max(LOOSE, self.tol), is_path))
        return [*path, last]

    def _begin(self, state: State, number: int, stage: Stage) -> None:
        """Forget what belongs to the rows, or to the lam, of the stage before."""
        state.stage, state.step, state.exact = number, 0, False
        state.is_moving[:], state.is_stuck[:], state.is_stale[:] = False, False, True
        state.is_good[:] = False
        state.is_waiting = stage.is_path & (self.lam < self.lam.max())
        state.steps = state.changes = state.steps[:0]
        self.solvers = {}

    def _stage(self, state: State, stage: Stage, is_resumed: bool, is_last: bool) -> At:
        """Solve one stage; return values and gradients at its end."""
        every = np.arange(len(self.lam))
        lam = self.lam * stage.factor
        at = self._at(state, state.u, every, lam, stage)
        if is_resumed:
            self._check_resumed(state, at)
            self._make_solvers(state, ~state.is_stale, lam)
        while not self.is_ended:
            goal = self._goal(stage, state, is_last)
            is_idle = state.is_stuck | state.is_good | state.is_waiting
            is_active = (at.residual > goal) & ~is_idle
            if is_active.any() and state.step < self.max_iter:
                at = self._step(state, at, stage, lam, np.flatnonzero(is_active))
            elif state.is_waiting.any():
                at = self._next(state, at, stage, lam)
            elif is_last and not self._is_exact(state) and self.gain == 0:
                state.exact = True  # the certificate, and steps if it does not hold
                state.is_moving[:], state.is_stuck[:] = False, False
                at = self._at(state, state.u, every, lam, stage)
            else:
                break
        return at

    def _next(self, state: State, at: At, stage: Stage, lam: Array) -> At:
        """Start problems that wait with the largest lam, where those before are."""
        largest = lam[state.is_waiting].max()
        which = np.flatnonzero(state.is_waiting & (lam == largest))
        before = lam[lam > largest].min()
        problems = self.objective.problems
        for p in which:
            is_same = (problems.positive == problems.positive[p]) & (lam == before)
            (source,) = np.flatnonzero(is_same & (problems.fold == problems.fold[p]))
            state.u[:, p] = state.u[:, source]
        state.is_waiting[which], state.step = False, 0
        return at.put(which, self._at(state, state.u[:, which], which, lam, stage))

    def _is_exact(self, state: State) -> bool:
        return state.exact or self.objective.engine.is_exact

    def _goal(self, stage: Stage, state: State, is_last: bool) -> float:
        return stage.tol * (0.5 if is_last and not self._is_exact(state) else 1.0)

    def _at(self, state: State, u: Array, which: Array, lam: Array, stage: Stage) -> At:
        usual: Precision = "rough" if self.gain > 0 else "kept"
        precision = "exact" if state.exact else usual
        return self.objective.at(u, which, lam[which], stage.share, precision)

    def _step(
        self, state: State, at: At, stage: Stage, lam: Array, active: Array
    ) -> At:
        """Try one step of all active problems, and return where they are then."""
        self._make_solvers(
            state, state.is_stale & np.isin(range(len(lam)), active), lam
        )
        fresh = [p for p in active if not state.is_moving[p]]
        self._directions(state, at, fresh)
        slope = self._slope(at, state.d)
        if self.gain > 0:  # half of the slope is what a Newton step is to gain
            state.is_good[fresh] = -0.5 * slope[fresh] < self.gain
            active = active[~state.is_good[active]]
            if not len(active):
                return at
        slope = slope[active]
        trial = state.u[:, active] + state.t[active][:, None] * state.d[:, active]
        new = self._at(state, trial, active, lam, stage)
        old, gained = self._merit(at)[active], self._merit(new)
        rounding = ROUNDING if self.gain == 0 else ROUGH * self.gain
        allowed = ENOUGH * state.t[active] * slope + rounding * np.abs(old)
        with np.errstate(invalid="ignore"):
            accepted = gained <= old + allowed  # not if it is NaN
        moved = active[accepted]
        before = np.sqrt((at.g**2).sum(axis=(0, 2)))
        pair = np.zeros((2, *state.u.shape))
        pair[0][:, moved] = trial[:, accepted] - state.u[:, moved]
        pair[1][:, moved] = new.g[:, accepted] - at.g[:, moved]
        state.u[:, moved] = trial[:, accepted]
        at = at.put(moved, _taken(new, accepted))
        self._remember(state, pair)
        self._judge(state, at, before, moved, stage)
        self._shorten(
            state,
            active[~accepted],
            slope[~accepted],
            old[~accepted],
            gained[~accepted],
        )
        state.step += 1
        state.n_iter[active] += 1
        state.value = at.value
        self._report(state, at, stage, active)
        return at

    def _merit(self, at: At) -> Array:
        """Return what a step must decrease."""
        return at.value if self.is_convex else 0.5 * (at.g**2).sum(axis=(0, 2))

    def _slope(self, at: At, d: Array) -> Array:
        """Return the derivative of the merit along the directions."""
        if self.is_convex:
            return np.asarray((at.g * d).sum(axis=(0, 2)))
        return -np.asarray((at.g**2).sum(axis=(0, 2)))

    def _make_solvers(self, state: State, wanted: Array, lam: Array) -> None:
        """Factorize the Newton matrices of the wanted problems, at their anchors."""
        which = np.flatnonzero(wanted)
        if not len(which):
            return
        fresh = which[state.is_stale[which]]
        state.anchor[:, fresh] = state.u[:, fresh]
        state.is_stale[which] = False
        blocks = self.objective.curvatures(state.anchor[:, which], which, state.curved)
        for group, H in zip(self.objective.problems.groups(which), blocks, strict=True):
            solver = self.objective.solver(H, float(lam[which[group[0]]]))
            self.solvers |= dict.fromkeys(which[group].tolist(), solver)

    def _directions(self, state: State, at: At, fresh: list[int]) -> None:
        """Set the directions of problems that have none, by the two loops of L-BFGS."""
        if not fresh:
            return
        q, S, Y = (
            at.g[:, fresh].copy(),
            state.steps[:, :, fresh],
            state.changes[:, :, fresh],
        )
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
        # Intercepts of all classes may move together; here they do not.
        d[-1] -= d[-1].mean(axis=1, keepdims=True) if d.shape[2] > 1 else 0.0
        state.d[:, fresh], state.t[fresh] = -d, 1.0
        state.is_moving[fresh] = True

    def _remember(self, state: State, pair: Array) -> None:
        """Keep the last steps and the changes of the gradient that they brought."""
        if self.is_convex:
            state.steps = np.concatenate([state.steps, pair[:1]])[-PAIRS:]
            state.changes = np.concatenate([state.changes, pair[1:]])[-PAIRS:]

    def _judge(
        self, state: State, at: At, before: Array, moved: Array, stage: Stage
    ) -> None:
        """Decide whether the Newton matrices of problems that moved are still good."""
        after = np.sqrt((at.g**2).sum(axis=(0, 2)))
        left = after[moved] / np.maximum(before[moved], np.finfo(float).tiny)
        state.is_moving[moved] = False
        is_slow = (left > SLOW) & (state.t[moved] == 1.0)
        state.is_stale[moved] = left > GOOD
        if (
            len(moved)
            and is_slow.all()
            and state.step > 1
            and state.curved < stage.share
        ):
            self._curve_more(state)

    def _shorten(
        self, state: State, which: Array, slope: Array, old: Array, new: Array
    ) -> None:
        """Halve steps that brought too little, or less if a parabola says so."""
        t = state.t[which]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            best = -slope * t**2 / (2 * (new - old - slope * t))
        state.t[which] = np.clip(
            np.where(np.isfinite(best), best, 0.0), 0.1 * t, 0.5 * t
        )
        short = which[state.t[which] < (SHORTEST if self.is_convex else 0.05)]
        if len(short):
            is_all = state.curved >= self.share and not state.is_stale[short].any()
            state.is_stuck[short[state.t[short] < SHORTEST]] = is_all
            if not is_all:
                self._curve_more(state)
                state.is_moving[short], state.is_stale[short] = False, True

    def _curve_more(self, state: State) -> None:
        """Sum Hessians over more rows from here on."""
        curved = MORE * state.curved
        state.curved = self.share if curved >= 0.5 * self.share else curved

    def _report(self, state: State, at: At, stage: Stage, active: Array) -> None:
        row = {
            "stage": state.stage,
            "iteration": state.step,
            "rows": stage.share,
            "problems": len(active),
            "objective": float(at.value.mean()),
            "residual": float(at.residual.max()),
            "passes": self.objective.engine.n_passes,
        }
        self.history.append(row)
        if self.checkpoint is not None:
            self.checkpoint.write(state)
        self.is_ended = self.watch is not None and bool(self.watch(row))

    def _check_resumed(self, state: State, at: At) -> None:
        assert self.checkpoint is not None
        off = np.abs(at.value - state.value) > 1e-6 * np.maximum(1.0, np.abs(at.value))
        if off.any():
            raise self.checkpoint.mismatch("the rows are not those that it began with")

    def _solution(self, state: State, at: At) -> Solution:
        n = np.arange(len(self.lam))
        status = np.where(state.is_stuck, "stalled", "max_iter").astype(object)
        status[(at.residual <= self.tol) | state.is_good] = "converged"
        gap = np.full(len(n), np.nan)
        if self.is_convex:
            gap = (at.g[:-1] ** 2).sum(axis=(0, 2)) / (2 * self.lam)
        B = self.objective.point(state.u, n).B
        return Solution(
            B,
            state.u,
            at.value,
            at.residual,
            gap,
            status.tolist(),
            state.n_iter,
            self.history,
        )


def _taken(at: At, which: Array) -> At:
    return replace(
        at, value=at.value[which], g=at.g[:, which], residual=at.residual[which]
    )
