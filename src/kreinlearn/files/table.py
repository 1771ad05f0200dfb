"""What was read: named columns of numbers and text, or a Gram matrix, and labels."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kreinlearn._typing import Array

if TYPE_CHECKING:
    import pandas as pd

MISSING = frozenset({"", "NA", "N/A", "nan", "NaN", "null", "None", "?"})
"""Cells that stand for a value that is not known."""
NEARLY_ALL = 0.9
"""Share of numbers in a column above which a word in it is taken for a mistake."""
MANY_CLASSES = 20
"""Up to this many different labels nobody is asked whether they are classes."""


@dataclass(frozen=True)
class Table:
    """Samples from a file.

    Attributes
    ----------
    path : str
        Where they come from.
    X : DataFrame of shape (n_samples, n_features) or None
        Features, by name; its index are the lines of the file. Numbers are float64,
        columns of text are objects; missing cells are NaN.
    y : ndarray of shape (n_samples,) or None
        Labels: whole numbers if all are, numbers if all are, text otherwise.
    K : ndarray of shape (n_samples, n_columns) or None
        Similarities, if the file holds these and no features.
    target : str or None
        Name of the column, or the array, of labels.
    header : bool
        Whether the names come from the file; otherwise they are positions from 1.
    target_place : int or None
        Which column of a table holds the labels, counted from zero.
    """

    path: str
    X: "pd.DataFrame | None" = None
    y: Array | None = None
    K: Array | None = None
    target: str | None = None
    header: bool = False
    target_place: int | None = None


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


def build(
    path: str,
    names: Sequence[str],
    columns: Sequence[Any],
    lines: Sequence[int],
    *,
    target: str | None,
    header: bool,
    labels: bool,
    text: Collection[str] = (),
    unit: str = "line",
) -> Table:
    """Return a table from columns of cells.

    Parameters
    ----------
    path : str
        The file, for messages.
    names : sequence of str
        Names of the columns.
    columns : sequence of list of str or ndarray of float
        The cells of each; arrays are numbers already.
    lines : sequence of int
        Line of each sample in the file.
    target : str or None
        Name or position of the labels.
    header : bool
        Whether the names come from the file.
    labels : bool
        Whether labels are needed: without ``target`` the last column then.
    text : collection of str
        Columns that are text, even if their cells look like numbers.
    unit : str
        What samples are counted in: lines, or rows.

    Returns
    -------
    Table
        With its labels, which are checked if they are needed.
    """
    import pandas as pd

    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"{path}: the names in the header must differ, got {twice!r} "
            f"{names.count(twice)} times."
        )
    if not lines:
        raise ValueError(f"{path} holds a header but no samples below it.")
    y = None
    place = target_place(path, names, target) if labels or target is not None else None
    if place is not None:
        if len(names) < 2:
            raise ValueError(
                f"{path} must have a column of labels and at least one of features, "
                "got one column only; is the delimiter a comma, a semicolon or, in "
                ".tsv, a tab?"
            )
        target = names[place]
        y = plain_labels(columns[place])
        if labels:
            y = as_labels(y, lines, f"{path}, column {target!r}", unit)
    kept = [i for i in range(len(names)) if i != place]
    found = {
        names[i]: (
            as_text(columns[i])
            if names[i] in text
            else as_numbers(path, names[i], columns[i], lines, unit)
        )
        for i in kept
    }
    index = pd.Index(lines, name=unit)
    if all(values.dtype == float for values in found.values()):
        # One block, sample after sample, as an array of numbers would be.
        block = np.column_stack(list(found.values()))
        X = pd.DataFrame(block, index=index, columns=list(found), copy=False)
    else:
        series = {k: pd.Series(v, index=index, dtype=v.dtype) for k, v in found.items()}
        X = pd.DataFrame(series)
    X.attrs["path"] = path
    return Table(path, X, y, target=target, header=header, target_place=place)


def target_place(path: str, names: Sequence[str], target: str | None) -> int:
    """Return which column holds the labels, counted from zero.

    Parameters
    ----------
    path : str
        The file, for the message.
    names : sequence of str
        Names of the columns.
    target : str or None
        A name, or a position from 1 or, if negative, from the end; None for the last.

    Returns
    -------
    int
        The place.
    """
    if target is None:
        return len(names) - 1
    if target in names:
        return list(names).index(target)
    try:
        position = int(target)
    except ValueError:
        listed = ", ".join(repr(name) for name in names[:10])
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        raise ValueError(
            f"{path} has no column {target!r}; it has {listed}{more}."
        ) from None
    if position == 0 or abs(position) > len(names):
        raise ValueError(
            f"The position of the target must be from 1 to {len(names)}, or from -1 "
            f"to -{len(names)} to count from the last column of {path}, got {position}."
        )
    return position - 1 if position > 0 else len(names) + position


def as_numbers(
    path: str, name: str, cells: Any, lines: Sequence[int], unit: str = "line"
) -> Array:
    """Return a column of numbers, or of text if it does not look like numbers.

    Parameters
    ----------
    path, name : str
        File and column, for messages.
    cells : list of str or ndarray of numbers
        The cells.
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
        values = cells.astype(float)
    elif (quickly := _all_numbers(cells)) is not None:
        values = quickly
    else:
        parsed = [number(cell) for cell in cells]
        n_known = sum(cell not in MISSING for cell in cells)
        n_numbers = sum(value is not None for value in parsed)
        if n_numbers < n_known:
            if n_numbers >= NEARLY_ALL * n_known:
                row = next(
                    i
                    for i, value in enumerate(parsed)
                    if value is None and cells[i] not in MISSING
                )
                raise ValueError(
                    f"{path}: a number was expected, got {cells[row]!r} in {unit} "
                    f"{lines[row]}, column {name!r}, where nearly all cells are "
                    "numbers; correct it, or leave the cell empty if it is not known."
                )
            return as_text(cells)
        values = np.array([np.nan if v is None else v for v in parsed], dtype=float)
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"{path}: a finite number was expected, got {values[row]} in {unit} "
            f"{lines[row]}, column {name!r}."
        )
    return values


