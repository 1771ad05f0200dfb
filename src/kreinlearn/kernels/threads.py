"""Threads for compiled loops: how many may run, and how they divide the work.

Threads end with the call that starts them. There is no pool that would spin between
calls, or be missing in a forked process.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

PARTS_PER_THREAD = 8
"""Parts per thread on average: more balance better, fewer make fewer calls."""

ItemT = TypeVar("ItemT")
SpaceT = TypeVar("SpaceT")

_local = threading.local()
_lock = threading.Lock()
_n_busy = 0
"""Extra threads of all threads of this process; read and written under the lock."""


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Limit the threads that calls from the present thread may use.

    Workers of a cluster, which have one thread per processor, set it to 1.
    """
    before = getattr(_local, "limit", None)
    _local.limit = count if before is None else min(before, count)
    try:
        yield
    finally:
        _local.limit = before


def max_threads() -> int:
    """Return how many threads may run at once.

    ``NUMBA_NUM_THREADS``, which pools of processes such as joblib's set for their
    workers, or the processors that this process may use; fewer under `limit_threads`.
    """
    given = os.environ.get("NUMBA_NUM_THREADS", "")
    if given.isdecimal() and int(given) > 0:
        count = int(given)
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return apply_limit(count)


def apply_limit(n_threads: int) -> int:
    """Return a number of threads, or the limit of the present thread if smaller."""
    limit = getattr(_local, "limit", None)
    return n_threads if limit is None else min(n_threads, limit)


def count_threads(work: int, work_per_thread: int) -> int:
    """Return the number of threads that an amount of work is worth."""
    return int(min(1 + work // work_per_thread, max_threads()))


@contextmanager
def thread_budget(wanted: int) -> Iterator[int]:
    """Reserve extra threads from a budget that all threads of this process share.

    Several fits in threads of one process would otherwise each start a thread for
    every processor. Threads that the present thread has reserved already wait for it
    meanwhile, and are not counted twice.

    Parameters
    ----------
    wanted : int
        Threads to start in addition to the present one.

    Yields
    ------
    int
        The number that may be started, possibly 0.
    """
    global _n_busy
    most = max(wanted, max_threads() - 1)
    held = getattr(_local, "held", 0)
    with _lock:
        granted = max(0, min(wanted, held + most - _n_busy))
        more = max(0, granted - held)
        _n_busy += more
    _local.held = held + more
    try:
        yield granted
    finally:
        _local.held = held
        with _lock:
            _n_busy -= more


def _reset_after_fork() -> None:
    """Start from zero in a forked process, where no extra thread has survived."""
    global _n_busy, _lock
    _lock, _n_busy = threading.Lock(), getattr(_local, "held", 0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def parallel_for(
    work: Callable[[int, int], None], n_items: int, n_threads: int
) -> None:
    """Run numbered items of work in several threads.

    Parameters
    ----------
    work : callable
        ``work(first, last)`` does the items first to last - 1. It should release the
        GIL.
    n_items : int
        Number of items.
    n_threads : int
        Number of threads.
    """
    n_threads = apply_limit(n_threads)
    step = max(1, n_items // (n_threads * PARTS_PER_THREAD))
    step = step if n_threads > 1 else max(1, n_items)
    parts = [(i, min(i + step, n_items)) for i in range(0, n_items, step)]
    remaining = iter(parts)

    def run() -> None:
        for first, last in remaining:  # shared by all threads
            work(first, last)

    # This thread works, too: waiting for a pool costs a fifth of a small matrix.
    with thread_budget(max(0, min(n_threads, len(parts)) - 1)) as count:
        if count == 0:
            return run()
        with ThreadPoolExecutor(count) as pool:
            others = [pool.submit(run) for _ in range(count)]
            run()
            for each in others:
                each.result()


def ordered_parallel(
    work: Callable[[ItemT, SpaceT], None],
    finish: Callable[[ItemT, SpaceT], None],
    items: Iterable[ItemT],
    workspaces: Sequence[SpaceT],
    n_threads: int,
) -> None:
    """Run items of work in several threads, and finish them in their order.

    Parameters
    ----------
    work : callable
        ``work(item, workspace)`` does one item, in a workspace that no other item has
        at the time. It should release the GIL.
    finish : callable
        ``finish(item, workspace)`` follows, for one item at a time, in their order.
    items : iterable
        The items.
    workspaces : sequence
        At least one; an item keeps its workspace until it is finished.
    n_threads : int
        Number of threads that work.
    """
    n_threads = apply_limit(n_threads)
    with thread_budget(n_threads if n_threads > 1 else 0) as count:
        if count < 2:
            for item in items:
                work(item, workspaces[0])
                finish(item, workspaces[0])
            return
        free = list(workspaces)
        started: deque[tuple[ItemT, SpaceT, Future[None]]] = deque()

        def finish_first() -> None:
            item, workspace, done = started.popleft()
            done.result()
            finish(item, workspace)
            free.append(workspace)

        with ThreadPoolExecutor(count) as pool:
            for item in items:
                if not free:
                    finish_first()
                workspace = free.pop()
                started.append((item, workspace, pool.submit(work, item, workspace)))
            while started:
                finish_first()
