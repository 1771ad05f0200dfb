"""Estimators that keep scikit-learn's contract."""

from kreinlearn.estimators.logistic import KreinLogisticRegression

__all__ = ["KreinLogisticRegression"]
