"""Intercepts: the constants that balance the errors of given scores.

Letters as in ``kreinlearn.problem.dual``: ``Y``, ``F`` (n, P, C) targets and scores;
``weights`` (n, P); ``c`` (P, C).
"""

import numpy as np
from scipy.special import expit, log_softmax, logsumexp, softmax

from kreinlearn._typing import Array
from kreinlearn.losses import Loss

INTERCEPT_STEPS = 200
"""Enough bisections for any double; Newton steps usually end after five."""
SETTLED_ERROR = 1e-12
"""The same where Newton's method has come to rest, if it will not go further."""
BALANCE_TOL = 1e-16
"""Sum of weighted errors that is zero to rounding; the weights sum to one."""
STAGE_STEPS = 30
"""Most Newton steps at one temperature; beyond, rounding is all that is left."""
MAX_STAGES = 20
"""Most temperatures on the way down to 1."""
VANISHED_FRACTION = 1e-6
"""Fraction of its target below which the probability of a class counts as zero."""
SMALL_ERROR = 1e-3
"""Sum of weighted errors that goes with an error of c by one, at the least."""
LAST_STEP = 1e-8
"""Step after which Newton's method has all digits."""
VALUE_ROUNDING = 1e-12
"""Change of the value, relative to it, that may be rounding."""
RANK_TOL = 1e-12
"""Eigenvalues below this fraction of the largest count as zero."""
MAX_NEWTON_RANGE = 50.0
"""Range of scores that Newton's method takes at once."""


def pseudo_inverse(H: Array) -> Array:
    """Return the pseudo-inverses of small symmetric matrices, zero for zero ones.

    Parameters
    ----------
    H : ndarray of shape (..., C, C)
        Positive semidefinite matrices of any scale.

    Returns
    -------
    ndarray of shape (..., C, C)
        Their pseudo-inverses.
    """
    if H.shape[-1] == 1:
        return np.asarray(np.where(H > 1e-200, 1.0 / np.maximum(H, 1e-200), 0.0))
    size = np.abs(H).max(axis=(-2, -1), keepdims=True)
    scale = np.where(size > 1e-200, size, np.inf)  # saturated: nothing to invert
    # NumPy's pinv does the same by way of a general svd, in three times the time.
    values, vectors = np.linalg.eigh(H / scale)
    large = values > RANK_TOL * values[..., -1:]
    inverse = np.where(large, 1.0 / np.where(large, values, 1.0), 0.0)
    return np.asarray((vectors * inverse[..., None, :]) @ vectors.mT / scale)


def intercepts(
    loss: Loss,
    Y: Array,
    F: Array,
    weights: Array,
    start: Array | None = None,
    accuracy: Array | None = None,
) -> Array:
    """Return the c for which the weighted errors of F + c sum to zero.

    Parameters
    ----------
    loss : Loss
        Logistic or multinomial.
    Y, F : ndarray of shape (n, P, C)
        Targets and scores.
    weights : ndarray of shape (n, P)
        Weights of the samples.
    start : ndarray of shape (P, C), optional
        A guess, such as the intercepts of the last iterate.
    accuracy : ndarray of shape (P,), optional
        Errors of c that do no harm; by default none but rounding.

    Returns
    -------
    ndarray of shape (P, C)
        Intercepts; of the multinomial loss with mean zero.
    """
    start = np.zeros(F.shape[1:]) if start is None else start
    accuracy = np.zeros(len(start)) if accuracy is None else accuracy
    if F.shape[-1] == 1:
        return _binary_intercepts(Y, F, weights, start, accuracy)
    return _multinomial_intercepts(Y, F, weights, start, accuracy)


def _multinomial_intercepts(
    Y: Array, F: Array, w: Array, start: Array, accuracy: Array
) -> Array:
    """Batched Newton; problems that fail are solved again with damping."""
    target = np.einsum("np,npc->pc", w, Y)
    c = start - start.mean(axis=-1, keepdims=True)
    left = np.arange(len(c))
    failed: set[int] = set()
    size = np.full(len(c), np.inf)
    balanced = np.maximum(BALANCE_TOL, SMALL_ERROR * accuracy)
    for _ in range(INTERCEPT_STEPS):
        prob = softmax(F[:, left] + c[left], axis=-1)
        weighted = w[:, left, None] * prob
        mass = weighted.sum(axis=0)
        gradient = mass - target[left]
        new = np.abs(gradient).max(axis=-1)
        worse = (new > size[left] / 2) & (new > balanced[left])
        failed |= set(left[worse & (new > SETTLED_ERROR)].tolist())
        going = (new > balanced[left]) & ~worse
        size[left] = new
        left, gradient, mass = left[going], gradient[going], mass[going]
        if left.size == 0:
            break
        hessian = -np.einsum("npc,npd->pcd", weighted[:, going], prob[:, going])
        hessian[:, np.arange(mass.shape[1]), np.arange(mass.shape[1])] += mass
        inverse = pseudo_inverse(hessian)
        c[left] -= np.einsum("pcd,pd->pc", inverse, gradient)
    for p in failed:
        c[p] = _multinomial_intercept(target[p], F[:, p], w[:, p], start[p])
    return np.asarray(c - c.mean(axis=-1, keepdims=True))


