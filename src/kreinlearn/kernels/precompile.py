"""Compile all kernels ahead of their first use, for images and clusters."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kreinlearn.kernels._records import Kernel
from kreinlearn.kernels._table import KERNELS
from kreinlearn.kernels.products import multiply

N_SAMPLES = 40
N_FEATURES = (5, 200)
"""Few features are summed by compiled code, many by BLAS."""


def compile_kernels(progress: Callable[[str, int, int], object] | None = None) -> None:
    """Call every kernel once for each kind of samples, so that numba stores its code.

    Kernels that other packages compute are skipped if these are not installed.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(name, done, total)`` before each kernel.
    """
    for done, (name, kernel) in enumerate(KERNELS.items()):
        if progress is not None:
            progress(name, done, len(KERNELS))
        for X in make_samples(kernel):
            try:
                kernel.function(X)
                kernel.function(X[:3], X)
            except ImportError:  # of an optional package
                break
            if kernel.samples == "rows":
                for columns in (1, 8):  # of single precision, many are widened
                    multiply(X, None, np.ones((len(X), columns)), name)
                    multiply(X[:3], X, np.ones((len(X), columns)), name)


def make_samples(kernel: Kernel) -> list[Any]:
    """Return sets of samples that need different compiled code.

    Parameters
    ----------
    kernel : Kernel
        A record.

    Returns
    -------
    list
        Sets of samples that the kernel takes.
    """
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 12, N_SAMPLES)
    if kernel.name == "histogram_wasserstein":
        return [rng.dirichlet(np.ones(8), N_SAMPLES)]
    if kernel.samples == "rows":
        tables = [rng.uniform(size=(N_SAMPLES, m)) for m in N_FEATURES]
        return [*tables, *(X.astype(np.float32) for X in tables)]
    if kernel.samples == "matrices":
        A = rng.standard_normal((N_SAMPLES, 3, 6))
        stack = A @ A.transpose(0, 2, 1)
        return [stack, stack.astype(np.float32)]
    if kernel.samples == "series":
        return [
            [rng.standard_normal((length, channels)) for length in lengths]
            for channels in (1, 2)
        ]
    if kernel.samples == "sequences":
        short, long = (
            ["".join(rng.choice(list("ACDE"), factor * k)) for k in lengths]
            for factor in (1, 60)
        )
        return [short, [*short[:-1], long[-1] * 60]]  # scores of 8 bits and of more
    if kernel.samples == "graphs":
        paths = [(int(k), [(i, i + 1) for i in range(k - 1)]) for k in lengths]
        return [paths, [(k, edges, ["C"] * k) for k, edges in paths]]
    return [[rng.standard_normal((length, d)) for length in lengths] for d in (1, 2)]
