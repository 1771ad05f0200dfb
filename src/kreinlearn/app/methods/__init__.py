"""One table of methods, and one way to tune them."""

from kreinlearn.app.methods.records import ALL_METHODS, Method
from kreinlearn.app.methods.tuning import fit_method, held_out_scores, tune

__all__ = ["ALL_METHODS", "Method", "fit_method", "held_out_scores", "tune"]
