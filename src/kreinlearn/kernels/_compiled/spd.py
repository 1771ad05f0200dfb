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

NEGLIGIBLE_LINK = 1e-16
"""Squared superdiagonal, relative to the eigenvalue next to it, that counts as 0.

Setting it to 0 changes the sum of a smooth function of the eigenvalues by a term that
is linear in it, hence by no more than rounding.
"""

SHIFT_FACTOR = 1.0 - 1e-14
"""Shift as a fraction of a lower bound of the smallest eigenvalue, for rounding."""

MAX_QD_STEPS = 60
"""More than enough for one eigenvalue: it converges cubically, in two to six."""

LINK_FLOOR = 1e-200
"""Replaces 0 where a quotient of two of them would be NaN.

Smaller ones have products that are denormal numbers, which are slow.
"""


@njit(**_LANE_OPTIONS)
def _set(target, value):
    """Set all entries to a number; numba compiles a slice ten times as long."""
    for q in range(target.size):
        target[q] = value


@njit(**_FUSED_OPTIONS)
def _whiten(M, L, panel):
    """Set M to inv(L) times the lower triangular matrices of a panel, transposed.

    M is indexed (column, row, lane). Forward substitution and not a stored inverse:
    a matrix whitened by itself gives the identity to the last bit, and its distance
    from itself is exactly 0.
    """
    d, _, lanes = M.shape
    for c in range(d):
        for r in range(c):
            _set(M[c, r], 0.0)
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


@njit(**_FUSED_OPTIONS)
def _reflect(first, square, scales):
    """Turn the first entry of x into that of v, with I - scale v v' reflecting x."""
    for q in range(first.size):
        norm = math.sqrt(square[q])
        head = first[q] + math.copysign(norm, first[q])
        product = norm * abs(head)
        # A vector of zeros is not reflected.
        scales[q] = 1.0 / product if product > 1e-290 else 0.0
        first[q] = head


@njit(**_FUSED_OPTIONS)
def _bidiagonalize(M, squares, links, scales, work):
    """Reduce M to bidiagonal form by Householder reflections from both sides.

    Gives the squared diagonal and superdiagonal; M is destroyed.
    """
    d, _, lanes = M.shape
    for k in range(d):
        # From the left: column k to a multiple of a unit vector.
        v = M[k]
        square = squares[k]
        _set(square, 0.0)
        for r in range(k, d):
            for q in range(lanes):
                square[q] += v[r, q] * v[r, q]
        if k == d - 1:
            return
        _reflect(v[k], square, scales)
        for c in range(k + 1, d):
            column = M[c]
            sums = work[0]
            _set(sums, 0.0)
            for r in range(k, d):
                for q in range(lanes):
                    sums[q] += v[r, q] * column[r, q]
            for q in range(lanes):
                sums[q] *= scales[q]
            for r in range(k, d):
                for q in range(lanes):
                    column[r, q] -= sums[q] * v[r, q]

        # From the right: the rest of row k.
        link = links[k]
        _set(link, 0.0)
        for c in range(k + 1, d):
            for q in range(lanes):
                link[q] += M[c, k, q] * M[c, k, q]
        if k == d - 2:
            continue
        _reflect(M[k + 1, k], link, scales)
        for r in range(k + 1, d):
            _set(work[r], 0.0)
        for c in range(k + 1, d):
            column = M[c]
            for r in range(k + 1, d):
                for q in range(lanes):
                    work[r, q] += column[k, q] * column[r, q]
        for r in range(k + 1, d):
            for q in range(lanes):
                work[r, q] *= scales[q]
        for c in range(k + 1, d):
            column = M[c]
            for r in range(k + 1, d):
                for q in range(lanes):
                    column[r, q] -= work[r, q] * column[k, q]


