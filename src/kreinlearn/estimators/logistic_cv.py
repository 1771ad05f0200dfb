"""Indefinite kernel logistic regression that chooses its own settings."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter
from sklearn.utils.validation import check_is_fitted

from kreinlearn._typing import Array, Kernel, Seed
from kreinlearn._validation import check_choice, check_count, check_positive
from kreinlearn.crossval import (
    Fold,
)
from kreinlearn.estimators._callbacks import subtask, tells_callbacks
from kreinlearn.estimators._inputs import (
    check_classes,
    check_symmetrize,
    check_weights,
    combined,
    is_pairwise,
    kernels_of,
)
from kreinlearn.estimators._outputs import predictions
from kreinlearn.estimators._racing import (
    folds_among,
    some_of,
)
from kreinlearn.estimators._routing import routed, router_of
from kreinlearn.estimators._search import (
    Judge,
    kernel_settings,
)
from kreinlearn.estimators._searching import Searching
from kreinlearn.estimators._size import mind_search
from kreinlearn.estimators._solve import measures_told
from kreinlearn.kernels import Similarities
from kreinlearn.losses import link_of
from kreinlearn.operators import few_threads
from kreinlearn.spectrum.norms import NORMS

REGIMES = ("nonconvex", "unknown", "unique")
"""Values of ``regime_``, the least favorable first."""


class KreinLogisticRegressionCV(Searching):
    """Logistic regression with any similarity, its settings by cross-validation.

    For each setting of the kernel and each norm, lam is chosen on held-out samples.
    The best of all is learned, and by default all are averaged, each by the weight that
    its held-out predictions earn it.

    Parameters
    ----------
    lams : sequence of float, default=None
        Regularizations to try; None for values that suit the matrix: ``u s / n`` for n
        samples, the scale s of the matrix (the mean of its absolute eigenvalues) and u
        from 100 to 0.001, or down to 1e-7 for as long as the smallest is the best.
    norms : sequence of {"krein", "hilbert", "euclidean"}, \
            default=("hilbert", "euclidean")
        Norms to try. Similarities that are not symmetric are taken as they are by
        "euclidean" alone, and a matrix that is not square if no other norm is to be
        tried. Where K has no negative eigenvalue, "krein" and
        "hilbert" are the same.
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
        Whether to average the scores of all settings of the kernel and all norms, each
        with its best lam, instead of using the best setting alone.
    search : {"auto", "full"}, default="auto"
        "full" tries all settings and norms on all folds. "auto" first tries them on two
        folds, at most 400 samples and every other lam, and drops those that are clearly
        behind: see ``dropped_``. Of the others it tries values of lam around the best,
        and settings are chosen by at most 1,000 samples, unless ``lams`` is given.
        Up to 150 samples of two classes need no race. Beyond 5,000 samples it leaves
        "hilbert", which needs eigenvectors of all of them, to "euclidean" if both are
        among the norms.
        With another judge than log-loss nothing is left out.
    refit : bool, default=True
        Whether to fit what was chosen to all samples; without it nothing can be
        predicted.
    fit_intercept, multi_class, class_weight, tol, max_iter, dtype, operator : object
        As in `KreinLogisticRegression`.
    symmetrize, verbose : object
        As in `KreinLogisticRegression`.
    random_state : int or RandomState, default=None
        Shuffles the folds if ``cv`` is an int; None means 0.
    n_jobs : int, default=None
        Settings that are tried at the same time, by threads; -1 for one per processor,
        None for one unless a ``joblib.parallel_config`` says otherwise. With one, its
        folds have a thread per processor, which is as fast from some hundred samples
        on. The result is the same.
    max_time : float, default=None
        Seconds after which no further setting is tried, the most promising being first:
        the best so far is then fitted, alone, in at most as many seconds again. At
        least one setting is tried, whatever it takes.

    Attributes
    ----------
    kernel_, kernel_params_, norm_, lam_ : str or callable, dict, str, float
        The best setting.
    scores_ : ndarray of shape (n_kernel_settings, n_norms, n_lams, n_folds)
        Scores of the held-out samples; larger is better. NaN where nothing was tried.
    lams_ : ndarray of shape (n_kernel_settings, n_lams)
        Regularizations of each setting, decreasing.
    lam_units_ : ndarray of shape (n_kernel_settings,)
        Unit of lam for each setting, s / n: with ``lams=None`` all settings try the
        same multiples of it.
    kernel_settings_ : list of (kernel, dict)
        Kernels and their parameters tried, in the order of ``scores_``.
    dropped_ : list of dict
        Settings that were dropped early: ``kernel``, ``params``, ``norm``, the
        held-out samples it was judged by (``rows``), how far it was ``behind`` the best
        in mean log-likelihood, the standard ``error`` of that, and the ``reason``.
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
        Most iterations of any of them, at least one.
    residual_ : float
        Largest ``residual_`` of any of them, as in `KreinLogisticRegression`.
    regime_ : {"unique", "nonconvex", "unknown"}
        "nonconvex" if any of them is, else "unknown" if any of them is, else "unique".
    status_ : str
        "max_time" if settings were left out for lack of time; else the worst ending of
        any of them, as in `KreinLogisticRegression`.
    classes_, n_features_in_, feature_names_in_
        As in `KreinLogisticRegression`.

    Notes
    -----
    Where log-loss is the judge, one error is added to those among held-out samples, so
    that a model that was right on all of them is not taken for infallible. ``scores_``
    are without it. Ties go to the larger lam, then to the setting that comes first. For
    each setting
    of the kernel and each norm, all folds, classes and values of lam are solved as one
    block, see ``kreinlearn.crossval``; s is that of all samples. What the kernels
    measure between samples, such as their distances, is computed once for all settings
    and kept while it fits in memory, unless it takes less time to compute than to look
    up. Settings are weighted by pseudo Bayesian model averaging with the Bayesian
    bootstrap.

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
    >>> model.norms
    ('hilbert', 'euclidean')
    """

    # Groups are the splitter's, and so is the question whether it takes them.
    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012  read by scikit-learn

    def __init__(
        self,
        lams: Sequence[float] | Array | None = None,
        norms: Sequence[str] = ("hilbert", "euclidean"),
        kernel: Kernel | Sequence[Kernel] = ("tl1", "rbf", "laplacian"),
        kernel_params: dict[str, Any] | None = None,
        kernel_grid: Any = None,
        cv: Any = 5,
        scoring: Any = "neg_log_loss",
        average: bool = True,
        search: str = "auto",
        refit: bool = True,
        fit_intercept: bool = True,
        multi_class: str = "auto",
        class_weight: str | dict[Any, float] | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        dtype: str | None = None,
        operator: str = "auto",
        symmetrize: str | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
        max_time: float | None = None,
    ) -> None:
        self.lams = lams
        self.norms = norms
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.kernel_grid = kernel_grid
        self.cv = cv
        self.scoring = scoring
        self.average = average
        self.search = search
        self.refit = refit
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.operator = operator
        self.symmetrize = symmetrize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_time = max_time

    @tells_callbacks(3)  # race, search, final fits
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
            Training samples, as in `KreinLogisticRegression`.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, in the fits and in the scores. With metadata routing, a scorer
            that is no name gets them if it asks for them.
        groups : array-like of shape (n_samples,), default=None
            Groups, for splitters that keep them together.

        Returns
        -------
        self : KreinLogisticRegressionCV
            The fitted estimator.
        """
        lams = self._check_parameters()
        samples, labels = self._check_training(X, y, sample_weight, groups)
        given = check_weights(sample_weight, len(labels))
        self.classes_, index = check_classes(labels, given)
        counts = combined(given, self.class_weight, self.classes_, index)
        check_classes(labels, counts)  # those of a class may be zero
        shared = Similarities(samples)
        self.kernel_settings_ = kernel_settings(
            self.kernel, shared, self.kernel_params, self.kernel_grid
        )
        score_weight, groups = routed(self, sample_weight, groups)
        folds = self._folds(labels, groups)
        self._link = link_of(len(self.classes_), self.multi_class != "ovr")
        judged = None if score_weight is None else given
        rows = self._search_rows(index, lams)
        work = (len(rows), len(self.kernel_settings_), len(self.classes_))
        norms = self._norms_for(len(labels))
        mind_search(samples, self.kernel, norms, *work)
        with few_threads(len(labels)), measures_told(self.verbose):
            if len(rows) < len(labels):
                judged = None if judged is None else judged[rows]
                folds = folds_among(folds, rows)
            judge = Judge(self, self.scoring, labels[rows], judged)
            part = some_of(shared, rows, self.kernel)
            trial = self._trial(
                part,
                rows,
                (index[rows], given[rows], counts[rows]),
                folds,
                judge,
                lams,
                norms,
            )
            found = self._search(trial, rows, part, len(labels))
            chosen, shares = self._choose(found, folds, judge, given[rows])
            if len(rows) < len(labels):
                chosen = self._for_all(chosen, rows, counts)
            if self.refit:
                with subtask(self, "final fits"):
                    self._refit(shared, index, counts, chosen, shares)
        return self

    @property
    def residual_(self) -> float:
        """Largest ``residual_`` of the averaged models."""
        return float(np.max([model.residual_ for model in self.estimators_]))

    @property
    def regime_(self) -> str:
        """Least favorable ``regime_`` of the averaged models."""
        found = {model.regime_ for model in self.estimators_}
        return next(name for name in REGIMES if name in found)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who takes which metadata: this, the splitter, and the scorer.

        Returns
        -------
        MetadataRouter
            As scikit-learn's metadata routing takes it.
        """
        return router_of(self)

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
        check_choice("search", self.search, ["auto", "full"])
        is_number = isinstance(self.n_jobs, Integral) and self.n_jobs != 0
        if self.n_jobs is not None and not is_number:
            raise ValueError(
                "'n_jobs' must be None or an integer other than 0, such as -1 for one "
                f"job per processor, got {self.n_jobs!r}."
            )
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        if self.max_time is not None:
            check_positive("max_time", self.max_time)
        if isinstance(self.norms, str) or len(self.norms) == 0:
            listed = ", ".join(map(repr, NORMS))
            raise ValueError(
                f"'norms' must be a sequence of some of {listed}, got {self.norms!r}."
            )
        for norm in self.norms:
            check_choice("norms", norm, NORMS)
        check_symmetrize(self.symmetrize)
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
        each = predictions(self.estimators_, parts)
        return np.asarray(np.tensordot(self.weights_, each, 1))
