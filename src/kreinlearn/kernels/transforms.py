"""Transforms: functions from the values of a measure to similarities.

Two families. Kernels between rows and between covariance matrices have a transform with
parameters of its own (`gaussian`, `hinge`, ...), whose defaults grow with the size of a
sample. All other distances, computed or given, have a `DistanceTransform`: its width is
a multiple of the median distance between training samples, so that the unit of the
distances does not matter.

Each function of the first family takes the size of the samples and parameters of a
kernel; the first line of its docstring has the formula, with s for a value of the
measure. Letters: D (k, n) distances between k samples and n training samples, m their
median.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn._validation import STRIP_ROWS, check_choice, check_count, check_positive
from kreinlearn.kernels._pairwise import Compiled
from kreinlearn.kernels._records import Params, Transform, median_distance
from kreinlearn.operators import split_rows

TRUNCATION_RATIO = 0.7
"""Where truncated kernels end, as a fraction of the largest distance in [0, 1]^m."""
FORMS = ("exponential", "gaussian", "negative", "centered", "truncated")
"""exp(-d / (w m)), exp(-(d / (w m))^2), -d, -J D^2 J / 2, max(w m - d, 0)."""
FORMS_WITHOUT_WIDTH = ("negative", "centered")
"""Forms that have no width."""
DEFAULT_PARAMS = {"form": "exponential", "width": 1.0}
DEFAULT_CANDIDATES: tuple[dict[str, Any], ...] = (
    *({"form": "exponential", "width": width} for width in (0.5, 1.0, 2.0)),
    *({"form": "gaussian", "width": width} for width in (0.5, 1.0)),
    {"form": "negative"},
    *({"form": "truncated", "width": width} for width in (1.0, 2.0)),
)
"""Settings of a default search. Nested cross-validation on four matrices of distances
(cat-cortex, protein twice, chickenpieces) had a mean log-loss of 0.108 with the average
of these, 0.127 with the three exponentials, and 0.124 with the best single setting
(truncated, width 2; of thirteen). These were the lowest of 17 sets that were compared
on the same folds; ten other sets of six settings or more that went without "centered"
had 0.110 to 0.116, and those with "centered" 0.114 to 0.117."""


def identity(m: int) -> Compiled:
    """Take s to s."""
    return Compiled("identity")


def polynomial(m: int, degree: int, gamma: float | None, coef0: float) -> Compiled:
    """Take s to (gamma s + coef0)^degree."""
    degree = check_count("degree", degree)
    gamma = _check_positive_or("gamma", gamma, 1.0 / m)
    return Compiled("polynomial", gamma, check_number("coef0", coef0), degree)


def tanh(m: int, gamma: float | None, coef0: float) -> Compiled:
    """Take s to tanh(gamma s + coef0)."""
    gamma = _check_positive_or("gamma", gamma, 1.0 / m)
    return Compiled("tanh", gamma, check_number("coef0", coef0))


def gaussian(m: int, sigma: float | None) -> Compiled:
    """Take s to exp(-s / sigma^2)."""
    sigma = _check_positive_or("sigma", sigma, math.sqrt(m))
    return Compiled("exponential", sigma**-2)


def exponential(m: int, sigma: float | None) -> Compiled:
    """Take s to exp(-s / sigma)."""
    return Compiled("exponential", 1.0 / _check_positive_or("sigma", sigma, m))


def hinge(m: int, tau: float | None, ratio: float | None) -> Compiled:
    """Take s to max(tau - s, 0)."""
    if tau is not None and ratio is not None:
        raise ValueError(
            f"Give 'tau' or 'ratio', not both, got tau={tau!r} and ratio={ratio!r}."
        )
    if tau is None:
        tau = _check_positive_or("ratio", ratio, TRUNCATION_RATIO) * m
    return Compiled("hinge", check_positive("tau", tau), 1.0)


def difference(
    m: int, sigma_narrow: float | None, sigma_wide: float | None, weight: float
) -> Compiled:
    """Take s to exp(-s / sigma_narrow^2) - weight exp(-s / sigma_wide^2)."""
    wide = _check_positive_or("sigma_wide", sigma_wide, math.sqrt(m))
    narrow = _check_positive_or("sigma_narrow", sigma_narrow, wide / 2)
    if narrow >= wide:
        raise ValueError(
            "'sigma_narrow' must be smaller than 'sigma_wide', got "
            f"{narrow:g} and {wide:g}."
        )
    weight = check_positive("weight", weight)
    return Compiled("difference", narrow**-2, wide**-2, weight)


def parabola(m: int, sigma: float | None) -> Compiled:
    """Take s to max(1 - s / sigma^2, 0)."""
    sigma = _check_positive_or("sigma", sigma, TRUNCATION_RATIO * math.sqrt(m))
    return Compiled("hinge", 1.0, sigma**-2)


def negative_log(m: int, degree: float) -> Compiled:
    """Take s to -log(1 + s^(degree / 2))."""
    return Compiled("log", check_positive("degree", degree) / 2)


def negative_power(m: int, degree: float) -> Compiled:
    """Take s to -s^(degree / 2)."""
    return Compiled("power", check_positive("degree", degree) / 2)


def wide_gaussian(size: int, sigma: float | None) -> Transform:
    """Take s to exp(-s / sigma^2)."""
    # Not `gaussian`: widths of any size are allowed, and NumPy's exponential has
    # always been taken here, so that numbers stay the same to the last bit.
    width = _check_positive_or("sigma", sigma, math.sqrt(size))

    def finish(D: Array, is_symmetric: bool = False, out: Array | None = None) -> Array:
        with np.errstate(over="ignore"):  # exp(-inf) is 0, which is meant
            K: Array = np.divide(D, width, out=out)
            K /= -width
            return np.exp(K, out=K)

    return finish


@dataclass(frozen=True)
class DistanceTransform:
    """A form of distances, fitted to those among training samples.

    Parameters
    ----------
    form : str
        One of `FORMS`.
    width : float
        In medians; without meaning for "negative" and "centered".
    median : float
        Median distance m between training samples.
    means : ndarray of shape (n,), optional
        Mean squared distance of each training sample to all of them, for "centered".
    """

    form: str
    width: float
    median: float
    means: Array | None = None

    def __call__(self, D: Array) -> Array:
        """Return the similarities, of the precision of D.

        Parameters
        ----------
        D : ndarray of shape (k, n)
            Distances to the training samples; all of them for "centered", any of them
            for all other forms.

        Returns
        -------
        ndarray of shape (k, n)
            Exactly symmetric if D is.
        """
        if self.form == "negative":
            return -D
        if self.form == "centered":
            assert self.means is not None  # learned with this form
            return _center(D, self.means)
        scale = D.dtype.type(self.width * self.median)
        if self.form == "truncated":
            K = scale - D
            return np.maximum(K, 0, out=K)
        K = D / scale
        if self.form == "gaussian":
            with np.errstate(over="ignore"):  # exp(-inf) is 0, which is meant
                K *= K
        np.negative(K, out=K)
        return np.exp(K, out=K)


def fit_transform(
    D: Array, form: str = "exponential", width: float = 1.0
) -> DistanceTransform:
    """Return a form with its scale, learned from distances among training samples.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Distances, symmetric.
    form : str
        One of `FORMS`.
    width : float
        In medians.

    Returns
    -------
    DistanceTransform
        A function of distances to these samples.

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn.kernels.transforms import fit_transform
    >>> D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    >>> fit_transform(D, "truncated")(D)
    array([[2., 1., 0.],
           [1., 2., 0.],
           [0., 0., 2.]])
    """
    check_choice("form", form, FORMS)
    width = check_positive("width", width)
    means = _compute_mean_squares(D) if form == "centered" else None
    return DistanceTransform(form, width, median_distance(D), means)


def check_transform_params(params: Params) -> None:
    """Raise unless parameters are those of a form: "form" and "width".

    Parameters
    ----------
    params : mapping
        Parameters by name.
    """
    for name in params:
        if name not in DEFAULT_PARAMS:
            raise TypeError(
                f"Kernel 'distance' takes 'form', 'width', 'missing', got {name!r}."
            )
    check_choice("form", params.get("form", DEFAULT_PARAMS["form"]), FORMS)
    check_positive("width", params.get("width", DEFAULT_PARAMS["width"]))


def list_candidates(
    fixed: Params, tried: Iterable[Params] | None = None
) -> list[dict[str, Any]]:
    """Return the forms and widths that a search tries, each once.

    Parameters
    ----------
    fixed : mapping
        Parameters that are not tried.
    tried : iterable of mappings, optional
        Settings to try; by default those of `DEFAULT_CANDIDATES` with the fixed form.

    Returns
    -------
    list of dict
        Without a width for forms that have none.

    Examples
    --------
    >>> from kreinlearn.kernels.transforms import list_candidates
    >>> tried = [{"form": "negative", "width": width} for width in (1.0, 2.0)]
    >>> list_candidates({}, tried)
    [{'form': 'negative'}]
    """
    if tried is None:
        form = fixed.get("form")
        # Nothing but its own defaults for a form that is not tried otherwise.
        known = [one for one in DEFAULT_CANDIDATES if form in (None, one["form"])]
        tried = known or [{}]
    settings: list[dict[str, Any]] = []
    for one in tried:
        each = {**DEFAULT_PARAMS, **one, **fixed}
        check_transform_params(each)
        if each["form"] in FORMS_WITHOUT_WIDTH:
            del each["width"]
        if each not in settings:
            settings.append(each)
    return settings


def _compute_mean_squares(D: Array) -> Array:
    """Return the mean squared distance of each row, row by row the same numbers."""
    strips = split_rows(len(D), STRIP_ROWS)
    squares = (np.square(D[strip], dtype=float, order="C") for strip in strips)
    return np.concatenate([each.mean(axis=1) for each in squares])


def _center(D: Array, means: Array) -> Array:
    """Return -J D^2 J / 2, where J subtracts the mean over the training samples."""
    rows, middle = _compute_mean_squares(D), float(means.mean())
    K = np.empty_like(D)
    for strip in split_rows(len(D), STRIP_ROWS):
        # One sum of both means, so that the result is symmetric to the last bit.
        sums = np.add.outer(rows[strip], means)
        sums -= np.square(D[strip], dtype=float)
        K[strip] = (sums - middle) / 2
    return K


def _check_positive_or(name: str, value: float | None, default: float) -> float:
    """Return a finite number above zero, the default in place of None, or raise."""
    return float(default) if value is None else check_positive(name, value)


def check_number(name: str, value: float) -> float:
    """Return a finite number, or raise."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name!r} must be a finite number, got {value!r}.")
    if not math.isfinite(value):
        raise ValueError(f"{name!r} must be a finite number, got {value!r}.")
    return float(value)
