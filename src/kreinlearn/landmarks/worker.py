"""What workers of a cluster do with a chunk: pure functions, which can be pickled.

To repeat a call does no harm. Each of them keeps to one thread, since a worker has a
thread for each of its tasks; none needs more memory than its result, what it is given,
and some blocks of similarities.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array
from kreinlearn.kernels.threads import limit_threads
from kreinlearn.landmarks.engine import BLOCK_BYTES
from kreinlearn.landmarks.first import First
from kreinlearn.landmarks.passes import Rows, Task, rows_of
from kreinlearn.landmarks.rows import SHARES, Chunk, SampleSet, chosen, drawn, joined
from kreinlearn.operators import limit_blas_threads

PIECE_BYTES = 2**24
"""Similarities, in double precision, that are computed by one call of a kernel."""


class Size(NamedTuple):
    """Rows of a partition, and their bytes."""

    n_rows: int
    n_bytes: int


class Kept(NamedTuple):
    """Rows as a pass needs them: of the first of them, similarities are kept."""

    rows: Rows
    C: Array


class Shared(NamedTuple):
    """Some rows of several partitions; similarities are kept for all or none."""

    X: SampleSet
    rows: Rows
    C: Array | None


def itself(value: Any) -> Any:
    """Return the value: a task that brings it to a worker."""
    return value


def added(parts: list[Any], n_sampled: int = 0) -> Any:
    """Return the sum of parts, in their order; those without rows are None."""
    total, *others = [part for part in parts if part is not None] or [None]
    for part in others:
        is_first = isinstance(total, First)
        total = total.add(part, n_sampled) if is_first else total + part
    return total


def size_of(chunk: Chunk) -> Size:
    """Return the rows of a chunk, and the bytes that it takes as a whole."""
    from dask.sizeof import sizeof

    return Size(len(chunk.y), int(sizeof(chunk)))


def keep(chunk: Chunk, start: int, n_kept: int, task: Task, dtype: DTypeLike) -> Kept:
    """Return the similarities of the first rows, computed piece by piece."""
    C = np.empty((n_kept, len(task.columns)), dtype)
    step = _step(task, PIECE_BYTES)
    with limit_blas_threads(0), limit_threads(1):
        for i in range(0, n_kept, step):
            last = min(i + step, n_kept)
            C[i:last] = task.columns(chunk.X[i:last], dtype)
    return Kept(rows_of(chunk, start, task), C)


def pick(chunk: Chunk, start: int, task: Task, share: float) -> tuple[SampleSet, Rows]:
    """Return the rows of a share."""
    numbers = np.arange(start, start + len(chunk.y))
    mask = drawn(numbers, task.draws.seed, SHARES) < share
    return chosen(chunk.X, mask), rows_of(chunk, start, task).take(mask)


def count_of(picked: tuple[SampleSet, Rows]) -> int:
    """Return the number of rows that were picked from a chunk."""
    return len(picked[1].classes)


def join(
    picked: list[tuple[SampleSet, Rows]], cut: slice, task: Task, is_kept: bool
) -> Shared:
    """Return some rows of several chunks as one, with similarities if asked for."""
    X = joined([X for X, _ in picked])[cut]
    columns = zip(*(rows for _, rows in picked), strict=True)
    rows = Rows(*map(np.concatenate, columns)).take(cut)
    if not is_kept:
        return Shared(X, rows, None)
    with limit_blas_threads(0), limit_threads(1):
        return Shared(X, rows, task.columns(X))


def of_share(part: Shared, *fixed: Any) -> Any:
    """Return the total over rows of a share."""
    return _worked(part.X, part.rows, part.C, *fixed)


def of_kept(chunk: Chunk | None, kept: Kept, *fixed: Any) -> Any:
    """Return the total over a chunk, which may be None if all of it is kept."""
    return _worked(None if chunk is None else chunk.X, kept.rows, kept.C, *fixed)


def of_chunk(
    chunk: Chunk, start: int, work: Callable[..., Any], task: Task, *fixed: Any
) -> Any:
    """Return the total over a chunk, with all similarities computed anew."""
    rows = rows_of(chunk, start, task)
    return _worked(chunk.X, rows, None, work, task, *fixed)


def weight_of(part: Shared, task: Task) -> Array:
    """Return the weights of rows of a share, by class and fold."""
    total = np.zeros((len(task.classes), task.draws.n_folds))
    np.add.at(total, (part.rows.classes, part.rows.folds), part.rows.weights)
    return total


def _worked(
    X: SampleSet | None,
    rows: Rows,
    C: Array | None,
    work: Callable[..., Any],
    task: Task,
    dtype: DTypeLike,
    rows_at_once: int,
    given: tuple[Any, ...],
) -> Any:
    """Return the total of what the work gives for each block of rows."""
    step = max(_step(task, BLOCK_BYTES), rows_at_once)
    total = None
    with limit_blas_threads(0), limit_threads(1):
        for start, piece in _pieces(X, len(rows.classes), C, task, dtype, step):
            for i in range(0, len(piece), step):
                block = piece[i : i + step]
                A = np.ones((len(block), block.shape[1] + 1))
                A[:, :-1] = block
                cut = slice(start + i, start + i + len(block))
                result = work(A, rows.take(cut), task, *given)
                total = result if total is None else total + result
    return total


def _pieces(
    X: SampleSet | None,
    n: int,
    C: Array | None,
    task: Task,
    dtype: DTypeLike,
    block: int,
) -> Iterator[tuple[int, Array]]:
    """Yield similarities and where they begin: those kept, then those computed."""
    n_kept = 0 if C is None else len(C)
    if C is not None and n_kept:
        yield 0, C
    step = block * max(1, _step(task, PIECE_BYTES) // block)
    for i in range(n_kept, n, step):
        assert X is not None
        yield i, task.columns(X[i : i + step], dtype)


def _step(task: Task, n_bytes: int) -> int:
    """Return the rows whose similarities take that many bytes in double precision."""
    return max(64, n_bytes // (8 * (len(task.columns) + 1)))
