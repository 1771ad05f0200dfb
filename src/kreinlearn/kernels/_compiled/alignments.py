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

from collections import namedtuple

import numpy as np
from numba import njit

from kreinlearn.kernels._compiled.columns import (
    COLUMNS,
    VECTOR_BYTES,
    global_columns,
    local_columns,
)
from kreinlearn.kernels._compiled.generator import PLAIN

LANES = VECTOR_BYTES
"""Sequences in a panel of the narrowest integers."""

Space = namedtuple("Space", "h e ends top profile scores highest")
"""What `columns` works in, the scores of a panel, and the best score of two letters."""


@njit
def _space(m, width, table):
    """Return a workspace for queries of up to m letters and panels of that width."""
    n_lanes = VECTOR_BYTES // table.itemsize
    return Space(
        np.empty((m, n_lanes), table.dtype),
        np.empty((m, n_lanes), table.dtype),
        np.zeros((COLUMNS, n_lanes), table.dtype),
        np.zeros(COLUMNS + 1, table.dtype),
        np.empty((width, table.shape[1], n_lanes), table.dtype),
        np.empty(n_lanes, np.float64),
        np.int64(table.max()),
    )


@njit
def _padded(length):
    return (length + COLUMNS - 1) // COLUMNS * COLUMNS


@njit
def _load_panel(space, table, ys, members):
    """Set the scores of all letters with each column of a panel; return its width.

    Lanes beyond the last member are copies of it.
    """
    letters, starts, lengths, _ = ys
    size, n_lanes = space.profile.shape[1:]
    width = _padded(lengths[members[-1]])
    for lane in range(n_lanes):
        j = members[min(lane, len(members) - 1)]
        for column in range(width):
            letter = size
            if column < lengths[j]:
                letter = letters[starts[j] + column]
            for a in range(size):
                space.profile[column, a, lane] = table[letter, a]
    return width


@njit
def _local_scores(space, width, xs, i, gaps):
    """Set the local scores of a query with a panel, NaN where they are too large."""
    h, e, ends, top, profile, scores, _ = space
    letters, start, m = xs[0], xs[1][i], xs[2][i]
    most = np.iinfo(h.dtype).max
    # A gap that costs more than any entry is one that is not made.
    costs = (min(gaps[0], most), min(gaps[1], most))
    h[:m] = 0
    e[:m] = 0
    ends[0] = 0
    for column in range(0, width, COLUMNS):
        local_columns(h, e, ends, top, profile, column, letters, start, m, costs)
    for lane in range(len(scores)):
        scores[lane] = ends[0, lane] if ends[0, lane] < most else np.nan


@njit
def _global_scores(space, width, xs, i, gaps, lengths):
    """Set the global scores of a query with a panel, NaN if they may be too large."""
    h, e, ends, top, profile, scores, highest = space
    letters, start, m = xs[0], xs[1][i], xs[2][i]
    # No entry is below the cost of two gaps that leave out all letters. In passing, a
    # score, which has 8 bits, or the cost of another gap is added to it.
    lowest = 4 * gaps[0] + (m + width) * gaps[1] + 128
    if max(lowest, m * highest) >= np.iinfo(h.dtype).max:
        scores[:] = np.nan
        return
    for row in range(m):
        h[row] = -gaps[0] - row * gaps[1]
        e[row] = -2 * gaps[0] - row * gaps[1]
    for column in range(0, width, COLUMNS):
        for q in range(COLUMNS + 1):
            top[q] = -gaps[0] - (column + q - 1) * gaps[1] if column + q else 0
        global_columns(h, e, ends, top, profile, column, letters, start, m, gaps)
        for lane in range(len(lengths)):
            if column < lengths[lane] <= column + COLUMNS:
                scores[lane] = ends[lengths[lane] - 1 - column, lane]


@njit
def _align(out, space, width, xs, ys, i, members, gaps, is_local, mirror):
    """Write the scores of query i with a panel, and their mirror image if asked."""
    if is_local:
        _local_scores(space, width, xs, i, gaps)
    else:
        _global_scores(space, width, xs, i, gaps, ys[2][members])
    a = xs[3][i]
    for lane in range(len(members)):
        if not mirror or i >= members[lane]:
            b = ys[3][members[lane]]
            out[a, b] = space.scores[lane]
            if mirror:
                out[b, a] = space.scores[lane]


# Several Python threads call this; `tiles` says why it is not parallel=True.
@njit(cache=not PLAIN, nogil=True)
def fill_panels(out, xs, ys, table, gaps, is_local, mirror, first, last):
    """Fill columns of the output with scores, panel by panel.

    Parameters
    ----------
    out : ndarray of shape (n, k)
        The output, float64. NaN means that a score may not fit the integers.
    xs, ys, table, gaps : tuple or ndarray
        As the module explains them.
    is_local : bool
        Local or global alignments.
    mirror : bool
        Whether ys are xs; then each pair is aligned once.
    first, last : int
        Which panels to do, from first to last - 1.
    """
    n, k = out.shape
    n_lanes = VECTOR_BYTES // table.itemsize
    longest = ys[2][min(last * n_lanes, k) - 1]
    space = _space(xs[2][n - 1], _padded(longest), table)
    for p in range(first, last):
        members = np.arange(p * n_lanes, min((p + 1) * n_lanes, k))
        width = _load_panel(space, table, ys, members)
        # The shorter of a pair is in the panel: few panels have sequences that are
        # much longer than others, and these have few queries.
        for i in range(members[0] if mirror else 0, n):
            _align(out, space, width, xs, ys, i, members, gaps, is_local, mirror)


@njit(cache=not PLAIN, nogil=True)
def fill_unknown(out, xs, ys, table, gaps, is_local, mirror, first, last):
    """Fill what is NaN in the rows of some queries, with wider integers than before.

    Parameters
    ----------
    out, xs, ys, table, gaps, is_local, mirror : object
        As `fill_panels` takes them.
    first, last : int
        Which queries to do, from first to last - 1.
    """
    k = out.shape[1]
    n_lanes = VECTOR_BYTES // table.itemsize
    space = _space(xs[2][last - 1], _padded(ys[2][k - 1]), table)
    for i in range(first, last):
        scores = out[xs[3][i]][ys[3]]
        unknown = np.nonzero(np.isnan(scores))[0]
        if mirror:
            unknown = unknown[unknown <= i]
        for j in range(0, len(unknown), n_lanes):
            members = unknown[j : j + n_lanes]
            width = _load_panel(space, table, ys, members)
            _align(out, space, width, xs, ys, i, members, gaps, is_local, mirror)


@njit(cache=not PLAIN, nogil=True)
def self_sums(letters, starts, lengths, diagonal, is_local):
    """Return the scores of sequences with themselves, letter by letter.

    Parameters
    ----------
    letters, starts, lengths : ndarray
        The sequences.
    diagonal : ndarray of shape (size,)
        Score of each letter with itself.
    is_local : bool
        Whether the best part counts, or the whole sequence.

    Returns
    -------
    ndarray
        One score per sequence.
    """
    out = np.empty(len(starts))
    for j in range(len(starts)):
        best = total = 0
        for place in range(starts[j], starts[j] + lengths[j]):
            total += diagonal[letters[place]]
            if is_local:
                total = max(total, 0)
                best = max(best, total)
        out[j] = best if is_local else total
    return out
