"""The model: its primal risk as a difference of convex functions, and its dual."""

from kreinlearn.problem.dual import KreinDual, intercepts, uniqueness_threshold
from kreinlearn.problem.risk import KreinRisk

__all__ = ["KreinDual", "KreinRisk", "intercepts", "uniqueness_threshold"]
