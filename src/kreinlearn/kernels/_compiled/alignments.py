"""Compiled alignments: queries against panels of sequences, one of these per lane.

Integers are as narrow as possible, since a vector then has more lanes. Local scores are
first computed in 8 bits. Sums that are too large stay at the largest number, which
shows in the best entry and means *unknown*: those pairs are computed again in 16 bits,
and in 32. Global scores have no such mark; but what the entries of their tables are at
most and at least is known before, and decides about 16 or 32 bits.

`columns` has the innermost loop. Letters: a *query* is one of the sequences ``xs``, a
*panel* some of ``ys``. Both are tuples of arrays: the letters of all sequences as
numbers (uint8), where each sequence starts, its length (ascending), and its place in
the output. ``table`` (size + 1, size) has the scores of the letters of an alphabet in
the type of integers to compute with; its last row belongs to what is behind the end of
a sequence. ``gaps`` are the costs of the first and of each further letter of a gap.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import njit

from kreinlearn._numba_cache import compile_variant
from kreinlearn.kernels._compiled.columns import (
    COLUMNS,
    VECTOR_BYTES,
    global_columns,
    local_columns,
)
from kreinlearn.kernels._compiled.generator import PLAIN

LANES = VECTOR_BYTES
"""Sequences in a panel of the narrowest integers."""


@njit
def _load_panel(profile, table, ys, members):
    """Set the scores of all letters with each column of a panel; return its width.

    Lanes beyond the last member are copies of it.
    """
    letters, starts, lengths, _ = ys
    size, n_lanes = profile.shape[1:]
    width = (lengths[members[-1]] + COLUMNS - 1) // COLUMNS * COLUMNS
    for lane in range(n_lanes):
        j = members[min(lane, len(members) - 1)]
        for column in range(width):
            letter = size
            if column < lengths[j]:
                letter = letters[starts[j] + column]
            for a in range(size):
                profile[column, a, lane] = table[letter, a]
    return width


@njit
def _local_scores(scores, space, width, xs, i, gaps, most):
    """Set the local scores of a query with a panel, NaN where they are too large."""
    h, e, ends, top, profile = space
    letters, start, m = xs[0], xs[1][i], xs[2][i]
    # A gap that costs more than any entry is one that is not made.
    costs = (min(gaps[0], most), min(gaps[1], most))
    n_lanes = len(scores)
    for row in range(m):
        for lane in range(n_lanes):
            h[row, lane] = 0
            e[row, lane] = 0
    for lane in range(n_lanes):
        ends[0, lane] = 0
    for column in range(0, width, COLUMNS):
        local_columns(h, e, ends, top, profile, column, letters, start, m, costs)
    for lane in range(n_lanes):
        scores[lane] = ends[0, lane] if ends[0, lane] < most else np.nan


@njit
def _global_scores(scores, space, width, xs, i, gaps, most, highest, ys, members):
    """Set the global scores of a query with a panel, NaN if they may be too large."""
    h, e, ends, top, profile = space
    letters, start, m = xs[0], xs[1][i], xs[2][i]
    n_lanes = len(scores)
    # No entry is below the cost of two gaps that leave out all letters. In passing, a
    # score, which has 8 bits, or the cost of another gap is added to it.
    lowest = 4 * gaps[0] + (m + width) * gaps[1] + 128
    if max(lowest, m * highest) >= most:
        for lane in range(n_lanes):
            scores[lane] = np.nan
        return
    for row in range(m):
        for lane in range(n_lanes):
            h[row, lane] = -gaps[0] - row * gaps[1]
            e[row, lane] = -2 * gaps[0] - row * gaps[1]
    for column in range(0, width, COLUMNS):
        for q in range(COLUMNS + 1):
            top[q] = -gaps[0] - (column + q - 1) * gaps[1] if column + q else 0
        global_columns(h, e, ends, top, profile, column, letters, start, m, gaps)
        for lane in range(len(members)):
            length = ys[2][members[lane]]
            if column < length <= column + COLUMNS:
                scores[lane] = ends[length - 1 - column, lane]


@cache
def make_fill(is_local: bool) -> Any:
    """Return the function that fills a matrix, for local or global alignments.

    Several Python threads call it; `tiles` says why it is not parallel=True.

    Parameters
    ----------
    is_local : bool
        Local or global alignments.

    Returns
    -------
    callable
        The function ``fill``.

    Notes
    -----
    Parameters of ``fill``:

    out : ndarray of shape (n, k)
        The output, float64. NaN means that a score may not fit the integers.
    xs, ys, table, gaps : tuple or ndarray
        As the module explains them.
    most, highest : int
        Largest number of the type of integers, and of the table.
    mirror : bool
        Whether ys are xs; then each pair is aligned once.
    panels : tuple of ndarray
        Members of all panels, at most as many as there are lanes, one panel after
        another; first member of each panel, and the end of the last one; first and
        last query of each panel, the last excluded.
    first, last : int
        Which panels to do, from first to last - 1.
    """

    def fill(out, xs, ys, table, gaps, most, highest, mirror, panels, first, last):
        """Fill columns of the output with scores, panel by panel."""
        everyone, starts, first_query, last_query = panels
        size, n_lanes = table.shape[1], VECTOR_BYTES // table.itemsize
        rows, columns = 0, 0
        for p in range(first, last):
            rows = max(rows, xs[2][last_query[p] - 1])
            columns = max(columns, ys[2][everyone[starts[p + 1] - 1]])
        space = (
            np.empty((rows, n_lanes), table.dtype),
            np.empty((rows, n_lanes), table.dtype),
            np.zeros((COLUMNS, n_lanes), table.dtype),
            np.zeros(COLUMNS + 1, table.dtype),
            np.empty((columns + COLUMNS, size, n_lanes), table.dtype),
        )
        scores = np.empty(n_lanes, np.float64)
        for p in range(first, last):
            members = everyone[starts[p] : starts[p + 1]]
            width = _load_panel(space[4], table, ys, members)
            for i in range(first_query[p], last_query[p]):
                if is_local:
                    _local_scores(scores, space, width, xs, i, gaps, most)
                else:
                    about = (i, gaps, most, highest, ys, members)
                    _global_scores(scores, space, width, xs, *about)
                a = xs[3][i]
                for lane in range(len(members)):
                    if not mirror or i >= members[lane]:
                        b = ys[3][members[lane]]
                        out[a, b] = scores[lane]
                        if mirror:
                            out[b, a] = scores[lane]

    return compile_variant(fill, is_local, cache=not PLAIN, nogil=True)
