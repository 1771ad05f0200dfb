"""Matrices of similarities or distances: NumPy files, csv and PHYLIP.

Arrays of Python objects are rejected, since reading them could run code.
"""

import math
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from kreinlearn._files import check_regular
from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn._validation import DISTANCE_REMEDY
from kreinlearn.io.columns import is_count, parse_numbers
from kreinlearn.io.dataset import ReadOptions
from kreinlearn.io.text import (
    COMMA_NUMBER,
    MISSING_CELLS,
    TextRow,
    are_numbers,
    convert_errors,
    parse_number,
    read_lines,
    read_rows,
)

ARRAY_NAMES = {"similarities": ("K", "S"), "distances": ("D",)}
"""Names of the matrix in an npz file."""
LABELS_NAME = "y"
"""Name of the labels in an npz file."""
Shapes = dict[str, tuple[int, ...]]
"""Shapes of the arrays in a file, by name."""
NUMPY_ERROR = "not NumPy's"
MAX_HEADER_BYTES = 2**16
"""Bytes of the header of an array; 118 are usual."""
PHYLIP_NAME_LENGTH = 10
"""Characters of a name in PHYLIP if names may hold spaces."""


def read_npz(path: Path, options: ReadOptions) -> tuple[Array, str, Array | None]:
    """Return the matrix of an npz file, its name, and the labels if there are any.

    Parameters
    ----------
    path : Path
        The file. Similarities are named K or S, distances D; or the matrix is the only
        array of its dimension: a vector for the format "condensed".
    options : ReadOptions
        ``target`` is the name of the labels, "y" by default.
    """
    name, ending = options.target or LABELS_NAME, ".npy"
    with open(path, "rb") as file:
        with convert_errors(path, NUMPY_ERROR):
            archive = zipfile.ZipFile(file)
            members = [each for each in archive.namelist() if each.endswith(ending)]
            shapes: Shapes = {}
            for each in members:  # one open at a time: there may be many
                with archive.open(each) as stream:
                    shapes[each.removesuffix(ending)] = _read_array_header(stream)[0]
        chosen = _choose_array(path, shapes, options, name)
        with archive.open(chosen + ending) as stream:
            K = read_array(path, repr(chosen), stream)
        if options.label_file is not None:
            return K, repr(chosen), None
        if name in shapes:
            with archive.open(name + ending) as stream:
                return K, repr(chosen), read_array(path, repr(name), stream)
    if options.labels or options.target is not None:
        raise ValueError(
            f"{path} has no labels named {name!r}; it holds {_list_shapes(shapes)}. "
            "Name the array of labels by --target."
        )
    return K, repr(chosen), None


def read_npy(path: Path) -> Array:
    """Return the array of an npy file."""
    check_regular(path)
    with open(path, "rb") as stream:
        return read_array(path, "the array", stream)


def _choose_array(
    path: Path, shapes: Shapes, options: ReadOptions, label_name: str
) -> str:
    """Return the name of the matrix among the arrays of a file."""
    holds, dims = options.holds, 1 if options.format == "condensed" else 2
    names = ARRAY_NAMES[holds or "similarities"]
    expected = [name for name in names if name in shapes]
    others = [name for both in ARRAY_NAMES.values() for name in both if name in shapes]
    if not expected and others and holds != "similarities":
        what, other, remedy = "similarities", "distances", "name the matrix 'K'"
        if holds == "distances":
            what, other, remedy = "distances", "similarities", "name the matrix 'D'"
        remedy = f"; {remedy} if it holds {what}."
        if holds is None and options.square:
            remedy = f". {DISTANCE_REMEDY}"
        raise ValueError(
            f"{path}: {what} were expected, but {others[0]!r} names {other}{remedy}"
        )
    # An array of one column holds labels.
    wide = [
        name
        for name, shape in shapes.items()
        if len(shape) == dims and shape[-1] > 1 and name != label_name
    ]
    chosen = expected[:1] or wide
    if len(chosen) != 1:
        wanted, kind = " or ".join(map(repr, names)), ("vector", "matrix")[dims - 1]
        raise ValueError(
            f"{path} must hold a {kind} named {wanted}, or one {kind} only, got "
            f"{_list_shapes(shapes) or 'no arrays'}; save it alone or under that name: "
            f"numpy.savez(path, {names[0]}={kind}, y=labels)."
        )
    return chosen[0]


def _list_shapes(shapes: Shapes) -> str:
    return ", ".join(f"{name!r} {shape}" for name, shape in shapes.items())


