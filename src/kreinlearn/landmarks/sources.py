"""Rows that are not in memory: blocks from files or an iterable, cut into chunks."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.io.chunks import TableBlocks, is_table_on_disk, table_blocks
from kreinlearn.landmarks.rows import Chunk, SampleSet

Blocks = Callable[[], Iterable[Any]]
"""Begins anew with the first block in each call."""


class BlockSource:
    """A source of blocks of rows that are read anew in each pass.

    Parameters
    ----------
    read : callable
        Returns a fresh iterator over blocks: tuples (X, y) or (X, y, weights).
    check : callable
        Checks the samples of a block, and returns them as the kernel takes them.
    chunk_size : int
        Most rows of a chunk.
    n_rows : int, optional
        Number of rows, if it is known.
    """

    def __init__(
        self,
        read: Blocks,
        check: Callable[[SampleSet], SampleSet],
        chunk_size: int,
        n_rows: int | None = None,
    ) -> None:
        self.read, self.check, self.chunk_size = read, check, chunk_size
        self._n_rows = n_rows
        self._kind: bool | None = None

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known by now."""
        return self._n_rows

    def chunks(self, first: int = 0) -> Iterator[Chunk]:
        """Yield all chunks from number ``first`` on; the same ones each time."""
        number = n_rows = 0
        for place, block in enumerate(self.read(), 1):
            X, y, weights = _parts(block, place)
            n_rows += len(y)
            if self._n_rows is not None and n_rows > self._n_rows:
                raise _changed(self._n_rows, "more")
            starts = range(0, len(y), self.chunk_size)
            if number + len(starts) > first:
                chunk = self._checked(X, y, weights, place)
                for start in starts[max(0, first - number) :]:
                    yield _cut(chunk, slice(start, start + self.chunk_size))
            number += len(starts)
        if self._n_rows is not None and n_rows < self._n_rows:
            raise _changed(self._n_rows, str(n_rows))
        self._n_rows = n_rows

    def _checked(
        self, X: SampleSet, y: Array, weights: Array | None, place: int
    ) -> Chunk:
        """Return a block as a chunk, or raise with its number."""
        is_text = y.dtype.kind not in "biuf"
        self._kind = is_text if self._kind is None else self._kind
        if self._kind != is_text:
            raise ValueError(
                f"Chunk {place}: labels must be text in all chunks or numbers in all, "
                f"got {y[0]!r}, unlike those before."
            )
        try:
            samples = self.check(X)
        except ValueError as error:
            raise ValueError(f"Chunk {place}: {error}") from None
        if len(samples) != len(y):
            raise ValueError(
                f"Chunk {place}: one label per sample was expected, got {len(samples)} "
                f"samples and {len(y)} labels."
            )
        return Chunk(samples, y, weights)


def blocks_of(X: Any, y: Any, weight: Any) -> tuple[Blocks, int | None] | None:
    """Return how to read blocks, and the number of rows, unless X is in memory.

    Parameters
    ----------
    X : object
        What an estimator was given: a path, a pyarrow dataset, a callable that returns
        a fresh iterator over blocks, or something that can be iterated over again and
        again; anything else, and anything that comes with labels of its own, is taken
        to be in memory.
    y : str or None
        Column of the labels, of a table on disk; blocks have labels in them.
    weight : str or None
        Column of the weights, of a table on disk.

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
    if isinstance(X, TableBlocks):
        return lambda: map(_of_numbers, X), n_rows
    return (X if callable(X) else lambda: iter(X)), n_rows


def _of_numbers(block: tuple[Any, Array, Array | None]) -> Any:
    """Return a block of a table, or raise if it holds text or a missing cell."""
    X = block[0]
    words = [name for name in X.columns if X[name].dtype.kind not in "fiub"]
    missing = X.isna().to_numpy()
    if not words and not missing.any():
        return block
    what, name = "holds text", words[0] if words else None
    if name is None:
        row, column = divmod(int(missing.argmax()), missing.shape[1])
        name = X.columns[column]
        what = f"has no value in {X.index.name} {X.index[row]}"
    raise ValueError(
        f"{X.attrs['path']}: numbers were expected, but column {name!r} {what}; use "
        "kreinlearn.pipelines.fit_from, which encodes text and fills in."
    )


def _parts(block: Any, place: int) -> tuple[SampleSet, Array, Array | None]:
    """Return samples, labels and weights of a block, or raise."""
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
    return block[0], y, weights


def _cut(chunk: Chunk, part: slice) -> Chunk:
    weights = None if chunk.weights is None else chunk.weights[part]
    return Chunk(chunk.X[part], chunk.y[part], weights)


def _changed(before: int, now: str) -> ValueError:
    return ValueError(
        f"X must give the same rows each time it is read, but gave {before} rows first "
        f"and {now} later; if it wraps an iterator, make a new one in each call."
    )
