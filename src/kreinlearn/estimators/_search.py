"""Searching settings by cross-validation: what is tried, how it is judged and weighed.

Letters: ``scores`` (n_held, k) of one setting on one fold; G models; ``logs`` (G, n)
log-probability that a model gave each sample's own class while it was held out.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid

from kreinlearn._typing import Array
from kreinlearn.crossval import Fold, Held
from kreinlearn.estimators._inputs import (
    AnyKernel,
    Keywords,
    is_distance,
    is_pairwise,
    kernels_of,
    learns_form,
)
from kreinlearn.estimators._outputs import Probable, decision, labels_of
from kreinlearn.kernels import KERNELS, Similarities
from kreinlearn.kernels.distances import form_settings
from kreinlearn.losses import LOG_FLOOR, Link, log_probabilities

Setting = tuple[AnyKernel, Keywords]
"""A kernel and its parameters."""
UNSEEN_ERRORS = 1.0
"""Errors that are added to those among held-out samples (Laplace's rule of succession):
who was right on all of sixty samples is not right for sure.

Without it, now and then far too small a lam is chosen where few samples happen to be
easy: on ten halves of monks3 (61 samples) the mean log-loss is 0.35 with it and 0.47
without, on sonar 0.43 and 0.47. On fifteen real similarities it costs a little, 0.184
against 0.176.
"""
DRAWS = 500
"""Bootstrap draws; weights change in the third digit between seeds."""
NEGLIGIBLE_WEIGHT = 0.01
"""Models with a smaller weight are left out."""
ENOUGH_WEIGHT = 0.95
"""Once the best models have this share of all weight, the others are left out."""


def kernel_settings(
    kernel: AnyKernel | Sequence[AnyKernel],
    similarities: Similarities | None,
    fixed: Keywords | None = None,
    grid: Mapping[Any, Any] | None = None,
) -> list[Setting]:
    """Return every kernel with every combination of its parameters.

    Parameters
    ----------
    kernel : str, callable or sequence of these
        What to try.
    similarities : Similarities
        Those of the training samples, for the scale of their distances.
    fixed : mapping, optional
        Parameters that are not tried.
    grid : mapping, optional
        Values by parameter; for several kernels such mappings by kernel. By default,
        and for kernels left out, `kreinlearn.kernels.Similarities.grid`; for
        distances `kreinlearn.kernels.distances.form_settings`.

    Returns
    -------
    list of (kernel, dict)
        In the order of the kernels.

    Examples
    --------
    >>> from kreinlearn.kernels import Similarities
    >>> rows = Similarities([[0.0], [1.0]])
    >>> kernel_settings("tl1", rows, grid={"ratio": [0.3, 0.7]})
    [('tl1', {'ratio': 0.3}), ('tl1', {'ratio': 0.7})]
    >>> kernel_settings(("precomputed",), None)
    [('precomputed', {})]
    """
    kernels, fixed = kernels_of(kernel), dict(fixed or {})
    settings: list[Setting] = []
    for each in kernels:
        tried = grid
        if grid is not None and len(kernels) > 1:
            tried = grid.get(each)
        if learns_form(each):
            settings += _learned_settings(each, fixed, tried)
            continue
        if is_pairwise(each):
            settings += _pairwise_settings(each, fixed, tried)
            continue
        if tried is None:
            own = {} if similarities is None else similarities.grid(each, fixed)
            tried = {name: own[name] for name in own if name not in fixed}
        settings += [(each, {**fixed, **one}) for one in ParameterGrid(tried)]
    return settings


def _learned_settings(
    kernel: AnyKernel, fixed: Keywords, grid: Mapping[Any, Any] | None
) -> list[Setting]:
    """Return what is tried with a distance: forms, for each setting of the measure."""
    measure = KERNELS[str(kernel)].measure
    assert measure is not None
    own = {k: v for k, v in fixed.items() if k in measure.params}
    form = {k: v for k, v in fixed.items() if k not in measure.params}
    grid = dict(grid or {})
    of_measure = {k: grid.pop(k) for k in list(grid) if k in measure.params}
    forms = form_settings(form, list(ParameterGrid(grid)) if grid else None)
    return [
        (kernel, {**own, **one, **each})
        for one in ParameterGrid(of_measure)
        for each in forms
    ]


def _pairwise_settings(
    kernel: AnyKernel, fixed: Keywords, grid: Mapping[Any, Any] | None
) -> list[Setting]:
    """Return what is tried with a given matrix: forms of distances, or nothing."""
    tried = None if grid is None else list(ParameterGrid(grid))
    if is_distance(kernel):
        return [(kernel, one) for one in form_settings(fixed, tried)]
    if grid:
        raise ValueError(
            "'kernel_grid' must be empty with kernel='precomputed', which has nothing "
            f"to try, got {grid!r}."
        )
    return [(kernel, {})]  # "check" is no setting: the matrix has been checked


class Judged(NamedTuple):
    """How values of lam did on held-out samples.

    ``scores`` (n_lams, n_folds), NaN where nothing was tried; ``criteria`` (n_lams,)
    are what lam is chosen by, the worst of all in place of NaN; ``is_tried`` (n_lams,).
    """

    scores: Array
    criteria: Array
    is_tried: Array

    @property
    def best(self) -> int:
        """The place of the best lam."""
        return int(self.criteria.argmax())

    def next_lam(self) -> int | None:
        """Return the place of the lam next to the best, if it was not tried."""
        for place in (self.best + 1, self.best - 1):
            if 0 <= place < len(self.is_tried) and not self.is_tried[place]:
                return place
        return None

    def joined(self, other: "Judged") -> "Judged":
        """Return what either of two has tried."""
        mine = self.is_tried
        return Judged(
            np.where(mine[:, None], self.scores, other.scores),
            np.where(mine, self.criteria, other.criteria),
            mine | other.is_tried,
        )


class Judge:
    """Scores held-out samples with any scikit-learn scorer.

    Parameters
    ----------
    estimator : Probable
        Knows its ``classes_``, and how scores become probabilities.
    scoring : str or callable
        The scorer.
    y : ndarray of shape (n,)
        Labels.
    weights : ndarray of shape (n,) or None
        Weights of the samples in the scores.
    """

    def __init__(
        self,
        estimator: Probable,
        scoring: str | Callable[..., float],
        y: Array,
        weights: Array | None,
    ) -> None:
        self.classes, self.link = estimator.classes_, estimator._link
        self.y, self.weights = y, weights
        self.by_log_loss = scoring == "neg_log_loss"
        self.scorer = check_scoring(estimator, scoring=scoring)

    def among(self, rows: Array) -> "Judge":
        """Return a judge of some of the samples."""
        one = copy(self)
        one.y, one.weights = self.y[rows], self._weights_of(rows)
        return one

    def logs(self, scores: Array, rows: Array) -> Array:
        """Return the log-probabilities of the samples' own classes, (..., n_held)."""
        return self._own(log_probabilities(scores, self.link), rows)

    def _own(self, logs: Array, rows: Array) -> Array:
        own = np.searchsorted(self.classes, self.y[rows])
        return np.asarray(logs[..., np.arange(len(rows)), own])

    def unseen_errors(self, scores: Array, rows: Array) -> Array:
        """Return the mean log-probability of the true class if each answer were wrong.

        The true class is then another one, by the probabilities of the others. Of
        scores of shape (..., n_held, k).
        """
        return self._unseen(log_probabilities(scores, self.link), rows)

    def _unseen(self, logs: Array, rows: Array) -> Array:
        others = np.sort(np.maximum(logs, LOG_FLOOR), axis=-1)[..., :-1]
        each = (softmax(others, axis=-1) * others).sum(axis=-1)
        return np.asarray(np.average(each, axis=-1, weights=self._weights_of(rows)))

    def _weights_of(self, rows: Array) -> Array | None:
        return None if self.weights is None else self.weights[rows]

    def judged(self, held: Held, folds: Sequence[Fold]) -> Judged:
        """Return how the values of lam did that were tried."""
        tried = np.asarray(~np.isnan(held.scores[0]).all(axis=(1, 2)))
        rows = [out for _, out in folds]
        each = [scores[tried] for scores in held.scores]
        judge = self._log_loss if self.by_log_loss else self._scored
        scores = np.full((len(tried), len(folds)), np.nan)
        criteria = np.full(len(tried), -np.inf)
        scores[tried], found = judge(each, rows)
        criteria[tried] = np.where(np.isnan(found), -np.inf, found)
        return Judged(scores, criteria, tried)

    def _log_loss(self, scores: list[Array], rows: list[Array]) -> tuple[Array, Array]:
        """Judge by log-loss, all folds at once; a fold need not hold every class.

        In what is chosen by, `UNSEEN_ERRORS` are added to the errors that were seen.
        """
        out = np.concatenate(rows)
        logs = log_probabilities(np.concatenate(scores, axis=1), self.link)
        n = len(out)  # whatever the sum of the weights
        ends = np.cumsum([len(each) for each in rows])[:-1]
        means = [
            np.average(own, axis=1, weights=self._weights_of(each))
            for own, each in zip(
                np.split(self._own(logs, out), ends, axis=1), rows, strict=True
            )
        ]
        found = np.stack(means, axis=1)
        unseen = UNSEEN_ERRORS * self._unseen(logs, out)
        return found, (n * found.mean(axis=1) + unseen) / (n + UNSEEN_ERRORS)

    def _scored(self, scores: list[Array], rows: list[Array]) -> tuple[Array, Array]:
        """Judge by the scorer, one model after the other."""
        found = np.empty((len(scores[0]), len(rows)))
        for f, (each, out) in enumerate(zip(scores, rows, strict=True)):
            w = self._weights_of(out)
            extra = {} if w is None else {"sample_weight": w}
            positions = np.arange(len(out))[:, None]
            for k, one in enumerate(each):
                model = _HeldOut(self.classes, one, self.link)
                found[k, f] = self.scorer(model, positions, self.y[out], **extra)
        return found, found.mean(axis=1)


class _HeldOut(ClassifierMixin, BaseEstimator):
    """A classifier that answers with scores found before; X are positions."""

    def __init__(self, classes: Array, scores: Array, link: Link) -> None:
        self.classes, self.scores, self.link = classes, scores, link
        self.classes_ = classes

    def decision_function(self, X: Array) -> Array:
        """Return the scores."""
        return decision(self.scores[X[:, 0]])

    def predict(self, X: Array) -> Array:
        """Return the labels."""
        return labels_of(self.scores[X[:, 0]], self.classes)

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities."""
        return np.exp(log_probabilities(self.scores[X[:, 0]], self.link))


Pick = tuple[int, int, int]
"""Positions of a kernel setting, a norm and a lam in the scores."""


def pick(
    judged: Sequence[Mapping[str, Judged]], norms: Sequence[str]
) -> tuple[list[Pick], int]:
    """Return the best lam of each kernel setting and norm, and the best of all.

    Ties go to the larger lam, then to what comes first.

    Parameters
    ----------
    judged : sequence of mappings
        How values of lam, which decrease, did in each setting, by norm.
    norms : sequence of str
        The order of the norms.

    Returns
    -------
    picks : list of (int, int, int)
        Positions, for each setting and norm that was tried.
    best : int
        Position of the best among them.
    """
    picks, criteria = [], []
    for i, each in enumerate(judged):
        for j, norm in enumerate(norms):
            if norm in each:
                place = each[norm].best
                picks.append((i, j, place))
                criteria.append(each[norm].criteria[place])
    best = max(range(len(picks)), key=lambda g: (criteria[g], -picks[g][2], -g))
    return picks, best


def pooling_weights(logs: Array, weights: Array, seed: int = 0) -> Array:
    """Return how much each model should count, by its held-out log-likelihood.

    Pseudo Bayesian model averaging with the Bayesian bootstrap [1]_: a model counts
    by the exponential of its summed log-likelihood, averaged over random weights of
    the samples, so that models that cannot be told apart count alike. It has no
    constant to tune.

    Parameters
    ----------
    logs : ndarray of shape (G, n)
        Held-out log-probabilities of the samples' own classes.
    weights : ndarray of shape (n,)
        Weights of the samples.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    ndarray of shape (G,)
        Nonnegative, summing to one; negligible ones are zero.

    References
    ----------
    .. [1] Y. Yao, A. Vehtari, D. Simpson, A. Gelman, "Using stacking to average
       Bayesian predictive distributions", Bayesian Analysis 13 (2018).
    """
    n = logs.shape[1]
    # An impossible event would outweigh everything: as scikit-learn's log-loss does,
    # probabilities end at the spacing of the precision.
    floor = float(np.log(np.finfo(float).eps))
    bootstrap = np.random.default_rng(seed).dirichlet(np.ones(n), DRAWS)
    bootstrap *= weights
    bootstrap *= weights.sum() / bootstrap.sum(axis=1, keepdims=True)
    total = np.maximum(logs, floor) @ bootstrap.T
    each = np.exp(total - total.max(axis=0))
    pooled = (each / each.sum(axis=0)).mean(axis=1)
    pooled[pooled < min(NEGLIGIBLE_WEIGHT, pooled.max())] = 0.0
    order = np.argsort(-pooled, kind="stable")
    before = np.cumsum(pooled[order]) - pooled[order]
    pooled[order[before >= ENOUGH_WEIGHT * pooled.sum()]] = 0.0
    return np.asarray(pooled / pooled.sum())
