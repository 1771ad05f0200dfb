"""Data, folds and cells of a comparison, checked before anything is computed.

Notation: n samples, m features; K similarities among training samples.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin, clone
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.multiclass import type_of_target

from kreinlearn._typing import Array, SampleSet
from kreinlearn._validation import (
    check_choice,
    check_count,
    check_distances,
    check_matrix,
    check_similarities,
)
from kreinlearn.app.methods import (
    ALL_METHODS,
    KREIN_CV,
    UNCHECKED_PARAMS,
    count_groups,
    grouped_folds,
)
from kreinlearn.app.runs import Cell
from kreinlearn.kernels import KERNELS, gram
from kreinlearn.kernels.transforms import FORMS, fit_transform
from kreinlearn.search import Fold

GRAM_KERNEL = "precomputed"
"""Kernel of data that are a matrix of similarities."""
OWN_KERNELS = "own"
"""Kernel, in a cell, of a method that chooses its kernels itself."""
NEGLIGIBLE_ASYMMETRY = 1e-10
"""Asymmetry relative to the largest entry below which no note is made."""
SEARCH_WEIGHTS = {"rows": 16.0, "distances": 8.0, "gram": 1.0}
"""Weights of the default search by kind of data, see `Method`."""
ALL_KEYWORD = "all"
"""Stands for the names of all methods that apply."""

DataKind = Literal["rows", "gram", "distances"]
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
    kernels : tuple of str
        Names of the kernels, or of the matrix.
    transformer : estimator, optional
        Turns samples into features, fitted to training rows only; scales to [0, 1] by
        default.
    form : str, optional
        Transform of distances; by default the search tries several, and other methods
        use the exponential. The width is the median distance among training rows.
    groups : ndarray of shape (n,), optional
        Groups of rows, which are never split across folds.
    notes : tuple of str
        Sentences about changes of the data.
    """

    name: str
    X: Any
    y: Array
    classes: tuple[str | int | float, ...]
    splits: Mapping[Place, Fold]
    kind: DataKind = "rows"
    kernels: tuple[str, ...] = (GRAM_KERNEL,)
    transformer: TransformerMixin | None = None
    form: str | None = None
    groups: Array | None = None
    notes: tuple[str, ...] = ()

    @property
    def search_params(self) -> dict[str, object]:
        """Parameters of the default search, as `krein fit` would set them."""
        if self.kind == "gram":
            return {"kernel": GRAM_KERNEL, "kernel_params": UNCHECKED_PARAMS}
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

    def list_cells(self, methods: Sequence[str] | None, seed: int) -> list[Cell]:
        """Return one cell for each fold, method and kernel."""
        dataset = self._hash(seed)
        own = self.kind == "gram" or self.form is not None
        by_input = {
            "rows": (OWN_KERNELS,),
            "data": self.kernels if own else (OWN_KERNELS,),
            "gram": self.kernels,
        }
        return [
            Cell("compare", dataset, method, run, (("kernel", kernel), ("fold", fold)))
            for run, fold in self.splits
            for method in check_methods(methods, self.kind)
            for kernel in by_input[ALL_METHODS[method].input]
        ]

    def weigh_cell(self, cell: Cell) -> float:
        """Return the rough seconds of a cell with 1000 training rows."""
        if cell.method == KREIN_CV:
            return SEARCH_WEIGHTS[self.kind]
        return ALL_METHODS[cell.method].weight

    def _hash(self, seed: int) -> str:
        """Return a hash of the data and of all settings that the results depend on."""
        folds = 1 + max(fold for _, fold in self.splits)
        settings = folds, seed, self.kind != "rows", self.classes, self.transformer
        form = (self.form or FORMS[0],) if self.kind == "distances" else ()
        text = repr((version("kreinlearn"), *settings, *form))
        digest = hashlib.sha256(text.encode())
        if self.groups is not None:
            digest.update(repr(self.groups.tolist()).encode())
        digest.update(self.y.astype(np.int64).tobytes())
        is_frame = hasattr(self.X, "iloc")
        for column in [self.X[name] for name in self.X] if is_frame else [self.X]:
            values = np.asarray(column)
            digest.update(repr((getattr(column, "name", None), values.shape)).encode())
            if values.dtype.kind in "biuf":
                digest.update(values.astype(float).tobytes())
            else:
                digest.update(repr(values.tolist()).encode())
        return digest.hexdigest()[:12]


