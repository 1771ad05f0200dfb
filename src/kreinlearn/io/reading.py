"""One function that reads every kind of file we know."""

import os
from collections.abc import Collection, Sequence
from dataclasses import replace

from kreinlearn.io.columns import Roles
from kreinlearn.io.guards import naming_file
from kreinlearn.io.headers import AS_SEEN, Marks
from kreinlearn.io.kinds import GRAMS, SAMPLES, SPARSE, check_marks, kind_of
from kreinlearn.io.matrices import read_gram
from kreinlearn.io.pairs import read_training
from kreinlearn.io.parquet import parquet_names, read_parquet
from kreinlearn.io.samples import read_samples
from kreinlearn.io.scores import NOTHING_SAID, Holds, PairOptions
from kreinlearn.io.svmlight import read_svmlight
from kreinlearn.io.table import NO_ROLES, Cells, Table, build
from kreinlearn.io.text import names_of, read_text
from kreinlearn.io.values import as_labels


@naming_file
def read(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    header: bool | None = None,
    labels: bool | None = True,
    text: Collection[str] = (),
    names: Sequence[str] = (),
    square: bool = True,
    holds: Holds | None = None,
    symmetrize: str | None = None,
    pairs: PairOptions = NOTHING_SAID,
    roles: Roles = NO_ROLES,
) -> Table:
    """Return the samples in a file.

    Parameters
    ----------
    path : path-like
        A table (csv, tsv, parquet), LIBSVM text (libsvm, svm, svmlight), or a matrix
        of similarities or distances (npz, npy, csv with the same names in the first
        line and the first column, phylip, m8), or samples of another kind: sequences
        (fasta), time series (ts), a folder of graphs; text may be compressed (.gz).
    target : str, optional
        Name or position (from 1; -1 is the last) of the column of labels; the last by
        default. In npz the name of the array, "y" by default; for npy the file; in
        FASTA where the label is in a header, as in `header_labels`.
    header : bool, optional
        Whether the first line holds names; by default if no cell of it is a number,
        or if some are, but its words are unlike those below.
    labels : bool
        Whether labels are needed. If not, all columns are features without ``target``.
        None: a table needs them, a matrix and other samples do not.
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
    pairs : PairOptions, optional
        The format of a file with pairs, what to make of missing ones, and the file of
        the labels.
    roles : Roles, optional
        Columns of a table that are no features.

    Returns
    -------
    Table
        The samples.

    Raises
    ------
    ValueError, OSError, MemoryError
        One sentence with the file, the line and the column that are bad.
    """
    column = target if pairs.labels is None else None  # otherwise of that file
    place, kind, ending = kind_of(
        path, pairs.format, header=header, target=column, marks=pairs.marks
    )
    check_marks(path, kind, ending, pairs.marks)
    if roles and (kind != "table" or ending in SPARSE):
        what = SAMPLES.get(kind, "LIBSVM text" if ending in SPARSE else "a matrix")
        raise ValueError(
            f"{path} holds {what}, which has no columns to choose from: leave out "
            "--drop, --id and --group."
        )
    if ending in GRAMS:
        if pairs.labels is not None or pairs.repeated is not None:
            raise ValueError(
                f"{path} has no names of samples: leave out --labels and --repeated; "
                "labels are in the file, or in the one that --target names."
            )
        table = read_gram(
            place,
            target=target,
            labels=bool(labels),
            square=square,
            holds=holds,
            symmetrize=symmetrize,
            pairs=pairs,
        )
        return _with_checked_labels(table) if labels is None else table
    if kind in SAMPLES:
        if holds is not None or symmetrize is not None:
            raise ValueError(
                f"{path} holds {SAMPLES[kind]}; --distance, --similarity and "
                "--symmetrize go with a matrix or a list of pairs: leave them out."
            )
        return read_samples(
            place, kind, pairs, target=target, labels=labels, header=header
        )
    if kind != "table":
        return read_training(
            place,
            kind,
            pairs,
            target=target,
            labels=labels,
            holds=holds,
            symmetrize=symmetrize,
            header=header,
        )
    check_table_options(path, holds, symmetrize, pairs)
    if ending in SPARSE and target is not None:
        raise ValueError(
            f"{path} is LIBSVM text, whose labels come first in each line; leave out "
            f"the target, got {target!r}."
        )
    cells = read_cells(path, header, names, pairs.marks)
    needed, target = labels is not False, target or cells.labels
    return build(cells, target=target, labels=needed, text=text, roles=roles)


def check_table_options(
    path: str | os.PathLike[str],
    holds: Holds | None,
    symmetrize: str | None,
    pairs: PairOptions,
) -> None:
    """Raise if something was said of a table that only matrices and pairs take."""
    is_of_pairs = pairs.are_of_pairs or pairs.labels is not None
    if holds is not None or symmetrize is not None or is_of_pairs:
        raise ValueError(
            f"{path} holds a table; --distance, --similarity, --symmetrize, --missing, "
            "--missing-self, --repeated and --labels go with a matrix or a list of "
            "pairs: if it is one, say so by --format matrix or --format pairs."
        )


@naming_file
def read_cells(
    path: str | os.PathLike[str],
    header: bool | None = None,
    indices: Sequence[str] = (),
    marks: Marks = AS_SEEN,
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
    marks : Marks
        What separates cells and decimals, if that was said.

    Returns
    -------
    Cells
        Names and columns.
    """
    place, kind, ending = kind_of(path, "table")
    check_marks(path, kind, ending, marks)
    if ending in SPARSE:
        return read_svmlight(place, indices)
    if ending == ".parquet":
        return read_parquet(place)
    return read_text(place, marks.with_tabs(ending == ".tsv"), header)


@naming_file
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

        None instead of both for LIBSVM text and matrices.
    """
    place, kind, ending = kind_of(path, header=header)
    if kind != "table" or ending in SPARSE:
        return None
    if ending == ".parquet":
        return parquet_names(place), True
    return names_of(place, AS_SEEN.with_tabs(ending == ".tsv"), header)


def _with_checked_labels(table: Table) -> Table:
    """Return a matrix whose labels, if it has some, are those of classes."""
    if table.y is None:
        return table
    where = f"{table.path}, {table.target!r}"
    rows = range(1, len(table.y) + 1)
    return replace(table, y=as_labels(table.y, rows, where, unit="row"))
