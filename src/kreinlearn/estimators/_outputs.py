"""What classifiers give: scores of new samples, labels and probabilities.

Letters: ``scores`` (n, k), one column per class, or a single one for two classes.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kreinlearn._typing import Array
from kreinlearn.estimators._inputs import (
    KernelEstimator,
    ValidSamples,
    is_distance,
    is_pairwise,
    kernels_of,
    learns_form,
    symmetric_kernel,
)
from kreinlearn.kernels import KERNELS, measured_rows, multiply
from kreinlearn.kernels.distances import DEFAULTS, DistanceForm
from kreinlearn.losses import Link, log_probabilities


class Scored(ClassifierMixin, KernelEstimator):
    """A classifier whose largest score decides."""

    classes_: Array
    intercept_: Array

    def _scores(self, X: ArrayLike) -> Array:
        """Scores of new samples, shape (n_new, n_columns)."""
        check_is_fitted(self)
        return prediction(self, self._check_new(X))

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the scores f.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples; with ``kernel="precomputed"`` their similarities with the
            training samples, of shape (n_new, n_samples), or with those of
            ``support_`` alone, of shape (n_new, n_support); with
            ``kernel="distance"`` their distances to these. Columns of a DataFrame are
            matched by label.

        Returns
        -------
        ndarray of shape (n_new,) or (n_new, n_classes)
            Scores; positive means the second of two classes.
        """
        return decision(self._scores(X))

    def predict(self, X: ArrayLike) -> Array:
        """Return the most probable labels.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_new,)
            Labels.
        """
        scores = self._scores(X)
        return labels_of(scores, self.classes_)


class Probable(Scored):
    """A classifier whose scores are log-odds."""

    _link: Link

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            The model's own probabilities, in the order of ``classes_``;
            one-versus-rest ones are scaled to sum to one.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Return the logarithms of the probabilities, without underflow.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            Log-probabilities, in the order of ``classes_``.
        """
        scores = self._scores(X)
        return log_probabilities(scores, self._link)


def labels_of(scores: Array, classes: Array) -> Array:
    """Return the most probable classes, shape (n,)."""
    if scores.shape[1] == 1:
        return classes[(scores[:, 0] > 0).astype(int)]
    return classes[scores.argmax(axis=1)]


def decision(scores: Array) -> Array:
    """Return scores in scikit-learn's shape: a vector if there are two classes."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


def prediction(model: Scored, X: ValidSamples) -> Array:
    """Return the scores of validated new samples; no similarities are stored.

    Parameters
    ----------
    model : Scored
        Fitted.
    X : ndarray or list
        New samples; with "precomputed" and "distance" their similarities with, or
        distances to, all training samples or those of ``support_``.

    Returns
    -------
    ndarray of shape (n_new, n_columns)
        Scores.
    """
    # The same layout, whether just fitted or read from a file.
    a = np.ascontiguousarray(model.dual_coef_[:, model.support_].T)
    if is_pairwise(model.kernel):
        # Columns laid out the same in both cases, so that products agree to the bit.
        K = np.asarray(X)
        is_part = K.shape[1] == len(a)
        K = np.ascontiguousarray(K) if is_part else K.take(model.support_, 1)
        f = (_form_of(model)(K) if is_distance(model.kernel) else K) @ a
    elif len(a) == 0:
        f = np.zeros((len(X), a.shape[1]))
    elif learns_form(model.kernel):
        f = _measured(model, X, a)
    else:
        params = model.kernel_params or {}
        kernel = symmetric_kernel(model.kernel, getattr(model, "symmetrize", None))
        f = multiply(X, model.X_fit_, a, kernel, **params)
    return np.asarray(f + model.intercept_)


def _form_of(model: Scored) -> DistanceForm:
    """Return how a fitted model turns distances into similarities."""
    given = {k: v for k, v in (model.kernel_params or {}).items() if k in DEFAULTS}
    params = {**DEFAULTS, **given}
    return DistanceForm(
        median=model.distance_median_, means=model.distance_means_, **params
    )


def _measured(model: Scored, X: ValidSamples, a: Array) -> Array:
    """Return the scores of new samples, by their distances to the support."""
    measure = KERNELS[str(kernels_of(model.kernel)[0])].measure
    assert measure is not None
    given = model.kernel_params or {}
    own = {name: given[name] for name in measure.params if name in given}
    form = _form_of(model)
    f = np.empty((len(X), a.shape[1]))
    for rows, D in measured_rows(measure, X, model.X_fit_, own):
        f[rows] = form(D) @ a
    return f


def share_support(models: Sequence[Scored]) -> Array:
    """Return the positions of all samples that any of the models needs, increasing.

    Those that need the same samples hold one copy of them from here on.
    """
    held: dict[bytes, ValidSamples | None] = {}
    for each in models:
        each.X_fit_ = held.setdefault(each.support_.tobytes(), each.X_fit_)
    return np.unique(np.concatenate([each.support_ for each in models]))
