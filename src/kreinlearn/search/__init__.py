"""Search of kernels, norms and lam by cross-validation."""

from kreinlearn.search.grid import DUAL_TOL, UNITS, Fold

__all__ = ["DUAL_TOL", "UNITS", "Fold"]
