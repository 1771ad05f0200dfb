"""Warnings that scikit-learn knows, too: apart, since importing it takes long."""

from sklearn.exceptions import ConvergenceWarning

__all__ = ["ConvergenceWarning", "DivergenceWarning"]


class DivergenceWarning(ConvergenceWarning):
    """The iterates left the region where the objective is bounded."""


DivergenceWarning.__module__ = "kreinlearn.exceptions"  # where callers find it
