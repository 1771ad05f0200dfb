"""Tables: csv and tsv by pandas, Parquet by pyarrow, LIBSVM text.

A table is read as a whole or in blocks, for training or for a fitted model.
"""

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from kreinlearn._memory import available_bytes, check_bytes, check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import looks_like_distances
from kreinlearn.io.columns import (
    NUMERIC_FRACTION,
    STRAY_WORD_REMEDY,
    CellColumn,
    Cells,
    assign_roles,
    check_decimal_points,
    check_numeric,
    check_unique_ids,
    convert_features,
    find_column,
    parse_numbers,
    quote_columns,
)
from kreinlearn.io.dataset import Dataset, ReadOptions, TrainingRecord
from kreinlearn.io.labels import LabelCounter, as_labels, to_labels, to_text_labels
from kreinlearn.io.text import (
    CELL_BYTES,
    MAX_HEADER_ROWS,
    MISSING_CELLS,
    GuardedFile,
    TextRow,
    are_numbers,
    choose_separator,
    convert_errors,
    decode_lines,
    parse_number,
    quote_names,
    read_lines,
    read_named_rows,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.dataset
    from pyarrow import DataType, RecordBatch

TYPE_SAMPLE_ROWS = 200
"""Rows whose cells decide which columns pandas parses as numbers."""
NUMBER_BYTES = 24
"""Memory of a number while a table is read: itself, and a copy or two."""
MAX_HEAD_BYTES = 2**23
"""Bytes, at most, that are read for the names of columns."""
MEMORY_CHECK_ROWS = 10_000
"""Rows between two estimates of the memory of a table."""
IRREGULAR_TEXT = re.compile(rb'"|\0|\xef\xbb\xbf|\r(?!\n)|\n[ \t\r\f\v]*\n')
"""Bytes that pandas and the csv module may read differently, and blank lines."""
PARQUET_ERROR = "not a parquet table"
INDEX_PREFIX = "__index_level_"
"""Start of the names of columns with the index of a DataFrame."""
LIBSVM_LABEL = "label"
"""Name of the column of labels in LIBSVM text."""
MANY_FEATURES, MAX_FEATURES_PER_INDEX = 10_000, 50
"""Beyond so many features, at least one in so many must occur in a LIBSVM file."""
BLOCK_MEMORY = 2**24
"""Memory of a block of rows while it is read, in bytes."""
MIN_BLOCK_ROWS, MAX_BLOCK_ROWS = 1024, 8192
"""Fewest and most rows of a block."""
MIN_MATRIX_ROWS = 4
"""Rows from which a square table may be taken for a matrix."""


Columns = Collection[str]
"""Names of columns, in order."""


@dataclass(frozen=True)
class TableSource:
    """A table on disk: the names of its columns, and its rows in blocks.

    Attributes
    ----------
    path : str
        The file, for messages.
    names : list of str
        Names of the columns, all different.
    header : bool
        Whether the names come from the file; otherwise they are positions from 1.
    blocks : callable
        ``blocks(columns, text, rows)`` yields `Cells` of some columns, with at most
        ``rows`` rows each, or all rows at once for None. Columns in ``text`` are not
        parsed.
    labels : str or None
        The column of labels, in formats that define one.
    text : frozenset of str or None
        Columns of text, if the file declares types.
    """

    path: str
    names: list[str]
    header: bool
    blocks: Callable[[Columns, Columns, int | None], Iterator[Cells]]
    labels: str | None = None
    text: frozenset[str] | None = None

    def read(
        self, record: TrainingRecord, text: Collection[str] = (), *, whole: bool = True
    ) -> Iterator[Cells]:
        """Yield the rows of the columns in a record, all at once or in blocks.

        Raises if there are none. Blocks take about `BLOCK_MEMORY`.
        """
        others = [n for n in (record.target, record.id, record.group) if n is not None]
        columns, rows = [*record.columns, *others], None
        if not whole:
            cell = CELL_BYTES if self.text is None else 8
            rows = max(MIN_BLOCK_ROWS, BLOCK_MEMORY // (cell * len(columns)))
            rows = min(MAX_BLOCK_ROWS, rows)
        is_empty = True
        for cells in self.blocks(columns, {*others, *text}, rows):
            is_empty = False
            yield cells
        if is_empty:
            raise ValueError(f"{self.path} holds a header but no samples below it.")


def read_table(
    source: TableSource,
    options: ReadOptions,
    *,
    in_blocks: bool = False,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
) -> Dataset:
    """Return a table for training.

    Parameters
    ----------
    source : TableSource
        The file.
    options : ReadOptions
        Roles of columns; labels are in the last one without a role by default.
    in_blocks : bool
        Whether to read only labels now, and everything else in blocks.
    weight : str, optional
        Column of weights, of a table in blocks.
    columns : sequence of str, optional
        Features, if they are not all columns without a role.
    """
    path, needs_labels = source.path, options.labels is not False
    options = replace(options, target=options.target or source.labels)
    record = assign_roles(
        path, source.names, options, header=source.header, labels=needs_labels
    )
    if in_blocks:
        return _read_in_blocks(source, record, weight, columns)
    (cells,) = source.read(record, options.text)
    X = convert_features(cells, record.columns, options.text)
    y = ids = groups = None
    if record.target is not None:
        y = to_labels(cells.columns[record.target])
        _check_not_matrix(X, y, record)
        if needs_labels:
            where = f"{path}, column {record.target!r}"
            y = as_labels(y, cells.lines, where, cells.unit)
    if record.id is not None:
        ids = check_unique_ids(cells, record.id)
    if record.group is not None:
        groups = to_text_labels(cells.columns[record.group])
        if (missing := groups == "").any():
            where = cells.locate(int(missing.argmax()), record.group)
            raise ValueError(
                f"{path}: the group in {where} is missing; every sample needs one."
            )
    words = [name for name in X.columns if X[name].dtype.kind not in "fiub"]
    record = replace(record, text=words)
    return Dataset(path, X, y, names=ids, groups=groups, record=record)


def _check_not_matrix(X: "pd.DataFrame", y: Array, record: TrainingRecord) -> None:
    """Raise if the features and labels of a table are a matrix of distances."""
    n, m = X.shape
    is_square = n == m + 1 and n >= MIN_MATRIX_ROWS and record.target_place == m
    numbers = X.select_dtypes("number")
    if not is_square or numbers.shape[1] < m or y.dtype.kind not in "iuf":
        return
    D = np.column_stack([numbers.to_numpy(float), y])
    if np.array_equal(D, D.T) and looks_like_distances(D):
        remedy = "" if record.header else "; for a table, add a line of column names"
        raise ValueError(
            f"{record.source} looks like a matrix of distances: {n} rows and columns, "
            f"symmetric, with a zero diagonal. Use --distance and --labels "
            f"FILE{remedy}."
        )


def _read_in_blocks(
    source: TableSource,
    record: TrainingRecord,
    weight: str | None,
    columns: Sequence[str] | None,
) -> Dataset:
    """Return a table on disk, after one pass over its labels."""
    path, target = source.path, str(record.target)
    extra = [] if weight is None else [weight]
    for name in [*(columns or ()), *extra]:
        find_column(path, source.names, name, "a column")
    features = [name for name in record.columns if name != weight]
    features = features if columns is None else list(columns)
    if not features or target in features:
        raise ValueError(
            f"{path} must have at least one column of features besides the "
            f"labels in {target!r}, got {quote_names(features)}."
        )
    labels = LabelCounter(f"{path}, column {target!r}")
    n_known, n_numbers = Counter[str](), Counter[str]()
    needed = features if source.text is None else ()
    for cells in source.read(replace(record, columns=needed, group=None), whole=False):
        labels.add(cells.columns[target], cells.lines, cells.unit)
        if record.id is not None:  # per block: all ids might not fit in memory
            check_unique_ids(cells, record.id)
        for name in needed:
            known, numbers = _count_numbers(cells, name)
            n_known[name] += known
            n_numbers[name] += numbers
    words = [n for n in needed if n_numbers[n] < NUMERIC_FRACTION * n_known[n]]
    words += [name for name in features if name in (source.text or ())]
    record = replace(record, columns=features, text=words)
    wanted = replace(record, columns=[*features, *extra], id=None, group=None)

    def blocks() -> Iterator[Dataset]:
        for cells in source.read(wanted, record.text, whole=False):
            X = convert_features(cells, features, record.text)
            check_numeric(X, record.text, STRAY_WORD_REMEDY)
            y = labels.convert(cells.columns[target])
            weights = None if weight is None else _convert_weights(cells, weight)
            yield Dataset(path, X, y, weights=weights, record=record)

    return Dataset(path, record=record, blocks=blocks, label_counts=labels.finish())


def _count_numbers(cells: Cells, name: str) -> tuple[int, int]:
    """Return how many cells of a column are not missing, and how many are numbers."""
    column = cells.columns[name]
    if isinstance(column, np.ndarray):
        return (known := int(np.isfinite(column).sum())), known
    if parse_numbers(column) is not None:
        return len(column), len(column)
    check_decimal_points(cells, name)
    parsed = [parse_number(cell) for cell in column if cell not in MISSING_CELLS]
    return len(parsed), sum(value is not None for value in parsed)


def _convert_weights(cells: Cells, name: str) -> Array:
    """Return the weights of a block, or raise if one is missing or negative."""
    weights = convert_features(cells, [name])[name].to_numpy()
    if weights.dtype == object:
        weights = np.full(len(weights), np.nan)
    if (wrong := ~(weights >= 0)).any():
        raise ValueError(
            f"{cells.path}: a weight, not negative, was expected in "
            f"{cells.locate(int(wrong.argmax()), name)}."
        )
    return np.asarray(weights, dtype=float)


def read_new_table(
    source: TableSource, training: TrainingRecord, *, in_blocks: bool = False
) -> Dataset:
    """Return the features that a model needs, and the labels if the file has them.

    Columns are matched by name if both files have names, and by their order
    otherwise; LIBSVM text by index if the model was trained on numbered columns.
    Columns that the model does not need may hold anything.

    Parameters
    ----------
    source : TableSource
        The file.
    training : TrainingRecord
        The training file.
    in_blocks : bool
        Whether to read the table in blocks.

    Returns
    -------
    Dataset
        Its X has the columns of ``training`` in their order, under the names that
        they have in the file; its names are sample names, if the file has them. Its
        remark lists other columns, without those that were not features in training.
    """
    by_name = training.header and source.header
    if source.labels is not None:  # LIBSVM text
        by_name = all(name.isdigit() for name in training.columns)
        training = replace(training, target=None, target_place=None)
    names = [name for name in source.names if name != source.labels]
    match = _match_by_name if by_name else _match_by_order
    record = match(source.path, training, names)
    record = replace(record, target=source.labels or record.target)
    known = {*record.columns, record.target}
    known |= {*(training.apart if by_name else source.names)}
    ignored = [name for name in source.names if name not in known]
    remark = f"columns left out: {quote_names(ignored)}." if ignored else ""
    pairs = zip(record.columns, training.columns, strict=True)
    text = {name for name, known_as in pairs if known_as in training.text}

    def convert(cells: Cells) -> Dataset:
        X = convert_features(cells, record.columns, text)
        check_numeric(X, text, "which held numbers when the model was trained.")
        y = ids = None
        if record.target is not None:
            y = to_text_labels(cells.columns[record.target])
            y = y if training.text_labels or in_blocks else to_labels(y)
        if record.id is not None:
            ids = [str(cell) for cell in cells.columns[record.id]]
        return Dataset(source.path, X, y, names=ids, remark=remark, record=record)

    if not in_blocks:
        (cells,) = source.read(record, text)
        return convert(cells)
    return Dataset(
        source.path,
        remark=remark,
        record=record,
        blocks=lambda: map(convert, source.read(record, text, whole=False)),
    )


def _match_by_name(
    path: str, training: TrainingRecord, names: Columns
) -> TrainingRecord:
    """Return the columns of a file with the names in training."""
    missing = [name for name in training.columns if name not in names]
    if missing:
        raise ValueError(
            f"{path} lacks {quote_columns(missing)}, which the model was trained on."
        )
    label, ids = training.target, training.id
    return TrainingRecord(
        list(training.columns),
        target=label if label in names and label not in training.columns else None,
        id=ids if ids in names else None,
    )


def _match_by_order(
    path: str, training: TrainingRecord, names: Sequence[str]
) -> TrainingRecord:
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
    return TrainingRecord(
        [name for i, name in enumerate(found) if i not in taken and name is not None],
        target=found[place] if place is not None else None,
        id=found[apart[training.id]] if training.id is not None else None,
    )


class CsvFile:
    """A csv or tsv file that is opened once: first lines, names, samples as bytes.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        Separators, and whether there is a header.
    """

    def __init__(self, path: Path, options: ReadOptions) -> None:
        is_tsv = ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:])
        self.sep = "\t" if options.sep is None and is_tsv else options.sep
        self.file, self.decimal = GuardedFile(path), options.decimal
        self.head, self.is_whole = self.file.read_block(), True
        while self.file.lines <= MAX_HEADER_ROWS and len(self.head) < MAX_HEAD_BYTES:
            if not (block := self.file.read_block()):
                break
            self.head += block
        else:
            self.is_whole = False
        self.row_count = self.checked_rows = self.row_bytes = 0

    def iterate_lines(self) -> Iterator[str]:
        """Yield all lines as text; the file cannot be read again then."""
        return decode_lines(self.file.path, chain(io.BytesIO(self.head), self.file))

    def read_names(self, header: bool | None) -> None:
        """Find the names of the columns in the first lines."""
        lines = decode_lines(self.file.path, io.BytesIO(self.head))
        self.names, self.header, self.first_line, self.sample = read_named_rows(
            self.file.path, self.sep, self.decimal, header, lines
        )
        # Lines of the header; the regular expression rejects names with line ends.
        skipped = self.first_line - 1
        self.rest = b"".join(self.head.split(b"\n", skipped)[skipped:])

    def read(self, size: int = -1) -> bytes:
        """Return the next samples, of any number of bytes; pandas calls this."""
        if not self.rest:
            self.rest = self.file.read_block()
            self._check_block(self.rest)
        block, self.rest = self.rest, b""
        return block

    def __iter__(self) -> Iterator[bytes]:
        """Yield blocks; pandas expects that files are iterable."""
        return iter(self.read, b"")

    def _check_block(self, block: bytes) -> None:
        """Raise if pandas might read lines differently, or memory does not suffice."""
        rows = block.count(b"\n") + bool(block and not block.endswith(b"\n"))
        # pandas fills short rows without a warning.
        is_ragged = block.count(self.mark) != (len(self.names) - 1) * rows
        if is_ragged or IRREGULAR_TEXT.search(b"\n" + block):
            raise ValueError("irregular text")
        if not block.isascii():
            block.decode()
        self.row_count += rows
        if self.row_bytes and self.row_count >= self.checked_rows + MEMORY_CHECK_ROWS:
            n, m = self.row_count, len(self.names)
            self.checked_rows = n
            _check_size(self.file.path, n, m, n * self.row_bytes, self.file.free)

    def read_with_pandas(
        self, kept: list[int], text: Collection[str], rows: int | None
    ) -> Iterator["pd.DataFrame"]:
        """Yield some columns of regular text: numbers as floats, others as strings."""
        import pandas as pd

        first = next(line for line in io.BytesIO(self.head) if line.strip())
        sep = choose_separator(self.file.path, first.decode("utf-8-sig"), self.sep)
        if self.decimal != "." or not sep.isascii():
            raise ValueError("irregular text")
        self.mark = sep.encode()
        sample = [row for _, row in islice(self.sample, TYPE_SAMPLE_ROWS)]
        numeric = [
            i
            for i in kept
            if self.names[i] not in text
            and are_numbers(row[i] for row in sample if row[i] not in MISSING_CELLS)
        ]
        if rows is None:
            n_text = len(kept) - len(numeric)
            self.row_bytes = NUMBER_BYTES * len(numeric) + CELL_BYTES * n_text
        self.rest = self.rest or self.file.read_block()
        self._check_block(self.rest)
        if not self.rest:
            return
        # From version 3.1 on, pandas is always exact.
        is_exact = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
        found = pd.read_csv(
            self,
            sep=sep,
            header=None,
            names=range(len(self.names)),
            usecols=kept,
            dtype={i: float if i in numeric else object for i in kept},
            na_values={i: sorted(MISSING_CELLS) for i in numeric},
            keep_default_na=False,
            quoting=csv.QUOTE_NONE,
            skipinitialspace=sep != "\t",
            chunksize=rows,
            low_memory=False,
            **({} if is_exact else {"float_precision": "round_trip"}),
        )
        yield from [found] if rows is None else found


