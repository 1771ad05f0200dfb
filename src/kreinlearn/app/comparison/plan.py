"""What a comparison will run: data and settings checked, costs known, nothing done."""

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin, clone
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.multiclass import type_of_target

from kreinlearn._memory import check_bytes
from kreinlearn._typing import Array
from kreinlearn._validation import (
    check_choice,
    check_count,
    check_distances,
    check_matrix,
    check_similarities,
)
from kreinlearn.app.comparison.fold import OWN, PRECOMPUTED, Job
from kreinlearn.app.methods.folds import grouped_folds, groups_per_class
from kreinlearn.app.methods.table import METHODS
from kreinlearn.app.runs.cells import Cell
from kreinlearn.app.runs.runner import processors
from kreinlearn.kernels import KERNELS
from kreinlearn.kernels.transforms import FORMS
from kreinlearn.search import Fold

KEPT = 11
"""Matrices of all training rows that a process keeps at once, measured with 2000 rows:
the similarities, a fold of them, eigenvectors, the repaired ones."""
NEGLIGIBLE_ASYMMETRY = 1e-10
"""Asymmetry relative to the largest entry that nobody needs to hear of."""
FEW_ROWS = 0.1
"""Share of the seconds of a fit with 1000 rows that it takes with few: measured with
80 training rows of sonar, where all default methods on five folds and two kernels took
47 s of one processor, and their weights add up to 44 s."""
ALL = "all"
"""What stands for the names of all methods that apply."""
LARGE_DATA = 3000
"""Samples above which a user is told the cost before it is paid."""


class Plan(NamedTuple):
    """A comparison before it is run.

    Attributes
    ----------
    job : Job
        The data and the folds.
    kernels : tuple of str
        Their names.
    cells : list of Cell
        What to run.
    bytes_needed : int
        Memory of all processes together, at most.
    seconds : float
        Rough estimate of the time.
    notes : tuple of str
        What was done to the data.
    """

    job: Job
    kernels: tuple[str, ...]
    cells: list[Cell]
    bytes_needed: int
    seconds: float
    notes: tuple[str, ...]


def plan_comparison(
    X: Any,
    y: ArrayLike | None,
    *,
    is_gram: bool = False,
    form: str | None = None,
    measure: str | None = None,
    check: bool = True,
    name: str = "data",
    transformer: TransformerMixin | None = None,
    kernels: Sequence[str] = ("tl1", "rbf"),
    methods: Sequence[str] | None = None,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    jobs: int | None = None,
    groups: Array | None = None,
) -> Plan:
    """Check the data and the settings, and return what is to be run.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n, m), or (n, n)
        Samples, or their similarities with ``is_gram``, whose symmetric part is used.
    y : array-like of shape (n,)
        Labels of any kind.
    is_gram : bool
        Whether X holds similarities, or distances with ``form``.
    form : str, optional
        The form of distances that makes them similarities, as in
        `kreinlearn.DistanceSimilarity`.
    measure : str, optional
        What to call the similarities or distances, if it is known how they were
        computed.
    check : bool
        Whether to refuse similarities that look like distances.
    name : str
        What to call the data.
    transformer : estimator, optional
        Turns samples into features, fitted to the training rows of each fold; scales
        to [0, 1] by default.
    kernels : sequence of str
        Names of kernels; without meaning for similarities.
    methods : sequence of str, optional
        Names in `METHODS`, or "all" for those that apply; by default these without
        the published procedures, which take longer than all others.
    folds, repeats : int
        Folds of a cross-validation, at least two, and how often it is repeated.
    seed : int
        For all that is random.
    jobs : int, optional
        Processes; one for each processor by default.
    groups : ndarray of shape (n,), optional
        Rows that belong together: they are learned from, or held out, together.

    Returns
    -------
    Plan
        For `run_comparison`.

    Raises
    ------
    ValueError
        If a name is unknown, a class is too rare for the folds, or the data are not
        what they should be.
    MemoryError
        If the matrices would not fit in memory.
    """
    n = len(X)
    classes, index = check_request(
        y, n, is_gram=is_gram, methods=methods, folds=folds, repeats=repeats
    )
    splits = (
        stratified(index, folds, repeats, seed)
        if groups is None
        else together(index, groups, folds, repeats, seed)
    )
    wanted = (measure or PRECOMPUTED,) if is_gram else _checked_kernels(kernels)
    notes: tuple[str, ...] = ()
    if form is not None:
        check_choice("form", form, FORMS)
        wanted = (f"{form} of {measure or 'distances'}",)
        X, is_gram = check_distances(np.asarray(X, dtype=float)), True
    elif is_gram:
        X, notes = _symmetric(X)
        if check:
            check_similarities(X, "The matrix")
    elif not hasattr(X, "iloc"):
        X = np.asarray(X)
    n_train = n - n // folds
    processes = jobs or processors()
    check_bytes(
        processes * KEPT * 8 * n_train**2,
        f"A comparison with {n_train} training rows keeps up to {KEPT} matrices of "
        f"that size in each of {processes} processes, which take",
        "Use fewer samples or fewer jobs.",
    )
    if not is_gram:
        _check_features(X, transformer)
    labels = tuple(classes.tolist())
    job = Job(name, X, index, labels, splits, is_gram, transformer, form, groups)
    mark = _mark(job, folds, seed)
    cells = [
        Cell("compare", mark, method, run_, (("kernel", kernel), ("fold", fold)))
        for run_, fold in splits
        for method in _checked_methods(methods, is_gram, len(classes))
        for kernel in ([OWN] if METHODS[method].on_samples else wanted)
    ]
    processes = min(processes, len(cells))
    growth = FEW_ROWS + (n_train / 1000) ** 3  # weights are those of 1000 rows
    seconds = growth * sum(map(weight, cells)) / processes
    return Plan(job, wanted, cells, processes * KEPT * 8 * n_train**2, seconds, notes)


