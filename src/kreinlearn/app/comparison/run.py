"""Run a comparison: the same folds for all methods, one record per fit.

The file of records names the data and the settings by a hash of both, so that results
of different data never meet in one table.
"""

import logging
import tempfile
from collections.abc import Collection, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.metrics import roc_auc_score

from kreinlearn._files import PathName, check_free, replace
from kreinlearn._memory import check_bytes
from kreinlearn._typing import Array, SampleSet
from kreinlearn.app.comparison import plan, summary
from kreinlearn.app.comparison.page import comparison_page
from kreinlearn.app.comparison.plan import Job
from kreinlearn.app.methods import (
    ALL_METHODS,
    KREIN_CV,
    MAX_LOG_LOSS,
    Fitted,
    call_timed,
    evaluate,
    fit_method,
)
from kreinlearn.app.report import PageResult
from kreinlearn.app.runs import (
    CELL_SECONDS,
    Cell,
    Record,
    Watcher,
    format_duration,
    read_records,
    run,
)
from kreinlearn.operators import Dense
from kreinlearn.spectrum.norms import compute_scale

if TYPE_CHECKING:
    from pandas import DataFrame

RECORDS_NAME, CSV_NAME, PAGE_NAME = "compare.jsonl", "compare.csv", "report.html"
"""Files of the folder of a comparison."""
MATRICES_PER_PROCESS = 11
"""Matrices of all training rows that a process holds at once, measured with 2000 rows:
the similarities, a fold of them, eigenvectors, the repaired ones."""
OVERHEAD_FRACTION = 0.1
"""Fraction of the seconds of a fit with 1000 rows that a fit with few rows takes:
measured with 80 training rows of sonar."""
LARGE_DATA = 3000
"""Samples above which the memory is announced as well."""
TABLE_COLUMNS = (
    "accuracy accuracy_low accuracy_high balanced_accuracy log_loss auc fit_seconds"
).split()

logger = logging.getLogger("kreinlearn")


class Comparison(PageResult):
    """Result of `kreinlearn.compare`."""

    @property
    def verdict(self) -> str:
        """The best method, and the place of the model that `krein fit` builds."""
        return str(self.results["verdict"])

    @property
    def table(self) -> "DataFrame":
        """Scores of the methods, the best first; equal predictions share a row."""
        from pandas import DataFrame

        rows = summary.rank_rows(self.results)
        index = [", ".join([row["label"], *row["also"]]) for row in rows]
        scores = [{name: row[name] for name in TABLE_COLUMNS} for row in rows]
        table = DataFrame(scores, index=index, columns=TABLE_COLUMNS)
        return table.rename_axis("method")

    def _make_page(self) -> str:
        return comparison_page(self.results)


