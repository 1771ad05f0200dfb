"""The bounded dual J of indefinite kernel logistic regression, in blocks.

Letters: n samples, P problems in a block, C columns a problem; ``K`` (n, n) symmetric;
``A`` (n, P, C) coefficients (the paper's alpha); ``F = K A`` (n, P, C) scores; ``c``
(P, C) intercepts; ``Y`` (n, P, C) targets, 0 or 1; ``weights`` (n, P), nonnegative,
each column summing to one, in place of 1/n; ``lam`` (P,).

The stationarity condition of indefinite kernel logistic regression is

    lam A = weights * (Y - prob(F + c)),                                     (S)

and, with an intercept, the columns of A sum to zero. (S) holds exactly where the dual

    J(A) = tr(A' K A) / 2 + sum_i (weights_i / lam) sum_c Q_ic log Q_ic,
    Q = Y - lam A / weights  in the simplex,

is stationary. J lives on a bounded set, so it has a minimum for *every* symmetric K,
while the primal F of the paper is unbounded below for every indefinite one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logsumexp, softmax

from kreinlearn._typing import Array
from kreinlearn.losses import Loss
from kreinlearn.operators import Symmetric

INTERCEPT_STEPS = 200
"""Enough bisections for any double; Newton steps usually end after five."""
SETTLED = 1e-12
"""The same where Newton's method has come to rest, if it will not go further."""
BALANCED = 1e-16
"""Sum of weighted errors that is zero to rounding; the weights sum to one."""
STAGE_STEPS = 30
"""Most Newton steps at one temperature; beyond, rounding is all that is left."""
VANISHED = 1e-6
"""Share of its target below which the probability of a class is as good as zero."""
MODERATE = 50.0
"""Range of scores that Newton's method takes at once."""


def uniqueness_threshold(mu_min: float, max_weight: float, loss: Loss) -> float:
    """Return the lam above which there is exactly one stationary point.

    With equal weights and the logistic loss it is |mu_min| / (4 n).

    Parameters
    ----------
    mu_min : float
        Smallest eigenvalue of K.
    max_weight : float
        Largest weight of a sample, 1/n if they are equal.
    loss : Loss
        The loss, for the bound on its second derivative.

    Returns
    -------
    float
        The threshold, zero if K is positive semidefinite.
    """
    return max(0.0, -mu_min) * max_weight * loss.hessian_bound


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
    size = np.abs(H).max(axis=(-2, -1), keepdims=True)
    scale = np.where(size > 1e-200, size, np.inf)  # saturated: nothing to invert
    return np.asarray(np.linalg.pinv(H / scale, rcond=1e-12, hermitian=True) / scale)


