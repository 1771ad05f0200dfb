"""Newton-CG on the bounded dual: the exact solver, with a certificate.

For each problem of a block, from a strictly interior point:

1. stop if the residual of the stationarity condition is below ``tol``;
2. solve the Newton system by preconditioned conjugate gradients, to an accuracy tied
   to the residual; if a direction of negative curvature turns up, solve again with K
   shifted until the model is convex, which is one step of DC programming on the dual;
3. if a bound is near, scale the samples that would reach it one by one instead of
   shortening the whole step;
4. halve the step until the dual objective decreases enough. Scores move linearly, so
   this costs no product with K.

Problems with a small lam are reached by continuation, from a value of lam where the
scores are moderate: a problem starts from where one with a larger lam has roughly
arrived, while that one goes on to its end. Problems of a block share one matrix-matrix
product; those that are done leave it.

Below: the paths of lam, the scheduler (active and waiting problems), and the step.
Letters: n samples, P problems in the block, C columns per problem; ``D`` (n, P, C) a
step in the coefficients, ``KD`` its product with K, ``t`` (P,) step lengths.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.solvers.base import (
    Callback,
    Dual,
    Indices,
    Model,
    PointT,
    Result,
    Row,
    Status,
)

MAX_START_SCORE = 40.0
"""Largest score at the start from which Newton's method goes straight ahead."""
CONTINUATION_TOL = 0.1
"""Residual at which the next problem of a continuation path starts."""
LAM_STRIDE = 10.0
"""Factor between the values of lam along a path."""
MAX_PATH_LENGTH = 100
"""Most values of lam on a path; a longer one takes longer strides."""
PRECONDITION_AFTER = 30_000
"""Columns multiplied by K, times samples, after which a preconditioner pays."""
MAX_STALLED_STEPS = 5
"""Steps in a row without gain, in objective or residual, that count as stalled."""

CG_FORCING = (0.25, 0.75)
"""CG stops at min(first, residual ** second) of its first residual."""
FINAL_STEP_FACTOR = 0.1
"""Accuracy of the last step, as a fraction of the one required."""
SHIFTED_FORCING = 1e-2
"""The same where K was shifted: there the steps are few and long."""
SHIFT_GROWTH = 1.5
"""A shift exceeds the negative curvature that was met by this factor."""
MAX_SHIFTS = 20
"""Largest number of shifts tried for one step; each is larger by a growing factor."""
STEP_BOUND_FRACTION = 0.995
"""Fraction of the distance to the bound that a whole step may go."""
SAMPLE_BOUND_FRACTION = 0.9
"""Fraction of that distance for one sample, if others go further."""
BOUND_FRACTION = 0.5
"""Below this fraction of a full step, samples are scaled one by one (one product)."""
ARMIJO_FRACTION, MAX_HALVINGS = 1e-4, 40
"""Fraction of the predicted decrease that a step must reach, and most halvings."""
MIN_STEP = 0.1
"""Step length below which the next step is made with K shifted."""
CURVATURE_TOL = 1e-10
"""Curvature below this fraction of the squared length counts as negative."""


@dataclass(frozen=True)
class DualNewton:
    """Newton-CG on the dual of indefinite kernel logistic regression.

    Finds a stationary point of the model, the only one if lam is above the uniqueness
    threshold. Below it, one of several, and no claim that it is the best.

    Parameters
    ----------
    max_iter : int
        Most Newton steps for each problem.
    cg_iter : int
        Most products with K for one Newton step.
    """

    needs: ClassVar[Literal["dual"]] = "dual"

    max_iter: int = 100
    cg_iter: int = 500

    def solve(
        self,
        problem: Dual[PointT],
        w0: Array | None = None,
        *,
        tol: float,
        after: Sequence[int] | None = None,
        callback: Callback | None = None,
    ) -> Result:
        """Return a stationary point of each problem of the block.

        Parameters
        ----------
        problem : Dual
            The block.
        w0 : ndarray, optional
            Dual variables to start from.
        tol : float
            Largest violation of the stationarity condition that is accepted.
        after : sequence of int, optional
            For each problem an earlier one to start from, with a larger lam and
            otherwise the same; -1 for none. Not with ``w0``.
        callback : callable, optional
            Called with each row of history; a true return stops.

        Returns
        -------
        Result
            ``w`` are the dual variables.
        """
        run = _Scheduler(self, problem, tol, callback)
        if w0 is None:
            run.descend([-1] * problem.n_problems if after is None else after)
        else:
            start = problem.point(problem.feasible(w0))
            run.run([Node(j) for j in range(problem.n_problems)], start)
        ended = tuple(run.status), tuple(run.n_iter), tuple(run.crit)
        return Result(run.w, *ended, tuple(run.rows), run.F)


