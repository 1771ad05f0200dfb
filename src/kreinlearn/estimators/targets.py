"""Labels and weights of the samples."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array

from kreinlearn._typing import Array
from kreinlearn._validation import check_choice


def check_classes(y: Array, weights: Array) -> tuple[Array, Array]:
    """Return the classes and each sample's index among them.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    weights : ndarray of shape (n_samples,)
        Weights of the samples.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    index : ndarray of shape (n_samples,)
        Position of each label.
    """
    classes, index = np.unique(y, return_inverse=True)
    present = np.bincount(index, weights=weights, minlength=len(classes)) > 0
    if present.sum() < 2:
        held = ", ".join(repr(label) for label in classes[present].tolist())
        raise ValueError(
            "'y' must hold at least two classes with positive weight, got "
            f"{int(present.sum())} class: {held}."
        )
    return classes, index


def check_weights(sample_weight: Any, n_samples: int) -> Array:
    """Return one nonnegative weight a sample.

    Parameters
    ----------
    sample_weight : array-like, number or None
        What the caller gave.
    n_samples : int
        Number of samples.

    Returns
    -------
    ndarray of shape (n_samples,)
        Weights, not yet normalized.
    """
    if sample_weight is None or isinstance(sample_weight, Real):
        weights = np.full(n_samples, 1.0 if sample_weight is None else sample_weight)
    else:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
    if weights.shape != (n_samples,):
        raise ValueError(
            f"'sample_weight' must have shape ({n_samples},), one number a sample, "
            f"got shape {weights.shape}."
        )
    if weights.min() < 0:
        raise ValueError(
            f"'sample_weight' must not be negative, got {weights.min()!r}."
        )
    if weights.sum() == 0:
        raise ValueError("'sample_weight' must not be zero for every sample.")
    return weights


def normalized(
    weights: Array, class_weight: Any, classes: Array, index: Array
) -> Array:
    """Return the weights of the samples times those of their classes, summing to one.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,)
        Weights of the samples.
    class_weight : None, "balanced" or dict
        The estimator's parameter.
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    index : ndarray of shape (n_samples,)
        Position of each sample's label.

    Returns
    -------
    ndarray of shape (n_samples,)
        Weights.
    """
    present, place = np.unique(index, return_inverse=True)
    product = weights * class_weighted(class_weight, classes[present], place)
    return np.asarray(product / product.sum())


def class_weighted(class_weight: Any, classes: Array, index: Array) -> Array:
    """Return the factor that ``class_weight`` gives each sample.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
        The estimator's parameter.
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    index : ndarray of shape (n_samples,)
        Position of each sample's label.

    Returns
    -------
    ndarray of shape (n_samples,)
        Factors.
    """
    if isinstance(class_weight, str):
        check_choice("class_weight", class_weight, ["balanced"])
    factors = compute_class_weight(class_weight, classes=classes, y=classes[index])
    return np.asarray(factors, dtype=float)[index]
