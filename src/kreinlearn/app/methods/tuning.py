"""Folds, cross-validation of a hyper-parameter, and scores on new samples.

Notation: scores (k, c), with c = 1 column for two classes, else one per class.
"""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from kreinlearn._typing import Array
from kreinlearn.app.methods.records import (
    ALL_METHODS,
    Classifier,
    Method,
    get_scores,
    get_status,
)
from kreinlearn.app.runs.records import Record
from kreinlearn.losses import find_link, log_probabilities
from kreinlearn.operators import limit_blas_threads
from kreinlearn.search import Fold

INNER_FOLDS = 5
MAX_FOLD_DRAWS = 20
"""Draws of grouped folds, at most, until each has all classes."""
DIVERGED_STATUSES = ("diverged", "nonfinite")
"""Statuses of fits that count as wrong everywhere, since their result is arbitrary."""
MAX_LOG_LOSS = -float(np.log(np.finfo(float).eps))
"""Log-loss of a diverged fit: the most that scikit-learn's can be."""
TIE_DIGITS = 9
"""Scores that agree to so many decimals are equal."""

CallParams = ParamSpec("CallParams")
CallResult = TypeVar("CallResult")


def count_groups(y: Array, groups: Array) -> dict[str | int | float, int]:
    """Return the number of groups of each class.

    Examples
    --------
    >>> count_groups(np.array([0, 0, 1, 1]), np.array(["a", "b", "b", "b"]))
    {0: 2, 1: 1}
    """
    return {c: len(np.unique(groups[y == c])) for c in np.unique(y).tolist()}


def grouped_folds(y: Array, groups: Array, count: int, seed: int) -> list[Fold]:
    """Return folds that keep groups together, each with samples of all classes.

    Parameters
    ----------
    y, groups : ndarray of shape (n,)
        Labels, and the group of each sample.
    count : int
        Number of folds.
    seed : int
        Random seed.

    Returns
    -------
    list of (train, test)
        Row numbers; every row is held out once.

    Raises
    ------
    ValueError
        If there are too few groups, or too few with samples of some class.
    """
    n_groups, per_class = len(np.unique(groups)), count_groups(y, groups)
    if n_groups < count:
        many = f"{n_groups} group{'s' * (n_groups > 1)}"
        advice = f"use {n_groups} folds" if n_groups > 1 else "name another column"
        raise ValueError(
            f"Groups are held out as a whole, and {count} folds need at least {count} "
            f"of them, got {many}; {advice}."
        )
    rarest = min(per_class, key=per_class.__getitem__)
    if per_class[rarest] < count:
        raise ValueError(
            f"Each of {count} folds needs a group with samples of each class, but "
            f"class {rarest!r} is in {per_class[rarest]} of {n_groups} groups; use "
            "fewer folds."
        )
    for draw in range(MAX_FOLD_DRAWS):
        state = (seed + draw) % 2**32
        splitter = StratifiedGroupKFold(count, shuffle=True, random_state=state)
        folds = list(splitter.split(np.zeros(len(y)), y, groups))
        if all(set(y[part].tolist()) == set(per_class) for f in folds for part in f):
            return folds
    raise ValueError(
        f"No {count} folds were found that keep the {n_groups} groups together and "
        "have samples of each class; use fewer folds."
    )


def inner_folds(
    y: Array, seed: int, least: int = 1, groups: Array | None = None
) -> list[Fold]:
    """Return five stratified folds, or as many as the rarest class has rows or groups.

    There are never fewer than ``least``; some of these may lack a class.
    """
    if groups is not None:
        count = min(INNER_FOLDS, *count_groups(y, groups).values())
        return grouped_folds(y, groups, count, seed)
    rarest = int(np.unique(y, return_counts=True)[1].min())
    count = max(least, min(INNER_FOLDS, rarest))
    splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y))


