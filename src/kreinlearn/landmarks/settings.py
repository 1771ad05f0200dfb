"""What is to be learned on landmarks, and what was."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kreinlearn._typing import Array
from kreinlearn.landmarks.columns import Columns
from kreinlearn.landmarks.first import First
from kreinlearn.landmarks.state import Solution


@dataclass(frozen=True)
class Settings:
    """What is to be learned, whoever makes the passes.

    Attributes
    ----------
    kernel : str or callable
        As estimators take it.
    params : tuple of mappings
        Parameters of the kernel; the best is chosen if there are several.
    n_landmarks : int
        How many are drawn, unless they are given.
    landmarks : str or sequence of samples
        "uniform", "kmeans++", "leverage", or the landmarks.
    norm : {"krein", "hilbert", "euclidean"}
        The penalty.
    lam : float
        Regularization, if it is not chosen.
    lams : ndarray or None
        Those that are tried, decreasing.
    units : ndarray
        What is tried if ``lams`` is None: multiples of the scale of K over n.
    n_folds : int
        Folds of the search; 1 for none.
    fit_intercept, multinomial : bool
        The model; ``multinomial`` matters for more than two classes.
    tol : float
        Largest residual that counts as converged.
    max_iter : int
        Most Newton steps.
    seed : int
        For folds, landmarks and shares of the rows.
    checkpoint : path-like or None
        Where the state is written.
    every : pair of ndarray or None
        Weights and labels of given landmarks, if they are all the rows that count.
    """

    kernel: Any
    params: tuple[Mapping[str, Any], ...]
    n_landmarks: int
    landmarks: Any
    norm: str
    lam: float
    lams: Array | None
    units: Array
    n_folds: int
    fit_intercept: bool
    multinomial: bool
    tol: float
    max_iter: int
    seed: int
    checkpoint: str | os.PathLike[str] | None = None
    every: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class Fitted:
    """What was learned.

    Attributes
    ----------
    columns : Columns
        Similarities with the landmarks, by the chosen parameters.
    rows : ndarray or None
        Numbers of the rows that are landmarks, unless samples were given.
    B : ndarray of shape (M + 1, n_columns)
        Coefficients; the last are intercepts.
    lam : float
        The chosen regularization.
    lams, scores : ndarray or None
        (n_settings, n_lams) what was tried, and (n_settings, n_lams, n_folds) the
        negative log-losses of held-out rows.
    solution : Solution
        How the solve ended.
    n_rows : int
        Number of rows.
    unsolved : pair of int
        How many fits of the search ended before they converged, of how many.
    """

    columns: Columns
    rows: Array | None
    B: Array
    lam: float
    lams: Array | None
    scores: Array | None
    solution: Solution
    n_rows: int
    unsolved: tuple[int, int] = (0, 0)


Factors = Callable[[First], Array]
"""Gives the weights of the classes, in the order of the labels, or raises."""
