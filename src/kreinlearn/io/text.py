"""Text files: errors that name them, lines read with limits, rows, header lines."""

import csv
import functools
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from weakref import finalize

from kreinlearn._files import PathName, check_regular, first_line
from kreinlearn._memory import available_bytes, check_bytes

MISSING_CELLS = frozenset({"", "NA", "N/A", "nan", "NaN", "null", "None", "?"})
"""Cells that stand for a missing value."""
COMMA_NUMBER = re.compile(r"[+-]?\d+(\.\d{3})*,\d+([eE][+-]?\d+)?")
"""A number with a decimal comma, or with a comma between thousands."""
DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
"""A number with a decimal comma, without separators of thousands."""
CELL_BYTES = 70
"""Memory of a cell of text while a table is read: a short string and its pointer."""
MAX_LINE_BYTES, LONG_LINE_BYTES = 2**27, 2**20
"""Bytes of a line: the limit, and the length from which on its cells are counted."""
MEMORY_CHECK_BYTES, MIN_FREE_FRACTION = 2**22, 0.4
"""Bytes between two checks of the free memory, and the fraction that must remain."""
READ_BYTES = 2**18
"""Bytes that are read at once, at least."""
MAX_HEADER_ROWS, MAX_HEADER_CELLS = 1000, 10**6
"""Rows and cells that are compared with a first line of words and numbers."""
ReaderParams = ParamSpec("ReaderParams")
ReaderResult = TypeVar("ReaderResult")
TextRow = tuple[int, list[str]]
"""The line in which a row begins, and its cells."""


@contextmanager
def convert_errors(path: str | Path, kind: str) -> Iterator[None]:
    """Convert any exception about a damaged file to a ValueError that names it.

    Parameters
    ----------
    path : path-like
        The file.
    kind : str
        The format that it violates, as in "not a parquet table".
    """
    try:
        with warnings.catch_warnings():  # about array headers of Python 2
            warnings.simplefilter("ignore", UserWarning)
            yield
    except MemoryError:
        raise
    except Exception as error:  # NumPy, zipfile and Arrow raise many types
        reason = "".join(c if c.isprintable() else "?" for c in first_line(error))
        raise ValueError(
            f"{path} is damaged or {kind}: {reason[:200].rstrip('.')}."
        ) from None


def name_file(
    reader: Callable[ReaderParams, ReaderResult],
) -> Callable[ReaderParams, ReaderResult]:
    """Decorate a reader: each MemoryError names the file, its first argument."""

    @functools.wraps(reader)
    def run(*args: ReaderParams.args, **options: ReaderParams.kwargs) -> ReaderResult:
        try:
            return reader(*args, **options)
        except MemoryError as error:
            path = args[0] if args else options.get("path", "The file")
            if str(path) in str(error):
                raise
            reason = str(error) or "use fewer samples, or a machine with more of it"
            raise MemoryError(
                f"{path} is too large for the available memory: {reason.rstrip('.')}."
            ) from None

    return run


def check_file(path: PathName, expected: str) -> Path:
    """Return the path of a file that exists, or raise.

    Parameters
    ----------
    path : path-like
        The file.
    expected : str
        Its expected content, for the message about folders.
    """
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a folder; {expected} was expected.")
    if not place.exists():
        folder = place.parent
        names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
        near = get_close_matches(place.name, names, 1)
        hint = f" Did you mean {folder / near[0]}?" if near else ""
        raise FileNotFoundError(f"There is no file {path}.{hint}")
    return place


