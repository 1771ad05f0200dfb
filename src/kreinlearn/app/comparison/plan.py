"""Plan of a comparison: checked data, folds, cells to run, and their cost.

Notation: n samples, m features; K similarities among training samples.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

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
from kreinlearn.app.methods.records import KREIN_CV, METHODS, UNCHECKED
from kreinlearn.app.methods.tuning import count_groups, grouped_folds
from kreinlearn.app.runs.records import Cell
from kreinlearn.app.runs.runner import count_processors
from kreinlearn.kernels import KERNELS, gram
from kreinlearn.kernels.transforms import FORMS, fit_transform
from kreinlearn.search import Fold

PRECOMPUTED = "precomputed"
"""Kernel of data that are a matrix of similarities."""
OWN_KERNELS = "own"
"""Kernel, in a cell, of a method that chooses its kernels itself."""
MATRICES_PER_PROCESS = 11
"""Matrices of all training rows that a process holds at once, measured with 2000 rows:
the similarities, a fold of them, eigenvectors, the repaired ones."""
NEGLIGIBLE_ASYMMETRY = 1e-10
"""Asymmetry relative to the largest entry below which no note is made."""
OVERHEAD_FRACTION = 0.1
"""Fraction of the seconds of a fit with 1000 rows that a fit with few rows takes:
measured with 80 training rows of sonar."""
SEARCH_WEIGHTS = {"rows": 16.0, "distances": 8.0, "gram": 1.0}
"""Weights of the default search by kind of data, see `Method`."""
ALL = "all"
"""Stands for the names of all methods that apply."""

Kind = Literal["rows", "gram", "distances"]
Place = tuple[int, int]
"""Repetition and fold."""


@dataclass(frozen=True)
class Job:
    """Data of a comparison.

    Parameters
    ----------
    name : str
        Name of the data.
    X : DataFrame or ndarray of shape (n, m), or (n, n)
        Samples as rows, similarities or distances.
    y : ndarray of shape (n,)
        Positions of the labels in ``classes``.
    classes : tuple
        Labels.
    splits : mapping of (int, int) to (ndarray, ndarray)
        Rows for training and held-out rows, by repetition and fold.
    kind : {"rows", "gram", "distances"}
        Kind of ``X``.
    transformer : estimator, optional
        Turns samples into features, fitted to training rows only; scales to [0, 1] by
        default.
    form : str, optional
        Transform of distances; by default the search tries several, and other methods
        use the exponential. The width is the median distance among training rows.
    groups : ndarray of shape (n,), optional
        Groups of rows, which are never split across folds.
    """

    name: str
    X: Any
    y: Array
    classes: tuple[str | int | float, ...]
    splits: Mapping[Place, Fold]
    kind: Kind = "rows"
    transformer: TransformerMixin | None = None
    form: str | None = None
    groups: Array | None = None

    @property
    def kernel(self) -> dict[str, Any]:
        """Parameters of the default search, as `krein fit` would set them."""
        if self.kind == "gram":
            return {"kernel": PRECOMPUTED, "kernel_params": UNCHECKED}
        if self.kind == "distances":
            params = None if self.form is None else {"form": self.form}
            return {"kernel": "distance", "kernel_params": params}
        return {}

    def split_data(self, place: Place) -> tuple[Array, Array]:
        """Return the data of training and of held-out rows, as `krein fit` takes them.

        Features are transformed; matrices have one column per training row.
        """
        train, test = self.splits[place]
        if self.kind != "rows":
            return self.X[np.ix_(train, train)], self.X[np.ix_(test, train)]
        rows = getattr(self.X, "iloc", self.X)
        transformer = clone(self.transformer or MinMaxScaler())
        fitted = np.asarray(transformer.fit_transform(rows[train]), float)
        return fitted, np.asarray(transformer.transform(rows[test]), float)

    def split_similarities(self, place: Place, kernel: str) -> tuple[Array, Array]:
        """Return similarities of training and of held-out rows with training rows.

        The parameters of the kernel depend on the training rows only.
        """
        X, X_test = self.split_data(place)
        if self.kind == "gram":
            return X, X_test
        if self.kind == "distances":
            transform = fit_transform(X, self.form or FORMS[0])
            return transform(X), transform(X_test)
        params = KERNELS[kernel].default_params(X)
        return gram(X, None, kernel, **params), gram(X_test, X, kernel, **params)


class Plan(NamedTuple):
    """A comparison before it is run.

    Attributes
    ----------
    job : Job
        The data and the folds.
    kernels : tuple of str
        Names of the kernels.
    cells : list of Cell
        Cells to run.
    bytes_needed : int
        Memory of all processes together, at most.
    seconds : float
        Rough estimate of the time.
    notes : tuple of str
        Sentences about changes of the data.
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
    kernel: str | Sequence[str] = ("tl1", "rbf"),
    form: str | None = None,
    measure: str | None = None,
    check: bool = True,
    name: str = "data",
    transformer: TransformerMixin | None = None,
    methods: Sequence[str] | None = None,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
    groups: Array | None = None,
) -> Plan:
    """Check the data and the settings, and plan the cells of a comparison.

    Parameters
    ----------
    X, y, kernel, form, check, name, transformer, methods, folds, repeats, seed, \
n_jobs, groups
        See `kreinlearn.compare`.
    measure : str, optional
        Name of the similarities or distances, if they were computed by a kernel.

    Returns
    -------
    Plan
        For `run_comparison`.

    Raises
    ------
    ValueError
        If a name is unknown, a class is too rare for the folds, or the data are not
        valid.
    MemoryError
        If the matrices would not fit in memory.
    """
    n, kind = len(X), _kind(kernel)
    classes, index = check_request(
        y, n, kernel=kernel, methods=methods, folds=folds, repeats=repeats
    )
    if groups is None:
        splits = repeat_folds(index, folds, repeats, seed)
    else:
        splits = _repeat_grouped_folds(index, groups, folds, repeats, seed)
    notes: tuple[str, ...] = ()
    if kind == "distances":
        check_choice("form", form or FORMS[0], FORMS)
        names: tuple[str, ...] = (f"{form or FORMS[0]} of {measure or 'distances'}",)
        X = check_distances(np.asarray(X, dtype=float))
    elif kind == "gram":
        names = (measure or PRECOMPUTED,)
        X, notes = _symmetrize(X)
        if check:
            check_similarities(X, "The matrix")
    else:
        names = _check_kernels([kernel] if isinstance(kernel, str) else kernel)
        X = X if hasattr(X, "iloc") else np.asarray(X)
    n_train, processes = n - n // folds, n_jobs or count_processors()
    check_bytes(
        processes * MATRICES_PER_PROCESS * 8 * n_train**2,
        f"A comparison with {n_train} training rows keeps up to {MATRICES_PER_PROCESS} "
        f"matrices of that size in each of {processes} processes, which take",
        "Use fewer samples or fewer jobs.",
    )
    if kind == "rows":
        _check_features(X, transformer)
    labels = tuple(classes.tolist())
    job = Job(name, X, index, labels, splits, kind, transformer, form, groups)
    own = names if kind == "gram" or form is not None else (OWN_KERNELS,)
    by_input = {"rows": (OWN_KERNELS,), "data": own, "gram": names}
    dataset = _hash_data(job, folds, seed)
    cells = [
        Cell(
            "compare", dataset, method, place[0], (("kernel", each), ("fold", place[1]))
        )
        for place in splits
        for method in _check_methods(methods, kind, len(classes))
        for each in by_input[METHODS[method].input]
    ]
    processes = min(processes, len(cells))
    growth = OVERHEAD_FRACTION + (n_train / 1000) ** 3  # weights are for 1000 rows
    seconds = growth * sum(weigh_cell(cell, kind) for cell in cells) / processes
    memory = processes * MATRICES_PER_PROCESS * 8 * n_train**2
    return Plan(job, names, cells, memory, seconds, notes)


