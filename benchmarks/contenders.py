"""The methods of `which_method`: each learns one fold, its settings chosen inside.

Settings of what gives probabilities are chosen by log-loss, those of support vector
machines by accuracy; five inner folds on the training rows each time. Repairs before a
logistic regression see all training rows of the outer fold at once, without labels, so
that its grid is one block; those before a support vector machine are made anew in every
inner fold.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from cases import Fold
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegressionCV, KreinSVC, SpectrumRepair
from kreinlearn._typing import Array

INNER = StratifiedKFold(5, shuffle=True, random_state=0)
COSTS = 10.0 ** np.arange(-4, 5)
"""C of support vector machines, in units of one over half the mean squared distance."""
STEPS = 1_000_000
"""Most steps of LIBSVM, which need not end where K is indefinite and C is large."""
NEIGHBORS = (1, 3, 5, 7, 11, 15, 21)
SMOOTHING = (1.0, 0.1, 0.01, 0.001)
"""Votes that each class has from the start."""


class Learned(NamedTuple):
    """Labels and probabilities (None: there are none) of test rows, and settings."""

    labels: Array
    proba: Array | None
    chosen: dict[str, Any]


# -- logistic regression ---------------------------------------------------------------


def logistic(
    fold: Fold,
    y: Array,
    *,
    norms: tuple[str, ...] | None = None,
    repair: str | None = None,
) -> Learned:
    """Learn our estimator, all that is not given as it comes."""
    settings: dict[str, Any] = {} if norms is None else {"norms": norms}
    K_train, K_test = fold.K_train, fold.K_test
    if repair is not None:
        change = SpectrumRepair(repair)
        K_train, K_test = change.fit_transform(K_train), change.transform(K_test)
    model = KreinLogisticRegressionCV(kernel="precomputed", **settings)
    model.fit(K_train, y)
    chosen = {"norm": model.norm_, "n_lam": model.lam_ * len(y)}
    return Learned(model.predict(K_test), model.predict_proba(K_test), chosen)


def rows_as_features(fold: Fold, y: Array) -> Learned:
    """Learn scikit-learn's logistic regression of the rows of K, standardized."""
    scaler = StandardScaler().fit(fold.K_train)
    search = ridge(10.0 ** np.arange(-3, 6)).fit(scaler.transform(fold.K_train), y)
    X_test = scaler.transform(fold.K_test)
    return Learned(
        search.predict(X_test), search.predict_proba(X_test), search.best_params_
    )


def ridge(costs: Array) -> GridSearchCV:
    """Return scikit-learn's logistic regression of features, C chosen by log-loss."""
    model = LogisticRegression(max_iter=1000)
    return GridSearchCV(model, {"C": costs}, scoring="neg_log_loss", cv=INNER)


# -- support vector machines -----------------------------------------------------------


def machine(fold: Fold, y: Array, model: BaseEstimator) -> Learned:
    """Learn a support vector machine, and probabilities from held-out decision values.

    C is chosen by accuracy. With that C, decision values of the training rows are
    computed while they are held out, and a logistic regression learns the labels from
    them: the values of the test rows come from other samples, too. Labels are the
    machine's own.
    """
    name = "svc__C" if isinstance(model, Pipeline) else "C"
    search = GridSearchCV(model, {name: COSTS / half_squared(fold.K_train)}, cv=INNER)
    search.fit(fold.K_train, y)
    held_out = cross_val_predict(
        search.best_estimator_, fold.K_train, y, cv=INNER, method="decision_function"
    )
    proba = calibrated(held_out, y, search.decision_function(fold.K_test))
    return Learned(search.predict(fold.K_test), proba, search.best_params_)


def half_squared(K: Array) -> float:
    """Return half the mean squared distance that similarities imply."""
    return float(np.abs(np.diag(K).mean() - K.mean()))


