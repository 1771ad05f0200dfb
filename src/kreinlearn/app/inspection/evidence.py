"""Held-out predictions with and without the negative part, and two tests.

Logistic regression learns from the matrix, from its repairs, and from its negative
part alone, on the same folds. The matrix of the training samples is repaired, and the
repair is extended to the held-out samples.

The conditional permutation test [1]_ compares ridge regression on the positive
eigenvectors of the training samples with ridge regression on all of them. If the
negative part carries no further information about the labels, two samples may exchange
labels with the odds that the clipped matrix gives to the exchange. Ridge regression is
a linear map of the labels: a permutation costs one product with matrices that are
computed once.

Notation: ``K`` (n, n) symmetric; ``logs`` (n, C) log-probabilities of C classes; S
settings of lam and norm; L values of lam; B permutations.

References
----------
.. [1] T. B. Berrett, Y. Wang, R. F. Barber, R. J. Samworth, "The conditional
   permutation test for independence while controlling for confounders", Journal of the
   Royal Statistical Society B 82 (2020).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from kreinlearn._typing import Array
from kreinlearn.app import methods
from kreinlearn.app.methods import ALL_METHODS, Method, held_out_scores
from kreinlearn.app.runs import Record
from kreinlearn.losses import find_link, log_probabilities
from kreinlearn.operators import limit_blas_threads
from kreinlearn.search import UNITS, Fold
from kreinlearn.spectrum.decompose import Spectrum, decompose

RIDGE_UNITS = (100.0, 10.0, 1.0, 0.1, 0.01, 0.001)
"""Values of n lam of the ridge regression, in units of the mean absolute eigenvalue."""
EXCHANGE_SWEEPS = 50
"""Rounds of exchanges; in each, every sample is offered one partner of its fold."""
PERMUTATION_BATCH = 200
"""Permutations that are scored at once."""
UNREPAIRED_NAME = "unrepaired"
Maps = list[Array]
"""Linear maps of labels to predictions, one for each ridge."""
Advance = Callable[[], object]
"""Called after each fold."""


def _score_negative_part(
    K: Array, y: Array, K_new: Array, values: methods.Values, seed: int
) -> methods.Scores:
    """Learn from -K on its negative eigenvectors, extended to new samples."""
    part = decompose(K).negative()
    directions = part.vectors / np.sqrt(-part.values)
    features, new = K @ directions, K_new @ directions
    K, K_new = features @ features.T, new @ features.T
    return _search_path("Krein norm").compute_path(K, y, K_new, values, seed)


def _search_path(name: str) -> Method:
    return replace(ALL_METHODS[name], path=ALL_METHODS[name].search_path)


TREATMENT_METHODS: dict[str, Method] = {
    UNREPAIRED_NAME: _search_path("Krein norm"),
    "clip": _search_path("clip + KLR"),
    "flip": _search_path("flip + KLR"),
    "negative part alone": replace(
        ALL_METHODS["Krein norm"], path=_score_negative_part
    ),
}
"""Matrices to learn from, in the order of the tables."""


@dataclass(frozen=True)
class HeldOut:
    """Out-of-fold predictions.

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
        """Return accuracy and log-loss, which is bounded as in scikit-learn."""
        right = self.logs.argmax(axis=1) == self.index
        losses = np.minimum(-self.own, methods.MAX_LOG_LOSS)
        return {"accuracy": float(right.mean()), "log_loss": float(losses.mean())}


def predict_model(
    X: Array, index: Array, folds: Sequence[Fold], kernel: Record, advance: Advance
) -> HeldOut:
    """Return out-of-fold predictions of the model that `krein fit` builds.

    Parameters
    ----------
    X : ndarray of shape (n, m), or (n, n)
        Features, or a matrix of similarities or distances.
    index, folds, advance
        See `predict_treatments`.
    kernel : mapping
        Parameters ``kernel`` and ``kernel_params`` of `KreinLogisticRegressionCV`.
    """
    logs = np.empty((len(index), int(index.max()) + 1))
    is_matrix = kernel.get("kernel") in ("distance", "precomputed")
    for train, held in folds:
        columns = train if is_matrix else np.arange(X.shape[1])
        rows = X[np.ix_(train, columns)]
        fitted = methods.fit_method(methods.KREIN_CV, rows, index[train], kernel=kernel)
        logs[held] = fitted.model.predict_log_proba(X[np.ix_(held, columns)])
        advance()
    return HeldOut(index, logs)


