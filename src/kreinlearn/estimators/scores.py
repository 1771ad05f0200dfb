"""From scores to labels and probabilities.

Letters: ``scores`` (n, k), one column a class, or one in all if there are two classes.
"""

from kreinlearn._typing import Array


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
