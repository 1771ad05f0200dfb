"""Cross-validation of a grid of lam with one matrix for all folds.

Folds, values of lam and classes are problems of one block: a fold is a column whose
held-out samples have weight zero, and their scores fall out of the products with the
matrix that the solver makes anyway. The matrix is that of all samples, for every norm
(`kreinlearn.spectrum.norms`): a held-out sample takes part in |K| and in K K', but its
label does not.

Measured on eight similarities (nested cross-validation, five outer folds): mean
log-loss 0.1064 this way, 0.1067 with |K| and K K' of each fold's own training samples,
which needs a decomposition per fold.

Letters: ``M`` (n, n) the matrix; ``columns`` (n, k) targets; ``weights`` (n, n_folds)
of the samples; L values of lam; scores (L, n_held, k).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.losses import loss_for
from kreinlearn.operators import Symmetric
from kreinlearn.problem import KreinDual
from kreinlearn.solvers.base import Callback, Status
from kreinlearn.solvers.newton import DualNewton

UNITS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001)
"""What is tried by default: not lam itself, but u = n lam / s for n samples and a
matrix of scale s. For s = 1 that is what other tools call 1 / C."""
MORE_UNITS = (1e-4, 1e-5, 1e-6, 1e-7)
"""What is tried further, one after another, while the smallest value is the best."""
SEARCH_TOL = 1e-4
"""Residual of the fits in cross-validation: no score changes below it."""

Fold = tuple[Array, Array]
"""Indices of training and of held-out samples."""


@dataclass(frozen=True)
class Held:
    """Scores of held-out samples: one array (L, n_held, k) per fold.

    ``converged`` has shape (n_folds, L).
    """

    scores: list[Array]
    converged: Array

    def extended(self, other: "Held") -> "Held":
        """Return both, the values of lam of the other after ours."""
        pairs = zip(self.scores, other.scores, strict=True)
        return Held(
            [np.concatenate(pair) for pair in pairs],
            np.concatenate([self.converged, other.converged], axis=1),
        )


def held_out(
    M: Symmetric,
    columns: Array,
    weights: Array,
    lams: Array,
    folds: Sequence[Fold],
    *,
    solver: DualNewton,
    multinomial: bool,
    fit_intercept: bool,
    tol: float,
    callback: Callback | None = None,
) -> Held:
    """Return the scores of held-out samples for every fold and lam.

    All of them are solved as one block, so that they share products with M. Each lam
    starts from the next larger one.

    Parameters
    ----------
    M : Symmetric
        The matrix of the dual problem among all samples.
    columns : ndarray of shape (n, k)
        Targets, 0 or 1.
    weights : ndarray of shape (n, n_folds)
        Weights of the samples in each fold, zero for the held-out ones.
    lams : ndarray of shape (L,)
        Regularizations, decreasing.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples.
    solver : DualNewton
        The exact solver.
    multinomial, fit_intercept : bool
        The model.
    tol : float
        Largest accepted residual.
    callback : callable, optional
        Watches the solve.

    Returns
    -------
    Held
        Scores, fold by fold.
    """
    n, k = columns.shape
    shape = (len(folds), len(lams))
    each = 1 if multinomial else k  # problems per fold and lam
    fold, at, column = np.indices((*shape, each)).reshape(3, -1)
    block = KreinDual(
        M,
        np.repeat(columns[:, None], len(at), axis=1)
        if multinomial
        else columns[:, column, None],
        weights[:, fold],
        lams[at],
        loss_for(multinomial),
        fit_intercept,
    )
    # The same problem with the next larger lam.
    after = np.where(at > 0, np.arange(len(at)) - each, -1)
    result = solver.solve(block, tol=tol, after=after.tolist(), callback=callback)
    point = block.point(result.w, result.F)
    ended = np.array([s is Status.CONVERGED for s in result.status])
    F, c = point.F.reshape(n, *shape, k), point.c.reshape(*shape, k)
    scores = [F[held, f] + c[f] for f, (_, held) in enumerate(folds)]
    return Held(
        [part.swapaxes(0, 1) for part in scores],
        np.asarray(ended.reshape(*shape, each).all(axis=2)),
    )


def where_held_out(
    chosen: Sequence[Held], lams: Sequence[int], folds: Sequence[Fold], n: int
) -> tuple[Array, Array]:
    """Return the scores of samples while they were held out.

    Parameters
    ----------
    chosen : sequence of Held
        One for each of G settings.
    lams : sequence of int
        Position of the lam of each.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples.
    n : int
        Number of samples.

    Returns
    -------
    seen : ndarray of shape (n_seen,)
        Samples that were held out at least once.
    scores : ndarray of shape (G, n_seen, k)
        Their scores, averaged if that was more than once.
    """
    total = np.zeros((len(chosen), n, chosen[0].scores[0].shape[2]))
    times = np.zeros(n)
    for f, (_, rows) in enumerate(folds):
        times[rows] += 1.0
        for g, held in enumerate(chosen):
            total[g, rows] += held.scores[f][lams[g]]
    seen = np.flatnonzero(times)
    return seen, total[:, seen] / times[seen, None]