def weight(cell: Cell) -> float:
    """Return the seconds that a cell would take with 1000 training rows, roughly."""
    return METHODS[cell.method].weight


def stratified(
    y: Array, folds: int, repeats: int, seed: int
) -> dict[tuple[int, int], Fold]:
    """Return training and held-out rows by repetition and fold, for all methods."""
    splitter = RepeatedStratifiedKFold(
        n_splits=folds, n_repeats=repeats, random_state=seed
    )
    parts = splitter.split(np.zeros(len(y)), y)
    return {divmod(i, folds): part for i, part in enumerate(parts)}


def together(
    y: Array, groups: Array, folds: int, repeats: int, seed: int
) -> dict[tuple[int, int], Fold]:
    """Return training and held-out rows, with groups on one side of each fold."""
    # Of what is learned from, inner folds want two groups of each class.
    if folds == 2 and min(groups_per_class(y, groups).values()) < 4:
        raise ValueError(
            "Two folds, and folds within them, need four groups with samples of each "
            "class; use another column."
        )
    parts = [grouped_folds(y, groups, folds, seed + 100 * r) for r in range(repeats)]
    return {(r, f): part for r, each in enumerate(parts) for f, part in enumerate(each)}


def check_request(
    y: ArrayLike | None,
    n: int,
    *,
    is_gram: bool = False,
    methods: Sequence[str] | None = None,
    folds: int = 5,
    repeats: int = 1,
) -> tuple[Array, Array]:
    """Check what can be checked before anything is computed.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    n : int
        Number of samples.
    is_gram, methods, folds, repeats : object
        As in `plan_comparison`.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Labels, sorted.
    index : ndarray of shape (n,)
        Their positions there.
    """
    if check_count("folds", folds) < 2:
        raise ValueError(f"'folds' must be 2 or more, got {folds!r}.")
    check_count("repeats", repeats)
    classes, index = _checked_labels(y, n, folds)
    _checked_methods(methods, is_gram, len(classes))
    return classes, index


def _checked_kernels(names: Sequence[str]) -> tuple[str, ...]:
    known = [name for name, each in KERNELS.items() if each.samples == "rows"]
    return _distinct("kernels", names, known)


