r"""Elastic distances between time series, which may differ in length and speed.

Letters: x (length n) and y (length m) are series, of one channel or several; D is the
table of costs: the least cost of an alignment up to each cell.

======== ============================================================ ===============
measure  step into cell (i, j)                                        unit
======== ============================================================ ===============
`dtw`    \|x_i - y_j\|^2, from any of three; the root of the sum      that of the data
`wdtw`   the same, weighted by a logistic function of \|i - j\|       that of the data
`adtw`   as `dtw`, and a penalty for each step off the diagonal       that of the data
`erp`    match \|x_i - y_j\|, or skip a value at \|x_i - g\|          that of the data
`lcss`   1 for a match within epsilon; fraction without a match       none, 0 to 1
`msm`    move \|x_i - y_j\|, or split and merge at a cost c           that of the data
`twe`    match values and steps, or delete at a cost, in time too     that of the data
======== ============================================================ ===============

`erp`, `msm` and `twe` are metrics; the others break the triangle inequality, and
similarities made of any of them are indefinite in general.

Roots: `dtw`, `wdtw` and `adtw` return the root of the summed squares, as tslearn does
for `dtw`. aeon returns the sum itself: square ours to compare. All other
distances are those of aeon, except that `erp` starts from the running sum of the
gaps, as its authors define it, where aeon starts from the sum over the whole series.

Several channels: \|x_i - y_j\| is the Euclidean distance between the values of all
channels at two times, so that one alignment holds for all of them; `msm` is the sum of
the distances in each channel.

Windows are a fraction of the shorter series, as in aeon: with ``window=0.1``, times of
two series of length 128 are aligned if they are at most 12 steps apart. For unequal
lengths the steps are those of the shorter series, away from the diagonal.

With ``derivative=True``, slopes are compared: at each time but the first and the last,
the mean of the step before it and half of the step over both neighbors (E. Keogh, M.
Pazzani, "Derivative dynamic time warping", International Conference on Data Mining,
2001).

Computations use float64, for sixteen pairs at once, with a few rows of D in memory.
Without Y only half is computed, and results are symmetric to the last bit.
"""

from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from numbers import Real

import numpy as np

from kreinlearn._typing import Array, SampleSet
from kreinlearn.kernels import threads
from kreinlearn.kernels._records import make_kernels, make_measure

__all__ = ["adtw", "check_series", "dtw", "erp", "lcss", "msm", "twe", "wdtw"]

Series = Array | tuple[Array, ...]
"""One series: its values, or one array of values per channel."""

ACCEPTED_INPUT = (
    "a list of 1-D arrays, an array of shape (n, length), a list of arrays of shape "
    "(channels, length), or an array of shape (n, channels, length)"
)
SERIAL_CELLS = 1_000_000
"""Cells below which starting threads takes longer than they save."""


def dtw(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    window: float | None = None,
    derivative: bool = False,
) -> Array:
    """Dynamic time warping, the root of the least sum of squares over all alignments.

    Parameters
    ----------
    X : sequence of n series
        As `check_series` takes them.
    Y : sequence of k series, default=None
        Others; None means X.
    window : float, default=None
        Largest distance of an alignment from the diagonal, as a fraction of the length
        of the shorter series, 0 to 1; None means no limit.
    derivative : bool, default=False
        Whether to compare the slopes of the series instead of their values.

    Returns
    -------
    ndarray of shape (n, k)
        Distances in the unit of the data, 0 or above. Squared, they are aeon's.

    References
    ----------
    H. Sakoe, S. Chiba, "Dynamic programming algorithm optimization for spoken word
    recognition", IEEE Transactions on Acoustics, Speech, and Signal Processing 26(1),
    1978.

    Examples
    --------
    >>> from kreinlearn.kernels import dtw
    >>> dtw([[0, 0, 3, 0], [0, 3, 0, 0], [0, 1]])
    array([[0.        , 0.        , 2.23606798],
           [0.        , 0.        , 2.44948974],
           [2.23606798, 2.44948974, 0.        ]])
    >>> dtw([[0, 0, 3, 0]], [[0, 3, 0, 0]], window=0)
    array([[4.24264069]])
    """
    return _compute_distances(X, Y, "dtw", (), window, derivative)


