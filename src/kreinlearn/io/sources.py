"""Readers of tables: csv and tsv by pandas, Parquet by pyarrow, LIBSVM text."""

import csv
import io
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kreinlearn._memory import available_bytes, check_bytes, check_fits
from kreinlearn._typing import Array
from kreinlearn.io.columns import (
    MISSING_CELLS,
    CellColumn,
    parse_number,
)
from kreinlearn.io.errors import convert_errors, quote_names
from kreinlearn.io.text import (
    BLOCK_BYTES,
    CELL_BYTES,
    MAX_HEADER_ROWS,
    Dialect,
    GuardedFile,
    Row,
    choose_separator,
    decode_lines,
    read_lines,
    read_named_rows,
)

if TYPE_CHECKING:
    import pandas as pd
    from pyarrow import DataType, RecordBatch, Schema
    from pyarrow.dataset import Dataset

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
LIBSVM_LABEL = "label"
"""Name of the column of labels in LIBSVM text."""
MANY_FEATURES, MAX_FEATURES_PER_INDEX = 10_000, 50
"""Beyond so many features, at least one in so many must occur in a LIBSVM file."""


@dataclass(frozen=True)
class Cells:
    """Some rows of a table, before their columns are converted.

    Attributes
    ----------
    path : str
        The file, for messages.
    columns : dict of str to column
        The cells of each column: text, numbers, or an array of objects for text.
    lines : sequence of int
        Position of each row in the file, counted in ``unit``.
    unit : {"line", "row"}
        The unit.
    """

    path: str
    columns: Mapping[str, CellColumn]
    lines: Sequence[int]
    unit: str = "line"


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
    blocks: Callable[[Sequence[str], Collection[str], int | None], Iterator[Cells]]
    labels: str | None = None
    text: frozenset[str] | None = None

    def read(self, columns: Sequence[str], text: Collection[str] = ()) -> Cells:
        """Return all rows of some columns; raise if there are none."""
        for cells in self.blocks(columns, text, None):
            return cells
        raise ValueError(f"{self.path} holds a header but no samples below it.")


def open_csv(path: Path, dialect: Dialect, header: bool | None) -> TableSource:
    """Return a table in csv or tsv.

    pandas reads files without quotes and blank lines. Any other file, and any file that
    pandas rejects, is read again as text, such that messages name line and column.

    Parameters
    ----------
    path : Path
        The file.
    dialect : Dialect
        Separators.
    header : bool or None
        Whether the first line holds names; None to detect it.

    Returns
    -------
    TableSource
        Without a header, columns are named by position, from 1.
    """
    opened = [_CsvFile(path, dialect, header)]
    names, has_header = opened[0].names, opened[0].header

    def blocks(
        columns: Sequence[str], text: Collection[str], rows: int | None
    ) -> Iterator[Cells]:
        file = opened.pop() if opened else _CsvFile(path, dialect, has_header)
        kept, done = [names.index(name) for name in columns], 0
        try:
            for frame in file.read_with_pandas(kept, text, rows):
                start = file.first_line + done
                done += len(frame)
                found = {names[i]: _strip_cells(frame[i]) for i in kept}
                yield Cells(str(path), found, range(start, start + len(frame)))
            return
        except ValueError:  # also those of pandas
            pass
        all_rows = read_named_rows(path, dialect, has_header).rows
        for part in _split_rows(path, islice(all_rows, done, None), rows):
            lines, cells = zip(*part, strict=True)
            found = dict(zip(names, zip(*cells, strict=True), strict=True))
            yield Cells(str(path), {name: found[name] for name in columns}, lines)

    return TableSource(str(path), names, has_header, blocks)


def _is_number_or_missing(cell: str) -> bool:
    return cell in MISSING_CELLS or parse_number(cell) is not None


def _strip_cells(column: "pd.Series") -> CellColumn:
    if column.dtype == float:
        return column.to_numpy()
    return [cell.strip() for cell in column]


def _split_rows(
    path: Path, rows: Iterator[Row], size: int | None
) -> Iterator[list[Row]]:
    """Yield rows in lists of a size, or all of them, as far as memory allows."""
    part: list[Row] = []
    free = available_bytes()
    for row in rows:
        part.append(row)
        if len(part) == size:
            yield part
            part = []
        elif len(part) % MEMORY_CHECK_ROWS == 0:
            cells = f"{len(part):,} rows of {len(row[1]):,} cells"
            needed = CELL_BYTES * len(part) * len(row[1])
            what = f"{path} is too large: its first {cells} take"
            check_bytes(needed, what, "Use fewer samples.", free)
    if part:
        yield part


