"""From a data set to two random halves, scaled, and their similarities.

Letters: n samples, m features; ``tau = 0.7 m`` the truncation of the TL1 kernel; K the
similarities among the samples of a half.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.app.runs import Cell, Record
from kreinlearn.operators import Dense
from kreinlearn.spectrum import describe, extreme
from reproduction.data import load

TL1_RATIO = 0.7
"""The paper's tau as a share of m."""
IDENTIFIER, BARE_NUCLEI = 0, 6
"""Columns of breast-cancer: the sample number, and a count with missing values."""
ALL_EIGENVALUES = 2500
"""Largest number of samples for which all eigenvalues are computed, in seconds."""
FIXED = "fixed"
"""Setting "half" of cells whose runs share their training and test samples."""
PREDEFINED = ("monks1",)
"""Data sets of Table 6 whose training and test samples come in files of their own."""
LOWER_END_STEPS = 50
"""Lanczos steps for the smallest eigenvalue of a larger matrix."""


class Halves(NamedTuple):
    """Training and test samples, features in [0, 1] on the training half."""

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array


@lru_cache(maxsize=2)
def table(name: str, data_home: str | None = None) -> tuple[Array, Array]:
    """Return the raw features and the labels, -1 and +1, that the experiments use.

    "breast-cancer-683x9" is "breast-cancer" without the sample number and without the
    rows that have a missing value.
    """
    if name == "breast-cancer-683x9":
        X, y = table("breast-cancer", data_home)
        whole = X[:, BARE_NUCLEI] != 0
        return np.delete(X, IDENTIFIER, axis=1)[whole], y[whole]
    bunch = load(name, data_home)
    return bunch.data, bunch.target


def parts_of(cell: Cell, data_home: str | None = None) -> Halves:
    """Return the training and test samples of a cell.

    They are random halves. Where the samples of a cell are fixed, they are the
    same in all runs: the predefined ones if there are any.
    """
    if cell.setting("half") == FIXED and cell.dataset in PREDEFINED:
        train, test = (load(cell.dataset, data_home, part=p) for p in ("train", "test"))
        X_train, X_test = scale(train.data, test.data)
        return Halves(X_train, train.target, X_test, test.target)
    return halves(*table(cell.dataset, data_home), cell.half_seed)


def stored_name(name: str) -> str:
    """Return the name under which `reproduction.data` stores a data set."""
    return "breast-cancer" if name == "breast-cancer-683x9" else name


def half_rows(n: int, seed: int) -> tuple[Array, Array]:
    """Return the row numbers of a random half, the larger one, and the other rows.

    Plain random: classes may be uneven.
    """
    order = np.random.default_rng(seed).permutation(n)
    size = -(-n // 2)
    return order[:size], order[size:]


def scale(reference: Array, *others: Array) -> list[Array]:
    """Return arrays scaled so that the columns of the reference lie in [0, 1].

    Columns that are constant in the reference become 0.
    """
    low = reference.min(axis=0)
    span = np.ptp(reference, axis=0)
    varied = span > 0
    divisor = np.where(varied, span, 1.0)
    return [np.where(varied, (X - low) / divisor, 0.0) for X in (reference, *others)]


def halves(X: Array, y: Array, seed: int) -> Halves:
    """Return a random half and the rest, scaled by the training half alone."""
    train, test = half_rows(len(y), seed)
    X_train, X_test = scale(X[train], X[test])
    return Halves(X_train, y[train], X_test, y[test])


def spectrum_fields(K: Array) -> Record:
    """Return the signature and the extreme eigenvalues of a matrix.

    A large matrix has no signature in the record, and its smallest eigenvalue is only
    an upper bound.
    """
    if len(K) <= ALL_EIGENVALUES:
        report = describe(K)
        ends = [report["mu_min"], report["mu_max"]]
        return {"sig": report["signature"], "mu": ends}
    operator = Dense(K)
    low = extreme(operator, "smallest", max_steps=LOWER_END_STEPS)
    ends = [low.value, extreme(operator, "largest").value]
    return {"mu": ends, "mu_bound": True}
