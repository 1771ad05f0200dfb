"""The negative part of a Gram matrix, with weighted samples as if repeated."""

from typing import NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.spectrum.decompose import decompose


class Negative(NamedTuple):
    """The negative part of K in the metric of the weights.

    ``K- = left diag(sizes) left'`` and ``K right = -left diag(sizes)``; without
    weights both ``left`` and ``right`` are the eigenvectors.
    """

    left: Array
    sizes: Array
    right: Array

    def matrix(self) -> Array:
        """Return K-, positive semidefinite."""
        return np.asarray((self.left * self.sizes) @ self.left.T)

    def product(self, a: Array) -> Array:
        """Return K- a."""
        return np.asarray(self.left @ (self.sizes * (self.left.T @ a)))


def negative_part(K: Array, weights: Array) -> Negative:
    """Return the negative part of K, with weighted samples as if repeated.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    weights : ndarray of shape (n,)
        Positive weights; only their ratios matter.

    Returns
    -------
    Negative
        Its factors.

    Notes
    -----
    With row i repeated w_i times, K becomes P K P' with P'P = W, whose eigenpairs are
    those of W^(1/2) K W^(1/2). Its negative part is P K- P' with
    K- = W^(-1/2) [W^(1/2) K W^(1/2)]- W^(-1/2).
    """
    root = np.sqrt(weights / weights.max())[:, None]
    negative = decompose(root * K * root.T, "negative")
    return Negative(negative.vectors / root, -negative.values, negative.vectors * root)
