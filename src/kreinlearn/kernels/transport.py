"""Wasserstein distances: the least work that turns one distribution into the other.

A distribution is a cloud of points, with weights or without, or a histogram on bins
that are the same for all. With W_p for the distance of power p,

    W_p^p = min sum of (mass moved) * (distance moved)^p,

where all masses sum to 1. On a line sorting solves this, and compiled code does it; in
more dimensions, POT does, or `sliced_wasserstein` takes the mean over many lines.

All functions give float64 matrices, exactly symmetric with Y left out, zero on the
diagonal then, and the same bits for two samples wherever they stand.

Letters: n and k samples in X and Y; m points in d dimensions.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.kernels import threads, transforms
from kreinlearn.kernels._distributions import (
    Cloud,
    check_clouds,
    check_histograms,
    check_same_length,
)
from kreinlearn.kernels._pairs import between_rows
from kreinlearn.kernels._records import Measure
from kreinlearn.kernels._work import share_out

__all__ = [
    "check_clouds",
    "check_histograms",
    "histogram_wasserstein",
    "sliced_wasserstein",
    "wasserstein",
]

THREAD_STEPS = 1_000_000
"""Points to compare on lines that are worth one more thread."""
POINTS_AT_ONCE = 1_000_000
"""Points on lines that are kept at a time: 16 MB of them and their heights."""
POT_OPTIONS = {
    "numItermax": 10_000_000,  # by default it stops early, with a wrong answer
    "log": True,
    "center_dual": False,  # nobody asks for the dual solution
    "check_marginals": False,  # they were checked before
}
"""How POT's solver is called."""


def wasserstein(
    X: Iterable[Any], Y: Iterable[Any] | None = None, *, p: float = 1.0
) -> Array:
    """Wasserstein distance between clouds of points.

    Points move along straight lines, and distances are Euclidean. On a line (d = 1)
    ``exp(-W_1)`` and ``exp(-W_2^2)`` are positive definite; in more dimensions they
    are indefinite in general.

    Parameters
    ----------
    X : iterable of n clouds
        What `check_clouds` takes: arrays of shape (m, d), or tuples (points, weights).
    Y : iterable of k clouds, default=None
        Other clouds; None means X.
    p : float, default=1.0
        Power, 1 or more.

    Returns
    -------
    ndarray of shape (n, k)
        Distances W_p.

    Notes
    -----
    With d > 1 this needs POT (``pip install "kreinlearn[transport]"``), and the time
    of a pair grows with about the cube of the number of points.

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn.kernels.transport import wasserstein
    >>> wasserstein([np.array([[0.0], [1.0]]), np.array([[3.0]])])
    array([[0. , 2.5],
           [2.5, 0. ]])
    """
    p = _check_power(p)
    clouds, n, is_same = _both(X, Y)
    if clouds[0][0].shape[1] == 1:
        return _on_lines(clouds, n, is_same, np.ones((1, 1)), p)
    return _with_pot(clouds, n, is_same, p)


