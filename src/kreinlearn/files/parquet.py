"""Parquet tables; they need pyarrow."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn.files.table import Table, build


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns of a parquet table.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    list of str
        In their order; without the index of a DataFrame.
    """
    return [name for name in _opened(path).schema_arrow.names if not _is_index(name)]


def read_parquet(
    path: Path, *, target: str | None, labels: bool, text: Collection[str]
) -> Table:
    """Return the samples in a parquet table.

    Parameters
    ----------
    path : Path
        The file.
    target, labels, text
        As in `kreinlearn.files.read`.

    Returns
    -------
    Table
        Its columns of numbers and text.
    """
    file = _opened(path)
    facts = file.metadata
    check_fits(facts.num_rows, facts.num_columns, float, f"The table in {path}")
    try:
        frame = file.read().to_pandas(ignore_metadata=True)
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None
    names = [name for name in frame.columns if not _is_index(name)]
    columns = [_cells(path, name, frame[name]) for name in names]
    words = {n for n, c in zip(names, columns, strict=True) if isinstance(c, list)}
    return build(
        str(path),
        names,
        columns,
        range(1, len(frame) + 1),
        target=target,
        header=True,
        labels=labels,
        text=words | set(text),
        unit="row",
    )


def _opened(path: Path) -> Any:
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ValueError(
            f"Reading {path} needs pyarrow: pip install 'kreinlearn[parquet]', or save "
            "the table as csv."
        ) from None
    try:
        return ParquetFile(path)
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> ValueError:
    reason = str(error).split("\n")[0].rstrip(".")
    return ValueError(f"{path} is damaged or not a parquet table: {reason}.")


def _is_index(name: str) -> bool:
    return name.startswith("__index_level_")


def _cells(path: Path, name: str, column: Any) -> Any:
    """Return a column as an array of numbers or a list of text."""
    values = column.to_numpy()
    if values.dtype.kind in "fiub":
        return values
    cells = ["" if cell is None or cell != cell else cell for cell in column.tolist()]
    kinds = {type(cell).__name__ for cell in cells if not isinstance(cell, str)}
    if kinds <= {"bool"}:
        if not kinds:
            return cells
        return np.array([np.nan if cell == "" else cell for cell in cells], dtype=float)
    raise ValueError(
        f"{path}: column {name!r} must hold numbers or text, got {min(kinds)}."
    )
