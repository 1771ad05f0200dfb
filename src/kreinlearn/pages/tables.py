"""Tables as data, their texts, and Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Note(NamedTuple):
    """A remark on published or reproduced numbers.

    Attributes
    ----------
    tables : str
        Tables and figures that it touches, separated by spaces.
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
    """A mean over runs and its standard deviation, if one is printed."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a table.

    Attributes
    ----------
    text : str
        What is read.
    value : float or None
        What it is sorted by.
    detail : str
        A second line, in smaller print.
    is_best : bool
        Whether it is the best of its row.
    marks : tuple of int
        Numbers of notes.
    """

    text: str = ""
    value: float | None = None
    detail: str = ""
    is_best: bool = False
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table, ready to be written.

    Attributes
    ----------
    title, caption : str
        What it shows, and how to read it.
    columns : tuple of Entry
        Heads of the columns; the first column holds the heads of the rows.
    rows, totals : list of list of Entry
        Body, and what stays below it however it is sorted.
    """

    title: str
    caption: str
    columns: tuple[Entry, ...]
    rows: list[list[Entry]] = field(default_factory=list)
    totals: list[list[Entry]] = field(default_factory=list)


def spread_text(spread: Spread | None, digits: int = 3) -> str:
    """Return mean and deviation as text.

    Parameters
    ----------
    spread : Spread or None
        What to write.
    digits : int
        Decimals.

    Returns
    -------
    str
        A dash for None.

    Examples
    --------
    >>> from kreinlearn.pages.tables import Spread, spread_text
    >>> spread_text(Spread(0.7931, 0.021)), spread_text(Spread(0.5)), spread_text(None)
    ('0.793 ± 0.021', '0.500', '–')
    """
    if spread is None:
        return "–"
    text = f"{spread.mean:.{digits}f}"
    return text if spread.std is None else f"{text} ± {spread.std:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """Return a difference as text, with its sign.

    Parameters
    ----------
    value : float
        What to write.
    digits : int
        Decimals.

    Returns
    -------
    str
        With a true minus sign.

    Examples
    --------
    >>> from kreinlearn.pages.tables import signed
    >>> signed(0.0123), signed(-0.1)
    ('+0.012', '−0.100')
    """
    return f"{value:+.{digits}f}".replace("-", "−")


def seconds_text(value: float | None) -> str:
    """Return seconds with three significant digits.

    Parameters
    ----------
    value : float or None
        What to write.

    Returns
    -------
    str
        A dash for None.

    Examples
    --------
    >>> from kreinlearn.pages.tables import seconds_text
    >>> seconds_text(17171.0), seconds_text(0.00208)
    ('17171', '0.00208')
    """
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def statuses_text(statuses: Counter[str], fits: str = "fits") -> str:
    """Return how fits ended, as a sentence fragment.

    Parameters
    ----------
    statuses : Counter
        Status word to number of fits.
    fits : str
        What is counted.

    Returns
    -------
    str
        What did not converge comes with its share.

    Examples
    --------
    >>> from collections import Counter
    >>> from kreinlearn.pages.tables import statuses_text
    >>> statuses_text(Counter(diverged=15, max_iter=20))
    'diverged in 15 of 35 fits, max_iter in 20'
    >>> statuses_text(Counter(converged=35))
    'all 35 fits converged'
    """
    total = sum(statuses.values())
    if not total:
        return "–"
    others = sorted((word, n) for word, n in statuses.items() if word != "converged")
    if not others:
        return f"all {total} {fits} converged"
    first = f"{others[0][0]} in {others[0][1]} of {total} {fits}"
    return ", ".join([first, *(f"{word} in {n}" for word, n in others[1:])])


def marks_for(
    notes: Sequence[Note], row: str = "", column: str = ""
) -> tuple[int, ...]:
    """Return the numbers of the notes that belong to exactly this place.

    Parameters
    ----------
    notes : sequence of Note
        All notes of a table; the first has number 1.
    row, column : str
        A row head, a column head, or both for an entry.

    Returns
    -------
    tuple of int
        Possibly empty.
    """
    return tuple(
        number
        for number, note in enumerate(notes, start=1)
        if (note.row or note.column)
        and note.row == row
        and (column in note.column.split() if column else not note.column)
    )


def marks_in(table: Table) -> list[int]:
    """Return the numbers of all notes that a table refers to.

    Parameters
    ----------
    table : Table
        Where to look.

    Returns
    -------
    list of int
        Ascending.
    """
    places = [table.columns, *table.rows, *table.totals]
    return sorted({mark for row in places for entry in row for mark in entry.marks})


def heads(notes: Sequence[Note], first: str, names: Sequence[str]) -> tuple[Entry, ...]:
    """Return the heads of columns, with the notes that belong to them.

    Parameters
    ----------
    notes : sequence of Note
        All notes of a table.
    first : str
        What the rows are.
    names : sequence of str
        What the other columns are.

    Returns
    -------
    tuple of Entry
        First the head of the row heads.
    """
    columns = [Entry(name, marks=marks_for(notes, column=name)) for name in names]
    return (Entry(first), *columns)


def number_entry(value: float | None, form: str) -> Entry:
    """Return a number, or a dash.

    Parameters
    ----------
    value : float or None
        The number.
    form : str
        How to write it.

    Returns
    -------
    Entry
        Sorted by its value.
    """
    return Entry("–" if value is None else f"{value:{form}}", value)


def difference_entry(ours: Spread | None, published: Spread | None) -> Entry:
    """Return our mean less the published one.

    Parameters
    ----------
    ours, published : Spread or None
        Two means.

    Returns
    -------
    Entry
        A dash if one is missing.
    """
    if ours is None or published is None:
        return Entry("–")
    change = ours.mean - published.mean
    return Entry(signed(change), change)


def beside(
    ours: Spread | None, published: Spread | None, is_best: bool = False
) -> Entry:
    """Return our mean with the published one, and the difference, below it.

    Parameters
    ----------
    ours, published : Spread or None
        Two means.
    is_best : bool
        Whether ours is the best of its row.

    Returns
    -------
    Entry
        Sorted by our mean.
    """
    detail = ""
    if published is not None:
        detail = f"{published.mean:.3f}"
        if ours is not None:
            detail += f", {signed(ours.mean - published.mean)}"
    value = None if ours is None else ours.mean
    return Entry(spread_text(ours), value, detail, is_best)


def markdown(table: Table, notes: Sequence[Note] = ()) -> str:
    """Return a table as Markdown.

    Parameters
    ----------
    table : Table
        What to write.
    notes : sequence of Note
        What its marks refer to.

    Returns
    -------
    str
        A heading, the caption, a pipe table in which the best of a row is bold, and
        the notes.
    """
    rule = "|" + "|".join([" --- ", *[" ---: "] * (len(table.columns) - 1)]) + "|"
    lines = [f"## {table.title}", "", table.caption, "", _pipe(table.columns), rule]
    lines += [_pipe(row) for row in table.rows + table.totals]
    used = [mark for mark in marks_in(table) if mark <= len(notes)]
    lines += ["", *(f"<sup>{mark}</sup> {notes[mark - 1].text}  " for mark in used)]
    return "\n".join(lines).rstrip() + "\n"


def _pipe(entries: Sequence[Entry]) -> str:
    return "| " + " | ".join(_markdown_entry(each) for each in entries) + " |"


def _markdown_entry(entry: Entry) -> str:
    text = entry.text.replace("|", "\\|")
    if entry.is_best:
        text = f"**{text}**"
    if entry.marks:
        text += f"<sup>{','.join(map(str, entry.marks))}</sup>"
    return f"{text}<br>{entry.detail}" if entry.detail else text


def best_entry(
    value: float | None,
    everyone: Sequence[float | None],
    smaller: bool = False,
    form: str = ".3f",
) -> Entry:
    """Return a number, marked if it is the best of several.

    Parameters
    ----------
    value : float or None
        The number.
    everyone : sequence of float or None
        All of them.
    smaller : bool
        Whether smaller is better.
    form : str
        How to write it.

    Returns
    -------
    Entry
        A dash for None.
    """
    known = [each for each in everyone if each is not None]
    if value is None or value != value:
        return Entry("–")
    best = min(known) if smaller else max(known)
    # What reads alike is marked alike.
    is_best = len(known) > 1 and f"{value:{form}}" == f"{best:{form}}"
    return Entry(f"{value:{form}}", value, is_best=is_best)


def versions_text(found: Mapping[str, Any]) -> str:
    """Return the versions of a finding as text.

    Parameters
    ----------
    found : mapping
        With "versions".

    Returns
    -------
    str
        Names and numbers.
    """
    return ", ".join(f"{name} {v}" for name, v in found.get("versions", {}).items())
