"""Kernels and parameters that a search tries."""

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.model_selection import ParameterGrid

from kreinlearn.estimators._inputs import (
    AnyKernel,
    Keywords,
    is_distance,
    is_pairwise,
    kernels_of,
    learns_form,
)
from kreinlearn.kernels import KERNELS, Similarities
from kreinlearn.kernels.distances import form_settings
from kreinlearn.search import Setting


def kernel_settings(
    kernel: AnyKernel | Sequence[AnyKernel],
    similarities: Similarities | None,
    fixed: Keywords | None = None,
    grid: Mapping[Any, Any] | None = None,
) -> list[Setting]:
    """Return every kernel with every combination of its parameters.

    Parameters
    ----------
    kernel : str, callable or sequence of these
        What to try.
    similarities : Similarities
        Those of the training samples, for the scale of their distances.
    fixed : mapping, optional
        Parameters that are not tried.
    grid : mapping, optional
        Values by parameter; for several kernels such mappings by kernel. By default,
        and for kernels left out, `kreinlearn.kernels.Similarities.grid`; for
        distances `kreinlearn.kernels.distances.form_settings`.

    Returns
    -------
    list of (kernel, dict)
        In the order of the kernels.

    Examples
    --------
    >>> from kreinlearn.kernels import Similarities
    >>> rows = Similarities([[0.0], [1.0]])
    >>> kernel_settings("tl1", rows, grid={"ratio": [0.3, 0.7]})
    [('tl1', {'ratio': 0.3}), ('tl1', {'ratio': 0.7})]
    >>> kernel_settings(("precomputed",), None)
    [('precomputed', {})]
    """
    kernels, fixed = kernels_of(kernel), dict(fixed or {})
    settings: list[Setting] = []
    for each in kernels:
        tried = grid
        if grid is not None and len(kernels) > 1:
            tried = grid.get(each)
        if learns_form(each):
            settings += _learned_settings(each, fixed, tried)
            continue
        if is_pairwise(each):
            settings += _pairwise_settings(each, fixed, tried)
            continue
        if tried is None:
            own = {} if similarities is None else similarities.grid(each, fixed)
            tried = {name: own[name] for name in own if name not in fixed}
        settings += [(each, {**fixed, **one}) for one in ParameterGrid(tried)]
    return settings


def _learned_settings(
    kernel: AnyKernel, fixed: Keywords, grid: Mapping[Any, Any] | None
) -> list[Setting]:
    """Return what is tried with a distance: forms, for each setting of the measure."""
    measure = KERNELS[str(kernel)].measure
    assert measure is not None
    own = {k: v for k, v in fixed.items() if k in measure.params}
    form = {k: v for k, v in fixed.items() if k not in measure.params}
    grid = dict(grid or {})
    of_measure = {k: grid.pop(k) for k in list(grid) if k in measure.params}
    forms = form_settings(form, list(ParameterGrid(grid)) if grid else None)
    return [
        (kernel, {**own, **one, **each})
        for one in ParameterGrid(of_measure)
        for each in forms
    ]


def _pairwise_settings(
    kernel: AnyKernel, fixed: Keywords, grid: Mapping[Any, Any] | None
) -> list[Setting]:
    """Return what is tried with a given matrix: forms of distances, or nothing."""
    tried = None if grid is None else list(ParameterGrid(grid))
    if is_distance(kernel):
        return [(kernel, one) for one in form_settings(fixed, tried)]
    if grid:
        raise ValueError(
            "'kernel_grid' must be empty with kernel='precomputed', which has nothing "
            f"to try, got {grid!r}."
        )
    return [(kernel, {})]  # "check" is no setting: the matrix has been checked
