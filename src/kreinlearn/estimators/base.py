"""What estimators share: samples in, similarities out."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from kreinlearn._typing import Array
from kreinlearn._validation import ALMOST, check_choice, fits
from kreinlearn.estimators.support import is_precomputed, with_needed
from kreinlearn.exceptions import IndefiniteKernelWarning
from kreinlearn.kernels import KERNELS, gram, resolve
from kreinlearn.operators import Blocked, Dense

SYMMETRY = 1e-6
"""Largest asymmetry, relative to the largest entry, that is averaged away."""
TILE = 256
"""Rows and columns compared with their mirror image while in cache."""
BLOCK = 1024
"""Rows looked at together where a second n x n array would be a waste."""


def takes_matrices(kernel: Any) -> bool:
    """Tell whether samples are matrices, so that X has three dimensions.

    Parameters
    ----------
    kernel : str or callable
        The estimator's parameter.

    Returns
    -------
    bool
        True for the kernels between covariance matrices.
    """
    record = KERNELS.get(kernel) if isinstance(kernel, str) else None
    return record is not None and record.samples == "matrices"


def check_kernel(kernel: Any) -> None:
    """Raise if there is no such kernel.

    Parameters
    ----------
    kernel : str or callable
        The estimator's parameter.
    """
    if not is_precomputed(kernel):
        resolve(kernel)


def check_samples(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    reset: bool,
    dtype: Any = None,
    kernel: Any = None,
) -> tuple[Any, Any]:
    """Return validated samples and labels, whatever the kernel takes.

    Parameters
    ----------
    estimator : estimator
        With a parameter ``kernel``; learns ``n_features_in_`` if ``reset``.
    X : array, DataFrame, stack of matrices, or sequence of anything
        Samples.
    y : array-like of shape (n_samples,), optional
        Labels.
    reset : bool
        True in fit, where y is required; False in predict.
    dtype : dtype, optional
        Precision to convert to.
    kernel : str or callable, optional
        In place of the estimator's own.

    Returns
    -------
    X : ndarray or list
        Samples.
    y : ndarray of shape (n_samples,) or None
        Labels.
    """
    kernel = estimator.kernel if kernel is None else kernel
    if not isinstance(kernel, str):
        X = _as_array_if_numbers(X)
    if isinstance(kernel, str) or isinstance(X, np.ndarray):
        precise = [np.float64, np.float32] if dtype is None else np.dtype(dtype)
        wide = not isinstance(kernel, str) or takes_matrices(kernel)
        settings = {"dtype": precise, "allow_nd": wide, "reset": reset}
        if reset:
            X, y = validate_data(estimator, X, y, **settings)
        else:
            X = _validated_rows(estimator, X, settings)
    elif len(X) == 0:
        raise ValueError("'X' must hold at least one sample, got none.")
    if reset:
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
    return X, y


def _validated_rows(estimator: Any, X: Any, settings: dict[str, Any]) -> Any:
    """Validate new samples, with a word more where they are similarities."""
    try:
        return validate_data(with_needed(estimator, X), X, **settings)
    except ValueError as error:
        if is_precomputed(estimator.kernel) and "features" in str(error):
            raise ValueError(
                f"{error} With kernel='precomputed', pass the similarities of the new "
                "samples with the training samples, one column a training sample."
            ) from None
        raise


def _as_array_if_numbers(X: Any) -> Any:
    """Turn tables of numbers into arrays; leave lists of anything else alone."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return X
    if hasattr(X, "to_numpy"):
        return X.to_numpy()
    if isinstance(X, list | tuple):
        try:
            array = np.asarray(X)
        except ValueError:  # ragged: a list of sequences
            return list(X)
        return array if array.dtype.kind in "biuf" and array.ndim > 1 else list(X)
    return X


