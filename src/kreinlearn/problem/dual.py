"""The bounded dual J of indefinite kernel logistic regression, in blocks.

Letters: n samples, P problems in a block, C columns per problem; ``K`` (n, n)
symmetric; ``A`` (n, P, C) coefficients (the paper's alpha); ``F = K A`` (n, P, C)
scores; ``c`` (P, C) intercepts; ``Y`` (n, P, C) targets, 0 or 1; ``weights`` (n, P),
nonnegative, each column summing to one, in place of 1/n; ``lam`` (P,).

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
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from scipy.special import expit, log_softmax, logsumexp, softmax

from kreinlearn._typing import Array
from kreinlearn.losses import LOG_FLOOR, Loss, Probabilities, Root
from kreinlearn.operators import Symmetric
from kreinlearn.problem.preconditioner import NystroemSketch, Preconditioner

INTERCEPT_ACCURACY = 1e-3
"""Error of the intercepts, as a fraction of the residual of the iterate before."""

INTERCEPT_STEPS = 200
"""Enough bisections for any double; Newton steps usually end after five."""
SETTLED_ERROR = 1e-12
"""Sum of weighted errors that is accepted where Newton's method makes no progress."""
BALANCE_TOL = 1e-16
"""Sum of weighted errors that is zero to rounding; the weights sum to one."""
STAGE_STEPS = 30
"""Most Newton steps at one temperature; further steps change only the rounding."""
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


