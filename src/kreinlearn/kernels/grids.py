"""Settings of a kernel worth trying, for cross-validation."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from kreinlearn._typing import Array
from kreinlearn.kernels.spd import spd_distances

RATIOS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""Multiples of the number of features for the range tau of the TL1 kernel.

On training halves of sixteen small data sets, cross-validation chose values below 0.3
in one case of six.
"""
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Multiples of the median distance for the widths of Gaussians and their like."""
SPD_WIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Multiples of the median distance between covariance matrices.

Wider than between vectors: on a training half of faces, the held-out log-loss at two
and four times the median is below that at the median.
"""
SAMPLED = 500
"""Samples that a median distance is taken over."""
SPD_SAMPLED = 200
"""The same where each distance takes the eigenvalues of a matrix."""

METRICS = {"rbf": "euclidean", "epanechnikov": "euclidean", "laplacian": "cityblock"}


def default_grid(
    kernel: Any, X: Any, fixed: Mapping[str, Any] | None = None
) -> dict[str, list[float]]:
    """Return the values of a kernel's parameters that are tried by default.

    Parameters
    ----------
    kernel : str or callable
        Name of a kernel, or anything else, for which nothing is known.
    X : array-like of shape (n_samples, n_features), or a stack of matrices
        Training samples, for the scale of their distances.
    fixed : mapping, optional
        Parameters that are not tried, such as the ridge of a distance.

    Returns
    -------
    dict of str to list of float
        Values by parameter; empty if the kernel has nothing to choose.

    Examples
    --------
    >>> default_grid("tl1", [[0.0], [1.0]])
    {'ratio': [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]}
    >>> default_grid("rbf", [[0.0], [1.0]])
    {'sigma': [0.25, 0.5, 1.0, 2.0, 4.0]}
    """
    if kernel == "tl1":  # tau and ratio are two ways to say the same
        return {} if "tau" in (fixed or {}) else {"ratio": list(RATIOS)}
    if isinstance(kernel, str) and kernel in METRICS:
        middle = median_distance(np.asarray(X, dtype=float), METRICS[kernel])
        return {"sigma": [width * middle for width in WIDTHS]}
    if isinstance(kernel, str) and kernel.startswith("spd_"):
        some = _evenly(np.asarray(X), SPD_SAMPLED)
        ridge = (fixed or {}).get("ridge", 0.0)
        D = spd_distances(some, metric=kernel.removeprefix("spd_"), ridge=ridge)
        return {"sigma": spd_widths(D)}
    return {}


def spd_widths(D: Array) -> list[float]:
    """Return the widths that are tried for a Gaussian of squared distances.

    Parameters
    ----------
    D : ndarray of shape (n_samples, n_samples)
        Squared distances between training samples, symmetric; at most 200 evenly
        spaced samples are used.

    Returns
    -------
    list of float
        Multiples of the root of the median.

    Examples
    --------
    >>> import numpy as np
    >>> spd_widths(np.array([[0.0, 4.0], [4.0, 0.0]]))
    [2.0, 4.0, 8.0, 16.0, 32.0]
    """
    D = _evenly(_evenly(D, SPD_SAMPLED).T, SPD_SAMPLED)
    squares = D[np.triu_indices(len(D), 1)]
    squares = squares[squares > 0]
    middle = math.sqrt(float(np.median(squares))) if squares.size else 1.0
    return [width * middle for width in SPD_WIDTHS]


def _evenly(X: Array, most: int) -> Array:
    """Return X, or evenly spaced samples of it if there are more than that."""
    if len(X) <= most:
        return X
    return X[np.linspace(0, len(X) - 1, most).astype(int)]


def median_distance(X: Array, metric: str) -> float:
    """Return the median distance between samples, or 1 if they all coincide.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples; at most 500 evenly spaced ones are used.
    metric : str
        A metric of `scipy.spatial.distance.pdist`.

    Returns
    -------
    float
        The median.
    """
    distances = pdist(_evenly(X, SAMPLED), metric)
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0
