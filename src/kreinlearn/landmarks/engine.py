"""Passes over rows: one engine over threads of this process or Dask workers.

An executor holds the rows, or references to them. The engine defines the passes, and
the solver sees their sums and no rows apart from the landmarks. Sums are added in a
fixed order.

On a cluster, landmarks and similarities stay on the workers; coefficients are sent
there, and sums come back. Every future is the result of a task on the collections of
the user, so that Dask recomputes only the values that are lost with a worker.
"""

import operator
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from functools import reduce, wraps
from typing import Any, Literal, NamedTuple, TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array, SampleSet
from kreinlearn.kernels.threads import limit_threads, max_threads, thread_budget
from kreinlearn.landmarks import passes, sources
from kreinlearn.landmarks.passes import DataSummary, PassContext, Point, Rows, Sums
from kreinlearn.landmarks.sources import Chunk, Source
from kreinlearn.losses import Link
from kreinlearn.operators import limit_blas_threads, take_samples

PASS_BLOCK_BYTES = 2**22
"""Similarities of a block in double precision; they stay in the cache of a core."""
PIECE_BYTES = 2**24
"""Similarities, in double precision, that a worker computes by one call of a kernel."""
SUBSAMPLE_ROWS = 4096
"""Rows of a subsample that are stored together, and summed over at a time."""
SUBSAMPLE_FRACTION = 4
"""Similarities of a subsample are cached if they fit in budget / SUBSAMPLE_FRACTION."""
SINGLE_BYTES = 2**28
"""Similarities above this size in double precision are cached in single."""
PROCESS_BYTES = 300 * 2**20
"""Memory of a worker without data: Python and its libraries."""
CACHE_FRACTION, MAX_CACHE_FRACTION, ROWS_FRACTION = 0.25, 0.5, 0.1
"""Fractions of a worker's memory for similarities by default, at most, and for rows. If
half of the workers are lost, the others hold twice as much; Dask moves to disk anything
above 60 %."""
UNLIMITED_CACHE_BYTES = 3 * 2**29
"""Similarities that a worker without a memory limit caches by default."""
PARTITION_COPIES = 3
"""Memory that a worker needs to validate a partition, in multiples of its size."""
WORKER_MATRICES = 4
"""Matrices of M x M numbers that a worker needs at a time."""
REDUCE_FANIN = 8
"""Results that one task adds."""
DOUBLE_DTYPE = np.dtype(np.float64)
Precision = Literal["double", "cached", "single"]
Future: TypeAlias = Any
"""A future, or a delayed object; Dask has no types."""
PassTotal: TypeAlias = Any
"""Sum over rows, such as an array or `Sums`; None before the first row."""
PassItem = tuple[Any, ...]
"""A chunk, the number of its first row, and a `Part`, some of which may be None; or
futures of them."""
PassFunction = Callable[..., Any]
Executor: TypeAlias = "ThreadExecutor | DaskExecutor"
"""Access to the rows: both classes have the same methods. The functions that `reduce`
takes get the total so far or None, a `PassWorkspace` or None, the entries of an item,
and further arguments; they return the new total."""


class Part(NamedTuple):
    """Rows, similarities of the first of them, and samples unless stored elsewhere."""

    rows: Rows
    C: Array | None = None
    X: SampleSet = None


class PassWorkspace:
    """A map over blocks, and one buffer per thread, which later blocks overwrite."""

    def __init__(self) -> None:
        self.map: PassFunction = map
        self._local = threading.local()

    def append_ones(self, C: Array, dtype: np.dtype) -> Array:
        """Return similarities in some precision, with a column of ones."""
        buffers = vars(self._local)
        buffer, width = buffers.get(dtype.name), C.shape[1] + 1
        if buffer is None or buffer.shape[1] != width or len(buffer) < len(C):
            buffer = buffers[dtype.name] = np.ones((len(C), width), dtype)
        np.copyto(buffer[: len(C), :-1], C)
        return buffer[: len(C)]