def wdtw(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    g: float = 0.05,
    derivative: bool = False,
) -> Array:
    """Weighted dynamic time warping, which charges more for times farther apart.

    The squares that `dtw` sums are multiplied by ``1 / (1 + exp(-g (d - l / 2)))``,
    with d the steps between the two times, and l the length of the longer series.

    Parameters
    ----------
    X : sequence of n series
        As `check_series` takes them.
    Y : sequence of k series, default=None
        Others; None means X.
    g : float, default=0.05
        Steepness of the weights, 0 or above; with 0 all weights are 1 / 2.
    derivative : bool, default=False
        Whether to compare the slopes of the series instead of their values.

    Returns
    -------
    ndarray of shape (n, k)
        Distances in the unit of the data, 0 or above. Squared, they are aeon's.

    References
    ----------
    Y.-S. Jeong, M. K. Jeong, O. A. Omitaomu, "Weighted dynamic time warping for time
    series classification", Pattern Recognition 44, 2011.

    Examples
    --------
    >>> from kreinlearn.kernels import wdtw
    >>> wdtw([[0, 0, 3, 0]], [[0, 3, 3, 0], [4, 4]], g=0).round(4)
    array([[0.    , 4.9497]])
    """
    params = (_check_nonnegative("g", g),)
    return _compute_distances(X, Y, "wdtw", params, derivative=derivative)


def adtw(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    penalty: float = 1.0,
    window: float | None = None,
    derivative: bool = False,
) -> Array:
    """Amerced dynamic time warping, which charges a penalty for each step of warping.

    With a penalty of 0 it is `dtw`, and with a large one, for series of one length, the
    Euclidean distance.

    Parameters
    ----------
    X : sequence of n series
        As `check_series` takes them.
    Y : sequence of k series, default=None
        Others; None means X.
    penalty : float, default=1.0
        Cost of a step away from the diagonal, in the unit of the data squared, 0 or
        above.
    window : float, default=None
        Largest distance of an alignment from the diagonal, as a fraction of the length
        of the shorter series, 0 to 1; None means no limit.
    derivative : bool, default=False
        Whether to compare the slopes of the series instead of their values.

    Returns
    -------
    ndarray of shape (n, k)
        Distances in the unit of the data, 0 or above. Squared, they are aeon's.

    References
    ----------
    M. Herrmann, G. I. Webb, "Amercing: An intuitive and effective constraint for
    dynamic time warping", Pattern Recognition 137, 2023.

    Examples
    --------
    >>> from kreinlearn.kernels import adtw
    >>> adtw([[0, 0, 3, 0]], [[0, 3, 0, 0]], penalty=2).round(4)
    array([[2.]])
    """
    params = (_check_nonnegative("penalty", penalty),)
    return _compute_distances(X, Y, "adtw", params, window, derivative)


def erp(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    g: float = 0.0,
    window: float | None = None,
    derivative: bool = False,
) -> Array:
    """Edit distance with real penalty: values match, or are skipped at a price.

    A metric, without a window. To skip a value costs its distance from g.

    Parameters
    ----------
    X : sequence of n series
        As `check_series` takes them.
    Y : sequence of k series, default=None
        Others; None means X.
    g : float, default=0.0
        Value that skipped values are compared with; 0 suits series of mean 0.
    window : float, default=None
        Largest distance of an alignment from the diagonal, as a fraction of the length
        of the shorter series, 0 to 1; None means no limit.
    derivative : bool, default=False
        Whether to compare the slopes of the series instead of their values.

    Returns
    -------
    ndarray of shape (n, k)
        Distances in the unit of the data, 0 or above.

    References
    ----------
    L. Chen, R. Ng, "On the marriage of Lp-norms and edit distance", International
    Conference on Very Large Data Bases, 2004.

    Examples
    --------
    >>> from kreinlearn.kernels import erp
    >>> erp([[1, 2, 3]], [[1, 3], [2, 2, 2]])
    array([[2., 2.]])
    """
    if not (_is_number(g) and np.isfinite(g)):
        raise ValueError(f"'g' must be a finite number, got {g!r}.")
    return _compute_distances(X, Y, "erp", (float(g),), window, derivative)


