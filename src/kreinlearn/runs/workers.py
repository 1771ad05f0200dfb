"""Worker processes that can be stopped one by one.

The executors of the standard library and of joblib cannot end a single task that
hangs without breaking the whole pool, and a time limit is worth nothing otherwise.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from threadpoolctl import threadpool_limits

from kreinlearn.runs.cells import Cell

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Variables that libraries read when they are loaded."""
READY = "ready"
"""What a worker says when it has loaded everything."""
START_LIMIT = 300.0
"""Seconds in which a worker must have loaded everything."""
LONGEST_WAIT = 3600.0
"""Seconds of one wait for news: the operating system takes no infinite one."""

Work = Callable[[Cell], dict[str, Any]]
"""What a worker does with a cell; must be importable, for it is sent by name."""


@dataclass
class Worker:
    """One process, and what it is busy with."""

    process: Any
    connection: Connection
    deadline: float
    cell: Cell | None = None
    is_ready: bool = False

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def start_worker(work: Work, threads: int | None) -> Worker:
    """Start a process that waits for cells.

    Parameters
    ----------
    work : callable
        What to do with a cell.
    threads : int or None
        Threads that numerical libraries may use, or None for their own choice.

    Returns
    -------
    Worker
        Not yet ready.
    """
    # A fresh process: forked ones inherit thread pools that no longer work.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, work, threads), daemon=True)
    with _limited_environment(threads):
        process.start()
    theirs.close()
    return Worker(process, ours, time.monotonic() + START_LIMIT)


@contextmanager
def _limited_environment(threads: int | None) -> Iterator[None]:
    before = dict(os.environ)
    try:
        if threads is not None:
            os.environ.update(dict.fromkeys(THREADS, str(threads)))
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def ready(workers: list[Worker], timeout: float) -> list[Worker]:
    """Return the workers that have said something, or have died.

    Parameters
    ----------
    workers : list of Worker
        Whom to listen to.
    timeout : float
        Seconds to wait at most.

    Returns
    -------
    list of Worker
        Possibly none.
    """
    seconds = min(max(0.0, timeout), LONGEST_WAIT)
    heard = wait([worker.connection for worker in workers], seconds)
    return [worker for worker in workers if worker.connection in heard]


def serve(connection: Connection, work: Work, threads: int | None) -> None:
    """Answer cells with outcomes until told to stop: the life of a worker.

    Parameters
    ----------
    connection : Connection
        To the parent process.
    work : callable
        What to do with a cell.
    threads : int or None
        Threads that numerical libraries may use.
    """
    # Ctrl-C goes to every process of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    with threadpool_limits(threads):
        connection.send(READY)
        while True:
            try:
                cell = connection.recv()
            except EOFError:
                return
            connection.send(_outcome(work, cell))


def _outcome(work: Work, cell: Cell) -> dict[str, Any]:
    """Do the work; a failure is an outcome as well."""
    try:
        return work(cell)
    except Exception as error:
        return {"status": "error", "error": f"{type(error).__name__}: {error}"}


def _leave_with_parent() -> None:
    """End this process if the parent is gone, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