class Engine:
    """Passes over rows.

    Parameters
    ----------
    executor : Executor
        Access to the rows.
    dtype : dtype, optional
        Precision of cached similarities. By default double, or single if they are cheap
        and would take more than 256 MiB.

    Attributes
    ----------
    n_passes : int
        Passes over all rows so far.
    """

    def __init__(self, executor: Executor, dtype: DTypeLike | None = None) -> None:
        self.executor, self.given_dtype = executor, dtype
        self.n_passes = self.n_rows = 0

    def summarize(self, plan: passes.SamplingPlan) -> DataSummary:
        """Collect labels and counts, and draw candidates for landmarks."""
        summary = self.executor.reduce(add_summary, self.executor.chunks(), plan)
        if summary is None:
            raise ValueError("'X' must hold at least one sample, got none.")
        self.n_rows, self.n_passes = summary.n_rows, self.n_passes + 1
        self._weights = summary.weights
        return summary.sort_candidates()

    def prepare(self, context: PassContext) -> None:
        """Set the landmarks, and drop the values cached for others."""
        self.n_columns = len(context.columns)
        self.dtype = np.dtype(self.given_dtype or np.float64)
        if self.given_dtype is None and context.columns.kernel.is_cheap:
            is_large = 8 * self.n_rows * (self.n_columns + 1) > SINGLE_BYTES
            self.dtype = np.dtype(np.float32 if is_large else np.float64)
        self.block = _block_rows(self.n_columns, PASS_BLOCK_BYTES)
        self._context = self.executor.prepare(context, self.dtype, self.n_rows)
        self._subsamples: dict[float, list[PassItem]] = {}

    @property
    def is_exact(self) -> bool:
        """Whether similarities are in double precision in every pass."""
        return self.dtype == np.float64

    def sums(
        self, point: Point, fraction: float = 1.0, precision: Precision = "cached"
    ) -> Sums:
        """Return values and gradients.

        Parameters
        ----------
        point : Point
            Coefficients.
        fraction : float
            Fraction of the rows to sum over; the same rows each time.
        precision : {"double", "cached", "single"}
            "double" recomputes similarities that are cached in single precision.
            "single" computes products with these in single precision, in this process.
        """
        size = point.B.nbytes
        return self._sum(passes.sum_losses, (point,), fraction, precision, n_bytes=size)

    def hessians(self, point: Point, groups: Sequence[Array], fraction: float) -> Array:
        """Return second derivatives, summed over a fraction of the rows."""
        m, _, C = point.B.shape
        size = 8 * m * m * len(passes.class_pairs(C)) * len(groups)
        if size > self.executor.max_result_bytes and len(groups) > 1:
            each = [self.hessians(point, [group], fraction) for group in groups]
            return np.concatenate(each)
        step = max(self.block, SUBSAMPLE_ROWS)
        args = (point, list(groups))
        return self._sum(passes.sum_hessians, args, fraction, n_bytes=size, step=step)

    def held_out_losses(self, point: Point, link: Link, fraction: float) -> Array:
        """Return the summed log-losses of held-out rows."""
        return self._sum(passes.sum_held_out_losses, (point, link), fraction, "single")

    def weights(self, fraction: float) -> Array:
        """Return the weight of a fraction of the rows, shape (n_classes, n_folds).

        Class weights are excluded.
        """
        if fraction == 1.0:
            return self._weights
        parts = self._subsample(fraction)
        return self.executor.reduce(add_weights, parts, self._context)

    def _sum(
        self,
        function: PassFunction,
        args: tuple[object, ...],
        fraction: float,
        precision: Precision = "cached",
        n_bytes: int = 0,
        step: int = 0,
    ) -> PassTotal:
        """Return the sum of a function of all blocks of rows."""
        executor, is_part = self.executor, fraction < 1.0
        self.n_passes += not is_part
        dtype = DOUBLE_DTYPE if precision == "double" or is_part else self.dtype
        total = executor.reduce(
            add_blocks,
            self._subsample(fraction) if is_part else executor.parts(dtype),
            self._context,
            function,
            (executor.send(args[0]), *args[1:]),
            step or self.block,
            dtype,
            precision == "single" and executor.allows_single,
            in_sequence=is_part,
            n_bytes=n_bytes,
        )
        assert total is not None
        return total

    def _subsample(self, fraction: float) -> list[PassItem]:
        """Return a subsample of the rows; one fraction is stored at a time."""
        if fraction not in self._subsamples:
            executor, context = self.executor, self._context
            found = executor.map(subsample, executor.chunks(), context, fraction)
            counts = executor.map(count_rows, [(part,) for part in found])
            ends = np.cumsum([0, *executor.gather(counts)])
            n_rows = int(ends[-1])
            needed = 8 * self.n_columns * n_rows
            is_cached = needed <= executor.budget // SUBSAMPLE_FRACTION
            # Groups have one size, independent of the chunks: a small eigenvalue of
            # the second moment, and thus the penalty, magnifies rounding in its sums.
            groups = []
            for first in range(0, n_rows, SUBSAMPLE_ROWS):
                i = int(np.searchsorted(ends, first, side="right")) - 1
                j = int(np.searchsorted(ends, first + SUBSAMPLE_ROWS, side="left"))
                begin = first - int(ends[i])
                groups.append((found[i:j], slice(begin, begin + SUBSAMPLE_ROWS)))
            parts = executor.map(concat, groups, context, is_cached)
            self._subsamples = {fraction: [(None, 0, part) for part in parts]}
        return self._subsamples[fraction]