def lcss(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    epsilon: float = 1.0,
    window: float | None = None,
    derivative: bool = False,
) -> Array:
    """Fraction of the shorter series outside the longest common subsequence.

    Parameters
    ----------
    X : sequence of n series
        As `check_series` takes them.
    Y : sequence of k series, default=None
        Others; None means X.
    epsilon : float, default=1.0
        Distance up to which two values match, in the unit of the data, 0 or above.
    window : float, default=None
        Largest distance of a match from the diagonal, as a fraction of the length of
        the shorter series, 0 to 1; None means no limit.
    derivative : bool, default=False
        Whether to compare the slopes of the series instead of their values.

    Returns
    -------
    ndarray of shape (n, k)
        Distances, 0 to 1.

    References
    ----------
    M. Vlachos, G. Kollios, D. Gunopulos, "Discovering similar multidimensional
    trajectories", International Conference on Data Engineering, 2002.

    Examples
    --------
    >>> from kreinlearn.kernels import lcss
    >>> lcss([[0, 1, 5, 2]], [[0, 9, 1, 2], [7, 7]], epsilon=0.5)
    array([[0.25, 1.  ]])
    """
    params = (_check_nonnegative("epsilon", epsilon),)
    return _compute_distances(X, Y, "lcss", params, window, derivative)


def msm(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    c: float = 1.0,
    derivative: bool = False,
) -> Array:
    """Move-split-merge: values are moved, or doubled or joined at a price.

    A metric. Of several channels, the sum over channels.

    Parameters
    ----------
    X : sequence of n series
        As `check_series` takes them.
    Y : sequence of k series, default=None
        Others; None means X.
    c : float, default=1.0
        Cost of a split or a merge, in the unit of the data, 0 or above.
    derivative : bool, default=False
        Whether to compare the slopes of the series instead of their values.

    Returns
    -------
    ndarray of shape (n, k)
        Distances in the unit of the data, 0 or above.

    References
    ----------
    A. Stefan, V. Athitsos, G. Das, "The move-split-merge metric for time series", IEEE
    Transactions on Knowledge and Data Engineering 25(6), 2013.

    Examples
    --------
    >>> from kreinlearn.kernels import msm
    >>> msm([[1, 2, 3]], [[1, 2, 2, 3], [4, 4, 4]], c=0.5)
    array([[0.5, 5. ]])
    """
    params = (_check_nonnegative("c", c),)
    return _compute_distances(X, Y, "msm", params, derivative=derivative)


def twe(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    nu: float = 0.001,
    lmbda: float = 1.0,
    derivative: bool = False,
) -> Array:
    """Time warp edit distance: values match with those before them, or are deleted.

    A metric for nu above 0. Series are taken to start from 0.

    Parameters
    ----------
    X : sequence of n series
        As `check_series` takes them.
    Y : sequence of k series, default=None
        Others; None means X.
    nu : float, default=0.001
        Stiffness: cost of one step in time, 0 or above.
    lmbda : float, default=1.0
        Cost of a deletion, in the unit of the data, 0 or above.
    derivative : bool, default=False
        Whether to compare the slopes of the series instead of their values.

    Returns
    -------
    ndarray of shape (n, k)
        Distances in the unit of the data, 0 or above.

    References
    ----------
    P.-F. Marteau, "Time warp edit distance with stiffness adjustment for time series
    matching", IEEE Transactions on Pattern Analysis and Machine Intelligence 31(2),
    2009.

    Examples
    --------
    >>> from kreinlearn.kernels import twe
    >>> twe([[1, 2, 3]], [[1, 2, 3, 3], [1, 3, 2]], nu=0.5)
    array([[1.5, 3. ]])
    """
    params = (_check_nonnegative("nu", nu), _check_nonnegative("lmbda", lmbda))
    return _compute_distances(X, Y, "twe", params, derivative=derivative)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_nonnegative(name: str, value: float) -> float:
    """Return a finite number, 0 or above, or raise."""
    if not (_is_number(value) and np.isfinite(value) and value >= 0):
        raise ValueError(f"{name!r} must be a number, 0 or above, got {value!r}.")
    return float(value)


def _check_window(value: float | None) -> float:
    """Return a fraction of the length, or -1 for None, or raise."""
    if value is None:
        return -1.0
    if not (_is_number(value) and 0 <= value <= 1):
        raise ValueError(
            f"'window' must be a share of the length, 0 to 1, or None, got {value!r}; "
            "for a number of samples, divide it by the length."
        )
    return float(value)


# -- all pairs -------------------------------------------------------------------------