def open_csv(file: CsvFile, options: ReadOptions) -> TableSource:
    """Return a table in csv or tsv.

    pandas reads files without quotes and blank lines. Any other file, and any file that
    pandas rejects, is read again as text, such that messages name line and column.

    Parameters
    ----------
    file : CsvFile
        The file.
    options : ReadOptions
        Separators, and whether there is a header.

    Returns
    -------
    TableSource
        Without a header, columns are named by position, from 1.
    """
    path, unread = file.file.path, [file]
    file.read_names(options.header)
    names, has_header = file.names, file.header

    def blocks(columns: Columns, text: Columns, rows: int | None) -> Iterator[Cells]:
        if unread:
            opened = unread.pop()
        else:
            opened = CsvFile(path, options)
            opened.read_names(has_header)
        kept, done = [names.index(name) for name in columns], 0
        try:
            for frame in opened.read_with_pandas(kept, text, rows):
                start = opened.first_line + done
                done += len(frame)
                found = {names[i]: _strip_cells(frame[i]) for i in kept}
                yield Cells(str(path), found, range(start, start + len(frame)))
            return
        except ValueError:  # also those of pandas
            pass
        all_rows = read_named_rows(path, opened.sep, options.decimal, has_header)[3]
        for part in _split_rows(path, islice(all_rows, done, None), rows):
            lines, cells = zip(*part, strict=True)
            by_name = dict(zip(names, zip(*cells, strict=True), strict=True))
            yield Cells(str(path), {name: by_name[name] for name in columns}, lines)

    return TableSource(str(path), names, has_header, blocks)


