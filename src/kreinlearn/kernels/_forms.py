"""What each kernel between rows computes: a sum over features, and a function of it.

The one place where the parameters of a kernel are checked and become numbers. The
kernels themselves and products with their matrices both start from here.
"""

import math
from collections.abc import Callable
from numbers import Real
from typing import NamedTuple

from kreinlearn._validation import check_count, check_positive
from kreinlearn.kernels._pairs import positive_or

TRUNCATION = 0.7
"""Where truncated kernels end, as a share of the largest distance in [0, 1]^m."""


class Form(NamedTuple):
    """A kernel as `_pairs.compare` takes it.

    Parameters
    ----------
    sums : {"absolute", "square", "product"}
        What is summed over the features: |x - z|, (x - z)^2 or x z.
    finish : str
        The function of the sum, one of the names in ``_tiles.FINISHES``.
    a, b, c : float
        Its parameters.
    """

    sums: str
    finish: str
    a: float = 0.0
    b: float = 0.0
    c: float = 0.0


def linear(m: int) -> Form:
    """Return the form of `linear` for m features."""
    return Form("product", "identity")


def polynomial(m: int, degree: int, gamma: float | None, coef0: float) -> Form:
    """Return the form of `polynomial` for m features."""
    degree = check_count("degree", degree)
    gamma = positive_or("gamma", gamma, 1.0 / m)
    return Form("product", "polynomial", gamma, _number("coef0", coef0), degree)


def tanh(m: int, gamma: float | None, coef0: float) -> Form:
    """Return the form of `tanh` for m features."""
    gamma = positive_or("gamma", gamma, 1.0 / m)
    return Form("product", "tanh", gamma, _number("coef0", coef0))


def rbf(m: int, sigma: float | None) -> Form:
    """Return the form of `rbf` for m features."""
    sigma = positive_or("sigma", sigma, math.sqrt(m))
    return Form("square", "exponential", sigma**-2)


def laplacian(m: int, sigma: float | None) -> Form:
    """Return the form of `laplacian` for m features."""
    return Form("absolute", "exponential", 1.0 / positive_or("sigma", sigma, m))


def tl1(m: int, tau: float | None, ratio: float | None) -> Form:
    """Return the form of `tl1` for m features."""
    if tau is not None and ratio is not None:
        raise ValueError(
            f"Give 'tau' or 'ratio', not both, got tau={tau!r} and ratio={ratio!r}."
        )
    if tau is None:
        tau = positive_or("ratio", ratio, TRUNCATION) * m
    return Form("absolute", "hinge", check_positive("tau", tau), 1.0)


def gaussian_difference(
    m: int, sigma_narrow: float | None, sigma_wide: float | None, weight: float
) -> Form:
    """Return the form of `gaussian_difference` for m features."""
    wide = positive_or("sigma_wide", sigma_wide, math.sqrt(m))
    narrow = positive_or("sigma_narrow", sigma_narrow, wide / 2)
    if narrow >= wide:
        raise ValueError(
            "'sigma_narrow' must be smaller than 'sigma_wide', got "
            f"{narrow:g} and {wide:g}."
        )
    weight = check_positive("weight", weight)
    return Form("square", "difference", narrow**-2, wide**-2, weight)


def epanechnikov(m: int, sigma: float | None) -> Form:
    """Return the form of `epanechnikov` for m features."""
    sigma = positive_or("sigma", sigma, TRUNCATION * math.sqrt(m))
    return Form("square", "hinge", 1.0, sigma**-2)


def log(m: int, degree: float) -> Form:
    """Return the form of `log` for m features."""
    return Form("square", "log", check_positive("degree", degree) / 2)


def power(m: int, degree: float) -> Form:
    """Return the form of `power` for m features."""
    return Form("square", "power", check_positive("degree", degree) / 2)


FORMS: dict[str, Callable[..., Form]] = {
    function.__name__: function
    for function in (
        epanechnikov,
        gaussian_difference,
        laplacian,
        linear,
        log,
        polynomial,
        power,
        rbf,
        tanh,
        tl1,
    )
}
"""Forms by the name of the kernel; each takes m and all parameters of the kernel."""


def _number(name: str, value: float) -> float:
    """Return a finite number, or raise."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name!r} must be a finite number, got {value!r}.")
    if not math.isfinite(value):
        raise ValueError(f"{name!r} must be a finite number, got {value!r}.")
    return float(value)
