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
def one_thread() -> Iterator[None]:
    """Let kernels that the present thread calls start no other threads.

    For whoever has a thread for each processor already, as workers of a cluster do.
    """
    before = getattr(_here, "is_alone", False)
    _here.is_alone = True
    try:
        yield
    finally:
        _here.is_alone = before


def available() -> int:
    """Return how many threads may work at once: `max_threads`, or one if alone.

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
    """Return a number of threads, or one if the present thread may start no others.

    Parameters
    ----------
    n_threads : int
        The number that would be best.

    Returns
    -------
    int
        The number that is allowed.
    """
    return 1 if getattr(_here, "is_alone", False) else n_threads


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
