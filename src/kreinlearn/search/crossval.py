"""Out-of-fold scores of matrices of similarities, for norms and values of lam."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array
from kreinlearn.losses import loss_for
from kreinlearn.operators import (
    Blocked,
    Dense,
    General,
    RowProducts,
    one_thread,
    require_stored,
)
from kreinlearn.problem import KreinDual
from kreinlearn.search.grid import DUAL_TOL, Fold
from kreinlearn.search.ridge import (
    FoldFeatures,
    compute_features,
    group_folds,
    ridge_scores,
    run_in_threads,
)
from kreinlearn.solvers.base import Status
from kreinlearn.solvers.newton import DualNewton
from kreinlearn.spectrum.norms import compute_scale

RIDGE_TOL = 1e-3
"""Error of convex fits: root of twice the distance from the minimum, about."""


class FoldedMatrix:
    """One matrix of similarities on all folds.

    Parameters
    ----------
    K : Dense, General or Blocked
        Similarities among all samples; stored for "hilbert", of any shape for
        "euclidean".
    weights : ndarray of shape (n, n_folds)
        Weights of the samples in each fold, zero for the held-out ones.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples.
    norms : sequence of str
        Norms that are tried.
    dtype : dtype
        Precision of eigenvectors; single is enough for a race.
    """

    def __init__(
        self,
        K: Dense | General | Blocked,
        weights: Array,
        folds: Sequence[Fold],
        norms: Sequence[str],
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.K, self.weights, self.folds, self.dtype = K, weights, folds, dtype
        self.norms = norms
        if "hilbert" in norms:
            require_stored(K, "norm='hilbert'")

    @property
    def matrix(self) -> Dense | General:
        """The matrix, which is stored."""
        assert not isinstance(self.K, Blocked)
        return self.K

    def is_convex(self, norm: str) -> bool:
        """Return whether a norm is solved with features, not by the dual."""
        return norm != "krein" and not isinstance(self.K, Blocked)

    @cached_property
    def scale(self) -> float:
        """Mean absolute eigenvalue, where there are features that of the folds."""
        if not any(map(self.is_convex, self.norms)):
            return compute_scale(self.K, self.weights.max(axis=1))
        return float(np.mean([fold.scale for fold in self.features])) or 1.0

    @cached_property
    def features(self) -> list[FoldFeatures]:
        """Features of all folds."""
        decompose_folds([self])
        return self.features


def decompose_folds(matrices: Sequence[FoldedMatrix]) -> None:
    """Compute the features of all folds of matrices that need them, in threads."""
    some = [one for one in matrices if any(map(one.is_convex, one.norms))]
    jobs = [
        partial(compute_features, one.matrix, one.weights[:, f], held, one.dtype)
        for one in some
        for f, (_, held) in enumerate(one.folds)
    ]
    with one_thread():
        found = iter(run_in_threads(jobs))
    for one in some:
        one.features = [next(found) for _ in one.folds]


LamPath = tuple[FoldedMatrix, str, Array]
"""Problems of one matrix and norm, with L decreasing values of lam."""
PathScores = tuple[list[Array], Array]
"""Scores (L, n_held, k) of each fold, and which fits (n_folds, L) converged."""


def out_of_fold_scores(
    paths: Sequence[LamPath], Y: Array, *, tol: float, **model: Any
) -> list[PathScores]:
    """Return the scores of held-out samples on all paths.

    Parameters
    ----------
    paths : sequence of (FoldedMatrix, str, ndarray)
        Problems to solve; convex problems of small matrices are solved together.
    Y : ndarray of shape (n, k)
        Targets, 0 or 1.
    tol : float
        Error of convex problems, see `ridge_scores`.
    **model : bool or int
        ``multinomial``, ``fit_intercept`` and ``max_iter``, as in `ridge_scores`.

    Returns
    -------
    list of (list of ndarray, ndarray)
        Scores and convergence, in the order of ``paths``.
    """
    found: dict[int, PathScores] = {}
    by_matrix: dict[Any, list[int]] = defaultdict(list)
    for p, (matrix, norm, lams) in enumerate(paths):
        if matrix.is_convex(norm):
            by_matrix[id(matrix), len(lams)].append(p)
        else:
            assert not isinstance(matrix.K, General)
            about = (matrix.K, matrix.weights, matrix.folds, matrix.scale)
            found[p] = dual_scores(norm, *about, Y, lams, **model)
    by_shape: dict[Any, list[list[int]]] = defaultdict(list)
    for (_, n_lams), own in by_matrix.items():
        by_shape[len(own), n_lams].append(own)
    for group in by_shape.values():
        found |= _solve_ridge(paths, group, Y, {**model, "tol": tol})
    return [found[p] for p in range(len(paths))]


def _solve_ridge(
    paths: Sequence[LamPath], group: list[list[int]], Y: Array, model: dict[str, Any]
) -> dict[int, PathScores]:
    """Solve the paths of several matrices, with as many norms and lams each."""
    folds: list[FoldFeatures] = []
    scales: list[float] = []
    norms: list[list[str]] = []
    lams: list[list[Array]] = []
    for own in group:
        matrix = paths[own[0]][0]
        count = len(matrix.folds)
        folds += matrix.features
        scales += [matrix.scale] * count
        norms += [[paths[p][1] for p in own]] * count
        lams += [[paths[p][2] for p in own]] * count
    every: Array = np.array(lams)
    columns = Y.shape[1] * every.shape[1] * every.shape[2]
    jobs = [
        partial(ridge_scores, folds[s], scales[s], norms[s], every[s], Y, **model)
        for s in group_folds(folds, columns)
    ]
    with one_thread():
        results = run_in_threads(jobs)
    scores = [fold for each, _ in results for fold in each]
    converged = np.concatenate([each for _, each in results])
    found, first = {}, 0
    for own in group:
        part = slice(first, first + len(paths[own[0]][0].folds))
        for i, p in enumerate(own):
            found[p] = [each[i] for each in scores[part]], converged[part, i]
        first = part.stop
    return found


@dataclass(frozen=True)
class _MaskedRows:
    """K diag(v) K' of each fold, with v (n, n_folds) zero for held-out rows."""

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
    """Return the scores of held-out samples for every fold and lam, by one dual block.

    For the norm "krein", whose problems are not convex, and for matrices that are not
    stored. A fold is a column whose held-out samples have weight zero, and their scores
    follow from the products with K that the solver needs anyway. For the norm
    "euclidean", the rows of K have the fold's training samples as features: two
    products with K, with a mask between them.

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
    targets = columns[:, column, None]
    if multinomial:
        targets = np.repeat(columns[:, None], len(at), axis=1)
    shares = (weights / weights.sum(axis=0))[:, fold]
    model = (loss_for(multinomial), fit_intercept, own)
    block = KreinDual(like, targets, shares, lams[at], *model)
    # The same problem with the next larger lam.
    after = np.where(at > 0, np.arange(len(at)) - each, -1)
    solver = DualNewton(max_iter)
    result = solver.solve(block, tol=DUAL_TOL, after=after.tolist())
    point = block.point(result.w, result.F)
    ended = np.array([s is Status.CONVERGED for s in result.status])
    F, c = point.F.reshape(n, *shape, k), point.c.reshape(*shape, k)
    scores = [(F[held, f] + c[f]).swapaxes(0, 1) for f, (_, held) in enumerate(folds)]
    return scores, np.asarray(ended.reshape(*shape, each).all(axis=2))
