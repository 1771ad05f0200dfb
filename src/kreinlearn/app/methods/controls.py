"""Controls: simple methods that tell whether the others are needed at all.

Letters: n training samples, k neighbors, c classes.
"""

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV

from kreinlearn._typing import Array
from kreinlearn.app.methods.records import Classifier, Method, Tried
from kreinlearn.search import Fold

GAMMAS = (0.01, 0.1, 1.0, 10.0)
"""Widths of a Gaussian on features in [0, 1] that comparisons try, the widest first."""


class SimilarityNeighbors(ClassifierMixin, BaseEstimator):
    """Vote of the nearest training samples, on a Gram matrix.

    In the geometry of a similarity k, the squared distance of x and z is
    ``k(x, x) + k(z, z) - 2 k(x, z)``. Its first term is the same for all neighbors z of
    one x. They are ranked by the other two, so that k(x, x), which nobody knows for new
    samples, is not needed. The rank does not ask for a square root either: where an
    indefinite similarity makes a squared distance negative, it still counts as nearer
    than zero.

    Votes have no probabilities: few neighbors are too coarse to judge by log-loss.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbors that vote; all samples if there are fewer. Ties of votes go
        to the class of the nearest of the tied; equally near samples are taken in the
        order of training.
    """

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, K: Array, y: Array) -> Self:
        """Keep the labels, and the similarity of each training sample with itself."""
        self.classes_, self.index_ = np.unique(y, return_inverse=True)
        self.own_ = np.diag(K).copy()
        return self

    def decision_function(self, K: Array) -> Array:
        """Return shares of the votes, for two classes that of the second less a half.

        Parameters
        ----------
        K : ndarray of shape (n_new, n)
            Similarities of new samples with training samples.

        Returns
        -------
        ndarray of shape (n_new,) or (n_new, c)
            The nearer of two neighbors has a vote that is larger by less than anything
            but a tie would notice.
        """
        k = min(self.n_neighbors, len(self.own_))
        nearest = np.argsort(self.own_ - 2 * K, axis=1, kind="stable")[:, :k]
        # Halves sum to less than one, and each to more than all after it.
        votes = 1 + 0.5 ** np.arange(1, k + 1)
        hits = self.index_[nearest][:, :, None] == np.arange(len(self.classes_))
        shares = votes @ hits / votes.sum()
        return shares[:, 1] - 0.5 if shares.shape[1] == 2 else shares

    def predict(self, K: Array) -> Array:
        """Return the labels with the largest shares."""
        scores = self.decision_function(K)
        place = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[place.astype(int)])


def neighbors(name: str, weight: float) -> Method:
    """Return the vote of the nearest samples in the geometry of K, as a control."""
    return Method(
        name,
        lambda value, seed: SimilarityNeighbors(int(value)),
        "n_neighbors",
        is_control=True,
        weight=weight,
    )


def on_features(
    name: str,
    model: BaseEstimator,
    link: Literal["multinomial"] | None = None,
    *,
    weight: float,
    **grid: Tried,
) -> Method:
    """Return a method of scikit-learn that never sees the similarity, as a control.

    Parameters
    ----------
    name : str
        What tables call it.
    model : estimator
        Its C is tuned, and what ``grid`` names, by a grid search.
    link, weight
        See `Method`.
    **grid : sequence of float
        Further hyper-parameters and their values, the smoothest first.
    """

    def search(values: Tried, folds: Sequence[Fold]) -> Classifier:
        scoring = "accuracy" if link is None else "neg_log_loss"
        tried = {"C": list(values), **grid}
        found: Classifier = GridSearchCV(model, tried, cv=folds, scoring=scoring)
        return found

    return Method(
        name,
        lambda value, seed: clone(model).set_params(C=value),
        "C",
        link,
        search=search,
        on_samples=True,
        is_control=True,
        weight=weight,
    )
