"""Clouds of points and histograms as people have them, checked."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._typing import Array

Cloud = tuple[Array, Array]
"""Points, one per row, and their weights."""


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
    clouds = [_one_cloud(i, cloud) for i, cloud in enumerate(X)]
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
        One histogram per row: counts or shares, 0 or more.

    Returns
    -------
    list of ndarray
        For each histogram m shares, which sum to 1 (float64).

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
    rows = [_shares(f"Histogram {i}", row) for i, row in enumerate(given)]
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"All histograms must have the same bins, but histogram 0 has "
                f"{len(rows[0])} of them, and histogram {i} has {len(row)}."
            )
    return rows


def check_same_length(own: int, others: int) -> None:
    """Raise unless histograms of two sets have as many bins."""
    if own != others:
        raise ValueError(
            f"'X' and 'Y' must have the same bins, got {own} and {others} of them."
        )


def _one_cloud(i: int, cloud: Any) -> Cloud:
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
    weights = _shares(f"Cloud {i}", cloud[1])
    if len(weights) != m:
        raise ValueError(f"Cloud {i} has {m} points, but {len(weights)} weights.")
    return points, weights


def _shares(name: str, values: Any) -> Array:
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
