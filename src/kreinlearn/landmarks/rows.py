"""Where rows come from, and what is decided about a row by its number alone.

Which fold holds a row out, which rows a Hessian is summed over and which rows become
landmarks are functions of the number of the row among all rows. They do not depend on
how the rows are cut into chunks, or on who computes what.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from kreinlearn._typing import Array

SampleSet = Any
"""Rows of a table, a stack of matrices, or a list of anything that kernels take."""
FOLDS, SHARES, LANDMARKS = range(3)
"""What numbers are drawn for, each independent of the others."""
MIXED = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], "u8")
"""Constants of the generator SplitMix64."""


class Chunk(NamedTuple):
    """Rows that are next to each other, in the order of all rows.

    Attributes
    ----------
    X : sequence of n samples
        As the kernel takes them, checked.
    y : ndarray of shape (n,)
        Labels.
    weights : ndarray of shape (n,) or None
        Weights of the samples, not negative; None means one each.
    folds : ndarray of shape (n,) or None
        The fold that holds each row out; None means that it is drawn.
    """

    X: SampleSet
    y: Array
    weights: Array | None = None
    folds: Array | None = None


class Source(Protocol):
    """Rows that can be read again and again, chunk by chunk."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known before the first pass."""

    def chunks(self, first: int = 0) -> Iterator[Chunk]:
        """Yield all chunks from number ``first`` on; the same ones each time."""


@dataclass(frozen=True)
class Memory:
    """A source of rows that are in memory, or mapped into it.

    Parameters
    ----------
    X : sequence of n samples
        Checked.
    y : ndarray of shape (n,)
        Labels.
    weights : ndarray of shape (n,) or None
        Weights of the samples.
    chunk_size : int
        Rows of a chunk.
    folds : ndarray of shape (n,) or None
        The fold that holds each row out, if it is not drawn.
    """

    X: SampleSet
    y: Array
    weights: Array | None
    chunk_size: int
    folds: Array | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def chunks(self, first: int = 0) -> Iterator[Chunk]:
        """Yield all chunks from number ``first`` on."""
        for start in range(first * self.chunk_size, len(self.y), self.chunk_size):
            part = slice(start, start + self.chunk_size)
            weights, folds = (
                None if each is None else each[part]
                for each in (self.weights, self.folds)
            )
            yield Chunk(self.X[part], self.y[part], weights, folds)


def drawn(rows: Array, seed: int, purpose: int) -> Array:
    """Return a number in [0, 1) for each row, as if it were random.

    Parameters
    ----------
    rows : ndarray of int
        Numbers of the rows among all rows.
    seed : int
        Another seed gives other numbers.
    purpose : int
        `FOLDS`, `SHARES` or `LANDMARKS`.

    Returns
    -------
    ndarray of float
        Multiples of 2^-53, uniform.
    """
    with np.errstate(over="ignore"):
        start = np.uint64(3 * seed + purpose) * MIXED[1] ^ MIXED[2]
        z = (rows.astype(np.uint64) + np.uint64(1)) * MIXED[0] + start
        z = (z ^ (z >> np.uint64(30))) * MIXED[1]
        z = (z ^ (z >> np.uint64(27))) * MIXED[2]
        z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)).astype(float) * 2.0**-53)


def drawn_folds(rows: Array, n_folds: int, seed: int) -> Array:
    """Return the number of the fold that holds each row out.

    Parameters
    ----------
    rows : ndarray of int
        Numbers of the rows.
    n_folds : int
        Number of folds.
    seed : int
        See `drawn`.

    Returns
    -------
    ndarray of int
        From 0 to ``n_folds - 1``.
    """
    if n_folds == 1:
        return np.zeros(len(rows), dtype=np.int64)
    return np.asarray((drawn(rows, seed, FOLDS) * n_folds).astype(np.int64))


def chosen(samples: SampleSet, which: Array) -> SampleSet:
    """Return some of the samples: positions, or a mask.

    Parameters
    ----------
    samples : sequence of n samples
        An array or a list.
    which : ndarray of int or bool
        Which of them.

    Returns
    -------
    sequence
        An array of an array, a list of anything else.
    """
    if isinstance(samples, np.ndarray):
        return samples[which]
    positions = np.flatnonzero(which) if which.dtype == bool else which
    return [samples[i] for i in positions]


def joined(parts: list[SampleSet]) -> SampleSet:
    """Return the samples of all parts, one after another.

    Parameters
    ----------
    parts : list of sequences
        Arrays, or lists.

    Returns
    -------
    sequence
        Of the same kind.
    """
    if all(isinstance(part, np.ndarray) for part in parts):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    return [sample for part in parts for sample in part]
