"""Spectra of symmetric matrices, positive decompositions, repairs."""

from kreinlearn.spectrum.decompose import (
    Spectrum,
    Split,
    decompose,
    describe,
    split,
    theorem1_bound,
)
from kreinlearn.spectrum.lanczos import Bound, Floor, certify_above, extreme

__all__ = [
    "Bound",
    "Floor",
    "Spectrum",
    "Split",
    "certify_above",
    "decompose",
    "describe",
    "extreme",
    "split",
    "theorem1_bound",
]
