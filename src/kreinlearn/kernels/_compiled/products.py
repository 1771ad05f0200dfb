"""Compiled products: tiles of kernel values multiplied by columns while in cache.

``multiply_block`` walks over one block of a kernel matrix in tiles. A tile is made as
in ``tiles``, multiplied by the columns that are asked for, and forgotten. In a
symmetric matrix it counts twice, once as it stands and once transposed.

Letters: ``X`` (n, m) and ``Y`` (k, m) hold the samples, ``B`` (k, p) the columns, and
``space`` (4, p, length) what belongs to one block, column by column: B for the rows of
the block, B for its columns, and the products that go to its rows and to its columns.

Only ``_blocks`` imports this module, when it is needed. Numba's cache on disk sees a
change of this file only: after a change of ``tiles``, clear it.
"""

from functools import cache
from typing import Any

from numba import njit

from kreinlearn._numba_cache import compile_variant
from kreinlearn.kernels._compiled.generator import (
    DOUBLES,
    HEIGHT,
    PLAIN,
    multiply_once,
    multiply_twice,
)
from kreinlearn.kernels._compiled.tiles import (
    ABSOLUTE,
    SQUARE,
    finish_other_row,
    finish_usual_row,
    sum_absolutes,
    sum_products,
    sum_squares,
)

STEP = 2 * DOUBLES
"""Columns of a tile that are multiplied at once; tiles are filled up with zeros."""

TILE_ROWS, TILE_COLS = 8, 512
"""A tile stays in the first-level cache; long rows are summed up less often."""

WIDENED_FROM = 5
"""Fewer columns read single precision; for so many, tiles are converted first."""


@njit
def _multiply_tile(tile, shape, space, i, j, is_twice):
    """Multiply a tile, whose first entry is entry (i, j) of the block, by all columns.

    The tile ends with zeros, up to a multiple of HEIGHT and of STEP.
    """
    n_rows, n_cols = shape
    for q in range(space.shape[1]):
        for r in range(0, n_rows, HEIGHT):
            if is_twice:
                multiply_twice(tile, r, n_cols, space, q, i + r, j)
            else:
                multiply_once(tile, r, n_cols, space, q, i + r, j)


# -- one tile --------------------------------------------------------------------------


@njit
def _halve(tile, n_rows, n_cols, shift):
    """Leave the upper half of a tile that meets the diagonal.

    Entry (r, shift + r) is on the diagonal. It is divided by 2, because it will count
    twice, and what is left of it is set to 0.
    """
    for r in range(n_rows):
        tile[r, : min(shift + r, n_cols)] = 0
        if shift + r < n_cols:
            tile[r, shift + r] *= tile.dtype.type(0.5)


@njit
def _up(number, step):
    """Return the next multiple of the step."""
    return -(-number // step) * step


# -- one block -------------------------------------------------------------------------


@njit
def _pack_block(panels, Y, j0, j1):
    """Copy rows j0 to j1 in the order that `tiles` reads, the last filled with 0."""
    width = panels.shape[2]
    for j in range(_up(j1 - j0, width)):
        for f in range(Y.shape[1]):
            value = Y[j0 + j, f] if j0 + j < j1 else Y.dtype.type(0)
            panels[j // width, f, j % width] = value


@njit
def _fetch(target, B, first, i0, i1):
    """Copy rows i0 to i1 of B, from its first column on, and fill up with 0."""
    target[:, : i1 - i0] = B[i0:i1, first : first + len(target)].T
    target[:, i1 - i0 :] = 0.0


@cache
def make_multiply_block(sums: int, is_usual: bool) -> Any:
    """Return the function that multiplies a block, for some sums and transforms.

    Parameters
    ----------
    sums : int
        Position in `tiles.SUMS`, none of the stored ones.
    is_usual : bool
        Whether the transform is one of `tiles.USUAL`.

    Returns
    -------
    callable
        The function ``multiply_block``.

    Notes
    -----
    Leaves block @ B[j0:j1] in ``space[2]`` and, if the matrix is symmetric, block.T @
    B[i0:i1] in ``space[3]``, both transposed. Of a block on the diagonal the upper half
    is used for both, hence their sum is the product.

    Parameters of ``multiply_block``:

    space : ndarray of shape (4, p, length)
        Workspace for numbers by column, at least as long as the block and HEIGHT more.
    panels : ndarray of shape (ceil((j1 - j0) / width), m, width) or larger
        Workspace for the rows of Y.
    tile : ndarray of shape (TILE_ROWS, TILE_COLS) or larger
        Workspace for a tile, in the precision of X.
    wide : ndarray of shape (TILE_ROWS, TILE_COLS) or larger
        Workspace for a tile in double precision.
    X, Y : ndarray of shape (n, m) and (k, m)
        The samples, in C order; the same if the matrix is symmetric.
    B : ndarray of shape (k, p or more)
        The columns, in C order.
    first : int
        Which columns of B to multiply by: p of them from the first on.
    codes : tuple
        Transform and its parameters, as `tiles.make_codes` gives them.
    block : tuple of int
        First and last row, first and last column of the block.
    is_symmetric : bool
        Use the block twice. Asks for i0 <= j0.
    """

    def multiply_block(
        space, panels, tile, wide, X, Y, B, first, codes, block, is_symmetric
    ):
        """Multiply one block of a kernel matrix by columns."""
        i0, i1, j0, j1 = block
        n_rows, n_cols = i1 - i0, j1 - j0
        is_diagonal = is_symmetric and i0 == j0
        is_widened = X.itemsize < 8 and space.shape[1] >= WIDENED_FROM
        _pack_block(panels, Y, j0, j1)
        if is_symmetric:
            _fetch(space[0], B, first, i0, i1)
        _fetch(space[1], B, first, j0, j1)
        space[2:] = 0.0

        for c_tile in range(0, n_cols, TILE_COLS):
            c1 = min(c_tile + TILE_COLS, n_cols)
            for r0 in range(0, min(n_rows, c1) if is_diagonal else n_rows, TILE_ROWS):
                r1 = min(r0 + TILE_ROWS, n_rows)
                # Nothing is left of the diagonal, but panels start at steps.
                c0 = max(c_tile, r0 // STEP * STEP) if is_diagonal else c_tile
                if sums == ABSOLUTE:
                    sum_absolutes(tile, X, panels, i0 + r0, i0 + r1, c0, c1)
                elif sums == SQUARE:
                    sum_squares(tile, X, panels, i0 + r0, i0 + r1, c0, c1)
                else:
                    sum_products(tile, X, panels, i0 + r0, i0 + r1, c0, c1)
                for r in range(r1 - r0):
                    if is_usual:
                        finish_usual_row(tile[r, : c1 - c0], codes)
                    else:
                        finish_other_row(tile[r, : c1 - c0], codes)
                if is_diagonal and c0 < r1:
                    _halve(tile, r1 - r0, c1 - c0, r0 - c0)
                full_rows, full_cols = _up(r1 - r0, HEIGHT), _up(c1 - c0, STEP)
                tile[: r1 - r0, c1 - c0 : full_cols] = 0
                tile[r1 - r0 : full_rows] = 0
                shape = (full_rows, full_cols)
                if is_widened:
                    wide[:full_rows, :full_cols] = tile[:full_rows, :full_cols]
                    _multiply_tile(wide, shape, space, r0, c0, is_symmetric)
                else:
                    _multiply_tile(tile, shape, space, r0, c0, is_symmetric)

    return compile_variant(multiply_block, sums, is_usual, cache=not PLAIN, nogil=True)
