"""One thread of BLAS for a while, whatever other threads of the process do."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import LibController, ThreadpoolController

_lock = threading.Lock()
_n_inside = 0
"""How many ask for one thread at present; read and written under the lock."""
_before: list[int] = []
"""Threads of each library before the first of them came."""

if hasattr(os, "register_at_fork"):  # no forked process finds it locked for good
    os.register_at_fork(
        before=_lock.acquire,
        after_in_parent=_lock.release,
        after_in_child=_lock.release,
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread, such as while threads of our own call it.

    The number of threads belongs to the whole process. The first to come sets it, and
    the last to leave puts back what was there, in whatever order threads come and go.
    If each put back what it had found, BLAS would be left with one thread for good.
    Where BLAS runs on OpenMP, each thread has a number of its own.
    """
    global _n_inside
    shared, own = _libraries()
    mine = [library.num_threads for library in own]
    _set_threads(own, [1] * len(own))
    with _lock:
        if _n_inside == 0:
            _before[:] = [library.num_threads for library in shared]
            _set_threads(shared, [1] * len(shared))
        _n_inside += 1
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                _set_threads(shared, _before)
        _set_threads(own, mine)


def _set_threads(libraries: list[LibController], numbers: list[int]) -> None:
    for library, number in zip(libraries, numbers, strict=True):
        # From version 3.8 on, threadpoolctl ignores all threads but the first to set a
        # number, so that the last of ours to leave could not put it back.
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(number)
        clear(force=True)


@cache  # looking for them takes milliseconds
def _libraries() -> tuple[list[LibController], list[LibController]]:
    """Return those with threads of the process, and those with threads of a thread."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    is_own = [getattr(each, "threading_layer", "") == "openmp" for each in found]
    shared = [each for each, own in zip(found, is_own, strict=True) if not own]
    return shared, [each for each, own in zip(found, is_own, strict=True) if own]
