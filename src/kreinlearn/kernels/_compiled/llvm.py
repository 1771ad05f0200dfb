"""Emit vector instructions for the innermost loops by LLVM.

Purpose
    A few loops take nearly all the time: sums over the features of pairs of rows,
    products of tiles with columns, rows of elastic distances, columns of alignments.
    LLVM's loop vectorizer keeps their sums in memory and guards them by overlap checks,
    which takes twice as long. Here they are written such that they stay in registers: 3
    to 34 times as fast as SciPy, by kernel and size.

How code is generated
    Numba compiles a function to the intermediate representation of LLVM, and LLVM
    compiles that for the processor at hand. An ``@intrinsic`` is a function whose
    representation we write ourselves: numba calls ``generate(context, builder,
    signature, args)`` once per combination of types, and the ``builder`` appends
    instructions where the call stands. Each ``builder.xyz(...)`` runs once, at compile
    time, and *emits* one instruction; a Python loop emits its body several times, that
    is, unrolled. `emit_loop` emits a loop at run time: a block that ends in a branch to
    its own start, with a ``phi`` for each value that changes from turn to turn. Vectors
    may be wider than registers; LLVM splits them. ``contract`` allows LLVM to fuse a
    product and a sum into one instruction. Nothing else is reordered.

Pointers
    LLVM's pointers are opaque: loads, stores and address computations state the type of
    what they point to. llvmlite 0.44 still writes typed pointers; `EmittedArray.at`
    casts them with ``as_pointer()``, which is a no-op where pointers are opaque.

Tests
    ``tests/kernels`` compares every kernel, in both precisions, with double loops in
    plain Python (``naive.py``), for sizes on both sides of every constant of this
    folder, and products with those of the stored matrix. Each intrinsic has a plain
    twin, and one test compares all kernels between the two. Bits must not depend on
    threads, blocks or position.

How to turn it off
    Set ``KREINLEARN_PLAIN=1`` in the environment before the first kernel is called.
    The plain twins then replace the intrinsics, and numba's cache on disk is not read.
    Results agree to rounding; it takes a few times as long, and everything is compiled
    anew in each process. Try this first when numbers look wrong on a new processor, or
    after an update of numba or llvmlite.

How to change it
    1. Change the plain twin and the docstring first; test with ``KREINLEARN_PLAIN=1``.
    2. Change the intrinsic, clear the cache (numba checks the file of the cached
       function only: delete ``__pycache__/*.nbi`` in this folder), and test without.
    3. ``fill.inspect_asm()`` of ``rows`` shows the result: look for ``zmm`` or ``ymm``
       registers in the loop, and for no loads or stores of sums.
    4. Time it with ``benchmarks/bench_kernels.py`` and ``benchmarks/bench_blocked.py``.
"""

import os
from typing import Any

from llvmlite import ir
from numba.core import cgutils

PLAIN_LOOPS = os.environ.get("KREINLEARN_PLAIN", "") not in ("", "0")
"""Whether plain loops are used in place of intrinsics."""

LOOP_OPTIONS: dict[str, Any] = {"nogil": True, "cache": not PLAIN_LOOPS}
"""Options of numba for functions that Python calls, in threads."""

INDEX_TYPE = ir.IntType(64)


class EmittedArray:
    """A numba array in C order, whose entries are addressed by their indices.

    Parameters
    ----------
    context, builder : object
        As numba passes them to the code of an intrinsic.
    kind : numba type
        Type of the array.
    value : llvmlite value
        The array.
    """

    def __init__(self, context, builder, kind, value):
        array = context.make_array(kind)(context, builder, value)
        self.builder, self.data = builder, array.data
        self.shape = cgutils.unpack_tuple(builder, array.shape)
        self.element = context.get_value_type(kind.dtype)
        self.alignment = kind.dtype.bitwidth // 8

    def at(self, index, kind):
        """Emit the address of an entry, from which on a value of some type is read."""
        builder = self.builder
        first, *others = (INDEX_TYPE(i) if isinstance(i, int) else i for i in index)
        for size, i in zip(self.shape[1:], others, strict=True):
            first = builder.add(builder.mul(first, size), i)
        address = builder.gep(self.data, [first], source_etype=self.element)
        return builder.bitcast(address, kind.as_pointer())

    def load(self, *index, count=None):
        """Emit a load of one entry, or of a vector of so many from there on."""
        kind = self.element if count is None else ir.VectorType(self.element, count)
        address = self.at(index, kind)
        return self.builder.load(address, align=self.alignment, typ=kind)

    def store(self, value, *index):
        """Emit a store of a number or a vector."""
        address = self.at(index, value.type)
        self.builder.store(value, address, align=self.alignment)


def unpack_arrays(context, builder, signature, args):
    """Return the arguments of an intrinsic, with an `EmittedArray` for each array."""
    return [
        EmittedArray(context, builder, kind, value) if hasattr(kind, "ndim") else value
        for kind, value in zip(signature.args, args, strict=True)
    ]


def make_zeros(vector):
    """Return a constant vector of zeros."""
    return ir.Constant(vector, [0] * vector.count)


def broadcast(builder, scalar, vector):
    """Emit a vector of equal numbers."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.IntType(32)(0))
    zeros = make_zeros(ir.VectorType(ir.IntType(32), vector.count))
    return builder.shuffle_vector(first, undefined, zeros)


def call_vector(builder, name, *args):
    """Emit a call of LLVM's function of that name for vectors."""
    vector = args[0].type
    full = f"llvm.{name}.v{vector.count}{vector.element.intrinsic_name}"
    kind = ir.FunctionType(vector, [vector] * len(args))
    function = cgutils.get_or_insert_function(builder.module, kind, full)
    return builder.call(function, args)


def add_product(builder, total, x, y):
    """Emit total + x y, in one instruction where the processor has it."""
    fused = ("contract",)
    return builder.fadd(total, builder.fmul(x, y, flags=fused), flags=fused)


def emit_loop(builder, first, last, step, state, body):
    """Emit ``for i in range(first, last, step): state = body(i, *state)``.

    The loop runs at least once. Returns the state after it.
    """
    before = builder.block
    loop, after = map(builder.append_basic_block, ("loop", "after"))
    builder.branch(loop)
    builder.position_at_end(loop)
    index, *phis = (builder.phi(value.type) for value in (first, *state))
    new = body(index, *phis)
    following = builder.add(index, INDEX_TYPE(step))
    ways = zip((index, *phis), (first, *state), (following, *new), strict=True)
    for phi, start, then in ways:
        phi.add_incoming(start, before)
        phi.add_incoming(then, loop)
    builder.cbranch(builder.icmp_signed("<", following, last), loop, after)
    builder.position_at_end(after)
    return new