def calibrated(held_out: Array, y: Array, values: Array) -> Array:
    """Return probabilities of decision values, learned from those of held-out rows.

    Parameters
    ----------
    held_out : ndarray of shape (n,) or (n, n_classes)
        Decision values of rows that the machine has not seen.
    y : ndarray of shape (n,)
        Their labels.
    values : ndarray of shape (m,) or (m, n_classes)
        Decision values to turn into probabilities.
    """
    # With a small C, values are a constant and little else, which a ridge would lose.
    scaler = StandardScaler().fit(held_out.reshape(len(y), -1))
    sigmoid = ridge(10.0 ** np.arange(-2, 5))
    sigmoid.fit(scaler.transform(held_out.reshape(len(y), -1)), y)
    return sigmoid.predict_proba(scaler.transform(values.reshape(len(values), -1)))


# -- nearest neighbors -----------------------------------------------------------------


def neighbors(fold: Fold, y: Array, ks: tuple[int, ...] = NEIGHBORS) -> Learned:
    """Vote by one over the distance; k and the smoothing are chosen by log-loss."""
    classes, codes = np.unique(y, return_inverse=True)
    losses: dict[tuple[int, float], list[float]] = {}
    for train, test in INNER.split(codes, codes):
        D = fold.D_train[np.ix_(test, train)]
        for k in ks:
            for smoothing in SMOOTHING:
                proba = votes(D, codes[train], k, smoothing)
                loss = log_loss(codes[test], proba, labels=np.arange(len(classes)))
                losses.setdefault((k, smoothing), []).append(loss)
    k, smoothing = min(losses, key=lambda setting: np.mean(losses[setting]))
    proba = votes(fold.D_test, codes, k, smoothing)
    chosen = {"k": k, "smoothing": smoothing}
    return Learned(classes[proba.argmax(axis=1)], proba, chosen)


def votes(D: Array, codes: Array, k: int, smoothing: float) -> Array:
    """Return the smoothed shares of the classes among the k nearest.

    Parameters
    ----------
    D : ndarray of shape (m, n)
        Distances to n samples.
    codes : ndarray of shape (n,)
        Their classes, counted from zero.
    k : int
        Number of neighbors; together they have k votes.
    smoothing : float
        Further votes for each class, so that no probability is zero.
    """
    k = min(k, D.shape[1])
    nearest = np.argsort(D, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(D, nearest, axis=1)
    weights = 1 / np.maximum(near, 1e-9 * D.max())
    weights *= k / weights.sum(axis=1, keepdims=True)
    n_classes = codes.max() + 1
    counted = np.full((len(D), n_classes), smoothing)
    for code in range(n_classes):
        counted[:, code] += (weights * (codes[nearest] == code)).sum(axis=1)
    return counted / counted.sum(axis=1, keepdims=True)


RAW = SVC(kernel="precomputed", max_iter=STEPS, decision_function_shape="ovo")
"""Its values for each pair of classes: those for each class are little but votes."""

METHODS: dict[str, Callable[[Fold, Array], Learned]] = {
    "default": logistic,
    "hilbert": partial(logistic, norms=("hilbert",)),
    "euclidean": partial(logistic, norms=("euclidean",)),
    "krein": partial(logistic, norms=("krein",)),
    "clip, logistic": partial(logistic, norms=("hilbert",), repair="clip"),
    "flip, logistic": partial(logistic, norms=("hilbert",), repair="flip"),
    "square, logistic": partial(logistic, norms=("hilbert",), repair="square"),
    "SVC raw": partial(machine, model=RAW),
    "clip, SVC": partial(machine, model=make_pipeline(SpectrumRepair("clip"), RAW)),
    "flip, SVC": partial(machine, model=make_pipeline(SpectrumRepair("flip"), RAW)),
    "KreinSVC": partial(machine, model=KreinSVC(kernel="precomputed", max_iter=STEPS)),
    "rows as features": rows_as_features,
    "nearest neighbors": neighbors,
    "1-NN": partial(neighbors, ks=(1,)),
}
"""What learns a fold, by name."""
