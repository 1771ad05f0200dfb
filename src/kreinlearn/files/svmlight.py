"""LIBSVM text: a label and pairs of index and value a line."""

from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn.files.table import Table, build, number
from kreinlearn.files.text import lines_of


def read_svmlight(
    path: Path, *, labels: bool = True, names: Sequence[str] = ()
) -> Table:
    """Return the samples in LIBSVM text.

    Parameters
    ----------
    path : Path
        The file.
    labels : bool
        Whether the labels must be good to learn from.
    names : sequence of str
        Indices that there are, at least, though lines leave them out.

    Returns
    -------
    Table
        Features by index, from 0 if the file has an index 0, from 1 otherwise; those
        that a line leaves out are zero.

    Notes
    -----
    scikit-learn reads such files too, but does not say which line is bad.
    """
    first_words: list[str] = []
    lines: list[int] = []
    rows, indices, values = array("q"), array("q"), array("d")
    for line, content in enumerate(lines_of(path), 1):
        words = content.partition("#")[0].split()
        if not words:
            continue
        if ":" in words[0] or "," in words[0]:
            raise ValueError(
                f"{path}, line {line}: one label was expected first, got {words[0]!r}."
            )
        first_words.append(words[0])
        lines.append(line)
        last = -1
        for word in words[1:]:
            if word.startswith("qid:"):
                continue
            index, _, cell = word.partition(":")
            value = number(cell)
            is_index = index.isascii() and index.isdigit() and len(index) < 19
            if not is_index or value is None:
                raise ValueError(
                    f"{path}, line {line}: an index and a number such as 3:0.5 were "
                    f"expected, got {word!r}."
                )
            if int(index) <= last:
                raise ValueError(
                    f"{path}, line {line}: the indices must increase, got {index} "
                    f"after {last}."
                )
            last = int(index)
            rows.append(len(lines) - 1)
            indices.append(last)
            values.append(value)
    if not lines:
        raise ValueError(f"{path} is empty; LIBSVM text was expected.")
    if not values and not names:
        raise ValueError(f"{path} holds labels but no features such as 1:0.5.")
    first, largest = min(indices, default=1), max(indices, default=1)
    first = min(first, 1)
    if names:
        first, largest = min(first, int(names[0])), max(largest, int(names[-1]))
    width = largest + 1 - first
    check_fits(len(lines), width, float, f"The table in {path}")
    X = np.zeros((len(lines), width))  # those that a line leaves out are zero
    X[np.array(rows), np.array(indices) - first] = values
    return build(
        str(path),
        [*(str(index) for index in range(first, largest + 1)), "label"],
        [*X.T, first_words],
        lines,
        target="label",
        header=False,
        labels=labels,
    )
