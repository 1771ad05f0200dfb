"""Aliases shared by all rooms."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
"""Array of numbers of any shape; shapes are in the docstrings."""
