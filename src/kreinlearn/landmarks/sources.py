"""Sources of rows: arrays, blocks from files or iterables, Dask collections.

The fold of a row, the subsamples that contain it and the chance that it becomes a
landmark are functions of its number among all rows. They do not depend on the chunks,
nor on the process that computes them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.utils.validation import column_or_1d

from kreinlearn._typing import Array, SampleSet
from kreinlearn.io.dataset import Dataset
from kreinlearn.io.formats import is_table_on_disk, table_blocks

BlockReader = Callable[[], Iterable[Any]]
"""Each call returns a new iterator that starts at the first block."""
FOLD_STREAM, SUBSAMPLE_STREAM, LANDMARK_STREAM = range(3)
"""Independent streams of random numbers."""
SPLITMIX_CONSTANTS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


class Chunk(NamedTuple):
    """Consecutive rows.

    Attributes
    ----------
    X : sequence of n samples
        As the kernel takes them, checked.
    y : ndarray of shape (n,)
        Labels.
    weights : ndarray of shape (n,) or None
        Nonnegative weights of the samples; None means one each.
    folds : ndarray of shape (n,) or None
        The fold that holds each row out; None means that it is drawn.
    """

    X: SampleSet
    y: Array
    weights: Array | None = None
    folds: Array | None = None

    def cut(self, part: slice) -> "Chunk":
        """Return some of the rows."""
        some: Any = (None if each is None else each[part] for each in self)
        return Chunk(*some)


class Source(Protocol):
    """Rows that can be read repeatedly, chunk by chunk."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows; may be None before the first pass."""

    def chunks(self, first: int = 0) -> Iterator[Chunk]:
        """Yield all chunks from number ``first`` on; the same ones each time."""


