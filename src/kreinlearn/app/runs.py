"""Resumable runs: cells, their records in a file, worker processes, progress.

Results are JSON Lines, each written at once. Executors of the standard
library and of joblib cannot stop a single task that hangs without breaking the whole
pool. pebble can, but its workers share one pipe: a worker that dies between two tasks
breaks the pool, and busy workers outlive a killed parent. Here a thread serves each
worker through a pipe of its own.
"""

import ctypes
import hashlib
import json
import math
import multiprocessing
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, Self, TextIO

import joblib
from threadpoolctl import threadpool_limits

from kreinlearn._files import PathName, check_regular

__all__ = ["Cell", "RunState", "progress_bar", "read_records", "run"]

SIGNIFICANT_DIGITS = 6
"""Significant digits of a stored number."""
GIT_SECONDS = 10.0
"""Time limit of the call of git."""
FAILED_STATUSES = frozenset({"error", "timeout"})
"""Statuses of records without scores."""

Value = str | int | float | bool
"""Value of a setting: JSON must return it unchanged."""
Record = dict[str, Any]
"""Result of a cell, by field; fields that do not apply are absent.

key : the cell as one string; unique in a file
exp : experiment
data : data set
method : method
run : repetition
set : further settings of the cell
seed : seed of the method
half : seed of the random half and of the folds
status : status of the fit, or error or timeout
error : error message
acc : accuracy on the test half
bacc : balanced accuracy on the test half
ll : log-loss on the test half, if the method has probabilities
auc : area under the ROC curve; the mean of each class against the rest
truth : classes of the test rows, by position
proba : probabilities of the test rows; of the second class if there are two
score : their scores, if the method has no probabilities
fit_s : seconds of the fit with the chosen hyper-parameters, given K
pred_s : seconds of the prediction, given the similarities
gram_s : seconds of the kernel matrix of the training half
n_iter : iterations of the fit
chosen : hyper-parameters that cross-validation chose
grid : hyper-parameters that it tried
cv : number of its fits by status
cv_n : training rows of the cross-validation, if not all
curve : objective after each outer iteration
n : training rows
m : features
tau : truncation of the TL1 kernel
sig : numbers of positive, negative and zero eigenvalues of the training K
mu : smallest and largest eigenvalue of the training K
neg : fraction of the negative eigenvalues in the sum of absolute values
mu_bound : true if the smallest is only an upper bound
split : method by which K was split, if not that of the paper
tried : number of kernel matrices
indefinite : how many of them have a negative eigenvalue
mu_ratio : their smallest eigenvalue relative to the largest, of all of them
shape : rows, columns, height and width of example images
pixels : their gray values, compressed
hits : test rows that are right, by start, for each lam of the grid
curves : objective after each outer iteration, by eps, for each lam of the grid
steps : inner steps, by eps, for each lam; null where the fit diverged
ver : versions
git : revision of the source
"""


def derive_seed(*identity: Value) -> int:
    """Return a seed below 2**32 that depends on the text of some values alone.

    Examples
    --------
    >>> from kreinlearn.app.runs import derive_seed
    >>> derive_seed("half", "monks1", 0)
    1729717323
    """
    text = "\x1f".join(str(part) for part in identity)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Cell:
    """One fit to run: a method on one split of one data set.

    Parameters
    ----------
    experiment : str
        Name of the experiment, such as "table3".
    dataset, method : str
        Names of the data set and of the method.
    run : int
        Number of the repetition.
    settings : tuple of (str, value) pairs
        Further settings. The setting "half" fixes the random half: cells of all runs
        then use the half of that run.

    Examples
    --------
    >>> from kreinlearn.app.runs import Cell
    >>> Cell("fig2", "monks1", "CCICP-GD", 3, (("eps", 0.1),)).key
    'fig2/monks1/CCICP-GD/3/eps=0.1'
    """

    experiment: str
    dataset: str
    method: str
    run: int = 0
    settings: tuple[tuple[str, Value], ...] = ()

    @property
    def key(self) -> str:
        """Identifier of the cell and of its record."""
        parts = [self.experiment, self.dataset, self.method, str(self.run)]
        parts += [f"{name}={value}" for name, value in self.settings]
        return "/".join(parts)

    @property
    def seed(self) -> int:
        """Seed of the method."""
        return derive_seed("cell", self.key)

    @property
    def half_seed(self) -> int:
        """Seed of the random half and of the folds: the same for all methods."""
        return derive_seed("half", self.dataset, self.setting("half", self.run))

    def setting(self, name: str, default: Any = None) -> Any:
        """Return the value of a setting."""
        return dict(self.settings).get(name, default)


