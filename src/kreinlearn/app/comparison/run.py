"""Every method on anybody's data: the same folds for all, one record per fit.

The file of records names the data and the settings by a mark, a hash of both, so that
results of different data never meet in one table.
"""

import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from pathlib import Path

import joblib

from kreinlearn._files import check_free, replace
from kreinlearn.app.comparison.fold import Job, outcome
from kreinlearn.app.comparison.plan import Plan, weight
from kreinlearn.app.comparison.summary import Compared, rows_as_csv, summary_of
from kreinlearn.app.comparison.verdict import facts
from kreinlearn.app.methods.table import METHODS
from kreinlearn.app.runs.cells import Cell
from kreinlearn.app.runs.records import Record, read_records
from kreinlearn.app.runs.runner import LIMIT, Progress, run

RECORDS, CSV, PAGE = "compare.jsonl", "compare.csv", "report.html"
"""Files of the folder; the page is for those who draw it."""


def run_comparison(
    planned: Plan,
    *,
    out: str | os.PathLike[str] = "comparison",
    jobs: int | None = None,
    limit: float | None = None,
    force: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Compared:
    """Run what is missing of a comparison, and return what was found.

    Parameters
    ----------
    planned : Plan
        From `plan_comparison`.
    out : path-like
        Folder: gets ``compare.jsonl``, to which each result is added as it is found,
        and ``compare.csv``.
    jobs : int, optional
        Processes; one for each processor by default.
    limit : float, optional
        Seconds that one fit with its tuning may take; by default half an hour, or the
        estimated time of the whole comparison if that is longer.
    force : bool
        Whether to begin anew, and replace what is in the folder.
    progress : callable, optional
        Told after each cell; see `progress_bar`.

    Returns
    -------
    dict
        See `summary_of`.

    Raises
    ------
    FileExistsError
        If the folder holds results of other data or settings; before any work.

    Examples
    --------
    >>> from kreinlearn.datasets import make_monks
    >>> from kreinlearn.app.comparison.run import run_comparison
    >>> from kreinlearn.app.comparison.plan import plan_comparison
    >>> X, y = make_monks(3)
    >>> some = {"kernels": ["tl1"], "methods": ["IKLR", "SVC clip"], "folds": 2}
    >>> planned = plan_comparison(X, y, **some)
    >>> len(planned.cells)
    4
    """
    folder = Path(out)
    path = folder / RECORDS
    check_folder(planned, folder, force)
    folder.mkdir(parents=True, exist_ok=True)
    if force:
        path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="krein-") as place:
        # A file, not an argument: all processes map the same matrix into memory.
        stored = Path(place) / "job"
        _store(planned.job, stored)
        run(
            planned.cells,
            path,
            partial(work, str(stored)),
            jobs=jobs,
            limit=max(LIMIT, planned.seconds) if limit is None else limit,
            cost=weight,
            progress=progress,
        )
    order = {cell.key: i for i, cell in enumerate(planned.cells)}
    records = [record for record in read_records(path) if record["key"] in order]
    records.sort(key=lambda record: order[record["key"]])
    found = _found(planned, records)
    replace(folder / CSV, rows_as_csv(found).encode())
    return found


def _store(job: Job, path: Path) -> None:
    try:
        joblib.dump(job, path)
    except OSError as error:
        raise type(error)(
            f"The temporary file {path} could not be written: "
            f"{error.strerror or error}. Make room, or name another folder by the "
            "environment variable TMPDIR."
        ) from None


def check_folder(planned: Plan, folder: Path, force: bool) -> None:
    """Raise if a folder holds what this comparison may not add to or replace."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; results need a folder.")
    if force or not folder.exists():
        return
    path = folder / RECORDS
    if not path.exists():
        for name in (CSV, PAGE):  # of something else: with records they are ours
            check_free(folder / name)
    mark = planned.cells[0].dataset
    if any(record.get("data") != mark for record in read_records(path)):
        raise FileExistsError(
            f"{path} holds results of other data, folds, seed, preparation or version; "
            "write to another folder (--out), or begin anew with force=True (--force)."
        )


def work(path: str, cell: Cell) -> Record:
    """Run one cell of the job in a file, in a process of its own."""
    return outcome(_stored(path), cell)


@lru_cache(maxsize=1)
def _stored(path: str) -> Job:
    job: Job = joblib.load(path, mmap_mode="r")
    return job


def _found(planned: Plan, records: list[Record]) -> Compared:
    job = planned.job
    runs = 1 + max(run_ for run_, _ in job.splits)
    folds = len(job.splits) // runs
    times = "" if runs == 1 else f", {runs} times"
    what = "similarities" if job.is_gram else "samples"
    what = what if job.form is None else "distances"
    sentences = [
        f"{job.name}: {what} of {len(job.y)} rows in {len(job.classes)} classes. Every "
        f"method sees the same {folds} folds{times}: it is tuned by cross-validation "
        "on the training rows alone and judged on the rows held out.",
        "Methods with probabilities are tuned by log-loss, the others by accuracy. "
        "KreinCV and IKLR bring their own grids, k-NN tries 1 to 11 neighbors, and SVC "
        "RBF four widths; beside that, all machines try the same values of C, and all "
        "others the same values of lam, in units of the matrix (its mean absolute "
        "eigenvalue, nearly).",
        *_about_controls({cell.method for cell in planned.cells}),
        "Spectra and convergence are those of the training rows of the first fold.",
        "The best of many rows looks better than it is: intervals are those of single "
        "differences, not corrected for the number of rows.",
    ]
    found = summary_of(
        [(job, records)],
        planned.kernels,
        title=f"Methods compared on {job.name}",
        sentences=sentences,
    )
    first, *others = facts(found)  # the finding first
    found["sentences"] = [first, *found["sentences"], *planned.notes, *others]
    return found


def _about_controls(names: Collection[str]) -> list[str]:
    """Return what the controls among some methods are there for."""
    controls = [each for each in METHODS.values() if each.name in names]
    controls = [each for each in controls if each.is_control]
    given = [each.name for each in controls if not each.on_samples]
    blind = [each.name for each in controls if each.on_samples]
    said = []
    if given:
        said.append(f"{_listed(given)} only looks for the nearest rows by a similarity")
    if blind:
        see = "see" if len(blind) > 1 else "sees"
        said.append(f"{_listed(blind)} {see} the features and no similarity of ours")
    if not said:
        return []
    return [
        f"Controls tell whether more is needed: {'; '.join(said)}. Where a control "
        "does as well as the others, use it."
    ]


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)
