"""Compiled products: tiles of kernel values multiplied by columns while in cache.

``multiply`` walks over one block of a kernel matrix in tiles. A tile is made as in
``_tiles``, multiplied by the columns that are asked for, and forgotten. In a symmetric
matrix it counts twice, once as it stands and once transposed.

Letters: ``X`` (n, m) and ``Y`` (k, m) hold the samples, ``B`` (k, p) the columns, and
``space`` (4, p, length) what belongs to one block, column by column: B for the rows of
the block, B for its columns, and the products that go to its rows and to its columns.

Only ``_blocks`` imports this module, when it is needed. Numba's cache on disk sees a
change of this file only: after a change of ``_tiles``, clear it.
"""

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from kreinlearn.kernels._compiled.tiles import ROWS, VECTOR_BYTES, _finish, _sum_tile

LANES = VECTOR_BYTES // 8
"""Double precision numbers in a vector; ROWS of them are summed up by `_row_sums`."""

STEP = 2 * LANES
"""Columns of a tile that are multiplied at once; tiles are filled up with zeros."""

TILE_ROWS, TILE_COLS = 8, 512
"""A tile stays in the first-level cache; long rows are summed up less often."""

FEW_COLUMNS = 4
"""Up to so many columns read single precision; for more, tiles are converted first."""


# -- one column ------------------------------------------------------------------------
# In vector instructions of LLVM, for the reason given in `_tiles`. One column at a time
# is as fast as several: the tile is in the first-level cache, and with two products
# from each number loaded, arithmetic is the bottleneck.


def _row_sums(builder, u):
    """Emit the sums of four vectors of eight numbers each, as one vector of four."""

    def shuffle(x, y, *order):
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order)
        return builder.shuffle_vector(x, y, mask)

    def pairs(x, y):
        even = shuffle(x, y, 0, 8, 2, 10, 4, 12, 6, 14)
        return builder.fadd(even, shuffle(x, y, 1, 9, 3, 11, 5, 13, 7, 15))

    x, y = pairs(u[0], u[1]), pairs(u[2], u[3])
    first = shuffle(x, y, 0, 1, 8, 9, 4, 5, 12, 13)
    fours = builder.fadd(first, shuffle(x, y, 2, 3, 10, 11, 6, 7, 14, 15))
    low = shuffle(fours, fours, 0, 1, 2, 3)
    return builder.fadd(low, shuffle(fours, fours, 4, 5, 6, 7))


