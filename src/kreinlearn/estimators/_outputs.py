"""What classifiers give: scores of new samples, labels and probabilities.

Letters: ``scores`` (n, k), one column per class, or a single one for two classes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kreinlearn._typing import Array
from kreinlearn.estimators._inputs import (
    KernelEstimator,
    Keywords,
    ValidSamples,
    is_distance,
    is_pairwise,
    kernels_of,
    learns_form,
    symmetric_kernel,
)
from kreinlearn.kernels import KERNELS, Measure, iterate_measure_rows, multiply
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
    elif _measure_of(model) is not None:
        return _measured([model], X)[0]
    else:
        params = model.kernel_params or {}
        kernel = symmetric_kernel(model.kernel, getattr(model, "symmetrize", None))
        # A slice of them: for one and the same object, measures take each pair once,
        # and sums would end with other last bits than for a copy.
        f = multiply(X[:], model.X_fit_, a, kernel, **params)
    return np.asarray(f + model.intercept_)


def _form_of(model: Scored) -> DistanceForm:
    """Return how a fitted model turns distances into similarities."""
    given = {k: v for k, v in (model.kernel_params or {}).items() if k in DEFAULTS}
    params = {**DEFAULTS, **given}
    return DistanceForm(
        median=model.distance_median_, means=model.distance_means_, **params
    )


def predictions(models: Sequence[Scored], parts: Sequence[ValidSamples]) -> Array:
    """Return the scores that models give the same new samples, measured once.

    Parameters
    ----------
    models : sequence of Scored
        Fitted to the same training samples.
    parts : sequence of ndarray or list
        What each of them takes as these samples, as in `prediction`.

    Returns
    -------
    ndarray of shape (n_models, n_new, n_columns)
        Scores.
    """
    found: list[Array | None] = [None] * len(models)
    groups: dict[str, list[int]] = {}
    for g, model in enumerate(models):
        if _measure_of(model) is None or not len(model.support_):
            found[g] = prediction(model, parts[g])
        else:
            groups.setdefault(repr(_own_params(model)), []).append(g)
    for group in groups.values():
        scores = _measured([models[g] for g in group], parts[group[0]])
        for g, f in zip(group, scores, strict=True):
            found[g] = f
    return np.stack([f for f in found if f is not None])


def _measure_of(model: Scored) -> Measure | None:
    """Return the measure of a kernel whose samples are no rows, if it has one."""
    kernel = kernels_of(model.kernel)[0]
    record = KERNELS.get(kernel) if isinstance(kernel, str) else None
    return None if record is None or record.check is None else record.measure


def _own_params(model: Scored) -> Keywords:
    """Return the parameters of a model's measure, without those of its form."""
    measure = _measure_of(model)
    assert measure is not None
    given = model.kernel_params or {}
    return {name: given[name] for name in measure.params if name in given}


def _measured(models: Sequence[Scored], X: ValidSamples) -> list[Array]:
    """Return scores of new samples by a measure that models share.

    It is taken between the new samples and all that any of the models needs.
    """
    measure = _measure_of(models[0])
    assert measure is not None
    needed: dict[int, Any] = {}
    for model in models:
        assert model.X_fit_ is not None
        needed |= dict(zip(model.support_.tolist(), model.X_fit_, strict=True))
    order = sorted(needed)
    others = [needed[i] for i in order]
    places = [np.searchsorted(order, model.support_) for model in models]
    forms = [_form_of(m) if learns_form(m.kernel) else np.asarray for m in models]
    a = [np.ascontiguousarray(m.dual_coef_[:, m.support_].T) for m in models]
    scores = [np.empty((len(X), each.shape[1])) for each in a]
    for rows, D in iterate_measure_rows(measure, X, others, _own_params(models[0])):
        for f, columns, form, own in zip(scores, places, forms, a, strict=True):
            f[rows] = form(D if len(columns) == len(order) else D[:, columns]) @ own
    return [f + m.intercept_ for f, m in zip(scores, models, strict=True)]


def share_support(models: Sequence[Scored]) -> Array:
    """Return the positions of all samples that any of the models needs, increasing.

    Those that need the same samples hold one copy of them from here on.
    """
    held: dict[bytes, ValidSamples | None] = {}
    for each in models:
        each.X_fit_ = held.setdefault(each.support_.tobytes(), each.X_fit_)
    return np.unique(np.concatenate([each.support_ for each in models]))
