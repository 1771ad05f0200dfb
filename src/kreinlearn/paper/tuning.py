"""Hyper-parameters by cross-validation on the training half alone."""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from kreinlearn._typing import Array
from kreinlearn.paper.learners import Learner

GRID = (0.0001, 0.001, 0.01, 0.1, 1.0, 5.0, 10.0)
"""The paper's values of lam, C and sigma."""
FOLDS = 5
MOST_ROWS = 1000
"""Training rows that a cross-validation sees at most."""
LOST = ("diverged", "nonfinite")
"""Fits that count as wrong everywhere: what is kept of them is often the start, and
nobody would choose a value that overflows."""
TIE_DIGITS = 9
"""Accuracies that agree to so many decimals are equal."""


@dataclass(frozen=True)
class Choice:
    """What a cross-validation chose.

    Attributes
    ----------
    ranking : tuple of (int, float)
        Pairs of matrix and hyper-parameter, from the best to the worst.
    accuracy : ndarray of shape (n_matrices, n_values)
        Mean accuracy over the folds.
    statuses : Counter
        How many fits ended how.
    rows : int
        Training rows that it saw.
    values : tuple of float
        What it chose from.
    """

    ranking: tuple[tuple[int, float], ...]
    accuracy: Array
    statuses: Counter[str]
    rows: int
    values: tuple[float, ...]

    @property
    def value(self) -> float:
        """The hyper-parameter of the learner."""
        return self.ranking[0][1]

    @property
    def setting(self) -> int:
        """Which of the matrices."""
        return self.ranking[0][0]


def folds(y: Array, seed: int) -> list[tuple[Array, Array]]:
    """Return stratified folds.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    seed : int
        The same seed gives the same folds.

    Returns
    -------
    list of (train, test)
        Row numbers.
    """
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Fertility has a dozen rows of one class: some folds get none.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(np.zeros(len(y)), y))


def subsample(n: int, seed: int) -> Array:
    """Return the rows that a cross-validation sees.

    Parameters
    ----------
    n : int
        Number of training rows.
    seed : int
        Seed of the half.

    Returns
    -------
    ndarray
        All rows, or 1000 of them if there are more.
    """
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng([seed, 1]).permutation(n)[:MOST_ROWS])


def choose(
    learner: Learner,
    matrices: Sequence[Array],
    y: Array,
    *,
    half_seed: int,
    seed: int,
    values: Sequence[float] = GRID,
) -> Choice:
    """Return the hyper-parameters of the highest mean accuracy over five folds.

    Parameters
    ----------
    learner : Learner
        The method.
    matrices : sequence of ndarray of shape (n, n)
        Gram matrices of the rows that `subsample` gives, one for each setting of the
        kernel, the smoothest first.
    y : ndarray of shape (n,)
        Labels of these rows.
    half_seed, seed : int
        Seeds of the folds, which all methods share, and of the method.
    values : sequence of float
        Values of the hyper-parameter.

    Returns
    -------
    Choice
        Ties go to the strongest regularization, then to the first matrix. A fit that
        diverged counts as wrong on all rows.
    """
    parts = folds(y, half_seed)
    accuracy = np.zeros((len(matrices), len(values)))
    statuses: Counter[str] = Counter()
    for i, K in enumerate(matrices):
        for k, (train, test) in enumerate(parts):
            K_train, K_test = K[np.ix_(train, train)], K[np.ix_(test, train)]
            if np.ptp(y[train]) == 0:  # one class: nothing to learn
                accuracy[i] += (y[test] == y[train][0]).mean() / len(parts)
                continue
            # The same stream in all folds would tie their errors together.
            fold_seed = (seed + k) % 2**32
            fits = learner.path(K_train, y[train], K_test, values, fold_seed)
            for j, (scores, status) in enumerate(fits):
                statuses[status] += 1
                if status not in LOST:
                    right = _decided(scores, y[train]) == y[test]
                    accuracy[i, j] += right.mean() / len(parts)
    ranking = _ranking(accuracy, values, strongest_first=learner.parameter == "lam")
    return Choice(ranking, accuracy, statuses, len(y), tuple(values))


def _decided(scores: Array, y: Array) -> Array:
    """Return the labels that scores stand for, one column for two classes."""
    if scores.ndim == 1:
        return np.where(scores > 0, 1, -1)
    return np.unique(y)[scores.argmax(axis=1)]


def _ranking(
    accuracy: Array, values: Sequence[float], *, strongest_first: bool
) -> tuple[tuple[int, float], ...]:
    """Return pairs of matrix and value, the best first, then large lam or small C."""
    order = np.argsort(values)[:: -1 if strongest_first else 1]
    pairs = [(i, int(j)) for j in order for i in range(len(accuracy))]
    pairs.sort(key=lambda pair: -round(float(accuracy[pair]), TIE_DIGITS))  # stable
    return tuple((i, float(values[j])) for i, j in pairs)


def choice_fields(choice: Choice, learner: Learner, n: int) -> dict[str, Any]:
    """Return what a record says about a choice.

    Parameters
    ----------
    choice : Choice
        What was chosen.
    learner : Learner
        For the name of its hyper-parameter.
    n : int
        Number of training rows.

    Returns
    -------
    dict
        Fields of a record.
    """
    fields: dict[str, Any] = {
        "chosen": {learner.parameter: choice.value},
        "grid": {learner.parameter: choice.values},
        "cv": dict(sorted(choice.statuses.items())),
    }
    if choice.rows < n:
        fields["cv_n"] = choice.rows
    return fields
