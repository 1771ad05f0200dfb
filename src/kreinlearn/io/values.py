"""Cells of a column as numbers, text or labels."""

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np

from kreinlearn._memory import check_bytes
from kreinlearn._typing import Array

MISSING = frozenset({"", "NA", "N/A", "nan", "NaN", "null", "None", "?"})
"""Cells that stand for a value that is not known."""
NEARLY_ALL = 0.9
"""Share of numbers in a column above which a word in it is taken for a mistake."""
MANY_CLASSES = 20
"""Up to this many different labels nobody is asked whether they are classes."""
COMMA_NUMBER = re.compile(r"[+-]?\d+(\.\d{3})*,\d+([eE][+-]?\d+)?")
"""A number with a decimal comma, or with one between thousands."""
LONG_LABEL = 1000
"""Letters of a label beyond which memory is thought of."""
CODE = re.compile(r"[+-]?0\d")
"""How a number begins that is a name, such as 01 or 00123."""
CellColumn = Sequence[str] | Array
"""The cells of a column: text, or numbers already."""


def some_of(names: Iterable[str], most: int = 5) -> str:
    """Return the first of some names, and how many more there are."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - most} more" if len(quoted) > most else ""
    return ", ".join(quoted[:most]) + more


def number(cell: str) -> float | None:
    """Return the number that a cell holds, exactly, or None if it holds none.

    Parameters
    ----------
    cell : str
        Text without spaces around it.

    Returns
    -------
    float or None
        As Python reads it; None for text and for missing values.

    Examples
    --------
    >>> number("1e-3"), number("red"), number("nan"), number("1_000")
    (0.001, None, None, None)
    """
    if cell in MISSING or "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def is_count(cell: str) -> bool:
    """Tell whether a cell is a whole number, not negative, that 64 bits hold."""
    return cell.isascii() and cell.isdigit() and len(cell) < 19


def as_numbers(
    cells: CellColumn, path: str, name: str, lines: Sequence[int], unit: str = "line"
) -> Array:
    """Return a column of numbers, or of text if it does not look like numbers.

    Parameters
    ----------
    cells : list of str or ndarray
        The cells; an array of objects is text, whatever it looks like.
    path, name : str
        File and column, for messages.
    lines : sequence of int
        Line of each.
    unit : str
        What samples are counted in.

    Returns
    -------
    ndarray of shape (n_samples,)
        Floats with NaN where missing, or objects: text, with NaN where missing.
    """
    if isinstance(cells, np.ndarray):
        if cells.dtype == object:
            words_of = [str(cell) for cell in cells]
            check_no_comma_numbers(words_of, path, name, lines, unit)
            return as_text(cells)
        values = cells.astype(float)
    elif (quickly := all_numbers(cells)) is not None:
        values = quickly
    else:
        parsed = [number(cell) for cell in cells]
        known = [i for i, cell in enumerate(cells) if cell not in MISSING]
        words = [i for i in known if parsed[i] is None]
        check_no_comma_numbers(cells, path, name, lines, unit)
        if len(known) - len(words) < NEARLY_ALL * len(known):
            return as_text(cells)
        if words:
            raise ValueError(
                f"{path}: a number was expected, got {cells[words[0]]!r} in {unit} "
                f"{lines[words[0]]}, column {name!r}, where nearly all cells are "
                "numbers; correct it, or leave the cell empty if it is not known."
            )
        values = np.array(parsed, dtype=float)  # NaN for None
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"{path}: a finite number was expected, got {values[row]} in {unit} "
            f"{lines[row]}, column {name!r}."
        )
    return values


def check_no_comma_numbers(
    cells: Sequence[str], path: str, name: str, lines: Sequence[int], unit: str = "line"
) -> None:
    """Raise if nearly all cells of a column are numbers, some with a comma.

    Parameters
    ----------
    cells : sequence of str
        The column.
    path, name : str
        File and column, for the message.
    lines : sequence of int
        Line of each.
    unit : str
        What samples are counted in.
    """
    known = [i for i, cell in enumerate(cells) if cell not in MISSING]
    commas = [i for i in known if COMMA_NUMBER.fullmatch(cells[i])]
    if not commas:
        return
    others = sum(number(cells[i]) is not None for i in known)
    if len(commas) + others >= NEARLY_ALL * len(known):
        cell = cells[commas[0]]
        raise ValueError(
            f"{path}: a number with a decimal point was expected, got {cell!r} in "
            f"{unit} {lines[commas[0]]}, column {name!r}; if the comma stands before "
            f"decimals, say --decimal , or write "
            f"{cell.replace('.', '').replace(',', '.')}; leave out what separates "
            "thousands."
        )


def as_text(cells: CellColumn) -> Array:
    """Return a column of text, whatever its cells look like.

    Parameters
    ----------
    cells : sequence of str, or ndarray of numbers
        The cells.

    Returns
    -------
    ndarray of shape (n_samples,)
        Objects: text, with NaN where missing.
    """
    texts = [str(cell) for cell in cells]
    return np.array([np.nan if c in MISSING else c for c in texts], dtype=object)


def all_numbers(cells: Sequence[str]) -> Array | None:
    """Return the numbers if there is nothing else, as is usual: twice as fast."""
    try:
        values = np.array([float(cell) for cell in cells])
    except ValueError:
        return None
    return None if "_" in "".join(cells) else values


def as_labels(
    cells: CellColumn, lines: Sequence[int], where: str, unit: str = "line"
) -> Array:
    """Return the labels of a column, checked.

    Parameters
    ----------
    cells : sequence of str or ndarray
        The column.
    lines : sequence of int
        Line of each in the file.
    where : str
        File and column, for messages.
    unit : str
        What samples are counted in.

    Returns
    -------
    ndarray of shape (n_samples,)
        Whole numbers if all are, numbers if all are, text otherwise.

    Examples
    --------
    >>> as_labels(["1", "2", "1"], [2, 3, 4], "train.csv, column 'y'")
    array([1, 2, 1])
    """
    y = plain_labels(cells)
    unknown = y == "" if y.dtype.kind == "U" else ~np.isfinite(y)
    if unknown.any():
        row = int(unknown.argmax())
        raise ValueError(
            f"{where} has no label in {unit} {lines[row]}; every sample needs one to "
            "learn from."
        )
    check_class_values(np.unique(y), len(y), where)
    return y


def check_class_values(classes: Array, n_samples: int, where: str) -> None:
    """Raise if all different labels of a column do not look like those of classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, each once.
    n_samples : int
        How many samples have them.
    where : str
        File and column, for messages.
    """
    if len(classes) == 1:
        raise ValueError(
            f"{where} holds one class only, {classes.tolist()[0]!r}, for all "
            f"{n_samples} samples; at least two are needed."
        )
    if classes.dtype.kind == "U":
        _check_numbers_differ(classes, where)
    is_fraction = classes.dtype.kind == "f" and bool(
        (classes != np.floor(classes)).any()
    )
    if is_fraction or len(classes) > max(MANY_CLASSES, n_samples / 2):
        some = ", ".join(repr(label) for label in classes[:3].tolist())
        is_text = classes.dtype.kind == "U"
        what = "a name of each sample" if is_text else "a regression target"
        raise ValueError(
            f"{where} looks like {what}, with {len(classes)} different values such as "
            f"{some}; labels of classes are needed. If another column holds them, name "
            "it as the target."
        )


def _check_numbers_differ(classes: Array, where: str) -> None:
    """Raise if two labels of text are the same number, such as "01" and "1"."""
    known = dict[float, str]()
    for label in classes.tolist():
        value = number(label)
        if value is not None and (other := known.setdefault(value, label)) != label:
            raise ValueError(
                f"{where} holds the labels {other!r} and {label!r}, which may be the "
                "same number or two names; write them alike, or with a letter."
            )


def text_labels(cells: CellColumn) -> Array:
    """Return labels as text, empty where they are missing."""
    words = [str(cell) for cell in cells]
    longest = max(map(len, words), default=0)
    if longest > LONG_LABEL:  # each takes the memory of the longest
        check_bytes(
            4 * longest * len(words),
            f"{len(words):,} labels of up to {longest:,} letters need",
            "Shorten them.",
        )
    return np.array(["" if word in MISSING else word for word in words], dtype=str)


def plain_labels(cells: CellColumn) -> Array:
    """Return labels of the narrowest kind, without further checks.

    Parameters
    ----------
    cells : sequence of str or ndarray
        The column; missing text becomes empty, missing numbers NaN.

    Returns
    -------
    ndarray of shape (n_samples,)
        Whole numbers, numbers or text; text, too, if one begins with a zero as in
        "01", which a number would lose.

    Examples
    --------
    >>> plain_labels(["1", "?", "2"])
    array([ 1., nan,  2.])
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return cells.astype(int) if cells.dtype.kind == "b" else cells
    words = text_labels(cells).tolist()
    numbers = [math.nan if word == "" else number(word) for word in words]
    is_name = any(value is None for value in numbers) or not any(words)
    if is_name or any(CODE.match(word) for word in words):
        return np.array(words, dtype=str)
    try:
        whole = np.array([int(word) for word in words])
    except ValueError:
        return np.array(numbers, dtype=float)
    # Numbers too long for 64 bits are names.
    return whole if whole.dtype.kind in "iu" else np.array(words, dtype=str)
