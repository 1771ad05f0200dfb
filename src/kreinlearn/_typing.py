"""Aliases shared by all rooms."""

from collections.abc import Callable
from typing import Any

from numpy.random import RandomState
from numpy.typing import NDArray

Array = NDArray[Any]
"""Array of numbers of any shape; shapes are in the docstrings."""

Kernel = str | Callable[..., Any]
"""Name of a kernel, or a function of two sets of samples."""

Seed = int | RandomState | None
"""What scikit-learn takes as `random_state`."""
