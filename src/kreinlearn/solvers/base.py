"""Interfaces of solvers and problems, and results of solvers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal, Protocol, Self, TypeVar

import numpy as np

from kreinlearn._typing import Array

Row = Mapping[str, float]
"""One line of history: iteration, objective, residual and the like."""

Callback = Callable[[Row], bool | None]
"""Called with each row; a true return stops the solver."""

Indices = Sequence[int] | Array
"""Positions of problems in a block."""


class Status(StrEnum):
    """How a solve ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    MAX_TIME = "max_time"
    STALLED = "stalled"
    DIVERGED = "diverged"
    NONFINITE = "nonfinite"


@dataclass(frozen=True)
class Result:
    """Result of a solver, one entry per problem of the block.

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
    """A differentiable function of one vector, or one for each column of a block.

    One problem has variables ``w`` of shape (dim,) and a number as its value; a block
    of P problems has (dim, P) and values of shape (P,).
    """

    @property
    def dim(self) -> int:
        """Number of variables."""

    @property
    def lipschitz(self) -> Array:
        """Lipschitz constant of the gradient, shape () or (P,)."""

    def value(self, w: Array) -> Array:
        """Value at w, shape () or (P,)."""

    def grad(self, w: Array) -> Array:
        """Gradient at w, of the shape of w."""

    def take(self, which: Array | int) -> Self:
        """Return some problems of a block, or with a number a single one."""


class FiniteSum(Smooth, Protocol):
    """A mean of terms, whose gradient can be estimated from some of them."""

    @property
    def n_terms(self) -> int:
        """Number of terms."""

    def grad_batch(self, w: Array, idx: Array) -> Array:
        """Unbiased estimate of the gradient from the terms idx, (b,) or (b, P)."""


class DC(Smooth, Protocol):
    """A difference of convex functions, g - h."""

    @property
    def n_terms(self) -> int:
        """Number of samples, whose coefficients come first among the variables."""

    @property
    def n_problems(self) -> int:
        """Number of problems in the block."""

    def block(self) -> Self:
        """Return the same problems as a block, a single one as a block of one."""

    def surrogate(self, w: Array) -> FiniteSum:
        """Return the convex function g minus the tangent of h at w."""


class Point(Protocol):
    """An iterate of a block of dual problems, made and read by these."""

    @property
    def residual(self) -> Array:
        """Largest violation of stationarity of each problem, shape (P,)."""

    @property
    def value(self) -> Array:
        """Dual objective of each problem, shape (P,)."""

    @property
    def lam(self) -> Array:
        """Regularization of each problem, shape (P,)."""

    @property
    def F(self) -> Array:
        """Products of K with the coefficients, shape (n, P, C)."""

    def take(self, which: Indices) -> Self:
        """Return the iterates of the chosen problems."""

    def concat(self, other: Self) -> Self:
        """Return these iterates and those of other problems, one after another."""


PointT = TypeVar("PointT", bound=Point)
"""The iterate of one kind of dual problem."""


class Model(Protocol):
    """The Newton model of a block at a point, in coordinates where it is I + T'KT."""

    @property
    def rhs(self) -> Array:
        """Minus the scaled gradient, projected: the right-hand side of the system."""

    def take(self, which: Indices) -> Self:
        """Return the model of the chosen problems."""

    def apply(self, X: Array) -> tuple[Array, Array]:
        """Return T X, the step in the coefficients, and K T X: one product with K."""

    def without_preconditioner(self, which: Array) -> Self:
        """Return the model without preconditioner where ``which`` (P,) is true."""

    def with_shift(self, shift: Array) -> Self:
        """Return the model with K + shift in place of K, shift of shape (P,)."""

    def hessian_vector(self, D: Array, KD: Array, X: Array) -> Array:
        """Return the projection of X + T'(K D + shift D), for D = T X."""

    def precondition(self, R: Array) -> Array:
        """Return the product of an approximate inverse of the model with a residual."""


class Dual(Protocol[PointT]):
    """A block of bounded dual problems that share K (see ``problem.KreinDual``)."""

    @property
    def n_problems(self) -> int:
        """Number of problems in the block."""

    @property
    def lam(self) -> Array:
        """Regularization of each problem, shape (P,)."""

    def take(self, which: Indices) -> Self:
        """Return the block of the chosen problems."""

    def with_scaled_lam(self, factor: Array) -> Self:
        """Return the block with each lam multiplied; dual variables stay feasible."""

    def start(self) -> Array:
        """Return the dual variables of the solution for infinite lam."""

    def with_preconditioner(self) -> Self:
        """Return the block whose models are preconditioned, by one sketch of K."""

    def product(self, D: Array) -> Array:
        """Return K D, shape (n, P, C)."""

    def point(self, w: Array, F: Array | None = None) -> PointT:
        """Return the iterate with these variables; one product unless F is given."""

    def feasible(self, w: Array) -> Array:
        """Return dual variables near to these that meet the constraints."""

    def variables(self, point: PointT) -> Array:
        """Return the dual variables of an iterate, to be handed to ``point``."""

    def model(self, point: PointT, shift: Array) -> Model:
        """Return the Newton model at a point, with K + shift, shift of shape (P,)."""

    def largest_step(self, point: PointT, D: Array) -> Array:
        """Largest step along D inside the box, shape (n, P)."""

    def project_step(self, point: PointT, D: Array, scale: Array) -> Array:
        """Return D with each sample's part scaled, brought back to the constraints."""

    def slope(self, point: PointT, D: Array) -> Array:
        """Directional derivative of the objective, shape (P,)."""

    def advance(self, point: PointT, D: Array, KD: Array, t: Array) -> PointT:
        """Return the iterate after steps of length t along D: no product with K."""

    def change(self, point: PointT, D: Array, KD: Array, t: Array) -> Array:
        """Return the change of objective after such steps, shape (P,)."""


class DualSolver(Protocol):
    """A solver of the bounded dual, as an estimator calls it."""

    needs: ClassVar[Literal["dual"]]

    def solve(
        self, problem: Dual[PointT], *, tol: float, callback: Callback | None = None
    ) -> Result:
        """Return dual variables ``w``, with residuals of at most ``tol`` at best."""


class DCSolver(Protocol):
    """A solver of the objective as a difference of convex functions.

    Two more attributes are looked at if a solver has them: ``split``, the mode of
    `kreinlearn.spectrum.split` (without it "paper"), and ``loss_scale``, "mean" or
    "sum" (without it "mean").
    """

    needs: ClassVar[Literal["dc"]]

    def solve(
        self,
        problem: DC,
        *,
        tol: float,
        callback: Callback | None = None,
        rng: np.random.Generator | None = None,
    ) -> Result:
        """Return ``w``: coefficients, then the intercept if there is one."""
