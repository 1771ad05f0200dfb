"""The distances of the demo: gaps between things, which no Euclidean space has.

How they were chosen. A demo should show similarities whose negative part matters, with
nothing in them that we could have tuned. `gaps` follows a published recipe for such
data, "ball distances": `genballd` of the Matlab toolbox DisTools, with its own box and
radii, and the three dimensions of the world. There is no noise in the recipe, hence
none here. 100 cells of each size are what six methods can be tuned on, five times,
within 15 seconds on two cores. The seed is the first, 0. All this, the form of the
similarities, the methods and the folds were fixed before the first run, and stay,
whoever wins. What comparisons try of C and lam has been changed since, for all data.

Letters: n samples, D (n, n) distances.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from kreinlearn._typing import Array

SIDE = 100.0
"""Of the box."""
RADII = (1.0, 2.0)
"""Of small and of large cells."""
SEED = 0


class Gaps(NamedTuple):
    """Cells, and what is known of them.

    Attributes
    ----------
    D : ndarray of shape (n, n)
        Gaps between cells.
    y : ndarray of shape (n,)
        0 for a small and 1 for a large cell.
    """

    D: Array
    y: Array


def gaps(n: int = 200) -> Gaps:
    """Return the gaps between cells of two sizes.

    Gaps are measured from surface to surface, as things are measured from outside.
    Between centers, distances would be Euclidean: it is mostly what is not Euclidean in
    the gaps that tells the sizes.

    Parameters
    ----------
    n : int
        Cells: balls at random places in a box, disjoint, every other one large.

    References
    ----------
    R. P. W. Duin and E. Pękalska, "Non-Euclidean dissimilarities: causes and
    informativeness", Structural, Syntactic, and Statistical Pattern Recognition, 2010.
    """
    rng = np.random.default_rng(SEED)
    y = np.arange(n) % 2
    radii = np.asarray(RADII)[y]
    centers = np.empty((0, 3))
    while (k := len(centers)) < n:
        center = rng.uniform(0, SIDE, 3)
        room = np.linalg.norm(centers - center, axis=1) - radii[:k] - radii[k]
        if (room > 0).all():
            centers = np.vstack([centers, center])
    D = cdist(centers, centers) - np.add.outer(radii, radii)
    np.fill_diagonal(D, 0)
    return Gaps(D, y)
