"""One table of methods, and one way to tune them."""

from kreinlearn.app.methods.records import METHOD_RECORDS, Method
from kreinlearn.app.methods.tuning import fit_method, held_out_scores, tune

__all__ = ["METHOD_RECORDS", "Method", "fit_method", "held_out_scores", "tune"]
