"""Passes by the workers of a Dask cluster, through futures of `distributed`.

Landmarks and similarities live on the workers; coefficients go there, and sums come
back. Every future can be made again from the collections that a fit began with, so that
Dask itself repeats what is lost with a worker, and nothing else. Sums are added in one
order, whoever makes them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array
from kreinlearn.landmarks.engine import (
    SHARE_OF_MEMORY,
    SHARE_ROWS,
    SINGLE_BYTES,
    Precision,
)
from kreinlearn.landmarks.first import Draws, First, first_of
from kreinlearn.landmarks.passes import (
    Point,
    Sums,
    Task,
    held_of,
    hessians_of,
    pairs_of,
    sums_of,
)
from kreinlearn.landmarks.worker import (
    Size,
    added,
    count_of,
    itself,
    join,
    keep,
    of_chunk,
    of_kept,
    of_share,
    pick,
    size_of,
    weight_of,
)
from kreinlearn.losses import Link

PROCESS_BYTES = 300 * 2**20
"""What a worker takes before it holds any row: Python and its libraries."""
KEPT_SHARE, MOST_SHARE, SOURCE_SHARE = 0.25, 0.5, 0.1
"""Shares of a worker's memory for similarities by default, at most, and for rows. If
half of the workers are lost, the others hold twice as much; Dask moves to disk what is
more than 60 %."""
UNLIMITED_BYTES = 3 * 2**29
"""Similarities that a worker keeps by default if it has no limit of memory."""
COPIES = 3
"""How many times the bytes of a partition a worker needs while it checks it."""
MATRICES = 4
"""Matrices of M x M numbers that a worker needs at a time."""
LARGE = 2**26
"""Sums of more bytes than this are made and added few at a time."""
FAN = 8
"""Sums that are added by one task."""
Future = Any
"""A future, or an object of `dask.delayed`: what becomes a value on a worker."""


class DaskEngine:
    """Passes by the workers of a cluster.

    Parameters
    ----------
    parts : sequence of Delayed or Future
        Each becomes a Chunk on a worker; the order is that of the rows.
    sizes : sequence of Size, optional
        Their sizes; by default they are asked for, in a pass of its own.
    memory : int, optional
        Bytes of each worker that similarities may take while they are kept, at most
        half of its limit; by default a quarter of the limit.
    dtype : dtype, optional
        As for `LocalEngine`.
    client : distributed.Client, optional
        Where to; by default the current client.
    """

    def __init__(
        self,
        parts: Sequence[Future],
        sizes: Sequence[Size] | None = None,
        memory: int | None = None,
        dtype: DTypeLike | None = None,
        client: Any = None,
    ) -> None:
        self.client = current_client() if client is None else client
        self.memory, self.given_dtype = memory, dtype
        self.n_passes = 0
        self._parts, self._sizes = list(parts), sizes
        self._weights: Array | None = None

    def first(self, draws: Draws) -> First:
        """Learn labels and numbers, and draw candidates for landmarks."""
        with connected(self.client):
            self._measure()
            tasks = [
                _later(first_of, part, start, draws)
                for part, start in zip(self._parts, self._starts, strict=True)
            ]
            found = self._total(tasks, n_sampled=draws.n_sampled)
        self._weights, self.n_passes = found.weights, self.n_passes + 1
        return found.in_order()

    def prepare(self, task: Task) -> None:
        """Send the landmarks to the workers; forget those of before."""
        self.task = task
        self._kept: list[Future] = []
        self._shares: dict[float, list[Future]] = {}
        M = len(task.columns)
        self.dtype = np.dtype(self.given_dtype or np.float64)
        if self.given_dtype is None and task.columns.is_cheap:
            is_large = 8 * self.n_rows * (M + 1) > SINGLE_BYTES
            self.dtype = np.dtype(np.float32 if is_large else np.float64)
        with connected(self.client):
            self._sent = self._send(task)
            self._budget = sum(self._granted(limit) for limit in self._limits())
            _check_landmarks(M, self._limits())
        needed = self.n_rows * M * self.dtype.itemsize
        self.kept_share = min(1.0, self._budget / needed)

    @property
    def is_exact(self) -> bool:
        """Whether similarities are in double precision in every pass."""
        return self.dtype == np.float64

    def sums(
        self, point: Point, share: float = 1.0, precision: Precision = "kept"
    ) -> Sums:
        """Return values and gradients; never rough, which would depend on chunks."""
        return self._pass(sums_of, point, (), share, point.B.nbytes, 0, precision)

    def hessians(self, point: Point, groups: Sequence[Array], share: float) -> Array:
        """Return second derivatives, summed over a share of the rows."""
        m, _, C = point.B.shape
        size = 8 * m * m * len(pairs_of(C)) * len(groups)
        if size > LARGE and len(groups) > 1:
            each = [self.hessians(point, [group], share) for group in groups]
            return np.concatenate(each)
        more = (list(groups),)
        return self._pass(hessians_of, point, more, share, size, SHARE_ROWS)

    def held(self, point: Point, link: Link, share: float = 1.0) -> Array:
        """Return the log-losses of held-out rows."""
        return self._pass(held_of, point, (link,), share)

    def weights(self, share: float) -> Array:
        """Return the weight of a share of the rows, by class and fold."""
        if share == 1.0:
            assert self._weights is not None
            return self._weights
        with connected(self.client):
            parts = self._gathered(share)
            return self._total([_later(weight_of, p, self._sent) for p in parts])

    def _measure(self) -> None:
        """Learn the numbers of rows; keep rows on the workers if they take little."""
        if self._sizes is None:
            asked = [_later(size_of, part) for part in self._parts]
            self._sizes = self.client.gather(self.client.compute(asked))
        sizes = [size for size in self._sizes if size.n_rows]
        if not sizes:
            raise ValueError("'X' must hold at least one sample, got none.")
        pairs = zip(self._parts, self._sizes, strict=True)
        self._parts, self._sizes = [part for part, size in pairs if size.n_rows], sizes
        self._rows = [size.n_rows for size in sizes]
        self._starts = [int(i) for i in np.cumsum([0, *self._rows])[:-1]]
        self.n_rows = sum(self._rows)
        limits = self._limits()
        _check_partitions(max(size.n_bytes for size in sizes), limits)
        free = sum(_left(limit) for limit in limits)
        if sum(size.n_bytes for size in sizes) <= SOURCE_SHARE * free:
            self._parts = self.client.compute(self._parts)

    def _limits(self) -> list[int]:
        """Return the memory limit of each worker; 0 for none."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return [int(each["memory_limit"] or 0) for each in workers.values()]

    def _granted(self, limit: int) -> float:
        """Return the bytes that similarities may take on a worker."""
        if self.memory is not None:
            return min(self.memory, MOST_SHARE * _left(limit)) if limit else self.memory
        return KEPT_SHARE * _left(limit) if limit else UNLIMITED_BYTES

    def _send(self, value: Any) -> Future:
        """Return a value that workers get from each other.

        It is the result of a task, not scattered: what is scattered cannot be made
        again when the worker that holds it is lost.
        """
        from dask import config

        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.submit(itself, value, pure=False)

    def _pass(
        self,
        work: Callable[..., Any],
        point: Point,
        more: tuple[Any, ...],
        share: float,
        size: int = 0,
        rows_at_once: int = 0,
        precision: Precision = "kept",
    ) -> Any:
        """Return the total of what the work gives for all partitions."""
        is_exact = precision == "exact" or share < 1.0
        dtype = np.dtype(np.float64) if is_exact else self.dtype
        self.n_passes += share == 1.0
        with connected(self.client):
            given = (self._send(point), *more)
            fixed = (work, self._sent, dtype, rows_at_once, given)
            if share < 1.0:
                tasks = [_later(of_share, p, *fixed) for p in self._gathered(share)]
                for i in range(1, len(tasks)):  # one after the other, as in memory
                    tasks[i] = _later(added, [tasks[i - 1], tasks[i]])
                tasks = tasks[-1:]
            elif dtype == self.dtype:
                tasks = [_later(of_kept, *each, *fixed) for each in self._with_kept()]
            else:
                pairs = zip(self._parts, self._starts, strict=True)
                tasks = [_later(of_chunk, *pair, *fixed) for pair in pairs]
            return self._total(tasks, size)

    def _with_kept(self) -> list[tuple[Future | None, Future]]:
        """Return what is kept of each partition, and itself unless all of it is."""
        counts = [int(self.kept_share * n) for n in self._rows]
        if not self._kept:
            triples = zip(self._parts, self._starts, counts, strict=True)
            tasks = [_later(keep, *each, self._sent, self.dtype) for each in triples]
            self._kept = self.client.compute(tasks)
        is_whole = [k == n for k, n in zip(counts, self._rows, strict=True)]
        parts = zip(self._parts, is_whole, strict=True)
        needed = [None if whole else part for part, whole in parts]
        return list(zip(needed, self._kept, strict=True))

    def _gathered(self, share: float) -> list[Future]:
        """Return the rows of a share, in groups of one size.

        They do not depend on the partitions, nor on the cluster: see `LocalEngine`.
        """
        if share not in self._shares:
            pairs = zip(self._parts, self._starts, strict=True)
            tasks = [_later(pick, *pair, self._sent, share) for pair in pairs]
            picked = self.client.compute(tasks)
            asked = self.client.compute([_later(count_of, each) for each in picked])
            ends = np.cumsum([0, *self.client.gather(asked)])
            needed = 8 * len(self.task.columns) * int(ends[-1])
            is_kept = needed <= self._budget // SHARE_OF_MEMORY
            groups = []
            for first in range(0, int(ends[-1]), SHARE_ROWS):
                i = int(np.searchsorted(ends, first, side="right")) - 1
                j = int(np.searchsorted(ends, first + SHARE_ROWS, side="left"))
                begin = first - int(ends[i])
                cut = slice(begin, begin + SHARE_ROWS)
                groups.append(_later(join, picked[i:j], cut, self._sent, is_kept))
            self._shares = {share: self.client.compute(groups)}
        return self._shares[share]

    def _total(self, tasks: list[Future], size: int = 0, n_sampled: int = 0) -> Any:
        """Return the sum of what tasks give, added on the workers, in their order."""
        fan = max(2, min(FAN, LARGE // max(1, size)))
        while len(tasks) > fan:
            groups = [tasks[i : i + fan] for i in range(0, len(tasks), fan)]
            tasks = [_later(added, group, n_sampled) for group in groups]
        return added(self.client.gather(self.client.compute(tasks)), n_sampled)


def current_client() -> Any:
    """Return the current client, or raise with a sentence if there is none."""
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
def connected(client: Any) -> Iterator[None]:
    """Say in one sentence what happened if the cluster does not answer.

    Parameters
    ----------
    client : distributed.Client
        The client whose cluster is asked.
    """
    from concurrent.futures import CancelledError

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


def _is_alive(client: Any) -> bool:
    """Tell whether the scheduler answers."""
    if client.status != "running":
        return False
    try:
        client.scheduler_info(n_workers=-1)
    except Exception:  # whatever a lost connection raises
        return False
    return True


def _check_partitions(largest: int, limits: list[int]) -> None:
    """Raise if a worker has no room for a partition."""
    least = min((limit for limit in limits if limit), default=0)
    if least and COPIES * largest > _left(least):
        raise MemoryError(
            f"A partition of X takes {largest:,} bytes, and a worker needs {COPIES} "
            f"times that besides {PROCESS_BYTES:,} bytes of its own, but has "
            f"{least:,} bytes; use smaller partitions."
        )


def _check_landmarks(M: int, limits: list[int]) -> None:
    """Raise if a worker has no room for second derivatives."""
    least = min((limit for limit in limits if limit), default=0)
    needed = 8 * M * (2 * SHARE_ROWS + MATRICES * M)
    if least and needed > _left(least):
        raise MemoryError(
            f"A worker needs {needed:,} bytes to work with {M} landmarks, besides "
            f"{PROCESS_BYTES:,} bytes of its own, but has {least:,} bytes; use fewer "
            "landmarks, or larger workers."
        )


def _left(limit: int) -> int:
    """Return the bytes that a worker has for data."""
    return max(0, limit - PROCESS_BYTES)


def _later(function: Callable[..., Any], *given: Any) -> Future:
    """Return a task."""
    from dask import delayed

    return delayed(function, pure=False)(*given)
