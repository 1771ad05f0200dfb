"""Class labels: conversion, checks, and files with one label per sample."""

import math
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from kreinlearn._memory import check_bytes
from kreinlearn._typing import Array
from kreinlearn.io.columns import CellColumn, find_column
from kreinlearn.io.text import MISSING_CELLS, TextRow, parse_number, read_rows

MAX_PLAIN_CLASSES = 20
"""Any column with at most this many different labels is accepted as classes."""
LONG_LABEL_LETTERS = 1000
"""Characters of a label from which on the memory of all labels is checked."""
PADDED_NUMBER = re.compile(r"[+-]?0\d")
"""Start of a number that is a name, such as 01 or 00123."""


def as_labels(
    cells: CellColumn, lines: Sequence[int], where: str, unit: str = "line"
) -> Array:
    """Return the labels of a column, checked.

    Parameters
    ----------
    cells : sequence of str or ndarray
        The column.
    lines : sequence of int
        Line of each label in the file.
    where : str
        File and column, for messages.
    unit : str
        Unit of ``lines``.

    Returns
    -------
    ndarray of shape (n_samples,)
        Integers if all are, floats if all are numbers, text otherwise.

    Examples
    --------
    >>> as_labels(["1", "2", "1"], [2, 3, 4], "train.csv, column 'y'")
    array([1, 2, 1])
    """
    y = to_labels(cells)
    check_labeled(y, lines, where, unit)
    check_classes(np.unique(y), len(y), where)
    return y


def check_labeled(y: Array, lines: Sequence[int], where: str, unit: str) -> None:
    """Raise if a label is missing: empty text, or NaN."""
    missing = y == "" if y.dtype.kind == "U" else ~np.isfinite(y)
    if missing.any():
        line = lines[int(missing.argmax())]
        raise ValueError(
            f"{where} has no label in {unit} {line}; every training sample needs one."
        )


def check_classes(classes: Array, n_samples: int, where: str) -> None:
    """Raise if the different labels of a column do not look like classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, each once.
    n_samples : int
        Number of samples.
    where : str
        File and column, for messages.
    """
    if len(classes) == 1:
        raise ValueError(
            f"{where} holds one class only, {classes.tolist()[0]!r}, for all "
            f"{n_samples} samples; at least two are needed."
        )
    is_text = classes.dtype.kind == "U"
    if is_text:
        _check_numbers_differ(classes, where)
    has_fractions = classes.dtype.kind == "f" and (classes != np.floor(classes)).any()
    if has_fractions or len(classes) > max(MAX_PLAIN_CLASSES, n_samples / 2):
        some = ", ".join(repr(label) for label in classes[:3].tolist())
        what = "a name of each sample" if is_text else "a regression target"
        raise ValueError(
            f"{where} looks like {what}, with {len(classes)} different values such as "
            f"{some}; class labels are needed. If another column holds them, name it "
            "by --target (target=...)."
        )


def _check_numbers_differ(classes: Array, where: str) -> None:
    """Raise if two text labels are the same number, such as "01" and "1"."""
    known = dict[float, str]()
    for label in classes.tolist():
        value = parse_number(label)
        if value is not None and (other := known.setdefault(value, label)) != label:
            raise ValueError(
                f"{where} holds the labels {other!r} and {label!r}, which may be the "
                "same number or two names; write them alike, or add a letter."
            )


def describe_similar_classes(classes: Collection[str]) -> str:
    """Return a note about two classes that differ only in case, or nothing.

    Examples
    --------
    >>> describe_similar_classes(["french", "FRENCH"])
    "the labels 'FRENCH' and 'french' differ only in case and count as two classes"
    """
    known = dict[str, str]()
    for label in sorted(classes):
        if (other := known.setdefault(label.casefold(), label)) != label:
            return (
                f"the labels {other!r} and {label!r} differ only in case and count as "
                "two classes"
            )
    return ""


