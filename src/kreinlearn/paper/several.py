"""Learners for more than two classes: one against the rest, or all at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier

from kreinlearn._typing import Array
from kreinlearn.estimators import KreinLogisticRegression
from kreinlearn.paper.learners import Learner, status_of
from kreinlearn.solvers import Status

SEVERITY = [str(status) for status in Status]
"""From the best ending to the worst."""


def worst(statuses: Sequence[str]) -> str:
    """Return the worst of several endings.

    Parameters
    ----------
    statuses : sequence of str
        Status words.

    Returns
    -------
    str
        One of them.
    """
    return max(statuses, key=SEVERITY.index)


@dataclass(frozen=True)
class Rest:
    """A binary learner, one class against the rest; the largest score wins.

    Parameters
    ----------
    learner : Learner
        For two classes.
    """

    learner: Learner

    @property
    def parameter(self) -> str:
        """Name of the hyper-parameter, lam or C."""
        return self.learner.parameter

    def estimator(self, value: float, seed: int) -> Any:
        """Return the unfitted estimator; see `Learner`."""
        return OneVsRestClassifier(self.learner.estimator(value, seed))

    def path(
        self, K: Array, y: Array, K_new: Array, values: Sequence[float], seed: int
    ) -> list[tuple[Array, str]]:
        """Score each class with the path of the learner; see `Path`."""
        each = [
            self.learner.path(K, np.where(y == label, 1, -1), K_new, values, seed)
            for label in np.unique(y)
        ]
        return [
            (
                np.stack([scores for scores, _ in fits], axis=1),
                worst([status for _, status in fits]),
            )
            for fits in zip(*each, strict=True)
        ]


@dataclass(frozen=True)
class Multinomial:
    """Multinomial kernel logistic regression by Newton's method."""

    parameter: str = "lam"

    def estimator(self, value: float, seed: int) -> Any:
        """Return the unfitted estimator; see `Learner`."""
        return KreinLogisticRegression("precomputed", lam=value)

    def path(
        self, K: Array, y: Array, K_new: Array, values: Sequence[float], seed: int
    ) -> list[tuple[Array, str]]:
        """Fit the estimator for each value; see `Path`."""
        models = [self.estimator(value, seed).fit(K, y) for value in values]
        return [(model.decision_function(K_new), status_of(model)) for model in models]


def status_of_all(model: Any) -> str:
    """Return how a fit ended, the worst of all classes.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    str
        A status word.
    """
    parts = getattr(model, "estimators_", [model])
    return worst([status_of(part) for part in parts])