def compare(
    D: SampleSet,
    y: ArrayLike | None,
    *,
    kernel: str | Sequence[str] = "distance",
    form: str | None = None,
    check: bool = True,
    methods: Sequence[str] | None = None,
    folds: int = 5,
    repeats: int = 1,
    groups: Array | None = None,
    transformer: TransformerMixin | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    out: PathName | None = None,
    overwrite: bool = False,
    name: str = "data",
    progress: Watcher | None = None,
    measure: str | None = None,
    limit: float | None = None,
) -> Comparison:
    """Compare all methods on the same folds of distances, similarities or samples.

    Each method is tuned by cross-validation on the training rows of a fold, and scored
    on the held-out rows. The row "KreinCV" is `KreinLogisticRegressionCV` with its
    default search.

    Parameters
    ----------
    D : array-like of shape (n, n), or DataFrame or array-like of shape (n, m)
        Distances, similarities or samples, depending on ``kernel``.
    y : array-like of shape (n,)
        Labels of two or more classes.
    kernel : {"distance", "precomputed"} or names of kernels
        "distance" for distances, "precomputed" for similarities, whose symmetric part
        is used. Names such as ``("tl1", "rbf")`` are kernels for samples as rows.
    form : str, optional
        Transform of distances, as in `DistanceSimilarity`. By default KreinCV tries
        several, and other methods use the exponential.
    check : bool
        Whether to reject similarities that look like distances.
    methods : sequence of str, optional
        Names of methods, or ``["all"]``; by default all but the published procedures,
        which take longest.
    folds, repeats : int
        Folds of a cross-validation, at least two, and its repetitions.
    groups : ndarray of shape (n,), optional
        Group of each sample. Groups are never split across folds.
    transformer : estimator, optional
        Turns samples into features, fitted to the training rows of each fold; scales
        to [0, 1] by default.
    seed : int
        Random seed.
    n_jobs : int, optional
        Number of processes; one for each processor by default.
    out : path-like, optional
        Folder for records, from which an interrupted run resumes, and a CSV file.
    overwrite : bool
        Whether to replace the records in the folder.
    name : str
        Name of the data in tables.
    progress : callable, optional
        Called after each fit.
    measure : str, optional
        Name of the kernel that computed the matrix.
    limit : float, optional
        Time limit of one fit with its tuning, in seconds.

    Returns
    -------
    Comparison
        With a ``verdict``, a ``table`` and ``save(path)`` for a page with figures.

    Examples
    --------
    >>> import kreinlearn
    >>> from kreinlearn.datasets import make_gram
    >>> K, y = make_gram((5, 3), n_samples=60, random_state=0)
    >>> found = kreinlearn.compare(
    ...     K, y, kernel="precomputed", methods=["KreinCV", "SVC clip"], folds=3
    ... )  # doctest: +SKIP
    >>> found.table.index.tolist()  # doctest: +SKIP
    ['KreinCV', 'SVC clip']
    """
    classes, index = plan.check_request(y, len(D), kernel, methods, folds, repeats)
    splits = plan.repeat_folds(index, folds, repeats, seed, groups)
    n_train, processes = len(D) - len(D) // folds, n_jobs or joblib.cpu_count()
    needed = processes * MATRICES_PER_PROCESS * 8 * n_train**2
    check_bytes(
        needed,
        f"A comparison with {n_train} training rows keeps up to {MATRICES_PER_PROCESS} "
        f"matrices of that size in each of {processes} processes, which take",
        "Use fewer samples or fewer jobs.",
    )
    X, kernels, notes = plan.check_data(D, kernel, form, measure, check, transformer)
    labels, kind = tuple(classes.tolist()), plan.find_data_kind(kernel)
    job = Job(
        name, X, index, labels, splits, kind, kernels, transformer, form, groups, notes
    )
    cells = job.list_cells(methods, seed)
    growth = OVERHEAD_FRACTION + (n_train / 1000) ** 3  # weights are for 1000 rows
    seconds = growth * sum(map(job.weigh_cell, cells)) / min(processes, len(cells))
    cost = f"about {format_duration(seconds)}"
    if len(index) > LARGE_DATA:
        grows = "the time grows with the cube of the rows"
        cost = f"up to {needed:,} bytes and {cost}; {grows}"
    with tempfile.TemporaryDirectory(prefix="krein-") as temporary:
        folder = Path(temporary if out is None else out)
        _prepare_folder(folder, cells[0].dataset, overwrite)
        fits = f"{len(cells)} fits with their tuning"
        logger.info(f"{len(index)} rows: {fits} take {cost}.")
        # A file, not an argument: all processes map the same matrix into memory.
        stored = Path(temporary) / "job"
        try:
            joblib.dump(job, stored)
        except OSError as error:
            raise type(error)(
                f"The temporary file {stored} could not be written: "
                f"{error.strerror or error}. Free some space, or name another folder "
                "by the environment variable TMPDIR."
            ) from None
        run(
            cells,
            folder / RECORDS_NAME,
            partial(score_stored_fold, str(stored)),
            jobs=n_jobs,
            limit=max(CELL_SECONDS, seconds) if limit is None else limit,
            cost=job.weigh_cell,
            describe=partial(_describe_fit, has_runs=repeats > 1),
            progress=progress,
        )
        found = {each["key"]: each for each in read_records(folder / RECORDS_NAME)}
        results = summary.summarize(
            job,
            [found[cell.key] for cell in cells],
            title=f"Methods compared on {name}",
            sentences=[*_describe_procedure(job, cells, repeats), *notes],
        )
        replace(folder / CSV_NAME, summary.rows_as_csv(results).encode())
    return Comparison(results)


def _prepare_folder(folder: Path, dataset: str, overwrite: bool) -> None:
    """Create a folder, or raise if it holds files that must not be replaced."""
    path = folder / RECORDS_NAME
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; results need a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    if overwrite:
        path.unlink(missing_ok=True)
    elif not path.exists():
        for name in (CSV_NAME, PAGE_NAME):
            check_free(folder / name)
    if any(record.get("data") != dataset for record in read_records(path)):
        raise FileExistsError(
            f"{path} holds results of other data, folds, seed, preparation or version; "
            "write to another folder (--out), or replace them by overwrite=True "
            "(--force)."
        )


def _describe_fit(cell: Cell, has_runs: bool) -> str:
    kernel = summary.label_kernel(str(cell.setting("kernel")))
    on = "" if kernel is None else f" on {kernel}"
    repeat = f" of repetition {cell.run + 1}" if has_runs else ""
    return f"{cell.method}{on}, fold {cell.setting('fold') + 1}{repeat}"


def score_stored_fold(path: str, cell: Cell) -> Record:
    """Run one cell of the job in a file."""
    return score_fold(_load_job(path), cell)


@lru_cache(maxsize=1)
def _load_job(path: str) -> Job:
    job: Job = joblib.load(path, mmap_mode="r")
    return job


