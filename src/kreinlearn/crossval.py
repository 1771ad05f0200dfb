"""Cross-validation of a grid of lam and norms with one Gram matrix.

Folds, values of lam, norms and classes are problems of one block: a fold is a column
whose held-out samples have weight zero. With the norm a'Ka their scores fall out of
the products with K that the solver makes anyway. The norm a'|K|a needs |K| of each
fold's own training samples (that of all samples would let the held-out ones in): K
plus a term of low rank, from the negative eigenpairs.

Letters: ``K`` (n, n); ``columns`` (n, k) targets; ``weights`` (n, n_folds) of the
samples; N norms, L values of lam; scores (L, n_held, k).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.losses import loss_for
from kreinlearn.operators import Symmetric, gemm, stored
from kreinlearn.problem import KreinDual, Plus
from kreinlearn.solvers.base import Callback, Status
from kreinlearn.solvers.newton import DualNewton
from kreinlearn.spectrum.modulus import lift

N_LAMS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001)
"""What is tried by default: not lam itself, but n times lam, for n samples. That is
what other tools call 1 / C."""
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


def held_out(
    norms: Sequence[str],
    K: Symmetric,
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
) -> list[Held]:
    """Return the scores of held-out samples for every norm, fold and lam.

    All of them are solved as one block, so that they share products with K. Each lam
    starts from the next larger one.

    Parameters
    ----------
    norms : sequence of {"krein", "hilbert"}
        The penalties.
    K : Symmetric
        Similarities among all samples; stored, if a norm is "hilbert".
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
    list of Held
        One for each norm: scores, fold by fold.
    """
    n, k = columns.shape
    shape = (len(norms), len(folds), len(lams))
    each = 1 if multinomial else k  # problems per norm, fold and lam
    norm, fold, at, column = np.indices((*shape, each)).reshape(4, -1)
    matrix = stored(K, "norm='hilbert'") if "hilbert" in norms else None
    lifts = [] if matrix is None else [lift(matrix, w) for w in weights.T]
    member = np.where(np.array(norms)[norm] == "hilbert", fold, -1)
    block = KreinDual(
        K,
        np.repeat(columns[:, None], len(at), axis=1)
        if multinomial
        else columns[:, column, None],
        weights[:, fold],
        lams[at],
        loss_for(multinomial),
        fit_intercept,
        Plus(tuple(G for G, _ in lifts), member) if lifts else None,
    )
    # The same problem with the next larger lam.
    after = np.where(at > 0, np.arange(len(at)) - each, -1)
    result = solver.solve(block, tol=tol, after=after.tolist(), callback=callback)
    point = block.point(result.w, result.F)
    ended = np.array([s is Status.CONVERGED for s in result.status])
    converged = np.asarray(ended.reshape(*shape, each).all(axis=3))
    A, F = point.A.reshape(n, *shape, k), point.F.reshape(n, *shape, k)
    c = point.c.reshape(*shape, k)
    found = []
    for j, name in enumerate(norms):
        scores = []
        for f, (train, held) in enumerate(folds):
            products = F[held, j, f]
            if matrix is not None and name == "hilbert":
                # |K| was that of the training samples: held-out rows are those of K.
                a = lifts[f][1](A[:, j, f].reshape(n, -1))[train]
                products = gemm(matrix[np.ix_(held, train)].astype(float), a)
            scores.append(products.reshape(-1, len(lams), k) + c[j, f])
        found.append(Held([part.swapaxes(0, 1) for part in scores], converged[j]))
    return found


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
