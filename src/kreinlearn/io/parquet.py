"""Parquet tables; they need pyarrow."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.io.guards import damaged
from kreinlearn.io.table import Cells

if TYPE_CHECKING:
    import pandas as pd
    from pyarrow import DataType, Schema
    from pyarrow.parquet import ParquetFile

PARQUET = "not a parquet table"


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
    with damaged(path, PARQUET), _open_parquet(path) as file:
        return [name for name in file.schema_arrow.names if not is_index(name)]


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
    with damaged(path, PARQUET), _open_parquet(path) as file:
        facts, schema = file.metadata, file.schema_arrow
    check_fits(facts.num_rows, facts.num_columns, float, f"The table in {path}")
    check_types(path, schema)
    names = [name for name in schema.names if not is_index(name)]
    # Text that repeats is kept once, as in the file, which may be much smaller.
    text = text_columns(schema)
    with damaged(path, PARQUET), _open_parquet(path, text) as file:
        frame = file.read(columns=names).to_pandas(ignore_metadata=True)
    columns = [column_of(path, name, frame[name]) for name in names]
    rows = range(1, len(frame) + 1)
    return Cells(str(path), names, columns, rows, header=True, unit="row")


def _open_parquet(path: Path, text: list[str] | None = None) -> "ParquetFile":
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ValueError(
            f"Reading {path} needs pyarrow: pip install 'kreinlearn[parquet]', or save "
            "the table as csv."
        ) from None
    with damaged(path, PARQUET):
        return ParquetFile(path, read_dictionary=text)


def text_columns(schema: "Schema") -> list[str]:
    """Return the names of columns of text."""
    from pyarrow import types

    tests = (types.is_string, types.is_large_string)
    return [f.name for f in schema if any(is_one(f.type) for is_one in tests)]


def check_types(path: str | Path, schema: "Schema") -> None:
    """Raise unless all columns hold numbers or text, and differ in their names.

    Types that packages register with pyarrow are refused, too: to read them could run
    what these packages hold.
    """
    for field in schema:
        if not is_index(field.name) and not _is_plain(field.type):
            raise ValueError(
                f"{path}: column {field.name!r} must hold numbers or text, got "
                f"{str(field.type)[:80]}."
            )
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise ValueError(
            f"{path}: the names of columns must differ, got {twice[0]!r} "
            f"{len(twice)} times."
        )


def _is_plain(kind: "DataType") -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_null)
    texts = (types.is_string, types.is_large_string)
    return any(is_one(kind) for is_one in (*tests, *texts))


def is_index(name: str) -> bool:
    """Tell whether a column is the index of a DataFrame."""
    return name.startswith("__index_level_")


def column_of(path: str | Path, name: str, column: "pd.Series") -> Array:
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
    if kinds <= {"bool"}:
        if not kinds:
            return np.array(cells, dtype=object)
        return np.array([np.nan if cell == "" else cell for cell in cells], dtype=float)
    raise ValueError(
        f"{path}: column {name!r} must hold numbers or text, got {min(kinds)}."
    )