def _read_array_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of the array at the start of a stream."""
    npy = np.lib.format
    is_first = npy.read_magic(stream) == (1, 0)
    at = stream.tell()
    size = int.from_bytes(stream.read(2 if is_first else 4), "little")
    if size > MAX_HEADER_BYTES:
        raise ValueError(f"the header of an array cannot have {size:,} bytes")
    stream.seek(at)
    read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    if any(isinstance(n, bool) or n < 0 for n in shape):
        raise ValueError(f"the shape of an array cannot be {shape}")
    return shape, dtype


def read_array(path: Path, name: str, stream: IO[bytes]) -> Array:
    """Return an array of numbers or text, after a check of its type and size."""
    with convert_errors(path, NUMPY_ERROR):
        stream.seek(0)
        shape, dtype = _read_array_header(stream)
    if dtype.hasobject:
        raise ValueError(
            f"{path}: {name} is an array of Python objects, which could run code and "
            "is not read; save numbers or text, e.g. numpy.asarray(y, dtype='U')."
        )
    if dtype.kind not in "biufUS":
        raise ValueError(f"{path}: {name} must hold real numbers or text, got {dtype}.")
    check_fits(math.prod(shape[:-1]), shape[-1] if shape else 1, dtype, str(path))
    with convert_errors(path, NUMPY_ERROR):
        stream.seek(0)
        array: Array = np.lib.format.read_array(stream, allow_pickle=False)
        if array.dtype.kind in "SU":
            array = array.astype(str)
            "".join(array.reshape(-1).tolist()).encode()  # raises for no characters
        return array


def expand_condensed(vector: Array, what: str) -> Array:
    """Return the matrix of a condensed vector, with NaN elsewhere."""
    n = (1 + math.isqrt(1 + 8 * len(vector))) // 2
    if len(vector) == 0 or n * (n - 1) // 2 != len(vector):
        raise ValueError(
            f"{what} must be square, one row and one column per sample, or a vector "
            "of all pairs with n (n - 1) / 2 numbers, got an array of shape "
            f"{vector.shape}; {n} samples have {n * (n - 1) // 2} pairs."
        )
    if vector.dtype.kind not in "fiub" or np.isinf(vector).any():
        raise ValueError(f"{what} must hold finite numbers, got {vector.dtype}.")
    check_fits(n, n, float, what)
    K = np.full((n, n), np.nan)
    K[np.triu_indices(n, 1)] = vector
    return K


class TextMatrix(NamedTuple):
    """A matrix from a text file.

    Attributes
    ----------
    rows, columns : list of str or None
        Names, each once per side; None if the file holds numbers only.
    values : ndarray of shape (n_rows, n_columns)
        Finite numbers, and NaN where a value is missing.
    """

    rows: list[str] | None
    columns: list[str] | None
    values: Array


def is_square(
    path: Path,
    options: ReadOptions,
    lines: Iterable[str] | None = None,
    *,
    is_expected: bool = False,
    is_whole: bool = True,
) -> bool:
    """Return whether a csv holds a matrix: the same names on both sides.

    Names are text, and there are at least two; numbers as names need --format matrix.
    The second line of an ordinary table rules it out.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        Separators.
    lines : iterable of str, optional
        Lines of the file, if it is open.
    is_expected : bool
        Whether half of the names, or as many rows as columns of numbers, suffice. The
        reader then raises a message about the names that differ.
    is_whole : bool
        Whether these are all lines. If not, names of columns may lack a row.
    """
    try:
        _, first, has_corner, rows = _open_matrix(path, options, lines)
        names = set(first[has_corner:])
        is_numeric = [parse_number(name) is not None for name in names]
        if is_expected and has_corner and all(is_numeric):
            return sum(1 for _ in rows) + 1 == len(first) > 1
        if len(names) < 2 or (any(is_numeric) and not is_expected):
            return False
        seen, n_rows = set[str](), 0
        for _, row in rows:
            n_rows += 1
            seen.add(row[0])
            if not is_expected and row[0] not in names:
                return False
        if not is_expected:
            return seen == names or not is_whole
        has_no_row_names = has_corner and n_rows == len(first)
        if has_no_row_names and parse_numbers(list(seen)) is not None:
            return True
        return 2 * len(seen & names) >= max(2, len(seen))
    except ValueError:  # the reader of tables raises a better message
        return False


def read_text_matrix(
    path: Path,
    options: ReadOptions,
    header: bool | None = None,
    lines: Iterable[str] | None = None,
) -> TextMatrix:
    """Return the matrix in a csv or tsv file.

    Parameters
    ----------
    path : Path
        Numbers only, one row per line; or the names of the columns in the first line,
        after one cell that is ignored or missing, and names in the first column. If
        rows have no names, they have those of the columns, or else positions from 1.
    options : ReadOptions
        Separators.
    header : bool, optional
        Whether the first line holds names; by default unless all its cells are numbers.
    lines : iterable of str, optional
        Lines of the file, if it is open.

    Returns
    -------
    TextMatrix
        With NaN where a cell is empty or stands for a missing value.
    """
    line, first, has_corner, rows = _open_matrix(path, options, lines)
    columns = first[has_corner:]
    if not columns:
        raise ValueError(
            f"{path}, line {line}: names of samples were expected, separated by commas "
            "or tabs, got one cell only."
        )
    is_numeric = are_numbers(first)
    numbers = [int(cell) for cell in columns if is_count(cell)]
    is_counted = len(numbers) == len(columns) and {*np.diff(numbers)} <= {1}
    if header is None and is_numeric and has_corner and is_counted:
        raise ValueError(
            f"{path}: the first line may hold names, as it counts from {columns[0]}, "
            "or numbers of the matrix; use --header or --no-header."
        )
    has_names = header is True or not (has_corner and is_numeric)
    if not has_names or (header is False and has_corner):
        columns = [str(place) for place in range(1, len(first) + 1)]
        rows, has_names = chain([(line, first)], rows), False
    else:
        _check_sample_names(f"{path}, line {line}", columns)
    names, values = list[str](), list[Array]()
    for line, row in rows:
        is_word = row[1] not in MISSING_CELLS and parse_number(row[1]) is None
        is_triple = has_names and len(columns) == 2 and is_word
        if is_triple and parse_number(row[2]) is not None:
            raise ValueError(
                f"{path}, line {line}: a matrix with names was expected, got two words "
                "and a number, as in a list of pairs; if it is one, use --format "
                "pairs."
            )
        names.append(row[0])
        values.append(parse_scores(row[has_names:], columns, f"{path}, line {line}"))
        if len(names) == 1:
            check_fits(len(columns), len(columns), float, str(path))
    if not names:
        raise ValueError(f"{path} holds names of columns but no rows below them.")
    K = np.array(values)
    if not has_names:
        return TextMatrix(None, None, K)
    own = parse_numbers(names) if has_corner and first[0] else None
    has_all = len(names) == len(first)
    if own is not None and (has_all or (own != np.floor(own)).any()):
        rows_found = first if has_all else [str(i + 1) for i in range(len(own))]
        return TextMatrix(rows_found, first, np.column_stack([own, K]))
    _check_sample_names(f"{path}, first column", names)
    return TextMatrix(names, columns, K)


def _open_matrix(
    path: Path, options: ReadOptions, lines: Iterable[str] | None
) -> tuple[int, list[str], bool, Iterator[TextRow]]:
    """Return the first line, its cells, whether one is a corner, and rows below."""
    rows = read_rows(path, options.sep, options.decimal, short_first=True, lines=lines)
    line, first = next(rows)
    second = list(islice(rows, 1))
    has_corner = not any(len(row) > len(first) for _, row in second)
    return line, first, has_corner, chain(second, rows)


def parse_scores(cells: Sequence[str], names: Sequence[str], where: str) -> Array:
    """Return a row of finite numbers, with NaN where a cell is missing.

    Parameters
    ----------
    cells : sequence of str
        The row.
    names : sequence of str
        Names of its columns, for messages.
    where : str
        File and line, for messages.
    """
    values = parse_numbers(cells)
    if values is None or np.isinf(values).any():
        found = [np.nan if c in MISSING_CELLS else parse_number(c) for c in cells]
        for name, cell, value in zip(names, cells, found, strict=True):
            if value is None or np.isinf(value):
                advice = "correct it, or leave the cell empty if it is missing"
                if COMMA_NUMBER.fullmatch(cell):
                    advice = "if decimals follow a comma, use --decimal ,"
                raise ValueError(
                    f"{where}: a finite number was expected, got {cell!r} in column "
                    f"{name!r}; {advice}."
                )
        values = np.array(found, dtype=float)
    return values


def _check_sample_names(where: str, names: Sequence[str]) -> None:
    """Raise if a name is empty or occurs twice."""
    seen = set[str]()
    for place, name in enumerate(names, 1):
        if name == "":
            raise ValueError(f"{where}: the {place}. name is empty; give it one.")
        if name in seen:
            raise ValueError(
                f"{where}: names must differ, got {name!r} twice; rename one of them."
            )
        seen.add(name)


def read_phylip(path: Path) -> TextMatrix:
    """Return the matrix in a PHYLIP file.

    Parameters
    ----------
    path : Path
        The number of samples in the first line; then, for each sample, its name and
        its row, or the part of the row before or after the diagonal, with or without
        that. Rows may continue in lines that begin with a space.

    Returns
    -------
    TextMatrix
        With NaN where the file has no number: a triangle has one for each pair.
    """
    n, rows = _read_phylip_rows(path)
    check_fits(n, n, float, str(path))
    places = list(range(n))
    # Lengths of the rows, and where they start: a matrix, and four triangles.
    shapes = [([n] * n, [0] * n), (places, [0] * n), ([i + 1 for i in places], [0] * n)]
    shapes += [([n - i - 1 for i in places], [i + 1 for i in places])]
    shapes += [([n - i for i in places], places)]
    # A name is one word unless only names of ten characters, with spaces, fit.
    for is_strict in (False, True):
        parts = [_split_phylip(text, more, is_strict) for _, text, more in rows]
        names, lengths = [part[0] for part in parts], [len(part[1]) for part in parts]
        starts = next((start for size, start in shapes if size == lengths), None)
        is_named = len(set(names)) == n and "" not in names
        if starts is not None and is_named:
            break
    else:
        raise ValueError(_describe_phylip_error(path, rows, n))
    assert starts is not None
    values = np.full((n, n), np.nan)
    for i, ((_, cells), start) in enumerate(zip(parts, starts, strict=True)):
        span = slice(start, start + len(cells))
        values[i, span] = parse_scores(cells, names[span], f"{path}, line {rows[i][0]}")
    return TextMatrix(names, list(names), values)


PhylipRow = tuple[int, str, list[str]]
"""Line number, first line and cells of further lines of a sample."""


def _split_phylip(
    text: str, more: list[str], is_strict: bool = False
) -> tuple[str, list[str]]:
    """Return name and cells; the name is a word, or the first ten characters."""
    if is_strict:
        name, rest = text[:PHYLIP_NAME_LENGTH], text[PHYLIP_NAME_LENGTH:]
        return name.strip(), rest.split() + more
    name, *cells = text.split()
    return name, cells + more


def _read_phylip_rows(path: Path) -> tuple[int, list[PhylipRow]]:
    """Return the number of samples, and the lines of each."""
    n, rows = 0, list[PhylipRow]()
    for line, text in enumerate(read_lines(path), 1):
        words = text.split()
        if not words:
            continue
        if n == 0:
            if len(words) > 1 or not is_count(words[0]) or int(words[0]) < 2:
                raise ValueError(
                    f"{path}, line {line}: the number of samples was expected, at "
                    f"least 2 and alone in its line, got {text.strip()[:40]!r}; two "
                    "numbers begin an alignment of sequences, not distances."
                )
            n = int(words[0])
        elif text[0].isspace() and rows and parse_numbers(words) is not None:
            rows[-1][2].extend(words)
        else:
            rows.append((line, text.rstrip(), []))
    if len(rows) != n or n == 0:
        raise ValueError(
            f"{path}: {n or 'some'} samples were expected from its first line, got "
            f"{len(rows)}; is the file cut off?"
        )
    return n, rows


def _describe_phylip_error(path: Path, rows: list[PhylipRow], n: int) -> str:
    """Return the message about rows of inconsistent lengths or equal names."""
    seen = dict[str, int]()
    first = len(_split_phylip(*rows[0][1:])[1])
    for i, (line, text, more) in enumerate(rows):
        name, cells = _split_phylip(text, more)
        length = i + first if first in (0, 1) else n
        if len(cells) != length:
            return (
                f"{path}, line {line}: {length} numbers were expected after the name "
                f"{name!r}, as in a matrix or triangle of {n} samples, got "
                f"{len(cells)}; names with spaces must have {PHYLIP_NAME_LENGTH} "
                "letters."
            )
        if name in seen:
            return (
                f"{path}, line {line}: names must differ, got {name!r} in line "
                f"{seen[name]} as well; rename one of them."
            )
        seen[name] = line
    return f"{path} is not a matrix of PHYLIP; the rows have too few or many numbers."
