"""Compiled Newton steps of many ridge problems; letters as in ``ridge.solve``.

Columns of all problems stand side by side: m = P C of them, problem p has the columns
from p C on. Products with E go to BLAS, everything else is one pass over the samples or
over the features. Problems that are done leave the products.

Imported when a search starts: importing numba takes long.
"""

import numpy as np
from numba import njit

TINY = 1e-300
FORCING = 0.1
"""Largest share of the error that conjugate gradients may leave."""
MOST_PRODUCTS = 200
"""Of one Newton step."""
HALVINGS = 40
"""Of a step that does not decrease the value enough."""
SLOPE_SHARE = 1e-4
"""Share of what the slope promises, that a step has to hold."""


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
def _bend(U, prob, w, C, bent):
    """Fill in the second derivatives of the loss applied to changes U of scores."""
    n, m = U.shape
    for i in range(n):
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
def _per_problem(of_columns, C):
    """Return sums over the columns of each problem, once per column."""
    out = np.empty(len(of_columns))
    for first in range(0, len(out), C):
        out[first : first + C] = of_columns[first : first + C].sum()
    return out


@njit(cache=True, nogil=True)
def _inner(U, u, V, v, C):
    """Return the inner products of each problem's coefficients and intercepts."""
    total = u * v
    for j in range(len(U)):
        for k in range(U.shape[1]):
            total[k] += U[j, k] * V[j, k]
    return _per_problem(total, C)


@njit(cache=True, nogil=True)
def _blocks(E, scale, lam, prob, w, k):
    """Return the inverse Newton matrices of the first k features, (m, k, k)."""
    n, m = prob.shape
    leading = np.ascontiguousarray(E[:, :k])
    weighted = np.empty((n, k))
    out = np.empty((m, k, k))
    for column in range(m):
        for i in range(n):
            curvature = w[i] * prob[i, column] * (1.0 - prob[i, column])
            for j in range(k):
                weighted[i, j] = curvature * leading[i, j]
        block = np.dot(weighted.T, leading)
        for j in range(k):
            for l in range(k):
                block[j, l] *= scale[j, column] * scale[l, column]
            block[j, j] += lam[column]
        out[column] = np.linalg.inv(block)
    return out


@njit(cache=True, nogil=True)
def _precondition(R, diagonal, blocks, Z):
    """Fill in the residual times an inverse near that of the Newton matrix."""
    r, m = R.shape
    k = blocks.shape[1]
    for j in range(k):
        for column in range(m):
            Z[j, column] = 0.0
    for column in range(m):
        for j in range(k):
            total = 0.0
            for l in range(k):
                total += blocks[column, j, l] * R[l, column]
            Z[j, column] = total
    for j in range(k, r):
        for column in range(m):
            Z[j, column] = R[j, column] / diagonal[j, column]


@njit(cache=True, nogil=True)
def _directions(E, scale, lam, prob, w, C, diagonal, blocks, spread, G, g, goal, free):
    """Return changes of coefficients, intercepts and scores, by conjugate gradients."""
    n, (r, m) = len(E), G.shape
    d, e, U = np.zeros((r, m)), np.zeros(m), np.zeros((n, m))
    R, Rc, Z, Qc = -G, -g, np.empty((r, m)), -g / spread
    _precondition(R, diagonal, blocks, Z)
    Q = Z.copy()
    rz = _inner(R, Rc, Q, Qc, C)
    goal = goal * rz
    scaled, moved, bent = np.empty((r, m)), np.empty((n, m)), np.empty((n, m))
    H, a = np.empty((r, m)), np.empty(m)
    for _ in range(MOST_PRODUCTS):
        for j in range(r):
            for k in range(m):
                scaled[j, k] = scale[j, k] * Q[j, k]
        np.dot(E, scaled, moved)
        moved += Qc
        _bend(moved, prob, w, C, bent)
        np.dot(E.T, bent, H)
        Hc = bent.sum(axis=0) * free
        for j in range(r):
            for k in range(m):
                H[j, k] = scale[j, k] * H[j, k] + lam[k] * Q[j, k]
        bend = _inner(Q, Qc, H, Hc, C)
        for k in range(m):
            a[k] = rz[k] / max(bend[k], TINY) if rz[k] > goal[k] else 0.0
        e += a * Qc
        Rc -= a * Hc
        for j in range(r):
            for k in range(m):
                d[j, k] += a[k] * Q[j, k]
                R[j, k] -= a[k] * H[j, k]
        for i in range(n):
            for k in range(m):
                U[i, k] += a[k] * moved[i, k]
        _precondition(R, diagonal, blocks, Z)
        new = _inner(R, Rc, Z, Rc / spread, C)
        if not (new > goal).any():
            break
        ratio = new / np.maximum(rz, TINY)
        Qc = Rc / spread + ratio * Qc
        for j in range(r):
            for k in range(m):
                Q[j, k] = Z[j, k] + ratio[k] * Q[j, k]
        rz = new
    return d, e, U


