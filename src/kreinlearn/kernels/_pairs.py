"""What the kernels between rows share: check the rows, choose a way, run the tiles."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._typing import Array

BLAS_FEATURES = 128
"""With more features than this, squares and products come from a matrix product.

Below, summing each pair is as fast, and exact for rows that are close to each other.
"""

MIRROR_FEATURES = 32
"""With fewer features, computing both halves is faster than copying one of them."""

SAME_BOTH_WAYS = ("identity", "hinge")
"""Finishes that are cheap, and round alike in both halves of a symmetric matrix."""

SQUARE_TILE = (128, 128)
LONG_TILE = (16, 512)
"""Rows and columns; either stays in the second cache, and long ones write faster."""

THREAD_TERMS = 4_000_000
"""Terms to sum (and ten a pair for the rest) that are worth one more thread."""

SHARES = 8
"""Pieces a thread gets on average; more are a better balance, fewer are fewer calls."""


def check_rows(name: str, X: ArrayLike) -> Array:
    """Return samples as a matrix of finite numbers, one sample a row, or raise.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    X : array-like of shape (n_samples, n_features)
        What the caller gave.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The same numbers in C order, float32 if they were, float64 otherwise.
    """
    try:
        given = np.asarray(X)
    except ValueError:
        raise ValueError(
            f"{name!r} must have as many numbers in each row, got rows of different "
            "lengths."
        ) from None
    if given.dtype.kind not in "fiubO":
        raise TypeError(
            f"{name!r} must hold real numbers, got an array of dtype {given.dtype}."
        )
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(
            f"{name!r} must be a 2-d array with one sample a row and at least one row "
            f"and one column, got shape {given.shape}."
        )
    dtype = np.float32 if given.dtype == np.float32 else np.float64
    try:
        # Writable, because compiled code would be compiled again for read-only input.
        rows: Array = np.require(given, dtype=dtype, requirements=["C", "A", "W"])
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name!r} must hold real numbers: {error}.") from None
    # Both ends pass on NaN, and need no second matrix as np.isfinite(rows) does.
    if not (np.isfinite(rows.min()) and np.isfinite(rows.max())):
        i, j = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(
            f"{name!r} must hold finite numbers, got {rows[i, j]} in row {i}, "
            f"column {j}."
        )
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
    """A function of sums over features that compiled code applies, with its numbers.

    Parameters
    ----------
    name : str
        One of the names in ``tiles.FINISHES``.
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
        """Return the function of stored sums, with the same bits as `fill_matrix`."""
        stored = np.require(D, requirements=["C", "A", "W"])
        K = np.empty_like(stored) if out is None else out
        mirror = is_symmetric and self.name not in SAME_BOTH_WAYS
        _fill(K, "stored", self, mirror, 0, stored)
        return K


def between_rows(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    sums: str,
    form: Callable[..., Compiled],
    **params: float | None,
) -> Array:
    """Return a form of a sum over features, for all pairs of rows.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    sums : {"absolute", "square", "product"}
        What is summed: |x - y|, (x - y)^2 or x y.
    form : callable
        A function of `_forms`, which takes m and the parameters.
    **params : dict
        Its parameters.

    Returns
    -------
    ndarray of shape (n, k)
        The values; exactly symmetric if Y is None.
    """
    rows, others = check_pair(X, Y)
    return fill_matrix(rows, others, sums, form(rows.shape[1], **params))


def fill_matrix(X: Array, Y: Array | None, sums: str, finish: Compiled) -> Array:
    """Return a function of a sum over features, for rows as `check_pair` gives them."""
    is_symmetric = Y is None
    others = X if Y is None else Y
    if finish.name == "identity" and sums == "product" and not is_symmetric:
        return X @ others.T
    m = X.shape[1]
    mirror = is_symmetric and (
        m >= MIRROR_FEATURES or finish.name not in SAME_BOTH_WAYS
    )
    if sums == "absolute" or m <= BLAS_FEATURES:
        out = np.empty((len(X), len(others)), X.dtype)
        _fill(out, sums, finish, mirror, m, out, X, others)
        return out
    xx = yy = None
    if sums == "square":
        # Distances do not change, and less is lost in |x|^2 + |y|^2 - 2 <x, y>.
        center = others.mean(axis=0)
        X = X - center
        others = X if is_symmetric else others - center
        xx = np.einsum("ij,ij->i", X, X)
        yy = xx if is_symmetric else np.einsum("ij,ij->i", others, others)
    out = X @ others.T
    stored = "stored square" if sums == "square" else "stored"
    _fill(out, stored, finish, mirror, m, out, xx=xx, yy=yy)
    return out


def _fill(
    out: Array,
    sums: str,
    finish: Compiled,
    mirror: bool,
    m: int,
    stored: Array,
    X: Array | None = None,
    Y: Array | None = None,
    xx: Array | None = None,
    yy: Array | None = None,
) -> None:
    """Fill the output, in threads, from rows or from what is stored."""
    from kreinlearn.kernels._compiled import tiles

    nothing = np.empty(0, out.dtype)
    panels = np.empty((0, 0, 0), out.dtype)
    if Y is not None:
        panels = _pack(Y, tiles.VECTOR_BYTES // out.itemsize)
    tile_rows, tile_cols = SQUARE_TILE if mirror else LONG_TILE
    fill = partial(
        tiles.fill,
        out,
        stored,
        np.empty((0, 0), out.dtype) if X is None else X,
        panels,
        nothing if xx is None else xx,
        nothing if yy is None else yy,
        tiles.SUMS[sums],
        tiles.FINISHES[finish.name],
        float(finish.a),
        float(finish.b),
        float(finish.c),
        mirror,
        tile_rows,
        tile_cols,
    )
    n_threads = min(1 + out.size * (m + 10) // THREAD_TERMS, tiles.n_threads())
    share_out(fill, -(-len(out) // tile_rows), n_threads)


def share_out(work: Callable[[int, int], None], n_items: int, n_threads: int) -> None:
    """Do numbered pieces of work in several threads.

    Threads take the next few pieces when they have done theirs, and end with the call:
    no pool is left that would spin, or be missing in a forked process.

    Parameters
    ----------
    work : callable
        ``work(first, last)`` does the pieces first to last - 1. It should let go of
        the GIL.
    n_items : int
        Number of pieces.
    n_threads : int
        Number of threads, the calling one among them.
    """
    step = max(1, n_items // (n_threads * SHARES))
    todo = deque(range(0, n_items, step))

    def run() -> None:
        while True:
            try:
                first = todo.popleft()
            except IndexError:
                return
            try:
                work(first, min(first + step, n_items))
            except BaseException:
                todo.clear()  # so that the others stop early, too
                raise

    if n_threads == 1 or len(todo) == 1:
        work(0, n_items)
        return
    with ThreadPoolExecutor(n_threads - 1) as pool:
        others = [pool.submit(run) for _ in range(n_threads - 1)]
        run()
    for other in others:
        other.result()


def _pack(Y: Array, width: int) -> Array:
    """Return rows in groups of width, feature by feature, the last filled with 0.

    The result has shape (ceil(k / width), m, width), and entry [p, f, q] is
    Y[p * width + q, f].
    """
    k, m = Y.shape
    n_full, n_left = divmod(k, width)
    panels = np.zeros((n_full + (n_left > 0), m, width), Y.dtype)
    full = Y[: n_full * width].reshape(n_full, width, m)
    panels[:n_full] = full.transpose(0, 2, 1)
    if n_left:
        panels[n_full, :, :n_left] = Y[n_full * width :].T
    return panels
