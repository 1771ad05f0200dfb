"""Newton-CG on the bounded dual: the exact solver, with a certificate.

For each problem of a block, from a strictly interior point:

1. stop if the residual of the stationarity condition is below ``tol``;
2. solve the Newton system by preconditioned conjugate gradients, to an accuracy tied
   to the residual; if a direction of negative curvature turns up, solve again with K
   shifted until the model is convex, which is one step of DC programming on the dual;
3. if a wall is near, scale the samples that would hit it one by one instead of
   shortening the whole step;
4. halve the step until the dual objective decreases enough. Scores move linearly, so
   this costs no product with K.

lam is walked down from a value where the scores are moderate: a problem with a smaller
lam starts from where one with a larger lam has roughly arrived, and while that one goes
on to its end. Problems of a block share one matrix-matrix product; those that are done
leave it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.solvers import cg
from kreinlearn.solvers.base import Callback, Dual, Model, Result, Row, Status
from kreinlearn.solvers.way import Node, ways

FORCING = (0.25, 0.75)
"""CG stops at min(first, residual ** second) of its first residual."""
LAST = 0.1
"""Accuracy of the last step, as a share of what would just do."""
SHIFTED_FORCING = 1e-2
"""The same where K was shifted: there the steps are few and long."""
SHIFT_GROWTH = 1.5
"""A shift exceeds the negative curvature that was met by this factor."""
WALL = 0.995
"""Most of the way to the wall that a whole step may go."""
SAMPLE_WALL = 0.9
"""Most of the way that one sample may go if its neighbors are to go further."""
CROWDED = 0.5
"""Below this share of a full step, samples are scaled one by one (one product)."""
ARMIJO = 1e-4
HALVINGS = 40
EASY = 40.0
"""Largest score at the start with which Newton's method goes straight ahead."""
LOOSE = 0.1
"""Residual at which a value of lam on the way is left."""
WORTHWHILE = 30_000
"""Columns multiplied by K, times samples, after which a preconditioner pays."""
SHORT = 0.1
"""Step length below which the next step is made with K shifted."""
FLAT = 5
"""Steps in a row without gain, in objective or residual, that count as stalled."""


@dataclass(frozen=True)
class DualNewton:
    """Newton-CG on the dual of indefinite kernel logistic regression.

    Finds a stationary point of the model, the only one if lam is above the uniqueness
    threshold. Below it, one of several, and no claim that it is the best.

    Parameters
    ----------
    max_iter : int
        Most Newton steps for each problem.
    cg_iter : int
        Most products with K for one Newton step.
    """

    max_iter: int = 100
    cg_iter: int = 500

    def solve(
        self,
        problem: Dual,
        w0: Array | None = None,
        *,
        tol: float,
        after: Sequence[int] | None = None,
        callback: Callback | None = None,
    ) -> Result:
        """Return a stationary point of each problem of the block.

        Parameters
        ----------
        problem : Dual
            The block.
        w0 : ndarray, optional
            Dual variables to start from.
        tol : float
            Largest violation of the stationarity condition that is accepted.
        after : sequence of int, optional
            For each problem one that comes before it, with a larger lam and otherwise
            the same, to start from; -1 for none. Not with ``w0``.
        callback : callable, optional
            Called with each row of history; a true return stops.

        Returns
        -------
        Result
            ``w`` are the dual variables.
        """
        run = _Run(self, problem, tol, callback)
        if w0 is None:
            run.descend([-1] * problem.n_problems if after is None else after)
        else:
            start = problem.point(problem.feasible(w0))
            run.go([Node(j) for j in range(problem.n_problems)], start)
        return Result(
            run.w,
            tuple(run.status),
            tuple(run.n_iter),
            tuple(run.crit),
            tuple(run.rows),
            run.F,
        )


