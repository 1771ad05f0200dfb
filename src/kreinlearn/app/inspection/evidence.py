"""What the negative part of a similarity is worth: held-out predictions, and a test.

Logistic regression learns from the matrix as it is, from its repairs, and from its
negative part alone, on the same folds. The similarities among the training samples of
a fold are repaired, and the repair is extended to the held-out samples.

Letters: ``K`` (n, n) symmetric; S settings of lam and norm; ``logs`` (n, C)
log-probabilities of C classes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.app.methods.records import Method, Scores, Tried, path_of
from kreinlearn.app.methods.table import METHODS
from kreinlearn.app.methods.tuning import WORST_LOG_LOSS, held_out_scores
from kreinlearn.losses import find_link, log_probabilities
from kreinlearn.operators import limit_blas_threads
from kreinlearn.search import UNITS, Fold
from kreinlearn.spectrum.decompose import decompose

Tell = Callable[[int, int], object]
"""Told how many folds are done, and of how many."""

_LOOSE = {name: replace(each, path=each.loose) for name, each in METHODS.items()}


def _path_of_negative(
    K: Array, y: Array, K_new: Array, values: Tried, seed: int
) -> Scores:
    """Learn from -K on its negative eigenvectors, extended to new samples."""
    part = decompose(K).negative()
    directions = part.vectors / np.sqrt(-part.values)
    features, new = K @ directions, K_new @ directions
    path = path_of(_LOOSE["IKLR krein"])
    return path(features @ features.T, y, new @ features.T, values, seed)


TREATMENTS: dict[str, Method] = {
    "as it is": _LOOSE["IKLR krein"],
    "clip": _LOOSE["clip + KLR"],
    "flip": _LOOSE["flip + KLR"],
    "negative part alone": replace(METHODS["IKLR krein"], path=_path_of_negative),
}
"""What is learned from, in the order of the tables."""


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
        losses = np.minimum(-self.own, WORST_LOG_LOSS)
        return {"accuracy": float(right.mean()), "log_loss": float(losses.mean())}


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
        By the names in TREATMENTS. "as it is" has the better of both norms.

    Notes
    -----
    The settings for a fold, lam and norm, are those that predict the *other* folds
    best by log-loss, so that no fold judges its own. With the norm a'|K|a, learning
    from K is the same as learning from the flipped matrix, extended exactly.
    """
    n, n_classes = len(K), int(index.max()) + 1
    # Values of lam in units of K, which may have any scale.
    unit = float(np.abs(np.linalg.eigvalsh(K)).mean())
    lams = [each * unit / n for each in UNITS]
    shape = (len(lams), n, 1 if n_classes == 2 else n_classes)
    found = {treatment: np.empty(shape) for treatment in TREATMENTS}
    for done, fold in enumerate(folds, start=1):
        held = fold[1]
        with limit_blas_threads(n):
            for treatment, method in TREATMENTS.items():
                scores, _ = held_out_scores(method, K, index, [fold], lams, seed=0)
                found[treatment][:, held] = scores[:, held]
        if progress is not None:
            progress(done, len(folds))
    found["as it is"] = np.concatenate([found["as it is"], found["flip"]])
    link = find_link(n_classes, multinomial=True)
    return {
        treatment: _best_elsewhere(
            np.stack([log_probabilities(each, link) for each in scores]), index, folds
        )
        for treatment, scores in found.items()
    }


def _best_elsewhere(logs: Array, index: Array, folds: Sequence[Fold]) -> HeldOut:
    """Return the predictions of each fold by the setting best on the other folds.

    ``logs`` of shape (S, n, C) holds the log-probabilities by every setting.
    """
    own = np.maximum(logs[:, np.arange(len(index)), index], -WORST_LOG_LOSS)
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
