"""Compiled elastic distances: one series against LANE_COUNT others at a time.

An elastic distance is the cheapest path through a table of cells, one row per time of
the first series and one column per time of the second. A cell needs the one above it,
the one to the left of it, and the one between these two. Along a row every cell waits
for its left neighbor, so vector instructions cannot work within one pair; they process
LANE_COUNT pairs instead, one per lane: one series against LANE_COUNT others.

Letters: x one series, of length n; a panel holds LANE_COUNT others, interleaved, of
length m and padded with zeros. Padding does no harm: a cell depends on nothing to its
right, and each lane is read where its series ends. Arrays are flat, in *slots* of
LANE_COUNT numbers: slot 0 comes before the first column, slot s is column s - 1. A
sweep computes one row, left to right, in place of the row above it, which is all that
is stored.

All distances are symmetric to the last bit, whichever of two series is in the panel.
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

LANE_COUNT = 16
"""Pairs at once: two vectors, four registers of AVX2. With one vector (8), additions
wait for each other, which takes 1.4 times as long."""
MEASURE_NAMES = ("dtw", "wdtw", "erp", "lcss", "msm", "twe", "adtw")
_DTW, _WDTW, _ERP, _LCSS, _MSM, _TWE, _ADTW = range(7)
# Division by zero gives inf, as in NumPy: the check for it would stop vectorization.
_LANE_OPTIONS: dict[str, Any] = {"error_model": "numpy"}


# -- one row of the table --------------------------------------------------------------


def _make_sweep(emit_cell, plain_cell):
    """Return a function that computes one row, given the row above it.

    ``f(row, A, B, C, x, first, last, before)`` overwrites the slots first to last - 1
    of ``row`` with ``cell(A[s], B[s], C[s], x, diagonal, up, left)``, where diagonal
    and up are from the row above; the slot first - 1 has the first diagonal, and
    ``before`` is the first left.
    """

    @njit
    def plain(row, A, B, C, x, first, last, before):
        for lane in range(LANE_COUNT):
            diagonal, left = row[(first - 1) * LANE_COUNT + lane], before
            for slot in range(first, last):
                k = slot * LANE_COUNT + lane
                up = row[k]
                left = plain_cell(A[k], B[k], C[k], x, diagonal, up, left)
                row[k] = left
                diagonal = up

    @intrinsic
    def sweep(typingctx, row, A, B, C, x, first, last, before):
        n, number = types.intp, types.float64
        return types.void(row, A, B, C, number, n, n, number), generate

    def generate(context, builder, signature, args):
        arrays = llvm.unpack_arrays(context, builder, signature, args)
        row, *streams, x, first, last, before = arrays
        n, vector = first.type, ir.VectorType(ir.DoubleType(), LANE_COUNT)
        x, left = (llvm.broadcast(builder, number, vector) for number in (x, before))

        def load(array, slot):
            return array.load(builder.mul(slot, n(LANE_COUNT)), count=LANE_COUNT)

        def compute_cell(slot, diagonal, left):
            up = load(row, slot)
            given = [load(array, slot) for array in streams]
            cell = emit_cell(builder, *given, x, diagonal, up, left)
            row.store(cell, builder.mul(slot, n(LANE_COUNT)))
            return up, cell

        diagonal = load(row, builder.sub(first, n(1)))
        llvm.emit_loop(builder, first, last, 1, (diagonal, left), compute_cell)
        return context.get_dummy_value()

    return plain if llvm.PLAIN_LOOPS else sweep


def _emit_min(builder, x, y):
    """Emit the smaller of two numbers, lane by lane."""
    return builder.select(builder.fcmp_ordered("<", x, y), x, y)


def _emit_warp(builder, cost, _, __, x, diagonal, up, left):
    """Emit cost + min(diagonal, up, left); left is last, for the cell waits for it."""
    least = _emit_min(builder, _emit_min(builder, diagonal, up), left)
    return builder.fadd(cost, least)


def _emit_warp_numbers(builder, y, _, __, x, diagonal, up, left):
    """Emit (x - y)^2 + min(diagonal, up, left)."""
    gap = builder.fsub(x, y)
    cost = builder.fmul(gap, gap)
    return _emit_warp(builder, cost, None, None, x, diagonal, up, left)


def _emit_edit(builder, match, right, down, x, diagonal, up, left):
    """Emit min(diagonal + match, up + down, left + right)."""
    moves = builder.fadd(diagonal, match), builder.fadd(up, down)
    return _emit_min(builder, _emit_min(builder, *moves), builder.fadd(left, right))


warp_numbers = _make_sweep(
    _emit_warp_numbers,
    njit(lambda y, b, c, x, diag, up, left: (x - y) * (x - y) + min(diag, up, left)),
)
warp = _make_sweep(
    _emit_warp, njit(lambda cost, b, c, x, diag, up, left: cost + min(diag, up, left))
)
edit = _make_sweep(
    _emit_edit, njit(lambda a, b, c, x, diag, up, left: min(diag + a, up + c, left + b))
)


# -- costs of one row ------------------------------------------------------------------
# Flat loops from 0 on, over slices: LLVM turns these into vector instructions.


@njit(**_LANE_OPTIONS)
def _squares(out, x, panel, first, last):
    """Set slots to the squared distances between one time of x and all of a panel."""
    a, b = first * LANE_COUNT, last * LANE_COUNT
    target = out[a:b]
    for c in range(len(x)):
        value, others = x[c], panel[c, a:b]
        if c == 0:
            for k in range(len(target)):
                target[k] = (value - others[k]) * (value - others[k])
        else:
            for k in range(len(target)):
                target[k] += (value - others[k]) * (value - others[k])


@njit(**_LANE_OPTIONS)
def _distances(out, x, panel, first, last):
    """Set slots to the distances between one time of x and all of a panel."""
    a, b = first * LANE_COUNT, last * LANE_COUNT
    target = out[a:b]
    if len(x) == 1:
        value, others = x[0], panel[0, a:b]
        for k in range(len(target)):
            target[k] = abs(value - others[k])
        return
    _squares(out, x, panel, first, last)
    for k in range(len(target)):
        target[k] = math.sqrt(target[k])


@njit(**_LANE_OPTIONS)
def _steps(out, panel, m, more):
    """Set slots to the distances from the time before, with a constant added."""
    size = m * LANE_COUNT
    target = out[LANE_COUNT:]
    _set(target, 0, m, 0.0)
    for c in range(len(panel)):
        now, before = panel[c, LANE_COUNT:], panel[c, :size]
        for k in range(size):
            target[k] += (now[k] - before[k]) * (now[k] - before[k])
    now, before = panel[0, LANE_COUNT:], panel[0, :size]
    for k in range(size):
        is_one = len(panel) == 1
        step = abs(now[k] - before[k]) if is_one else math.sqrt(target[k])
        target[k] = step + more


@njit(**_LANE_OPTIONS)
def _scale(costs, weights, i, m):
    """Multiply the costs of row i by weights of the time between the two."""
    for j in range(m):
        target = costs[(j + 1) * LANE_COUNT : (j + 2) * LANE_COUNT]
        weight = weights[abs(i - j)]
        for lane in range(LANE_COUNT):
            target[lane] *= weight


@njit(**_LANE_OPTIONS)
def _add_time_costs(costs, step, i, m):
    """Add a multiple of the time between the two to the costs of row i."""
    for j in range(m):
        target = costs[(j + 1) * LANE_COUNT : (j + 2) * LANE_COUNT]
        more = step * abs(i - j)
        for lane in range(LANE_COUNT):
            target[lane] += more


@njit(**_LANE_OPTIONS)
def _outside(z, p, q):
    """Return how far z is from the interval between p and q."""
    low, high = (p, q) if p < q else (q, p)
    below, above = low - z, z - high
    farther = below if below > above else above
    return farther if farther > 0.0 else 0.0


@njit(**_LANE_OPTIONS)
def _move_costs(match, right, down, x, before, others, c, m):
    """Set the costs of move, split and merge: x against a panel of one channel."""
    a, b = LANE_COUNT, (m + 1) * LANE_COUNT
    y, previous = others[a:b], others[: b - a]
    moves, rights, downs = match[a:b], right[a:b], down[a:b]
    for k in range(len(y)):
        moves[k] = abs(x - y[k])
        rights[k] = c + _outside(y[k], previous[k], x)
    for k in range(len(y)):
        downs[k] = c + _outside(x, before, y[k])


# -- one series against a panel --------------------------------------------------------


@njit
def _band(i, n, m, reach):
    """Return the slots of row i that are inside the window, as a range.

    A cell is inside if it is at most ``reach`` steps of the shorter series away from
    the diagonal. The diagonal of n x m cells, n <= m, has in column j the row
    (j + 1) n // (m + 1), without gaps, and is transposed for n > m.
    """
    if n > m:
        middle = (i + 1) * m // (n + 1)
        return max(0, middle - reach) + 1, min(m, middle + reach + 1) + 1
    low = -(-(i - reach) * (m + 1) // n) - 1
    high = -(-(i + reach + 1) * (m + 1) // n) - 1
    return max(0, low) + 1, min(m, high) + 1


@njit(**_LANE_OPTIONS)
def _set(row, first, last, value):
    """Set slots to a number; numba compiles a slice ten times as long."""
    for k in range(first * LANE_COUNT, last * LANE_COUNT):
        row[k] = value


@njit(**_LANE_OPTIONS)
def _start(row, corner, edge):
    """Set the row above the first one: its corner, and all other slots."""
    _set(row, 1, len(row) // LANE_COUNT, edge)
    _set(row, 0, 1, corner)


@njit(**_LANE_OPTIONS)
def _warp_numbers(row, x, panel, m, reach):
    """Leave the last row of dynamic time warping in ``row``, for one channel."""
    n = len(x)
    _start(row, 0.0, np.inf)
    for i in range(n):
        first, last = _band(i, n, m, reach)
        y = panel[0]
        warp_numbers(row, y, y, y, x[i, 0], first, last, np.inf)
        _set(row, first - 1, first, np.inf)


@njit(**_LANE_OPTIONS)
def _warp_all(row, costs, x, panel, m, reach, weights, is_weighted):
    """Leave the last row of (weighted) dynamic time warping in ``row``."""
    n = len(x)
    _start(row, 0.0, np.inf)
    for i in range(n):
        first, last = _band(i, n, m, reach)
        _squares(costs, x[i], panel, first, last)
        if is_weighted:
            _scale(costs, weights, i, m)
        warp(row, costs, costs, costs, 0.0, first, last, np.inf)
        _set(row, first - 1, first, np.inf)


@njit(**_LANE_OPTIONS)
def _amerced_all(row, costs, more, x, panel, m, reach, penalty):
    """Leave the last row of amerced dynamic time warping in ``row``."""
    n = len(x)
    _start(row, 0.0, np.inf)
    for i in range(n):
        first, last = _band(i, n, m, reach)
        _squares(costs, x[i], panel, first, last)
        for k in range(first * LANE_COUNT, last * LANE_COUNT):
            more[k] = costs[k] + penalty
        edit(row, costs, more, more, 0.0, first, last, np.inf)
        _set(row, first - 1, first, np.inf)


@njit
def _distance(p, q):
    """Return the distance between two times, rounded as `_distances` rounds it."""
    if len(p) == 1:
        return abs(p[0] - q[0])
    total = 0.0
    for c in range(len(p)):
        total += (p[c] - q[c]) * (p[c] - q[c])
    return math.sqrt(total)


@njit(**_LANE_OPTIONS)
def _erp_all(row, costs, right, down, x, panel, m, reach, gap):
    """Leave the last row of the edit distance with real penalty in ``row``."""
    n, channels = x.shape
    nothing = np.full(channels, gap)
    _distances(right, nothing, panel, 1, m + 1)
    _set(row, 0, 1, 0.0)
    for k in range(LANE_COUNT, (m + 1) * LANE_COUNT):
        row[k] = row[k - LANE_COUNT] + right[k]
    before = 0.0
    for i in range(n):
        first, last = _band(i, n, m, reach)
        _distances(costs, x[i], panel, first, last)
        skipped = _distance(x[i], nothing)
        _set(down, first, last, skipped)
        before = before + skipped if first == 1 else np.inf
        edit(row, costs, right, down, 0.0, first, last, before)
        _set(row, first - 1, first, before)
        if i == 0:
            _set(row, last, m + 1, np.inf)


@njit(**_LANE_OPTIONS)
def _lcss_all(row, costs, right, x, panel, m, reach, epsilon):
    """Leave minus the length of the longest common subsequence in ``row``."""
    _start(row, 0.0, 0.0)
    _set(right, 0, m + 1, 0.0)
    for i in range(len(x)):
        first, last = _band(i, len(x), m, reach)
        _distances(costs, x[i], panel, first, last)
        matches = costs[first * LANE_COUNT : last * LANE_COUNT]
        for k in range(len(matches)):
            matches[k] = -1.0 if matches[k] <= epsilon else 0.0
        edit(row, costs, right, right, 0.0, first, last, 0.0)
        _set(row, first - 1, first, 0.0)


@njit(**_LANE_OPTIONS)
def _msm_all(space, x, others, m, c):
    """Leave the last row of move-split-merge in ``space[0]``, for one channel."""
    row, costs, right, down = space[0], space[1], space[2], space[3]
    _start(row, 0.0, np.inf)
    for i in range(len(x)):
        _move_costs(costs, right, down, x[i], x[max(i - 1, 0)], others, c, m)
        edit(row, costs, right, down, 0.0, 1, m + 1, np.inf)
        _set(row, 0, 1, np.inf)


@njit(**_LANE_OPTIONS)
def _twe_all(space, x, panel, m, nu, lmbda):
    """Leave the last row of the time warp edit distance in ``space[0]``."""
    row, costs, right, down = space[0], space[1], space[2], space[3]
    above, here = space[4], space[5]
    n, channels = x.shape
    size = m * LANE_COUNT
    time = np.zeros(channels)  # before the first
    _steps(right, panel, m, nu + lmbda)
    _distances(above, time, panel, 0, m + 1)
    _start(row, 0.0, np.inf)
    for i in range(n):
        _distances(here, x[i], panel, 0, m + 1)
        _set(down, 0, m + 1, _distance(x[i], time) + (nu + lmbda))
        time = x[i]
        target, now, previous = costs[LANE_COUNT:], here[LANE_COUNT:], above[:size]
        for k in range(size):
            target[k] = now[k] + previous[k]
        _add_time_costs(costs, 2.0 * nu, i, m)
        edit(row, costs, right, down, 0.0, 1, m + 1, np.inf)
        _set(row, 0, 1, np.inf)
        above, here = here, above


# -- all pairs -------------------------------------------------------------------------


@njit
def _pack(panel, Y, starts, a, b):
    """Interleave the series a to b - 1; the last of them fills the lanes left over."""
    for c in range(len(panel)):
        for k in range(panel.shape[1]):
            panel[c, k] = 0.0
    for lane in range(LANE_COUNT):
        j = min(a + lane, b - 1)
        for t in range(starts[j + 1] - starts[j]):
            for c in range(Y.shape[1]):
                panel[c, (t + 1) * LANE_COUNT + lane] = Y[starts[j] + t, c]


@njit
def _read(totals, row, starts, a, b):
    """Add the last cell of each lane."""
    for lane in range(b - a):
        length = starts[a + lane + 1] - starts[a + lane]
        totals[lane] += row[length * LANE_COUNT + lane]


@njit
def _weights(size, g):
    """Return the weights of times 0 to size - 1 apart."""
    weights = np.empty(size)
    for k in range(size):
        weights[k] = 1.0 / (1.0 + math.exp(-g * (k - size / 2)))
    return weights


@cache
def make_fill(measure: int, is_univariate: bool) -> Any:
    """Return the function that fills a matrix, compiled for one distance.

    Numba removes branches on constants of a closure before it compiles them.

    Parameters
    ----------
    measure : int
        Position in `MEASURE_NAMES`.
    is_univariate : bool
        Whether series have one channel; time warping then has a shorter loop.

    Returns
    -------
    callable
        The function ``fill``.

    Notes
    -----
    Parameters of ``fill``:

    out : ndarray of shape (n, k)
        The output.
    X, Y : ndarray of shape (points, channels)
        All series, one after another, in the order of their lengths.
    x_starts, y_starts : ndarray of shape (n + 1,) and (k + 1,)
        Where each series starts, and where the last one ends.
    orders : tuple of ndarray
        Rows of the output that the series of X belong to, and columns for those of Y.
    panels : ndarray of shape (p + 1,)
        Where each panel of Y starts, and where the last one ends; at most
        LANE_COUNT each.
    params : tuple of float
        Two parameters of the distance, and the window as a fraction of the shorter
        series; negative for none.
    mirror : bool
        X and Y are the same: compute half, and copy it to the other.
    first, last : int
        Which panels, from first to last - 1, counted from the last one backwards:
        these take longest, and threads that are done soon take shorter ones.
    """
    is_root = measure in (_DTW, _WDTW, _ADTW)
    is_short = measure == _DTW and is_univariate

    def fill(
        out, X, x_starts, Y, y_starts, orders, panels, params, mirror, first, last
    ):
        """Fill columns of the output with distances, panel by panel."""
        p, q, window = params
        channels = Y.shape[1]
        totals = np.empty(LANE_COUNT)
        for at in range(len(panels) - 1 - first, len(panels) - 1 - last, -1):
            a, b = panels[at - 1], panels[at]
            m = y_starts[b] - y_starts[b - 1]  # the longest
            space = np.empty((6, (m + 1) * LANE_COUNT))
            panel = np.empty((channels, (m + 1) * LANE_COUNT))
            _pack(panel, Y, y_starts, a, b)
            for r in range(b if mirror else len(x_starts) - 1):
                x = X[x_starts[r] : x_starts[r + 1]]
                for lane in range(LANE_COUNT):
                    totals[lane] = 0.0
                shorter = min(len(x), m)
                reach = int(window * shorter) if window >= 0 else shorter
                row, costs, right, down = space[0], space[1], space[2], space[3]
                if measure == _MSM:
                    for c in range(channels):
                        _msm_all(space, x[:, c], panel[c], m, p)
                        _read(totals, row, y_starts, a, b)
                elif is_short:
                    _warp_numbers(row, x, panel, m, reach)
                elif measure == _ADTW:
                    _amerced_all(row, costs, right, x, panel, m, reach, p)
                elif is_root:
                    weights = _weights(max(len(x), m), p)
                    _warp_all(row, costs, x, panel, m, reach, weights, measure == _WDTW)
                elif measure == _ERP:
                    _erp_all(row, costs, right, down, x, panel, m, reach, p)
                elif measure == _LCSS:
                    _lcss_all(row, costs, right, x, panel, m, reach, p)
                elif measure == _TWE:
                    _twe_all(space, x, panel, m, p, q)
                if measure != _MSM:
                    _read(totals, row, y_starts, a, b)
                for j in range(max(a, r) if mirror else a, b):
                    length = y_starts[j + 1] - y_starts[j]
                    value = totals[j - a]
                    if is_root:
                        value = math.sqrt(value)
                    elif measure == _LCSS:
                        value = 1.0 + value / min(len(x), length)
                    out[orders[0][r], orders[1][j]] = value
                    if mirror:
                        out[orders[1][j], orders[0][r]] = value

    return compile_variant(fill, measure, is_univariate, **llvm.LOOP_OPTIONS)
