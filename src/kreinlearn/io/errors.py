"""Errors of libraries as messages that name the file."""

import functools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def convert_errors(path: str | Path, kind: str) -> Iterator[None]:
    """Convert any exception about a damaged file to a ValueError that names it.

    Parameters
    ----------
    path : path-like
        The file.
    kind : str
        What it fails to be, as in "not a parquet table".
    """
    try:
        with warnings.catch_warnings():  # about array headers of Python 2
            warnings.simplefilter("ignore", UserWarning)
            yield
    except MemoryError:
        raise
    except Exception as error:  # NumPy, zipfile and Arrow raise many types
        lines = str(error).strip().splitlines() or [type(error).__name__]
        reason = "".join(c if c.isprintable() else "?" for c in lines[0])
        raise ValueError(
            f"{path} is damaged or {kind}: {reason[:200].rstrip('.')}."
        ) from None


def name_file(reader: Callable[P, T]) -> Callable[P, T]:
    """Decorate a reader: each MemoryError names the file, its first argument."""

    @functools.wraps(reader)
    def guarded(*args: P.args, **options: P.kwargs) -> T:
        try:
            return reader(*args, **options)
        except MemoryError as error:
            path = args[0] if args else options.get("path", "The file")
            if str(path) in str(error):
                raise
            if str(error).endswith("."):
                raise MemoryError(f"{path}: {error}") from None
            reason = f" ({error})" if str(error) else ""
            raise MemoryError(
                f"{path} is too large for the available memory{reason}; use fewer "
                "samples, or a machine or a limit with more of it."
            ) from None

    return guarded


def check_file(path: str | os.PathLike[str], expected: str) -> Path:
    """Return the path of a file that exists, or raise.

    Parameters
    ----------
    path : path-like
        The file.
    expected : str
        What it should be, for the message about folders.
    """
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a folder; {expected} was expected.")
    if not place.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    return place


def quote_names(names: Iterable[str], most: int = 5) -> str:
    """Return the first names in quotes, and the number of others."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - most} more" if len(quoted) > most else ""
    return ", ".join(quoted[:most]) + more
