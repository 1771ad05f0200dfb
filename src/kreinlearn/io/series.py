"""Time series in text: files of aeon (.ts), and lines of the UCR archive.

A series is an array of values or, with several channels, a tuple of arrays.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.columns import (
    MISSING_CELLS,
    find_column,
    is_count,
    parse_number,
    parse_numbers,
)
from kreinlearn.io.errors import check_file, name_file
from kreinlearn.io.labels import to_labels
from kreinlearn.io.text import count_header_rows, is_header, read_lines

Series = Array | tuple[Array, ...]
PADDING_CELLS = frozenset({"", "nan", "NaN", "NAN"})
"""Cells at the end of a line of the UCR archive whose series is shorter."""


class SeriesText(NamedTuple):
    """Series of a file, the labels as they are written, if any, and their lines."""

    items: list[Series]
    labels: list[str] | None
    lines: list[int]


@name_file
def read_ts(path: str | os.PathLike[str]) -> tuple[list[Series], Array | None]:
    r"""Return the series in a file of aeon or sktime, and their labels.

    Parameters
    ----------
    path : path-like
        Text, compressed if the name ends with .gz: a header whose lines start with
        ``@``, the last of them ``@data``, and then a series in each line, with commas
        between values, colons between channels, and the label after the last colon.

    Returns
    -------
    series : list
        One item per series: an array, or for several channels a tuple of arrays.
        Lengths may differ.
    y : ndarray of shape (n_series,) or None
        Labels: whole numbers if all are, numbers if all are, text otherwise; None
        without ``@classLabel true``.

    Raises
    ------
    ValueError, OSError
        With the file and the line: a missing value (``?``), channels of
        different lengths or numbers, time stamps, or a contradiction to the header.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kreinlearn.io import read_ts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.ts")
    ...     _ = path.write_text("@classLabel true a b\n@data\n1,2:3,4:a\n5:6:b\n")
    ...     read_ts(path)[1]
    array(['a', 'b'], dtype='<U1')
    """
    found = read_ts_text(check_file(path, "a file of series"))
    return found.items, None if found.labels is None else to_labels(found.labels)


@name_file
def read_ucr(
    path: str | os.PathLike[str],
    target: str | None = None,
    header: bool | None = None,
) -> tuple[list[Series], Array | None]:
    r"""Return the series in a file of the UCR archive, and their labels.

    Parameters
    ----------
    path : path-like
        Text, compressed if the name ends with .gz: in each line a label and the values
        of a series, with tabs, commas or blanks between them. NaN at the end of a line
        is padding.
    target : str, optional
        Name or position (from 1; -1 is the last) of the label in a line; the first by
        default.
    header : bool, optional
        Whether the first line holds names; as in `kreinlearn.io.read`.

    Returns
    -------
    series : list of ndarray
        One item per series; lengths may differ.
    y : ndarray of shape (n_series,) or None
        Labels: whole numbers if all are, numbers if all are, text otherwise. None if
        ``target`` is a name that the header lacks.

    Raises
    ------
    ValueError, OSError
        With the file and the line at fault.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kreinlearn.io import read_ucr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.tsv")
    ...     _ = path.write_text("1\t0.5\t0.25\n2\t1.5\tNaN\n")
    ...     read_ucr(path)
    ([array([0.5 , 0.25]), array([1.5])], array([1, 2]))
    """
    found = read_ucr_text(check_file(path, "a file of series"), target, header)
    return found.items, None if found.labels is None else to_labels(found.labels)


def read_ts_text(path: Path) -> SeriesText:
    """Return the series of a .ts file with their lines; as `read_ts`."""
    tags: dict[str, list[str]] | None = {}
    known: dict[str, list[str]] = {}
    found = SeriesText([], None, [])
    for line, text in _read_filled_lines(path, "#%"):
        if tags is not None:
            if not text.startswith("@"):
                raise ValueError(
                    f"{path}, line {line}: a line of the header such as '@data' was "
                    f"expected before the first series, got {text[:20]!r}."
                )
            tag, *words = text[1:].split() or [""]
            tags[tag.lower()] = words
            if tag.lower() == "data":
                known, tags = tags, None
                _check_header(path, known)
                found = SeriesText(
                    [], [] if _is_true(known, "classlabel") else None, []
                )
            continue
        parts = text.split(":")
        if found.labels is not None:
            found.labels.append(_take_label(path, line, parts, known["classlabel"][1:]))
        channels = tuple(
            _parse_values(path, line, [cell.strip() for cell in part.split(",")], c)
            for c, part in enumerate(parts, 1)
        )
        _check_channels(path, line, channels, found, known)
        found.items.append(channels if len(channels) > 1 else channels[0])
        found.lines.append(line)
    if not found.items:
        raise ValueError(
            f"{path} holds no series; one in each line after '@data' was expected."
        )
    return found


def read_ucr_text(
    path: Path, target: str | None = None, header: bool | None = None
) -> SeriesText:
    """Return the series of a file of the UCR archive; as `read_ucr`."""
    names: list[str] | None = None
    found = SeriesText([], [], [])
    has_labels = True
    texts = _read_filled_lines(path, "")
    top = list(islice(texts, 1))
    ahead = count_header_rows(_split_cells(top[0][1])) if top and header is None else 0
    begin = [*top, *islice(texts, ahead)]
    for line, text in chain(begin, texts):
        cells = _split_cells(text)
        if names is None:
            below = (_split_cells(text) for _, text in begin[1:])
            has_names = is_header(path, cells, below) if header is None else header
            names = cells if has_names else []
            has_labels = not (names and target is not None) or _has_column(
                names, target
            )
            if has_names:
                continue
        if has_labels:
            titles = names or [str(place + 1) for place in range(len(cells))]
            place = 0 if target is None else find_column(str(path), titles, target)
            assert found.labels is not None
            found.labels.append(cells.pop(place))
        while cells and cells[-1] in PADDING_CELLS:
            del cells[-1]
        found.items.append(_parse_values(path, line, cells))
        found.lines.append(line)
    if not found.items:
        raise ValueError(
            f"{path} holds no series; a label and values in each line were expected."
        )
    return found if has_labels else found._replace(labels=None)


def count_channels(series: Series) -> int:
    """Return the number of channels of a series."""
    return len(series) if isinstance(series, tuple) else 1


def count_times(series: Series) -> int:
    """Return the number of times of a series."""
    return len(series[0] if isinstance(series, tuple) else series)


def _read_filled_lines(path: Path, comments: str) -> Iterator[tuple[int, str]]:
    """Yield lines that hold something, with their numbers."""
    for line, content in enumerate(read_lines(path), 1):
        text = content.strip("\r\n ")
        if text.strip() and text[0] not in comments:
            yield line, text


def _split_cells(text: str) -> list[str]:
    """Return the cells of a line with tabs, commas or blanks."""
    mark = "\t" if "\t" in text else "," if "," in text else None
    return [cell.strip() for cell in text.split(mark)]


def _has_column(names: Sequence[str], target: str) -> bool:
    """Return whether a column has this name, or the target is a position."""
    return target in names or target.lstrip("-").isdigit()


def _is_true(tags: dict[str, list[str]], tag: str) -> bool:
    return [word.lower() for word in tags.get(tag, [])[:1]] == ["true"]


def _check_header(path: Path, tags: dict[str, list[str]]) -> None:
    """Raise if a file holds what we do not read."""
    if _is_true(tags, "timestamps"):
        raise ValueError(
            f"{path} has time stamps (@timeStamps true), which are not read; give "
            "series of values at equal steps, with @timeStamps false."
        )
    if _is_true(tags, "targetlabel"):
        raise ValueError(
            f"{path} has numbers to predict (@targetLabel true); labels of classes "
            "(@classLabel true) are needed."
        )


def _take_label(path: Path, line: int, parts: list[str], classes: list[str]) -> str:
    """Take the label from the end of a line, and return it."""
    if len(parts) < 2:
        raise ValueError(
            f"{path}, line {line}: a label was expected after the last colon, as "
            "in @classLabel true, got no colon; add the label, or ? if it is not known."
        )
    label = parts.pop().strip()
    if classes and label not in classes and label not in MISSING_CELLS:
        raise ValueError(
            f"{path}, line {line}: the label {label!r} is none of those that "
            f"@classLabel lists, {', '.join(classes)}; correct it, or add it there."
        )
    return label


def _parse_values(path: Path, line: int, cells: list[str], channel: int = 1) -> Array:
    """Return the values of one channel, all of them finite numbers, or raise."""
    values = parse_numbers(cells) if cells else None
    if values is not None and np.isfinite(values).all():
        return values
    of_channel = f" of channel {channel}" if channel > 1 else ""
    if not any(cells):
        raise ValueError(
            f"{path}, line {line}: the series has no values{of_channel}; leave it out."
        )
    place = next(
        i
        for i, cell in enumerate(cells)
        if (value := parse_number(cell)) is None or not np.isfinite(value)
    )
    where = f"{path}, line {line}: the value at time {place + 1}{of_channel}"
    if cells[place] in MISSING_CELLS or cells[place].lower() == "nan":
        raise ValueError(
            f"{where} is missing ({cells[place]!r}); fill the gap, or leave the series "
            "out."
        )
    raise ValueError(f"{where} must be a finite number, got {cells[place]!r}.")


def _check_channels(
    path: Path,
    line: int,
    channels: tuple[Array, ...],
    found: SeriesText,
    tags: dict[str, list[str]],
) -> None:
    """Raise unless channels are as many as before, equally long, as in the header."""
    lengths = [len(channel) for channel in channels]
    expected, why = len(channels), ""
    if is_count("".join(tags.get("dimensions", [])[:1])):
        expected, why = int(tags["dimensions"][0]), "as @dimensions requires"
    elif found.items:
        expected, why = count_channels(found.items[0]), f"as in line {found.lines[0]}"
    if len(channels) != expected:
        raise ValueError(
            f"{path}, line {line}: {expected} channel{'s' * (expected > 1)} "
            f"{'were' if expected > 1 else 'was'} expected, {why}, got "
            f"{len(channels)}; is a colon or the label missing?"
        )
    if len(set(lengths)) > 1:
        listed = ", ".join(map(str, lengths))
        raise ValueError(
            f"{path}, line {line}: channels of a series must be equally long, got "
            f"{listed} values; cut them, or fill the gaps."
        )
    size = "".join(tags.get("serieslength", [])[:1])
    if _is_true(tags, "equallength") and is_count(size) and lengths[0] != int(size):
        raise ValueError(
            f"{path}, line {line}: {size} values were expected, as in @seriesLength, "
            f"got {lengths[0]}; correct the line, or use @equalLength false."
        )
