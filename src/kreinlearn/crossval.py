"""Cross-validation of a grid of lam with one matrix of similarities.

Folds, values of lam and classes are problems of one block: a fold is a column whose
held-out samples have weight zero, and their scores fall out of the products with K that
the solver makes anyway. Two norms have a matrix of their own in each fold:

- a'|K|a, that of the fold's training samples: K plus a term of low rank, from its
  negative eigenpairs;
- s a'a, for which the rows of K have the fold's training samples as features: two
  products with K, with a mask between them.

One |K| and one K K' of all samples for all folds would be simpler, and no label would
leak. But held-out samples then look more predictable than new ones are, and now and
then far too small a lam is chosen. Nested cross-validation on fourteen similarities,
five outer folds: log-loss 0.181 and accuracy 0.929 that way, 0.179 and 0.932 this way;
single cases 0.137 and 0.117, or 0.098 and 0.008.

Letters: ``K`` (n, n); ``columns`` (n, k) targets; ``weights`` (n, n_folds) of the
samples; L values of lam; scores (L, n_held, k).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.losses import loss_for
from kreinlearn.operators import Blocked, Dense, General, RowProducts, gemm, stored
from kreinlearn.problem import KreinDual
from kreinlearn.solvers.base import Callback, Status
from kreinlearn.solvers.newton import DualNewton
from kreinlearn.spectrum.modulus import lift

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


@dataclass(frozen=True)
class _Moduli:
    """|K| of each fold, K + G G' with G = factors[fold]; ``fold`` has shape (P,)."""

    K: Dense
    factors: tuple[Array, ...]
    fold: Array

    def take(self, which: Sequence[int] | Array) -> Self:
        return replace(self, fold=self.fold[which])

    def product(self, B: Array, *, native: bool) -> Array:
        multiply = self.K.matmat_native if native else self.K.matmat
        out = multiply(B.reshape(len(B), -1)).reshape(B.shape)
        for f, G in enumerate(self.factors):
            mine = np.flatnonzero(self.fold == f)
            if mine.size and G.shape[1]:
                part = B[:, mine]
                inner = gemm(G.T, part.reshape(len(B), -1))
                out[:, mine] += gemm(G, inner).reshape(part.shape)
        return out


@dataclass(frozen=True)
class _MaskedRows:
    """K diag(v) K' of each fold, with v (k, n_folds) zero for what it holds out."""

    K: Dense | General | Blocked
    v: Array
    fold: Array

    def take(self, which: Sequence[int] | Array) -> Self:
        return replace(self, fold=self.fold[which])

    def product(self, B: Array, *, native: bool) -> Array:
        shape = (self.v.shape[0], *B.shape[1:])
        inner = self.K.rmatmat(B.reshape(len(B), -1)).reshape(shape)
        inner *= self.v[:, self.fold, None]
        return self.K.matmat(inner.reshape(len(inner), -1)).reshape(B.shape)


class Cross:
    """One norm with one matrix of similarities, on all folds.

    Parameters
    ----------
    norm : {"krein", "hilbert", "euclidean"}
        The penalty.
    K : Dense, General or Blocked
        Similarities among all samples; stored for "hilbert", of any shape for
        "euclidean".
    weights : ndarray of shape (n, n_folds)
        Weights of the samples in each fold, zero for the held-out ones.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples.
    scale : float
        The scale of K, see `kreinlearn.spectrum.norms.scale_of`.
    """

    def __init__(
        self,
        norm: str,
        K: Dense | General | Blocked,
        weights: Array,
        folds: Sequence[Fold],
        scale: float,
    ) -> None:
        self.K, self.weights, self.folds = K, weights, folds
        self.norm, self.scale = norm, scale
        self.lifts = []
        if norm == "hilbert":
            matrix = stored(K, "norm='hilbert'")
            self.lifts = [lift(matrix, w / w.sum()) for w in weights.T]

    def _own(self, fold: Array) -> _Moduli | _MaskedRows | None:
        if self.norm == "hilbert":
            assert isinstance(self.K, Dense)
            return _Moduli(self.K, tuple(G for G, _ in self.lifts), fold)
        if self.norm == "euclidean":
            return _MaskedRows(self.K, self._features() / self.scale, fold)
        return None

    def _features(self) -> Array:
        """How often each column counts in each fold; those of no sample, once."""
        n, k = self.K.shape
        return self.weights if n == k else np.ones((k, self.weights.shape[1]))

    def held_out(
        self,
        columns: Array,
        lams: Array,
        *,
        solver: DualNewton,
        multinomial: bool,
        fit_intercept: bool,
        tol: float,
        callback: Callback | None = None,
    ) -> Held:
        """Return the scores of held-out samples for every fold and lam.

        All of them are solved as one block, so that they share products with K. Each
        lam starts from the next larger one.

        Parameters
        ----------
        columns : ndarray of shape (n, k)
            Targets, 0 or 1.
        lams : ndarray of shape (L,)
            Regularizations, decreasing.
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
        shape = (len(self.folds), len(lams))
        each = 1 if multinomial else k  # problems per fold and lam
        fold, at, column = np.indices((*shape, each)).reshape(3, -1)
        v = self._features().mean(axis=1) / self.scale
        like = RowProducts(self.K, v) if self.norm == "euclidean" else self.K
        assert not isinstance(like, General)
        weights = self.weights / self.weights.sum(axis=0)
        block = KreinDual(
            like,
            np.repeat(columns[:, None], len(at), axis=1)
            if multinomial
            else columns[:, column, None],
            weights[:, fold],
            lams[at],
            loss_for(multinomial),
            fit_intercept,
            self._own(fold),
        )
        # The same problem with the next larger lam.
        after = np.where(at > 0, np.arange(len(at)) - each, -1)
        result = solver.solve(block, tol=tol, after=after.tolist(), callback=callback)
        point = block.point(result.w, result.F)
        ended = np.array([s is Status.CONVERGED for s in result.status])
        A, F = point.A.reshape(n, *shape, k), point.F.reshape(n, *shape, k)
        c = point.c.reshape(*shape, k)
        scores = []
        for f, (train, held) in enumerate(self.folds):
            products = F[held, f]
            if self.lifts:
                # |K| was that of the training samples: held-out rows are those of K.
                a = self.lifts[f][1](A[:, f].reshape(n, -1))[train]
                part = self.K.part(held, train)
                products = gemm(part, a).reshape(products.shape)
            scores.append((products + c[f]).swapaxes(0, 1))
        return Held(scores, np.asarray(ended.reshape(*shape, each).all(axis=2)))


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
