"""Whether the first line of a table holds names, and what separates its cells."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from kreinlearn.io.values import COMMA_NUMBER, MISSING, number

LOOK_ROWS, LOOK_CELLS = 1000, 10**6
"""Rows and cells, at most, that are looked at before a first line with words and
numbers is taken for names."""
Below = Sequence[str]
"""The cells below the first one of a column, of those that are known."""


class Marks(NamedTuple):
    """What separates the cells of a text, and the decimals of a number in it.

    Attributes
    ----------
    sep : str or None
        One character; None for what the first line looks like.
    decimal : {".", ","}
        What stands before decimals.
    """

    sep: str | None = None
    decimal: str = "."

    def with_tabs(self, tabs: bool) -> "Marks":
        """Return marks by which cells are separated by tabs, unless it was said."""
        return self._replace(sep="\t") if tabs and self.sep is None else self


AS_SEEN = Marks()


def is_header(row: list[str]) -> bool:
    """Tell whether no cell of a row is a number.

    A missing value such as "NA" is no number, and a table of text only is taken to
    have a header.

    Examples
    --------
    >>> is_header(["width", "length"]), is_header(["width", "7"])
    (True, False)
    """
    return all(number(cell) is None for cell in row)


def holds_names(path: Path, first: list[str], below: Iterable[list[str]]) -> bool:
    """Tell whether the first row of a table holds names: the header rule.

    It does if no cell of it is a number, and it does not if all are. Otherwise, as in
    ``country,2019,2020,outcome``, the rows below decide: words that stand above
    numbers, or above other words that repeat, are names unless they stand below, too.

    Parameters
    ----------
    path : Path
        The file, for the message.
    first : list of str
        The first row.
    below : iterable of list of str
        Rows below; see `rows_to_look_at`.

    Returns
    -------
    bool
        Whether it does.

    Raises
    ------
    ValueError
        If nobody but the user can tell.

    Examples
    --------
    >>> years = ["country", "2019", "2020"]
    >>> holds_names("a.csv", years, [["Chad", "1.5", "3"], ["Peru", "2", "4"]])
    False
    >>> holds_names("a.csv", [*years, "kind"], [["Chad", "1.5", "3", "0"]])
    True
    """
    words = [i for i, cell in enumerate(first) if number(cell) is None]
    if rows_to_look_at(first) == 0:
        return bool(words)
    gaps = [i for i, cell in enumerate(first) if cell in MISSING and (i or cell)]
    if gaps or len(set(first)) < len(first):
        return False
    columns = _columns(len(first), below)
    named = [i for i in words if first[i]]
    if any(first[i] in columns[i] for i in named):
        return False
    numbers = [i for i in range(len(first)) if i not in words]
    values = [float(first[i]) for i in numbers]
    is_counted = len(values) > 1 and {b - a for a, b in _steps(values)} == {1.0}
    is_repeated = any(first[i] in columns[i] for i in numbers) and not is_counted
    above = [i for i in named if columns[i] and is_of_numbers(columns[i])]
    if above and not is_repeated:
        return True
    among = [i for i in named if 0 < 2 * len(set(columns[i])) <= len(columns[i])]
    if not above and (is_repeated or not among):
        return False
    is_rising = len(values) > 2 and all(a < b for a, b in _steps(values))
    if not above and (is_rising or all(first[i].isdigit() for i in numbers)):
        return True
    raise ValueError(
        f"{path}: the first line may hold names, as {first[(above or among)[0]]!r} is "
        f"unlike what is below it, or a sample, as {first[numbers[0]]!r} is a number; "
        "say which by --header or --no-header (header=True or False)."
    )


def rows_to_look_at(first: list[str]) -> int:
    """Return how many rows below tell what the first one is; none if it does itself."""
    words = sum(number(cell) is None for cell in first)
    is_mixed = 0 < words < len(first)
    return max(2, min(LOOK_ROWS, LOOK_CELLS // len(first))) if is_mixed else 0


def is_of_numbers(cells: Below) -> bool:
    """Tell whether all cells are numbers."""
    return all(number(cell) is not None for cell in cells)


def delimiter_of(line: str, tabs: bool) -> str:
    r"""Return what separates the cells of a line.

    Parameters
    ----------
    line : str
        The first line of a table.
    tabs : bool
        Whether it is said to be a tab.

    Returns
    -------
    str
        A comma; or a tab or a semicolon if the line has these and no comma, or commas
        in numbers only; or a tab if there are at least as many of them.

    Examples
    --------
    >>> [delimiter_of(line, False) for line in ("a,b;c", "a;b", "5,8;1", "a, b\tc")]
    [',', ';', ';', '\t']
    """
    if tabs or 0 < line.count("\t") >= line.count(","):
        return "\t"
    for mark in ("\t", ";"):
        cells = [cell.strip() for cell in line.split(mark)]
        plain = ("," not in cell or COMMA_NUMBER.fullmatch(cell) for cell in cells)
        if len(cells) > 1 and all(plain):
            return mark
    return ","


def _columns(width: int, rows: Iterable[list[str]]) -> list[list[str]]:
    """Return the known cells of each column; rows may be shorter or longer."""
    columns: list[list[str]] = [[] for _ in range(width)]
    for row in rows:
        for column, cell in zip(columns, row, strict=False):
            if cell not in MISSING:
                column.append(cell)
    return columns


def _steps(values: Sequence[float]) -> list[tuple[float, float]]:
    return list(pairwise(values))
