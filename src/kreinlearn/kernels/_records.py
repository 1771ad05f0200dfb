"""One record per kernel: a measure between samples, and a form of it.

A measure is a distance or a score of two samples; it may be expensive. A form is a
cheap function of its values, such as a Gaussian or a truncation. `tl1` and `laplacian`
are two forms of the same measure, and so are all widths of one kernel.

Letters: X (n samples) and Y (k samples), D (n, k) the values of a measure.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from scipy.spatial.distance import pdist

from kreinlearn._typing import Array

SampleSet = Any
"""Rows of a table, a stack of matrices, a list of anything that kernels take."""
Params = Mapping[str, Any]
"""Parameters of a kernel by name."""
Function = Callable[..., Any]
"""A kernel or a measure, ``f(X, Y=None, **params)``, which gives a matrix."""

SAMPLED = 500
"""Samples that a median distance between rows is taken over."""
SAMPLED_PAIRS = 200
"""The same where a distance is expensive."""


class Finish(Protocol):
    """A form whose parameters are set."""

    def __call__(
        self, D: Array, is_symmetric: bool = False, out: Array | None = None
    ) -> Array:
        """Return the form of each value of a measure, in ``out`` if given."""


@dataclass(frozen=True)
class Measure:
    """A distance or a score between all samples of two sets.

    Parameters
    ----------
    name : str
        What people call it.
    function : callable
        ``function(X, Y, **params)`` gives the matrix of its values; Y may be None.
    size : callable
        ``size(X)`` gives the number that default widths grow with: how many numbers a
        sample has, or whatever the forms of this measure take.
    params : tuple of str
        Parameters of the measure; all other parameters of a kernel are its form's.
    is_squared : bool
        Whether the values are squares of a distance.
    metric : str, optional
        The name of the distance in `scipy.spatial.distance.pdist`.
    sums : {"absolute", "square", "product"}, optional
        What is summed over the features: ``|x - z|``, ``(x - z)^2`` or ``x z``. Then
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
            The median of what is above 0; 1 if nothing is.
        """
        if self.metric is not None:
            rows = spaced(np.asarray(X, dtype=float), SAMPLED)
            return _median(pdist(rows, self.metric))
        D = self.function(spaced(np.asarray(X), SAMPLED_PAIRS), None, **params)
        return median_of(D, self.is_squared)


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
    rivals : tuple of str
        Parameters that say the same in another way: with one of them, nothing is tried.
    """

    parameter: str
    values: tuple[float, ...]
    default: float | None = None
    of_median: bool = True
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """A kernel: its function, and all that is known about it.

    ``kernel(X, Y=None, **params)`` calls the function. Only the name and the function
    are needed; whatever else is told serves searches, comparisons and blocked products.

    Parameters
    ----------
    name : str
        What estimators and the command line call it.
    function : callable
        ``function(X, Y=None, **params)`` gives a matrix with one row per sample of X
        and one column per sample of Y. Parameters are keyword-only.
    measure : Measure, optional
        What is measured between two samples.
    form : callable, optional
        ``form(size, **params)`` checks all parameters that are not the measure's, for
        samples of that size, and gives the function of the measure's values. The
        first line of its docstring is its formula. With a measure only.
    grid : Grid, optional
        What a search tries; None means nothing but the defaults.
    samples : {"rows", "matrices", "series", "sequences", "graphs", "sets"}
        What a sample is: one row of a table, a symmetric positive definite matrix, a
        time series, a sequence of letters, a graph, or a set of points or a histogram.
    is_definite : bool
        Whether it is positive definite for all parameters.
    check : callable, optional
        ``check(X)`` gives the samples as the function takes them, or raises; for
        samples that are no arrays.

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
    form: Callable[..., Finish] | None = None
    grid: Grid | None = None
    samples: Literal["rows", "matrices", "series", "sequences", "graphs", "sets"] = (
        "rows"
    )
    is_definite: bool = False
    check: Callable[[SampleSet], SampleSet] | None = None

    def __call__(
        self, X: SampleSet, Y: SampleSet | None = None, **params: float
    ) -> Array:
        return self.function(X, Y, **params)

    @property
    def learns_form(self) -> bool:
        """Whether it is a distance, and its form is learned from training samples.

        The function gives distances then; see `kreinlearn.kernels.distances`.
        """
        measure = self.measure
        is_bare = measure is not None and self.form is None
        return is_bare and measure is not None and measure.kind == "distance"

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
        """The name, with how a comparison sets the parameters."""
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

    def check_params(self, params: Params) -> None:
        """Raise unless all parameters are known.

        Parameters
        ----------
        params : mapping
            Parameters by name.
        """
        known = self.parameters
        for given in params:
            if given not in known:
                listed = ", ".join(map(repr, known))
                raise TypeError(
                    f"Kernel {self.name!r} takes {listed or 'no parameters'}, got "
                    f"{given!r}."
                )

    def finish(self, X: SampleSet, params: Params) -> Finish:
        """Return the form with its parameters set.

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


def median_of(D: Array, is_squared: bool) -> float:
    """Return the median distance, given the values of a measure.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Values, symmetric; at most 200 evenly spaced samples are used.
    is_squared : bool
        Whether they are squares of distances.

    Returns
    -------
    float
        The median of what is above 0; 1 if nothing is.
    """
    D = spaced(spaced(D, SAMPLED_PAIRS).T, SAMPLED_PAIRS)
    middle = _median(D[np.triu_indices(len(D), 1)])
    return math.sqrt(middle) if is_squared else middle


def spaced(X: Array, most: int) -> Array:
    """Return X, or evenly spaced samples of it if there are more than that.

    Parameters
    ----------
    X : ndarray
        One sample per row.
    most : int
        How many are wanted at most.

    Returns
    -------
    ndarray
        Rows of X.
    """
    if len(X) <= most:
        return X
    return X[np.linspace(0, len(X) - 1, most).astype(int)]


def _median(distances: Array) -> float:
    """Return the median of what is above 0, or 1 if nothing is."""
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0
