"""One record per kernel: a measure between samples, and a transform of its values.

A measure is a distance or a score of two samples; it may be expensive. A transform is a
cheap function of its values, such as a Gaussian or a truncation. `tl1` and `laplacian`
are two transforms of one measure, and so are all widths of one kernel.

Letters: X (n samples) and Y (k samples), D (n, k) the values of a measure.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from scipy.spatial.distance import pdist

from kreinlearn._typing import Array, SampleSet

Params = Mapping[str, Any]
"""Parameters of a kernel by name."""
Function = Callable[..., Any]
"""A kernel or a measure, ``f(X, Y=None, **params)``, which gives a matrix."""

MEDIAN_SAMPLES, MEDIAN_ROW_SAMPLES, MEDIAN_PAIR_SAMPLES = 2000, 500, 200
"""Samples that a median distance is computed from: of stored distances, of rows, and of
other samples, whose distances are expensive."""


KernelSamples = Literal["rows", "matrices", "series", "sequences", "graphs", "sets"]
"""Kinds of samples of kernels with a name."""


class Transform(Protocol):
    """A transform with its parameters set."""

    def __call__(
        self, D: Array, is_symmetric: bool = False, out: Array | None = None
    ) -> Array:
        """Return the similarities for values of a measure, in ``out`` if given."""


@dataclass(frozen=True)
class Measure:
    """A distance or a score between all samples of two sets.

    Parameters
    ----------
    name : str
        Its usual name.
    function : callable
        ``function(X, Y, **params)`` gives the matrix of its values; Y may be None.
    size : callable
        ``size(X)`` gives the number that default widths grow with, such as that of the
        features; the forms of this measure take it.
    params : tuple of str
        Parameters of the measure; all other parameters of a kernel are its form's.
    is_squared : bool
        Whether the values are squares of a distance.
    metric : str, optional
        The name of the distance in `scipy.spatial.distance.pdist`.
    sums : {"absolute", "square", "product"}, optional
        Terms of a sum over the features: ``|x - z|``, ``(x - z)^2`` or ``x z``. Then
        measure and form are computed together, by compiled code, and so are products
        with a matrix that is not stored.
    stored_from : int
        Size from which on a form of stored values is faster than both together.
    kind : {"distance", "score"}
        Whether large values mean that samples are unlike, or alike.
    """

    name: str
    function: Function
    size: Callable[[SampleSet], int]
    params: tuple[str, ...] = ()
    is_squared: bool = False
    metric: str | None = None
    sums: str | None = None
    stored_from: int = 0
    kind: Literal["distance", "score"] = "distance"

    def median(self, X: SampleSet, **params: float) -> float:
        """Return the median distance between some of the samples.

        Parameters
        ----------
        X : sequence of samples
            Evenly spaced ones are used: 500, or 200 if distances are expensive.
        **params : dict
            Parameters of the measure.

        Returns
        -------
        float
            The median of the positive distances; 1 if there are none.
        """
        if self.metric is not None:
            rows = take_spaced(np.asarray(X, dtype=float), MEDIAN_ROW_SAMPLES)
            return _median_positive(pdist(rows, self.metric))
        some = take_spaced(np.asarray(X), MEDIAN_PAIR_SAMPLES)
        return self.median_of_values(self.function(some, None, **params))

    def median_of_values(self, D: Array) -> float:
        """Return the median distance, given the values (n, n) of the measure."""
        middle = median_distance(D, MEDIAN_PAIR_SAMPLES, skip_zeros=True)
        return math.sqrt(middle) if self.is_squared else middle


@dataclass(frozen=True)
class Grid:
    """The values of a parameter that a search tries.

    Parameters
    ----------
    parameter : str
        Its name.
    values : tuple of float
        The values, or multiples of the median distance.
    default : float, optional
        The value or multiple of a comparison, where kernels are not tuned; None means
        the default of the kernel.
    of_median : bool
        Whether they are multiples of the median distance.
    alternatives : tuple of str
        Other names of the same quantity: if one of them is given, nothing is tried.
    """

    parameter: str
    values: tuple[float, ...]
    default: float | None = None
    of_median: bool = True
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """A kernel: its function, and all that is known about it.

    ``kernel(X, Y=None, **params)`` calls the function. Only the name and the function
    are required; the rest serves searches, comparisons and blocked products.

    Parameters
    ----------
    name : str
        Its name in estimators and on the command line.
    function : callable
        ``function(X, Y=None, **params)`` gives a matrix with one row per sample of X
        and one column per sample of Y. Parameters are keyword-only.
    measure : Measure, optional
        The measure between two samples.
    form : callable, optional
        ``form(size, **params)`` checks all parameters that are not the measure's, for
        samples of that size, and gives the function of the measure's values. The
        first line of its docstring is its formula. With a measure only.
    grid : Grid, optional
        Values that a search tries; None means only the defaults.
    samples : {"rows", "matrices", "series", "sequences", "graphs", "sets"}
        Kind of a sample: one row of a table, a symmetric positive definite matrix, a
        time series, a sequence of letters, a graph, or a set of points or a histogram.
    is_definite : bool
        Whether it is positive definite for all parameters.
    check : callable, optional
        ``check(X)`` gives the samples as the function takes them, or raises; for
        samples that are not arrays.

    Examples
    --------
    >>> from kreinlearn.kernels import KERNELS
    >>> kernel = KERNELS["tl1"]
    >>> kernel.samples, kernel.measure.name, kernel.is_definite
    ('rows', 'L1 distance', False)
    >>> kernel([[0.0], [1.0]], tau=2)
    array([[2., 1.],
           [1., 2.]])
    """

    name: str
    function: Function
    measure: Measure | None = None
    form: Callable[..., Transform] | None = None
    grid: Grid | None = None
    samples: KernelSamples = "rows"
    is_definite: bool = False
    check: Callable[[SampleSet], SampleSet] | None = None

    def __call__(
        self, X: SampleSet, Y: SampleSet | None = None, **params: float
    ) -> Array:
        return self.function(X, Y, **params)

    @property
    def is_distance(self) -> bool:
        """Whether the function returns distances.

        Their transform is fitted to training samples: see `kernels.transforms`.
        """
        measure = self.measure
        return measure is not None and self.form is None and measure.kind == "distance"

    @property
    def parameters(self) -> dict[str, float | None]:
        """Parameters and their defaults."""
        signature = inspect.signature(self.function)
        return {
            name: parameter.default
            for name, parameter in signature.parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }

    @property
    def label(self) -> str:
        """The name, and the parameters in a comparison."""
        if self.grid is None or self.grid.default is None:
            return self.name
        if self.grid.of_median:
            return f"{self.name} (median width)"
        return f"{self.name} ({self.grid.parameter} {self.grid.default:g})"

    def default_params(self, X: SampleSet) -> dict[str, float]:
        """Return the parameters of a comparison, where kernels are not tuned.

        Parameters
        ----------
        X : sequence of samples
            Training samples, for the scale of their distances.

        Returns
        -------
        dict
            Empty if the defaults of the kernel are used.

        Examples
        --------
        >>> import numpy as np
        >>> from kreinlearn.kernels import KERNELS
        >>> [KERNELS[name].default_params(np.eye(3)) for name in ("tl1", "laplacian")]
        [{'ratio': 0.7}, {'sigma': 2.0}]
        """
        grid = self.grid
        if grid is None or grid.default is None:
            return {}
        scale = self.measure.median(X) if self.measure and grid.of_median else 1.0
        return {grid.parameter: grid.default * scale}

    def check_params(self, params: Params, known: Iterable[str] | None = None) -> None:
        """Raise unless all parameters are known.

        Parameters
        ----------
        params : mapping
            Parameters by name.
        known : iterable of str, optional
            Names of parameters; by default those of the function.
        """
        known = list(self.parameters if known is None else known)
        for given in params:
            if given not in known:
                listed = ", ".join(map(repr, known))
                raise TypeError(
                    f"Kernel {self.name!r} takes {listed or 'no parameters'}, got "
                    f"{given!r}."
                )

    def make_transform(self, X: SampleSet, params: Params) -> Transform:
        """Return the transform with its parameters set.

        Parameters
        ----------
        X : sequence of samples
            Samples, for their size.
        params : mapping
            Parameters of the kernel; defaults stand for those that are not given.

        Returns
        -------
        callable
            A function of the measure's values.
        """
        if self.measure is None or self.form is None:
            raise TypeError(f"Kernel {self.name!r} has no measure with a form.")
        set_ = {**self.parameters, **params}
        own = {name: set_[name] for name in set_ if name not in self.measure.params}
        return self.form(self.measure.size(X), **own)


def make_measure(
    name: str,
    function: Function,
    size: Callable[[SampleSet], int],
    kind: Literal["distance", "score"] = "distance",
) -> Measure:
    """Return a measure whose parameters are the keyword arguments of its function."""
    params = tuple(inspect.getfullargspec(function).kwonlyargs)
    return Measure(name, function, size, params, kind=kind)


def make_kernels(
    samples: KernelSamples, check: Function, measures: Sequence[Measure], **names: str
) -> tuple[Kernel, ...]:
    """Return the records of measures between samples that are not arrays.

    A kernel has the name of its function, unless ``names`` has another.
    """
    about: dict[str, Any] = {"samples": samples, "check": check}
    return tuple(
        Kernel(names.get(name, name), measure.function, measure, **about)
        for measure in measures
        for name in [measure.function.__name__]
    )


def take_spaced(X: Array, max_samples: int) -> Array:
    """Return X, or evenly spaced samples of it if there are more than that.

    Parameters
    ----------
    X : ndarray
        One sample per row.
    max_samples : int
        Largest number of samples.

    Returns
    -------
    ndarray
        Rows of X.
    """
    if len(X) <= max_samples:
        return X
    return X[np.linspace(0, len(X) - 1, max_samples).astype(int)]


def median_distance(
    D: Array, max_samples: int = MEDIAN_SAMPLES, *, skip_zeros: bool = False
) -> float:
    """Return the median distance between different samples.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Distances, symmetric.
    max_samples : int
        Of more samples as many are used, evenly spaced.
    skip_zeros : bool
        Whether to take the median of the positive distances only.

    Returns
    -------
    float
        The median; if it is 0, that of the positive distances, or 1 if there are none.
    """
    D = take_spaced(take_spaced(D, max_samples).T, max_samples)
    pairs = np.concatenate([row[i + 1 :] for i, row in enumerate(D)])
    middle = 0.0 if skip_zeros or not pairs.size else float(np.median(pairs))
    return middle if middle > 0 else _median_positive(pairs)


def _median_positive(distances: Array) -> float:
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0