def training_gram(estimator: Any, X: Any, *, warn: bool = True) -> Array:
    """Return the similarities among training samples, checked.

    Parameters
    ----------
    estimator : estimator
        With parameters ``kernel`` and ``kernel_params``.
    X : ndarray or list
        Validated samples, or the Gram matrix itself.
    warn : bool
        Whether to warn if the matrix hardly tells samples apart; a search over
        settings meets such matrices by design.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Exactly symmetric.
    """
    if is_precomputed(estimator.kernel):
        return symmetric(X)
    params = estimator.kernel_params or {}
    K = gram(X, None, estimator.kernel, **params)
    if not isinstance(estimator.kernel, str):
        K = symmetric(np.asarray(K))
    if warn:
        step = max(1, len(K) // BLOCK)  # a part of it will tell
        warn_if_uninformative(K[::step, ::step], estimator.kernel)
    return K


def training_operator(estimator: Any, X: Any, *, warn: bool = True) -> Dense | Blocked:
    """Return the similarities among training samples as something to multiply by.

    Parameters
    ----------
    estimator : estimator
        With parameters ``kernel``, ``kernel_params`` and ``operator``.
    X : ndarray or list
        Validated samples, or the Gram matrix itself.
    warn : bool
        Whether to warn if the similarities hardly tell samples apart.

    Returns
    -------
    Dense or Blocked
        Blocked if asked for, or if the matrix would not fit in memory.
    """
    kernel, params = estimator.kernel, estimator.kernel_params or {}
    check_choice("operator", estimator.operator, ["auto", "dense", "blocked"])
    blocked = estimator.operator == "blocked"
    if is_precomputed(kernel):
        if blocked:
            raise ValueError(
                "'operator' must be 'auto' or 'dense' with kernel='precomputed', whose "
                "matrix is stored already, got 'blocked'."
            )
        return Dense(training_gram(estimator, X))
    dtype = getattr(X, "dtype", np.dtype(float))
    if estimator.operator == "auto":
        blocked = not fits(len(X), len(X), dtype)
    if not blocked:
        return Dense(training_gram(estimator, X, warn=warn))
    if warn:
        some = X[:: max(1, len(X) // BLOCK)]
        warn_if_uninformative(gram(some, None, kernel, **params), kernel)
    return Blocked(X, kernel, **params)


def symmetric(K: Array) -> Array:
    """Return K if it is symmetric, its symmetric part if nearly so, or raise.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Similarities.

    Returns
    -------
    ndarray of shape (n, n)
        Exactly symmetric, in the precision of K.
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(
            "A precomputed Gram matrix must be square, one row and one column a "
            f"training sample, got shape {K.shape}."
        )
    if _is_symmetric(K):
        return K
    largest, difference = 0.0, 0.0
    for i in range(0, len(K), BLOCK):
        rows = K[i : i + BLOCK]
        largest = max(largest, float(np.abs(rows).max()))
        difference = max(difference, float(np.abs(rows - K[:, i : i + BLOCK].T).max()))
    relative = difference / largest
    if relative > SYMMETRY:
        raise ValueError(
            "A Gram matrix must be symmetric, but entries of K and its transpose "
            f"differ by up to {difference:.3g} ({relative:.1e} of the largest entry; "
            f"at most {SYMMETRY:.0e} is averaged away). If the symmetric part is "
            "meant, pass (K + K.T) / 2."
        )
    if relative > 100 * np.finfo(K.dtype).eps:
        warnings.warn(
            f"K was not quite symmetric: replaced by (K + K.T) / 2, which changed it "
            f"by up to {difference / 2:.1e}.",
            IndefiniteKernelWarning,
            stacklevel=5,
        )
    return (K + K.T) / 2


def _is_symmetric(K: Array) -> bool:
    """Tell whether K equals its transpose, one tile after another."""
    starts = range(0, len(K), TILE)
    return not any(
        (K[i : i + TILE, j : j + TILE] != K[j : j + TILE, i : i + TILE].T).any()
        for i in starts
        for j in starts[i // TILE :]
    )


def warn_if_uninformative(K: Array, kernel: Any) -> None:
    """Warn if K is almost diagonal or almost constant.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Similarities.
    kernel : str or callable
        For the message.
    """
    n = len(K)
    if n < 3:
        return
    diagonal = np.abs(K.diagonal())
    row_sums = np.zeros(n)
    low, high = np.inf, -np.inf
    for i in range(0, n, BLOCK):
        rows = K[i : i + BLOCK]
        row_sums[i : i + BLOCK] = np.abs(rows).sum(axis=1)
        low, high = min(low, float(rows.min())), max(high, float(rows.max()))
    off = float((row_sums - diagonal).sum()) / (n * (n - 1))
    if off < ALMOST * float(diagonal.mean()):
        what, range_of, width = "almost diagonal", "wide", "below"
    elif high - low < ALMOST * max(abs(high), abs(low)):
        what, range_of, width = "almost constant", "narrow", "above"
    else:
        return
    if takes_matrices(kernel):
        advice = (
            f"a sigma far {width} the distances between samples is the usual reason. "
            "Set sigma in kernel_params, e.g. to the root of the median of what "
            "kreinlearn.kernels.spd_distances gives."
        )
    else:
        advice = (
            f"features of a {range_of} range are the usual reason. Scale them first, "
            "e.g. with sklearn.preprocessing.MinMaxScaler, or set kernel_params."
        )
    name = kernel if isinstance(kernel, str) else getattr(kernel, "__name__", "kernel")
    warnings.warn(
        f"The Gram matrix of kernel {name!r} is {what}, so that it hardly tells "
        f"samples apart; {advice}",
        IndefiniteKernelWarning,
        stacklevel=4,
    )
