"""The table of file formats, their detection, and `open_data`.

A new format is a reader and its rows in the tables; docs/add-a-format.md has the steps.
"""

import io
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from kreinlearn._files import PathName, check_regular
from kreinlearn._typing import Array
from kreinlearn._validation import (
    check_choice,
    check_distances,
    check_matrix,
    check_similarities,
    symmetrize_matrix,
)
from kreinlearn.io import matrices, pairs, samples, tables
from kreinlearn.io.dataset import (
    SCORE_FIELDS,
    Dataset,
    MatrixContent,
    ModelInput,
    ReadOptions,
    TrainingRecord,
)
from kreinlearn.io.labels import as_labels, describe_similar_classes, read_labels
from kreinlearn.io.samples import EDGE_FILE, SAMPLE_FORMATS
from kreinlearn.io.tables import CsvFile, TableSource
from kreinlearn.io.text import (
    are_numbers,
    check_file,
    decode_lines,
    name_file,
    read_rows,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.dataset

CSV_ENDINGS = (".csv", ".tsv")
LIBSVM_ENDINGS = (".libsvm", ".svm", ".svmlight")
NUMPY_ENDINGS = (".npz", ".npy")
BINARY_ENDINGS = (*NUMPY_ENDINGS, ".parquet")
UCR_ENDINGS = (".tsv", ".txt")
"""Endings of files of the UCR archive, which tables also have."""


FILE_FORMATS: dict[str, tuple[str, ...]] = {
    "table": (*CSV_ENDINGS, ".parquet", *LIBSVM_ENDINGS),
    "matrix": (*NUMPY_ENDINGS, ".lsmat"),
    "pairs": (),
    "blast": (".m8",),
    "phylip": (".phylip", ".phy"),
    "condensed": (),
    "fasta": (".fasta", ".fa", ".fas", ".faa", ".fna", ".ffn"),
    "ts": (".ts",),
    "ucr": (),
    "tu": (),
}
"""All formats by the name that --format takes, and endings of names that imply them."""
TEXT_FORMATS = ("matrix", "pairs", "blast", "phylip", "fasta", "ts", "ucr")
"""Formats of text with any other ending."""
FORMAT_BY_ENDING = {end: name for name, ends in FILE_FORMATS.items() for end in ends}
LABEL_FIELDS = ("target", "header", "label_file")
MATRIX_FIELDS = ("holds", "symmetrize", "missing", "missing_self")
COLUMN_FIELDS = ("target", "header", "drop", "id", "group")
FORMAT_FIELDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "table": ("a table", (*COLUMN_FIELDS, "sep", "decimal")),
    "parquet": ("a table in Parquet", COLUMN_FIELDS),
    "libsvm": ("LIBSVM text, with labels first in each line", ("header",)),
    "numpy": ("a matrix", (*LABEL_FIELDS, *MATRIX_FIELDS)),
    "matrix": ("a matrix", (*LABEL_FIELDS, *MATRIX_FIELDS, "sep", "decimal")),
    "pairs": (
        "a list of pairs",
        (*LABEL_FIELDS, *MATRIX_FIELDS, "repeated", "sep", "decimal"),
    ),
    "blast": ("hits of a search", (*LABEL_FIELDS, *MATRIX_FIELDS, "repeated")),
    "phylip": ("a matrix", (*LABEL_FIELDS, *MATRIX_FIELDS)),
    "fasta": ("sequences", LABEL_FIELDS),
    "ts": ("series, with labels after the last colon of each line", ()),
    "ucr": ("series, with labels in each line", ("target", "header")),
    "tu": ("graphs, with labels in a file ..._graph_labels.txt", ()),
}
"""Content of a format, for messages, and the options that it takes."""
FILE_FIELDS = (*COLUMN_FIELDS, "label_file", "sep", "decimal")
OPTIONAL_FIELDS = (*FILE_FIELDS, "holds", *SCORE_FIELDS)
"""Options that only some formats take."""


class DataFile(NamedTuple):
    """A file that exists, its format, the ending of its name, and the csv if open."""

    path: Path
    format: str
    ending: str
    csv: CsvFile | None = None

    @property
    def is_numpy(self) -> bool:
        """Whether the file holds arrays of NumPy."""
        return self.ending in NUMPY_ENDINGS

    def iterate_lines(self) -> Iterable[str] | None:
        """Return the lines of a csv that is open."""
        return None if self.csv is None else self.csv.iterate_lines()


