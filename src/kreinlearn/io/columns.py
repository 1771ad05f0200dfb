"""Columns of a table: conversion of their cells, their roles, and warnings."""

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.dataset import ReadOptions, TrainingRecord
from kreinlearn.io.text import COMMA_NUMBER, MISSING_CELLS, parse_number, quote_names

if TYPE_CHECKING:
    import pandas as pd

NUMERIC_FRACTION = 0.9
"""Fraction of numbers in a column above which a word in it is an error."""
CellColumn = Sequence[str] | Array
"""The cells of a column: text, or numbers."""
MIN_JUDGED_ROWS = 10
"""Rows below which neither an order nor an outlier is significant."""
MIN_LEAK_ROWS = 20
"""Rows below which a column may predict all labels by chance."""
MANY_WORDS = 20
"""Up to this many different words a column may hold one in each row."""
MIN_ROWS_PER_WORD = 5
"""Rows of each word of a column, on average, below which few are learned from."""
OUTLIER_FRACTION = 0.01
"""Fraction of the rows, on either side, that may be outliers; one at least."""
MIN_RANGE_FRACTION = 0.1
"""Fraction of a column's range below which outliers squeeze all other values. In the
paper's data sets these are all 14 columns of EEG, from 0.0002 to 0.044, and the patient
numbers of breast-cancer (0.091); the next fraction is 0.15."""
ID_NAME = re.compile(r"(?i:(^|[\W_])(id|idx|index|uid|row))$|[a-z]I[dD]$")
"""Names of columns with identifiers."""


@dataclass(frozen=True)
class Cells:
    """Some rows of a table, before their columns are converted.

    Attributes
    ----------
    path : str
        The file, for messages.
    columns : dict of str to column
        The cells of each column: text, numbers, or an array of objects for text.
    lines : sequence of int
        Position of each row in the file, counted in ``unit``.
    unit : {"line", "row"}
        The unit.
    """

    path: str
    columns: Mapping[str, CellColumn]
    lines: Sequence[int]
    unit: str = "line"

    def locate(self, row: int, name: str) -> str:
        """Return the position of a cell, for messages."""
        return f"{self.unit} {self.lines[row]}, column {name!r}"


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


def to_numbers(cells: Cells, name: str) -> Array:
    """Return a column of numbers, or of text if few of its cells are numbers.

    Returns
    -------
    ndarray of shape (n_samples,)
        Floats with NaN where missing, or objects: text, with NaN where missing.
    """
    column = cells.columns[name]
    if isinstance(column, np.ndarray) and column.dtype == object:
        check_decimal_points(cells, name)
        return to_text(column)
    if isinstance(column, np.ndarray):
        values = column.astype(float, copy=False)
    elif (numbers := parse_numbers(column)) is not None:
        values = numbers
    else:
        parsed = [parse_number(cell) for cell in column]
        known = [i for i, cell in enumerate(column) if cell not in MISSING_CELLS]
        words = [i for i in known if parsed[i] is None]
        check_decimal_points(cells, name)
        if len(known) - len(words) < NUMERIC_FRACTION * len(known):
            return to_text(column)
        if words:
            raise ValueError(
                f"{cells.path}: a number was expected, got {column[words[0]]!r} in "
                f"{cells.locate(words[0], name)}, {STRAY_WORD_REMEDY}"
            )
        values = np.array(parsed, dtype=float)  # NaN for None
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"{cells.path}: a finite number was expected, got {values[row]} in "
            f"{cells.locate(row, name)}."
        )
    return values


STRAY_WORD_REMEDY = (
    "where nearly all cells are numbers; correct it, or leave the cell empty if it is "
    "missing."
)


def check_decimal_points(cells: Cells, name: str) -> None:
    """Raise if nearly all cells of a column are numbers, some with a comma."""
    column = [str(cell) for cell in cells.columns[name]]
    known = [i for i, cell in enumerate(column) if cell not in MISSING_CELLS]
    commas = [i for i in known if COMMA_NUMBER.fullmatch(column[i])]
    if not commas:
        return
    others = sum(parse_number(column[i]) is not None for i in known)
    if len(commas) + others >= NUMERIC_FRACTION * len(known):
        cell = column[commas[0]]
        raise ValueError(
            f"{cells.path}: a number with a decimal point was expected, got {cell!r} "
            f"in {cells.locate(commas[0], name)}; if decimals follow a comma, "
            f"use --decimal , or write "
            f"{cell.replace('.', '').replace(',', '.')}. Remove separators of "
            "thousands."
        )