def add_summary(
    total: PassTotal, _: object, chunk: Chunk, start: int, plan: passes.SamplingPlan
) -> DataSummary:
    """Add the summary of a chunk."""
    summary = passes.summarize_chunk(chunk, start, plan)
    return summary if total is None else total + summary


def add_weights(total: PassTotal, *item: PassTotal) -> Array:
    """Add the weights of the rows of a part, by class and fold."""
    *_, part, context = item
    if total is None:
        total = np.zeros((len(context.classes), context.plan.n_folds))
    np.add.at(total, (part.rows.classes, part.rows.folds), part.rows.weights)
    return np.asarray(total)


def add_blocks(
    total: PassTotal,
    workspace: PassWorkspace | None,
    chunk: Chunk | None,
    start: int,
    part: Part | None,
    context: PassContext,
    function: PassFunction,
    args: tuple[object, ...],
    step: int,
    dtype: np.dtype,
    is_single: bool,
) -> PassTotal:
    """Add the results of a function for all blocks of ``step`` rows."""
    space = PassWorkspace() if workspace is None else workspace
    if part is None:
        assert chunk is not None
        part = Part(passes.encode_rows(chunk, start, context))
    rows, cached, X = part if chunk is None else part._replace(X=chunk.X)
    n_cached = 0 if cached is None else len(cached)
    size = step * max(1, _block_rows(len(context.columns), PIECE_BYTES) // step)
    computed = range(n_cached, len(rows.classes), size)
    for first in [0, *computed] if n_cached else computed:
        is_cached = first < n_cached
        some = slice(first, first + size)
        C: Any = cached if is_cached else context.columns(X[some], dtype)

        def run(i: int, C: Any = C, first: int = first) -> PassTotal:
            kind = C.dtype if is_single else DOUBLE_DTYPE
            A = space.append_ones(C[i : i + step], kind)
            cut = slice(first + i, first + i + len(A))
            return function(A, rows.take(cut), context, *args)

        cuts = range(0, len(C), step)
        for result in (map if len(cuts) == 1 else space.map)(run, cuts):
            total = result if total is None else total + result
    return total


def cache_chunk(
    chunk: Chunk, start: int, n_cached: int, context: PassContext, dtype: np.dtype
) -> Part:
    """Compute the similarities of the first rows, piece by piece."""
    C = np.empty((n_cached, len(context.columns)), dtype)
    step = _block_rows(C.shape[1], PIECE_BYTES)
    for i in range(0, n_cached, step):
        last = min(i + step, n_cached)
        C[i:last] = context.columns(chunk.X[i:last], dtype)
    return Part(passes.encode_rows(chunk, start, context), C)


def subsample(chunk: Chunk, start: int, context: PassContext, fraction: float) -> Part:
    """Return a random fraction of the rows."""
    numbers = np.arange(start, start + len(chunk.y))
    stream = (context.plan.seed, sources.SUBSAMPLE_STREAM)
    mask = sources.draw_uniform(numbers, *stream) < fraction
    rows = passes.encode_rows(chunk, start, context).take(mask)
    return Part(rows, X=take_samples(chunk.X, mask))


def count_rows(part: Part) -> int:
    """Return the number of rows."""
    return len(part.rows.classes)


def concat(
    parts: list[Part], cut: slice, context: PassContext, is_cached: bool
) -> Part:
    """Concatenate parts, and return a slice of them, with similarities on demand."""
    X = sources.concat_samples([part.X for part in parts])[cut]
    columns = zip(*(part.rows for part in parts), strict=True)
    rows = Rows(*map(np.concatenate, columns)).take(cut)
    return Part(rows, context.columns(X) if is_cached else None, X)


def _block_rows(M: int, n_bytes: int) -> int:
    """Return the rows whose similarities take that many bytes in double precision."""
    return max(64, n_bytes // (8 * (M + 1)))


class ThreadExecutor:
    """Threads of this process.

    Similarities of the first chunks are cached up to the memory budget; those of the
    others are computed in each pass. Compiled kernels start their own threads, and are
    called by one thread at a time; blocks of rows are then distributed to threads.

    Parameters
    ----------
    source : Source
        The rows.
    memory : int
        Bytes of cached similarities.
    n_threads : int, optional
        Number of threads; by default the limit of the kernels.
    """

    allows_single, max_result_bytes = True, np.inf

    def __init__(
        self, source: Source, memory: int, n_threads: int | None = None
    ) -> None:
        self.source, self.budget = source, memory
        self.n_threads, self.workspace = n_threads or max_threads(), PassWorkspace()

    def prepare(self, context: PassContext, dtype: np.dtype, n_rows: int) -> PassTotal:
        """Clear the cache; return the context."""
        self.context, self.dtype, self.n_rows = context, dtype, n_rows
        self.cached: list[Array] = []
        self._rows: list[Rows] = []
        self._bytes_left = self.budget
        return context

    def send(self, value: object) -> PassTotal:
        """Return the value."""
        return value

    def chunks(self) -> Iterator[PassItem]:
        """Yield all chunks, each with the number of its first row."""
        start = 0
        for chunk in self.source.chunks():
            yield chunk, start
            start += len(chunk.y)

    def parts(self, dtype: np.dtype) -> Iterator[PassItem]:
        """Yield all rows with their similarities, the cached ones first."""
        use_cache = dtype == self.dtype
        first = len(self.cached) if use_cache else 0
        for C, rows in zip(self.cached[:first], self._rows, strict=False):
            yield None, 0, Part(rows, C)
        start = sum(len(rows.classes) for rows in self._rows[:first])
        if first and start == self.n_rows:
            return
        for number, chunk in enumerate(self.source.chunks(first), first):
            if number == len(self._rows):
                self._rows.append(passes.encode_rows(chunk, start, self.context))
            start += len(chunk.y)
            C = self.context.columns(chunk.X, dtype)
            is_next = use_cache and number == len(self.cached)
            if is_next and C.nbytes <= self._bytes_left:
                self._bytes_left -= C.nbytes
                self.cached.append(C)
            yield None, 0, Part(self._rows[number], C)

    def map(
        self, function: PassFunction, items: Iterable[PassItem], *args: object
    ) -> list[PassTotal]:
        """Return the results for all items."""
        with limit_blas_threads(0):
            return [function(*item, *args) for item in items]

    def gather(self, values: list[PassTotal]) -> list[PassTotal]:
        """Return the values."""
        return values

    def reduce(
        self,
        function: PassFunction,
        items: Iterable[PassItem],
        *args: object,
        **_: object,
    ) -> PassTotal:
        """Return the total over all items, block after block."""
        total = None
        with (
            limit_blas_threads(0),
            thread_budget(self.n_threads) as n_threads,
            ThreadPoolExecutor(max(1, n_threads)) as pool,
        ):
            self.workspace.map = pool.map
            for item in items:
                total = function(total, self.workspace, *item, *args)
        return total


def _explain_errors(method: PassFunction) -> PassFunction:
    """Decorate a method of `DaskExecutor` with `explain_errors`."""

    @wraps(method)
    def call(self: "DaskExecutor", *args: object, **options: Any) -> PassTotal:
        with explain_errors(self.client):
            return method(self, *args, **options)

    return call


class DaskExecutor:
    """Workers of a Dask cluster.

    Parameters
    ----------
    parts : sequence of Delayed or Future
        Each becomes a Chunk on a worker; the order is that of the rows.
    sizes : sequence of tuple, optional
        Rows and bytes of each; by default they are computed in a separate pass.
    memory : int, optional
        Bytes of each worker for cached similarities, at most half of its limit; by
        default a quarter of the limit.
    client : distributed.Client, optional
        By default the current client.
    """

    allows_single = False  # the result would depend on the chunks
    max_result_bytes = 2**26

    def __init__(
        self,
        parts: Sequence[Future],
        sizes: Sequence[tuple[int, int]] | None = None,
        memory: int | None = None,
        client: Future = None,
    ) -> None:
        self.client = current_client() if client is None else client
        self.memory, self._parts, self._sizes = memory, list(parts), sizes
        self._starts: list[int] = []

    @_explain_errors
    def prepare(self, context: PassContext, dtype: np.dtype, n_rows: int) -> Future:
        """Clear the cache; return a future of the context."""
        M, limits = len(context.columns), self._limits()
        needed = 8 * M * (2 * SUBSAMPLE_ROWS + WORKER_MATRICES * M)
        advice = "fewer landmarks, or larger workers"
        _check_worker(limits, needed, f"to work with {M} landmarks", advice)
        self.budget = sum(self.cache_bytes(limit) for limit in limits)
        self.cached_fraction = min(1.0, self.budget / (n_rows * M * dtype.itemsize))
        self.dtype, self._cached = dtype, list[Future]()
        self._context = self.send(context)
        return self._context

    @_explain_errors
    def send(self, value: object) -> Future:
        """Return a future of a value, for all workers.

        It is the result of a task: a scattered value could not be recomputed after the
        loss of its worker.
        """
        from dask import config

        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.submit(identity, value, pure=False)

    @_explain_errors
    def chunks(self) -> list[PassItem]:
        """Return futures of all chunks, each with the number of its first row."""
        if not self._starts:
            self._measure_parts()
        return list(zip(self._parts, self._starts, strict=True))

    def parts(self, dtype: np.dtype) -> list[PassItem]:
        """Return all chunks, with futures of cached similarities in that precision."""
        if dtype != self.dtype:
            return [(*item, None) for item in self.chunks()]
        counts = [int(self.cached_fraction * n) for n in self._n_rows]
        if not self._cached:
            items = zip(self._parts, self._starts, counts, strict=True)
            self._cached = self.map(cache_chunk, items, self._context, dtype)
        pairs = zip(self._parts, counts, self._n_rows, strict=True)
        needed = [None if count == n else part for part, count, n in pairs]
        return list(zip(needed, self._starts, self._cached, strict=True))

    @_explain_errors
    def map(
        self, function: PassFunction, items: Iterable[PassItem], *args: object
    ) -> list[PassTotal]:
        """Return futures of the results for all items."""
        tasks = [_delay(run_task, function, *item, *args) for item in items]
        return list(self.client.compute(tasks))

    @_explain_errors
    def gather(self, values: list[PassTotal]) -> list[PassTotal]:
        """Return the values of futures."""
        return list(self.client.gather(values))

    @_explain_errors
    def reduce(
        self,
        function: PassFunction,
        items: Iterable[PassItem],
        *args: object,
        **options: Any,
    ) -> PassTotal:
        """Return the total over all items, added on the workers.

        Options are ``in_sequence``, for additions in the order of threads instead of a
        tree, and ``n_bytes`` of a result.
        """
        tasks = [_delay(run_task, function, None, None, *item, *args) for item in items]
        if options.get("in_sequence"):
            tasks = [reduce(lambda one, two: _delay(add_results, [one, two]), tasks)]
        most = self.max_result_bytes // max(1, options.get("n_bytes", 0))
        fanin = max(2, min(REDUCE_FANIN, most))
        while len(tasks) > fanin:
            groups = [tasks[i : i + fanin] for i in range(0, len(tasks), fanin)]
            tasks = [_delay(add_results, group) for group in groups]
        return add_results(self.client.gather(self.client.compute(tasks)))

    def cache_bytes(self, limit: int) -> float:
        """Return the bytes of cached similarities on a worker; a limit of 0 is none."""
        if self.memory is None:
            most = CACHE_FRACTION * _data_bytes(limit)
            return most if limit else UNLIMITED_CACHE_BYTES
        most = MAX_CACHE_FRACTION * _data_bytes(limit)
        return min(self.memory, most) if limit else self.memory

    def _measure_parts(self) -> None:
        """Count the rows of partitions; keep rows on the workers if they are small."""
        if self._sizes is None:
            parts = [(part,) for part in self._parts]
            self._sizes = self.gather(self.map(measure_chunk, parts))
        pairs = zip(self._parts, self._sizes, strict=True)
        found = [(part, *size) for part, size in pairs if size[0]]
        if not found:
            raise ValueError("'X' must hold at least one sample, got none.")
        self._parts, self._n_rows, n_bytes = map(list, zip(*found, strict=True))
        self._starts = [int(i) for i in np.cumsum([0, *self._n_rows])[:-1]]
        limits = self._limits()
        needed, what = PARTITION_COPIES * max(n_bytes), "to validate a partition of X"
        _check_worker(limits, needed, what, "smaller partitions")
        if sum(n_bytes) <= ROWS_FRACTION * sum(map(_data_bytes, limits)):
            self._parts = self.client.compute(self._parts)

    def _limits(self) -> list[int]:
        """Return the memory limit of each worker; 0 for none."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return [int(each["memory_limit"] or 0) for each in workers.values()]


def _delay(run: PassFunction, *args: object) -> Future:
    """Return a task, named by the function that it runs."""
    from dask import delayed

    name = (args[0] if callable(args[0]) else run).__name__
    return delayed(run, pure=False)(*args, dask_key_name=f"{name}-{uuid4().hex}")


def identity(value: object) -> PassTotal:
    """Return the value: a task that moves it to a worker."""
    return value


def run_task(function: PassFunction, *args: object) -> PassTotal:
    """Call a function in one thread, since workers run one task per thread."""
    with limit_blas_threads(0), limit_threads(1):
        return function(*args)


def add_results(parts: list[PassTotal]) -> PassTotal:
    """Add results in their order; those without rows are None."""
    present = [part for part in parts if part is not None]
    return reduce(operator.add, present) if present else None


def measure_chunk(chunk: Chunk) -> tuple[int, int]:
    """Return the number of rows of a chunk, and its bytes."""
    from dask.sizeof import sizeof

    return len(chunk.y), int(sizeof(chunk))


def current_client() -> Future:
    """Return the current client; raise if there is none."""
    try:
        from distributed import default_client
    except ImportError:
        raise ImportError(
            "A fit on Dask collections needs the library distributed; install it with "
            "pip install 'kreinlearn[dask]'."
        ) from None
    try:
        return default_client()
    except ValueError:
        raise ValueError(
            "A fit on Dask collections needs a cluster, and there is no client of one; "
            "make it first, as client = distributed.Client()."
        ) from None


@contextmanager
def explain_errors(client: Future) -> Iterator[None]:
    """Replace errors of a lost cluster or worker by messages with a remedy.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    """
    from distributed import KilledWorker

    where = client.scheduler.address if client.scheduler else "an unknown address"
    try:
        yield
    except Exception as error:
        if not _is_alive(client):
            raise ConnectionError(
                f"The scheduler at {where} has gone away in the middle of the fit; "
                "start a cluster and fit to the same data again, which goes on after "
                "the last step if 'checkpoint' is set."
            ) from None
        if isinstance(error, KilledWorker):
            raise MemoryError(
                f"Workers ended again and again in the task {error.task}, most likely "
                "for lack of memory; use smaller partitions, or a lower 'memory'."
            ) from None
        if isinstance(error, CancelledError):
            raise RuntimeError(
                "Rows that were lost with a worker cannot be made again, since they "
                "were scattered, or released by the client; fit to collections that "
                "Dask can compute again."
            ) from None
        raise


def _is_alive(client: Future) -> bool:
    """Return whether the scheduler answers."""
    if client.status != "running":
        return False
    try:
        client.scheduler_info(n_workers=-1)
    except Exception:  # a lost connection raises errors of many types
        return False
    return True


def _check_worker(limits: list[int], needed: int, purpose: str, advice: str) -> None:
    """Raise if the smallest worker lacks memory; a limit of 0 is none."""
    least = min((limit for limit in limits if limit), default=0)
    if least and needed > _data_bytes(least):
        raise MemoryError(
            f"A worker needs {needed:,} bytes {purpose}, besides {PROCESS_BYTES:,} "
            f"bytes of its own, but has {least:,} bytes; use {advice}."
        )


def _data_bytes(limit: int) -> int:
    """Return the bytes that a worker has for data."""
    return max(0, limit - PROCESS_BYTES)