@njit(**_FUSED_OPTIONS)
def _bound(squares, links, m, bounds, work):
    """Give a lower bound for the smallest eigenvalue of the leading m x m part.

    It is the step that Laguerre's method would take from 0 towards the smallest root
    of the characteristic polynomial. That needs the sums of 1 / eigenvalue and of
    1 / eigenvalue^2, which follow from differentiating the recurrence of `_shift`
    twice with respect to the shift. No term is subtracted from another.
    """
    value, slope, curve = work[0], work[1], work[2]
    first, second = work[3], work[4]
    lanes = bounds.size
    for q in range(lanes):
        value[q] = squares[0, q]
    _set(slope, 1.0)
    for row in (curve, first, second):
        _set(row, 0.0)
    for i in range(m - 1):
        link = links[i]
        following = squares[i + 1]
        for q in range(lanes):
            inverse = 1.0 / (value[q] + link[q])
            a = slope[q] * inverse
            b = curve[q] * inverse
            first[q] += a
            second[q] += a * a + b
            value[q] = following[q] * (value[q] * inverse)
            factor = following[q] * (link[q] * inverse)
            slope[q] = factor * a + 1.0
            curve[q] = factor * (b + 2.0 * a * a)
    n = float(m)
    for q in range(lanes):
        inverse = 1.0 / value[q]
        a = slope[q] * inverse
        one = first[q] + a
        two = second[q] + a * a + curve[q] * inverse
        rest = (n - 1.0) * (n * two - one * one)
        rest = rest if rest > 0.0 else 0.0
        bounds[q] = n / (one + math.sqrt(rest))


@njit(**_FUSED_OPTIONS)
def _shift(squares, links, m, shifts, new_squares, new_links, pivot, least):
    """Take one dqds step, which subtracts a shift from all eigenvalues.

    ``least`` is set to the smallest pivot, below 0 if the shift was too large.
    """
    lanes = shifts.size
    for q in range(lanes):
        pivot[q] = squares[0, q] - shifts[q]
        least[q] = pivot[q]
    for i in range(m - 1):
        link = links[i]
        following = squares[i + 1]
        new_square = new_squares[i]
        new_link = new_links[i]
        for q in range(lanes):
            square = pivot[q] + link[q]
            ratio = following[q] / square
            new_square[q] = square
            product = link[q] * ratio
            new_link[q] = product if product > LINK_FLOOR else LINK_FLOOR
            pivot[q] = pivot[q] * ratio - shifts[q]
            least[q] = least[q] if least[q] < pivot[q] else pivot[q]
    for q in range(lanes):
        new_squares[m - 1, q] = pivot[q]


@njit(**_FUSED_OPTIONS)
def _largest(values):
    """Return the largest number, by halves, and spoil the array.

    Vector instructions can do it that way; the size is a power of 2.
    """
    half = values.size
    while half > 1:
        half //= 2
        for q in range(half):
            other = values[q + half]
            values[q] = values[q] if values[q] > other else other
    return values[0]


@njit(**_FUSED_OPTIONS)
def _find_eigenvalues(squares, links, new_squares, new_links, values, work):
    """Find the squared singular values of bidiagonal matrices, one after the other.

    Lanes that have found an eigenvalue wait for the others before they look for the
    next: they take steps without a shift, and with the link to it cut, lest it couple
    again. Returns whether all were found.
    """
    d, lanes = squares.shape
    total, shifts, damping, left = work[5], work[6], work[7], work[8]
    _set(total, 0.0)
    # A decoupled part would never learn of a shift. This moves no eigenvalue.
    for i in range(d - 1):
        for q in range(lanes):
            floor = 1e-32 * squares[i, q] + LINK_FLOOR
            links[i, q] = links[i, q] if links[i, q] > floor else floor
    for m in range(d, 1, -1):
        _set(damping, SHIFT_FACTOR)
        for step in range(MAX_QD_STEPS + 1):
            link = links[m - 2]
            last = squares[m - 1]
            for q in range(lanes):
                left[q] = link[q] - NEGLIGIBLE_LINK * (total[q] + last[q])
                shifts[q] = left[q]
                link[q] = link[q] if left[q] > 0.0 else LINK_FLOOR
            if _largest(shifts) <= 0.0:
                break
            if step == MAX_QD_STEPS:
                return False
            _bound(squares, links, m, shifts, work)
            for q in range(lanes):
                shifts[q] = damping[q] * shifts[q] if left[q] > 0.0 else 0.0
            _shift(squares, links, m, shifts, new_squares, new_links, work[0], work[1])
            least = work[1]
            for q in range(lanes):
                left[q] = -least[q]
            if _largest(left) > 0.0:
                # Rare: in some lane the bound was too large by rounding. Step back.
                for q in range(lanes):
                    if least[q] < 0.0:
                        shifts[q] = 0.0
                        damping[q] *= 0.5
                        for i in range(m):
                            new_squares[i, q] = squares[i, q]
                            new_links[i, q] = links[i, q]
            for q in range(lanes):
                total[q] += shifts[q]
            squares, new_squares = new_squares, squares
            links, new_links = new_links, links
        for q in range(lanes):
            values[m - 1, q] = squares[m - 1, q] + total[q]
    for q in range(lanes):
        values[0, q] = squares[0, q] + total[q]
    return True


