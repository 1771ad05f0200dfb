"""Entries of tables: means with deviations, published and ours; heads with notes."""

import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kreinlearn.app.report import NO_VALUE, Entry, format_signed


class Note(NamedTuple):
    """A remark on published or reproduced numbers.

    Attributes
    ----------
    tables : str
        Names of the tables and figures, separated by spaces.
    row, column : str
        Names of the row and the column, or empty for all of them.
    text : str
        The remark.
    """

    tables: str
    row: str
    column: str
    text: str


class Spread(NamedTuple):
    """A mean over runs and its standard deviation, if there is one."""

    mean: float
    std: float | None = None


def format_spread(
    found: Spread | None,
    detail: str = "",
    is_best: bool = False,
    marks: tuple[int, ...] = (),
) -> Entry:
    """Return mean and deviation, sorted by the mean, or a dash.

    Examples
    --------
    >>> from reproduction.entries import Spread, format_spread
    >>> format_spread(Spread(0.7931, 0.021)).text, format_spread(Spread(0.5)).text
    ('0.793 ± 0.021', '0.500')
    """
    if found is None:
        return Entry(NO_VALUE, None, detail, is_best, marks)
    text = f"{found.mean:.3f}"
    if found.std is not None:
        text += f" ± {found.std:.3f}"
    return Entry(text, found.mean, detail, is_best, marks)


def format_difference(ours: Spread | None, published: Spread | None) -> Entry:
    """Return our mean minus the published one, or a dash if one is missing."""
    if ours is None or published is None:
        return Entry(NO_VALUE)
    gain = ours.mean - published.mean
    return Entry(format_signed(gain), gain)


def format_with_published(
    ours: Spread | None, published: Spread | None, is_best: bool = False
) -> Entry:
    """Return our mean; below it the published one and the difference."""
    known = [] if published is None else [f"{published.mean:.3f}"]
    if known and ours is not None:
        known.append(format_difference(ours, published).text)
    return format_spread(ours, ", ".join(known), is_best)


def compute_full_mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of values, None if one of them is missing."""
    known = list(values)
    if not known or None in known:
        return None
    return statistics.fmean(value for value in known if value is not None)


def format_head(notes: Sequence[Note], row: str = "", column: str = "") -> Entry:
    """Return the head of a row or of a column, with its notes."""
    return Entry(row or column, marks=find_marks(notes, row, column))


def find_marks(
    notes: Sequence[Note], row: str = "", column: str = ""
) -> tuple[int, ...]:
    """Return the numbers, from 1, of the notes that belong to exactly this place.

    Parameters
    ----------
    notes : sequence of Note
        All notes of a table.
    row, column : str
        A row head, a column head, or both for an entry.
    """
    return tuple(
        mark
        for mark, note in enumerate(notes, start=1)
        if (note.row or note.column)
        and note.row == row
        and (column in note.column.split(", ") if column else not note.column)
    )
