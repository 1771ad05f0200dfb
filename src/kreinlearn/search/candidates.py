"""The candidates of a search, and how they do on held-out samples.

A setting is a kernel with its parameters; a candidate is a setting with a norm, tried
with several values of lam.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.kernels import ResolvedKernel
from kreinlearn.operators import Blocked, Dense, General
from kreinlearn.search.crossval import (
    RIDGE_TOL,
    FoldedMatrix,
    decompose_folds,
    out_of_fold_scores,
)
from kreinlearn.search.grid import MORE_UNITS, UNITS, Fold, restrict_folds
from kreinlearn.search.scoring import HeldOutScorer
from kreinlearn.spectrum.decompose import has_factor

Operator = Dense | General | Blocked
Windows = Mapping[str, slice]
"""Positions of the values of lam that are tried first, by norm."""

SAME_NORMS = 1e-10
"""Negative eigenvalues this small relative to the diagonal make two norms the same."""
MAX_CHOLESKY = 10_000
"""Largest number of samples for which that is checked: a Cholesky factor takes
n^3 / 3."""
BATCH_FEATURES = 2**24
"""Features of settings that are tried together, in all folds: 128 MB."""
RACE_STEP = 2
"""A race tries every other value of lam."""


@dataclass(frozen=True)
class Candidate:
    """A setting and norm, and how its values of lam do; NaN where not tried.

    ``lams`` (L,) decrease; ``scores`` one array (L, n_held, k) per fold; ``converged``
    (n_folds, L); ``fold_scores`` (L, n_folds); ``criteria`` (L,) for the choice of lam.
    """

    setting: int
    norm: str
    unit: float
    lams: Array
    is_symmetric: bool
    scores: list[Array]
    converged: Array
    fold_scores: Array
    criteria: Array

    @property
    def best(self) -> int:
        """The position of the best lam."""
        return int(self.criteria.argmax())

    @property
    def criterion(self) -> float:
        """The criterion of the best lam."""
        return float(self.criteria[self.best])

    def find_next(self) -> int | None:
        """Return the position of a lam next to the best that was not tried."""
        tried = self.criteria > -np.inf
        tried |= ~np.isnan(self.fold_scores).all(axis=1)
        for place in (self.best + 1, self.best - 1):
            if 0 <= place < len(tried) and not tried[place]:
                return place
        return None

    def pool_scores(self, folds: Sequence[Fold], n: int) -> Array:
        """Return the scores (n, k) of samples at the best lam while held out.

        They are averaged if a sample was held out more than once, and NaN if never.
        """
        total = np.zeros((n, self.scores[0].shape[2]))
        times = np.zeros((n, 1))
        for (_, held), scores in zip(folds, self.scores, strict=True):
            total[held] += scores[self.best]
            times[held] += 1
        with np.errstate(invalid="ignore"):
            return np.asarray(total / times)


@dataclass(frozen=True)
class SearchContext:
    """Data and settings that all candidates of a search share.

    Parameters
    ----------
    similarities : callable
        Gives the similarities of the n samples in a setting.
    settings : sequence of ResolvedKernel
        Kernels with the parameters to try.
    norms : sequence of str
        Norms to try.
    lams : ndarray of shape (L,) or None
        Regularizations, decreasing; None for those that suit each matrix.
    folds : list of pairs of ndarray
        Training and held-out samples.
    Y : ndarray of shape (n, k)
        Targets, 0 or 1.
    counts : ndarray of shape (n,)
        Weights of the samples in a fit to all of them.
    weights : ndarray of shape (n, n_folds)
        Weights in the fit of each fold, zero if held out.
    scorer : HeldOutScorer
        Scores held-out samples.
    fit_intercept, max_iter : bool, int
        The model.
    is_race : bool
        Whether to try every other lam once, with eigenvectors in single precision.
    """

    similarities: Callable[[ResolvedKernel], Operator]
    settings: Sequence[ResolvedKernel]
    norms: Sequence[str]
    lams: Array | None
    folds: list[Fold]
    Y: Array
    counts: Array
    weights: Array
    scorer: HeldOutScorer
    fit_intercept: bool
    max_iter: int
    is_race: bool = False

    def make_race(
        self,
        rows: Array,
        n_folds: int,
        similarities: Callable[[ResolvedKernel], Operator],
    ) -> "SearchContext":
        """Return the context of a race, with some of the samples and folds."""
        return replace(
            self,
            similarities=similarities,
            folds=restrict_folds(self.folds[:n_folds], rows),
            Y=self.Y[rows],
            counts=self.counts[rows],
            weights=self.weights[rows, :n_folds],
            scorer=self.scorer.take(rows),
            is_race=True,
        )

    @property
    def n_used(self) -> int:
        """Samples with a weight."""
        return int(np.count_nonzero(self.counts))

    @property
    def batch_size(self) -> int:
        """Number of settings tried together, which limits the memory for features."""
        n, each = len(self.Y), -(-len(self.settings) // 2)
        return min(each, max(1, BATCH_FEATURES // (len(self.folds) * n * n)))

    @property
    def work(self) -> float:
        """Work of a setting, in some unit: an eigendecomposition per fold."""
        return len(self.folds) * float(len(self.Y)) ** 3

    @property
    def n_first(self) -> int:
        """Number of values of lam that are tried in any case."""
        return len(UNITS) if self.lams is None else len(self.lams)

    @property
    def first_lams(self) -> slice:
        """Positions of the values of lam that are tried first."""
        if self.is_race:
            return slice(min(1, self.n_first - 1), self.n_first, RACE_STEP)
        return slice(0, self.n_first)

    def make_lams(self, unit: float) -> Array:
        """Return all values of lam for a matrix."""
        if self.lams is not None:
            return self.lams
        return np.array([*UNITS, *MORE_UNITS]) * unit

    def evaluate(
        self, numbers: Sequence[int], windows: Sequence[Windows | None]
    ) -> list[Candidate]:
        """Try some of the settings together.

        Parameters
        ----------
        numbers : sequence of int
            Positions of the settings.
        windows : sequence of mappings or None
            Norms and values of lam that are tried first; None for all of them.

        Returns
        -------
        list of Candidate
            Of each setting and norm. Unless this is a race, more values of lam are
            tried until the best is not the last one.
        """
        matrices, parts = [], []
        for i, window in zip(numbers, windows, strict=True):
            K = self.similarities(self.settings[i])
            own = window or dict.fromkeys(self._find_norms(K), self.first_lams)
            dtype = np.float32 if self.is_race else np.float64
            about = (K, self.weights, self.folds, list(own), dtype)
            matrices.append(FoldedMatrix(*about))
            parts.append(own)
        decompose_folds(matrices)
        todo = [
            (matrix, self._make_candidate(i, norm, matrix), part)
            for i, matrix, own in zip(numbers, matrices, parts, strict=True)
            for norm, part in own.items()
        ]
        found = [candidate for _, candidate, _ in todo]
        while todo:
            self._score(todo)
            todo = [
                (matrix, candidate, slice(place, place + 1))
                for matrix, candidate, _ in todo
                if not self.is_race and (place := candidate.find_next()) is not None
            ]
        return found

    def _make_candidate(self, i: int, norm: str, matrix: FoldedMatrix) -> Candidate:
        """Return a candidate of which nothing is known."""
        unit = matrix.scale / self.n_used
        lams = self.make_lams(unit)
        L, k = len(lams), self.Y.shape[1]
        return Candidate(
            setting=i,
            norm=norm,
            unit=unit,
            lams=lams,
            is_symmetric=not isinstance(matrix.K, General),
            scores=[np.full((L, len(held), k), np.nan) for _, held in self.folds],
            converged=np.ones((len(self.folds), L), bool),
            fold_scores=np.full((L, len(self.folds)), np.nan),
            criteria=np.full(L, -np.inf),
        )

    def _score(self, todo: Sequence[tuple[FoldedMatrix, Candidate, slice]]) -> None:
        """Solve and score parts of the candidates' values of lam."""
        solved = out_of_fold_scores(
            [(matrix, one.norm, one.lams[part]) for matrix, one, part in todo],
            self.Y,
            multinomial=self.scorer.link == "multinomial",
            fit_intercept=self.fit_intercept,
            max_iter=self.max_iter,
            tol=RIDGE_TOL,
        )
        for (_, one, part), (scores, converged) in zip(todo, solved, strict=True):
            for f, own in enumerate(scores):
                one.scores[f][part] = own
            one.converged[:, part] = converged
            found = self.scorer.score(scores, self.folds)
            one.fold_scores[part], one.criteria[part] = found

    def _find_norms(self, K: Operator) -> list[str]:
        """Return the norms to try with a matrix, without those that are the same."""
        if isinstance(K, General):
            if K.shape[0] != K.shape[1] and set(self.norms) != {"euclidean"}:
                raise ValueError(
                    "A Gram matrix must be square, one row and one column per sample, "
                    f"got an array of shape {K.shape}; norms=('euclidean',) takes "
                    "similarities with other samples as features."
                )
            return ["euclidean"]
        norms = list(self.norms)
        if {"krein", "hilbert"} <= set(norms) and isinstance(K, Dense):
            small = SAME_NORMS * float(np.abs(K.diagonal()).mean())
            if len(self.Y) <= MAX_CHOLESKY and has_factor(K.K.astype(float), small):
                norms.remove("hilbert")
        return norms
