"""What only all rows of a table tell: which columns are text, and what labels are."""

from collections.abc import Sequence

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.table import Cells
from kreinlearn.io.values import (
    MISSING,
    NEARLY_ALL,
    CellColumn,
    all_numbers,
    check_class_values,
    check_no_comma_numbers,
    number,
    plain_labels,
    text_labels,
)


class Kinds:
    """Which columns are text: those that are hardly numbers in the whole file."""

    def __init__(self, names: Sequence[str]) -> None:
        self.known = dict.fromkeys(names, 0)
        self.numbers = dict.fromkeys(names, 0)

    def see(self, cells: Cells) -> None:
        """Count the cells of a block that are known, and those that are numbers."""
        for name in self.known:
            column = [str(cell) for cell in column_of(cells, name)]
            if all_numbers(column) is not None:
                known = numbers = len(column)
            else:
                check_no_comma_numbers(column, cells.path, name, cells.lines)
                parsed = [number(cell) for cell in column if cell not in MISSING]
                known, numbers = len(parsed), sum(p is not None for p in parsed)
            self.known[name] += known
            self.numbers[name] += numbers

    def words(self) -> set[str]:
        """Return the columns that are text."""
        return {
            name
            for name, known in self.known.items()
            if self.numbers[name] < NEARLY_ALL * known
        }


class Labels:
    """The labels of all rows: of one kind, which only all of them tell."""

    def __init__(self, where: str) -> None:
        self.where, self.counts = where, dict[str | int | float, int]()

    def see(self, column: CellColumn, cells: Cells) -> None:
        """Count labels; raise if one is missing."""
        found = self._plain(column)
        unknown = found == "" if found.dtype.kind == "U" else ~np.isfinite(found)
        if unknown.any():
            line = cells.lines[int(unknown.argmax())]
            raise ValueError(
                f"{self.where} has no label in {cells.unit} {line}; every sample needs "
                "one to learn from."
            )
        values, counts = np.unique(found, return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            self.counts[value] = self.counts.get(value, 0) + count

    def settle(self) -> tuple[Array, Array]:
        """Return all labels, sorted, and their counts; raise unless they are classes.

        Until then nobody knows whether "1" is a number or a word.
        """
        written = list(self.counts)
        is_text = isinstance(written[0], str)
        values = plain_labels(list(map(str, written))) if is_text else np.array(written)
        self.values, place = np.unique(values, return_inverse=True)
        self.place = dict(zip(written, place.ravel().tolist(), strict=True))
        counts = np.bincount(place.ravel(), list(self.counts.values())).astype(int)
        check_class_values(self.values, int(counts.sum()), self.where)
        return self.values, counts

    def of(self, column: CellColumn) -> Array:
        """Return the labels of a block."""
        written, index = np.unique(self._plain(column), return_inverse=True)
        try:
            place = [self.place[value] for value in written.tolist()]
        except KeyError as error:
            raise ValueError(
                f"{self.where} changed while it was read: the label {error} was not "
                "there before."
            ) from None
        return self.values[np.array(place)[index.ravel()]]

    def _plain(self, column: CellColumn) -> Array:
        if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
            return plain_labels(column)
        return text_labels(column)


def column_of(cells: Cells, name: str) -> CellColumn:
    """Return the cells of a column."""
    return cells.columns[cells.names.index(name)]
