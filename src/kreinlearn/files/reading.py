"""One function that reads every kind of file we know, by the ending of its name."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from kreinlearn.files.matrices import Holds, read_gram
from kreinlearn.files.parquet import parquet_names, read_parquet
from kreinlearn.files.svmlight import read_svmlight
from kreinlearn.files.table import Cells, Table, build
from kreinlearn.files.text import names_of, read_text

SPARSE = (".libsvm", ".svm", ".svmlight")
GRAMS = (".npz", ".npy")
COMPRESSED = (".csv", ".tsv", *SPARSE)
"""Endings that may be followed by .gz."""


def read(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    header: bool | None = None,
    labels: bool = True,
    text: Collection[str] = (),
    names: Sequence[str] = (),
    square: bool = True,
    holds: Holds | None = None,
    symmetrize: str | None = None,
) -> Table:
    """Return the samples in a file.

    Parameters
    ----------
    path : path-like
        A table (csv, tsv, parquet), LIBSVM text (libsvm, svm, svmlight), or a matrix
        of similarities or distances (npz, npy); text may be compressed (.gz).
    target : str, optional
        Name or position (from 1; -1 is the last) of the column of labels; the last by
        default. In npz the name of the array, "y" by default; for npy the file.
    header : bool, optional
        Whether the first line holds names; by default if no cell of it is a number.
    labels : bool
        Whether labels are needed. If not, all columns are features without ``target``.
    text : collection of str
        Columns to leave as text, even if their cells look like numbers.
    names : sequence of str
        Features that LIBSVM text has, at least, though its lines leave them out.
    square : bool
        Whether a Gram matrix must be square: similarities among training samples.
    holds : {"similarities", "distances"}, optional
        What a matrix holds. By default similarities, which are refused if they look
        like distances: zero on the diagonal, and nothing negative.
    symmetrize : {"mean", "max", "min"}, optional
        What to make of the two directions of a square matrix.

    Returns
    -------
    Table
        The samples.

    Raises
    ------
    ValueError, OSError, MemoryError
        One sentence with the file, the line and the column that are bad.
    """
    place, kind = _located(path)
    if kind in GRAMS:
        return read_gram(
            place,
            target=target,
            labels=labels,
            square=square,
            holds=holds,
            symmetrize=symmetrize,
        )
    if holds is not None or symmetrize is not None:
        raise ValueError(
            f"{path} holds a table; --distance, --similarity and --symmetrize go with "
            "a square matrix in npz or npy."
        )
    if kind in SPARSE and target is not None:
        raise ValueError(
            f"{path} is LIBSVM text, whose labels come first in each line; leave out "
            f"the target, got {target!r}."
        )
    cells = read_cells(path, header, names)
    return build(cells, target=target or cells.labels, labels=labels, text=text)


def read_cells(
    path: str | os.PathLike[str],
    header: bool | None = None,
    indices: Sequence[str] = (),
) -> Cells:
    """Return the cells of a table or of LIBSVM text, before they are interpreted.

    Parameters
    ----------
    path : path-like
        The file, which is opened once; not that of a Gram matrix.
    header : bool, optional
        As in `read`.
    indices : sequence of str
        As ``names`` in `read`.

    Returns
    -------
    Cells
        Names and columns.
    """
    place, kind = _located(path)
    if kind in SPARSE:
        return read_svmlight(place, indices)
    if kind == ".parquet":
        return read_parquet(place)
    return read_text(place, kind == ".tsv", header)


def column_names(
    path: str | os.PathLike[str], header: bool | None = None
) -> tuple[list[str], bool] | None:
    """Return the names of the columns of a table without reading all of it.

    Parameters
    ----------
    path : path-like
        The file.
    header : bool, optional
        As in `read`.

    Returns
    -------
    names : list of str
        Names, or positions from 1.
    header : bool
        Whether they are names from the file.

        None instead of both for LIBSVM text and Gram matrices.
    """
    place, kind = _located(path)
    if kind in GRAMS or kind in SPARSE:
        return None
    if kind == ".parquet":
        return parquet_names(place), True
    return names_of(place, kind == ".tsv", header)


def _located(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return the path of a file that exists and its ending, without .gz."""
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a folder; a file with data was expected.")
    if not place.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    endings = [ending.lower() for ending in place.suffixes]
    compressed = endings[-1:] == [".gz"]
    kind = "".join(endings[-2:-1] if compressed else endings[-1:])
    if kind not in COMPRESSED and (compressed or kind not in (".parquet", *GRAMS)):
        raise ValueError(
            f"The name of {path} must end with .csv, .tsv, .libsvm, .svm or .svmlight "
            "(each also with .gz), .parquet, .npz or .npy, to tell what is in it."
        )
    return place, kind
