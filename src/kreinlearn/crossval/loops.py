"""Newton's method for many ridge problems, compiled.

Columns of all problems stand side by side: m = P C of them, problem p has the columns
from p C on. Products with E go to BLAS, everything else is one pass over the samples or
over the features. Problems that are done leave the products.

Imported when a search starts: importing numba takes long.
"""

import numpy as np
from numba import njit

TINY = 1e-300
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
def _probabilities(F, C, prob):
    """Fill in the probabilities that go with scores, (n, m)."""
    n, m = F.shape
    for i in range(n):
        if C == 1:
            for k in range(m):
                ratio = np.exp(-abs(F[i, k]))
                large = 1.0 / (1.0 + ratio)
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
    for k in range(m):
        spread[k] = TINY
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
def _precondition(R, diagonal, blocks, Z):
    """Fill in the residual times an inverse near that of the Newton matrix."""
    r, m = R.shape
    k = blocks.shape[1]
    for column in range(m):
        for j in range(k):
            total = 0.0
            for i in range(k):
                total += blocks[column, j, i] * R[i, column]
            Z[j, column] = total
    for j in range(k, r):
        for column in range(m):
            Z[j, column] = R[j, column] / diagonal[j, column]


@njit(cache=True, nogil=True)
def _directions(E, scale, lam, prob, w, C, diagonal, blocks, spread, G, g, goal, free):
    """Return changes of coefficients, intercepts and scores, by conjugate gradients."""
    n, (r, m) = len(E), G.shape
    d, e, U = np.zeros((r, m)), np.zeros(m), np.zeros((n, m))
    R, Q, Z, H = np.empty((r, m)), np.empty((r, m)), np.empty((r, m)), np.empty((r, m))
    Rc, Qc, Zc, Hc = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    for k in range(m):
        Rc[k] = -g[k]
        Qc[k] = -g[k] / spread[k]
        for j in range(r):
            R[j, k] = -G[j, k]
    _precondition(R, diagonal, blocks, Q)
    rz, new, bend = np.empty(m), np.empty(m), np.empty(m)
    _inner(R, Rc, Q, Qc, C, rz)
    scaled, moved, bent = np.empty((r, m)), np.empty((n, m)), np.empty((n, m))
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
            bend[k] = rz[k] / max(bend[k], TINY) if rz[k] > goal[k] else 0.0
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
        _precondition(R, diagonal, blocks, Z)
        _inner(R, Rc, Z, Zc, C, new)
        going = False
        for k in range(m):
            going = going or new[k] > goal[k]
            bend[k] = new[k] / max(rz[k], TINY)
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
    """Return lengths of the steps that decrease the values enough, once per column."""
    m = len(e)
    nothing, t = np.zeros(m), np.empty(m)
    slope, square, mixed, own = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
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
            if new <= value + SLOPE_SHARE * size * slope[first] + 1e-14 * abs(value):
                break
            size /= 2
        for k in range(first, first + C):
            t[k] = size
    return t


@njit(cache=True, nogil=True)
def _columns(A, which):
    """Return some columns of a matrix."""
    out = np.empty((len(A), len(which)))
    for i in range(len(A)):
        for k in range(len(which)):
            out[i, k] = A[i, which[k]]
    return out


@njit(cache=True, nogil=True)
def _inverses(leading, scale, lam, prob, w):
    """Return the inverse Newton matrices of the leading features, (m, k, k)."""
    n, k = leading.shape
    m = len(lam)
    out, scaled = np.empty((m, k, k)), np.empty((n, k))
    for column in range(m):
        for i in range(n):
            curvature = w[i] * prob[i, column] * (1.0 - prob[i, column])
            for j in range(k):
                scaled[i, j] = curvature * leading[i, j]
        block = np.dot(scaled.T, leading)
        for i in range(k):
            for j in range(k):
                block[i, j] *= scale[i, column] * scale[j, column]
            block[i, i] += lam[column]
        out[column] = np.linalg.inv(block)
    return out


@njit(cache=True, nogil=True)
def solve(E, scale, Y, w, lam, C, free, b, c, n_leading, tol, max_iter):
    """Bring coefficients b (r, m) and intercepts c (m,) to the minimum of each problem.

    Problems leave when they are done. Return the errors (m,): roots of twice the
    distance of the value from its minimum, about.
    """
    n, (r, m) = len(E), b.shape
    leading = E[:, :n_leading].copy()
    squares = np.zeros(r)
    for i in range(n):
        for j in range(r):
            squares[j] += w[i] * E[i, j] * E[i, j]
    F = np.dot(E, scale * b) + c
    found, left = np.full(m, np.inf), np.arange(m)
    part, blocks = b.copy(), np.empty((m, 0, 0))
    for step in range(max_iter + 1):
        prob, residual = np.empty(F.shape), np.empty(F.shape)
        spread, g, error = np.empty(len(left)), np.empty(len(left)), np.empty(len(left))
        _errors(F, Y, w, C, free, prob, residual, spread, g)
        G = scale * np.dot(E.T, residual) + lam * part
        diagonal = lam + spread * squares.reshape(-1, 1) * scale**2
        _inner(G, g, G / diagonal, g / spread, C, error)
        error = np.sqrt(error)
        found[left] = error
        going = np.flatnonzero(error > tol)
        if len(going) == 0 or step == max_iter:
            break
        if len(going) < len(left):
            left, lam, spread, g = left[going], lam[going], spread[going], g[going]
            error = error[going]
            scale, Y, F = _columns(scale, going), _columns(Y, going), _columns(F, going)
            prob, G = _columns(prob, going), _columns(G, going)
            diagonal, part = _columns(diagonal, going), _columns(part, going)
            if step % REUSED:
                blocks = blocks[going]
        if step % REUSED == 0:
            blocks = _inverses(leading, scale, lam, prob, w)
        goal = np.minimum(FORCING, error) ** 2
        d, e, U = _directions(
            E, scale, lam, prob, w, C, diagonal, blocks, spread, G, g, goal, free
        )
        t = _lengths(F, U, Y, w, C, lam, part, d, G, g, e)
        F += t * U
        part += t * d
        for k in range(len(left)):
            c[left[k]] += t[k] * e[k]
            b[:, left[k]] = part[:, k]
    return found
