"""Time series from whatever people keep them in, checked, and laid out for loops."""

from collections.abc import Iterable

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.kernels._records import SampleSet

Series = Array | tuple[Array, ...]
"""One series: its values, or one array of values per channel."""

KINDS = (
    "a list of 1-D arrays, an array of shape (n, length), a list of arrays of shape "
    "(channels, length), or an array of shape (n, channels, length)"
)


def check_series(X: SampleSet, name: str = "X") -> list[Series]:
    """Return time series as a list of arrays, or raise.

    Parameters
    ----------
    X : sequence of series
        One of

        - a list (or tuple, or array of objects) of 1-D sequences of numbers, of any
          lengths;
        - an array or DataFrame of shape (n, length), one series per row. NaN at the
          end of a row is taken for padding and cut off;
        - a list of tuples of 1-D arrays, one per channel;
        - a list of arrays of shape (channels, length), as aeon has them;
        - an array of shape (n, channels, length), as aeon has it, or of shape
          (n, length, 1), as tslearn has it. NaN at the end of all channels is taken
          for padding and cut off.

        Channels come first. They are taken to come last, as in tslearn, where nothing
        else is possible: the last axis has size 1, only the first axis varies within
        the list, or NaN pads that axis. Where there would be more channels than times,
        an error asks for one tuple of channels per series. Nested and multi-indexed
        DataFrames are not taken.
    name : str, default="X"
        What messages call it.

    Returns
    -------
    list
        One item per series: a 1-D float64 array, or for several channels a tuple of
        these. All have the same number of channels and at least one value, and all
        values are finite.

    Raises
    ------
    TypeError, ValueError
        If that is not what X holds; says which series, counted from 0.

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
    samples = list(X) if _is_canonical(X) else _from_container(X, name)
    if not samples:
        raise ValueError(f"{name!r} must hold at least one series, got none.")
    _check_items(samples, name)
    return samples


def check_sets(
    X: SampleSet, Y: SampleSet | None
) -> tuple[list[Series], list[Series] | None]:
    """Return two checked sets of series; the second is None if it is the first.

    Parameters
    ----------
    X, Y : sequence of series
        As `check_series` takes them; Y may be None.

    Returns
    -------
    tuple
        Two lists, or a list and None.
    """
    rows = check_series(X, "X")
    if Y is None or Y is X:
        return rows, None
    columns = check_series(Y, "Y")
    ours, theirs = _n_channels(rows[0]), _n_channels(columns[0])
    if ours != theirs:
        raise ValueError(
            "'X' and 'Y' must have the same number of channels, got series of "
            f"{ours} and {theirs}; arrays of shape (channels, length) have channels "
            "first."
        )
    return rows, columns


def flat(samples: list[Series]) -> tuple[Array, Array, Array]:
    """Return series one after another, sorted by length.

    Parameters
    ----------
    samples : list
        What `check_series` gives.

    Returns
    -------
    values : ndarray of shape (points, channels)
        All values.
    starts : ndarray of shape (n + 1,)
        Where each series starts, and where the last one ends.
    order : ndarray of shape (n,)
        Which series comes first, second and so on.
    """
    lengths = np.array([_length(series) for series in samples])
    order = np.argsort(lengths, kind="stable")
    columns = zip(*(_channels(samples[i]) for i in order), strict=True)
    values = np.stack([np.concatenate(column) for column in columns], axis=1)
    starts = np.concatenate([[0], np.cumsum(lengths[order])])
    return np.ascontiguousarray(values), starts, order


def longest(X: SampleSet) -> int:
    """Return how many values the longest series has, over all channels.

    Parameters
    ----------
    X : sequence of series
        As `check_series` takes them.

    Returns
    -------
    int
        Length times channels.
    """
    return max(_length(series) * _n_channels(series) for series in check_series(X))


def _channels(series: Series) -> tuple[Array, ...]:
    return series if isinstance(series, tuple) else (series,)


def _n_channels(series: Series) -> int:
    return len(_channels(series))


def _length(series: Series) -> int:
    return len(_channels(series)[0])


def _is_values(x: object) -> bool:
    return (
        type(x) is np.ndarray
        and x.ndim == 1
        and x.dtype == np.float64
        and x.flags.c_contiguous
    )


def _is_canonical(X: SampleSet) -> bool:
    """Tell whether X is a list as `check_series` gives it, but for bad values."""
    return isinstance(X, list) and all(
        _is_values(x)
        or (
            type(x) is tuple
            and len(x) > 1
            and all(_is_values(channel) for channel in x)
            and len({len(channel) for channel in x}) == 1
        )
        for x in X
    )


def _check_items(samples: list[Series], name: str) -> None:
    """Raise unless all series have values, equally many channels, and no gaps."""
    expected = _n_channels(samples[0])
    for i, series in enumerate(samples):
        if _length(series) == 0:
            raise ValueError(
                f"Series must have at least one value, got none in {name}[{i}]; leave "
                "it out."
            )
        if _n_channels(series) != expected:
            raise ValueError(
                "All series must have the same number of channels, got "
                f"{expected} in {name}[0] and {_n_channels(series)} in {name}[{i}]."
            )
    arrays = [channel for series in samples for channel in _channels(series)]
    if np.isfinite(np.concatenate(arrays)).all():
        return
    which = next(k for k, x in enumerate(arrays) if not np.isfinite(x).all())
    time = int(np.isfinite(arrays[which]).argmin())
    raise ValueError(
        f"Series must hold finite numbers, got {arrays[which][time]} in "
        f"{name}[{which // expected}] at time {time}, counted from 0; leave the series "
        "out, cut it, or fill the gap, for example with numpy.interp."
    )


# -- containers ------------------------------------------------------------------------


def _from_container(X: SampleSet, name: str) -> list[Series]:
    """Return the series of a list, an array or a DataFrame."""
    if getattr(getattr(X, "index", None), "nlevels", 1) > 1:
        raise TypeError(
            f"{name!r} must be {KINDS}, got a DataFrame with several levels of rows; "
            "make an array per series of it."
        )
    if isinstance(X, list | tuple):
        return _from_items(X, name)
    array = np.asarray(X)
    if array.dtype == object and array.ndim == 1:
        return _from_items(array, name)
    if array.dtype == object and array.size and np.ndim(array.flat[0]) > 0:
        raise TypeError(
            f"{name!r} must be {KINDS}, got a table with a series in each cell; make "
            "a tuple of channels per row of it."
        )
    if array.ndim not in (2, 3):
        raise ValueError(f"{name!r} must be {KINDS}, got {_described(X, array)}.")
    return _from_array(_numbers(array, name), name)


def _described(X: SampleSet, array: Array) -> str:
    if array.ndim == 1:
        return f"a single series, which becomes a set of one as [{type(X).__name__}]"
    return f"{type(X).__name__} with {array.ndim} axes"


def _numbers(values: object, name: str) -> Array:
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


def _from_items(items: Iterable[object], name: str) -> list[Series]:
    """Return the series of a list."""
    samples: list[Series | None] = []
    stacked: dict[int, Array] = {}
    for i, item in enumerate(items):
        array = _numbers(item, f"{name}[{i}]")
        if array.ndim == 2 and not isinstance(item, tuple):
            stacked[i] = array
            samples.append(None)
        elif array.ndim in (1, 2):
            samples.append(array if array.ndim == 1 else _joined(array))
        else:
            hint = "; a single series becomes a set of one as [x]"
            raise ValueError(
                f"{name!r} must be {KINDS}, got {name}[{i}] with {array.ndim} axes"
                f"{hint if array.ndim == 0 else ''}."
            )
    if stacked:
        is_last = _is_channels_last([a.shape for a in stacked.values()], name)
        for i, array in stacked.items():
            samples[i] = _joined(array.T if is_last else array)
    return [series for series in samples if series is not None]


def _from_array(array: Array, name: str) -> list[Series]:
    """Return the series of an array, without what pads them."""
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
    # What is padded in all channels; NaN elsewhere is found by the check of items.
    at_all: Array = np.all(gaps, axis=1)
    ends = at_all[:, ::-1].argmin(axis=1)
    ends[at_all.all(axis=1)] = stack.shape[2]
    lengths = stack.shape[2] - ends
    return [_joined(x[:, :n]) for x, n in zip(stack, lengths, strict=True)]


def _is_padding(gaps: Array) -> bool:
    """Tell whether gaps (n, channels, length) are at the end of all channels."""
    at_all: Array = np.all(gaps, axis=1)
    is_shared = (gaps == at_all[:, None]).all()
    return bool(is_shared and (at_all[:, :-1] <= at_all[:, 1:]).all())


def _is_channels_last(shapes: list[tuple[int, ...]], name: str) -> bool:
    """Tell which axis of a series has its channels, or raise if that is not clear."""
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


def _joined(array: Array) -> Series:
    """Return the channels of one series: an array, or a tuple of several."""
    channels = tuple(np.ascontiguousarray(channel) for channel in array)
    return channels[0] if len(channels) == 1 else channels
