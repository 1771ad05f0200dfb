"""Products with kernel matrices, block by block, so that none of them is stored.

Letters: X (n samples) and Y (k samples), B (k, p) the columns; the kernel matrix that
they are multiplied by has shape (n, k).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array
from kreinlearn.kernels import _pairwise as pairwise
from kreinlearn.kernels import threads
from kreinlearn.kernels._pairwise import Compiled

MAX_BYTES = 2**26
"""Memory for all blocks at a time, whatever the number of samples."""

WORKSPACE_BYTES = 2**21
"""Size of the workspace of one block, at most, so that it stays in cache."""

ROW_BLOCKS = 8
"""Blocks of rows, as long as they are within the limits of BLOCK_ROWS."""

BLOCK_ROWS = (512, 2048)
"""Least and most rows of a block: few are more overhead, many a worse balance."""

MIN_BLOCK_ROWS = 64
"""The least for many features; with fewer rows, packing takes too long."""

PRODUCT_COLUMNS = 256
"""Columns multiplied at once. For more, tiles are computed again: an eighth more."""

VALUES_BYTES = 2**24
"""Size of a block of values of any other kernel; there may be a copy or two of it."""

CACHE_LINE_BYTES = 64

Block = tuple[int, int, int, int]
"""First and last row, first and last column, the last ones not included."""


class Workspace(NamedTuple):
    """Memory to multiply one block in; `multiply_block` has the shapes."""

    space: Array
    panels: Array
    tile: Array
    wide: Array


def multiply_values(
    values: Callable[[slice, slice], Array],
    shape: tuple[int, int],
    B: Array,
    is_symmetric: bool,
) -> Array:
    """Return the product of a matrix that is computed block by block with columns.

    Parameters
    ----------
    values : callable
        ``values(i, j)`` returns the rows i and the columns j of the matrix.
    shape : tuple of int
        Shape (n, k) of the matrix.
    B : ndarray of shape (k, p)
        The columns, in double precision.
    is_symmetric : bool
        Compute blocks on and above the diagonal only, and use each of them twice.

    Returns
    -------
    ndarray of shape (n, p)
        The product, in double precision.
    """
    # Square blocks repeat the work that a kernel does for each sample least often.
    (n, k), size = shape, math.isqrt(VALUES_BYTES // 8)
    out = np.zeros((n, B.shape[1]))
    for i0 in range(0, n, size):
        i = slice(i0, min(i0 + size, n))
        for j0 in range(i0 if is_symmetric else 0, k, size):
            j = slice(j0, min(j0 + size, k))
            block = values(i, j).astype(np.float64, copy=False)
            out[i] += block @ B[j]
            if is_symmetric and i != j:
                out[j] += block.T @ B[i]
    return out


def multiply_rows(
    X: Array, Y: Array | None, sums: str, transform: Compiled, B: Array
) -> Array:
    """Return the product of the matrix of a kernel between rows with columns.

    Threads take blocks as they become free, and their products are added up in the
    order of the blocks: the result does not depend on the number of threads.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Samples, as `check_pair` returns them.
    Y : ndarray of shape (k, m) or None
        Other samples, or None for the same.
    sums : {"absolute", "square", "product"}
        Terms of the sum over the features.
    transform : Compiled
        The function of the sum.
    B : ndarray of shape (k, p)
        The columns, float64 in C order.

    Returns
    -------
    ndarray of shape (n, p)
        The product, in double precision.
    """
    others = X if Y is None else Y
    is_linear = sums == "product" and transform.name == "identity"
    out = np.zeros((len(X), B.shape[1]))
    for first in range(0, B.shape[1], PRODUCT_COLUMNS):
        part = slice(first, first + PRODUCT_COLUMNS)
        if is_linear:
            _add_linear(out[:, part], X, others, B[:, part])
        else:
            rule = (sums, transform)
            _add_tiles(out[:, part], X, others, rule, B, first, Y is None)
    return out


def _add_linear(out: Array, X: Array, Y: Array, B: Array) -> None:
    """Add (X Y') B, computed as X (Y' B), which needs no kernel matrix, to out."""
    height = max(1, WORKSPACE_BYTES // (8 * X.shape[1]))
    inner = np.zeros((X.shape[1], B.shape[1]))
    for j in range(0, len(Y), height):
        rows = Y[j : j + height].astype(np.float64, copy=False)
        inner += rows.T @ B[j : j + height]
    for i in range(0, len(X), height):
        rows = X[i : i + height].astype(np.float64, copy=False)
        out[i : i + height] += rows @ inner


def _add_tiles(
    out: Array,
    X: Array,
    Y: Array,
    rule: tuple[str, Compiled],
    B: Array,
    first: int,
    is_symmetric: bool,
) -> None:
    """Add the product with some columns of B, from the first on, to out (n, p)."""
    from kreinlearn.kernels._compiled import products, rows

    (n, m), k, p = X.shape, len(Y), out.shape[1]
    height, width = (_choose_block_rows(size, m, p, X.itemsize) for size in (n, k))
    blocks = (
        (i, min(i + height, n), j, min(j + width, k))
        for i in range(0, n, height)
        for j in range(i if is_symmetric else 0, k, width)
    )
    sums, transform = rule
    codes = rows.make_codes(*transform)
    multiply_block = products.make_multiply_block(
        rows.SUM_NAMES.index(sums), codes[0] in rows.USUAL_CODES
    )

    def work(block: Block, workspace: Workspace) -> None:
        multiply_block(*workspace, X, Y, B, first, codes, block, is_symmetric)

    def add(block: Block, workspace: Workspace) -> None:
        i0, i1, j0, j1 = block
        out[i0:i1] += workspace.space[2, :, : i1 - i0].T
        if is_symmetric:
            out[j0:j1] += workspace.space[3, :, : j1 - j0].T

    size = height, width, m, p, X.dtype
    workspaces = [_make_workspace(*size)]
    most = max(1, MAX_BYTES // sum(part.nbytes for part in workspaces[0]))
    n_terms = n * k * (m + 10 + 2 * p) // (2 if is_symmetric else 1)
    n_blocks = -(-n // height) * -(-k // width)
    n_threads = min(pairwise.count_threads(n_terms), most, n_blocks)
    # As many again for products that wait for their turn to be added.
    count = min(2 * n_threads, most) if n_threads > 1 else 1
    workspaces += [_make_workspace(*size) for _ in range(1, count)]
    threads.ordered_parallel(work, add, blocks, workspaces, n_threads)


def _choose_block_rows(n: int, m: int, p: int, itemsize: int) -> int:
    """Return how many of n rows a block should have, a multiple of 16."""
    least, most = BLOCK_ROWS
    fitting = WORKSPACE_BYTES // (32 * p + itemsize * m)
    rows = min(max(n // ROW_BLOCKS, least), most, max(fitting, MIN_BLOCK_ROWS))
    return min(rows // 16 * 16, -(-n // 16) * 16)


def _make_workspace(
    height: int, width: int, m: int, p: int, dtype: np.dtype[np.floating]
) -> Workspace:
    """Return memory for blocks of up to that height and width."""
    from kreinlearn.kernels._compiled import products, rows

    lanes, tile = rows.VECTOR_BYTES // dtype.itemsize, (products.TILE_ROWS,)
    return Workspace(
        space=_allocate((4, p), max(height + rows.ROWS_AT_ONCE, width), np.float64),
        panels=_allocate((-(-width // lanes), m), lanes, dtype),
        tile=_allocate(tile, products.TILE_COLS, dtype),
        wide=_allocate(tile, products.TILE_COLS, np.float64),
    )


def _allocate(shape: tuple[int, ...], length: int, dtype: DTypeLike) -> Array:
    """Return memory whose last axis, at least that long, starts at cache lines.

    Vectors then never lie across two cache lines, which takes twice the time to load.
    An odd number of cache lines per row avoids set conflicts.
    """
    line = CACHE_LINE_BYTES
    n_lines = -(-length * np.dtype(dtype).itemsize // line) | 1
    n_bytes = int(np.prod(shape)) * n_lines * line
    raw = np.empty(n_bytes + line, np.uint8)
    start = -raw.ctypes.data % line
    return raw[start : start + n_bytes].view(dtype).reshape(*shape, -1)
