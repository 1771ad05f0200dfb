"""Learning with similarities that are not positive definite kernels.

Indefinite kernel logistic regression in Krein spaces, as scikit-learn estimators.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kreinlearn.app.comparison import compare
    from kreinlearn.app.inspection import inspect_similarity
    from kreinlearn.estimators import (
        DCASVC,
        DistanceSimilarity,
        KreinLogisticRegression,
        KreinLogisticRegressionCV,
        KreinSVC,
        LandmarkFeatures,
        LandmarkLogisticRegression,
        SpectrumRepair,
    )
    from kreinlearn.persistence import load, save

    __version__: str

__all__ = [
    "DCASVC",
    "DistanceSimilarity",
    "KreinLogisticRegression",
    "KreinLogisticRegressionCV",
    "KreinSVC",
    "LandmarkFeatures",
    "LandmarkLogisticRegression",
    "SpectrumRepair",
    "__version__",
    "compare",
    "inspect_similarity",
    "load",
    "save",
]
MODULES = {
    "compare": "app.comparison",
    "inspect_similarity": "app.inspection",
    "load": "persistence",
    "save": "persistence",
}
"""Modules of the names that are not estimators."""


# Names are imported when they are first asked for: scikit-learn takes long to import,
# and `krein --version` does without.
def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("kreinlearn")
    else:
        module = MODULES.get(name, "estimators")
        found = getattr(import_module(f"kreinlearn.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
