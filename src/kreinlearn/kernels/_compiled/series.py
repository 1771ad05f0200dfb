"""Compiled elastic distances: one series against LANES others at a time.

Letters: x one series, of length n; a panel holds LANES others, interleaved, of length
m and filled up with zeros, in slots as `sweeps` tells. What fills up does no harm: a
cell depends on nothing to its right, and each lane is read where its series ends.

All distances are symmetric to the last bit, whichever of two series is in the panel.

Imported when a distance is first asked for: importing numba takes long.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from kreinlearn._numba_cache import compile_variant
from kreinlearn.kernels._compiled.generator import PLAIN
from kreinlearn.kernels._compiled.sweeps import LANES, edit, warp, warp_numbers

DTW, WDTW, ERP, LCSS, MSM, TWE = range(6)
MEASURES = ("dtw", "wdtw", "erp", "lcss", "msm", "twe")
# Division by zero gives inf, as in NumPy: the check for it would stop vectorization.
_LANES: dict[str, Any] = {"error_model": "numpy"}


# -- costs of one row ------------------------------------------------------------------
# Flat loops from 0 on, over slices: LLVM turns these into vector instructions.


@njit(**_LANES)
def _squares(out, x, panel, first, last):
    """Set slots to the squared distances between one time of x and all of a panel."""
    a, b = first * LANES, last * LANES
    target = out[a:b]
    for c in range(len(x)):
        value, others = x[c], panel[c, a:b]
        if c == 0:
            for k in range(len(target)):
                target[k] = (value - others[k]) * (value - others[k])
        else:
            for k in range(len(target)):
                target[k] += (value - others[k]) * (value - others[k])


@njit(**_LANES)
def _distances(out, x, panel, first, last):
    """Set slots to the distances between one time of x and all of a panel."""
    a, b = first * LANES, last * LANES
    target = out[a:b]
    if len(x) == 1:
        value, others = x[0], panel[0, a:b]
        for k in range(len(target)):
            target[k] = abs(value - others[k])
        return
    _squares(out, x, panel, first, last)
    for k in range(len(target)):
        target[k] = math.sqrt(target[k])


@njit(**_LANES)
def _matches(costs, epsilon, first, last):
    """Turn distances into -1 where they are small enough, and 0 elsewhere."""
    target = costs[first * LANES : last * LANES]
    for k in range(len(target)):
        target[k] = -1.0 if target[k] <= epsilon else 0.0


@njit(**_LANES)
def _steps(out, panel, m, more):
    """Set slots to the distances from the time before, with a constant added."""
    size = m * LANES
    target = out[LANES:]
    _set(target, 0, m, 0.0)
    for c in range(len(panel)):
        now, before = panel[c, LANES:], panel[c, :size]
        for k in range(size):
            target[k] += (now[k] - before[k]) * (now[k] - before[k])
    now, before = panel[0, LANES:], panel[0, :size]
    for k in range(size):
        is_one = len(panel) == 1
        step = abs(now[k] - before[k]) if is_one else math.sqrt(target[k])
        target[k] = step + more


@njit(**_LANES)
def _scale(costs, weights, i, m):
    """Multiply the costs of row i by weights of the time between the two."""
    for j in range(m):
        target, weight = costs[(j + 1) * LANES : (j + 2) * LANES], weights[abs(i - j)]
        for lane in range(LANES):
            target[lane] *= weight


@njit(**_LANES)
def _shift(costs, step, i, m):
    """Add a multiple of the time between the two to the costs of row i."""
    for j in range(m):
        target, more = costs[(j + 1) * LANES : (j + 2) * LANES], step * abs(i - j)
        for lane in range(LANES):
            target[lane] += more


@njit(**_LANES)
def _outside(z, p, q):
    """Return how far z is from the interval between p and q."""
    low, high = (p, q) if p < q else (q, p)
    below, above = low - z, z - high
    farther = below if below > above else above
    return farther if farther > 0.0 else 0.0


@njit(**_LANES)
def _move_costs(match, right, down, x, before, others, c, m):
    """Set the costs of move, split and merge: x against a panel of one channel."""
    a, b = LANES, (m + 1) * LANES
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


@njit(**_LANES)
def _set(row, first, last, value):
    """Set slots to a number; numba compiles a slice ten times as long."""
    for k in range(first * LANES, last * LANES):
        row[k] = value


@njit(**_LANES)
def _start(row, corner, edge):
    """Set what is above the first row: the corner, and all else."""
    _set(row, 1, len(row) // LANES, edge)
    _set(row, 0, 1, corner)


@njit(**_LANES)
def _warp_numbers(row, x, panel, m, reach):
    """Leave the last row of dynamic time warping in ``row``, for one channel."""
    n = len(x)
    _start(row, 0.0, np.inf)
    for i in range(n):
        first, last = _band(i, n, m, reach)
        y = panel[0]
        warp_numbers(row, y, y, y, x[i, 0], first, last, np.inf)
        _set(row, first - 1, first, np.inf)


@njit(**_LANES)
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


@njit
def _distance(p, q):
    """Return the distance between two times, rounded as `_distances` rounds it."""
    if len(p) == 1:
        return abs(p[0] - q[0])
    total = (p[0] - q[0]) * (p[0] - q[0])
    for c in range(1, len(p)):
        total += (p[c] - q[c]) * (p[c] - q[c])
    return math.sqrt(total)


@njit(**_LANES)
def _erp_all(row, costs, right, down, x, panel, m, reach, gap):
    """Leave the last row of the edit distance with real penalty in ``row``."""
    n, channels = x.shape
    nothing = np.full(channels, gap)
    _distances(right, nothing, panel, 1, m + 1)
    _set(row, 0, 1, 0.0)
    for k in range(LANES, (m + 1) * LANES):
        row[k] = row[k - LANES] + right[k]
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


@njit(**_LANES)
def _lcss_all(row, costs, right, x, panel, m, reach, epsilon):
    """Leave minus the length of the longest common subsequence in ``row``."""
    _start(row, 0.0, 0.0)
    _set(right, 0, m + 1, 0.0)
    for i in range(len(x)):
        first, last = _band(i, len(x), m, reach)
        _distances(costs, x[i], panel, first, last)
        _matches(costs, epsilon, first, last)
        edit(row, costs, right, right, 0.0, first, last, 0.0)
        _set(row, first - 1, first, 0.0)


@njit(**_LANES)
def _msm_all(space, x, others, m, c):
    """Leave the last row of move-split-merge in ``space[0]``, for one channel."""
    row, costs, right, down = space[0], space[1], space[2], space[3]
    _start(row, 0.0, np.inf)
    for i in range(len(x)):
        _move_costs(costs, right, down, x[i], x[max(i - 1, 0)], others, c, m)
        edit(row, costs, right, down, 0.0, 1, m + 1, np.inf)
        _set(row, 0, 1, np.inf)


@njit(**_LANES)
def _twe_all(space, x, panel, m, nu, lmbda):
    """Leave the last row of the time warp edit distance in ``space[0]``."""
    row, costs, right, down = space[0], space[1], space[2], space[3]
    above, here = space[4], space[5]
    n, channels = x.shape
    size = m * LANES
    time = np.zeros(channels)  # before the first
    _steps(right, panel, m, nu + lmbda)
    _distances(above, time, panel, 0, m + 1)
    _start(row, 0.0, np.inf)
    for i in range(n):
        _distances(here, x[i], panel, 0, m + 1)
        _set(down, 0, m + 1, _distance(x[i], time) + (nu + lmbda))
        time = x[i]
        target, now, previous = costs[LANES:], here[LANES:], above[:size]
        for k in range(size):
            target[k] = now[k] + previous[k]
        _shift(costs, 2.0 * nu, i, m)
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
    for lane in range(LANES):
        j = min(a + lane, b - 1)
        for t in range(starts[j + 1] - starts[j]):
            for c in range(Y.shape[1]):
                panel[c, (t + 1) * LANES + lane] = Y[starts[j] + t, c]


@njit
def _read(totals, row, starts, a, b):
    """Add the last cell of each lane."""
    for lane in range(b - a):
        length = starts[a + lane + 1] - starts[a + lane]
        totals[lane] += row[length * LANES + lane]


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
        Position in `MEASURES`.
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
        Where each panel of Y starts, and where the last one ends; at most LANES each.
    params : tuple of float
        Two parameters of the distance, and the window as a fraction of the shorter
        series; negative for none.
    mirror : bool
        X and Y are the same: compute half, and copy it to the other.
    first, last : int
        Which panels, from first to last - 1, counted from the last one backwards:
        these take longest, and threads that are done soon take shorter ones.
    """
    is_root = measure in (DTW, WDTW)
    is_short = measure == DTW and is_univariate

    def fill(
        out, X, x_starts, Y, y_starts, orders, panels, params, mirror, first, last
    ):
        """Fill columns of the output with distances, panel by panel."""
        p, q, window = params
        channels = Y.shape[1]
        totals = np.empty(LANES)
        for at in range(len(panels) - 1 - first, len(panels) - 1 - last, -1):
            a, b = panels[at - 1], panels[at]
            m = y_starts[b] - y_starts[b - 1]  # the longest
            space = np.empty((6, (m + 1) * LANES))
            panel = np.empty((channels, (m + 1) * LANES))
            _pack(panel, Y, y_starts, a, b)
            for r in range(b if mirror else len(x_starts) - 1):
                x = X[x_starts[r] : x_starts[r + 1]]
                for lane in range(LANES):
                    totals[lane] = 0.0
                shorter = min(len(x), m)
                reach = int(window * shorter) if window >= 0 else shorter
                row, costs, right, down = space[0], space[1], space[2], space[3]
                if measure == MSM:
                    for c in range(channels):
                        _msm_all(space, x[:, c], panel[c], m, p)
                        _read(totals, row, y_starts, a, b)
                elif is_short:
                    _warp_numbers(row, x, panel, m, reach)
                elif is_root:
                    weights = _weights(max(len(x), m), p)
                    _warp_all(row, costs, x, panel, m, reach, weights, measure == WDTW)
                elif measure == ERP:
                    _erp_all(row, costs, right, down, x, panel, m, reach, p)
                elif measure == LCSS:
                    _lcss_all(row, costs, right, x, panel, m, reach, p)
                else:
                    _twe_all(space, x, panel, m, p, q)
                if measure != MSM:
                    _read(totals, row, y_starts, a, b)
                for j in range(max(a, r) if mirror else a, b):
                    length = y_starts[j + 1] - y_starts[j]
                    value = totals[j - a]
                    if is_root:
                        value = math.sqrt(value)
                    elif measure == LCSS:
                        value = 1.0 + value / min(len(x), length)
                    out[orders[0][r], orders[1][j]] = value
                    if mirror:
                        out[orders[1][j], orders[0][r]] = value

    return compile_variant(fill, measure, is_univariate, cache=not PLAIN, nogil=True)
