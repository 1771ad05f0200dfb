"""Kernels: from samples of any kind to a matrix of similarities.

A kernel is a function ``f(X, Y=None, **params)`` of two sets of samples that gives a
matrix with a row for each sample of X and a column for each of Y. ``KERNELS`` maps
names to functions, and a new kernel is one more entry.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.kernels import vector
from kreinlearn.kernels._blocks import multiply_rows, multiply_values
from kreinlearn.kernels._forms import FORMS
from kreinlearn.kernels._pairs import check_pair
from kreinlearn.kernels.spd import (
    spd_affine_invariant,
    spd_distances,
    spd_euclid,
    spd_log_euclid,
    spd_stein,
)
from kreinlearn.kernels.vector import (
    epanechnikov,
    gaussian_difference,
    laplacian,
    linear,
    log,
    polynomial,
    power,
    rbf,
    tanh,
    tl1,
)

__all__ = [
    "KERNELS",
    "epanechnikov",
    "gaussian_difference",
    "gram",
    "laplacian",
    "linear",
    "log",
    "multiply",
    "polynomial",
    "power",
    "rbf",
    "resolve",
    "spd_affine_invariant",
    "spd_distances",
    "spd_euclid",
    "spd_log_euclid",
    "spd_stein",
    "tanh",
    "tl1",
]

KERNELS: dict[str, Callable[..., Array]] = {
    "epanechnikov": epanechnikov,
    "gaussian_difference": gaussian_difference,
    "laplacian": laplacian,
    "linear": linear,
    "log": log,
    "polynomial": polynomial,
    "power": power,
    "rbf": rbf,
    "spd_affine_invariant": spd_affine_invariant,
    "spd_euclid": spd_euclid,
    "spd_log_euclid": spd_log_euclid,
    "spd_stein": spd_stein,
    "tanh": tanh,
    "tl1": tl1,
}
"""Kernels by name."""


def resolve(kernel: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a kernel stands for, or raise.

    Parameters
    ----------
    kernel : str or callable
        A name in KERNELS, or a function, which is returned as it is.

    Returns
    -------
    callable
        The function.

    Examples
    --------
    >>> from kreinlearn.kernels import resolve
    >>> resolve("tl1").__name__
    'tl1'
    """
    if callable(kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ValueError(
            "'kernel' is 'precomputed', which names no function: pass the matrix "
            "itself where the samples go."
        )
    names = ", ".join(repr(name) for name in sorted(KERNELS))
    error = ValueError if isinstance(kernel, str) else TypeError
    raise error(
        f"'kernel' must be one of {names}, a callable or 'precomputed', got {kernel!r}."
    )


def gram(
    X: Any,
    Y: Any = None,
    kernel: str | Callable[..., Any] = "tl1",
    **params: Any,
) -> Array:
    """Matrix of a kernel between two sets of samples.

    Parameters
    ----------
    X : sequence of n samples
        Whatever the kernel takes: a matrix with one sample a row, a stack of
        matrices, a list of strings.
    Y : sequence of k samples, default=None
        Other samples; None means X.
    kernel : str or callable, default="tl1"
        A name in KERNELS, or a function f(X, Y) of two whole sets of samples.
    **params : dict
        Parameters of the kernel.

    Returns
    -------
    ndarray of shape (n, k)
        The matrix, float32 if the kernel gives that, float64 otherwise.

    Raises
    ------
    MemoryError
        If the matrix would not fit in memory; raised before it is made.

    Examples
    --------
    >>> from kreinlearn.kernels import gram
    >>> gram([[0.0, 0.0], [1.0, 0.5]], kernel="tl1", tau=2)
    array([[2. , 0.5],
           [0.5, 2. ]])

    A function of one's own, on samples that are not numbers:

    >>> import numpy as np
    >>> def common(X, Y):
    ...     return np.array([[len(set(x) & set(z)) for z in Y] for x in X])
    >>> gram(["kernel", "trick"], ["krein"], kernel=common)
    array([[4.],
           [3.]])
    """
    function = resolve(kernel)
    if isinstance(kernel, str):
        _check_parameters(kernel, function, params)
    others = X if Y is None else Y
    n_rows, n_cols = _length("X", X), _length("Y", others)
    is_single = all(
        getattr(samples, "dtype", None) == np.float32 for samples in (X, others)
    )
    dtype = np.float32 if is_single else np.float64
    check_fits(n_rows, n_cols, dtype, "The kernel matrix")
    if isinstance(kernel, str):
        return function(X, Y, **params)
    # A function of the user's need not know that None means X.
    return _check_result(function(X, others, **params), (n_rows, n_cols))


def multiply(
    X: Any,
    Y: Any,
    B: Any,
    kernel: str | Callable[..., Any] = "tl1",
    **params: Any,
) -> Array:
    """Product of a kernel matrix, which is never stored, with columns.

    The same as ``gram(X, Y, kernel, **params) @ B``, for matrices of any size: blocks
    of the matrix are computed, used and forgotten.

    Parameters
    ----------
    X : sequence of n samples
        As `gram` takes them.
    Y : sequence of k samples or None
        Other samples; None means X, and takes half the time.
    B : array-like of shape (k, p) or (k,)
        The columns.
    kernel : str or callable, default="tl1"
        A name in KERNELS, or a function f(X, Y) of two whole sets of samples. A
        function is called with parts of X and Y, as slices of them.
    **params : dict
        Parameters of the kernel.

    Returns
    -------
    ndarray of shape (n, p) or (n,)
        The product, float64. The same call on the same machine gives the same bits.

    Notes
    -----
    Takes up to 64 MiB of memory in addition to the samples, the columns and the result,
    whatever their number, for up to 100,000 features; and what a function of one's own
    takes for 1448 samples against 1448 others.

    Entries of the matrix are computed in single precision if the samples are float32,
    but summed up in double precision. Distances are those of `gram`, except that they
    are summed pair by pair for any number of features, which is more accurate.

    Examples
    --------
    >>> from kreinlearn.kernels import multiply
    >>> multiply([[0.0, 0.0], [1.0, 0.5]], None, [1.0, 2.0], kernel="tl1", tau=2)
    array([3. , 4.5])
    """
    function = resolve(kernel)
    if isinstance(kernel, str):
        _check_parameters(kernel, function, params)
    others = X if Y is None else Y
    n_rows, n_cols = _length("X", X), _length("Y", others)
    columns = _check_columns(B, n_cols, "X" if Y is None else "Y")
    name = getattr(function, "__name__", "")
    if name in FORMS and function is getattr(vector, name):
        rows, other_rows = check_pair(X, Y)
        settings = inspect.signature(function).bind(X, **params)
        settings.apply_defaults()
        form = FORMS[name](rows.shape[1], **settings.kwargs)
        product = multiply_rows(rows, other_rows, columns, form)
    else:
        is_named = isinstance(kernel, str)
        product = multiply_values(
            (_named_values if is_named else _user_values)(function, X, others, params),
            n_rows,
            n_cols,
            columns,
            is_symmetric=is_named and others is X,
        )
    return product[:, 0] if np.ndim(B) == 1 else product


def _named_values(
    function: Callable[..., Any], X: Any, Y: Any, params: dict[str, Any]
) -> Callable[[slice, slice], Array]:
    """Return what gives blocks of a kernel of KERNELS.

    All samples are looked at first, since a message says where in a block a bad one is.
    """
    function(X, Y[:1], **params)
    if Y is not X:
        function(X[:1], Y, **params)

    def values(i: slice, j: slice) -> Array:
        is_same = Y is X and i == j
        return function(X[i], None if is_same else Y[j], **params)

    return values


def _user_values(
    function: Callable[..., Any], X: Any, Y: Any, params: dict[str, Any]
) -> Callable[[slice, slice], Array]:
    """Return what gives blocks of a function of the user's."""

    def values(i: slice, j: slice) -> Array:
        shape = (i.stop - i.start, j.stop - j.start)
        result = function(X[i], Y[j], **params)
        return _check_result(result, shape, (i.start, j.start))

    return values


def _length(name: str, samples: Any) -> int:
    """Return the number of samples, or raise."""
    try:
        return len(samples)
    except TypeError:
        raise TypeError(
            f"{name!r} must be an array or a sequence of samples, got an object of "
            f"type {type(samples).__name__}."
        ) from None


def _check_parameters(
    name: str, function: Callable[..., Any], params: dict[str, Any]
) -> None:
    """Raise unless a named kernel has all these parameters."""
    known = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    for given in params:
        if given not in known:
            listed = ", ".join(repr(parameter) for parameter in known)
            raise TypeError(
                f"Kernel {name!r} takes {listed or 'no parameters'}, got {given!r}."
            )


def _check_columns(B: Any, n_rows: int, samples: str) -> Array:
    """Return columns as a matrix of n_rows rows in double precision, or raise."""
    given = np.asarray(B)
    if given.dtype.kind not in "fiub":
        raise TypeError(
            f"'B' must hold real numbers, got an array of dtype {given.dtype}."
        )
    if given.ndim not in (1, 2) or len(given) != n_rows:
        raise ValueError(
            f"'B' must be a 1-d or 2-d array with {n_rows} rows, one for each sample "
            f"of {samples!r}, got shape {given.shape}."
        )
    columns = given[:, None] if given.ndim == 1 else given
    # Writable, because compiled code would be compiled again for read-only input.
    return np.require(columns, dtype=np.float64, requirements=["C", "A", "W"])


def _check_result(
    result: Any, shape: tuple[int, int], start: tuple[int, int] = (0, 0)
) -> Array:
    """Return what a user's kernel gave as a matrix of finite numbers, or raise.

    The start says which entry of the whole matrix is the first of this one.
    """
    given = np.asarray(result)
    if given.dtype.kind not in "fiub":
        raise TypeError(
            f"The kernel must give real numbers, got an array of dtype {given.dtype}."
        )
    if given.shape != shape:
        raise ValueError(
            f"The kernel must give a matrix of shape {shape}, one row for each sample "
            f"of 'X' and one column for each of 'Y', got shape {given.shape}."
        )
    K: Array = given if given.dtype == np.float32 else given.astype(float, copy=False)
    # Both ends pass on NaN, and need no second matrix as np.isfinite(K) does.
    if K.size and not (np.isfinite(K.min()) and np.isfinite(K.max())):
        i = next(i for i, row in enumerate(K) if not np.isfinite(row).all())
        j = int(np.argmin(np.isfinite(K[i])))
        raise ValueError(
            f"The kernel must give finite numbers, got {K[i, j]} in row "
            f"{start[0] + i}, column {start[1] + j}."
        )
    return K