@name_file
def open_data(
    path: PathName,
    options: ReadOptions,
    *,
    in_blocks: bool = False,
    model: ModelInput | None = None,
) -> Dataset:
    """Return the samples in a file.

    Parameters
    ----------
    path : path-like
        A table (csv, tsv, parquet), LIBSVM text (libsvm, svm, svmlight), a matrix of
        similarities or distances (npz, npy, csv, phylip, m8), or other samples:
        sequences (fasta), time series (ts), a folder of graphs; text may be
        compressed (.gz).
    options : ReadOptions
        Options.
    in_blocks : bool
        Whether to read a table in blocks, if its format allows it.
    model : ModelInput, optional
        Input of a fitted model, if the file holds new samples; by default training
        samples are read.

    Returns
    -------
    Dataset
        The samples, in memory or on disk.

    Raises
    ------
    ValueError, OSError, MemoryError
        With the file, the line and the column at fault.
    """
    given = options
    if model is not None:
        given = replace(options, label_file=None, target=None, holds=None)
        options = _adapt_options(path, given, model)
    file = find_format(path, options, in_blocks=in_blocks)
    is_matrix = model is not None and model.kind == "matrix"
    _check_fields(file, given, is_matrix)
    in_blocks = in_blocks and file.ending not in LIBSVM_ENDINGS
    if model is not None:
        return _open_new(file, options, model, in_blocks)
    if file.format == "table":
        source = open_table(file, options)
        data = tables.read_table(source, options, in_blocks=in_blocks)
    elif file.format in SAMPLE_FORMATS:
        data = samples.read_samples(file.path, file.format, options)
    else:
        data = (_read_numpy if file.is_numpy else _read_text_scores)(file, options)
    y = data.y if data.label_counts is None else data.label_counts[0]
    if y is not None and y.dtype.kind == "U":
        if note := describe_similar_classes(set(y.tolist())):
            note = f"{options.label_file or path}: {note}."
            return replace(data, remark=f"{data.remark} {note}".lstrip())
    return data


def read(path: PathName, **options: Any) -> Dataset:
    """Return the samples in a file.

    Parameters
    ----------
    path : path-like
        As in `open_data`: a table, a matrix, pairs, sequences, series or graphs.
    **options
        The attributes of `ReadOptions`, such as ``target``, ``header`` and ``labels``.

    Returns
    -------
    Dataset
        The samples.

    Raises
    ------
    ValueError, OSError, MemoryError
        With the file, the line and the column at fault.
    """
    return open_data(path, ReadOptions(**options))


