"""The data sets of the paper, and generated data with known answers."""

from kreinlearn.datasets.download import fetch
from kreinlearn.datasets.generate import make_gram, make_monks
from kreinlearn.datasets.local import available, check, load
from kreinlearn.datasets.registry import info, names

__all__ = [
    "available",
    "check",
    "fetch",
    "info",
    "load",
    "make_gram",
    "make_monks",
    "names",
]