def _strip_cells(column: "pd.Series") -> CellColumn:
    if column.dtype == float:
        return column.to_numpy()
    return [cell.strip() for cell in column]


def _check_size(path: Path, n: int, m: int, needed: int, free: int | None) -> None:
    """Raise if the first n rows of m cells take more bytes than are free."""
    what = f"{path} is too large: its first {n:,} rows of {m:,} cells take"
    check_bytes(needed, what, "Use fewer samples.", free)


def _split_rows(
    path: Path, rows: Iterator[TextRow], size: int | None
) -> Iterator[list[TextRow]]:
    """Yield rows in lists of a size, or all of them, as far as memory allows."""
    part: list[TextRow] = []
    free = available_bytes()
    while more := list(islice(rows, size or MEMORY_CHECK_ROWS)):
        if size is not None:
            yield more
            continue
        part += more
        n, m = len(part), len(more[0][1])
        _check_size(path, n, m, CELL_BYTES * n * m, free)
    if part:
        yield part


def open_parquet(
    source: "str | os.PathLike[str] | pyarrow.dataset.Dataset",
) -> TableSource:
    """Return a table in Parquet: a file, a folder of files, or a dataset.

    Parameters
    ----------
    source : path-like or pyarrow Dataset
        The table.

    Returns
    -------
    TableSource
        Without the index of a DataFrame.
    """
    path, dataset = "The dataset", cast("pyarrow.dataset.Dataset", source)
    if isinstance(source, str | os.PathLike):
        path, dataset = str(source), _open_dataset(Path(source))
    names, words = list[str](), set[str]()
    for field in dataset.schema:
        if field.name.startswith(INDEX_PREFIX):  # the index of a DataFrame
            continue
        kind = _classify_type(field.type)
        if kind is None:  # also extensions, which could run code of other packages
            raise ValueError(
                f"{path}: column {field.name!r} must hold numbers or text, got "
                f"{str(field.type)[:80]}."
            )
        names.append(field.name)
        words |= {field.name} if kind == "text" else set()
    with convert_errors(path, PARQUET_ERROR):
        count = dataset.count_rows()
    if count == 0:
        raise ValueError(f"{path} holds no rows; at least two samples are needed.")

    def blocks(columns: Columns, text: Columns, rows: int | None) -> Iterator[Cells]:
        import pyarrow as pa

        if rows is None:
            check_fits(count, len(columns), float, f"The table in {path}")
        start = 0
        for part in _read_batches(dataset, path, columns, rows or count):
            # Separate columns: one block would take the memory once more.
            with convert_errors(path, PARQUET_ERROR):
                frame = pa.Table.from_batches(part).to_pandas(
                    ignore_metadata=True, split_blocks=True
                )
            found = {n: _convert_arrow_column(frame[n]) for n in columns}
            lines = range(start + 1, start + len(frame) + 1)
            start += len(frame)
            yield Cells(path, found, lines, "row")

    return TableSource(path, names, True, blocks, text=frozenset(words))


