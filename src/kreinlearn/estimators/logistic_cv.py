"""Indefinite kernel logistic regression that chooses its own settings."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.validation import check_is_fitted

from kreinlearn._typing import Array
from kreinlearn._validation import check_choice, check_count, check_positive
from kreinlearn.crossval import N_LAMS, SEARCH_TOL, Fold, Held, held_out, where_held_out
from kreinlearn.estimators._inputs import (
    AnyKernel,
    Keywords,
    check_classes,
    check_weights,
    is_pairwise,
    kernel_name,
    kernels_of,
    normalized,
    one_per_class,
    training_operator,
)
from kreinlearn.estimators._outputs import Probable, prediction, share_support
from kreinlearn.estimators._search import Judge, kernel_settings, pick, pooling_weights
from kreinlearn.estimators._solve import positive_definite
from kreinlearn.estimators.logistic import KreinLogisticRegression
from kreinlearn.exceptions import ConvergenceWarning, warn_caller
from kreinlearn.kernels import Similarities
from kreinlearn.losses import link_of, log_probabilities
from kreinlearn.operators import Blocked, Dense, few_threads, stored
from kreinlearn.solvers.monitor import callback_for
from kreinlearn.solvers.newton import DualNewton

Chosen = tuple[AnyKernel, Keywords, str, float]
"""A kernel, its parameters, a norm and a lam."""
SAME_NORMS = 1e-10
"""Negative eigenvalues this small relative to the diagonal make both norms the same."""
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


class KreinLogisticRegressionCV(Probable):
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
        Kernels to try, or the only one; "precomputed" for a Gram matrix, "distance"
        for a matrix of distances.
    kernel_params : dict, default=None
        Parameters that are fixed, if there is one kernel.
    kernel_grid : dict, default=None
        Parameters to try: for one kernel lists of values by parameter, for several
        kernels such a dict by name. None, or a name left out, means the kernel's own
        grid: ``ratio`` 0.1 to 0.9 for "tl1", multiples of the median distance for
        Gaussians, also those between covariance matrices; for "distance" eight forms
        and widths. An empty dict tries nothing.
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
    Ties go to the larger lam, then to the setting that comes first. For each setting
    of the kernel, all folds, norms, classes and values of lam are solved as one block,
    see ``kreinlearn.crossval``. What the kernels measure between samples, such as their
    distances, is computed once for all settings and kept while it fits in memory,
    unless it takes less time to compute than to look up. Settings are weighted by
    pseudo Bayesian model averaging with the Bayesian bootstrap.

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

    kernel_: Any  # a callable may have attributes of its own

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

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
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
        samples, labels = self._check_training(X, y)
        given = check_weights(sample_weight, len(labels))
        self.classes_, index = check_classes(labels, given)
        weights = normalized(given, self.class_weight, self.classes_, index)
        check_classes(labels, weights)  # those of a class may be zero
        self.lams_ = np.array(N_LAMS) / len(labels) if lams is None else lams
        shared = Similarities(samples)
        self.kernel_settings_ = kernel_settings(
            self.kernel, shared, self.kernel_params, self.kernel_grid
        )
        folds = self._folds(labels, groups)
        self._link = link_of(len(self.classes_), self.multi_class != "ovr")
        judged = None if sample_weight is None else given
        judge = Judge(self, self.scoring, labels, judged)
        with few_threads(len(labels)):
            held = self._search(shared, index, given, folds, judge)
            chosen, counts = self._choose(held, folds, judge, given)
            if self.refit:
                self._refit(shared, index, weights, chosen, counts)
        return self

    def _search(
        self,
        shared: Similarities,
        index: Array,
        given: Array,
        folds: list[Fold],
        judge: Judge,
    ) -> list[list[Held]]:
        """Fit every setting and norm to every fold; learn ``scores_``."""
        weights = np.zeros((len(given), len(folds)))  # zero if held out
        for f, (train, _) in enumerate(folds):
            weights[train, f] = normalized(
                given[train], self.class_weight, self.classes_, index[train]
            )
        shape = (len(self.kernel_settings_), len(self.norms), len(self.lams_))
        self.scores_ = np.empty((*shape, len(folds)))
        watch = callback_for(self.verbose)
        held: list[list[Held]] = []
        for i, (kernel, params) in enumerate(self.kernel_settings_):
            K = training_operator(shared, kernel, params, self.operator)
            found = self._held_out(K, index, weights, folds)
            for j, (norm, one) in enumerate(zip(self.norms, found, strict=False)):
                for f, (_, rows) in enumerate(folds):
                    self.scores_[i, j, :, f] = [judge(s, rows) for s in one.scores[f]]
                if watch is not None:
                    mean = self.scores_[i, j].mean(axis=1)
                    row = {"kernel": kernel_name(kernel), **params, "norm": norm}
                    row |= {"lam": self.lams_[mean.argmax()], "score": mean.max()}
                    watch(row)
            same = len(self.norms) - len(found)
            self.scores_[i, len(found) :] = self.scores_[i, 0]
            held.append(found + found[:1] * same)
        return held

    def _held_out(
        self, K: Dense | Blocked, index: Array, weights: Array, folds: list[Fold]
    ) -> list[Held]:
        """Return what each norm says of held-out samples; one if all are the same."""
        norms = self.norms
        if len(norms) > 1 and positive_definite(
            stored(K, "norms=('krein', 'hilbert')"),
            SAME_NORMS * float(np.abs(K.diagonal()).mean()),
        ):
            norms = norms[:1]
        return held_out(
            norms,
            K,
            one_per_class(index, len(self.classes_)),
            weights,
            self.lams_,
            folds,
            solver=DualNewton(self.max_iter),
            multinomial=self._link == "multinomial",
            fit_intercept=bool(self.fit_intercept),
            tol=max(SEARCH_TOL, self.tol),
        )

    def _choose(
        self, held: list[list[Held]], folds: list[Fold], judge: Judge, given: Array
    ) -> tuple[list[Chosen], Array]:
        """Learn the best setting; return that of each kernel setting, and weights."""
        picks, best = pick(self.scores_)
        chosen = [
            (*self.kernel_settings_[i], self.norms[j], float(self.lams_[k]))
            for i, (j, k) in enumerate(picks)
        ]
        self.kernel_, self.kernel_params_, self.norm_, self.lam_ = chosen[best]
        self.best_score_ = float(self.scores_[best, *picks[best]].mean())
        mine = [held[i][j] for i, (j, _) in enumerate(picks)]
        lams = [k for _, k in picks]
        seen, pooled = where_held_out(mine, lams, folds, len(given))
        weights = (np.arange(len(picks)) == best).astype(float)
        if self.average and len(picks) > 1:
            logs = np.stack([judge.logs(scores, seen) for scores in pooled])
            weights = pooling_weights(logs, given[seen])
        scores = np.tensordot(weights, pooled, 1)
        self.held_out_proba_ = np.full((len(given), len(self.classes_)), np.nan)
        self.held_out_proba_[seen] = np.exp(log_probabilities(scores, self._link))
        used = np.flatnonzero(weights)
        self._warn(np.array([mine[g].converged[:, lams[g]] for g in used]))
        return chosen, weights

    def _refit(
        self,
        shared: Similarities,
        index: Array,
        weights: Array,
        chosen: list[Chosen],
        counts: Array,
    ) -> None:
        """Fit the settings that count to all samples."""
        parameters = {name: getattr(self, name) for name in SHARED}
        self.estimators_ = []
        for g in np.flatnonzero(counts):
            kernel, params, norm, lam = chosen[g]
            model = KreinLogisticRegression(
                kernel, params, lam=lam, norm=norm, **parameters
            )
            model.classes_ = self.classes_
            if hasattr(self, "n_features_in_"):
                model.n_features_in_ = self.n_features_in_
            K = training_operator(shared, kernel, params, self.operator)
            model._fit(K, shared.X, index, weights)
            self.estimators_.append(model)
        self.weights_ = counts[counts > 0]
        self.support_ = share_support(self.estimators_)
        self.n_iter_ = max(model.n_iter_ for model in self.estimators_)

    def _warn(self, converged: Array) -> None:
        if converged.all():
            return
        warn_caller(
            f"{(~converged).sum()} of {converged.size} fits of the chosen settings did "
            f"not reach residual {max(SEARCH_TOL, self.tol):.0e} within "
            f"max_iter={self.max_iter} in cross-validation; their scores were used as "
            "they are. Raise max_iter, or try larger lams.",
            ConvergenceWarning,
        )

    def _check_parameters(self) -> Array | None:
        self._check_kernel()
        kernels = kernels_of(self.kernel)
        if len(kernels) > 1 and (self.kernel_params or any(map(is_pairwise, kernels))):
            raise ValueError(
                "Several kernels go with neither 'kernel_params' nor 'precomputed' nor "
                f"'distance', got kernel={self.kernel!r} and kernel_params="
                f"{self.kernel_params!r}."
            )
        check_choice("multi_class", self.multi_class, ["auto", "ovr", "multinomial"])
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
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

    def _folds(self, y: Array, groups: ArrayLike | None) -> list[Fold]:
        cv = self.cv
        if isinstance(cv, int):
            seed = 0 if self.random_state is None else self.random_state
            cv = StratifiedKFold(cv, shuffle=True, random_state=seed)
        splitter = check_cv(cv, y, classifier=True)
        return list(splitter.split(np.zeros((len(y), 1)), y, groups))

    def _scores(self, X: ArrayLike) -> Array:
        """Averaged scores of new samples, shape (n_new, n_columns)."""
        check_is_fitted(self)
        if not hasattr(self, "estimators_"):
            raise AttributeError(
                "KreinLogisticRegressionCV was fitted with refit=False and has no "
                "model to predict with: set refit=True and fit again."
            )
        new = self._check_new(X)
        parts = [new] * len(self.estimators_)
        if is_pairwise(self.kernel) and np.shape(new)[1] < self.n_features_in_:
            # Columns of support_, of which each estimator has its own.
            own = [np.searchsorted(self.support_, e.support_) for e in self.estimators_]
            parts = [np.asarray(new)[:, places] for places in own]
        each = [prediction(e, K) for e, K in zip(self.estimators_, parts, strict=True)]
        return np.asarray(np.tensordot(self.weights_, np.stack(each), 1))