@dataclass(frozen=True, eq=False)
class Node:
    """A problem with its own lam, or with a larger one on the path to it.

    Attributes
    ----------
    problem : int
        Number of the problem.
    factor : float
        Factor of its lam.
    before : Node or None
        The node to start from.
    """

    problem: int
    factor: float = 1.0
    before: "Node | None" = None

    @property
    def is_final(self) -> bool:
        """Whether this is the problem itself, not a value of lam on the path."""
        return self.factor <= 1.0


def continuation(
    after: Sequence[int], lam: Sequence[float] | Array, easy: Sequence[float] | Array
) -> list[Node]:
    """Return the nodes of all paths, each after the one that it starts from.

    Parameters
    ----------
    after : sequence of int
        For each problem an earlier one to start from; -1 for none.
    lam : sequence of float
        Regularization of each problem.
    easy : sequence of float
        For each problem without another before it, the factor on lam to begin with.

    Returns
    -------
    list of Node
        Those without a node before them start from the class frequencies.

    Examples
    --------
    >>> from kreinlearn.solvers.newton import continuation
    >>> nodes = continuation([-1, 0], [1.0, 0.01], [1.0])
    >>> [(node.problem, node.factor) for node in nodes]
    [(0, 1.0), (1, 10.0), (1, 1.0)]
    >>> [nodes.index(node.before) for node in nodes[1:]]
    [0, 1]
    """
    nodes: list[Node] = []
    final: list[Node] = []  # of each problem
    factors = iter(easy)
    for j, earlier in enumerate(after):
        before = None if earlier < 0 else final[earlier]
        factor = float(
            next(factors) if earlier < 0 else lam[earlier] / lam[j] / LAM_STRIDE
        )
        stride = max(LAM_STRIDE, factor ** (1 / MAX_PATH_LENGTH))
        while factor > 1.0:
            before = Node(j, factor, before)
            nodes.append(before)
            factor /= stride
        final.append(Node(j, 1.0, before))
        nodes.append(final[j])
    return nodes


class State(NamedTuple):
    """State of each problem of a block between steps, arrays of shape (P,).

    Attributes
    ----------
    shift : ndarray
        Added to the diagonal of K in the next step.
    curvature : ndarray
        Modulus of the most negative curvature met; zero for none.
    best : ndarray
        Smallest residual so far.
    flat : ndarray of int
        Steps in a row without gain, in objective or residual.
    """

    shift: Array
    curvature: Array
    best: Array
    flat: Array

    @classmethod
    def new(cls, curvature: Array) -> "State":
        """Return the state of problems that have made no step yet."""
        n = len(curvature)
        return cls(np.zeros(n), curvature, np.full(n, np.inf), np.zeros(n, dtype=int))

    def take(self, which: Indices) -> "State":
        """Return the state of the chosen problems."""
        return State(*(array[which] for array in self))

    def concat(self, other: "State") -> "State":
        """Return the state of these problems and of others, one after another."""
        return State(*map(np.concatenate, zip(self, other, strict=True)))