def _multiplication(is_twice):
    """Return an intrinsic that multiplies ROWS rows of a tile by one column.

    ``f(tile, r, n_cols, space, q, i, j)`` adds, for rows r to r + ROWS of the tile and
    its first n_cols columns, a multiple of STEP, and with T for this part of it,
    ``T @ space[1, q, j : j + n_cols]`` to ``space[2, q, i : i + ROWS]``, and if it is
    used twice ``T' @ space[0, q, i : i + ROWS]`` to ``space[3, q, j : j + n_cols]``.
    """

    @intrinsic
    def add(typingctx, tile, r, n_cols, space, q, i, j):
        index = types.intp
        return types.void(tile, index, index, space, index, index, index), generate

    def generate(context, builder, signature, args):
        tile, r, n_cols, space, q, i, j = args
        integer = r.type
        double = ir.DoubleType()
        vector = ir.VectorType(double, LANES)

        def unpack(position, value):
            array = context.make_array(signature.args[position])(
                context, builder, value
            )
            return array.data, cgutils.unpack_tuple(builder, array.shape)

        def load(pointer, count=LANES):
            stored = ir.VectorType(pointer.type.pointee, count)
            value = builder.load(builder.bitcast(pointer, stored.as_pointer()))
            if pointer.type.pointee == double:
                value.align = 8
                return value
            value.align = 4
            return builder.fpext(value, vector)

        def store(value, pointer):
            target = builder.bitcast(pointer, value.type.as_pointer())
            builder.store(value, target).align = 8

        def broadcast(scalar):
            undefined = ir.Constant(vector, ir.Undefined)
            first = builder.insert_element(undefined, scalar, ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            return builder.shuffle_vector(first, undefined, zeros)

        def fused(total, u, v):
            flags = ("contract",)
            return builder.fadd(total, builder.fmul(u, v, flags=flags), flags=flags)

        tile_data, (_, tile_cols) = unpack(0, tile)
        space_data, (_, p, length) = unpack(3, space)

        def vector_at(which, start):
            row = builder.add(builder.mul(integer(which), p), q)
            offset = builder.add(builder.mul(row, length), start)
            return builder.gep(space_data, [offset])

        row_factors, col_factors = vector_at(0, i), vector_at(1, j)
        row_totals, col_totals = vector_at(2, i), vector_at(3, j)
        rows, factors = [], []
        for s in range(ROWS):
            row = builder.add(r, integer(s))
            rows.append(builder.gep(tile_data, [builder.mul(row, tile_cols)]))
            if is_twice:
                factor = builder.load(builder.gep(row_factors, [integer(s)]))
                factors.append(broadcast(factor))

        # for c in range(0, n_cols, n_parts * LANES). A tile that is used once is taken
        # two vectors at a time, for there would be too little to do between two terms
        # of one sum.
        n_parts = 1 if is_twice else 2
        before = builder.block
        loop = builder.append_basic_block("columns")
        after = builder.append_basic_block("multiplied")
        builder.branch(loop)
        builder.position_at_end(loop)
        c = builder.phi(integer)
        c.add_incoming(integer(0), before)
        totals = [[builder.phi(vector) for _ in rows] for _ in range(n_parts)]
        for part, part_totals in enumerate(totals):
            at = builder.add(c, integer(part * LANES))
            values = [load(builder.gep(row, [at])) for row in rows]
            factor = load(builder.gep(col_factors, [at]))
            for total, value in zip(part_totals, values, strict=True):
                total.add_incoming(ir.Constant(vector, [0.0] * LANES), before)
                total.add_incoming(fused(total, value, factor), loop)
            if is_twice:
                target = builder.gep(col_totals, [at])
                other = load(target)
                for value, own in zip(values, factors, strict=True):
                    other = fused(other, value, own)
                store(other, target)
        following = builder.add(c, integer(n_parts * LANES))
        c.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, n_cols), loop, after)

        builder.position_at_end(after)
        summed = [total.incomings[1][0] for total in totals[0]]
        for part_totals in totals[1:]:
            more = [total.incomings[1][0] for total in part_totals]
            summed = [builder.fadd(u, v) for u, v in zip(summed, more, strict=True)]
        more = builder.fadd(_row_sums(builder, summed), load(row_totals, ROWS))
        store(more, row_totals)
        return context.get_dummy_value()

    return add


_multiply_once = _multiplication(False)
_multiply_twice = _multiplication(True)


@njit
def _multiply_tile(tile, n_rows, n_cols, space, i, j, is_twice):
    """Multiply a tile, whose first entry is entry (i, j) of the block, by all columns.

    The tile ends with zeros, up to a multiple of ROWS and of STEP.
    """
    for q in range(space.shape[1]):
        for r in range(0, n_rows, ROWS):
            if is_twice:
                _multiply_twice(tile, r, n_cols, space, q, i + r, j)
            else:
                _multiply_once(tile, r, n_cols, space, q, i + r, j)


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
def _widen(wide, tile, n_rows, n_cols):
    """Copy a tile to double precision."""
    for r in range(n_rows):
        for c in range(n_cols):
            wide[r, c] = tile[r, c]


