"""One method on one fold of anybody's data: what a comparison runs again and again.

Letters: n samples, m features; K similarities among training samples.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import MinMaxScaler

from kreinlearn._typing import Array
from kreinlearn.app.methods.judging import judged, timed
from kreinlearn.app.methods.table import METHODS, fit_method
from kreinlearn.app.methods.tuning import WORST_LOG_LOSS
from kreinlearn.app.runs.cells import Cell
from kreinlearn.app.runs.records import Record
from kreinlearn.kernels import KERNELS, gram
from kreinlearn.kernels.transforms import fit_transform
from kreinlearn.operators import Dense
from kreinlearn.search import Fold
from kreinlearn.spectrum.norms import compute_scale

PRECOMPUTED = "precomputed"
"""The kernel of data that are a Gram matrix."""
OWN = "own"
"""The kernel, in a cell, of a method that learns from samples."""


@dataclass(frozen=True)
class Job:
    """Data to compare methods on.

    Parameters
    ----------
    name : str
        What people call the data.
    X : DataFrame or ndarray of shape (n, m), or (n, n)
        Samples, or similarities or distances if ``is_gram``.
    y : ndarray of shape (n,)
        Positions of the labels in ``classes``.
    classes : tuple
        Labels.
    splits : mapping of (int, int) to (ndarray, ndarray)
        Rows for training and held-out rows, by repetition and fold; the same for all
        methods.
    is_gram : bool
        Whether X holds similarities, or distances.
    transformer : estimator, optional
        Turns samples into features, fitted to training rows only; scales to [0, 1] by
        default.
    form : str, optional
        The form of distances that makes them similarities, if X holds distances; its
        width is their median among the training rows.
    groups : ndarray of shape (n,), optional
        Rows that belong together, and stay so in all folds.
    """

    name: str
    X: Any
    y: Array
    classes: tuple[str | int | float, ...]
    splits: Mapping[tuple[int, int], Fold]
    is_gram: bool = False
    transformer: TransformerMixin | None = None
    form: str | None = None
    groups: Array | None = None

    def features(self, run: int, fold: int) -> tuple[Array, Array]:
        """Return the features of training and of held-out rows of a fold.

        The held-out rows have no say in either.
        """
        rows = getattr(self.X, "iloc", self.X)
        train, test = (rows[part] for part in self.splits[run, fold])
        transformer = clone(self.transformer or MinMaxScaler())
        fitted = np.asarray(transformer.fit_transform(train), float)
        return fitted, np.asarray(transformer.transform(test), float)

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
            K, K_test = self.X[np.ix_(train, train)], self.X[np.ix_(test, train)]
            if self.form is None:
                return K, K_test
            change = fit_transform(K, self.form)
            return change(K), change(K_test)
        X_train, X_test = self.features(run, fold)
        params = KERNELS[kernel].default_params(X_train)
        K = gram(X_train, None, kernel, **params)
        return K, gram(X_test, X_train, kernel, **params)


def unit_of(K: Array) -> float:
    """Return the mean absolute eigenvalue of a matrix, up to a factor of 1.42.

    Values of C and lam that are tried are the same for all data; with a matrix in this
    unit they mean the same for all. It is a power of two, hence rounds nothing: what
    is found by methods that do not depend on the unit, such as ours, stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> unit_of(np.diag([700.0, -300.0, 500.0]))
    512.0
    """
    scale = compute_scale(Dense(K), np.ones(len(K)))
    return float(np.exp2(np.rint(np.log2(scale))))


def label_of(kernel: str) -> str | None:
    """Return what tables call a kernel, or None if the method learns from samples.

    Examples
    --------
    >>> label_of("tl1"), label_of("rbf"), label_of("linear")
    ('tl1 (ratio 0.7)', 'rbf (median width)', 'linear')
    """
    if kernel == OWN:
        return None
    return KERNELS[kernel].label if kernel in KERNELS else kernel


def outcome(job: Job, cell: Cell) -> Record:
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
        Fields of a record, with the predictions: probabilities if there are any, else
        scores. Seconds are those of the fit with its tuning, but without the kernel
        matrix if the method is given one, which is divided by its `unit_of`.
    """
    place = cell.run, int(cell.setting("fold"))
    train, test = job.splits[place]
    if METHODS[cell.method].on_samples:
        X_train, X_test = job.features(*place)
    else:
        K, K_test = job.matrices(*place, str(cell.setting("kernel")))
        unit = unit_of(K)
        X_train, X_test = K / unit, K_test / unit
    given: dict[str, Any] = {"fold_seed": cell.half_seed, "seed": cell.seed}
    if job.groups is not None:
        given["groups"] = job.groups[train]
    fitted, fit_s = timed(fit_method, cell.method, X_train, job.y[train], **given)
    fields = fitted.fields() | {"fit_s": fit_s, "n": len(train)}
    fields |= judged(fitted.model, X_test, job.y[test], most_loss=WORST_LOG_LOSS)
    del fields["pred_s"]
    scores = fields["proba"] if "proba" in fields else fields["score"]
    return fields | {"auc": _auc(job.y[test], scores)}


def _auc(truth: Array, given: Array) -> float:
    """Return the area under the curve; for several classes the mean, each to the rest.

    Scikit-learn's own mean wants probabilities, which some methods do not have.
    """
    if given.ndim == 1:
        return float(roc_auc_score(truth, given))
    each = [roc_auc_score(truth == k, given[:, k]) for k in range(given.shape[1])]
    return float(np.mean(each))