def weigh_cell(cell: Cell, kind: Kind) -> float:
    """Return the rough seconds of a cell with 1000 training rows."""
    is_search = cell.method == KREIN_CV
    return SEARCH_WEIGHTS[kind] if is_search else METHODS[cell.method].weight


def _kind(kernel: str | Sequence[str]) -> Kind:
    if kernel == "distance":
        return "distances"
    return "gram" if kernel == PRECOMPUTED else "rows"


def repeat_folds(y: Array, folds: int, repeats: int, seed: int) -> dict[Place, Fold]:
    """Return stratified training and held-out rows by repetition and fold."""
    splitter = RepeatedStratifiedKFold(
        n_splits=folds, n_repeats=repeats, random_state=seed
    )
    parts = splitter.split(np.zeros(len(y)), y)
    return {divmod(i, folds): part for i, part in enumerate(parts)}


def _repeat_grouped_folds(
    y: Array, groups: Array, folds: int, repeats: int, seed: int
) -> dict[Place, Fold]:
    # The inner folds need two groups of each class among the training rows.
    if folds == 2 and min(count_groups(y, groups).values()) < 4:
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
    kernel: str | Sequence[str],
    methods: Sequence[str] | None = None,
    folds: int = 5,
    repeats: int = 1,
) -> tuple[Array, Array]:
    """Check the labels and the settings before anything is computed.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    n : int
        Number of samples.
    kernel, methods, folds, repeats : object
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
    _check_methods(methods, _kind(kernel), len(classes))
    return classes, index


def _check_kernels(names: Sequence[str]) -> tuple[str, ...]:
    known = [name for name, each in KERNELS.items() if each.samples == "rows"]
    return _check_names("kernels", names, known)


def _check_methods(
    names: Sequence[str] | None, kind: Kind, n_classes: int
) -> tuple[str, ...]:
    excluded = {}
    for name, method in METHODS.items():
        if kind != "rows" and method.input == "rows":
            excluded[name] = "needs a table of features, got a matrix; leave it out"
        elif method.binary_only and n_classes > 2:
            excluded[name] = f"is for two classes, got {n_classes}"
    known = [name for name in METHODS if name not in excluded]
    if names is None:
        names = [name for name in known if not METHODS[name].on_request]
    elif list(names) == [ALL]:
        names = known
    for name in names:
        if name in excluded:
            raise ValueError(f"{name!r} {excluded[name]}.")
    return _check_names("methods", names, known)


def _check_names(what: str, names: Sequence[str], known: list[str]) -> tuple[str, ...]:
    if not names:
        raise ValueError(f"{what!r} must hold at least one name, got none.")
    return tuple(dict.fromkeys(check_choice(what, name, known) for name in names))


def _symmetrize(K: ArrayLike) -> tuple[Array, tuple[str, ...]]:
    """Return the symmetric part of a matrix, and notes about it."""
    K, asymmetry = check_matrix(K, "Similarities", symmetric="average", dtype=float)
    if asymmetry <= NEGLIGIBLE_ASYMMETRY:
        return K, ()
    return K, (
        f"The matrix is not symmetric (largest |K - K'| is {asymmetry:.2g} of the "
        "largest |K|): all methods use (K + K') / 2.",
    )


def _check_features(X: Any, transformer: TransformerMixin | None) -> None:
    if len(np.shape(X)) != 2:
        raise ValueError(
            "Samples must be rows of a table, got an array of shape "
            f"{np.shape(X)}; for other samples give their matrix of similarities."
        )
    features = clone(transformer or MinMaxScaler()).fit_transform(X)
    features = np.asarray(features, dtype=float)
    if not np.isfinite(features).all():
        row, column = np.argwhere(~np.isfinite(features))[0]
        raise ValueError(
            f"Features must be finite, got {features[row, column]} in row {row}; fill "
            "missing values, or leave the row out."
        )


def _hash_data(job: Job, folds: int, seed: int) -> str:
    """Return a hash of the data and of all settings that the results depend on."""
    digest = hashlib.sha256()
    settings = folds, seed, job.kind != "rows", job.classes, job.transformer
    form = (job.form or FORMS[0],) if job.kind == "distances" else ()
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