def _compute_distances(
    X: SampleSet,
    Y: SampleSet | None,
    measure: str,
    params: tuple[float, ...] = (),
    window: float | None = None,
    derivative: bool = False,
) -> Array:
    """Return the distances between all series of two sets.

    Parameters
    ----------
    X : sequence of series
        As `check_series` takes them.
    Y : sequence of series or None
        Others, or None for the same.
    measure : str
        One of ``MEASURE_NAMES`` of the compiled code.
    params : tuple of float
        Its parameters, two at most.
    window : float, optional
        Fraction of the shorter series.
    derivative : bool
        Whether to compare slopes.

    Returns
    -------
    ndarray of shape (n, k)
        Distances.
    """
    rows = check_series(X, "X")
    columns = None if Y is None or Y is X else check_series(Y, "Y")
    if columns is not None:
        ours, theirs = len(_get_channels(rows[0])), len(_get_channels(columns[0]))
        if ours != theirs:
            raise ValueError(
                "'X' and 'Y' must have the same number of channels, got series of "
                f"{ours} and {theirs}; arrays of shape (channels, length) have "
                "channels first."
            )
    if derivative:
        rows = _compute_slopes(rows, "X")
        columns = None if columns is None else _compute_slopes(columns, "Y")
    first, second, *_ = (*params, 0.0, 0.0)
    settings = (first, second, _check_window(window))
    if columns is not None and len(columns) < len(rows):  # a larger set fills panels
        D = np.ascontiguousarray(_compare_checked(columns, rows, measure, settings).T)
    else:
        D = _compare_checked(rows, columns, measure, settings)
    if not np.isfinite(D).all():
        raise ValueError(
            "Distances between series must be finite, but these are too large for "
            "double precision; divide all series by one large number."
        )
    return D


def _compute_slopes(samples: list[Series], name: str) -> list[Series]:
    """Return the slopes of series, two values fewer each, or raise."""
    for i, series in enumerate(samples):
        if _get_length(series) < 3:
            raise ValueError(
                "Slopes need series of at least three values, got "
                f"{_get_length(series)} in {name}[{i}]; set derivative=False."
            )
    slopes = [
        [(z[1:-1] - z[:-2] + (z[2:] - z[:-2]) / 2) / 2 for z in _get_channels(series)]
        for series in samples
    ]
    return [each[0] if len(each) == 1 else tuple(each) for each in slopes]


def _compare_checked(
    rows: list[Series],
    columns: list[Series] | None,
    measure: str,
    settings: tuple[float, float, float],
) -> Array:
    """Return the distances between checked series."""
    from kreinlearn.kernels._compiled import series

    X, x_starts, x_order = _concatenate(rows)
    Y, y_starts, y_order = X, x_starts, x_order
    if columns is not None:
        Y, y_starts, y_order = _concatenate(columns)
    # These measures depend on the lengths of both series: a panel must have one length.
    needs_equal = measure == "wdtw" or settings[2] >= 0
    panels = _split_panels(np.diff(y_starts), series.LANE_COUNT, needs_equal)
    fill = series.make_fill(series.MEASURE_NAMES.index(measure), Y.shape[1] == 1)
    out = np.empty((len(x_order), len(y_order)))
    about = (out, X, x_starts, Y, y_starts, (x_order, y_order), panels, settings)
    work = partial(fill, *about, columns is None)
    n_threads = 1 if len(X) * len(Y) < SERIAL_CELLS else threads.max_threads()
    threads.parallel_for(work, len(panels) - 1, n_threads)
    return out


def _split_panels(lengths: Array, lanes: int, needs_equal: bool) -> Array:
    """Return where panels start, and where the last one ends, of sorted lengths."""
    edges = np.flatnonzero(np.diff(lengths)) + 1 if needs_equal else np.empty(0, int)
    edges = np.concatenate([[0], edges, [len(lengths)]]).astype(np.intp)
    starts = [np.arange(a, b, lanes) for a, b in pairwise(edges)]
    return np.concatenate([*starts, edges[-1:]]).astype(np.intp)


def _concatenate(samples: list[Series]) -> tuple[Array, Array, Array]:
    """Return series one after another, sorted by length.

    Returns values (points, channels), where each series starts and the last one ends,
    and the order of the series.
    """
    lengths = np.array([_get_length(series) for series in samples])
    order = np.argsort(lengths, kind="stable")
    columns = zip(*(_get_channels(samples[i]) for i in order), strict=True)
    values = np.stack([np.concatenate(column) for column in columns], axis=1)
    starts = np.concatenate([[0], np.cumsum(lengths[order])])
    return np.ascontiguousarray(values), starts, order


