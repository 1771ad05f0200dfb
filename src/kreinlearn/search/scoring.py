"""Scores of held-out samples, and weights of models from them.

Shapes: ``scores`` (..., n_held, k) of one or several models; ``logs`` (G, n) the
log-probability that each of G models gave a sample's own class while it was held out.
"""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring

from kreinlearn._typing import Array
from kreinlearn.losses import LOG_FLOOR, Link, log_probabilities
from kreinlearn.search.grid import Fold

PSEUDO_ERRORS = 0.5
"""Errors added to those among held-out samples (Laplace smoothing): a model that was
right on all of sixty samples is not right for sure. Without it, far too small a lam is
chosen where few samples happen to be easy."""
BOOTSTRAP_DRAWS = 500
"""Bootstrap draws; weights change in the third digit between seeds."""
MAX_MODELS, MIN_WEIGHT = 5, 0.05
"""Largest number of models averaged, and smallest weight among them."""


class HeldOutScorer:
    """Score held-out samples with a scikit-learn scorer.

    Parameters
    ----------
    estimator : classifier
        Has the methods that the scorer needs.
    scoring : str or callable
        The scorer.
    y : ndarray of shape (n,)
        Labels.
    weights : ndarray of shape (n,) or None
        Weights of the samples in the scores.
    classes : ndarray
        Sorted labels.
    link : str
        How scores become probabilities.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        scoring: str | Callable[..., float],
        y: Array,
        weights: Array | None,
        classes: Array,
        link: Link,
    ) -> None:
        self.classes, self.link, self.y, self.weights = classes, link, y, weights
        self.is_log_loss = scoring == "neg_log_loss"
        self.scorer = check_scoring(estimator, scoring=scoring)

    def take(self, rows: Array) -> "HeldOutScorer":
        """Return a scorer of some of the samples."""
        part = copy(self)
        part.y, part.weights = self.y[rows], self._take_weights(rows)
        return part

    def score(self, scores: list[Array], folds: Sequence[Fold]) -> tuple[Array, Array]:
        """Score L models on all folds.

        Parameters
        ----------
        scores : list of ndarray of shape (L, n_held, k)
            Scores of the held-out samples of each fold.
        folds : sequence of pairs of ndarray
            Training and held-out samples.

        Returns
        -------
        fold_scores : ndarray of shape (L, n_folds)
            Larger is better.
        criteria : ndarray of shape (L,)
            Criteria of the choice: the mean, for log-loss with `PSEUDO_ERRORS`.
        """
        rows = [held for _, held in folds]
        if self.is_log_loss:
            return self._score_log_loss(scores, rows)
        found = np.empty((len(scores[0]), len(rows)))
        for f, (own, held) in enumerate(zip(scores, rows, strict=True)):
            weights = self._take_weights(held)
            extra = {} if weights is None else {"sample_weight": weights}
            positions = np.arange(len(held))[:, None]
            for k, one in enumerate(own):
                model = _FixedScores(self.classes, one, self.link)
                found[k, f] = self.scorer(model, positions, self.y[held], **extra)
        return found, _replace_nan(found.mean(axis=1))

    def compute_logs(self, scores: Array, rows: Array) -> tuple[Array, Array]:
        """Return log-probabilities of true classes, and those of a pseudo-error.

        Parameters
        ----------
        scores : ndarray of shape (..., n_held, k)
            Scores.
        rows : ndarray of shape (n_held,)
            The samples.

        Returns
        -------
        own : ndarray of shape (..., n_held)
            Log-probability of each sample's own class.
        error : ndarray of shape (...)
            Mean log-probability of the true class if each prediction were wrong: the
            true class is then drawn from the others, by their probabilities.
        """
        logs = log_probabilities(scores, self.link)
        label = np.searchsorted(self.classes, self.y[rows])
        own = np.asarray(logs[..., np.arange(len(rows)), label])
        others = np.sort(np.maximum(logs, LOG_FLOOR), axis=-1)[..., :-1]
        each = (softmax(others, axis=-1) * others).sum(axis=-1)
        return own, np.average(each, axis=-1, weights=self._take_weights(rows))

    def _score_log_loss(
        self, scores: list[Array], rows: list[Array]
    ) -> tuple[Array, Array]:
        """Score by log-loss, all folds at once; a fold need not hold every class."""
        held = np.concatenate(rows)
        logs, error = self.compute_logs(np.concatenate(scores, axis=1), held)
        ends = np.cumsum([len(each) for each in rows])[:-1]
        means = [
            np.average(own, axis=1, weights=self._take_weights(each))
            for own, each in zip(np.split(logs, ends, axis=1), rows, strict=True)
        ]
        found = np.stack(means, axis=1)
        n = len(held)  # whatever the sum of the weights
        sums = n * found.mean(axis=1) + PSEUDO_ERRORS * error
        criteria = sums / (n + PSEUDO_ERRORS)
        return found, _replace_nan(criteria)

    def _take_weights(self, rows: Array) -> Array | None:
        return None if self.weights is None else self.weights[rows]


def _replace_nan(criteria: Array) -> Array:
    """Return criteria with the worst value where a scorer has returned NaN."""
    return np.where(np.isnan(criteria), -np.inf, criteria)


class _FixedScores(ClassifierMixin, BaseEstimator):
    """A classifier with known scores; X are positions."""

    def __init__(self, classes: Array, scores: Array, link: Link) -> None:
        self.classes, self.scores, self.link = classes, scores, link
        self.classes_ = classes

    def decision_function(self, X: Array) -> Array:
        """Return the scores."""
        found = self.scores[X[:, 0]]
        return found[:, 0] if found.shape[1] == 1 else found

    def predict(self, X: Array) -> Any:
        """Return the labels."""
        found = self.decision_function(X)
        place = found.argmax(axis=1) if found.ndim == 2 else (found > 0).astype(int)
        return self.classes[place]

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities."""
        return np.exp(log_probabilities(self.scores[X[:, 0]], self.link))


