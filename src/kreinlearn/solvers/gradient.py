"""Inner solvers of the published procedure: gradient descent, full or stochastic.

Both do what the inner loop of the paper's Algorithm 1 does: step, shrink the rate,
repeat until the surrogate changes by at most eps. The rate goes on shrinking over the
outer iterations unless told otherwise.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.solvers.base import FiniteSum, Status

INNER_ITER = 100_000
"""Cap on inner steps; the shrinking rate of the paper ends long before."""


@dataclass(frozen=True)
class InnerResult:
    """Where an inner loop ended: point, value there, next rate, steps, status."""

    w: Array
    value: float
    rate: float
    n_iter: int
    status: Status


class Inner(Protocol):
    """What the outer loop asks of an inner solver."""

    @property
    def reset_each_outer(self) -> bool:
        """Whether each outer iteration starts again with the first rate."""

    def first_rate(self, surrogate: FiniteSum) -> float:
        """Rate of the very first step."""

    def run(
        self,
        surrogate: FiniteSum,
        w: Array,
        *,
        eps: float,
        rate: float,
        limit: float,
        rng: np.random.Generator,
    ) -> InnerResult:
        """Minimize the surrogate from w until it changes by at most eps.

        Values beyond ``limit`` in modulus end the loop as diverged, long before they
        could overflow.
        """


class _Descent:
    """The inner loop of Algorithm 1, whatever its gradient is."""

    step: Literal["paper", "lipschitz"]
    eta: float
    decay: float

    def first_rate(self, surrogate: FiniteSum) -> float:
        return self.eta if self.step == "paper" else 1.0 / surrogate.lipschitz

    def _gradient(
        self, surrogate: FiniteSum, w: Array, rng: np.random.Generator
    ) -> Array:
        return surrogate.grad(w)

    def run(
        self,
        surrogate: FiniteSum,
        w: Array,
        *,
        eps: float,
        rate: float,
        limit: float,
        rng: np.random.Generator,
    ) -> InnerResult:
        """Run steps 7 to 13 of Algorithm 1."""
        factor = self.decay if self.step == "paper" else 1.0
        value = surrogate.value(w)
        for n_iter in range(1, INNER_ITER + 1):
            gradient = self._gradient(surrogate, w, rng)
            with np.errstate(over="ignore", invalid="ignore"):
                moved = w - rate * gradient
                new = surrogate.value(moved)
            rate *= factor
            if not np.isfinite(new):
                return InnerResult(w, value, rate, n_iter, Status.NONFINITE)
            change = abs(new - value)
            w, value = moved, new
            if abs(value) > limit:
                return InnerResult(w, value, rate, n_iter, Status.DIVERGED)
            if change <= eps:
                return InnerResult(w, value, rate, n_iter, Status.CONVERGED)
        return InnerResult(w, value, rate, n_iter, Status.MAX_ITER)


@dataclass(frozen=True)
class GradientDescent(_Descent):
    """Gradient descent with a shrinking or a safe constant rate.

    Parameters
    ----------
    step : {"paper", "lipschitz"}
        "paper": ``eta``, multiplied by ``decay`` after each step. "lipschitz": one
        over the Lipschitz constant of the gradient, constant, never overshooting.
    eta, decay : float
        The paper's learning rate and its factor rho.
    reset_each_outer : bool
        Start each outer iteration with ``eta`` again. Algorithm 1 does not.
    """

    step: Literal["paper", "lipschitz"] = "paper"
    eta: float = 0.02
    decay: float = 0.8
    reset_each_outer: bool = False


@dataclass(frozen=True)
class SGD(_Descent):
    """Stochastic gradient descent: the gradient estimated from a few samples.

    Parameters
    ----------
    batch_size : int
        Samples drawn, with replacement, for each step; the paper draws one.
    step, eta, decay, reset_each_outer
        As in `GradientDescent`.

    Notes
    -----
    The paper's step leaves out the linearized term; it is put back here.
    """

    batch_size: int = 1
    step: Literal["paper", "lipschitz"] = "paper"
    eta: float = 0.02
    decay: float = 0.8
    reset_each_outer: bool = False

    def _gradient(
        self, surrogate: FiniteSum, w: Array, rng: np.random.Generator
    ) -> Array:
        idx = rng.integers(surrogate.n_terms, size=self.batch_size)
        return surrogate.grad_batch(w, idx)
