"""Several matrices of the same samples: names, order of rows, and their scaled mean."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.estimators._base import convert_matrix, get_row_labels, is_numbering
from kreinlearn.kernels import ResolvedKernel
from kreinlearn.kernels.transforms import fit_transform

SCALED_MEAN = "scaled mean"
"""Name of the mean of all matrices, each divided by its scale."""
NamedMatrices = dict[str, Any]
"""Matrices by name."""


def list_matrices(
    X: Any, kernel: ResolvedKernel, *, is_training: bool = False
) -> NamedMatrices | None:
    """Return several matrices by name, their rows in one order; None for one matrix.

    Parameters
    ----------
    X : ndarray of shape (n, m, q), mapping or sequence of q matrices
        Names are those of a mapping, else positions.
    kernel : ResolvedKernel
        The kernel, "precomputed" or "distance".
    is_training : bool
        Whether samples are those of training.
    """
    if isinstance(X, Mapping) and not issparse(X):  # one format of SciPy is a mapping
        found = {str(name): matrix for name, matrix in X.items()}
    elif isinstance(X, np.ndarray) and X.ndim == 3:
        found = {str(i): X[..., i] for i in range(X.shape[2])}
    elif (
        isinstance(X, list | tuple)
        and len(X) > 0
        and (np.ndim(X[0]) == 2 or hasattr(X[0], "to_data_frame"))
    ):
        found = {str(i): matrix for i, matrix in enumerate(X)}
    else:
        return None
    if not found:
        raise ValueError("'X' must hold at least one matrix, got none.")
    if SCALED_MEAN in found or (isinstance(X, Mapping) and len(found) < len(X)):
        raise ValueError(
            f"Names of matrices must differ, also from {SCALED_MEAN!r}, got "
            f"{', '.join(map(repr, X))}; rename one."
        )
    for name, matrix in found.items():
        found[name] = convert_matrix(matrix, kernel, is_training=is_training)
    return _match_rows(found)


def _match_rows(matrices: NamedMatrices) -> NamedMatrices:
    """Return matrices with rows in the order of the first, or raise."""
    first, *others = matrices
    rows = get_row_labels(matrices[first])
    found = {first: matrices[first]}
    for name in others:
        matrix, labels = matrices[name], get_row_labels(matrices[name])
        ours, theirs = np.shape(found[first])[0], np.shape(matrix)[0]
        if (
            rows is not None
            and labels is not None
            and not (is_numbering(rows) or is_numbering(labels))
        ):
            sides = ((rows, set(labels), name), (labels, set(rows), first))
            for known, new, lacking in sides:
                missing = [label for label in known if label not in new]
                if missing:
                    raise ValueError(
                        "Matrices must have the same samples, but "
                        f"{lacking!r} has no row {missing[0]!r} ({len(missing)} "
                        "missing): add what is missing, or drop it from the others."
                    )
            if labels != rows:
                if len(set(rows)) < len(rows) or len(labels) != len(rows):
                    raise ValueError(
                        "Rows must have different names to be matched, but some occur "
                        f"twice in {first!r} or {name!r}; rename them."
                    )
                matrix = matrix.loc[rows]
        elif ours != theirs:
            raise ValueError(
                "Matrices must have the same samples, got "
                f"{ours} rows in {first!r} and {theirs} in {name!r}; an array must "
                "have the shape (n_rows, n_columns, n_matrices)."
            )
        found[name] = matrix
    return found


def order_matrices(X: Any, kernel: ResolvedKernel, names: list[str]) -> list[Any]:
    """Return matrices of new samples in the order of training, or raise."""
    matrices = list_matrices(X, kernel)
    if matrices is None or len(matrices) != len(names):
        got = "one" if matrices is None else str(len(matrices))
        raise ValueError(
            f"The model was fitted to {len(names)} matrices ({', '.join(names)}), got "
            f"{got}; pass as many in the same order, or a dict with these names."
        )
    if not isinstance(X, Mapping):
        return list(matrices.values())
    if set(matrices) != set(names):
        wrong = next(name for name in matrices if name not in names)
        raise ValueError(
            f"Matrices must have the names of training, {', '.join(names)}, got "
            f"{wrong!r}; rename it, or pass a list in the order of training."
        )
    return [matrices[name] for name in names]


@contextmanager
def name_matrix(name: str) -> Iterator[None]:
    """Name the matrix in errors about it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Matrix {name!r}: {error}") from None


def measure_scale(matrix: Array, is_distance: bool) -> float:
    """Return the median distance, or the standard deviation of similarities."""
    scale = fit_transform(matrix).median if is_distance else float(np.std(matrix))
    return scale if scale > 0 else 1.0


def stack_with_mean(matrices: list[Array], scales: Array) -> Array:
    """Return matrices of shape (n, m, q + 1), the scaled mean last, each contiguous.

    One matrix stays alone.
    """
    shape, q = matrices[0].shape, len(matrices)
    dtype = np.result_type(*matrices)
    check_fits(shape[0] * (q + 1), shape[1], dtype, "The matrices and their mean")
    found = np.empty((q + (q > 1), *shape), dtype)
    for i, matrix in enumerate(matrices):
        if matrix.shape != shape:
            raise ValueError(
                f"Matrices must have one shape, got {shape} and {matrix.shape}."
            )
        found[i] = matrix
    if q > 1:
        found[q] = np.tensordot(1 / (q * scales), found[:q], 1)
    return np.moveaxis(found, 0, 2)
