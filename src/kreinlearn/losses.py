"""Logistic and multinomial losses, and their duals, row by row.

Letters. A block holds P problems on the same n samples, each with C columns of
scores, so arrays have shape (n, P, C); C is 1 for the logistic loss and the number of
classes for the multinomial one. ``Y`` are targets (0 or 1), ``F`` scores, ``Z`` dual
logits: the dual variable of a sample is its probability vector ``Q = prob(Z)``, and at
a stationary point ``Z`` equals ``F`` (for the multinomial loss up to a constant a row).

Storing logits instead of probabilities keeps full relative accuracy when a
probability is within rounding of 0 or 1, which is where tiny lam drives it.
"""

from typing import Protocol

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from kreinlearn._typing import Array

LOGIT_CAP = 700.0
"""Logits beyond this are cut: exp(-700) is the smallest normal double, nearly."""


class Loss(Protocol):
    """What a problem asks of a loss."""

    hessian_bound: float

    def value(self, Y: Array, F: Array) -> Array:
        """Loss of each sample, shape (n, P)."""

    def prob(self, Z: Array) -> Array:
        """Probabilities that go with logits or scores, shape (n, P, C)."""

    def error(self, Y: Array, Z: Array) -> Array:
        """Y - prob(Z) without cancellation: minus the gradient, shape (n, P, C)."""

    def entropy(self, Z: Array) -> Array:
        """Sum over classes of Q log Q (negative), shape (n, P)."""

    def gap(self, Z: Array, F: Array) -> Array:
        """Z - F in the tangent space of the simplex, shape (n, P, C)."""

    def metric(self, Z: Array, F: Array) -> Array:
        """Secant metric between Z and F, to be handed to ``root``."""

    def root(self, metric: Array, X: Array) -> Array:
        """T X, where T T' is the metric, shape (n, P, C)."""

    def root_t(self, metric: Array, X: Array) -> Array:
        """T' X, shape (n, P, C)."""

    def outer(self, metric: Array, scale: Array) -> Array:
        """Sum over samples of scale * T T', shape (P, C, C)."""

    def room(self, Z: Array, dQ: Array) -> Array:
        """Largest t with Q + t dQ still in the simplex, shape (n, P)."""

    def moved(self, Z: Array, dQ: Array, t: Array) -> Array:
        """Logits of Q + t dQ, shape (n, P, C)."""


def logarithmic_mean(log_p: Array, log_q: Array) -> Array:
    """Return (p - q) / (log p - log q), elementwise and without cancellation.

    It lies between p and q and tends to p as q tends to p. Used as a metric it makes
    a Newton step of the dual land exactly on ``q`` when K = 0, however far away or
    close to the wall ``p`` is; the Hessian itself would crawl there.

    Parameters
    ----------
    log_p, log_q : ndarray
        Logarithms of positive numbers.

    Returns
    -------
    ndarray
        The mean, of the same shape.
    """
    delta = np.abs(log_p - log_q)
    top = np.exp(np.maximum(log_p, log_q))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(delta > 0, -np.expm1(-delta) / delta, 1.0)
    return np.asarray(top * ratio)


