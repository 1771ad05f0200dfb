"""Warnings that callers may want to catch by name."""

import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kreinlearn._convergence import ConvergenceWarning, DivergenceWarning

__all__ = ["ConvergenceWarning", "DivergenceWarning", "IndefiniteKernelWarning"]


class IndefiniteKernelWarning(UserWarning):
    """The matrix of the user was changed, or looks unfit for learning."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kreinlearn import _convergence

    return getattr(_convergence, name)


def warn_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package that called into it."""
    package, level = __name__.partition(".")[0], 1
    frame = sys._getframe(level)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level + 1)
