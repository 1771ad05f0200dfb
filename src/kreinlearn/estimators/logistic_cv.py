"""Indefinite kernel logistic regression that chooses its own settings."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.validation import check_is_fitted

from kreinlearn._threads import few_threads
from kreinlearn._typing import Array
from kreinlearn._validation import check_choice, check_positive
from kreinlearn.crossval import N_LAMS, SEARCH_TOL, Fold, Held, held_out, where_held_out
from kreinlearn.estimators.base import (
    check_kernel,
    check_samples,
    takes_matrices,
    training_operator,
)
from kreinlearn.estimators.fitting import positive_definite
from kreinlearn.estimators.judge import Judge, pick, pooling_weights
from kreinlearn.estimators.logistic import KreinLogisticRegression
from kreinlearn.estimators.predicting import Probable
from kreinlearn.estimators.settings import kernel_settings, kernels_of
from kreinlearn.estimators.support import is_precomputed, prediction, share_support
from kreinlearn.estimators.targets import check_classes, check_weights, normalized
from kreinlearn.exceptions import ConvergenceWarning
from kreinlearn.losses import link_of, log_probabilities
from kreinlearn.operators import stored
from kreinlearn.solvers.monitor import callback_for
from kreinlearn.solvers.newton import DualNewton

ROUNDING = 1e-10
"""Negative eigenvalues this small beside the diagonal leave both norms the same."""
SHARED = (
    "fit_intercept",
    "multi_class",
    "class_weight",
    "tol",
    "max_iter",
    "dtype",
    "operator",
)
"""Parameters handed on to the estimator of one setting."""


class KreinLogisticRegressionCV(Probable, ClassifierMixin, BaseEstimator):
    """Logistic regression with any similarity, its settings by cross-validation.

    For each setting of the kernel, lam and the norm are chosen on held-out samples.
    The best of all settings is learned, and by default the settings are averaged,
    each by the weight that its held-out predictions earn it.

    Parameters
    ----------
    lams : sequence of float, default=None
        Regularizations to try; None for ten values from 100 / n to 0.001 / n.
    norms : sequence of {"krein", "hilbert"}, default=("krein", "hilbert")
        Norms to try; where K has no negative eigenvalue they are the same.
    kernel : str, callable or sequence of these, default=("tl1", "rbf", "laplacian")
        Kernels to try, or the only one; "precomputed" for a Gram matrix.
    kernel_params : dict, default=None
        Parameters that are fixed, if there is one kernel.
    kernel_grid : dict, default=None
        Parameters to try: for one kernel lists of values by parameter, for several
        kernels such a dict by name. None, or a name left out, means the kernel's own
        grid: ``ratio`` 0.1 to 0.9 for "tl1", multiples of the median distance for
        Gaussians, also those between covariance matrices. An empty dict tries nothing.
    cv : int, splitter or iterable, default=5
        As in scikit-learn; an int means stratified folds, shuffled by
        ``random_state``.
    scoring : str or callable, default="neg_log_loss"
        The judge. Log-loss chooses better than accuracy on small data, where accuracy
        has many ties.
    average : bool, default=True
        Whether to average the scores of all settings of the kernel, each with its
        best lam and norm, instead of using the best setting alone.
    refit : bool, default=True
        Whether to fit what was chosen to all samples; without it nothing can be
        predicted.
    fit_intercept, multi_class, class_weight, tol, max_iter, dtype, operator, verbose
        As in `KreinLogisticRegression`.
    random_state : int or RandomState, default=None
        Shuffles the folds if ``cv`` is an int; None means 0.

    Attributes
    ----------
    kernel_, kernel_params_, norm_, lam_ : str or callable, dict, str, float
        The best setting.
    scores_ : ndarray of shape (n_kernel_settings, n_norms, n_lams, n_folds)
        Scores of the held-out samples; larger is better.
    lams_ : ndarray of shape (n_lams,)
        Regularizations tried, decreasing.
    kernel_settings_ : list of (kernel, dict)
        Kernels and their parameters tried, in the order of ``scores_``.
    best_score_ : float
        Mean score of the best setting over the folds.
    held_out_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of each sample while it was held out, averaged as in prediction,
        for calibration plots; NaN where ``cv`` never held it out.
    estimators_ : list of KreinLogisticRegression
        What predictions are made of, fitted to all samples; if ``refit``.
    support_ : ndarray of shape (n_support,)
        Positions of the training samples that any of them needs.
    weights_ : ndarray of shape (n_estimators,)
        Their weights, which sum to one.
    n_iter_ : int
        Most iterations of any of them.
    classes_, n_features_in_, feature_names_in_
        As in `KreinLogisticRegression`.

    Notes
    -----
    Ties go to the larger lam, then to the setting that comes first. The folds with
    the norm a'Ka are solved as one block with the grid of lam, see
    ``kreinlearn.estimators.cross``; the weights are those of
    ``kreinlearn.estimators.judge.pooling_weights``.

    Examples
    --------
    >>> from kreinlearn import KreinLogisticRegressionCV
    >>> from kreinlearn.datasets import make_monks
    >>> from sklearn.preprocessing import minmax_scale
    >>> X, y = make_monks(1)
    >>> X, y = minmax_scale(X)[::4], y[::4]
    >>> model = KreinLogisticRegressionCV(kernel="tl1", lams=[1e-2, 1e-3])
    >>> model.fit(X, y).scores_.shape  # settings of the kernel, norms, lams, folds
    (6, 2, 2, 5)
    """

    def __init__(
        self,
        lams=None,
        norms=("krein", "hilbert"),
        kernel=("tl1", "rbf", "laplacian"),
        kernel_params=None,
        kernel_grid=None,
        cv=5,
        scoring="neg_log_loss",
        average=True,
        refit=True,
        fit_intercept=True,
        multi_class="auto",
        class_weight=None,
        tol=1e-6,
        max_iter=100,
        dtype=None,
        operator="auto",
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
        self.average = average
        self.refit = refit
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.operator = operator
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.three_d_array = any(
            map(takes_matrices, kernels_of(self.kernel))
        )
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
        lams = self._check_parameters()
        X, y = self._check_samples(X, y, reset=True)
        given = check_weights(sample_weight, len(y))
        self.classes_, index = check_classes(y, given)
        self.lams_ = np.array(N_LAMS) / len(y) if lams is None else lams
        self.kernel_settings_ = kernel_settings(
            self.kernel, X, self.kernel_params, self.kernel_grid
        )
        folds = self._folds(y, groups)
        two = len(self.classes_) == 2
        multinomial = not two and self.multi_class != "ovr"
        self._link = link_of(len(self.classes_), multinomial)
        judge = Judge(self, y, None if sample_weight is None else given, self._link)
        with few_threads(len(y)):
            held = self._search(X, index, given, folds, judge, multinomial)
        settings, weights = self._choose(held, folds, judge, given)
        if self.refit:
            self.weights_ = weights[weights > 0]
            self.estimators_ = [
                self._with(kernel, params, lam=lam, norm=norm).fit(
                    X, y, sample_weight=sample_weight
                )
                for (kernel, params, norm, lam), weight in zip(
                    settings, weights, strict=True
                )
                if weight > 0
            ]
            self.support_ = share_support(self.estimators_)
            self.n_iter_ = max(model.n_iter_ for model in self.estimators_)
        return self

    def _search(
        self,
        X: Any,
        index: Array,
        given: Array,
        folds: list[Fold],
        judge: Judge,
        multinomial: bool,
    ) -> dict[tuple[int, int], Held]:
        """Fit every setting to every fold; learn ``scores_``."""
        onehot = (index[:, None] == np.arange(len(self.classes_))).astype(float)
        columns = onehot[:, 1:] if len(self.classes_) == 2 else onehot
        weights = np.zeros((len(given), len(folds)))  # zero if held out
        for f, (train, _) in enumerate(folds):
            weights[train, f] = normalized(
                given[train], self.class_weight, self.classes_, index[train]
            )
        shape = (len(self.kernel_settings_), len(self.norms), len(self.lams_))
        self.scores_ = np.empty((*shape, len(folds)))
        held: dict[tuple[int, int], Held] = {}
        watch = callback_for(self.verbose)
        for i, (kernel, params) in enumerate(self.kernel_settings_):
            K = training_operator(self._with(kernel, params), X, warn=False)
            same = len(self.norms) > 1 and positive_definite(
                stored(K, "norms=('krein', 'hilbert')"),
                ROUNDING * float(np.abs(K.diagonal()).mean()),
            )
            norms = self.norms[:1] if same else self.norms
            found = held_out(
                norms,
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
            for j, norm in enumerate(self.norms):
                if j >= len(found):
                    held[i, j], self.scores_[i, j] = held[i, 0], self.scores_[i, 0]
                    continue
                held[i, j] = found[j]
                for f, (_, rows) in enumerate(folds):
                    for k, scores in enumerate(held[i, j].scores[f]):
                        self.scores_[i, j, k, f] = judge(scores, rows)
                if watch is not None:
                    best = self.scores_[i, j].mean(axis=1)
                    row = {"kernel": _name(kernel), **params, "norm": norm}
                    row |= {"lam": self.lams_[best.argmax()], "score": best.max()}
                    watch(row)
        return held

    def _choose(
        self,
        held: dict[tuple[int, int], Held],
        folds: list[Fold],
        judge: Judge,
        given: Array,
    ) -> tuple[list[tuple[Any, dict[str, Any], str, float]], Array]:
        """Learn the best setting; return one setting a kernel setting, and weights."""
        picks, best = pick(self.scores_)
        settings = [
            (*self.kernel_settings_[i], self.norms[j], float(self.lams_[k]))
            for i, (j, k) in enumerate(picks)
        ]
        self.kernel_, self.kernel_params_, self.norm_, self.lam_ = settings[best]
        self.best_score_ = float(self.scores_[best, *picks[best]].mean())
        chosen = [held[i, j] for i, (j, _) in enumerate(picks)]
        lams = [k for _, k in picks]
        seen, pooled = where_held_out(chosen, lams, folds, len(given))
        weights = (np.arange(len(picks)) == best).astype(float)
        if self.average and len(picks) > 1:
            logs = np.stack([judge.logs(scores, seen) for scores in pooled])
            weights = pooling_weights(logs, given[seen])
        scores = np.tensordot(weights, pooled, 1)
        self.held_out_proba_ = np.full((len(given), len(self.classes_)), np.nan)
        self.held_out_proba_[seen] = np.exp(log_probabilities(scores, self._link))
        used = np.flatnonzero(weights)
        self._warn(np.array([chosen[g].converged[:, lams[g]] for g in used]))
        return settings, weights

    def _warn(self, converged: Array) -> None:
        if not converged.all():
            tol = max(SEARCH_TOL, self.tol)
            warnings.warn(
                f"{(~converged).sum()} of {converged.size} fits of the chosen settings "
                f"did not reach residual {tol:.0e} within max_iter={self.max_iter} in "
                "cross-validation; their scores were used as they are. Raise max_iter, "
                "or try larger lams.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _check_parameters(self) -> Array | None:
        for kernel in kernels_of(self.kernel):
            check_kernel(kernel)
        if len(kernels_of(self.kernel)) > 1 and (
            self.kernel_params or any(map(is_precomputed, kernels_of(self.kernel)))
        ):
            raise ValueError(
                "Several kernels go with neither 'kernel_params' nor 'precomputed', "
                f"got kernel={self.kernel!r} and kernel_params={self.kernel_params!r}."
            )
        check_choice("multi_class", self.multi_class, ["auto", "ovr", "multinomial"])
        if isinstance(self.norms, str) or len(self.norms) == 0:
            raise ValueError(
                "'norms' must be a sequence of 'krein' and 'hilbert', got "
                f"{self.norms!r}."
            )
        for norm in self.norms:
            check_choice("norms", norm, ["krein", "hilbert"])
        if self.lams is None:
            return None
        if np.ndim(self.lams) != 1 or len(self.lams) == 0:
            raise ValueError(
                f"'lams' must be a sequence of positive numbers, got {self.lams!r}."
            )
        return np.sort([check_positive("lams", lam) for lam in self.lams])[::-1]

    def _check_samples(self, X: Any, y: Any = None, *, reset: bool) -> tuple[Any, Any]:
        return check_samples(
            self, X, y, reset=reset, dtype=self.dtype, kernel=kernels_of(self.kernel)[0]
        )

    def _with(
        self, kernel: Any, params: dict[str, Any], **chosen: Any
    ) -> KreinLogisticRegression:
        """Return the estimator of one setting."""
        shared = {name: getattr(self, name) for name in SHARED}
        return KreinLogisticRegression(kernel, params, **shared, **chosen)

    def _folds(self, y: Array, groups: Any) -> list[Fold]:
        cv = self.cv
        if isinstance(cv, int):
            seed = 0 if self.random_state is None else self.random_state
            cv = StratifiedKFold(cv, shuffle=True, random_state=seed)
        splitter = check_cv(cv, y, classifier=True)
        return list(splitter.split(np.zeros((len(y), 1)), y, groups))

    def _scores(self, X: Any) -> Array:
        """Averaged scores of new samples, shape (n_new, n_columns)."""
        check_is_fitted(self)
        if not hasattr(self, "estimators_"):
            raise AttributeError(
                "KreinLogisticRegressionCV was fitted with refit=False and has no "
                "model to predict with: set refit=True and fit again."
            )
        X, _ = self._check_samples(X, reset=False)
        parts = [X] * len(self.estimators_)
        if is_precomputed(self.kernel) and X.shape[1] < self.n_features_in_:
            # Columns of support_, of which each estimator has its own.
            own = [np.searchsorted(self.support_, e.support_) for e in self.estimators_]
            parts = [X[:, places] for places in own]
        each = [prediction(e, K) for e, K in zip(self.estimators_, parts, strict=True)]
        return np.asarray(np.tensordot(self.weights_, np.stack(each), 1))


def _name(kernel: Any) -> str:
    return kernel if isinstance(kernel, str) else getattr(kernel, "__name__", "kernel")