@njit(cache=True, **_LANE_OPTIONS)
def affine_invariant(out, L, panels):
    """Squared affine-invariant distances between some matrices and all in the panels.

    With S = L L' and T = R R', the eigenvalues of inv(S) T are the squared singular
    values of inv(L) R. Found from there, by bidiagonalization and the differential qd
    algorithm with shifts, they keep twice as many digits as from the symmetric matrix
    inv(L) T inv(L)'.

    Parameters
    ----------
    out : ndarray of shape (n, p * lanes)
        The output, sums of squared logarithms of those eigenvalues; NaN where they
        were not found.
    L : ndarray of shape (n, d, d)
        Cholesky factors, lower triangular.
    panels : ndarray of shape (p, d * (d + 1) / 2, lanes)
        Cholesky factors of the others; lanes is a power of 2.

    Notes
    -----
    One-sided Jacobi rotations are shorter to write and as accurate, but take nearly
    twice the time at d = 9 and three times at d = 32.

    References
    ----------
    K. V. Fernando, B. N. Parlett, "Accurate singular values and differential qd
    algorithms", Numerische Mathematik 67, 1994.

    U. von Matt, "The orthogonal qd-algorithm", SIAM Journal on Scientific Computing
    18(4), 1997, for the shifts.
    """
    n, d, _ = L.shape
    lanes = panels.shape[2]
    M, space = np.empty((d, d, lanes)), np.empty((5, d, lanes))
    squares, links, new_squares = space[0], space[1], space[2]
    new_links, values = space[3], space[4]
    work = np.empty((9, lanes))
    for i in range(n):
        for p in range(len(panels)):
            _whiten(M, L[i], panels[p])
            _bidiagonalize(M, squares, links, work[0], values)
            parts = squares, links, new_squares, new_links
            was_found = _find_eigenvalues(*parts, values, work)
            for q in range(lanes):
                total = 0.0 if was_found else np.nan
                for c in range(d):
                    logarithm = math.log(values[c, q])
                    total += logarithm * logarithm
                out[i, p * lanes + q] = total


@njit(cache=True, **_LANE_OPTIONS)
def eliminate(A, d):
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
    total = np.empty(lanes)
    for i in range(n):
        for p in range(len(panels)):
            for s in range(size):
                entry = 0.5 * S[i, s]
                for q in range(lanes):
                    mean[s, q] = entry + 0.5 * panels[p, s, q]
            eliminate(mean, d)
            _set(total, 0.0)
            for r in range(d):
                pivot = pivots[i, r]
                middle = mean[r * (r + 1) // 2 + r]
                for q in range(lanes):
                    ratio = middle[q] / panel_pivots[p, r, q]
                    total[q] += math.log((middle[q] / pivot) * ratio)
            for q in range(lanes):
                half = 0.5 * total[q]
                out[i, p * lanes + q] = half if half > 0.0 else 0.0