def predict_treatments(
    K: Array, index: Array, folds: Sequence[Fold], advance: Advance
) -> dict[str, HeldOut]:
    """Return out-of-fold predictions from a matrix and from its repairs.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    index : ndarray of shape (n,)
        Position of each sample's class, from 0.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples; every sample is held out once.
    advance : callable
        Called after each fold.

    Returns
    -------
    dict of str to HeldOut
        By name of the treatment. The unrepaired matrix has the better of both norms.

    Notes
    -----
    The settings for a fold, lam and norm, are those that predict the *other* folds
    best by log-loss. With the norm a'|K|a, learning from K is the same as learning
    from the flipped matrix, extended exactly.
    """
    n, n_classes = len(K), int(index.max()) + 1
    unit = float(np.abs(np.linalg.eigvalsh(K)).mean())
    lams = [each * unit / n for each in UNITS]
    shape = (len(lams), n, 1 if n_classes == 2 else n_classes)
    found = {treatment: np.empty(shape) for treatment in TREATMENT_METHODS}
    for fold in folds:
        with limit_blas_threads(n):
            for treatment, method in TREATMENT_METHODS.items():
                scores, _ = held_out_scores(method, K, index, [fold], lams, seed=0)
                found[treatment][:, fold[1]] = scores[:, fold[1]]
        advance()
    found[UNREPAIRED_NAME] = np.concatenate([found[UNREPAIRED_NAME], found["flip"]])
    link = find_link(n_classes, multinomial=True)
    for name, scores in found.items():
        found[name] = np.stack([log_probabilities(each, link) for each in scores])
    return {name: _select_settings(logs, index, folds) for name, logs in found.items()}


def _select_settings(logs: Array, index: Array, folds: Sequence[Fold]) -> HeldOut:
    """Return the predictions of each fold by the setting best on the other folds.

    ``logs`` of shape (S, n, C) holds the log-probabilities by every setting.
    """
    own = np.maximum(logs[:, np.arange(len(index)), index], -methods.MAX_LOG_LOSS)
    sums = np.stack([own[:, held].sum(axis=1) for _, held in folds], axis=1)
    best = (sums.sum(axis=1, keepdims=True) - sums).argmax(axis=0)
    picked = np.empty(logs.shape[1:])
    for setting, (_, held) in zip(best, folds, strict=True):
        picked[held] = logs[setting, held]
    return HeldOut(index, picked)


def exchange_differences(first: Array, second: Array, count: int, seed: int) -> Array:
    """Return mean differences after exchanging the two values of random samples.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Two values of each sample.
    count : int
        Number of permutations.
    seed : int
        Random seed.

    Returns
    -------
    ndarray of shape (count,)
        Mean of ``first - second``, each sample's pair exchanged with probability 1/2.

    Examples
    --------
    >>> import numpy as np
    >>> exchange_differences(np.ones(2), np.zeros(2), 4, seed=0).round(1)
    array([ 0., -1.,  1.,  1.])
    """
    n, rng = len(first), np.random.default_rng(seed)
    signs = [np.where(rng.random(n) < 0.5, -1.0, 1.0) for _ in range(count)]
    return np.array([float(each @ (first - second)) for each in signs]) / n


