"""Predictions of every classifier here: from scores to labels and probabilities."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.estimators.scores import decision, labels
from kreinlearn.losses import Link, log_probabilities


class Scored(ABC):
    """A classifier whose largest score decides."""

    classes_: Array

    @abstractmethod
    def _scores(self, X: Any) -> Array:
        """Scores of new samples, shape (n_new, n_columns)."""

    def decision_function(self, X: Any) -> Array:
        """Return the scores f.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples; with ``kernel="precomputed"`` their similarities with the
            training samples, of shape (n_new, n_samples), or with those of
            ``support_`` alone, of shape (n_new, n_support).

        Returns
        -------
        ndarray of shape (n_new,) or (n_new, n_classes)
            Scores; positive means the second of two classes.
        """
        return decision(self._scores(X))

    def predict(self, X: Any) -> Array:
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
        return labels(scores, self.classes_)


class Probable(Scored):
    """A classifier whose scores are log-odds."""

    _link: Link

    def predict_proba(self, X: Any) -> Array:
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

    def predict_log_proba(self, X: Any) -> Array:
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
