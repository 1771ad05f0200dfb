"""The first pass: which labels there are, how many rows, and which may be landmarks."""

from dataclasses import dataclass, replace

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.landmarks.rows import (
    LANDMARKS,
    Chunk,
    SampleSet,
    chosen,
    drawn,
    drawn_folds,
    joined,
)


@dataclass(frozen=True)
class Draws:
    """How many folds and landmarks are drawn, and by which seed."""

    n_folds: int = 1
    n_sampled: int = 0
    seed: int = 0


@dataclass(frozen=True)
class First:
    """What the first pass learns: labels, numbers, and candidates for landmarks.

    Attributes
    ----------
    labels : ndarray of shape (n_labels,)
        All labels, sorted.
    counts, weights : ndarray of shape (n_labels, n_folds)
        Rows, and the sum of their weights, by label and fold.
    n_used : int
        Rows with positive weight.
    key : ndarray of shape (n_sampled,)
        The smallest numbers that were drawn for rows with positive weight.
    row : ndarray of shape (n_sampled,)
        The numbers of these rows.
    weight : ndarray of shape (n_sampled,)
        Their weights, without those of the classes.
    label : ndarray of shape (n_sampled,)
        Their labels.
    samples : sequence of n_sampled samples
        The rows themselves.
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

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    def add(self, other: "First", n_sampled: int) -> "First":
        """Return what both learned together."""
        labels = np.unique(np.concatenate([self.labels, other.labels]))
        shape = (len(labels), self.counts.shape[1])
        counts, weights = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        for each in (self, other):
            place = np.searchsorted(labels, each.labels)
            counts[place] += each.counts
            weights[place] += each.weights
        both = [
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("key", "row", "weight", "label")
        ]
        kept = np.sort(np.argsort(both[0], kind="stable")[:n_sampled])
        samples = chosen(joined([self.samples, other.samples]), kept)
        key, row, weight, label = (each[kept] for each in both)
        n_used = self.n_used + other.n_used
        return First(labels, counts, weights, n_used, key, row, weight, label, samples)

    def in_order(self) -> "First":
        """Return the same with candidates in the order of their rows."""
        order = np.argsort(self.row)
        named = ("key", "row", "weight", "label")
        ordered = {name: getattr(self, name)[order] for name in named}
        return replace(self, samples=chosen(self.samples, order), **ordered)


def first_of(chunk: Chunk, start: int, draws: Draws) -> First:
    """Return what the first pass learns from a chunk.

    Parameters
    ----------
    chunk : Chunk
        Rows.
    start : int
        Number of the first of them among all rows.
    draws : Draws
        What is drawn.

    Returns
    -------
    First
        To be added to others.
    """
    n = len(chunk.y)
    numbers = np.arange(start, start + n)
    weights = weights_of(chunk)
    folds = folds_of(chunk, numbers, draws)
    labels, index = np.unique(chunk.y, return_inverse=True)
    cell = index.ravel() * draws.n_folds + folds
    size, shape = len(labels) * draws.n_folds, (len(labels), draws.n_folds)
    key = drawn(numbers, draws.seed, LANDMARKS)
    used = np.flatnonzero(weights > 0)
    few = np.sort(used[np.argsort(key[used], kind="stable")[: draws.n_sampled]])
    return First(
        labels,
        np.bincount(cell, minlength=size).reshape(shape),
        np.bincount(cell, weights, minlength=size).reshape(shape),
        len(used),
        key[few],
        numbers[few],
        weights[few],
        chunk.y[few],
        chosen(chunk.X, few),
    )


def weights_of(chunk: Chunk) -> Array:
    """Return one weight for each row of a chunk, in double precision."""
    if chunk.weights is None:
        return np.ones(len(chunk.y))
    return np.asarray(chunk.weights, dtype=float)


def folds_of(chunk: Chunk, numbers: Array, draws: Draws) -> Array:
    """Return the fold that holds each row out."""
    if chunk.folds is not None:
        return chunk.folds
    return drawn_folds(numbers, draws.n_folds, draws.seed)
