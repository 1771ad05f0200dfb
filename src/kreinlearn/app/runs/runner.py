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

from kreinlearn.app.runs.cells import Cell
from kreinlearn.app.runs.records import Record, Store, record_of
from kreinlearn.app.runs.workers import Crew, Work

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


Watcher = Callable[[Progress], object]
"""What is told of progress."""


def run(
    cells: Iterable[Cell],
    path: str | os.PathLike[str],
    work: Work,
    *,
    jobs: int | None = None,
    limit: float = LIMIT,
    cost: Callable[[Cell], float] | None = None,
    progress: Watcher | None = None,
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
        Number of worker processes; by default one per processor. If there are
        several, each keeps to one thread.
    limit : float
        Seconds that one cell may take; a cell that takes longer is stopped and gets a
        record with status "timeout".
    cost : callable, optional
        Estimate of the time of a cell, in any unit: the longest go first.
    progress : callable, optional
        Told after each cell; see `progress_bar`.

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
        n_found = len(wanted) - len(todo)
        batch = _Batch(store, progress, n_found, len(wanted), sum(map(weigh, todo)))
        crew = Crew(work, min(jobs, len(todo)), limit, 1 if jobs > 1 else None)
        try:
            while todo or crew.is_busy:
                for cell, outcome in crew.turn(todo):
                    batch.finish(cell, outcome, weigh(cell))
        finally:
            crew.dismiss()
    return batch.done - n_found


@dataclass
class _Batch:
    """The records of one call, and the estimate of the time left."""

    store: Store
    progress: Watcher | None
    done: int
    total: int
    weight_left: float
    weight_done: float = 0.0

    def __post_init__(self) -> None:
        self.skipped, self.started = self.done, time.monotonic()
        self.tell(None)

    def finish(self, cell: Cell, outcome: Record, weight: float) -> None:
        record = record_of(cell, outcome, **surroundings())
        self.store.append(record)
        self.done += 1
        self.weight_done += weight
        self.weight_left -= weight
        self.tell(record)

    def tell(self, record: Record | None) -> None:
        if self.progress is None:
            return
        left = None
        if self.weight_done > 0:
            elapsed = time.monotonic() - self.started
            left = max(0.0, elapsed * self.weight_left / self.weight_done)
        self.progress(Progress(self.done, self.total, self.skipped, left, record))


def processors() -> int:
    """Return how many processors this process may use, at least one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def surroundings() -> Record:
    """Return versions and, if it is known, the revision: fields of a record."""
    versions = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "kreinlearn"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return {"ver": versions, "git": _revision(Path(__file__).parents[3])}


def _revision(root: Path) -> str | None:
    """Return the revision of a checkout, None for an installed package; never fail."""
    if not (root / ".git").exists():
        return None
    ask = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        answer = subprocess.check_output(
            ask, cwd=root, stderr=subprocess.DEVNULL, text=True, timeout=GIT_LIMIT
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.strip() or None
