"""Vector instructions for the innermost loops, written down for LLVM.

What it is for
    Two loops take nearly all the time: sums over the features of pairs of rows, and
    products of tiles with columns. Left to the loop vectorizer, the sums live in memory
    and are guarded by overlap checks, which takes twice as long. Here they are written
    such that they stay in registers: 3 to 34 times as fast as SciPy, by kernel and
    size.

How code is generated
    Numba compiles a function to the intermediate representation of LLVM, and LLVM turns
    that into machine code for the processor at hand. An ``@intrinsic`` is a function
    whose representation we write ourselves: when numba meets a call of it, it calls
    ``generate(context, builder, signature, args)`` once per combination of types, and
    the ``builder`` appends instructions where the call stands. Reading such code: each
    ``builder.xyz(...)`` runs once, at compile time, and *emits* one instruction; a
    Python loop emits its body several times, that is, unrolled. A loop at run time is a
    block of instructions that ends in a branch back to its own start (``cbranch``), and
    what changes from turn to turn is a ``phi``: it takes one value if the block is
    entered from before, and another if it is entered from itself (``add_incoming``).
    Vectors have a fixed width of 64 bytes: one AVX-512 register, two of AVX2, four of
    NEON; LLVM cuts them as the processor needs. ``contract`` allows it to fuse a
    product and a sum into one instruction, and is the only freedom given: nothing is
    reordered.

How it is tested
    ``tests/kernels`` compares every kernel, in both precisions, with double loops in
    plain Python (``naive.py``), for sizes on both sides of every constant of this
    folder, and products with those of the stored matrix. Each intrinsic has a plain
    twin here, which says in a few lines what it computes, and one test compares
    all kernels between the two. Bits must not depend on threads, blocks or position.

How to turn it off
    Set ``KREINLEARN_PLAIN=1`` in the environment before the first kernel is called. The
    plain twins then take the place of the intrinsics, and nothing is read from numba's
    cache on disk. Results agree to rounding; it takes a few times as long, and all is
    compiled anew in each process. The first thing to try when numbers look wrong on a
    new processor, or after a new version of numba or llvmlite.

How to change it
    1. Change the plain twin and the docstring first; test with ``KREINLEARN_PLAIN=1``.
    2. Change the intrinsic, clear the cache (numba looks at the file of the cached
       function only: delete ``__pycache__/*.nbi`` in this folder), and test without.
    3. ``fill.inspect_asm()`` of ``tiles`` shows what became of it: look for ``zmm`` or
       ``ymm`` registers in the loop, and for no loads or stores of sums.
    4. Time it with ``benchmarks/bench_kernels.py`` and ``benchmarks/bench_blocked.py``.
"""

import os

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

PLAIN = os.environ.get("KREINLEARN_PLAIN", "") not in ("", "0")
"""Whether plain loops are used in place of intrinsics."""

VECTOR_BYTES = 64
"""One AVX-512 register, or two of AVX2, or four of NEON."""

HEIGHT = 4
"""Rows summed at once: 4 x 64 bytes of sums fit the registers of all of these."""

DOUBLES = VECTOR_BYTES // 8
"""Double precision numbers in a vector; HEIGHT of them are summed up by `_row_sums`."""


# -- what both generators need ---------------------------------------------------------


