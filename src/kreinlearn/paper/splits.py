"""From a data set to two random halves, scaled, and their similarities.

Letters: n samples, m features; ``tau = 0.7 m`` the truncation of the TL1 kernel; K the
similarities among the samples of a half.
"""

import os
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.datasets import load
from kreinlearn.operators import Dense
from kreinlearn.spectrum import describe, extreme

RATIO = 0.7
"""The paper's tau as a share of m."""
IDENTIFIER, BARE_NUCLEI = 0, 6
"""Columns of breast-cancer: a number of the sample, and a count with gaps."""
ALL_EIGENVALUES = 2500
"""Samples up to which all eigenvalues are computed: seconds."""
LANCZOS_STEPS = 50
"""Products with a larger matrix for its smallest eigenvalue."""


class Halves(NamedTuple):
    """Training and test samples, features in [0, 1] on the training half."""

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array


@lru_cache(maxsize=2)
def table(name: str, data_home: str | None = None) -> tuple[Array, Array]:
    """Return the samples and labels that the experiments use.

    Parameters
    ----------
    name : str
        Name of a data set; "breast-cancer-683x9" is "breast-cancer" without the
        number of the sample and without the rows that have a gap.
    data_home : str, optional
        The data folder.

    Returns
    -------
    X : ndarray of shape (n, m)
        Raw features.
    y : ndarray of shape (n,)
        Labels, -1 and +1.
    """
    if name == "breast-cancer-683x9":
        X, y = table("breast-cancer", data_home)
        whole = X[:, BARE_NUCLEI] != 0
        return np.delete(X, IDENTIFIER, axis=1)[whole], y[whole]
    bunch = load(name, data_home)
    return bunch.data, bunch.target


def stored_name(name: str) -> str:
    """Return the name under which a data set is stored.

    Parameters
    ----------
    name : str
        Name in an experiment.

    Returns
    -------
    str
        Name in `kreinlearn.datasets`.
    """
    return "breast-cancer" if name == "breast-cancer-683x9" else name


def half_rows(n: int, seed: int) -> tuple[Array, Array]:
    """Return the rows of a random half, and the other rows.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int
        The same seed gives the same rows.

    Returns
    -------
    train : ndarray of shape (ceil(n / 2),)
        Row numbers in random order: plain random, classes may be uneven.
    test : ndarray of shape (floor(n / 2),)
        The rest.
    """
    order = np.random.default_rng(seed).permutation(n)
    size = -(-n // 2)
    return order[:size], order[size:]


def scale(reference: Array, *others: Array) -> list[Array]:
    """Return arrays scaled so that the reference lies in [0, 1].

    Parameters
    ----------
    reference : ndarray of shape (n, m)
        Its columns give the ranges.
    *others : ndarray of shape (k, m)
        More rows, which may fall outside.

    Returns
    -------
    list of ndarray
        Reference and others; columns that are constant in the reference are 0.
    """
    low = reference.min(axis=0)
    span = np.ptp(reference, axis=0)
    varied = span > 0
    divisor = np.where(varied, span, 1.0)
    return [np.where(varied, (X - low) / divisor, 0.0) for X in (reference, *others)]


def halves(X: Array, y: Array, seed: int) -> Halves:
    """Return a random half for training and the rest for testing.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Raw features.
    y : ndarray of shape (n,)
        Labels.
    seed : int
        Seed of the half.

    Returns
    -------
    Halves
        Scaled by the training half alone.
    """
    train, test = half_rows(len(y), seed)
    X_train, X_test = scale(X[train], X[test])
    return Halves(X_train, y[train], X_test, y[test])


def spectrum_fields(K: Array) -> dict[str, Any]:
    """Return what a record says about the spectrum of a matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Similarities.

    Returns
    -------
    dict
        Signature and extreme eigenvalues; for a large matrix no signature, and a
        smallest eigenvalue that is only an upper bound.
    """
    if len(K) <= ALL_EIGENVALUES:
        report = describe(K)
        ends = [report["mu_min"], report["mu_max"]]
        return {"sig": report["signature"], "mu": ends}
    operator = Dense(K)
    low = extreme(operator, "smallest", max_steps=LANCZOS_STEPS)
    ends = [low.value, extreme(operator, "largest").value]
    return {"mu": ends, "mu_bound": True}


def data_home_text(data_home: str | os.PathLike[str] | None) -> str | None:
    """Return a data folder as text, for it is sent to other processes.

    Parameters
    ----------
    data_home : path-like or None
        The folder.

    Returns
    -------
    str or None
        The same.
    """
    return None if data_home is None else os.fspath(data_home)
