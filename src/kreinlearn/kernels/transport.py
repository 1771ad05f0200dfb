"""Wasserstein distances: the least work that turns one distribution into the other.

A distribution is a cloud of points, with weights or without, or a histogram on bins
that are the same for all. With W_p for the distance of power p,

    W_p^p = min sum of (mass moved) * (distance moved)^p,

where all masses sum to 1. On a line, sorting solves this in compiled code. In more
dimensions, POT solves it, or `sliced_wasserstein` averages over many lines.

All functions return float64 matrices, exactly symmetric without Y, with zeros on the
diagonal then, and the same bits for two samples wherever they stand.

Letters: n and k samples in X and Y; m points in d dimensions.
"""

from collections.abc import Callable, Iterable, Mapping
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
from kreinlearn.kernels._pairwise import compute_pairwise
from kreinlearn.kernels._records import make_kernels, make_measure

__all__ = [
    "check_clouds",
    "check_histograms",
    "histogram_wasserstein",
    "sliced_wasserstein",
    "wasserstein",
]

STEPS_PER_THREAD = 1_000_000
"""Points to compare on lines that are worth one more thread."""
POINTS_AT_ONCE = 1_000_000
"""Points on lines in memory at a time: 16 MB of them and their heights."""
Cloud = tuple[Array, Array]
"""Points, one per row, and their weights."""
POT_OPTIONS = {
    "numItermax": 10_000_000,  # by default it stops early, with a wrong answer
    "log": True,
    "center_dual": False,  # the dual solution is not used
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
        Arrays of shape (m, d), or tuples (points, weights), as for `check_clouds`.
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
    clouds, n, is_same = _join_sets(X, Y)
    if clouds[0][0].shape[1] == 1:
        return _transport_on_lines(clouds, n, is_same, np.ones((1, 1)), p)
    return _transport_by_pot(clouds, n, is_same, p)


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
        Arrays of shape (m, d), or tuples (points, weights), as for `check_clouds`.
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
    clouds, n, is_same = _join_sets(X, Y)
    d = clouds[0][0].shape[1]
    directions = np.random.default_rng(seed).standard_normal((int(n_projections), d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return _transport_on_lines(clouds, n, is_same, directions, p)


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
        One histogram per row: counts or fractions, which are divided by their sum.
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
    if others.shape[1] != m:
        raise ValueError(
            "'X' and 'Y' must have the same bins, got "
            f"{m} and {others.shape[1]} of them."
        )
    points = _check_support(support, m)
    check_fits(n, len(others), float, "The matrix of distances")
    is_line = points.shape[1] == 1
    if is_line and p == 1:
        order = np.argsort(points[:, 0], kind="stable")
        gaps = np.diff(points[order, 0])
        if m == 1:
            return np.zeros((n, len(others)))
        sets = [rows] if is_same else [rows, others]
        below = [np.cumsum(each[:, order], axis=1)[:, :-1] * gaps for each in sets]
        pair = (below[0], None if is_same else below[1])
        return compute_pairwise(*pair, "absolute", transforms.identity)
    weights = rows if is_same else np.concatenate([rows, others])
    clouds = [(points, each) for each in weights]
    if is_line:
        return _transport_on_lines(clouds, n, is_same, np.ones((1, 1)), p)
    return _transport_by_pot(clouds, n, is_same, p)


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


def _join_sets(
    X: Iterable[Any], Y: Iterable[Any] | None
) -> tuple[list[Cloud], int, bool]:
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


def _transport_on_lines(
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
    n_threads = threads.count_threads(n_lines * n_steps, STEPS_PER_THREAD)
    for start in range(0, len(directions), n_lines):
        lines = directions[start : start + n_lines]
        # Not a matrix product: its rounding depends on how many points there are.
        values = np.array([(points * line).sum(axis=1) for line in lines])
        heights = _sort_lines(values, weights, firsts)
        about = values, heights, firsts, p, first_other, is_same
        threads.parallel_for(partial(compiled.add_lines, D, *about), n, n_threads)
    D /= len(directions)
    if p != 1:
        np.power(D, 1 / p, out=D)
    return D + D.T if is_same else D


def _transport_by_pot(clouds: list[Cloud], n: int, is_same: bool, p: float) -> Array:
    """Return W_p by the solver of POT."""
    emd2 = _import_solver()

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

    threads.parallel_for(work, n, threads.max_threads())
    np.maximum(D, 0.0, out=D)  # rounding
    if p != 1:
        np.power(D, 1 / p, out=D)
    return D + D.T if is_same else D


def _import_solver() -> Callable[..., Any]:
    """Return POT's solver, or raise with the command that installs it."""
    try:
        from ot import emd2
    except ImportError:
        raise ImportError(
            "Transport in more than one dimension needs POT: pip install "
            '"kreinlearn[transport]"; or take sliced_wasserstein, which does without.'
        ) from None
    return emd2


# -- input -----------------------------------------------------------------------------


def check_clouds(X: Iterable[Any]) -> list[Cloud]:
    """Return clouds of points with weights, or raise.

    Parameters
    ----------
    X : iterable of clouds
        Each is a matrix with one point per row, or a tuple of such a matrix and a
        weight, 0 or more, for each point. Without weights all points have the same. An
        array of shape (n, m, d) holds n clouds of m points.

    Returns
    -------
    list of tuple
        For each cloud points (float64 of shape (m, d)) and weights (float64 of shape
        (m,)), which are divided by their sum.

    Examples
    --------
    >>> from kreinlearn.kernels.transport import check_clouds
    >>> points, weights = check_clouds([[[0.0, 1.0], [2.0, 3.0]]])[0]
    >>> points.shape, weights.tolist()
    ((2, 2), [0.5, 0.5])
    """
    if isinstance(X, str | Mapping) or not isinstance(X, Iterable):
        raise TypeError(
            "A list of clouds was expected, each a matrix with one point per row, got "
            f"an object of type {type(X).__name__}."
        )
    clouds = [_check_cloud(i, cloud) for i, cloud in enumerate(X)]
    if not clouds:
        raise ValueError("At least one cloud was expected, got an empty list.")
    d = clouds[0][0].shape[1]
    for i, (points, _) in enumerate(clouds):
        if points.shape[1] != d:
            raise ValueError(
                f"All clouds must have points of the same dimension, but cloud 0 has "
                f"{d}, and cloud {i} has {points.shape[1]}."
            )
    return clouds


def check_histograms(X: ArrayLike) -> list[Array]:
    """Return histograms with the same bins, or raise.

    Parameters
    ----------
    X : array-like of shape (n, m)
        One histogram per row: counts or fractions, 0 or more.

    Returns
    -------
    list of ndarray
        For each histogram m fractions, which sum to 1 (float64).

    Examples
    --------
    >>> from kreinlearn.kernels.transport import check_histograms
    >>> check_histograms([[1, 3], [2, 0]])
    [array([0.25, 0.75]), array([1., 0.])]
    """
    given = list(X) if isinstance(X, Iterable) else []
    if not given or np.ndim(given[0]) != 1 or not np.size(given[0]):
        raise ValueError(
            "A matrix with one histogram per row was expected, got "
            f"{'an empty list' if isinstance(X, list) and not X else 'something else'}"
            "; pass an array of shape (n_histograms, n_bins)."
        )
    rows = [_normalize(f"Histogram {i}", row) for i, row in enumerate(given)]
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"All histograms must have the same bins, but histogram 0 has "
                f"{len(rows[0])} of them, and histogram {i} has {len(row)}."
            )
    return rows


def _check_cloud(i: int, cloud: Any) -> Cloud:
    """Return the points and weights of one cloud, or raise."""
    is_weighted = isinstance(cloud, tuple)
    if is_weighted and len(cloud) != 2:
        raise ValueError(
            f"Cloud {i}: a tuple must be (points, weights), got {len(cloud)} parts; "
            "pass points without weights as an array."
        )
    given = cloud[0] if is_weighted else cloud
    try:
        points = np.ascontiguousarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"Cloud {i} must be a matrix of numbers with one point per row."
        ) from None
    # A row of numbers may be one point, points on a line, or a histogram.
    if np.ndim(given) != 2 or 0 in points.shape:
        raise ValueError(
            f"Cloud {i} must be a matrix with at least one point, one per row, got "
            f"shape {np.shape(given)}; pass x[:, None] for numbers on a line, and "
            "histograms to histogram_wasserstein."
        )
    if not np.isfinite(points).all():
        row = int(np.isfinite(points).all(axis=1).argmin())
        raise ValueError(
            f"Cloud {i} must hold finite numbers, got {points[row].tolist()} in row "
            f"{row}; leave out such points."
        )
    m = len(points)
    if not is_weighted:
        return points, np.full(m, 1.0 / m)
    weights = _normalize(f"Cloud {i}", cloud[1])
    if len(weights) != m:
        raise ValueError(f"Cloud {i} has {m} points, but {len(weights)} weights.")
    return points, weights


def _normalize(name: str, values: Any) -> Array:
    """Return weights divided by their sum, or raise."""
    try:
        weights = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: weights must be numbers.") from None
    if weights.ndim != 1:
        raise ValueError(
            f"{name}: weights must be a row of numbers, got shape {weights.shape}."
        )
    is_good = np.isfinite(weights) & (weights >= 0)
    if not is_good.all():
        k = int(is_good.argmin())
        raise ValueError(
            f"{name}: weights must be finite and not negative, got {weights[k]} at "
            f"place {k}."
        )
    total = float(weights.sum())
    if not total > 0:
        raise ValueError(f"{name}: at least one weight must be above 0.")
    # Twice divided, weights may change in the last bit; those that sum to 1 stay.
    return weights if abs(total - 1.0) < 1e-12 else weights / total


def _count_dimensions(X: Iterable[Any]) -> int:
    return check_clouds(X)[0][0].shape[1]


def _count_bins(X: ArrayLike) -> int:
    return len(check_histograms(X)[0])


TRANSPORT_MEASURES = tuple(
    make_measure(name, function, size)
    for name, function, size in (
        ("Wasserstein distance", wasserstein, _count_dimensions),
        ("sliced Wasserstein distance", sliced_wasserstein, _count_dimensions),
        ("Wasserstein distance of histograms", histogram_wasserstein, _count_bins),
    )
)
"""All measures between distributions."""
TRANSPORT_KERNELS = (
    *make_kernels("sets", check_clouds, TRANSPORT_MEASURES[:2]),
    *make_kernels("sets", check_histograms, TRANSPORT_MEASURES[2:]),
)
