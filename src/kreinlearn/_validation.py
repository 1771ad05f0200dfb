"""Checks with one error sentence: what was expected, what came, what to do."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

BYTES_RESERVED = 0.8
"""Share of the available memory that one matrix may take."""
ALMOST = 1e-3
"""Off-diagonal entries this much smaller than the diagonal, or spread this much
smaller than their mean, tell samples apart no longer."""


def check_positive(name: str, value: Any) -> float:
    """Return a finite number above zero, or raise.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        What the caller gave.

    Returns
    -------
    float
        The value.
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name!r} must be a positive number, got {value!r}.")
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name!r} must be a positive number, got {value!r}.")
    return number


def check_count(name: str, value: Any) -> int:
    """Return a whole number above zero, or raise.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        What the caller gave.

    Returns
    -------
    int
        The value.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name!r} must be a positive whole number, got {value!r}.")
    if value < 1:
        raise ValueError(f"{name!r} must be a positive whole number, got {value!r}.")
    return int(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return the value if it is one of the choices, or raise.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        What the caller gave.
    choices : iterable of str
        What is allowed.

    Returns
    -------
    str
        The value.
    """
    allowed = list(choices)
    if not isinstance(value, str) or value not in allowed:
        listed = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{name!r} must be one of {listed}, got {value!r}.")
    return value


def available_bytes() -> int | None:
    """Return the memory that this machine can still give, if it tells.

    Returns
    -------
    int or None
        Bytes, or None where the system does not say.
    """
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None


def fits(n_rows: int, n_cols: int, dtype: Any) -> bool:
    """Tell whether a dense matrix fits in memory.

    Parameters
    ----------
    n_rows, n_cols : int
        Its shape.
    dtype : dtype
        Its precision.

    Returns
    -------
    bool
        True too where the system does not tell how much there is.
    """
    needed = n_rows * n_cols * np.dtype(dtype).itemsize
    free = available_bytes()
    return free is None or needed <= BYTES_RESERVED * free


def check_fits(n_rows: int, n_cols: int, dtype: Any, what: str) -> None:
    """Raise MemoryError if a dense matrix would not fit in memory.

    Parameters
    ----------
    n_rows, n_cols : int
        Its shape.
    dtype : dtype
        Its precision.
    what : str
        What the matrix is, for the message.
    """
    needed = n_rows * n_cols * np.dtype(dtype).itemsize
    free = available_bytes()
    if free is not None and not fits(n_rows, n_cols, dtype):
        raise MemoryError(
            f"{what} of shape ({n_rows}, {n_cols}) in {np.dtype(dtype).name} needs "
            f"{needed:,} bytes ({needed / 2**30:.1f} GiB), but only {free:,} bytes "
            f"({free / 2**30:.1f} GiB) are available. Use fewer samples or "
            "dtype='float32'."
        )
