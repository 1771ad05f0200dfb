"""Callbacks of solvers; the only module of the library that prints."""

import sys
from collections.abc import Callable, Mapping
from numbers import Real
from typing import TextIO

ProgressRow = Mapping[str, float | str]
"""A row of history, or another line to print."""
Watch = Callable[[ProgressRow], bool]


class Printer:
    """Prints one fixed-width line for each row of history.

    Parameters
    ----------
    stream : file, optional
        Where to; standard output by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream
        self._head: tuple[str, ...] = ()

    def __call__(self, row: ProgressRow) -> bool:
        """Print a row, under a header whenever the columns change."""
        out = sys.stdout if self.stream is None else self.stream
        if tuple(row) != self._head:
            self._head = tuple(row)
            print(" ".join(f"{name:>12}" for name in self._head), file=out)
        print(" ".join(_cell(value) for value in row.values()), file=out)
        return False


def _cell(value: float | str) -> str:
    if isinstance(value, float):
        return f"{value:12.4e}"
    if isinstance(value, Real) and not isinstance(value, bool):
        return f"{value:12d}"
    return f"{value!s:>12}"


def callback_for(verbose: int | Watch) -> Watch | None:
    """Return the callback of a solver for the parameter ``verbose``.

    Parameters
    ----------
    verbose : int or callable
        Zero for silence; a callable is the callback itself.

    Returns
    -------
    callable or None
        The callback.
    """
    if callable(verbose):
        return verbose
    return Printer() if verbose else None
