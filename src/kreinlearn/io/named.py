"""Matrices of text whose first line and first column hold the names of samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.io.headers import AS_SEEN, Marks, is_header
from kreinlearn.io.text import has_tabs, rows_of
from kreinlearn.io.values import COMMA_NUMBER, MISSING, all_numbers, number


@dataclass(frozen=True)
class Named:
    """A matrix with names.

    Attributes
    ----------
    path : str
        Where it comes from.
    rows, columns : list of str
        Names, no two alike on one side.
    values : ndarray of shape (n_rows, n_columns)
        Finite numbers, and NaN where nothing is known.
    """

    path: str
    rows: list[str]
    columns: list[str]
    values: Array


def is_named_square(path: Path, marks: Marks = AS_SEEN) -> bool:
    """Tell whether the first line and the first column hold the same names.

    Names are text, and there are at least two: numbers may be names, too, but then
    somebody has to say so. An ordinary table is found out by its second line.
    """
    try:
        _, names, rows = _opened(path, marks)
        if len(names) < 2 or not is_header(names):
            return False
        known, seen = set(names), set[str]()
        for _, row in rows:
            if row[0] not in known:
                return False
            seen.add(row[0])
        return seen == known
    except ValueError:  # whoever reads it as a table says what is wrong
        return False


def read_named(path: Path, marks: Marks = AS_SEEN) -> Named:
    """Return the matrix in a csv or tsv file.

    Parameters
    ----------
    path : Path
        Its first line holds the names of the columns, after one cell that does not
        count, or may be missing; each other line begins with a name.
    marks : Marks
        As in `rows_of`.

    Returns
    -------
    Named
        With NaN where a cell is empty or says that nothing is known.
    """
    line, columns, rows = _opened(path, marks)
    names, values = list[str](), list[Array]()
    if not columns:
        raise ValueError(
            f"{path}, line {line}: names of samples were expected, separated by commas "
            "or tabs, got one cell only."
        )
    _check_names(f"{path}, line {line}", columns)
    for line, row in rows:
        is_word = len(columns) == 2 and row[1] not in MISSING and number(row[1]) is None
        if is_word and number(row[2]) is not None:
            raise ValueError(
                f"{path}, line {line}: a matrix with names was expected, got two words "
                "and a number, as in a list of pairs; if it is one, say --format pairs."
            )
        names.append(row[0])
        values.append(as_scores(row[1:], columns, f"{path}, line {line}"))
        if len(names) == 1:
            check_fits(len(columns), len(columns), float, str(path))
    if not names:
        raise ValueError(f"{path} holds names of columns but no rows below them.")
    _check_names(f"{path}, first column", names)
    return Named(str(path), names, columns, np.array(values))


def _opened(
    path: Path, marks: Marks
) -> tuple[int, list[str], Iterator[tuple[int, list[str]]]]:
    """Return the first line, the names in it, and the rows below."""
    rows = rows_of(path, marks.with_tabs(has_tabs(path)), short_first=True)
    line, first = next(rows)
    second = list(islice(rows, 1))
    has_corner = not any(len(row) > len(first) for _, row in second)
    return line, first[1:] if has_corner else first, chain(second, rows)


def as_scores(cells: Sequence[str], names: Sequence[str], where: str) -> Array:
    """Return a row of finite numbers, with NaN where nothing is known.

    Parameters
    ----------
    cells : sequence of str
        The row.
    names : sequence of str
        Names of its columns.
    where : str
        File and line, for messages.

    Returns
    -------
    ndarray of shape (n_columns,)
        The numbers.
    """
    values = all_numbers(cells)
    if values is None or np.isinf(values).any():
        found = [np.nan if cell in MISSING else number(cell) for cell in cells]
        for name, cell, value in zip(names, cells, found, strict=True):
            if value is None or np.isinf(value):
                advice = "correct it, or leave the cell empty if it is not known"
                if COMMA_NUMBER.fullmatch(cell):
                    advice = "if the comma stands before decimals, say --decimal ,"
                raise ValueError(
                    f"{where}: a finite number was expected, got {cell!r} in column "
                    f"{name!r}; {advice}."
                )
        values = np.array(found, dtype=float)
    return values


def _check_names(where: str, names: Sequence[str]) -> None:
    """Raise if a name is empty or stands twice."""
    seen = set[str]()
    for place, name in enumerate(names, 1):
        if name == "":
            raise ValueError(f"{where}: the {place}. name is empty; give it one.")
        if name in seen:
            raise ValueError(
                f"{where}: names must differ, got {name!r} twice; rename one of them."
            )
        seen.add(name)
