"""Solvers: the exact one on the dual, and the published procedures.

They know no kernel, no loss and no estimator, report a status and never warn.
"""

from kreinlearn.solvers.base import Result, Status
from kreinlearn.solvers.cccp import AS_PRINTED, CCCP, PUBLISHED
from kreinlearn.solvers.gradient import SGD, GradientDescent
from kreinlearn.solvers.newton import DualNewton

__all__ = [
    "AS_PRINTED",
    "CCCP",
    "PUBLISHED",
    "SGD",
    "DualNewton",
    "GradientDescent",
    "Result",
    "Status",
]
