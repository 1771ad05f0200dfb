"""Columns of alignment tables, written down for LLVM, with a plain twin.

The table of an alignment is filled column by column. A column is a letter of each
sequence of a panel, a row a letter of the one sequence that all of them are aligned
with (the query), and an entry a vector: the entries of all tables of the panel. Nothing
in one lane depends on another. COLUMNS columns are filled at a time, such that their
gaps and diagonals stay in registers; the last of them is kept for the next columns.

The recursion (Gotoh 1982), for row i and column j, all of them vectors::

    h(i, j) = max(h(i-1, j-1) + score(x_i, y_j), e(i, j), f(i, j))  [, 0 if local]
    e(i, j+1) = max(e(i, j) - further, h(i, j) - first)     a gap in the query
    f(i+1, j) = max(f(i, j) - further, h(i, j) - first)     a gap in the others

Local alignments need no maximum with 0, since their e and f are 0 or above: what is
subtracted from them stops at 0, and what is added to h stops at the largest number.

`generator` tells how code is generated, how to turn it off and how to change it.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from kreinlearn.kernels._compiled.generator import PLAIN

COLUMNS = 4
"""Columns filled at a time: their state and the constants fit 16 registers."""

VECTOR_BYTES = 32
"""One AVX2 register, two of NEON. With 64, the state would not fit 16 registers."""


@njit
def _plain_local(h, e, ends, top, profile, column, letters, start, m, gaps):
    """Fill columns of local alignments, as `_columns` explains."""
    most = np.iinfo(h.dtype).max
    for lane in range(h.shape[1]):
        diagonal, f = np.zeros(COLUMNS, np.int64), np.zeros(COLUMNS, np.int64)
        best = np.int64(ends[0, lane])
        for i in range(m):
            left, gap = np.int64(h[i, lane]), np.int64(e[i, lane])
            for q in range(COLUMNS):
                score = profile[column + q, letters[start + i], lane]
                value = max(min(diagonal[q] + score, most), gap, f[q])
                best = max(best, value)
                opened = max(value - gaps[0], 0)
                gap = max(gap - gaps[1], opened)
                f[q] = max(f[q] - gaps[1], opened)
                diagonal[q] = left
                left = value
            h[i, lane], e[i, lane] = left, gap
        ends[0, lane] = best


@njit
def _plain_global(h, e, ends, top, profile, column, letters, start, m, gaps):
    """Fill columns of global alignments, as `_columns` explains."""
    for lane in range(h.shape[1]):
        diagonal = top[:COLUMNS].astype(np.int64)
        f = top[1 : COLUMNS + 1].astype(np.int64) - gaps[0]
        for i in range(m):
            left, gap = np.int64(h[i, lane]), np.int64(e[i, lane])
            for q in range(COLUMNS):
                score = profile[column + q, letters[start + i], lane]
                value = max(diagonal[q] + score, gap, f[q])
                gap = max(gap - gaps[1], value - gaps[0])
                f[q] = max(f[q] - gaps[1], value - gaps[0])
                diagonal[q] = left
                left = value
                ends[q, lane] = value
            h[i, lane], e[i, lane] = left, gap


def _columns(is_local, plain):
    """Return a function that fills COLUMNS columns of all tables of a panel.

    ``f(h, e, ends, top, profile, column, letters, start, m, gaps)`` goes down the m
    rows of the query, ``letters[start : start + m]``. ``h`` and ``e`` (m, lanes) hold
    the column to the left, and then the last of the new ones. ``profile[column]``
    (size of the alphabet, lanes) has the scores of each letter with the first of the
    columns. ``ends`` (COLUMNS, lanes): its first row is the best entry so far of local
    alignments; for global ones, row q becomes the last entry of column q. ``top``
    (COLUMNS + 1,), for global alignments, is the row above the table. ``gaps`` are the
    costs of the first and of each further letter of a gap. All arrays are in C order,
    and all but the letters, which are uint8, have the same type of integers.
    """
    if PLAIN:
        return plain

    @intrinsic
    def fill(typing, h, e, ends, top, profile, column, letters, start, m, gaps):
        def generate(context, builder, signature, args):
            arrays = [
                context.make_array(signature.args[k])(context, builder, args[k])
                for k in (0, 1, 2, 3, 4, 6)
            ]
            size = builder.extract_value(arrays[4].shape, 1)
            loop = _Loop(builder, [array.data for array in arrays], is_local)
            loop.emit(size, args[5], args[7], args[8], args[9])
            return context.get_dummy_value()

        i64 = types.int64
        given = (h, e, ends, top, profile, i64, letters, i64, i64)
        return types.void(*given, types.UniTuple(i64, 2)), generate

    return fill


class _Loop:
    """Emits the loop over the rows; the methods are in the order of the output."""

    def __init__(self, builder, pointers, is_local):
        self.builder, self.is_local = builder, is_local
        self.h, self.e, self.ends, self.top, self.profile, self.letters = pointers
        self.element = self.h.type.pointee
        count = VECTOR_BYTES * 8 // self.element.width
        self.vector = ir.VectorType(self.element, count)
        self.i64 = ir.IntType(64)

    def emit(self, size, column, start, m, gaps):
        """Emit all of it; size is that of the alphabet, the rest as in `_columns`."""
        builder, i64 = self.builder, self.i64
        costs = [self._equal(builder.extract_value(gaps, k)) for k in (0, 1)]
        columns = [builder.add(column, i64(q)) for q in range(COLUMNS)]
        bases = [builder.mul(each, size) for each in columns]
        state = self._before(costs[0])
        before = builder.block
        loop, after = map(builder.append_basic_block, ("rows", "after_rows"))
        builder.branch(loop)
        builder.position_at_end(loop)
        old = [builder.phi(value.type) for value in (i64(0), *state)]
        letter = builder.load(builder.gep(self.letters, [builder.add(start, old[0])]))
        letter = builder.zext(letter, i64)
        places = [builder.add(base, letter) for base in bases]
        new, values = self._row(old[0], old[1:], places, costs)
        following = builder.add(old[0], i64(1))
        for phi, first, next_ in zip(
            old, (i64(0), *state), (following, *new), strict=True
        ):
            phi.add_incoming(first, before)
            phi.add_incoming(next_, loop)
        builder.cbranch(builder.icmp_signed("<", following, m), loop, after)
        builder.position_at_end(after)
        for q, value in enumerate(new[:1] if self.is_local else values):
            self._store(value, self._at(self.ends, i64(q)))

    def _before(self, first):
        """Emit what precedes the first row: best, then diagonals, then gaps f."""
        builder = self.builder
        zero = ir.Constant(self.vector, [0] * self.vector.count)
        if self.is_local:
            best = self._load(self._at(self.ends, self.i64(0)))
            return [best] + [zero] * 2 * COLUMNS
        numbers = [
            builder.load(builder.gep(self.top, [self.i64(q)]))
            for q in range(COLUMNS + 1)
        ]
        tops = [self._equal(number) for number in numbers]
        return [zero, *tops[:-1], *(builder.sub(top, first) for top in tops[1:])]

    def _row(self, i, state, places, costs):
        """Emit one row; return the state of the next one and the entries."""
        first, further = costs
        best, diagonals, gaps = state[0], state[1 : COLUMNS + 1], state[COLUMNS + 1 :]
        h_at, e_at = self._at(self.h, i), self._at(self.e, i)
        left, gap = self._load(h_at), self._load(e_at)
        values, new_gaps = [], []
        for diagonal, f, place in zip(diagonals, gaps, places, strict=True):
            score = self._load(self._at(self.profile, place))
            value = self._plus(diagonal, score)
            value = self._max(self._max(value, f), gap)
            if self.is_local:
                best = self._max(best, value)
            opened = self._minus(value, first)
            gap = self._max(self._minus(gap, further), opened)
            new_gaps.append(self._max(self._minus(f, further), opened))
            values.append(value)
        self._store(values[-1], h_at)
        self._store(gap, e_at)
        return [best, left, *values[:-1], *new_gaps], values

    def _plus(self, x, y):
        if self.is_local:
            return self._call("sadd.sat", x, y)
        return self.builder.add(x, y)

    def _minus(self, x, y):
        if self.is_local:
            return self._call("usub.sat", x, y)
        return self.builder.sub(x, y)

    def _max(self, x, y):
        return self._call("smax", x, y)

    def _call(self, name, x, y):
        """Emit a function of two vectors that LLVM knows."""
        full = f"llvm.{name}.v{self.vector.count}i{self.element.width}"
        kind = ir.FunctionType(self.vector, [self.vector] * 2)
        function = cgutils.get_or_insert_function(self.builder.module, kind, full)
        return self.builder.call(function, [x, y])

    def _equal(self, scalar):
        """Emit a vector of equal numbers."""
        builder, count = self.builder, self.vector.count
        if scalar.type.width > self.element.width:
            scalar = builder.trunc(scalar, self.element)
        undefined = ir.Constant(self.vector, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
        one = builder.insert_element(undefined, scalar, ir.IntType(32)(0))
        return builder.shuffle_vector(one, undefined, zeros)

    def _at(self, pointer, row):
        """Emit the address of a row of lanes."""
        place = self.builder.mul(row, self.i64(self.vector.count))
        address = self.builder.gep(pointer, [place])
        return self.builder.bitcast(address, self.vector.as_pointer())

    def _load(self, address):
        value = self.builder.load(address)
        value.align = self.element.width // 8
        return value

    def _store(self, value, address):
        self.builder.store(value, address).align = self.element.width // 8


local_columns = _columns(True, _plain_local)
global_columns = _columns(False, _plain_global)
