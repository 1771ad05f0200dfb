"""The paper's objective F as a difference of convex functions, and its surrogate.

Letters: ``K`` (n, n) symmetric; ``a`` coefficients (the paper's alpha); ``c`` the
intercept; ``f = K a + c``; ``y`` labels, -1 or +1; ``b`` sigma(-y f) (its beta);
``weights`` (n,) summing to one, in place of 1/n. Arrays of one problem have shape (n,),
those of a block of P problems that share K (n, P); everything below holds for both.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.operators import Symmetric
from kreinlearn.spectrum.decompose import Split


class Evaluated(NamedTuple):
    """Quantities at a point from one product with K: f, K- a, the loss, w y b."""

    w: Array
    f: Array
    minus: Array
    loss: Array
    push: Array


@dataclass(frozen=True)
class KreinRisk:
    """The paper's objective F as a difference of convex functions g - h.

    With variables ``w = (a, c)``:

        F(w) = sum_i weights_i log(1 + exp(-y_i f_i)) + (lam / 2) a'(K+ - K-) a,
        f = K a + c;  h = (lam / 2) a' K- a.

    Parameters
    ----------
    K : Symmetric
        The similarities.
    split : Split
        Positive decomposition K = K+ - K-.
    y : ndarray of shape (n,) or (n, P)
        Labels, -1 or +1; one column per problem for a block.
    weights : ndarray of shape (n,)
        Nonnegative, summing to one.
    lam : float or ndarray of shape (P,)
        Regularization.
    fit_intercept : bool
        Whether c is a variable; if not, ``w = a``.
    scale : float
        Factor on the whole objective: 1 for the mean loss, n for the summed one.

    Notes
    -----
    The paper's Eq. (grad) prints ``y * (K beta)`` for ``K (y * beta)``, and its Eq.
    (SGD) leaves out the linearized term ``- lam K- alpha_k``, without which the
    concave part would never be used. Both are as meant here, not as printed.
    """

    K: Symmetric
    split: Split
    y: Array
    weights: Array
    lam: float | Array
    fit_intercept: bool = True
    scale: float = 1.0
    _last: list[Evaluated] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def n_terms(self) -> int:
        return len(self.y)

    @property
    def dim(self) -> int:
        return self.n_terms + int(self.fit_intercept)

    @property
    def n_problems(self) -> int:
        return 1 if self.y.ndim == 1 else self.y.shape[1]

    @property
    def lipschitz(self) -> Array:
        """Lipschitz constant of the gradient of g, hence of every surrogate.

        ``lam |K+| + |K|^2 / (4 n)``; the paper prints ``|K|`` without the square.
        """
        norm2 = self.split.norm**2 + self.n_terms * self.fit_intercept
        smooth = self.lam * self.split.norm_plus + self.weights.max() * norm2 / 4
        return np.asarray(self.scale * smooth)

    def block(self) -> Self:
        """Return the same problems as a block, whose arrays have a column for each."""
        if self.y.ndim == 2:
            return self
        return replace(self, y=self.y[:, None], lam=np.array([self.lam], dtype=float))

    def take(self, which: Array | int) -> Self:
        """Return some problems of a block, or with a number a single one."""
        return replace(self, y=self.y[:, which], lam=np.asarray(self.lam)[which])

    def at(self, w: Array) -> Evaluated:
        """Evaluate everything that values and gradients at w need.

        One product with K; the last one is remembered, so that a gradient where a
        value was asked for costs no second one.
        """
        if self._last and self._last[0].w is w:
            return self._last[0]
        a = w[: self.n_terms]
        columns = a if a.ndim == 2 else a[:, None]
        f = self.K.matmat(columns).reshape(a.shape)
        if self.fit_intercept:
            f += w[-1]
        minus = self.split.minus(columns).reshape(a.shape)
        margin = self.y * f
        e = np.exp(-np.abs(margin))  # serves the loss and b, and cannot overflow
        weights = self.weights if a.ndim == 1 else self.weights[:, None]
        loss = (weights * (np.log1p(e) - np.minimum(margin, 0.0))).sum(axis=0)
        push = weights * self.y * np.where(margin > 0, e, 1.0) / (1.0 + e)
        self._last[:] = [Evaluated(w, f, minus, loss, push)]
        return self._last[0]

    def value(self, w: Array) -> Array:
        here = self.at(w)
        size = _dot(w[: self.n_terms], self._without_intercept(here))
        return self.scale * (here.loss + self.lam / 2 * size)

    def grad(self, w: Array) -> Array:
        return self.full_gradient(self.at(w), 0.0)

    def full_gradient(self, here: Evaluated, concave: Array | float) -> Array:
        """Return the gradient of F plus ``lam`` times a term of the concave part."""
        columns = here.push if here.push.ndim == 2 else here.push[:, None]
        pull = self.K.matmat(columns).reshape(here.push.shape)
        gradient = self.lam * (self._without_intercept(here) + concave) - pull
        return self._append_intercept(gradient, -here.push.sum(axis=0))

    def sampled_gradient(self, here: Evaluated, concave: Array, idx: Array) -> Array:
        """Return the same with the loss estimated from samples idx (b,) or (b, P)."""
        problems = () if idx.ndim == 1 else (np.arange(idx.shape[1]),)
        own = here.push[(idx, *problems)] * (self.n_terms / len(idx))
        gradient = self.lam * (self._without_intercept(here) + concave)
        for rows, push in zip(idx, own, strict=True):
            columns = self.K.columns(np.atleast_1d(rows))
            gradient -= columns.reshape(gradient.shape) * push
        return self._append_intercept(gradient, -own.sum(axis=0))

    def _without_intercept(self, here: Evaluated) -> Array:
        return here.f - here.w[-1] if self.fit_intercept else here.f

    def _append_intercept(self, gradient: Array, last: Array) -> Array:
        if self.fit_intercept:
            gradient = np.concatenate([gradient, last[None]])
        return np.asarray(self.scale * gradient)

    def residual(self, w: Array) -> float:
        """Return the largest violation of (S), in units of probability."""
        here, used = self.at(w), self.weights > 0
        # push is w y b, so that its modulus over the weight is b.
        off = np.abs(self.lam * w[: self.n_terms] - here.push)[used]
        return float((off.T / self.weights[used]).max())

    def surrogate(self, w: Array) -> "Surrogate":
        return Surrogate(self, w[: self.n_terms], self.at(w).minus)


@dataclass(frozen=True)
class Surrogate:
    """The convex function g minus the tangent of h at a base point.

    It touches F at the base point and lies above it everywhere.

    Parameters
    ----------
    risk : KreinRisk
        The objective.
    base : ndarray of shape (n,) or (n, P)
        Coefficients at which h is linearized, the paper's alpha_k.
    minus : ndarray of the same shape
        Their product with K-.
    """

    risk: KreinRisk
    base: Array
    minus: Array

    @property
    def dim(self) -> int:
        return self.risk.dim

    @property
    def n_terms(self) -> int:
        return self.risk.n_terms

    @property
    def lipschitz(self) -> Array:
        return self.risk.lipschitz

    def take(self, which: Array | int) -> Self:
        """Return those of some problems of a block, or with a number a single one."""
        base, minus = self.base[:, which], self.minus[:, which]
        return replace(self, risk=self.risk.take(which), base=base, minus=minus)

    def value(self, w: Array) -> Array:
        # F + h - tangent of h = F + (lam/2) (a - a_k)' K- (a - a_k)
        away = _dot(w[: self.n_terms] - self.base, self.risk.at(w).minus - self.minus)
        return self.risk.value(w) + self.risk.scale * self.risk.lam / 2 * away

    def grad(self, w: Array) -> Array:
        here = self.risk.at(w)
        return self.risk.full_gradient(here, here.minus - self.minus)

    def grad_batch(self, w: Array, idx: Array) -> Array:
        here = self.risk.at(w)
        return self.risk.sampled_gradient(here, here.minus - self.minus, idx)


def _dot(u: Array, v: Array) -> Array:
    """Return the inner product of two vectors, or of each pair of columns."""
    return np.asarray(np.einsum("i...,i...->...", u, v))
