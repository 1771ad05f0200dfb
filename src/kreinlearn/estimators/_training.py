"""Similarities among training samples: a matrix, or something to multiply by."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kreinlearn._memory import check_fits, fits
from kreinlearn._typing import Array
from kreinlearn._validation import (
    ALMOST,
    MEAN,
    STRIP,
    SYMMETRIZED,
    SYMMETRY,
    asymmetry,
    check_choice,
    check_finite,
    check_matrix,
    judge_asymmetry,
)
from kreinlearn.estimators._inputs import (
    AnyKernel,
    Keywords,
    ValidSamples,
    is_distance,
    is_pairwise,
    kernel_name,
    learns_form,
    takes_matrices,
)
from kreinlearn.exceptions import IndefiniteKernelWarning, warn_caller
from kreinlearn.kernels import Similarities, gram
from kreinlearn.kernels.distances import learned_form
from kreinlearn.operators import Blocked, Dense, General

ASYMMETRIC = (
    "Say symmetrize='mean', 'max' or 'min', or use the norm 'euclidean', which takes "
    "the matrix as it is."
)
"""What to do about a matrix that is not symmetric."""
FINITE = "Kernel {!r} must give finite numbers, which samples of such a range do not"
"""What is wrong with similarities that overflow."""


def training_gram(
    X: ValidSamples | Similarities,
    kernel: AnyKernel,
    params: Keywords,
    *,
    any_shape: bool = False,
    remedy: str = MEAN,
) -> Array:
    """Return the similarities among training samples.

    They are exactly symmetric, unless ``any_shape`` takes them as they are.
    """
    given = X.X if isinstance(X, Similarities) else X
    if is_distance(kernel):
        D = np.asarray(given)
        check_fits(len(D), len(D), D.dtype, "The matrix of similarities")
        K = learned_form(D, **params)(D)
    elif is_pairwise(kernel):
        K = np.asarray(given)
    elif isinstance(X, Similarities):
        K = X.matrix(kernel, params)
    elif learns_form(kernel):
        K = Similarities(X).matrix(kernel, params)
    else:
        K = gram(X, None, kernel, **params)
    if isinstance(kernel, str) and not is_pairwise(kernel):
        check_finite(K, FINITE.format(kernel))
        return K
    if any_shape and asymmetry(K) > SYMMETRY:
        return check_matrix(K, symmetric="any", square=False)[0]
    return check_matrix(K, remedy=remedy)[0]


def training_operator(
    X: ValidSamples | Similarities,
    kernel: AnyKernel,
    params: Keywords,
    operator: str,
    symmetrize: str | None = None,
    *,
    any_shape: bool = False,
) -> Dense | General | Blocked:
    """Return the similarities among training samples as something to multiply by.

    Blocked if asked for, or if the matrix would not fit in memory. ``any_shape`` allows
    a matrix that is not symmetric.
    """
    kernel = symmetric_kernel(kernel, symmetrize)
    samples = X.X if isinstance(X, Similarities) else X
    check_choice("operator", operator, ["auto", "dense", "blocked"])
    blocked = operator == "blocked"
    if is_pairwise(kernel) or learns_form(kernel):
        if blocked:
            raise ValueError(
                f"'operator' must be 'auto' or 'dense' with kernel={kernel!r}, whose "
                "matrix is stored in any case, got 'blocked'."
            )
    elif operator == "auto":
        dtype = getattr(samples, "dtype", np.dtype(float))
        blocked = not fits(len(samples), len(samples), dtype)
    if blocked:
        return _blocked(samples, kernel, params, any_shape)
    K = training_gram(X, kernel, params, any_shape=any_shape, remedy=ASYMMETRIC)
    is_symmetric = not any_shape or asymmetry(K) == 0
    return Dense(K) if is_symmetric else General(K)


def _blocked(
    X: ValidSamples, kernel: AnyKernel, params: Keywords, any_shape: bool
) -> Blocked:
    """Return the operator, after the same look at both directions as when stored."""
    K = Blocked(X, kernel, **params)
    if isinstance(kernel, str):
        # In a sum over a row, what is not finite stays what it is.
        row = int(np.isfinite(K.matmat(np.ones((len(X), 1)))[:, 0]).argmin())
        check_finite(K.rows(np.array([row])), FINITE.format(kernel), (row, 0))
        return K
    if isinstance(kernel, SymmetricKernel):
        return K
    difference, relative = K.asymmetry()
    if any_shape and relative > SYMMETRY:
        K.is_symmetric = False
    elif judge_asymmetry(difference, relative, K.dtype, remedy=ASYMMETRIC):
        return Blocked(X, SymmetricKernel(kernel, "mean"), **params)
    return K


def check_symmetrize(how: str | None) -> None:
    """Raise unless it is a way to make a matrix symmetric, or None."""
    if how is not None:
        check_choice("symmetrize", how, SYMMETRIZED)


@dataclass(frozen=True)
class SymmetricKernel:
    """A kernel of the user's with both of its values for a pair made one."""

    kernel: Callable[..., Array]
    how: str

    def __call__(self, X: Any, Y: Any, **params: Any) -> Array:
        K, mirror = self.kernel(X, Y, **params), self.kernel(Y, X, **params)
        return SYMMETRIZED[self.how](np.asarray(K), np.asarray(mirror).T)


def symmetric_kernel(kernel: AnyKernel, how: str | None) -> AnyKernel:
    """Return a kernel whose values are symmetric, as far as it can be called."""
    if how is None or isinstance(kernel, str | SymmetricKernel):
        return kernel  # kernels with a name are symmetric; matrices have no other
    return SymmetricKernel(kernel, how)


def warn_if_uninformative(K: Dense | General | Blocked, kernel: AnyKernel) -> None:
    """Warn if similarities are almost diagonal or almost constant; a part will tell."""
    if kernel == "precomputed" or K.shape[0] < 3:
        return
    some = np.arange(0, K.shape[0], max(1, K.shape[0] // STRIP))
    what = _uninformative(K.part(some, some))
    if what is None:
        return
    if is_distance(kernel) or learns_form(kernel):
        advice = "set another form or width in kernel_params."
    elif takes_matrices(kernel):
        advice = (
            f"a sigma far {'below' if what == 'diagonal' else 'above'} the distances "
            "between samples is the usual reason. Set sigma in kernel_params, e.g. to "
            "the root of the median of what kreinlearn.kernels.spd_distances gives."
        )
    else:
        advice = (
            f"features of a {'wide' if what == 'diagonal' else 'narrow'} range are the "
            "usual reason. Scale them first, e.g. with "
            "sklearn.preprocessing.MinMaxScaler, or set kernel_params."
        )
    warn_caller(
        f"The Gram matrix of kernel {kernel_name(kernel)!r} is almost {what}, so that "
        f"it hardly tells samples apart; {advice}",
        IndefiniteKernelWarning,
    )


def _uninformative(K: Array) -> str | None:
    """Return "diagonal" or "constant" if K is almost that."""
    n = len(K)
    diagonal = np.abs(K.diagonal())
    row_sums = np.zeros(n)
    low, high = np.inf, -np.inf
    for i in range(0, n, STRIP):
        rows = K[i : i + STRIP]
        row_sums[i : i + STRIP] = np.abs(rows).sum(axis=1)
        low, high = min(low, float(rows.min())), max(high, float(rows.max()))
    off = float((row_sums - diagonal).sum()) / (n * (n - 1))
    if off < ALMOST * float(diagonal.mean()):
        return "diagonal"
    return "constant" if high - low < ALMOST * max(abs(high), abs(low)) else None
