r"""Penalties of the coefficients of landmarks, in coordinates that diagonalize them.

The penalty is b'Rb with R of shape (M, M): \|K_ZZ\| for "hilbert", s I for "euclidean",
K_ZZ for "krein". In coordinates u with b = T u it is the sum of signs * u^2, with signs
of 1, or of -1 in the negative directions of "krein". The Newton matrix is then well
scaled, and the gradient in u bounds the distance to the minimum.
"""

from dataclasses import dataclass

import numpy as np

from kreinlearn._typing import Array
from kreinlearn._validation import SYMMETRY_TOL, asymmetry, check_matrix
from kreinlearn.landmarks.passes import Columns
from kreinlearn.operators import Dense, General, gemm
from kreinlearn.spectrum.decompose import decompose
from kreinlearn.spectrum.norms import compute_scale

EUCLIDEAN_REMEDY = "Use the norm 'euclidean', which takes similarities as they are."


@dataclass(frozen=True)
class Penalty:
    """A quadratic penalty, in coordinates where it is a signed sum of squares.

    Attributes
    ----------
    T : ndarray of shape (M, r)
        Coefficients from coordinates.
    Q : ndarray of shape (M, r)
        R b from coordinates.
    signs : ndarray of shape (r,)
        1, or -1.
    sizes : ndarray of shape (M,)
        Mean modulus of the similarities with each landmark: units of the gradient.
    scale : float
        Mean modulus of the eigenvalues of K_ZZ: unit of lam.
    """

    T: Array
    Q: Array
    signs: Array
    sizes: Array
    scale: float

    @property
    def is_convex(self) -> bool:
        """Whether no direction has a negative sign."""
        return bool((self.signs > 0).all())

    def coefficients(self, u: Array) -> Array:
        """Return coefficients and intercepts (M + 1, P, C) from coordinates."""
        return _multiply_coordinates(self.T, u)

    def project(self, g: Array) -> Array:
        """Return a gradient (M + 1, P, C) in coordinates, shape (r + 1, P, C)."""
        return _multiply_coordinates(self.T.T, g)

    def gradient(self, u: Array) -> Array:
        """Return R b and zeros for the intercepts, shape (M + 1, P, C)."""
        out = _multiply_coordinates(self.Q, u)
        out[-1] = 0.0
        return out


def landmark_gram(columns: Columns, norm: str) -> Array:
    """Return K_ZZ in double precision, exactly symmetric unless "euclidean".

    Parameters
    ----------
    columns : Columns
        Similarities with the landmarks.
    norm : str
        "euclidean" accepts an asymmetric K_ZZ.

    Returns
    -------
    ndarray of shape (M, M)
        Similarities among the landmarks.
    """
    K = columns(columns.Z)
    if norm == "euclidean" and asymmetry(K) > SYMMETRY_TOL:
        return check_matrix(K, symmetric="any", square=False)[0]
    what = "The matrix of similarities among landmarks"
    return check_matrix(K, what, remedy=EUCLIDEAN_REMEDY, dtype=np.float64)[0]


def build_penalty(
    norm: str, K: Array, weights: Array | None = None, moment: Array | None = None
) -> Penalty:
    """Return the penalty of a norm.

    Parameters
    ----------
    norm : {"krein", "hilbert", "euclidean"}
        The norm.
    K : ndarray of shape (M, M)
        Similarities among the landmarks; symmetric, unless "euclidean".
    weights : ndarray of shape (M,), optional
        Weights of the landmarks if all samples are landmarks: a weight of two is a
        repeated sample.
    moment : ndarray of shape (M, M), optional
        Mean of k k' over all samples, with the similarities k of a sample with the
        landmarks; not needed if all samples are landmarks.

    Returns
    -------
    Penalty
        Without the directions in which K is zero to rounding.

    Notes
    -----
    Small eigenvalues are raised, not truncated. For an indefinite similarity, a
    direction u in which K_ZZ almost vanishes may be large in the columns of other
    samples, and would hardly be penalized. The modulus of an eigenvalue is therefore
    raised to sqrt(M u' moment u), its value if all samples were like the landmarks.
    Both are equal if all samples are landmarks.

    With half of the samples as landmarks, held-out losses are then about those of the
    exact norm, restricted to combinations of landmarks, on seven matrices
    (``benchmarks/landmark_floor.py``, and the page on landmarks). Constants instead,
    such as 0.03 or 0.1 of the mean eigenvalue, are better on some matrices and worse on
    others.
    """
    M = len(K)
    counts = np.ones(M) if weights is None else weights
    root = np.sqrt(counts)[:, None]
    sizes = np.abs(K).mean(axis=0)
    sizes = np.maximum(sizes, 1e-3 * (sizes.mean() or 1.0))
    if norm == "euclidean":
        is_symmetric = bool((K == K.T).all())
        s = compute_scale(Dense(K) if is_symmetric else General(K), counts)
        T = np.diag(root[:, 0] / np.sqrt(s))
        Q = np.diag(np.sqrt(s) / root[:, 0])
        return Penalty(T, Q, np.ones(M), sizes, s)
    spectrum = decompose(root * K * root.T)
    values, vectors = spectrum.values, spectrum.vectors
    mean = float(np.abs(values).sum() / counts.sum()) or 1.0
    sizes_inside = np.abs(values)
    if moment is not None:
        outside = np.einsum("ij,ij->j", vectors, gemm(moment, vectors))
        sizes_inside = np.maximum(sizes_inside, np.sqrt(M * np.maximum(outside, 0.0)))
    is_kept = sizes_inside > spectrum.zero
    values, vectors = values[is_kept], vectors[:, is_kept]
    moduli = np.sqrt(sizes_inside[is_kept])
    signs = np.where(values < 0, -1.0, 1.0) if norm == "krein" else np.ones(len(values))
    return Penalty(
        root * vectors / moduli, vectors / root * (moduli * signs), signs, sizes, mean
    )


def _multiply_coordinates(matrix: Array, u: Array) -> Array:
    """Multiply all entries but the last, which belongs to the intercepts."""
    flat = gemm(matrix, np.ascontiguousarray(u[:-1].reshape(len(u) - 1, -1)))
    return np.concatenate([flat.reshape(-1, *u.shape[1:]), u[-1:]])
