"""What a saved model may hold: what can be imported elsewhere, and is known there."""

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from numbers import Real
from typing import Any

SPLITTERS = (
    "GroupKFold",
    "GroupShuffleSplit",
    "KFold",
    "LeaveOneGroupOut",
    "LeaveOneOut",
    "PredefinedSplit",
    "RepeatedKFold",
    "RepeatedStratifiedKFold",
    "ShuffleSplit",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TimeSeriesSplit",
)
"""Ways to cross-validate: settings only, of ``sklearn.model_selection``."""
SETTINGS = (
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",  # before 1.8
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.metrics._scorer._MultimetricScorer",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
)
"""What searches and transformers of scikit-learn hold in addition to estimators."""


def parts(value: Any) -> Iterator[Any]:
    """Yield every parameter of a model, those inside others too."""
    yield value
    if isinstance(value, Mapping):
        inside: Iterable[Any] = value.values()
        for key in value:
            # JSON has string keys only, and bool("False") is True.
            if isinstance(key, bool) or not isinstance(key, str | Real):
                raise ValueError(
                    "A saved model's dicts, such as class_weight, must have keys that "
                    f"are strings or numbers, got {key!r} of type "
                    f"{type(key).__name__}; use such labels, or 'balanced'."
                )
    elif isinstance(value, list | tuple | set):
        inside = value
    elif isinstance(value, partial):
        inside = (value.func, *value.args, *value.keywords.values())
    elif hasattr(value, "get_params") and not isinstance(value, type):
        inside = value.get_params(deep=False).values()
    else:
        return
    for each in inside:
        yield from parts(each)


def check_importable(value: Any) -> None:
    """Raise unless the function, or the type of the object, has a name elsewhere."""
    from kreinlearn.kernels import Kernel

    if isinstance(value, Kernel):
        raise ValueError(
            f"The record of kernel {value.name!r} is not saved with a model: fit it "
            f"with kernel={value.name!r}, the name, which means the same."
        )
    named = (
        value if inspect.isroutine(value) or isinstance(value, type) else type(value)
    )
    module, name = getattr(named, "__module__", None), named.__name__
    if module is None or inspect.ismethod(named):  # ufuncs have no module
        return
    found = getattr(sys.modules.get(module), name, None)
    if module == "__main__" or (found is not named and module != "builtins"):
        qualified = getattr(named, "__qualname__", name)
        raise ValueError(
            f"{module}.{qualified} could not be loaded elsewhere, since it is a "
            "lambda, local, or of a script or notebook: use one of a module that can "
            "be imported."
        )


def trusted_names() -> list[str]:
    """Return the full names of what our files may hold, apart from skops's own list."""
    import sklearn.metrics
    import sklearn.model_selection

    from kreinlearn import estimators, solvers
    from kreinlearn.features import RegionCovariance
    from kreinlearn.kernels import KERNELS

    ours = [getattr(estimators, name) for name in estimators.__all__]
    ours += [solvers.CCCP, solvers.DualNewton, solvers.GradientDescent, solvers.SGD]
    ours += [RegionCovariance, *(kernel.function for kernel in KERNELS.values())]
    ours += [getattr(sklearn.model_selection, name) for name in SPLITTERS]
    # Functions of two arrays of numbers, which scorers name.
    ours += [
        getattr(sklearn.metrics, name)
        for name in sklearn.metrics.__all__
        if name.endswith(("_score", "_loss"))
    ]
    return [*SETTINGS, *(f"{each.__module__}.{each.__name__}" for each in ours)]
