"""Tables that are read block by block, again and again, and never as a whole."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.columns import Layout, Roles, layout_of, place_of, sample_names
from kreinlearn.io.datasets import dataset_blocks, dataset_of, text_fields
from kreinlearn.io.guards import naming_file
from kreinlearn.io.headers import AS_SEEN, Marks
from kreinlearn.io.kinds import check_marks, located
from kreinlearn.io.table import NO_ROLES, Cells, check_features, features_of
from kreinlearn.io.text import CELL_BYTES, named_rows, names_of, rows_of
from kreinlearn.io.values import (
    number,
    some_of,
)
from kreinlearn.io.whole import Kinds, Labels, column_of

if TYPE_CHECKING:
    import pandas as pd
    from pyarrow.dataset import Dataset

BLOCK_BYTES = 2**24
"""Memory that a block of rows takes while it is read."""
BLOCK_ROWS = (1024, 8192)
"""Fewest and most rows of a block."""
TEXTS = (".csv", ".tsv")
Block = tuple["pd.DataFrame", Array, Array | None]
T = TypeVar("T")


@dataclass(frozen=True)
class _Reader:
    """How a file is read: names of its columns, and their cells in blocks."""

    path: str
    names: list[str]
    header: bool
    blocks: Callable[[Sequence[str]], Iterator[Cells]]
    text: frozenset[str] | None
    """Columns of text, if the file says so."""


@dataclass(frozen=True)
class TableBlocks:
    """A table on disk, which gives its blocks whenever it is iterated over.

    Attributes
    ----------
    path : str
        Where it is.
    columns : list of str
        The features.
    text : list of str
        Those that are text.
    target : str
        The column of labels.
    target_place : int
        Where it is, counted from zero.
    header : bool
        Whether names come from the file.
    n_rows : int
        Number of rows.
    classes, counts : ndarray of shape (n_classes,)
        Labels, sorted, and how many rows have them.
    layout : Layout
        What the columns are for.
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
    layout: Layout
    _reader: _Reader
    _labels: "Labels"
    _weight: str | None = None

    def __iter__(self) -> Iterator[Block]:
        """Yield features, labels and weights of the rows, block by block."""
        others = [self.target] if self._weight is None else [self.target, self._weight]
        for cells in self._reader.blocks([*self.columns, *others]):
            X = features_of(cells, self.columns, self.text)
            for name in self.columns:
                if X[name].dtype == object and name not in self.text:
                    raise _stray_word(X, name)
            y = self._labels.of(column_of(cells, self.target))
            weights = None
            if self._weight is not None:
                weights = _weights(cells, self._weight)
            yield X, y, weights