@dataclass
class NewtonStep:
    """Makes steps, to a final residual of ``tol``, and counts their cost.

    ``products`` are those with K; ``columns`` counts the columns multiplied by CG.
    """

    tol: float
    cg_iter: int
    products: int = 0
    columns: int = 0

    def step(
        self, block: Dual[PointT], point: PointT, state: State
    ) -> tuple[PointT, State]:
        """Return the next iterate and state of each problem."""
        model = block.model(point, state.shift)
        if state.curvature.any():
            model = model.without_preconditioner(state.curvature > 0)
        D, KD, met = self._direction(model, point.residual, state.shift)
        curvature = np.maximum(state.curvature, met)
        point, t, gained = self._move(block, point, D, KD)
        # If the line search rejects most of the step, the model was poor: increase the
        # shift.
        size = np.sqrt(dot(KD, KD) / np.maximum(dot(D, D), 1e-300))
        size = np.where(curvature > 0, curvature, size)
        grown = np.maximum(2 * state.shift, SHIFT_GROWTH * size)
        less = np.where(state.shift > 1e-3 * size, state.shift / 4, 0.0)
        gained |= point.residual < 0.5 * state.best
        return point, State(
            np.where(t < MIN_STEP, grown, less),
            curvature,
            np.minimum(state.best, point.residual),
            np.where(gained, 0, state.flat + 1),
        )

    def _direction(
        self, model: Model, residual: Array, shift: Array
    ) -> tuple[Array, Array, Array]:
        """Return the step, its product, and the negative curvature met, if any."""
        first, power = CG_FORCING
        enough = FINAL_STEP_FACTOR * self.tol / residual  # for the last step
        rtol = np.minimum(first, np.maximum(residual**power, enough))
        found = self._cg(model, rtol)
        D, KD, negative, shift = found.D, found.KD, found.negative, shift.copy()
        indefinite = np.flatnonzero(negative > 0)
        met = negative.copy()
        growth = 2.0
        for _ in range(MAX_SHIFTS):
            if not indefinite.size:
                break
            # Proximal term shift/2 |A - A_k|^2 added to the dual: convex if the shift
            # exceeds |mu_n|, and the step still lowers the dual itself. Following the
            # direction of negative curvature to the bound instead was tried and took
            # several times as many steps, for it pins one sample at a time.
            shift[indefinite] = np.maximum(
                growth * shift[indefinite], SHIFT_GROWTH * negative[indefinite]
            )
            growth *= 2  # rounding may show far less negative curvature than there is
            rtol = np.full(indefinite.size, SHIFTED_FORCING)
            part = self._cg(model.take(indefinite).with_shift(shift[indefinite]), rtol)
            D[:, indefinite], KD[:, indefinite] = part.D, part.KD
            negative[indefinite] = part.negative
            indefinite = indefinite[part.negative > 0]
        return D, KD, met

    def _cg(self, model: Model, rtol: Array) -> "Directions":
        found = conjugate_gradients(model, rtol, self.cg_iter)
        self.products += found.products
        self.columns += found.columns
        return found

    def _move(
        self, block: Dual[PointT], point: PointT, D: Array, KD: Array
    ) -> tuple[PointT, Array, Array]:
        """Return the next iterates, the step lengths, and whether they gain."""
        largest = block.largest_step(point, D)
        crowded = np.flatnonzero(largest.min(axis=0) < BOUND_FRACTION)
        scaled, K_scaled = D, KD
        if crowded.size:
            scale = np.minimum(1.0, SAMPLE_BOUND_FRACTION * largest)
            scaled, K_scaled = D.copy(), KD.copy()
            part, inner = block.take(crowded), point.take(crowded)
            some = (D[:, crowded], scale[:, crowded])
            scaled[:, crowded] = part.project_step(inner, *some)
            K_scaled[:, crowded] = part.product(scaled[:, crowded])
            self.products += 1
        t, accepted, gained = line_search(block, point, scaled, K_scaled)
        good = accepted & (t >= MIN_STEP)
        if crowded.size and not good.all():
            # Scaling samples one by one may spoil the descent, or stop a sample that
            # is at its bound: then the whole step is shortened.
            scaled = np.where(good[:, None], scaled, D)
            K_scaled = np.where(good[:, None], K_scaled, KD)
            t, accepted, gained = line_search(block, point, scaled, K_scaled)
        return block.advance(point, scaled, K_scaled, t), t, gained


