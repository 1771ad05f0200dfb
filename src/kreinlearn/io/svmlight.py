"""LIBSVM text: one sample per line, a label and pairs of index and value."""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn.io.table import Cells
from kreinlearn.io.text import lines_of
from kreinlearn.io.values import number

LABEL = "label"
"""Name of the column of labels, which has none in the file."""

MANY_FEATURES, EMPTY_SHARE = 10_000, 50
"""Beyond so many features, at least one in so many must occur in a file."""


def read_svmlight(path: Path, indices: Sequence[str] = ()) -> Cells:
    """Return the samples in LIBSVM text.

    Parameters
    ----------
    path : Path
        The file.
    indices : sequence of str
        Features that there are, at least, though no line has them.

    Returns
    -------
    Cells
        Features by index, from 0 if the file has an index 0, from 1 otherwise, and
        the labels last; features that a line leaves out are zero.

    Notes
    -----
    scikit-learn reads such files too, but does not say which line is bad.
    """
    labels: list[str] = []
    lines: list[int] = []
    rows, places, values = array("q"), array("q"), array("d")
    for line, content in enumerate(lines_of(path), 1):
        words = content.partition("#")[0].split()
        if not words:
            continue
        if ":" in words[0] or "," in words[0]:
            raise ValueError(
                f"{path}, line {line}: one label was expected first, got {words[0]!r}."
            )
        labels.append(words[0])
        lines.append(line)
        for place, value in _pairs(f"{path}, line {line}", words[1:]):
            rows.append(len(lines) - 1)
            places.append(place)
            values.append(value)
    if not lines:
        raise ValueError(f"{path} is empty; LIBSVM text was expected.")
    if not values and not indices:
        raise ValueError(f"{path} holds labels but no features such as 1:0.5.")
    known = [int(index) for index in (*indices[:1], *indices[-1:])]
    first = min(1, min(places, default=1), *known)
    last = max(max(places, default=1), *known, 1)
    check_fits(len(lines), last + 1 - first, float, f"The table in {path}")
    _check_filled(path, last, len(set(places)) + len(indices), len(lines))
    X = np.zeros((len(lines), last + 1 - first))
    X[np.array(rows), np.array(places) - first] = values
    names = [*(str(index) for index in range(first, last + 1)), LABEL]
    return Cells(str(path), names, [*X.T, labels], lines, header=False, labels=LABEL)


def _check_filled(path: Path, last: int, n_known: int, n_lines: int) -> None:
    """Raise if hardly any of the features occurs, each of which becomes a column."""
    if last > max(MANY_FEATURES, EMPTY_SHARE * n_known):
        raise ValueError(
            f"{path}: the largest index is {last:,}, but only {n_known:,} different "
            f"ones occur in {n_lines:,} lines, and features that no line has become "
            "columns, too; number the features that there are from 1."
        )


def _pairs(where: str, words: list[str]) -> Iterator[tuple[int, float]]:
    """Yield index and value of each feature in a line."""
    last = -1
    for word in words:
        if word.startswith("qid:"):
            continue
        index, _, cell = word.partition(":")
        value = number(cell)
        is_index = index.isascii() and index.isdigit() and len(index) < 19
        if not is_index or value is None:
            raise ValueError(
                f"{where}: an index and a number such as 3:0.5 were expected, got "
                f"{word!r}."
            )
        if int(index) <= last:
            raise ValueError(
                f"{where}: the indices must increase, got {index} after {last}."
            )
        last = int(index)
        yield last, value
