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

from kreinlearn._typing import Array
from kreinlearn.operators import (
    Blocked,
    Dense,
    General,
    RowProducts,
    Symmetric,
    require_stored,
)
from kreinlearn.spectrum.decompose import has_factor
from kreinlearn.spectrum.modulus import matrix_modulus

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
        features = _column_weights(K, weights) / s
        products = RowProducts(K, features)
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


def _column_weights(K: Dense | General | Blocked, weights: Array) -> Array:
    """Return how often each column counts; one that belongs to no sample, once."""
    n, k = K.shape
    return weights if n == k else np.ones(k)


def _some(idx: Array) -> Array:
    """Return at most SCALE_SAMPLES of the indices, always the same ones."""
    if len(idx) <= SCALE_SAMPLES:
        return idx
    chosen = np.random.default_rng(0).choice(len(idx), SCALE_SAMPLES, replace=False)
    return np.asarray(idx[np.sort(chosen)])
