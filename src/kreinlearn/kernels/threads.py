"""How many threads compiled kernels may start."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_here = threading.local()
_lock = threading.Lock()
_busy = 0
"""Helpers of all threads of this process; read and written under the lock."""


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Let what the present thread calls use at most that many threads.

    One for callers that have a thread for each processor, as workers of a cluster do.
    """
    before = getattr(_here, "limit", None)
    _here.limit = count if before is None else min(before, count)
    try:
        yield
    finally:
        _here.limit = before


def available() -> int:
    """Return how many threads may work at once: `max_threads`, or fewer if limited.

    Pools of processes such as joblib's set ``NUMBA_NUM_THREADS`` for their workers.
    """
    return allowed(max_threads())


def max_threads() -> int:
    """Return ``NUMBA_NUM_THREADS``, or the processors that this process may use."""
    given = os.environ.get("NUMBA_NUM_THREADS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def allowed(n_threads: int) -> int:
    """Return a number of threads, or the limit of the present thread if smaller.

    Parameters
    ----------
    n_threads : int
        The number that would be best.

    Returns
    -------
    int
        The number that is allowed.
    """
    limit = getattr(_here, "limit", None)
    return n_threads if limit is None else min(n_threads, limit)


@contextmanager
def helpers(wanted: int) -> Iterator[int]:
    """Take helpers from those that all threads of this process share.

    Several fits at a time in threads of one process would each start a thread for
    every processor otherwise. Helpers that the present thread has taken already wait
    for it meanwhile, and are not counted twice.

    Parameters
    ----------
    wanted : int
        Threads to start in addition to the present one.

    Yields
    ------
    int
        The number that may be started, possibly none.
    """
    global _busy
    most = max(wanted, available() - 1)
    held = getattr(_here, "held", 0)
    with _lock:
        granted = max(0, min(wanted, held + most - _busy))
        more = max(0, granted - held)
        _busy += more
    _here.held = held + more
    try:
        yield granted
    finally:
        _here.held = held
        with _lock:
            _busy -= more


def _forget_helpers() -> None:
    """Start from zero in a forked process, where no helper has survived."""
    global _busy, _lock
    _lock, _busy = threading.Lock(), getattr(_here, "held", 0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)
