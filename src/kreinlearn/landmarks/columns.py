"""Similarities of samples with the landmarks: the columns C = K(X, Z)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array
from kreinlearn.kernels import KERNELS, Kernel, gram
from kreinlearn.kernels.distances import PAIRWISE, DistanceForm, learned_form
from kreinlearn.landmarks.rows import SampleSet


@dataclass(frozen=True)
class Columns:
    """What turns samples into their similarities with M landmarks; it can be pickled.

    Parameters
    ----------
    kernel : str or callable
        As estimators take it; "precomputed" and "distance" too.
    params : mapping
        Parameters of the kernel.
    Z : sequence of M samples
        The landmarks; of "precomputed" and "distance" their own rows, of shape (M, M).
    form : DistanceForm, optional
        How distances become similarities; learned from the landmarks.
    """

    kernel: Any
    params: Mapping[str, Any]
    Z: SampleSet
    form: DistanceForm | None = None

    def __len__(self) -> int:
        return len(self.Z)

    @property
    def is_cheap(self) -> bool:
        """Whether similarities are compiled sums over features of rows."""
        record = self._record
        measure = None if record is None else record.measure
        return measure is not None and measure.sums is not None

    @property
    def is_given(self) -> bool:
        """Whether samples are rows of similarities or distances."""
        return isinstance(self.kernel, str) and self.kernel in PAIRWISE

    @property
    def _record(self) -> Kernel | None:
        return KERNELS.get(self.kernel) if isinstance(self.kernel, str) else None

    def __call__(self, X: SampleSet, dtype: DTypeLike = np.float64) -> Array:
        """Return the similarities.

        Parameters
        ----------
        X : sequence of n samples
            As the kernel takes them; rows of M similarities or distances if they are
            given.
        dtype : dtype
            float32 or float64: compiled sums are computed in it, others rounded to it.

        Returns
        -------
        ndarray of shape (n, M)
            In that precision.
        """
        if self.is_given:
            given = np.asarray(X, dtype=dtype)
            return given if self.form is None else self.form(given)
        if self.form is not None:
            record = self._record
            assert record is not None and record.measure is not None
            own = own_params(record, self.params)
            D = record.measure.function(X, self.Z, **own)
            return self.form(D).astype(dtype, copy=False)
        if self.is_cheap:
            rows, others = np.asarray(X, dtype), np.asarray(self.Z, dtype)
            return gram(rows, others, self.kernel, **self.params)
        return gram(X, self.Z, self.kernel, **self.params).astype(dtype, copy=False)


def columns_for(kernel: Any, params: Mapping[str, Any], Z: SampleSet) -> Columns:
    """Return the columns of a kernel, with a form learned if it has one.

    Parameters
    ----------
    kernel : str or callable
        As estimators take it.
    params : mapping
        Its parameters.
    Z : sequence of M samples
        The landmarks; for "precomputed" and "distance" their own (M, M) rows.

    Returns
    -------
    Columns
        A function of samples.
    """
    record = KERNELS.get(kernel) if isinstance(kernel, str) else None
    if record is not None and record.learns_form:
        assert record.measure is not None
        own = own_params(record, params)
        of_form = {k: v for k, v in params.items() if k not in own}
        D = record.measure.function(Z, None, **own)
        return Columns(kernel, params, Z, learned_form(D, **of_form))
    if isinstance(kernel, str) and kernel == "distance":
        return Columns(kernel, params, Z, learned_form(np.asarray(Z), **params))
    return Columns(kernel, params, Z)


def own_params(record: Kernel, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the measure; the others are its form's.

    Parameters
    ----------
    record : Kernel
        The kernel.
    params : mapping
        Its parameters.

    Returns
    -------
    dict
        Those that the measure takes.
    """
    assert record.measure is not None
    return {name: params[name] for name in record.measure.params if name in params}
