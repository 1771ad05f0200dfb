"""The model: its primal risk as a difference of convex functions, and its dual."""

from kreinlearn.problem.dual import KreinDual, uniqueness_threshold
from kreinlearn.problem.intercepts import intercepts
from kreinlearn.problem.risk import KreinRisk

__all__ = ["KreinDual", "KreinRisk", "intercepts", "uniqueness_threshold"]
