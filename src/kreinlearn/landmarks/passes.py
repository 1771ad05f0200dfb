"""What one pass over rows gives: sums, which can be added in any order of chunks.

Everything here is a pure function of some rows and a point. Whoever holds the rows, a
thread or a worker elsewhere, calls it and hands the sums back; to repeat a call does no
harm, and sums do not depend on how rows are cut into chunks, beyond rounding in double
precision.

Letters: ``A`` (n, M + 1) similarities with the landmarks and a column of ones, so that
the last coefficient is the intercept; P problems (values of lam, folds, and classes if
they are one-versus-rest) with C columns of scores each; ``B`` (M + 1, P, C).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.landmarks.columns import Columns
from kreinlearn.landmarks.first import Draws, folds_of, weights_of
from kreinlearn.landmarks.rows import Chunk
from kreinlearn.losses import Link, Multinomial, log_probabilities


@dataclass(frozen=True)
class Task:
    """What a pass needs to know besides the rows and the point; it can be pickled.

    Parameters
    ----------
    columns : Columns
        The similarities with the landmarks.
    classes : ndarray of shape (n_classes,)
        Labels, sorted.
    factors : ndarray of shape (n_classes,)
        What the weights of their samples are multiplied by.
    multinomial : bool
        Whether more than two classes share one model.
    draws : Draws
        As in the first pass.
    """

    columns: Columns
    classes: Array
    factors: Array
    multinomial: bool
    draws: Draws


@dataclass(frozen=True)
class Point:
    """Coefficients of all problems.

    Parameters
    ----------
    B : ndarray of shape (M + 1, P, C)
        Coefficients; the last are intercepts.
    positive : ndarray of shape (P,)
        The class that a problem tells from the others, unless multinomial.
    fold : ndarray of shape (P,)
        The fold that a problem does not learn from; -1 for none.
    """

    B: Array
    positive: Array
    fold: Array

    def take(self, which: Array) -> "Point":
        """Return some of the problems."""
        return Point(self.B[:, which], self.positive[which], self.fold[which])


class Rows(NamedTuple):
    """What is known of n rows besides their similarities.

    Attributes
    ----------
    classes : ndarray of shape (n,)
        Number of the class of each.
    weights : ndarray of shape (n,)
        Weights, without those of the classes.
    folds : ndarray of shape (n,)
        The fold that holds each of them out.
    """

    classes: Array
    weights: Array
    folds: Array

    def take(self, which: slice | Array) -> "Rows":
        """Return some of the rows."""
        return Rows(self.classes[which], self.weights[which], self.folds[which])


@dataclass(frozen=True)
class Sums:
    """Sums over rows, in double precision.

    Attributes
    ----------
    value : ndarray of shape (P,)
        Weighted losses.
    gradient : ndarray of shape (M + 1, P, C)
        Their derivatives.
    """

    value: Array
    gradient: Array

    def __add__(self, other: "Sums") -> "Sums":
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return Sums(*(one + two for one, two in pairs))


def rows_of(chunk: Chunk, start: int, task: Task) -> Rows:
    """Return what a pass needs to know of the rows of a chunk.

    Parameters
    ----------
    chunk : Chunk
        Rows.
    start : int
        Number of the first of them among all rows.
    task : Task
        The model.

    Returns
    -------
    Rows
        Classes, weights and folds.
    """
    n = len(chunk.y)
    index = np.searchsorted(task.classes, chunk.y)
    if (index == len(task.classes)).any() or (task.classes[index] != chunk.y).any():
        raise ValueError(
            "A source must give the same rows in every pass, but a label came that "
            "was not there in the first."
        )
    folds = folds_of(chunk, np.arange(start, start + n), task.draws)
    return Rows(index.astype(np.int32), weights_of(chunk), folds.astype(np.int16))


def sums_of(A: Array, rows: Rows, task: Task, point: Point) -> Sums:
    """Return the losses of some rows, and their gradient.

    Parameters
    ----------
    A : ndarray of shape (n, M + 1)
        Similarities with the landmarks, and ones. Their precision is that of products.
    rows : Rows
        Their classes, weights and folds.
    task : Task
        The model.
    point : Point
        Coefficients.

    Returns
    -------
    Sums
        To be added to others.
    """
    _, P, C = point.B.shape
    F = _scores(A, point).reshape(-1, P, C)
    V = _training_weights(rows, task, point)
    if task.multinomial:
        Y = _one_hot(rows.classes, C)
        loss = Multinomial()
        p = loss.at(F)
        values, E = loss.value(Y, F), loss.error(Y, p)
        E *= -V[..., None]
    else:
        margin, sign = _margins(F[..., 0], rows, point)
        values, q = _logistic(margin)
        E = (-sign * q * V)[..., None]
    gradient = A.T @ E.reshape(len(A), -1).astype(A.dtype, copy=False)
    sums = gradient.astype(np.float64, copy=False).reshape(-1, P, C)
    return Sums(np.einsum("np,np->p", V, values), sums)


def hessians_of(
    A: Array, rows: Rows, task: Task, point: Point, groups: Sequence[Array]
) -> Array:
    """Return the second derivatives of the losses of some rows.

    Parameters
    ----------
    A, rows, task, point
        As in `sums_of`.
    groups : sequence of ndarray of int
        Problems whose Hessians are averaged, as the folds of one lam.

    Returns
    -------
    ndarray of shape (n_groups, n_blocks, M + 1, M + 1)
        To be added to others. There is one block if C is one; for the multinomial loss
        one for each pair of classes (c, d) with c <= d.
    """
    m = A.shape[1]
    C = point.B.shape[2]
    pairs = pairs_of(C)
    out = np.empty((len(groups), len(pairs), m, m))
    for g, group in enumerate(groups):
        part = point.take(group)
        F = (A @ part.B.reshape(m, -1)).reshape(len(A), len(group), C)
        V = _training_weights(rows, task, part) / len(group)
        if task.multinomial:
            p = Multinomial().at(F).q
        else:
            margin, _ = _margins(F[..., 0], rows, part)
            q = _logistic(margin)[1]
            p = q[..., None]
        for b, (c, d) in enumerate(pairs):
            is_same = 1.0 if c == d else 0.0
            D = np.einsum("np,np->n", V, p[..., c] * (is_same - p[..., d]))
            out[g, b] = _weighted_gram(A, D)
    return out


def pairs_of(C: int) -> list[tuple[int, int]]:
    """Return the pairs of columns of scores, each once."""
    return [(c, d) for c in range(C) for d in range(c, C)]


def held_of(A: Array, rows: Rows, task: Task, point: Point, link: Link) -> Array:
    """Return the weighted log-losses of held-out rows.

    Parameters
    ----------
    A, rows, task, point
        As in `sums_of`; problems of one model, which differ in the class that they tell
        from the others, come one after another.
    link : {"logistic", "multinomial", "ovr"}
        How scores become probabilities.

    Returns
    -------
    ndarray of shape (n_models,)
        To be added to others, and divided by the weight of what is held out.
    """
    F = _scores(A, point)
    k = len(task.classes) if len(task.classes) > 2 else 1
    each = np.arange(0, F.shape[1], k)
    fold = point.fold[:: max(1, k // point.B.shape[2])]
    losses = np.empty(len(each))
    for i, first in enumerate(each):
        out = rows.folds == fold[i]
        logs = log_probabilities(F[out, first : first + k], link)
        mine = np.take_along_axis(logs, rows.classes[out, None], axis=1)[:, 0]
        losses[i] = -(rows.weights[out] @ mine)
    return losses


def _scores(A: Array, point: Point) -> Array:
    """Return scores of all problems side by side, in double precision."""
    B = point.B.reshape(len(point.B), -1).astype(A.dtype, copy=False)
    return (A @ B).astype(np.float64, copy=False)


def _training_weights(rows: Rows, task: Task, point: Point) -> Array:
    """Return the weight of each row in each problem, shape (n, P)."""
    weights = rows.weights * task.factors[rows.classes]
    if (point.fold < 0).all():
        return np.broadcast_to(weights[:, None], (len(weights), len(point.fold)))
    return weights[:, None] * (rows.folds[:, None] != point.fold)


def _one_hot(index: Array, C: int) -> Array:
    return (index[:, None] == np.arange(C)).astype(float)[:, None, :]


def _margins(F: Array, rows: Rows, point: Point) -> tuple[Array, Array]:
    """Return y f and y, with y of -1 or 1, both of shape (n, P)."""
    sign = np.where(rows.classes[:, None] == point.positive, 1.0, -1.0)
    return sign * F, sign


def _logistic(margin: Array) -> tuple[Array, Array]:
    """Return the loss of each margin, and the probability of the other class."""
    ratio = np.exp(-np.abs(margin))
    is_right = margin >= 0
    loss = np.log1p(ratio) - np.where(is_right, 0.0, margin)
    q = np.where(is_right, ratio, 1.0) / (1.0 + ratio)
    return loss, q


def _weighted_gram(A: Array, D: Array) -> Array:
    """Return A' diag(D) A, where all D have one sign."""
    sign = -1.0 if D.min(initial=0.0) < 0 else 1.0
    scaled = A * np.sqrt(np.abs(D))[:, None]
    # Of a matrix with itself, NumPy computes one half only. Single precision would be
    # faster but is not enough: with lam below 1e-6 it changes TL1's Newton matrix by
    # as much as it has, even with the mean of the rows taken out.
    return np.asarray(sign * (scaled.T @ scaled))
