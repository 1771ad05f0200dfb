"""Run cells in worker processes, and store each result at once.

Executors of the standard library and of joblib cannot stop a single task that hangs
without breaking the whole pool. pebble can, but its workers share one pipe: a worker
that dies between two tasks breaks the pool, and busy workers outlive a killed parent.
Here each worker has its own pipe.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from threadpoolctl import threadpool_limits

from kreinlearn.app.runs.progress import Progress, TimeLeft, Watcher
from kreinlearn.app.runs.records import (
    Cell,
    Record,
    Store,
    describe_environment,
    make_record,
)

CELL_SECONDS = 1800.0
"""Time limit of one cell."""
START_SECONDS = 300.0
"""Time limit for the start of a worker."""
MAX_WAIT_SECONDS = 3600.0
"""Longest wait for a message: the operating system takes no infinite one."""
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Variables that libraries read when they are loaded."""
PR_SET_PDEATHSIG = 1
"""Option of ``prctl``: the signal that a process gets when its parent ends."""
READY = "ready"
"""First message of a worker, after its imports."""

Work = Callable[[Cell], Record]
"""Function that a worker calls with a cell; importable, because it is sent by name."""


def run(
    cells: Iterable[Cell],
    path: str | os.PathLike[str],
    work: Work,
    *,
    jobs: int | None = None,
    limit: float = CELL_SECONDS,
    cost: Callable[[Cell], float] = lambda cell: 1.0,
    describe: Callable[[Cell], str] | None = None,
    progress: Watcher | None = None,
) -> int:
    """Run the cells that have no record yet, and append a record for each.

    Parameters
    ----------
    cells : iterable of Cell
        Cells to run.
    path : path-like
        File of records. This process is the only one that writes it.
    work : callable
        Returns the outcome of a cell; importable by name, as it runs in other
        processes.
    jobs : int, optional
        Number of worker processes; by default one per processor. If there are
        several, each uses one thread.
    limit : float
        Time limit of one cell in seconds. A cell that takes longer gets a record with
        status "timeout".
    cost : callable
        Estimated time of a cell, in any unit. The longest cell of each method and data
        set is run first, for the estimate of the time left; then the longest ones.
    describe : callable, optional
        Returns the name of a cell in progress messages.
    progress : callable, optional
        Called before the first cell and after each; see `progress_bar`.

    Returns
    -------
    int
        Number of records written.

    Notes
    -----
    If the process is killed, the file holds all finished records, and the same call
    resumes. A KeyboardInterrupt stops the workers and is raised again.
    """
    jobs, describe = jobs or count_processors(), describe or _describe
    wanted = list({cell.key: cell for cell in cells}.values())
    with Store(path) as store:
        todo = [cell for cell in wanted if cell.key not in store.keys]
        n_found, n_workers = len(wanted) - len(todo), min(jobs, len(todo))
        todo.sort(key=cost)  # taken from the end; stable, so that runs agree
        longest = {_kind(cell): cell.key for cell in todo}
        todo.sort(key=lambda cell: longest[_kind(cell)] == cell.key)
        left = TimeLeft(((_kind(cell), cost(cell)) for cell in todo), n_workers)
        if progress is not None:
            found = f"{n_found} found, {len(todo)} to run"
            progress(Progress(n_found, len(wanted), found))
        pool = WorkerPool(work, n_workers, limit, 1 if jobs > 1 else None)
        done = n_found
        try:
            while todo or pool.is_busy:
                for cell, outcome, seconds in pool.collect(todo):
                    record = make_record(cell, outcome, **describe_environment())
                    store.append(record)
                    done += 1
                    left.finish(_kind(cell), seconds)
                    if progress is not None:
                        text = f"{describe(cell)}, {_describe_result(record)}"
                        progress(Progress(done, len(wanted), text, left.estimate()))
        finally:
            pool.stop()
    return done - n_found


def _kind(cell: Cell) -> tuple[str, str, str]:
    """Return the cells that should take equally long."""
    return cell.dataset, cell.method, str(cell.setting("kernel"))


def _describe(cell: Cell) -> str:
    settings = [f"{name} {value}" for name, value in cell.settings]
    return ", ".join([cell.dataset, cell.method, *settings, f"run {cell.run + 1}"])


