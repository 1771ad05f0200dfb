"""One setting of a search: its similarities, on some folds, with values of lam.

A trial holds what all settings have in common. Settings do not depend on each other,
and may be tried by threads side by side.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.crossval import (
    MORE_UNITS,
    UNITS,
    Cross,
    Fold,
    Held,
    held_out_scores,
)
from kreinlearn.estimators._inputs import kernel_name, one_per_class
from kreinlearn.estimators._racing import (
    RACE_STEP,
    RACE_TOL,
    Left,
    Runner,
    everything,
    folds_among,
)
from kreinlearn.estimators._search import Judge, Judged, Setting
from kreinlearn.operators import Blocked, Dense, General
from kreinlearn.solvers.monitor import Watch
from kreinlearn.spectrum.decompose import has_factor
from kreinlearn.spectrum.norms import scale_of

Operator = Dense | General | Blocked
Tried = dict[str, Held]
"""What each norm that was tried says of the held-out samples."""
SAME_NORMS = 1e-10
"""Negative eigenvalues this small relative to the diagonal make two norms the same."""
BATCH_NUMBERS = 2**23
"""Features of settings that are tried together, in all folds: 64 MB."""
CERTIFIED = 10_000
"""Most samples for which that is tried: a Cholesky factor takes n^3 / 3."""


class Found(NamedTuple):
    """What was tried of a setting: by norm, with values of lam, and their unit."""

    held: Tried
    judged: dict[str, Judged]
    lams: Array
    unit: float
    is_symmetric: bool = True


@dataclass(frozen=True)
class Trial:
    """What all settings of a search have in common.

    Parameters
    ----------
    operator : callable
        Gives the similarities of the n samples in a setting.
    index : ndarray of shape (n,)
        Classes, counted from 0.
    counts : ndarray of shape (n,)
        Weights of the samples in a fit to all of them.
    weights : ndarray of shape (n, n_folds)
        Weights in the fit of each fold, zero if held out.
    folds : list of pairs of ndarray
        Training and held-out samples.
    judge : Judge
        Scores held-out samples.
    lams : ndarray of shape (L,) or None
        Regularizations, decreasing; None for those that suit each matrix.
    norms : sequence of str
        Norms to try.
    fit_intercept, max_iter : bool, int
        The model.
    """

    operator: Callable[[Setting], Operator]
    index: Array
    counts: Array
    weights: Array
    folds: list[Fold]
    judge: Judge
    lams: Array | None
    norms: Sequence[str]
    fit_intercept: bool
    max_iter: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def among(
        self, rows: Array, n_folds: int, operator: Callable[[Setting], Operator]
    ) -> "Trial":
        """Return a trial by some of the samples, and the first folds."""
        return replace(
            self,
            operator=operator,
            index=self.index[rows],
            counts=self.counts[rows],
            weights=self.weights[rows, :n_folds],
            folds=folds_among(self.folds[:n_folds], rows),
            judge=self.judge.among(rows),
        )

    def grid(self, unit: float) -> tuple[Array, int]:
        """Return values of lam, and how many are tried whatever they give."""
        if self.lams is not None:
            return self.lams, len(self.lams)
        return np.array([*UNITS, *MORE_UNITS]) * unit, len(UNITS)

    @property
    def n_used(self) -> int:
        """Samples with a weight."""
        return int(np.count_nonzero(self.counts))

    @property
    def batch_size(self) -> int:
        """How many settings are tried together, such that their features are few."""
        n = len(self.index)
        return max(1, BATCH_NUMBERS // (len(self.folds) * n * n))

    def race(
        self, settings: Sequence[tuple[int, Setting]]
    ) -> list[tuple[list[Runner], float]]:
        """Return how numbered settings do with every other lam, and their scales."""
        crosses, norms, lams = [], [], []
        for _, setting in settings:
            K = self._similarities(setting)
            scale = scale_of(K, self.counts) if isinstance(K, Blocked) else None
            crosses.append(Cross(K, self.weights, self.folds, scale, np.float32))
            grid, n_lams = self.grid(crosses[-1].scale / self.n_used)
            tried = np.arange(min(1, n_lams - 1), n_lams, RACE_STEP)
            norms.append(self._norms_of(K))
            lams.append(grid[tried])
        found = self._held_out(crosses, norms, lams, tol=RACE_TOL)
        out = np.concatenate([each for _, each in self.folds])
        results = []
        for (number, _), cross, each in zip(settings, crosses, found, strict=True):
            runners = []
            for norm, held in each.items():
                judged = self.judge.judged(held, self.folds)
                best = judged.best
                scores = np.concatenate([fold[best] for fold in held.scores])
                logs = self.judge.logs(scores, out)
                about = (float(judged.criteria[best]), int(tried[best]), logs)
                runners.append(Runner(number, norm, *about))
            results.append((runners, cross.scale))
        return results

    def search(self, settings: Sequence[tuple[Setting, Left | None]]) -> list[Found]:
        """Return what is known of settings after all folds and values of lam."""
        crosses, grids, mine = [], [], []
        for setting, left in settings:
            K = self._similarities(setting)
            scale = scale_of(K, self.counts)
            grid, n_first = self.grid(scale / self.n_used)
            crosses.append(Cross(K, self.weights, self.folds, scale))
            grids.append(grid)
            mine.append(left or everything(self._norms_of(K), n_first))

        def solve(
            which: Sequence[int], norms: Sequence[list[str]], parts: Sequence[slice]
        ) -> list[Tried]:
            lams = [grids[i][part] for i, part in zip(which, parts, strict=True)]
            found = self._held_out([crosses[i] for i in which], norms, lams)
            return [
                {
                    norm: one.placed(part.start, len(grids[0]))
                    for norm, one in own.items()
                }
                for own, part in zip(found, parts, strict=True)
            ]

        every = range(len(settings))
        held = solve(every, [own.norms for own in mine], [own.lams for own in mine])
        judged = [
            {norm: self.judge.judged(one, self.folds) for norm, one in own.items()}
            for own in held
        ]
        while True:
            more = [
                (i, norm, at)
                for i in every
                for norm in mine[i].norms
                if (at := judged[i][norm].next_lam()) is not None
            ]
            if not more:
                break
            which, norms, ats = zip(*more, strict=True)
            single = solve(which, [[n] for n in norms], [slice(k, k + 1) for k in ats])
            for (i, norm, _), one in zip(more, single, strict=True):
                held[i][norm] = held[i][norm].joined(one[norm])
                new = self.judge.judged(one[norm], self.folds)
                judged[i][norm] = judged[i][norm].joined(new)
        return [
            Found(
                held[i],
                judged[i],
                grids[i],
                crosses[i].scale / self.n_used,
                not isinstance(crosses[i].K, General),
            )
            for i in every
        ]

    def _similarities(self, setting: Setting) -> Operator:
        with self._lock:  # settings share what they measure
            return self.operator(setting)

    def _norms_of(self, K: Operator) -> list[str]:
        """Return the norms to try with a matrix, without those that are the same."""
        if isinstance(K, General):
            n, k = K.shape
            if n != k and set(self.norms) != {"euclidean"}:
                raise ValueError(
                    "A Gram matrix must be square, one row and one column per sample, "
                    f"got an array of shape {K.shape}; norms=('euclidean',) takes "
                    "similarities with other samples as features."
                )
            return ["euclidean"]
        norms = list(self.norms)
        if {"krein", "hilbert"} <= set(norms) and isinstance(K, Dense):
            small = SAME_NORMS * float(np.abs(K.diagonal()).mean())
            if K.shape[0] <= CERTIFIED and has_factor(K.K.astype(float), small):
                norms.remove("hilbert")
        return norms

    def _held_out(
        self,
        crosses: Sequence[Cross],
        norms: Sequence[list[str]],
        lams: Sequence[Array],
        **settings: float,
    ) -> list[Tried]:
        """Return what norms say of held-out samples, for each matrix."""
        found: list[Tried] = [{} for _ in crosses]
        keys = [(tuple(own), len(lam)) for own, lam in zip(norms, lams, strict=True)]
        for key in dict.fromkeys(keys):  # matrices with the same number of problems
            which = [i for i, other in enumerate(keys) if other == key]
            solved = held_out_scores(
                [crosses[i] for i in which],
                key[0],
                one_per_class(self.index, len(self.judge.classes)),
                [lams[i] for i in which],
                multinomial=self.judge.link == "multinomial",
                fit_intercept=self.fit_intercept,
                max_iter=self.max_iter,
                **settings,
            )
            for i, one in zip(which, solved, strict=True):
                found[i] = one
        return found


class Progress:
    """Tells a watch of each setting, and how much of the work is done.

    Parameters
    ----------
    watch : callable or None
        Sees a row for each norm of a setting: where its best lam is, its mean score,
        the best score of all so far, and the share of the work that is done.
    trial : Trial
        What settings have in common.
    raced : Trial or None
        The same in the race before, if there was one.
    n_settings, n_left : int
        Settings of the race, and those that it has left.
    """

    def __init__(
        self,
        watch: Watch | None,
        trial: Trial,
        raced: Trial | None,
        n_settings: int,
        n_left: int,
    ) -> None:
        self.watch = watch
        self.best = -np.inf
        before = 0.0 if raced is None else n_settings * _work(raced)
        self.each = _work(trial)
        self.done, self.total = before, before + n_left * self.each

    def __call__(self, setting: Setting, found: Found) -> None:
        """Tell what was found of a setting."""
        self.done += self.each
        if self.watch is None:
            return
        kernel, params = setting
        each = {}
        for norm, judged in found.judged.items():
            each[norm] = judged.best, float(judged.scores[judged.best].mean())
        self.best = max(self.best, *(score for _, score in each.values()))
        for norm, (at, score) in each.items():
            row = {"kernel": kernel_name(kernel), **params, "norm": norm}
            row |= {"lam": float(found.lams[at]), "score": score}
            self.watch(row | {"best": self.best, "done": self.done / self.total})


def _work(trial: Trial) -> float:
    """Return the work of a setting, in some unit: an eigendecomposition per fold."""
    return len(trial.folds) * float(len(trial.index)) ** 3