@njit(cache=True, nogil=True)
def newton(E, scale, Y, w, lam, squares, leading, b, c, C, free, tol, max_iter):
    """Solve ridge problems in place; return their errors, once per column.

    Of all m columns: ``scale`` (r, m), ``Y`` (n, m), ``lam`` (m,), ``b`` (r, m), ``c``
    (m,); ``w`` (n,), ``squares`` (r,) the weighted means of the squares of the
    features, ``leading`` how many of the first features are solved for exactly;
    ``free`` 1.0 with an intercept, else 0.0.
    """
    n, r = E.shape
    F = np.dot(E, scale * b)
    F += c
    errors = np.full(len(c), np.inf)
    left = np.arange(len(c))
    for step in range(max_iter + 1):
        m = len(left)
        f, y, old, s, ridge = F[:, left], Y[:, left], b[:, left], scale[:, left], lam[left]
        prob, residual = np.empty((n, m)), np.empty((n, m))
        _probabilities(f, C, prob)
        spread, g = np.full(m, TINY), np.zeros(m)
        for i in range(n):
            for k in range(m):
                residual[i, k] = w[i] * (prob[i, k] - y[i, k])
                spread[k] += w[i] * prob[i, k] * (1.0 - prob[i, k])
                g[k] += residual[i, k] * free
        G = np.dot(E.T, residual)
        diagonal, square = np.empty((r, m)), g * g / spread
        for j in range(r):
            for k in range(m):
                G[j, k] = s[j, k] * G[j, k] + ridge[k] * old[j, k]
                diagonal[j, k] = ridge[k] + spread[k] * squares[j] * s[j, k] ** 2
                square[k] += G[j, k] * G[j, k] / diagonal[j, k]
        error = np.sqrt(_per_problem(square, C))
        errors[left] = error
        go = np.flatnonzero(error > tol)
        if len(go) == 0 or step == max_iter:
            break
        left, f, y, old, s, ridge = left[go], f[:, go], y[:, go], old[:, go], s[:, go], ridge[go]
        prob, G, g, diagonal, spread = prob[:, go], G[:, go], g[go], diagonal[:, go], spread[go]
        goal = np.minimum(FORCING, error[go]) ** 2
        blocks = _blocks(E, s, ridge, prob, w, leading)
        d, e, U = _directions(
            E, s, ridge, prob, w, C, diagonal, blocks, spread, G, g, goal, free
        )
        t = _lengths(f, U, y, w, C, ridge, old, d, G, g, e)
        for k in range(len(left)):
            c[left[k]] += t[k] * e[k]
            for i in range(n):
                F[i, left[k]] += t[k] * U[i, k]
            for j in range(r):
                b[j, left[k]] += t[k] * d[j, k]
    return errors


@njit(cache=True, nogil=True)
def _lengths(F, U, Y, w, C, lam, b, d, G, g, e):
    """Return lengths of the steps that decrease the values enough, once per column."""
    nothing = np.zeros(len(e))
    slope, square = _inner(G, g, d, e, C), _inner(b, nothing, b, nothing, C)
    mixed, own = _inner(b, nothing, d, nothing, C), _inner(d, nothing, d, nothing, C)
    t = np.ones(len(e))
    for k in range(0, len(e), C):
        value = _loss(F, U, 0.0, Y, w, C, k) + lam[k] / 2 * square[k]
        size = 1.0
        for _ in range(HALVINGS):
            moved = square[k] + 2 * size * mixed[k] + size * size * own[k]
            new = _loss(F, U, size, Y, w, C, k) + lam[k] / 2 * moved
            if new <= value + SLOPE_SHARE * size * slope[k] + 1e-14 * abs(value):
                break
            size /= 2
        t[k : k + C] = size
    return t
