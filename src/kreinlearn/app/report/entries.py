"""Entries of tables: numbers, scores, statuses, notes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

DASH = "–"
"""What stands where there is no value."""

Findings = Mapping[str, Any]
"""What a command found, as it prints it with ``--json``."""
SCORE_NAMES = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
}
"""Measures as findings have them, and as they are read."""


class Note(NamedTuple):
    """A remark on published or reproduced numbers.

    Attributes
    ----------
    tables : str
        Names of the tables and figures it is about, separated by spaces.
    row, column : str
        Names of the row and the column, or empty for all of them.
    text : str
        The remark.
    """

    tables: str
    row: str
    column: str
    text: str


@dataclass(frozen=True)
class Entry:
    """One cell of a table.

    Attributes
    ----------
    text : str
        What is read.
    value : float or None
        What it is sorted by; None for words.
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


Content = Entry | Counter[str] | str | int | None
"""What can stand in a table: also words, counts, statuses, or None for a dash."""


def entry(content: Content) -> Entry:
    """Return the entry of any content."""
    if isinstance(content, Entry):
        return content
    if isinstance(content, str):
        return Entry(content)
    if isinstance(content, Counter):
        return Entry(statuses(content))
    return numeral(content, "d")


def numeral(value: float | None, form: str) -> Entry:
    """Return a number in a format, or a dash for None."""
    return Entry(DASH) if value is None else Entry(f"{value:{form}}", value)


def seconds(value: float | None) -> Entry:
    """Return seconds with three significant digits, or a dash.

    Examples
    --------
    >>> from kreinlearn.app.report.entries import seconds
    >>> seconds(17171.0).text, seconds(0.00208).text
    ('17171', '0.00208')
    """
    return numeral(value, ".0f" if value is not None and value >= 100 else ".3g")


def signed(value: float, form: str = "+.3f") -> str:
    """Return a number as text, with a true minus sign.

    Examples
    --------
    >>> from kreinlearn.app.report.entries import signed
    >>> signed(0.0123), signed(-0.1), signed(-2.5, ".2g")
    ('+0.012', '−0.100', '−2.5')
    """
    return f"{value:{form}}".replace("-", "−")


def best(
    value: float | None, everyone: Iterable[float | None], smaller: bool = False
) -> Entry:
    """Return a number, marked if it is the best of several.

    Parameters
    ----------
    value : float or None
        The number; None and NaN give a dash.
    everyone : iterable of float or None
        All of them.
    smaller : bool
        Whether smaller is better.
    """
    if value is None or value != value:
        return Entry(DASH)
    known = [each for each in everyone if each is not None]
    first = min(known) if smaller else max(known)
    text = f"{value:.3f}"
    # What reads alike is marked alike.
    return Entry(text, value, is_best=len(known) > 1 and text == f"{first:.3f}")


def scores(
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
    columns = {key: [own.get(key) for own in rows.values()] for key in measures}
    return {
        name: [
            best(own.get(key), column, smaller=key == "log_loss")
            for key, column in columns.items()
        ]
        for name, own in rows.items()
    }


def statuses(found: Counter[str]) -> str:
    """Return how fits ended, as a sentence fragment.

    Examples
    --------
    >>> from collections import Counter
    >>> from kreinlearn.app.report.entries import statuses
    >>> statuses(Counter(diverged=15, max_iter=20))
    'diverged in 15 of 35 fits, max_iter in 20'
    >>> statuses(Counter(converged=35))
    'all 35 fits converged'
    """
    total = found.total()
    if not total:
        return DASH
    others = sorted((word, n) for word, n in found.items() if word != "converged")
    if not others:
        return f"all {total} fits converged"
    first = f"{others[0][0]} in {others[0][1]} of {total} fits"
    return ", ".join([first, *(f"{word} in {n}" for word, n in others[1:])])
