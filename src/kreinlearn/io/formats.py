"""The table of file formats, their detection, and `read`, which dispatches to readers.

A new format is one reader and one row of `FORMATS`.
"""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kreinlearn._files import check_regular
from kreinlearn._typing import Array
from kreinlearn._validation import (
    check_choice,
    check_distances,
    check_matrix,
    check_similarities,
    symmetrize_matrix,
)
from kreinlearn.io.columns import NO_ROLES, ColumnRoles
from kreinlearn.io.errors import check_file, name_file
from kreinlearn.io.graphs import EDGE_FILE
from kreinlearn.io.labels import as_labels, read_labels
from kreinlearn.io.matrices import (
    LABELS_NAME,
    expand_condensed,
    is_square,
    read_npy,
    read_npz,
)
from kreinlearn.io.options import (
    DEFAULT_OPTIONS,
    MatrixContent,
    PairOptions,
    ReadOptions,
)
from kreinlearn.io.pairs import (
    LIST_FORMATS,
    complete_square,
    join_notes,
    read_new,
    read_square,
)
from kreinlearn.io.samples import SAMPLE_FORMATS, read_samples
from kreinlearn.io.sources import TableSource, open_csv, open_parquet, open_svmlight
from kreinlearn.io.table import Table, read_table
from kreinlearn.io.text import AUTO_DIALECT, Dialect, read_rows

if TYPE_CHECKING:
    import pandas as pd

