"""Worker processes that can be stopped one by one.

The executors of the standard library and of joblib cannot end a single task that
hangs without breaking the whole pool, and a time limit is worth nothing otherwise.
pebble can, but its workers share one pipe: one that dies between two tasks breaks the
pool, and nothing ends busy workers when the parent is killed. Here each has its own.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from threadpoolctl import threadpool_limits

from kreinlearn.app.runs.cells import Cell, Record

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Variables that libraries read when they are loaded."""
PR_SET_PDEATHSIG = 1
"""What ``prctl`` calls the signal that a process gets when its parent ends."""
READY = "ready"
"""What a worker says when it has loaded everything."""
START_LIMIT = 300.0
"""Seconds in which a worker must have loaded everything."""
LONGEST_WAIT = 3600.0
"""Seconds of one wait for news: the operating system takes no infinite one."""

Work = Callable[[Cell], Record]
"""What a worker does with a cell; must be importable, for it is sent by name."""


@dataclass
class Worker:
    """One process, and what it is busy with."""

    process: SpawnProcess
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
    """Start a process that waits for cells; it is not yet ready.

    Parameters
    ----------
    work : callable
        What to do with a cell.
    threads : int or None
        Threads that numerical libraries may use, or None for their own choice.
    """
    # A fresh process: forked ones inherit thread pools that no longer work.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, work, threads), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours, time.monotonic() + START_LIMIT)


class Crew:
    """Workers that share a list of cells.

    Parameters
    ----------
    work : callable
        What to do with a cell.
    size : int
        Number of workers.
    limit : float
        Seconds that one cell may take.
    threads : int or None
        Threads that numerical libraries may use in each.
    """

    def __init__(
        self, work: Work, size: int, limit: float, threads: int | None
    ) -> None:
        self.work, self.limit, self.threads = work, limit, threads
        self.workers = [start_worker(work, threads) for _ in range(size)]

    @property
    def is_busy(self) -> bool:
        """Whether a cell is being worked on."""
        return any(worker.cell is not None for worker in self.workers)

    def turn(self, todo: list[Cell]) -> list[tuple[Cell, Record]]:
        """Hand out cells from the end of a list, wait, and return what is finished."""
        for worker in self.workers:
            if worker.is_ready and worker.cell is None and todo:
                worker.cell = todo.pop()
                worker.deadline = time.monotonic() + self.limit
                worker.connection.send(worker.cell)
        active = [w for w in self.workers if w.cell is not None or not w.is_ready]
        seconds = min(worker.deadline for worker in active) - time.monotonic()
        seconds = min(max(0.0, seconds), LONGEST_WAIT)
        heard = wait([worker.connection for worker in active], seconds)
        finished = []
        for worker in active:
            cell, outcome = worker.cell, None
            if worker.connection in heard:
                outcome = self._hear(worker)
            elif time.monotonic() >= worker.deadline:
                outcome = self._give_up(worker)
            if cell is not None and outcome is not None:
                finished.append((cell, outcome))
        return finished

    def _hear(self, worker: Worker) -> Record | None:
        """Return the outcome that a worker sends, or what its death means."""
        try:
            said = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join()
            ended = f"worker process ended with code {worker.process.exitcode}"
            if worker.cell is None:
                raise RuntimeError(
                    f"A {ended} before it could start; see its message above."
                ) from None
            self._replace(worker)
            error = f"the {ended}, perhaps for lack of memory"
            return {"status": "error", "error": error}
        worker.deadline = float("inf")
        if said == READY:
            worker.is_ready = True
            return None
        worker.cell = None
        return dict(said)

    def _give_up(self, worker: Worker) -> Record:
        """Stop a worker that takes too long."""
        if worker.cell is None:
            raise RuntimeError("A worker process did not start in time.")
        self._replace(worker)
        error = f"stopped after the limit of {self.limit:g} seconds"
        return {"status": "timeout", "error": error}

    def _replace(self, worker: Worker) -> None:
        worker.stop()
        place = self.workers.index(worker)
        self.workers[place] = start_worker(self.work, self.threads)

    def dismiss(self) -> None:
        """Stop all workers, whatever they do."""
        for worker in self.workers:
            worker.stop()


def serve(connection: Connection, work: Work, threads: int | None) -> None:
    """Answer cells with outcomes until told to stop: the life of a worker."""
    # Ctrl-C goes to every process of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    if threads is not None:  # for libraries that are loaded later
        os.environ.update(dict.fromkeys(THREADS, str(threads)))
    with threadpool_limits(threads):  # for those that are here
        connection.send(READY)
        while True:
            try:
                cell = connection.recv()
            except EOFError:
                return
            connection.send(_outcome(work, cell))


def _outcome(work: Work, cell: Cell) -> Record:
    """Do the work; a failure is an outcome as well."""
    try:
        return work(cell)
    except Exception as error:
        return {"status": "error", "error": f"{type(error).__name__}: {error}"}


def _end_with_parent() -> None:
    """Ask Linux to kill this process with its parent, also while no thread of it runs.

    The thread below does so elsewhere, unless a long call keeps it from running.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _leave_with_parent() -> None:
    """End this process if the parent is gone, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
