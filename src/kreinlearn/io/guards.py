"""Whatever goes wrong with a file becomes one sentence that names it."""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def damaged(path: str | Path, kind: str) -> Iterator[None]:
    """Turn whatever a library raises about a bad file into one sentence.

    NumPy parses its header as Python, zip files can be wrong in many ways, and Arrow
    has a tree of errors of its own, so that these are of many kinds.

    Parameters
    ----------
    path : path-like
        The file.
    kind : str
        What it should be, as in "not NumPy's".
    """
    try:
        with warnings.catch_warnings():  # of headers that Python 2 wrote
            warnings.simplefilter("ignore", UserWarning)
            yield
    except MemoryError:
        raise
    except Exception as error:
        raise damage(path, kind, error) from None


def damage(path: str | Path, kind: str, error: Exception) -> ValueError:
    """Return the error about a file that could not be read."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    said = "".join(c if c.isprintable() else "?" for c in lines[0])
    return ValueError(f"{path} is damaged or {kind}: {said[:200].rstrip('.')}.")


def naming_file(reader: Callable[P, T]) -> Callable[P, T]:
    """Return a reader that names the file, its first argument, if memory ends."""

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
                f"{path} is too large for the memory that is left{reason}; use fewer "
                "samples, or a machine or a limit with more of it."
            ) from None

    return guarded
