"""Compiled alignments: queries against panels of sequences, one of these per lane.

The table of an alignment is filled column by column. A column is a letter of each
sequence of a panel, a row a letter of the one sequence that all of them are aligned
with (the query), and an entry a vector: the entries of all tables of the panel. Lanes
are independent. COLUMNS_AT_ONCE columns are filled at a time, such that their gaps and
diagonals stay in registers; the last of them is stored for the next columns.

The recursion (Gotoh 1982), for row i and column j, all of them vectors::

    h(i, j) = max(h(i-1, j-1) + score(x_i, y_j), e(i, j), f(i, j))  [, 0 if local]
    e(i, j+1) = max(e(i, j) - further, h(i, j) - first)     a gap in the query
    f(i+1, j) = max(f(i, j) - further, h(i, j) - first)     a gap in the others

Local alignments need no maximum with 0: their e and f are 0 or above, because
subtractions from them saturate at 0, and additions to h at the largest number.

Integers are as narrow as possible, since a vector then has more lanes. Local scores are
first computed in 8 bits. Sums that are too large saturate, which marks the pair as
unknown: it is computed again in 16 bits, and in 32. Global scores have no such mark,
but bounds of their entries are known before, and select 16 or 32 bits.

Letters: a *query* is one of the sequences ``xs``, a *panel* some of ``ys``. Both are
tuples of arrays: the letters of all sequences as numbers (uint8), where each sequence
starts, its length (ascending), and its position in the output. ``table`` (size + 1,
size) has the scores of the letters of an alphabet in the integer type of the
computation; its last row stands for positions behind the end of a sequence. ``gaps``
are the costs of the first and of each further letter of a gap.
"""

from functools import cache, partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from kreinlearn._numba_cache import compile_variant
from kreinlearn.kernels._compiled import llvm

COLUMNS_AT_ONCE = 4
"""Columns filled at a time: their state and the constants fit 16 registers."""

INTEGER_VECTOR_BYTES = 32
"""One AVX2 register, two of NEON. With 64, the state would not fit 16 registers."""


# -- a few columns of all tables of a panel --------------------------------------------


def _make_columns(is_local):
    """Return a function that fills COLUMNS_AT_ONCE columns of all tables of a panel.

    ``f(h, e, ends, top, profile, column, letters, start, m, gaps)`` goes down the m
    rows of the query, ``letters[start : start + m]``. ``h`` and ``e`` (m, lanes) hold
    the column to the left, and then the last of the new ones. ``profile[column]``
    (size of the alphabet, lanes) has the scores of each letter with the first of the
    columns. ``ends`` (COLUMNS_AT_ONCE, lanes): its first row is the best entry so far
    of local alignments; for global ones, row q becomes the last entry of column q.
    ``top`` (COLUMNS_AT_ONCE + 1,), for global alignments, is the row above the table.
    ``gaps`` are the costs of the first and of each further letter of a gap. All arrays
    are in C order, and all but the letters, which are uint8, have the same integer
    type.
    """

    @njit
    def plain(h, e, ends, top, profile, column, letters, start, m, gaps):
        most = np.iinfo(h.dtype).max
        for lane in range(h.shape[1]):
            diagonal = np.zeros(COLUMNS_AT_ONCE, np.int64)
            f = np.zeros(COLUMNS_AT_ONCE, np.int64)
            if not is_local:
                for q in range(COLUMNS_AT_ONCE):
                    diagonal[q], f[q] = top[q], np.int64(top[q + 1]) - gaps[0]
            best = np.int64(ends[0, lane])
            for i in range(m):
                left, gap = np.int64(h[i, lane]), np.int64(e[i, lane])
                for q in range(COLUMNS_AT_ONCE):
                    value = diagonal[q] + profile[column + q, letters[start + i], lane]
                    value = max(min(value, most) if is_local else value, gap, f[q])
                    best = max(best, value)
                    opened = max(value - gaps[0], 0) if is_local else value - gaps[0]
                    gap = max(gap - gaps[1], opened)
                    f[q] = max(f[q] - gaps[1], opened)
                    diagonal[q] = left
                    left = value
                    ends[q, lane] = ends[q, lane] if is_local else value
                h[i, lane], e[i, lane] = left, gap
            if is_local:
                ends[0, lane] = best

    @intrinsic
    def fill(typing, h, e, ends, top, profile, column, letters, start, m, gaps):
        n = types.int64
        given = (h, e, ends, top, profile, n, letters, n, n)
        return types.void(*given, types.UniTuple(n, 2)), generate

    def generate(context, builder, signature, args):
        arrays = llvm.unpack_arrays(context, builder, signature, args)
        h, e, ends, top, profile, column, letters, start, m, gaps = arrays
        lanes = INTEGER_VECTOR_BYTES // h.alignment
        vector = ir.VectorType(h.element, lanes)

        emit_max = partial(llvm.call_vector, builder, "smax")
        add, subtract = builder.add, builder.sub
        if is_local:  # saturating
            add = partial(llvm.call_vector, builder, "sadd.sat")
            subtract = partial(llvm.call_vector, builder, "usub.sat")
        costs = [builder.extract_value(gaps, k) for k in (0, 1)]
        if h.element != llvm.INDEX_TYPE:
            costs = [builder.trunc(cost, h.element) for cost in costs]
        first, further = (llvm.broadcast(builder, cost, vector) for cost in costs)
        columns = [
            builder.add(column, llvm.INDEX_TYPE(q)) for q in range(COLUMNS_AT_ONCE)
        ]

        def fill_row(i, best, *state):
            """Emit one row; the state is the diagonals, the gaps f, and the entries."""
            diagonals, f = state[:COLUMNS_AT_ONCE], state[COLUMNS_AT_ONCE:]
            letter = builder.zext(letters.load(builder.add(start, i)), llvm.INDEX_TYPE)
            left, gap = h.load(i, 0, count=lanes), e.load(i, 0, count=lanes)
            values, new_f = [], []
            for at, diagonal, down in zip(columns, diagonals, f, strict=False):
                value = add(diagonal, profile.load(at, letter, 0, count=lanes))
                value = emit_max(emit_max(value, down), gap)
                if is_local:
                    best = emit_max(best, value)
                opened = subtract(value, first)
                gap = emit_max(subtract(gap, further), opened)
                new_f.append(emit_max(subtract(down, further), opened))
                values.append(value)
            h.store(values[-1], i, 0)
            e.store(gap, i, 0)
            last.extend(values)
            return [best, left, *values[:-1], *new_f]

        last: list[Any] = []  # entries of the last row
        zero = llvm.make_zeros(vector)
        if is_local:
            state = [ends.load(0, 0, count=lanes)] + [zero] * 2 * COLUMNS_AT_ONCE
        else:
            numbers = [top.load(q) for q in range(COLUMNS_AT_ONCE + 1)]
            tops = [llvm.broadcast(builder, number, vector) for number in numbers]
            state = [zero, *tops[:-1], *(builder.sub(each, first) for each in tops[1:])]
        best, *_ = llvm.emit_loop(builder, llvm.INDEX_TYPE(0), m, 1, state, fill_row)
        for q, value in enumerate([best] if is_local else last):
            ends.store(value, q, 0)
        return context.get_dummy_value()

    return plain if llvm.PLAIN_LOOPS else fill


