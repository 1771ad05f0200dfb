"""Compiled tiles: sums over the features of two rows, finished while in cache.

``fill`` walks over the output in tiles. For each tile it sums ``|x - y|``,
``(x - y)^2`` or ``x y`` over the features (or takes products that BLAS has stored),
turns the sums into kernel values, and writes them to the output, and for a symmetric
matrix to their mirror image too. The output is touched once.

Letters: ``X`` (n, m) holds the rows; ``panels`` (p, m, width) holds the other rows,
one vector of ``width`` of them after another, feature by feature; ``out`` (n, k).

Imported when a kernel is first called, because importing numba takes longer than the
rest of the package.
"""

import math

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

VECTOR_BYTES = 64
"""One AVX-512 register, or two of AVX2, or four of NEON."""

ROWS = 4
"""Rows summed at once: 4 x 64 bytes of sums fit the registers of all of these."""

FEATURES = 128
"""Features summed before the partial sum is put away.

A panel of 128 x 64 bytes stays in the first-level cache, and rounding errors grow with
128 + m / 128 instead of m.
"""

ABSOLUTE, SQUARE, PRODUCT, STORED, STORED_SQUARE = range(5)
SUMS = {
    "absolute": ABSOLUTE,
    "square": SQUARE,
    "product": PRODUCT,
    "stored": STORED,
    "stored square": STORED_SQUARE,
}

IDENTITY, HINGE, EXPONENTIAL, DIFFERENCE, LOG, POWER, POLYNOMIAL, TANH = range(8)
FINISHES = {
    "identity": IDENTITY,
    "hinge": HINGE,
    "exponential": EXPONENTIAL,
    "difference": DIFFERENCE,
    "log": LOG,
    "power": POWER,
    "polynomial": POLYNOMIAL,
    "tanh": TANH,
}


# -- sums ------------------------------------------------------------------------------
# Written in vector instructions of LLVM. Left to the loop vectorizer, the sums live in
# memory and are guarded by overlap checks, which takes twice as long.


def _absolute(builder, total, x, y):
    """Emit total + |x - y|."""
    name = f"llvm.fabs.v{x.type.count}{x.type.element.intrinsic_name}"
    fabs = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(x.type, [x.type]), name
    )
    return builder.fadd(total, builder.call(fabs, [builder.fsub(x, y)]))


def _square(builder, total, x, y):
    """Emit total + (x - y)^2."""
    return _product(builder, total, *[builder.fsub(x, y)] * 2)


def _product(builder, total, x, y):
    """Emit total + x y, in one instruction where the processor has it."""
    fused = ("contract",)
    return builder.fadd(total, builder.fmul(x, y, flags=fused), flags=fused)


def _summation(term):
    """Return an intrinsic that sums a term for ROWS rows against one panel.

    ``f(X, i, panels, p, start, stop, tile, r, c)`` adds, for each q < ROWS, the sum
    over the features start to stop of the term between row i + q and the rows of
    panel p to ``tile[r + q, c : c + width]``, or sets it if start is 0. A row beyond
    the last is read as the last; the tile must have room for it.
    """

    @intrinsic
    def add(typingctx, X, i, panels, p, start, stop, tile, r, c):
        index = types.intp
        signature = types.void(
            X, index, panels, index, index, index, tile, index, index
        )
        return signature, generate

    def generate(context, builder, signature, args):
        X, i, panels, p, start, stop, tile, r, c = args
        dtype = signature.args[0].dtype
        integer = i.type
        width = VECTOR_BYTES * 8 // dtype.bitwidth
        vector = ir.VectorType(context.get_value_type(dtype), width)
        undefined = ir.Constant(vector, ir.Undefined)
        lanes = ir.VectorType(ir.IntType(32), width)

        def unpack(position, value):
            array = context.make_array(signature.args[position])(
                context, builder, value
            )
            return array.data, cgutils.unpack_tuple(builder, array.shape)

        def load(pointer):
            value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
            value.align = dtype.bitwidth // 8
            return value

        def broadcast(scalar):
            first = builder.insert_element(undefined, scalar, ir.IntType(32)(0))
            zeros = ir.Constant(lanes, [0] * width)
            return builder.shuffle_vector(first, undefined, zeros)

        x_data, (n, m) = unpack(0, X)
        panel_data, _ = unpack(2, panels)
        tile_data, (_, tile_cols) = unpack(6, tile)
        last = builder.sub(n, integer(1))
        rows, targets = [], []
        for q in range(ROWS):
            row = builder.add(i, integer(q))
            row = builder.select(builder.icmp_signed("<", row, last), row, last)
            rows.append(builder.gep(x_data, [builder.mul(row, m)]))
            target = builder.mul(builder.add(r, integer(q)), tile_cols)
            targets.append(builder.gep(tile_data, [builder.add(target, c)]))
        panel = builder.gep(
            panel_data, [builder.mul(p, builder.mul(m, integer(width)))]
        )

        # for f in range(start, stop): total[q] += term(X[i + q, f], panels[p, f])
        before = builder.block
        loop = builder.append_basic_block("features")
        after = builder.append_basic_block("summed")
        builder.branch(loop)
        builder.position_at_end(loop)
        f = builder.phi(integer)
        f.add_incoming(start, before)
        totals = [builder.phi(vector) for _ in rows]
        y = load(builder.gep(panel, [builder.mul(f, integer(width))]))
        for total, row in zip(totals, rows, strict=True):
            x = broadcast(builder.load(builder.gep(row, [f])))
            total.add_incoming(ir.Constant(vector, [0.0] * width), before)
            total.add_incoming(term(builder, total, x, y), loop)
        following = builder.add(f, integer(1))
        f.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, stop), loop, after)

        # tile[r + q, c : c + width] = total[q] + (0 if start == 0 else what was there)
        builder.position_at_end(after)
        is_first = builder.icmp_signed("==", start, integer(0))
        for total, target in zip(totals, targets, strict=True):
            summed = total.incomings[1][0]
            more = builder.fadd(summed, load(target))
            store = builder.store(
                builder.select(is_first, summed, more),
                builder.bitcast(target, vector.as_pointer()),
            )
            store.align = dtype.bitwidth // 8
        return context.get_dummy_value()

    return add


