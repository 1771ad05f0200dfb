"""Spectra of indefinite matrices, signed throughout."""

from kreinlearn.spectrum.decompose import (
    Bound,
    Spectrum,
    Split,
    decompose,
    extreme,
    split,
)
from kreinlearn.spectrum.describe import describe, theorem1_bound

__all__ = [
    "Bound",
    "Spectrum",
    "Split",
    "decompose",
    "describe",
    "extreme",
    "split",
    "theorem1_bound",
]
