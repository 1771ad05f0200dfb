"""Labels in a file of their own, by the name of the sample."""

from collections.abc import Sequence
from pathlib import Path

from kreinlearn._typing import Array
from kreinlearn.io.columns import place_of
from kreinlearn.io.headers import AS_SEEN
from kreinlearn.io.text import has_tabs, rows_of
from kreinlearn.io.values import as_labels

Row = tuple[int, list[str]]


def read_labels(
    path: str | Path, names: Sequence[str], source: str, target: str | None = None
) -> tuple[Array, str]:
    """Return the labels of samples, which a file lists in any order.

    Parameters
    ----------
    path : path-like
        csv or tsv, plain or compressed: names of samples in the first column, labels
        in the second, or in the one that ``target`` names.
    names : sequence of str
        The samples, each of which needs one label.
    source : str
        The file they come from, for messages.
    target : str, optional
        Name or position of the column of labels, if there are more than two.

    Returns
    -------
    y : ndarray of shape (n_samples,)
        Labels in the order of ``names``, checked.
    target : str
        The name of their column or, without one, of the file.
    """
    place = Path(path)
    if place.is_dir() or not place.exists():
        raise FileNotFoundError(
            f"There is no file {path}; --labels names a file with the name and the "
            "label of each sample."
        )
    rows = list(rows_of(place, AS_SEEN.with_tabs(has_tabs(place))))
    width = len(rows[0][1])
    if width < 2 or (width > 2 and target is None):
        advice = "name that of the labels as the target (--target on the command line)"
        if width < 2:
            advice = "separate them by a comma or a tab"
        raise ValueError(
            f"{path} must have two columns, the name and the label of each sample, got "
            f"{width}; {advice}."
        )
    column, has_header = _column(place, rows, set(names), target)
    title = rows[0][1][column] if has_header else str(path)
    found = _by_name(place, rows[has_header:], column)
    _check_same(place, found, names, source)
    cells = [found[name][1] for name in names]
    lines = [found[name][0] for name in names]
    return as_labels(cells, lines, f"{path}, column {column + 1}"), title


def _column(
    path: Path, rows: list[Row], known: set[str], target: str | None
) -> tuple[int, bool]:
    """Return where the labels are, and whether the first line holds titles.

    It does if it names no sample and its label is that of no other line.
    """
    first = rows[0][1]
    if first[0] in known:
        positions = [str(i + 1) for i in range(len(first))]
        return place_of(str(path), positions, target), False
    column = place_of(str(path), first, target)
    is_name = target is not None and first[column] == target
    is_label = first[column] in {row[column] for _, row in rows[1:]}
    return column, is_name or not is_label


def _by_name(path: Path, rows: list[Row], column: int) -> dict[str, tuple[int, str]]:
    """Return line and label of each sample, or raise if one has two labels."""
    found = dict[str, tuple[int, str]]()
    for line, row in rows:
        before = found.setdefault(row[0], (line, row[column]))
        if before[1] != row[column]:
            raise ValueError(
                f"{path}, line {line}: {row[0]!r} has the label {row[column]!r}, but "
                f"{before[1]!r} in line {before[0]}; remove one of the lines."
            )
    return found


def _check_same(
    path: Path, found: dict[str, tuple[int, str]], names: Sequence[str], source: str
) -> None:
    """Raise if a sample has no label, or a label no sample."""
    without = [name for name in names if name not in found]
    if without:
        raise ValueError(
            f"{path} has no label for {len(without):,} of the {len(names):,} samples "
            f"in {source}, first {without[0]!r}; add a line for each, or remove these "
            f"samples from {source}."
        )
    known = set(names)
    unknown = [name for name in found if name not in known]
    if unknown:
        line = found[unknown[0]][0]
        raise ValueError(
            f"{path}, line {line}: {unknown[0]!r} is no sample in {source}, and "
            f"{len(unknown):,} of {len(found):,} samples are not; remove their lines, "
            f"or add these samples to {source}."
        )