_add_absolute = _summation(_absolute)
_add_square = _summation(_square)
_add_product = _summation(_product)


@njit
def _sum_tile(tile, X, panels, sums, i0, i1, j0, j1):
    """Sum over the features, for rows i0 to i1 against columns j0 to j1."""
    m = X.shape[1]
    width = panels.shape[2]
    for start in range(0, m, FEATURES):
        stop = min(start + FEATURES, m)
        for c in range(0, j1 - j0, width):
            p = (j0 + c) // width
            for r in range(0, i1 - i0, ROWS):
                if sums == ABSOLUTE:
                    _add_absolute(X, i0 + r, panels, p, start, stop, tile, r, c)
                elif sums == SQUARE:
                    _add_square(X, i0 + r, panels, p, start, stop, tile, r, c)
                else:
                    _add_product(X, i0 + r, panels, p, start, stop, tile, r, c)


@njit
def _load_tile(tile, stored, xx, yy, sums, i0, i1, j0, j1, is_symmetric):
    """Take what is stored; |x - y|^2 = |x|^2 + |y|^2 - 2 <x, y> if asked."""
    zero = stored.dtype.type(0)
    two = stored.dtype.type(2)
    for i in range(i0, i1):
        for j in range(j0, j1):
            tile[i - i0, j - j0] = stored[i, j]
        if sums == STORED_SQUARE:
            for j in range(j0, j1):
                square = xx[i] + yy[j] - two * tile[i - i0, j - j0]
                tile[i - i0, j - j0] = square if square > zero else zero
            if is_symmetric and j0 <= i < j1:
                tile[i - i0, i - j0] = zero


# -- from sums to kernel values --------------------------------------------------------
# The parameters are float64, hence float32 sums are finished in float64 and rounded
# once, except in `_hinge`, where nothing is lost.

_LOG2_E = 1.0 / math.log(2.0)
_LN2_HIGH = 6.93147180369123816490e-01  # leading bits of log(2): k * _LN2_HIGH is exact
_LN2_LOW = 1.90821492927058770002e-10  # the rest
_ROUND = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits
_SMALLEST = -708.0  # below, exp gives a denormal number and we give 0
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (
    1.0 / math.factorial(k) for k in range(2, 14)
)


@njit(fastmath={"contract"})
def _exp(x):
    """Return exp(x) for x <= 0, to two units in the last place.

    In plain arithmetic, so that loops over it use vector instructions; `math.exp` is
    a call for each number, and several times slower.
    """
    z = x if x > _SMALLEST else _SMALLEST
    # x = k log(2) + r with |r| <= log(2) / 2; exp(r) from its series; 2^k from bits
    shifted = z * _LOG2_E + _ROUND
    k = shifted - _ROUND
    r = (z - k * _LN2_HIGH) - k * _LN2_LOW
    s = _C12 + r * _C13
    s = _C10 + r * (_C11 + r * s)
    s = _C8 + r * (_C9 + r * s)
    s = _C6 + r * (_C7 + r * s)
    s = _C4 + r * (_C5 + r * s)
    s = _C2 + r * (_C3 + r * s)
    s = 1.0 + (r + r * r * s)
    bits = (np.float64(shifted).view(np.int64) + 1023) << 52
    return s * np.int64(bits).view(np.float64) if x > _SMALLEST else 0.0


