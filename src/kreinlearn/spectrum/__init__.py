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
    "decompose",
    "describe",
    "extreme",
    "certify_above",
    "split",
    "theorem1_bound",
]
