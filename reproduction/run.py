"""Run an experiment of the paper; completed cells are skipped."""

import os
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from kreinlearn._validation import check_choice, check_count
from kreinlearn.app.runs import (
    CELL_SECONDS,
    FAILED_STATUSES,
    Cell,
    Record,
    Watcher,
    read_records,
    run,
)
from kreinlearn.exceptions import ConvergenceWarning, IndefiniteKernelWarning
from reproduction import faces, metrics, protocol, readings
from reproduction.catalog import EXPERIMENTS
from reproduction.cells import drop_records
from reproduction.data import available, info
from reproduction.data.local import FETCH_COMMAND, folder
from reproduction.splits import stored_name


def run_experiment(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    runs: int | None = None,
    dataset: str | None = None,
    out: str | os.PathLike[str] = "results",
    jobs: int | None = None,
    limit: float = CELL_SECONDS,
    retry: bool = False,
    progress: Watcher | None = None,
) -> Path:
    """Run an experiment of the paper; completed cells are skipped.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    data_home : path-like, optional
        The data folder; by default that of `reproduction.data`.
    runs : int, optional
        Number of repetitions; by default as many as the experiment declares.
    dataset : str, optional
        The only data set to run on. The experiments on faces also take "digits", the
        images that come with scikit-learn.
    out : path-like
        Folder of the records, ``NAME.jsonl``.
    jobs : int, optional
        Number of worker processes; by default one per processor, or a single one with
        all threads where seconds are measured.
    limit : float
        Seconds that one cell may take.
    retry : bool
        Whether to run cells again whose status is error or timeout.
    progress : callable, optional
        Called after each cell; see `kreinlearn.app.runs.progress_bar`.

    Returns
    -------
    Path
        The file of records.

    Raises
    ------
    FileNotFoundError
        If a data set is missing; raised before any cell is run.
    """
    experiment = EXPERIMENTS[check_choice("name", name, EXPERIMENTS)]
    cells = experiment.cells(
        None if runs is None else check_count("runs", runs), dataset
    )
    path = Path(out) / f"{name}.jsonl"
    found = read_records(path)
    if retry:
        drop_records(
            path, [each["key"] for each in found if each["status"] in FAILED_STATUSES]
        )
        found = read_records(path)
    done = {record["key"] for record in found}
    home = None if data_home is None else os.fspath(data_home)
    _check_data([cell for cell in cells if cell.key not in done], name, home)
    if jobs is None and experiment.is_timed:
        jobs = 1
    work = partial(evaluate, data_home=home)
    run(
        cells, path, work, jobs=jobs, limit=limit, cost=estimate_cost, progress=progress
    )
    return path


def announce_runs(
    names: Sequence[str],
    *,
    data_home: str | None = None,
    runs: int | None = None,
    dataset: str | None = None,
    out: str | os.PathLike[str] = "results",
) -> str:
    """Return how many cells are left to run, and an estimate of the time.

    Parameters
    ----------
    names : sequence of str
        Names of experiments.
    data_home, runs, dataset, out
        As in `run_experiment`. A single experiment must have its data.

    Returns
    -------
    str
        A sentence; empty if nothing is left.
    """
    left, minutes = 0, 0.0
    for name in names:
        experiment = EXPERIMENTS[check_choice("name", name, EXPERIMENTS)]
        done = {record["key"] for record in read_records(Path(out) / f"{name}.jsonl")}
        cells = experiment.cells(runs, dataset)
        todo = [cell for cell in cells if cell.key not in done]
        if len(names) == 1:
            _check_data(todo, name, data_home)
        left += len(todo)
        minutes += experiment.expected_minutes(todo)
    if not left:
        return ""
    took = f"about {minutes:.0f} minutes" if minutes > 1 else "a minute or less"
    return (
        f"{left} cells to run: {took} on two cores. Stop at any time: run the same "
        "command again to resume."
    )


def _check_data(cells: list[Cell], name: str, data_home: str | None) -> None:
    """Raise if data of one of the cells are missing."""
    names = dict.fromkeys(cell.dataset for cell in cells)
    path = faces.faces_path(data_home)
    if faces.FACES in names and not path.is_file():
        raise FileNotFoundError(
            f"{name} needs {path.name}, which is not in {path.parent}: the arrays "
            "'images' (n, h, w) in uint8 and 'subject' (n,) of the cropped Yale Face "
            f"Database B. Dataset {faces.STAND_IN!r} runs the same experiment "
            "on images that come with scikit-learn."
        )
    needed = dict.fromkeys(stored_name(each) for each in names if _is_table(each))
    here = set(available(data_home)) if needed else set()
    missing = [each for each in needed if each not in here]
    if missing:
        raise FileNotFoundError(
            f"{name} needs data that are not in {folder(data_home)}: "
            f"{', '.join(missing)}; run `{FETCH_COMMAND} {missing[0]}` and so on, "
            "or set KREINLEARN_DATA to the folder that has them."
        )


def evaluate(cell: Cell, data_home: str | None = None) -> Record:
    """Run one cell and return the fields of its record; called by workers."""
    with warnings.catch_warnings():
        # Statuses are recorded; the published procedures would warn at every fit.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        if cell.dataset in metrics.SIZES:
            return metrics.search(cell)
        if cell.method == faces.EXAMPLES:
            return faces.examples(cell, data_home)
        if cell.method in readings.READINGS:
            return readings.evaluate_reading(cell, data_home)
        if cell.dataset in faces.REGIONS:
            return protocol.face_cell(cell, data_home)
        return protocol.table_cell(cell, data_home)


def estimate_cost(cell: Cell) -> float:
    """Return a rough estimate of the time of a cell, in any unit.

    The square of the number of samples; 1 where they are not in a table.
    """
    if not _is_table(cell.dataset):
        return 1.0
    return float(info(stored_name(cell.dataset)).table(None).n_samples) ** 2


def _is_table(dataset: str) -> bool:
    """Return whether samples are in a table, and not images or random matrices."""
    return dataset not in metrics.SIZES and dataset not in faces.REGIONS
