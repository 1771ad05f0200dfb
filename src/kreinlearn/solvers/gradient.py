"""Inner solvers of the published procedure: gradient descent, full or stochastic.

Both do what the inner loop of the paper's Algorithm 1 does: step until the surrogate
changes by at most eps. Details that the paper leaves open, or cannot mean as printed,
are settings: above all when the rate shrinks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from kreinlearn._typing import Array
from kreinlearn._validation import check_choice
from kreinlearn.solvers.base import FiniteSum, Status


@dataclass(frozen=True)
class InnerResult:
    """Where an inner loop ended, one entry per problem of the block.

    Attributes
    ----------
    w : ndarray of shape (dim, P)
        The points, of which the last finite one counts.
    rate : ndarray of shape (P,)
        Rates of the next steps.
    n_iter : ndarray of shape (P,)
        Numbers of steps.
    status : list of Status
        How each loop ended.
    """

    w: Array
    rate: Array
    n_iter: Array
    status: list[Status]


class Inner(Protocol):
    """Interface of an inner solver, as the outer loop uses it."""

    def first_rate(self, surrogate: FiniteSum) -> Array:
        """Rate of the very first step, shape () or (P,)."""

    def run(
        self,
        surrogate: FiniteSum,
        w: Array,
        *,
        eps: float,
        rate: Array,
        limit: Array,
        max_inner: int,
        rng: Sequence[np.random.Generator],
    ) -> InnerResult:
        """Decrease the surrogates from w (dim, P) until they change by at most eps.

        Values beyond ``limit`` in modulus end a loop as diverged, long before they
        could overflow. Each problem has a generator of its own.
        """


class _Descent:
    """The inner loop of Algorithm 1, with any gradient."""

    step: Literal["paper", "lipschitz"]
    eta: float
    decay: float
    shrink: Literal["step", "outer", "increase"]

    def first_rate(self, surrogate: FiniteSum) -> Array:
        if self.step == "lipschitz":
            return 1.0 / surrogate.lipschitz
        return np.full_like(surrogate.lipschitz, self.eta)

    def _gradient(
        self, surrogate: FiniteSum, w: Array, rng: Sequence[np.random.Generator]
    ) -> Array:
        return surrogate.grad(w)

    def run(
        self,
        surrogate: FiniteSum,
        w: Array,
        *,
        eps: float,
        rate: Array,
        limit: Array,
        max_inner: int,
        rng: Sequence[np.random.Generator],
    ) -> InnerResult:
        """Run steps 6 to 14 of Algorithm 1, for each problem of the block."""
        check_choice("shrink", self.shrink, ("step", "outer", "increase"))
        rho = self.decay if self.step == "paper" else 1.0
        loops = _Loops(w, rate, limit, rng)
        value = surrogate.value(w)
        while loops.go_on(max_inner):
            gradient = self._gradient(surrogate, loops.w, loops.rng)
            with np.errstate(over="ignore", invalid="ignore"):
                moved = loops.w - loops.rate * gradient
                new = surrogate.value(moved)
                change = new - value
            if self.shrink == "step":
                loops.rate = rho * loops.rate
            elif self.shrink == "increase":
                loops.rate = np.where(change > 0, rho * loops.rate, loops.rate)
            value = new
            going = loops.accept(moved, new, np.abs(change) <= eps)
            if len(going) < len(new):  # some have ended: go on with the others
                surrogate, value = surrogate.take(going), new[going]
        ended = loops.finish()
        factor = rho if self.shrink == "outer" else 1.0
        return replace(ended, rate=factor * ended.rate)


class _Loops:
    """The inner loops of a block that are still running, and where the others ended."""

    def __init__(
        self, w: Array, rate: Array, limit: Array, rng: Sequence[np.random.Generator]
    ) -> None:
        self.w, self.rate, self.limit, self.rng = w, rate, limit, list(rng)
        self.running, self.n_iter = np.arange(w.shape[1]), 0
        self.ends: dict[int, tuple[Array, float, int, Status]] = {}

    def go_on(self, max_inner: int) -> bool:
        return len(self.running) > 0 and self.n_iter < max_inner

    def accept(self, moved: Array, value: Array, settled: Array) -> Array:
        """Take the steps to ``moved``, and return which of the loops go on."""
        lost, far = ~np.isfinite(value), np.abs(value) > self.limit
        ended = lost | far | settled
        self.n_iter += 1
        if not ended.any():
            self.w = moved
            return np.arange(len(ended))
        for j in map(int, np.flatnonzero(ended)):
            if lost[j]:
                self._end(j, self.w, Status.NONFINITE)  # the last that was finite
            else:
                self._end(j, moved, Status.DIVERGED if far[j] else Status.CONVERGED)
        going = np.flatnonzero(~ended)
        self.w, self.rate = moved[:, going], self.rate[going]
        self.limit = self.limit[going]
        self.running, self.rng = self.running[going], [self.rng[j] for j in going]
        return going

    def _end(self, j: int, w: Array, status: Status) -> None:
        end = w[:, j], float(self.rate[j]), self.n_iter, status
        self.ends[int(self.running[j])] = end

    def finish(self) -> InnerResult:
        """Return where all of them ended; those still running are out of steps."""
        for j in range(len(self.running)):
            self._end(j, self.w, Status.MAX_ITER)
        ends = (self.ends[j] for j in sorted(self.ends))
        w, rate, n_iter, status = zip(*ends, strict=True)
        arrays = (np.column_stack(w), np.array(rate), np.array(n_iter))
        return InnerResult(*arrays, list(status))


@dataclass(frozen=True)
class GradientDescent(_Descent):
    """Gradient descent with a shrinking or a safe constant rate.

    Parameters
    ----------
    step : {"paper", "lipschitz"}
        "paper": ``eta``, multiplied by ``decay`` as in ``shrink``. "lipschitz": one
        over the Lipschitz constant of the gradient, constant, never overshooting.
    eta, decay : float
        The paper's learning rate and its factor rho.
    shrink : {"step", "outer", "increase"}
        When the rate shrinks. "step": after every inner step, as Algorithm 1 is
        printed; it is gone after some forty steps. "outer": once after every inner
        loop, the reading that explains the paper's tables. "increase": after inner
        steps that increased the surrogate.
    """

    step: Literal["paper", "lipschitz"] = "paper"
    eta: float = 0.02
    decay: float = 0.8
    shrink: Literal["step", "outer", "increase"] = "step"


@dataclass(frozen=True)
class SGD(_Descent):
    """Stochastic gradient descent: the gradient estimated from a few samples.

    Parameters
    ----------
    batch_size : int
        Samples drawn, with replacement, for each step; the paper draws one.
    step, eta, decay, shrink
        As in `GradientDescent`.

    Notes
    -----
    The paper's step leaves out the linearized term; it is put back here.
    """

    batch_size: int = 1
    step: Literal["paper", "lipschitz"] = "paper"
    eta: float = 0.02
    decay: float = 0.8
    shrink: Literal["step", "outer", "increase"] = "step"

    def _gradient(
        self, surrogate: FiniteSum, w: Array, rng: Sequence[np.random.Generator]
    ) -> Array:
        draws = [each.integers(surrogate.n_terms, size=self.batch_size) for each in rng]
        return surrogate.grad_batch(w, np.array(draws).T)