def permute_conditionally(
    K: Array, clipped: HeldOut, folds: Sequence[Fold], count: int, seed: int
) -> tuple[float, Array]:
    """Return the gain by the negative part, and the gains with permuted labels.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    clipped : HeldOut
        Labels, and out-of-fold predictions of the clipped matrix.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples; every sample is held out once.
    count : int
        Number of permutations.
    seed : int
        Random seed.

    Returns
    -------
    observed : float
        Held-out squared error per sample from the positive eigenvectors, minus that
        from all eigenvectors: above zero if the negative part helps.
    permuted : ndarray of shape (count,)
        The same with permuted labels.
    """
    index, logs = clipped.index, clipped.logs
    positive, full = zip(*(_compute_smoothers(K, *fold) for fold in folds), strict=True)

    def gain(labels: Array) -> Array:
        Y = np.eye(logs.shape[1])[labels]
        return _compute_errors(positive, Y, folds) - _compute_errors(full, Y, folds)

    rng = np.random.default_rng(seed)
    parts = [
        gain(permute_labels(index, logs, folds, min(PERMUTATION_BATCH, count - k), rng))
        for k in range(0, count, PERMUTATION_BATCH)
    ]
    return float(gain(index[None])[0]), np.concatenate(parts)


def permute_labels(
    index: Array, logs: Array, folds: Sequence[Fold], count: int, rng: Generator
) -> Array:
    """Return ``count`` permutations of labels within folds, with the odds of ``logs``.

    The shape is (count, n); every fold keeps its number of each class.
    """
    drawn = np.repeat(index[None], count, axis=0)
    at = np.take_along_axis
    for _, held in folds:
        half = len(held) // 2
        order = np.repeat(held[None], count, axis=0)
        for _ in range(EXCHANGE_SWEEPS):
            order = rng.permuted(order, axis=1)
            i, j = order[:, :half], order[:, half : 2 * half]
            mine, other = at(drawn, i, axis=1), at(drawn, j, axis=1)
            odds = logs[i, other] + logs[j, mine] - logs[i, mine] - logs[j, other]
            swap = rng.random(odds.shape) < expit(odds)
            np.put_along_axis(drawn, i, np.where(swap, other, mine), axis=1)
            np.put_along_axis(drawn, j, np.where(swap, mine, other), axis=1)
    return drawn


def _compute_smoothers(K: Array, train: Array, held: Array) -> tuple[Maps, Maps]:
    """Return maps from training labels to held-out predictions, clipped and full.

    One array of shape (n_held, n_train) for each ridge.
    """
    spectrum = decompose(K[np.ix_(train, train)])
    ridges = [r * float(np.abs(spectrum.values).mean()) for r in RIDGE_UNITS]
    rows = K[np.ix_(held, train)]
    positive, negative = spectrum.positive(), spectrum.negative()
    both = Spectrum(
        np.concatenate([negative.values, positive.values]),
        np.hstack([negative.vectors, positive.vectors]),
    )
    clipped = [_compute_smoother(rows, positive, ridge) for ridge in ridges]
    return clipped, [_compute_smoother(rows, both, ridge) for ridge in ridges]


def _compute_smoother(rows: Array, kept: Spectrum, ridge: float) -> Array:
    """Return the linear map of ridge regression with an intercept on eigenvectors.

    The features of a sample are the products of its similarities with the
    eigenvectors, over the root of the absolute eigenvalue.
    """
    sizes, V = np.abs(kept.values), kept.vectors
    # Weights of the intercept: (|K| + ridge I)^-1 1, scaled to sum to one.
    weights = 1.0 - V @ (sizes / (sizes + ridge) * V.sum(axis=0))
    slope = (rows @ V) * (np.sign(kept.values) / (sizes + ridge)) @ V.T
    rest = 1.0 - slope.sum(axis=1)
    return np.asarray(slope + np.outer(rest, weights / weights.sum()))


def _compute_errors(maps: Sequence[Maps], Y: Array, folds: Sequence[Fold]) -> Array:
    """Return held-out squared errors (B,), with lam chosen on the other folds.

    Y has shape (B, n, C).
    """
    count, n, n_classes = Y.shape
    columns = Y.transpose(1, 0, 2).reshape(n, -1)
    errors = np.empty((len(RIDGE_UNITS), len(folds), count))
    for f, (train, held) in enumerate(folds):
        for k, smoother in enumerate(maps[f]):
            gap = smoother @ columns[train] - columns[held]
            errors[k, f] = (gap**2).sum(axis=0).reshape(count, n_classes).sum(axis=1)
    best = (errors.sum(axis=1, keepdims=True) - errors).argmin(axis=0)[None]
    return np.asarray(np.take_along_axis(errors, best, axis=0)[0].sum(axis=0) / n)
