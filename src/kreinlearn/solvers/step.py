"""One Newton step of a block of dual problems: direction, bounds, step length.

The direction is found by preconditioned conjugate gradients, many problems at once.

Letters: n samples, P problems in the block, C columns per problem; ``D`` (n, P, C) a
step in the coefficients, ``KD`` its product with K, ``t`` (P,) step lengths.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.solvers.base import Dual, Indices, Model, PointT

CG_FORCING = (0.25, 0.75)
"""CG stops at min(first, residual ** second) of its first residual."""
FINAL_STEP_FACTOR = 0.1
"""Accuracy of the last step, as a fraction of the one required."""
SHIFTED_FORCING = 1e-2
"""The same where K was shifted: there the steps are few and long."""
SHIFT_GROWTH = 1.5
"""A shift exceeds the negative curvature that was met by this factor."""
MAX_SHIFTS = 20
"""Largest number of shifts tried for one step; each is larger by a growing factor."""
STEP_BOUND_FRACTION = 0.995
"""Fraction of the distance to the bound that a whole step may go."""
SAMPLE_BOUND_FRACTION = 0.9
"""Fraction of that distance for one sample, if others go further."""
BOUND_FRACTION = 0.5
"""Below this fraction of a full step, samples are scaled one by one (one product)."""
ARMIJO_FRACTION = 1e-4
MAX_HALVINGS = 40
MIN_STEP = 0.1
"""Step length below which the next step is made with K shifted."""
CURVATURE_TOL = 1e-10
"""Curvature below this fraction of the squared length counts as negative."""


class State(NamedTuple):
    """State of each problem of a block between steps, arrays of shape (P,).

    Attributes
    ----------
    shift : ndarray
        Added to the diagonal of K in the next step.
    curvature : ndarray
        Modulus of the most negative curvature met; zero for none.
    best : ndarray
        Smallest residual so far.
    flat : ndarray of int
        Steps in a row without gain, in objective or residual.
    """

    shift: Array
    curvature: Array
    best: Array
    flat: Array

    @classmethod
    def new(cls, curvature: Array) -> "State":
        """Return the state of problems that have made no step yet."""
        n = len(curvature)
        return cls(np.zeros(n), curvature, np.full(n, np.inf), np.zeros(n, dtype=int))

    def take(self, which: Indices) -> "State":
        """Return the state of the chosen problems."""
        return State(*(array[which] for array in self))

    def concat(self, other: "State") -> "State":
        """Return the state of these problems and of others, one after another."""
        return State(*map(np.concatenate, zip(self, other, strict=True)))


@dataclass
class NewtonStep:
    """Makes steps, to a final residual of ``tol``, and counts what they cost.

    ``products`` are those with K; ``columns`` counts the columns multiplied by CG.
    """

    tol: float
    cg_iter: int
    products: int = 0
    columns: int = 0

    def step(
        self, block: Dual[PointT], point: PointT, state: State
    ) -> tuple[PointT, State]:
        """Return the next iterate of each problem, and what to remember."""
        model = block.model(point, state.shift)
        if state.curvature.any():
            model = model.without_preconditioner(state.curvature > 0)
        D, KD, met = self._direction(model, point.residual, state.shift)
        curvature = np.maximum(state.curvature, met)
        point, t, gained = self._move(block, point, D, KD)
        # If the line search rejects most of the step, the model was poor: increase the
        # shift.
        size = np.sqrt(dot(KD, KD) / np.maximum(dot(D, D), 1e-300))
        size = np.where(curvature > 0, curvature, size)
        grown = np.maximum(2 * state.shift, SHIFT_GROWTH * size)
        less = np.where(state.shift > 1e-3 * size, state.shift / 4, 0.0)
        gained |= point.residual < 0.5 * state.best
        return point, State(
            np.where(t < MIN_STEP, grown, less),
            curvature,
            np.minimum(state.best, point.residual),
            np.where(gained, 0, state.flat + 1),
        )

    def _direction(
        self, model: Model, residual: Array, shift: Array
    ) -> tuple[Array, Array, Array]:
        """Return the step, its product, and the negative curvature met, if any."""
        first, power = CG_FORCING
        enough = (
            FINAL_STEP_FACTOR * self.tol / residual
        )  # the step that ends need not be better
        rtol = np.minimum(first, np.maximum(residual**power, enough))
        found = self._cg(model, rtol)
        D, KD, negative, shift = found.D, found.KD, found.negative, shift.copy()
        indefinite = np.flatnonzero(negative > 0)
        met = negative.copy()
        growth = 2.0
        for _ in range(MAX_SHIFTS):
            if not indefinite.size:
                break
            # Proximal term shift/2 |A - A_k|^2 added to the dual: convex if the shift
            # exceeds |mu_n|, and the step still lowers the dual itself. Following the
            # direction of negative curvature to the bound instead was tried and took
            # several times as many steps, for it pins one sample at a time.
            shift[indefinite] = np.maximum(
                growth * shift[indefinite], SHIFT_GROWTH * negative[indefinite]
            )
            growth *= 2  # rounding may show far less negative curvature than there is
            rtol = np.full(indefinite.size, SHIFTED_FORCING)
            part = self._cg(model.take(indefinite).with_shift(shift[indefinite]), rtol)
            D[:, indefinite], KD[:, indefinite] = part.D, part.KD
            negative[indefinite] = part.negative
            indefinite = indefinite[part.negative > 0]
        return D, KD, met

    def _cg(self, model: Model, rtol: Array) -> "Directions":
        found = conjugate_gradients(model, rtol, self.cg_iter)
        self.products += found.products
        self.columns += found.columns
        return found

    def _move(
        self, block: Dual[PointT], point: PointT, D: Array, KD: Array
    ) -> tuple[PointT, Array, Array]:
        """Return the next iterates, the step lengths, and whether they gain."""
        largest = block.largest_step(point, D)
        crowded = np.flatnonzero(largest.min(axis=0) < BOUND_FRACTION)
        scaled, K_scaled = D, KD
        if crowded.size:
            scale = np.minimum(1.0, SAMPLE_BOUND_FRACTION * largest)
            scaled, K_scaled = D.copy(), KD.copy()
            part, inner = block.take(crowded), point.take(crowded)
            scaled[:, crowded] = part.project_step(
                inner, D[:, crowded], scale[:, crowded]
            )
            K_scaled[:, crowded] = part.product(scaled[:, crowded])
            self.products += 1
        t, accepted, gained = line_search(block, point, scaled, K_scaled)
        good = accepted & (t >= MIN_STEP)
        if crowded.size and not good.all():
            # Scaling samples one by one may spoil the descent, or stop a sample that
            # is at its bound: then the whole step is shortened.
            scaled = np.where(good[:, None], scaled, D)
            K_scaled = np.where(good[:, None], K_scaled, KD)
            t, accepted, gained = line_search(block, point, scaled, K_scaled)
        return block.advance(point, scaled, K_scaled, t), t, gained


def line_search(
    block: Dual[PointT], point: PointT, D: Array, KD: Array
) -> tuple[Array, Array, Array]:
    """Return step lengths (P,), whether each is accepted, and whether it gains."""
    slope = block.slope(point, D)
    downhill = slope < 0
    t = np.minimum(1.0, STEP_BOUND_FRACTION * block.largest_step(point, D).min(axis=0))
    noise = 1e-14 * np.abs(point.value)
    for _ in range(MAX_HALVINGS):
        change = block.change(point, D, KD, t)
        fine = downhill & (change <= ARMIJO_FRACTION * t * slope + noise)
        if np.all(fine | ~downhill):
            break
        t = np.where(fine, t, t / 2)
    t = np.where(fine, t, 0.0)
    return t, fine, fine & (change < -noise)


@dataclass
class Directions:
    """Where the solves of a block have ended.

    Attributes
    ----------
    D, KD : ndarray of shape (n, P, C)
        ``T X`` for the solution X, and its product with K.
    negative : ndarray of shape (P,)
        Where negative curvature stopped a problem, the modulus of the Rayleigh
        quotient of K that was met; zero elsewhere.
    products, columns : int
        Products with K, and columns in all of them.
    """

    D: Array
    KD: Array
    negative: Array
    products: int = 0
    columns: int = 0


def conjugate_gradients(model: Model, rtol: Array, max_iter: int) -> Directions:
    """Solve (I + T'KT) X = rhs for each problem.

    Parameters
    ----------
    model : Model
        The models of a block.
    rtol : ndarray of shape (P,)
        A problem is done when its residual is this fraction of the first.
    max_iter : int
        Most products with K.

    Returns
    -------
    Directions
        The solutions, perhaps not to full accuracy.
    """
    R = model.rhs
    found = Directions(np.zeros(R.shape), np.zeros(R.shape), np.zeros(R.shape[1]))
    active: Array = np.arange(R.shape[1])
    P = model.precondition(R)
    rr, rz = dot(R, R), dot(R, P)
    goal = rtol**2 * rr
    keep = np.flatnonzero(rr > 0)
    while keep.size and found.products < max_iter:
        if keep.size < active.size:
            active, model = active[keep], model.take(keep)
            R, P, rz, goal = R[:, keep], P[:, keep], rz[keep], goal[keep]
        TP, KTP = model.apply(P)
        found.products += 1
        found.columns += TP[0].size
        H = model.hessian_vector(TP, KTP, P)
        curvature = dot(P, H)
        indefinite = curvature <= CURVATURE_TOL * dot(P, P)
        alpha = rz / np.where(indefinite, 1.0, curvature)
        if indefinite.any():
            alpha[indefinite] = 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                met = -dot(TP[:, indefinite], KTP[:, indefinite]) / dot(
                    TP[:, indefinite], TP[:, indefinite]
                )
            found.negative[active[indefinite]] = np.maximum(met, np.finfo(float).tiny)
        if active.size == len(found.negative):
            found.D += alpha[:, None] * TP
            found.KD += alpha[:, None] * KTP
        else:
            found.D[:, active] += alpha[:, None] * TP
            found.KD[:, active] += alpha[:, None] * KTP
        R = R - alpha[:, None] * H
        keep = np.flatnonzero(~indefinite & (dot(R, R) > goal))
        if keep.size:
            Z = model.precondition(R)
            new = dot(R, Z)
            P = Z + (new / rz)[:, None] * P
            rz = new
    return found


def dot(U: Array, V: Array) -> Array:
    """Return the inner products of each problem's columns, shape (P,)."""
    return np.asarray(np.einsum("npc,npc->p", U, V))
