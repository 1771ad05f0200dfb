r"""Elastic distances between time series, which may differ in length and speed.

Letters: x (length n) and y (length m) are series, of one channel or several; D is the
table of all ways to align them, cell by cell the cheapest way to get there.

======== ============================================================ ===============
measure  step into cell (i, j)                                        unit
======== ============================================================ ===============
`dtw`    \|x_i - y_j\|^2, from any of three; the root of the sum      that of the data
`wdtw`   the same, weighted by a logistic function of \|i - j\|       that of the data
`erp`    match \|x_i - y_j\|, or skip a value at \|x_i - g\|          that of the data
`lcss`   1 for a match within epsilon; share of what does not match   none, 0 to 1
`msm`    move \|x_i - y_j\|, or split and merge at a cost c           that of the data
`twe`    match values and steps, or delete at a cost, in time too     that of the data
======== ============================================================ ===============

`erp`, `msm` and `twe` are metrics; the others break the triangle inequality, and
similarities made of any of them are indefinite in general.

Roots: `dtw` and `wdtw` return the root of the summed squares, as tslearn does for
`dtw`. aeon returns the sum itself, for both: square ours to compare. All other
distances are those of aeon, except that `erp` starts from the running sum of the
gaps, as its authors define it, where aeon starts from the sum over the whole series.

Several channels: \|x_i - y_j\| is the Euclidean distance between the values of all
channels at two times, so that one alignment holds for all of them; `msm` is the sum of
the distances in each channel.

Windows are a share of the shorter series, as in aeon: with ``window=0.1``, times of
two series of length 128 are aligned if they are at most 12 steps apart. For unequal
lengths the steps are those of the shorter series, away from the diagonal.

All is computed in float64, for sixteen pairs at once, with a few rows of D in memory.
With Y left out only half is computed, and results are symmetric to the last bit.
"""

from numbers import Real

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.kernels._records import Measure, SampleSet
from kreinlearn.kernels._series_pairs import between_series
from kreinlearn.kernels._series_samples import check_series, longest

__all__ = ["check_series", "dtw", "erp", "lcss", "msm", "twe", "wdtw"]


def dtw(
    X: SampleSet, Y: SampleSet | None = None, *, window: float | None = None
) -> Array:
    """Dynamic time warping, the root of the least sum of squares over all alignments.

    Parameters
    ----------
    X : sequence of n series
        As `check_series` takes them.
    Y : sequence of k series, default=None
        Others; None means X.
    window : float, default=None
        How far from the diagonal an alignment may go, as a share of the length of the
        shorter series, 0 to 1; None means as far as it likes.

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
    return between_series(X, Y, "dtw", (), _share("window", window))


def wdtw(X: SampleSet, Y: SampleSet | None = None, *, g: float = 0.05) -> Array:
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
    return between_series(X, Y, "wdtw", (_not_negative("g", g),))


def erp(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    g: float = 0.0,
    window: float | None = None,
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
        What skipped values are compared with; 0 suits series of mean 0.
    window : float, default=None
        How far from the diagonal an alignment may go, as a share of the length of the
        shorter series, 0 to 1; None means as far as it likes.

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
    return between_series(X, Y, "erp", (float(g),), _share("window", window))


def lcss(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    epsilon: float = 1.0,
    window: float | None = None,
) -> Array:
    """Share of the shorter series outside the longest common subsequence.

    Parameters
    ----------
    X : sequence of n series
        As `check_series` takes them.
    Y : sequence of k series, default=None
        Others; None means X.
    epsilon : float, default=1.0
        Distance up to which two values match, in the unit of the data, 0 or above.
    window : float, default=None
        How far from the diagonal values may match, as a share of the length of the
        shorter series, 0 to 1; None means as far as they like.

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
    known = (_not_negative("epsilon", epsilon),)
    return between_series(X, Y, "lcss", known, _share("window", window))


def msm(X: SampleSet, Y: SampleSet | None = None, *, c: float = 1.0) -> Array:
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
    return between_series(X, Y, "msm", (_not_negative("c", c),))


def twe(
    X: SampleSet,
    Y: SampleSet | None = None,
    *,
    nu: float = 0.001,
    lmbda: float = 1.0,
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
    known = (_not_negative("nu", nu), _not_negative("lmbda", lmbda))
    return between_series(X, Y, "twe", known)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _not_negative(name: str, value: float) -> float:
    """Return a finite number, 0 or above, or raise."""
    if not (_is_number(value) and np.isfinite(value) and value >= 0):
        raise ValueError(f"{name!r} must be a number, 0 or above, got {value!r}.")
    return float(value)


def _share(name: str, value: float | None) -> float | None:
    """Return a share of the length, or None, or raise."""
    if value is None:
        return None
    if not (_is_number(value) and 0 <= value <= 1):
        raise ValueError(
            f"{name!r} must be a share of the length, 0 to 1, or None, got {value!r}; "
            "for a number of samples, divide it by the length."
        )
    return float(value)


SERIES_MEASURES = (
    Measure("dtw", dtw, longest, ("window",)),
    Measure("erp", erp, longest, ("g", "window")),
    Measure("lcss", lcss, longest, ("epsilon", "window")),
    Measure("msm", msm, longest, ("c",)),
    Measure("twe", twe, longest, ("nu", "lmbda")),
    Measure("wdtw", wdtw, longest, ("g",)),
)
"""All measures between time series."""