def line_search(
    block: Dual[PointT], point: PointT, D: Array, KD: Array
) -> tuple[Array, Array, Array]:
    """Return step lengths (P,), whether each is accepted, and whether it gains."""
    slope = block.slope(point, D)
    downhill = slope < 0
    t = np.minimum(1.0, STEP_BOUND_FRACTION * block.largest_step(point, D).min(axis=0))
    noise = 1e-14 * np.abs(point.value)
    for _ in range(MAX_HALVINGS):
        change = block.change(point, D, KD, t)
        fine = downhill & (change <= ARMIJO_FRACTION * t * slope + noise)
        if np.all(fine | ~downhill):
            break
        t = np.where(fine, t, t / 2)
    t = np.where(fine, t, 0.0)
    return t, fine, fine & (change < -noise)


@dataclass
class Directions:
    """Where the solves of a block have ended.

    Attributes
    ----------
    D, KD : ndarray of shape (n, P, C)
        ``T X`` for the solution X, and its product with K.
    negative : ndarray of shape (P,)
        Where negative curvature stopped a problem, the modulus of the Rayleigh
        quotient of K that was met; zero elsewhere.
    products, columns : int
        Products with K, and columns in all of them.
    """

    D: Array
    KD: Array
    negative: Array
    products: int = 0
    columns: int = 0


def conjugate_gradients(model: Model, rtol: Array, max_iter: int) -> Directions:
    """Solve (I + T'KT) X = rhs for each problem.

    Parameters
    ----------
    model : Model
        The models of a block.
    rtol : ndarray of shape (P,)
        A problem is done when its residual is this fraction of the first.
    max_iter : int
        Most products with K.

    Returns
    -------
    Directions
        The solutions, perhaps not to full accuracy.
    """
    R = model.rhs
    found = Directions(np.zeros(R.shape), np.zeros(R.shape), np.zeros(R.shape[1]))
    active: Array = np.arange(R.shape[1])
    P = model.precondition(R)
    rr, rz = dot(R, R), dot(R, P)
    goal = rtol**2 * rr
    keep = np.flatnonzero(rr > 0)
    while keep.size and found.products < max_iter:
        if keep.size < active.size:
            active, model = active[keep], model.take(keep)
            R, P, rz, goal = R[:, keep], P[:, keep], rz[keep], goal[keep]
        TP, KTP = model.apply(P)
        found.products += 1
        found.columns += TP[0].size
        H = model.hessian_vector(TP, KTP, P)
        curvature = dot(P, H)
        indefinite = curvature <= CURVATURE_TOL * dot(P, P)
        alpha = rz / np.where(indefinite, 1.0, curvature)
        if indefinite.any():
            alpha[indefinite] = 0.0
            T, KT = TP[:, indefinite], KTP[:, indefinite]
            with np.errstate(divide="ignore", invalid="ignore"):
                met = -dot(T, KT) / dot(T, T)
            found.negative[active[indefinite]] = np.maximum(met, np.finfo(float).tiny)
        # A slice where possible, because indices copy.
        some = slice(None) if active.size == len(found.negative) else active
        found.D[:, some] += alpha[:, None] * TP
        found.KD[:, some] += alpha[:, None] * KTP
        R = R - alpha[:, None] * H
        keep = np.flatnonzero(~indefinite & (dot(R, R) > goal))
        if keep.size:
            Z = model.precondition(R)
            new = dot(R, Z)
            P = Z + (new / rz)[:, None] * P
            rz = new
    return found


def dot(U: Array, V: Array) -> Array:
    """Return the inner products of each problem's columns, shape (P,)."""
    return np.asarray(np.einsum("npc,npc->p", U, V))


@dataclass(frozen=True)
class _Active(Generic[PointT]):
    """Nodes that step together: their block, iterates and state."""

    nodes: list[Node]
    block: Dual[PointT]
    point: PointT
    state: State

    def take(self, which: Array) -> "_Active[PointT]":
        return _Active(
            [self.nodes[j] for j in which.tolist()],
            self.block.take(which),
            self.point.take(which),
            self.state.take(which),
        )


