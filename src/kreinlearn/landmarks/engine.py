"""Who makes the passes: the contract, and the threads of one process.

An engine holds the rows, or knows where they are. A driver asks it for sums, and sees
no row, apart from the landmarks.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array
from kreinlearn.kernels.threads import max_threads, thread_budget
from kreinlearn.landmarks.first import Draws, First, first_of
from kreinlearn.landmarks.passes import (
    Point,
    Rows,
    Sums,
    Task,
    held_of,
    hessians_of,
    rows_of,
    sums_of,
)
from kreinlearn.landmarks.rows import (
    SHARES,
    SampleSet,
    Source,
    chosen,
    drawn,
    joined,
)
from kreinlearn.losses import Link
from kreinlearn.operators import few_threads

BLOCK_BYTES = 2**22
"""Similarities in double precision that a thread works on while they are in cache."""
SHARE_ROWS = 4096
"""Rows of a share that are gathered, and summed over at a time."""
SHARE_OF_MEMORY = 4
"""Similarities of a share of the rows are kept if this part of the memory is enough."""
SINGLE_BYTES = 2**28
"""Similarities that take more than this in double precision are kept in single."""
Precision = Literal["exact", "kept", "rough"]
Total = TypeVar("Total", Sums, Array)
"""What sums are: a sum of two is one again."""


class Engine(Protocol):
    """What a driver needs. A call may be repeated without harm."""

    n_passes: int
    """Passes over all rows so far."""

    @property
    def is_exact(self) -> bool:
        """Whether similarities are in double precision in every pass."""

    def first(self, draws: Draws) -> First:
        """Learn labels and numbers, and draw candidates for landmarks."""

    def prepare(self, task: Task) -> None:
        """Hand the landmarks to where the rows are; forget those of before."""

    def sums(
        self, point: Point, share: float = 1.0, precision: Precision = "kept"
    ) -> Sums:
        """Return values and gradients.

        Parameters
        ----------
        point : Point
            Coefficients.
        share : float
            Share of the rows to be summed over; the same rows each time.
        precision : {"exact", "kept", "rough"}
            Whether similarities are computed anew in double precision, if those that
            are kept are not; taken as they are kept; or whether products with them
            may be in single precision, too, if they are.
        """

    def hessians(self, point: Point, groups: Sequence[Array], share: float) -> Array:
        """Return second derivatives, summed over a share of the rows."""

    def held(self, point: Point, link: Link, share: float = 1.0) -> Array:
        """Return the log-losses of held-out rows."""

    def weights(self, share: float) -> Array:
        """Return the weight of a share of the rows, by class and fold.

        Shape (n_classes, n_folds), without the weights of the classes.
        """


class _Gathered(NamedTuple):
    """Rows of a share: the samples, what is known of them, similarities if kept."""

    X: SampleSet
    rows: Rows
    C: Array | None


class LocalEngine:
    """Passes by the threads of this process.

    Similarities of the first chunks are kept, as far as memory is granted; those of
    the others are computed anew in each pass. Compiled kernels have threads of their
    own, and are called by one thread at a time; blocks of rows are then shared out.

    Parameters
    ----------
    source : Source
        The rows.
    memory : int
        Bytes that similarities may take while they are kept.
    dtype : dtype, optional
        Precision in which they are computed and kept during iterations; by default
        double, or single if they are cheap and would take more than 256 MiB.
    n_threads : int, optional
        Threads; by default as many as kernels may have.
    """

    def __init__(
        self,
        source: Source,
        memory: int,
        dtype: DTypeLike | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.source, self.memory, self.given_dtype = source, memory, dtype
        self.n_threads = n_threads or max_threads()
        self.n_passes = 0
        self.n_rows = 0
        self._kept: list[Array] = []
        self._rows: list[Rows] = []
        self._shares: dict[float, list[_Gathered]] = {}
        self._local = threading.local()

    def first(self, draws: Draws) -> First:
        """Learn labels and numbers, and draw candidates for landmarks."""
        found, start = None, 0
        for chunk in self.source.chunks():
            learned = first_of(chunk, start, draws)
            start += len(chunk.y)
            found = learned if found is None else found.add(learned, draws.n_sampled)
        if found is None:
            raise ValueError("'X' must hold at least one sample, got none.")
        self.n_rows, self.n_passes = start, self.n_passes + 1
        return found.in_order()

    def prepare(self, task: Task) -> None:
        """Take the landmarks; forget those of before."""
        self.task = task
        self._kept, self._rows, self._shares = [], [], {}
        width = len(task.columns) + 1
        self.dtype = np.dtype(self.given_dtype or np.float64)
        if self.given_dtype is None and task.columns.is_cheap:
            is_large = 8 * self.n_rows * width > SINGLE_BYTES
            self.dtype = np.dtype(np.float32 if is_large else np.float64)
        self.block = max(64, BLOCK_BYTES // (8 * width))
        self._left = self.memory

    @property
    def is_exact(self) -> bool:
        """Whether similarities are in double precision in every pass."""
        return self.dtype == np.float64

    @property
    def kept_rows(self) -> int:
        """Rows whose similarities are kept; known after a pass over all rows."""
        return sum(map(len, self._kept))

    def sums(
        self, point: Point, share: float = 1.0, precision: Precision = "kept"
    ) -> Sums:
        """Return values and gradients."""
        return self._pass(
            lambda A, rows: sums_of(A, rows, self.task, point), share, precision
        )

    def hessians(self, point: Point, groups: Sequence[Array], share: float) -> Array:
        """Return second derivatives, summed over a share of the rows."""
        return self._pass(
            lambda A, rows: hessians_of(A, rows, self.task, point, groups),
            share,
            rows_at_once=SHARE_ROWS,
        )

    def held(self, point: Point, link: Link, share: float = 1.0) -> Array:
        """Return the log-losses of held-out rows."""
        return self._pass(
            lambda A, rows: held_of(A, rows, self.task, point, link), share, "rough"
        )

    def weights(self, share: float) -> Array:
        """Return the weight of a share of the rows, by class and fold."""
        shape = (len(self.task.classes), self.task.draws.n_folds)
        total = np.zeros(shape)
        for _, rows in self._read(share, None):
            np.add.at(total, (rows.classes, rows.folds), rows.weights)
        return total

    def _pass(
        self,
        work: Callable[[Array, Rows], Total],
        share: float,
        precision: Precision = "kept",
        rows_at_once: int = 0,
    ) -> Total:
        """Return the total of what the work gives for each block of rows."""
        dtype = np.dtype(np.float64) if precision == "exact" else self.dtype
        step = max(self.block, rows_at_once)
        total = None
        self.n_passes += share == 1.0
        is_parallel = not callable(self.task.columns.kernel)
        wanted = self.n_threads if is_parallel else 1
        with (
            few_threads(0),
            thread_budget(wanted) as n_threads,
            ThreadPoolExecutor(max(1, n_threads)) as pool,
        ):
            for C, rows in self._read(share, dtype):
                assert C is not None
                cuts = [slice(i, i + step) for i in range(0, len(C), step)]
                inside = C.dtype if precision == "rough" else np.dtype(np.float64)
                one = partial(self._block, work, C, rows, inside)
                results = map(one, cuts) if len(cuts) == 1 else pool.map(one, cuts)
                for result in results:
                    total = result if total is None else total + result
        assert total is not None
        return total

    def _block(
        self,
        work: Callable[[Array, Rows], Total],
        C: Array,
        rows: Rows,
        dtype: np.dtype,
        cut: slice,
    ) -> Total:
        return work(self._with_ones(C[cut], dtype), rows.take(cut))

    def _with_ones(self, C: Array, dtype: np.dtype) -> Array:
        """Return similarities in some precision, with ones beside them.

        They are in memory of this thread's own, which its next call overwrites.
        """
        buffers = vars(self._local)
        buffer, width = buffers.get(dtype.name), C.shape[1] + 1
        if buffer is None or buffer.shape[1] != width or len(buffer) < len(C):
            buffer = buffers[dtype.name] = np.ones((len(C), width), dtype)
        np.copyto(buffer[: len(C), :-1], C)
        return buffer[: len(C)]

    def _read(
        self, share: float, dtype: DTypeLike | None
    ) -> Iterator[tuple[Array | None, Rows]]:
        """Yield similarities and rows, chunk by chunk; rows alone without a dtype."""
        if share < 1.0:
            for X, rows, C in self._gathered(share):
                is_made = dtype is not None and C is None
                yield (self.task.columns(X) if is_made else C), rows
            return
        is_kept = dtype is None or dtype == self.dtype
        first = len(self._kept) if is_kept else 0
        if is_kept:
            yield from zip(list(self._kept), self._rows, strict=False)
        start = sum(len(rows.classes) for rows in self._rows[:first])
        if first and start == self.n_rows:
            return
        for number, chunk in enumerate(self.source.chunks(first), first):
            if number == len(self._rows):
                self._rows.append(rows_of(chunk, start, self.task))
            start += len(chunk.y)
            C = None if dtype is None else self.task.columns(chunk.X, dtype)
            if is_kept and C is not None and number == len(self._kept):
                if C.nbytes <= self._left:
                    self._left -= C.nbytes
                    self._kept.append(C)
            yield C, self._rows[number]

    def _gathered(self, share: float) -> list[_Gathered]:
        """Return the rows of a share; those of one share are kept at a time."""
        if share in self._shares:
            return self._shares[share]
        found, waiting, start = [], [], 0
        for chunk in self.source.chunks():
            numbers = np.arange(start, start + len(chunk.y))
            mask = drawn(numbers, self.task.draws.seed, SHARES) < share
            rows = rows_of(chunk, start, self.task).take(mask)
            start += len(chunk.y)
            waiting.append((chosen(chunk.X, mask), rows))
            # Groups of one size, wherever chunks end: a small eigenvalue of the second
            # moment, and with it the penalty, magnifies the rounding of its sums.
            while sum(len(rows.classes) for _, rows in waiting) >= SHARE_ROWS:
                X, rows, _ = self._joined(waiting)
                head, tail = slice(SHARE_ROWS), slice(SHARE_ROWS, None)
                found.append(_Gathered(X[head], rows.take(head), None))
                waiting = [(X[tail], rows.take(tail))]
        if not found or len(waiting[0][1].classes) or len(waiting) > 1:
            found.append(self._joined(waiting))
        n_rows = sum(len(part.rows.classes) for part in found)
        if 8 * len(self.task.columns) * n_rows <= self.memory // SHARE_OF_MEMORY:
            found = [part._replace(C=self.task.columns(part.X)) for part in found]
        self._shares = {share: found}
        return found

    def _joined(self, waiting: list[tuple[SampleSet, Rows]]) -> _Gathered:
        X = joined([X for X, _ in waiting])
        columns = zip(*(rows for _, rows in waiting), strict=True)
        return _Gathered(X, Rows(*map(np.concatenate, columns)), None)