def _get_channels(series: Series) -> tuple[Array, ...]:
    return series if isinstance(series, tuple) else (series,)


def _get_length(series: Series) -> int:
    return len(_get_channels(series)[0])


# -- input -----------------------------------------------------------------------------


def check_series(X: SampleSet, name: str = "X") -> list[Series]:
    """Return time series as a list of arrays, or raise.

    Parameters
    ----------
    X : sequence of series
        One of

        - a list (or tuple, or array of objects) of 1-D sequences of numbers, of any
          lengths;
        - an array or DataFrame of shape (n, length), one series per row. NaN at the
          end of a row counts as padding and is cut off;
        - a list of tuples of 1-D arrays, one per channel;
        - a list of arrays of shape (channels, length), as aeon has them;
        - an array of shape (n, channels, length), as aeon has it, or of shape
          (n, length, 1), as tslearn has it. NaN at the end of all channels counts
          as padding and is cut off.

        Channels come first. They come last, as in tslearn, only where nothing else is
        possible: the last axis has size 1, only the first axis varies within the list,
        or NaN pads that axis. More channels than times are an error, which asks for one
        tuple of channels per series. Nested and multi-indexed DataFrames are not
        supported.
    name : str, default="X"
        Name of the parameter, for messages.

    Returns
    -------
    list
        One item per series: a 1-D float64 array, or for several channels a tuple of
        these. All have the same number of channels and at least one value, and all
        values are finite.

    Raises
    ------
    TypeError, ValueError
        If X holds anything else; the message has the position of the series.

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn.kernels import check_series
    >>> check_series([[1, 2, 3], [4, 5]])
    [array([1., 2., 3.]), array([4., 5.])]
    >>> check_series(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, np.nan]]))
    [array([1., 2., 3.]), array([4., 5.])]
    >>> check_series(np.arange(12.0).reshape(2, 2, 3))[1]
    (array([6., 7., 8.]), array([ 9., 10., 11.]))
    """
    samples = _convert(X, name)
    if not samples:
        raise ValueError(f"{name!r} must hold at least one series, got none.")
    _check_items(samples, name)
    return samples


def _check_items(samples: list[Series], name: str) -> None:
    """Raise unless all series have values, equally many channels, and no gaps."""
    expected = len(_get_channels(samples[0]))
    for i, series in enumerate(samples):
        if _get_length(series) == 0:
            raise ValueError(
                f"Series must have at least one value, got none in {name}[{i}]; leave "
                "it out."
            )
        if len(_get_channels(series)) != expected:
            raise ValueError(
                "All series must have the same number of channels, got "
                f"{expected} in {name}[0] and {len(_get_channels(series))} in "
                f"{name}[{i}]."
            )
    arrays = [channel for series in samples for channel in _get_channels(series)]
    if np.isfinite(np.concatenate(arrays)).all():
        return
    which = next(k for k, x in enumerate(arrays) if not np.isfinite(x).all())
    time = int(np.isfinite(arrays[which]).argmin())
    raise ValueError(
        f"Series must hold finite numbers, got {arrays[which][time]} in "
        f"{name}[{which // expected}] at time {time}, counted from 0; leave the series "
        "out, cut it, or fill the gap, for example with numpy.interp."
    )


def _convert(X: SampleSet, name: str) -> list[Series]:
    """Return the series of a list, an array or a DataFrame."""
    if getattr(getattr(X, "index", None), "nlevels", 1) > 1:
        raise TypeError(
            f"{name!r} must be {ACCEPTED_INPUT}, got a DataFrame with several levels "
            "of rows; make an array per series of it."
        )
    if isinstance(X, list | tuple):
        return _convert_items(X, name)
    array = np.asarray(X)
    if array.dtype == object and array.ndim == 1:
        return _convert_items(array, name)
    if array.dtype == object and array.size and np.ndim(array.flat[0]) > 0:
        raise TypeError(
            f"{name!r} must be {ACCEPTED_INPUT}, got a table with a series in each "
            "cell; make a tuple of channels per row of it."
        )
    if array.ndim not in (2, 3):
        found = f"{type(X).__name__} with {array.ndim} axes"
        if array.ndim == 1:
            kind = type(X).__name__
            found = f"a single series, which becomes a set of one as [{kind}]"
        raise ValueError(f"{name!r} must be {ACCEPTED_INPUT}, got {found}.")
    return _convert_array(_check_numbers(array, name), name)


