"""The stored format: ``NAME.csv.gz`` with the header ``x0,...,x{m-1},y``.

``X`` has shape (n_samples, n_features), ``y`` shape (n_samples,) and values -1, +1.
"""

import gzip
import hashlib
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kreinlearn._typing import Array
from reproduction.data.entries import Part

Labeled = tuple[NDArray[np.float64], NDArray[np.int_]]
"""Features and labels."""


def header(n_features: int) -> list[str]:
    """Return the names of the feature columns."""
    return [f"x{column}" for column in range(n_features)]


def _format_number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def to_text(X: Array, y: Array) -> bytes:
    """Return the table as text, with the shortest digits that give the same number.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1.

    Returns
    -------
    bytes
        The same bytes for the same numbers on every machine.
    """
    lines = [",".join([*header(X.shape[1]), "y"])]
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        lines.append(",".join([*map(_format_number, row), str(label)]))
    return ("\n".join(lines) + "\n").encode("ascii")


def from_text(text: bytes) -> Labeled:
    """Return features and labels of a table.

    Parameters
    ----------
    text : bytes
        An uncompressed table.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Features, float64.
    y : ndarray of shape (n_samples,)
        Labels, int, -1 or +1.

    Raises
    ------
    ValueError
        If the text is not such a table; the message has the reason.
    """
    first, *lines = text.decode("ascii").splitlines() or [""]
    columns = first.split(",")
    if len(columns) < 2 or columns != [*header(len(columns) - 1), "y"]:
        raise ValueError(f"its first line is {first[:40]!r}, not 'x0,x1,...,y'")
    if not lines:
        raise ValueError("it has no rows")
    values = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2)
    if values.shape[1] != len(columns):
        raise ValueError(f"its rows have {values.shape[1]} cells, not {len(columns)}")
    if not np.isfinite(values).all():
        raise ValueError("it has values that are not finite")
    X, y = np.ascontiguousarray(values[:, :-1]), values[:, -1]
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("it has labels other than -1 and 1")
    return X, y.astype(int)


def unpack(path: Path) -> bytes:
    """Return the uncompressed text of a stored table.

    Parameters
    ----------
    path : Path
        A ``.csv.gz`` file.

    Returns
    -------
    bytes
        The text.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is not gzip, or ends too early.
    """
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"it is not a complete gzip file ({error})") from error


def digest(text: bytes) -> str:
    """Return the sha256 checksum of an uncompressed table."""
    return hashlib.sha256(text).hexdigest()


def describe_mismatch(X: Array, y: Array, table: Part, n_features: int) -> str:
    """Return how a table differs from what the registry expects.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Labels.
    table : Part
        Expected counts of rows and classes.
    n_features : int
        Expected number of features.

    Returns
    -------
    str
        Expected and found counts, or an empty string if they agree.
    """
    n_positive = int(np.sum(y == 1))
    found = (*X.shape, n_positive, len(y) - n_positive)
    n_negative = table.n_samples - table.n_positive
    wanted = (table.n_samples, n_features, table.n_positive, n_negative)
    if found == wanted:
        return ""
    words = "{} rows, {} features, {} labels +1 and {} labels -1"
    return f"expected {words.format(*wanted)}, got {words.format(*found)}"
