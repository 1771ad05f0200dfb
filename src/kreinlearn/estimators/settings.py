"""Settings of the kernels that a cross-validation tries."""

from collections.abc import Mapping
from typing import Any

from sklearn.model_selection import ParameterGrid

from kreinlearn.estimators.support import is_precomputed
from kreinlearn.kernels import Similarities

Setting = tuple[Any, dict[str, Any]]
"""A kernel and its parameters."""


def kernels_of(kernel: Any) -> list[Any]:
    """Return the kernels that an estimator is to try.

    Parameters
    ----------
    kernel : str, callable or sequence of these
        The estimator's parameter.

    Returns
    -------
    list of str or callable
        One or more.
    """
    single = isinstance(kernel, str) or callable(kernel)
    return [kernel] if single else list(kernel)


def kernel_settings(
    kernel: Any,
    X: Any,
    fixed: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
) -> list[Setting]:
    """Return every kernel with every combination of its parameters.

    Parameters
    ----------
    kernel : str, callable or sequence of these
        What to try.
    X : array-like or sequence
        Training samples, for the scale of their distances.
    fixed : mapping, optional
        Parameters that are not tried.
    grid : mapping, optional
        Values by parameter; for several kernels such mappings by kernel. By default,
        and for kernels left out, `kreinlearn.kernels.Similarities.grid`.

    Returns
    -------
    list of (kernel, dict)
        In the order of the kernels.

    Examples
    --------
    >>> from kreinlearn.estimators.settings import kernel_settings
    >>> kernel_settings("tl1", [[0.0], [1.0]], grid={"ratio": [0.3, 0.7]})
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
        if tried is None:
            own = {} if is_precomputed(each) else Similarities(X).grid(each, fixed)
            tried = {name: own[name] for name in own if name not in fixed}
        settings += [(each, {**fixed, **one}) for one in ParameterGrid(tried)]
    return settings
