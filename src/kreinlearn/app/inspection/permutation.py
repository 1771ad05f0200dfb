"""Labels permuted as far as the positive part of a similarity leaves them open.

If the negative part says nothing of the labels that the positive part does not say,
labels can be exchanged between samples that look alike to the positive part. Two
samples exchange labels with the odds that the clipped matrix gives to the exchange:
this is the conditional permutation test [1]_. What is compared on held-out samples is
ridge regression on the positive eigen-directions of the training samples and on all of
them: a linear map of the labels, so that a permutation costs one product with matrices
that are found once, and lam is chosen anew for each.

Letters: ``K`` (n, n) symmetric; C classes; L values of lam; B permutations.

References
----------
.. [1] T. B. Berrett, Y. Wang, R. F. Barber, R. J. Samworth, "The conditional
   permutation test for independence while controlling for confounders", Journal of the
   Royal Statistical Society B 82 (2020).
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from kreinlearn._typing import Array
from kreinlearn.search import Fold
from kreinlearn.spectrum.decompose import Spectrum, decompose

RIDGES = (100.0, 10.0, 1.0, 0.1, 0.01, 0.001)
"""Values of n * lam that are tried, in units of the mean modulus of an eigenvalue."""
SWEEPS = 50
"""Rounds of exchanges; in each, every sample is offered one partner of its fold."""
BATCH = 200
"""Permutations that are scored at once."""


def conditional(
    K: Array,
    index: Array,
    logs: Array,
    folds: Sequence[Fold],
    count: int,
    seed: int = 0,
) -> tuple[float, Array]:
    """Return how much the negative part helps, and how much it would by chance.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    index : ndarray of shape (n,)
        Position of each sample's class, from 0.
    logs : ndarray of shape (n, C)
        Log-probabilities that the clipped matrix gives held-out samples.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples; every sample is held out once.
    count : int
        Number of permutations.
    seed : int
        Source of randomness.

    Returns
    -------
    observed : float
        Held-out squared error per sample from the positive directions, minus that
        from all directions: above zero if the negative part helps.
    permuted : ndarray of shape (count,)
        The same with permuted labels.
    """
    clipped, whole = _smoothers(K, folds)
    indicators = np.eye(logs.shape[1])

    def gain(labels: Array) -> Array:
        Y = indicators[labels]
        return _errors(clipped, Y, folds) - _errors(whole, Y, folds)

    rng = np.random.default_rng(seed)
    parts = [
        gain(relabeled(index, logs, folds, min(BATCH, count - start), rng))
        for start in range(0, count, BATCH)
    ]
    return float(gain(index[None])[0]), np.concatenate(parts)


def relabeled(
    index: Array,
    logs: Array,
    folds: Sequence[Fold],
    count: int,
    rng: np.random.Generator,
) -> Array:
    """Return labels exchanged within folds, as likely as a model says.

    Parameters
    ----------
    index, logs, folds, count
        See `conditional`.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (count, n)
        Positions of classes; every fold keeps its number of each class.
    """
    drawn = np.repeat(index[None], count, axis=0)
    at = np.take_along_axis
    for _, held in folds:
        half = len(held) // 2
        order = np.repeat(held[None], count, axis=0)
        for _ in range(SWEEPS):
            order = rng.permuted(order, axis=1)
            i, j = order[:, :half], order[:, half : 2 * half]
            mine, other = at(drawn, i, axis=1), at(drawn, j, axis=1)
            odds = logs[i, other] + logs[j, mine] - logs[i, mine] - logs[j, other]
            swap = rng.random(odds.shape) < expit(odds)
            np.put_along_axis(drawn, i, np.where(swap, other, mine), axis=1)
            np.put_along_axis(drawn, j, np.where(swap, mine, other), axis=1)
    return drawn


def _smoothers(K: Array, folds: Sequence[Fold]) -> tuple[list[Array], list[Array]]:
    """Return what takes training labels to held-out predictions, clipped and whole.

    One array of shape (L, n_held, n_train) per fold.
    """
    clipped, whole = [], []
    for train, held in folds:
        spectrum = decompose(K[np.ix_(train, train)])
        ridges = [r * float(np.abs(spectrum.values).mean()) for r in RIDGES]
        rows = K[np.ix_(held, train)]
        positive, negative = spectrum.positive(), spectrum.negative()
        both = Spectrum(
            np.concatenate([negative.values, positive.values]),
            np.hstack([negative.vectors, positive.vectors]),
        )
        clipped.append(np.stack([_smoother(rows, positive, r) for r in ridges]))
        whole.append(np.stack([_smoother(rows, both, r) for r in ridges]))
    return clipped, whole


def _smoother(rows: Array, kept: Spectrum, ridge: float) -> Array:
    """Return the map of ridge regression with an intercept on some directions.

    The features of any sample are the products of its similarities with the kept
    eigenvectors, over the root of the modulus of the eigenvalue.
    """
    sizes, V = np.abs(kept.values), kept.vectors
    # Weights of the intercept: (|K| + ridge I)^-1 1, scaled to sum to one.
    weights = 1.0 - V @ (sizes / (sizes + ridge) * V.sum(axis=0))
    slope = (rows @ V) * (np.sign(kept.values) / (sizes + ridge)) @ V.T
    rest = 1.0 - slope.sum(axis=1)
    return np.asarray(slope + np.outer(rest, weights / weights.sum()))


def _errors(maps: Sequence[Array], Y: Array, folds: Sequence[Fold]) -> Array:
    """Return held-out squared errors (B,), lam for each fold chosen on the others.

    Y has shape (B, n, C).
    """
    count, n, n_classes = Y.shape
    columns = Y.transpose(1, 0, 2).reshape(n, -1)
    errors = np.empty((len(RIDGES), len(folds), count))
    for f, (train, held) in enumerate(folds):
        for k, smoother in enumerate(maps[f]):
            gap = smoother @ columns[train] - columns[held]
            errors[k, f] = (gap**2).sum(axis=0).reshape(count, n_classes).sum(axis=1)
    others = errors.sum(axis=1, keepdims=True) - errors
    best = others.argmin(axis=0)[None]
    return np.asarray(np.take_along_axis(errors, best, axis=0)[0].sum(axis=0) / n)
