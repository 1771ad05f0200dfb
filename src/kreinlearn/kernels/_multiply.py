"""Products with the matrix of any kernel, which is never stored."""

import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._typing import Array
from kreinlearn.kernels._blocks import multiply_rows, multiply_values
from kreinlearn.kernels._measuring import measured_rows
from kreinlearn.kernels._pairs import Compiled, check_pair
from kreinlearn.kernels._records import Function, Kernel, Params, SampleSet
from kreinlearn.kernels._table import KERNELS, call_of, check_result


def multiply(
    X: SampleSet,
    Y: SampleSet | None,
    B: ArrayLike,
    kernel: str | Function = "tl1",
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
    function, others, shape = call_of(X, Y, kernel, params)
    columns = _check_columns(B, shape[1], "X" if Y is None else "Y")
    is_named = isinstance(kernel, str)
    if isinstance(kernel, str) and KERNELS[kernel].check is not None:
        return _times(KERNELS[kernel], X, others, columns, params).reshape(
            (shape[0], *np.shape(B)[1:])
        )
    fused = _fused(function, X, Y, params)
    if fused is None and is_named:
        # All are looked at first, since a message says where in a block a bad one is.
        function(X, others[:1], **params)
        if others is not X:
            function(X[:1], others, **params)

    def values(i: slice, j: slice) -> Array:
        if is_named:
            is_same = others is X and i == j
            return function(X[i], None if is_same else others[j], **params)
        block = (i.stop - i.start, j.stop - j.start)
        result = function(X[i], others[j], **params)
        return check_result(result, block, (i.start, j.start))

    if fused is not None:
        product = multiply_rows(*fused, columns)
    else:
        is_symmetric = is_named and others is X
        product = multiply_values(values, shape, columns, is_symmetric)
    return product[:, 0] if np.ndim(B) == 1 else product


def _times(
    kernel: Kernel, X: SampleSet, Y: SampleSet, columns: Array, params: Params
) -> Array:
    """Return the product where samples are no rows, and a measure takes its time."""
    assert kernel.check is not None and kernel.measure is not None
    X, Y = kernel.check(X), kernel.check(Y)
    product = np.empty((len(X), columns.shape[1]))
    for rows, values in measured_rows(kernel.measure, X, Y, params):
        product[rows] = values @ columns
    return product


def _fused(
    function: Function, X: SampleSet, Y: SampleSet, params: Params
) -> tuple[Array, Array | None, str, Compiled] | None:
    """Return samples, sums and form if compiled code takes them, else None."""
    record = next((r for r in KERNELS.values() if r.function is function), None)
    if record is None or record.measure is None or record.measure.sums is None:
        return None
    inspect.signature(function).bind(X, **params)
    rows, others = check_pair(X, Y)
    finish = record.finish(rows, params)
    if not isinstance(finish, Compiled):
        return None
    return rows, others, record.measure.sums, finish


def _check_columns(B: ArrayLike, n_rows: int, samples: str) -> Array:
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