def to_text(column: CellColumn) -> Array:
    """Return a column as objects: text, with NaN where missing."""
    texts = [str(cell) for cell in column]
    return np.array([np.nan if c in MISSING_CELLS else c for c in texts], dtype=object)


def convert_features(
    cells: Cells, names: Sequence[str], text: Collection[str] = ()
) -> "pd.DataFrame":
    """Return some columns as numbers or, if they are in ``text``, as text."""
    import pandas as pd

    found = {
        name: to_text(cells.columns[name]) if name in text else to_numbers(cells, name)
        for name in names
    }
    index = pd.Index(cells.lines, name=cells.unit)
    if found and all(column.dtype == float for column in found.values()):
        # One block in C order, as an array of numbers would be.
        block = np.column_stack(list(found.values()))
        X = pd.DataFrame(block, index=index, columns=list(found), copy=False)
    else:
        series = {k: pd.Series(v, index=index, dtype=v.dtype) for k, v in found.items()}
        X = pd.DataFrame(series, index=index)
    X.attrs["path"] = cells.path
    return X


def check_numeric(X: "pd.DataFrame", text: Collection[str], remedy: str) -> None:
    """Raise if a column of text is not among those that may hold it."""
    for name in X.columns:
        if X[name].dtype == object and name not in text:
            cells = [(i, c) for i, c in X[name].items() if isinstance(c, str)]
            row, cell = next((c for c in cells if parse_number(c[1]) is None), cells[0])
            raise ValueError(
                f"{X.attrs['path']}: a number was expected, got {cell!r} in "
                f"{X.index.name} {row}, column {name!r}, {remedy}"
            )