def held_out_scores(
    method: Method,
    K: Array,
    y: Array,
    folds: Sequence[Fold],
    values: Sequence[float],
    seed: int,
) -> tuple[Array, list[list[str]]]:
    """Return out-of-fold scores of every row, for every value.

    Parameters
    ----------
    method : Method
        The method.
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
        One list per fold; empty if the training rows have a single class.
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
        # The same stream in all folds would correlate their errors.
        fold_seed = seed if method.path is None else (seed + k) % 2**32
        inside, across = K[np.ix_(train, train)], K[np.ix_(test, train)]
        fits = method.compute_path(inside, y[train], across, values, fold_seed)
        columns = own[:1] if is_binary else own
        for j, (found, _) in enumerate(fits):
            if found.shape[1] < len(columns):  # two classes of several
                found = np.hstack([np.zeros_like(found), found])
            scores[j][np.ix_(test, columns)] = found
        statuses.append([status for _, status in fits])
    return scores, statuses


@dataclass(frozen=True)
class Choice:
    """Result of a cross-validation.

    Attributes
    ----------
    ranking : tuple of (int, float)
        Pairs of matrix and value, from the best to the worst.
    scores : ndarray of shape (n_matrices, n_values)
        Mean over the folds of the accuracy, or of minus the log-loss.
    statuses : Counter
        Number of fits by status.
    rows : int
        Number of rows.
    values : tuple of float
        Values that were tried.
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
    """Rank matrices and values by the mean out-of-fold score.

    Parameters
    ----------
    method : Method
        The method.
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

    def score_fold(scores: Array, truth: Array, status: str) -> float:
        if link is None:
            is_second = scores[:, 0] > 0
            guess = is_second if scores.shape[1] == 1 else scores.argmax(axis=1)
            return float((guess == truth).mean()) * (status not in DIVERGED_STATUSES)
        if status in DIVERGED_STATUSES:
            return -MAX_LOG_LOSS
        proba = np.exp(log_probabilities(scores, link))
        return -float(log_loss(truth, proba, labels=np.arange(proba.shape[1])))

    means = np.zeros((len(matrices), len(values)))
    ended: Counter[str] = Counter()
    for i, K in enumerate(matrices):
        scores, statuses = held_out_scores(method, K, y, folds, values, seed)
        each = np.empty((len(values), len(folds)))
        for f, (_, test) in enumerate(folds):
            ended.update(statuses[f])
            for j, status in enumerate(statuses[f] or [""] * len(values)):
                each[j, f] = score_fold(scores[j, test], index[test], status)
        means[i] = each.mean(axis=1)
    order = np.argsort(values)[:: 1 if method.parameter == "C" else -1]
    pairs = [(i, int(j)) for j in order for i in range(len(matrices))]
    pairs.sort(key=lambda pair: -round(float(means[pair]), TIE_DIGITS))  # stable
    ranking = tuple((i, float(values[j])) for i, j in pairs)
    return Choice(ranking, means, ended, len(y), tuple(values))


@dataclass(frozen=True)
class Fitted:
    """A method that was tuned and fitted; ``choice`` is None if it tuned itself."""

    method: Method
    model: Classifier
    choice: Choice | None

    def fields(self) -> Record:
        """Return the status, the chosen parameters, and the statuses of the search."""
        if self.choice is not None:
            return {
                "status": get_status(self.model),
                "chosen": {self.method.parameter: self.choice.value},
                "cv": dict(sorted(self.choice.statuses.items())),
            }
        if hasattr(self.model, "best_params_"):
            chosen = dict(self.model.best_params_)
        else:
            chosen = {"kernel": getattr(self.model, "kernel_", None)}
            chosen |= getattr(self.model, "kernel_params_", None) or {}
            chosen |= {x: getattr(self.model, f"{x}_", None) for x in ("lam", "norm")}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        return {"status": get_status(self.model), "chosen": chosen}


def fit_method(
    name: str,
    X: Array,
    y: Array,
    *,
    fold_seed: int,
    seed: int,
    groups: Array | None = None,
    kernel: Mapping[str, object] | None = None,
) -> Fitted:
    """Tune a method on training rows and fit it to them, without warnings.

    Parameters
    ----------
    name : str
        One of `ALL_METHODS`.
    X : ndarray of shape (n, m), or (n, n)
        Training samples, or their Gram matrix, as the method takes them.
    y : ndarray of shape (n,)
        Labels.
    fold_seed, seed : int
        Seeds of the inner folds, the same for all methods, and of the method itself.
    groups : ndarray of shape (n,), optional
        Groups of rows, which are never split across the inner folds.
    kernel : mapping, optional
        Parameters ``kernel`` and ``kernel_params`` of a method with input "data".
    """
    method, folds = ALL_METHODS[name], inner_folds(y, fold_seed, groups=groups)
    values, seed, choice = method.values(len(y)), seed % 2**32, None
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        limit_blas_threads(len(y)),
    ):
        # Methods that do not converge are part of a comparison.
        warnings.simplefilter("ignore")
        if method.search is not None:
            given = (kernel or {}) if method.input == "data" else {}
            model = method.search(values, folds, **given)
        elif method.parameter is None:
            model = method.build(np.nan, seed)
        else:
            choice = tune(method, [X], y, folds, values, seed=seed)
            model = method.build(method.per_sample(choice.value, len(y)), seed)
        return Fitted(method, model.fit(X, y), choice)


def call_timed(
    function: Callable[CallParams, CallResult],
    *args: CallParams.args,
    **kwargs: CallParams.kwargs,
) -> tuple[CallResult, float]:
    """Return the result of a call, and its seconds."""
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return result, time.perf_counter() - start


def evaluate(
    model: Classifier, X: Array, y: Array, *, max_loss: float = np.inf
) -> Record:
    """Score a fitted model on new samples.

    Parameters
    ----------
    model : estimator
        Fitted.
    X, y : ndarray
        New samples as the model takes them, and their labels.
    max_loss : float
        Largest log-loss of a single sample.

    Returns
    -------
    dict
        Fields of a record: ``acc``, ``bacc``, ``pred_s``, ``truth``; ``ll`` and
        ``proba``, or ``score``. Two classes have one column, that of the second.
    """
    predicted, pred_s = call_timed(model.predict, X)
    fields = {
        "acc": float((predicted == y).mean()),
        "bacc": float(balanced_accuracy_score(y, predicted)),
        "pred_s": pred_s,
        "truth": y,
    }
    is_calibrated = isinstance(model, CalibratedClassifierCV)
    if hasattr(model, "predict_log_proba") or is_calibrated:
        with np.errstate(divide="ignore"):
            logs = (
                np.log(model.predict_proba(X))
                if is_calibrated
                else model.predict_log_proba(X)
            )
        own = logs[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        fields["ll"] = float(-np.maximum(own, -max_loss).mean())
        proba = np.exp(logs)
        fields["proba"] = proba[:, 1] if proba.shape[1] == 2 else proba
    else:
        scores = get_scores(model, X)
        fields["score"] = scores[:, 0] if scores.shape[1] == 1 else scores
    return fields
