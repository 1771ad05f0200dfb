"""Cross-validation of a grid of lam and norms with one Gram matrix.

With the norm a'Ka all folds and all lam are problems of one block: a fold is a column
whose held-out samples have weight zero, and their scores fall out of the products with
K that the solver makes anyway. The norm a'|K|a needs |K| of each fold's own training
samples (that of all samples would let the held-out ones in), so there each fold is a
block of its own.

Letters: ``K`` (n, n); ``columns`` (n, k) targets; ``weights`` (n,) of the samples;
L values of lam; scores (L, n_held, k).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.estimators.fitting import absolute, loss_for
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.solvers.base import Callback, Status
from kreinlearn.solvers.newton import DualNewton

Fold = tuple[Array, Array]
"""Indices of training and of held-out samples."""


@dataclass(frozen=True)
class Held:
    """Scores of held-out samples: one array (L, n_held, k) a fold.

    ``converged`` has shape (n_folds, L).
    """

    scores: list[Array]
    converged: Array


def held_out(
    norm: str,
    K: Array,
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

    Parameters
    ----------
    norm : {"krein", "hilbert"}
        The penalty.
    K : ndarray of shape (n, n)
        Similarities among all samples.
    columns : ndarray of shape (n, k)
        Targets, 0 or 1.
    weights : ndarray of shape (n, n_folds)
        Weights of the samples in each fold, zero for the held-out ones.
    lams : ndarray of shape (L,)
        Regularizations.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples.
    solver : DualNewton
        The exact solver.
    multinomial, fit_intercept : bool
        The model.
    tol : float
        Largest accepted residual.
    callback : callable, optional
        Watches the solves.

    Returns
    -------
    Held
        Scores, fold by fold.
    """
    settings = (solver, multinomial, fit_intercept, tol, callback)
    if norm == "krein":
        n_lams, n_folds = len(lams), len(folds)
        # problem j is fold j // L with lam j % L
        each = np.repeat(np.arange(n_folds), n_lams)
        F, _, converged = _solve(
            K, columns, weights[:, each], np.tile(lams, n_folds), *settings
        )
        scores = [
            F[held][:, f * n_lams : (f + 1) * n_lams].swapaxes(0, 1)
            for f, (_, held) in enumerate(folds)
        ]
        return Held(scores, converged.reshape(n_folds, n_lams))
    scores, endings = [], []
    for f, (train, held) in enumerate(folds):
        modulus, back = absolute(K[np.ix_(train, train)], weights[train, f])
        w = np.repeat(weights[train, f][:, None], len(lams), axis=1)
        _, (A, c), converged = _solve(modulus, columns[train], w, lams, *settings)
        flat = back(A.reshape(len(train), -1))
        F = (K[np.ix_(held, train)] @ flat).reshape(len(held), *A.shape[1:]) + c
        scores.append(F.swapaxes(0, 1))
        endings.append(converged)
    return Held(scores, np.array(endings))


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


def _solve(
    K: Array,
    columns: Array,
    weights: Array,
    lams: Array,
    solver: DualNewton,
    multinomial: bool,
    fit_intercept: bool,
    tol: float,
    callback: Callback | None,
) -> tuple[Array, tuple[Array, Array], Array]:
    """Solve one problem for each column of weights.

    Returns scores of shape (n, P, k), coefficients and intercepts, and whether each
    problem converged, shape (P,).
    """
    n, k = columns.shape
    P = weights.shape[1]
    if multinomial:
        Y, w, lam = np.repeat(columns[:, None], P, axis=1), weights, lams
    else:  # each of the k columns is a problem of its own
        Y = np.tile(columns, P)[..., None]
        w, lam = np.repeat(weights, k, axis=1), np.repeat(lams, k)
    block = KreinDual(Dense(K), Y, w, lam, loss_for(multinomial), fit_intercept)
    result = solver.solve(block, tol=tol, callback=callback)
    point = block.point(result.w)
    ended: Array = np.array([s is Status.CONVERGED for s in result.status])
    converged = np.asarray(ended if multinomial else ended.reshape(P, k).all(axis=1))
    c = point.c.reshape(P, k)
    return point.F.reshape(n, P, k) + c, (point.A.reshape(n, P, k), c), converged