def to_json(value: Any) -> Any:
    """Convert numbers, strings, lists and mappings of them for JSON.

    Floats are rounded to six significant digits; non-finite ones become None.
    """
    if isinstance(value, Mapping):
        return {str(name): to_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0:
        return [to_json(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        rounded = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
        return rounded if math.isfinite(value) else None
    return value


def make_record(cell: Cell, outcome: Record, **environment: object) -> Record:
    """Return the record of a cell, from its outcome and versions of libraries."""
    fields = {
        "key": cell.key,
        "exp": cell.experiment,
        "data": cell.dataset,
        "method": cell.method,
        "run": cell.run,
        "set": dict(cell.settings) or None,
        "seed": cell.seed,
        "half": cell.half_seed,
        **to_json(outcome),
        **environment,
    }
    return {name: value for name, value in fields.items() if value is not None}


@cache
def describe_environment() -> Record:
    """Return versions and, in a checkout, the revision: fields of a record."""
    names = ("numpy", "scipy", "scikit-learn", "kreinlearn")
    versions = {"python": platform.python_version()}
    versions |= {name: version(name) for name in names}
    root, revision = Path(__file__).parents[3], ""
    if (root / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            revision = subprocess.check_output(
                "git describe --always --dirty --abbrev=12 --exclude=*".split(),
                cwd=root,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=GIT_SECONDS,
            ).strip()
    return {"ver": versions, "git": revision or None}


def _parse(text: bytes, where: str) -> tuple[list[Record], int]:
    """Return the records of complete lines, and the length of these lines."""
    found: list[Record] = []
    lines, length = text.splitlines(keepends=True), 0
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            is_record = line.endswith(b"\n") and isinstance(record["key"], str)
        except (ValueError, KeyError, TypeError, RecursionError):
            is_record = False
        if is_record:
            found.append(record)
            length += len(line)
        elif number < len(lines):  # the last line may be torn
            raise ValueError(
                f"Line {number} of {where} is not a record of an experiment: "
                f"{line[:60].rstrip()!r}. Remove the line, or the file."
            )
    return found, length


def read_records(path: PathName) -> list[Record]:
    """Return all records of a file without a last line that was cut short.

    A missing file has no records.
    """
    path = Path(path)
    if not path.exists():
        return []
    check_regular(path)
    return _parse(path.read_bytes(), str(path))[0]


def encode_record(record: Record) -> bytes:
    """Return a record as a line of a file."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


class Store:
    """A file of records, open for appending by this process alone.

    A last line that was cut short by a kill or a full disk is removed on opening.

    Parameters
    ----------
    path : path-like
        The file; it and its folder are created if necessary.

    Attributes
    ----------
    keys : set of str
        Keys of all records.

    Raises
    ------
    BlockingIOError
        If another process writes to the file.
    """

    def __init__(self, path: PathName) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        check_regular(self.path)
        # Unbuffered: a line is one write, which an interrupt cannot tear.
        self._file = open(self.path, "a+b", buffering=0)
        try:
            _lock_file(self._file.fileno(), self.path)
            self._file.seek(0)
            found, length = _parse(self._file.read(), str(self.path))
            self._file.truncate(length)
        except BaseException:
            self._file.close()
            raise
        self.keys = {record["key"] for record in found}

    def append(self, record: Record) -> None:
        """Write a record, whose key must be new, and wait until it is on disk."""
        if record["key"] in self.keys:
            raise ValueError(f"{self.path} already has a record {record['key']!r}.")
        line = encode_record(record)
        end = self._file.seek(0, os.SEEK_END)
        try:
            while line:  # a disk that is nearly full takes a part, without an error
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(end)
            reason = error.strerror or str(error)
            raise type(error)(
                f"{self.path} could not be written: {reason}. Earlier results are "
                "safe: free some space and run the same command again."
            ) from None
        self.keys.add(record["key"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def _lock_file(descriptor: int, path: Path) -> None:
    """Raise if another process writes the file; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BlockingIOError(
            f"{path} is being written by another run; wait for it to end, or use "
            "another folder."
        ) from None


MIN_FINISHED = 0.1
"""Fraction of the expected work below which no time left is estimated."""


class RunState(NamedTuple):
    """State of a run.

    Attributes
    ----------
    done, total : int
        Finished steps, and all steps.
    text : str
        The last step and its result.
    left : float or None
        Estimated seconds until all steps are done.
    """

    done: int
    total: int
    text: str = ""
    left: float | None = None


Watcher = Callable[[RunState], object]
"""Receives the state of a run after each step."""


def estimate_left(start: float, fraction: float) -> float | None:
    """Return the seconds left of work that began at a time of the monotonic clock.

    None before a tenth of the work is finished.
    """
    if fraction < MIN_FINISHED:
        return None
    return (time.monotonic() - start) * (1 / fraction - 1)


@contextmanager
def progress_bar(stream: TextIO, label: str) -> Iterator[Watcher]:
    """Yield a function that writes progress to a stream.

    A terminal shows a bar; other streams get one line per step.

    Parameters
    ----------
    stream : text stream
        Usually stderr.
    label : str
        Name of the command.
    """
    if not stream.isatty():
        yield lambda state: stream.write(f"{progress_line(state, label)}\n")
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[left]}"),
    )
    console = Console(file=stream)
    with progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None, left="")

        def show(state: RunState) -> None:
            left = "" if state.left is None else f"{format_duration(state.left)} left"
            bar.update(task, completed=state.done, total=state.total, left=left)

        yield show


@contextmanager
def counter(stream: TextIO, label: str) -> Iterator[Callable[..., None]]:
    """Yield a function that reports finished steps.

    Its arguments are ``(done, total, text, fraction=None)``; the fraction of the work
    that is done is ``done / total`` by default.
    """
    start = time.monotonic()
    with progress_bar(stream, label) as show:

        def report(
            done: int, total: int, text: str, fraction: float | None = None
        ) -> None:
            left = estimate_left(start, fraction or done / total)
            show(RunState(done, total, text, left))

        yield report


@contextmanager
def report_fraction(
    stream: TextIO, patience: float = 3.0
) -> Iterator[Callable[[str, float, float], None]]:
    """Yield a function that reports the finished fraction of a computation.

    Its arguments are ``(name, fraction, left)``, with the seconds left. Computations
    that take less than ``patience`` seconds are not reported; lines are ``patience``
    seconds apart.
    """
    with ExitStack() as stack:
        bars: dict[str, Watcher] = {}
        last = [time.monotonic()]

        def report(name: str, fraction: float, left: float) -> None:
            waited = time.monotonic() - last[0]
            if fraction >= 1:
                bars.clear()
                stack.close()
            elif stream.isatty() and (bars or waited + left > patience):
                if not bars:
                    bars["bar"] = stack.enter_context(progress_bar(stream, name))
                bars["bar"](RunState(round(100 * fraction), 100, "", left))
            elif not stream.isatty() and waited > patience:
                last[0] = time.monotonic()
                text = f"{fraction:.0%} done, {format_duration(left)} left"
                stream.write(f"{name}: {text}\n")

        yield report


def progress_line(state: RunState, label: str) -> str:
    """Return the state of a run as one line.

    Examples
    --------
    >>> from kreinlearn.app.runs import RunState, progress_line
    >>> progress_line(RunState(3, 9, "KreinCV, fold 3", 65.0), "compare")
    'compare 3/9: KreinCV, fold 3; 1m05s left'
    """
    head = f"{label} {state.done}/{state.total}: {state.text}".strip()
    return head if state.left is None else f"{head}; {format_duration(state.left)} left"


def format_duration(seconds: float) -> str:
    """Return seconds as hours and minutes, or as minutes and seconds.

    Examples
    --------
    >>> from kreinlearn.app.runs import format_duration
    >>> format_duration(59.6), format_duration(3725)
    ('1m00s', '1h02m')
    """
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 60}m{whole % 60:02d}s"


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


