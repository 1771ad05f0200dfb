"""Stacks of symmetric positive definite matrices: checked, factored, packed."""

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kreinlearn._typing import Array
from kreinlearn.kernels._pairs import as_floats, n_threads, real_numbers
from kreinlearn.kernels._work import share_out

ASYMMETRY = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
"""Largest |S - S'|, relative to the largest entry of S, that passes for rounding.

About the square root of the precision: products of long arrays lose some digits, a
matrix that is not meant to be symmetric loses all.
"""


def check_ridge(ridge: float) -> float:
    """Return a finite number that is not negative, or raise.

    Parameters
    ----------
    ridge : float
        What the caller gave.

    Returns
    -------
    float
        The value.
    """
    if not isinstance(ridge, int | float | np.number) or isinstance(ridge, bool):
        raise TypeError(f"'ridge' must be a number, 0 or above, got {ridge!r}.")
    if not (np.isfinite(ridge) and ridge >= 0):
        raise ValueError(f"'ridge' must be a number, 0 or above, got {ridge!r}.")
    return float(ridge)


def check_stacks(
    X: ArrayLike, Y: ArrayLike | None, ridge: float
) -> tuple[Array, Array | None, np.dtype[np.floating]]:
    """Return two stacks of matrices of one size and the precision to answer in.

    Parameters
    ----------
    X : array-like of shape (n, d, d)
        Matrices.
    Y : array-like of shape (k, d, d) or None
        Other matrices, or None for the same.
    ridge : float
        Share of the mean of the diagonal that is added to the diagonal.

    Returns
    -------
    X : ndarray of shape (n, d, d)
        The matrices in float64, exactly symmetric, with the ridge.
    Y : ndarray of shape (k, d, d) or None
        The others; None if they are the same object.
    dtype : dtype
        float32 if both stacks are, else float64.
    """
    rows = _check_shape("X", X)
    others = None if Y is None or Y is X else _check_shape("Y", Y)
    if others is not None and rows.shape[1] != others.shape[1]:
        raise ValueError(
            "'X' and 'Y' must hold matrices of the same size, got shapes "
            f"{rows.shape} and {others.shape}."
        )
    dtype = rows.dtype if others is None else np.result_type(rows, others)
    S = _prepare("X", rows, ridge)
    return S, None if others is None else _prepare("Y", others, ridge), dtype


def _check_shape(name: str, X: ArrayLike) -> Array:
    """Return a stack of square matrices of real numbers, or raise."""
    given = real_numbers(name, X, "hold matrices of one size, got matrices or rows of")
    if given.ndim != 3 or given.shape[1] != given.shape[2] or 0 in given.shape:
        hint = ""
        if given.ndim == 2 and given.shape[0] == given.shape[1]:
            hint = f" A single matrix becomes a stack as {name}[None]."
        raise ValueError(
            f"{name!r} must be a stack of square matrices, of shape (n, d, d), or of "
            f"several per sample, (n, r, d, d), got shape {given.shape}.{hint}"
        )
    return as_floats(name, given)


def _prepare(name: str, stack: Array, ridge: float) -> Array:
    """Return the symmetric part in float64, with the ridge, or raise."""
    from kreinlearn.kernels._compiled.stacks import symmetrize

    (n, d), allowed = stack.shape[:2], ASYMMETRY[stack.dtype]
    symmetric, differences, largest = np.empty(stack.shape), np.empty(n), np.empty(n)
    fill = partial(symmetrize, symmetric, differences, largest, stack)
    share_out(fill, n, n_threads(10 * stack.size))
    if np.isnan(largest).any():
        i, r, c = np.argwhere(~np.isfinite(stack))[0]
        raise ValueError(
            f"{name!r} must hold finite numbers, got {stack[i, r, c]} in "
            f"{name}[{i}], row {r}, column {c}."
        )
    skewed = differences > allowed * largest
    if skewed.any():
        i = int(skewed.argmax())
        raise ValueError(
            f"{name!r} must hold symmetric matrices, but entries of {name}[{i}] and "
            f"its transpose differ by up to {differences[i]:.3g} "
            f"({differences[i] / largest[i]:.1e} of the largest entry; at most "
            f"{allowed:.0e} is averaged away)."
        )
    if ridge > 0:
        means = np.trace(symmetric, axis1=1, axis2=2) / d
        symmetric[:, range(d), range(d)] += ridge * means[:, None]
    return symmetric


