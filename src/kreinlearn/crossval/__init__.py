"""Cross-validation of a grid of lam with one matrix of similarities."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._blas import one_thread
from kreinlearn._typing import Array
from kreinlearn.crossval.dual import dual_scores
from kreinlearn.crossval.held import (
    MORE_UNITS,
    RIDGE_TOL,
    SEARCH_TOL,
    UNITS,
    Fold,
    Held,
    where_held_out,
)
from kreinlearn.crossval.ridge import (
    Basis,
    bases_of,
    group_folds,
    in_threads,
    ridge_scores,
    rough_scores,
)
from kreinlearn.operators import Blocked, Dense, General, stored

__all__ = [
    "MORE_UNITS",
    "SEARCH_TOL",
    "UNITS",
    "Cross",
    "Fold",
    "Held",
    "held_out_scores",
    "rough_scores",
    "where_held_out",
]


class Cross:
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
    scale : float, optional
        The scale of K, see `kreinlearn.spectrum.norms.scale_of`; by default about
        that: the mean scale among the training samples of the folds.
    kind : dtype
        Precision of eigenvectors; single is enough for a first impression.
    """

    def __init__(
        self,
        K: Dense | General | Blocked,
        weights: Array,
        folds: Sequence[Fold],
        scale: float | None = None,
        kind: DTypeLike = np.float64,
    ) -> None:
        self.K, self.weights, self.folds, self.kind = K, weights, folds, kind
        if scale is not None:
            self.scale = scale

    @cached_property
    def scale(self) -> float:
        """The scale of K."""
        return float(np.mean([basis.scale for basis in self.bases])) or 1.0

    @cached_property
    def bases(self) -> list[Basis]:
        """Features of all folds."""
        assert not isinstance(self.K, Blocked)
        with one_thread():
            return bases_of(self.K, self.weights, self.folds, self.kind)


def held_out_scores(
    crosses: Sequence[Cross],
    norms: Sequence[str],
    columns: Array,
    lams: Sequence[Array],
    *,
    multinomial: bool,
    fit_intercept: bool,
    max_iter: int = 100,
    tol: float = RIDGE_TOL,
) -> list[dict[str, Held]]:
    """Return the scores of held-out samples for every matrix, norm, fold and lam.

    Parameters
    ----------
    crosses : sequence of Cross
        Matrices of similarities; convex problems of small ones are solved together.
    norms : sequence of {"krein", "hilbert", "euclidean"}
        Penalties.
    columns : ndarray of shape (n, k)
        Targets, 0 or 1.
    lams : sequence of ndarray of shape (L,)
        Regularizations of each matrix, decreasing.
    multinomial, fit_intercept : bool
        The model.
    max_iter : int
        Most steps of one problem.
    tol : float
        Error of convex problems, see `ridge_scores`.

    Returns
    -------
    list of dict of str to Held
        For each matrix, scores by norm, fold by fold.
    """
    settings: dict[str, Any] = {
        "multinomial": multinomial,
        "fit_intercept": fit_intercept,
        "max_iter": max_iter,
    }
    found: list[dict[str, Held]] = [{} for _ in crosses]
    convex = [norm for norm in norms if norm != "krein"]
    for cross, own, each in zip(crosses, lams, found, strict=True):
        if "hilbert" in norms:
            stored(cross.K, "norm='hilbert'")
        for norm in norms if isinstance(cross.K, Blocked) else {*norms} - {*convex}:
            assert not isinstance(cross.K, General)
            about = (cross.K, cross.weights, cross.folds, cross.scale)
            each[norm] = dual_scores(norm, *about, columns, own, **settings)
    which = [i for i, cross in enumerate(crosses) if not isinstance(cross.K, Blocked)]
    if convex and which:
        settings["tol"] = tol
        pairs = [(crosses[i], lams[i]) for i in which]
        solved = _solve_convex(pairs, convex, columns, settings)
        for i, one in zip(which, solved, strict=True):
            found[i] |= one
    return [{norm: each[norm] for norm in norms} for each in found]


def _solve_convex(
    given: Sequence[tuple[Cross, Array]],
    norms: list[str],
    columns: Array,
    settings: dict[str, Any],
) -> list[dict[str, Held]]:
    """Return the same for norms whose problems are convex, and stored matrices."""
    bases, scales, lams = [], [], []
    for cross, own in given:
        bases += cross.bases
        scales += [cross.scale] * len(cross.bases)
        lams += [own] * len(cross.bases)
    every = np.array(lams)
    jobs = [
        partial(ridge_scores, bases[p], norms, scales[p], columns, every[p], **settings)
        for p in group_folds(bases, columns.shape[1] * len(norms) * every.shape[1])
    ]
    with one_thread():
        results = in_threads(jobs)
    scores = [fold for each, _ in results for fold in each]
    converged = np.concatenate([each for _, each in results])
    found, first = [], 0
    for cross, _ in given:
        part = slice(first, first + len(cross.folds))
        found.append(
            {
                norm: Held([each[i] for each in scores[part]], converged[part, i])
                for i, norm in enumerate(norms)
            }
        )
        first = part.stop
    return found
