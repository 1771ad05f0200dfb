"""`krein compare`, `krein demo` and `kreinlearn.compare`."""

from kreinlearn.app.comparison.page import comparison_page
from kreinlearn.app.comparison.plan import plan_comparison
from kreinlearn.app.comparison.run import Comparison, compare, run_comparison

__all__ = [
    "Comparison",
    "compare",
    "comparison_page",
    "plan_comparison",
    "run_comparison",
]