def _multinomial_intercept(target: Array, f: Array, w: Array, start: Array) -> Array:
    """Minimize the convex mean of T logsumexp((f + c) / T) - target'c for one problem.

    T falls to 1 from where the scores are moderate: at once, scores of thousands
    would leave Newton's method on a plateau.
    """
    c = start - start.mean()
    temperature = max(1.0, float(np.ptp(f + c)) / MAX_NEWTON_RANGE)
    if not np.isfinite(temperature):  # it would never fall; such scores mean nothing
        return np.asarray(np.full(len(c), np.nan))
    fall = max(4.0, temperature ** (1 / MAX_STAGES))
    while True:
        c = _tempered_newton(target, f, w, c, temperature)
        if temperature == 1.0:
            return np.asarray(c - c.mean())
        temperature = max(1.0, temperature / fall)


def _tempered_newton(
    target: Array, f: Array, w: Array, c: Array, temperature: float
) -> Array:
    def odds(c: Array) -> tuple[Array, Array]:
        # By hand, since SciPy's functions take ten times as long for few samples.
        scores = (f + c) / temperature
        top = scores.max(axis=1)
        return np.exp(scores - top[:, None]), top

    def value(c: Array) -> float:
        odd, top = odds(c)
        soft = temperature * (top + np.log(odd.sum(axis=1)))
        return float(w @ soft - target @ c)

    def excess(c: Array) -> tuple[Array, Array]:
        odd, _ = odds(c)
        prob = odd / odd.sum(axis=1, keepdims=True)
        mass = w @ prob
        hessian = (np.diag(mass) - (w[:, None] * prob).T @ prob) / temperature
        return mass - target, hessian

    gradient, hessian = excess(c)
    for _ in range(STAGE_STEPS):
        size = np.abs(gradient).max()
        if size <= 1e-15:
            break
        gone = gradient + target < VANISHED_FRACTION * target
        if gone.any():
            # Newton's method is blind to a class whose probability has vanished: one
            # step of proportional scaling, which always descends, brings it back. Its
            # mass is below the rounding of the gradient, so that only logarithms know.
            logs = log_softmax((f + c) / temperature, axis=1)[:, gone]
            mass = logsumexp(logs, axis=0, b=w[:, None])
            c = c.copy()
            c[gone] += temperature * (np.log(target[gone]) - mass)
            gradient, hessian = excess(c)
            continue
        step = -pseudo_inverse(hessian) @ gradient
        current, slope, t = value(c), gradient @ step, 1.0
        moved = c + step
        new = excess(moved)
        # Near the solution the value no longer changes in double precision, but the
        # gradient does: there, a full step that halves it needs no other test.
        rounding = VALUE_ROUNDING * max(1.0, abs(current))
        is_near = value(moved) <= current + rounding
        if not (is_near and np.abs(new[0]).max() <= size / 2):
            while value(c + t * step) > current + 1e-4 * t * slope and t > 1e-6:
                t /= 2
            if t <= 1e-6:
                break
            moved = c + t * step
            new = excess(moved)
        c, (gradient, hessian) = moved, new
    return c


def _binary_intercepts(
    Y: Array, F: Array, w: Array, start: Array, accuracy: Array
) -> Array:
    """Bracketed Newton on the monotone sum of errors, all problems at once."""
    margin = 40.0  # beyond it every sigmoid is 0 or 1 to double precision
    F = F[..., 0]
    down = (1 - 2 * Y)[..., 0]  # minus the labels
    wd = w * down
    low, high = -F.max(axis=0) - margin, -F.min(axis=0) + margin
    c = np.clip(start[:, 0], low, high)
    left = np.arange(len(c))  # problems that are not settled yet
    for _ in range(INTERCEPT_STEPS):
        here = c[left]
        b = expit(down * (F + here))
        total = -np.einsum("np,np->p", wd, b)
        slope = np.einsum("np,np->p", w * b, 1.0 - b)
        low, high = np.where(total > 0, here, low), np.where(total > 0, high, here)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = here + total / slope
        inside = (newton > low) & (newton < high)
        moved = np.where(inside, newton, (low + high) / 2)
        moved = np.where(np.abs(total) <= BALANCE_TOL, here, moved)
        # Newton's method squares the error: after a small step there is none left.
        rounding = 1e-15 * np.maximum(1.0, np.abs(moved))
        last = np.maximum(LAST_STEP, accuracy[left])
        enough = np.maximum(rounding, np.where(inside, last, 0.0))
        going = np.abs(moved - here) > enough
        c[left] = moved
        if not going.any():
            break
        if not going.all():
            left, low, high = left[going], low[going], high[going]
            down, wd, F, w = down[:, going], wd[:, going], F[:, going], w[:, going]
    return np.asarray(c[:, None])