@dataclass(frozen=True)
class MemorySource:
    """Rows in memory, or mapped into it, in chunks of ``chunk_size``.

    The other attributes are those of a `Chunk` with all rows.
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
        rows = Chunk(self.X, self.y, self.weights, self.folds)
        for start in range(first * self.chunk_size, len(self.y), self.chunk_size):
            yield rows.cut(slice(start, start + self.chunk_size))


@dataclass
class BlockSource:
    """Blocks of rows that are read again in each pass.

    Parameters
    ----------
    read : callable
        Returns a new iterator over blocks: tuples (X, y) or (X, y, weights).
    check : callable
        Validates the samples of a block, and returns them as the kernel takes them.
    chunk_size : int
        Maximum number of rows of a chunk.
    n_rows : int, optional
        Number of rows; set after the first pass.
    """

    read: BlockReader
    check: Callable[[SampleSet], SampleSet]
    chunk_size: int
    n_rows: int | None = None
    _has_text: bool | None = None

    def chunks(self, first: int = 0) -> Iterator[Chunk]:
        """Yield all chunks from number ``first`` on; the same ones each time."""
        number = n_rows = 0
        for place, block in enumerate(self.read(), 1):
            chunk = _split_block(block, place)
            n_rows += len(chunk.y)
            if self.n_rows is not None and n_rows > self.n_rows:
                raise _changed_rows(self.n_rows, "more")
            starts = range(0, len(chunk.y), self.chunk_size)
            if number + len(starts) > first:
                chunk = self._check_block(chunk, place)
                for start in starts[max(0, first - number) :]:
                    yield chunk.cut(slice(start, start + self.chunk_size))
            number += len(starts)
        if self.n_rows is not None and n_rows < self.n_rows:
            raise _changed_rows(self.n_rows, str(n_rows))
        self.n_rows = n_rows

    def _check_block(self, chunk: Chunk, place: int) -> Chunk:
        has_text = chunk.y.dtype.kind not in "biuf"
        self._has_text = has_text if self._has_text is None else self._has_text
        if self._has_text != has_text:
            raise ValueError(
                f"Chunk {place}: labels must be text in all chunks or numbers in all, "
                f"got {chunk.y[0]!r}, unlike those before."
            )
        try:
            samples = self.check(chunk.X)
        except ValueError as error:
            raise ValueError(f"Chunk {place}: {error}") from None
        if len(samples) != len(chunk.y):
            raise ValueError(
                f"Chunk {place}: one label per sample was expected, got {len(samples)} "
                f"samples and {len(chunk.y)} labels."
            )
        return chunk._replace(X=samples)


def open_blocks(X: Any, y: Any, weight: Any) -> tuple[BlockReader, int | None] | None:
    """Return a reader of blocks and the number of rows, or None if X is in memory.

    Parameters
    ----------
    X : object
        Argument of an estimator: a path, a pyarrow dataset, a callable that returns a
        new iterator over blocks, or an iterable that can be read repeatedly. Anything
        else, and samples with separate labels, count as rows in memory.
    y : str or None
        Label column of a table on disk; blocks contain their labels.
    weight : str or None
        Weight column of a table on disk.

    Returns
    -------
    tuple or None
        None for samples in memory.
    """
    if is_table_on_disk(X):
        for name, value in (("y", y), ("sample_weight", weight)):
            if not isinstance(value, str) and (name == "y" or value is not None):
                raise ValueError(
                    f"With a table on disk, {name!r} must be the name of a column, got "
                    f"{'None' if value is None else type(value).__name__}."
                )
        X, y, weight = table_blocks(X, y, weight=weight), None, None
    is_array = hasattr(X, "shape") or hasattr(X, "__array__")
    if y is not None or is_array or not (callable(X) or isinstance(X, Iterable)):
        return None
    if weight is not None:
        raise ValueError(
            "'sample_weight' goes with samples in memory; put weights into the chunks, "
            "as (X, y, weights)."
        )
    if isinstance(X, Iterator):
        raise ValueError(
            f"X must be a source that can be read several times, got a "
            f"{type(X).__name__}, which ends after one pass; pass the function that "
            "makes it, or a list of chunks."
        )
    n_rows = getattr(X, "n_rows", None)
    if isinstance(X, Dataset):
        return lambda: map(_check_table_block, X), n_rows
    return (X if callable(X) else lambda: iter(X)), n_rows


def _check_table_block(block: Dataset) -> tuple[Any, Any, Array | None]:
    """Return a block of a table; raise if it holds text or a missing cell."""
    X: Any = block.X
    words = [name for name in X.columns if X[name].dtype.kind not in "fiub"]
    missing = X.isna().to_numpy()
    if not words and not missing.any():
        return X, block.y, block.weights
    what, name = "holds text", words[0] if words else None
    if name is None:
        row, column = divmod(int(missing.argmax()), missing.shape[1])
        name = X.columns[column]
        what = f"has no value in {X.index.name} {X.index[row]}"
    raise ValueError(
        f"{X.attrs['path']}: numbers were expected, but column {name!r} {what}; use "
        "kreinlearn.pipelines.fit_from, which encodes text and fills in."
    )


def _split_block(block: Any, place: int) -> Chunk:
    """Return samples, labels and weights of a block; raise if they are malformed."""
    is_tuple = isinstance(block, tuple | list) and len(block) in (2, 3)
    if not is_tuple or not hasattr(block[0], "__len__"):
        raise ValueError(
            f"Chunk {place} must be (X, y) or (X, y, weights), got "
            f"{type(block).__name__}{f' of {len(block)}' * isinstance(block, tuple)}."
        )
    y = np.asarray(block[1])
    if y.ndim != 1:
        raise ValueError(
            f"Chunk {place}: labels must have one dimension, got shape {y.shape}."
        )
    is_missing = np.array([label is None or label != label for label in y.tolist()])
    if is_missing.any():
        raise ValueError(
            f"Chunk {place} has no label for its sample {int(is_missing.argmax()) + 1}."
        )
    if y.dtype == object:
        y = np.array(y.tolist())
    is_fraction = y != np.floor(y) if y.dtype.kind == "f" else np.zeros(len(y), bool)
    if is_fraction.any():
        raise ValueError(
            f"Chunk {place}: labels of classes were expected, got the number "
            f"{y[is_fraction][0]}."
        )
    weights = None
    if len(block) == 3 and block[2] is not None:
        weights = np.asarray(block[2], dtype=float)
        is_weight = np.isfinite(weights) & (weights >= 0)
        if weights.shape != y.shape or not is_weight.all():
            raise ValueError(
                f"Chunk {place}: one weight per sample, not negative, was expected."
            )
    return Chunk(block[0], y, weights)


def _changed_rows(before: int, now: str) -> ValueError:
    return ValueError(
        f"X must give the same rows each time it is read, but gave {before} rows first "
        f"and {now} later; if it wraps an iterator, make a new one in each call."
    )


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask collection, or a list of delayed chunks or futures."""
    if not isinstance(X, list | tuple):
        return hasattr(X, "__dask_graph__")
    return len(X) > 0 and all(
        type(part).__module__.partition(".")[0] == "distributed"
        or hasattr(part, "__dask_graph__")
        for part in X
    )


