"""Estimators that keep scikit-learn's contract."""

from kreinlearn.estimators.distances import DistanceSimilarity
from kreinlearn.estimators.landmark_features import LandmarkFeatures
from kreinlearn.estimators.landmarks import LandmarkLogisticRegression
from kreinlearn.estimators.logistic import KreinLogisticRegression
from kreinlearn.estimators.logistic_cv import KreinLogisticRegressionCV
from kreinlearn.estimators.repair import SpectrumRepair
from kreinlearn.estimators.svm import DCASVC, KreinSVC

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
