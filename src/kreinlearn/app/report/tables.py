"""Tables as data: entries, scores, statuses, notes, CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NO_VALUE = "–"
"""Entry without a value."""
SCORE_NAMES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss",
    "auc": "AUC",
}
"""Keys of scores, and their names in tables."""

Findings = Mapping[str, Any]
"""Results of a command, as it prints them with ``--json``."""


@dataclass(frozen=True)
class Entry:
    """One cell of a table.

    Attributes
    ----------
    text : str
        Text.
    value : float or None
        Number to sort by; None for words.
    detail : str
        A second line, in smaller print.
    is_best : bool
        Whether it is the best of its row or column.
    marks : tuple of int
        Numbers of notes.
    """

    text: str = ""
    value: float | None = None
    detail: str = ""
    is_best: bool = False
    marks: tuple[int, ...] = ()


Content = Entry | Mapping[str, int] | str | float | None
"""Content of a table: also words, numbers, counts of statuses, or None for a dash."""
TableRow = Sequence[Content]


@dataclass(frozen=True)
class PageTable:
    """A table of a page; `make_table` makes it from plain values.

    Attributes
    ----------
    title, caption : str
        Heading, and how to read it.
    columns : list of Entry
        Column heads; the first column holds the row heads.
    rows, totals : list of list of Entry
        The body, and rows that stay below it in every order.
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
    """Return a table of plain values; a string lists the heads, separated by commas.

    Examples
    --------
    >>> from kreinlearn.app.report.tables import make_table
    >>> made = make_table("T", "C.", "data, n, loss", [("heart", 270, None)])
    >>> [entry.text for entry in made.rows[0]], made.rows[0][1].value
    (['heart', '270', '–'], 270)
    """
    named = heads.split(", ") if isinstance(heads, str) else heads
    body, foot = ([[*map(_to_entry, row)] for row in part] for part in (rows, totals))
    return PageTable(title, caption, [*map(_to_entry, named)], body, foot)


def _to_entry(content: Content) -> Entry:
    if isinstance(content, Entry):
        return content
    if isinstance(content, str):
        return Entry(content)
    if isinstance(content, Mapping):
        return Entry(format_statuses(content))
    return format_number(content, ".3f" if isinstance(content, float) else "d")


def format_number(value: float | None, form: str) -> Entry:
    """Return a number in a format; a dash for None."""
    return Entry(NO_VALUE) if value is None else Entry(f"{value:{form}}", value)


def format_seconds(value: float | None) -> Entry:
    """Return seconds with three significant digits; a dash for None.

    Examples
    --------
    >>> from kreinlearn.app.report.tables import format_seconds
    >>> format_seconds(17171.0).text, format_seconds(0.00208).text
    ('17171', '0.00208')
    """
    return format_number(value, ".0f" if value is not None and value >= 100 else ".3g")


def format_signed(value: float, form: str = "+.3f") -> str:
    """Return a number as text, with a true minus sign.

    Examples
    --------
    >>> from kreinlearn.app.report.tables import format_signed
    >>> format_signed(0.0123), format_signed(-0.1), format_signed(-2.5, ".2g")
    ('+0.012', '−0.100', '−2.5')
    """
    return f"{value:{form}}".replace("-", "−")


def format_scores(
    rows: Mapping[str, Findings], measures: Iterable[str]
) -> dict[str, list[Entry]]:
    """Return the scores of each row, the best of each column marked.

    Parameters
    ----------
    rows : mapping
        Name of a row to its scores.
    measures : iterable of str
        Keys of `SCORE_NAMES`, one per column; a smaller log-loss is better.
    """
    found: dict[str, list[Entry]] = {name: [] for name in rows}
    for key in measures:
        known = [row[key] for row in rows.values() if row.get(key) is not None]
        best = (min if key == "log_loss" else max)(known, default=None)
        for name, row in rows.items():
            entry = format_number(row.get(key), ".3f")
            # Numbers that read alike are marked alike.
            is_best = len(known) > 1 and entry.text == f"{best:.3f}"
            found[name].append(Entry(entry.text, entry.value, is_best=is_best))
    return found


def format_statuses(found: Mapping[str, int]) -> str:
    """Return statuses of fits as a sentence fragment.

    Examples
    --------
    >>> from kreinlearn.app.report.tables import format_statuses
    >>> format_statuses({"diverged": 15, "max_iter": 20})
    'diverged in 15 of 35 fits, max_iter in 20'
    >>> format_statuses({"converged": 35})
    'all 35 fits converged'
    """
    total = sum(found.values())
    if total <= 1:
        return next(iter(found), NO_VALUE)
    others = sorted((word, n) for word, n in found.items() if word != "converged")
    if not others:
        return f"all {total} fits converged"
    first = f"{others[0][0]} in {others[0][1]} of {total} fits"
    return ", ".join([first, *(f"{word} in {n}" for word, n in others[1:])])


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return some fields of rows as CSV; missing fields are empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, "", "ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def list_marks(table: PageTable) -> list[int]:
    """Return the numbers of all notes that a table refers to, in order."""
    places = [table.columns, *table.rows, *table.totals]
    return sorted({mark for row in places for entry in row for mark in entry.marks})