def intercepts(
    loss: Loss, Y: Array, F: Array, weights: Array, start: Array | None = None
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

    Returns
    -------
    ndarray of shape (P, C)
        Intercepts; of the multinomial loss with mean zero.
    """
    start = np.zeros(F.shape[1:]) if start is None else start
    if F.shape[-1] == 1:
        return _binary_intercepts(Y, F, weights, start)
    return _multinomial_intercepts(Y, F, weights, start)


def _multinomial_intercepts(Y: Array, F: Array, w: Array, start: Array) -> Array:
    """Newton's method on all problems at once; the stubborn ones again, with care."""
    target = np.einsum("np,npc->pc", w, Y)
    c = start - start.mean(axis=-1, keepdims=True)
    left = np.arange(len(c))
    stubborn: set[int] = set()
    size = np.full(len(c), np.inf)
    for _ in range(INTERCEPT_STEPS):
        if left.size == 0:
            break
        prob = softmax(F[:, left] + c[left], axis=-1)
        weighted = w[:, left, None] * prob
        mass = weighted.sum(axis=0)
        gradient = mass - target[left]
        new = np.abs(gradient).max(axis=-1)
        worse = (new > size[left] / 2) & (new > BALANCED)
        stubborn |= set(left[worse & (new > SETTLED)].tolist())
        going = (new > BALANCED) & ~worse
        size[left] = new
        left, gradient, mass = left[going], gradient[going], mass[going]
        hessian = -np.einsum("npc,npd->pcd", weighted[:, going], prob[:, going])
        hessian[:, np.arange(mass.shape[1]), np.arange(mass.shape[1])] += mass
        inverse = pseudo_inverse(hessian)
        c[left] -= np.einsum("pcd,pd->pc", inverse, gradient)
    for p in stubborn:
        c[p] = _multinomial_intercept(target[p], F[:, p], w[:, p], start[p])
    return np.asarray(c - c.mean(axis=-1, keepdims=True))


def _multinomial_intercept(target: Array, f: Array, w: Array, start: Array) -> Array:
    """Minimize the convex mean of T logsumexp((f + c) / T) - target'c for one problem.

    T falls to 1 from where the scores are moderate: at once, scores of thousands
    would leave Newton's method on a plateau.
    """
    c = start - start.mean()
    temperature = max(1.0, float(np.ptp(f + c)) / MODERATE)
    while True:
        c = _tempered_newton(target, f, w, c, temperature)
        if temperature == 1.0:
            return np.asarray(c - c.mean())
        temperature = max(1.0, temperature / 4)


def _tempered_newton(
    target: Array, f: Array, w: Array, c: Array, temperature: float
) -> Array:
    def value(c: Array) -> float:
        soft = temperature * logsumexp((f + c) / temperature, axis=1)
        return float(w @ soft - target @ c)

    def excess(c: Array) -> tuple[Array, Array]:
        prob = softmax((f + c) / temperature, axis=1)
        mass = w @ prob
        hessian = (np.diag(mass) - (w[:, None] * prob).T @ prob) / temperature
        return mass - target, hessian

    gradient, hessian = excess(c)
    for _ in range(STAGE_STEPS):
        size = np.abs(gradient).max()
        if size <= 1e-15:
            break
        gone = gradient + target < VANISHED * target
        if gone.any():
            # Newton's method is blind to a class whose probability has vanished: one
            # step of proportional scaling, which always descends, brings it back.
            mass = np.maximum((gradient + target)[gone], np.finfo(float).tiny)
            c = c.copy()
            c[gone] += temperature * np.log(target[gone] / mass)
            gradient, hessian = excess(c)
            continue
        step = -pseudo_inverse(hessian) @ gradient
        # Near the solution the value no longer changes in double precision, but the
        # gradient does: a full step that halves it needs no other test.
        moved = c + step
        new = excess(moved)
        if np.abs(new[0]).max() > size / 2:
            current, slope, t = value(c), gradient @ step, 1.0
            while value(c + t * step) > current + 1e-4 * t * slope and t > 1e-6:
                t /= 2
            if t <= 1e-6:
                break
            moved = c + t * step
            new = excess(moved)
        c, (gradient, hessian) = moved, new
    return c


def _binary_intercepts(Y: Array, F: Array, w: Array, start: Array) -> Array:
    """Bracketed Newton on the monotone sum of errors, all problems at once."""
    margin = 40.0  # beyond it every sigmoid is 0 or 1 to double precision
    y, F = (2 * Y - 1)[..., 0], F[..., 0]
    low, high = -F.max(axis=0) - margin, -F.min(axis=0) + margin
    c = np.clip(start[:, 0], low, high)
    left = np.arange(len(c))  # problems that are not settled yet
    for _ in range(INTERCEPT_STEPS):
        margins = y * (F + c[left])
        b = expit(-margins)
        total = (w * y * b).sum(axis=0)
        slope = (w * b * expit(margins)).sum(axis=0)
        low, high = (
            np.where(total > 0, c[left], low),
            np.where(total > 0, high, c[left]),
        )
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = c[left] + total / slope
        inside = (newton > low) & (newton < high)
        moved = np.where(inside, newton, (low + high) / 2)
        moved = np.where(np.abs(total) <= BALANCED, c[left], moved)
        going = np.abs(moved - c[left]) > 1e-15 * np.maximum(1.0, np.abs(moved))
        c[left] = moved
        if not going.any():
            break
        if not going.all():
            left, low, high = left[going], low[going], high[going]
            y, F, w = y[:, going], F[:, going], w[:, going]
    return np.asarray(c[:, None])


@dataclass(frozen=True)
class DualPoint:
    """An iterate of a block: dual logits and all that follows from them."""

    Z: Array
    A: Array
    F: Array
    c: Array
    entropy: Array
    value: Array
    residual: Array
    lam: Array


@dataclass(frozen=True)
class DualModel:
    """Newton model of J at a point: I + T'(K + shift)T on the constraint's null space.

    ``T = sqrt(weights / lam) * root`` turns a scaled step X into coefficients.
    """

    K: Symmetric
    loss: Loss
    metric: Array
    scale: Array
    inverse: Array | None
    rhs: Array

    def take(self, which: Sequence[int] | Array) -> "DualModel":
        """Return the model of the chosen problems."""
        return replace(
            self,
            metric=self.metric[:, which],
            scale=self.scale[:, which],
            inverse=None if self.inverse is None else self.inverse[which],
            rhs=self.rhs[:, which],
        )

    def _root(self, X: Array) -> Array:
        return self.scale[..., None] * self.loss.root(self.metric, X)

    def _root_t(self, V: Array) -> Array:
        return self.loss.root_t(self.metric, self.scale[..., None] * V)

    def project(self, X: Array) -> Array:
        """Return the part of X whose step keeps the columns of A summing to zero."""
        if self.inverse is None:
            return X
        excess = self._root(X).sum(axis=0)
        shift = np.einsum("pcd,pd->pc", self.inverse, excess)
        return X - self._root_t(np.broadcast_to(shift, X.shape))

    def apply(self, X: Array) -> tuple[Array, Array]:
        D = self._root(X)
        return D, product(self.K, D)

    def pull(self, D: Array, KD: Array, X: Array, shift: Array) -> Array:
        return X + self.project(self._root_t(KD + shift[:, None] * D))


def product(K: Symmetric, B: Array) -> Array:
    """Return K B for a block B of shape (n, P, C): one matrix-matrix product."""
    return K.matmat(B.reshape(B.shape[0], -1)).reshape(B.shape)


@dataclass(frozen=True)
class KreinDual:
    """A block of dual problems that share K; see the module docstring.

    Parameters
    ----------
    K : Symmetric
        The similarities, as something to multiply by.
    Y : ndarray of shape (n, P, C)
        Targets, 0 or 1.
    weights : ndarray of shape (n, P)
        Nonnegative, each column summing to one; zero leaves a sample out.
    lam : ndarray of shape (P,)
        Regularization of each problem.
    loss : Loss
        Logistic (C = 1) or multinomial.
    fit_intercept : bool
        Whether c is free, and the columns of A sum to zero.
    """

    K: Symmetric
    Y: Array
    weights: Array
    lam: Array
    loss: Loss
    fit_intercept: bool = True

    @property
    def n_problems(self) -> int:
        return int(self.Y.shape[1])

    def take(self, which: Sequence[int] | Array) -> "KreinDual":
        return replace(
            self,
            Y=self.Y[:, which],
            weights=self.weights[:, which],
            lam=self.lam[which],
        )

    def relaxed(self, factor: Array) -> "KreinDual":
        return replace(self, lam=self.lam * factor)

    def start(self) -> Array:
        zero = np.zeros(self.Y.shape)
        return zero + self._intercepts(zero)

    def _intercepts(self, F: Array, start: Array | None = None) -> Array:
        if not self.fit_intercept:
            return np.zeros(F.shape[1:])
        return intercepts(self.loss, self.Y, F, self.weights, start)

    def product(self, D: Array) -> Array:
        return product(self.K, D)

    def coefficients(self, Z: Array) -> Array:
        """Return the A that belongs to dual logits Z."""
        rate = (self.weights / self.lam)[..., None]
        return np.asarray(rate * self.loss.error(self.Y, Z))

    def point(self, w: Array, F: Array | None = None) -> DualPoint:
        A = self.coefficients(w)
        return self._complete(w, A, product(self.K, A) if F is None else F)

    def _complete(
        self, Z: Array, A: Array, F: Array, start: Array | None = None
    ) -> DualPoint:
        c = self._intercepts(F, start)
        entropy = self.loss.entropy(Z)
        value = (A * F).sum(axis=(0, 2)) / 2 + self._mass(entropy)
        residual = self.residual(Z, F + c)
        return DualPoint(Z, A, F, c, entropy, value, residual, self.lam)

    def _mass(self, entropy: Array) -> Array:
        return np.asarray((self.weights * entropy).sum(axis=0) / self.lam)

    def residual(self, Z: Array, scores: Array) -> Array:
        """Return the certificate: the largest |Q - prob(scores)| that has weight."""
        gap = self.loss.error(self.Y, Z) - self.loss.error(self.Y, scores)
        counted = np.where(self.weights[..., None] > 0, np.abs(gap), 0.0)
        return np.asarray(counted.max(axis=(0, 2)))

    def model(self, point: DualPoint) -> DualModel:
        scores = point.F + point.c
        metric = self.loss.metric(point.Z, scores)
        rate = self.weights / self.lam
        inverse = None
        if self.fit_intercept:
            outer = self.loss.outer(metric, rate)
            inverse = pseudo_inverse(outer)
        bare = DualModel(self.K, self.loss, metric, np.sqrt(rate), inverse, metric)
        gap = self.loss.gap(point.Z, scores)
        return replace(bare, rhs=bare.project(bare._root_t(gap)))

    def _speed(self, D: Array) -> Array:
        """Change of Q for a change D of A."""
        w = self.weights[..., None]
        safe = np.where(w > 0, w, 1.0)
        return np.asarray(np.where(w > 0, -self.lam[:, None] * D / safe, 0.0))

    def room(self, point: DualPoint, D: Array) -> Array:
        return self.loss.room(point.Z, self._speed(D))

    def restored(self, point: DualPoint, D: Array, scale: Array) -> Array:
        Z = self.loss.moved(point.Z, self._speed(D), scale)
        if self.fit_intercept:
            # Tilting all logits by one constant meets the constraint again and can
            # cross no wall, unlike a projection.
            Z = Z + intercepts(self.loss, self.Y, Z, self.weights)
        return self.coefficients(Z) - point.A

    def slope(self, point: DualPoint, D: Array) -> Array:
        gap = self.loss.gap(point.Z, point.F + point.c)
        return np.asarray(-(gap * D).sum(axis=(0, 2)))

    def _moved(self, point: DualPoint, D: Array, t: Array) -> Array:
        length = np.broadcast_to(t, D.shape[:2])
        return self.loss.moved(point.Z, self._speed(D), length)

    def advance(self, point: DualPoint, D: Array, KD: Array, t: Array) -> DualPoint:
        A, F = point.A + t[:, None] * D, point.F + t[:, None] * KD
        return self._complete(self._moved(point, D, t), A, F, point.c)

    def change(self, point: DualPoint, D: Array, KD: Array, t: Array) -> Array:
        linear = (D * point.F).sum(axis=(0, 2))
        square = (D * KD).sum(axis=(0, 2))
        entropy = self.loss.entropy(self._moved(point, D, t)) - point.entropy
        return np.asarray(t * linear + t**2 * square / 2 + self._mass(entropy))