@njit
def _hinge(values, a, b):
    """Replace d by max(a - b d, 0), rounded alike wherever the number stands."""
    zero = values.dtype.type(0)
    a = values.dtype.type(a)
    b = values.dtype.type(b)
    for j in range(values.size):
        value = a - b * values[j]
        values[j] = value if value > zero else zero


@njit(fastmath={"contract"})
def _exponential(values, a):
    """Replace d by exp(-a d)."""
    for j in range(values.size):
        values[j] = _exp(-a * values[j])


@njit(fastmath={"contract"})
def _difference(values, a, b, c):
    """Replace d by exp(-a d) - c exp(-b d)."""
    for j in range(values.size):
        values[j] = _exp(-a * values[j]) - c * _exp(-b * values[j])


@njit
def _raise(values, a):
    """Replace d by d^a."""
    if a == 0.5:
        for j in range(values.size):
            values[j] = math.sqrt(values[j])
    elif a != 1.0:
        for j in range(values.size):
            values[j] = values[j] ** a


@njit
def _finish(values, finish, a, b, c):
    """Turn a row of sums into a row of kernel values, in place."""
    if finish == HINGE:
        _hinge(values, a, b)
    elif finish == EXPONENTIAL:
        _exponential(values, a)
    elif finish == DIFFERENCE:
        _difference(values, a, b, c)
    elif finish == POWER or finish == LOG:
        _raise(values, a)
        for j in range(values.size):
            value = values[j] if finish == POWER else math.log1p(values[j])
            values[j] = 0.0 - value  # not -value, which turns 0 into -0
    elif finish == POLYNOMIAL:
        degree = int(c)
        for j in range(values.size):
            values[j] = (a * values[j] + b) ** degree
    elif finish == TANH:
        for j in range(values.size):
            values[j] = math.tanh(a * values[j] + b)


# -- the walk over the output ----------------------------------------------------------


# Not parallel=True: its thread pool keeps spinning after a loop, and so does that of
# BLAS; on a machine with few cores a program that uses one after the other loses
# milliseconds at each turn. Several Python threads call this for bands of rows instead.
@njit(cache=True, nogil=True)
def fill(
    out,
    stored,
    X,
    panels,
    xx,
    yy,
    sums,
    finish,
    a,
    b,
    c,
    mirror,
    tile_rows,
    tile_cols,
    first,
    last,
):
    """Fill rows of the output with kernel values, tile by tile.

    Parameters
    ----------
    out : ndarray of shape (n, k)
        The output.
    stored : ndarray of shape (n, k)
        For the stored sums, the sums or inner products; may be the output itself.
    X : ndarray of shape (n, m)
        The rows, in C order.
    panels : ndarray of shape (p, m, width)
        The other rows, packed, filled up to a multiple of width; not used for the
        stored sums.
    xx, yy : ndarray of shape (n,) and (k,)
        Squared norms, used for stored squares only.
    sums, finish : int
        Values of SUMS and FINISHES.
    a, b, c : float
        Parameters of the finish.
    mirror : bool
        Compute the upper half only and copy it to the lower. Asks for square tiles.
    tile_rows, tile_cols : int
        Shape of a tile, multiples of ROWS and of width.
    first, last : int
        Which rows of tiles to fill, from first to last - 1.
    """
    n, k = out.shape
    tile = np.empty((tile_rows, tile_cols), out.dtype)
    for i0 in range(first * tile_rows, min(last * tile_rows, n), tile_rows):
        i1 = min(i0 + tile_rows, n)
        for j0 in range(i0 if mirror else 0, k, tile_cols):
            j1 = min(j0 + tile_cols, k)
            if sums == STORED or sums == STORED_SQUARE:
                _load_tile(tile, stored, xx, yy, sums, i0, i1, j0, j1, mirror)
            else:
                _sum_tile(tile, X, panels, sums, i0, i1, j0, j1)
            for i in range(i0, i1):
                _finish(tile[i - i0, : j1 - j0], finish, a, b, c)
                for j in range(j0, j1):
                    out[i, j] = tile[i - i0, j - j0]
            if mirror:
                for j in range(j0, j1):
                    for i in range(i0, min(i1, j)):
                        out[j, i] = tile[i - i0, j - j0]


def n_threads():
    """Return the number of threads that numba would use."""
    return config.NUMBA_NUM_THREADS
