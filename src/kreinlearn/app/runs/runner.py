"""Run cells in worker processes, and store each result at once.

Executors of the standard library and of joblib cannot stop a single task that hangs
without breaking the whole pool. pebble can, but its workers share one pipe: a worker
that dies between two tasks breaks the pool, and busy workers outlive a killed parent.
Here a thread serves each worker through a pipe of its own.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue

import joblib
from threadpoolctl import threadpool_limits

from kreinlearn.app.runs.progress import RunState, TimeLeft, Watcher
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
MAX_WAIT_SECONDS = 1e6
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
READY_MESSAGE = "ready"
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
    jobs, describe = jobs or joblib.cpu_count(), describe or _describe_cell
    wanted = list({cell.key: cell for cell in cells}.values())
    with Store(path) as store:
        todo = [cell for cell in wanted if cell.key not in store.keys]
        n_found, n_workers = len(wanted) - len(todo), min(jobs, len(todo))
        todo.sort(key=cost)  # run from the end; stable, so that runs agree
        longest = {_kind(cell): cell.key for cell in todo}
        todo.sort(key=lambda cell: longest[_kind(cell)] == cell.key)
        left = TimeLeft(((_kind(cell), cost(cell)) for cell in todo), n_workers)
        if progress is not None:
            found = f"{n_found} found, {len(todo)} to run"
            progress(RunState(n_found, len(wanted), found))
        threads = 1 if jobs > 1 else None
        workers = [Worker(work, limit, threads) for _ in range(n_workers)]
        with closing(_run_in_workers(todo[::-1], workers)) as finished:
            for done, (cell, outcome, seconds) in enumerate(finished, n_found + 1):
                record = make_record(cell, outcome, **describe_environment())
                store.append(record)
                left.finish(_kind(cell), seconds)
                if progress is not None:
                    text = f"{describe(cell)}, {_describe_result(record)}"
                    progress(RunState(done, len(wanted), text, left.estimate()))
    return len(todo)


def _kind(cell: Cell) -> tuple[str, str, str]:
    """Return the cells that should take equally long."""
    return cell.dataset, cell.method, str(cell.setting("kernel"))


def _describe_cell(cell: Cell) -> str:
    settings = [f"{name} {value}" for name, value in cell.settings]
    return ", ".join([cell.dataset, cell.method, *settings, f"run {cell.run + 1}"])


def _describe_result(record: Record) -> str:
    scored = f"accuracy {record['acc']:.3f}" if "acc" in record else ""
    is_plain = scored and record["status"] == "converged"
    return scored if is_plain else " ".join([record["status"], scored]).rstrip()


def _run_in_workers(
    cells: Sequence[Cell], workers: Sequence["Worker"]
) -> Generator[tuple[Cell, Record, float]]:
    """Yield each cell with its outcome and its seconds, as soon as it is finished."""
    idle: SimpleQueue[Worker] = SimpleQueue()
    finished: SimpleQueue[Future[tuple[Cell, Record, float]]] = SimpleQueue()

    def run_next(cell: Cell) -> tuple[Cell, Record, float]:
        worker = idle.get()
        try:
            return cell, *worker.run(cell)
        finally:
            idle.put(worker)

    for worker in workers:
        idle.put(worker)
    with ThreadPoolExecutor(max(1, len(workers))) as pool:
        try:
            for cell in cells:
                pool.submit(run_next, cell).add_done_callback(finished.put)
            for _ in cells:
                yield finished.get().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.stop()


class Worker:
    """A process that runs one cell at a time; started when needed, and after failures.

    Parameters
    ----------
    work : callable
        Returns the outcome of a cell.
    limit : float
        Time limit of one cell in seconds.
    threads : int or None
        Threads of numerical libraries in the process; None for their own default.
    """

    def __init__(self, work: Work, limit: float, threads: int | None) -> None:
        self.work, self.limit, self.threads = work, limit, threads
        self.process: SpawnProcess | None = None
        self.is_stopped = False

    def run(self, cell: Cell) -> tuple[Record, float]:
        """Return the outcome of a cell and its seconds; an error if the worker dies."""
        process = self.process or self._start()
        start = time.monotonic()
        try:
            self.connection.send(cell)
            if self.connection.poll(min(self.limit, MAX_WAIT_SECONDS)):
                return self.connection.recv(), time.monotonic() - start
            error = f"stopped after the limit of {self.limit:g} seconds"
            outcome = {"status": "timeout", "error": error}
        except (EOFError, OSError):
            process.join()
            ended = f"the worker process ended with code {process.exitcode}"
            outcome = {
                "status": "error",
                "error": f"{ended}, perhaps for lack of memory",
            }
        self._kill()
        return outcome, time.monotonic() - start

    def _start(self) -> SpawnProcess:
        # A fresh process: forked ones inherit thread pools that no longer work.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        given = (theirs, self.work, self.threads)
        process = context.Process(target=serve, args=given, daemon=True)
        process.start()
        theirs.close()
        self.process = process
        if self.is_stopped:
            self._kill()
        try:
            if not self.connection.poll(START_SECONDS):
                raise RuntimeError("A worker process did not start in time.")
            self.connection.recv()
        except (EOFError, OSError):
            process.join()
            raise RuntimeError(
                f"A worker process ended with code {process.exitcode} before it could "
                "start; see its message above."
            ) from None
        return process

    def _kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def stop(self) -> None:
        """End the process for good."""
        self.is_stopped = True
        self._kill()


def serve(connection: Connection, work: Work, threads: int | None) -> None:
    """Run the cells that a connection sends until it is closed."""
    # Ctrl-C reaches every process of a terminal; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    threading.Thread(target=_exit_after_parent, daemon=True).start()
    if threads is not None:  # for libraries that are loaded later
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    with threadpool_limits(threads):  # for those that are loaded
        connection.send(READY_MESSAGE)
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