def split_collection(X: Any) -> tuple[list[Any], list[int] | None]:
    """Return the partitions of a collection along its rows, and their lengths.

    Parameters
    ----------
    X : Dask collection, or list of delayed objects or futures
        Partitions of an array get all of its columns.

    Returns
    -------
    parts : list of Delayed or Future
        In the order of the rows.
    lengths : list of int or None
        None if they are unknown before the partitions are computed.
    """
    if isinstance(X, list | tuple):
        return list(X), None
    lengths = None
    if hasattr(X, "chunks"):
        X = X.rechunk({axis: -1 for axis in range(1, X.ndim)}) if X.ndim > 1 else X
        if not np.isnan(X.chunks[0]).any():
            lengths = [int(n) for n in X.chunks[0]]
    parts = X.to_delayed()
    is_array = isinstance(parts, np.ndarray)
    return (parts.ravel().tolist() if is_array else list(parts)), lengths


def split_like(name: str, y: Any, n_parts: int, lengths: list[int] | None) -> list[Any]:
    """Return the partitions of labels or weights; raise unless they match those of X.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    y : Dask collection, list of delayed objects, or array-like
        An array-like needs known lengths.
    n_parts : int
        Number of partitions of X.
    lengths : list of int or None
        Their lengths, if known.

    Returns
    -------
    list
        Delayed objects, futures or arrays.
    """
    if not is_collection(y):
        given = column_or_1d(y)
        if lengths is None or len(given) != sum(lengths):
            raise ValueError(
                f"{name!r} must be a Dask collection with the {n_parts} partitions of "
                f"X, got {type(y).__name__} of length {len(given)}."
            )
        return np.split(given, np.cumsum(lengths)[:-1])
    if hasattr(y, "chunks") and lengths is not None:
        known = y.chunks[0]
        if not np.isnan(known).any():
            if sum(known) != sum(lengths):
                raise ValueError(
                    f"{name!r} must have the {sum(lengths)} rows of X, got "
                    f"{sum(known)}."
                )
            y = y.rechunk({0: tuple(lengths)})
    parts, _ = split_collection(y)
    if len(parts) != n_parts:
        raise ValueError(
            f"{name!r} must have the {n_parts} partitions of X, got {len(parts)}; "
            "repartition it."
        )
    return parts


def draw_uniform(rows: Array, seed: int, stream: int) -> Array:
    """Return a pseudo-random number in [0, 1) for each row, by SplitMix64.

    Parameters
    ----------
    rows : ndarray of int
        Numbers of the rows among all rows.
    seed : int
        Seed.
    stream : int
        `FOLD_STREAM`, `SUBSAMPLE_STREAM` or `LANDMARK_STREAM`.

    Returns
    -------
    ndarray of float
        Multiples of 2^-53, uniform.
    """
    gamma, first, second = map(np.uint64, SPLITMIX_CONSTANTS)
    with np.errstate(over="ignore"):
        start = np.uint64(3 * seed + stream) * first ^ second
        z = (rows.astype(np.uint64) + np.uint64(1)) * gamma + start
        z = (z ^ (z >> np.uint64(30))) * first
        z = (z ^ (z >> np.uint64(27))) * second
        z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)).astype(float) * 2.0**-53)


def draw_folds(rows: Array, n_folds: int, seed: int) -> Array:
    """Return the fold that holds each row out, from 0 to ``n_folds - 1``."""
    if n_folds == 1:
        return np.zeros(len(rows), dtype=np.int64)
    return (draw_uniform(rows, seed, FOLD_STREAM) * n_folds).astype(np.int64)


def concat_samples(parts: list[SampleSet]) -> SampleSet:
    """Concatenate samples: arrays to an array, anything else to a list."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    return [sample for part in parts for sample in part]
