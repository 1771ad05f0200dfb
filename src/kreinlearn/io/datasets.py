"""Parquet files, folders of them, and pyarrow datasets, read block by block."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kreinlearn.io.guards import damage, damaged
from kreinlearn.io.parquet import PARQUET, check_types, column_of, is_index
from kreinlearn.io.table import Cells
from kreinlearn.io.values import some_of

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema
    from pyarrow.dataset import Dataset


def dataset_of(
    source: "str | os.PathLike[str] | Dataset",
) -> tuple["Dataset", str, list[str]]:
    """Return a dataset, what to call it, and the names of its columns.

    Parameters
    ----------
    source : path-like or pyarrow Dataset
        A parquet file, a folder of parquet files, or a dataset.

    Returns
    -------
    dataset : pyarrow.dataset.Dataset
        It has at least one row.
    path : str
        Where it is, for messages.
    names : list of str
        Its columns, without the index of a DataFrame.
    """
    if isinstance(source, str | os.PathLike):
        path = str(source)
        dataset = _opened(Path(source))
        _check_columns(dataset, path)
        check_types(path, dataset.schema)
    else:
        path, dataset = "The dataset", source
        if not hasattr(dataset, "to_batches") or not hasattr(dataset, "count_rows"):
            raise TypeError(
                "A pyarrow dataset was expected, as pyarrow.dataset.dataset makes it, "
                f"got {type(source).__name__}."
            )
    with damaged(path, PARQUET):
        count = dataset.count_rows()
    if count == 0:
        raise ValueError(f"{path} holds no rows; at least two samples are needed.")
    return dataset, path, [name for name in dataset.schema.names if not is_index(name)]


def text_fields(schema: "Schema") -> frozenset[str]:
    """Return the names of the columns that hold no numbers."""
    from pyarrow import types

    def holds_numbers(kind) -> bool:
        if types.is_dictionary(kind):
            kind = kind.value_type
        numbers = (types.is_integer, types.is_floating, types.is_boolean)
        return any(is_one(kind) for is_one in numbers)

    return frozenset(f.name for f in schema if not holds_numbers(f.type))


def dataset_blocks(
    dataset: "Dataset", path: str, columns: Sequence[str], rows: int
) -> Iterator[Cells]:
    """Yield some columns of a dataset, block by block, in the order of its rows.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
        The rows.
    path : str
        Where they are, for messages.
    columns : sequence of str
        What is read.
    rows : int
        Rows of a block, about.

    Yields
    ------
    Cells
        Rows are counted from 1.
    """
    import pyarrow as pa

    start = 0
    for part in _joined(dataset, path, columns, rows):
        # Columns stay apart: to join them would take their memory once more.
        with damaged(path, PARQUET):
            frame = pa.Table.from_batches(part).to_pandas(
                ignore_metadata=True, split_blocks=True
            )
        found = [column_of(path, name, frame[name]) for name in columns]
        lines = range(start + 1, start + len(frame) + 1)
        start += len(frame)
        yield Cells(path, list(columns), found, lines, header=True, unit="row")


def _joined(
    dataset: "Dataset", path: str, columns: Sequence[str], rows: int
) -> Iterator[list["RecordBatch"]]:
    """Yield batches that make up a block; groups of rows in a file may be small."""
    waiting: list[RecordBatch] = []
    count = 0
    from pyarrow.dataset import ParquetFileFormat, ParquetFragmentScanOptions

    # No more is read ahead than is needed to go on, and a group of rows not at once:
    # a pass over a million rows in one group took 250 MB, not 400.
    bounded = None
    if isinstance(getattr(dataset, "format", None), ParquetFileFormat):
        bounded = ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
    with damaged(path, PARQUET):
        batches = iter(
            dataset.to_batches(
                columns=list(columns),
                batch_size=rows,
                batch_readahead=1,
                fragment_readahead=1,
                fragment_scan_options=bounded,
            )
        )
    while True:
        with damaged(path, PARQUET):
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


def _opened(path: Path) -> "Dataset":
    try:
        from pyarrow import dataset
    except ImportError:
        raise ValueError(
            f"Reading {path} needs pyarrow: pip install 'kreinlearn[parquet]', or save "
            "the table as csv."
        ) from None
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        found = dataset.dataset(str(path), format="parquet", partitioning="hive")
        if not found.files:
            raise FileNotFoundError(f"The folder {path} holds no parquet file.")
    except (FileNotFoundError, MemoryError):
        raise
    except Exception as error:  # Arrow has many kinds
        raise damage(path, PARQUET, error) from None
    return found


def _check_columns(dataset: "Dataset", path: str) -> None:
    """Raise if the files of a folder have other columns than its first."""
    first = None
    for fragment in dataset.get_fragments():
        with damaged(fragment.path, PARQUET):
            names = set(fragment.physical_schema.names)
        first = names if first is None else first
        if names != first:
            other = some_of(sorted(names ^ first))
            raise ValueError(
                f"{path}: all files of a folder must have the same columns, but "
                f"{Path(fragment.path).name} differs from the first in {other}."
            )
