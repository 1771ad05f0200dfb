"""Columns of numbers that are probably not what a user thinks they are."""

import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.values import some_of

if TYPE_CHECKING:
    import pandas as pd

LEAST_ROWS = 10
"""Rows below which neither an order nor an outlier tells anything."""
FEW = 0.01
"""Share of the rows, on either side, that may be outliers; one at least."""
SQUEEZED = 0.1
"""Share of a column's range below which all but a few values are squeezed. Among the
paper's data sets these are all 14 columns of EEG, with shares of 0.0002 to 0.044, and
the numbers of the patients in breast-cancer (0.091); the next share is 0.15."""
NAMES_A_ROW = re.compile(r"(?i:(^|[\W_])(id|idx|index|uid|row))$|[a-z]I[dD]$")
"""Names of columns that name samples."""


def warn_of_columns(
    X: "pd.DataFrame", numbers: Sequence[str], is_squeezed: bool = True
) -> None:
    """Warn of columns that tell nothing, count samples, or hold outliers.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        The features.
    numbers : sequence of str
        Those that are numbers.
    is_squeezed : bool
        Whether a few outliers would squeeze all other values.
    """
    where = f"{X.attrs['path']}: " if X.attrs.get("path") else ""
    constant = [name for name in X.columns if X[name].nunique() == 1]
    if constant:
        _warn(
            f"{where}the same value for all samples in {_columns(constant)}, which "
            f"tell{'s' * (len(constant) == 1)} nothing apart."
        )
    counters, squeezed = list[str](), list[str]()
    for name in numbers:
        values = X[name].to_numpy(dtype=float)
        if is_counter(name, values):
            counters.append(name)
        elif is_squeezed and share_of_most(values) < SQUEEZED:
            squeezed.append(name)
    if counters:
        name = counters[0]
        one = len(counters) == 1
        _warn(
            f"{where}{_columns(counters)} seem{'s' * one} to number or name the "
            f"samples, which tells nothing about new ones; leave "
            f"{'it' if one else 'them'} out by --drop {name}, or keep it in "
            f"predictions by --id {name}."
        )
    if squeezed:
        share = min(share_of_most(X[n].to_numpy(dtype=float)) for n in squeezed)
        _warn(
            f"{where}a few outliers squeeze everything else in {_columns(squeezed)}: "
            f"all but {FEW:.0%} of the values on either side lie in {share:.2g} of the "
            "range; use --scale robust (scale='robust'), or correct the outliers."
        )


def is_counter(name: str, values: Array) -> bool:
    """Tell whether a column of numbers counts or names samples.

    It holds whole numbers that grow from sample to sample, or that all differ under a
    name such as "id".

    Examples
    --------
    >>> rows = np.arange(5.0, 25.0)
    >>> is_counter("a", rows), is_counter("a", rows[::-1]), is_counter("id", rows[::-1])
    (True, False, True)
    """
    if len(values) < LEAST_ROWS or not (values == np.floor(values)).all():
        return False
    if (np.diff(values) > 0).all():
        return True
    is_named = NAMES_A_ROW.search(name) is not None
    return is_named and len(np.unique(values)) == len(values)


def share_of_most(values: Array) -> float:
    """Return the share of a column's range that all but a few values lie in.

    It is 1 if these values are all the same, and hence nothing is squeezed.

    Examples
    --------
    >>> share_of_most(np.r_[np.arange(100.0), 1e6]) < 1e-3
    True
    """
    known = np.sort(values[np.isfinite(values)])
    if len(known) < LEAST_ROWS or known[0] == known[-1]:
        return 1.0
    few = max(1, int(FEW * len(known)))
    most = known[-1 - few] - known[few]
    return float(most / (known[-1] - known[0])) if most > 0 else 1.0


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' * (len(names) > 1)} {some_of(names)}"


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
