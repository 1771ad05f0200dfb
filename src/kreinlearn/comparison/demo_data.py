"""Similarities of the demo: distances of everyday kinds that no Euclidean space has.

Letters: n samples, m features, D (n, n) distances, K (n, n) similarities.
"""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_digits

from kreinlearn._typing import Array

STROKE = 2.0
"""Width of the similarity of digits, in pixels; an image has eight by eight."""
GAP = 0.15
"""Width of the similarity of patients, as a share of the range of a measurement."""


def digits(n: int = 240) -> tuple[Array, Array]:
    """Return similarities of handwritten digits by Hausdorff distances.

    Two shapes are as far apart as the pixel of one that is farthest from the other: one
    stray stroke decides, and which one differs from pair to pair.

    Parameters
    ----------
    n : int
        Samples: the first threes, fives, eights and nines of scikit-learn's digits.

    Returns
    -------
    K : ndarray of shape (n, n)
        exp(-D / 2 pixels).
    y : ndarray of shape (n,)
        Digits.
    """
    images, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(np.isin(y, (3, 5, 8, 9)))[:n]
    ink = images[rows] > images.max() / 2
    pixels = np.argwhere(np.ones((8, 8)))
    between = cdist(pixels, pixels)
    to_ink = np.array([between[:, own].min(axis=1) for own in ink])
    farthest = np.array([to_ink[:, own].max(axis=1) for own in ink])
    return np.exp(-np.maximum(farthest, farthest.T) / STROKE), y[rows]


def balls(n: int = 240) -> tuple[Array, Array]:
    """Return similarities of small and large balls by the gaps between them.

    Gaps are measured from surface to surface, as things are measured from outside.
    Without the radii they would be Euclidean: all that tells the sizes is what is not.
    After R. P. W. Duin and E. Pękalska, "Non-Euclidean dissimilarities: causes and
    informativeness", Structural, Syntactic, and Statistical Pattern Recognition, 2010.

    Parameters
    ----------
    n : int
        Samples: disjoint balls at random places in a box.

    Returns
    -------
    K : ndarray of shape (n, n)
        Inner products as gaps have them, seen from one more ball o:
        ``(D(x, o)^2 + D(z, o)^2 - D(x, z)^2) / 2``.
    y : ndarray of shape (n,)
        Whether the ball is large.
    """
    rng = np.random.default_rng(0)
    centers, radii = np.empty((0, 3)), np.empty(0)
    while len(radii) <= n:
        center, radius = rng.uniform(0, 10, 3), (0.3, 0.5)[len(radii) % 2]
        if (np.linalg.norm(centers - center, axis=1) > radii + radius).all():
            centers, radii = np.vstack([centers, center]), np.append(radii, radius)
    squares = (cdist(centers, centers) - np.add.outer(radii, radii)) ** 2
    np.fill_diagonal(squares, 0)
    K = (squares[:1] + squares[:, :1] - squares) / 2
    return K[1:, 1:], (radii[1:] > 0.4).astype(int)


def patients(n: int = 250) -> tuple[Array, Array]:
    """Return similarities of patients by the measurements that both of them have.

    Four of five entries of the table are removed. What two patients have in common is
    another set of columns for each pair, so that distances do not fit together.

    Parameters
    ----------
    n : int
        Samples: the first of scikit-learn's breast cancer data.

    Returns
    -------
    K : ndarray of shape (n, n)
        exp(-D / 0.15), with D the mean difference of the measurements that both have,
        each divided by its range (Gower's distance).
    y : ndarray of shape (n,)
        Whether the tumor is benign.
    """
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:n], y[:n]
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    known = np.random.default_rng(0).uniform(size=X.shape) < 0.2
    differences = np.zeros((n, n))
    for x, has in zip(X.T, known.T, strict=True):
        differences += np.abs(x[:, None] - x) * np.outer(has, has)
    common = known.astype(float) @ known.T
    D = np.where(common > 0, differences / np.maximum(common, 1), 1.0)
    np.fill_diagonal(D, 0)
    return np.exp(-D / GAP), y
