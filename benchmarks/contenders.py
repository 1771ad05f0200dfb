"""The methods of `which_method`: each is fitted to one fold, with nested tuning.

Five inner folds on the training rows choose the settings: by accuracy for support
vector machines, by log-loss for all other methods. A spectrum repair before logistic
regression is fitted once to all training rows of the outer fold, without labels, such
that its grid is one block. A repair before a support vector machine is fitted in every
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

INNER_FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
SVC_COSTS = 10.0 ** np.arange(-4, 5)
"""Values of C, in units of the reciprocal of half the mean squared distance."""
MAX_SVC_STEPS = 1_000_000
"""Largest number of steps of LIBSVM, which need not converge for indefinite K."""
NEIGHBOR_COUNTS = (1, 3, 5, 7, 11, 15, 21)
SMOOTHING_VALUES = (1.0, 0.1, 0.01, 0.001)
"""Additional votes for each class."""


class Prediction(NamedTuple):
    """Labels and probabilities of test rows (or None), and chosen settings."""

    labels: Array
    proba: Array | None
    chosen: dict[str, Any]


# -- logistic regression ---------------------------------------------------------------


def fit_logistic(
    fold: Fold,
    y: Array,
    *,
    norms: tuple[str, ...] | None = None,
    repair: str | None = None,
) -> Prediction:
    """Fit our estimator, with defaults for all other parameters."""
    settings: dict[str, Any] = {} if norms is None else {"norms": norms}
    K_train, K_test = fold.K_train, fold.K_test
    if repair is not None:
        change = SpectrumRepair(repair)
        K_train, K_test = change.fit_transform(K_train), change.transform(K_test)
    model = KreinLogisticRegressionCV(kernel="precomputed", **settings)
    model.fit(K_train, y)
    chosen = {"norm": model.norm_, "n_lam": model.lam_ * len(y)}
    return Prediction(model.predict(K_test), model.predict_proba(K_test), chosen)


def fit_rows(fold: Fold, y: Array) -> Prediction:
    """Fit scikit-learn's logistic regression to the standardized rows of K."""
    scaler = StandardScaler().fit(fold.K_train)
    search = build_ridge_search(10.0 ** np.arange(-3, 6)).fit(
        scaler.transform(fold.K_train), y
    )
    X_test = scaler.transform(fold.K_test)
    return Prediction(
        search.predict(X_test), search.predict_proba(X_test), search.best_params_
    )


def build_ridge_search(costs: Array) -> GridSearchCV:
    """Return a grid search of logistic regression on features, scored by log-loss."""
    model = LogisticRegression(max_iter=1000)
    return GridSearchCV(model, {"C": costs}, scoring="neg_log_loss", cv=INNER_FOLDS)


# -- support vector machines -----------------------------------------------------------


def fit_svc(fold: Fold, y: Array, model: BaseEstimator) -> Prediction:
    """Fit a support vector machine, and calibrate its decision values.

    C is chosen by accuracy. Probabilities come from a logistic regression on the
    out-of-fold decision values of the training rows. Labels are those of the machine.
    """
    name = "svc__C" if isinstance(model, Pipeline) else "C"
    search = GridSearchCV(
        model,
        {name: SVC_COSTS / compute_half_squared_distance(fold.K_train)},
        cv=INNER_FOLDS,
    )
    search.fit(fold.K_train, y)
    held_out = cross_val_predict(
        search.best_estimator_,
        fold.K_train,
        y,
        cv=INNER_FOLDS,
        method="decision_function",
    )
    proba = calibrate(held_out, y, search.decision_function(fold.K_test))
    return Prediction(search.predict(fold.K_test), proba, search.best_params_)


def compute_half_squared_distance(K: Array) -> float:
    """Return half the mean squared distance implied by similarities."""
    return float(np.abs(np.diag(K).mean() - K.mean()))


def calibrate(held_out: Array, y: Array, values: Array) -> Array:
    """Return probabilities of decision values, calibrated on out-of-fold values.

    Parameters
    ----------
    held_out : ndarray of shape (n,) or (n, n_classes)
        Out-of-fold decision values.
    y : ndarray of shape (n,)
        Their labels.
    values : ndarray of shape (m,) or (m, n_classes)
        Decision values to convert to probabilities.
    """
    # With a small C, values are nearly constant, and the penalty would dominate.
    scaler = StandardScaler().fit(held_out.reshape(len(y), -1))
    sigmoid = build_ridge_search(10.0 ** np.arange(-2, 5))
    sigmoid.fit(scaler.transform(held_out.reshape(len(y), -1)), y)
    return sigmoid.predict_proba(scaler.transform(values.reshape(len(values), -1)))


# -- nearest neighbors -----------------------------------------------------------------


def fit_neighbors(
    fold: Fold, y: Array, ks: tuple[int, ...] = NEIGHBOR_COUNTS
) -> Prediction:
    """Fit nearest neighbors weighted by 1 / d; choose k and smoothing by log-loss."""
    classes, codes = np.unique(y, return_inverse=True)
    losses: dict[tuple[int, float], list[float]] = {}
    for train, test in INNER_FOLDS.split(codes, codes):
        D = fold.D_train[np.ix_(test, train)]
        for k in ks:
            for smoothing in SMOOTHING_VALUES:
                proba = count_votes(D, codes[train], k, smoothing)
                loss = log_loss(codes[test], proba, labels=np.arange(len(classes)))
                losses.setdefault((k, smoothing), []).append(loss)
    k, smoothing = min(losses, key=lambda setting: np.mean(losses[setting]))
    proba = count_votes(fold.D_test, codes, k, smoothing)
    chosen = {"k": k, "smoothing": smoothing}
    return Prediction(classes[proba.argmax(axis=1)], proba, chosen)


def count_votes(D: Array, codes: Array, k: int, smoothing: float) -> Array:
    """Return the smoothed fractions of the classes among the k nearest neighbors.

    Parameters
    ----------
    D : ndarray of shape (m, n)
        Distances to n samples.
    codes : ndarray of shape (n,)
        Their classes, encoded from zero.
    k : int
        Number of neighbors; their weights sum to k.
    smoothing : float
        Additional votes for each class, such that no probability is zero.
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


RAW_SVC = SVC(
    kernel="precomputed", max_iter=MAX_SVC_STEPS, decision_function_shape="ovo"
)
"""With one-versus-one decision values: one-versus-rest values are mostly votes."""

METHODS: dict[str, Callable[[Fold, Array], Prediction]] = {
    "default": fit_logistic,
    "hilbert": partial(fit_logistic, norms=("hilbert",)),
    "euclidean": partial(fit_logistic, norms=("euclidean",)),
    "krein": partial(fit_logistic, norms=("krein",)),
    "clip, logistic": partial(fit_logistic, norms=("hilbert",), repair="clip"),
    "flip, logistic": partial(fit_logistic, norms=("hilbert",), repair="flip"),
    "square, logistic": partial(fit_logistic, norms=("hilbert",), repair="square"),
    "SVC raw": partial(fit_svc, model=RAW_SVC),
    "clip, SVC": partial(fit_svc, model=make_pipeline(SpectrumRepair("clip"), RAW_SVC)),
    "flip, SVC": partial(fit_svc, model=make_pipeline(SpectrumRepair("flip"), RAW_SVC)),
    "KreinSVC": partial(
        fit_svc, model=KreinSVC(kernel="precomputed", max_iter=MAX_SVC_STEPS)
    ),
    "rows as features": fit_rows,
    "nearest neighbors": fit_neighbors,
    "1-NN": partial(fit_neighbors, ks=(1,)),
}
"""Functions that fit and predict one fold, by name."""
