"""Indefinite kernel logistic regression that chooses its own settings."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, StratifiedKFold, check_cv
from sklearn.utils.validation import check_is_fitted

from kreinlearn._typing import Array
from kreinlearn._validation import check_choice, check_positive
from kreinlearn.estimators.base import (
    check_classes,
    check_kernel,
    check_samples,
    check_weights,
    class_weighted,
    is_precomputed,
    takes_matrices,
    training_gram,
)
from kreinlearn.estimators.cross import Fold, held_out
from kreinlearn.estimators.logistic import KreinLogisticRegression
from kreinlearn.estimators.scores import (
    Link,
    decision,
    labels,
    link_of,
    log_probabilities,
)
from kreinlearn.exceptions import ConvergenceWarning
from kreinlearn.kernels.grids import default_grid
from kreinlearn.solvers.monitor import watcher
from kreinlearn.solvers.newton import DualNewton

LAMS = (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
"""Values of lam that are tried by default."""
SEARCH_TOL = 1e-4
"""Residual of the fits in cross-validation: no score changes below it."""


class KreinLogisticRegressionCV(ClassifierMixin, BaseEstimator):
    """Logistic regression with any similarity, its settings by cross-validation.

    Chooses lam, the norm and the parameters of the kernel on the training samples,
    then fits `KreinLogisticRegression` with them to all.

    Parameters
    ----------
    lams : sequence of float, default=None
        Regularizations to try; None for eleven values from 1 to 1e-6.
    norms : sequence of {"krein", "hilbert"}, default=("krein", "hilbert")
        Norms to try.
    kernel : str or callable, default="tl1"
        As in `KreinLogisticRegression`.
    kernel_params : dict, default=None
        Parameters of the kernel that are fixed.
    kernel_grid : dict of str to list, default=None
        Parameters of the kernel to try; None for the kernel's own grid: ``ratio`` 0.3
        to 0.9 for "tl1", multiples of the median distance for Gaussians. An empty dict
        tries nothing.
    cv : int, splitter or iterable, default=5
        As in scikit-learn; an int means stratified folds, shuffled by
        ``random_state``.
    scoring : str or callable, default="neg_log_loss"
        The judge. Log-loss chooses better than accuracy on small data, which has
        many ties.
    refit : bool, default=True
        Whether to fit the best setting to all samples; without it nothing can be
        predicted.
    fit_intercept, multi_class, class_weight, tol, max_iter, dtype, verbose
        As in `KreinLogisticRegression`.
    random_state : int or RandomState, default=None
        Shuffles the folds if ``cv`` is an int; None means 0.

    Attributes
    ----------
    lam_, norm_, kernel_params_ : float, str, dict
        The best setting.
    scores_ : ndarray of shape (n_kernel_settings, n_norms, n_lams, n_folds)
        Scores of the held-out samples; larger is better.
    lams_ : ndarray of shape (n_lams,)
        Regularizations tried, decreasing.
    kernel_settings_ : list of dict
        Parameters of the kernel tried, in the order of ``scores_``.
    best_score_ : float
        Mean score of the best setting over the folds.
    held_out_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of each sample by the best setting while it was held out, for
        calibration plots; NaN where ``cv`` never held it out.
    best_estimator_ : KreinLogisticRegression
        The best setting, fitted to all samples; if ``refit``.
    classes_, n_features_in_, feature_names_in_
        As in `KreinLogisticRegression`.

    Notes
    -----
    Ties go to the larger lam, then to the setting that comes first. The folds with
    the norm a'Ka are solved as one block with the grid of lam, see
    ``kreinlearn.estimators.cross``.

    Examples
    --------
    >>> from kreinlearn import KreinLogisticRegressionCV
    >>> from kreinlearn.datasets import make_monks
    >>> X, y = make_monks(1)
    >>> model = KreinLogisticRegressionCV(lams=[1e-2, 1e-3], random_state=0)
    >>> model.fit(X, y).scores_.shape
    (4, 2, 2, 5)
    """

    def __init__(
        self,
        lams=None,
        norms=("krein", "hilbert"),
        kernel="tl1",
        kernel_params=None,
        kernel_grid=None,
        cv=5,
        scoring="neg_log_loss",
        refit=True,
        fit_intercept=True,
        multi_class="auto",
        class_weight=None,
        tol=1e-6,
        max_iter=100,
        dtype=None,
        random_state=None,
        verbose=0,
    ):
        self.lams = lams
        self.norms = norms
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.kernel_grid = kernel_grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.three_d_array = takes_matrices(self.kernel)
        return tags

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> Self:
        """Choose the settings and fit them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or whatever the kernel takes
            Training samples; with ``kernel="precomputed"`` the Gram matrix.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, in the fits and in the scores.
        groups : array-like of shape (n_samples,), default=None
            Groups, for splitters that keep them together.

        Returns
        -------
        self : KreinLogisticRegressionCV
            The fitted estimator.
        """
        self.lams_ = self._check_parameters()
        X, y = check_samples(self, X, y, reset=True, dtype=self.dtype)
        given = check_weights(sample_weight, len(y))
        self.classes_, index = check_classes(y, given)
        folds = self._folds(y, groups)
        weights = self._fold_weights(folds, given, index)
        onehot = (index[:, None] == np.arange(len(self.classes_))).astype(float)
        two = len(self.classes_) == 2
        columns = onehot[:, 1:] if two else onehot
        multinomial = not two and self.multi_class != "ovr"
        link = link_of(len(self.classes_), multinomial)
        judge = _Judge(self, y, given if sample_weight is not None else None, link)

        self.kernel_settings_ = self._kernel_settings(X)
        shape = (len(self.kernel_settings_), len(self.norms), len(self.lams_))
        self.scores_ = np.empty((*shape, len(folds)))
        held: dict[tuple[int, int], list[Array]] = {}
        n_unconverged = 0
        watch = watcher(self.verbose)
        for i, setting in enumerate(self.kernel_settings_):
            K = training_gram(self._with(setting), X)
            for j, norm in enumerate(self.norms):
                part = held_out(
                    norm,
                    K,
                    columns,
                    weights,
                    self.lams_,
                    folds,
                    solver=DualNewton(self.max_iter),
                    multinomial=multinomial,
                    fit_intercept=bool(self.fit_intercept),
                    tol=max(SEARCH_TOL, self.tol),
                )
                n_unconverged += part.n_unconverged
                held[i, j] = part.scores
                for f, (_, rows) in enumerate(folds):
                    self.scores_[i, j, :, f] = judge(part.scores[f], rows)
                if watch is not None:
                    best = self.scores_[i, j].mean(axis=1)
                    row = {"kernel": str(setting), "norm": norm}
                    row |= {"lam": self.lams_[best.argmax()], "score": best.max()}
                    watch(row)
        self._choose(held, folds, len(y), link)
        if n_unconverged:
            total = self.scores_.size
            warnings.warn(
                f"{n_unconverged} of {total} fits in cross-validation did not reach "
                f"residual {max(SEARCH_TOL, self.tol):.0e} within max_iter="
                f"{self.max_iter}; their scores were used as they are.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if self.refit:
            best = self._with(self.kernel_params_, lam=self.lam_, norm=self.norm_)
            self.best_estimator_ = best.fit(X, y, sample_weight=sample_weight)
        return self

    def _check_parameters(self) -> Array:
        check_kernel(self.kernel)
        check_choice("multi_class", self.multi_class, ["auto", "ovr", "multinomial"])
        if isinstance(self.norms, str) or len(self.norms) == 0:
            raise ValueError(
                "'norms' must be a sequence of 'krein' and 'hilbert', got "
                f"{self.norms!r}."
            )
        for norm in self.norms:
            check_choice("norms", norm, ["krein", "hilbert"])
        lams = LAMS if self.lams is None else self.lams
        if np.ndim(lams) != 1 or len(lams) == 0:
            raise ValueError(
                f"'lams' must be a sequence of positive numbers, got {self.lams!r}."
            )
        return np.sort([check_positive("lams", lam) for lam in lams])[::-1]

    def _with(self, setting: dict[str, Any], **chosen: Any) -> KreinLogisticRegression:
        """Return the estimator of one setting."""
        shared = {
            name: getattr(self, name)
            for name in (
                "kernel",
                "fit_intercept",
                "multi_class",
                "class_weight",
                "tol",
                "max_iter",
                "dtype",
            )
        }
        return KreinLogisticRegression(kernel_params=setting, **shared, **chosen)

    def _folds(self, y: Array, groups: Any) -> list[Fold]:
        cv = self.cv
        if isinstance(cv, int):
            seed = 0 if self.random_state is None else self.random_state
            cv = StratifiedKFold(cv, shuffle=True, random_state=seed)
        splitter = check_cv(cv, y, classifier=True)
        return list(splitter.split(np.zeros((len(y), 1)), y, groups))

    def _fold_weights(self, folds: list[Fold], given: Array, index: Array) -> Array:
        """Weights of the samples in each fold: zero if held out, summing to one."""
        weights = np.zeros((len(given), len(folds)))
        for f, (train, _) in enumerate(folds):
            present, place = np.unique(index[train], return_inverse=True)
            w = given[train] * class_weighted(
                self.class_weight, self.classes_[present], place
            )
            weights[train, f] = w / w.sum()
        return weights

    def _kernel_settings(self, X: Any) -> list[dict[str, Any]]:
        fixed = self.kernel_params or {}
        grid = self.kernel_grid
        if grid is None:
            grid = {} if is_precomputed(self.kernel) else default_grid(self.kernel, X)
            grid = {name: values for name, values in grid.items() if name not in fixed}
        return [{**fixed, **setting} for setting in ParameterGrid(grid)]

    def _choose(
        self,
        held: dict[tuple[int, int], list[Array]],
        folds: list[Fold],
        n: int,
        link: Link,
    ) -> None:
        mean = self.scores_.mean(axis=3)
        # lams fall, so that the first of equal scores has the largest
        by_lam = np.where(np.isnan(mean), -np.inf, mean).transpose(2, 0, 1)
        k, i, j = np.unravel_index(by_lam.argmax(), by_lam.shape)
        self.lam_ = float(self.lams_[k])
        self.norm_ = self.norms[j]
        self.kernel_params_ = self.kernel_settings_[i]
        self.best_score_ = float(mean[i, j, k])
        self.held_out_proba_ = np.full((n, len(self.classes_)), np.nan)
        for (_, rows), scores in zip(folds, held[int(i), int(j)], strict=True):
            self.held_out_proba_[rows] = np.exp(log_probabilities(scores[k], link))

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples, as in `KreinLogisticRegression.decision_function`.

        Returns
        -------
        ndarray of shape (n_new,) or (n_new, n_classes)
            Scores.
        """
        return self._best(X).decision_function(X)

    def predict(self, X: Any) -> Array:
        """Return the most probable labels.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples.

        Returns
        -------
        ndarray of shape (n_new,)
            Labels.
        """
        return self._best(X).predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._best(X).predict_proba(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities, without underflow.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or whatever the kernel takes
            Samples.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            Log-probabilities, in the order of ``classes_``.
        """
        return self._best(X).predict_log_proba(X)

    def _best(self, X: Any) -> KreinLogisticRegression:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                "KreinLogisticRegressionCV was fitted with refit=False and has no "
                "model to predict with: set refit=True and fit again."
            )
        # names and number of features are those that this estimator has seen
        check_samples(self, X, reset=False, dtype=self.dtype)
        return self.best_estimator_


class _Judge:
    """Scores held-out samples for each lam with any scikit-learn scorer."""

    def __init__(
        self,
        estimator: KreinLogisticRegressionCV,
        y: Array,
        weights: Array | None,
        link: Link,
    ) -> None:
        self.classes, self.y, self.weights, self.link = (
            estimator.classes_,
            y,
            weights,
            link,
        )
        self.log_loss = estimator.scoring == "neg_log_loss"
        self.scorer = check_scoring(estimator, scoring=estimator.scoring)

    def __call__(self, scores: Array, rows: Array) -> Array:
        """Return one score for each lam."""
        y = self.y[rows]
        w = None if self.weights is None else self.weights[rows]
        if self.log_loss:
            # By hand, since a fold need not hold every class.
            right = np.searchsorted(self.classes, y)
            logs = np.stack([log_probabilities(s, self.link) for s in scores])
            return np.average(logs[:, np.arange(len(y)), right], axis=1, weights=w)
        extra = {} if w is None else {"sample_weight": w}
        positions = np.arange(len(rows))[:, None]
        return np.array(
            [
                self.scorer(_HeldOut(self.classes, s, self.link), positions, y, **extra)
                for s in scores
            ]
        )


class _HeldOut(ClassifierMixin, BaseEstimator):
    """A classifier that answers with scores found before; X are positions."""

    def __init__(self, classes: Array, scores: Array, link: Link) -> None:
        self.classes, self.scores, self.link = classes, scores, link
        self.classes_ = classes

    def decision_function(self, X: Array) -> Array:
        return decision(self.scores[X[:, 0]])

    def predict(self, X: Array) -> Array:
        return labels(self.scores[X[:, 0]], self.classes)

    def predict_proba(self, X: Array) -> Array:
        return np.exp(log_probabilities(self.scores[X[:, 0]], self.link))
