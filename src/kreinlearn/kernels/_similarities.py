"""Many kernels on the same samples: what they share is computed once."""

import numpy as np

from kreinlearn._memory import check_fits, fits
from kreinlearn._typing import Array
from kreinlearn.kernels import _records as records
from kreinlearn.kernels._cache import compute_measure as measured
from kreinlearn.kernels._cache import digest
from kreinlearn.kernels._records import (
    Function,
    Kernel,
    Measure,
    Params,
    SampleSet,
)
from kreinlearn.kernels._table import KERNELS, gram, precision
from kreinlearn.kernels.distances import DistanceForm, learned_form


class Similarities:
    """Kernel matrices of one set of samples, for a search over kernels and parameters.

    A measure is computed once and kept, as long as it fits in memory, and all kernels
    and widths that are forms of it take it from there.

    Parameters
    ----------
    X : sequence of n samples
        Whatever the kernels take.

    Examples
    --------
    >>> from kreinlearn.kernels import Similarities
    >>> similarities = Similarities([[0.0], [1.0], [3.0]])
    >>> similarities.matrix("tl1", {"tau": 2.0})
    array([[2., 1., 0.],
           [1., 2., 0.],
           [0., 0., 2.]])
    >>> similarities.grid("laplacian", {})
    {'sigma': [0.5, 1.0, 2.0, 4.0, 8.0]}
    """

    def __init__(self, X: SampleSet) -> None:
        self.X = X
        self._kept: dict[tuple[str, str], Array] = {}

    def matrix(self, kernel: str | Function, params: Params) -> Array:
        """Return ``gram(X, None, kernel, **params)``, the same to the last bit.

        Parameters
        ----------
        kernel : str or callable
            A name in KERNELS, or a function, which is called.
        params : mapping
            Its parameters.

        Returns
        -------
        ndarray of shape (n, n)
            The matrix; it is the caller's own.
        """
        record = KERNELS.get(kernel) if isinstance(kernel, str) else None
        if record is not None and record.learns_form:
            return self.form(record, params)(self.distances(record, params))
        if record is None or record.measure is None or record.form is None:
            return gram(self.X, None, kernel, **params)
        record.check_params(params)
        finish = record.finish(self.X, params)
        D = self._values(record.measure, params)
        if D is None:
            return gram(self.X, None, kernel, **params)
        return finish(D, is_symmetric=True)

    def distances(self, kernel: Kernel, params: Params) -> Array:
        """Return the values of a measure whose form is learned, computed once.

        Parameters
        ----------
        kernel : Kernel
            Its record.
        params : mapping
            Its parameters, of which those of the form are left alone.

        Returns
        -------
        ndarray of shape (n, n)
            Distances, symmetric.
        """
        measure = kernel.measure
        assert measure is not None
        own = _params_of(measure, params)
        key = _key(measure, own)
        if key not in self._kept:
            n = len(self.X)
            check_fits(2 * n, n, np.float64, "A matrix of distances and one of a form")
            samples = self.X if kernel.check is None else kernel.check(self.X)
            self._kept[key] = measured(measure, samples, own)
        return self._kept[key]

    def form(self, kernel: Kernel, params: Params) -> DistanceForm:
        """Return the form of a distance, learned from these samples.

        Parameters
        ----------
        kernel : Kernel
            Its record.
        params : mapping
            Its parameters: ``form`` and ``width``, and those of the measure.

        Returns
        -------
        DistanceForm
            A function of distances to these samples.
        """
        measure = kernel.measure
        assert measure is not None
        of_form = {k: v for k, v in params.items() if k not in measure.params}
        return learned_form(self.distances(kernel, params), **of_form)

    def grid(self, kernel: str | Function, fixed: Params) -> dict[str, list[float]]:
        """Return the values of a kernel's parameters that are tried by default.

        Parameters
        ----------
        kernel : str or callable
            A name in KERNELS, or anything else, for which nothing is known.
        fixed : mapping
            Parameters that are not tried, such as the ridge of a distance.

        Returns
        -------
        dict of str to list of float
            Values by parameter; empty if there is nothing to choose.
        """
        record = KERNELS.get(kernel) if isinstance(kernel, str) else None
        if record is None or record.grid is None:
            return {}
        grid, scale = record.grid, 1.0
        if any(name in fixed for name in (grid.parameter, *grid.rivals)):
            return {}
        if record.measure is not None and grid.of_median:
            scale = self._median(record.measure, fixed)
        return {grid.parameter: [value * scale for value in grid.values]}

    def _median(self, measure: Measure, params: Params) -> float:
        """Return the median distance, of values that are kept if it is of all."""
        if measure.metric is None and len(self.X) <= records.SAMPLED_PAIRS:
            D = self._values(measure, params)
            if D is not None:
                return records.median_of(D, measure.is_squared)
        return measure.median(self.X, **_params_of(measure, params))

    def _values(self, measure: Measure, params: Params) -> Array | None:
        """Return the values of a measure, or None if they should not be kept."""
        own = _params_of(measure, params)
        key = _key(measure, own)
        if key not in self._kept:
            n = len(self.X)
            # The values, and one matrix that is made of them.
            is_wanted = measure.size(self.X) >= measure.stored_from
            if not (is_wanted and fits(2 * n, n, precision(self.X))):
                return None
            self._kept[key] = measure.function(self.X, None, **own)
        return self._kept[key]


def _key(measure: Measure, params: Params) -> tuple[str, str]:
    known = dict(sorted(params.items()))
    return measure.name, digest(known) or repr(known)


def _params_of(measure: Measure, params: Params) -> Params:
    return {name: params[name] for name in measure.params if name in params}
