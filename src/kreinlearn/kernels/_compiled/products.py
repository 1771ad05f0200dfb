"""Compiled products: tiles of kernel values multiplied by columns while in cache.

``multiply_block`` walks over one block of a kernel matrix in tiles. A tile is computed
as in ``rows``, multiplied by the columns, and discarded. In a symmetric matrix it
counts twice, once as it stands and once transposed.

Letters: ``X`` (n, m) and ``Y`` (k, m) hold the samples, ``B`` (k, p) the columns, and
``space`` (4, p, length) the workspace of one block, column by column: B for the rows of
the block, B for its columns, and the products that go to its rows and to its columns.

Numba's cache on disk sees a change of this file only: after a change of ``rows`` or
``llvm``, clear it.
"""

from functools import cache
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from kreinlearn._numba_cache import compile_variant
from kreinlearn.kernels._compiled import llvm
from kreinlearn.kernels._compiled import rows as tiles
from kreinlearn.kernels._compiled.rows import ROWS_AT_ONCE

DOUBLES_AT_ONCE = tiles.VECTOR_BYTES // 8
"""Double precision numbers in a vector."""

COLUMN_STEP = 2 * DOUBLES_AT_ONCE
"""Columns of a tile that are multiplied at once; tiles are filled up with zeros."""

TILE_ROWS, TILE_COLS = 8, 512
"""A tile stays in the first-level cache; long rows are summed up less often."""

WIDEN_COLUMNS = 5
"""Fewer columns read single precision; from so many on, tiles are converted first."""


# -- a tile times one column -----------------------------------------------------------
# One column at a time is as fast as several: the tile is in the first-level cache, and
# with two products from each number loaded, arithmetic is the bottleneck.


def _emit_sums(builder, u):
    """Emit the sums of four vectors of eight numbers each, as one vector of four."""

    def shuffle(x, y, *order):
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order)
        return builder.shuffle_vector(x, y, mask)

    def add_pairs(x, y):
        even = shuffle(x, y, 0, 8, 2, 10, 4, 12, 6, 14)
        return builder.fadd(even, shuffle(x, y, 1, 9, 3, 11, 5, 13, 7, 15))

    x, y = add_pairs(u[0], u[1]), add_pairs(u[2], u[3])
    first = shuffle(x, y, 0, 1, 8, 9, 4, 5, 12, 13)
    fours = builder.fadd(first, shuffle(x, y, 2, 3, 10, 11, 6, 7, 14, 15))
    low = shuffle(fours, fours, 0, 1, 2, 3)
    return builder.fadd(low, shuffle(fours, fours, 4, 5, 6, 7))


def _make_multiply(is_twice):
    """Return a function that multiplies ROWS_AT_ONCE rows of a tile by one column.

    ``f(tile, r, n_cols, space, q, i, j)`` uses the h = ROWS_AT_ONCE rows of the tile
    from r on and its first n_cols columns, a multiple of COLUMN_STEP. With T for this
    part, it adds ``T @ space[1, q, j : j + n_cols]`` to ``space[2, q, i : i + h]``, and
    if T is used twice T transposed times ``space[0, q, i : i + h]`` to
    ``space[3, q, j : j + n_cols]``.
    """

    @njit
    def plain(tile, r, n_cols, space, q, i, j):
        for s in range(ROWS_AT_ONCE):
            total = 0.0
            for c in range(n_cols):
                value = float(tile[r + s, c])
                total += value * space[1, q, j + c]
                if is_twice:
                    space[3, q, j + c] += value * space[0, q, i + s]
            space[2, q, i + s] += total

    @intrinsic
    def add(typingctx, tile, r, n_cols, space, q, i, j):
        n = types.intp
        return types.void(tile, n, n, space, n, n, n), generate

    def generate(context, builder, signature, args):
        arrays = llvm.unpack_arrays(context, builder, signature, args)
        tile, r, n_cols, space, q, i, j = arrays
        n, count = r.type, DOUBLES_AT_ONCE
        vector = ir.VectorType(ir.DoubleType(), count)
        rows = [builder.add(r, n(s)) for s in range(ROWS_AT_ONCE)]
        factors = []
        if is_twice:
            numbers = [
                space.load(0, q, builder.add(i, n(s))) for s in range(ROWS_AT_ONCE)
            ]
            factors = [llvm.broadcast(builder, number, vector) for number in numbers]
        # A tile that is used once is read two vectors at a time: there would be too
        # little to do between two terms of one sum.
        n_parts = 1 if is_twice else 2

        def add_columns(c, *totals):
            new = []
            for part in range(n_parts):
                at = builder.add(c, n(part * count))
                column = builder.add(j, at)
                values = [tile.load(row, at, count=count) for row in rows]
                if tile.alignment < 8:
                    values = [builder.fpext(value, vector) for value in values]
                factor = space.load(1, q, column, count=count)
                own = totals[part * ROWS_AT_ONCE : (part + 1) * ROWS_AT_ONCE]
                for total, value in zip(own, values, strict=True):
                    new.append(llvm.add_product(builder, total, value, factor))
                if is_twice:
                    other = space.load(3, q, column, count=count)
                    for value, row_factor in zip(values, factors, strict=True):
                        other = llvm.add_product(builder, other, value, row_factor)
                    space.store(other, 3, q, column)
            return new

        zeros = [llvm.make_zeros(vector)] * ROWS_AT_ONCE * n_parts
        step = n_parts * count
        totals = llvm.emit_loop(builder, n(0), n_cols, step, zeros, add_columns)
        sums = totals[:ROWS_AT_ONCE]
        if not is_twice:
            parts = zip(sums, totals[ROWS_AT_ONCE:], strict=True)
            sums = [builder.fadd(u, v) for u, v in parts]
        there = space.load(2, q, i, count=ROWS_AT_ONCE)
        space.store(builder.fadd(_emit_sums(builder, sums), there), 2, q, i)
        return context.get_dummy_value()

    return plain if llvm.PLAIN_LOOPS else add


