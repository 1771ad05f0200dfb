"""Whether parts of fitted estimators belong together, for those read from files."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import numpy as np
from sklearn.base import BaseEstimator

from kreinlearn._typing import Array
from kreinlearn.estimators._inputs import is_pairwise
from kreinlearn.losses import Link
from kreinlearn.solvers.base import Status

SHAPES = {
    "dual_coef_": ("column", "sample"),
    "coef_": ("column", "landmark"),
    "intercept_": ("column",),
    "support_": ("kept",),
    "X_fit_": ("kept", ...),
    "distance_means_": ("sample",),
    "landmarks_": ("landmark", ...),
    "landmark_indices_": ("landmark",),
    "signs_": ("part",),
    "components_": ("landmark", "part"),
    "extension_": ("sample", "sample"),
    "eigenvalues_": ("value",),
    "repaired_eigenvalues_": ("value",),
    "weights_": ("model",),
    "estimators_": ("model",),
}
"""What the axes of fitted attributes count: axes of one name have one length."""
SAMPLES = ("X_fit_", "landmarks_")
"""Samples, whose NaN may stand for the end of a series."""
POSITIVE = ("distance_median_", "median_", "lam_", "n_features_in_")
"""Numbers above zero."""
NOT_NEGATIVE = ("residual_", "gap_", "n_iter_", "n_passes_", "weights_")
"""Numbers, or arrays of them, that are never below zero."""
POSITIONS = ("support_", "landmark_indices_")
"""Arrays of positions of samples, increasing if they are a support."""
WORDS = {"status_": tuple(map(str, Status)), "_link": get_args(Link)}
"""Attributes with few values."""


def check_loaded(model: object) -> None:
    """Raise unless the fitted attributes of our estimators belong together.

    Parameters
    ----------
    model : estimator
        Fitted; one of kreinlearn, or anything that holds some.

    Raises
    ------
    ValueError
        If an array has a shape, or an attribute a value, that no fit leaves behind; the
        message is no sentence, but what to put into one.
    """
    for estimator in _ours(model, set()):
        name = type(estimator).__name__
        try:
            _check_shapes(vars(estimator))
            _check_values(vars(estimator))
        except ValueError as error:
            raise ValueError(f"{error}, in its {name}") from None


def _ours(value: object, seen: set[int]) -> Iterator[BaseEstimator]:
    """Yield every estimator of this package that an object holds."""
    if id(value) in seen:
        return
    inside: list[object] = []
    if isinstance(value, BaseEstimator):
        seen.add(id(value))
        inside = list(vars(value).values())
        if type(value).__module__.startswith("kreinlearn.estimators."):
            yield value
    elif isinstance(value, Mapping):
        inside = list(value.values())
    elif isinstance(value, list | tuple):
        inside = list(value)
    for each in inside:
        if isinstance(each, BaseEstimator | Mapping | list | tuple):
            yield from _ours(each, seen)


def _check_shapes(fitted: Mapping[str, Any]) -> None:
    """Raise unless axes that count the same have the same length."""
    lengths: dict[str, tuple[int, str]] = {}
    if "classes_" in fitted:
        classes = np.asarray(fitted["classes_"])
        if classes.ndim != 1 or len(classes) < 2 or len(set(classes.tolist())) < 2:
            raise ValueError(f"there are no two classes in 'classes_' {classes!r:.60}")
        n_columns = 1 if len(classes) == 2 else len(classes)
        lengths["column"] = n_columns, "classes_"
    for name, axes in SHAPES.items():
        value = fitted.get(name)
        if value is None:
            continue
        shape = np.shape(value) if isinstance(value, np.ndarray) else (len(value),)
        is_open = axes[-1] is ...
        expected = len(axes) - 1 if is_open else len(axes)
        if len(shape) < expected or (not is_open and len(shape) > expected):
            raise ValueError(f"{name!r} has the impossible shape {shape}")
        for axis, length in zip(map(str, axes[:expected]), shape, strict=False):
            known, by = lengths.setdefault(axis, (length, name))
            if known != length:
                raise ValueError(
                    f"{name!r} has shape {shape}, but {by!r} tells of {known}"
                )
    _check_width(fitted)


def _check_width(fitted: Mapping[str, Any]) -> None:
    """Raise unless rows of samples have as many features as there were."""
    count = fitted.get("n_features_in_")
    if "kernel" in fitted and is_pairwise(fitted["kernel"]):
        return  # landmarks are rows of similarities with each other
    for name in SAMPLES:
        rows = fitted.get(name)
        if count is None or not isinstance(rows, np.ndarray) or rows.ndim != 2:
            continue
        if rows.shape[1] != count:
            raise ValueError(
                f"{name!r} has shape {rows.shape}, but 'n_features_in_' is {count}"
            )


def _check_values(fitted: Mapping[str, Any]) -> None:
    """Raise unless numbers are finite, and in the range of what they mean."""
    for name, value in fitted.items():
        if name in SHAPES and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            is_bad = np.isinf if name in SAMPLES else lambda each: ~np.isfinite(each)
            if is_bad(value).any():
                raise ValueError(f"{name!r} holds what is not a finite number")
        if name in POSITIONS and value is not None:
            _check_positions(name, value, fitted)
        if name in WORDS and value not in WORDS[name]:
            raise ValueError(f"{name!r} is {value!r}, not one of {WORDS[name]}")
    for name in POSITIVE + NOT_NEGATIVE:
        value = fitted.get(name)
        if value is None:
            continue
        numbers = np.asarray(value)
        if numbers.dtype.kind not in "fiu":
            raise ValueError(f"{name!r} is {value!r:.60}, not a number")
        # A fit that failed may say that it does not know its residual.
        low = numbers <= 0 if name in POSITIVE else numbers < 0
        if low.any() or (name in POSITIVE and not np.isfinite(numbers).all()):
            raise ValueError(f"{name!r} is {value!r:.60}, out of its range")


def _check_positions(name: str, value: Array, fitted: Mapping[str, Any]) -> None:
    """Raise unless these are positions of training samples."""
    places = np.asarray(value)
    if places.dtype.kind not in "iu" or (places.size and places.min() < 0):
        raise ValueError(f"{name!r} holds what is not a position")
    coefficients = fitted.get("dual_coef_")
    if name != "support_" or coefficients is None:
        return
    is_sorted = bool((np.diff(places) > 0).all())
    if not is_sorted or (places.size and places[-1] >= coefficients.shape[1]):
        raise ValueError(
            f"{name!r} does not name some of {coefficients.shape[1]} samples in order"
        )