def _checked_methods(
    names: Sequence[str] | None, is_gram: bool, n_classes: int
) -> tuple[str, ...]:
    unfit = {}
    for name, method in METHODS.items():
        if is_gram and method.on_samples:
            unfit[name] = (
                "learns from samples, got a matrix of similarities; leave it out, or "
                "use 'IKLR'"
            )
        elif method.binary_only and n_classes > 2:
            unfit[name] = f"is for two classes, got {n_classes}"
    fitting = [name for name in METHODS if name not in unfit]
    if names is not None and list(names) == [ALL]:
        names = fitting
    for name in names or ():
        if name in unfit:
            raise ValueError(f"{name!r} {unfit[name]}.")
    usual = [name for name in fitting if not METHODS[name].on_request]
    return _distinct("methods", usual if names is None else names, fitting)


def _distinct(what: str, names: Sequence[str], known: list[str]) -> tuple[str, ...]:
    if not names:
        raise ValueError(f"{what!r} must hold at least one name, got none.")
    return tuple(dict.fromkeys(check_choice(what, name, known) for name in names))


def _symmetric(K: ArrayLike) -> tuple[Array, tuple[str, ...]]:
    """Return the symmetric part, and what there is to say about it."""
    K, share = check_matrix(K, "Similarities", symmetric="average", dtype=float)
    if share <= NEGLIGIBLE_ASYMMETRY:
        return K, ()
    return K, (
        f"The matrix is not symmetric (largest |K - K'| is {share:.2g} of the largest "
        "|K|): all methods see (K + K') / 2.",
    )


def _check_features(X: Any, transformer: TransformerMixin | None) -> None:
    if len(np.shape(X)) != 2:
        raise ValueError(
            "Samples must be rows of a table, got an array of shape "
            f"{np.shape(X)}; for other samples give their matrix of similarities."
        )
    prepare = clone(transformer or MinMaxScaler())
    features = np.asarray(prepare.fit_transform(X), dtype=float)
    if not np.isfinite(features).all():
        row, column = np.argwhere(~np.isfinite(features))[0]
        raise ValueError(
            f"Features must be finite, got {features[row, column]} in row {row}; fill "
            "what is missing, or leave the row out."
        )


def _checked_labels(y: ArrayLike | None, n: int, folds: int) -> tuple[Array, Array]:
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"There must be a label for each of {n} rows, got {y.shape}.")
    if type_of_target(y) not in ("binary", "multiclass"):
        raise ValueError(
            f"Labels must be those of two or more classes, got {type_of_target(y)} "
            f"values such as {y[0]!r}."
        )
    classes, index, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"There must be two classes or more, got {classes.tolist()}.")
    # One row in every fold, and two outside each, for the inner folds.
    least = max(folds, 4 if folds == 2 else 3)
    rarest = int(counts.argmin())
    if counts[rarest] < least:
        raise ValueError(
            f"Class {classes.tolist()[rarest]!r} has {counts[rarest]} rows, but "
            f"{folds} folds need {least} of each class; use fewer folds, or leave it "
            "out."
        )
    return classes, index


def _mark(job: Job, folds: int, seed: int) -> str:
    """Return a name of the data and of all that decides the results."""
    digest = hashlib.sha256()
    settings = folds, seed, job.is_gram, job.classes, job.transformer
    form = () if job.form is None else (job.form,)
    digest.update(repr((version("kreinlearn"), *settings, *form)).encode())
    if job.groups is not None:
        digest.update(repr(job.groups.tolist()).encode())
    digest.update(job.y.astype(np.int64).tobytes())
    columns = [job.X[name] for name in job.X] if hasattr(job.X, "iloc") else [job.X]
    for column in columns:
        values = np.asarray(column)
        digest.update(repr((getattr(column, "name", None), values.shape)).encode())
        if values.dtype.kind in "biuf":
            digest.update(values.astype(float).tobytes())
        else:
            digest.update(repr(values.tolist()).encode())
    return digest.hexdigest()[:12]