def uniqueness_threshold(mu_min: float, max_weight: float, loss: Loss) -> float:
    """Return the lam above which there is exactly one stationary point.

    With equal weights and the logistic loss it is ``|mu_min| / (4 n)``.

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


class OwnMatrices(Protocol):
    """The matrices of a block whose problems do not share one."""

    def take(self, which: Sequence[int] | Array) -> Self:
        """Return those of the chosen problems."""

    def product(self, B: Array, *, native: bool) -> Array:
        """Product of each problem's matrix with its part of B, of shape (n, P, C).

        In the precision of the matrix if ``native``, else in double precision.
        """


@dataclass(frozen=True)
class DualPoint:
    """An iterate of a block: dual probabilities and all that follows from them.

    ``Q`` are the dual variables, ``B`` the probabilities of the scores F + c; they
    agree at a stationary point.
    """

    Q: Probabilities
    B: Probabilities
    A: Array
    F: Array
    entropy: Array
    c: Array
    value: Array
    residual: Array
    lam: Array

    @property
    def _of_samples(self) -> tuple[Array, ...]:
        return self.A, self.F, self.entropy

    @property
    def _of_problems(self) -> tuple[Array, ...]:
        return self.c, self.value, self.residual, self.lam

    def take(self, which: Sequence[int] | Array) -> "DualPoint":
        """Return the iterates of the chosen problems."""
        samples = (array[:, which] for array in self._of_samples)
        problems = (array[which] for array in self._of_problems)
        return DualPoint(self.Q.take(which), self.B.take(which), *samples, *problems)

    def concat(self, other: "DualPoint") -> "DualPoint":
        """Return these iterates and those of other problems, one after another."""
        samples = zip(self._of_samples, other._of_samples, strict=True)
        problems = zip(self._of_problems, other._of_problems, strict=True)
        return DualPoint(
            self.Q.concat(other.Q),
            self.B.concat(other.B),
            *(np.concatenate(pair, axis=1) for pair in samples),
            *(np.concatenate(pair) for pair in problems),
        )


@dataclass(frozen=True)
class DualModel:
    """Newton model of J at a point: I + T'(K + shift)T on the constraint's null space.

    ``T T' = (weights / lam) * metric`` turns a scaled step X into coefficients.
    """

    block: "KreinDual"
    root: Root
    inverse: Array | None
    rhs: Array
    shift: Array
    preconditioner: Preconditioner | None = None

    def take(self, which: Sequence[int] | Array) -> "DualModel":
        mine = self.preconditioner
        return DualModel(
            self.block.take(which),
            self.root.take(which),
            None if self.inverse is None else self.inverse[which],
            self.rhs[:, which],
            self.shift[which],
            None if mine is None else mine.take(which),
        )

    def project(self, X: Array) -> Array:
        """Return the part of X whose step keeps the columns of A summing to zero."""
        if self.inverse is None:
            return X
        excess = self.root.apply(X).sum(axis=0)
        shift = np.einsum("pcd,pd->pc", self.inverse, excess)
        return X - self.root.apply_t(np.broadcast_to(shift, X.shape))

    def apply(self, X: Array) -> tuple[Array, Array]:
        D = self.root.apply(X)
        return D, self.block.product(D)

    def without_preconditioner(self, which: Array) -> "DualModel":
        if self.preconditioner is None:
            return self
        return replace(self, preconditioner=self.preconditioner.off(which))

    def with_shift(self, shift: Array) -> "DualModel":
        sketch, found = self.block.sketch, None
        if sketch is not None:
            found = Preconditioner.of(sketch, self.root.scale, shift)
        return replace(self, shift=shift, preconditioner=found)

    def hessian_vector(self, D: Array, KD: Array, X: Array) -> Array:
        if self.shift.any():
            KD = KD + self.shift[:, None] * D
        return X + self.project(self.root.apply_t(KD))

    def precondition(self, R: Array) -> Array:
        if self.preconditioner is None:
            return R
        return self.project(self.root.tangent(self.preconditioner.solve(R)))


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
    own : OwnMatrices, optional
        The matrices, if each problem has its own; K is then one that is like them, and
        preconditions them.
    sketch : NystroemSketch, optional
        Preconditions the models; see ``with_preconditioner``.
    """

    K: Symmetric
    Y: Array
    weights: Array
    lam: Array
    loss: Loss
    fit_intercept: bool = True
    own: OwnMatrices | None = None
    sketch: NystroemSketch | None = None

    @property
    def n_problems(self) -> int:
        return int(self.Y.shape[1])

    def take(self, which: Sequence[int] | Array) -> "KreinDual":
        return replace(
            self,
            Y=self.Y[:, which],
            weights=self.weights[:, which],
            lam=self.lam[which],
            own=None if self.own is None else self.own.take(which),
        )

    def with_scaled_lam(self, factor: Array) -> "KreinDual":
        return replace(self, lam=self.lam * factor)

    def with_preconditioner(self) -> "KreinDual":
        return replace(self, sketch=NystroemSketch.of(self.K))

    def start(self) -> Array:
        return self.feasible(np.zeros(self.Y.shape))

    def _intercepts(
        self, F: Array, start: Array | None = None, accuracy: Array | None = None
    ) -> Array:
        if not self.fit_intercept:
            return np.zeros(F.shape[1:])
        return intercepts(self.loss, self.Y, F, self.weights, start, accuracy)

    def _guess(self, w: Array, F: Array) -> Array:
        """Return approximate intercepts of scores F from dual variables.

        At a stationary point w is F + c, up to a constant per sample if C > 1.
        """
        gap = w - F
        if gap.shape[2] > 1:
            gap -= gap.mean(axis=2, keepdims=True)
        return np.asarray(np.einsum("np,npc->pc", self.weights, gap))

    def product(self, D: Array) -> Array:
        """Return K D for a block D of shape (n, P, C): one matrix-matrix product.

        In the precision of K, which is enough for steps: where the iteration seems to
        end, products are computed again in double precision.
        """
        if self.own is not None:
            return self.own.product(D, native=True)
        return self.K.matmat_native(D.reshape(D.shape[0], -1)).reshape(D.shape)

    @cached_property
    def _rate(self) -> Array:
        return np.asarray(self.weights / self.lam)

    @cached_property
    def _dual_slope(self) -> Array:
        """Change of Q for a change of A by one, shape (n, P, 1)."""
        weighs = self.weights > 0
        safe = np.where(weighs, self.weights, 1.0)
        return np.asarray(np.where(weighs, -self.lam / safe, 0.0)[..., None])

    def coefficients(self, Q: Probabilities) -> Array:
        """Return the A that belongs to dual probabilities."""
        return np.asarray(self._rate[..., None] * self.loss.error(self.Y, Q))

    def feasible(self, w: Array) -> Array:
        return w + self._intercepts(w)

    def variables(self, point: DualPoint) -> Array:
        return self.loss.logits(point.Q)

    def point(self, w: Array, F: Array | None = None) -> DualPoint:
        w = np.clip(w, LOG_FLOOR, -LOG_FLOOR)
        Q = self.loss.at(w)
        A = self.coefficients(Q)
        if F is None and self.own is not None:
            F = self.own.product(A, native=False)
        elif F is None:
            F = self.K.matmat(A.reshape(len(A), -1)).reshape(A.shape)
        return self._complete(Q, A, F, self._intercepts(F, self._guess(w, F)))

    def _complete(self, Q: Probabilities, A: Array, F: Array, c: Array) -> DualPoint:
        B = self.loss.at(F + c)
        entropy = self.loss.entropy(Q)
        value = np.einsum("npc,npc->p", A, F) / 2 + self._mass(entropy)
        residual = self.residual(Q, B)
        return DualPoint(Q, B, A, F, entropy, c, value, residual, np.asarray(self.lam))

    def _mass(self, entropy: Array) -> Array:
        return np.asarray(np.einsum("np,np->p", self._rate, entropy))

    def residual(self, Q: Probabilities, B: Probabilities) -> Array:
        """Return the certificate: the largest ``|Q - B|`` that has weight."""
        gap = np.abs(self.loss.error(self.Y, Q) - self.loss.error(self.Y, B))
        gap[self.weights == 0] = 0.0
        return np.asarray(gap.max(axis=(0, 2)))

    def model(self, point: DualPoint, shift: Array) -> DualModel:
        metric = self.loss.metric(point.Q, point.B)
        root = self.loss.root(metric, self._rate)
        inverse = None
        if self.fit_intercept:
            inverse = pseudo_inverse(self.loss.outer(metric, self._rate))
        gap = root.apply_t(self._gap(point))
        bare = DualModel(self, root, inverse, gap, shift)
        return replace(bare.with_shift(shift), rhs=bare.project(gap))

    def _gap(self, point: DualPoint) -> Array:
        """Return the difference of the logits of Q and B, shape (n, P, C)."""
        return self.loss.logits(point.Q) - self.loss.logits(point.B)

    def largest_step(self, point: DualPoint, D: Array) -> Array:
        return self.loss.largest_step(point.Q, self._dual_slope * D)

    def project_step(self, point: DualPoint, D: Array, scale: Array) -> Array:
        Q = self.loss.move(point.Q, self._dual_slope * D, scale)
        if self.fit_intercept:
            # Adding one constant to all logits meets the constraint again and crosses
            # no bound, unlike a projection.
            Q = self.loss.at(self.feasible(self.loss.logits(Q)))
        return self.coefficients(Q) - point.A

    def slope(self, point: DualPoint, D: Array) -> Array:
        return np.asarray(-np.einsum("npc,npc->p", self._gap(point), D))

    def advance(self, point: DualPoint, D: Array, KD: Array, t: Array) -> DualPoint:
        A, F = point.A + t[:, None] * D, point.F + t[:, None] * KD
        # Newton steps do not depend on c; its error must not show in the residual.
        c = self._intercepts(F, point.c, INTERCEPT_ACCURACY * point.residual)
        return self._complete(self.loss.move(point.Q, self._dual_slope * D, t), A, F, c)

    def change(self, point: DualPoint, D: Array, KD: Array, t: Array) -> Array:
        linear = np.einsum("npc,npc->p", D, point.F)
        square = np.einsum("npc,npc->p", D, KD)
        moved = self.loss.move(point.Q, self._dual_slope * D, t)
        entropy = self.loss.entropy(moved) - point.entropy
        return np.asarray(t * linear + t**2 * square / 2 + self._mass(entropy))


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
