"""Choice of a hyper-parameter by cross-validation.

Letters: scores (k, c), with c = 1 column for two classes, else one per class.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import log_loss

from kreinlearn._typing import Array
from kreinlearn.app.methods.records import Method, path_of
from kreinlearn.losses import Link, find_link, log_probabilities
from kreinlearn.search import Fold

LOST = ("diverged", "nonfinite")
"""Fits that count as wrong everywhere: what is kept of them is often the start, and
nobody would choose a value that overflows."""
WORST_LOG_LOSS = -float(np.log(np.finfo(float).eps))
"""Log-loss that a lost fit counts as: the most that scikit-learn's can be."""
TIE_DIGITS = 9
"""Scores that agree to so many decimals are equal."""


def held_out_scores(
    method: Method,
    K: Array,
    y: Array,
    folds: Sequence[Fold],
    values: Sequence[float],
    seed: int,
) -> tuple[Array, list[list[str]]]:
    """Return the scores of every row while it was held out, for every value.

    Parameters
    ----------
    method : Method
        With its path, if it has one, or its estimators.
    K : ndarray of shape (n, n)
        Similarities.
    y : ndarray of shape (n,)
        Labels.
    folds : sequence of (train, test)
        Row numbers; every row is held out once.
    values : sequence of float
        Values of the hyper-parameter.
    seed : int
        Seed of the estimators; a path gets ``seed`` plus the number of the fold.

    Returns
    -------
    scores : ndarray of shape (n_values, n, c)
        Minus infinity for a class that was not among the training rows.
    statuses : list of list of str
        One list per fold; empty if there was one class, hence nothing to learn.
    """
    classes = np.unique(y)
    is_binary = len(classes) == 2
    scores = np.full((len(values), len(y), 1 if is_binary else len(classes)), -np.inf)
    statuses: list[list[str]] = []
    for k, (train, test) in enumerate(folds):
        own = np.searchsorted(classes, np.unique(y[train]))
        if len(own) == 1:
            if not is_binary or own[0] == 1:
                scores[:, test, 0 if is_binary else own[0]] = np.inf
            statuses.append([])
            continue
        # The same stream in all folds would tie their errors together.
        fold_seed = seed if method.path is None else (seed + k) % 2**32
        fits = path_of(method)(
            K[np.ix_(train, train)], y[train], K[np.ix_(test, train)], values, fold_seed
        )
        columns = own[:1] if is_binary else own
        for j, (found, _) in enumerate(fits):
            if found.shape[1] < len(columns):  # two classes of several
                found = np.hstack([np.zeros_like(found), found])
            scores[j][np.ix_(test, columns)] = found
        statuses.append([status for _, status in fits])
    return scores, statuses


@dataclass(frozen=True)
class Choice:
    """What a cross-validation chose.

    Attributes
    ----------
    ranking : tuple of (int, float)
        Pairs of matrix and value, from the best to the worst.
    scores : ndarray of shape (n_matrices, n_values)
        Mean over the folds of the accuracy, or of minus the log-loss.
    statuses : Counter
        How many fits ended how.
    rows : int
        Rows that it saw.
    values : tuple of float
        What it chose from.
    """

    ranking: tuple[tuple[int, float], ...]
    scores: Array
    statuses: Counter[str]
    rows: int
    values: tuple[float, ...]

    @property
    def value(self) -> float:
        """The chosen hyper-parameter."""
        return self.ranking[0][1]

    @property
    def setting(self) -> int:
        """The chosen matrix."""
        return self.ranking[0][0]


def tune(
    method: Method,
    matrices: Sequence[Array],
    y: Array,
    folds: Sequence[Fold],
    values: Sequence[float],
    *,
    seed: int,
    score: str | None = None,
) -> Choice:
    """Rank matrices and values by the mean score of held-out rows over the folds.

    Parameters
    ----------
    method : Method
        What to tune.
    matrices : sequence of ndarray of shape (n, n)
        Gram matrices of the same rows, the smoothest first.
    y : ndarray of shape (n,)
        Labels.
    folds : sequence of (train, test)
        Row numbers.
    values : sequence of float
        Values of the hyper-parameter.
    seed : int
        Seed of the method.
    score : {"log_loss", "accuracy"}, optional
        That of the method by default.

    Returns
    -------
    Choice
        Ties go to the strongest regularization, then to the first matrix. A fit that
        diverged counts as wrong on all rows.
    """
    classes, index = np.unique(y, return_inverse=True)
    link = None
    if (score or method.score) == "log_loss":
        link = find_link(len(classes), method.link == "multinomial")
    means = np.zeros((len(matrices), len(values)))
    ended: Counter[str] = Counter()
    for i, K in enumerate(matrices):
        scores, statuses = held_out_scores(method, K, y, folds, values, seed)
        each = np.empty((len(values), len(folds)))
        for f, (_, test) in enumerate(folds):
            ended.update(statuses[f])
            lost = [s in LOST for s in statuses[f]] or [False] * len(values)
            for j, is_lost in enumerate(lost):
                each[j, f] = _score_of(
                    None if is_lost else scores[j, test], index[test], link
                )
        means[i] = each.mean(axis=1)
    order = np.argsort(values)[:: 1 if method.parameter == "C" else -1]
    pairs = [(i, int(j)) for j in order for i in range(len(matrices))]
    pairs.sort(key=lambda pair: -round(float(means[pair]), TIE_DIGITS))  # stable
    ranking = tuple((i, float(values[j])) for i, j in pairs)
    return Choice(ranking, means, ended, len(y), tuple(values))


def decided(scores: Array) -> Array:
    """Return the position of the class that each row of scores (k, c) stands for."""
    if scores.shape[1] == 1:
        return np.asarray(scores[:, 0] > 0, dtype=int)
    return np.asarray(scores.argmax(axis=1))


def _score_of(scores: Array | None, index: Array, link: Link | None) -> float:
    """Return the accuracy, or with a link minus the log-loss; None for a lost fit."""
    if link is None:
        return 0.0 if scores is None else float((decided(scores) == index).mean())
    if scores is None:
        return -WORST_LOG_LOSS
    proba = np.exp(log_probabilities(scores, link))
    return -float(log_loss(index, proba, labels=np.arange(proba.shape[1])))
