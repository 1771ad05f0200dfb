"""Batched Newton-CG for logistic regression with a diagonal ridge penalty.

Shapes: S folds, P problems, C classes, n samples, q features. Problems of a fold share
features and weights, and differ in targets and penalties. The intercept is a feature of
ones with penalty zero. Folds of different size are padded: a padded sample has weight
zero, a padded feature is zero and has penalty one.
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.solvers.newton import ARMIJO_FRACTION, MAX_HALVINGS

TINY_CURVATURE = 1e-30
MAX_PRODUCTS = 200
"""Conjugate gradient iterations of one Newton step."""
MAX_CG_ERROR = 0.1
"""Largest fraction of the error that conjugate gradients may leave."""
FINAL_FRACTION = 0.03
"""Fraction of the tolerance below which conjugate gradients need not go."""
PRECONDITIONER_STEPS = 2
"""Newton steps that use the same inverse of the leading features."""
SAMPLES_PER_LEADING, MAX_LEADING = 10, 150
"""Per ten samples, one feature is inverted exactly: those with the largest
eigenvalues."""
KEPT_FOLDS = 0.75
"""Folds are dropped if at most this fraction has problems left: dropping copies."""
PANEL, MIN_PANELS = 32, 6
"""Width of panels, and their smallest number."""
MIN_SAMPLES = 10
"""With fewer samples no feature is inverted exactly."""


@dataclass
class RidgeProblems:
    """Problems that are solved together.

    Parameters
    ----------
    E : ndarray of shape (S, n, q)
        Features, in decreasing order of their size.
    Y : ndarray of shape (S, P, C, n)
        Targets, 0 or 1.
    weights : ndarray of shape (S, 1, 1, n)
        Weights of the samples; they sum to one in each fold.
    penalty : ndarray of shape (S, P, 1, q)
        Factors of the squared coefficients, divided by two in the objective.
    """

    E: Array
    Y: Array
    weights: Array
    penalty: Array

    @cached_property
    def panels(self) -> Array:
        """Features as panels for `_multiply`, summed over samples."""
        return _make_panels(self.E)

    @cached_property
    def transposed(self) -> Array:
        """Features as panels for `_multiply`, summed over features."""
        return _make_panels(self.E.swapaxes(1, 2))

    @cached_property
    def squares(self) -> Array:
        """Weighted sums of squared features, of shape (S, 1, 1, q)."""
        return np.matmul(self.weights[:, 0], self.E * self.E)[:, None]

    def compress(self, keep: Array, axis: int) -> "RidgeProblems":
        """Return some of the folds (axis 0) or problems (axis 1), by a mask."""
        part = copy(self)  # keeps cached properties
        names = ["Y", "penalty"]
        if axis == 0:
            names += ["E", "weights", "panels", "transposed", "squares"]
        for name in names:
            setattr(part, name, getattr(self, name).compress(keep, axis))
        return part

    def compute_scores(self, x: Array) -> Array:
        """Return the scores (S, P, C, n) of coefficients (S, P, C, q)."""
        return _multiply(x, self.transposed, self.E.shape[1])

    def sum_features(self, V: Array) -> Array:
        """Return the sums (S, P, C, q) of features times values (S, P, C, n)."""
        return _multiply(V, self.panels, self.E.shape[2])

    def compute_loss(self, F: Array) -> tuple[Array, Array]:
        """Return the mean loss (S, P) and the probabilities at scores F."""
        if F.shape[2] == 1:
            loss = np.abs(F)
            np.log1p(np.exp(np.negative(loss, out=loss), out=loss), out=loss)
            loss += np.maximum(F, 0)
            loss -= self.Y * F
            prob = np.tanh(F / 2)
            prob += 1
            prob /= 2
        else:
            top = F.max(axis=2, keepdims=True)
            prob = np.exp(F - top)
            total = prob.sum(axis=2, keepdims=True)
            prob /= total
            loss = np.log(total) + top
            loss -= (self.Y * F).sum(axis=2, keepdims=True)
        return np.vecdot(loss[:, :, 0], self.weights[:, 0]), prob

    def apply_curvature(self, V: Array, prob: Array, curvature: Array) -> Array:
        """Return second derivatives of the loss at ``prob`` times changes of scores."""
        if V.shape[2] == 1:
            return curvature * V
        B = prob * V
        B -= prob * np.add.reduce(B, axis=2, keepdims=True)
        B *= self.weights
        return B


def solve(
    problems: RidgeProblems, x: Array, tol: float, max_iter: int
) -> tuple[Array, Array]:
    """Minimize all problems from a common start.

    Parameters
    ----------
    problems : RidgeProblems
        The problems.
    x : ndarray of shape (S, P, C, q)
        First coefficients.
    tol : float
        Largest accepted error.
    max_iter : int
        Largest number of Newton steps.

    Returns
    -------
    x : ndarray of shape (S, P, C, q)
        Coefficients.
    errors : ndarray of shape (S, P)
        Lengths of the gradients in the metric of the preconditioner: about the root of
        twice the distance from the minimum. A problem that no step improves keeps an
        error above ``tol``.
    """
    epsilon = np.finfo(x.dtype).eps
    solution, errors = x.copy(), np.full(x.shape[:2], np.inf)
    left = [np.arange(x.shape[0]), np.arange(x.shape[1])]
    is_stalled, blocks = np.zeros(errors.shape, bool), np.empty((*errors.shape, 0))
    F = problems.compute_scores(x)
    loss, prob = problems.compute_loss(F)
    for step in range(max_iter + 1):
        curvature = prob * (1 - prob)
        curvature *= problems.weights
        G = problems.sum_features((prob - problems.Y) * problems.weights)
        G += problems.penalty * x
        spread = curvature.sum(axis=3, keepdims=True) + epsilon
        inverse = 1 / (spread * problems.squares + problems.penalty)
        error = np.sqrt(_inner_products(G, G * inverse))
        errors[np.ix_(*left)] = error
        is_open = (error > tol) & ~is_stalled
        if step == max_iter or not is_open.any():
            break
        for axis, kept_fraction in enumerate((KEPT_FOLDS, 1.0)):
            keep: Array = np.logical_or.reduce(is_open, axis=1 - axis)
            if keep.mean() >= kept_fraction:
                continue
            problems, left[axis] = problems.compress(keep, axis), left[axis][keep]
            arrays = (F, prob, x, loss, blocks, curvature, G, inverse, error, is_open)
            F, prob, x, loss, blocks, curvature, G, inverse, error, is_open = (
                each.compress(keep, axis) for each in arrays
            )
        if step % PRECONDITIONER_STEPS == 0:
            blocks = _invert_leading(problems, curvature)
        fraction = np.minimum(MAX_CG_ERROR, error)
        fraction = np.maximum(fraction, FINAL_FRACTION * tol / np.maximum(error, tol))
        goal = np.where(is_open, fraction**2, np.inf)
        d, U = _find_directions(problems, prob, curvature, inverse, blocks, G, goal)
        t, F, loss, prob = _search_lines(problems, x, F, loss, G, d, U)
        is_stalled = t == 0
        x = x + t[..., None, None] * d
        solution[np.ix_(*left)] = x
    return solution, errors


def _invert_leading(problems: RidgeProblems, curvature: Array) -> Array:
    """Return the inverse Newton matrices (S, P, C, k, k) of the k leading features."""
    n, q = problems.E.shape[1:]
    k = 0 if n < MIN_SAMPLES else min(q - 1, MAX_LEADING, n // SAMPLES_PER_LEADING)
    leading = problems.E[:, None, :, :k]
    blocks = np.empty((*curvature.shape[:3], k, k), leading.dtype)
    columns = np.ascontiguousarray(leading.swapaxes(2, 3))
    for p in range(curvature.shape[1]):
        np.matmul(columns * curvature[:, p, :, None], leading, out=blocks[:, p])
    diagonal = np.einsum("...ii->...i", blocks)
    diagonal += problems.penalty[..., :k]
    # With ones on the diagonal, the matrices are far from singular.
    root = 1 / np.sqrt(diagonal)
    blocks *= root[..., None]
    blocks *= root[..., None, :]
    inverse = np.linalg.inv(blocks)
    inverse *= root[..., None]
    inverse *= root[..., None, :]
    return inverse


def _find_directions(
    problems: RidgeProblems,
    prob: Array,
    curvature: Array,
    inverse: Array,
    blocks: Array,
    G: Array,
    goal: Array,
) -> tuple[Array, Array]:
    """Solve the Newton systems by conjugate gradients.

    ``goal`` is the fraction of the squared error at which a problem is done. Returns
    changes of coefficients and of scores.
    """
    k = blocks.shape[-1]

    def precondition(R: Array) -> Array:
        Z = R * inverse
        Z[..., :k] = np.matmul(blocks, R[..., :k, None])[..., 0]
        if R.shape[2] > 1:
            # Equal changes of all classes change no score. Left in, they meet nothing
            # but the penalty and slow down convergence.
            Z -= np.add.reduce(Z, axis=2, keepdims=True) / Z.shape[2]
        return Z

    d, R = np.zeros_like(G), -G
    Q = precondition(R)
    rz = _inner_products(R, Q)
    goal = goal * rz
    # Views with one row per problem: they multiply faster by one number per row.
    d_rows, R_rows, Q_rows = (A.reshape(rz.size, -1) for A in (d, R, Q))
    for _ in range(MAX_PRODUCTS):
        V = problems.compute_scores(Q)
        H = problems.sum_features(problems.apply_curvature(V, prob, curvature))
        H += problems.penalty * Q
        bend = _inner_products(Q, H)
        is_open = (rz > goal) & (bend > TINY_CURVATURE)
        step = np.where(is_open, rz / np.maximum(bend, TINY_CURVATURE), 0)
        d_rows += step.reshape(-1, 1) * Q_rows
        R_rows -= step.reshape(-1, 1) * H.reshape(R_rows.shape)
        Z = precondition(R)
        new = _inner_products(R, Z)
        if not (is_open & (new > goal)).any():
            break
        ratio = np.where(rz > TINY_CURVATURE, new / np.maximum(rz, TINY_CURVATURE), 0)
        Q_rows *= ratio.reshape(-1, 1)
        Q += Z
        rz = new
    return d, problems.compute_scores(d)


def _search_lines(
    problems: RidgeProblems,
    x: Array,
    F: Array,
    loss: Array,
    G: Array,
    d: Array,
    U: Array,
) -> tuple[Array, Array, Array, Array]:
    """Halve steps until each decreases its value enough.

    Returns the lengths (S, P), zero where no step does, and scores, loss and
    probabilities after the steps.
    """
    weighted = problems.penalty * d
    slope, linear = _inner_products(G, d), _inner_products(weighted, x)
    quadratic = _inner_products(weighted, d) / 2
    value = loss + _inner_products(problems.penalty * x, x) / 2
    slack = 50 * np.finfo(F.dtype).eps * np.abs(value)
    t = np.ones_like(loss)
    for halving in range(MAX_HALVINGS + 1):
        moved = F + t[..., None, None] * U
        new, prob = problems.compute_loss(moved)
        change = new - loss + t * linear + t * t * quadratic
        is_bad = ~(change <= ARMIJO_FRACTION * t * slope + slack)
        if not is_bad.any():
            break
        t[is_bad] = t[is_bad] / 2 if halving + 1 < MAX_HALVINGS else 0.0
    return t, moved, new, prob


def _make_panels(B: Array) -> Array:
    """Return matrices (S, i, j) as panels (S, j / PANEL, i, PANEL), padded by zeros.

    BLAS copies a matrix before it multiplies a few rows with it, which takes longer
    than the product; narrow panels are not copied.
    """
    S, i, j = B.shape
    if j < MIN_PANELS * PANEL:
        return np.ascontiguousarray(B)[:, None]
    padded = np.zeros((S, i, -(-j // PANEL) * PANEL), B.dtype)
    padded[..., :j] = B
    return np.ascontiguousarray(padded.reshape(S, i, -1, PANEL).swapaxes(1, 2))


def _multiply(A: Array, panels: Array, size: int) -> Array:
    """Return the products (S, P, C, size) of A (S, P, C, i) with matrices in panels."""
    flat = A.reshape(len(A), 1, -1, A.shape[3])
    found = np.matmul(flat, panels)
    if found.shape[1] > 1:
        rows = (len(A), flat.shape[2], -1)
        found = found.swapaxes(1, 2).reshape(rows)[..., :size]
    return found.reshape(*A.shape[:3], size)


def _inner_products(A: Array, B: Array) -> Array:
    """Return the inner products (S, P) over the last two axes."""
    shape = (*A.shape[:2], -1)
    return np.vecdot(A.reshape(shape), B.reshape(shape))
