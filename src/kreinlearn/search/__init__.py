"""Search of kernels, norms and lam by cross-validation."""

from kreinlearn.search.candidates import Candidate, SearchContext
from kreinlearn.search.grid import (
    DUAL_TOL,
    UNITS,
    Fold,
    restrict_folds,
    stratified_subsample,
)
from kreinlearn.search.scoring import HeldOutScorer, stack_models, weigh_models

__all__ = [
    "DUAL_TOL",
    "UNITS",
    "Candidate",
    "Fold",
    "HeldOutScorer",
    "SearchContext",
    "restrict_folds",
    "stack_models",
    "stratified_subsample",
    "weigh_models",
]