class _CsvFile(io.RawIOBase):
    """A csv file that is opened once: first lines, names, and samples as bytes."""

    def __init__(self, path: Path, dialect: Dialect, header: bool | None) -> None:
        self.file, self.dialect = GuardedFile(path), dialect
        head = self.file.read_block()
        while self.file.lines <= MAX_HEADER_ROWS and len(head) < MAX_HEAD_BYTES:
            block = self.file.read_block()
            head += block
            if not block:
                break
        lines = decode_lines(path, io.BytesIO(head))
        named = read_named_rows(path, dialect, header, lines)
        self.names, self.header, self.first_line, self.sample = named
        # Lines of the header; the regular expression rejects names with line ends.
        skipped = self.first_line - 1
        self.rest = b"".join(head.split(b"\n", skipped)[skipped:])
        self.head = head
        self.rows = self.checked = self.row_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.rest:
            self.rest = self.file.read_block()
            self._check_block(self.rest)
        size = min(len(buffer), len(self.rest))
        buffer[:size] = self.rest[:size]
        self.rest = self.rest[size:]
        return size

    def close(self) -> None:
        self.file.stream.close()
        super().close()

    def _check_block(self, block: bytes) -> None:
        """Raise if pandas might read lines differently, or memory does not suffice."""
        rows = block.count(b"\n") + bool(block and not block.endswith(b"\n"))
        # pandas fills short rows without a warning.
        is_ragged = block.count(self.sep) != (len(self.names) - 1) * rows
        if is_ragged or IRREGULAR_TEXT.search(b"\n" + block):
            raise ValueError("irregular text")
        if not block.isascii():
            block.decode()
        self.rows += rows
        if self.row_bytes and self.rows >= self.checked + MEMORY_CHECK_ROWS:
            self.checked = self.rows
            shape = f"{self.rows:,} rows of {len(self.names):,} cells"
            what = f"{self.file.path} is too large: its first {shape} take"
            needed = self.rows * self.row_bytes
            check_bytes(needed, what, "Use fewer samples.", self.file.free)

    def read_with_pandas(
        self, kept: list[int], text: Collection[str], rows: int | None
    ) -> Iterator["pd.DataFrame"]:
        """Yield some columns of regular text: numbers as floats, others as strings."""
        import pandas as pd

        first = next(line for line in io.BytesIO(self.head) if line.strip())
        sep = choose_separator(
            self.file.path, first.decode("utf-8-sig"), self.dialect.sep
        )
        if self.dialect.decimal != "." or not sep.isascii():
            raise ValueError("irregular text")
        self.sep = sep.encode()
        sample = [row for _, row in islice(self.sample, TYPE_SAMPLE_ROWS)]
        numeric = [
            i
            for i in kept
            if self.names[i] not in text
            and all(_is_number_or_missing(row[i]) for row in sample)
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
        with io.BufferedReader(self, BLOCK_BYTES) as stream:
            found = pd.read_csv(
                stream,
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


def open_parquet(source: "str | os.PathLike[str] | Dataset") -> TableSource:
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
    if isinstance(source, str | os.PathLike):
        path = str(source)
        dataset = _open_dataset(Path(source))
    else:
        path, dataset = "The dataset", source
        if not hasattr(dataset, "to_batches") or not hasattr(dataset, "count_rows"):
            raise TypeError(
                "A pyarrow dataset was expected, as pyarrow.dataset.dataset returns "
                f"it, got {type(source).__name__}."
            )
    _check_types(path, dataset.schema)
    with convert_errors(path, PARQUET_ERROR):
        count = dataset.count_rows()
    if count == 0:
        raise ValueError(f"{path} holds no rows; at least two samples are needed.")
    names = [name for name in dataset.schema.names if not _is_index(name)]

    def blocks(
        columns: Sequence[str], text: Collection[str], rows: int | None
    ) -> Iterator[Cells]:
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
            found = {n: _convert_arrow_column(path, n, frame[n]) for n in columns}
            lines = range(start + 1, start + len(frame) + 1)
            start += len(frame)
            yield Cells(path, found, lines, "row")

    text = frozenset(f.name for f in dataset.schema if not _is_numeric(f.type))
    return TableSource(path, names, True, blocks, text=text)


def _open_dataset(path: Path) -> "Dataset":
    try:
        import pyarrow.dataset as dataset
    except ImportError:
        raise ValueError(
            f"Reading {path} needs pyarrow: pip install 'kreinlearn[parquet]', or save "
            "the table as csv."
        ) from None
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")

    def open_as(form: "str | dataset.ParquetFileFormat") -> "Dataset":
        with convert_errors(path, PARQUET_ERROR):
            return dataset.dataset(str(path), format=form, partitioning="hive")

    found = open_as("parquet")
    if not found.files:
        raise FileNotFoundError(f"The folder {path} holds no parquet file.")
    first = None
    for fragment in found.get_fragments():
        with convert_errors(fragment.path, PARQUET_ERROR):
            names = set(fragment.physical_schema.names)  # may not be UTF-8
        first = names if first is None else first
        if names != first:
            raise ValueError(
                f"{path}: all files of a folder must have the same columns, but "
                f"{Path(fragment.path).name} differs from the first in "
                f"{quote_names(sorted(names ^ first))}."
            )
    # Repeated text is kept once, as in the file, which may be much smaller.
    text = [
        f.name for f in found.schema if _is_text(f.type) and f.name in (first or ())
    ]
    options = dataset.ParquetReadOptions(dictionary_columns=text)
    return open_as(dataset.ParquetFileFormat(options)) if text else found


def _read_batches(
    dataset: "Dataset", path: str, columns: Sequence[str], rows: int
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
    count = 0
    while True:
        with convert_errors(path, PARQUET_ERROR):
            batch = next(batches, None)
        if batch is None:
            break
        if count and count + batch.num_rows > rows:
            yield waiting
            waiting, count = [], 0
        if batch.num_rows:
            waiting.append(batch)
            count += batch.num_rows
    if count:
        yield waiting


def _check_types(path: str, schema: "Schema") -> None:
    """Raise unless all columns hold numbers or text, under different names.

    Extension types are rejected, too: reading them could run code of other packages.
    """
    for field in schema:
        if not (_is_index(field.name) or _is_numeric(field.type, True)):
            raise ValueError(
                f"{path}: column {field.name!r} must hold numbers or text, got "
                f"{str(field.type)[:80]}."
            )


def _is_text(kind: "DataType") -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_numeric(kind: "DataType", or_text: bool = False) -> bool:
    """Return whether a type holds numbers; or, if asked, text or nothing."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if or_text and (_is_text(kind) or types.is_null(kind)):
        return True
    tests = (types.is_integer, types.is_floating, types.is_boolean)
    return any(test(kind) for test in tests)


def _is_index(name: str) -> bool:
    """Return whether a column is the index of a DataFrame."""
    return name.startswith("__index_level_")


def _convert_arrow_column(path: str, name: str, column: "pd.Series") -> Array:
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
    kinds = {type(cell).__name__ for cell in cells if not isinstance(cell, str)}
    if not kinds:
        return np.array(cells, dtype=object)
    if kinds == {"bool"}:
        return np.array([np.nan if cell == "" else cell for cell in cells], dtype=float)
    raise ValueError(
        f"{path}: column {name!r} must hold numbers or text, got {min(kinds)}."
    )


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

    labels, lines, features = list[str](), list[int](), list[str]()
    for line, content in enumerate(read_lines(path), 1):
        label, *rest = content.partition("#")[0].split(maxsplit=1) or [""]
        if not label:
            continue
        if ":" in label or "," in label:
            raise ValueError(
                f"{path}, line {line}: one label was expected first, got {label!r}."
            )
        labels.append(label)  # as text: 01 is not 1
        lines.append(line)
        features.append(f"0 {''.join(rest).strip()}\n")
        if "_" in features[-1] or "nan" in features[-1].lower():
            raise ValueError(
                f"{path}, line {line}: pairs of an index and a number such as 3:0.5 "
                f"were expected, got {features[-1][2:42].strip()!r}."
            )
    if not lines:
        raise ValueError(f"{path} is empty; LIBSVM text was expected.")
    with convert_errors(path, "not LIBSVM text with pairs such as 3:0.5"):
        text = io.BytesIO("".join(features).encode())
        sparse = load_svmlight_file(text, zero_based=True)[0].tocoo()
    known = [int(index) for index in (*indices[:1], *indices[-1:])]
    if not sparse.nnz and not indices:
        raise ValueError(f"{path} holds labels but no features such as 1:0.5.")
    first = min(1, int(sparse.col.min(initial=1)), *known)
    last = max(int(sparse.col.max(initial=1)), *known, 1)
    check_fits(len(lines), last + 1 - first, float, f"The table in {path}")
    n_known = len(np.unique(sparse.col)) + len(indices)
    if last > max(MANY_FEATURES, MAX_FEATURES_PER_INDEX * n_known):
        raise ValueError(
            f"{path}: the largest index is {last:,}, but only {n_known:,} different "
            f"ones occur in {len(lines):,} lines, and each index up to the largest is "
            "a column; number the features from 1."
        )
    X = np.zeros((len(lines), last + 1 - first))
    X[sparse.row, sparse.col - first] = sparse.data
    names = [str(index) for index in range(first, last + 1)]
    columns: dict[str, CellColumn] = dict(zip(names, X.T, strict=True))
    columns[LIBSVM_LABEL] = labels

    def blocks(
        wanted: Sequence[str], text: Collection[str], rows: int | None
    ) -> Iterator[Cells]:
        yield Cells(str(path), {name: columns[name] for name in wanted}, lines)

    names.append(LIBSVM_LABEL)
    return TableSource(str(path), names, False, blocks, labels=LIBSVM_LABEL)
