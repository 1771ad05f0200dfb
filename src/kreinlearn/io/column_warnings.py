"""Warnings about constant columns, identifiers and outliers."""

import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.errors import quote_names

if TYPE_CHECKING:
    import pandas as pd

MIN_ROWS = 10
"""Rows below which neither an order nor an outlier is significant."""
OUTLIER_FRACTION = 0.01
"""Fraction of the rows, on either side, that may be outliers; one at least."""
MIN_RANGE_FRACTION = 0.1
"""Fraction of a column's range below which outliers squeeze all other values. In the
paper's data sets these are all 14 columns of EEG, from 0.0002 to 0.044, and the patient
numbers of breast-cancer (0.091); the next fraction is 0.15."""
ID_NAME = re.compile(r"(?i:(^|[\W_])(id|idx|index|uid|row))$|[a-z]I[dD]$")
"""Names of columns with identifiers."""


def warn_about_columns(
    X: "pd.DataFrame", numbers: Sequence[str], check_outliers: bool = True
) -> None:
    """Warn about columns that are constant, number the samples, or hold outliers.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        The features.
    numbers : sequence of str
        The numeric ones.
    check_outliers : bool
        Whether to warn about outliers.
    """
    where = f"{X.attrs['path']}: " if X.attrs.get("path") else ""
    constant = [name for name in X.columns if X[name].nunique() == 1]
    if constant:
        _warn(
            f"{where}the same value for all samples in {_columns(constant)}, which "
            f"cannot separate classes."
        )
    counters, squeezed = list[str](), list[str]()
    for name in numbers:
        values = X[name].to_numpy(dtype=float)
        if is_counter(name, values):
            counters.append(name)
        elif check_outliers and range_fraction(values) < MIN_RANGE_FRACTION:
            squeezed.append(name)
    if counters:
        name = counters[0]
        one = len(counters) == 1
        _warn(
            f"{where}{_columns(counters)} seem{'s' * one} to number or name the "
            f"samples, which does not help on new ones; leave "
            f"{'it' if one else 'them'} out by --drop {name}, or keep it in "
            f"predictions by --id {name}."
        )
    if squeezed:
        share = min(range_fraction(X[n].to_numpy(dtype=float)) for n in squeezed)
        _warn(
            f"{where}a few outliers squeeze everything else in {_columns(squeezed)}: "
            f"all but {OUTLIER_FRACTION:.0%} of the values on either side lie in "
            f"{share:.2g} of the range; use --scale robust (scale='robust'), or "
            "correct the outliers."
        )


def is_counter(name: str, values: Array) -> bool:
    """Return whether a numeric column numbers the samples.

    It holds integers that increase from sample to sample, or that all differ under a
    name such as "id".

    Examples
    --------
    >>> rows = np.arange(5.0, 25.0)
    >>> is_counter("a", rows), is_counter("a", rows[::-1]), is_counter("id", rows[::-1])
    (True, False, True)
    """
    if len(values) < MIN_ROWS or not (values == np.floor(values)).all():
        return False
    if (np.diff(values) > 0).all():
        return True
    is_named = ID_NAME.search(name) is not None
    return is_named and len(np.unique(values)) == len(values)


def range_fraction(values: Array) -> float:
    """Return the fraction of a column's range that contains all but a few values.

    It is 1 if these values are all the same, and hence nothing is squeezed.

    Examples
    --------
    >>> range_fraction(np.r_[np.arange(100.0), 1e6]) < 1e-3
    True
    """
    known = np.sort(values[np.isfinite(values)])
    if len(known) < MIN_ROWS or known[0] == known[-1]:
        return 1.0
    few = max(1, int(OUTLIER_FRACTION * len(known)))
    most = known[-1 - few] - known[few]
    return float(most / (known[-1] - known[0])) if most > 0 else 1.0


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' * (len(names) > 1)} {quote_names(names)}"


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
