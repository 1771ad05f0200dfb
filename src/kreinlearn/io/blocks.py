"""Tables that are read repeatedly in blocks, and never as a whole."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.columns import (
    MISSING_CELLS,
    NO_ROLES,
    NUMERIC_FRACTION,
    CellColumn,
    ColumnLayout,
    ColumnRoles,
    assign_roles,
    check_decimal_points,
    check_features,
    check_unique_ids,
    find_column,
    parse_number,
    parse_numbers,
    stray_word_message,
)
from kreinlearn.io.errors import name_file, quote_names
from kreinlearn.io.formats import check_dialect, locate
from kreinlearn.io.labels import LabelCounter
from kreinlearn.io.sources import Cells, TableSource, open_csv, open_parquet
from kreinlearn.io.table import convert_features
from kreinlearn.io.text import AUTO_DIALECT, CELL_BYTES, Dialect

if TYPE_CHECKING:
    import pandas as pd
    from pyarrow.dataset import Dataset

BLOCK_MEMORY = 2**24
"""Memory of a block of rows while it is read, in bytes."""
BLOCK_ROWS = (1024, 8192)
"""Fewest and most rows of a block."""
CSV_ENDINGS = (".csv", ".tsv")
Block = tuple["pd.DataFrame", Array, Array | None]


@dataclass(frozen=True)
class TableBlocks:
    """A table on disk; each iteration reads its blocks again.

    Attributes
    ----------
    path : str
        The file.
    columns : list of str
        The features.
    text : list of str
        The features that are text.
    target : str
        The column of labels.
    target_place : int
        Its position, counted from zero.
    header : bool
        Whether names come from the file.
    n_rows : int
        Number of rows.
    classes, counts : ndarray of shape (n_classes,)
        Sorted labels, and the number of rows of each.
    layout : ColumnLayout
        Roles of the columns.
    """

    path: str
    columns: list[str]
    text: list[str]
    target: str
    target_place: int
    header: bool
    n_rows: int
    classes: Array
    counts: Array
    layout: ColumnLayout
    _source: TableSource
    _labels: LabelCounter
    _weight: str | None = None

    def __iter__(self) -> Iterator[Block]:
        """Yield features, labels and weights of the rows, block by block."""
        others = [self.target] if self._weight is None else [self.target, self._weight]
        wanted = [*self.columns, *others]
        for cells in read_blocks(self._source, wanted, [self.target, *self.text]):
            X = convert_features(cells, self.columns, self.text)
            for name in self.columns:
                if X[name].dtype == object and name not in self.text:
                    raise ValueError(_describe_stray_word(X, name))
            y = self._labels.convert(cells.columns[self.target])
            weights = None
            if self._weight is not None:
                weights = _convert_weights(cells, self._weight)
            yield X, y, weights


@name_file
def table_blocks(
    source: "str | os.PathLike[str] | Dataset",
    target: str | None = None,
    *,
    header: bool | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    roles: ColumnRoles = NO_ROLES,
    dialect: Dialect = AUTO_DIALECT,
) -> TableBlocks:
    r"""Return a table on disk, after one pass over its labels.

    Parameters
    ----------
    source : path-like or pyarrow Dataset
        A csv or tsv file (also with .gz), a parquet file, a folder of parquet files,
        or a dataset.
    target : str, optional
        Name or position (from 1; -1 is the last) of the column of labels; the last by
        default.
    header : bool, optional
        As in `kreinlearn.io.read`.
    weight : str, optional
        Column of weights.
    columns : sequence of str, optional
        Features; by default all columns apart from labels, weights and those with
        another role.
    roles : ColumnRoles, optional
        Columns that are not features.
    dialect : Dialect, optional
        Separators, if they are not to be detected.

    Returns
    -------
    TableBlocks
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
    ...     print(table.n_rows, table.columns, table.classes.tolist())
    3 ['width'] ['blue', 'red']
    """
    table = open_blocks(source, header, dialect)
    layout = assign_roles(table.path, table.names, roles, target)
    check_features(table.path, layout)
    target = str(layout.target)
    features = [name for name in layout.features if name != weight]
    for name in [*(columns or ()), *([] if weight is None else [weight])]:
        find_column(table.path, table.names, name, "a column")
    features = features if columns is None else list(columns)
    if not features or target in features:
        raise ValueError(
            f"{table.path} must have at least one column of features besides the "
            f"labels in {target!r}, got {quote_names(features)}."
        )
    labels = LabelCounter(f"{table.path}, column {target!r}")
    types = _TextColumns(features)
    as_text = [target] if layout.id is None else [target, layout.id]
    wanted = as_text if table.text is not None else [*features, *as_text]
    for cells in read_blocks(table, wanted, as_text):
        labels.add(cells.columns[target], cells.lines, cells.unit)
        if layout.id is not None:  # per block: all ids might not fit in memory
            ids = cells.columns[layout.id]
            check_unique_ids(cells.path, layout.id, ids, cells.lines, cells.unit)
        if table.text is None:
            types.add(cells)
    if not labels.counts:
        raise ValueError(f"{table.path} holds a header but no samples below it.")
    text = types.find() if table.text is None else table.text
    values, counts = labels.finish()
    return TableBlocks(
        table.path,
        features,
        [name for name in features if name in text],
        target,
        table.names.index(target),
        table.header,
        int(counts.sum()),
        values,
        counts,
        layout,
        table,
        labels,
        weight,
    )


def open_blocks(
    source: "str | os.PathLike[str] | Dataset",
    header: bool | None = None,
    dialect: Dialect = AUTO_DIALECT,
) -> TableSource:
    """Return a table that can be read in blocks, or raise."""
    if isinstance(source, str | os.PathLike) and not Path(source).is_dir():
        place, ending, is_compressed = locate(source)
        if ending in CSV_ENDINGS:
            return open_csv(place, dialect.with_tabs(ending == ".tsv"), header)
        if ending != ".parquet" or is_compressed:
            raise ValueError(
                f"{source} cannot be read in blocks: that takes .csv or .tsv (each "
                "also with .gz), .parquet, or a folder of parquet files."
            )
    table = open_parquet(source)
    check_dialect(table.path, "table", ".parquet", dialect)
    return table


def read_blocks(
    table: TableSource, columns: Sequence[str], text: Sequence[str]
) -> Iterator[Cells]:
    """Yield some columns of a table in blocks that take about `BLOCK_MEMORY`."""
    fewest, most = BLOCK_ROWS
    cell = CELL_BYTES if table.text is None else 8
    rows = min(most, max(fewest, BLOCK_MEMORY // (cell * len(columns))))
    return table.blocks(columns, text, rows)


def can_read_blocks(path: str | os.PathLike[str]) -> bool:
    """Return whether a file can be read in blocks, by its name; folders can."""
    if Path(path).is_dir():
        return True
    endings = [ending.lower() for ending in Path(path).suffixes]
    is_csv = "".join(endings[-2:]).removesuffix(".gz").endswith(CSV_ENDINGS)
    return is_csv or endings[-1:] == [".parquet"]


def is_table_on_disk(source: object) -> bool:
    """Return whether `table_blocks` can open an object: a path or a dataset."""
    is_path = isinstance(source, str | os.PathLike)
    of_pyarrow = ("pyarrow.dataset", "pyarrow._dataset")
    return is_path or type(source).__module__.startswith(of_pyarrow)


class _TextColumns:
    """Columns of text: those with few numbers in the whole file."""

    def __init__(self, names: Sequence[str]) -> None:
        self.known = dict.fromkeys(names, 0)
        self.numbers = dict.fromkeys(names, 0)

    def add(self, cells: Cells) -> None:
        """Count the cells of a block that are not missing, and the numbers."""
        for name in self.known:
            known, numbers = self._count(cells, name, cells.columns[name])
            self.known[name] += known
            self.numbers[name] += numbers

    def find(self) -> set[str]:
        """Return the columns of text."""
        return {
            name
            for name, known in self.known.items()
            if self.numbers[name] < NUMERIC_FRACTION * known
        }

    def _count(self, cells: Cells, name: str, column: CellColumn) -> tuple[int, int]:
        if isinstance(column, np.ndarray):
            return (known := int(np.isfinite(column).sum())), known
        if parse_numbers(column) is not None:
            return len(column), len(column)
        check_decimal_points(column, cells.path, name, cells.lines)
        parsed = [parse_number(cell) for cell in column if cell not in MISSING_CELLS]
        return len(parsed), sum(value is not None for value in parsed)


def _convert_weights(cells: Cells, name: str) -> Array:
    """Return the weights of a block, or raise if one is missing or negative."""
    weights = convert_features(cells, [name])[name].to_numpy()
    if weights.dtype == object:
        weights = np.full(len(weights), np.nan)
    wrong = ~(weights >= 0)
    if wrong.any():
        line = cells.lines[int(wrong.argmax())]
        raise ValueError(
            f"{cells.path}: a weight, not negative, was expected in {cells.unit} "
            f"{line}, column {name!r}."
        )
    return np.asarray(weights, dtype=float)


def _describe_stray_word(X: "pd.DataFrame", name: str) -> str:
    cells = X[name]
    words = [c for c in cells if isinstance(c, str) and parse_number(c) is None]
    where = f"{X.index.name} {X.index[cells == words[0]][0]}, column {name!r}"
    return stray_word_message(X.attrs["path"], words[0], where)