def find_data_kind(kernel: str | Sequence[str]) -> DataKind:
    """Return the kind of data that an argument ``kernel`` is for."""
    if kernel == "distance":
        return "distances"
    return "gram" if kernel == GRAM_KERNEL else "rows"


def repeat_folds(
    y: Array, folds: int, repeats: int, seed: int, groups: Array | None = None
) -> dict[Place, Fold]:
    """Return stratified training and held-out rows by repetition and fold."""
    if groups is None:
        splitter = RepeatedStratifiedKFold(
            n_splits=folds, n_repeats=repeats, random_state=seed
        )
        parts = list(splitter.split(np.zeros(len(y)), y))
    else:
        # The inner folds need two groups of each class among the training rows.
        if folds == 2 and min(count_groups(y, groups).values()) < 4:
            raise ValueError(
                "Two folds, and folds within them, need four groups with samples of "
                "each class; use another column."
            )
        seeds = (seed + 100 * run for run in range(repeats))
        parts = [p for s in seeds for p in grouped_folds(y, groups, folds, s)]
    return {divmod(i, folds): part for i, part in enumerate(parts)}


def check_request(
    y: ArrayLike | None,
    n: int,
    kernel: str | Sequence[str],
    methods: Sequence[str] | None,
    folds: int,
    repeats: int,
) -> tuple[Array, Array]:
    """Check the labels and the settings before anything is computed.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    n : int
        Number of samples.
    kernel, methods, folds, repeats : object
        See `kreinlearn.compare`.

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
    check_methods(methods, find_data_kind(kernel))
    return classes, index


def check_methods(names: Sequence[str] | None, kind: DataKind) -> tuple[str, ...]:
    """Return the methods to run, by default all that are not run on request only."""
    known = [n for n, m in ALL_METHODS.items() if kind == "rows" or m.input != "rows"]
    if names is None:
        names = [name for name in known if not ALL_METHODS[name].on_request]
    elif list(names) == [ALL_KEYWORD]:
        names = known
    for name in {*names} & {*ALL_METHODS} - {*known}:
        raise ValueError(
            f"{name!r} needs a table of features, got a matrix; leave it out."
        )
    return _check_listed("methods", names, known)


def _check_listed(what: str, names: Sequence[str], known: list[str]) -> tuple[str, ...]:
    if not names:
        raise ValueError(f"{what!r} must hold at least one name, got none.")
    return tuple(dict.fromkeys(check_choice(what, name, known) for name in names))


def check_data(
    X: SampleSet,
    kernel: str | Sequence[str],
    form: str | None,
    measure: str | None,
    check: bool,
    transformer: TransformerMixin | None,
) -> tuple[SampleSet, tuple[str, ...], tuple[str, ...]]:
    """Return the data, the names of kernels, and notes; see `kreinlearn.compare`."""
    kind = find_data_kind(kernel)
    if kind == "distances":
        check_choice("form", form or FORMS[0], FORMS)
        name = f"{form or FORMS[0]} of {measure or 'distances'}"
        return check_distances(np.asarray(X, dtype=float)), (name,), ()
    if kind == "gram":
        K, asymmetry = check_matrix(X, "Similarities", symmetric="average", dtype=float)
        if check:
            check_similarities(K, "The matrix")
        note = (
            f"The matrix is not symmetric (largest |K - K'| is {asymmetry:.2g} of the "
            "largest |K|): all methods use (K + K') / 2."
        )
        notes = (note,) if asymmetry > NEGLIGIBLE_ASYMMETRY else ()
        return K, (measure or GRAM_KERNEL,), notes
    known = [name for name, each in KERNELS.items() if each.samples == "rows"]
    given = [kernel] if isinstance(kernel, str) else kernel
    names = _check_listed("kernels", given, known)
    X = X if hasattr(X, "iloc") else np.asarray(X)
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
    return X, names, ()