def _check_numbers(values: object, name: str) -> Array:
    """Return an array of float64, or raise."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiubO":
            raise TypeError
        return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must hold real numbers, in channels of equal length if there are "
            f"several, got {type(values).__name__} that is not; convert or cut it."
        ) from None


def _convert_items(items: Iterable[object], name: str) -> list[Series]:
    """Return the series of a list."""
    arrays = [_check_numbers(item, f"{name}[{i}]") for i, item in enumerate(items)]
    shapes = []
    for i, (item, array) in enumerate(zip(items, arrays, strict=True)):
        if array.ndim not in (1, 2):
            hint = "; a single series becomes a set of one as [x]"
            raise ValueError(
                f"{name!r} must be {ACCEPTED_INPUT}, got {name}[{i}] with {array.ndim} "
                f"axes{hint if array.ndim == 0 else ''}."
            )
        if array.ndim == 2 and not isinstance(item, tuple):
            shapes.append(array.shape)
    is_last = bool(shapes) and _is_channels_last(shapes, name)
    pairs = zip(items, arrays, strict=True)
    turned = [x.T if is_last and not isinstance(one, tuple) else x for one, x in pairs]
    return [x if x.ndim == 1 else _split_channels(x) for x in turned]


def _convert_array(array: Array, name: str) -> list[Series]:
    """Return the series of an array, without padding."""
    stack = array[:, None] if array.ndim == 2 else array
    gaps: Array = np.isnan(stack)
    if array.ndim == 2:
        is_last = False
    elif gaps.any() and _is_padding(gaps) != _is_padding(gaps.swapaxes(1, 2)):
        is_last = not _is_padding(gaps)
    else:
        is_last = _is_channels_last([stack.shape[1:]], name)
    if is_last:
        stack, gaps = stack.swapaxes(1, 2), gaps.swapaxes(1, 2)
    # Padding is missing in all channels; `_check_items` finds NaN elsewhere.
    at_all: Array = np.all(gaps, axis=1)
    ends = at_all[:, ::-1].argmin(axis=1)
    ends[at_all.all(axis=1)] = stack.shape[2]
    lengths = stack.shape[2] - ends
    return [_split_channels(x[:, :n]) for x, n in zip(stack, lengths, strict=True)]


def _is_padding(gaps: Array) -> bool:
    """Return whether gaps (n, channels, length) are at the end of all channels."""
    at_all: Array = np.all(gaps, axis=1)
    is_shared = (gaps == at_all[:, None]).all()
    return bool(is_shared and (at_all[:, :-1] <= at_all[:, 1:]).all())


def _is_channels_last(shapes: list[tuple[int, ...]], name: str) -> bool:
    """Return which axis of a series has its channels, or raise if it is ambiguous."""
    firsts, seconds = ({shape[axis] for shape in shapes} for axis in (0, 1))
    if firsts == {1} or seconds == {1}:
        return firsts != {1}
    if len(firsts) > 1 or len(seconds) > 1:
        return len(firsts) > 1 and len(seconds) == 1
    first, second = shapes[0]
    if first > second > 0:
        raise ValueError(
            f"Series of several channels must have shape (channels, length), got "
            f"{shapes[0]} in {name}, more channels than times; pass tuples of "
            f"channels: [tuple(x.T) for x in {name}] if time comes first, and "
            f"[tuple(x) for x in {name}] if it does not."
        )
    return False


def _split_channels(array: Array) -> Series:
    """Return the channels of one series: an array, or a tuple of several."""
    channels = tuple(np.ascontiguousarray(channel) for channel in array)
    return channels[0] if len(channels) == 1 else channels


def _count_values(X: SampleSet) -> int:
    """Return how many values the longest series has, over all channels."""
    return max(_get_length(x) * len(_get_channels(x)) for x in check_series(X))


SERIES_MEASURES = tuple(
    make_measure(function.__name__, function, _count_values)
    for function in (adtw, dtw, erp, lcss, msm, twe, wdtw)
)
"""All measures between time series."""
SERIES_KERNELS = make_kernels("series", check_series, SERIES_MEASURES)
