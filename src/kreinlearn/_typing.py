"""Type aliases of the whole package."""

from collections.abc import Callable
from typing import Any

from numpy.random import RandomState
from numpy.typing import NDArray

Array = NDArray[Any]
"""Array of numbers of any shape; shapes are in the docstrings."""

KernelLike = str | Callable[..., Any]
"""Name of a kernel, or a function of two sets of samples."""

Seed = int | RandomState | None
"""Values of ``random_state`` in scikit-learn."""

SampleSet = Any
"""Rows of a table, a stack of matrices, or a list of samples of a kernel."""
