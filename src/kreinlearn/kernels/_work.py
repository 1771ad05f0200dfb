"""Pieces of work in several threads, which end with the call.

No pool is left that would spin, or be missing in a forked process.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from kreinlearn.kernels.threads import allowed, helpers

SHARES = 8
"""Pieces a thread gets on average; more are a better balance, fewer are fewer calls."""

Item = TypeVar("Item")
Place = TypeVar("Place")


def share_out(work: Callable[[int, int], None], n_items: int, n_threads: int) -> None:
    """Do numbered pieces of work in several threads.

    Parameters
    ----------
    work : callable
        ``work(first, last)`` does the pieces first to last - 1. It should let go of
        the GIL.
    n_items : int
        Number of pieces.
    n_threads : int
        Number of threads.
    """
    n_threads = allowed(n_threads)
    step = max(1, n_items // (n_threads * SHARES)) if n_threads > 1 else n_items
    parts = [(i, min(i + step, n_items)) for i in range(0, n_items, step)]
    left = iter(parts)

    def take() -> None:
        for first, last in left:  # the next one, whoever is first
            work(first, last)

    if len(parts) == 1 or n_threads == 1:
        return take()
    # This thread works, too: waiting for a pool costs a fifth of a small matrix.
    with helpers(min(n_threads, len(parts)) - 1) as count:
        if count == 0:  # other threads have them all
            return take()
        with ThreadPoolExecutor(count) as pool:
            others = [pool.submit(take) for _ in range(count)]
            take()
            for each in others:
                each.result()


def in_order(
    work: Callable[[Item, Place], None],
    finish: Callable[[Item, Place], None],
    items: Iterable[Item],
    workspaces: Sequence[Place],
    n_threads: int,
) -> None:
    """Do pieces of work in several threads, and finish them in the order they have.

    Parameters
    ----------
    work : callable
        ``work(item, workspace)`` does one piece, in a workspace that no other has at
        the time. It should let go of the GIL.
    finish : callable
        ``finish(item, workspace)`` follows, for one item at a time, in their order.
    items : iterable
        The pieces.
    workspaces : sequence
        What pieces are done in, at least one; a piece keeps its workspace until it is
        finished.
    n_threads : int
        Number of threads that work.
    """
    n_threads = allowed(n_threads)
    with helpers(n_threads if n_threads > 1 else 0) as count:
        if count < 2:
            for item in items:
                work(item, workspaces[0])
                finish(item, workspaces[0])
        else:
            _in_order(work, finish, items, workspaces, count)


def _in_order(
    work: Callable[[Item, Place], None],
    finish: Callable[[Item, Place], None],
    items: Iterable[Item],
    workspaces: Sequence[Place],
    n_threads: int,
) -> None:
    """Do the same by as many threads, while this one finishes."""
    free = list(workspaces)
    started: deque[tuple[Item, Place, Future[None]]] = deque()

    def finish_first() -> None:
        item, workspace, done = started.popleft()
        done.result()
        finish(item, workspace)
        free.append(workspace)

    with ThreadPoolExecutor(n_threads) as pool:
        for item in items:
            if not free:
                finish_first()
            workspace = free.pop()
            started.append((item, workspace, pool.submit(work, item, workspace)))
        while started:
            finish_first()
