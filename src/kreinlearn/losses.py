"""Logistic and multinomial losses, and their duals, row by row.

Letters. A block holds P problems on the same n samples, each with C columns of
scores, so arrays have shape (n, P, C); C is 1 for the logistic loss and the number of
classes for the multinomial one. ``Y`` are targets (0 or 1), ``F`` scores. The dual
variable of a sample is its probability vector, and at a stationary point it is the one
that belongs to its scores.

``Probabilities`` hold the logarithm of each number too, and for two classes those of
the other class. That keeps full relative accuracy where a probability is
within rounding of 0 or 1, which is where tiny lam drives it, and no function here has
to take an exponential that was taken before.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
from scipy.special import log_expit, log_softmax, logsumexp

from kreinlearn._typing import Array

__all__ = ["Logistic", "Loss", "Multinomial", "Probabilities", "logarithmic_mean"]

LOG_FLOOR = -700.0
"""Logarithms of probabilities end here: exp(-700) is nearly the smallest double."""
SERIES_GAP = 1e-3
"""Below this difference of logarithms a mean comes from its series."""


class Probabilities(NamedTuple):
    """Probabilities and their logarithms, each of shape (n, P, C).

    ``q`` are those of the columns; ``r = 1 - q``, for the logistic loss only.
    """

    q: Array
    log_q: Array
    r: Array
    log_r: Array

    def take(self, which: Sequence[int] | Array) -> "Probabilities":
        """Return those of the chosen problems."""
        return Probabilities(*(array[:, which] for array in self))

    def concat(self, other: "Probabilities") -> "Probabilities":
        """Return those of these and of other problems, one after another."""
        pairs = zip(self, other, strict=True)
        return Probabilities(*(np.concatenate(pair, axis=1) for pair in pairs))


class Root(NamedTuple):
    """T = diag(scale)(I - u u') of each sample, both of shape (n, P, C).

    Without ``u``, which the logistic loss does not need, T = diag(scale).
    """

    scale: Array
    u: Array | None = None

    def take(self, which: Sequence[int] | Array) -> "Root":
        """Return those of the chosen problems."""
        u = None if self.u is None else self.u[:, which]
        return Root(self.scale[:, which], u)

    def tangent(self, X: Array) -> Array:
        """Return the part of X that T does not map to zero, shape (n, P, C)."""
        if self.u is None:
            return X
        return np.asarray(X - self.u * np.einsum("npc,npc->np", self.u, X)[..., None])

    def apply(self, X: Array) -> Array:
        """Return T X, shape (n, P, C)."""
        return np.asarray(self.scale * self.tangent(X))

    def apply_t(self, X: Array) -> Array:
        """Return T' X, shape (n, P, C)."""
        return self.tangent(self.scale * X)


class Loss(Protocol):
    """Interface of a loss, as problems use it."""

    hessian_bound: float

    def value(self, Y: Array, F: Array) -> Array:
        """Loss of each sample, shape (n, P)."""

    def at(self, F: Array) -> Probabilities:
        """Probabilities that go with scores or logits."""

    def logits(self, p: Probabilities) -> Array:
        """Scores that give these probabilities, shape (n, P, C)."""

    def error(self, Y: Array, p: Probabilities) -> Array:
        """Y - q without cancellation: minus the gradient, shape (n, P, C)."""

    def entropy(self, p: Probabilities) -> Array:
        """Sum over classes of q log q (negative), shape (n, P)."""

    def metric(self, p: Probabilities, b: Probabilities) -> Array:
        """Secant metric between two points, to be handed to ``root``, (n, P, C)."""

    def root(self, metric: Array, scale: Array) -> Root:
        """T, where T T' is scale (n, P) times the metric."""

    def outer(self, metric: Array, scale: Array) -> Array:
        """Sum over samples of scale * metric, shape (P, C, C)."""

    def largest_step(self, p: Probabilities, dq: Array) -> Array:
        """Largest t with q + t dq still in the simplex, shape (n, P)."""

    def move(self, p: Probabilities, dq: Array, t: Array) -> Probabilities:
        """Return the point q + t dq."""


def logarithmic_mean(p: Array, q: Array, log_p: Array, log_q: Array) -> Array:
    """Return (p - q) / (log p - log q), elementwise and without cancellation.

    It lies between p and q and tends to p as q tends to p. Used as a metric it makes
    a Newton step of the dual land exactly on ``q`` when K = 0, however far away or
    close to its bound ``p`` is; steps by the Hessian itself would be tiny there.

    Parameters
    ----------
    p, q : ndarray
        Nonnegative numbers.
    log_p, log_q : ndarray
        Their logarithms; finite, also where a number has underflowed.

    Returns
    -------
    ndarray
        The mean, of the same shape.
    """
    delta = log_p - log_q
    near = np.abs(delta) < SERIES_GAP
    close = (p + q) * (0.5 - delta**2 / 24)
    return np.asarray(np.where(near, close, (p - q) / np.where(near, 1.0, delta)))


def _log(p: Array) -> Array:
    return np.maximum(np.log(p), LOG_FLOOR)


class Logistic:
    """The loss log(1 + exp(-y f)) with y = 2 Y - 1, on one column of scores."""

    hessian_bound = 0.25

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray(-log_expit((2 * Y - 1) * F)[..., 0])

    def at(self, F: Array) -> Probabilities:
        size = np.abs(F)
        ratio = np.exp(-size)  # of the smaller to the larger probability
        large = 1.0 / (1.0 + ratio)
        small = ratio * large
        log_large = -np.log1p(ratio)
        log_small = log_large - size
        first = F >= 0
        return Probabilities(
            np.where(first, large, small),
            np.where(first, log_large, log_small),
            np.where(first, small, large),
            np.where(first, log_small, log_large),
        )

    def logits(self, p: Probabilities) -> Array:
        return p.log_q - p.log_r

    def error(self, Y: Array, p: Probabilities) -> Array:
        return np.where(Y > 0, p.r, -p.q)

    def entropy(self, p: Probabilities) -> Array:
        return np.asarray((p.q * p.log_q + p.r * p.log_r)[..., 0])

    def metric(self, p: Probabilities, b: Probabilities) -> Array:
        # 1 / (1/L1 + 1/L2) of the two classes' logarithmic means equals
        # (p - b) / (difference of logits); this form never subtracts.
        one = logarithmic_mean(p.q, b.q, p.log_q, b.log_q)
        other = logarithmic_mean(p.r, b.r, p.log_r, b.log_r)
        total = one + other
        return np.asarray(one * (other / np.where(total > 0, total, 1.0)))

    def root(self, metric: Array, scale: Array) -> Root:
        return Root(np.sqrt(scale[..., None] * metric))

    def outer(self, metric: Array, scale: Array) -> Array:
        return np.asarray((scale[..., None] * metric).sum(axis=0)[..., None])

    def largest_step(self, p: Probabilities, dq: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            limit = np.where(dq < 0, p.q, p.r) / np.abs(dq)
        # A probability that has underflowed and does not move gives 0 / 0.
        return np.asarray(np.where(dq == 0, np.inf, limit)[..., 0])

    def move(self, p: Probabilities, dq: Array, t: Array) -> Probabilities:
        step = t[..., None] * dq
        q, r = p.q + step, p.r - step
        still = step == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            log_q = np.where(still, p.log_q, _log(q))
            log_r = np.where(still, p.log_r, _log(r))
        return Probabilities(q, log_q, r, log_r)


class Multinomial:
    """The loss -log softmax(f)_y, on one column of scores for each class."""

    hessian_bound = 0.5

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray(logsumexp(F, axis=-1) - (Y * F).sum(axis=-1))

    def at(self, F: Array) -> Probabilities:
        shifted = F - F.max(axis=-1, keepdims=True)
        odds = np.exp(shifted)
        total = odds.sum(axis=-1, keepdims=True)
        return self._only(odds / total, shifted - np.log(total))

    def _only(self, q: Array, log_q: Array) -> Probabilities:
        nothing = q[..., :0]
        return Probabilities(q, log_q, nothing, nothing)

    def logits(self, p: Probabilities) -> Array:
        return p.log_q

    def error(self, Y: Array, p: Probabilities) -> Array:
        others = np.where(Y > 0, 0.0, p.q)
        return np.where(Y > 0, others.sum(-1, keepdims=True), -others)

    def entropy(self, p: Probabilities) -> Array:
        return np.asarray((p.q * p.log_q).sum(axis=-1))

    def metric(self, p: Probabilities, b: Probabilities) -> Array:
        return logarithmic_mean(p.q, b.q, p.log_q, b.log_q)

    # With u = sqrt(L / sum L), T = diag(sqrt L)(I - u u'): then
    # T T' = diag(L) - L L' / sum L, which maps log q - log b to q - b exactly.
    def root(self, metric: Array, scale: Array) -> Root:
        r = np.sqrt(metric)
        u = r / np.sqrt(metric.sum(axis=-1, keepdims=True))
        return Root(np.sqrt(scale)[..., None] * r, u)

    def outer(self, metric: Array, scale: Array) -> Array:
        total = metric.sum(axis=-1, keepdims=True)
        scaled = scale[..., None] * metric
        diagonal = np.einsum("npc,cd->pcd", scaled, np.eye(metric.shape[-1]))
        return np.asarray(diagonal - np.einsum("npc,npd->pcd", scaled / total, metric))

    def largest_step(self, p: Probabilities, dq: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            limit = np.where(dq < 0, p.q / np.abs(dq), np.inf)
        return np.asarray(limit.min(axis=-1))

    def move(self, p: Probabilities, dq: Array, t: Array) -> Probabilities:
        step = t[..., None] * dq
        q = p.q + step
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._only(q, np.where(step == 0, p.log_q, _log(q)))


def loss_for(multinomial: bool) -> Loss:
    """Return the multinomial or the logistic loss."""
    return Multinomial() if multinomial else Logistic()


Link = Literal["logistic", "multinomial", "ovr"]
"""How scores become probabilities."""


def find_link(n_classes: int, multinomial: bool) -> Link:
    """Return how scores become probabilities.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    multinomial : bool
        Whether more than two of them share one model.

    Returns
    -------
    {"logistic", "multinomial", "ovr"}
        The link.
    """
    if n_classes == 2:
        return "logistic"
    return "multinomial" if multinomial else "ovr"


def log_probabilities(scores: Array, link: Link) -> Array:
    """Return the logarithms of the probabilities of the classes.

    Parameters
    ----------
    scores : ndarray of shape (..., k)
        Scores.
    link : {"logistic", "multinomial", "ovr"}
        Two classes, one model of all classes, or one model per class; the last
        are scaled to sum to one.

    Returns
    -------
    ndarray of shape (..., n_classes)
        Log-probabilities, without underflow.
    """
    if link == "logistic":
        return np.concatenate([log_expit(-scores), log_expit(scores)], axis=-1)
    if link == "multinomial":
        return np.asarray(log_softmax(scores, axis=-1))
    # log_softmax takes the largest away first: logarithms of -1e14 have no digits left.
    return np.asarray(log_softmax(log_expit(scores), axis=-1))
