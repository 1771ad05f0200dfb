"""One method on one fold of anybody's data: what a comparison runs again and again.

Letters: n samples, m features; K similarities among training samples.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from kreinlearn._typing import Array
from kreinlearn.kernels import KERNELS, gram
from kreinlearn.methods.judging import judged, timed
from kreinlearn.methods.table import METHODS, fit_method
from kreinlearn.methods.tuning import WORST_LOG_LOSS
from kreinlearn.runs.cells import Cell

PRECOMPUTED = "precomputed"
"""The kernel of data that are a Gram matrix."""
OWN = "own"
"""The kernel, in a cell, of a method that brings its own."""

Splits = Mapping[tuple[int, int], tuple[Array, Array]]
"""Rows for training and rows held out, by repetition and fold."""


@dataclass(frozen=True)
class Job:
    """Data to compare methods on.

    Parameters
    ----------
    name : str
        What people call the data.
    X : DataFrame or ndarray of shape (n, m), or (n, n)
        Samples, or similarities if ``is_gram``.
    y : ndarray of shape (n,)
        Positions of the labels in ``classes``.
    classes : tuple
        Labels.
    splits : mapping of (int, int) to (ndarray, ndarray)
        Rows for training and held-out rows, the same for all methods.
    is_gram : bool
        Whether X holds similarities.
    transformer : estimator
        Turns samples into features; fitted to training rows only.
    """

    name: str
    X: Any
    y: Array
    classes: tuple[Any, ...]
    splits: Splits
    is_gram: bool = False
    transformer: Any = None

    def features(self, run: int, fold: int) -> tuple[Array, Array]:
        """Return the features of training and of held-out rows.

        Parameters
        ----------
        run, fold : int
            Repetition and fold.

        Returns
        -------
        X_train, X_test : ndarray
            The held-out rows have no say in either.
        """
        train, test = self.splits[run, fold]
        transformer = MinMaxScaler() if self.transformer is None else self.transformer
        transformer = clone(transformer)
        X_train = np.asarray(transformer.fit_transform(_rows(self.X, train)), float)
        return X_train, np.asarray(transformer.transform(_rows(self.X, test)), float)

    def matrices(self, run: int, fold: int, kernel: str) -> tuple[Array, Array]:
        """Return the similarities of training and of held-out rows to training rows.

        Parameters
        ----------
        run, fold : int
            Repetition and fold.
        kernel : str
            Name of a kernel; its parameters depend on the training rows only.

        Returns
        -------
        K_train, K_test : ndarray
            Of shapes (n_train, n_train) and (n_test, n_train).
        """
        if self.is_gram:
            train, test = self.splits[run, fold]
            return self.X[np.ix_(train, train)], self.X[np.ix_(test, train)]
        X_train, X_test = self.features(run, fold)
        params = KERNELS[kernel].default_params(X_train)
        return (
            gram(X_train, None, kernel, **params),
            gram(X_test, X_train, kernel, **params),
        )


def _rows(X: Any, rows: Array) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def label(kernel: str) -> str | None:
    """Return what tables call a kernel.

    Parameters
    ----------
    kernel : str
        Name of the kernel of a cell.

    Returns
    -------
    str or None
        With how its parameters are set; None if the method brings its own.

    Examples
    --------
    >>> label("tl1"), label("rbf"), label("linear")
    ('tl1 (ratio 0.7)', 'rbf (median width)', 'linear')
    """
    if kernel == OWN:
        return None
    return KERNELS[kernel].label if kernel in KERNELS else kernel


def stratified(y: Array, folds: int, repeats: int, seed: int) -> Splits:
    """Return the outer folds that all methods share.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    folds, repeats : int
        Folds of one repetition, and repetitions.
    seed : int
        The same seed gives the same folds.

    Returns
    -------
    mapping of (int, int) to (ndarray, ndarray)
        Training and held-out rows by repetition and fold.
    """
    splitter = RepeatedStratifiedKFold(
        n_splits=folds, n_repeats=repeats, random_state=seed
    )
    parts = list(splitter.split(np.zeros(len(y)), y))
    return {divmod(i, folds): part for i, part in enumerate(parts)}


def outcome(job: Job, cell: Cell) -> dict[str, Any]:
    """Tune and fit a method on the training rows of a fold, and judge it on the rest.

    Parameters
    ----------
    job : Job
        The data.
    cell : Cell
        Method, repetition, and the settings "kernel" and "fold".

    Returns
    -------
    dict
        Fields of a record. Seconds are those of the fit with its tuning, but without
        the kernel matrix if the method is given one.
    """
    fold, kernel = int(cell.setting("fold")), str(cell.setting("kernel"))
    train, test = job.splits[cell.run, fold]
    if METHODS[cell.method].on_samples:
        X_train, X_test = job.features(cell.run, fold)
    else:
        X_train, X_test = job.matrices(cell.run, fold, kernel)
    fitted, fit_s = timed(
        fit_method,
        cell.method,
        X_train,
        job.y[train],
        fold_seed=cell.half_seed,
        seed=cell.seed,
    )
    fields = fitted.fields() | {"fit_s": fit_s, "n": len(train)}
    truth = job.y[test]
    fields |= judged(fitted.model, X_test, truth, most_loss=WORST_LOG_LOSS)
    del fields["pred_s"]
    given = fields["proba"] if "proba" in fields else fields["score"]
    return fields | {"auc": _auc(truth, given)}


def _auc(truth: Array, given: Array) -> float:
    """Return the area under the curve; for several classes the mean, each to the rest.

    Scikit-learn's own mean wants probabilities, which some methods do not have.
    """
    if given.ndim == 1:
        return float(roc_auc_score(truth, given))
    each = [roc_auc_score(truth == k, given[:, k]) for k in range(given.shape[1])]
    return float(np.mean(each))
