"""Contracts between solvers and problems, and what a solve ends with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, Self

from kreinlearn._typing import Array

Row = Mapping[str, Any]
"""One line of history: iteration, objective, residual and the like."""

Callback = Callable[[Row], object]
"""Called with each row; a true return stops the solver."""


class Status(StrEnum):
    """How a solve ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    DIVERGED = "diverged"
    NONFINITE = "nonfinite"


@dataclass(frozen=True)
class Result:
    """What a solver hands back, one entry a problem of the block.

    Attributes
    ----------
    w : ndarray
        The solution, in the problem's own variables.
    status : tuple of Status
        How each problem ended.
    n_iter : tuple of int
        Outer iterations of each problem.
    crit : tuple of float
        Final value of the stopping criterion of each problem.
    history : tuple of mappings
        One row for each iteration of each problem.
    F : ndarray, optional
        Products with K that belong to ``w``, if the solver has them.
    """

    w: Array
    status: tuple[Status, ...]
    n_iter: tuple[int, ...]
    crit: tuple[float, ...]
    history: tuple[Row, ...]
    F: Array | None = None


class Smooth(Protocol):
    """A differentiable function of one vector."""

    @property
    def dim(self) -> int:
        """Number of variables."""

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the gradient."""

    def value(self, w: Array) -> float:
        """Value at w."""

    def grad(self, w: Array) -> Array:
        """Gradient at w, shape (dim,)."""


class FiniteSum(Smooth, Protocol):
    """A mean of terms, whose gradient can be estimated from some of them."""

    @property
    def n_terms(self) -> int:
        """Number of terms."""

    def grad_batch(self, w: Array, idx: Array) -> Array:
        """Unbiased estimate of the gradient from the terms idx, shape (dim,)."""


class DC(Protocol):
    """A difference of convex functions, g - h."""

    @property
    def dim(self) -> int:
        """Number of variables."""

    @property
    def n_terms(self) -> int:
        """Number of samples, whose coefficients come first among the variables."""

    def value(self, w: Array) -> float:
        """Value at w."""

    def grad(self, w: Array) -> Array:
        """Gradient at w, shape (dim,)."""

    def surrogate(self, w: Array) -> FiniteSum:
        """Return the convex function g minus the tangent of h at w."""


class Point(Protocol):
    """An iterate of a block of dual problems; problem and point know each other."""

    @property
    def residual(self) -> Array:
        """Largest violation of stationarity of each problem, shape (P,)."""

    @property
    def value(self) -> Array:
        """Dual objective of each problem, shape (P,)."""

    @property
    def lam(self) -> Array:
        """Regularization of each problem, shape (P,)."""

    def take(self, which: Sequence[int] | Array) -> Self:
        """Return the iterates of the chosen problems."""

    def joined(self, other: Self) -> Self:
        """Return these iterates and those of other problems, one after another."""


class Model(Protocol):
    """The Newton model of a block at a point, in coordinates where it is I + T'KT."""

    @property
    def rhs(self) -> Array:
        """Minus the scaled gradient, projected: the right-hand side of the system."""

    def take(self, which: Sequence[int] | Array) -> Self:
        """Return the model of the chosen problems."""

    def apply(self, X: Array) -> tuple[Array, Array]:
        """Return T X, the step in the coefficients, and K T X: one product with K."""

    def plain(self, which: Array) -> Self:
        """Return the model without preconditioner where ``which`` (P,) is true."""

    def shifted(self, shift: Array) -> Self:
        """Return the model with K + shift in place of K, shift of shape (P,)."""

    def pull(self, D: Array, KD: Array, X: Array) -> Array:
        """Return the projection of X + T'(K D + shift D), for D = T X."""

    def precondition(self, R: Array) -> Array:
        """Return what a matrix near the model's inverse makes of a residual."""


class Dual(Protocol):
    """A block of bounded dual problems that share K (see ``problem.KreinDual``)."""

    @property
    def n_problems(self) -> int:
        """Number of problems in the block."""

    @property
    def lam(self) -> Array:
        """Regularization of each problem, shape (P,)."""

    def take(self, which: Sequence[int] | Array) -> Self:
        """Return the block of the chosen problems."""

    def relaxed(self, factor: Array) -> Self:
        """Return the block with each lam multiplied; dual variables stay feasible."""

    def start(self) -> Array:
        """Return the dual variables of the solution for infinite lam."""

    def outline(self) -> Any:
        """Return what ``model`` needs to precondition, the same for all problems."""

    def product(self, D: Array) -> Array:
        """Return K D, shape (n, P, C)."""

    def point(self, w: Array, F: Array | None = None) -> Any:
        """Return the iterate with these variables; one product unless F is given."""

    def feasible(self, w: Array) -> Array:
        """Return dual variables near to these that meet the constraints."""

    def variables(self, point: Any) -> Array:
        """Return the dual variables of an iterate, to be handed to ``point``."""

    def model(self, point: Any, outline: Any = None) -> Model:
        """Return the Newton model at a point, preconditioned if it can be."""

    def room(self, point: Any, D: Array) -> Array:
        """Largest step along D inside the box, shape (n, P)."""

    def restored(self, point: Any, D: Array, scale: Array) -> Array:
        """Return D with each sample's part scaled, brought back to the constraints."""

    def slope(self, point: Any, D: Array) -> Array:
        """Directional derivative of the objective, shape (P,)."""

    def advance(self, point: Any, D: Array, KD: Array, t: Array) -> Any:
        """Return the iterate after steps of length t along D: no product with K."""

    def change(self, point: Any, D: Array, KD: Array, t: Array) -> Array:
        """Return the change of objective after such steps, shape (P,)."""
