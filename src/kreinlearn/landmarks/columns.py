"""Similarities of samples with the landmarks: the columns C = K(X, Z)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array
from kreinlearn.kernels import KERNELS, gram
from kreinlearn.kernels.distances import DEFAULTS, PAIRWISE, DistanceForm, learned_form


@dataclass(frozen=True)
class Columns:
    """Function from samples to their similarities with M landmarks; can be pickled.

    Parameters
    ----------
    kernel : str or callable
        As in the estimators, "precomputed" and "distance" included.
    params : mapping
        Parameters of the kernel.
    Z : sequence of M samples
        The landmarks; for "precomputed" and "distance" their own rows, of shape (M, M).
    form : DistanceForm, optional
        Transform from distances to similarities.
    """

    kernel: Any
    params: Mapping[str, Any]
    Z: Any
    form: DistanceForm | None = None

    def __len__(self) -> int:
        return len(self.Z)

    @property
    def is_cheap(self) -> bool:
        """Whether similarities are compiled sums over features of rows."""
        record = KERNELS.get(self.kernel) if isinstance(self.kernel, str) else None
        measure = None if record is None else record.measure
        return measure is not None and measure.sums is not None

    def __call__(self, X: Any, dtype: DTypeLike = np.float64) -> Array:
        """Compute the similarities.

        Parameters
        ----------
        X : sequence of n samples
            As the kernel takes them; rows of M similarities or distances for
            "precomputed" and "distance".
        dtype : dtype
            float32 or float64: compiled sums are computed in it, others rounded to it.

        Returns
        -------
        ndarray of shape (n, M)
            In that precision.
        """
        if isinstance(self.kernel, str) and self.kernel in PAIRWISE:
            given = np.asarray(X, dtype=dtype)
            return given if self.form is None else self.form(given)
        if self.form is not None:
            D = _measure_distances(self.kernel, self.params, X, self.Z)
            return self.form(D).astype(dtype, copy=False)
        if self.is_cheap:
            rows, others = np.asarray(X, dtype), np.asarray(self.Z, dtype)
            return gram(rows, others, self.kernel, **self.params)
        return gram(X, self.Z, self.kernel, **self.params).astype(dtype, copy=False)


def fit_columns(
    kernel: Any,
    params: Mapping[str, Any],
    Z: Any,
    learned: tuple[float, Array | None] | None = None,
) -> Columns:
    """Return the columns of a kernel, with its transform of distances if it has one.

    Parameters
    ----------
    kernel : str or callable
        As in the estimators.
    params : mapping
        Its parameters.
    Z : sequence of M samples
        The landmarks; for "precomputed" and "distance" their own (M, M) rows.
    learned : tuple of float and ndarray or None, optional
        Median and means of the distances; by default they are learned from the
        landmarks.

    Returns
    -------
    Columns
        A function of samples.
    """
    record = KERNELS.get(kernel) if isinstance(kernel, str) else None
    is_measured = record is not None and record.learns_form
    if not is_measured and not (isinstance(kernel, str) and kernel == "distance"):
        return Columns(kernel, params, Z)
    given = {name: params[name] for name in params if name in DEFAULTS}
    if learned is not None:
        given = {**DEFAULTS, **given}
        form = DistanceForm(**given, median=learned[0], means=learned[1])
    elif is_measured:
        form = learned_form(_measure_distances(kernel, params, Z, None), **given)
    else:
        form = learned_form(np.asarray(Z), **given)
    return Columns(kernel, params, Z, form)


def _measure_distances(
    kernel: str, params: Mapping[str, Any], X: Any, others: Any
) -> Array:
    measure = KERNELS[kernel].measure
    assert measure is not None
    own = {name: params[name] for name in measure.params if name in params}
    return measure.function(X, others, **own)
