"""`open_data`: the samples in a file, for training or for a fitted model."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kreinlearn._validation import looks_like_distances
from kreinlearn.io.blocks import (
    TableBlocks,
    can_read_blocks,
    open_blocks,
    read_blocks,
    table_blocks,
)
from kreinlearn.io.columns import parse_number
from kreinlearn.io.errors import name_file, quote_names
from kreinlearn.io.formats import (
    NUMPY_ENDINGS,
    TEXT_FORMATS,
    check_dialect,
    check_table_options,
    locate,
    open_table,
    read,
    read_file,
    resolve_format,
)
from kreinlearn.io.graphs import EDGE_FILE, read_tu
from kreinlearn.io.labels import to_labels, to_text_labels
from kreinlearn.io.matrices import read_text_matrix
from kreinlearn.io.options import (
    DEFAULT_OPTIONS,
    MatrixContent,
    PairOptions,
    ReadOptions,
    SampleKind,
)
from kreinlearn.io.pairs import complete_new, join_notes, read_new
from kreinlearn.io.samples import (
    EXPECTED_INPUT,
    SAMPLE_FORMATS,
    check_series_labels,
    describe_content,
    find_labels,
    parse_label_rule,
    read_fasta,
    read_series_text,
)
from kreinlearn.io.sources import Cells, TableSource
from kreinlearn.io.table import Table, convert_features
from kreinlearn.io.text import AUTO_DIALECT, Dialect

if TYPE_CHECKING:
    import pandas as pd


MIN_MATRIX_ROWS = 4
"""Rows from which a square table may be taken for a matrix."""


@dataclass(frozen=True)
class TrainingRecord:
    """Facts about the training file that predictions need, saved with the model.

    Attributes
    ----------
    columns : sequence of str
        Features of a table, in their order.
    header : bool
        Whether these are names; otherwise only their order is known.
    target : str or None
        Name of the column of labels.
    target_place : int or None
        Position of that column, counted from zero.
    text : collection of str
        Features that were text; all others were numbers.
    text_labels : bool
        Whether labels are text, even if they look like numbers.
    apart : mapping of str to int
        Columns that were neither features nor labels, and their positions from zero.
    id, group : str or None
        The columns among them with sample names and with groups.
    impute : bool
        Whether missing cells are filled.
    source : str or None
        The training file.
    format : str or None
        Its format, if it held pairs, a matrix with names, or other samples.
    missing, missing_self, repeated, symmetrize
        As in `PairOptions` and `kreinlearn.io.read`.
    label_rule : str or None
        Position of labels in FASTA headers or lines of the UCR archive, if it was
        given.
    has_labels : bool
        Whether series, sequences or graphs had labels in the same file.
    summary : mapping
        Description of the data and the model, for `krein show`.
    date : str or None
        Day of training.
    """

    columns: Sequence[str] = ()
    header: bool = True
    target: str | None = None
    target_place: int | None = None
    text: Collection[str] = ()
    text_labels: bool = False
    apart: Mapping[str, int] = field(default_factory=dict)
    id: str | None = None
    group: str | None = None
    impute: bool = False
    source: str | None = None
    format: str | None = None
    missing: float | None = None
    missing_self: float | None = None
    repeated: str | None = None
    symmetrize: str | None = None
    label_rule: str | None = None
    has_labels: bool = True
    summary: Mapping[str, Any] = field(default_factory=dict)
    date: str | None = None

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any]) -> "TrainingRecord":
        """Return the record in the notes of a saved model, also of earlier versions."""
        known = {f.name for f in fields(cls)}
        found = {key: value for key, value in notes.items() if key in known}
        found |= notes.get("pairs", {})
        samples = notes.get("samples", {})
        if samples:
            found |= {"format": samples.get("format")}
            found |= {"label_rule": samples.get("target")}
            found |= {"has_labels": samples.get("labels", True)}
        return cls(**found)

    def to_notes(self) -> dict[str, Any]:
        """Return the record as plain data, without defaults."""
        default = asdict(TrainingRecord())
        found = asdict(self)
        return {k: v for k, v in found.items() if v != default[k] or k == "target"}


@dataclass(frozen=True)
class ModelInput:
    """Input that a fitted model takes.

    Attributes
    ----------
    training : TrainingRecord
        The training file, with the features of the model.
    kind : {"rows", "matrix", "series", "sequences", "graphs"}
        Samples that the model was trained on.
    classes : sequence of str, int or float
        Its classes.
    content : str or None
        `describe_content` of its training samples, if it is known.
    n_train : int
        Number of training samples of a matrix.
    support : collection of int
        Those that predictions need, counted from zero; all by default.
    names : sequence of str or None
        Names of the training samples of a matrix.
    is_distance : bool
        Whether the matrix holds distances.
    """

    training: TrainingRecord
    kind: SampleKind | Literal["rows", "matrix"]
    classes: Sequence[str | int | float]
    content: str | None = None
    n_train: int = 0
    support: Collection[int] = ()
    names: Sequence[str] | None = None
    is_distance: bool = False


@name_file
def open_data(
    path: str | os.PathLike[str],
    options: ReadOptions,
    *,
    in_blocks: bool = False,
    model: ModelInput | None = None,
) -> "Table | TableBlocks | TableSchema":
    """Return the samples in a file.

    Parameters
    ----------
    path : path-like
        The file, or a folder of graphs or Parquet files.
    options : ReadOptions
        As in `kreinlearn.io.read`.
    in_blocks : bool
        Whether to read a table in blocks, if its format allows it.
    model : ModelInput, optional
        Input of a fitted model, if the file holds new samples; by default training
        samples are read.

    Returns
    -------
    Table, TableBlocks or TableSchema
        The samples in memory; or a table on disk, for training or for the model.
    """
    in_blocks = in_blocks and can_read_blocks(path)
    if model is not None:
        return _open_new(path, options, model, in_blocks)
    if in_blocks:
        is_table = not any(Path(path).glob(f"*{EDGE_FILE}"))
        if not Path(path).is_dir():
            is_table = resolve_format(path, options)[1] == "table"
        if is_table:
            check_table_options(path, options)
            return table_blocks(
                path,
                options.target,
                header=options.header,
                roles=options.roles,
                dialect=options.pairs.dialect,
            )
    table = read_file(path, options)
    check_not_matrix(table)
    return table


def check_not_matrix(table: Table) -> None:
    """Raise if the features and labels of a table are a matrix of distances."""
    if table.X is None or table.y is None or table.header:
        return
    n, m = table.X.shape
    is_square = n == m + 1 and n >= MIN_MATRIX_ROWS and table.target_place == m
    numbers = table.X.select_dtypes("number")
    if not is_square or numbers.shape[1] < m or table.y.dtype.kind not in "iuf":
        return
    D = np.column_stack([numbers.to_numpy(float), table.y])
    if np.array_equal(D, D.T) and looks_like_distances(D):
        raise ValueError(
            f"{table.path} looks like a matrix of distances: {n} rows and columns, "
            "symmetric, with a zero diagonal. Use --distance and --labels FILE; for a "
            "table, add a line of column names."
        )


def _open_new(
    path: str | os.PathLike[str],
    options: ReadOptions,
    model: ModelInput,
    in_blocks: bool,
) -> "Table | TableSchema":
    """Return new samples for a model."""
    header, pairs, training = options.header, options.pairs, model.training
    if model.kind == "matrix":
        is_numpy = str(path).lower().endswith(NUMPY_ENDINGS)
        if model.names is not None and not is_numpy:
            missing = training.missing if pairs.missing is None else pairs.missing
            pairs = replace(
                pairs,
                missing=missing,
                missing_self=training.missing_self,
                repeated=training.repeated,
            )
        return read_similarities(
            path,
            model.n_train,
            model.support,
            is_distance=model.is_distance,
            names=model.names,
            pairs=pairs,
            usual=training.format,
            symmetrize=training.symmetrize,
            header=header,
        )
    if model.kind != "rows":
        if pairs.dialect != AUTO_DIALECT:
            raise ValueError(
                f"The model was trained on {model.kind}, whose files take neither "
                "--sep nor --decimal; leave them out."
            )
        return read_new_samples(
            path,
            model.kind,
            model.classes,
            training,
            content=model.content,
            format=pairs.format,
            header=header,
        )
    if in_blocks:
        source = open_blocks(path, header, pairs.dialect)
        return TableSchema.match(source, replace(training, text_labels=True))
    return read_like(path, training, header, pairs.dialect)


@name_file
def read_like(
    path: str | os.PathLike[str],
    training: TrainingRecord,
    header: bool | None = None,
    dialect: Dialect = AUTO_DIALECT,
) -> Table:
    """Return the features that a model needs, and the labels if the file has them.

    Columns are matched by name if both files have names, and by their order
    otherwise; LIBSVM text by index if the model was trained on numbered columns.
    Columns that the model does not need may hold anything.

    Parameters
    ----------
    path : path-like
        A table or LIBSVM text.
    training : TrainingRecord
        The training file.
    header : bool, optional
        As in `kreinlearn.io.read`.
    dialect : Dialect, optional
        Separators, if they are not to be detected.

    Returns
    -------
    Table
        Its X has the columns of ``training`` in their order, under the names that
        they have in the file; its names are sample names, if the file has them. Its
        remark lists other columns, without those that were not features in training.

    Raises
    ------
    ValueError
        If a column is missing, occurs twice or holds text instead of numbers.
    """
    ending = locate(path)[1]
    if ending in (*NUMPY_ENDINGS, *TEXT_FORMATS):
        held = SAMPLE_FORMATS.get(TEXT_FORMATS.get(ending, ""), "a matrix")
        raise ValueError(
            f"The model was trained on a table with {len(training.columns)} features, "
            f"but {path} holds {held}; give a table."
        )
    is_numbered = all(name.isdigit() for name in training.columns)
    indices = training.columns if is_numbered else ()
    schema = TableSchema.match(open_table(path, header, indices, dialect), training)
    return schema.convert(schema.source.read(schema.columns, schema.text))


@dataclass(frozen=True)
class TableSchema:
    """Columns of a new table that stand for those of the training table."""

    source: TableSource
    training: TrainingRecord
    features: list[str]
    label: str | None
    id: str | None
    ignored: list[str]

    @classmethod
    def match(cls, source: TableSource, training: TrainingRecord) -> "TableSchema":
        """Match the columns of a table to those of training, or raise."""
        is_sparse = source.labels is not None
        by_name = training.header and source.header
        if is_sparse:
            by_name = all(name.isdigit() for name in training.columns)
            training = replace(training, target=None, target_place=None)
        names = [name for name in source.names if name != source.labels]
        match = _match_by_name if by_name else _match_by_order
        features, label, ids = match(source.path, training, names)
        label = source.labels or label
        known = {*features, label, *(training.apart if by_name else source.names)}
        ignored = [name for name in source.names if name not in known]
        return cls(source, training, features, label, ids, ignored)

    @property
    def columns(self) -> list[str]:
        """All columns to read."""
        others = [name for name in (self.label, self.id) if name is not None]
        return [*self.features, *others]

    @property
    def text(self) -> set[str]:
        """Columns to read as text."""
        pairs = zip(self.features, self.training.columns, strict=True)
        words = {name for name, known_as in pairs if known_as in self.training.text}
        return words | {name for name in (self.label, self.id) if name is not None}

    def __iter__(self) -> Iterator[Table]:
        """Yield samples and labels block by block; raise if there are none."""
        blocks = read_blocks(self.source, self.columns, list(self.text))
        first = next(blocks, None)
        if first is None:
            raise ValueError(
                f"{self.source.path} holds a header but no samples below it."
            )
        yield from map(self.convert, chain([first], blocks))

    @property
    def remark(self) -> str:
        """Note about the ignored columns; may be empty."""
        listed = quote_names(self.ignored)
        return f"columns left out: {listed}." if self.ignored else ""

    def convert(self, cells: Cells) -> Table:
        """Return samples and labels of some rows."""
        X = convert_features(cells, self.features, self.text)
        _check_numeric(X, self.text)
        y = ids = None
        if self.label is not None:
            y = to_text_labels(cells.columns[self.label])
            y = y if self.training.text_labels else to_labels(y)
        if self.id is not None:
            ids = [str(cell) for cell in cells.columns[self.id]]
        return Table(
            cells.path,
            X,
            y,
            target=self.label,
            header=self.source.header,
            names=ids,
            remark=self.remark,
        )


Matched = tuple[list[str], str | None, str | None]
"""Columns of a file: features, labels and sample names."""


def _match_by_name(
    path: str, training: TrainingRecord, names: Sequence[str]
) -> Matched:
    """Return the columns of a file with the names in training."""
    missing = [name for name in training.columns if name not in names]
    if missing:
        raise ValueError(
            f"{path} lacks column{'s' * (len(missing) > 1)} {quote_names(missing)}, "
            "which the model was trained on."
        )
    label, ids = training.target, training.id
    return (
        list(training.columns),
        label if label in names and label not in training.columns else None,
        ids if ids in names else None,
    )


def _match_by_order(
    path: str, training: TrainingRecord, names: Sequence[str]
) -> Matched:
    """Return the columns of a file at the positions in training."""
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
        found.insert(place, None)  # in place of the labels
    taken = {*apart.values(), place}
    return (
        [name for i, name in enumerate(found) if i not in taken and name is not None],
        found[place] if place is not None else None,
        found[apart[training.id]] if training.id is not None else None,
    )


def _check_numeric(X: "pd.DataFrame", text: Collection[str]) -> None:
    """Raise if a column that held numbers in training holds text."""
    for name in X.columns:
        if X[name].dtype == object and name not in text:
            cells = [(i, c) for i, c in X[name].items() if isinstance(c, str)]
            row, cell = next((c for c in cells if parse_number(c[1]) is None), cells[0])
            raise ValueError(
                f"{X.attrs['path']}: a number was expected, got {cell!r} in "
                f"{X.index.name} {row}, column {name!r}, which held numbers when the "
                "model was trained."
            )


@name_file
def read_similarities(
    path: str | os.PathLike[str],
    n_train: int,
    support: Collection[int] = (),
    *,
    is_distance: bool = False,
    names: Sequence[str] | None = None,
    pairs: PairOptions = DEFAULT_OPTIONS,
    usual: str | None = None,
    symmetrize: str | None = None,
    header: bool | None = None,
) -> Table:
    """Return the similarities of new samples with the training samples of a model.

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
        The format, if it is given, and fill values of missing pairs.
    usual : str, optional
        The format of the training file, and of text by default.
    symmetrize : {"mean", "max", "min"}, optional
        Aggregate of the two directions of a pair in training.
    header : bool, optional
        As in `kreinlearn.io.read`.

    Returns
    -------
    Table
        Its K has a column for each training sample, or for each that is needed.

    Raises
    ------
    ValueError
        If the file holds no matrix or pairs, or those of other samples.
    """
    ending, is_numpy = locate(path)[1], str(path).lower().endswith(NUMPY_ENDINGS)
    if pairs.format is None and names is not None:
        if not is_numpy and ending not in TEXT_FORMATS:
            pairs = replace(pairs, format=usual or "matrix")
    place, format, ending = resolve_format(path, ReadOptions(pairs=pairs))
    check_dialect(path, format, ending, pairs.dialect)
    if format in SAMPLE_FORMATS:
        raise ValueError(
            f"The model was trained on a matrix, but {path} holds "
            f"{SAMPLE_FORMATS[format]}; give their similarities with, or distances to, "
            "the training samples."
        )
    needed = [int(place) + 1 for place in support]
    if not is_numpy and format != "table" and names is not None:
        needed_names = [names[place - 1] for place in needed] or names
        found, K, notes = read_new(
            *(place, format, names, needed_names, pairs, is_distance),
            *(symmetrize, header),
        )
        return Table(str(path), K=K, names=found, remark=join_notes(str(path), notes))
    if is_numpy:
        holds: MatrixContent | None = "distances" if is_distance else None
        table = read(path, labels=False, square=False, holds=holds, pairs=pairs)
    elif format == "table":
        table = _read_nameless(place, n_train, pairs, is_distance)
    else:
        raise ValueError(
            f"The training samples of the model have no names to find in {path}; give "
            f"npz, npy or csv with {n_train} columns, one for each in their order."
        )
    assert table.K is not None
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


def _read_nameless(
    path: Path, n_train: int, pairs: PairOptions, is_distance: bool
) -> Table:
    """Return a matrix of numbers with one row per new sample."""
    try:
        matrix = read_text_matrix(path, pairs.dialect, header=False)
    except ValueError as error:
        learned = "matrix of distances" if is_distance else "Gram matrix"
        raise ValueError(
            f"The model was trained on a {learned}, but {path} holds a table; give "
            f"npz, npy or csv with {n_train} columns, one for each training sample "
            f"({str(error).rstrip('.')})."
        ) from None
    n_rows, n_columns = matrix.values.shape
    numbers = range(1, n_rows + 1), range(-1, -n_columns - 1, -1)
    K, notes = complete_new(
        *(str(path), *numbers, matrix.values, matrix.values, pairs),
        is_distance=is_distance,
    )
    return Table(str(path), K=K, remark=join_notes(str(path), notes))


@name_file
def read_new_samples(
    path: str | os.PathLike[str],
    kind: SampleKind,
    classes: Sequence[str | int | float],
    training: TrainingRecord,
    *,
    content: str | None = None,
    format: str | None = None,
    header: bool | None = None,
) -> Table:
    """Return new samples for a model, and their labels if the file has them.

    Parameters
    ----------
    path : path-like
        A file of any format that holds such samples.
    kind : {"series", "sequences", "graphs"}
        Samples that the model was trained on.
    classes : sequence of str, int or float
        Its classes.
    training : TrainingRecord
        The training file.
    content : str, optional
        `describe_content` of the training samples, if it is known.
    format : str, optional
        The format of the file, if its name does not determine it.
    header : bool, optional
        Whether the first line of a file of the UCR archive holds names.

    Returns
    -------
    Table
        With items and names: those of sequences, and numbers from 1 for others.
        Unknown labels are empty, or NaN.

    Raises
    ------
    ValueError
        If the file holds something else.
    """
    if format is None and training.format == "ucr" and not Path(path).is_dir():
        format = "ucr" if locate(path)[1] == ".csv" else None
    place, found_format, _ = resolve_format(
        path, ReadOptions(pairs=PairOptions(format), kind=kind)
    )
    held = SAMPLE_FORMATS.get(found_format)
    if held != kind:
        what = held or ("a table" if found_format == "table" else "a matrix or pairs")
        raise ValueError(
            f"The model was trained on {kind}, but {path} holds {what}; give "
            f"{EXPECTED_INPUT[kind]}."
        )
    same = found_format in ("fasta", training.format)
    target = training.label_rule if same else None
    items: list[Any]
    names = None
    if found_format == "fasta":
        names, items, descriptions = read_fasta(place)
        rule = parse_label_rule(place, target)
        cells = find_labels(names, descriptions, rule) if training.has_labels else None
    elif found_format == "tu":
        items, y = read_tu(place)
        cells = None if y is None else [str(label) for label in y.tolist()]
    else:
        if header is not None and found_format != "ucr":
            raise ValueError(
                f"{path} holds {kind}, not a table with names in the first line: leave "
                "out --header and --no-header."
            )
        found = read_series_text(place, found_format, target, header)
        if found_format == "ucr":
            check_series_labels(place, found, classes)
        items, cells = found.items, found.labels
    if content not in (None, new := describe_content(kind, items[0])):
        raise ValueError(
            f"{path}: the model was trained on {kind} with {content}, got {kind} with "
            f"{new}; give the same kind of samples."
        )
    names = names or [str(i) for i in range(1, len(items) + 1)]
    y = None
    if cells is not None:
        is_text = any(isinstance(label, str) for label in classes)
        y = to_text_labels(cells) if is_text else to_labels(cells)
    return Table(str(path), y=y, items=items, kind=kind, names=names)
