"""Dask collections as samples: an engine for a fit, and predictions block by block."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from kreinlearn._typing import Array
from kreinlearn.estimators._inputs import KernelEstimator, check_weights, is_pairwise
from kreinlearn.estimators._outputs import Probable
from kreinlearn.landmarks.cluster import DaskEngine, connected, current_client
from kreinlearn.landmarks.rows import Chunk
from kreinlearn.landmarks.worker import Size

LEARNED = ("n_features_in_", "feature_names_in_")
"""What partitions are checked by."""
Parts = list[Any]
"""Objects of `dask.delayed`, or futures, that become the partitions of a collection."""


def is_collection(X: Any) -> bool:
    """Tell whether X is a Dask collection, or a list of delayed chunks or futures."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(map(_is_lazy, X))
    return hasattr(X, "__dask_graph__")


def _is_lazy(chunk: Any) -> bool:
    """Tell whether a chunk is delayed or a future."""
    is_future = type(chunk).__module__.partition(".")[0] == "distributed"
    return is_future or hasattr(chunk, "__dask_graph__")


def cluster_engine(
    model: KernelEstimator, X: Any, y: Any, sample_weight: Any, memory: int | None
) -> DaskEngine:
    """Return an engine for a fit to collections; learn the number of features.

    Parameters
    ----------
    model : KernelEstimator
        What is to be fitted.
    X, y, sample_weight : Dask collection, or list of delayed objects
        Samples, labels, and weights or None, in the same partitions. Labels and weights
        of an array whose chunks are known may be arrays.
    memory : int or None
        Bytes of each worker for similarities.

    Returns
    -------
    DaskEngine
        Its chunks are checked on the workers.
    """
    from dask import delayed

    if is_pairwise(model.kernel):
        raise ValueError(
            f"With kernel={model.kernel!r}, X must be a matrix in memory, got a Dask "
            "collection; give the samples, and the kernel as a function."
        )
    client = current_client()
    X, lengths = _with_whole_rows(X)
    parts = _parts_of(X)
    others = [
        _parts_like(name, each, len(parts), lengths)
        for name, each in (("y", y), ("sample_weight", sample_weight))
    ]
    with connected(client):
        checker = _checker(model, _head(client, parts))
    check = delayed(_chunk, pure=False)
    sent = delayed(checker, traverse=False)
    chunks = [check(sent, *each) for each in zip(parts, *others, strict=True)]
    sizes = None
    if lengths is not None:
        width = max(8, X.dtype.itemsize) * int(np.prod(X.shape[1:]))
        sizes = [Size(n, n * (width + 16)) for n in lengths]  # labels and weights, too
    return DaskEngine(chunks, sizes, memory, model.dtype, client)


def _with_whole_rows(X: Any) -> tuple[Any, list[int] | None]:
    """Return X with all columns in each chunk, and lengths of chunks if known."""
    if not hasattr(X, "chunks"):
        return X, None
    X = X.rechunk({axis: -1 for axis in range(1, X.ndim)}) if X.ndim > 1 else X
    lengths = X.chunks[0]
    is_known = not np.isnan(lengths).any()
    return X, [int(n) for n in lengths] if is_known else None


def _parts_of(X: Any) -> Parts:
    """Return the partitions of a collection along its rows."""
    if isinstance(X, list | tuple):
        return list(X)
    parts = X.to_delayed()
    return parts.ravel().tolist() if isinstance(parts, np.ndarray) else list(parts)


def _parts_like(name: str, y: Any, n_parts: int, lengths: list[int] | None) -> Parts:
    """Return the partitions of labels or weights, which must be those of X."""
    if y is None and name == "sample_weight":
        return [None] * n_parts
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
    parts = _parts_of(y)
    if len(parts) != n_parts:
        raise ValueError(
            f"{name!r} must have the {n_parts} partitions of X, got {len(parts)}; "
            "repartition it."
        )
    return parts


def _head(client: Any, parts: Parts) -> Any:
    """Return the first sample."""
    from dask import delayed

    for part in parts:
        found = client.gather(client.compute(delayed(_first_row, pure=False)(part)))
        if len(found):
            return found
    raise ValueError("'X' must hold at least one sample, got none.")


def _checker(model: KernelEstimator, head: Any) -> KernelEstimator:
    """Learn number and names of features; return what checks partitions by them."""
    for name in LEARNED:
        if hasattr(model, name):
            delattr(model, name)
    model._labels = None
    model._check_samples(head, reset=True)
    made: Any = type(model)
    checker = made(model.kernel, kernel_params=model.kernel_params, dtype=model.dtype)
    for name in LEARNED:
        if hasattr(model, name):
            setattr(checker, name, getattr(model, name))
    return checker


def _first_row(X: Any) -> Any:
    return X[:1]


def _chunk(model: KernelEstimator, X: Any, y: Any, weights: Any) -> Chunk:
    """Return a partition, checked; one without rows as it is."""
    if len(X) == len(y) == 0:
        return Chunk(X, np.empty(0))
    samples, labels = model._check_samples(X, y, reset=False)
    labels = column_or_1d(labels)
    check_consistent_length(samples, labels)
    check_classification_targets(labels)
    if weights is not None:
        check_consistent_length(labels, weights)
        # Those of a single partition may all be zero.
        n = len(labels)
        weights = check_weights(weights, n) if np.any(weights) else np.zeros(n)
    return Chunk(samples, labels, weights)


class Blockwise(Probable):
    """A classifier that predicts Dask collections lazily, block by block."""

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the scores f.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples; with ``kernel="precomputed"`` their similarities with the
            landmarks, with "distance" the distances. A Dask collection gives one.

        Returns
        -------
        ndarray of shape (n_new,) or (n_new, n_classes)
            Scores; positive means the second of two classes.
        """
        lazy = self._blockwise("decision_function", X)
        return super().decision_function(X) if lazy is None else lazy

    def predict(self, X: ArrayLike) -> Array:
        """Return the most probable labels.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_new,)
            Labels.
        """
        lazy = self._blockwise("predict", X)
        return super().predict(X) if lazy is None else lazy

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Return the logarithms of the probabilities, without underflow.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            Log-probabilities, in the order of ``classes_``.
        """
        lazy = self._blockwise("predict_log_proba", X)
        return super().predict_log_proba(X) if lazy is None else lazy

    def _blockwise(self, method: str, X: Any) -> Any:
        """Return a Dask array of what a method gives, or None if X is in memory."""
        if not is_collection(X):
            return None
        from dask import array, delayed

        check_is_fitted(self)
        X, lengths = _with_whole_rows(X)
        parts = _parts_of(X)
        k = len(self.classes_)
        is_flat = method == "predict" or (method == "decision_function" and k == 2)
        dtype = self.classes_.dtype if method == "predict" else np.dtype(float)
        model = delayed(self, pure=True, traverse=False)
        call = delayed(_called, pure=True)
        sizes: Sequence[float] = lengths or [np.nan] * len(parts)
        blocks = [
            array.from_delayed(
                call(model, method, part), (n,) if is_flat else (n, k), dtype=dtype
            )
            for part, n in zip(parts, sizes, strict=True)
        ]
        return array.concatenate(blocks, allow_unknown_chunksizes=True)


def _called(model: Probable, method: str, X: Any) -> Array:
    """Return what a method gives for a block, which may have no rows."""
    if len(X) == 0:
        shape = () if method == "predict" else (len(model.classes_),)
        is_flat = method == "decision_function" and len(model.classes_) == 2
        return np.empty((0,) if is_flat else (0, *shape), model.classes_.dtype)
    return np.asarray(getattr(model, method)(X))