def _unpack(context, builder, kind, value):
    """Return the data pointer and the shape of an array."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, cgutils.unpack_tuple(builder, array.shape)


def _load(builder, pointer, count):
    """Emit a load of numbers, aligned as single numbers are."""
    vector = ir.VectorType(pointer.type.pointee, count)
    value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    value.align = 8 if pointer.type.pointee == ir.DoubleType() else 4
    return value


def _store(builder, value, pointer):
    """Emit a store of numbers, aligned as single numbers are."""
    target = builder.bitcast(pointer, value.type.as_pointer())
    is_double = pointer.type.pointee == ir.DoubleType()
    builder.store(value, target).align = 8 if is_double else 4


def _broadcast(builder, scalar, vector):
    """Emit a vector of equal numbers."""
    undefined = ir.Constant(vector, ir.Undefined)
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    first = builder.insert_element(undefined, scalar, ir.IntType(32)(0))
    return builder.shuffle_vector(first, undefined, zeros)


def _loop(builder):
    """Emit the start of a loop; return the blocks before it, of it, and after it."""
    blocks = builder.block, *map(builder.append_basic_block, ("loop", "after"))
    builder.branch(blocks[1])
    builder.position_at_end(blocks[1])
    return blocks


def _zeros(vector):
    return ir.Constant(vector, [0.0] * vector.count)


def _plus_product(builder, total, x, y):
    """Emit total + x y, in one instruction where the processor has it."""
    fused = ("contract",)
    return builder.fadd(total, builder.fmul(x, y, flags=fused), flags=fused)


# -- sums over features ----------------------------------------------------------------


def _plus_absolute(builder, total, x, y):
    """Emit total + |x - y|."""
    name = f"llvm.fabs.v{x.type.count}{x.type.element.intrinsic_name}"
    fabs = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(x.type, [x.type]), name
    )
    return builder.fadd(total, builder.call(fabs, [builder.fsub(x, y)]))


def _plus_square(builder, total, x, y):
    """Emit total + (x - y)^2."""
    return _plus_product(builder, total, *[builder.fsub(x, y)] * 2)


def _summation(add_term, term):
    """Return a function that sums a term for HEIGHT rows against one panel.

    ``f(X, i, panels, p, start, stop, tile, r, c)`` adds, for each q < HEIGHT, the sum
    over the features start to stop of the term between row i + q and the rows of
    panel p to ``tile[r + q, c : c + width]``, or sets it if start is 0. A row beyond
    the last is read as the last; the tile must have room for it.
    """

    @njit
    def plain(X, i, panels, p, start, stop, tile, r, c):
        for q in range(HEIGHT):
            row = min(i + q, len(X) - 1)
            for lane in range(panels.shape[2]):
                total = X.dtype.type(0)
                for f in range(start, stop):
                    total += term(X[row, f], panels[p, f, lane])
                if start > 0:
                    total += tile[r + q, c + lane]
                tile[r + q, c + lane] = total

    @intrinsic
    def add(typingctx, X, i, panels, p, start, stop, tile, r, c):
        n = types.intp
        return types.void(X, n, panels, n, n, n, tile, n, n), generate

    def generate(context, builder, signature, args):
        X, i, panels, p, start, stop, tile, r, c = args
        kinds = signature.args
        integer = i.type
        width = VECTOR_BYTES * 8 // kinds[0].dtype.bitwidth
        vector = ir.VectorType(context.get_value_type(kinds[0].dtype), width)
        x_data, (n, m) = _unpack(context, builder, kinds[0], X)
        panel_data, _ = _unpack(context, builder, kinds[2], panels)
        tile_data, (_, tile_cols) = _unpack(context, builder, kinds[6], tile)
        last = builder.sub(n, integer(1))
        rows, targets = [], []
        for q in range(HEIGHT):
            row = builder.add(i, integer(q))
            row = builder.select(builder.icmp_signed("<", row, last), row, last)
            rows.append(builder.gep(x_data, [builder.mul(row, m)]))
            target = builder.mul(builder.add(r, integer(q)), tile_cols)
            targets.append(builder.gep(tile_data, [builder.add(target, c)]))
        skipped = builder.mul(p, builder.mul(m, integer(width)))
        panel = builder.gep(panel_data, [skipped])

        # for f in range(start, stop): total[q] += term(X[i + q, f], panels[p, f])
        before, loop, after = _loop(builder)
        f = builder.phi(integer)
        f.add_incoming(start, before)
        totals = [builder.phi(vector) for _ in rows]
        y = _load(builder, builder.gep(panel, [builder.mul(f, integer(width))]), width)
        for total, row in zip(totals, rows, strict=True):
            x = _broadcast(builder, builder.load(builder.gep(row, [f])), vector)
            total.add_incoming(_zeros(vector), before)
            total.add_incoming(add_term(builder, total, x, y), loop)
        following = builder.add(f, integer(1))
        f.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, stop), loop, after)

        # tile[r + q, c : c + width] = total[q] + (0 if start == 0 else what was there)
        builder.position_at_end(after)
        is_first = builder.icmp_signed("==", start, integer(0))
        for total, target in zip(totals, targets, strict=True):
            summed = total.incomings[1][0]
            more = builder.fadd(summed, _load(builder, target, width))
            _store(builder, builder.select(is_first, summed, more), target)
        return context.get_dummy_value()

    return plain if PLAIN else add


add_absolutes = _summation(_plus_absolute, njit(lambda x, y: abs(x - y)))
add_squares = _summation(_plus_square, njit(lambda x, y: (x - y) * (x - y)))
add_products = _summation(_plus_product, njit(lambda x, y: x * y))


# -- a tile times one column -----------------------------------------------------------
# One column at a time is as fast as several: the tile is in the first-level cache, and
# with two products from each number loaded, arithmetic is the bottleneck.


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
    """Return a function that multiplies HEIGHT rows of a tile by one column.

    ``f(tile, r, n_cols, space, q, i, j)`` adds, for rows r to r + HEIGHT of the tile
    and its first n_cols columns, a multiple of 2 DOUBLES, and with T for this part,
    ``T @ space[1, q, j : j + n_cols]`` to ``space[2, q, i : i + HEIGHT]``, and if it is
    used twice ``T' @ space[0, q, i : i + HEIGHT]`` to ``space[3, q, j : j + n_cols]``.
    """

    @njit
    def plain(tile, r, n_cols, space, q, i, j):
        for s in range(HEIGHT):
            total = 0.0
            for c in range(n_cols):
                value = float(tile[r + s, c])
                total += value * space[1, q, j + c]
                if is_twice:
                    space[3, q, j + c] += value * space[0, q, i + s]
            space[2, q, i + s] += total

    @intrinsic
    def add(typingctx, tile, r, n_cols, space, q, i, j):
        index = types.intp
        return types.void(tile, index, index, space, index, index, index), generate

    def generate(context, builder, signature, args):
        tile, r, n_cols, space, q, i, j = args
        integer = r.type
        vector = ir.VectorType(ir.DoubleType(), DOUBLES)
        tile_data, (_, tile_cols) = _unpack(context, builder, signature.args[0], tile)
        space_data, (_, p, length) = _unpack(context, builder, signature.args[3], space)

        def load(pointer):
            value = _load(builder, pointer, DOUBLES)
            return value if value.type == vector else builder.fpext(value, vector)

        def vector_at(which, start):
            row = builder.add(builder.mul(integer(which), p), q)
            offset = builder.add(builder.mul(row, length), start)
            return builder.gep(space_data, [offset])

        row_factors, col_factors = vector_at(0, i), vector_at(1, j)
        row_totals, col_totals = vector_at(2, i), vector_at(3, j)
        rows, factors = [], []
        for s in range(HEIGHT):
            row = builder.add(r, integer(s))
            rows.append(builder.gep(tile_data, [builder.mul(row, tile_cols)]))
            if is_twice:
                factor = builder.load(builder.gep(row_factors, [integer(s)]))
                factors.append(_broadcast(builder, factor, vector))

        # for c in range(0, n_cols, n_parts * DOUBLES). A tile that is used once is
        # taken two vectors at a time, for there would be too little to do between two
        # terms of one sum.
        n_parts = 1 if is_twice else 2
        before, loop, after = _loop(builder)
        c = builder.phi(integer)
        c.add_incoming(integer(0), before)
        totals = [[builder.phi(vector) for _ in rows] for _ in range(n_parts)]
        for part, part_totals in enumerate(totals):
            at = builder.add(c, integer(part * DOUBLES))
            values = [load(builder.gep(row, [at])) for row in rows]
            factor = load(builder.gep(col_factors, [at]))
            for total, value in zip(part_totals, values, strict=True):
                total.add_incoming(_zeros(vector), before)
                total.add_incoming(_plus_product(builder, total, value, factor), loop)
            if is_twice:
                target = builder.gep(col_totals, [at])
                other = load(target)
                for value, own in zip(values, factors, strict=True):
                    other = _plus_product(builder, other, value, own)
                _store(builder, other, target)
        following = builder.add(c, integer(n_parts * DOUBLES))
        c.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, n_cols), loop, after)

        builder.position_at_end(after)
        summed = [total.incomings[1][0] for total in totals[0]]
        for part_totals in totals[1:]:
            more = [total.incomings[1][0] for total in part_totals]
            summed = [builder.fadd(u, v) for u, v in zip(summed, more, strict=True)]
        there = _load(builder, row_totals, HEIGHT)
        _store(builder, builder.fadd(_row_sums(builder, summed), there), row_totals)
        return context.get_dummy_value()

    return plain if PLAIN else add


multiply_once = _multiplication(False)
multiply_twice = _multiplication(True)
