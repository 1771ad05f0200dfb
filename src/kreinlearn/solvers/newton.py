"""Newton-CG on the bounded dual: the exact solver, with a certificate.

For each problem of a block, from a strictly interior point:

1. stop if the residual of the stationarity condition is below ``tol``;
2. solve the Newton system by conjugate gradients, to an accuracy tied to the
   residual; if a direction of negative curvature turns up, solve again with K shifted
   until the model is convex, which is one step of DC programming on the dual;
3. if a wall is near, scale the samples that would hit it one by one instead of
   shortening the whole step;
4. halve the step until the dual objective decreases enough. Scores move linearly, so
   this costs no product with K.

Without a start, lam is walked down from a value where the scores are moderate.
Problems of a block share one matrix-matrix product; those that are done leave it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.solvers.base import Callback, Dual, Model, Result, Row, Status

FORCING = (0.25, 0.75)
"""CG stops at min(first, residual ** second) of its first residual."""
LAST = 0.1
"""Accuracy of the last step, as a share of what would just do."""
SHIFTED_FORCING = 1e-2
"""The same where K was shifted: there the steps are few and long."""
SHIFT_GROWTH = 1.5
"""A shift exceeds the negative curvature that was met by this factor."""
NEGATIVE = 1e-10
"""Curvature below this share of the direction's squared length counts as negative."""
WALL = 0.995
"""Most of the way to the wall that a whole step may go."""
SAMPLE_WALL = 0.9
"""Most of the way that one sample may go if its neighbors are to go further."""
CROWDED = 0.5
"""Below this share of a full step, samples are scaled one by one (one product)."""
ARMIJO = 1e-4
HALVINGS = 40
EASY = 10.0
"""Largest score at the start with which Newton's method goes straight ahead."""
STRIDE = 10.0
"""Factor between the values of lam on the way down to a small one."""
LOOSE = 0.1
"""Residual at which a value of lam on the way is left."""
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
        callback : callable, optional
            Called with each row of history; a true return stops.

        Returns
        -------
        Result
            ``w`` are the dual variables.
        """
        run = _Run(self, problem, callback)
        if w0 is None:
            point = run.approach(problem, problem.point(problem.start()))
        else:
            point = problem.point(w0)
        w = run.go(problem, point, tol)
        return Result(
            w, tuple(run.status), tuple(run.n_iter), tuple(run.crit), tuple(run.rows)
        )

    def path(
        self,
        problems: Iterable[Dual],
        *,
        tol: float,
        callback: Callback | None = None,
    ) -> list[Result]:
        """Solve problems that differ in lam, largest first, each from the last.

        The dual variables of one lam are feasible for the next, so that nothing has
        to be scaled by the caller.

        Parameters
        ----------
        problems : iterable of Dual
            One for each lam, in decreasing order of lam.
        tol : float
            Largest violation of the stationarity condition that is accepted.
        callback : callable, optional
            Called with each row of history; a true return stops.

        Returns
        -------
        list of Result
            One for each lam.
        """
        results: list[Result] = []
        for problem in problems:
            w0 = results[-1].w if results else None
            results.append(self.solve(problem, w0, tol=tol, callback=callback))
        return results


class _Run:
    """The mutable side of one solve."""

    def __init__(
        self, settings: DualNewton, problem: Dual, callback: Callback | None
    ) -> None:
        n = problem.n_problems
        self.settings, self.callback = settings, callback
        self.stopped = False
        self.status = [Status.MAX_ITER] * n
        self.n_iter = [0] * n
        self.crit = [np.inf] * n
        self.rows: list[Row] = []
        self.products = 0

    def approach(self, problem: Dual, point: Any) -> Any:
        """Return a point near the solution, walking lam down from where that is easy.

        At the start the scores are those of the class frequencies, proportional to
        1 / lam; taken at once, a tiny lam would mean a start millions away.
        """
        size = np.abs(point.F).max(axis=(0, 2))
        factor = np.maximum(1.0, size / EASY)
        while factor.max() > 1.0 and not self.stopped and np.isfinite(factor).all():
            stage = problem.relaxed(factor)
            w = self.go(stage, stage.point(point.Z, point.F / factor[:, None]), LOOSE)
            point = problem.point(w)
            self.products += 1
            factor = np.maximum(1.0, factor / STRIDE)
        return point

    def go(self, problem: Dual, point: Any, tol: float) -> Array:
        """Run all problems of a block until each is done; return their variables."""
        active, block = np.arange(problem.n_problems), problem
        w = np.array(point.Z, dtype=float)
        flat = np.zeros(len(active), dtype=int)
        best = np.full(len(active), np.inf)
        self.status = [Status.MAX_ITER] * len(active)
        while True:
            # 1. Certificate
            residual = point.residual
            w[:, active] = point.Z
            self._record(active, point)
            finite = np.isfinite(residual) & np.isfinite(point.value)
            spent = np.array([self.n_iter[index] for index in active])
            done = (residual < tol) | ~finite | (flat >= FLAT)
            done |= spent >= self.settings.max_iter
            for j, index in enumerate(active):
                self.crit[index] = float(residual[j])
                if not finite[j]:
                    self.status[index] = Status.NONFINITE
                elif residual[j] < tol:
                    self.status[index] = Status.CONVERGED
                elif flat[j] >= FLAT:
                    self.status[index] = Status.STALLED
            if self.stopped or done.all():
                return w
            if done.any():
                keep = np.flatnonzero(~done)
                active, block = active[keep], block.take(keep)
                flat, best = flat[keep], best[keep]
                point = block.point(point.Z[:, keep], point.F[:, keep])
                residual = point.residual

            # 2. Direction
            D, KD = self._direction(block.model(point), residual, tol)

            # 3. and 4. Walls and step length
            point, gained = self._step(block, point, D, KD)
            gained |= point.residual < 0.5 * best
            best = np.minimum(best, point.residual)
            flat = np.where(gained, 0, flat + 1)
            for index in active:
                self.n_iter[index] += 1

    def _record(self, active: Array, point: Any) -> None:
        for j, index in enumerate(active):
            row: Row = {
                "iter": self.n_iter[index],
                "problem": int(index),
                "lam": float(point.lam[j]),
                "value": float(point.value[j]),
                "residual": float(point.residual[j]),
                "products": self.products,
            }
            self.rows.append(row)
            if self.callback is not None:
                self.stopped |= bool(self.callback(row))

    def _direction(
        self, model: Model, residual: Array, tol: float
    ) -> tuple[Array, Array]:
        first, power = FORCING
        enough = LAST * tol / residual  # the step that ends need not be better
        rtol = np.minimum(first, np.maximum(residual**power, enough))
        shift = np.zeros(len(residual))
        D, KD, negative = self._cg(model, shift, rtol)
        bent = np.flatnonzero(negative > 0)
        while bent.size:
            # Proximal term shift/2 |A - A_k|^2 added to the dual: convex if the shift
            # exceeds |mu_n|, and the step still lowers the dual itself. Following the
            # direction of negative curvature to the wall instead was tried and took
            # several times as many steps, for it pins one sample at a time.
            grown = np.maximum(2 * shift[bent], SHIFT_GROWTH * negative[bent])
            shift[bent] = grown
            rtol = np.full(bent.size, SHIFTED_FORCING)
            part = self._cg(model.take(bent), grown, rtol)
            D[:, bent], KD[:, bent], negative[bent] = part
            bent = bent[part[2] > 0]
        return D, KD

    def _cg(
        self, model: Model, shift: Array, rtol: Array
    ) -> tuple[Array, Array, Array]:
        """Solve (I + T'(K + shift)T) X = rhs for each problem; return TX and KTX.

        The third array holds, where negative curvature stopped a problem, the modulus
        of the Rayleigh quotient of K that was met, and zero elsewhere.
        """
        R = model.rhs.copy()
        D, KD = np.zeros_like(R), np.zeros_like(R)
        negative = np.zeros(R.shape[1])
        active = np.arange(R.shape[1])
        P = R.copy()
        rr = _dot(R, R)
        goal = rtol**2 * rr
        keep = np.flatnonzero(rr > 0)
        for _ in range(self.settings.cg_iter):
            if keep.size < active.size:
                active, model = active[keep], model.take(keep)
                R, P, rr, goal = R[:, keep], P[:, keep], rr[keep], goal[keep]
                shift = shift[keep]
            if active.size == 0:
                break
            TP, KTP = model.apply(P)
            self.products += 1
            H = model.pull(TP, KTP, P, shift)
            curvature = _dot(P, H)
            bent = curvature <= NEGATIVE * _dot(P, P)
            with np.errstate(divide="ignore", invalid="ignore"):
                met = -_dot(TP, KTP) / _dot(TP, TP)
            negative[active[bent]] = np.maximum(met[bent], np.finfo(float).tiny)
            alpha = np.where(bent, 0.0, rr / np.where(bent, 1.0, curvature))
            D[:, active] += alpha[:, None] * TP
            KD[:, active] += alpha[:, None] * KTP
            R = R - alpha[:, None] * H
            new = _dot(R, R)
            keep = np.flatnonzero(~bent & (new > goal))
            P = R + (new / rr)[:, None] * P
            rr = new
        return D, KD, negative

    def _step(self, block: Dual, point: Any, D: Array, KD: Array) -> tuple[Any, Array]:
        room = block.room(point, D)
        crowded = np.flatnonzero(room.min(axis=0) < CROWDED)
        scaled, K_scaled = D, KD
        if crowded.size:
            scale = np.minimum(1.0, SAMPLE_WALL * room)
            scaled, K_scaled = D.copy(), KD.copy()
            part = block.take(crowded)
            inner = part.point(point.Z[:, crowded], point.F[:, crowded])
            scaled[:, crowded] = part.restored(inner, D[:, crowded], scale[:, crowded])
            K_scaled[:, crowded] = part.product(scaled[:, crowded])
            self.products += 1
        t, accepted, gained = self._search(block, point, scaled, K_scaled)
        if crowded.size and not accepted.all():
            # Scaling samples one by one may spoil the descent: then the whole step is
            # shortened, which cannot.
            scaled = np.where(accepted[:, None], scaled, D)
            K_scaled = np.where(accepted[:, None], K_scaled, KD)
            t, accepted, gained = self._search(block, point, scaled, K_scaled)
        return block.advance(point, scaled, K_scaled, t), gained

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


def _dot(U: Array, V: Array) -> Array:
    """Inner products of each problem's columns, shape (P,)."""
    return np.asarray(np.einsum("npc,npc->p", U, V))
