"""The data sets of the paper: registry, downloads, checks and loading."""

from reproduction.data.download import fetch
from reproduction.data.local import available, check, load
from reproduction.data.registry import info, names

__all__ = ["available", "check", "fetch", "info", "load", "names"]