@name_file
def table_blocks(
    source: "str | os.PathLike[str] | pyarrow.dataset.Dataset",
    target: str | None = None,
    *,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> Dataset:
    r"""Return a table on disk, after one pass over its labels.

    Parameters
    ----------
    source : path-like or pyarrow Dataset
        A csv or tsv file (also with .gz), a parquet file, a folder of parquet files,
        or a dataset.
    target : str, optional
        Name or position (from 1; -1 is the last) of the column of labels; the last by
        default.
    weight : str, optional
        Column of weights.
    columns : sequence of str, optional
        Features; by default all columns apart from labels, weights and those with
        another role.
    **options
        Other attributes of `ReadOptions`.

    Returns
    -------
    Dataset
        It can be iterated over any number of times.

    Raises
    ------
    ValueError, OSError
        With the file, the line and the column at fault.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_text("width,kind\n1,red\n2,blue\n4,red\n")
    ...     table = table_blocks(path)
    ...     print(table.n_rows, table.record.columns, table.count_labels()[0].tolist())
    3 ['width'] ['blue', 'red']
    """
    given = ReadOptions(target=target, **options)
    if isinstance(source, str | os.PathLike) and not Path(source).is_dir():
        file = find_format(source, replace(given, format="table"), in_blocks=True)
        table = open_table(file, given)
    else:
        table = tables.open_parquet(source)
    return tables.read_table(
        table, given, in_blocks=True, weight=weight, columns=columns
    )


def is_table_on_disk(source: object) -> bool:
    """Return whether `table_blocks` can open an object: a path or a dataset."""
    is_path = isinstance(source, str | os.PathLike)
    modules = ("pyarrow.dataset", "pyarrow._dataset")
    return is_path or type(source).__module__.startswith(modules)


@name_file
def read_pairs(
    path: PathName,
    format: str | None = None,
    *,
    training: Sequence[str] | None = None,
    header: bool | None = None,
    **options: Any,
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
    header : bool, optional
        Whether the first line of a list holds titles; by default if its score is not a
        number.
    **options
        The following attributes of `ReadOptions`.
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

    file = find_format(path, ReadOptions(format=format))
    if file.format not in ("matrix", "pairs", "blast", "phylip") or file.is_numpy:
        raise ValueError(
            f"{path} is not a text with pairs or a matrix with names; if it is, set "
            "format to 'pairs', 'blast', 'phylip' or 'matrix'."
        )
    given, lines = ReadOptions(header=header, **options), file.iterate_lines()
    names, K, note = pairs.read_scores(file.path, file.format, given, lines, training)
    columns = names if training is None else list(training)
    frame = pd.DataFrame(K, index=names, columns=columns, copy=False)
    frame.attrs["remark"] = note
    return frame


def find_format(
    path: PathName, options: ReadOptions, *, in_blocks: bool = False
) -> DataFile:
    """Return a file with its format.

    A csv or tsv file is a matrix if its first line and its first column hold the same
    names, or if an option of matrices is given and it is square. A list of pairs looks
    like a table with three columns, and lines of the UCR archive like any table, so
    that these formats must be given. A folder holds graphs, or a table in Parquet that
    is read in blocks.

    Parameters
    ----------
    path : path-like
        The file.
    options : ReadOptions
        With the format, if the user names it.
    in_blocks : bool
        Whether a folder may hold Parquet files.
    """
    place, given = Path(path), options.format
    if place.is_dir() and given in (None, "tu"):
        if any(place.glob(f"*{EDGE_FILE}")):
            return DataFile(place, "tu", "")
        if in_blocks:
            return DataFile(place, "table", ".parquet")
        raise IsADirectoryError(
            f"{place} is a folder without a file of edges such as MUTAG_A.txt; a "
            "file with data, or a folder of graphs of the TU collection, was "
            "expected."
        )
    place = check_file(path, "a file with data")
    check_regular(path)
    endings = [ending.lower() for ending in place.suffixes]
    is_compressed = endings[-1:] == [".gz"]
    ending = "".join(endings[-2:-1] if is_compressed else endings[-1:])
    if given is None and options.kind == "series" and ending in UCR_ENDINGS:
        given = "ucr"
    if given is not None and (given != "table" or ending in NUMPY_ENDINGS):
        _check_format(path, given, ending)
        return DataFile(place, given, ending)
    if ending not in FORMAT_BY_ENDING or (is_compressed and ending in BINARY_ENDINGS):
        raise ValueError(
            f"The name of {path} must end with .csv, .tsv, .libsvm, .svm, .svmlight, "
            ".m8, .phylip, .fasta or .ts (each also with .gz), .parquet, .npz or .npy; "
            "or name the format by --format."
        )
    if given == "table":
        _check_format(path, given, ending)
    format = given or FORMAT_BY_ENDING[ending]
    if ending not in CSV_ENDINGS:
        return DataFile(place, format, ending)
    csv = CsvFile(place, options)
    has_labels = options.target is not None and options.label_file is None
    if given is None and not has_labels and _is_matrix(csv, options):
        format = "matrix"
    return DataFile(place, format, ending, csv)


def _is_matrix(csv: CsvFile, options: ReadOptions) -> bool:
    """Return whether a csv or tsv file holds a matrix."""
    path, label_file = csv.file.path, options.label_file
    lines = list(decode_lines(path, io.BytesIO(csv.head)))
    may_have_names = options.header is not False or label_file is not None
    if may_have_names and matrices.is_square(
        path, options, lines, is_whole=csv.is_whole
    ):
        return True
    is_expected = options.square and (options.is_for_matrix or label_file is not None)
    whole = lines if csv.is_whole else None
    return is_expected and matrices.is_square(path, options, whole, is_expected=True)


def _check_fields(file: DataFile, options: ReadOptions, is_matrix: bool) -> None:
    """Raise if options are given that do not apply to a file."""
    by_ending = {".parquet": "parquet"} | dict.fromkeys(LIBSVM_ENDINGS, "libsvm")
    by_ending |= dict.fromkeys(NUMPY_ENDINGS, "numpy")
    if is_matrix and file.csv is not None:  # numbers without names, for a model
        by_ending[file.ending] = "matrix"
    what, allowed = FORMAT_FIELDS[by_ending.get(file.ending, file.format)]
    default = ReadOptions()
    wrong = [
        name
        for name in OPTIONAL_FIELDS
        if name not in allowed and getattr(options, name) != getattr(default, name)
    ]
    if not wrong:
        return
    remedy, labels = "", Path(options.label_file or "")
    if labels.is_file() and matrices.is_square(labels, default, is_expected=True):
        raise ValueError(
            f"{file.path} and {labels} are exchanged: give the matrix first, and the "
            f"labels by --labels {file.path}."
        )
    if file.csv is not None and {*wrong} & {*MATRIX_FIELDS, "label_file"}:
        what = f"a table of {len(tables.open_csv(file.csv, options).names)} columns"
        remedy = (
            " A matrix is square, with the same names on both sides or none; a list of "
            "pairs needs --format pairs."
        )
    flags = {"holds": "distance" if options.holds == "distances" else "similarity"}
    flags |= {"header": "header" if options.header else "no-header"}
    flags |= {"label_file": "labels"}
    listed = [f"--{flags.get(name, name).replace('_', '-')}" for name in wrong]
    raise ValueError(
        f"{file.path} holds {what}: leave out {', '.join(listed)}, which "
        f"{'does' if len(wrong) == 1 else 'do'} not apply.{remedy}"
    )


def _check_format(path: PathName, given: str, ending: str) -> None:
    """Raise if the name of a file contradicts the format that a user names."""
    check_choice("format", given, tuple(FILE_FORMATS))
    if given == "tu":
        raise NotADirectoryError(
            f"{path} is a file, and the format tu is a folder with files such as "
            "MUTAG_A.txt; give the folder."
        )
    allowed: tuple[str, ...] = TEXT_FORMATS
    if ending in NUMPY_ENDINGS:
        allowed = ("matrix", "condensed")
    elif ending in FILE_FORMATS["table"]:
        allowed = ("table", *TEXT_FORMATS) if ending in CSV_ENDINGS else ("table",)
    if given not in allowed:
        raise ValueError(
            f"The format of {path} must be {' or '.join(allowed)}, as its name ends "
            f"with {ending or 'no known ending'}, got {given}; rename the file, or "
            "name another format."
        )


def open_table(
    file: DataFile, options: ReadOptions, indices: Sequence[str] = ()
) -> TableSource:
    """Return a table; LIBSVM text has at least the features in ``indices``."""
    if file.csv is not None:
        return tables.open_csv(file.csv, options)
    if file.ending == ".parquet":
        return tables.open_parquet(file.path)
    return tables.open_svmlight(file.path, indices or options.names)


def _read_numpy(file: DataFile, options: ReadOptions) -> Dataset:
    """Return the matrix of an npz or npy file."""
    path, target = file.path, options.target
    label_file, needs_labels = options.label_file, options.labels is not False
    if file.ending == ".npz":
        K, name, y = matrices.read_npz(path, options)
        title = target or matrices.LABELS_NAME
    else:
        if label_file is None:
            label_file, target = target, None
        if options.labels and label_file is None:
            raise ValueError(
                f"{path} holds no labels; name a file with one label for each row by "
                "--target, or save both with numpy.savez(path, K=K, y=y)."
            )
        K, name, y, title = matrices.read_npy(path), "the array", None, str(label_file)
    K, note = _check_numpy_matrix(f"{path}: {name}", K, options)
    if label_file is not None and label_file.lower().endswith(".npy"):
        y = matrices.read_npy(check_file(label_file, "a file of labels"))
    elif label_file is not None:
        y, title, labels_note = read_labels(
            label_file, len(K), str(path), target, required=needs_labels
        )
        note = " ".join(filter(None, (note, labels_note)))
    if y is not None:
        y = y.reshape(-1) if 1 in y.shape[1:] else y
        if y.shape != K.shape[:1]:
            raise ValueError(
                f"{path}: {len(K)} labels were expected, one for each row of the "
                f"matrix, got an array of shape {y.shape} in {title!r}."
            )
        if needs_labels:
            y = as_labels(y, range(1, len(K) + 1), f"{path}, {title!r}", unit="row")
    record = TrainingRecord(source=str(path), target=None if y is None else title)
    return Dataset(str(path), K=K, y=y, remark=note, record=record)


def _check_numpy_matrix(what: str, K: Array, options: ReadOptions) -> tuple[Array, str]:
    """Return a matrix of the expected content, and a note about filled values."""
    holds, square = options.holds, options.square
    # A vector of distances is condensed; for similarities the format must be given.
    is_given = options.format == "condensed"
    is_implied = holds == "distances" and options.format is None
    is_condensed = K.ndim == 1 and square and (is_given or is_implied)
    if is_given and not is_condensed:
        raise ValueError(
            f"{what} must be a vector of the pairs of training samples, got an array "
            f"of shape {K.shape}; leave out --format for a matrix, which new "
            "samples need."
        )
    if is_condensed:
        K = matrices.expand_condensed(K, what)
        numbers = range(1, len(K) + 1)
        table = pairs.ScoreTable(what, numbers, numbers, options, True)
        K, notes = table.complete(K, K.T)
        return K, f"{what}: {'; '.join(notes)}." if notes else ""
    if options.missing is not None or options.missing_self is not None:
        raise ValueError(
            f"{what} is a matrix, in which every pair must be known: leave out "
            "--missing and --missing-self, which go with pairs and condensed vectors."
        )
    # Rows of files are counted from one.
    K, _ = check_matrix(K, what, symmetric="any", square=square, first=1)
    if options.symmetrize is not None and square:
        K = symmetrize_matrix(K, options.symmetrize)
    if holds == "distances":
        K = check_distances(K, what, square=square, first=1)
    elif square and holds is None:
        check_similarities(K, what)
    return K, ""


def _read_text_scores(file: DataFile, options: ReadOptions) -> Dataset:
    """Return a matrix of training samples from text, and labels by sample name."""
    path, label_file, target = file.path, options.label_file, options.target
    if label_file is None and (options.labels or target is not None):
        got = "" if target is None else f", and --target {target!r} names none"
        raise ValueError(
            f"{path} holds no labels{got}; name a file with the name and the label of "
            "each sample by --labels."
        )
    # For a file of labels, --header is about that file unless this one is a list.
    is_list = file.format in pairs.LIST_FORMATS
    own = options if label_file is None or is_list else replace(options, header=None)
    names, K, note = pairs.read_scores(path, file.format, own, file.iterate_lines())
    y = title = None
    if label_file is not None:
        header, listed = None if is_list else options.header, names or len(K)
        y, title, labels_note = read_labels(
            label_file, listed, str(path), target, header=header
        )
        note = " ".join(filter(None, (note, labels_note)))
    record = TrainingRecord(source=str(path), target=title)
    if names is not None:
        given = {name: getattr(options, name) for name in SCORE_FIELDS}
        record = replace(record, format=file.format, **given)
    return Dataset(str(path), K=K, y=y, names=names, remark=note, record=record)


def _adapt_options(
    path: PathName, options: ReadOptions, model: ModelInput
) -> ReadOptions:
    """Return options for new samples of a model, with those of its training file."""
    training = model.training
    endings = [ending.lower() for ending in Path(path).suffixes if ending != ".gz"]
    ending, format = "".join(endings[-1:]), options.format
    is_open = format is None and ending not in NUMPY_ENDINGS and not Path(path).is_dir()
    options = replace(options, labels=False, square=False, label_file=None, target=None)
    if model.kind == "rows":
        is_table = is_open and ending in FILE_FORMATS["table"]
        return replace(options, format="table") if is_table else options
    if model.kind != "matrix":
        if is_open and training.format == "ucr" and ending == ".csv":
            format = "ucr"
        return replace(options, format=format, kind=model.kind)
    holds: MatrixContent | None = None if model.is_checked else "similarities"
    options = replace(options, holds="distances" if model.is_distance else holds)
    if model.names is None or ending in NUMPY_ENDINGS:
        return options
    if is_open and (ending in CSV_ENDINGS or ending not in FORMAT_BY_ENDING):
        format = training.format or "matrix"
    known = {name: getattr(training, name) for name in SCORE_FIELDS}
    known |= {} if options.missing is None else {"missing": options.missing}
    return replace(options, format=format, **known)


def _open_new(
    file: DataFile, options: ReadOptions, model: ModelInput, in_blocks: bool
) -> Dataset:
    """Return new samples for a model."""
    path, training = file.path, model.training
    if model.kind == "matrix":
        return _open_new_scores(file, options, model)
    if model.kind != "rows":
        return samples.read_new_samples(path, file.format, model, options.header)
    if file.format != "table":
        raise ValueError(
            f"The model was trained on a table with {len(training.columns)} features, "
            f"but {path} holds {SAMPLE_FORMATS.get(file.format, 'a matrix')}; give a "
            "table."
        )
    is_numbered = all(name.isdigit() for name in training.columns)
    source = open_table(file, options, training.columns if is_numbered else ())
    return tables.read_new_table(source, training, in_blocks=in_blocks)


def _open_new_scores(
    file: DataFile, options: ReadOptions, model: ModelInput
) -> Dataset:
    """Return the scores of new samples with the training samples of a model."""
    path, format, n_train, names = file.path, file.format, model.n_train, model.names
    if format in SAMPLE_FORMATS:
        raise ValueError(
            f"The model was trained on a matrix, but {path} holds "
            f"{SAMPLE_FORMATS[format]}; give their similarities with, or distances to, "
            "the training samples."
        )
    if format == "table" and file.csv is None:
        _reject_table(path, options, f"{file.ending[1:]} is a format of tables")
    needed = [int(place) + 1 for place in model.support]
    if names is not None and not file.is_numpy and format != "table":
        if format == "matrix":
            _check_new_names(file, options, names)
        columns = [names[place - 1] for place in needed]
        found, K, note = pairs.read_scores(
            path, format, options, file.iterate_lines(), names, columns
        )
        return Dataset(str(path), K=K, names=found, remark=note)
    if format == "matrix" and options.format is None and not file.is_numpy:
        _reject_names(path)
    if not file.is_numpy and format != "table":
        raise ValueError(
            f"The training samples of the model have no names to find in {path}; give "
            f"npz, npy or csv with {n_train} columns, one for each in their order."
        )
    n_needed = len(needed) or n_train
    if file.is_numpy:
        data = _read_numpy(file, options)
    else:
        data = _read_nameless(file, options, (n_train, n_needed))
    K = np.asarray(data.K)
    shape = K.shape
    if shape[1] not in (n_train, n_needed):
        listed = ", ".join(str(place) for place in needed[:10])
        part = (
            f", or {n_needed} columns, for the training samples that predictions need "
            f"(counted from 1: {listed}{', ...' * (n_needed > 10)})"
        ) * (n_needed < n_train)
        raise ValueError(
            f"{path} must have {n_train} columns, one for each training sample{part}, "
            f"got shape {shape}."
        )
    if shape == (n_train, n_train):  # probably the training samples
        diagonal = np.arange(n_train), np.arange(n_train)
        pairs.check_own_scores(str(path), K, diagonal, options.holds)
    return data


def _check_new_names(
    file: DataFile, options: ReadOptions, training: Sequence[str]
) -> None:
    """Raise if a matrix of new samples has no names, or no training sample."""
    known = set(training)
    rows = read_rows(file.path, options.sep, options.decimal, short_first=True)
    _, first = next(rows)
    if not known.isdisjoint(first):
        return
    if are_numbers(first):
        raise ValueError(
            f"{file.path} has no names, but the {len(training)} training samples of "
            "the model have: add a first line with their names, and a first column "
            "with those of the new samples."
        )
    if known.isdisjoint(row[0] for _, row in rows):
        reason = f"none of its columns is one, such as {training[0]!r}"
        _reject_table(file.path, options, reason)


def _reject_names(path: Path) -> NoReturn:
    """Raise an error about names that the model does not know."""
    raise ValueError(
        f"{path} has names, but the model was trained without: remove the first line "
        "and the first column, with columns in the order of training, or train again "
        "with names."
    )


def _reject_table(path: Path, options: ReadOptions, reason: str) -> NoReturn:
    """Raise an error about a table for a model that takes a matrix."""
    raise ValueError(
        f"The model was trained on a matrix of {options.holds or 'similarities'}, but "
        f"{path} holds a table; give npz, npy or csv with a column for each training "
        f"sample ({reason})."
    )


def _count_named_columns(file: DataFile, options: ReadOptions) -> int:
    """Return the number of columns of a matrix with names, zero for a table."""
    try:
        matrix = matrices.read_text_matrix(file.path, options, True)
    except ValueError:
        return 0
    return matrix.values.shape[1]


def _read_nameless(
    file: DataFile, options: ReadOptions, widths: Collection[int]
) -> Dataset:
    """Return a matrix of numbers with one row per new sample.

    If a file has names and one of the widths, the message is about its names.
    """
    path = file.path
    try:
        lines = file.iterate_lines()
        values = matrices.read_text_matrix(path, options, False, lines).values
    except ValueError as error:
        if _count_named_columns(file, options) in widths:
            _reject_names(path)
        _reject_table(path, options, str(error).removeprefix(f"{path}, ").rstrip("."))
    rows, columns = range(1, len(values) + 1), range(-1, -values.shape[1] - 1, -1)
    table = pairs.ScoreTable(str(path), rows, columns, options, False)
    K, notes = table.complete(values, values)
    note = f"{path}: {'; '.join(notes)}." if notes else ""
    return Dataset(str(path), K=K, remark=note)
