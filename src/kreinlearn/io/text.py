"""Lines of text files, plain or compressed, and the cells of tables in them."""

import csv
import gzip
import re
import warnings
import zlib
from collections.abc import Iterator
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path

from kreinlearn._files import check_regular
from kreinlearn._memory import available_bytes, check_bytes
from kreinlearn.io.headers import (
    Marks,
    delimiter_of,
    holds_names,
    rows_to_look_at,
)
from kreinlearn.io.table import Cells
from kreinlearn.io.values import MISSING, number

CELL_BYTES = 70
"""Memory that a cell takes while a table is read: a short text and a pointer to it."""
LONGEST_LINE, LONG_LINE = 2**27, 2**20
"""Bytes of a line: the most, and those from which on its cells are counted."""
LOOK_BYTES, LEAST_LEFT = 2**22, 0.4
"""Bytes between two looks at the memory, and the share of it that must be left: what is
made of the lines takes memory, too."""
Row = tuple[int, list[str]]
"""The line that a row begins in, and its cells."""
LOOK_EVERY = 10_000
"""Rows between two looks at whether the table still fits in memory."""
DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
"""A number with a decimal comma, and nothing between its thousands."""


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, or raise with the number of the bad one.

    Parameters
    ----------
    path : Path
        UTF-8 text, compressed if the name ends with .gz.

    Yields
    ------
    str
        A line with its end, without a mark of the byte order.
    """
    check_regular(path)
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    line = 0
    try:
        with opened(path, "rb") as stream:
            for line, raw in enumerate(_bounded(path, stream), 1):
                if b"\0" in raw:
                    raise ValueError(
                        f"{path}, line {line}: text in UTF-8 was expected, got zero "
                        "bytes, as in binary files and UTF-16."
                    )
                yield raw.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(
            f"{path}, line {line}: text in UTF-8 was expected, got byte "
            f"0x{byte:02x} at place {error.start + 1}; save the file as UTF-8."
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        if "Not a gzipped file" in str(error):
            raise ValueError(
                f"{path} is not compressed by gzip, though its name ends with .gz."
            ) from None
        raise ValueError(
            f"{path} is damaged after line {line}: it is cut off or not what gzip "
            "wrote; make or download it again."
        ) from None


def _bounded(path: Path, stream: gzip.GzipFile | BufferedReader) -> Iterator[bytes]:
    """Yield lines, and raise before one of them, or all, take the memory there is.

    What is compressed may be a thousand times as long as the file, in one line.
    """
    free = available_bytes()
    most = LONGEST_LINE
    if free is not None:
        most = min(most, max(LONG_LINE, free // 8))
    line = unseen = 0
    while raw := stream.readline(most + 1):
        line += 1
        unseen += len(raw)
        if len(raw) > most:
            raise ValueError(
                f"{path}, line {line} is longer than {most:,} bytes, and may never "
                "end; text with one sample in a line was expected."
            )
        if len(raw) > LONG_LINE:
            cells = sum(raw.count(mark) for mark in b",;:\t ")
            what = f"{path}, line {line} is too long: its {cells + 1:,} cells take"
            needed = 4 * len(raw) + CELL_BYTES * cells
            check_bytes(needed, what, "Use fewer features.", free)
        if unseen >= LOOK_BYTES:
            unseen, left = 0, available_bytes()
            if free is not None and left is not None and left < LEAST_LEFT * free:
                raise MemoryError(
                    f"{path} is too large: at line {line:,} {left:,} bytes are left of "
                    f"the {free:,} that were available; use fewer samples, or "
                    "--landmarks, which reads tables in blocks."
                )
        yield raw


def has_tabs(path: Path) -> bool:
    """Tell whether the first line that is not blank has a tab in it."""
    return any("\t" in line for line in islice(filter(str.strip, lines_of(path)), 1))


def rows_of(path: Path, marks: Marks, short_first: bool = False) -> Iterator[Row]:
    """Yield the rows of a table with the line that each begins in.

    Parameters
    ----------
    path : Path
        The file.
    marks : Marks
        What separates cells and decimals; if not said, `delimiter_of` tells by the
        first line what separates cells.
    short_first : bool
        Whether the first row may have one cell less than the others, as R writes it.

    Yields
    ------
    line : int
        From 1; blank lines are counted, but not yielded.
    row : list of str
        Cells without spaces around them, as many as in the first row; numbers with a
        decimal point.
    """
    lines = lines_of(path)
    begin: list[str] = []
    for text in lines:
        begin.append(text)
        if text.strip():
            break
    else:
        raise ValueError(
            f"{path} is empty; a table with one sample per line was expected."
        )
    mark = _separator(path, begin[-1], marks.sep)
    reader = csv.reader(
        chain(begin, lines),
        delimiter=mark,
        skipinitialspace=mark != "\t",
        strict=True,
    )
    width, before, is_second = 0, 0, False
    commas = 0
    try:
        for raw in reader:
            line, before = before + 1, reader.line_num
            row = [cell.strip() for cell in raw]
            if row in ([], [""]):
                continue
            if is_second and short_first and len(row) == width + 1:
                width += 1
            is_second = width == 0
            width = width or len(row)
            if len(row) != width:
                raise ValueError(
                    f"{path}, line {line}: {width} cells were expected as in the first "
                    f"line, got {len(row)}; if cells are not separated by {mark!r}, "
                    "--sep says by what."
                )
            if marks.decimal == ",":
                commas += _put_points(row, path, line)
            yield line, row
    except csv.Error as error:
        raise ValueError(f"{path}, line {before + 1}: {error}.") from None
    if width == 0:
        raise ValueError(f"{path} holds no cell; a table was expected.")
    if marks.decimal == "," and not commas:
        warnings.warn(
            f"{path} holds no number with a decimal comma: --decimal had no effect.",
            UserWarning,
            stacklevel=2,
        )


def _separator(path: Path, line: str, said: str | None) -> str:
    """Return what separates cells, or raise if what is said of it cannot be."""
    if said is None:
        return delimiter_of(line, False)
    if said not in line:
        raise ValueError(
            f"{path}: cells separated by {said!r} were expected (--sep), got the line "
            f"{line.strip()[:60]!r} without it; leave out --sep, or name what "
            "separates them."
        )
    return said


def _put_points(row: list[str], path: Path, line: int) -> int:
    """Write numbers with a decimal point in place, and return how many there were."""
    count = 0
    for place, cell in enumerate(row):
        if DECIMAL_COMMA.fullmatch(cell):
            row[place] = cell.replace(",", ".")
            count += 1
        elif "." in cell and number(cell.replace(",", "")) is not None:
            raise ValueError(
                f"{path}, line {line}: a number with a decimal comma was expected "
                f"(--decimal), got {cell!r}; leave out --decimal if decimals follow a "
                "point, and what separates thousands."
            )
    return count


def read_text(path: Path, marks: Marks, header: bool | None) -> Cells:
    """Return the cells of a table of text.

    Parameters
    ----------
    path : Path
        The file.
    marks : Marks
        As in `rows_of`.
    header : bool or None
        Whether the first row holds names; None to decide by `holds_names`.

    Returns
    -------
    Cells
        Its columns as text; without a header they are named by position, from 1.
    """
    rows = rows_of(path, marks)
    names, has_header, rows = named_rows(path, rows, header)
    lines: list[int] = []
    cells: list[list[str]] = []
    free = available_bytes()
    for at, row in rows:
        lines.append(at)
        cells.append(row)
        if len(lines) % LOOK_EVERY == 0:
            rows_read = f"{len(lines):,} rows of {len(row):,} cells"
            needed = CELL_BYTES * len(lines) * len(row)
            what = f"{path} is too large: its first {rows_read} take"
            check_bytes(needed, what, "Use fewer samples.", free)
    columns: list[tuple[str, ...]] = list(zip(*cells, strict=True))
    return Cells(str(path), names, columns, lines, has_header)


def names_of(path: Path, marks: Marks, header: bool | None) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether they are in the file."""
    return named_rows(path, rows_of(path, marks), header)[:2]


def named_rows(
    path: Path, rows: Iterator[Row], header: bool | None
) -> tuple[list[str], bool, Iterator[Row]]:
    """Return names, or positions from 1, whether they are in the file, and samples.

    Parameters
    ----------
    path : Path
        The file, for messages.
    rows : iterator
        What `rows_of` yields.
    header : bool or None
        Whether the first row holds names; None to decide by `holds_names`.

    Returns
    -------
    names : list of str
        One per column.
    has_header : bool
        Whether they are in the file.
    rows : iterator
        The rows that hold samples.
    """
    top = next(rows)
    first = top[1]
    if header is None:
        below = list(islice(rows, rows_to_look_at(first)))
        header = holds_names(path, first, [row for _, row in below])
        rows = chain(below, rows)
    if not header:
        names = [str(place) for place in range(1, len(first) + 1)]
        return names, False, chain([top], rows)
    for place, name in enumerate(first, 1):
        if name in MISSING:
            raise ValueError(
                f"{path}: column {place} of the header has no name, got "
                f"{name!r}; name it, or remove the column if it only counts the rows; "
                "a matrix with names of samples has the same names in its first line "
                "and its first column, or is called one by --format matrix."
            )
    return first, True, rows