def _classify_type(kind: "DataType") -> str | None:
    """Return "text", "numbers", or None for anything else."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind):
        return "text"
    tests = (types.is_integer, types.is_floating, types.is_boolean)
    return "numbers" if any(test(kind) for test in tests) else None


def _open_dataset(path: Path) -> "pyarrow.dataset.Dataset":
    try:
        import pyarrow.dataset as dataset
    except ImportError:
        raise ValueError(
            f"Reading {path} needs pyarrow: pip install 'kreinlearn[parquet]', or save "
            "the table as csv."
        ) from None
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")

    def open_as(form: "str | dataset.ParquetFileFormat") -> "pyarrow.dataset.Dataset":
        with convert_errors(path, PARQUET_ERROR):
            return dataset.dataset(str(path), format=form, partitioning="hive")

    found = open_as("parquet")
    if not found.files:
        raise FileNotFoundError(f"The folder {path} holds no parquet file.")
    names = first = set[str]()
    for fragment in found.get_fragments():
        with convert_errors(fragment.path, PARQUET_ERROR):
            names = set(fragment.physical_schema.names)  # may not be UTF-8
        first = first or names
        if names != first:
            raise ValueError(
                f"{path}: all files of a folder must have the same columns, but "
                f"{Path(fragment.path).name} differs from the first in "
                f"{quote_names(sorted(names ^ first))}."
            )
    # Repeated text is kept once, as in the file, which may be much smaller.
    text = [f.name for f in found.schema if str(f.type).endswith("string")]
    text = [name for name in text if name in first]
    options = dataset.ParquetReadOptions(dictionary_columns=text)
    return open_as(dataset.ParquetFileFormat(options)) if text else found


def _read_batches(
    dataset: "pyarrow.dataset.Dataset", path: str, columns: Columns, rows: int
) -> Iterator[list["RecordBatch"]]:
    """Yield batches that make up a block; row groups of a file may be small."""
    from pyarrow.dataset import ParquetFileFormat, ParquetFragmentScanOptions

    # Little is read ahead, and not a whole row group at once: a pass over a million
    # rows in one group took 250 MB instead of 400.
    bounded = None
    if isinstance(getattr(dataset, "format", None), ParquetFileFormat):
        bounded = ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
    with convert_errors(path, PARQUET_ERROR):
        batches = dataset.to_batches(
            columns=list(columns),
            batch_size=min(rows, 2**17),
            batch_readahead=1,
            fragment_readahead=1,
            fragment_scan_options=bounded,
        )
    waiting: list[RecordBatch] = []
    while True:
        with convert_errors(path, PARQUET_ERROR):
            batch = next(batches, None)
        count = sum(each.num_rows for each in waiting)
        if count and (batch is None or count + batch.num_rows > rows):
            yield waiting
            waiting = []
        if batch is None:
            return
        waiting += [batch] if batch.num_rows else []


def _convert_arrow_column(column: "pd.Series") -> Array:
    """Return a column as an array of numbers, or of objects if it holds text."""
    if column.dtype == "category" and column.cat.categories.dtype.kind not in "fiub":
        words = [*column.cat.categories.tolist(), ""]  # the last for a code of -1
        cells = [words[code] for code in column.cat.codes.tolist()]
    else:
        values = column.to_numpy()
        if values.dtype.kind in "fiub":
            return values
        given = zip(column.tolist(), column.notna().tolist(), strict=True)
        cells = [cell if is_known else "" for cell, is_known in given]
    if all(isinstance(cell, str) for cell in cells):
        return np.array(cells, dtype=object)
    # Booleans, some of which are missing.
    return np.array([np.nan if cell == "" else cell for cell in cells], dtype=float)


def open_svmlight(path: Path, indices: Sequence[str] = ()) -> TableSource:
    """Return a table in LIBSVM text.

    Parameters
    ----------
    path : Path
        The file.
    indices : sequence of str
        Features of the training file, which no line here need have.

    Returns
    -------
    TableSource
        Features by index, from 0 if the file or training has an index 0, from 1
        otherwise; features that a line leaves out are zero. The labels are last.
    """
    from sklearn.datasets import load_svmlight_file

    text = "".join(read_lines(path))
    samples = "".join(line.partition("#")[0].strip() for line in text.splitlines())
    if not samples:
        raise ValueError(f"{path} is empty; LIBSVM text was expected.")
    if "_" in samples:  # which Python takes for a separator of thousands
        raise ValueError(f"{path}: numbers were expected, got an underscore.")
    with convert_errors(path, "not LIBSVM text with a label and pairs such as 3:0.5"):
        found, y = load_svmlight_file(io.BytesIO(text.encode()), zero_based=True)
    sparse, n = found.tocoo(), len(y)
    known = [int(index) for index in (*indices[:1], *indices[-1:])]
    if not sparse.nnz and not indices:
        raise ValueError(f"{path} holds labels but no features such as 1:0.5.")
    first = min(1, int(sparse.col.min(initial=1)), *known)
    last = max(int(sparse.col.max(initial=1)), *known, 1)
    check_fits(n, last + 1 - first, float, f"The table in {path}")
    n_known = len(np.unique(sparse.col)) + len(indices)
    if last > max(MANY_FEATURES, MAX_FEATURES_PER_INDEX * n_known):
        raise ValueError(
            f"{path}: the largest index is {last:,}, but only {n_known:,} different "
            f"ones occur in {n:,} lines, and each index up to the largest is a column; "
            "number the features from 1."
        )
    X = np.zeros((n, last + 1 - first))
    X[sparse.row, sparse.col - first] = sparse.data
    names = [str(index) for index in range(first, last + 1)]
    columns: dict[str, CellColumn] = dict(zip(names, X.T, strict=True))
    columns[LIBSVM_LABEL] = y.astype(int) if (y == np.floor(y)).all() else y

    def blocks(wanted: Columns, text: Columns, rows: int | None) -> Iterator[Cells]:
        cells = {name: columns[name] for name in wanted}
        yield Cells(str(path), cells, range(1, n + 1), "row")

    names.append(LIBSVM_LABEL)
    return TableSource(str(path), names, False, blocks, labels=LIBSVM_LABEL)
