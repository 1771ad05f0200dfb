"""The modulus |K| and the negative part of a Gram matrix with weighted samples.

A sample with an integer weight counts as if it were repeated that many times.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.operators import gemm
from kreinlearn.spectrum.decompose import decompose

EIGH_COPIES = 4
"""Matrices of the size of K that an eigendecomposition needs in memory."""


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


def modulus_factor(K: Array, weights: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return what makes K its modulus, and the map between coefficients.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    weights : ndarray of shape (n,)
        Weights of the samples; those without weight play no part in |K|, and have
        rows of it as new samples would: ``(|K| a~)_i = (K a)_i`` for them as well.

    Returns
    -------
    G : ndarray of shape (n, r)
        ``|K| = K + G G'``; for equal weights, ``|K| = V |L| V'``.
    back : callable
        Takes a~ of shape (n, k) to a with ``K a = |K| a~``: for equal weights
        ``a = V sign(L) V' a~ = a~ - 2 V_neg V_neg' a~``.
    """
    used = np.flatnonzero(weights > 0)
    n = len(used)
    check_fits(
        EIGH_COPIES * n, n, np.float64, "Room for the eigenvectors of a Gram matrix"
    )
    negative = negative_part(K[np.ix_(used, used)].astype(float), weights[used])
    G = np.zeros((len(K), len(negative.sizes)))
    G[used] = negative.left * np.sqrt(2 * negative.sizes)
    if n < len(K):
        rest = weights <= 0
        K_rest = K[np.ix_(rest, used)].astype(float)
        G[rest] = -K_rest @ (negative.right * np.sqrt(2 / negative.sizes))

    def back(a: Array) -> Array:
        a = a.copy()
        a[used] -= 2 * negative.right @ (negative.left.T @ a[used])
        return a

    return G, back


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


def matrix_modulus(K: Array, weights: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return |K| in the precision of K, and the map ``back`` of `modulus_factor`."""
    G, back = modulus_factor(K, weights)
    modulus = K + gemm(G, G.T).astype(K.dtype, copy=False)
    rest = np.flatnonzero(weights <= 0)
    modulus[np.ix_(rest, rest)] = K[np.ix_(rest, rest)]  # multiplied by zero only
    return modulus, back
