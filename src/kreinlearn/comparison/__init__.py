"""`krein compare` and `krein demo`: every method on the same folds."""

from kreinlearn.comparison.page import comparison_page
from kreinlearn.comparison.plan import plan_comparison
from kreinlearn.comparison.run import run_comparison

__all__ = ["comparison_page", "plan_comparison", "run_comparison"]
