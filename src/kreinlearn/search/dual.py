"""Folds and values of lam as one block of dual problems that share products with K.

For the norm "krein", whose problems are not convex, and for matrices that are not
stored. A fold is a column whose held-out samples have weight zero, and their scores
fall out of the products with K that the solver makes anyway. For the norm "euclidean",
the rows of K have the fold's training samples as features: two products with K, with a
mask between them.

Letters: ``K`` (n, n); ``columns`` (n, k) targets; ``weights`` (n, n_folds) of the
samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.losses import loss_for
from kreinlearn.operators import Blocked, Dense, RowProducts
from kreinlearn.problem import KreinDual
from kreinlearn.search.grid import DUAL_TOL, Fold
from kreinlearn.solvers.base import Status
from kreinlearn.solvers.newton import DualNewton


@dataclass(frozen=True)
class _MaskedRows:
    """K diag(v) K' of each fold, with v (n, n_folds) zero for what it holds out."""

    K: Dense | Blocked
    v: Array
    fold: Array

    def take(self, which: Sequence[int] | Array) -> Self:
        return replace(self, fold=self.fold[which])

    def product(self, B: Array, *, native: bool) -> Array:
        inner = self.K.rmatmat(B.reshape(len(B), -1)).reshape(B.shape)
        inner *= self.v[:, self.fold, None]
        return self.K.matmat(inner.reshape(len(inner), -1)).reshape(B.shape)


def dual_scores(
    norm: str,
    K: Dense | Blocked,
    weights: Array,
    folds: Sequence[Fold],
    scale: float,
    columns: Array,
    lams: Array,
    *,
    multinomial: bool,
    fit_intercept: bool,
    max_iter: int,
) -> tuple[list[Array], Array]:
    """Return the scores of held-out samples for every fold and lam.

    Parameters
    ----------
    norm : {"krein", "euclidean"}
        The penalty.
    K : Dense or Blocked
        Similarities.
    weights : ndarray of shape (n, n_folds)
        Weights of the samples in each fold, zero for the held-out ones.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples.
    scale : float
        The scale of K, see `kreinlearn.spectrum.norms.compute_scale`.
    columns : ndarray of shape (n, k)
        Targets, 0 or 1.
    lams : ndarray of shape (L,)
        Regularizations, decreasing; each starts from the next larger one.
    multinomial, fit_intercept : bool
        The model.
    max_iter : int
        Most steps of one problem.

    Returns
    -------
    scores : list of ndarray of shape (L, n_held, k)
        Scores, fold by fold.
    converged : ndarray of shape (n_folds, L)
        Whether each fit has reached its tolerance.
    """
    n, k = columns.shape
    shape = (len(folds), len(lams))
    each = 1 if multinomial else k  # problems per fold and lam
    fold, at, column = np.indices((*shape, each)).reshape(3, -1)
    like: Dense | Blocked | RowProducts = K
    own = None
    if norm == "euclidean":
        like = RowProducts(K, weights.mean(axis=1) / scale)
        own = _MaskedRows(K, weights / scale, fold)
    block = KreinDual(
        like,
        np.repeat(columns[:, None], len(at), axis=1)
        if multinomial
        else columns[:, column, None],
        (weights / weights.sum(axis=0))[:, fold],
        lams[at],
        loss_for(multinomial),
        fit_intercept,
        own,
    )
    # The same problem with the next larger lam.
    after = np.where(at > 0, np.arange(len(at)) - each, -1)
    solver = DualNewton(max_iter)
    result = solver.solve(block, tol=DUAL_TOL, after=after.tolist())
    point = block.point(result.w, result.F)
    ended = np.array([s is Status.CONVERGED for s in result.status])
    F, c = point.F.reshape(n, *shape, k), point.c.reshape(*shape, k)
    scores = [(F[held, f] + c[f]).swapaxes(0, 1) for f, (_, held) in enumerate(folds)]
    return scores, np.asarray(ended.reshape(*shape, each).all(axis=2))
