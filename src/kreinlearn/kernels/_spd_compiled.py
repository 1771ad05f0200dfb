"""Compiled loops over pairs of positive definite matrices, many pairs at a time.

The other matrices come in panels: ``panels`` (p, d (d + 1) / 2, lanes) holds the lower
triangles of ``lanes`` matrices side by side, entry (r, c) at index r (r + 1) / 2 + c.
One row matrix meets a whole panel at once, and every inner loop runs over the lanes,
so that all of them use vector instructions; LAPACK, which takes one small matrix after
the other, spends most of its time on overhead.

Only ``spd`` imports this module, when a distance is first asked for, because importing
numba takes longer than the rest of the package.
"""

import math

import numpy as np
from numba import config, njit

# Division by zero gives inf, as in NumPy: the check for it would stop vectorization.
_LANES = {"nogil": True, "error_model": "numpy"}
# Where a fused multiply-add may replace a product and a sum.
_FUSED = {**_LANES, "fastmath": {"contract"}}

COSINE = 1e-13
"""Squared cosine of the angle between two columns that counts as a right angle.

What is left then is a matrix with D on its diagonal and an E of this size, after
scaling, off it. The trace of a smooth function of D + E has no term linear in E, hence
the error in a squared distance is of the order of E^2, which is COSINE.
"""

SWEEPS = 30
"""More than enough: convergence is quadratic, and five to seven sweeps are usual."""


@njit(**_FUSED)
def _whiten(M, L, panel):
    """Set M to inv(L) times the lower triangular matrices of a panel, transposed.

    M is indexed (column, row, lane). Forward substitution and not a stored inverse:
    a matrix whitened by itself gives the identity to the last bit, and its distance
    from itself is exactly 0.
    """
    d, _, lanes = M.shape
    for c in range(d):
        for r in range(c):
            for q in range(lanes):
                M[c, r, q] = 0.0
        for r in range(c, d):
            at = r * (r + 1) // 2 + c
            target = M[c, r]
            for q in range(lanes):
                target[q] = panel[at, q]
            for s in range(c, r):
                factor = L[r, s]
                source = M[c, s]
                for q in range(lanes):
                    target[q] -= factor * source[q]
            pivot = L[r, r]
            for q in range(lanes):
                target[q] /= pivot


@njit(**_FUSED)
def _products(x, y, out):
    """Set out to the inner products of two columns, lane by lane."""
    d, lanes = x.shape
    for q in range(lanes):
        out[q] = 0.0
    for r in range(d):
        for q in range(lanes):
            out[q] += x[r, q] * y[r, q]


@njit(**_FUSED)
def _is_orthogonal(products, xx, yy, excess):
    """Tell whether two columns are at a right angle in every lane."""
    half = products.size
    for q in range(half):
        excess[q] = products[q] * products[q] - COSINE * (xx[q] * yy[q])
    # The maximum by halves, which vector instructions can do; lanes is a power of 2.
    while half > 1:
        half //= 2
        for q in range(half):
            other = excess[q + half]
            excess[q] = excess[q] if excess[q] > other else other
    return excess[0] <= 0.0


@njit(**_FUSED)
def _angles(products, xx, yy, cosines, sines):
    """Find the rotations that make two columns orthogonal, the longer one first."""
    for q in range(products.size):
        twice = 2.0 * products[q]
        difference = xx[q] - yy[q]
        root = math.sqrt(difference * difference + twice * twice)
        # The tangent of the smaller angle; the tiny number stands against 0 / 0.
        tangent = twice / (abs(difference) + root + 1e-300)
        cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
        sine = cosine * tangent
        in_order = difference >= 0.0
        cosines[q] = cosine if in_order else sine
        sines[q] = sine if in_order else cosine
        longer = xx[q] if in_order else yy[q]
        shorter = yy[q] if in_order else xx[q]
        xx[q] = longer + tangent * products[q]
        yy[q] = shorter - tangent * products[q]


@njit(**_FUSED)
def _rotate(x, y, cosines, sines):
    """Replace columns x, y by c x + s y, s x - c y, lane by lane."""
    d, lanes = x.shape
    for r in range(d):
        for q in range(lanes):
            u = x[r, q]
            v = y[r, q]
            x[r, q] = cosines[q] * u + sines[q] * v
            y[r, q] = sines[q] * u - cosines[q] * v


@njit(**_FUSED)
def _orthogonalize(M, squares, work):
    """Rotate the columns of M until they are orthogonal, and give squared lengths.

    One-sided Jacobi: the lengths are then the singular values.
    """
    d = len(M)
    products, cosines, sines = work
    for _ in range(SWEEPS):
        is_done = True
        for c in range(d):
            _products(M[c], M[c], squares[c])
        for a in range(d - 1):
            for b in range(a + 1, d):
                _products(M[a], M[b], products)
                if not _is_orthogonal(products, squares[a], squares[b], cosines):
                    is_done = False
                    _angles(products, squares[a], squares[b], cosines, sines)
                    _rotate(M[a], M[b], cosines, sines)
        if is_done:
            return


@njit(cache=True, **_LANES)
def affine_invariant(out, L, panels):
    """Squared affine-invariant distances between some matrices and all in the panels.

    With S = L L' and T = R R', the eigenvalues of inv(S) T are the squared singular
    values of inv(L) R. Found from there, they keep twice as many digits as from the
    symmetric matrix inv(L) T inv(L)'.

    Parameters
    ----------
    out : ndarray of shape (n, p * lanes)
        The output, sums of squared logarithms of those eigenvalues.
    L : ndarray of shape (n, d, d)
        Cholesky factors, lower triangular.
    panels : ndarray of shape (p, d * (d + 1) / 2, lanes)
        Cholesky factors of the others; lanes is a power of 2.
    """
    n, d, _ = L.shape
    lanes = panels.shape[2]
    M = np.empty((d, d, lanes))
    squares = np.empty((d, lanes))
    work = np.empty((3, lanes))
    for i in range(n):
        for p in range(len(panels)):
            _whiten(M, L[i], panels[p])
            _orthogonalize(M, squares, work)
            for q in range(lanes):
                total = 0.0
                for c in range(d):
                    logarithm = math.log(squares[c, q])
                    total += logarithm * logarithm
                out[i, p * lanes + q] = total


@njit(**_LANES)
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


@njit(cache=True, **_LANES)
def eliminate(panels, d):
    """Put the pivots of Gaussian elimination on the diagonals, in place.

    Parameters
    ----------
    panels : ndarray of shape (p, d * (d + 1) / 2, lanes)
        Lower triangles on entry.
    d : int
        Size of the matrices.
    """
    for p in range(len(panels)):
        _eliminate(panels[p], d)


@njit(cache=True, **_LANES)
def stein(out, S, pivots, panels, panel_pivots):
    """Squared Stein distances between some matrices and all in the panels.

    The determinants are products of pivots. Those of S and T come from `eliminate`,
    from the same operations in the same order (no fused ones, which compilers place
    as they like), so that the distance of a matrix from itself is exactly 0.

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
    total = np.empty(lanes)
    for i in range(n):
        for p in range(len(panels)):
            for s in range(size):
                entry = 0.5 * S[i, s]
                for q in range(lanes):
                    mean[s, q] = entry + 0.5 * panels[p, s, q]
            _eliminate(mean, d)
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


def n_threads():
    """Return the number of threads that numba would use."""
    return config.NUMBA_NUM_THREADS
