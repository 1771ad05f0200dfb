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
        Watches the solves.

    Returns
    -------
    Held
        Scores, fold by fold.
    """
    settings = (solver, multinomial, fit_intercept, tol, callback)
    if norm == "krein":
        F, _, converged = _solve(K, columns, weights, lams, *settings)
        scores = [F[held, f].swapaxes(0, 1) for f, (_, held) in enumerate(folds)]
        return Held(scores, converged)
    scores, endings = [], []
    for f, (train, held) in enumerate(folds):
        modulus, back = absolute(K[np.ix_(train, train)], weights[train, f])
        w = weights[train, f][:, None]
        _, (A, c), converged = _solve(modulus, columns[train], w, lams, *settings)
        flat = back(A.reshape(len(train), -1))
        F = (K[np.ix_(held, train)] @ flat).reshape(len(held), *A.shape[2:]) + c[0]
        scores.append(F.swapaxes(0, 1))
        endings.append(converged[0])
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
    """Solve for each column of weights and each lam, from the largest lam down.

    Returns scores of shape (n, n_folds, L, k), coefficients and intercepts, and
    whether all columns converged, shape (n_folds, L).
    """
    n, k = columns.shape
    shape = (weights.shape[1], len(lams))
    each = 1 if multinomial else k  # problems a fold and lam
    lam = np.tile(np.repeat(lams, each), shape[0])
    w = np.repeat(weights, len(lams) * each, axis=1)
    P = len(lam)
    if multinomial:
        Y = np.broadcast_to(columns[:, None], (n, P, k))
    else:
        Y = np.tile(columns, P // k)[..., None]
    after = [j - each if j % (len(lams) * each) >= each else -1 for j in range(P)]
    block = KreinDual(Dense(K), Y, w, lam, loss_for(multinomial), fit_intercept)
    result = solver.solve(block, tol=tol, after=after, callback=callback)
    point = block.point(result.w, result.F)
    ended = np.array([s is Status.CONVERGED for s in result.status])
    c = point.c.reshape(*shape, k)
    F, A = point.F.reshape(n, *shape, k), point.A.reshape(n, *shape, k)
    converged = np.asarray(ended.reshape(*shape, each).all(axis=2))
    return F + c, (A, c), converged
