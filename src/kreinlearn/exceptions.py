"""Warnings that callers may want to catch by name."""

from sklearn.exceptions import ConvergenceWarning


class DivergenceWarning(ConvergenceWarning):
    """The iterates left the region where the objective is bounded."""


class IndefiniteKernelWarning(UserWarning):
    """The matrix of the user was changed, or looks unfit for learning."""


__all__ = ["ConvergenceWarning", "DivergenceWarning", "IndefiniteKernelWarning"]
