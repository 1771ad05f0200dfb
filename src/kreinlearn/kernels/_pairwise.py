"""Sums over the features of all pairs of rows: check the rows, run compiled tiles."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas

from kreinlearn._typing import Array
from kreinlearn._validation import check_finite
from kreinlearn.kernels import threads

BLAS_FEATURES = 128
"""With more features than this, squares and products come from a matrix product.

Below, summing each pair is as fast, and exact for rows that are close to each other.
"""

LINEAR_FEATURES = 48
"""The same for inner products alone, without a transform of each of them."""

MIRROR_FEATURES = 32
"""With fewer features, computing both halves is faster than copying one of them."""

SYMMETRIC_TRANSFORMS = ("identity", "hinge")
"""Cheap transforms that round alike in both halves of a symmetric matrix."""

SQUARE_TILE = (128, 128)
LONG_TILE = (16, 512)
"""Rows and columns; either stays in the second cache, and long ones write faster."""

TERMS_PER_THREAD = 4_000_000
"""Terms to sum (and ten per pair for the rest) that are worth one more thread."""


def check_numeric(name: str, X: ArrayLike, ragged: str) -> Array:
    """Return an array of real numbers or objects, or raise.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    X : array-like
        The input.
    ragged : str
        Requirement that parts of different lengths violate, for the message.

    Returns
    -------
    ndarray
        The input as an array.
    """
    try:
        given = np.asarray(X)
    except ValueError:
        raise ValueError(f"{name!r} must {ragged} different lengths.") from None
    if given.dtype.kind not in "fiubO":
        raise TypeError(
            f"{name!r} must hold real numbers, got an array of dtype {given.dtype}."
        )
    return given


def to_floats(name: str, given: Array) -> Array:
    """Return numbers in C order, float32 if they were, float64 otherwise, or raise."""
    dtype = np.float32 if given.dtype == np.float32 else np.float64
    try:
        # Writable, because compiled code would be compiled again for read-only input.
        return np.require(given, dtype=dtype, requirements=["C", "A", "W"])
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name!r} must hold real numbers: {error}.") from None


def check_rows(name: str, X: ArrayLike) -> Array:
    """Return samples as a matrix of finite numbers, one sample per row, or raise.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    X : array-like of shape (n_samples, n_features)
        The input.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The same numbers in C order, float32 if they were, float64 otherwise.
    """
    given = check_numeric(name, X, "have as many numbers in each row, got rows of")
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(
            f"{name!r} must be a 2-d array with one sample per row and at least one "
            f"row and one column, got shape {given.shape}."
        )
    rows = to_floats(name, given)
    check_finite(rows, f"{name!r} must hold finite numbers")
    return rows


def check_pair(X: ArrayLike, Y: ArrayLike | None) -> tuple[Array, Array | None]:
    """Return two sets of samples with the same features and precision, or raise.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m) or None
        Other samples, or None for the same.

    Returns
    -------
    X : ndarray of shape (n, m)
        The samples.
    Y : ndarray of shape (k, m) or None
        The other samples; None if they are the same object.
    """
    rows = check_rows("X", X)
    if Y is None or Y is X:
        return rows, None
    others = check_rows("Y", Y)
    if rows.shape[1] != others.shape[1]:
        raise ValueError(
            "'X' and 'Y' must have the same number of columns, got "
            f"{rows.shape[1]} and {others.shape[1]}."
        )
    if rows.dtype != others.dtype:
        rows, others = rows.astype(np.float64), others.astype(np.float64)
    return rows, others


class Compiled(NamedTuple):
    """A transform of sums over features that compiled code applies, with parameters.

    Parameters
    ----------
    name : str
        One of the names in ``rows.TRANSFORM_NAMES`` of the compiled code.
    a, b, c : float
        Its parameters.
    """

    name: str
    a: float = 0.0
    b: float = 0.0
    c: float = 0.0

    def __call__(
        self, D: Array, is_symmetric: bool = False, out: Array | None = None
    ) -> Array:
        """Return the transform of stored sums, with the bits of `compute_pairwise`."""
        K = np.empty_like(D, order="C") if out is None else out
        mirror = is_symmetric and self.name not in SYMMETRIC_TRANSFORMS
        _fill(K, np.require(D, requirements=["C", "A", "W"]), "stored", self, mirror)
        return K


def compute_pairwise(
    X: ArrayLike,
    Y: ArrayLike | None,
    sums: str,
    form: Callable[..., Compiled],
    *params: float | None,
) -> Array:
    """Return a transform of a sum over features, for all pairs of rows.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m) or None
        Other samples; None means X.
    sums : {"absolute", "square", "product"}
        Terms of the sum: |x - y|, (x - y)^2 or x y.
    form : callable
        A function of `transforms`, which takes m and the parameters.
    *params : float
        Its parameters.

    Returns
    -------
    ndarray of shape (n, k)
        The values; exactly symmetric if Y is None.
    """
    rows, given = check_pair(X, Y)
    others, is_symmetric = rows if given is None else given, given is None
    m = rows.shape[1]
    transform = form(m, *params)
    is_linear = transform.name == "identity" and sums == "product"
    if is_linear and not is_symmetric:
        return rows @ others.T
    if is_linear and m > LINEAR_FEATURES:
        from kreinlearn.kernels._compiled import rows as compiled

        out = _compute_upper_products(rows)
        n_parts = -(-len(out) // compiled.MIRROR_SIDE)
        count = count_threads(10 * out.size)
        threads.parallel_for(partial(compiled.mirror_upper, out), n_parts, count)
        return out
    is_alike = transform.name in SYMMETRIC_TRANSFORMS and m < MIRROR_FEATURES
    mirror = is_symmetric and not is_alike
    if sums == "absolute" or m <= BLAS_FEATURES:
        out = np.empty((len(rows), len(others)), rows.dtype)
        _fill(out, out, sums, transform, mirror, (rows, others))
        return out
    norms: tuple[Array, ...] = ()
    if sums == "square":
        # Distances do not change, and fewer digits cancel in |x|^2 + |y|^2 - 2 <x, y>.
        center = others.mean(axis=0)
        rows, others = rows - center, others if is_symmetric else others - center
    out = _compute_upper_products(rows) if is_symmetric else rows @ others.T
    if sums == "square" and is_symmetric:
        norms = (out.diagonal().copy(),) * 2
    elif sums == "square":
        norms = tuple(np.einsum("ij,ij->i", Z, Z) for Z in (rows, others))
    stored = "stored square" if sums == "square" else "stored"
    _fill(out, out, stored, transform, mirror, norms=norms)
    return out


def _compute_upper_products(rows: Array) -> Array:
    """Return inner products of rows on and above the diagonal.

    NumPy would copy them below, in one thread, before the transform changes them.
    """
    out = np.empty((len(rows), len(rows)), rows.dtype)
    syrk = blas.get_blas_funcs("syrk", (rows,))
    # BLAS sees transposes, and below is above.
    syrk(1.0, rows.T, beta=0.0, c=out.T, trans=1, lower=1, overwrite_c=1)
    return out


def _fill(
    out: Array,
    stored: Array,
    sums: str,
    transform: Compiled,
    mirror: bool,
    samples: tuple[Array, ...] = (),
    norms: tuple[Array, ...] = (),
) -> None:
    """Fill the output, in threads, from two sets of rows or from stored sums."""
    from kreinlearn.kernels._compiled import rows as compiled

    rows, panels = np.empty((0, 0), out.dtype), np.empty((0, 0, 0), out.dtype)
    if samples:
        rows = samples[0]
        panels = pack(samples[1], compiled.VECTOR_BYTES // out.itemsize)
    xx, yy = norms or (np.empty(0, out.dtype),) * 2
    shape = SQUARE_TILE if mirror else LONG_TILE
    codes = compiled.make_codes(*transform)
    fill = compiled.make_fill(
        compiled.SUM_NAMES.index(sums), codes[0] in compiled.USUAL_CODES
    )
    work = partial(fill, out, stored, rows, panels, xx, yy, codes, mirror, shape)
    count = count_threads(out.size * (rows.shape[1] + 10))
    threads.parallel_for(work, -(-len(out) // shape[0]), count)


def count_threads(n_terms: int) -> int:
    """Return how many threads a sum of so many terms is worth."""
    return threads.count_threads(n_terms, TERMS_PER_THREAD)


def pack(rows: Array, lanes: int) -> Array:
    """Return rows in groups of lanes, entry by entry, the last filled with row 0.

    Parameters
    ----------
    rows : ndarray of shape (k, m)
        Rows.
    lanes : int
        Rows in a group.

    Returns
    -------
    ndarray of shape (ceil(k / lanes), m, lanes)
        Entry [p, e, q] is rows[p * lanes + q, e].
    """
    k, m = rows.shape
    n_panels = -(-k // lanes)
    full = np.empty((n_panels * lanes, m), rows.dtype)
    full[:k] = rows
    full[k:] = rows[0]
    return np.ascontiguousarray(full.reshape(n_panels, lanes, m).transpose(0, 2, 1))
