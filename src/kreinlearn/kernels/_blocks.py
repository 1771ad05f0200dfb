"""Products with kernel matrices, block by block, so that none of them is stored.

Letters: X (n, m) and Y (k, m) hold the samples, B (k, p) the columns, and the kernel
matrix that they are multiplied by has shape (n, k).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Condition
from typing import Any, NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.kernels._pairs import THREAD_TERMS, Compiled

TOTAL_BYTES = 2**26
"""What all blocks may take together at a time, whatever the number of samples."""

ROOM_BYTES = 2**21
"""What the room for one block should not exceed, so that it stays in cache."""

BLOCKS = 8
"""Parts that the rows are cut into, as long as a part is of a fair size."""

FAIR_ROWS = (512, 2048)
"""Least and most rows of a block: few are more overhead, many a worse balance."""

LEAST_ROWS = 64
"""What many features may bring it down to; then a block is packed too often."""

COLUMNS = 256
"""Columns multiplied at once. For more, tiles are computed again: an eighth more."""

VALUES_BYTES = 2**24
"""Size of a block of values of any other kernel; there may be a copy or two of it."""


class Room(NamedTuple):
    """Memory to multiply one block in; `_tile_products.multiply` has the shapes."""

    space: Array
    panels: Array
    tile: Array
    wide: Array


def multiply_rows(
    X: Array, Y: Array | None, sums: str, finish: Compiled, B: Array
) -> Array:
    """Return the product of the matrix of a kernel between rows with columns.

    Blocks are handed to threads as these become free, and their products added up in
    the order of the blocks: the result does not depend on the number of threads, nor
    on which of them was faster.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Samples, as `check_pair` gives them.
    Y : ndarray of shape (k, m) or None
        Other samples, or None for the same.
    sums : {"absolute", "square", "product"}
        What is summed over the features.
    finish : Compiled
        The function of the sum.
    B : ndarray of shape (k, p)
        The columns, float64 in C order.

    Returns
    -------
    ndarray of shape (n, p)
        The product, in double precision.
    """
    others = X if Y is None else Y
    is_linear = sums == "product" and finish.name == "identity"
    out = np.zeros((len(X), B.shape[1]))
    for first in range(0, B.shape[1], COLUMNS):
        part = slice(first, first + COLUMNS)
        if is_linear:
            _add_linear(out[:, part], X, others, B[:, part])
        else:
            _add_product(out[:, part], X, others, B, first, sums, finish, Y is None)
    return out


def multiply_values(
    values: Callable[[slice, slice], Array],
    n: int,
    k: int,
    B: Array,
    is_symmetric: bool,
) -> Array:
    """Return the product of a matrix that is given block by block with columns.

    Parameters
    ----------
    values : callable
        ``values(i, j)`` gives the rows i and the columns j of the matrix.
    n, k : int
        Shape of the matrix.
    B : ndarray of shape (k, p)
        The columns, in double precision.
    is_symmetric : bool
        Ask for blocks on and above the diagonal only, and use each of them twice.

    Returns
    -------
    ndarray of shape (n, p)
        The product, in double precision.
    """
    # Square blocks, because what a kernel does for each of its samples is then done
    # least often.
    size = math.isqrt(VALUES_BYTES // 8)
    out = np.zeros((n, B.shape[1]))
    for i0 in range(0, n, size):
        i = slice(i0, min(i0 + size, n))
        for j0 in range(i0 if is_symmetric else 0, k, size):
            j = slice(j0, min(j0 + size, k))
            block = values(i, j).astype(np.float64, copy=False)
            out[i] += block @ B[j]
            if is_symmetric and i != j:
                out[j] += block.T @ B[i]
    return out


def _add_linear(out: Array, X: Array, Y: Array, B: Array) -> None:
    """Add (X Y') B, computed as X (Y' B), which needs no kernel matrix, to out."""
    height = max(1, ROOM_BYTES // (8 * X.shape[1]))
    inner = np.zeros((X.shape[1], B.shape[1]))
    for j in range(0, len(Y), height):
        rows = Y[j : j + height].astype(np.float64, copy=False)
        inner += rows.T @ B[j : j + height]
    for i in range(0, len(X), height):
        rows = X[i : i + height].astype(np.float64, copy=False)
        out[i : i + height] += rows @ inner


def _add_product(
    out: Array,
    X: Array,
    Y: Array,
    B: Array,
    first: int,
    sums: str,
    finish: Compiled,
    is_symmetric: bool,
) -> None:
    """Add the product with some columns of B, from the first on, to out (n, p)."""
    from kreinlearn.kernels._compiled import products, tiles

    (n, m), k, p = X.shape, len(Y), out.shape[1]
    height = _block_rows(n, m, p, X.itemsize)
    width = _block_rows(k, m, p, X.itemsize)
    blocks = (
        (i, min(i + height, n), j, min(j + width, k))
        for i in range(0, n, height)
        for j in range(i if is_symmetric else 0, k, width)
    )

    def work(block: tuple[int, int, int, int], room: Room) -> None:
        i0, i1, j0, j1 = block
        products.multiply(
            *room,
            X,
            Y,
            B,
            first,
            tiles.SUMS[sums],
            tiles.FINISHES[finish.name],
            float(finish.a),
            float(finish.b),
            float(finish.c),
            i0,
            i1,
            j0,
            j1,
            is_symmetric,
        )

    def add(block: tuple[int, int, int, int], room: Room) -> None:
        i0, i1, j0, j1 = block
        out[i0:i1] += room.space[2, :, : i1 - i0].T
        if is_symmetric:
            out[j0:j1] += room.space[3, :, : j1 - j0].T

    room = _make_room(height, width, m, p, X.dtype)
    size = sum(part.nbytes for part in room)
    n_terms = n * k * (m + 10 + 2 * p) // (2 if is_symmetric else 1)
    n_threads = min(
        1 + n_terms // THREAD_TERMS,
        tiles.n_threads(),
        max(1, TOTAL_BYTES // size),
        -(-n // height) * -(-k // width),
    )
    # As many again for products that wait for their turn to be added.
    n_rooms = min(2 * n_threads, max(1, TOTAL_BYTES // size)) if n_threads > 1 else 1
    rooms = [room]
    rooms += [_make_room(height, width, m, p, X.dtype) for _ in range(1, n_rooms)]
    in_order(work, add, blocks, rooms, n_threads)


def _block_rows(n: int, m: int, p: int, itemsize: int) -> int:
    """Return how many of n rows a block should have, a multiple of 16."""
    fitting = ROOM_BYTES // (32 * p + itemsize * m)
    rows = min(max(n // BLOCKS, FAIR_ROWS[0]), FAIR_ROWS[1], max(fitting, LEAST_ROWS))
    return min(rows // 16 * 16, -(-n // 16) * 16)


def _make_room(height: int, width: int, m: int, p: int, dtype: Any) -> Room:
    """Return memory for blocks of up to that height and width."""
    from kreinlearn.kernels._compiled import products

    lanes = products.VECTOR_BYTES // dtype.itemsize
    return Room(
        space=_aligned((4, p), max(height + products.ROWS, width), np.float64),
        panels=_aligned((-(-width // lanes), m), lanes, dtype),
        tile=_aligned((products.TILE_ROWS,), products.TILE_COLS, dtype),
        wide=_aligned((products.TILE_ROWS,), products.TILE_COLS, np.float64),
    )


def _aligned(shape: tuple[int, ...], length: int, dtype: Any) -> Array:
    """Return memory of that shape whose last axis, made long enough, starts at lines.

    Vectors then never lie across two lines of the cache, which takes twice the time to
    load. An odd number of lines a row keeps rows from all claiming the same place.
    """
    line = 64
    n_lines = -(-length * np.dtype(dtype).itemsize // line) | 1
    n_bytes = int(np.prod(shape)) * n_lines * line
    raw = np.empty(n_bytes + line, np.uint8)
    start = -raw.ctypes.data % line
    return raw[start : start + n_bytes].view(dtype).reshape(*shape, -1)


def in_order(
    work: Callable[[Any, Any], None],
    finish: Callable[[Any, Any], None],
    items: Iterable[Any],
    rooms: Sequence[Any],
    n_threads: int,
) -> None:
    """Do pieces of work in several threads, and finish them in the order they have.

    Parameters
    ----------
    work : callable
        ``work(item, room)`` does one piece, in a room that no other has at the time.
        It should let go of the GIL.
    finish : callable
        ``finish(item, room)`` follows, for one item at a time, in their order.
    items : iterable
        The pieces.
    rooms : sequence
        What pieces are done in, at least one; a piece keeps its room until it is
        finished.
    n_threads : int
        Number of threads, the calling one among them.
    """
    if n_threads == 1:
        for item in items:
            work(item, rooms[0])
            finish(item, rooms[0])
        return
    change = Condition()
    numbered = enumerate(items)
    free = list(rooms)
    waiting: dict[int, tuple[Any, Any]] = {}  # done, but not finished
    n_finished = 0
    is_over = False

    def start() -> tuple[int, Any, Any] | None:
        nonlocal is_over
        with change:
            # Items start in their order, so that the next to be finished has a room.
            while not (free or is_over):
                change.wait()
            if not is_over:
                for number, item in numbered:
                    return number, item, free.pop()
            is_over = True
            return None

    def run() -> None:
        nonlocal n_finished, is_over
        try:
            while (started := start()) is not None:
                number, item, room = started
                work(item, room)
                with change:
                    waiting[number] = item, room
                    while n_finished in waiting:
                        item, room = waiting.pop(n_finished)
                        finish(item, room)
                        free.append(room)
                        n_finished += 1
                    change.notify_all()
        except BaseException:
            with change:
                is_over = True  # so that the others stop early, too
                change.notify_all()
            raise

    with ThreadPoolExecutor(n_threads - 1) as pool:
        others = [pool.submit(run) for _ in range(n_threads - 1)]
        run()
    for other in others:
        other.result()
