"""Compiled tiles: sums over the features of two rows, transformed while in cache.

``fill`` walks over the output in tiles. For each tile it sums ``|x - y|``,
``(x - y)^2`` or ``x y`` over the features (or reads products that BLAS has stored),
applies the transform, and writes the kernel values to the output, and for a symmetric
matrix to their mirror image too. The output is touched once.

Letters: ``X`` (n, m) holds the rows; ``panels`` (p, m, width) holds the other rows,
one vector of ``width`` of them after another, feature by feature; ``out`` (n, k).

Imported when a kernel is first called, because importing numba takes longer than the
rest of the package.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from kreinlearn._numba_cache import compile_variant
from kreinlearn.kernels._compiled import llvm

VECTOR_BYTES = 64
"""One AVX-512 register, or two of AVX2, or four of NEON."""

ROWS_AT_ONCE = 4
"""Rows summed at once: 4 x 64 bytes of sums fit the registers of all of these."""

FEATURES_AT_ONCE = 128
"""Features summed before the partial sum is stored.

A panel of 128 x 64 bytes stays in the first-level cache, and rounding errors grow with
128 + m / 128 instead of m.
"""

SUM_NAMES = ("absolute", "square", "product", "stored", "stored square")
SUM_ABSOLUTE, SUM_SQUARE, SUM_PRODUCT, SUM_STORED, SUM_STORED_SQUARE = range(5)

TRANSFORM_NAMES = (
    "identity hinge exponential difference log power polynomial tanh".split()
)
_HINGE, _EXPONENTIAL, _DIFFERENCE, _LOG, _POWER, _POLYNOMIAL, _TANH = range(1, 8)
USUAL_CODES = (0, _HINGE, _EXPONENTIAL)
"""Transforms that are compiled together; all others are compiled together, too."""


# -- sums ------------------------------------------------------------------------------


def _make_add(emit_term, plain_term):
    """Return a function that sums a term for ROWS_AT_ONCE rows against one panel.

    ``f(X, i, panels, p, start, stop, tile, r, c)`` adds, for each q < ROWS_AT_ONCE, the
    sum over the features start to stop of the term between row i + q and the rows of
    panel p to ``tile[r + q, c : c + width]``, or sets it if start is 0. A row beyond
    the last is read as the last; the tile must have room for it.
    """

    @njit
    def plain(X, i, panels, p, start, stop, tile, r, c):
        for q in range(ROWS_AT_ONCE):
            row = min(i + q, len(X) - 1)
            for lane in range(panels.shape[2]):
                total = X.dtype.type(0)
                for f in range(start, stop):
                    total += plain_term(X[row, f], panels[p, f, lane])
                if start > 0:
                    total += tile[r + q, c + lane]
                tile[r + q, c + lane] = total

    @intrinsic
    def add(typingctx, X, i, panels, p, start, stop, tile, r, c):
        n = types.intp
        return types.void(X, n, panels, n, n, n, tile, n, n), generate

    def generate(context, builder, signature, args):
        arrays = llvm.unpack_arrays(context, builder, signature, args)
        X, i, panels, p, start, stop, tile, r, c = arrays
        n = i.type
        width = VECTOR_BYTES // X.alignment
        vector = ir.VectorType(X.element, width)
        last = builder.sub(X.shape[0], n(1))
        rows = [builder.add(i, n(q)) for q in range(ROWS_AT_ONCE)]
        rows = [
            builder.select(builder.icmp_signed("<", row, last), row, last)
            for row in rows
        ]

        def add_terms(f, *totals):
            y = panels.load(p, f, 0, count=width)
            numbers = [llvm.broadcast(builder, X.load(row, f), vector) for row in rows]
            both = zip(totals, numbers, strict=True)
            return [emit_term(builder, total, x, y) for total, x in both]

        zeros = [llvm.make_zeros(vector)] * ROWS_AT_ONCE
        totals = llvm.emit_loop(builder, start, stop, 1, zeros, add_terms)
        is_first = builder.icmp_signed("==", start, n(0))
        for q, total in enumerate(totals):
            target = builder.add(r, n(q)), c
            more = builder.fadd(total, tile.load(*target, count=width))
            tile.store(builder.select(is_first, total, more), *target)
        return context.get_dummy_value()

    return plain if llvm.PLAIN_LOOPS else add


def _emit_absolute(builder, total, x, y):
    """Emit total + |x - y|."""
    return builder.fadd(total, llvm.call_vector(builder, "fabs", builder.fsub(x, y)))


def _emit_square(builder, total, x, y):
    """Emit total + (x - y)^2."""
    return llvm.add_product(builder, total, *[builder.fsub(x, y)] * 2)


def _make_sum(sums, emit_term, plain_term):
    """Return the function that sums a term over the features, for one tile."""
    add = _make_add(emit_term, plain_term)

    def sum_tile(tile, X, panels, i0, i1, j0, j1):
        m = X.shape[1]
        width = panels.shape[2]
        for start in range(0, m, FEATURES_AT_ONCE):
            stop = min(start + FEATURES_AT_ONCE, m)
            for c in range(0, j1 - j0, width):
                p = (j0 + c) // width
                for r in range(0, i1 - i0, ROWS_AT_ONCE):
                    add(X, i0 + r, panels, p, start, stop, tile, r, c)

    return compile_variant(sum_tile, sums)


_absolute, _square = njit(lambda x, y: abs(x - y)), njit(lambda x, y: (x - y) * (x - y))
sum_absolutes = _make_sum(SUM_ABSOLUTE, _emit_absolute, _absolute)
sum_squares = _make_sum(SUM_SQUARE, _emit_square, _square)
sum_products = _make_sum(SUM_PRODUCT, llvm.add_product, njit(lambda x, y: x * y))


@njit
def _load_tile(tile, stored, xx, yy, sums, i0, i1, j0, j1, is_symmetric):
    """Load stored sums, or |x|^2 + |y|^2 - 2 <x, y> from stored products."""
    zero = stored.dtype.type(0)
    two = stored.dtype.type(2)
    for i in range(i0, i1):
        for j in range(j0, j1):
            tile[i - i0, j - j0] = stored[i, j]
        if sums == SUM_STORED_SQUARE:
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
_ROUND_SHIFT = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits
_MIN_EXPONENT = -708.0  # below, exp gives a denormal number and we give 0
_TANH_FLOOR = -44.0  # at and below, tanh of half of it is -1 to rounding
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (
    1.0 / math.factorial(k) for k in range(2, 14)
)


@njit(fastmath={"contract"})
def _exp_parts(z):
    """Return p and 2^k with exp(z) = (1 + p) 2^k, for z from -708 to 0.

    In plain arithmetic, so that loops over it use vector instructions; `math.exp` and
    `math.tanh` are a call for each number, and several times slower.
    """
    # z = k log(2) + r with |r| <= log(2) / 2; exp(r) from its series; 2^k from bits
    shifted = z * _LOG2_E + _ROUND_SHIFT
    k = shifted - _ROUND_SHIFT
    r = (z - k * _LN2_HIGH) - k * _LN2_LOW
    s = _C12 + r * _C13
    s = _C10 + r * (_C11 + r * s)
    s = _C8 + r * (_C9 + r * s)
    s = _C6 + r * (_C7 + r * s)
    s = _C4 + r * (_C5 + r * s)
    s = _C2 + r * (_C3 + r * s)
    bits = (np.float64(shifted).view(np.int64) + 1023) << 52
    return r + r * r * s, np.int64(bits).view(np.float64)


@njit(fastmath={"contract"})
def _exp(x):
    """Return exp(x) for x <= 0, to two units in the last place."""
    p, scale = _exp_parts(x if x > _MIN_EXPONENT else _MIN_EXPONENT)
    return (1.0 + p) * scale if x > _MIN_EXPONENT else 0.0


@njit(fastmath={"contract"}, error_model="numpy")  # no check of each divisor
def _tanh(x):
    """Return tanh(x) for any x, to three units in the last place."""
    z = -2.0 * abs(x)
    p, scale = _exp_parts(z if z > _TANH_FLOOR else _TANH_FLOOR)
    less = scale * p + (scale - 1.0)  # exp(z) - 1, which keeps the digits near 0
    value = less / (2.0 + less)
    signed = value if x < 0.0 else 0.0 - value
    return signed if x == x else x


@njit
def _apply_hinge(values, a, b):
    """Replace d by max(a - b d, 0), rounded alike wherever the number stands."""
    zero = values.dtype.type(0)
    a = values.dtype.type(a)
    b = values.dtype.type(b)
    for j in range(values.size):
        value = a - b * values[j]
        values[j] = value if value > zero else zero


@njit(fastmath={"contract"})
def _apply_exponential(values, a):
    """Replace d by exp(-a d)."""
    for j in range(values.size):
        values[j] = _exp(-a * values[j])


@njit(fastmath={"contract"})
def _apply_difference(values, a, b, c):
    """Replace d by exp(-a d) - c exp(-b d)."""
    for j in range(values.size):
        values[j] = _exp(-a * values[j]) - c * _exp(-b * values[j])


@njit
def _apply_power(values, a):
    """Replace d by d^a."""
    if a == 0.5:
        for j in range(values.size):
            values[j] = math.sqrt(values[j])
    elif a != 1.0:
        for j in range(values.size):
            values[j] = values[j] ** a


@njit
def _apply_polynomial(values, a, b, degree):
    """Replace s by (a s + b)^degree; the usual degrees by vector instructions."""
    for j in range(values.size):
        base = a * values[j] + b
        if degree == 2:
            values[j] = base * base
        elif degree == 3:
            values[j] = base * base * base
        else:
            values[j] = base**degree


@njit(fastmath={"contract"})
def _apply_tanh(values, a, b):
    """Replace s by tanh(a s + b)."""
    for j in range(values.size):
        values[j] = _tanh(a * values[j] + b)


@njit
def apply_usual(values, codes):
    """Turn a row of sums into kernel values, in place: for `USUAL_CODES` transforms."""
    transform, a, b, _ = codes
    if transform == _HINGE:
        _apply_hinge(values, a, b)
    elif transform == _EXPONENTIAL:
        _apply_exponential(values, a)


@njit
def apply_other(values, codes):
    """Turn a row of sums into kernel values, in place: for all other transforms."""
    transform, a, b, c = codes
    if transform == _DIFFERENCE:
        _apply_difference(values, a, b, c)
    elif transform == _POWER or transform == _LOG:
        _apply_power(values, a)
        for j in range(values.size):
            value = values[j] if transform == _POWER else math.log1p(values[j])
            values[j] = 0.0 - value  # not -value, which turns 0 into -0
    elif transform == _POLYNOMIAL:
        _apply_polynomial(values, a, b, int(c))
    elif transform == _TANH:
        _apply_tanh(values, a, b)


# -- the walk over the output ----------------------------------------------------------


# Not parallel=True: its thread pool keeps spinning after a loop, and so does that of
# BLAS; on a machine with few cores a program that uses one after the other loses
# milliseconds at each turn. Several Python threads call this for bands of rows instead.
@cache
def make_fill(sums: int, is_usual: bool) -> Any:
    """Return the function that fills a matrix, compiled for some sums and transforms.

    Numba removes branches on constants of a closure before it compiles them.

    Parameters
    ----------
    sums : int
        Position in `SUM_NAMES`.
    is_usual : bool
        Whether the transform is one of `USUAL_CODES`.

    Returns
    -------
    callable
        The function ``fill``.

    Notes
    -----
    Parameters of ``fill``:

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
    codes : tuple
        Transform and its parameters, as `make_codes` gives them.
    mirror : bool
        Compute the upper half only and copy it to the lower. Needs square tiles.
    tile_shape : tuple of int
        Rows and columns of a tile, multiples of ROWS_AT_ONCE and of width.
    first, last : int
        Which rows of tiles to fill, from first to last - 1.
    """

    def fill(out, stored, X, panels, xx, yy, codes, mirror, tile_shape, first, last):
        """Fill rows of the output with kernel values, tile by tile."""
        n, k = out.shape
        tile_rows, tile_cols = tile_shape
        tile = np.empty((tile_rows, tile_cols), out.dtype)
        for i0 in range(first * tile_rows, min(last * tile_rows, n), tile_rows):
            i1 = min(i0 + tile_rows, n)
            for j0 in range(i0 if mirror else 0, k, tile_cols):
                j1 = min(j0 + tile_cols, k)
                if sums == SUM_ABSOLUTE:
                    sum_absolutes(tile, X, panels, i0, i1, j0, j1)
                elif sums == SUM_SQUARE:
                    sum_squares(tile, X, panels, i0, i1, j0, j1)
                elif sums == SUM_PRODUCT:
                    sum_products(tile, X, panels, i0, i1, j0, j1)
                else:
                    _load_tile(tile, stored, xx, yy, sums, i0, i1, j0, j1, mirror)
                for i in range(i0, i1):
                    if is_usual:
                        apply_usual(tile[i - i0, : j1 - j0], codes)
                    else:
                        apply_other(tile[i - i0, : j1 - j0], codes)
                    for j in range(j0, j1):
                        out[i, j] = tile[i - i0, j - j0]
                if mirror:
                    for j in range(j0, j1):
                        for i in range(i0, min(i1, j)):
                            out[j, i] = tile[i - i0, j - j0]

    return compile_variant(fill, sums, is_usual, **llvm.LOOP_OPTIONS)


MIRROR_SIDE = 64
"""Rows and columns that are copied at once: half of the first-level cache."""


@njit(**llvm.LOOP_OPTIONS)
def mirror_upper(out, first, last):
    """Copy the upper half of a square matrix to the lower.

    Parameters
    ----------
    out : ndarray of shape (n, n)
        The matrix.
    first, last : int
        Which rows to copy, in steps of MIRROR_SIDE, from first to last - 1.
    """
    n = len(out)
    for i0 in range(first * MIRROR_SIDE, min(last * MIRROR_SIDE, n), MIRROR_SIDE):
        for j0 in range(i0, n, MIRROR_SIDE):
            for j in range(j0, min(j0 + MIRROR_SIDE, n)):
                for i in range(i0, min(i0 + MIRROR_SIDE, j)):
                    out[j, i] = out[i, j]


def make_codes(
    name: str, a: float, b: float, c: float
) -> tuple[int, float, float, float]:
    """Return a transform with its parameters as compiled code takes them."""
    return TRANSFORM_NAMES.index(name), float(a), float(b), float(c)
