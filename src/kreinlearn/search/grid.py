"""Candidate values of lam, stratified subsamples, and folds restricted to these."""

from collections.abc import Sequence

import numpy as np

from kreinlearn._typing import Array

UNITS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001)
"""Default candidates: not lam itself, but u = n lam / s for n samples and a matrix of
scale s. For s = 1 other tools call this 1 / C."""
MORE_UNITS = (1e-4, 1e-5, 1e-6, 1e-7)
"""Further candidates, tried one by one while the smallest value is the best."""
DUAL_TOL = 1e-4
"""Residual of dual fits in cross-validation: no score changes below it."""

Fold = tuple[Array, Array]
"""Indices of training and of held-out samples."""


def stratified_subsample(index: Array, size: int, seed: int) -> Array:
    """Return at most ``size`` samples, increasing, with all classes in proportion.

    Parameters
    ----------
    index : ndarray of shape (n,)
        Classes of all samples, counted from 0.
    size : int
        Largest number of samples.
    seed : int
        Seed of the draw.

    Returns
    -------
    ndarray
        Positions.
    """
    n = len(index)
    if n <= size:
        return np.arange(n)
    # The rank of a sample within its class, as a fraction: the smallest are drawn.
    order = np.random.default_rng(seed).permutation(n)
    rank = np.empty(n)
    for label in np.unique(index):
        members = order[index[order] == label]
        rank[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.sort(np.argsort(rank, kind="stable")[:size])


def restrict_folds(folds: Sequence[Fold], rows: Array) -> list[Fold]:
    """Return folds among some of the samples, as positions among these."""
    return [
        (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, held)))
        for train, held in folds
    ]
