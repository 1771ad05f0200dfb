"""The columns of a new file, matched to those that a model was trained on."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kreinlearn.io.guards import naming_file
from kreinlearn.io.headers import AS_SEEN, Marks
from kreinlearn.io.kinds import (
    GRAMS,
    SAMPLES,
    SPOKEN,
    Format,
    check_marks,
    kind_of,
    located,
)
from kreinlearn.io.pairs import read_new
from kreinlearn.io.reading import read, read_cells
from kreinlearn.io.scores import NOTHING_SAID, Holds, PairOptions
from kreinlearn.io.table import Cells, Table, features_of
from kreinlearn.io.values import number, plain_labels, some_of, text_labels

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Training:
    """What is known of the table that a model was trained on.

    Attributes
    ----------
    columns : sequence of str
        Its features, in their order.
    header : bool
        Whether they have names; otherwise they are known by their order alone.
    target : str or None
        Name of the column of labels.
    target_place : int or None
        Where that column was, counted from zero.
    text : collection of str
        Features that were text; all others were numbers.
    text_labels : bool
        Whether labels are text, even if they look like numbers.
    apart : mapping of str to int
        Columns that were neither features nor labels, and their places from zero.
    id : str or None
        The one among them that names samples.
    """

    columns: Sequence[str]
    header: bool = True
    target: str | None = None
    target_place: int | None = None
    text: Collection[str] = ()
    text_labels: bool = False
    apart: Mapping[str, int] = field(default_factory=dict)
    id: str | None = None


@naming_file
def read_like(
    path: str | os.PathLike[str],
    training: Training,
    header: bool | None = None,
    marks: Marks = AS_SEEN,
) -> tuple[Table, list[str]]:
    """Return the features that a model needs, and the labels if they are there.

    Columns are matched by name if both files have names, and by their order
    otherwise; LIBSVM text by index if the model was trained on numbered columns.
    Columns that the model does not need may hold anything.

    Parameters
    ----------
    path : path-like
        A table or LIBSVM text; it is opened once.
    training : Training
        What the model was trained on.
    header : bool, optional
        As in `kreinlearn.io.read`.
    marks : Marks, optional
        What separates cells and decimals, if that is to be said.

    Returns
    -------
    table : Table
        Its X has the columns of ``training`` in their order, under the names that
        they have in the file; its names are those of the samples, if they are there.
    left_out : list of str
        Other columns of the file, without those that were no features in training.

    Raises
    ------
    ValueError
        If a column is missing, stands twice or holds text instead of numbers.
    """
    ending = located(path)[1]
    if ending in (*GRAMS, *SPOKEN):
        held = SAMPLES.get(SPOKEN.get(ending, "matrix"), "a matrix")
        raise ValueError(
            f"The model was trained on a table with {len(training.columns)} features, "
            f"but {path} holds {held}; give a table."
        )
    is_numbered = all(name.isdigit() for name in training.columns)
    cells = read_cells(path, header, training.columns if is_numbered else (), marks)
    return like(cells, training)


def like(cells: Cells, training: Training) -> tuple[Table, list[str]]:
    """Return the features that a model needs, of cells; see `read_like`."""
    is_numbered = all(name.isdigit() for name in training.columns)
    is_sparse = cells.labels is not None
    by_name = is_numbered if is_sparse else training.header and cells.header
    names = [name for name in cells.names if name != cells.labels]
    if is_sparse:
        training = replace(training, target=None, target_place=None)
    matched = _by_name if by_name else _by_order
    chosen, label, ids = matched(cells.path, training, names)
    label = cells.labels or label
    pairs = zip(chosen, training.columns, strict=True)
    words = {name for name, known_as in pairs if known_as in training.text}
    X = features_of(cells, chosen, words)
    _check_numbers(X, words)
    columns = dict(zip(cells.names, cells.columns, strict=True))
    y = None
    if label is not None:
        y = text_labels(columns[label])
        y = y if training.text_labels else plain_labels(y)
    samples = None if ids is None else [str(cell) for cell in columns[ids]]
    table = Table(cells.path, X, y, target=label, header=cells.header, names=samples)
    known = {*chosen, label, *(training.apart if by_name else cells.names)}
    return table, [name for name in cells.names if name not in known]


@naming_file
def read_similarities(
    path: str | os.PathLike[str],
    n_train: int,
    support: Collection[int] = (),
    *,
    is_distance: bool = False,
    names: Sequence[str] | None = None,
    pairs: PairOptions = NOTHING_SAID,
    usual: str | None = None,
    symmetrize: str | None = None,
    header: bool | None = None,
) -> Table:
    """Return the similarities of new samples with those that a model was trained on.

    Parameters
    ----------
    path : path-like
        A matrix with one row per new sample, or pairs of new and training samples.
    n_train : int
        Number of training samples.
    support : collection of int, optional
        Those that predictions need, counted from zero; all by default.
    is_distance : bool
        Whether the model was trained on distances, and takes distances.
    names : sequence of str, optional
        Names of the training samples. Text is matched by them; npz and npy are not.
    pairs : PairOptions, optional
        The format, if it is said, and what stands for missing pairs.
    usual : str, optional
        The format of the training file, which text has if nothing is said.
    symmetrize : {"mean", "max", "min"}, optional
        What was made of the two directions of a pair in training.
    header : bool, optional
        As in `kreinlearn.io.read`.

    Returns
    -------
    Table
        Its K has a column for each training sample, or for each that is needed.

    Raises
    ------
    ValueError
        If the file holds no matrix or pairs, or others.
    """
    ending = located(path)[1]
    kind = _kind_of_new(path, ending, pairs.format, usual, names, pairs.marks)
    if kind in SAMPLES:
        raise ValueError(
            f"The model was trained on a matrix, but {path} holds {SAMPLES[kind]}; "
            "give what was computed between these and the training samples."
        )
    if ending not in GRAMS and kind != "table" and names is not None:
        needed_names = [names[place] for place in support] or names
        return read_new(
            Path(path),
            kind,
            names,
            needed_names,
            pairs,
            is_distance=is_distance,
            symmetrize=symmetrize,
            header=header,
        )
    is_matrix = ending in GRAMS
    if not is_matrix and kind != "table":
        raise ValueError(
            f"The training samples of the model have no names to find in {path}; give "
            f"npz or npy with {n_train} columns, one for each in their order."
        )
    holds: Holds | None = "distances" if is_distance and is_matrix else None
    table = read(path, labels=False, square=False, holds=holds, pairs=pairs)
    needed = [int(place) + 1 for place in support]
    if table.K is None:
        learned = "matrix of distances" if is_distance else "Gram matrix"
        raise ValueError(
            f"The model was trained on a {learned}, but {path} holds a table; give "
            f"npz or npy with {n_train} columns, one for each training sample."
        )
    if table.K.shape[1] not in (n_train, len(needed) or n_train):
        part = ""
        if 0 < len(needed) < n_train:
            listed = ", ".join(str(place) for place in needed[:10])
            part = (
                f", or {len(needed)} columns, for the training samples that "
                f"predictions need (counted from 1: {listed}"
                f"{', ...' * (len(needed) > 10)})"
            )
        raise ValueError(
            f"{table.path} must have {n_train} columns, one for each training sample"
            f"{part}, got shape {table.K.shape}."
        )
    return table


def _kind_of_new(
    path: str | os.PathLike[str],
    ending: str,
    said: str | None,
    usual: str | None,
    names: Sequence[str] | None,
    marks: Marks,
) -> Format:
    """Return what a file with new samples holds."""
    if said is None and names is not None and ending not in (*GRAMS, *SPOKEN):
        said = usual or "matrix"
    kind, ending = kind_of(path, said, marks=marks)[1:]
    check_marks(path, kind, ending, marks)
    return kind


Matched = tuple[list[str], str | None, str | None]
"""Columns of a file that are features, labels and names of samples."""


def _by_name(path: str, training: Training, names: Sequence[str]) -> Matched:
    """Return which columns of a file have the names of those in training."""
    missing = [name for name in training.columns if name not in names]
    if missing:
        raise ValueError(
            f"{path} lacks column{'s' * (len(missing) > 1)} {some_of(missing)}, "
            "which the model was trained on."
        )
    label, ids = training.target, training.id
    return (
        list(training.columns),
        label if label in names and label not in training.columns else None,
        ids if ids in names else None,
    )


def _by_order(path: str, training: Training, names: Sequence[str]) -> Matched:
    """Return which columns of a file are where those in training were."""
    place, apart = training.target_place, training.apart
    count = len(training.columns) + len(apart)
    either = "" if place is None else f" or, with labels, {count + 1}"
    has_labels = place is not None and len(names) == count + 1
    if not has_labels and len(names) != count:
        raise ValueError(
            f"{path} must have {count} columns{either}, like the training file, got "
            f"{len(names)}."
        )
    found: list[str | None] = list(names)
    if place is not None and not has_labels:
        found.insert(place, None)  # where labels would be
    taken = {*apart.values(), place}
    return (
        [name for i, name in enumerate(found) if i not in taken and name is not None],
        found[place] if place is not None else None,
        found[apart[training.id]] if training.id is not None else None,
    )


def _check_numbers(X: "pd.DataFrame", words: Collection[str]) -> None:
    """Raise if a column that held numbers in training holds text."""
    for name in X.columns:
        if X[name].dtype == object and name not in words:
            cells = [(i, c) for i, c in X[name].items() if isinstance(c, str)]
            row, cell = next((c for c in cells if number(c[1]) is None), cells[0])
            raise ValueError(
                f"{X.attrs['path']}: a number was expected, got {cell!r} in "
                f"{X.index.name} {row}, column {name!r}, which held numbers when the "
                "model was trained."
            )
