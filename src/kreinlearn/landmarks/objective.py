"""The reduced problems: values, gradients and Newton matrices.

Letters: P problems with C columns of scores each; ``u`` (r + 1, P, C) coordinates of
the penalty, the last of them the intercepts; ``g`` gradients of the same shape.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigvalsh, lu_factor, lu_solve

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.landmarks.engine import Engine, Precision
from kreinlearn.landmarks.passes import Point, class_pairs
from kreinlearn.landmarks.penalty import Penalty
from kreinlearn.operators import gemm

MAX_DIRECT_SIZE = 4000
"""Largest multinomial Newton matrix to factorize; above, only its diagonal blocks are,
one for each class."""
INTERCEPT_RIDGE = 1e-10
"""Relative ridge for intercepts: a common shift in all classes has no curvature."""
Solve = Callable[[Array], Array]
"""Solves a linear system with the Newton matrix, (r + 1, C) to the same shape."""


@dataclass(frozen=True)
class Evaluation:
    """Values (p,), gradients (r + 1, p, C) and residuals (p,) of some problems."""

    value: Array
    g: Array
    residual: Array

    def take(self, which: Array) -> "Evaluation":
        """Return some of the problems."""
        return Evaluation(self.value[which], self.g[:, which], self.residual[which])

    def put(self, where: Array, other: "Evaluation") -> "Evaluation":
        """Return a copy with some of the problems replaced."""
        value, g, residual = self.value.copy(), self.g.copy(), self.residual.copy()
        value[where], g[:, where] = other.value, other.g
        residual[where] = other.residual
        return Evaluation(value, g, residual)


@dataclass
class Objective:
    """Mean loss and penalty of P problems that share each pass of an engine.

    Parameters
    ----------
    engine : Engine
        Passes over the rows.
    penalty : Penalty
        The norm.
    lam : ndarray of shape (P,)
        Regularizations.
    positive : ndarray of shape (P,)
        Positive class of each problem, unless multinomial.
    fold : ndarray of shape (P,)
        Held-out fold of each problem; -1 for none.
    n_scores : int
        Columns of scores C: the number of classes if multinomial, else 1.
    factors : ndarray of shape (n_classes,)
        Class weights.
    fit_intercept : bool
        Whether there are intercepts.
    """

    engine: Engine
    penalty: Penalty
    lam: Array
    positive: Array
    fold: Array
    n_scores: int
    factors: Array
    fit_intercept: bool

    def __post_init__(self) -> None:
        self._totals: dict[float, Array] = {}
        self.shape = len(self.penalty.signs) + 1, len(self.lam), self.n_scores
        self.signs = np.append(self.penalty.signs, 0.0)[:, None, None]
        self.sizes = np.append(self.penalty.sizes, 1.0)[:, None, None]

    def groups(self, which: Array) -> list[Array]:
        """Return positions in ``which`` of problems that differ in their fold only."""
        keys = list(zip(self.lam[which], self.positive[which], strict=True))
        unique = dict.fromkeys(keys)
        return [np.array([i for i, k in enumerate(keys) if k == key]) for key in unique]

    def point(self, u: Array, which: Array) -> Point:
        """Return the coefficients of some problems."""
        B = self.penalty.coefficients(u)
        return Point(B, self.positive[which], self.fold[which])

    def totals(self, fraction: float) -> Array:
        """Return the total weight of the training rows of each problem."""
        if fraction not in self._totals:
            by_fold = self.factors @ self.engine.weights(fraction)
            out = np.where(self.fold < 0, 0.0, by_fold[self.fold])
            self._totals[fraction] = np.asarray(by_fold.sum() - out)
        return self._totals[fraction]

    def evaluate(
        self, u: Array, which: Array, lam: Array, fraction: float, precision: Precision
    ) -> Evaluation:
        """Compute values and gradients of some problems.

        Parameters
        ----------
        u : ndarray of shape (r + 1, p, C)
            Coordinates of these problems.
        which : ndarray of shape (p,)
            Their positions.
        lam : ndarray of shape (p,)
            Regularizations, which may be larger than those of the problems.
        fraction : float
            Fraction of the rows.
        precision : {"double", "cached", "single"}
            Of similarities and of products with them: see `Engine.sums`.

        Returns
        -------
        Evaluation
            Their values, gradients and residuals.
        """
        sums = self.engine.sums(self.point(u, which), fraction, precision)
        total = self.totals(fraction)[which]
        data = sums.gradient / total[:, None]
        penalty = 0.5 * lam * np.einsum("ipc,ipc->p", self.signs * u, u)
        full = data + lam[:, None] * self.penalty.gradient(u)
        g = self.penalty.project(data) + lam[:, None] * self.signs * u
        if not self.fit_intercept:
            full[-1], g[-1] = 0.0, 0.0
        residual = (np.abs(full) / self.sizes).max(axis=(0, 2))
        return Evaluation(sums.value / total + penalty, g, residual)

    def curvatures(self, u: Array, which: Array, fraction: float) -> list[Array]:
        """Return the Hessians of the mean loss in coordinates, one for each group.

        Groups are those of `groups`. The shape is (n_blocks, r + 1, r + 1),
        with the blocks of `sum_hessians`.
        """
        groups = self.groups(which)
        sums = self.engine.hessians(self.point(u, which), groups, fraction)
        total = self.totals(fraction)[which]
        found = []
        for group, blocks in zip(groups, sums, strict=True):
            mean = total[group].mean()
            found.append(np.stack([self._project(block) / mean for block in blocks]))
        return found

    def _project(self, H: Array) -> Array:
        """Return T' H T, where H has a border for the intercept."""
        T = self.penalty.T
        r = T.shape[1]
        out = np.empty((r + 1, r + 1))
        out[:r, :r] = gemm(T.T, gemm(np.ascontiguousarray(H[:-1, :-1]), T))
        out[:r, r] = out[r, :r] = T.T @ H[:-1, -1]
        out[r, r] = H[-1, -1]
        if not self.fit_intercept:
            out[r] = out[:, r] = 0.0
            out[r, r] = 1.0
        return out

    def solver(self, blocks: Array, lam: float) -> Solve:
        """Factorize the Newton matrix, or its diagonal blocks."""
        C, size = self.n_scores, blocks.shape[-1]
        is_convex = self.penalty.is_convex
        pairs = class_pairs(C)
        diagonal = lam * self.signs[:, 0, 0]
        diagonal[-1] = INTERCEPT_RIDGE * blocks[0, -1, -1] if C > 1 else 0.0
        if C > 1 and is_convex and C * size > MAX_DIRECT_SIZE:
            which = [pairs.index((c, c)) for c in range(C)]
            solvers = [_factor(blocks[b], diagonal, True) for b in which]
            return lambda g: np.stack(
                [solve(g[:, c]) for c, solve in enumerate(solvers)], axis=1
            )
        check_fits(2 * C * size, C * size, np.float64, "The Newton matrix")
        H = np.empty((C, size, C, size))
        for (c, d), block in zip(pairs, blocks, strict=True):
            H[c, :, d] = block
            H[d, :, c] = block.T
        flat = _factor(H.reshape(C * size, -1), np.tile(diagonal, C), is_convex)
        return lambda g: flat(g.T.ravel()).reshape(C, size).T

    def unique_above(self, fraction: float) -> Array:
        """Estimate the lam above which the stationary point is unique, on a subsample.

        There, lam exceeds the curvature of the loss in all negative directions.
        """
        n = np.arange(len(self.lam))
        blocks = self.curvatures(np.zeros(self.shape), n, fraction)
        C = self.n_scores
        # At zero all classes are equally probable; the bound is for two such classes.
        ratio = 1.0 if C == 1 else 0.5 / (1.0 / C * (1.0 - 1.0 / C))
        is_negative = np.append(self.penalty.signs < 0, False)
        found = np.zeros(len(n))
        for group, H in zip(self.groups(n), blocks, strict=True):
            part = H[0][np.ix_(is_negative, is_negative)]
            found[group] = ratio * eigvalsh(part)[-1]
        return found


def _factor(H: Array, diagonal: Array, is_convex: bool) -> Solve:
    """Factorize H plus a diagonal, with a ridge if Cholesky's method fails."""
    H = H.copy()
    H.flat[:: len(H) + 1] += diagonal
    if is_convex:
        scale = np.abs(H.diagonal()).max() * np.finfo(float).eps
        for ridge in (0.0, 1e2 * scale, 1e4 * scale, 1e6 * scale):
            try:
                H.flat[:: len(H) + 1] += ridge
                factor = cho_factor(H, check_finite=False)
            except np.linalg.LinAlgError:
                continue
            return lambda b: np.asarray(cho_solve(factor, b, check_finite=False))
    lu = lu_factor(H, check_finite=False)
    return lambda b: np.asarray(lu_solve(lu, b, check_finite=False))


def subsample_fraction(rows_per_landmark: int, M: int, n_rows: int) -> float:
    """Return the fraction of the rows in a subsample; one instead of a half or more."""
    fraction = rows_per_landmark * M / max(1, n_rows)
    return 1.0 if fraction >= 0.5 else fraction