def describe_cell(cell: Cell) -> str:
    """Return the name of a cell in progress messages."""
    settings = [f"{name} {value}" for name, value in cell.settings]
    return ", ".join([cell.dataset, cell.method, *settings, f"run {cell.run + 1}"])


def run(
    cells: Iterable[Cell],
    path: PathName,
    work: Work,
    *,
    jobs: int | None = None,
    limit: float = CELL_SECONDS,
    cost: Callable[[Cell], float] = lambda cell: 1.0,
    describe: Callable[[Cell], str] = describe_cell,
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
        Estimated time of a cell, in any unit; the longest are run first.
    describe : callable
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
    jobs = jobs or joblib.cpu_count()
    wanted = list({cell.key: cell for cell in cells}.values())
    with Store(path) as store:
        todo = [cell for cell in wanted if cell.key not in store.keys]
        n_found, n_workers = len(wanted) - len(todo), min(jobs, len(todo))
        todo = sorted(todo, key=cost)[::-1]
        if progress is not None:
            found = f"{n_found} found, {len(todo)} to run"
            progress(RunState(n_found, len(wanted), found))
        threads = 1 if jobs > 1 else None
        workers = [Worker(work, limit, threads) for _ in range(n_workers)]
        start, total, spent = time.monotonic(), sum(map(cost, todo)), 0.0
        with closing(_run_in_workers(todo, workers)) as finished:
            for done, (cell, outcome) in enumerate(finished, n_found + 1):
                record = make_record(cell, outcome, **describe_environment())
                store.append(record)
                spent += cost(cell)
                if progress is not None:
                    text = f"{describe(cell)}, {_describe_result(record)}"
                    left = estimate_left(start, spent / total)
                    progress(RunState(done, len(wanted), text, left))
    return len(todo)


def _describe_result(record: Record) -> str:
    scored = f"accuracy {record['acc']:.3f}" if "acc" in record else ""
    is_plain = scored and record["status"] == "converged"
    return scored if is_plain else " ".join([record["status"], scored]).rstrip()


def _run_in_workers(
    cells: Sequence[Cell], workers: Sequence["Worker"]
) -> Generator[tuple[Cell, Record]]:
    """Yield each cell with its outcome when it is finished."""
    idle: SimpleQueue[Worker] = SimpleQueue()
    finished: SimpleQueue[Future[tuple[Cell, Record]]] = SimpleQueue()

    def run_next(cell: Cell) -> tuple[Cell, Record]:
        worker = idle.get()
        try:
            return cell, worker.run(cell)
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

    def run(self, cell: Cell) -> Record:
        """Return the outcome of a cell; an error if the worker dies."""
        process = self.process or self._start()
        try:
            self.connection.send(cell)
            if self.connection.poll(min(self.limit, MAX_WAIT_SECONDS)):
                return dict(self.connection.recv())
            status = "timeout"
            error = f"stopped after the limit of {self.limit:g} seconds"
        except (EOFError, OSError):
            process.join()
            ended = f"the worker process ended with code {process.exitcode}"
            status, error = "error", f"{ended}, perhaps for lack of memory"
        self._kill()
        return {"status": status, "error": error}

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