def quote_names(names: Iterable[str], most: int = 5) -> str:
    """Return the first names in quotes, and the number of others."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - most} more" if len(quoted) > most else ""
    return ", ".join(quoted[:most]) + more


def parse_number(cell: str) -> float | None:
    """Return the number in a cell, exactly, or None for text and missing values.

    Examples
    --------
    >>> [parse_number(cell) for cell in ("1e-3", "red", "nan", "1_000")]
    [0.001, None, None, None]
    """
    if cell in MISSING_CELLS or "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def are_numbers(cells: Iterable[str]) -> bool:
    """Return whether all cells are numbers."""
    return all(parse_number(cell) is not None for cell in cells)


class GuardedFile:
    """A file, plain or gzipped, that raises before it takes all memory.

    A small compressed file may expand a thousandfold, into a single line. Iteration
    yields its lines as bytes.

    Parameters
    ----------
    path : Path
        The file; compressed if its name ends with .gz.
    """

    def __init__(self, path: Path) -> None:
        check_regular(path)
        self.path, self.lines, self._unchecked = path, 0, 0
        is_gzip = path.suffix.lower() == ".gz"
        self.stream: Any
        self.stream = gzip.open(path) if is_gzip else open(path, "rb", READ_BYTES)
        finalize(self, self.stream.close)  # also if a reader raises
        self.free = available_bytes()
        self.max_line = MAX_LINE_BYTES
        if self.free is not None:
            self.max_line = min(MAX_LINE_BYTES, max(LONG_LINE_BYTES, self.free // 8))

    def __iter__(self) -> Iterator[bytes]:
        for block in iter(self.read_block, b""):
            yield from io.BytesIO(block)

    def read_block(self) -> bytes:
        """Return some of the next lines, empty at the end of the file."""
        try:
            raw, rest = self.stream.read1(READ_BYTES), b""
            is_cut = bool(raw) and not raw.endswith(b"\n")
            if is_cut:
                rest = self.stream.readline(self.max_line + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            what = f"damaged after line {self.lines}: it is cut off or not written by"
            remedy = "; create or download it again"
            if "Not a gzipped file" in str(error):
                what, remedy = "not compressed by", ", though its name ends with .gz"
            raise ValueError(f"{self.path} is {what} gzip{remedy}.") from None
        self.lines += raw.count(b"\n") + is_cut
        if rest:
            self._check_line(raw[raw.rfind(b"\n") + 1 :] + rest)
        self._unchecked += len(raw) + len(rest)
        if self._unchecked >= MEMORY_CHECK_BYTES and self.free is not None:
            self._unchecked, left = 0, available_bytes()
            if left is not None and left < MIN_FREE_FRACTION * self.free:
                raise MemoryError(
                    f"{self.path} is too large: at line {self.lines:,} {left:,} bytes "
                    f"are left of the {self.free:,} that were available; use fewer "
                    "samples, or --landmarks, which reads tables in blocks."
                )
        return raw + rest

    def _check_line(self, line: bytes) -> None:
        """Raise if a line is too long."""
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


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file with their ends, or raise with the bad one.

    Parameters
    ----------
    path : Path
        The file, compressed if its name ends with .gz. A byte order mark is skipped.
    """
    return decode_lines(path, GuardedFile(path))


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
    sep: str | None = None,
    decimal: str = ".",
    *,
    short_first: bool = False,
    prefer_tabs: bool = True,
    lines: Iterable[str] | None = None,
) -> Iterator[TextRow]:
    """Yield the rows of a table with the line in which each begins.

    Parameters
    ----------
    path : Path
        The file.
    sep : str or None
        The character between cells; None to detect it in the first line.
    decimal : {".", ","}
        The character before decimals.
    short_first : bool
        Whether the first row may have one cell less than the others, as R writes it.
    prefer_tabs : bool
        Whether a tab in the first line is the separator even next to commas.
    lines : iterable of str, optional
        Lines of the file, if it is open.

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
    if sep is None and prefer_tabs and "\t" in begin[-1]:
        sep = "\t"
    sep = choose_separator(path, begin[-1], sep)
    reader = csv.reader(
        chain(begin, lines), delimiter=sep, skipinitialspace=sep != "\t", strict=True
    )
    width = before = n_rows = commas = 0
    try:
        for raw in reader:
            line, before = before + 1, reader.line_num
            row = [cell.strip() for cell in raw]
            if row in ([], [""]):
                continue
            n_rows += 1
            if n_rows == 1 or (n_rows == 2 and short_first and len(row) == width + 1):
                width = len(row)
            if len(row) != width:
                raise ValueError(
                    f"{path}, line {line}: {width} cells were expected as in the first "
                    f"line, got {len(row)}; if cells are not separated by {sep!r}, "
                    "name their separator by --sep."
                )
            if decimal == ",":
                commas += _replace_decimal_commas(row, path, line)
            yield line, row
    except csv.Error as error:
        raise ValueError(f"{path}, line {before + 1}: {error}.") from None
    if n_rows == 0:
        raise ValueError(f"{path} holds no cell; a table was expected.")
    if decimal == "," and not commas:
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


def read_named_rows(
    path: Path,
    sep: str | None,
    decimal: str,
    header: bool | None,
    lines: Iterable[str] | None = None,
) -> tuple[list[str], bool, int, Iterator[TextRow]]:
    """Return the names of the columns of a table, and its samples.

    Parameters
    ----------
    path, sep, decimal, lines
        As in `read_rows`.
    header : bool or None
        Whether the first row holds names; None to decide by `is_header`.

    Returns
    -------
    names : list of str
        Names, or positions from 1.
    header : bool
        Whether they are names.
    first_line : int
        The line of the first sample, if no line in between is blank.
    rows : iterator of (int, list of str)
        The samples.
    """
    rows = read_rows(path, sep, decimal, prefer_tabs=False, lines=lines)
    line, first = top = next(rows)
    if header is None:
        header, rows = detect_header(path, first, rows)
    if not header:
        names = [str(place) for place in range(1, len(first) + 1)]
        return names, False, line, chain([top], rows)
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
    return first, True, line + 1, rows


def detect_header(
    path: Path, first: list[str], rows: Iterator[TextRow]
) -> tuple[bool, Iterator[TextRow]]:
    """Return whether the first row holds names, and the rows below it."""
    words = sum(parse_number(cell) is None for cell in first)
    most = max(2, min(MAX_HEADER_ROWS, MAX_HEADER_CELLS // len(first)))
    below = list(islice(rows, most if 0 < words < len(first) else 0))
    return is_header(path, first, [row for _, row in below]), chain(below, rows)


def is_header(path: Path, first: list[str], below: Sequence[list[str]]) -> bool:
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
    below : sequence of list of str
        Some rows below, which may be shorter or longer.

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
    if len(words) in (0, len(first)):
        return bool(words)
    gaps = [i for i, cell in enumerate(first) if cell in MISSING_CELLS and (i or cell)]
    if gaps or len(set(first)) < len(first):
        return False
    columns = [
        [row[i] for row in below if i < len(row) and row[i] not in MISSING_CELLS]
        for i in range(len(first))
    ]
    named = [i for i in words if first[i]]
    if any(first[i] in columns[i] for i in named):
        return False
    numbers = [i for i in range(len(first)) if i not in words]
    values = [float(first[i]) for i in numbers]
    is_counted = len(values) > 1 and {b - a for a, b in pairwise(values)} == {1.0}
    is_repeated = any(first[i] in columns[i] for i in numbers) and not is_counted
    above = [i for i in named if columns[i] and are_numbers(columns[i])]
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
