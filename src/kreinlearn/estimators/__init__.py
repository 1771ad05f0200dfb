"""Estimators that keep scikit-learn's contract."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kreinlearn.estimators.landmarks import (
        LandmarkFeatures,
        LandmarkLogisticRegression,
    )
    from kreinlearn.estimators.logistic import KreinLogisticRegression
    from kreinlearn.estimators.logistic_cv import KreinLogisticRegressionCV
    from kreinlearn.estimators.svm import DCASVC, KreinSVC
    from kreinlearn.estimators.transformers import DistanceSimilarity, SpectrumRepair

__all__ = [
    "DCASVC",
    "DistanceSimilarity",
    "KreinLogisticRegression",
    "KreinLogisticRegressionCV",
    "KreinSVC",
    "LandmarkFeatures",
    "LandmarkLogisticRegression",
    "SpectrumRepair",
]

_FILES = {
    "DCASVC": "svm",
    "DistanceSimilarity": "transformers",
    "KreinLogisticRegression": "logistic",
    "KreinLogisticRegressionCV": "logistic_cv",
    "KreinSVC": "svm",
    "LandmarkFeatures": "landmarks",
    "LandmarkLogisticRegression": "landmarks",
    "SpectrumRepair": "transformers",
}


# Each is imported when it is first asked for: the search needs no reader of files, and
# no k-means, which landmarks bring along.
def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
