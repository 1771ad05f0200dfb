"""Experiments as data: cells, a runner that resumes, and the published numbers."""

import os
from collections.abc import Callable
from pathlib import Path

from kreinlearn._validation import check_choice, check_count
from kreinlearn.datasets import available
from kreinlearn.datasets.local import folder
from kreinlearn.paper.catalog import EXPERIMENTS, cost, is_table, worker_for
from kreinlearn.paper.faces import DIGITS, FACES, faces_path
from kreinlearn.paper.splits import stored_name
from kreinlearn.runs.cells import Cell, grid
from kreinlearn.runs.progress import progress_bar
from kreinlearn.runs.records import FAILED, forget
from kreinlearn.runs.records import read_records as read
from kreinlearn.runs.runner import LIMIT, Progress, run

__all__ = [
    "EXPERIMENTS",
    "Cell",
    "Progress",
    "grid",
    "progress_bar",
    "read",
    "run",
    "run_experiment",
]


def run_experiment(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    runs: int | None = None,
    dataset: str | None = None,
    out: str | os.PathLike[str] = "results",
    jobs: int | None = None,
    limit: float = LIMIT,
    retry: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Path:
    """Run an experiment of the paper, or what is missing of it.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    data_home : path-like, optional
        The data folder; by default that of `kreinlearn.datasets`.
    runs : int, optional
        Repetitions; by default as many as the experiment declares.
    dataset : str, optional
        The only data set to run on. The experiments on faces take "digits" as well,
        the images that come with scikit-learn.
    out : path-like
        Folder of the records, ``NAME.jsonl``.
    jobs : int, optional
        Worker processes; by default one for each processor, or a single one with all
        threads where seconds are measured.
    limit : float
        Seconds that one cell may take.
    retry : bool
        Run cells again whose record says error or timeout.
    progress : callable, optional
        Told after each cell; see `progress_bar`.

    Returns
    -------
    Path
        The file of records.

    Raises
    ------
    FileNotFoundError
        If a data set is missing; before any cell is run.
    """
    experiment = EXPERIMENTS[check_choice("name", name, EXPERIMENTS)]
    cells = experiment.cells(
        None if runs is None else check_count("runs", runs), dataset
    )
    path = Path(out) / f"{name}.jsonl"
    found = read(path)
    if retry:
        forget(path, [each["key"] for each in found if each["status"] in FAILED])
        found = read(path)
    done = {record["key"] for record in found}
    _check_data([cell for cell in cells if cell.key not in done], name, data_home)
    if jobs is None and experiment.is_timed:
        jobs = 1
    run(
        cells,
        path,
        worker_for(data_home),
        jobs=jobs,
        limit=limit,
        cost=cost,
        progress=progress,
    )
    return path


def _check_data(
    cells: list[Cell], name: str, data_home: str | os.PathLike[str] | None
) -> None:
    names = dict.fromkeys(cell.dataset for cell in cells)
    path = faces_path(None if data_home is None else os.fspath(data_home))
    if FACES in names and not path.is_file():
        raise FileNotFoundError(
            f"{name} needs {path.name}, which is not in {path.parent}: the arrays "
            "'images' (n, h, w) in uint8 and 'subject' (n,) of the cropped Yale Face "
            f"Database B. Dataset {DIGITS!r} runs the same on images that come with "
            "scikit-learn."
        )
    tables = [each for each in names if is_table(each)]
    if not tables:
        return
    here = set(available(data_home))
    needed = dict.fromkeys(stored_name(each) for each in tables)
    missing = [each for each in needed if each not in here]
    if missing:
        listed = ", ".join(missing)
        raise FileNotFoundError(
            f"{name} needs data that are not in {folder(data_home)}: {listed}; run "
            f"`krein data fetch {missing[0]}` and so on, or set KREINLEARN_DATA to the "
            "folder that has them."
        )