local_columns = _make_columns(True)
global_columns = _make_columns(False)


# -- a query against a panel -----------------------------------------------------------


@njit
def _load_panel(profile, table, ys, members):
    """Set the scores of all letters with each column of a panel; return its width.

    Lanes beyond the last member are copies of it.
    """
    letters, starts, lengths, _ = ys
    size, n_lanes = profile.shape[1:]
    width = (
        (lengths[members[-1]] + COLUMNS_AT_ONCE - 1)
        // COLUMNS_AT_ONCE
        * COLUMNS_AT_ONCE
    )
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
    for column in range(0, width, COLUMNS_AT_ONCE):
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
    for column in range(0, width, COLUMNS_AT_ONCE):
        for q in range(COLUMNS_AT_ONCE + 1):
            top[q] = -gaps[0] - (column + q - 1) * gaps[1] if column + q else 0
        global_columns(h, e, ends, top, profile, column, letters, start, m, gaps)
        for lane in range(len(members)):
            length = ys[2][members[lane]]
            if column < length <= column + COLUMNS_AT_ONCE:
                scores[lane] = ends[length - 1 - column, lane]


@cache
def make_fill(is_local: bool) -> Any:
    """Return the function that fills a matrix, for local or global alignments.

    Several Python threads call it; `rows` explains why it is not parallel=True.

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
        size, n_lanes = table.shape[1], INTEGER_VECTOR_BYTES // table.itemsize
        rows, columns = 0, 0
        for p in range(first, last):
            rows = max(rows, xs[2][last_query[p] - 1])
            columns = max(columns, ys[2][everyone[starts[p + 1] - 1]])
        space = (
            np.empty((rows, n_lanes), table.dtype),
            np.empty((rows, n_lanes), table.dtype),
            np.zeros((COLUMNS_AT_ONCE, n_lanes), table.dtype),
            np.zeros(COLUMNS_AT_ONCE + 1, table.dtype),
            np.empty((columns + COLUMNS_AT_ONCE, size, n_lanes), table.dtype),
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

    return compile_variant(fill, is_local, **llvm.LOOP_OPTIONS)
