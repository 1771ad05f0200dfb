"""One table of methods, and one way to tune them.

A method is a record: how to build its estimator for one value of its hyper-parameter,
what that is called, and which score judges it. Comparisons, inspections and the
experiments of the paper read one table, `METHODS`; to add a method, add a record. What
does not choose for itself is cross-validated by one function, `held_out_scores`.
"""

from kreinlearn.app.methods.records import Method
from kreinlearn.app.methods.table import METHODS, fit_method
from kreinlearn.app.methods.tuning import held_out_scores, tune

__all__ = ["METHODS", "Method", "fit_method", "held_out_scores", "tune"]