class _Scheduler(Generic[PointT]):
    """Decides which problems take the next step, and stores their solutions."""

    def __init__(
        self,
        settings: DualNewton,
        problem: Dual[PointT],
        tol: float,
        callback: Callback | None,
    ) -> None:
        n = problem.n_problems
        self.problem, self.tol = problem, tol
        self.max_iter, self.callback = settings.max_iter, callback
        self.newton = NewtonStep(tol, settings.cg_iter)
        self.preconditioned = self.stopped = False
        self.broken: set[Node] = set()  # those whose next step is not finite
        self.status = [Status.MAX_ITER] * n
        self.n_iter = [0] * n
        self.crit = [np.inf] * n
        self.rows: list[Row] = []
        self.w = problem.start()
        self.F = np.zeros(self.w.shape)

    def descend(self, after: Sequence[int]) -> None:
        """Run all problems, those without another before them from the start.

        There the scores are those of the class frequencies, proportional to 1 / lam;
        taken at once, a tiny lam would mean a start millions away.
        """
        roots = [j for j, earlier in enumerate(after) if earlier < 0]
        block = self.problem.take(roots)
        start = block.point(self.w[:, roots])
        size = np.abs(start.F).max(axis=(0, 2))
        easy = np.where(np.isfinite(size), np.maximum(1.0, size / MAX_START_SCORE), 1.0)
        easier = block.with_scaled_lam(easy)
        first = easier.point(self.w[:, roots], start.F / easy[:, None])
        self.run(continuation(after, self.problem.lam, easy), first)

    def run(self, nodes: Sequence[Node], point: PointT) -> None:
        """Run nodes until all are done; ``point`` is where those without another start.

        The others wait until the node before them has roughly arrived.
        """
        first = [node for node in nodes if node.before is None]
        waiting = [node for node in nodes if node.before is not None]
        fresh_state = State.new(np.zeros(len(first)))
        active = _Active(first, self._block(first), point, fresh_state)
        news = set(first)  # whose iterates are to be recorded
        while active.nodes:  # each turn takes a step, of which there are few, or a node
            active = self._certify(active)
            self._record(active, news)
            done = self._done(active)
            followers = self._followers(waiting, active, done)
            self._keep(active, done)
            if done.any() or followers is not None:
                active = active.take(np.flatnonzero(~done))
            if followers is not None:
                active = self._join(active, followers)
                news = set(followers.nodes)
                waiting = [node for node in waiting if node not in news]
            elif active.nodes:
                active = self._step(active)
                news = set(active.nodes)

    def _block(self, nodes: Sequence[Node]) -> Dual[PointT]:
        factor = np.array([node.factor for node in nodes])
        block = self.problem.take([node.problem for node in nodes])
        return block.with_scaled_lam(factor)

    def _join(self, one: _Active[PointT], two: _Active[PointT]) -> _Active[PointT]:
        nodes = [*one.nodes, *two.nodes]
        point, state = one.point.concat(two.point), one.state.concat(two.state)
        return _Active(nodes, self._block(nodes), point, state)

    def _certify(self, active: _Active[PointT]) -> _Active[PointT]:
        """Compute the products of problems that seem done again, from scratch.

        Until then they are sums of steps, in which rounding adds up, and may be of
        single precision. Problems whose products are fresh come last.
        """
        final = np.array([node.is_final for node in active.nodes])
        seems_done = final & self._is_small(active)
        if not seems_done.any():
            return active
        stale = active.take(np.flatnonzero(seems_done))
        point = stale.block.point(stale.block.variables(stale.point))
        self.newton.products += 1
        state = stale.state._replace(best=point.residual)
        fresh = _Active(stale.nodes, stale.block, point, state)
        return self._join(active.take(np.flatnonzero(~seems_done)), fresh)

    def _record(self, active: _Active[PointT], news: set[Node]) -> None:
        point = active.point
        for j, node in enumerate(active.nodes):
            if node not in news:
                continue
            row: Row = {
                "iter": self.n_iter[node.problem],
                "problem": node.problem,
                "lam": float(point.lam[j]),
                "value": float(point.value[j]),
                "residual": float(point.residual[j]),
                "products": self.newton.products,
            }
            self.rows.append(row)
            if self.callback is not None:
                self.stopped |= bool(self.callback(row))

    def _is_small(self, active: _Active[PointT]) -> Array:
        """Return whose residual is below the tolerance of its node, shape (P,)."""
        final = [node.is_final for node in active.nodes]
        goal = np.where(final, self.tol, CONTINUATION_TOL)
        return np.asarray(active.point.residual < goal)

    def _done(self, active: _Active[PointT]) -> Array:
        """Return which iterates need no further step, shape (P,); set their status.

        A problem has failed if its residual or its objective is not finite, or would
        not be after the next step, which is then not made; it has converged
        if its residual is small, and stalled after MAX_STALLED_STEPS without gain.
        Any other goes on until it has made ``max_iter`` steps or the callback stops
        all of them.
        """
        done, small = np.zeros(len(active.nodes), dtype=bool), self._is_small(active)
        for j, node in enumerate(active.nodes):
            p, residual = node.problem, float(active.point.residual[j])
            self.crit[p] = residual
            finite = np.isfinite([residual, active.point.value[j]]).all()
            if not finite or node in self.broken:
                self.status[p] = Status.NONFINITE
            elif small[j] and (node.is_final or not self.stopped):
                self.status[p] = Status.CONVERGED
            elif active.state.flat[j] >= MAX_STALLED_STEPS:
                self.status[p] = Status.STALLED
            else:
                self.status[p] = Status.MAX_ITER
            spent = self.n_iter[p] >= self.max_iter
            done[j] = self.stopped or spent or self.status[p] != Status.MAX_ITER
        return done

    def _followers(
        self, waiting: Sequence[Node], active: _Active[PointT], done: Array
    ) -> _Active[PointT] | None:
        """Return the nodes whose turn it is, where the one before them has arrived."""
        arrived = done | (active.point.residual < CONTINUATION_TOL)
        where = np.flatnonzero(arrived).tolist()
        place: dict[Node | None, int] = {active.nodes[j]: j for j in where}
        nodes = [node for node in waiting if node.before in place]
        if self.stopped or not nodes:
            return None
        start = active.take(np.array([place[node.before] for node in nodes]))
        block = self._block(nodes)
        # The same dual variables mean coefficients inversely proportional to lam,
        # and scores with them: no product with K.
        ratio = start.point.lam / block.lam
        w = start.block.variables(start.point)
        point = block.point(w, start.point.F * ratio[:, None])
        return _Active(nodes, block, point, State.new(start.state.curvature))

    def _keep(self, active: _Active[PointT], done: Array) -> None:
        """Keep the variables and products of problems that are done.

        Those that were stopped on their path are kept as far as they came.
        """
        final = np.array([node.is_final for node in active.nodes]) | self.stopped
        for j in np.flatnonzero(done & final).tolist():
            ended, node = active.take(np.array([j])), active.nodes[j]
            self.w[:, node.problem] = ended.block.variables(ended.point)[:, 0]
            self.F[:, node.problem] = ended.point.F[:, 0] * node.factor

    def _step(self, active: _Active[PointT]) -> _Active[PointT]:
        """Return the same after one Newton step of each problem."""
        nodes, block = active.nodes, active.block
        work = self.newton.columns * len(active.point.F)
        if work >= PRECONDITION_AFTER and not self.preconditioned:
            self.problem, self.preconditioned = self.problem.with_preconditioner(), True
            block = self._block(nodes)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            point, state = self.newton.step(block, active.point, active.state)
        finite = np.isfinite(point.value + point.residual)
        finite &= np.isfinite(np.abs(point.F).max(axis=(0, 2)))
        for node in nodes:
            self.n_iter[node.problem] += 1
        if not finite.all():
            last = _Active(nodes, block, active.point, active.state)
            lost = last.take(np.flatnonzero(~finite))
            self.broken |= set(lost.nodes)
            kept = _Active(nodes, block, point, state).take(np.flatnonzero(finite))
            return self._join(kept, lost)
        return _Active(nodes, block, point, state)