def assign_roles(
    path: str,
    names: Sequence[str],
    options: ReadOptions,
    *,
    header: bool = True,
    labels: bool = True,
) -> TrainingRecord:
    """Return the role of each column of a table, or raise if roles contradict.

    Parameters
    ----------
    path : str
        The file, for messages.
    names : sequence of str
        Its columns.
    options : ReadOptions
        With ``drop``, ``id``, ``group`` and ``target``.
    header : bool
        Whether the names come from the file.
    labels : bool
        Whether there are labels if ``target`` is None: then in the last column
        without a role.

    Examples
    --------
    >>> found = assign_roles("a.csv", ["nr", "width", "kind"], ReadOptions(id="nr"))
    >>> found.columns, found.target, found.id
    (['width'], 'kind', 'nr')
    """
    given: list[tuple[str, str | None]] = [("--drop", name) for name in options.drop]
    given += [("--id", options.id), ("--group", options.group)]
    roles = dict[str, str]()
    for option, column in [*given, ("--target", options.target)]:
        if column is None:
            continue
        name = names[find_column(path, names, column, option)]
        if name in roles:
            both = f"by {roles[name]} and {option}"
            twice = f"twice by {option}" if roles[name] == option else both
            raise ValueError(
                f"{path}: column {name!r} is named {twice}; a column has one role: "
                "name each once."
            )
        roles[name] = option
    by_option = {option: name for name, option in roles.items()}
    apart = {n: names.index(n) for n, option in roles.items() if option != "--target"}
    rest = [name for name in names if name not in apart]
    target = by_option.get("--target", rest[-1] if labels and rest else None)
    features = [name for name in rest if name != target]
    if target is not None and not features:
        got = "one column only" if len(names) == 1 else quote_names(names)
        raise ValueError(
            f"{path} must have a column of labels and at least one column of features, "
            f"got {got}; drop fewer columns or, if the delimiter is not a comma, a "
            "semicolon or, in .tsv, a tab, name it by --sep."
        )
    return TrainingRecord(
        features,
        header,
        target,
        None if target is None else names.index(target),
        apart=apart,
        id=by_option.get("--id"),
        group=by_option.get("--group"),
        source=path,
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


def check_unique_ids(cells: Cells, name: str) -> list[str]:
    """Return the names of training samples, or raise if one occurs twice."""
    first = dict[str, int]()
    words = [str(cell) for cell in cells.columns[name]]
    for line, word in zip(cells.lines, words, strict=True):
        if first.setdefault(word, line) != line:
            raise ValueError(
                f"{cells.path}: column {name!r} was named by --id, and an id names one "
                f"sample, but {word!r} is in {cells.unit}s {first[word]} and {line}; "
                f"for rows that belong together, use --group {name}."
            )
    return words


def find_leaking_columns(X: "pd.DataFrame", y: Array) -> list[str]:
    """Return the columns that predict all labels alone, by intervals or by words.

    Numbers do so if the samples of each class are an interval, and words if each
    stands for one class, in several rows on average.

    Examples
    --------
    >>> import pandas as pd
    >>> y = np.arange(30) % 2
    >>> X = pd.DataFrame({"a": y * 2.5, "b": np.arange(30.0)})
    >>> find_leaking_columns(X, y)
    ['a']
    """
    import pandas as pd

    classes, codes = np.unique(y, return_inverse=True)
    found = list[str]()
    for name in X.columns if len(y) >= MIN_LEAK_ROWS else ():
        places, values = pd.factorize(X[name], sort=True)
        if (places < 0).any():  # a missing cell predicts nothing
            continue
        low, high = np.full(len(values), len(classes)), np.zeros(len(values), int)
        np.minimum.at(low, places, codes)
        np.maximum.at(high, places, codes)
        is_repeated = MIN_ROWS_PER_WORD * len(values) <= len(y)
        n_intervals = 1 + int((np.diff(low) != 0).sum())
        is_ordered = X[name].dtype.kind in "fiub" and n_intervals == len(classes)
        if (low == high).all() and (is_repeated or is_ordered):
            found.append(str(name))
    return found


def warn_about_columns(
    X: "pd.DataFrame", numbers: Sequence[str], check_outliers: bool = True
) -> None:
    """Warn about columns that are constant, number the samples, or hold outliers.

    Columns of text get a warning if most of their words are rare.

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
            f"{where}the same value for all samples in {quote_columns(constant)}, "
            "which cannot separate classes."
        )
    for name in X.columns.difference(numbers, sort=False):
        n_words = X[name].nunique()
        if n_words > MANY_WORDS and len(X) < MIN_ROWS_PER_WORD * n_words:
            _warn(
                f"{where}column {name!r} has {n_words:,} categories in {len(X):,} "
                "rows, and most are too rare to learn from; merge rare ones, or leave "
                f"the column out by --drop {name}."
            )
    counters, squeezed = list[str](), dict[str, float]()
    for name in numbers:
        values = X[name].to_numpy(dtype=float)
        if is_counter(name, values):
            counters.append(name)
        elif check_outliers and range_fraction(values) < MIN_RANGE_FRACTION:
            squeezed[name] = range_fraction(values)
    if counters:
        name = counters[0]
        one = len(counters) == 1
        _warn(
            f"{where}{quote_columns(counters)} seem{'s' * one} to number or name the "
            f"samples, which does not help on new ones; leave "
            f"{'it' if one else 'them'} out by --drop {name}, or keep it in "
            f"predictions by --id {name}."
        )
    if squeezed:
        _warn(
            f"{where}a few outliers squeeze everything else in "
            f"{quote_columns(squeezed)}: all but {OUTLIER_FRACTION:.0%} of the values "
            f"on either side lie in {min(squeezed.values()):.2g} of the range; use "
            "--scale robust (scale='robust'), or correct the outliers."
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
    if len(values) < MIN_JUDGED_ROWS or not (values == np.floor(values)).all():
        return False
    if (np.diff(values) > 0).all():
        return True
    return ID_NAME.search(name) is not None and len(np.unique(values)) == len(values)


def range_fraction(values: Array) -> float:
    """Return the fraction of a column's range that contains all but a few values.

    It is 1 if these values are equal, since nothing is squeezed then.

    Examples
    --------
    >>> range_fraction(np.r_[np.arange(100.0), 1e6]) < 1e-3
    True
    """
    known = np.sort(values[np.isfinite(values)])
    if len(known) < MIN_JUDGED_ROWS or known[0] == known[-1]:
        return 1.0
    few = max(1, int(OUTLIER_FRACTION * len(known)))
    most = known[-1 - few] - known[few]
    return float(most / (known[-1] - known[0])) if most > 0 else 1.0


def quote_columns(names: Collection[str]) -> str:
    """Return the first names in quotes, after the word column."""
    return f"column{'s' * (len(names) > 1)} {quote_names(names)}"


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
