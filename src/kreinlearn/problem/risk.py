"""The paper's objective F as a difference of convex functions, and its surrogate.

Letters: ``K`` (n, n) symmetric; ``a`` (n,) coefficients (the paper's alpha); ``c`` the
intercept; ``f = K a + c`` (n,); ``y`` (n,) labels, -1 or +1; ``weights`` (n,) summing
to one, in place of 1/n.
"""

import numpy as np
from scipy.special import expit

from kreinlearn._typing import Array
from kreinlearn.operators import Symmetric
from kreinlearn.spectrum.decompose import Split
from kreinlearn.spectrum.describe import theorem1_bound


class KreinRisk:
    """The paper's objective F as a difference of convex functions g - h.

    For one problem with one column (binary labels), variables ``w = (a, c)``:

        F(w) = sum_i weights_i log(1 + exp(-y_i f_i)) + (lam / 2) a'(K+ - K-) a,
        f = K a + c;  h = (lam / 2) a' K- a.

    Parameters
    ----------
    K : Symmetric
        The similarities.
    split : Split
        Positive decomposition K = K+ - K-.
    y : ndarray of shape (n,)
        Labels, -1 or +1.
    weights : ndarray of shape (n,)
        Nonnegative, summing to one.
    lam : float
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

    def __init__(
        self,
        K: Symmetric,
        split: Split,
        y: Array,
        weights: Array,
        lam: float,
        *,
        fit_intercept: bool = True,
        scale: float = 1.0,
    ) -> None:
        self.K, self.split, self.y, self.weights = K, split, y, weights
        self.lam, self.fit_intercept, self.scale = lam, fit_intercept, scale
        self._memo: tuple[Array, Array, Array] | None = None

    @property
    def n_terms(self) -> int:
        return len(self.y)

    @property
    def dim(self) -> int:
        return self.n_terms + int(self.fit_intercept)

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the gradient of g, hence of every surrogate.

        ``lam |K+| + |K|^2 / (4 n)``; the paper prints ``|K|`` without the square.
        """
        norm2 = self.split.norm**2 + self.n_terms * self.fit_intercept
        smooth = self.lam * self.split.norm_plus + self.weights.max() * norm2 / 4
        return float(self.scale * smooth)

    @property
    def theorem1_bound(self) -> float:
        """Right side of the paper's Theorem 1: a diagnostic, never a guarantee."""
        norms = self.split.norm, self.split.norm_plus, self.split.norm_minus
        return theorem1_bound(*norms, self.n_terms, self.lam)

    def parts(self, w: Array) -> tuple[Array, Array]:
        """Return f and K- a at w, remembering the last ones: one product with K."""
        if self._memo is None or self._memo[0] is not w:
            a = w[: self.n_terms, None]
            f = self.K.matmat(a)[:, 0]
            if self.fit_intercept:
                f = f + w[-1]
            self._memo = (w, f, self.split.minus(a)[:, 0])
        return self._memo[1], self._memo[2]

    def value(self, w: Array) -> float:
        f, _ = self.parts(w)
        a = w[: self.n_terms]
        Ka = f - w[-1] if self.fit_intercept else f
        loss = (self.weights * np.logaddexp(0.0, -self.y * f)).sum()
        return float(self.scale * (loss + self.lam / 2 * (a @ Ka)))

    def grad(self, w: Array) -> Array:
        return self._gradient(w, minus=None)

    def _gradient(self, w: Array, minus: Array | None) -> Array:
        """Gradient of F, or with ``minus = K- a_k`` that of the surrogate at a_k."""
        f, minus_a = self.parts(w)
        push = self.weights * self.y * expit(-self.y * f)
        Ka = f - w[-1] if self.fit_intercept else f
        gradient = self.lam * Ka - self.K.matmat(push[:, None])[:, 0]
        if minus is not None:
            gradient += self.lam * (minus_a - minus)
        return self._completed(gradient, -push.sum())

    def _completed(self, gradient: Array, last: float) -> Array:
        if self.fit_intercept:
            gradient = np.append(gradient, last)
        return np.asarray(self.scale * gradient)

    def residual(self, w: Array) -> float:
        """Return the largest violation of (S), in units of probability."""
        f, _ = self.parts(w)
        used = self.weights > 0
        p = self.lam * (self.y * w[: self.n_terms])[used] / self.weights[used]
        return float(np.abs(p - expit(-self.y * f)[used]).max())

    def surrogate(self, w: Array) -> "Surrogate":
        return Surrogate(self, w)


class Surrogate:
    """The convex function g minus the tangent of h at a base point.

    It touches F at the base point and lies above it everywhere.
    """

    def __init__(self, risk: KreinRisk, base: Array) -> None:
        self.risk, self.base = risk, base
        _, self.minus = risk.parts(base)

    @property
    def dim(self) -> int:
        return self.risk.dim

    @property
    def n_terms(self) -> int:
        return self.risk.n_terms

    @property
    def lipschitz(self) -> float:
        return self.risk.lipschitz

    def value(self, w: Array) -> float:
        # F + h - tangent of h = F + (lam/2) (a - a_k)' K- (a - a_k)
        n = self.n_terms
        _, minus_a = self.risk.parts(w)
        away = (w[:n] - self.base[:n]) @ (minus_a - self.minus)
        return self.risk.value(w) + self.risk.scale * self.risk.lam / 2 * float(away)

    def grad(self, w: Array) -> Array:
        return self.risk._gradient(w, self.minus)

    def grad_batch(self, w: Array, idx: Array) -> Array:
        risk = self.risk
        f, minus_a = risk.parts(w)
        share = risk.n_terms / len(idx)
        push = share * (risk.weights * risk.y * expit(-risk.y * f))[idx]
        Ka = f - w[-1] if risk.fit_intercept else f
        gradient = risk.lam * (Ka + minus_a - self.minus)
        gradient -= risk.K.columns(idx) @ push
        return risk._completed(gradient, -push.sum())
