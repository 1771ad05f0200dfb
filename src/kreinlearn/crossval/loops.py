"""Newton's method for many ridge problems, compiled.

Columns of all problems stand side by side: m = P C of them, problem p has the columns
from p C on. Products with E go to BLAS, everything else is one pass over the samples or
over the features. Problems that are done leave the products.

Imported when a search starts: importing numba takes long.
"""

import numpy as np
from numba import njit

from kreinlearn._numba_cache import prepare_cache

prepare_cache()

TINY = 1e-30
MOST_PRODUCTS = 200
"""Of one Newton step."""
HALVINGS = 40
"""Of a step that does not decrease the value enough."""
SLOPE_SHARE = 1e-4
"""Share of what the slope promises, that a step has to hold."""
FORCING = 0.1
"""Largest share of the error that conjugate gradients may leave."""
REUSED = 2
"""Steps that use the same inverse for the leading features."""


@njit(cache=True, nogil=True)
def _spacing(F):
    """Return the relative spacing of an array's numbers."""
    return 2.0**-52 if F.itemsize == 8 else 2.0**-23


@njit(cache=True, nogil=True)
def _probabilities(F, C, prob):
    """Fill in the probabilities that go with scores, (n, m)."""
    n, m = F.shape
    for i in range(n):
        if C == 1:
            for k in range(m):
                ratio = np.exp(-abs(F[i, k]))
                large = 1 / (1 + ratio)
                prob[i, k] = large if F[i, k] >= 0 else ratio * large
            continue
        for p in range(m // C):
            top = F[i, p * C]
            for k in range(p * C, p * C + C):
                top = max(top, F[i, k])
            total = 0.0
            for k in range(p * C, p * C + C):
                prob[i, k] = np.exp(F[i, k] - top)
                total += prob[i, k]
            for k in range(p * C, p * C + C):
                prob[i, k] /= total


@njit(cache=True, nogil=True)
def _errors(F, Y, w, C, free, prob, residual, spread, g):
    """Fill in probabilities, weighted errors (n, m), and their sums over samples (m,).

    ``spread`` sums the variances, ``g`` the errors.
    """
    _probabilities(F, C, prob)
    n, m = F.shape
    least = _spacing(F)  # where all probabilities are 0 or 1
    for k in range(m):
        spread[k] = least
        g[k] = 0.0
    for i in range(n):
        for k in range(m):
            residual[i, k] = w[i] * (prob[i, k] - Y[i, k])
            spread[k] += w[i] * prob[i, k] * (1.0 - prob[i, k])
            g[k] += residual[i, k] * free


@njit(cache=True, nogil=True)
def _loss(F, U, t, Y, w, C, first):
    """Return the mean loss at the scores F + t U of a problem, by its first column."""
    total = 0.0
    for i in range(len(F)):
        if w[i] == 0.0:
            continue
        if C == 1:
            f = F[i, first] + t * U[i, first]
            loss = max(f, 0.0) + np.log1p(np.exp(-abs(f))) - Y[i, first] * f
        else:
            top, own = -np.inf, 0.0
            for k in range(first, first + C):
                f = F[i, k] + t * U[i, k]
                top = max(top, f)
                own += Y[i, k] * f
            odds = 0.0
            for k in range(first, first + C):
                odds += np.exp(F[i, k] + t * U[i, k] - top)
            loss = top + np.log(odds) - own
        total += w[i] * loss
    return total


@njit(cache=True, nogil=True)
def _bend(U, u, prob, w, C, bent):
    """Add u to changes U of scores; fill in the second derivatives applied to them."""
    n, m = U.shape
    for i in range(n):
        for k in range(m):
            U[i, k] += u[k]
        if C == 1:
            for k in range(m):
                bent[i, k] = w[i] * prob[i, k] * (1.0 - prob[i, k]) * U[i, k]
            continue
        for p in range(m // C):
            total = 0.0
            for k in range(p * C, p * C + C):
                total += prob[i, k] * U[i, k]
            for k in range(p * C, p * C + C):
                bent[i, k] = w[i] * prob[i, k] * (U[i, k] - total)


@njit(cache=True, nogil=True)
def _inner(U, u, V, v, C, out):
    """Fill in the inner products of each problem's coefficients, once per column."""
    m = len(u)
    for k in range(m):
        out[k] = u[k] * v[k]
    for j in range(len(U)):
        for k in range(m):
            out[k] += U[j, k] * V[j, k]
    for first in range(0, m, C):
        total = 0.0
        for k in range(first, first + C):
            total += out[k]
        for k in range(first, first + C):
            out[k] = total


@njit(cache=True, nogil=True)
def _precondition(R, diagonal, blocks, C, Z):
    """Fill in the residual times an inverse near that of the Newton matrix.

    Scores of several classes that all change alike change nothing, and no residual asks
    for it: what the inverse of each class has of that is taken out again. Left in, it
    meets nothing but lam, and conjugate gradients take several times as long.
    """
    r, m = R.shape
    k = blocks.shape[1]
    own = np.empty(k, R.dtype)
    for column in range(m):
        for j in range(k):
            own[j] = 0.0
        for i in range(k):  # blocks are symmetric: rows, which are vectors in memory
            share = R[i, column]
            for j in range(k):
                own[j] += share * blocks[column, i, j]
        for j in range(k):
            Z[j, column] = own[j]
    for j in range(k, r):
        for column in range(m):
            Z[j, column] = R[j, column] / diagonal[j, column]
    if C > 1:
        for j in range(r):
            _center(Z[j], C)


@njit(cache=True, nogil=True)
def _center(z, C):
    """Subtract the mean over the classes of each problem, in place."""
    for first in range(0, len(z), C):
        total = 0.0
        for k in range(first, first + C):
            total += z[k]
        total /= C
        for k in range(first, first + C):
            z[k] -= total


@njit(cache=True, nogil=True)
def _directions(E, scale, lam, prob, w, C, diagonal, blocks, spread, G, g, goal, free):
    """Return changes of coefficients, intercepts and scores, by conjugate gradients."""
    n, (r, m) = len(E), G.shape
    kind = E.dtype
    d, e, U = np.zeros((r, m), kind), np.zeros(m, kind), np.zeros((n, m), kind)
    R, Q, Z = np.empty((r, m), kind), np.empty((r, m), kind), np.empty((r, m), kind)
    H, scaled = np.empty((r, m), kind), np.empty((r, m), kind)
    Rc, Qc, Zc = np.empty(m, kind), np.empty(m, kind), np.empty(m, kind)
    Hc, moved, bent = np.empty(m, kind), np.empty((n, m), kind), np.empty((n, m), kind)
    for k in range(m):
        Rc[k] = -g[k]
        Qc[k] = -g[k] / spread[k]
        for j in range(r):
            R[j, k] = -G[j, k]
    _precondition(R, diagonal, blocks, C, Q)
    if C > 1:
        _center(Qc, C)
    rz, new, bend = np.empty(m, kind), np.empty(m, kind), np.empty(m, kind)
    _inner(R, Rc, Q, Qc, C, rz)
    for k in range(m):
        goal[k] *= rz[k]
    for _ in range(MOST_PRODUCTS):
        for j in range(r):
            for k in range(m):
                scaled[j, k] = scale[j, k] * Q[j, k]
        np.dot(E, scaled, moved)
        _bend(moved, Qc, prob, w, C, bent)
        np.dot(E.T, bent, H)
        for k in range(m):
            Hc[k] = 0.0
        for i in range(n):
            for k in range(m):
                Hc[k] += free * bent[i, k]
        for j in range(r):
            for k in range(m):
                H[j, k] = scale[j, k] * H[j, k] + lam[k] * Q[j, k]
        _inner(Q, Qc, H, Hc, C, bend)
        for k in range(m):
            if not bend[k] > TINY:  # nothing but rounding is left
                goal[k] = np.inf
            bend[k] = rz[k] / bend[k] if rz[k] > goal[k] else 0.0
            e[k] += bend[k] * Qc[k]
            Rc[k] -= bend[k] * Hc[k]
            Zc[k] = Rc[k] / spread[k]
        for j in range(r):
            for k in range(m):
                d[j, k] += bend[k] * Q[j, k]
                R[j, k] -= bend[k] * H[j, k]
        for i in range(n):
            for k in range(m):
                U[i, k] += bend[k] * moved[i, k]
        _precondition(R, diagonal, blocks, C, Z)
        if C > 1:
            _center(Zc, C)
        _inner(R, Rc, Z, Zc, C, new)
        going = False
        for k in range(m):
            going = going or new[k] > goal[k]
            bend[k] = new[k] / rz[k] if rz[k] > TINY else 0.0
            rz[k] = new[k]
            Qc[k] = Zc[k] + bend[k] * Qc[k]
        if not going:
            break
        for j in range(r):
            for k in range(m):
                Q[j, k] = Z[j, k] + bend[k] * Q[j, k]
    return d, e, U


@njit(cache=True, nogil=True)
def _lengths(F, U, Y, w, C, lam, b, d, G, g, e):
    """Return lengths of the steps that decrease the values enough, once per column.

    Zero if none does.
    """
    m = len(e)
    kind = F.dtype
    nothing, t, rounding = np.zeros(m, kind), np.empty(m, kind), 50 * _spacing(F)
    slope, square = np.empty(m, kind), np.empty(m, kind)
    mixed, own = np.empty(m, kind), np.empty(m, kind)
    _inner(G, g, d, e, C, slope)
    _inner(b, nothing, b, nothing, C, square)
    _inner(b, nothing, d, nothing, C, mixed)
    _inner(d, nothing, d, nothing, C, own)
    for first in range(0, m, C):
        half = lam[first] / 2
        value = _loss(F, U, 0.0, Y, w, C, first) + half * square[first]
        size = 1.0
        for _ in range(HALVINGS):
            moved = square[first] + 2 * size * mixed[first] + size * size * own[first]
            new = _loss(F, U, size, Y, w, C, first) + half * moved
            if new <= value + SLOPE_SHARE * size * slope[first] + rounding * abs(value):
                break
            size /= 2
        else:
            size = 0.0
        for k in range(first, first + C):
            t[k] = size
    return t


@njit(cache=True, nogil=True)
def _some(a, which):
    """Return some entries of a vector.

    By a loop, as everywhere in this module: numba takes seconds to compile its checks
    of arrays that are indexed by arrays, or combined.
    """
    out = np.empty(len(which), a.dtype)
    for k in range(len(which)):
        out[k] = a[which[k]]
    return out


@njit(cache=True, nogil=True)
def _columns(A, which):
    """Return some columns of a matrix."""
    out = np.empty((len(A), len(which)), A.dtype)
    for i in range(len(A)):
        for k in range(len(which)):
            out[i, k] = A[i, which[k]]
    return out


@njit(cache=True, nogil=True)
def _inverses(leading, scale, lam, prob, w, out):
    """Fill in the inverse Newton matrices of the leading features, (m, k, k)."""
    n, k = leading.shape
    scaled, root = np.empty((n, k), leading.dtype), np.empty(k)
    block = np.empty((k, k), leading.dtype)
    for column in range(len(lam)):
        for i in range(n):
            curvature = w[i] * prob[i, column] * (1 - prob[i, column])
            for j in range(k):
                scaled[i, j] = curvature * leading[i, j]
        np.dot(scaled.T, leading, block)
        for i in range(k):
            size = block[i, i] * scale[i, column] ** 2 + lam[column]
            root[i] = scale[i, column] / np.sqrt(size)
        # with ones on the diagonal, and hence far from singular
        for i in range(k):
            for j in range(k):
                block[i, j] *= root[i] * root[j]
            block[i, i] = 1
        inverse = np.linalg.inv(block)
        for i in range(k):
            root[i] /= scale[i, column]
        for i in range(k):
            for j in range(k):
                out[column, i, j] = inverse[i, j] * root[i] * root[j]


@njit(cache=True, nogil=True)
def _gradient(E, scale, residual, lam, part, spread, squares, G, diagonal):
    """Fill in the gradient (r, m), and the diagonal of the Newton matrix."""
    np.dot(E.T, residual, G)
    r, m = G.shape
    for j in range(r):
        for k in range(m):
            G[j, k] = scale[j, k] * G[j, k] + lam[k] * part[j, k]
            diagonal[j, k] = lam[k] + spread[k] * squares[j] * scale[j, k] ** 2


@njit(cache=True, nogil=True)
def _sizes(G, g, diagonal, spread, C, error):
    """Fill in the lengths of gradients in the metric of the diagonal."""
    r, m = G.shape
    for k in range(m):
        error[k] = g[k] * g[k] / spread[k]
    for j in range(r):
        for k in range(m):
            error[k] += G[j, k] * G[j, k] / diagonal[j, k]
    for first in range(0, m, C):
        total = 0.0
        for k in range(first, first + C):
            total += error[k]
        for k in range(first, first + C):
            error[k] = np.sqrt(total)


@njit(cache=True, nogil=True)
def _scores(E, scale, b, c):
    """Return the scores (n, m) of coefficients and intercepts."""
    scaled, F = np.empty(b.shape, E.dtype), np.empty((len(E), len(c)), E.dtype)
    for j in range(len(b)):
        for k in range(len(c)):
            scaled[j, k] = scale[j, k] * b[j, k]
    np.dot(E, scaled, F)
    for i in range(len(F)):
        for k in range(len(c)):
            F[i, k] += c[k]
    return F


@njit(cache=True, nogil=True)
def solve(E, scale, Y, w, lam, C, free, b, c, n_leading, tol, max_iter):
    """Bring coefficients b (r, m) and intercepts c (m,) to the minimum of each problem.

    All arrays have the precision of E. Problems leave when they are done. Return the
    errors (m,): roots of twice the distance of the value from its minimum, about. A
    problem whose value no step decreases leaves as it is.
    """
    n, (r, m) = len(E), b.shape
    kind = E.dtype
    leading, squares = np.empty((n, n_leading), kind), np.zeros(r, kind)
    for i in range(n):
        for j in range(n_leading):
            leading[i, j] = E[i, j]
        for j in range(r):
            squares[j] += w[i] * E[i, j] * E[i, j]
    F, part = _scores(E, scale, b, c), b.copy()
    found, left = np.full(m, np.inf), np.arange(m)
    blocks = np.empty((m, n_leading, n_leading), kind)
    t = np.ones(m, kind)
    for step in range(max_iter + 1):
        p = len(left)
        prob, residual = np.empty((n, p), kind), np.empty((n, p), kind)
        spread, g, error = np.empty(p, kind), np.empty(p, kind), np.empty(p, kind)
        G, diagonal = np.empty((r, p), kind), np.empty((r, p), kind)
        _errors(F, Y, w, C, free, prob, residual, spread, g)
        _gradient(E, scale, residual, lam, part, spread, squares, G, diagonal)
        _sizes(G, g, diagonal, spread, C, error)
        going, count = np.empty(p, np.int64), 0
        for k in range(p):
            found[left[k]] = error[k]
            if error[k] > tol and t[k] > 0:
                going[count] = k
                count += 1
        going = going[:count]
        if count == 0 or step == max_iter:
            break
        if count < p:
            left, lam, spread = (
                _some(left, going),
                _some(lam, going),
                _some(spread, going),
            )
            g, error = _some(g, going), _some(error, going)
            scale, Y, F = _columns(scale, going), _columns(Y, going), _columns(F, going)
            prob, G = _columns(prob, going), _columns(G, going)
            diagonal, part = _columns(diagonal, going), _columns(part, going)
            for k in range(count):  # going[k] is never before k
                for i in range(n_leading):
                    for j in range(n_leading):
                        blocks[k, i, j] = blocks[going[k], i, j]
        if step % REUSED == 0:
            _inverses(leading, scale, lam, prob, w, blocks)
        goal = np.empty(count, kind)
        for k in range(count):
            goal[k] = min(FORCING, error[k]) ** 2
        d, e, U = _directions(
            E, scale, lam, prob, w, C, diagonal, blocks, spread, G, g, goal, free
        )
        t = _lengths(F, U, Y, w, C, lam, part, d, G, g, e)
        for k in range(count):
            c[left[k]] += t[k] * e[k]
        for i in range(n):
            for k in range(count):
                F[i, k] += t[k] * U[i, k]
        for j in range(r):
            for k in range(count):
                part[j, k] += t[k] * d[j, k]
                b[j, left[k]] = part[j, k]
    return found
