"""`krein compare`, `krein demo` and `kreinlearn.compare`."""

from kreinlearn.app.comparison.run import Comparison, compare

__all__ = ["Comparison", "compare"]