def score_fold(job: Job, cell: Cell) -> Record:
    """Tune and fit a method on the training rows of a fold, and score it on the rest.

    Parameters
    ----------
    job : Job
        The data.
    cell : Cell
        Method, repetition, and the settings "kernel" and "fold".

    Returns
    -------
    dict
        Fields of a record, with the predictions: probabilities if there are any, else
        scores. Seconds are those of the fit with its tuning, but without the kernel
        matrix if the method takes one.
    """
    train, test = job.splits[cell.run, int(cell.setting("fold"))]
    fitted, fit_s, X_test = fit_fold(job, cell)
    fields = fitted.fields() | {"fit_s": fit_s, "n": len(train)}
    fields |= evaluate(fitted.model, X_test, job.y[test], max_loss=MAX_LOG_LOSS)
    del fields["pred_s"]
    scores = fields["proba"] if "proba" in fields else fields["score"]
    return fields | {"auc": _compute_auc(job.y[test], scores)}


def fit_fold(job: Job, cell: Cell) -> tuple[Fitted, float, Array]:
    """Tune and fit a method on the training rows of a fold, see `score_fold`.

    Returns
    -------
    fitted : Fitted
        The model.
    seconds : float
        Seconds of the fit with its tuning.
    X_test : ndarray of shape (n_test, n_train) or (n_test, m)
        The held-out rows, as the model takes them.
    """
    place = cell.run, int(cell.setting("fold"))
    train, _ = job.splits[place]
    if ALL_METHODS[cell.method].input == "gram":
        K, K_test = job.split_similarities(place, str(cell.setting("kernel")))
        unit = compute_unit(K)
        X_train, X_test = K / unit, K_test / unit
    else:
        X_train, X_test = job.split_data(place)
    fitted, seconds = call_timed(
        fit_method,
        cell.method,
        X_train,
        job.y[train],
        fold_seed=cell.half_seed,
        seed=cell.seed,
        groups=None if job.groups is None else job.groups[train],
        kernel=job.search_params,
    )
    return fitted, seconds, X_test


def compute_unit(K: Array) -> float:
    """Return the mean absolute eigenvalue of a matrix, up to a factor of 1.42.

    Matrices are divided by it, since the values of C and lam are the same for all
    data. It is a power of two, so that nothing is rounded.

    Examples
    --------
    >>> import numpy as np
    >>> compute_unit(np.diag([700.0, -300.0, 500.0]))
    512.0
    """
    scale = compute_scale(Dense(K), np.ones(len(K)))
    return float(np.exp2(np.rint(np.log2(scale))))


def _compute_auc(truth: Array, given: Array) -> float:
    """Return the area under the ROC curve; of several classes the mean, one-vs-rest.

    The mean of scikit-learn needs probabilities, which some methods do not have.
    """
    if given.ndim > 1:
        truth = truth[:, None] == np.arange(given.shape[1])
    return float(roc_auc_score(truth, given))


def _describe_procedure(job: Job, cells: Sequence[Cell], n_runs: int) -> list[str]:
    what = {"rows": "samples", "gram": "similarities", "distances": "distances"}
    times = "" if n_runs == 1 else f", {n_runs} times"
    names = {cell.method for cell in cells}
    search = {
        "rows": "several kernels and their parameters",
        "gram": "two norms",
        "distances": f"several {'transforms and ' * (job.form is None)}widths",
    }
    ours = (
        f"{summary.MODEL_OF_FIT} is `KreinLogisticRegressionCV` with its default "
        f"search of {search[job.kind]} and lam."
    )
    return [
        f"{job.name}: {what[job.kind]} of {len(job.y)} rows in {len(job.classes)} "
        f"classes. All methods use the same {len(job.splits) // n_runs} folds{times}. "
        "Each is tuned by cross-validation on the training rows and scored on the "
        "held-out rows.",
        *([ours] if KREIN_CV in names else []),
        "The Krein, Hilbert and Euclidean norms are the penalties a'Ka, a'|K|a and a'a "
        "of logistic regression. Methods with probabilities are tuned by log-loss, the "
        "others by accuracy. k-NN tries 1 to 11 neighbors, SVC RBF four widths; all "
        "SVMs try the same values of C, and all others the same values of lam, in "
        "units of the matrix (about its mean absolute eigenvalue).",
        *_describe_baselines(names),
        "Spectra are those of the training rows of the first fold.",
        "The best of many rows looks better than it is: intervals are those of single "
        "differences, not corrected for the number of rows.",
    ]


def _describe_baselines(names: Collection[str]) -> list[str]:
    found = [m for m in ALL_METHODS.values() if m.name in names and m.is_control]
    neighbors = [each.name for each in found if each.input == "gram"]
    blind = [each.name for each in found if each.input == "rows"]
    parts = [f"{name} only uses the nearest rows by a similarity" for name in neighbors]
    if blind:
        use = "use" if len(blind) > 1 else "uses"
        parts.append(f"{' and '.join(blind)} {use} the features and no similarity")
    if not parts:
        return []
    return [
        f"Baselines show whether more is needed: {'; '.join(parts)}. If a baseline is "
        "as good as the others, use it."
    ]