def _describe_result(record: Record) -> str:
    scored = f"accuracy {record['acc']:.3f}" if "acc" in record else ""
    is_plain = scored and record["status"] == "converged"
    return scored if is_plain else " ".join([record["status"], scored]).rstrip()


def count_processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass
class Worker:
    """A process and the cell that it runs."""

    process: SpawnProcess
    connection: Connection
    deadline: float
    cell: Cell | None = None
    started: float = 0.0
    is_ready: bool = False

    def stop(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class WorkerPool:
    """Workers that share a list of cells.

    Parameters
    ----------
    work : callable
        Returns the outcome of a cell.
    size : int
        Number of workers.
    limit : float
        Time limit of one cell in seconds.
    threads : int or None
        Threads of numerical libraries in each worker; None for their own default.
    """

    def __init__(
        self, work: Work, size: int, limit: float, threads: int | None
    ) -> None:
        self.work, self.limit, self.threads = work, limit, threads
        self.workers = [self._start() for _ in range(size)]

    def _start(self) -> Worker:
        # A fresh process: forked ones inherit thread pools that no longer work.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        given = (theirs, self.work, self.threads)
        process = context.Process(target=serve, args=given, daemon=True)
        process.start()
        theirs.close()
        return Worker(process, ours, time.monotonic() + START_SECONDS)

    @property
    def is_busy(self) -> bool:
        """Whether a cell is being run."""
        return any(worker.cell is not None for worker in self.workers)

    def collect(self, todo: list[Cell]) -> list[tuple[Cell, Record, float]]:
        """Hand out cells from the end of a list, wait, and return finished ones.

        Returns
        -------
        list of (Cell, dict, float)
            The cell, its outcome and its seconds.
        """
        for worker in self.workers:
            if worker.is_ready and worker.cell is None and todo:
                worker.cell, worker.started = todo.pop(), time.monotonic()
                worker.deadline = worker.started + self.limit
                worker.connection.send(worker.cell)
        active = [w for w in self.workers if w.cell is not None or not w.is_ready]
        seconds = min(worker.deadline for worker in active) - time.monotonic()
        seconds = min(max(0.0, seconds), MAX_WAIT_SECONDS)
        answered = wait([worker.connection for worker in active], seconds)
        finished = []
        for worker in active:
            cell, outcome = worker.cell, None
            if worker.connection in answered:
                outcome = self._receive(worker)
            elif time.monotonic() >= worker.deadline:
                if cell is None:
                    raise RuntimeError("A worker process did not start in time.")
                error = f"stopped after the limit of {self.limit:g} seconds"
                outcome = {"status": "timeout", "error": error}
                self._replace(worker)
            if cell is not None and outcome is not None:
                finished.append((cell, outcome, time.monotonic() - worker.started))
        return finished

    def _receive(self, worker: Worker) -> Record | None:
        """Return the outcome that a worker sends; an error if it has died."""
        try:
            message = worker.connection.recv()
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
        if message == READY:
            worker.is_ready = True
            return None
        worker.cell = None
        return dict(message)

    def _replace(self, worker: Worker) -> None:
        worker.stop()
        self.workers[self.workers.index(worker)] = self._start()

    def stop(self) -> None:
        """Kill all workers."""
        for worker in self.workers:
            worker.stop()


def serve(connection: Connection, work: Work, threads: int | None) -> None:
    """Run the cells that a connection sends until it is closed."""
    # Ctrl-C reaches every process of a terminal; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    threading.Thread(target=_exit_after_parent, daemon=True).start()
    if threads is not None:  # for libraries that are loaded later
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    with threadpool_limits(threads):  # for those that are loaded
        connection.send(READY)
        while True:
            try:
                cell = connection.recv()
            except EOFError:
                return
            connection.send(run_cell(work, cell))


def run_cell(work: Work, cell: Cell) -> Record:
    """Return the outcome of a cell; an exception becomes an outcome as well."""
    try:
        return work(cell)
    except Exception as error:
        return {"status": "error", "error": f"{type(error).__name__}: {error}"}


def _end_with_parent() -> None:
    """Ask Linux to kill this process with its parent, even while no thread runs.

    The thread below does so elsewhere, unless a long call keeps it from running.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _exit_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
