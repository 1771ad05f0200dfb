"""Compiled loops over pairs of positive definite matrices, many pairs at a time.

The other matrices come in panels: ``panels`` (p, d (d + 1) / 2, lanes) holds the lower
triangles of ``lanes`` matrices side by side, entry (r, c) at index r (r + 1) / 2 + c.
One row matrix meets a whole panel at once, and every inner loop runs over the lanes,
so that all of them use vector instructions; LAPACK, which processes one small matrix
after the other, spends most of its time on overhead.
"""

import math
from typing import Any

import numpy as np
from numba import njit

# Division by zero gives inf, as in NumPy: the check for it would stop vectorization.
_LANE_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Where a fused multiply-add may replace a product and a sum.
_FUSED_OPTIONS: dict[str, Any] = {**_LANE_OPTIONS, "fastmath": {"contract"}}

MAX_SWEEPS = 30
"""Sweeps of rotations; six are enough for most pairs."""

SQUARED_COSINE_TOL = 1e-10
"""Squared cosine between columns at which a sweep is the last one.

Cosines converge quadratically, and the sum of a smooth function of the eigenvalues
depends on their squares: after that sweep they change nothing but rounding.
"""

SQUARE_LIMIT = 1e150
"""Eigenvalues between its inverse and this have products that do not overflow."""


