"""From scores to labels and probabilities.

Letters: ``scores`` (n, k), one column a class, or one in all if there are two classes.
"""

from typing import Literal

import numpy as np
from scipy.special import log_expit, log_softmax

from kreinlearn._typing import Array

Link = Literal["logistic", "multinomial", "ovr"]
"""How scores become probabilities."""


def link_of(n_classes: int, multinomial: bool) -> Link:
    """Return how scores become probabilities.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    multinomial : bool
        Whether more than two of them share one model.

    Returns
    -------
    {"logistic", "multinomial", "ovr"}
        The link.
    """
    if n_classes == 2:
        return "logistic"
    return "multinomial" if multinomial else "ovr"


def labels(scores: Array, classes: Array) -> Array:
    """Return the most probable classes.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Scores.
    classes : ndarray of shape (n_classes,)
        Labels.

    Returns
    -------
    ndarray of shape (n,)
        Labels.
    """
    if scores.shape[1] == 1:
        return classes[(scores[:, 0] > 0).astype(int)]
    return classes[scores.argmax(axis=1)]


def log_probabilities(scores: Array, link: Link) -> Array:
    """Return the logarithms of the probabilities of the classes.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Scores.
    link : {"logistic", "multinomial", "ovr"}
        Two classes, one model of all classes, or one model a class; the last are
        scaled to sum to one.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Log-probabilities, without underflow.
    """
    if link == "logistic":
        return np.hstack([log_expit(-scores), log_expit(scores)])
    if link == "multinomial":
        return np.asarray(log_softmax(scores, axis=1))
    logs = log_expit(scores)
    return np.asarray(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))


def decision(scores: Array) -> Array:
    """Return scores in scikit-learn's shape: a vector if there are two classes.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Scores.

    Returns
    -------
    ndarray of shape (n,) or (n, k)
        Scores.
    """
    return scores[:, 0] if scores.shape[1] == 1 else scores
