"""Elastic distances between all series of two sets, in threads."""

from itertools import pairwise

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.kernels import threads
from kreinlearn.kernels._records import SampleSet
from kreinlearn.kernels._series_samples import Series, check_sets, flat
from kreinlearn.kernels._work import share_out

SERIAL_CELLS = 1_000_000
"""Cells below which starting threads takes longer than they save."""


def between_series(
    X: SampleSet,
    Y: SampleSet | None,
    measure: str,
    params: tuple[float, ...] = (),
    window: float | None = None,
) -> Array:
    """Return the distances between all series of two sets.

    Parameters
    ----------
    X : sequence of series
        Whatever `check_series` takes.
    Y : sequence of series or None
        Others, or None for the same.
    measure : str
        One of the measures of `_compiled.series`.
    params : tuple of float
        Its parameters, two at most.
    window : float, optional
        Share of the shorter series.

    Returns
    -------
    ndarray of shape (n, k)
        Distances.
    """
    rows, columns = check_sets(X, Y)
    p, q = (*params, 0.0, 0.0)[:2]
    rule = (measure, (float(p), float(q), -1.0 if window is None else window))
    if columns is None:
        D = _fill(rows, None, rule)
    elif len(columns) < len(rows):  # panels of the larger set are filled better
        D = np.ascontiguousarray(_fill(columns, rows, rule).T)
    else:
        D = _fill(rows, columns, rule)
    if not np.isfinite(D).all():
        raise ValueError(
            "Distances between series must be finite, but these are too large for "
            "double precision; divide all series by one large number."
        )
    return D


def _fill(
    rows: list[Series],
    columns: list[Series] | None,
    rule: tuple[str, tuple[float, float, float]],
) -> Array:
    """Return the distances between checked series."""
    from kreinlearn.kernels._compiled import series

    measure, params = rule
    X, x_starts, x_order = flat(rows)
    Y, y_starts, y_order = (X, x_starts, x_order) if columns is None else flat(columns)
    # These measure by the lengths of both series: a panel must have one length.
    needs_equal = measure == "wdtw" or params[2] >= 0
    panels = _panels(np.diff(y_starts), series.LANES, needs_equal)
    fill = series.make_fill(series.MEASURES.index(measure), Y.shape[1] == 1)
    out = np.empty((len(x_order), len(y_order)))

    def work(first: int, last: int) -> None:
        fill(
            *(out, X, x_starts, Y, y_starts, (x_order, y_order), panels),
            *(params, columns is None, first, last),
        )

    n_threads = 1 if len(X) * len(Y) < SERIAL_CELLS else threads.max_threads()
    share_out(work, len(panels) - 1, n_threads)
    return out


def _panels(lengths: Array, lanes: int, needs_equal: bool) -> Array:
    """Return where panels start, and where the last one ends, of sorted lengths."""
    edges = np.flatnonzero(np.diff(lengths)) + 1 if needs_equal else np.empty(0, int)
    edges = np.concatenate([[0], edges, [len(lengths)]]).astype(np.intp)
    starts = [np.arange(a, b, lanes) for a, b in pairwise(edges)]
    return np.concatenate([*starts, edges[-1:]]).astype(np.intp)
