"""Samples for the benchmarks: halves of real data sets, or synthetic ones.

Real data come from the folder of ``reproduction.data``. If a data set is missing,
synthetic samples of the same shape are used, and the rows are marked as synthetic.
"""

from typing import Any, NamedTuple

import numpy as np
from common import print_note

QUICK_ROWS = 240
"""Rows of a data set under ``--quick``, before it is halved."""
JITTER_SCALE = 1e-3
"""Standard deviation of the noise on repeated rows, such that no two are equal."""


class Halves(NamedTuple):
    """Training and test samples, features scaled to [0, 1] by the training half."""

    X_train: np.ndarray
    X_test: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray
    data: str


def make_samples(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples in the unit cube, and labels with a curved, noisy boundary.

    Parameters
    ----------
    n, m : int
        Numbers of samples and of features.

    Returns
    -------
    X : ndarray of shape (n, m)
        Samples.
    y : ndarray of shape (n,)
        Labels, -1 and +1.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, m))
    first = X[:, : min(m, 4)]
    score = np.sin(3 * first).sum(axis=1) + 0.3 * rng.standard_normal(n)
    return X, np.where(score > np.median(score), 1, -1)


def load_table(name: str, part: str | None, quick: bool) -> tuple[Any, Any, str]:
    """Return samples, labels, and whether they are ``real`` or ``synthetic``."""
    from reproduction.data import info, load

    entry = info(name)
    n = entry.table(part).n_samples
    if not quick:
        try:
            found = load(name, part=part)
        except FileNotFoundError:
            print_note(
                f"{name} is not in the data folder (python -m reproduction data fetch "
                f"{name}): synthetic data of its shape instead"
            )
        else:
            return found.data, found.target, "real"
    return *make_samples(
        min(n, QUICK_ROWS) if quick else n, entry.n_features
    ), "synthetic"


def load_halves(name: str, quick: bool = False) -> Halves:
    """Return a stratified half for training and the rest; splice has its own parts.

    Parameters
    ----------
    name : str
        A data set of ``reproduction.data``.
    quick : bool
        Whether to use a few synthetic rows.

    Returns
    -------
    Halves
        With ``data``, ``real`` or ``synthetic``.
    """
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import MinMaxScaler

    if name == "splice":
        X_train, y_train, data = load_table(name, "train", quick)
        X_test, y_test, data_test = load_table(name, "test", quick)
        data = data if data == data_test else "synthetic"
    else:
        X, y, data = load_table(name, None, quick)
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.5, random_state=0, stratify=y
        )
    scaler = MinMaxScaler().fit(X_train)
    scaled = scaler.transform(X_train), scaler.transform(X_test)
    return Halves(*scaled, y_train, y_test, data)


def load_rows(n: int, quick: bool = False) -> tuple[np.ndarray, np.ndarray, str]:
    """Return n rows of ijcnn1-tr in random order, scaled to [0, 1].

    Parameters
    ----------
    n : int
        Number of rows. Beyond those of the table, rows repeat with a little noise.
    quick : bool
        Whether to use synthetic rows.

    Returns
    -------
    X : ndarray of shape (n, 22)
        Samples.
    y : ndarray of shape (n,)
        Labels.
    data : str
        ``real``, ``real and jittered``, or ``synthetic``.
    """
    from sklearn.preprocessing import minmax_scale

    X, y, data = load_table("ijcnn1-tr", None, quick)
    rng = np.random.default_rng(0)
    order = np.concatenate(
        [rng.permutation(len(X)) for _ in range(-(-n // len(X)))], dtype=np.intp
    )[:n]
    X, y, own = minmax_scale(X)[order], y[order], len(X)
    if n > own:
        X[own:] += JITTER_SCALE * rng.standard_normal((n - own, X.shape[1]))
        X = np.clip(X, 0, 1)
        data = f"{data} and jittered" if data == "real" else data
    return X, y, data