def sliced_wasserstein(
    X: Iterable[Any],
    Y: Iterable[Any] | None = None,
    *,
    p: float = 1.0,
    n_projections: int = 50,
    seed: int = 0,
) -> Array:
    """Sliced Wasserstein distance: the mean over random lines through the clouds.

    Clouds are projected to lines of random directions, and ``W_p^p`` is replaced by
    its mean over these. With the same seed the directions are the same for all clouds
    of that dimension. ``exp(-SW_1)`` and ``exp(-SW_2^2)`` are positive definite.

    Parameters
    ----------
    X : iterable of n clouds
        What `check_clouds` takes: arrays of shape (m, d), or tuples (points, weights).
    Y : iterable of k clouds, default=None
        Other clouds; None means X.
    p : float, default=1.0
        Power, 1 or more.
    n_projections : int, default=50
        Number of directions. The error falls with its square root.
    seed : int, default=0
        Seed of the directions.

    Returns
    -------
    ndarray of shape (n, k)
        Distances SW_p, none above W_p.

    References
    ----------
    N. Bonneel, J. Rabin, G. Peyré, H. Pfister, "Sliced and Radon Wasserstein
    barycenters of measures", Journal of Mathematical Imaging and Vision 51(1), 2015.

    S. Kolouri, Y. Zou, G. K. Rohde, "Sliced Wasserstein kernels for probability
    distributions", IEEE Conference on Computer Vision and Pattern Recognition, 2016.

    Examples
    --------
    The mean of ``|cos|`` over all directions of a plane is 2 / pi, about 0.64:

    >>> from kreinlearn.kernels.transport import sliced_wasserstein
    >>> clouds = [[[0.0, 0.0]], [[3.0, 4.0]]]
    >>> D = sliced_wasserstein(clouds, n_projections=1000)
    >>> round(float(D[0, 1] / 5), 1)
    0.6
    """
    p = _check_power(p)
    if not isinstance(n_projections, Integral) or n_projections < 1:
        raise ValueError(
            f"'n_projections' must be a whole number above 0, got {n_projections!r}."
        )
    clouds, n, is_same = _both(X, Y)
    d = clouds[0][0].shape[1]
    directions = np.random.default_rng(seed).standard_normal((int(n_projections), d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return _on_lines(clouds, n, is_same, directions, p)


def histogram_wasserstein(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    support: ArrayLike | None = None,
    p: float = 1.0,
) -> Array:
    """Wasserstein distance between histograms that have the same bins.

    Parameters
    ----------
    X : array-like of shape (n, m)
        One histogram per row: counts or shares, which are divided by their sum.
    Y : array-like of shape (k, m), default=None
        Other histograms; None means X.
    support : array-like of shape (m,) or (m, d), default=None
        Where the bins are, as numbers or points; None means 0, 1, ..., m - 1.
    p : float, default=1.0
        Power, 1 or more.

    Returns
    -------
    ndarray of shape (n, k)
        Distances W_p, with Euclidean distances between bins.

    Notes
    -----
    Bins that are points in more than one dimension need POT
    (``pip install "kreinlearn[transport]"``).

    Examples
    --------
    >>> from kreinlearn.kernels.transport import histogram_wasserstein
    >>> histogram_wasserstein([[1, 1, 0], [0, 0, 2]])
    array([[0. , 1.5],
           [1.5, 0. ]])
    """
    p = _check_power(p)
    rows = np.stack(check_histograms(X))
    is_same = Y is None or Y is X
    others = rows if Y is None or is_same else np.stack(check_histograms(Y))
    n, m = rows.shape
    check_same_length(m, others.shape[1])
    points = _check_support(support, m)
    check_fits(n, len(others), float, "The matrix of distances")
    is_line = points.shape[1] == 1
    if is_line and p == 1:
        order = np.argsort(points[:, 0], kind="stable")
        gaps = np.diff(points[order, 0])
        below, others_below = (
            np.cumsum(each[:, order], axis=1)[:, :-1] * gaps for each in (rows, others)
        )
        if m == 1:
            return np.zeros((n, len(others)))
        return between_rows(
            below, None if is_same else others_below, "absolute", transforms.identity
        )
    weights = rows if is_same else np.concatenate([rows, others])
    clouds = [(points, each) for each in weights]
    if is_line:
        return _on_lines(clouds, n, is_same, np.ones((1, 1)), p)
    return _with_pot(clouds, n, is_same, p)


def _check_power(p: float) -> float:
    """Return the power, or raise."""
    if not isinstance(p, Real) or isinstance(p, bool) or not 1 <= p < np.inf:
        raise ValueError(f"'p' must be a number, 1 or more, got {p!r}.")
    return float(p)


def _check_support(support: ArrayLike | None, m: int) -> Array:
    """Return the points of m bins, or raise."""
    points = np.arange(m) if support is None else np.asarray(support)
    points = points[:, None] if points.ndim == 1 else points
    is_numeric = points.dtype.kind in "fiu" and np.isfinite(points).all()
    if points.ndim != 2 or len(points) != m or 0 in points.shape or not is_numeric:
        raise ValueError(
            f"'support' must hold a finite number, or a point, for each of the {m} "
            f"bins, got shape {points.shape} and dtype {points.dtype}."
        )
    return points.astype(float)


def _both(X: Iterable[Any], Y: Iterable[Any] | None) -> tuple[list[Cloud], int, bool]:
    """Return the clouds of X, and of Y behind them, how many X has, and if X is Y."""
    clouds = check_clouds(X)
    n, is_same = len(clouds), Y is None or Y is X
    if Y is not None and not is_same:
        others = check_clouds(Y)
        own, other = (each[0][0].shape[1] for each in (clouds, others))
        if own != other:
            raise ValueError(
                f"'X' and 'Y' must have points of the same dimension, got {own} and "
                f"{other}."
            )
        clouds = clouds + others
    n_others = n if is_same else len(clouds) - n
    check_fits(n, n_others, float, "The matrix of distances")
    return clouds, n, is_same


def _sort_lines(values: Array, weights: Array, firsts: Array) -> Array:
    """Sort the points of each distribution on each line, in place.

    Returns the weight of all points up to and with each one, 1 at the last.
    """
    heights = np.empty_like(values)
    for begin, end in pairwise(firsts):
        own = values[:, begin:end]
        order = np.argsort(own, axis=1)
        own[:] = np.take_along_axis(own, order, axis=1)
        sums = np.cumsum(weights[begin:end][order], axis=1)
        heights[:, begin:end] = np.minimum(sums, 1.0)
        heights[:, end - 1] = 1.0
    return heights


def _on_lines(
    clouds: list[Cloud], n: int, is_same: bool, directions: Array, p: float
) -> Array:
    """Return W_p with the mean of W_p^p over projections to lines."""
    from kreinlearn.kernels._compiled import transport as compiled

    firsts = np.cumsum([0, *(len(points) for points, _ in clouds)])
    points = np.concatenate([points for points, _ in clouds])
    weights = np.concatenate([weights for _, weights in clouds])
    first_other = 0 if is_same else n
    k = len(clouds) - first_other
    D = np.zeros((n, k))
    total = int(firsts[-1])
    # Each pair is as long as both clouds; sorting a point takes some twenty steps.
    n_steps = 20 * total + int(firsts[n]) * k + (total - int(firsts[first_other])) * n
    n_lines = max(1, min(len(directions), POINTS_AT_ONCE // total))
    n_threads = min(1 + n_lines * n_steps // THREAD_STEPS, threads.max_threads())
    for start in range(0, len(directions), n_lines):
        lines = directions[start : start + n_lines]
        # Not a matrix product: its rounding depends on how many points there are.
        values = np.array([(points * line).sum(axis=1) for line in lines])
        heights = _sort_lines(values, weights, firsts)
        about = values, heights, firsts, p, first_other, is_same
        share_out(partial(compiled.add_lines, D, *about), n, n_threads)
    D /= len(directions)
    if p != 1:
        np.power(D, 1 / p, out=D)
    return D + D.T if is_same else D


def _with_pot(clouds: list[Cloud], n: int, is_same: bool, p: float) -> Array:
    """Return W_p as POT finds it."""
    emd2 = _solver()

    first_other = 0 if is_same else n
    D = np.zeros((n, len(clouds) - first_other))
    # POT takes a detour for points without weight.
    clouds = [(points[w > 0], w[w > 0]) for points, w in clouds]
    # The same two clouds in the same order wherever they stand, for the same bits.
    keys = [(len(w), points.tobytes(), w.tobytes()) for points, w in clouds]

    def work(first: int, last: int) -> None:
        for i in range(first, last):
            for j in range(i + 1 if is_same else 0, D.shape[1]):
                one, two = sorted((i, first_other + j), key=keys.__getitem__)
                if keys[one] == keys[two]:
                    continue
                (points, own), (others, other) = clouds[one], clouds[two]
                cost = cdist(points, others)
                if p != 1:
                    np.power(cost, p, out=cost)
                D[i, j], log = emd2(own, other, cost, **POT_OPTIONS)
                if log["warning"]:
                    raise ArithmeticError(
                        f"POT found no transport between sample {i} of 'X' and sample "
                        f"{j} of {'X' if is_same else 'Y'!r}: {log['warning']}"
                    )

    share_out(work, n, threads.max_threads())
    np.maximum(D, 0.0, out=D)  # what rounding may leave of nearly nothing
    if p != 1:
        np.power(D, 1 / p, out=D)
    return D + D.T if is_same else D


def _solver() -> Callable[..., Any]:
    """Return POT's solver, or raise with the command that installs it."""
    try:
        from ot import emd2
    except ImportError:
        raise ImportError(
            "Transport in more than one dimension needs POT: pip install "
            '"kreinlearn[transport]"; or take sliced_wasserstein, which does without.'
        ) from None
    return emd2


def _n_dimensions(X: Iterable[Any]) -> int:
    return check_clouds(X)[0][0].shape[1]


def _n_bins(X: ArrayLike) -> int:
    return len(check_histograms(X)[0])


TRANSPORT_MEASURES = (
    Measure("Wasserstein distance", wasserstein, _n_dimensions, ("p",)),
    Measure(
        "sliced Wasserstein distance",
        sliced_wasserstein,
        _n_dimensions,
        ("p", "n_projections", "seed"),
    ),
    Measure(
        "Wasserstein distance of histograms",
        histogram_wasserstein,
        _n_bins,
        ("support", "p"),
    ),
)
"""All measures between distributions."""
