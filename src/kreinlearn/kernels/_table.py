"""Kernels by name, and the matrix of any kernel."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import check_finite
from kreinlearn.kernels._cache import compute_measure as measured
from kreinlearn.kernels._cache import iterate_measure_rows as measured_rows
from kreinlearn.kernels._domains import DOMAIN_KERNELS
from kreinlearn.kernels._records import Function, Kernel, Params, SampleSet
from kreinlearn.kernels.distances import PAIRWISE
from kreinlearn.kernels.rows import ROW_KERNELS
from kreinlearn.kernels.spd import SPD_KERNELS


class Kernels(dict[str, Kernel]):
    """Kernels by name; a function becomes a `Kernel` of which nothing else is known."""

    def __setitem__(self, name: str, kernel: Kernel | Function) -> None:
        record = kernel if isinstance(kernel, Kernel) else Kernel(name, kernel)
        super().__setitem__(name, record)


KERNELS = Kernels(
    {each.name: each for each in (*ROW_KERNELS, *SPD_KERNELS, *DOMAIN_KERNELS)}
)
"""Kernels by name."""


def resolve(kernel: str | Function) -> Function:
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
    if isinstance(kernel, Kernel):
        return kernel.function
    if callable(kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel].function
    if isinstance(kernel, str) and kernel in PAIRWISE:
        raise ValueError(
            f"'kernel' is {kernel!r}, which names no function: pass the matrix "
            "itself where the samples go."
        )
    names = ", ".join(repr(name) for name in sorted(KERNELS))
    error = ValueError if isinstance(kernel, str) else TypeError
    raise error(
        f"'kernel' must be one of {names}, a callable, 'precomputed' or 'distance', "
        f"got {kernel!r}."
    )


def gram(
    X: SampleSet,
    Y: SampleSet | None = None,
    kernel: str | Function = "tl1",
    **params: Any,
) -> Array:
    """Matrix of a kernel between two sets of samples.

    Parameters
    ----------
    X : sequence of n samples
        Whatever the kernel takes: a matrix with one sample per row, a stack of
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
    function, others, shape = call_of(X, Y, kernel, params)
    check_fits(*shape, precision(X, others), "The kernel matrix")
    if isinstance(kernel, str):
        record = KERNELS[kernel]
        if record.check is None:
            return function(X, Y, **params)
        return _score(record, X, Y, params)
    # A function of the user's need not know that None means X.
    return check_result(function(X, others, **params), shape)


def _score(kernel: Kernel, X: SampleSet, Y: SampleSet | None, params: Params) -> Array:
    """Return a score between samples that are no rows, block by block."""
    assert kernel.check is not None and kernel.measure is not None
    if Y is None:
        return measured(kernel.measure, kernel.check(X), params)
    X, Y = kernel.check(X), kernel.check(Y)
    K = np.empty((len(X), len(Y)))
    for rows, values in measured_rows(kernel.measure, X, Y, params):
        K[rows] = values
    return K


def precision(*samples: SampleSet) -> type[np.floating]:
    """Return the precision of a kernel matrix.

    Parameters
    ----------
    *samples : sequence
        One or two sets of samples.

    Returns
    -------
    type
        float32 if all are, else float64.
    """
    is_single = all(getattr(each, "dtype", None) == np.float32 for each in samples)
    return np.float32 if is_single else np.float64


def call_of(
    X: SampleSet, Y: SampleSet | None, kernel: str | Function, params: Params
) -> tuple[Function, SampleSet, tuple[int, int]]:
    """Return the function, the other samples and the shape of a matrix, or raise.

    Parameters
    ----------
    X, Y, kernel : object
        As `gram` takes them.
    params : mapping
        Parameters of the kernel; those of a name must be known.

    Returns
    -------
    function : callable
        What the kernel stands for.
    others : sequence
        Y, or X if that is None.
    shape : tuple of int
        Number of samples of both.
    """
    function = resolve(kernel)
    if isinstance(kernel, str):
        if KERNELS[kernel].learns_form:
            raise ValueError(
                f"Kernel {kernel!r} is a distance, whose form is learned from training "
                "samples: use it in an estimator, or turn what "
                f"kreinlearn.kernels.KERNELS[{kernel!r}] gives into similarities by "
                "DistanceSimilarity."
            )
        KERNELS[kernel].check_params(params)
    others = X if Y is None else Y
    return function, others, (_length("X", X), _length("Y", others))


def _length(name: str, samples: SampleSet) -> int:
    """Return the number of samples, or raise."""
    try:
        return len(samples)
    except TypeError:
        raise TypeError(
            f"{name!r} must be an array or a sequence of samples, got an object of "
            f"type {type(samples).__name__}."
        ) from None


def check_result(
    result: ArrayLike, shape: tuple[int, int], start: tuple[int, int] = (0, 0)
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
    check_finite(K, "The kernel must give finite numbers", start)
    return K