def weigh_models(
    logs: Array, weights: Array, error: Array, seed: int = 0
) -> tuple[Array, Array]:
    """Return weights of models from their held-out log-likelihoods.

    Pseudo Bayesian model averaging with the Bayesian bootstrap [1]_: the weight is the
    exponential of the summed log-likelihood, averaged over random weights of the
    samples, so that models of equal quality get similar weights.

    Parameters
    ----------
    logs : ndarray of shape (G, n)
        Held-out log-probabilities of the samples' own classes.
    weights : ndarray of shape (n,)
        Weights of the samples.
    error : ndarray of shape (G,)
        Log-probability of a pseudo-error, which counts as `PSEUDO_ERRORS` samples.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    weights : ndarray of shape (G,)
        With sum one; zero but for at most `MAX_MODELS` models.
    draws : ndarray of shape (G, `BOOTSTRAP_DRAWS`)
        Weights of these models in each draw of the bootstrap.

    References
    ----------
    .. [1] Y. Yao, A. Vehtari, D. Simpson, A. Gelman, "Using stacking to average
       Bayesian predictive distributions", Bayesian Analysis 13 (2018).
    """
    logs = np.column_stack([logs, error])
    weights = np.append(weights, PSEUDO_ERRORS * weights.mean())
    # One impossible event would outweigh everything: like scikit-learn's log-loss,
    # clip probabilities at the machine epsilon.
    floor = float(np.log(np.finfo(float).eps))
    rng = np.random.default_rng(seed)
    bootstrap = rng.dirichlet(np.ones(logs.shape[1]), BOOTSTRAP_DRAWS)
    bootstrap *= weights
    bootstrap *= weights.sum() / bootstrap.sum(axis=1, keepdims=True)
    draws = softmax(np.maximum(logs, floor) @ bootstrap.T, axis=0)
    found = draws.mean(axis=1)
    found[np.argsort(-found, kind="stable")[MAX_MODELS:]] = 0.0
    found[found < MIN_WEIGHT * found.sum()] = 0.0
    draws = np.where(found[:, None] > 0, draws, 0.0)
    return np.asarray(found / found.sum()), draws


def stack_models(
    scorer: HeldOutScorer, scores: Array, rows: Array, groups: Array
) -> tuple[Array, Array, Array]:
    """Return the weights of a sum of models that maximize their held-out likelihood.

    Weights are not negative and need not sum to one, such that models on independent
    data add up [1]_. As in the choice of lam, `PSEUDO_ERRORS` are added.

    Parameters
    ----------
    scorer : HeldOutScorer
        Scores the sums.
    scores : ndarray of shape (G, n, k)
        Held-out scores of G models.
    rows : ndarray of shape (n,)
        The samples.
    groups : ndarray of shape (n,)
        The fold that held out each sample.

    Returns
    -------
    weights : ndarray of shape (G,)
        From all samples.
    logs : ndarray of shape (n,)
        Log-probabilities of the samples' own classes, with weights from other folds.
    draws : ndarray of shape (G, n_folds)
        These weights.

    References
    ----------
    .. [1] D. H. Wolpert, "Stacked generalization", Neural Networks 5(2), 1992.
    """
    from scipy.optimize import minimize

    given = np.ones(len(rows)) if scorer.weights is None else scorer.weights[rows]
    start = np.full(len(scores), 1 / len(scores))

    def fit(used: Array) -> Array:
        own, weights = scores[:, used], given[used] / given[used].mean()

        def objective(w: Array) -> float:
            logs, error = scorer.compute_logs(np.tensordot(w, own, 1), rows[used])
            return float(-(weights @ logs + PSEUDO_ERRORS * error) / len(weights))

        bounds = [(0, None)] * len(start)
        return np.asarray(minimize(objective, start, bounds=bounds).x)

    every = np.unique(groups)
    draws = np.column_stack([fit(np.flatnonzero(groups != f)) for f in every])
    logs = np.empty(len(rows))
    for f, own in zip(every, draws.T, strict=True):
        held = groups == f
        total = np.tensordot(own, scores[:, held], 1)
        logs[held] = scorer.compute_logs(total, rows[held])[0]
    return fit(np.arange(len(rows))), logs, draws