def to_text_labels(cells: CellColumn) -> Array:
    """Return labels as text, empty where they are missing."""
    words = [str(cell) for cell in cells]
    longest = max(map(len, words), default=0)
    if longest > LONG_LABEL_LETTERS:  # each takes the memory of the longest
        check_bytes(
            4 * longest * len(words),
            f"{len(words):,} labels of up to {longest:,} letters need",
            "Shorten them.",
        )
    return np.array(["" if w in MISSING_CELLS else w for w in words], dtype=str)


def to_labels(cells: CellColumn) -> Array:
    """Return labels as integers, floats or text, without further checks.

    Parameters
    ----------
    cells : sequence of str or ndarray
        The column; missing text becomes empty, missing numbers NaN.

    Returns
    -------
    ndarray of shape (n_samples,)
        Text also if a label has a leading zero, as "01", which a number would lose.

    Examples
    --------
    >>> to_labels(["1", "?", "2"])
    array([ 1., nan,  2.])
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return cells.astype(int) if cells.dtype.kind == "b" else cells
    words = to_text_labels(cells)
    unique, inverse = np.unique(words, return_inverse=True)
    listed = unique.tolist()
    numbers = [math.nan if word == "" else parse_number(word) for word in listed]
    is_text = any(value is None for value in numbers) or not any(listed)
    if is_text or any(PADDED_NUMBER.match(word) for word in listed):
        return words
    try:
        whole = np.array([int(word) for word in listed])
    except ValueError:
        return np.array(numbers, dtype=float)[inverse]
    # Numbers beyond 64 bits are names.
    return whole[inverse] if whole.dtype.kind in "iu" else words


class LabelCounter:
    """Labels of a table that is read in blocks; all of them determine their type."""

    def __init__(self, where: str) -> None:
        self.where, self.counts = where, dict[str | int | float, int]()

    def add(self, column: CellColumn, lines: Sequence[int], unit: str) -> None:
        """Count the labels of a block; raise if one is missing."""
        found = self._convert(column)
        check_labeled(found, lines, self.where, unit)
        values, counts = np.unique(found, return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            self.counts[value] = self.counts.get(value, 0) + count

    def finish(self) -> tuple[Array, Array]:
        """Return the sorted classes and their counts; raise unless they are classes."""
        written = list(self.counts)
        is_text = isinstance(written[0], str)
        values = to_labels(list(map(str, written))) if is_text else np.array(written)
        self.values, place = np.unique(values, return_inverse=True)
        self.place = dict(zip(written, place.ravel().tolist(), strict=True))
        counts = np.bincount(place.ravel(), list(self.counts.values())).astype(int)
        check_classes(self.values, int(counts.sum()), self.where)
        return self.values, counts

    def convert(self, column: CellColumn) -> Array:
        """Return the labels of a block in their final type."""
        written, index = np.unique(self._convert(column), return_inverse=True)
        try:
            place = [self.place[value] for value in written.tolist()]
        except KeyError as error:
            raise ValueError(
                f"{self.where} changed while it was read: the label {error} is new."
            ) from None
        return self.values[np.array(place)[index.ravel()]]

    def _convert(self, column: CellColumn) -> Array:
        is_numeric = isinstance(column, np.ndarray) and column.dtype.kind in "biuf"
        return to_labels(column) if is_numeric else to_text_labels(column)


def read_labels(
    path: str | Path,
    names: Sequence[str] | int,
    source: str,
    target: str | None = None,
    *,
    header: bool | None = None,
    required: bool = True,
) -> tuple[Array, str, str]:
    """Return the labels of samples from a file that lists them by name or position.

    Parameters
    ----------
    path : path-like
        csv or tsv, plain or compressed: sample names in the first column, labels in
        the second, or in column ``target``. Extra samples are ignored.
    names : sequence of str or int
        The samples, or their number: then the file has one label per line.
    source : str
        The file of the samples, for messages.
    target : str, optional
        Name or position of the column of labels, if there are more than two.
    header : bool, optional
        Whether the first line holds titles; by default if it names no sample and its
        label occurs in no other line.
    required : bool
        Whether each sample needs a label. If not, missing ones are empty or NaN.

    Returns
    -------
    y : ndarray of shape (n_samples,)
        Labels in the order of the samples.
    title : str
        Name of their column or, without a header, of the file.
    note : str
        Note for the user; may be empty.
    """
    place, note = Path(path), ""
    if place.is_dir() or not place.exists():
        raise FileNotFoundError(
            f"There is no file {path}; --labels names a file with the name and the "
            "label of each sample."
        )
    rows = list(read_rows(place))
    first = rows[0][1]
    if isinstance(names, int):
        has_header = len(rows) == names + 1
        if len(rows) != names + has_header:
            raise ValueError(
                f"{path} must have {names:,} lines, one label for each sample in "
                f"{source}, got {len(rows):,}."
            )
        titles = first if has_header else [str(i + 1) for i in range(len(first))]
        column = find_column(str(path), titles, target)
        found = rows[has_header:]
        if len(first) > 1:
            note = (
                f"{source} has no names: labels are taken from {path} in the order of "
                "its lines."
            )
    else:
        if len(first) < 2 or (len(first) > 2 and target is None):
            advice = "name the column of the labels by --target"
            if len(first) < 2:
                advice = "separate them by a comma or a tab"
            raise ValueError(
                f"{path} must have two columns, the name and the label of each sample, "
                f"got {len(first)}; {advice}."
            )
        column, has_header = _find_label_column(place, rows, set(names), target, header)
        by_name = _index_labels(place, rows[has_header:], column)
        without = [name for name in names if name not in by_name]
        if without and (required or len(without) == len(names)):
            raise ValueError(_describe_unlabeled(place, by_name, names, source))
        extra = len(by_name) - (len(names) - len(without))
        if extra:
            note = f"{path}: labels without a sample in {source}: {extra:,}, not used."
        nothing = (0, [""] * len(first))
        found = [by_name.get(name, nothing) for name in names]
    cells = [row[column] for _, row in found]
    title = first[column] if has_header else str(path)
    if not required:
        return to_labels(cells), title, note
    where, lines = f"{path}, column {column + 1}", [line for line, _ in found]
    return as_labels(cells, lines, where), title, note


def _index_labels(path: Path, rows: list[TextRow], column: int) -> dict[str, TextRow]:
    """Return the row of each sample; raise if two rows have different labels."""
    found = dict[str, TextRow]()
    for line, row in rows:
        before = found.setdefault(row[0], (line, row))
        if before[1][column] != row[column]:
            raise ValueError(
                f"{path}, line {line}: {row[0]!r} has the label {row[column]!r}, but "
                f"{before[1][column]!r} in line {before[0]}; remove one of the lines, "
                "or use --header if the first line holds titles."
            )
    return found


def _find_label_column(
    path: Path,
    rows: list[TextRow],
    known: set[str],
    target: str | None,
    header: bool | None,
) -> tuple[int, bool]:
    """Return the column of the labels, and whether the first line holds titles."""
    first = rows[0][1]
    if header is False or (header is None and first[0] in known):
        positions = [str(i + 1) for i in range(len(first))]
        return find_column(str(path), positions, target), False
    column = find_column(str(path), first, target)
    is_title = target is not None and first[column] == target
    is_label = first[column] in {row[column] for _, row in rows[1:]}
    return column, header is True or is_title or not is_label


def _describe_unlabeled(
    path: Path, found: dict[str, TextRow], names: Sequence[str], source: str
) -> str:
    """Return the message about samples without a label."""
    without = [name for name in names if name not in found]
    by_case = {name.lower(): name for name in found}
    first = next((n for n in without if n.lower() in by_case), without[0])
    advice = f"add a line for each, or remove these samples from {source}"
    if first.lower() in by_case:
        other = by_case[first.lower()]
        advice = f"it has {other!r}, which differs in upper and lower case only"
    elif len(without) == len(names):
        return (
            f"No name in {path} ({next(iter(found))!r}, ...) is a sample of {source} "
            f"({first!r}, ...); give the labels of these samples, with names in the "
            "first column."
        )
    return (
        f"{path} has no label for {len(without):,} of the {len(names):,} samples in "
        f"{source}, first {first!r}; {advice}."
    )
