"""How many threads compiled kernels may start."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_here = threading.local()


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