class _Run:
    """The mutable side of one solve."""

    def __init__(
        self,
        settings: DualNewton,
        problem: Dual,
        tol: float,
        callback: Callback | None,
    ) -> None:
        n = problem.n_problems
        self.settings, self.callback = settings, callback
        self.problem, self.tol = problem, tol
        self.stopped = False
        self.status = [Status.MAX_ITER] * n
        self.n_iter = [0] * n
        self.crit = [np.inf] * n
        self.rows: list[Row] = []
        self.products = 0
        self.columns = 0  # multiplied one by one or in blocks
        self.outline: Any = None
        self.w = problem.start()
        self.F = np.zeros(self.w.shape)

    def descend(self, after: Sequence[int]) -> None:
        """Run all problems, those without another before them from the start.

        There the scores are those of the class frequencies, proportional to 1 / lam;
        taken at once, a tiny lam would mean a start millions away.
        """
        roots = [j for j, before in enumerate(after) if before < 0]
        block = self.problem.take(roots)
        start = block.point(self.w[:, roots])
        size = np.abs(start.F).max(axis=(0, 2))
        easy = np.where(np.isfinite(size), np.maximum(1.0, size / EASY), 1.0)
        nodes, firsts = ways(after, self.problem.lam, easy)
        first = block.relaxed(easy).point(self.w[:, roots], start.F / easy[:, None])
        self.go(nodes, first, firsts)

    def _block(self, nodes: Sequence[Node]) -> Dual:
        factor = np.array([node.factor for node in nodes])
        return self.problem.take([node.problem for node in nodes]).relaxed(factor)

    def go(
        self, nodes: Sequence[Node], point: Any, active: Sequence[int] | None = None
    ) -> None:
        """Run nodes until each is done: the active ones, then those that follow."""
        places: list[int] = list(range(len(nodes)) if active is None else active)
        block = self._block([nodes[i] for i in places])
        flat = np.zeros(len(nodes), dtype=int)
        best = np.full(len(nodes), np.inf)
        met = np.zeros(len(nodes))  # negative curvature, its modulus
        prior = np.zeros(len(nodes))  # shifts to begin with
        waiting = {i for i, node in enumerate(nodes) if node.before >= 0}
        news = set(places)  # whose iterates are to be recorded
        while True:
            # 1. Certificate
            places, block, point, n_fresh = self._refreshed(nodes, places, block, point)
            here = np.array(places)
            fresh = slice(len(places) - n_fresh, None)
            best[here[fresh]] = point.residual[fresh]
            self._record(
                [(j, nodes[i]) for j, i in enumerate(places) if i in news], point
            )
            done = self._done([nodes[i] for i in places], point, flat[here])
            arrived = {
                i
                for i, r, d in zip(places, point.residual, done, strict=True)
                if d or r < LOOSE
            }
            ready = sorted(i for i in waiting if nodes[i].before in arrived)
            if self.stopped:
                ready = []
            if ready or done.any():
                followers = self._follow(nodes, ready, places, block, point)
                waiting -= set(ready)
                met[ready] = met[[nodes[i].before for i in ready]]
                for j in np.flatnonzero(done).tolist():
                    if not nodes[places[j]].is_way:
                        self._keep(nodes[places[j]].problem, block.take([j]), point, j)
                keep = np.flatnonzero(~done)
                places = [*here[keep].tolist(), *ready]
                if not places:
                    return
                point = point.take(keep)
                if followers is not None:
                    point = point.joined(followers)
                block = self._block([nodes[i] for i in places])
                here = np.array(places)
            news = set(ready)
            if news:
                continue

            # 2. Direction
            if self.outline is None and self.columns * len(point.F) >= WORTHWHILE:
                self.outline = self.problem.outline()
            model = block.model(point, self.outline)
            if prior[here].any():
                model = model.shifted(prior[here])
            if met[here].any():
                model = model.plain(met[here] > 0)
            D, KD, negative = self._direction(model, point.residual, prior[here])
            met[here] = np.maximum(met[here], negative)

            # 3. and 4. Walls and step length
            point, gained, length = self._step(block, point, D, KD)
            # A step that is cut to nearly nothing was made for another landscape than
            # the one around the point: the next one is more cautious.
            size = np.sqrt(cg.dot(KD, KD) / np.maximum(cg.dot(D, D), 1e-300))
            size = np.where(met[here] > 0, met[here], size)
            grown = np.maximum(2 * prior[here], SHIFT_GROWTH * size)
            less = np.where(prior[here] > 1e-3 * size, prior[here] / 4, 0.0)
            prior[here] = np.where(length < SHORT, grown, less)
            gained |= point.residual < 0.5 * best[here]
            best[here] = np.minimum(best[here], point.residual)
            flat[here] = np.where(gained, 0, flat[here] + 1)
            for i in places:
                self.n_iter[nodes[i].problem] += 1
            news = set(places)

    def _refreshed(
        self, nodes: Sequence[Node], places: list[int], block: Dual, point: Any
    ) -> tuple[list[int], Dual, Any, int]:
        """Compute the products of problems that seem done again, from scratch.

        Along the way they are sums of steps, in which rounding adds up, and may be of
        single precision. Columns whose products are fresh come last; also returned is
        how many these are.
        """
        stale = [
            j
            for j, i in enumerate(places)
            if point.residual[j] < self.tol and not nodes[i].is_way
        ]
        if not stale:
            return places, block, point, 0
        rest = [j for j in range(len(places)) if j not in stale]
        again = block.take(stale)
        fresh = again.point(again.variables(point.take(stale)))
        self.products += 1
        order = [*rest, *stale]
        point = point.take(rest).joined(fresh)
        return [places[j] for j in order], block.take(order), point, len(stale)

    def _keep(self, problem: int, block: Dual, point: Any, j: int) -> None:
        ended = point.take([j])
        self.w[:, problem] = block.variables(ended)[:, 0]
        self.F[:, problem] = ended.F[:, 0]

    def _done(self, nodes: Sequence[Node], point: Any, flat: Array) -> Array:
        """Tell which iterates need no further step, and note why."""
        done = np.zeros(len(nodes), dtype=bool)
        for j, node in enumerate(nodes):
            p, residual = node.problem, float(point.residual[j])
            finite = np.isfinite(residual) and np.isfinite(point.value[j])
            spent = self.n_iter[p] >= self.settings.max_iter
            small = residual < (LOOSE if node.is_way else self.tol)
            done[j] = small or not finite or flat[j] >= FLAT or spent
            self.crit[p] = residual
            if not finite:
                self.status[p] = Status.NONFINITE
            elif small:
                self.status[p] = Status.CONVERGED
            else:
                stalled = flat[j] >= FLAT
                self.status[p] = Status.STALLED if stalled else Status.MAX_ITER
        return done | self.stopped

    def _follow(
        self,
        nodes: Sequence[Node],
        ready: Sequence[int],
        places: list[int],
        block: Dual,
        point: Any,
    ) -> Any:
        """Return the first iterates of nodes whose turn it is; no product with K."""
        if not ready:
            return None
        columns = [places.index(nodes[i].before) for i in ready]
        start = point.take(columns)
        following = self._block([nodes[i] for i in ready])
        # The same dual variables mean coefficients inversely proportional to lam.
        ratio = start.lam / following.lam
        w = block.take(columns).variables(start)
        return following.point(w, start.F * ratio[:, None])

    def _record(self, columns: Sequence[tuple[int, Node]], point: Any) -> None:
        for j, node in columns:
            row: Row = {
                "iter": self.n_iter[node.problem],
                "problem": node.problem,
                "lam": float(point.lam[j]),
                "value": float(point.value[j]),
                "residual": float(point.residual[j]),
                "products": self.products,
            }
            self.rows.append(row)
            if self.callback is not None:
                self.stopped |= bool(self.callback(row))

    def _direction(
        self, model: Model, residual: Array, shift: Array
    ) -> tuple[Array, Array, Array]:
        """Return the step, its product, and the negative curvature met, if any."""
        first, power = FORCING
        enough = LAST * self.tol / residual  # the step that ends need not be better
        rtol = np.minimum(first, np.maximum(residual**power, enough))
        found = self._cg(model, rtol)
        D, KD, negative = found.D, found.KD, found.negative
        bent = np.flatnonzero(negative > 0)
        met = negative.copy()
        while bent.size:
            # Proximal term shift/2 |A - A_k|^2 added to the dual: convex if the shift
            # exceeds |mu_n|, and the step still lowers the dual itself. Following the
            # direction of negative curvature to the wall instead was tried and took
            # several times as many steps, for it pins one sample at a time.
            grown = np.maximum(2 * shift[bent], SHIFT_GROWTH * negative[bent])
            shift[bent] = grown
            rtol = np.full(bent.size, SHIFTED_FORCING)
            part = self._cg(model.take(bent).shifted(grown), rtol)
            D[:, bent], KD[:, bent] = part.D, part.KD
            negative[bent] = part.negative
            bent = bent[part.negative > 0]
        return D, KD, met

    def _cg(self, model: Model, rtol: Array) -> cg.Steps:
        found = cg.solve(model, rtol, self.settings.cg_iter)
        self.products += found.products
        self.columns += found.columns
        return found

    def _step(
        self, block: Dual, point: Any, D: Array, KD: Array
    ) -> tuple[Any, Array, Array]:
        """Return the next iterates, whether they gain, and the step lengths."""
        room = block.room(point, D)
        crowded = np.flatnonzero(room.min(axis=0) < CROWDED)
        scaled, K_scaled = D, KD
        if crowded.size:
            scale = np.minimum(1.0, SAMPLE_WALL * room)
            scaled, K_scaled = D.copy(), KD.copy()
            part, inner = block.take(crowded), point.take(crowded)
            scaled[:, crowded] = part.restored(inner, D[:, crowded], scale[:, crowded])
            K_scaled[:, crowded] = part.product(scaled[:, crowded])
            self.products += 1
        t, accepted, gained = self._search(block, point, scaled, K_scaled)
        good = accepted & (t >= SHORT)
        if crowded.size and not good.all():
            # Scaling samples one by one may spoil the descent, or leave no room for a
            # sample on the wall: then the whole step is shortened.
            scaled = np.where(good[:, None], scaled, D)
            K_scaled = np.where(good[:, None], K_scaled, KD)
            t, accepted, gained = self._search(block, point, scaled, K_scaled)
        return block.advance(point, scaled, K_scaled, t), gained, t

    def _search(
        self, block: Dual, point: Any, D: Array, KD: Array
    ) -> tuple[Array, Array, Array]:
        """Return step lengths, whether each is accepted, and whether it gains."""
        slope = block.slope(point, D)
        downhill = slope < 0
        t = np.minimum(1.0, WALL * block.room(point, D).min(axis=0))
        noise = 1e-14 * np.abs(point.value)
        for _ in range(HALVINGS):
            change = block.change(point, D, KD, t)
            fine = downhill & (change <= ARMIJO * t * slope + noise)
            if np.all(fine | ~downhill):
                break
            t = np.where(fine, t, t / 2)
        t = np.where(fine, t, 0.0)
        return t, fine, fine & (change < -noise)
