"""Parquet tables; they need pyarrow."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.files.table import Cells

if TYPE_CHECKING:
    import pandas as pd
    from pyarrow.parquet import ParquetFile


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
    return [
        name for name in _open_parquet(path).schema_arrow.names if not is_index(name)
    ]


def read_parquet(path: Path) -> Cells:
    """Return the columns of numbers and text of a parquet table.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Cells
        Its columns, without the index of a DataFrame.
    """
    file = _open_parquet(path)
    facts = file.metadata
    check_fits(facts.num_rows, facts.num_columns, float, f"The table in {path}")
    try:
        frame = file.read().to_pandas(ignore_metadata=True)
    except (OSError, ValueError) as error:
        raise bad_parquet(path, error) from None
    names = [name for name in frame.columns if not is_index(name)]
    columns = [column_of(path, name, frame[name]) for name in names]
    rows = range(1, len(frame) + 1)
    return Cells(str(path), names, columns, rows, header=True, unit="row")


def _open_parquet(path: Path) -> "ParquetFile":
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
        raise bad_parquet(path, error) from None


def bad_parquet(path: str | Path, error: Exception) -> ValueError:
    """Return the error about a file that could not be read."""
    reason = str(error).split("\n")[0].rstrip(".")
    return ValueError(f"{path} is damaged or not a parquet table: {reason}.")


def is_index(name: str) -> bool:
    """Tell whether a column is the index of a DataFrame."""
    return name.startswith("__index_level_")


def column_of(path: str | Path, name: str, column: "pd.Series") -> Array:
    """Return a column as an array of numbers, or of objects if it holds text."""
    values = column.to_numpy()
    if values.dtype.kind in "fiub":
        return values
    cells = ["" if cell is None or cell != cell else cell for cell in column.tolist()]
    kinds = {type(cell).__name__ for cell in cells if not isinstance(cell, str)}
    if kinds <= {"bool"}:
        if not kinds:
            return np.array(cells, dtype=object)
        return np.array([np.nan if cell == "" else cell for cell in cells], dtype=float)
    raise ValueError(
        f"{path}: column {name!r} must hold numbers or text, got {min(kinds)}."
    )
