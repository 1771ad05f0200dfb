"""Text files: lines read with limits, cells of csv and tsv, and header lines."""

import csv
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NamedTuple

from kreinlearn._files import check_regular
from kreinlearn._memory import available_bytes, check_bytes
from kreinlearn.io.columns import COMMA_NUMBER, MISSING_CELLS, parse_number

CELL_BYTES = 70
"""Memory of a cell of text while a table is read: a short string and its pointer."""
MAX_LINE_BYTES, LONG_LINE_BYTES = 2**27, 2**20
"""Bytes of a line: the limit, and the length from which on its cells are counted."""
MEMORY_CHECK_BYTES, MIN_FREE_FRACTION = 2**22, 0.4
"""Bytes between two checks of the free memory, and the fraction that must remain."""
BLOCK_BYTES = 2**18
"""Bytes that are read at once, at least, if no lines are asked for."""
MAX_HEADER_ROWS, MAX_HEADER_CELLS = 1000, 10**6
"""Rows and cells that are compared with a first line of words and numbers."""
DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
"""A number with a decimal comma, without separators of thousands."""
Row = tuple[int, list[str]]
"""The line in which a row begins, and its cells."""


class Dialect(NamedTuple):
    """Separators in a text file.

    Attributes
    ----------
    sep : str or None
        The character between cells; None to detect it in the first line.
    decimal : {".", ","}
        The character before decimals.
    """

    sep: str | None = None
    decimal: str = "."

    def with_tabs(self, tabs: bool) -> "Dialect":
        """Return a dialect with tabs between cells, unless another one is given."""
        return self._replace(sep="\t") if tabs and self.sep is None else self


AUTO_DIALECT = Dialect()


