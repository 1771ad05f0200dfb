"""Matrices in the format of PHYLIP: square, or the triangle below or above."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.io.named import Named, as_scores
from kreinlearn.io.text import lines_of
from kreinlearn.io.values import is_count

STRICT = 10
"""Letters that a name takes where names may hold spaces."""


@dataclass
class _Row:
    """The lines of a sample."""

    line: int
    text: str
    more: list[str]

    def split(self, is_strict: bool) -> tuple[str, list[str]]:
        """Return name and cells; the name is a word, or the first ten letters."""
        if is_strict:
            return self.text[:STRICT].strip(), self.text[STRICT:].split() + self.more
        name, *cells = self.text.split()
        return name, cells + self.more


def read_phylip(path: Path) -> Named:
    """Return the matrix in a file of PHYLIP.

    Parameters
    ----------
    path : Path
        The number of samples in the first line; then, for each sample, its name and
        its row, or the part of the row before or after the diagonal, with or without
        that. Rows may go on in lines that begin with a space.

    Returns
    -------
    Named
        With NaN where the file has no number: a triangle has one for each pair.
    """
    n, rows = _rows(path)
    check_fits(n, n, float, str(path))
    # A name is a word. Only where this cannot be are names ten letters with spaces.
    for is_strict in (False, True):
        parts = [row.split(is_strict) for row in rows]
        lengths = [len(cells) for _, cells in parts]
        names = [name for name, _ in parts]
        starts = _starts(n, lengths)
        if starts is not None and len(set(names)) == n and "" not in names:
            return Named(str(path), names, list(names), _filled(path, rows, parts, n))
    raise ValueError(_misfit(path, rows, n))


def _rows(path: Path) -> tuple[int, list[_Row]]:
    """Return the number of samples, and the lines of each."""
    n, rows = 0, list[_Row]()
    for line, text in enumerate(lines_of(path), 1):
        words = text.split()
        if not words:
            continue
        if n == 0:
            if len(words) > 1 or not is_count(words[0]) or int(words[0]) < 2:
                raise ValueError(
                    f"{path}, line {line}: the number of samples was expected, at "
                    f"least 2 and alone in its line, got {text.strip()[:40]!r}; two "
                    "numbers would begin an alignment of sequences, which holds no "
                    "distances."
                )
            n = int(words[0])
        elif text[0].isspace() and rows and all(map(_is_number, words)):
            rows[-1].more += words
        else:
            rows.append(_Row(line, text.rstrip(), []))
    if len(rows) != n or n == 0:
        raise ValueError(
            f"{path}: {n or 'some'} samples were expected, as its first line says, got "
            f"{len(rows)}; is the file cut off?"
        )
    return n, rows


def _starts(n: int, lengths: list[int]) -> list[int] | None:
    """Return in which column each row begins, or None if rows are of other lengths."""
    places = list(range(n))
    if lengths in ([n] * n, places, [i + 1 for i in places]):
        return [0] * n
    for diagonal in (0, 1):
        if lengths == [n - 1 - i + diagonal for i in places]:
            return [i + 1 - diagonal for i in places]
    return None


def _filled(
    path: Path, rows: list[_Row], parts: list[tuple[str, list[str]]], n: int
) -> Array:
    """Return the matrix of all rows, with NaN where they have nothing."""
    values = np.full((n, n), np.nan)
    names = [name for name, _ in parts]
    starts = _starts(n, [len(cells) for _, cells in parts]) or []
    for i, ((_, cells), start, row) in enumerate(zip(parts, starts, rows, strict=True)):
        stop = start + len(cells)
        where = f"{path}, line {row.line}"
        values[i, start:stop] = as_scores(cells, names[start:stop], where)
    return values


def _misfit(path: Path, rows: list[_Row], n: int) -> str:
    """Return the sentence about rows that make no matrix."""
    parts = [row.split(False) for row in rows]
    seen = dict[str, int]()
    begin = {n: [n] * n, 0: list(range(n)), 1: list(range(1, n + 1))}
    expected = begin.get(len(parts[0][1]), [n] * n)
    for (name, cells), row, length in zip(parts, rows, expected, strict=True):
        if len(cells) != length:
            return (
                f"{path}, line {row.line}: {length} numbers were expected after the "
                f"name {name!r}, as in a matrix or triangle of {n} samples, got "
                f"{len(cells)}; names with spaces must be {STRICT} letters long."
            )
        if name in seen:
            return (
                f"{path}, line {row.line}: names must differ, got {name!r} in line "
                f"{seen[name]} as well; rename one of them."
            )
        seen[name] = row.line
    return f"{path} is not a matrix of PHYLIP; the rows have too few or many numbers."


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
