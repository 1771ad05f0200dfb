"""The similarities of the demo: gaps between things, which no Euclidean space has.

Letters: n samples, D (n, n) distances, K (n, n) similarities.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from kreinlearn._typing import Array

RADII = (0.3, 0.5)
"""Mean radii of small and large cells, in a box with sides of length 10."""
SPREAD = 0.08
"""Standard deviation of radii: the two kinds overlap, and nobody is always right."""
SMALLEST = 0.1
"""The least radius."""


class Gaps(NamedTuple):
    """Cells, and what is known of them.

    Attributes
    ----------
    K : ndarray of shape (n, n)
        Similarities.
    y : ndarray of shape (n,)
        0 for a small and 1 for a large kind of cell.
    radii : ndarray of shape (n,)
        Sizes, which nobody measured.
    """

    K: Array
    y: Array
    radii: Array


def gaps(n: int = 200) -> Gaps:
    """Return similarities of cells of two kinds by the gaps between them.

    Gaps are measured from surface to surface, as things are measured from outside.
    Without the radii they would be Euclidean: all that tells the sizes is what is not.
    After R. P. W. Duin and E. Pękalska, "Non-Euclidean dissimilarities: causes and
    informativeness", Structural, Syntactic, and Statistical Pattern Recognition, 2010.

    Parameters
    ----------
    n : int
        Samples: disjoint balls at random places in a box, every other one large.

    Returns
    -------
    Gaps
        K holds inner products as gaps have them, seen from one more cell o:
        ``(D(x, o)^2 + D(z, o)^2 - D(x, z)^2) / 2``.
    """
    rng = np.random.default_rng(0)
    centers, radii = np.empty((0, 3)), np.empty(0)
    while len(radii) <= n:
        center = rng.uniform(0, 10, 3)
        radius = max(SMALLEST, rng.normal(RADII[len(radii) % 2], SPREAD))
        if (np.linalg.norm(centers - center, axis=1) > radii + radius).all():
            centers, radii = np.vstack([centers, center]), np.append(radii, radius)
    squares = (cdist(centers, centers) - np.add.outer(radii, radii)) ** 2
    np.fill_diagonal(squares, 0)
    K = (squares[:1] + squares[:, :1] - squares) / 2
    return Gaps(K[1:, 1:], np.arange(1, n + 1) % 2, radii[1:])


def with_a_ruler(cells: Gaps) -> float:
    """Return the accuracy of whoever knows all sizes, and guesses from them.

    The two kinds are equally frequent and vary equally: the best guess is by the middle
    of their mean radii.
    """
    return float(((cells.radii > sum(RADII) / 2) == cells.y).mean())
