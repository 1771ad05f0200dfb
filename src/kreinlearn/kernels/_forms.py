"""Forms: functions of the values of a measure, and the checks of their parameters.

The one place where parameters of forms are checked and become numbers. Each function
takes the size of the samples, which defaults grow with, and parameters of a kernel; the
first line of its docstring has the formula, with s for a value of the measure.
"""

import math
from numbers import Real

import numpy as np

from kreinlearn._typing import Array
from kreinlearn._validation import check_count, check_positive
from kreinlearn.kernels._pairwise import Compiled
from kreinlearn.kernels._records import Finish

TRUNCATION = 0.7
"""Where truncated kernels end, as a share of the largest distance in [0, 1]^m."""


def identity(m: int) -> Compiled:
    """Take s to s."""
    return Compiled("identity")


def raised(m: int, degree: int, gamma: float | None, coef0: float) -> Compiled:
    """Take s to (gamma s + coef0)^degree."""
    degree = check_count("degree", degree)
    gamma = _positive_or("gamma", gamma, 1.0 / m)
    return Compiled("polynomial", gamma, _finite("coef0", coef0), degree)


def squashed(m: int, gamma: float | None, coef0: float) -> Compiled:
    """Take s to tanh(gamma s + coef0)."""
    gamma = _positive_or("gamma", gamma, 1.0 / m)
    return Compiled("tanh", gamma, _finite("coef0", coef0))


def gaussian(m: int, sigma: float | None) -> Compiled:
    """Take s to exp(-s / sigma^2)."""
    return Compiled("exponential", _positive_or("sigma", sigma, math.sqrt(m)) ** -2)


def exponential(m: int, sigma: float | None) -> Compiled:
    """Take s to exp(-s / sigma)."""
    return Compiled("exponential", 1.0 / _positive_or("sigma", sigma, m))


def truncated(m: int, tau: float | None, ratio: float | None) -> Compiled:
    """Take s to max(tau - s, 0)."""
    if tau is not None and ratio is not None:
        raise ValueError(
            f"Give 'tau' or 'ratio', not both, got tau={tau!r} and ratio={ratio!r}."
        )
    if tau is None:
        tau = _positive_or("ratio", ratio, TRUNCATION) * m
    return Compiled("hinge", check_positive("tau", tau), 1.0)


def difference(
    m: int, sigma_narrow: float | None, sigma_wide: float | None, weight: float
) -> Compiled:
    """Take s to exp(-s / sigma_narrow^2) - weight exp(-s / sigma_wide^2)."""
    wide = _positive_or("sigma_wide", sigma_wide, math.sqrt(m))
    narrow = _positive_or("sigma_narrow", sigma_narrow, wide / 2)
    if narrow >= wide:
        raise ValueError(
            "'sigma_narrow' must be smaller than 'sigma_wide', got "
            f"{narrow:g} and {wide:g}."
        )
    weight = check_positive("weight", weight)
    return Compiled("difference", narrow**-2, wide**-2, weight)


def parabola(m: int, sigma: float | None) -> Compiled:
    """Take s to max(1 - s / sigma^2, 0)."""
    sigma = _positive_or("sigma", sigma, TRUNCATION * math.sqrt(m))
    return Compiled("hinge", 1.0, sigma**-2)


def negative_log(m: int, degree: float) -> Compiled:
    """Take s to -log(1 + s^(degree / 2))."""
    return Compiled("log", check_positive("degree", degree) / 2)


def negative_power(m: int, degree: float) -> Compiled:
    """Take s to -s^(degree / 2)."""
    return Compiled("power", check_positive("degree", degree) / 2)


def wide_gaussian(size: int, sigma: float | None) -> Finish:
    """Take s to exp(-s / sigma^2)."""
    # Not `gaussian`: widths of any size are allowed, and NumPy's exponential has
    # always been taken here, so that numbers stay the same to the last bit.
    width = _positive_or("sigma", sigma, math.sqrt(size))

    def finish(D: Array, is_symmetric: bool = False, out: Array | None = None) -> Array:
        with np.errstate(over="ignore"):  # exp(-inf) is 0, which is meant
            K: Array = np.divide(D, width, out=out)
            K /= -width
            return np.exp(K, out=K)

    return finish


def _positive_or(name: str, value: float | None, default: float) -> float:
    """Return a finite number above zero, the default in place of None, or raise."""
    return float(default) if value is None else check_positive(name, value)


def _finite(name: str, value: float) -> float:
    """Return a finite number, or raise."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name!r} must be a finite number, got {value!r}.")
    if not math.isfinite(value):
        raise ValueError(f"{name!r} must be a finite number, got {value!r}.")
    return float(value)
