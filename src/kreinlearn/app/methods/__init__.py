"""One table of methods, and one way to tune them."""

from kreinlearn.app.methods.records import METHODS, Method
from kreinlearn.app.methods.tuning import fit_method, held_out_scores, tune

__all__ = ["METHODS", "Method", "fit_method", "held_out_scores", "tune"]
