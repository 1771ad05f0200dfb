"""Learning with similarities that are not positive definite kernels.

Indefinite kernel logistic regression in Krein spaces, as scikit-learn estimators.
"""

from importlib.metadata import version

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

__version__ = version("kreinlearn")

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
    "load",
    "save",
]