multiply_once = _make_multiply(False)
multiply_twice = _make_multiply(True)


@njit
def _multiply_tile(tile, shape, space, i, j, is_twice):
    """Multiply a tile, whose first entry is entry (i, j) of the block, by all columns.

    The tile ends with zeros, up to a multiple of ROWS_AT_ONCE and of COLUMN_STEP.
    """
    n_rows, n_cols = shape
    for q in range(space.shape[1]):
        for r in range(0, n_rows, ROWS_AT_ONCE):
            if is_twice:
                multiply_twice(tile, r, n_cols, space, q, i + r, j)
            else:
                multiply_once(tile, r, n_cols, space, q, i + r, j)


@njit
def _halve_diagonal(tile, n_rows, n_cols, shift):
    """Leave the upper half of a tile that meets the diagonal.

    Entry (r, shift + r) is on the diagonal. It is divided by 2, because it will count
    twice, and entries to the left of it are set to 0.
    """
    for r in range(n_rows):
        tile[r, : min(shift + r, n_cols)] = 0
        if shift + r < n_cols:
            tile[r, shift + r] *= tile.dtype.type(0.5)


@njit
def _round_up(number, step):
    """Return the next multiple of the step."""
    return -(-number // step) * step


# -- one block -------------------------------------------------------------------------


@njit
def _pack_block(panels, Y, j0, j1):
    """Copy rows j0 to j1 in the order that `rows` reads, the last filled with 0."""
    width = panels.shape[2]
    for j in range(_round_up(j1 - j0, width)):
        for f in range(Y.shape[1]):
            value = Y[j0 + j, f] if j0 + j < j1 else Y.dtype.type(0)
            panels[j // width, f, j % width] = value


@njit
def _load_columns(target, B, first, i0, i1):
    """Copy rows i0 to i1 of B, from its first column on, and fill up with 0."""
    target[:, : i1 - i0] = B[i0:i1, first : first + len(target)].T
    target[:, i1 - i0 :] = 0.0


@cache
def make_multiply_block(sums: int, is_usual: bool) -> Any:
    """Return the function that multiplies a block, for some sums and transforms.

    Parameters
    ----------
    sums : int
        Position in `rows.SUM_NAMES`, none of the stored ones.
    is_usual : bool
        Whether the transform is one of `rows.USUAL_CODES`.

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
        Workspace for numbers by column, longer than the block by ROWS_AT_ONCE.
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
        Transform and its parameters, as `rows.make_codes` gives them.
    block : tuple of int
        First and last row, first and last column of the block.
    is_symmetric : bool
        Use the block twice. Needs i0 <= j0.
    """

    def multiply_block(
        space, panels, tile, wide, X, Y, B, first, codes, block, is_symmetric
    ):
        """Multiply one block of a kernel matrix by columns."""
        i0, i1, j0, j1 = block
        n_rows, n_cols = i1 - i0, j1 - j0
        is_diagonal = is_symmetric and i0 == j0
        is_widened = X.itemsize < 8 and space.shape[1] >= WIDEN_COLUMNS
        _pack_block(panels, Y, j0, j1)
        if is_symmetric:
            _load_columns(space[0], B, first, i0, i1)
        _load_columns(space[1], B, first, j0, j1)
        space[2:] = 0.0

        for c_tile in range(0, n_cols, TILE_COLS):
            c1 = min(c_tile + TILE_COLS, n_cols)
            for r0 in range(0, min(n_rows, c1) if is_diagonal else n_rows, TILE_ROWS):
                r1 = min(r0 + TILE_ROWS, n_rows)
                # Nothing is left of the diagonal, but panels start at steps.
                c0 = (
                    max(c_tile, r0 // COLUMN_STEP * COLUMN_STEP)
                    if is_diagonal
                    else c_tile
                )
                if sums == tiles.SUM_ABSOLUTE:
                    tiles.sum_absolutes(tile, X, panels, i0 + r0, i0 + r1, c0, c1)
                elif sums == tiles.SUM_SQUARE:
                    tiles.sum_squares(tile, X, panels, i0 + r0, i0 + r1, c0, c1)
                else:
                    tiles.sum_products(tile, X, panels, i0 + r0, i0 + r1, c0, c1)
                for r in range(r1 - r0):
                    if is_usual:
                        tiles.apply_usual(tile[r, : c1 - c0], codes)
                    else:
                        tiles.apply_other(tile[r, : c1 - c0], codes)
                if is_diagonal and c0 < r1:
                    _halve_diagonal(tile, r1 - r0, c1 - c0, r0 - c0)
                full_rows = _round_up(r1 - r0, ROWS_AT_ONCE)
                full_cols = _round_up(c1 - c0, COLUMN_STEP)
                tile[: r1 - r0, c1 - c0 : full_cols] = 0
                tile[r1 - r0 : full_rows] = 0
                shape = (full_rows, full_cols)
                if is_widened:
                    wide[:full_rows, :full_cols] = tile[:full_rows, :full_cols]
                    _multiply_tile(wide, shape, space, r0, c0, is_symmetric)
                else:
                    _multiply_tile(tile, shape, space, r0, c0, is_symmetric)

    return compile_variant(multiply_block, sums, is_usual, **llvm.LOOP_OPTIONS)
