"""One row of an elastic distance, for many pairs at once, written down for LLVM.

An elastic distance is the cheapest way through a table of cells, one row per time of
the first series and one column per time of the second. A cell needs the one above it,
the one to the left of it, and the one between these two. Along a row every cell waits
for its left neighbor, hence vector instructions have nothing to do within one pair;
they take LANES pairs instead, one per lane: one series against LANES others.

Arrays are flat, in *slots* of LANES numbers: slot 0 is what comes before the first
column, slot s column s - 1. A sweep goes over one row, left to right, and overwrites
the row above it, which is all that is stored: left and diagonal neighbors stay in
registers. `generator` tells how such code is written, tested and turned off.
"""

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from kreinlearn.kernels._compiled.generator import (
    PLAIN,
    _broadcast,
    _load,
    _loop,
    _store,
    _unpack,
)

LANES = 16
"""Pairs at once: two vectors, four registers of AVX2. With one vector (8), additions
wait for each other, which takes 1.4 times as long."""


def _smaller(builder, x, y):
    """Emit the smaller of two numbers, lane by lane."""
    return builder.select(builder.fcmp_ordered("<", x, y), x, y)


def _sweep(emit, plain_cell):
    """Return a function that computes one row, given the row above it.

    ``f(row, A, B, C, x, first, last, before)`` overwrites the slots first to last - 1
    of ``row`` with ``cell(A[s], B[s], C[s], x, diagonal, up, left)``, where diagonal
    and up are from the row above; the slot first - 1 has the first diagonal, and
    ``before`` is the first left.
    """

    @njit
    def plain(row, A, B, C, x, first, last, before):
        for lane in range(LANES):
            diagonal, left = row[(first - 1) * LANES + lane], before
            for slot in range(first, last):
                k = slot * LANES + lane
                up = row[k]
                left = plain_cell(A[k], B[k], C[k], x, diagonal, up, left)
                row[k] = left
                diagonal = up

    @intrinsic
    def sweep(typingctx, row, A, B, C, x, first, last, before):
        n, number = types.intp, types.float64
        return types.void(row, A, B, C, number, n, n, number), generate

    def generate(context, builder, signature, args):
        *arrays, x, first, last, before_ = args
        kinds = signature.args[:4]
        integer, vector = first.type, ir.VectorType(ir.DoubleType(), LANES)
        row, *streams = (
            _unpack(context, builder, kind, array)[0]
            for kind, array in zip(kinds, arrays, strict=True)
        )

        def at(data, slot):
            return builder.gep(data, [builder.mul(slot, integer(LANES))])

        x = _broadcast(builder, x, vector)
        first_left = _broadcast(builder, before_, vector)
        corner = at(row, builder.sub(first, integer(1)))
        first_diagonal = _load(builder, corner, LANES)

        # for slot in range(first, last): row[slot] = cell(...)
        before, loop, after = _loop(builder)
        slot = builder.phi(integer)
        diagonal, left = builder.phi(vector), builder.phi(vector)
        up = _load(builder, at(row, slot), LANES)
        given = [_load(builder, at(data, slot), LANES) for data in streams]
        cell = emit(builder, *given, x, diagonal, up, left)
        _store(builder, cell, at(row, slot))
        following = builder.add(slot, integer(1))
        for phi, start, then in (
            (slot, first, following),
            (diagonal, first_diagonal, up),
            (left, first_left, cell),
        ):
            phi.add_incoming(start, before)
            phi.add_incoming(then, loop)
        builder.cbranch(builder.icmp_signed("<", following, last), loop, after)
        builder.position_at_end(after)
        return context.get_dummy_value()

    return plain if PLAIN else sweep


def _emit_warp_numbers(builder, y, _, __, x, diagonal, up, left):
    """Emit (x - y)^2 + min(diagonal, up, left)."""
    gap = builder.fsub(x, y)
    cost = builder.fmul(gap, gap)
    return _emit_warp(builder, cost, None, None, x, diagonal, up, left)


def _emit_warp(builder, cost, _, __, x, diagonal, up, left):
    """Emit cost + min(diagonal, up, left)."""
    # Left comes last: the cell waits for it.
    least = _smaller(builder, _smaller(builder, diagonal, up), left)
    return builder.fadd(cost, least)


def _emit_edit(builder, match, right, down, x, diagonal, up, left):
    """Emit min(diagonal + match, up + down, left + right)."""
    known = _smaller(builder, builder.fadd(diagonal, match), builder.fadd(up, down))
    return _smaller(builder, known, builder.fadd(left, right))


warp_numbers = _sweep(
    _emit_warp_numbers,
    njit(lambda y, b, c, x, diag, up, left: (x - y) * (x - y) + min(diag, up, left)),
)
warp = _sweep(
    _emit_warp,
    njit(lambda cost, b, c, x, diag, up, left: cost + min(diag, up, left)),
)
edit = _sweep(
    _emit_edit,
    njit(lambda a, b, c, x, diag, up, left: min(diag + a, up + c, left + b)),
)