def as_text(cells: Any) -> Array:
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


def _all_numbers(cells: Sequence[str]) -> Array | None:
    """Return the numbers if there is nothing else, as is usual: twice as fast."""
    try:
        values = np.array([float(cell) for cell in cells])
    except ValueError:
        return None
    return None if "_" in "".join(cells) else values


def as_labels(
    cells: Any, lines: Sequence[int], where: str, unit: str = "line"
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
    classes = np.unique(y)
    if len(classes) == 1:
        raise ValueError(
            f"{where} holds one class only, {classes.tolist()[0]!r}, for all {len(y)} "
            "samples; at least two are needed."
        )
    is_fraction = y.dtype.kind == "f" and bool((y != np.floor(y)).any())
    if is_fraction or len(classes) > max(MANY_CLASSES, len(y) / 2):
        some = ", ".join(repr(label) for label in classes[:3].tolist())
        what = "a regression target" if y.dtype.kind != "U" else "a name of each sample"
        raise ValueError(
            f"{where} looks like {what}, with {len(classes)} different values such as "
            f"{some}; labels of classes are needed. If another column holds them, name "
            "it as the target."
        )
    return y


def plain_labels(cells: Any) -> Array:
    """Return labels of the narrowest kind, without further checks.

    Parameters
    ----------
    cells : sequence of str or ndarray
        The column; missing text becomes empty, missing numbers NaN.

    Returns
    -------
    ndarray of shape (n_samples,)
        Whole numbers, numbers or text.

    Examples
    --------
    >>> plain_labels(["1", "?", "2"])
    array([ 1., nan,  2.])
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return cells.astype(int) if cells.dtype.kind == "b" else cells
    cells = ["" if cell in MISSING else str(cell) for cell in cells]
    numbers = [math.nan if cell == "" else number(cell) for cell in cells]
    if any(value is None for value in numbers) or not any(cells):
        return np.array(cells, dtype=str)
    try:
        whole = np.array([int(cell) for cell in cells])
    except ValueError:
        return np.array(numbers, dtype=float)
    # Numbers too long for 64 bits are names.
    return whole if whole.dtype.kind in "iu" else np.array(cells, dtype=str)