LIBSVM_ENDINGS = (".libsvm", ".svm", ".svmlight")
NUMPY_ENDINGS = (".npz", ".npy")
BINARY_ENDINGS = (*NUMPY_ENDINGS, ".parquet")


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    read : callable
        Reader: path, name of the format and options to a `Table`.
    endings : tuple of str
        Endings of file names that imply the format.
    by_name : tuple of str
        Endings that are also allowed if a user names the format; None for any text.
    """

    read: Callable[[Path, str, ReadOptions], Table]
    endings: tuple[str, ...] = ()
    by_name: tuple[str, ...] | None = None


@name_file
def read(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    header: bool | None = None,
    labels: bool | None = True,
    text: Collection[str] = (),
    names: Sequence[str] = (),
    square: bool = True,
    holds: MatrixContent | None = None,
    symmetrize: str | None = None,
    pairs: PairOptions = DEFAULT_OPTIONS,
    roles: ColumnRoles = NO_ROLES,
) -> Table:
    """Return the samples in a file.

    Parameters
    ----------
    path : path-like
        A table (csv, tsv, parquet), LIBSVM text (libsvm, svm, svmlight), a matrix of
        similarities or distances (npz, npy, csv, phylip, m8), or other samples:
        sequences (fasta), time series (ts), a folder of graphs; text may be
        compressed (.gz).
    target : str, optional
        Name or position (from 1; -1 is the last) of the column of labels; the last by
        default. In npz the name of the array, "y" by default; for npy the file; in
        FASTA the position of the label in a header, as in `header_labels`.
    header : bool, optional
        Whether the first line holds names; by default if no cell of it is a number,
        or if some are, but its words are unlike those below.
    labels : bool
        Whether labels are needed. If not, all columns are features without ``target``.
        None: a table needs them, a matrix and other samples do not.
    text : collection of str
        Columns to read as text, even if their cells look like numbers.
    names : sequence of str
        Features that LIBSVM text has at least.
    square : bool
        Whether a Gram matrix must be square: similarities among training samples.
    holds : {"similarities", "distances"}, optional
        Content of a matrix. By default similarities, which are rejected if they look
        like distances: zero on the diagonal, and nothing negative.
    symmetrize : {"mean", "max", "min"}, optional
        Aggregate of the two directions of a square matrix.
    pairs : PairOptions, optional
        Format of the file, fill values of missing pairs, and the file of the labels.
    roles : ColumnRoles, optional
        Columns of a table that are not features.

    Returns
    -------
    Table
        The samples.

    Raises
    ------
    ValueError, OSError, MemoryError
        With the file, the line and the column at fault.
    """
    options = ReadOptions(
        target, header, labels, text, names, square, holds, symmetrize, pairs, roles
    )
    return read_file(path, options)


def read_file(path: str | os.PathLike[str], options: ReadOptions) -> Table:
    """Return the samples in a file; as `read`."""
    place, format, ending = resolve_format(path, options)
    check_dialect(path, format, ending, options.pairs.dialect)
    if options.roles and (format != "table" or ending in LIBSVM_ENDINGS):
        what = "LIBSVM text" if ending in LIBSVM_ENDINGS else "a matrix"
        raise ValueError(
            f"{path} holds {SAMPLE_FORMATS.get(format, what)}, which has no columns to "
            "choose from: leave out --drop, --id and --group."
        )
    return FORMATS[format].read(place, format, options)


def _read_table(path: Path, format: str, options: ReadOptions) -> Table:
    check_table_options(path, options)
    ending = locate(path)[1]
    if ending in LIBSVM_ENDINGS and options.target is not None:
        raise ValueError(
            f"{path} is LIBSVM text, whose labels come first in each line; leave out "
            f"--target, got {options.target!r}."
        )
    source = open_table(path, options.header, options.names, options.pairs.dialect)
    return read_table(
        source,
        target=options.target,
        labels=options.labels is not False,
        text=options.text,
        roles=options.roles,
    )


def check_table_options(path: str | os.PathLike[str], options: ReadOptions) -> None:
    """Raise if options of matrices and pairs are given for a table."""
    pairs = options.pairs
    if not (options.is_for_matrix or pairs.has_fill_values or pairs.labels):
        return
    place = Path(path)
    labels = None if pairs.labels is None else Path(pairs.labels)
    if labels and labels.is_file() and is_square(labels, AUTO_DIALECT):
        raise ValueError(
            f"{labels} is a matrix with names, and {path} is not: exchange the two "
            "files, such that --labels names the file with the labels."
        )
    what = "a table"
    if place.is_file() and {".csv", ".tsv"} & {*place.suffixes}:
        width = len(next(read_rows(place, pairs.dialect))[1])
        what = f"a table of {width} columns"
    raise ValueError(
        f"{path} holds {what}; --distance, --similarity, --symmetrize, --missing, "
        "--missing-self, --repeated and --labels go with a square matrix or, by "
        "--format pairs, with a list of pairs."
    )


def open_table(
    path: str | os.PathLike[str],
    header: bool | None = None,
    indices: Sequence[str] = (),
    dialect: Dialect = AUTO_DIALECT,
) -> TableSource:
    """Return a table on disk: csv, tsv, Parquet or LIBSVM text.

    Parameters
    ----------
    path : path-like
        The file.
    header : bool, optional
        As in `read`.
    indices : sequence of str
        As ``names`` in `read`.
    dialect : Dialect
        Separators.
    """
    place, format, ending = resolve_format(
        path, ReadOptions(pairs=PairOptions("table"))
    )
    check_dialect(path, format, ending, dialect)
    if ending in LIBSVM_ENDINGS:
        return open_svmlight(place, indices)
    if ending == ".parquet":
        return open_parquet(place)
    return open_csv(place, dialect.with_tabs(ending == ".tsv"), header)


@name_file
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
    _, format, ending = resolve_format(path, ReadOptions(header=header))
    if format != "table" or ending in LIBSVM_ENDINGS:
        return None
    source = open_table(path, header)
    return source.names, source.header


def _read_matrix(path: Path, format: str, options: ReadOptions) -> Table:
    """Return the matrix of an npz, npy or csv file."""
    ending = locate(path)[1]
    if ending not in NUMPY_ENDINGS:
        return _read_scores(path, format, options)
    pairs, target, labels = options.pairs, options.target, bool(options.labels)
    if pairs.repeated is not None:
        raise ValueError(f"{path} holds no list of pairs: leave out --repeated.")
    if pairs.labels is not None and ending == ".npz":
        raise ValueError(
            f"{path} has no names of samples: leave out --labels; name the array of "
            "labels by --target."
        )
    if ending == ".npy":
        target = target or pairs.labels
        K, name, y = read_npy(path, target, labels)
    else:
        dims = 1 if pairs.format == "condensed" else 2
        K, name, y = read_npz(path, target, labels, options.holds, options.square, dims)
    K, notes = _check_numpy_matrix(f"{path}: {name}", K, options)
    title = (target or LABELS_NAME) if y is not None else None
    if y is not None:
        y = y.reshape(-1) if 1 in y.shape[1:] else y
        if y.shape != K.shape[:1]:
            raise ValueError(
                f"{path}: {len(K)} labels were expected, one for each row of the "
                f"matrix, got an array of shape {y.shape} in {title!r}."
            )
        if options.labels is not False:
            y = as_labels(y, range(1, len(K) + 1), f"{path}, {title!r}", unit="row")
    remark = join_notes(str(path), notes)
    return Table(str(path), K=K, y=y, target=title, remark=remark, format="matrix")


def _check_numpy_matrix(
    what: str, given: Array, options: ReadOptions
) -> tuple[Array, list[str]]:
    """Return a matrix of the expected content, and notes about filled values."""
    pairs, holds, square = options.pairs, options.holds, options.square
    # A vector of distances is condensed; for similarities the format must be given.
    is_given = pairs.format == "condensed"
    is_implied = holds == "distances" and pairs.format is None
    is_condensed = given.ndim == 1 and square and (is_given or is_implied)
    if is_given and not square:
        raise ValueError(
            f"{what} cannot be condensed, which leaves out the direction from new to "
            "training samples; give a matrix with one row per new sample."
        )
    if is_given and not is_condensed:
        raise ValueError(
            f"{what} must be a vector of the pairs of training samples, got an array "
            f"of shape {given.shape}; leave out --format for a matrix."
        )
    if is_condensed:
        K = expand_condensed(given, what)
        numbers = range(1, len(K) + 1)
        return complete_square(what, numbers, K, pairs, holds, options.symmetrize)
    if pairs.missing is not None or pairs.missing_self is not None:
        raise ValueError(
            f"{what} is a matrix, in which every pair must be known: leave out "
            "--missing and --missing-self, which go with pairs and condensed vectors."
        )
    # Rows of files are counted from one.
    K, _ = check_matrix(given, what, symmetric="any", square=square, first=1)
    if options.symmetrize is not None and square:
        K = symmetrize_matrix(K, options.symmetrize)
    if holds == "distances":
        return check_distances(K, what, square=square, first=1), []
    if square and holds is None:
        check_similarities(K, what)
    return K, []


def _read_scores(path: Path, format: str, options: ReadOptions) -> Table:
    """Return a matrix of training samples from text, and labels by sample name."""
    labels, target = options.pairs.labels, options.target
    if options.labels and labels is None:
        raise ValueError(
            f"{path} holds no labels; name a file with the name and the label of each "
            "sample by --labels."
        )
    if target is not None and labels is None:
        raise ValueError(
            f"{path} has no column of labels, got --target {target!r}, which goes with "
            "a file of labels (--labels)."
        )
    # For a file of labels, --header is about that file unless this one is a list.
    header = options.header if labels is None or format in LIST_FORMATS else None
    names, K, notes = read_square(path, format, options, header)
    y = title = None
    remark = join_notes(str(path), notes)
    if labels is not None:
        y, title, note = read_labels(
            labels,
            names,
            str(path),
            target,
            n_samples=len(K),
            header=None if format in LIST_FORMATS else options.header,
        )
        remark = " ".join(filter(None, (remark, note)))
    return Table(
        str(path), K=K, y=y, target=title, names=names, remark=remark, format=format
    )


@name_file
def read_pairs(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    training: Sequence[str] | None = None,
    holds: MatrixContent | None = None,
    missing: float | None = None,
    missing_self: float | None = None,
    repeated: str | None = None,
    symmetrize: str | None = None,
    header: bool | None = None,
) -> "pd.DataFrame":
    """Return scores of pairs of named samples as a matrix with these names.

    Parameters
    ----------
    path : path-like
        Text, plain or compressed (.gz).
    format : {"pairs", "blast", "phylip", "matrix"}, optional
        Two names and a score in each line; BLAST's outfmt 6, as of Foldseek and
        MMseqs2; a matrix of PHYLIP, square or triangular; a table with names in the
        first line and the first column. By default detected by the name of the file
        (.m8, .phylip), or by the same names on both sides of a table.
    training : sequence of str, optional
        Training samples, if the file holds scores of new samples with these.
    holds : {"similarities", "distances"}, optional
        Content of the matrix. By default similarities, which are rejected if they look
        like distances.
    missing : float, optional
        Fill value for missing pairs (default: error).
    missing_self : float, optional
        Fill value for missing similarities of samples with themselves (default:
        error). The distance of a sample to itself is 0.
    repeated : {"mean", "max", "min"}, optional
        Aggregate of several scores of a pair in one direction. By default the best
        hit of a search counts, and other scores must agree.
    symmetrize : {"mean", "max", "min"}, optional
        Aggregate of scores that differ between both directions.
    header : bool, optional
        Whether the first line of a list holds titles; by default if its score is not a
        number.

    Returns
    -------
    DataFrame of shape (n_samples, n_samples), or (n_new, n_training)
        Scores, with names of samples as index and columns. ``attrs["remark"]`` holds
        a note about filled or ignored values.

    Raises
    ------
    ValueError, OSError, MemoryError
        With the file, and the line or the pair at fault.
    """
    import pandas as pd

    options = PairOptions(format, missing, missing_self, repeated)
    reading = ReadOptions(holds=holds, symmetrize=symmetrize, pairs=options)
    place, found, ending = resolve_format(path, ReadOptions(pairs=options))
    if found not in TEXT_MATRICES or ending in NUMPY_ENDINGS:
        raise ValueError(
            f"{path} is no text with pairs or a matrix with names; if it is, set "
            "format to 'pairs', 'blast', 'phylip' or 'matrix'."
        )
    names: Sequence[str] | None
    if training is None:
        names, K, notes = read_square(place, found, reading, header)
        columns = names
    else:
        columns = list(training)
        names, K, notes = read_new(
            *(place, found, columns, columns, options),
            *(holds == "distances", symmetrize, header),
        )
    frame = pd.DataFrame(K, index=names, columns=columns, copy=False)
    frame.attrs["remark"] = join_notes(str(path), notes)
    return frame


FASTA_ENDINGS = (".fasta", ".fa", ".fas", ".faa", ".fna", ".ffn")
FORMATS = {
    "table": Format(_read_table, (".csv", ".tsv", ".parquet", *LIBSVM_ENDINGS), ()),
    "matrix": Format(_read_matrix, NUMPY_ENDINGS),
    "pairs": Format(_read_scores),
    "blast": Format(_read_scores, (".m8",)),
    "phylip": Format(_read_scores, (".phylip", ".phy")),
    "condensed": Format(_read_matrix, (), NUMPY_ENDINGS),
    "fasta": Format(read_samples, FASTA_ENDINGS),
    "ts": Format(read_samples, (".ts",)),
    "ucr": Format(read_samples),
    "tu": Format(read_samples, (), ()),
}
"""All formats by the name that --format takes."""
UCR_ENDINGS = (".tsv", ".txt")
"""Endings of files of the UCR archive, which tables also have."""
TEXT_MATRICES = ("matrix", "pairs", "blast", "phylip")
BY_ENDING = {end: name for name, format in FORMATS.items() for end in format.endings}
TEXT_FORMATS = {
    ending: name
    for ending, name in BY_ENDING.items()
    if name != "table" and ending not in NUMPY_ENDINGS
}
"""Endings that imply a format of text other than a table."""


def resolve_format(
    path: str | os.PathLike[str], options: ReadOptions
) -> tuple[Path, str, str]:
    """Return the path of a file, its format, and the ending of its name.

    A csv or tsv file is a matrix if its first line and its first column hold the same
    names, or if an option of matrices is given and it is square. A list of pairs looks
    like a table with three columns, and lines of the UCR archive like any table, so
    that these formats must be given. A folder holds graphs.

    Parameters
    ----------
    path : path-like
        The file.
    options : ReadOptions
        With the format, if the user names it.

    Returns
    -------
    place : Path
        The file, which exists.
    format : str
        A key of `FORMATS`; "matrix" for npz and npy, unless "condensed" is given.
    ending : str
        Such as ".csv", without .gz.
    """
    given, pairs = options.pairs.format, options.pairs
    if (place := Path(path)).is_dir() and given in (None, "tu"):
        if not any(place.glob(f"*{EDGE_FILE}")):
            raise IsADirectoryError(
                f"{place} is a folder without a file of edges such as MUTAG_A.txt; a "
                "file with data, or a folder of graphs of the TU collection, was "
                "expected."
            )
        return place, "tu", ""
    place, ending, is_compressed = locate(path)
    if given is None and options.kind == "series" and ending in UCR_ENDINGS:
        given = "ucr"
    if given is not None and (given != "table" or ending in NUMPY_ENDINGS):
        _check_format(path, given, ending)
        return place, given, ending
    format = BY_ENDING.get(ending) if given is None else given
    if ending not in BY_ENDING or (is_compressed and ending in BINARY_ENDINGS):
        raise ValueError(
            f"The name of {path} must end with .csv, .tsv, .libsvm, .svm, .svmlight, "
            ".m8, .phylip, .fasta or .ts (each also with .gz), .parquet, .npz or .npy; "
            "or name the format by --format."
        )
    if ending in TEXT_FORMATS and given == "table":
        _check_format(path, given, ending)
    is_open = given is None and ending in (".csv", ".tsv")
    has_labels = options.target is not None and pairs.labels is None
    if is_open and not has_labels and _is_matrix(place, options):
        return place, "matrix", ending
    return place, format or "table", ending


def _is_matrix(path: Path, options: ReadOptions) -> bool:
    """Return whether a csv or tsv file holds a matrix."""
    dialect, labels = options.pairs.dialect, options.pairs.labels
    if (options.header is not False or labels) and is_square(path, dialect):
        return True
    is_expected = options.is_for_matrix or labels is not None
    return is_expected and is_square(path, dialect, is_expected=True)


def check_dialect(
    path: str | os.PathLike[str], format: str, ending: str, dialect: Dialect
) -> None:
    """Raise if separators are given for a file that has none."""
    in_cells = format in ("table", "matrix", "pairs")
    no_text = (*BINARY_ENDINGS, *LIBSVM_ENDINGS)
    if dialect != AUTO_DIALECT and (not in_cells or ending in no_text):
        raise ValueError(
            f"{path} is not a text with cells in columns, as csv and tsv are: leave "
            "out --sep and --decimal."
        )


def _check_format(path: str | os.PathLike[str], given: str, ending: str) -> None:
    """Raise if the name of a file contradicts the format that a user names."""
    check_choice("format", given, tuple(FORMATS))
    if given == "tu":
        raise NotADirectoryError(
            f"{path} is a file, and the format tu is a folder with files such as "
            "MUTAG_A.txt; give the folder."
        )
    is_binary = ending in (*BINARY_ENDINGS, *LIBSVM_ENDINGS)
    allowed = [
        name
        for name, format in FORMATS.items()
        if ending in format.endings
        or ending in (format.by_name or ())
        or (format.by_name is None and not is_binary)
    ]
    allowed = [name for name in allowed if name != "table" or ending in TABLE_ENDINGS]
    if given not in allowed:
        raise ValueError(
            f"The format of {path} must be {' or '.join(allowed)}, as its name ends "
            f"with {ending or 'no known ending'}, got {given}; rename the file, or "
            "name another format."
        )


TABLE_ENDINGS = FORMATS["table"].endings


def locate(path: str | os.PathLike[str]) -> tuple[Path, str, bool]:
    """Return the path of a file that exists, its ending, and whether .gz follows."""
    place = check_file(path, "a file with data")
    check_regular(path)
    endings = [ending.lower() for ending in place.suffixes]
    is_compressed = endings[-1:] == [".gz"]
    ending = "".join(endings[-2:-1] if is_compressed else endings[-1:])
    return place, ending, is_compressed
