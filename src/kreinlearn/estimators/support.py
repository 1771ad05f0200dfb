"""Which training samples predictions need, and predicting with these alone.

A coefficient of zero in every column makes its training sample useless: it is neither
kept, nor compared with new samples.
"""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.kernels import multiply


def is_precomputed(kernel: Any) -> bool:
    """Tell whether samples are rows of a Gram matrix.

    Parameters
    ----------
    kernel : str or callable
        The estimator's parameter.

    Returns
    -------
    bool
        True for "precomputed".
    """
    return isinstance(kernel, str) and kernel == "precomputed"


def learn_support(estimator: Any, X: Any) -> None:
    """Learn ``support_`` from ``dual_coef_``, and ``X_fit_``, the samples it names.

    Parameters
    ----------
    estimator : estimator
        With parameter ``kernel`` and fitted ``dual_coef_``.
    X : ndarray or sequence
        Validated training samples; not copied if all of them are needed.
    """
    needed = (estimator.dual_coef_ != 0).any(axis=0)
    estimator.support_ = np.flatnonzero(needed)
    if is_precomputed(estimator.kernel):
        estimator.X_fit_ = None
    elif needed.all():
        estimator.X_fit_ = X
    elif isinstance(X, np.ndarray):
        estimator.X_fit_ = X[estimator.support_]
    else:
        estimator.X_fit_ = [X[i] for i in estimator.support_]


def share_support(estimators: Sequence[Any]) -> Array:
    """Return the positions of all samples that any of the estimators needs.

    Those that need the same samples hold one copy of them from here on.

    Parameters
    ----------
    estimators : sequence of estimators
        Fitted to the same samples.

    Returns
    -------
    ndarray of shape (n_support,)
        Increasing.
    """
    held: dict[bytes, Any] = {}
    for each in estimators:
        each.X_fit_ = held.setdefault(each.support_.tobytes(), each.X_fit_)
    return np.unique(np.concatenate([each.support_ for each in estimators]))


def with_needed(estimator: Any, X: Any) -> Any:
    """Return an estimator that expects the columns that X has, if they are enough.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X : array-like
        New samples; with "precomputed" their similarities with all training samples,
        or with those of ``support_``.

    Returns
    -------
    estimator
        In the latter case a shallow copy that was fitted to these columns only.
    """
    support = getattr(estimator, "support_", None)
    if support is None or not is_precomputed(estimator.kernel):
        return estimator
    shape = getattr(X, "shape", None) or np.asarray(X, dtype=object).shape
    if shape[1:] != (len(support),) or len(support) == estimator.n_features_in_:
        return estimator
    narrow = copy(estimator)
    narrow.n_features_in_ = len(support)
    if hasattr(estimator, "feature_names_in_"):
        narrow.feature_names_in_ = estimator.feature_names_in_[support]
    return narrow


def needed_columns(K: Array, support: Array) -> Array:
    """Return the similarities with the samples that are needed.

    Parameters
    ----------
    K : ndarray of shape (n_new, n_samples) or (n_new, n_support)
        Similarities with all training samples, or with those needed.
    support : ndarray of shape (n_support,)
        Their positions.

    Returns
    -------
    ndarray of shape (n_new, n_support)
        Laid out the same, so that products agree to the last bit.
    """
    if K.shape[1] != len(support):
        return K.take(support, axis=1)
    return np.ascontiguousarray(K)


def prediction(estimator: Any, X: Any) -> Array:
    """Return the scores of new samples.

    Parameters
    ----------
    estimator : estimator
        Fitted, with parameters ``kernel`` and ``kernel_params``.
    X : ndarray or list
        Validated new samples, or their similarities with the training samples.

    Returns
    -------
    ndarray of shape (n_new, n_columns)
        Scores; no matrix of similarities is stored.
    """
    # The same layout, whether just fitted or read from a file.
    a = np.ascontiguousarray(estimator.dual_coef_[:, estimator.support_].T)
    if is_precomputed(estimator.kernel):
        f = needed_columns(X, estimator.support_) @ a
    elif len(a) == 0:
        f = np.zeros((len(X), a.shape[1]))
    else:
        params = estimator.kernel_params or {}
        f = multiply(X, estimator.X_fit_, a, estimator.kernel, **params)
    return np.asarray(f + estimator.intercept_)
