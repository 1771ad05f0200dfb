"""Columns of a table: conversion of their cells, their roles, and warnings."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.errors import quote_names

if TYPE_CHECKING:
    import pandas as pd

MISSING_CELLS = frozenset({"", "NA", "N/A", "nan", "NaN", "null", "None", "?"})
"""Cells that stand for a missing value."""
NUMERIC_FRACTION = 0.9
"""Fraction of numbers in a column above which a word in it is an error."""
COMMA_NUMBER = re.compile(r"[+-]?\d+(\.\d{3})*,\d+([eE][+-]?\d+)?")
"""A number with a decimal comma, or with a comma between thousands."""
CellColumn = Sequence[str] | Array
"""The cells of a column: text, or numbers."""
MIN_ROWS = 10
"""Rows below which neither an order nor an outlier is significant."""
OUTLIER_FRACTION = 0.01
"""Fraction of the rows, on either side, that may be outliers; one at least."""
MIN_RANGE_FRACTION = 0.1
"""Fraction of a column's range below which outliers squeeze all other values. In the
paper's data sets these are all 14 columns of EEG, from 0.0002 to 0.044, and the patient
numbers of breast-cancer (0.091); the next fraction is 0.15."""
ID_NAME = re.compile(r"(?i:(^|[\W_])(id|idx|index|uid|row))$|[a-z]I[dD]$")
"""Names of columns with identifiers."""


def parse_number(cell: str) -> float | None:
    """Return the number in a cell, exactly, or None.

    Parameters
    ----------
    cell : str
        Text without spaces around it.

    Returns
    -------
    float or None
        As Python parses it; None for text and missing values.

    Examples
    --------
    >>> [parse_number(cell) for cell in ("1e-3", "red", "nan", "1_000")]
    [0.001, None, None, None]
    """
    if cell in MISSING_CELLS or "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def parse_numbers(cells: Sequence[str]) -> Array | None:
    """Return the numbers of a column without any other cell, or None."""
    try:
        values = np.array([float(cell) for cell in cells])
    except ValueError:
        return None
    return None if "_" in "".join(cells) else values


def is_count(cell: str) -> bool:
    """Return whether a cell is a nonnegative integer of at most 64 bits."""
    return cell.isascii() and cell.isdigit() and len(cell) < 19


def to_numbers(
    cells: CellColumn, path: str, name: str, lines: Sequence[int], unit: str = "line"
) -> Array:
    """Return a column of numbers, or of text if few of its cells are numbers.

    Parameters
    ----------
    cells : list of str or ndarray
        The cells; an array of objects is always text.
    path, name : str
        File and column, for messages.
    lines : sequence of int
        Line of each cell.
    unit : str
        Unit of ``lines``.

    Returns
    -------
    ndarray of shape (n_samples,)
        Floats with NaN where missing, or objects: text, with NaN where missing.
    """
    if isinstance(cells, np.ndarray) and cells.dtype == object:
        check_decimal_points([str(c) for c in cells], path, name, lines, unit)
        return to_text(cells)
    if isinstance(cells, np.ndarray):
        values = cells.astype(float, copy=False)
    elif (numbers := parse_numbers(cells)) is not None:
        values = numbers
    else:
        parsed = [parse_number(cell) for cell in cells]
        known = [i for i, cell in enumerate(cells) if cell not in MISSING_CELLS]
        words = [i for i in known if parsed[i] is None]
        check_decimal_points(cells, path, name, lines, unit)
        if len(known) - len(words) < NUMERIC_FRACTION * len(known):
            return to_text(cells)
        if words:
            where = f"{unit} {lines[words[0]]}, column {name!r}"
            raise ValueError(stray_word_message(path, cells[words[0]], where))
        values = np.array(parsed, dtype=float)  # NaN for None
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"{path}: a finite number was expected, got {values[row]} in {unit} "
            f"{lines[row]}, column {name!r}."
        )
    return values


def stray_word_message(path: str, cell: str, where: str) -> str:
    """Return the message about a word in a column of numbers."""
    return (
        f"{path}: a number was expected, got {cell!r} in {where}, where nearly all "
        "cells are numbers; correct it, or leave the cell empty if it is missing."
    )


def check_decimal_points(
    cells: Sequence[str], path: str, name: str, lines: Sequence[int], unit: str = "line"
) -> None:
    """Raise if nearly all cells of a column are numbers, some with a comma."""
    known = [i for i, cell in enumerate(cells) if cell not in MISSING_CELLS]
    commas = [i for i in known if COMMA_NUMBER.fullmatch(cells[i])]
    if not commas:
        return
    others = sum(parse_number(cells[i]) is not None for i in known)
    if len(commas) + others >= NUMERIC_FRACTION * len(known):
        cell = cells[commas[0]]
        raise ValueError(
            f"{path}: a number with a decimal point was expected, got {cell!r} in "
            f"{unit} {lines[commas[0]]}, column {name!r}; if decimals follow a comma, "
            f"use --decimal , or write "
            f"{cell.replace('.', '').replace(',', '.')}. Remove separators of "
            "thousands."
        )


def to_text(cells: CellColumn) -> Array:
    """Return a column as objects: text, with NaN where missing."""
    texts = [str(cell) for cell in cells]
    return np.array([np.nan if c in MISSING_CELLS else c for c in texts], dtype=object)


@dataclass(frozen=True)
class ColumnRoles:
    """Columns that a user excludes from the features, by name or position.

    Attributes
    ----------
    drop : sequence of str
        Columns to leave out.
    id : str or None
        The column of sample names.
    group : str or None
        The column of groups, such as patients with several rows.
    """

    drop: Sequence[str] = ()
    id: str | None = None
    group: str | None = None

    def __bool__(self) -> bool:
        """Return whether any column is excluded."""
        return bool(self.drop) or self.id is not None or self.group is not None


NO_ROLES = ColumnRoles()


@dataclass(frozen=True)
class ColumnLayout:
    """The columns of a table by role.

    Attributes
    ----------
    features : list of str
        The features.
    target : str or None
        The labels.
    id, group : str or None
        Names and groups of the samples.
    apart : dict of str to int
        Columns that are neither features nor labels, and their positions from zero.
    """

    features: list[str]
    target: str | None = None
    id: str | None = None
    group: str | None = None
    apart: Mapping[str, int] = field(default_factory=dict)


def assign_roles(
    path: str,
    names: Sequence[str],
    roles: ColumnRoles,
    target: str | None = None,
    *,
    labels: bool = True,
) -> ColumnLayout:
    """Return the role of each column of a table, or raise if roles contradict.

    Parameters
    ----------
    path : str
        The file, for messages.
    names : sequence of str
        Its columns.
    roles : ColumnRoles
        The excluded columns.
    target : str, optional
        Name or position of the labels; by default the last column without a role.
    labels : bool
        Whether there are labels if ``target`` is None.

    Returns
    -------
    ColumnLayout
        With the names in the file.

    Examples
    --------
    >>> found = assign_roles("a.csv", ["nr", "width", "kind"], ColumnRoles(id="nr"))
    >>> found.features, found.target, found.id
    (['width'], 'kind', 'nr')
    """
    given: list[tuple[str, str | None]] = [("--drop", name) for name in roles.drop]
    given += [("--id", roles.id), ("--group", roles.group), ("--target", target)]
    options = dict[str, str]()
    for option, column in given:
        if column is None:
            continue
        name = names[find_column(path, names, column, option)]
        if name in options:
            both = f"by {options[name]} and {option}"
            twice = f"twice by {option}" if options[name] == option else both
            raise ValueError(
                f"{path}: column {name!r} is named {twice}; a column has one role: "
                "name each once."
            )
        options[name] = option
    by_option = {option: name for name, option in options.items()}
    apart = {n: names.index(n) for n, option in options.items() if option != "--target"}
    rest = [name for name in names if name not in apart]
    label = by_option.get("--target", rest[-1] if labels and rest else None)
    features = [name for name in rest if name != label]
    return ColumnLayout(
        features, label, by_option.get("--id"), by_option.get("--group"), apart
    )


def check_features(path: str, layout: ColumnLayout) -> None:
    """Raise if a table has no features besides its labels."""
    if layout.features:
        return
    if layout.apart:
        raise ValueError(
            f"{path} must have at least one column of features besides the labels in "
            f"{layout.target!r} and {quote_names(layout.apart)}; drop fewer."
        )
    raise ValueError(
        f"{path} must have a column of labels and at least one column of features, got "
        "one column only; is the delimiter a comma, a semicolon or, in .tsv, a tab? "
        "Name any other by --sep."
    )


def find_column(
    path: str, names: Sequence[str], given: str | None, option: str = "--target"
) -> int:
    """Return the position of a column, counted from zero.

    Parameters
    ----------
    path : str
        The file, for the message.
    names : sequence of str
        Names of the columns.
    given : str or None
        A name, or a position from 1 or, if negative, from the end; None for the last.
    option : str
        The option with this value, for the message.

    Returns
    -------
    int
        The position.
    """
    if given is None:
        return len(names) - 1
    if given in names:
        return list(names).index(given)
    try:
        position = int(given)
    except ValueError:
        lower = {name.lower(): name for name in names}
        near = get_close_matches(given.lower(), lower, 1)
        hint = f"did you mean {lower[near[0]]!r}? It" if near else "it"
        alone = "; if these are several columns, name their separator by --sep"
        raise ValueError(
            f"{path} has no column {given!r}; {hint} has {quote_names(names, 10)}"
            f"{alone * (len(names) == 1)}."
        ) from None
    if position == 0 or abs(position) > len(names):
        what = "the target" if option == "--target" else option
        raise ValueError(
            f"The position of {what} must be from 1 to {len(names)}, or from -1 to "
            f"-{len(names)} to count from the last column of {path}, got {position}."
        )
    return position - 1 if position > 0 else len(names) + position


def check_unique_ids(
    path: str, name: str, cells: CellColumn, lines: Sequence[int], unit: str = "line"
) -> list[str]:
    """Return the names of training samples, or raise if one occurs twice."""
    first = dict[str, int]()
    words = [str(cell) for cell in cells]
    for line, word in zip(lines, words, strict=True):
        if first.setdefault(word, line) != line:
            raise ValueError(
                f"{path}: column {name!r} was named by --id, and an id names one "
                f"sample, but {word!r} is in {unit}s {first[word]} and {line}; for "
                f"rows that belong together, use --group {name}."
            )
    return words


def warn_about_columns(
    X: "pd.DataFrame", numbers: Sequence[str], check_outliers: bool = True
) -> None:
    """Warn about columns that are constant, number the samples, or hold outliers.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        The features.
    numbers : sequence of str
        The numeric ones.
    check_outliers : bool
        Whether to warn about outliers.
    """
    where = f"{X.attrs['path']}: " if X.attrs.get("path") else ""
    constant = [name for name in X.columns if X[name].nunique() == 1]
    if constant:
        _warn(
            f"{where}the same value for all samples in {_columns(constant)}, which "
            f"cannot separate classes."
        )
    counters, squeezed = list[str](), list[str]()
    for name in numbers:
        values = X[name].to_numpy(dtype=float)
        if is_counter(name, values):
            counters.append(name)
        elif check_outliers and range_fraction(values) < MIN_RANGE_FRACTION:
            squeezed.append(name)
    if counters:
        name = counters[0]
        one = len(counters) == 1
        _warn(
            f"{where}{_columns(counters)} seem{'s' * one} to number or name the "
            f"samples, which does not help on new ones; leave "
            f"{'it' if one else 'them'} out by --drop {name}, or keep it in "
            f"predictions by --id {name}."
        )
    if squeezed:
        share = min(range_fraction(X[n].to_numpy(dtype=float)) for n in squeezed)
        _warn(
            f"{where}a few outliers squeeze everything else in {_columns(squeezed)}: "
            f"all but {OUTLIER_FRACTION:.0%} of the values on either side lie in "
            f"{share:.2g} of the range; use --scale robust (scale='robust'), or "
            "correct the outliers."
        )


def is_counter(name: str, values: Array) -> bool:
    """Return whether a numeric column numbers the samples.

    It holds integers that increase from sample to sample, or that all differ under a
    name such as "id".

    Examples
    --------
    >>> rows = np.arange(5.0, 25.0)
    >>> is_counter("a", rows), is_counter("a", rows[::-1]), is_counter("id", rows[::-1])
    (True, False, True)
    """
    if len(values) < MIN_ROWS or not (values == np.floor(values)).all():
        return False
    if (np.diff(values) > 0).all():
        return True
    is_named = ID_NAME.search(name) is not None
    return is_named and len(np.unique(values)) == len(values)


def range_fraction(values: Array) -> float:
    """Return the fraction of a column's range that contains all but a few values.

    It is 1 if these values are all the same, and hence nothing is squeezed.

    Examples
    --------
    >>> range_fraction(np.r_[np.arange(100.0), 1e6]) < 1e-3
    True
    """
    known = np.sort(values[np.isfinite(values)])
    if len(known) < MIN_ROWS or known[0] == known[-1]:
        return 1.0
    few = max(1, int(OUTLIER_FRACTION * len(known)))
    most = known[-1 - few] - known[few]
    return float(most / (known[-1] - known[0])) if most > 0 else 1.0


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' * (len(names) > 1)} {quote_names(names)}"


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