class Logistic:
    """The loss log(1 + exp(-y f)) with y = 2 Y - 1, on one column of scores."""

    hessian_bound = 0.25

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray(-log_expit((2 * Y - 1) * F)[..., 0])

    def prob(self, Z: Array) -> Array:
        return np.asarray(expit(Z))

    def error(self, Y: Array, Z: Array) -> Array:
        y = 2 * Y - 1
        return np.asarray(y * expit(-y * Z))

    def entropy(self, Z: Array) -> Array:
        # Q log Q + R log R with Q = sigma(Z), R = sigma(-Z); log R = log Q - Z.
        return np.asarray((log_expit(Z) - expit(-Z) * Z)[..., 0])

    def gap(self, Z: Array, F: Array) -> Array:
        return Z - F

    def metric(self, Z: Array, F: Array) -> Array:
        # 1 / (1/L1 + 1/L2) of the two classes' logarithmic means equals
        # (sigma(Z) - sigma(F)) / (Z - F); this form never subtracts.
        one = logarithmic_mean(log_expit(Z), log_expit(F))
        other = logarithmic_mean(log_expit(-Z), log_expit(-F))
        total = one + other
        return np.asarray(one * (other / np.where(total > 0, total, 1.0)))

    def root(self, metric: Array, X: Array) -> Array:
        return np.asarray(np.sqrt(metric) * X)

    root_t = root

    def outer(self, metric: Array, scale: Array) -> Array:
        return np.asarray((scale[..., None] * metric).sum(axis=0)[..., None])

    def room(self, Z: Array, dQ: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            limit = np.where(dQ < 0, expit(Z), expit(-Z)) / np.abs(dQ)
        return np.asarray(limit[..., 0])

    def moved(self, Z: Array, dQ: Array, t: Array) -> Array:
        step = t[..., None] * dQ
        with np.errstate(divide="ignore", invalid="ignore"):
            new = np.log(expit(Z) + step) - np.log(expit(-Z) - step)
        return np.asarray(np.clip(np.where(step == 0, Z, new), -LOGIT_CAP, LOGIT_CAP))


class Multinomial:
    """The loss -log softmax(f)_y, on one column of scores for each class."""

    hessian_bound = 0.5

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray(logsumexp(F, axis=-1) - (Y * F).sum(axis=-1))

    def _log_prob(self, Z: Array) -> Array:
        return np.asarray(Z - logsumexp(Z, axis=-1, keepdims=True))

    def prob(self, Z: Array) -> Array:
        return np.asarray(np.exp(self._log_prob(Z)))

    def error(self, Y: Array, Z: Array) -> Array:
        others = np.where(Y > 0, 0.0, self.prob(Z))
        return np.asarray(np.where(Y > 0, others.sum(-1, keepdims=True), -others))

    def entropy(self, Z: Array) -> Array:
        log_q = self._log_prob(Z)
        return np.asarray((np.exp(log_q) * log_q).sum(axis=-1))

    def gap(self, Z: Array, F: Array) -> Array:
        return self._log_prob(Z) - self._log_prob(F)

    def metric(self, Z: Array, F: Array) -> Array:
        return logarithmic_mean(self._log_prob(Z), self._log_prob(F))

    # With u = sqrt(L / sum L), T = diag(sqrt L)(I - u u'): then
    # T T' = diag(L) - L L' / sum L, which maps log Q - log B to Q - B exactly.
    def root(self, metric: Array, X: Array) -> Array:
        r = np.sqrt(metric)
        u = r / np.sqrt(metric.sum(axis=-1, keepdims=True))
        return np.asarray(r * (X - u * (u * X).sum(axis=-1, keepdims=True)))

    def root_t(self, metric: Array, X: Array) -> Array:
        r = np.sqrt(metric)
        u = r / np.sqrt(metric.sum(axis=-1, keepdims=True))
        rX = r * X
        return np.asarray(rX - u * (u * rX).sum(axis=-1, keepdims=True))

    def outer(self, metric: Array, scale: Array) -> Array:
        total = metric.sum(axis=-1, keepdims=True)
        scaled = scale[..., None] * metric
        diagonal = np.einsum("npc,cd->pcd", scaled, np.eye(metric.shape[-1]))
        return np.asarray(diagonal - np.einsum("npc,npd->pcd", scaled / total, metric))

    def room(self, Z: Array, dQ: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            limit = np.where(dQ < 0, self.prob(Z) / np.abs(dQ), np.inf)
        return np.asarray(limit.min(axis=-1))

    def moved(self, Z: Array, dQ: Array, t: Array) -> Array:
        step = t[..., None] * dQ
        with np.errstate(divide="ignore", invalid="ignore"):
            new = np.log(self.prob(Z) + step)
        return self._log_prob(np.maximum(new, -LOGIT_CAP))
