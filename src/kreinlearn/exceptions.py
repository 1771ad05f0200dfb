"""Warnings that callers may want to catch by name."""

import sys
import warnings

from sklearn.exceptions import ConvergenceWarning

__all__ = ["ConvergenceWarning", "DivergenceWarning", "IndefiniteKernelWarning"]


class DivergenceWarning(ConvergenceWarning):
    """The iterates left the region where the objective is bounded."""


class IndefiniteKernelWarning(UserWarning):
    """The matrix of the user was changed, or looks unfit for learning."""


def warn_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package that called into it."""
    package, level = __name__.partition(".")[0], 1
    frame = sys._getframe(level)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level + 1)
