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

from kreinlearn._typing import Array
from kreinlearn.losses import Loss
from kreinlearn.operators import Symmetric
from kreinlearn.problem.intercepts import intercepts, pseudo_inverse


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