@njit
def _up(number, step):
    """Return the next multiple of the step."""
    return -(-number // step) * step


# -- one block -------------------------------------------------------------------------


@njit
def _pack(panels, Y, j0, j1):
    """Copy rows j0 to j1 in the order that `_tiles` reads, the last filled with 0."""
    width = panels.shape[2]
    for j in range(_up(j1 - j0, width)):
        for f in range(Y.shape[1]):
            value = Y[j0 + j, f] if j0 + j < j1 else Y.dtype.type(0)
            panels[j // width, f, j % width] = value


@njit
def _fetch(target, B, first, i0, i1):
    """Copy rows i0 to i1 of B, from its first column on, and fill up with 0."""
    for i in range(i0, i1):
        for q in range(len(target)):
            target[q, i - i0] = B[i, first + q]
    target[:, i1 - i0 :] = 0.0


@njit(cache=True, nogil=True)
def multiply(
    space,
    panels,
    tile,
    wide,
    X,
    Y,
    B,
    first,
    sums,
    finish,
    a,
    b,
    c,
    i0,
    i1,
    j0,
    j1,
    is_symmetric,
):
    """Multiply one block of a kernel matrix by columns.

    Leaves block @ B[j0:j1] in ``space[2]`` and, if the matrix is symmetric,
    block.T @ B[i0:i1] in ``space[3]``, both transposed. Of a block on the diagonal the
    upper half is used for both, hence their sum is the product.

    Parameters
    ----------
    space : ndarray of shape (4, p, length)
        Room for numbers by column, at least as long as the block and ROWS more.
    panels : ndarray of shape (ceil((j1 - j0) / width), m, width) or larger
        Room for the rows of Y.
    tile : ndarray of shape (TILE_ROWS, TILE_COLS) or larger
        Room for a tile, in the precision of X.
    wide : ndarray of shape (TILE_ROWS, TILE_COLS) or larger
        Room for a tile in double precision.
    X, Y : ndarray of shape (n, m) and (k, m)
        The samples, in C order; the same if the matrix is symmetric.
    B : ndarray of shape (k, p or more)
        The columns, in C order.
    first : int
        Which columns of B to multiply by: p of them from the first on.
    sums, finish : int
        Values of SUMS, none of the stored ones, and of FINISHES.
    a, b, c : float
        Parameters of the finish.
    i0, i1, j0, j1 : int
        Which rows and columns the block has.
    is_symmetric : bool
        Use the block twice. Asks for i0 <= j0.
    """
    n_rows, n_cols = i1 - i0, j1 - j0
    is_diagonal = is_symmetric and i0 == j0
    is_widened = X.itemsize < 8 and space.shape[1] > FEW_COLUMNS
    _pack(panels, Y, j0, j1)
    if is_symmetric:
        _fetch(space[0], B, first, i0, i1)
    _fetch(space[1], B, first, j0, j1)
    space[2:] = 0.0

    for c_tile in range(0, n_cols, TILE_COLS):
        c1 = min(c_tile + TILE_COLS, n_cols)
        for r0 in range(0, min(n_rows, c1) if is_diagonal else n_rows, TILE_ROWS):
            r1 = min(r0 + TILE_ROWS, n_rows)
            # Left of the diagonal there is nothing to do, but panels start at steps.
            c0 = max(c_tile, r0 // STEP * STEP) if is_diagonal else c_tile
            _sum_tile(tile, X, panels, sums, i0 + r0, i0 + r1, c0, c1)
            for r in range(r1 - r0):
                _finish(tile[r, : c1 - c0], finish, a, b, c)
            if is_diagonal and c0 < r1:
                _halve(tile, r1 - r0, c1 - c0, r0 - c0)
            full_rows, full_cols = _up(r1 - r0, ROWS), _up(c1 - c0, STEP)
            tile[: r1 - r0, c1 - c0 : full_cols] = 0
            tile[r1 - r0 : full_rows] = 0
            if is_widened:
                _widen(wide, tile, full_rows, full_cols)
                _multiply_tile(wide, full_rows, full_cols, space, r0, c0, is_symmetric)
            else:
                _multiply_tile(tile, full_rows, full_cols, space, r0, c0, is_symmetric)
