"""How many threads linear algebra may use."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

ONE_THREAD = 600
"""Up to this many samples linear algebra runs on one thread."""


def few_threads(n: int) -> AbstractContextManager[Any]:
    """Keep BLAS to one thread while matrices are small.

    Up to 600 samples two threads gain nothing; and where other processes run, threads
    that wait for each other lose a lot.

    Parameters
    ----------
    n : int
        Number of samples.

    Returns
    -------
    context manager
        Which does nothing if n is large.
    """
    if n > ONE_THREAD:
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