class GuardedFile:
    """A file, plain or gzipped, that raises before it takes all memory.

    A small compressed file may expand a thousandfold, into a single line.

    Parameters
    ----------
    path : Path
        The file; compressed if its name ends with .gz.
    """

    def __init__(self, path: Path) -> None:
        check_regular(path)
        self.path, self.lines, self._unchecked = path, 0, 0
        is_gzip = path.suffix.lower() == ".gz"
        self.stream: gzip.GzipFile | io.BufferedReader
        self.stream = gzip.open(path) if is_gzip else open(path, "rb")
        self.free = available_bytes()
        most = MAX_LINE_BYTES
        if self.free is not None:
            most = min(most, max(LONG_LINE_BYTES, self.free // 8))
        self.max_line = most

    def __enter__(self) -> "GuardedFile":
        return self

    def __exit__(self, *error: object) -> None:
        self.stream.close()

    def read_line(self) -> bytes:
        """Return the next line, empty at the end of the file."""
        with self._convert_errors():
            raw = self.stream.readline(self.max_line + 1)
        self.lines += bool(raw)
        self._check(len(raw), raw)
        return raw

    def read_block(self) -> bytes:
        """Return some of the next lines, empty at the end of the file."""
        with self._convert_errors():
            raw = self.stream.read1(BLOCK_BYTES)
            rest = b""
            if raw and not raw.endswith(b"\n"):
                rest = self.stream.readline(self.max_line + 1)
        self.lines += raw.count(b"\n") + bool(raw and not raw.endswith(b"\n"))
        self._check(len(raw) + len(rest), rest)
        return raw + rest

    def _check(self, size: int, line: bytes) -> None:
        """Raise if the last line is too long, or little memory is left."""
        where = f"{self.path}, line {self.lines}"
        if len(line) > self.max_line:
            raise ValueError(
                f"{where} is longer than {self.max_line:,} bytes, and may never end; "
                "text with one sample per line was expected."
            )
        if len(line) > LONG_LINE_BYTES:
            cells = sum(line.count(mark) for mark in b",;:\t ")
            needed = 4 * len(line) + CELL_BYTES * cells
            what = f"{where} is too long: its {cells + 1:,} cells take"
            check_bytes(needed, what, "Use fewer features.", self.free)
        self._unchecked += size
        if self._unchecked >= MEMORY_CHECK_BYTES and self.free is not None:
            self._unchecked, left = 0, available_bytes()
            if left is not None and left < MIN_FREE_FRACTION * self.free:
                raise MemoryError(
                    f"{self.path} is too large: at line {self.lines:,} {left:,} bytes "
                    f"are left of the {self.free:,} that were available; use fewer "
                    "samples, or --landmarks, which reads tables in blocks."
                )

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if "Not a gzipped file" in str(error):
                raise ValueError(
                    f"{self.path} is not compressed by gzip, though its name ends "
                    "with .gz."
                ) from None
            raise ValueError(
                f"{self.path} is damaged after line {self.lines}: it is cut off or not "
                "written by gzip; create or download it again."
            ) from None


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file with their ends, or raise with the bad one.

    Parameters
    ----------
    path : Path
        The file, compressed if its name ends with .gz. A byte order mark is skipped.
    """
    with GuardedFile(path) as file:
        yield from decode_lines(path, iter(file.read_line, b""))


def decode_lines(path: Path, lines: Iterable[bytes]) -> Iterator[str]:
    """Yield lines as text, or raise with the number of the bad one."""
    for line, raw in enumerate(lines, 1):
        where = f"{path}, line {line}: text in UTF-8 was expected, got"
        if b"\0" in raw:
            raise ValueError(f"{where} zero bytes, as in binary files and UTF-16.")
        try:
            yield raw.decode("utf-8-sig" if line == 1 else "utf-8")
        except UnicodeDecodeError as error:
            byte, place = error.object[error.start], error.start + 1
            raise ValueError(
                f"{where} byte 0x{byte:02x} at place {place}; save the file as UTF-8."
            ) from None


def read_rows(
    path: Path,
    dialect: Dialect,
    *,
    short_first: bool = False,
    prefer_tabs: bool = True,
    lines: Iterable[str] | None = None,
) -> Iterator[Row]:
    """Yield the rows of a table with the line in which each begins.

    Parameters
    ----------
    path : Path
        The file.
    dialect : Dialect
        Separators.
    short_first : bool
        Whether the first row may have one cell less than the others, as R writes it.
    prefer_tabs : bool
        Whether a tab in the first line is the separator even next to commas.
    lines : iterable of str, optional
        Lines of the file, if they have been read.

    Yields
    ------
    line : int
        From 1; blank lines are counted, but not yielded.
    row : list of str
        Cells without spaces around them, as many as in the first row; numbers with a
        decimal point.
    """
    lines = iter(read_lines(path) if lines is None else lines)
    begin: list[str] = []
    for text in lines:
        begin.append(text)
        if text.strip():
            break
    else:
        raise ValueError(
            f"{path} is empty; a table with one sample per line was expected."
        )
    if prefer_tabs:
        dialect = dialect.with_tabs("\t" in begin[-1])
    sep = choose_separator(path, begin[-1], dialect.sep)
    reader = csv.reader(
        chain(begin, lines), delimiter=sep, skipinitialspace=sep != "\t", strict=True
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
                    f"line, got {len(row)}; if cells are not separated by {sep!r}, "
                    "name their separator by --sep."
                )
            if dialect.decimal == ",":
                commas += _replace_decimal_commas(row, path, line)
            yield line, row
    except csv.Error as error:
        raise ValueError(f"{path}, line {before + 1}: {error}.") from None
    if width == 0:
        raise ValueError(f"{path} holds no cell; a table was expected.")
    if dialect.decimal == "," and not commas:
        warnings.warn(
            f"{path} holds no number with a decimal comma: --decimal had no effect.",
            UserWarning,
            stacklevel=2,
        )


def choose_separator(path: Path, line: str, given: str | None) -> str:
    r"""Return the separator of cells, or raise if the given one is not in the line.

    Parameters
    ----------
    path : Path
        The file, for the message.
    line : str
        The first line of a table.
    given : str or None
        The separator, if the user names one.

    Returns
    -------
    str
        A comma; or a tab or a semicolon if the line has these and no comma, or commas
        in numbers only; or a tab if there are at least as many of them.

    Examples
    --------
    >>> lines = "a,b;c", "a;b", "5,8;1", "a, b\tc"
    >>> [choose_separator("a.csv", line, None) for line in lines]
    [',', ';', ';', '\t']
    """
    if given is not None:
        if given not in line:
            raise ValueError(
                f"{path}: cells separated by {given!r} were expected (--sep), got the "
                f"line {line.strip()[:60]!r} without it; leave out --sep, or name the "
                "right separator."
            )
        return given
    if 0 < line.count("\t") >= line.count(","):
        return "\t"
    for mark in ("\t", ";"):
        cells = [cell.strip() for cell in line.split(mark)]
        plain = ("," not in cell or COMMA_NUMBER.fullmatch(cell) for cell in cells)
        if len(cells) > 1 and all(plain):
            return mark
    return ","


def _replace_decimal_commas(row: list[str], path: Path, line: int) -> int:
    """Replace decimal commas in place, and return their number."""
    count = 0
    for place, cell in enumerate(row):
        if DECIMAL_COMMA.fullmatch(cell):
            row[place] = cell.replace(",", ".")
            count += 1
        elif "." in cell and parse_number(cell.replace(",", "")) is not None:
            raise ValueError(
                f"{path}, line {line}: a number with a decimal comma was expected "
                f"(--decimal), got {cell!r}; leave out --decimal if decimals follow a "
                "point, and separators of thousands."
            )
    return count


class NamedRows(NamedTuple):
    """Names of columns, or positions from 1, and the rows below."""

    names: list[str]
    header: bool
    first_line: int
    rows: Iterator[Row]


def read_named_rows(
    path: Path,
    dialect: Dialect,
    header: bool | None,
    lines: Iterable[str] | None = None,
) -> NamedRows:
    """Return the names of the columns, whether the file has them, and the samples.

    Parameters
    ----------
    path : Path
        The file.
    dialect : Dialect
        Separators.
    header : bool or None
        Whether the first row holds names; None to decide by `is_header`.
    lines : iterable of str, optional
        As in `read_rows`.

    Returns
    -------
    NamedRows
        ``first_line`` is the line of the first sample, if no line in between is blank.
    """
    rows = read_rows(path, dialect, prefer_tabs=False, lines=lines)
    line, first = top = next(rows)
    if header is None:
        below = list(islice(rows, count_header_rows(first)))
        header = is_header(path, first, [row for _, row in below])
        rows = chain(below, rows)
    if not header:
        names = [str(place) for place in range(1, len(first) + 1)]
        return NamedRows(names, False, line, chain([top], rows))
    for place, name in enumerate(first, 1):
        if name in MISSING_CELLS:
            raise ValueError(
                f"{path}: column {place} of the header has no name, got "
                f"{name!r}; name it, or remove the column if it only counts the rows. "
                "A matrix has the same names in its first line and its first column, "
                "or needs --format matrix."
            )
    if len(set(first)) < len(first):
        twice = next(name for name in first if first.count(name) > 1)
        raise ValueError(
            f"{path}: the names in the header must differ, got {twice!r} "
            f"{first.count(twice)} times."
        )
    return NamedRows(first, True, line + 1, rows)


def is_header(path: Path, first: list[str], below: Iterable[list[str]]) -> bool:
    """Return whether the first row of a table holds names.

    It does if no cell of it is a number, and it does not if all are. Otherwise, as in
    ``country,2019,2020,outcome``, the rows below decide: words above numbers, or above
    other words that repeat, are names unless they also occur below.

    Parameters
    ----------
    path : Path
        The file, for the message.
    first : list of str
        The first row.
    below : iterable of list of str
        Some rows below; see `count_header_rows`.

    Returns
    -------
    bool
        Whether it does.

    Raises
    ------
    ValueError
        If both are possible.

    Examples
    --------
    >>> years = ["country", "2019", "2020"]
    >>> is_header("a.csv", years, [["Chad", "1.5", "3"], ["Peru", "2", "4"]])
    False
    >>> is_header("a.csv", [*years, "kind"], [["Chad", "1.5", "3", "0"]])
    True
    """
    words = [i for i, cell in enumerate(first) if parse_number(cell) is None]
    if count_header_rows(first) == 0:
        return bool(words)
    gaps = [i for i, cell in enumerate(first) if cell in MISSING_CELLS and (i or cell)]
    if gaps or len(set(first)) < len(first):
        return False
    columns = _known_cells(len(first), below)
    named = [i for i in words if first[i]]
    if any(first[i] in columns[i] for i in named):
        return False
    numbers = [i for i in range(len(first)) if i not in words]
    values = [float(first[i]) for i in numbers]
    is_counted = len(values) > 1 and {b - a for a, b in pairwise(values)} == {1.0}
    is_repeated = any(first[i] in columns[i] for i in numbers) and not is_counted
    above = [i for i in named if columns[i] and _are_numbers(columns[i])]
    if above and not is_repeated:
        return True
    among = [i for i in named if 0 < 2 * len(set(columns[i])) <= len(columns[i])]
    if not above and (is_repeated or not among):
        return False
    is_rising = len(values) > 2 and all(a < b for a, b in pairwise(values))
    if not above and (is_rising or all(first[i].isdigit() for i in numbers)):
        return True
    raise ValueError(
        f"{path}: the first line may hold names, as {first[(above or among)[0]]!r} is "
        f"unlike the cells below it, or a sample, as {first[numbers[0]]!r} is a "
        "number; use --header or --no-header (header=True or False)."
    )


def count_header_rows(first: list[str]) -> int:
    """Return the number of rows that `is_header` compares with the first one."""
    words = sum(parse_number(cell) is None for cell in first)
    is_mixed = 0 < words < len(first)
    most = min(MAX_HEADER_ROWS, MAX_HEADER_CELLS // len(first))
    return max(2, most) if is_mixed else 0


def _are_numbers(cells: Sequence[str]) -> bool:
    return all(parse_number(cell) is not None for cell in cells)


def _known_cells(width: int, rows: Iterable[list[str]]) -> list[list[str]]:
    """Return the cells of each column that are not missing; rows may be ragged."""
    columns: list[list[str]] = [[] for _ in range(width)]
    for row in rows:
        for column, cell in zip(columns, row, strict=False):
            if cell not in MISSING_CELLS:
                column.append(cell)
    return columns