def factors(name: str, stack: Array) -> Array:
    """Return lower Cholesky factors, or raise unless all are positive definite.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    stack : ndarray of shape (n, d, d)
        Symmetric matrices.

    Returns
    -------
    ndarray of shape (n, d, d)
        The factors.
    """
    L = np.empty_like(stack)

    def fill(first: int, last: int) -> None:
        L[first:last] = np.linalg.cholesky(stack[first:last])

    try:
        share_out(fill, len(stack), n_threads(stack.size * stack.shape[1] // 3))
    except np.linalg.LinAlgError:
        raise not_definite(name, stack, _first_failure(stack)) from None
    # The share of a variable's variance that the ones before it do not explain. What
    # is below rounding is none, whatever sign it was rounded to.
    diagonal = np.einsum("ijj->ij", stack)
    shares = np.einsum("ijj->ij", L) ** 2 / diagonal
    spent = shares.min(axis=1) <= stack.shape[1] * np.finfo(np.float64).eps
    if spent.any():
        raise not_definite(name, stack, int(spent.argmax()))
    return L


def _first_failure(stack: Array) -> int:
    """Return the index of the first matrix without a Cholesky factor."""
    for i, S in enumerate(stack):
        try:
            np.linalg.cholesky(S)
        except np.linalg.LinAlgError:
            return i
    raise AssertionError("one matrix has no Cholesky factor in a stack but alone.")


def not_definite(name: str, stack: Array, i: int) -> ValueError:
    """Return the error for a matrix that is not positive definite.

    Parameters
    ----------
    name : str
        Name of the parameter.
    stack : ndarray of shape (n, d, d)
        Symmetric matrices.
    i : int
        Which of them is not positive definite.

    Returns
    -------
    ValueError
        With its index and smallest eigenvalue.
    """
    values = np.linalg.eigvalsh(stack[i])
    return ValueError(
        f"{name!r} must hold positive definite matrices, but the smallest eigenvalue "
        f"of {name}[{i}] is {values[0]:.3g} (the largest is {values[-1]:.3g}). Give "
        "'ridge', e.g. 1e-6, to add that share of its mean to the diagonal of every "
        "matrix, or estimate covariances with shrinkage."
    )


def logarithms(name: str, stack: Array) -> Array:
    """Return matrix logarithms, or raise unless all are positive definite.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    stack : ndarray of shape (n, d, d)
        Symmetric matrices.

    Returns
    -------
    ndarray of shape (n, d, d)
        The logarithms.
    """
    values, vectors = np.linalg.eigh(stack)
    # Far from singular there are factors, and no need to look for them.
    rounding = 16 * stack.shape[1] * np.finfo(np.float64).eps * values[:, -1]
    if (values[:, 0] <= rounding).any():
        factors(name, stack)
    if values.min() <= 0:
        raise not_definite(name, stack, int(values.min(axis=1).argmin()))
    return (vectors * np.log(values)[:, None, :]) @ vectors.transpose(0, 2, 1)


def lower(stack: Array) -> Array:
    """Return the lower triangles, row after row.

    Parameters
    ----------
    stack : ndarray of shape (n, d, d)
        Matrices.

    Returns
    -------
    ndarray of shape (n, d * (d + 1) / 2)
        Entry (r, c) of each is at index r * (r + 1) / 2 + c.
    """
    r, c = np.tril_indices(stack.shape[1])
    return stack[:, r, c]


def flat(name: str, S: Array, metric: str, dtype: DTypeLike) -> Array:
    """Return matrices, or their logarithms, as rows whose distances are theirs."""
    from kreinlearn.kernels._compiled.stacks import halves

    if metric == "log_euclid":
        S = logarithms(name, S)
    else:
        factors(name, S)
    n, d = S.shape[:2]
    rows = np.empty((n, d * (d + 1) // 2), dtype)
    halves(rows, S, 0, n)
    return rows


def shape_of(X: ArrayLike) -> tuple[int, ...]:
    """Return the shape, or nothing for lists of different lengths."""
    try:
        return np.shape(X)
    except ValueError:  # of different lengths, which is told elsewhere
        return ()


def rows_in(X: ArrayLike) -> int:
    """Return the number of rows of all matrices of one sample."""
    return math.prod(shape_of(X)[1:-1])
