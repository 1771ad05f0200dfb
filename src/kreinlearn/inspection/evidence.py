"""What the negative part of a similarity is worth: held-out predictions, and a test.

Logistic regression learns from the matrix as it is, from its repairs, and from its
negative part alone, on the same folds. The similarities among the training samples of
a fold are repaired, and extended to the held-out samples as `SpectrumRepair` does.

Letters: ``K`` (n, n) symmetric; ``columns`` (n, k) targets, 0 or 1; S settings of lam
and norm; ``logs`` (n, C) log-probabilities of C classes; B permutations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.crossval import N_LAMS, SEARCH_TOL, Fold, held_out
from kreinlearn.losses import link_of, log_probabilities
from kreinlearn.operators import Dense, few_threads
from kreinlearn.solvers.newton import DualNewton
from kreinlearn.spectrum.decompose import Spectrum, decompose

WAYS = ("as it is", "clip", "flip", "negative part alone")
"""What is learned from, in the order of the tables."""
MAX_ITER = 100
"""Newton steps of a fit, as in the estimators."""

Tell = Callable[[int, int], object]
"""Told how many folds are done, and of how many."""


@dataclass(frozen=True)
class HeldOut:
    """Predictions of samples while they were held out.

    Attributes
    ----------
    index : ndarray of shape (n,)
        Position of each sample's class.
    logs : ndarray of shape (n, C)
        Log-probabilities of the classes.
    """

    index: Array
    logs: Array

    @property
    def own(self) -> Array:
        """Log-probability of each sample's own class, shape (n,)."""
        return np.asarray(self.logs[np.arange(len(self.index)), self.index])

    def scores(self) -> dict[str, float]:
        """Return accuracy and log-loss."""
        right = self.logs.argmax(axis=1) == self.index
        # An impossible event would outweigh everything, as in scikit-learn's log-loss.
        return {
            "accuracy": float(right.mean()),
            "log_loss": float(-np.maximum(self.own, _FLOOR).mean()),
        }


_FLOOR = float(np.log(np.finfo(float).eps))


def predictions(
    K: Array, index: Array, folds: Sequence[Fold], progress: Tell | None = None
) -> dict[str, HeldOut]:
    """Return held-out predictions from a matrix and from what is made of it.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    index : ndarray of shape (n,)
        Position of each sample's class, from 0.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples; every sample is held out once.
    progress : callable, optional
        Told how many folds are done, and of how many.

    Returns
    -------
    dict of str to HeldOut
        By the names in WAYS. "as it is" has the better of both norms.

    Notes
    -----
    The settings for a fold, lam and norm, are those that predict the *other* folds
    best by log-loss, so that no fold judges its own. With the norm a'|K|a, learning
    from K is the same as learning from the flipped matrix, extended exactly.
    """
    n, n_classes = len(K), int(index.max()) + 1
    onehot = (index[:, None] == np.arange(n_classes)).astype(float)
    columns = onehot[:, 1:] if n_classes == 2 else onehot
    # Values of lam in units of K, which may have any scale.
    lams = np.array(N_LAMS) * float(np.abs(np.linalg.eigvalsh(K)).mean()) / n
    found = {way: np.empty((len(lams), n, columns.shape[1])) for way in WAYS}
    for done, (train, held) in enumerate(folds, start=1):
        weights = np.zeros((n, 1))
        weights[train] = 1.0 / len(train)
        with few_threads(n):
            for way, matrix in _matrices(K, train).items():
                block = held_out(
                    ["krein"],
                    Dense(matrix),
                    columns,
                    weights,
                    lams,
                    [(train, held)],
                    solver=DualNewton(MAX_ITER),
                    multinomial=n_classes > 2,
                    fit_intercept=True,
                    tol=SEARCH_TOL,
                )
                found[way][:, held] = block[0].scores[0]
        if progress is not None:
            progress(done, len(folds))
    found["as it is"] = np.concatenate([found["as it is"], found["flip"]])
    link = link_of(n_classes, n_classes > 2)
    return {
        way: _chosen(
            np.stack([log_probabilities(each, link) for each in scores]), index, folds
        )
        for way, scores in found.items()
    }


def _matrices(K: Array, train: Array) -> dict[str, Array]:
    """Return K, and what is made of it with the eigenvectors of training samples.

    A repair that extends exactly is a change of features: the similarities of any
    sample with the training samples, times an eigenvector, over the root of the
    modulus of its eigenvalue.
    """
    spectrum = decompose(K[np.ix_(train, train)])
    parts = spectrum.positive(), spectrum.negative()
    made = [_extended(K[:, train], part) for part in parts]
    return dict(zip(WAYS, (K, made[0], made[0] + made[1], made[1]), strict=True))


def _extended(rows: Array, part: Spectrum) -> Array:
    features = rows @ (part.vectors / np.sqrt(np.abs(part.values)))
    return np.asarray(features @ features.T)


def _chosen(logs: Array, index: Array, folds: Sequence[Fold]) -> HeldOut:
    """Return the predictions of each fold by the setting best on the other folds.

    Parameters
    ----------
    logs : ndarray of shape (S, n, C)
        Log-probabilities of held-out samples by every setting.
    index, folds
        See `predictions`.
    """
    own = np.maximum(logs[:, np.arange(len(index)), index], _FLOOR)
    sums = np.stack([own[:, held].sum(axis=1) for _, held in folds], axis=1)
    best = (sums.sum(axis=1, keepdims=True) - sums).argmax(axis=0)
    picked = np.empty(logs.shape[1:])
    for setting, (_, held) in zip(best, folds, strict=True):
        picked[held] = logs[setting, held]
    return HeldOut(index, picked)


def exchanged(first: Array, second: Array, count: int, seed: int = 0) -> Array:
    """Return mean differences after exchanging the two values of random samples.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Two values of each sample.
    count : int
        Number of permutations.
    seed : int
        Source of randomness.

    Returns
    -------
    ndarray of shape (count,)
        Mean of ``first - second``, each sample's pair exchanged with probability 1/2.

    Examples
    --------
    >>> import numpy as np
    >>> exchanged(np.ones(2), np.zeros(2), 4, seed=0).round(1)
    array([ 0., -1.,  1.,  1.])
    """
    rng = np.random.default_rng(seed)
    difference = first - second
    means = [
        float(np.where(rng.random(len(difference)) < 0.5, -1.0, 1.0) @ difference)
        for _ in range(count)
    ]
    return np.array(means) / len(difference)
