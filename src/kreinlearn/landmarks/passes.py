"""Pure functions of a block of rows, whose results are summed in a pass.

They run in threads and on workers; a call may be repeated. Sums depend on the chunks
only by rounding in double precision.

Letters: ``A`` (n, M + 1) similarities with the landmarks and a column of ones, so that
the last coefficient is the intercept; P problems (values of lam, folds, and classes if
they are one-versus-rest) with C columns of scores each; ``B`` (M + 1, P, C).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array, SampleSet
from kreinlearn.kernels import ResolvedKernel, Similarities
from kreinlearn.landmarks import sources
from kreinlearn.landmarks.sources import Chunk
from kreinlearn.losses import Link, Multinomial, log_probabilities
from kreinlearn.operators import take_samples

CANDIDATE_ARRAYS = ("key", "row", "weight", "label")


@dataclass(frozen=True)
class SamplingPlan:
    """Numbers of folds and of landmark candidates, and the seed of all draws."""

    n_folds: int = 1
    n_candidates: int = 0
    seed: int = 0


@dataclass(frozen=True)
class DataSummary:
    """Result of the first pass: labels, counts, and candidates for landmarks.

    Attributes
    ----------
    labels : ndarray of shape (n_labels,)
        All labels, sorted.
    counts, weights : ndarray of shape (n_labels, n_folds)
        Rows, and the sum of their weights, by label and fold.
    n_used : int
        Rows with positive weight.
    key : ndarray of shape (k,)
        Random numbers of the candidates, the k smallest of rows with positive weight.
    row, weight, label : ndarray of shape (k,)
        Numbers, weights and labels of the candidates, class weights excluded.
    samples : sequence of k samples
        The candidates.
    max_candidates : int
        Maximum of k.
    """

    labels: Array
    counts: Array
    weights: Array
    n_used: int
    key: Array
    row: Array
    weight: Array
    label: Array
    samples: SampleSet
    max_candidates: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    def __add__(self, other: "DataSummary") -> "DataSummary":
        labels = np.unique(np.concatenate([self.labels, other.labels]))
        shape = (len(labels), self.counts.shape[1])
        counts, weights = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        for each in (self, other):
            place = np.searchsorted(labels, each.labels)
            counts[place] += each.counts
            weights[place] += each.weights
        both: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in CANDIDATE_ARRAYS
        }
        order = np.argsort(both["key"], kind="stable")[: self.max_candidates]
        merged = replace(
            self,
            labels=labels,
            counts=counts,
            weights=weights,
            n_used=self.n_used + other.n_used,
            samples=sources.concat_samples([self.samples, other.samples]),
            **both,
        )
        return merged._take_candidates(np.sort(order))

    def sort_candidates(self) -> "DataSummary":
        """Return the same summary with candidates in the order of their rows."""
        return self._take_candidates(np.argsort(self.row))

    def _take_candidates(self, which: Array) -> "DataSummary":
        some = {name: getattr(self, name)[which] for name in CANDIDATE_ARRAYS}
        return replace(self, samples=take_samples(self.samples, which), **some)


def summarize_chunk(chunk: Chunk, start: int, plan: SamplingPlan) -> DataSummary:
    """Summarize a chunk in the first pass.

    Parameters
    ----------
    chunk : Chunk
        Rows.
    start : int
        Number of the first of them among all rows.
    plan : SamplingPlan
        Folds and candidates to draw.

    Returns
    -------
    DataSummary
        Summaries of all chunks are added.
    """
    numbers, weights, folds = _number_rows(chunk, start, plan)
    labels, index = np.unique(chunk.y, return_inverse=True)
    cell = index.ravel() * plan.n_folds + folds
    size, shape = len(labels) * plan.n_folds, (len(labels), plan.n_folds)
    key = sources.draw_uniform(numbers, plan.seed, sources.LANDMARK_STREAM)
    used = np.flatnonzero(weights > 0)
    few = np.sort(used[np.argsort(key[used], kind="stable")[: plan.n_candidates]])
    return DataSummary(
        labels,
        np.bincount(cell, minlength=size).reshape(shape),
        np.bincount(cell, weights, minlength=size).reshape(shape),
        len(used),
        key[few],
        numbers[few],
        weights[few],
        chunk.y[few],
        take_samples(chunk.X, few),
        plan.n_candidates,
    )


@dataclass(frozen=True)
class Columns:
    """Function from samples to their similarities with M landmarks; can be pickled.

    Parameters
    ----------
    kernel : ResolvedKernel
        The kernel, fitted.
    Z : sequence of M samples
        The landmarks; if the matrix is given their own rows, of shape (M, M).
    """

    kernel: ResolvedKernel
    Z: SampleSet

    def __len__(self) -> int:
        return len(self.Z)

    def __call__(self, X: SampleSet, dtype: DTypeLike = np.float64) -> Array:
        """Return the similarities (n, M) of n samples, in the precision ``dtype``."""
        return self.kernel.cross(X, self.Z, dtype)


def fit_columns(kernel: ResolvedKernel, Z: SampleSet) -> Columns:
    """Return the similarities with landmarks, by a kernel that is fitted to them."""
    return Columns(kernel.fit(Similarities(Z, is_search=False)), Z)


@dataclass(frozen=True)
class PassContext:
    """Constants of all passes with the same landmarks; can be pickled.

    Parameters
    ----------
    columns : Columns
        Similarities with the landmarks.
    classes : ndarray of shape (n_classes,)
        Labels, sorted.
    factors : ndarray of shape (n_classes,)
        Class weights, which multiply those of the samples.
    multinomial : bool
        Whether more than two classes share one model.
    plan : SamplingPlan
        As in the first pass.
    """

    columns: Columns
    classes: Array
    factors: Array
    multinomial: bool
    plan: SamplingPlan


@dataclass(frozen=True)
class Point:
    """Coefficients of all problems.

    Parameters
    ----------
    B : ndarray of shape (M + 1, P, C)
        Coefficients; the last are intercepts.
    positive : ndarray of shape (P,)
        Positive class of each problem, unless multinomial.
    fold : ndarray of shape (P,)
        Held-out fold of each problem; -1 for none.
    """

    B: Array
    positive: Array
    fold: Array

    def take(self, which: Array) -> "Point":
        """Return some of the problems."""
        return Point(self.B[:, which], self.positive[which], self.fold[which])


class Rows(NamedTuple):
    """Classes, weights (class weights excluded) and folds of n rows."""

    classes: Array
    weights: Array
    folds: Array

    def take(self, which: slice | Array) -> "Rows":
        """Return some of the rows."""
        return Rows(*(each[which] for each in self))


@dataclass(frozen=True)
class Sums:
    """Weighted losses (P,) and their gradients (M + 1, P, C), in double precision."""

    value: Array
    gradient: Array

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(self.value + other.value, self.gradient + other.gradient)


def encode_rows(chunk: Chunk, start: int, context: PassContext) -> Rows:
    """Return class indices, weights and folds of a chunk.

    Parameters
    ----------
    chunk : Chunk
        Rows.
    start : int
        Number of the first of them among all rows.
    context : PassContext
        The model.

    Returns
    -------
    Rows
        Classes, weights and folds.
    """
    _, weights, folds = _number_rows(chunk, start, context.plan)
    classes = context.classes
    index = np.searchsorted(classes, chunk.y)
    if (index == len(classes)).any() or (classes[index] != chunk.y).any():
        raise ValueError(
            "A source must give the same rows in every pass, but a label came that "
            "was not there in the first."
        )
    return Rows(index.astype(np.int32), weights, folds.astype(np.int16))


def sum_losses(A: Array, rows: Rows, context: PassContext, point: Point) -> Sums:
    """Sum the losses of some rows, and their gradients.

    Parameters
    ----------
    A : ndarray of shape (n, M + 1)
        Similarities with the landmarks, and ones. Products have their precision.
    rows : Rows
        Their classes, weights and folds.
    context : PassContext
        The model.
    point : Point
        Coefficients.

    Returns
    -------
    Sums
        Values and gradients.
    """
    _, P, C = point.B.shape
    F = _compute_scores(A, point).reshape(-1, P, C)
    V = _training_weights(rows, context, point)
    if context.multinomial:
        Y = (rows.classes[:, None] == np.arange(C)).astype(float)[:, None, :]
        loss = Multinomial()
        values, E = loss.value(Y, F), loss.error(Y, loss.at(F))
        E *= -V[..., None]
    else:
        sign = _signs(rows, point)
        values, q = _logistic_loss(sign * F[..., 0])
        E = (-sign * q * V)[..., None]
    gradient = A.T @ E.reshape(len(A), -1).astype(A.dtype, copy=False)
    sums = gradient.astype(np.float64, copy=False).reshape(-1, P, C)
    return Sums(np.einsum("np,np->p", V, values), sums)


def sum_hessians(
    A: Array, rows: Rows, context: PassContext, point: Point, groups: Sequence[Array]
) -> Array:
    """Sum the second derivatives of the losses of some rows.

    Parameters
    ----------
    A, rows, context, point
        As in `sum_losses`.
    groups : sequence of ndarray of int
        Problems whose Hessians are averaged, such as the folds of one lam.

    Returns
    -------
    ndarray of shape (n_groups, n_blocks, M + 1, M + 1)
        One block for each of `class_pairs`.
    """
    m, C = A.shape[1], point.B.shape[2]
    pairs = class_pairs(C)
    out = np.empty((len(groups), len(pairs), m, m))
    for g, group in enumerate(groups):
        part = point.take(group)
        F = (A @ part.B.reshape(m, -1)).reshape(len(A), len(group), C)
        V = _training_weights(rows, context, part) / len(group)
        if context.multinomial:
            p = Multinomial().at(F).q
        else:
            p = _logistic_loss(_signs(rows, part) * F[..., 0])[1][..., None]
        for b, (c, d) in enumerate(pairs):
            is_same = 1.0 if c == d else 0.0
            D = np.einsum("np,np->n", V, p[..., c] * (is_same - p[..., d]))
            out[g, b] = _weighted_gram(A, D)
    return out


def class_pairs(C: int) -> list[tuple[int, int]]:
    """Return the pairs (c, d) of columns of scores with c <= d."""
    return [(c, d) for c in range(C) for d in range(c, C)]


def sum_held_out_losses(
    A: Array, rows: Rows, context: PassContext, point: Point, link: Link
) -> Array:
    """Sum the weighted log-losses of held-out rows.

    Parameters
    ----------
    A, rows, context, point
        As in `sum_losses`; one-versus-rest problems of one model are adjacent.
    link : {"logistic", "multinomial", "ovr"}
        Function from scores to probabilities.

    Returns
    -------
    ndarray of shape (n_models,)
        Not yet divided by the weight of the held-out rows.
    """
    F = _compute_scores(A, point)
    k = len(context.classes) if len(context.classes) > 2 else 1
    each = np.arange(0, F.shape[1], k)
    fold = point.fold[:: max(1, k // point.B.shape[2])]
    losses = np.empty(len(each))
    for i, first in enumerate(each):
        out = rows.folds == fold[i]
        logs = log_probabilities(F[out, first : first + k], link)
        own = np.take_along_axis(logs, rows.classes[out, None], axis=1)[:, 0]
        losses[i] = -(rows.weights[out] @ own)
    return losses


def _number_rows(
    chunk: Chunk, start: int, plan: SamplingPlan
) -> tuple[Array, Array, Array]:
    """Return numbers, weights and folds of the rows of a chunk."""
    numbers = np.arange(start, start + len(chunk.y))
    weights, folds = chunk.weights, chunk.folds
    if folds is None:
        folds = sources.draw_folds(numbers, plan.n_folds, plan.seed)
    weights = np.ones(len(numbers)) if weights is None else weights
    return numbers, np.asarray(weights, dtype=float), folds


def _compute_scores(A: Array, point: Point) -> Array:
    """Return the scores of all problems side by side, in double precision."""
    B = point.B.reshape(len(point.B), -1).astype(A.dtype, copy=False)
    return (A @ B).astype(np.float64, copy=False)


def _training_weights(rows: Rows, context: PassContext, point: Point) -> Array:
    """Return the weight of each row in each problem, shape (n, P)."""
    weights = rows.weights * context.factors[rows.classes]
    if (point.fold < 0).all():
        return np.broadcast_to(weights[:, None], (len(weights), len(point.fold)))
    return weights[:, None] * (rows.folds[:, None] != point.fold)


def _signs(rows: Rows, point: Point) -> Array:
    """Return targets of -1 or 1, shape (n, P)."""
    return np.where(rows.classes[:, None] == point.positive, 1.0, -1.0)


def _logistic_loss(margin: Array) -> tuple[Array, Array]:
    """Return the loss of each margin, and the probability of the other class."""
    ratio = np.exp(-np.abs(margin))
    is_right = margin >= 0
    loss = np.log1p(ratio) - np.where(is_right, 0.0, margin)
    return loss, np.where(is_right, ratio, 1.0) / (1.0 + ratio)


def _weighted_gram(A: Array, D: Array) -> Array:
    """Return A' diag(D) A, where all D have one sign."""
    sign = -1.0 if D.min(initial=0.0) < 0 else 1.0
    scaled = A * np.sqrt(np.abs(D))[:, None]
    # NumPy computes only half of the product of a matrix with its own transpose.
    # Single precision would be faster but is inaccurate: with lam below 1e-6 the error
    # in the Newton matrix of TL1 is as large as the matrix, even for centered rows.
    return np.asarray(sign * (scaled.T @ scaled))
