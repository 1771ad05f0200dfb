"""Tables as data and as CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kreinlearn.app.report.entries import Content, Entry, Findings, Note, entry

TableRow = Sequence[Content]


@dataclass(frozen=True)
class PageTable:
    """A table, ready to be written; `make_table` makes it from plain values.

    Attributes
    ----------
    title, caption : str
        What it shows, and how to read it.
    columns : list of Entry
        Column heads; the first column holds the row heads.
    rows, totals : list of list of Entry
        The body, and the rows that stay below it however it is sorted.
    """

    title: str
    caption: str
    columns: list[Entry]
    rows: list[list[Entry]]
    totals: list[list[Entry]]


def make_table(
    title: str,
    caption: str,
    heads: str | TableRow,
    rows: Iterable[TableRow],
    totals: Iterable[TableRow] = (),
) -> PageTable:
    """Return a table of plain values.

    Parameters
    ----------
    title, caption, rows, totals
        As in `PageTable`.
    heads : str or sequence
        Column heads; a string lists them, separated by commas.

    Examples
    --------
    >>> from kreinlearn.app.report.tables import make_table
    >>> made = make_table("T", "C.", "data, n, loss", [("heart", 270, None)])
    >>> [entry.text for entry in made.rows[0]], made.rows[0][1].value
    (['heart', '270', '–'], 270)
    """
    named = heads.split(", ") if isinstance(heads, str) else heads
    body, foot = ([[*map(entry, row)] for row in part] for part in (rows, totals))
    return PageTable(title, caption, [*map(entry, named)], body, foot)


def versions_text(found: Findings) -> str:
    """Return the "versions" of findings as text."""
    return ", ".join(f"{name} {v}" for name, v in found.get("versions", {}).items())


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return some fields of rows as CSV; what a row lacks is left empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, "", "ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def marks_in(table: PageTable) -> list[int]:
    """Return the numbers of all notes that a table refers to, in order."""
    places = [table.columns, *table.rows, *table.totals]
    return sorted({mark for row in places for entry in row for mark in entry.marks})


def general_notes(notes: Sequence[Note]) -> list[str]:
    """Return the texts of the notes that belong to no row or column."""
    return [note.text for note in notes if not (note.row or note.column)]
