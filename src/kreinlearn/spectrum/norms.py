r"""The three penalties, each as a matrix whose dual problem is solved.

Letters: ``K`` (n, k) similarities; ``w`` (n,) weights of the samples, which count as
repetitions: a weight of two is a row that stands twice; ``s`` the scale of K.

============ ============================ ======================= ==================
norm         penalty                      matrix of the dual      a from its solution
============ ============================ ======================= ==================
krein        a'Ka                         K                       itself
hilbert      a'\|K\|a                     \|K\|                   sign(K) d
euclidean    s a'a                        K K' / s                K'd / s
============ ============================ ======================= ==================

The last is logistic regression on the rows of K, with a ridge. With weights its penalty
is s times the sum of a_i^2 / w_i, and its matrix K diag(w) K' / s.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh, svdvals

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.operators import (
    Blocked,
    Dense,
    General,
    RowProducts,
    Symmetric,
    gemm,
    require_stored,
)
from kreinlearn.spectrum.decompose import decompose, has_factor

EIGH_COPIES = 4
"""Matrices of the size of K that an eigendecomposition needs in memory."""
NORMS = ("krein", "hilbert", "euclidean")
SCALE_SAMPLES = 1000
"""Samples among which the scale of K is measured."""
NEGATIVE_TOL = 1e-12
"""Negative eigenvalues below this fraction of the mean do not count in the scale."""


class Penalized(NamedTuple):
    """A dual problem's matrix, and the map from its coefficients to those of K."""

    matrix: Symmetric
    back: Callable[[Array], Array]


def make_dual_matrix(
    norm: str,
    K: Dense | General | Blocked,
    weights: Array,
    scale: float | None = None,
    *,
    formed: bool = False,
) -> Penalized:
    """Return the matrix whose dual problem is logistic regression with that norm.

    Parameters
    ----------
    norm : {"krein", "hilbert", "euclidean"}
        The penalty.
    K : Dense, General or Blocked
        Similarities; stored for "hilbert", and of any shape for "euclidean" only.
    weights : ndarray of shape (n,)
        Weights of the samples as repetitions; for all norms but "euclidean" only
        their ratios matter.
    scale : float, optional
        Result of `compute_scale`, if it is known.
    formed : bool
        Whether to store the matrix, which pays where many products are made with it.

    Returns
    -------
    Penalized
        Symmetric, and positive semidefinite but for "krein".
    """
    if norm == "hilbert":
        modulus, back = matrix_modulus(require_stored(K, "norm='hilbert'"), weights)
        return Penalized(Dense(modulus), back)
    if norm == "euclidean":
        s = compute_scale(K, weights) if scale is None else scale
        # A column that belongs to no sample counts once.
        repeats = weights if K.shape[0] == K.shape[1] else np.ones(K.shape[1])
        products = RowProducts(K, repeats / s)
        is_formed = formed and not isinstance(K, Blocked)
        matrix = products.store() if is_formed else products
        return Penalized(matrix, products.coefficients)
    if isinstance(K, General):
        raise TypeError(f"The norm {norm!r} needs a symmetric matrix.")
    return Penalized(K, lambda d: d)


def compute_scale(K: Dense | General | Blocked, weights: Array) -> float:
    """Return the scale s of K: the mean of its absolute eigenvalues.

    Parameters
    ----------
    K : Dense, General or Blocked
        Similarities. If they are not symmetric, singular values take the place of
        eigenvalues; of n rows and k columns their sum is divided by sqrt(n k).
    weights : ndarray of shape (n,)
        Weights of the samples; only their ratios matter.

    Returns
    -------
    float
        Measured among at most 1,000 samples, which are the same each time; 1 if all
        similarities are zero.

    Notes
    -----
    With weights w that sum to one it is the sum of the absolute eigenvalues of
    W^(1/2) K W^(1/2), the mean with each row repeated by its weight.
    """
    rows = _some(np.flatnonzero(weights > 0))
    roots = np.sqrt(weights[rows] / weights[rows].sum())
    if K.shape[0] == K.shape[1]:
        part = K.part(rows, rows) * (roots[:, None] * roots)
    else:
        columns = _some(np.arange(K.shape[1]))
        part = K.part(rows, columns) * roots[:, None] / np.sqrt(len(columns))
    is_symmetric = part.shape[0] == part.shape[1] and (part == part.T).all()
    if not is_symmetric:
        return float(svdvals(part).sum()) or 1.0
    trace = float(np.trace(part))
    if trace > 0 and has_factor(part.astype(float), NEGATIVE_TOL * trace / len(part)):
        return trace  # of a positive definite matrix: the sum of its eigenvalues
    return float(np.abs(eigvalsh(part)).sum()) or 1.0


def _some(idx: Array) -> Array:
    """Return at most SCALE_SAMPLES of the indices, always the same ones."""
    if len(idx) <= SCALE_SAMPLES:
        return idx
    chosen = np.random.default_rng(0).choice(len(idx), SCALE_SAMPLES, replace=False)
    return np.asarray(idx[np.sort(chosen)])


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
    """Return a factor G of ``|K| - K``, and the map between coefficients.

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
