"""A preconditioner: a matrix close to the Newton model, inverted by small solves.

K is about ``diag(rest) + V V'``, with V from the columns of K that belong to a few
samples (the landmarks). ``rest`` is the mean of the remaining diagonal, or the
diagonal itself where it spans orders of magnitude. With s the diagonal of T, the model
I + T'(K + shift)T is then close to

    M = E^2 + diag(s) V V' diag(s),  E^2 = I + diag(rest + shift) diag(s)^2,

and by the Woodbury formula M^-1 = E^-1 (I - Y (I + Y'Y)^-1 Y') E^-1 with
Y = E^-1 diag(s) V.

Measured over 56 problems (eight data sets of at most 1500 rows, lam from 1e-1 to 1e-7),
in products with K: 9782 without and 4955 with, and no product to find V. (A hundred
landmarks take 3356, but more time.) As many leading eigenpairs took 5283, besides two
products with a block of columns to find them; without ``rest`` they did harm where the
spectrum is flat. Where negative curvature is met, solvers do without: preconditioned
directions overlook it, and may end at a bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import blas, eigh, lapack  # not NumPy's, see `Dense`

from kreinlearn._typing import Array
from kreinlearn.operators import Symmetric, gemm

SAMPLES_PER_LANDMARK, MIN_LANDMARKS, MAX_LANDMARKS = 30, 30, 150
"""One landmark per 30 samples: more save products, but cost time in each step."""
EIGENVALUE_FLOOR = 1e-6
"""Eigenvalues among the landmarks below this fraction of the largest are dropped."""
MAX_MEAN_TO_MEDIAN = 100.0
"""Largest ratio of the mean to the median of the remaining diagonal for which all
samples share one number; above, each sample has its own."""


@dataclass(frozen=True)
class NystroemSketch:
    """K from a few of its columns: about ``diag(rest) + V V'``.

    V has shape (n, k), ``rest`` has shape (n,).
    """

    V: Array
    rest: Array

    @classmethod
    def of(cls, K: Symmetric) -> "NystroemSketch":
        """Sketch K from the columns of random landmarks.

        Parameters
        ----------
        K : Symmetric
            The matrix. Negative eigenvalues among the landmarks are dropped, since M
            must be positive definite.

        Returns
        -------
        NystroemSketch
            The same for all problems that share K.
        """
        n = K.shape[0]
        order = np.random.default_rng(0).permutation(n)
        count = min(MAX_LANDMARKS, max(MIN_LANDMARKS, n // SAMPLES_PER_LANDMARK))
        landmarks = np.sort(order[:count])
        C = np.ascontiguousarray(K.columns(landmarks))
        values, vectors = eigh(C[landmarks], check_finite=False)
        kept = values > max(EIGENVALUE_FLOOR * values[-1], 0.0)
        V = gemm(C, vectors[:, kept] / np.sqrt(values[kept]))
        diagonal = K.diagonal()
        mean = max(0.0, float(diagonal.sum() - np.einsum("ij,ij->", V, V)) / n)
        left = np.maximum(0.0, diagonal - np.einsum("ij,ij->i", V, V))
        others = np.delete(left, landmarks)
        is_even = others.size == 0 or mean <= MAX_MEAN_TO_MEDIAN * np.median(others)
        return cls(V, np.full(n, mean) if is_even else left)


def _inverse(Y: Array) -> Array:
    """Return (I + Y'Y)^-1, by a Cholesky factor."""
    k = Y.shape[1]
    if k == 0:
        return np.zeros((0, 0))
    square = blas.dsyrk(1.0, Y.T, lower=1)
    square.flat[:: k + 1] += 1.0
    factor, _ = lapack.dpotrf(square, lower=1, overwrite_a=1)
    half, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    return np.asarray(np.tril(half) + np.tril(half, -1).T)


@dataclass(frozen=True)
class Preconditioner:
    """The matrices M of a block of P problems with C columns.

    Attributes
    ----------
    V : ndarray of shape (n, k)
        Shared by all columns.
    e, s : ndarray of shape (n, P, C)
        The diagonals of E^-1 and of E^-1 diag(s).
    small : ndarray of shape (P, C, k, k)
        ``(I + Y'Y)^-1``.
    """

    V: Array
    e: Array
    s: Array
    small: Array

    @classmethod
    def of(cls, sketch: NystroemSketch, s: Array, shift: Array) -> "Preconditioner":
        """Prepare for these diagonals.

        Parameters
        ----------
        sketch : NystroemSketch
            Of K.
        s : ndarray of shape (n, P, C)
            The diagonals of T.
        shift : ndarray of shape (P,)
            Added to K.

        Returns
        -------
        Preconditioner
            Ready to solve.
        """
        rest = sketch.rest[:, None, None] + shift[:, None]
        e = 1.0 / np.sqrt(1.0 + rest * s**2)
        s = e * s
        k = sketch.V.shape[1]
        small = np.empty((*s.shape[1:], k, k))
        for place in np.ndindex(*s.shape[1:]):
            small[place] = _inverse(s[:, *place, None] * sketch.V)
        return cls(sketch.V, e, s, small)

    def take(self, which: Sequence[int] | Array) -> "Preconditioner":
        """Return those of the chosen problems."""
        e, s = self.e[:, which], self.s[:, which]
        return replace(self, e=e, s=s, small=self.small[which])

    def off(self, which: Array) -> "Preconditioner":
        """Return the same with M = I for problems where ``which`` (P,) is true."""
        e = np.where(which[:, None], 1.0, self.e)
        s = np.where(which[:, None], 0.0, self.s)
        return replace(self, e=e, s=s)

    def solve(self, R: Array) -> Array:
        """Return M^-1 R for a block R of shape (n, P, C)."""
        R = self.e * R
        flat = (self.s * R).reshape(len(R), -1)
        inner = gemm(self.V.T, flat).reshape(self.V.shape[1], *R.shape[1:])
        solved = np.einsum("pckl,lpc->kpc", self.small, inner)
        back = gemm(self.V, solved.reshape(len(solved), flat.shape[1])).reshape(R.shape)
        return np.asarray(self.e * (R - self.s * back))