@njit(**_FUSED_OPTIONS)
def _whiten(M, L, panel):
    """Set M to inv(L) times the lower triangular matrices of a panel.

    M is indexed (row, column, lane). Forward substitution and not a stored inverse:
    a matrix whitened by itself gives the identity to the last bit, and its distance
    from itself is exactly 0.
    """
    d, _, lanes = M.shape
    for r in range(d):
        for c in range(d):
            target = M[r, c]
            for q in range(lanes):
                target[q] = panel[r * (r + 1) // 2 + c, q] if c <= r else 0.0
            for s in range(c, r):
                factor, source = L[r, s], M[s, c]
                for q in range(lanes):
                    target[q] -= factor * source[q]
            for q in range(lanes):
                target[q] /= L[r, r]


@njit(**_FUSED_OPTIONS)
def _square_rows(squares, M):
    """Set squares (d, lanes) to the squared norms of the rows of M."""
    d, _, lanes = M.shape
    for r in range(d):
        for q in range(lanes):
            squares[r, q] = 0.0
        for c in range(d):
            for q in range(lanes):
                squares[r, q] += M[r, c, q] * M[r, c, q]


@njit(**_FUSED_OPTIONS)
def _rotate(x, y, a, b, work):
    """Make two rows (d, lanes) orthogonal, and update their squared norms a and b.

    ``work[2]`` is raised above 0 where the rows were far from orthogonal.
    """
    cosine, sine, excess = work[0], work[1], work[2]
    product = sine
    d, lanes = x.shape
    for q in range(lanes):
        product[q] = 0.0
    for c in range(d):
        for q in range(lanes):
            product[q] += x[c, q] * y[c, q]
    for q in range(lanes):
        far = product[q] * product[q] - SQUARED_COSINE_TOL * (a[q] * b[q])
        excess[q] = far if far > excess[q] else excess[q]
        # The smaller root of t^2 + t (b - a) / product = 1 is the tangent.
        double, gap = 2.0 * product[q], b[q] - a[q]
        root = abs(gap) + math.sqrt(gap * gap + double * double) + 1e-300
        tangent = math.copysign(double / root, gap * double)
        a[q] -= tangent * product[q]
        b[q] += tangent * product[q]
        cosine[q] = 1.0 / math.sqrt(1.0 + tangent * tangent)
        sine[q] = cosine[q] * tangent
    for c in range(d):
        for q in range(lanes):
            old = x[c, q]
            x[c, q] = cosine[q] * old - sine[q] * y[c, q]
            y[c, q] = sine[q] * old + cosine[q] * y[c, q]


@njit(cache=True, **_LANE_OPTIONS)
def affine_invariant(out, L, panels):
    """Squared affine-invariant distances between some matrices and all in the panels.

    With S = L L' and T = R R', the eigenvalues of inv(S) T are the squared singular
    values of inv(L) R. One-sided Jacobi rotations find them with twice as many digits
    as the symmetric matrix inv(L) T inv(L)' would give.

    Parameters
    ----------
    out : ndarray of shape (n, p * lanes)
        The output, sums of squared logarithms of those eigenvalues; NaN where they
        were not found.
    L : ndarray of shape (n, d, d)
        Cholesky factors, lower triangular.
    panels : ndarray of shape (p, d * (d + 1) / 2, lanes)
        Cholesky factors of the others.

    References
    ----------
    J. Demmel, K. Veselic, "Jacobi's method is more accurate than QR", SIAM Journal on
    Matrix Analysis and Applications 13(4), 1992.
    """
    n, d, _ = L.shape
    lanes = panels.shape[2]
    M, squares, work = (
        np.empty((d, d, lanes)),
        np.empty((d, lanes)),
        np.empty((3, lanes)),
    )
    for i in range(n):
        for p in range(len(panels)):
            _whiten(M, L[i], panels[p])
            for _ in range(MAX_SWEEPS):
                _square_rows(squares, M)
                work[2] = 0.0
                for r in range(d):
                    for s in range(r + 1, d):
                        _rotate(M[r], M[s], squares[r], squares[s], work)
                if work[2].max() <= 0.0:
                    break
            _square_rows(squares, M)
            for q in range(lanes):
                total = 0.0 if work[2, q] <= 0.0 else np.nan
                for r in range(d):
                    is_safe = 1 / SQUARE_LIMIT < squares[r, q] < SQUARE_LIMIT
                    logarithm = math.log(squares[r, q]) if is_safe else np.nan
                    total += logarithm * logarithm
                out[i, p * lanes + q] = total


@njit(**_LANE_OPTIONS)
def _eliminate(A, d):
    """Turn packed lower triangles into L D L', with D on the diagonal, lane by lane."""
    lanes = A.shape[1]
    factors = np.empty(lanes)
    for s in range(d):
        pivots = A[s * (s + 1) // 2 + s]
        for r in range(s + 1, d):
            row = r * (r + 1) // 2
            below = A[row + s]
            for q in range(lanes):
                factors[q] = below[q] / pivots[q]
            for c in range(s + 1, r + 1):
                target = A[row + c]
                source = A[c * (c + 1) // 2 + s]
                for q in range(lanes):
                    target[q] -= factors[q] * source[q]


@njit(cache=True, **_LANE_OPTIONS)
def eliminate(panels, d):
    """Put the pivots of Gaussian elimination on the diagonals of panels, in place."""
    for p in range(len(panels)):
        _eliminate(panels[p], d)


@njit(cache=True, **_LANE_OPTIONS)
def stein(out, S, pivots, panels, panel_pivots):
    """Squared Stein distances between some matrices and all in the panels.

    The determinants are products of pivots. Those of S and T come from `eliminate`,
    from the same operations in the same order (no fused ones, which compilers place
    freely), so that the distance of a matrix from itself is exactly 0.

    Parameters
    ----------
    out : ndarray of shape (n, p * lanes)
        The output.
    S : ndarray of shape (n, d * (d + 1) / 2)
        Lower triangles.
    pivots : ndarray of shape (n, d)
        Their pivots.
    panels : ndarray of shape (p, d * (d + 1) / 2, lanes)
        Lower triangles of the others.
    panel_pivots : ndarray of shape (p, d, lanes)
        Their pivots.
    """
    n, d = pivots.shape
    _, size, lanes = panels.shape
    mean = np.empty((size, lanes))
    for i in range(n):
        for p in range(len(panels)):
            for s in range(size):
                entry = 0.5 * S[i, s]
                for q in range(lanes):
                    mean[s, q] = entry + 0.5 * panels[p, s, q]
            _eliminate(mean, d)
            total = mean[1] if d > 1 else np.empty(lanes)  # not on the diagonal
            for q in range(lanes):
                total[q] = 0.0
            for r in range(d):
                pivot = pivots[i, r]
                middle = mean[r * (r + 1) // 2 + r]
                for q in range(lanes):
                    ratio = middle[q] / panel_pivots[p, r, q]
                    total[q] += math.log((middle[q] / pivot) * ratio)
            for q in range(lanes):
                half = 0.5 * total[q]
                out[i, p * lanes + q] = half if half > 0.0 else 0.0
