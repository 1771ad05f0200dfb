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
        return float(np.mean([basis.scale for basis in self._bases])) or 1.0

    @cached_property
    def _bases(self) -> list[Basis]:
        assert not isinstance(self.K, Blocked)
        with one_thread():
            return bases_of(self.K, self.weights, self.folds, self.kind)

    def held_out(
        self,
        norms: Sequence[str],
        columns: Array,
        lams: Array,
        *,
        multinomial: bool,
        fit_intercept: bool,
        max_iter: int = 100,
        tol: float = RIDGE_TOL,
    ) -> dict[str, Held]:
        """Return the scores of held-out samples for every norm, fold and lam.

        Parameters
        ----------
        norms : sequence of {"krein", "hilbert", "euclidean"}
            Penalties.
        columns : ndarray of shape (n, k)
            Targets, 0 or 1.
        lams : ndarray of shape (L,)
            Regularizations, decreasing.
        multinomial, fit_intercept : bool
            The model.
        max_iter : int
            Most steps of one problem.
        tol : float
            Error of convex problems, see `ridge_scores`.

        Returns
        -------
        dict of str to Held
            Scores by norm, fold by fold.
        """
        settings: dict[str, Any] = {
            "multinomial": multinomial,
            "fit_intercept": fit_intercept,
            "max_iter": max_iter,
        }
        if "hilbert" in norms:
            stored(self.K, "norm='hilbert'")
        found: dict[str, Held] = {}
        convex = [norm for norm in norms if norm != "krein"]
        if isinstance(self.K, Blocked):
            convex = []
        for norm in norms:
            if norm not in convex:
                assert not isinstance(self.K, General)
                about = (self.K, self.weights, self.folds, self.scale)
                found[norm] = dual_scores(norm, *about, columns, lams, **settings)
        if convex:
            settings["tol"] = tol
            found |= self._convex(convex, columns, lams, settings)
        return {norm: found[norm] for norm in norms}

    def _convex(
        self, norms: list[str], columns: Array, lams: Array, settings: dict[str, Any]
    ) -> dict[str, Held]:
        """Return the same for norms whose problems are convex, all of them at once."""
        about = (norms, self.scale, columns, lams)
        stacks = group_folds(self._bases, columns.shape[1] * len(norms) * len(lams))
        jobs = [partial(ridge_scores, each, *about, **settings) for each in stacks]
        with one_thread():
            found = in_threads(jobs)
        scores = [fold for each, _ in found for fold in each]
        converged = np.concatenate([each for _, each in found])
        return {
            norm: Held([each[i] for each in scores], converged[:, i])
            for i, norm in enumerate(norms)
        }
