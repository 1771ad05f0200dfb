"""`krein compare` and `krein demo`: every method on the same folds."""

from kreinlearn.app.comparison.page import comparison_page
from kreinlearn.app.comparison.plan import plan_comparison
from kreinlearn.app.comparison.run import run_comparison

__all__ = ["comparison_page", "plan_comparison", "run_comparison"]
