"""The runner: skips what exists, runs the rest, appends each result at once."""

import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kreinlearn.runs.cells import Cell
from kreinlearn.runs.records import Record, Store, record_of
from kreinlearn.runs.workers import READY, Work, Worker, ready, start_worker

LIMIT = 1800.0
"""Seconds that one cell may take."""
GIT_LIMIT = 10.0
"""Seconds that git may take to say where we are."""


@dataclass(frozen=True)
class Progress:
    """What the runner tells after each cell, and once before the first.

    Attributes
    ----------
    done, total : int
        Cells with a record, and cells asked for.
    skipped : int
        Cells that had a record before.
    left : float or None
        Estimated seconds until all are done.
    record : dict or None
        The new record.
    """

    done: int
    total: int
    skipped: int
    left: float | None
    record: Record | None


def run(
    cells: Iterable[Cell],
    path: str | os.PathLike[str],
    work: Work,
    *,
    jobs: int | None = None,
    limit: float = LIMIT,
    cost: Callable[[Cell], float] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> int:
    """Run the cells that have no record yet, and append a record for each.

    Parameters
    ----------
    cells : iterable of Cell
        What to run.
    path : path-like
        File of records. This process is the only one that writes it.
    work : callable
        From a cell to its outcome; importable by name, for it runs in other processes.
    jobs : int, optional
        Number of worker processes; by default one for each processor. If there are
        several, each keeps to one thread.
    limit : float
        Seconds that one cell may take; a cell that takes longer is stopped and gets a
        record with status "timeout".
    cost : callable, optional
        Estimate of the time of a cell, in any unit: the longest go first.
    progress : callable, optional
        Told after each cell.

    Returns
    -------
    int
        Number of records written.

    Notes
    -----
    Killed at any moment, the file holds all records that were finished, and the same
    call continues. A KeyboardInterrupt stops the workers and is raised again.
    """
    weigh = cost or (lambda cell: 1.0)
    jobs = jobs or processors()
    wanted = list({cell.key: cell for cell in cells}.values())
    with Store(path) as store:
        todo = [cell for cell in wanted if cell.key not in store.keys]
        todo.sort(key=weigh)  # taken from the end; stable, so that runs agree
        batch = _Batch(store, len(wanted), len(wanted) - len(todo), weigh, progress)
        batch.weight_left = sum(map(weigh, todo))
        batch.tell(None)
        crew = _Crew(work, min(jobs, len(todo)), limit, jobs > 1)
        try:
            while todo or crew.is_busy:
                for cell, outcome in crew.turn(todo):
                    batch.finish(cell, outcome)
        finally:
            crew.dismiss()
    return batch.done - batch.skipped


class _Batch:
    """The records of one call, and the estimate of the time left."""

    def __init__(
        self,
        store: Store,
        total: int,
        skipped: int,
        weigh: Callable[[Cell], float],
        progress: Callable[[Progress], object] | None,
    ) -> None:
        self.store, self.total, self.skipped = store, total, skipped
        self.weigh, self.progress = weigh, progress
        self.done = skipped
        self.weight_left, self.weight_done = 0.0, 0.0
        self.started = time.monotonic()
        self.surroundings = surroundings()

    def finish(self, cell: Cell, outcome: dict[str, Any]) -> None:
        record = record_of(cell, outcome, **self.surroundings)
        self.store.append(record)
        self.done += 1
        self.weight_done += self.weigh(cell)
        self.weight_left -= self.weigh(cell)
        self.tell(record)

    def tell(self, record: Record | None) -> None:
        if self.progress is None:
            return
        left = None
        if self.weight_done > 0:
            elapsed = time.monotonic() - self.started
            left = max(0.0, elapsed * self.weight_left / self.weight_done)
        self.progress(Progress(self.done, self.total, self.skipped, left, record))


class _Crew:
    """The workers of one call."""

    def __init__(self, work: Work, size: int, limit: float, is_shared: bool) -> None:
        self.work, self.limit = work, limit
        self.threads = 1 if is_shared else None
        self.workers = [start_worker(work, self.threads) for _ in range(size)]

    @property
    def is_busy(self) -> bool:
        return any(worker.cell is not None for worker in self.workers)

    def turn(self, todo: list[Cell]) -> list[tuple[Cell, dict[str, Any]]]:
        """Hand out cells, wait for news, and return what is finished."""
        for worker in self.workers:
            if worker.is_ready and worker.cell is None and todo:
                worker.cell = todo.pop()
                worker.deadline = time.monotonic() + self.limit
                worker.connection.send(worker.cell)
        active = [w for w in self.workers if w.cell is not None or not w.is_ready]
        nearest = min(worker.deadline for worker in active)
        finished = []
        for worker in ready(active, nearest - time.monotonic()):
            cell, outcome = worker.cell, self._hear(worker)
            if cell is not None and outcome is not None:
                finished.append((cell, outcome))
        for worker in active:
            if time.monotonic() >= worker.deadline:
                finished += self._give_up(worker)
        return finished

    def _hear(self, worker: Worker) -> dict[str, Any] | None:
        try:
            said = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join()
            code = worker.process.exitcode
            if worker.cell is None:
                raise RuntimeError(
                    f"A worker process ended with code {code} before it could start; "
                    "see its message above."
                ) from None
            self._replace(worker)
            reason = f"the worker process ended with code {code}"
            return {"status": "error", "error": f"{reason}, perhaps for want of memory"}
        if said == READY:
            worker.is_ready, worker.deadline = True, float("inf")
            return None
        worker.cell, worker.deadline = None, float("inf")
        return dict(said)

    def _give_up(self, worker: Worker) -> list[tuple[Cell, dict[str, Any]]]:
        cell = worker.cell
        if cell is None:
            raise RuntimeError("A worker process did not start in time.")
        self._replace(worker)
        reason = f"stopped after the limit of {self.limit:g} seconds"
        return [(cell, {"status": "timeout", "error": reason})]

    def _replace(self, worker: Worker) -> None:
        worker.stop()
        worker.deadline = float("inf")
        place = self.workers.index(worker)
        self.workers[place] = start_worker(self.work, self.threads)

    def dismiss(self) -> None:
        for worker in self.workers:
            worker.stop()


def processors() -> int:
    """Return how many processors this process may use.

    Returns
    -------
    int
        At least one.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def surroundings() -> dict[str, Any]:
    """Return versions and, if it is known, the revision of the source.

    Returns
    -------
    dict
        Fields of a record.
    """
    versions = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "kreinlearn"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return {"ver": versions, "git": _revision(Path(__file__).parent)}


def _revision(folder: Path) -> str | None:
    """Return the revision if git knows this very file, and never fail."""
    ask = ["git", "-C", str(folder)]
    tracked = ["ls-files", "--error-unmatch", Path(__file__).name]
    describe = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        for command in (tracked, describe):
            answer = subprocess.run(
                ask + command,
                capture_output=True,
                text=True,
                timeout=GIT_LIMIT,
                check=True,
            )
        return answer.stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None