@naming_file
def table_blocks(
    source: "str | os.PathLike[str] | Dataset",
    target: str | None = None,
    *,
    header: bool | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    roles: Roles = NO_ROLES,
    marks: Marks = AS_SEEN,
) -> TableBlocks:
    r"""Return a table on disk, after one look at its labels.

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
        Features; by default all columns apart from labels, weights and those that
        have another role.
    roles : Roles, optional
        Columns that are no features.
    marks : Marks, optional
        What separates cells and decimals, if that is to be said.

    Returns
    -------
    TableBlocks
        It can be iterated over any number of times.

    Raises
    ------
    ValueError, OSError
        One sentence with the file, the line and the column that are bad.

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
    reader = _reader_of(source, header, marks)
    layout = layout_of(reader.path, reader.names, roles, target)
    check_features(reader.path, layout)
    target = str(layout.target)
    features = [name for name in layout.features if name != weight]
    for name in [*(columns or ()), *([] if weight is None else [weight])]:
        place_of(reader.path, reader.names, name, "a column")
    features = features if columns is None else list(columns)
    if not features or target in features:
        raise ValueError(
            f"{reader.path} must have at least one column of features besides the "
            f"labels in {target!r}, got {some_of(features)}."
        )
    where = f"{reader.path}, column {target!r}"
    labels, text = Labels(where), Kinds(features)
    seen = [target] if reader.text is not None else [*features, target]
    seen += [] if layout.id is None else [layout.id]
    for cells in reader.blocks(seen):
        labels.see(column_of(cells, target), cells)
        if layout.id is not None:  # all ids at once might take the memory there is
            ids = column_of(cells, layout.id)
            sample_names(cells.path, layout.id, ids, cells.lines, cells.unit)
        if reader.text is None:
            text.see(cells)
    if not labels.counts:
        raise ValueError(f"{reader.path} holds a header but no samples below it.")
    words = text.words() if reader.text is None else reader.text
    values, counts = labels.settle()
    return TableBlocks(
        reader.path,
        features,
        [name for name in features if name in words],
        target,
        reader.names.index(target),
        reader.header,
        int(counts.sum()),
        values,
        counts,
        layout,
        reader,
        labels,
        weight,
    )


def cell_blocks(
    source: str | os.PathLike[str],
    header: bool | None = None,
    marks: Marks = AS_SEEN,
) -> Iterator[Cells]:
    """Yield the cells of a table, block by block, before they are interpreted.

    Parameters
    ----------
    source : path-like
        As in `table_blocks`.
    header : bool, optional
        As in `kreinlearn.io.read`.
    marks : Marks, optional
        As in `table_blocks`.

    Yields
    ------
    Cells
        All columns of some rows.
    """
    reader, is_empty = _reader_of(source, header, marks), True
    for cells in reader.blocks(reader.names):
        is_empty = False
        yield cells
    if is_empty:
        raise ValueError(f"{reader.path} holds a header but no samples below it.")


def can_be_blocks(path: str | os.PathLike[str]) -> bool:
    """Tell by its name whether a file can be read in blocks; folders can."""
    if Path(path).is_dir():
        return True
    endings = [ending.lower() for ending in Path(path).suffixes]
    is_text = "".join(endings[-2:]).removesuffix(".gz").endswith(TEXTS)
    return is_text or endings[-1:] == [".parquet"]


def is_table_on_disk(source: object) -> bool:
    """Tell whether something names a table that `table_blocks` opens."""
    is_path = isinstance(source, str | os.PathLike)
    of_pyarrow = ("pyarrow.dataset", "pyarrow._dataset")
    return is_path or type(source).__module__.startswith(of_pyarrow)


def _reader_of(
    source: "str | os.PathLike[str] | Dataset", header: bool | None, marks: Marks
) -> _Reader:
    is_path = isinstance(source, str | os.PathLike)
    if is_path and not Path(source).is_dir():
        place, ending, is_compressed = located(source)
        if ending in TEXTS:
            return _text_reader(place, marks.with_tabs(ending == ".tsv"), header)
        if ending != ".parquet" or is_compressed:
            raise ValueError(
                f"{source} cannot be read in blocks: that takes .csv or .tsv (each "
                "also with .gz), .parquet, or a folder of parquet files."
            )
    dataset, path, names = dataset_of(source)
    check_marks(path, "table", ".parquet", marks)

    def blocks(columns: Sequence[str]) -> Iterator[Cells]:
        rows = _block_rows(8 * len(columns))
        return dataset_blocks(dataset, path, columns, rows)

    return _Reader(path, names, True, blocks, text_fields(dataset.schema))


def _text_reader(path: Path, marks: Marks, header: bool | None) -> _Reader:
    names, has_header = names_of(path, marks, header)
    step = _block_rows(CELL_BYTES * len(names))

    def blocks(columns: Sequence[str]) -> Iterator[Cells]:
        # All columns are cut out of each line in any case.
        rows = named_rows(path, rows_of(path, marks), has_header)[2]
        for part in _batched(rows, step):
            lines, cells = zip(*part, strict=True)
            found = list(zip(*cells, strict=True))
            yield Cells(str(path), names, found, lines, has_header)

    return _Reader(str(path), names, has_header, blocks, None)


def _block_rows(row_bytes: int) -> int:
    fewest, most = BLOCK_ROWS
    return min(most, max(fewest, BLOCK_BYTES // row_bytes))


def _batched(rows: Iterator[T], size: int) -> Iterator[list[T]]:
    for first in rows:
        part = [first]
        part += [row for _, row in zip(range(size - 1), rows, strict=False)]
        yield part


def _weights(cells: Cells, name: str) -> Array:
    """Return the weights of a block, or raise if one is missing or negative."""
    weights = features_of(cells, [name])[name].to_numpy()
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


def _stray_word(X: "pd.DataFrame", name: str) -> ValueError:
    words = [c for c in X[name] if isinstance(c, str) and number(c) is None]
    word = words[0]
    line = X.index[X[name] == word][0]
    return ValueError(
        f"{X.attrs['path']}: a number was expected, got {word!r} in {X.index.name} "
        f"{line}, column {name!r}, where nearly all cells are numbers; correct it, or "
        "leave the cell empty if it is not known."
    )
