"""What a solver multiplies by: symmetric matrices seen through their products."""

from typing import Protocol

import numpy as np

from kreinlearn._typing import Array


class Symmetric(Protocol):
    """A symmetric matrix of shape (n, n), stored or not."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, n)."""

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Precision in which products are computed."""

    def matmat(self, B: Array) -> Array:
        """Product with a block of columns, (n, k) to (n, k), in double precision."""

    def columns(self, idx: Array) -> Array:
        """Columns of the matrix, shape (n, len(idx))."""

    def diagonal(self) -> Array:
        """Diagonal, shape (n,)."""


class Dense:
    """A stored symmetric matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The matrix; single precision stays single precision.
    """

    def __init__(self, K: Array) -> None:
        self.K = K

    @property
    def shape(self) -> tuple[int, int]:
        return (self.K.shape[0], self.K.shape[1])

    @property
    def dtype(self) -> np.dtype[np.floating]:
        return self.K.dtype

    def matmat(self, B: Array) -> Array:
        # A block of one column goes through the matrix-vector routine, which reads K
        # at memory speed where the matrix-matrix one would repack it first.
        B = B.astype(self.K.dtype, copy=False)
        if B.shape[1] == 1:
            product = (self.K @ B[:, 0])[:, None]
        else:
            product = self.K @ B
        return product.astype(np.float64, copy=False)

    def columns(self, idx: Array) -> Array:
        return self.K[:, idx].astype(np.float64, copy=False)

    def diagonal(self) -> Array:
        return self.K.diagonal().astype(np.float64)
