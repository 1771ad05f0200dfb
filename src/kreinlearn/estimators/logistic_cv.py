"""Indefinite kernel logistic regression that chooses its own settings.

A *setting* is a kernel with its parameters.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import groupby
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from kreinlearn._typing import Array, KernelLike, Seed
from kreinlearn._validation import check_choice, check_count, check_positive
from kreinlearn.estimators._base import (
    ProbabilisticKernelClassifier,
    ValidSamples,
    apply_class_weight,
    check_classes,
    check_weights,
    compute_scores,
    notify_each,
    one_hot,
    share_support,
    subtask,
    with_callbacks,
)
from kreinlearn.estimators._fit import STATUS_ORDER, check_search_cost, report_measures
from kreinlearn.estimators._several import (
    SCALED_MEAN,
    list_matrices,
    measure_scale,
    name_matrix,
    order_matrices,
    stack_with_mean,
)
from kreinlearn.estimators.logistic import KreinLogisticRegression
from kreinlearn.exceptions import (
    ConvergenceWarning,
    IndefiniteKernelWarning,
    warn_caller,
)
from kreinlearn.kernels import ResolvedKernel, Similarities
from kreinlearn.kernels.registry import list_kernels
from kreinlearn.kernels.threads import limit_threads
from kreinlearn.losses import find_link, log_probabilities
from kreinlearn.operators import Blocked, Dense, General, limit_blas_threads
from kreinlearn.search import racing
from kreinlearn.search.candidates import Candidate, SearchContext
from kreinlearn.search.grid import Fold, restrict_folds, stratified_subsample
from kreinlearn.search.ridge import warm_start_scores
from kreinlearn.search.scoring import HeldOutScorer, stack_models, weigh_models
from kreinlearn.solvers.base import Status
from kreinlearn.solvers.monitor import Watch, callback_for
from kreinlearn.spectrum.norms import NORMS, compute_scale

if TYPE_CHECKING:
    import pandas as pd

COVERAGE_ROUNDING = 1e-9
"""Rounding of a coverage times a number of samples."""
MAX_STACK_FOLDS = 10
"""Parts of the folds that are left out in turn to learn weights of a sum of models."""
MIN_STACKED = 0.01
"""Smallest weight in a sum of models, relative to the sum of the weights."""
REGIMES = ("nonconvex", "unknown", "unique")
"""Values of ``regime_``, the least favorable first."""
MAX_DECOMPOSED = 5000
"""Largest number of samples whose eigenvectors are computed unless that is asked for:
they take minutes beyond, for each model."""
MAX_WARM, MAX_WARM_HARD, HARD_UNITS = 300, 1000, 5e-4
"""Largest number of samples for which final fits start from the solution of a ridge
problem, which needs an eigendecomposition; the same where lam is below so many of its
units, and fits from scratch take many steps."""
SINGLE_THREAD_SEARCH = 8000
"""Samples up to which BLAS has one thread. Folds run in threads, so that two threads of
BLAS gain an eighth at 6,000 samples; if processors are shared, they take 3 times as
long as one."""
SHARED_PARAMS = (
    *("fit_intercept", "multi_class", "class_weight", "tol", "max_iter"),
    *("dtype", "operator", "symmetrize", "max_time"),
)
"""Parameters passed to the estimators of single settings."""


class KreinLogisticRegressionCV(ProbabilisticKernelClassifier):
    """Class probabilities from any distance or similarity, tuned by cross-validation.

    For each setting of the kernel and each norm, lam is chosen on held-out samples.
    By default the best five models are averaged, with weights from their held-out
    likelihoods; else the best one is fitted.

    Parameters
    ----------
    kernel : str, callable or sequence of these, default=("tl1", "rbf", "laplacian")
        Comparison of samples; several kernels of tables may be tried. The
        choice depends on X:

        - a matrix of distances: "distance"; of similarities: "precomputed"
        - a table of scaled features: "tl1", "rbf", "laplacian", "linear",
          "polynomial", "tanh", "epanechnikov", "gaussian_difference", "log", "power"
        - time series: "dtw", "wdtw", "adtw", "erp", "lcss", "msm", "twe"
        - sequences: "smith_waterman", "needleman_wunsch", "levenshtein",
          "jaro_winkler"
        - graphs: "weisfeiler_lehman_assignment", "node_assignment"
        - covariance matrices: "spd_affine_invariant", "spd_log_euclid", "spd_stein",
          "spd_euclid"
        - sets of points or histograms: "wasserstein", "sliced_wasserstein",
          "histogram_wasserstein"
        - anything else: a function of two arrays of samples that returns similarities
    kernel_params : dict, default=None
        Parameters that are fixed, if there is one kernel.
    kernel_grid : dict, default=None
        Parameters to try: for one kernel lists of values by parameter, for several
        kernels such a dict by name. None, or a name left out, means the kernel's own
        grid: ``ratio`` 0.1 to 0.9 for "tl1", multiples of the median distance for
        Gaussians, also those between covariance matrices; for "distance" eight forms
        and widths. An empty dict tries nothing.
    norms : sequence of {"krein", "hilbert", "euclidean"}, \
            default=("hilbert", "euclidean")
        Norms to try. Similarities that are not symmetric are accepted by
        "euclidean" alone, and a matrix that is not square if no other norm is to be
        tried. Where K has no negative eigenvalue, "krein" and
        "hilbert" are the same.
    lams : sequence of float, default=None
        Regularizations to try; None for values that suit the matrix: ``u s / n`` for n
        samples, the scale s of the matrix (the mean of its absolute eigenvalues) and u
        from 100 to 0.001, or down to 1e-7 for as long as the smallest is the best.
    cv : int, splitter or iterable, default=5
        As in scikit-learn; an int means stratified folds, shuffled by
        ``random_state``.
    scoring : str or callable, default="neg_log_loss"
        Score to maximize. Log-loss chooses better than accuracy on small data, where
        accuracy has many ties.
    average : bool, default=True
        Whether to average the scores of up to five models, each a setting of the kernel
        and a norm with its best lam, instead of using the best one alone.
    search : {"auto", "full"}, default="auto"
        "full" tries all settings and norms on all folds. "auto" begins with a race: two
        folds, half of the samples but at most 400, and every other lam. It drops what
        is clearly behind: see ``dropped_``. Of the rest it tries values of lam around
        the best one. Settings are chosen by at most 1,000 samples, unless ``lams`` is
        given. Beyond 5,000 samples "hilbert", which needs eigenvectors of all of them,
        is not tried if "euclidean" is. With another ``scoring`` than log-loss nothing
        is left out.
    refit : bool, default=True
        Whether to fit the chosen models to all samples; without it nothing can be
        predicted.
    fit_intercept : bool, default=True
        Whether to add an intercept, which is not penalized.
    multi_class : {"auto", "ovr", "multinomial"}, default="auto"
        Model of three or more classes; "auto" is multinomial.
    class_weight : dict or "balanced", default=None
        Weights of the classes, as in scikit-learn.
    tol : float, default=1e-6
        Largest ``residual_`` of the final fits.
    max_iter : int, default=100
        Largest number of Newton steps of a fit.
    dtype : {"float32", "float64"}, default=None
        Precision of the similarities; that of X by default.
    operator : {"auto", "dense", "blocked"}, default="auto"
        Whether to store the matrix or compute it in blocks; "auto" depends on the free
        memory.
    symmetrize : {"mean", "max", "min"}, default=None
        How to make similarities symmetric. By default only the norm "euclidean" takes
        a matrix that is not symmetric.
    verbose : int or callable, default=0
        Print progress if positive; a callable gets each row of it.
    random_state : int or RandomState, default=None
        Shuffles the folds if ``cv`` is an int; None means 0.
    n_jobs : int, default=None
        Largest number of threads; None or -1 for one per processor. The result does not
        depend on it.
    max_time : float, default=None
        Seconds after which no further setting is tried, the most promising being first:
        the best so far is then fitted, alone, in at most as many seconds again. At
        least one setting is tried, however long it takes.

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
    held_out_index_ : ndarray of shape (n_samples,)
        Position in ``classes_`` of the label of each sample; -1 if its weight is zero.
    estimators_ : list of KreinLogisticRegression
        The averaged models, fitted to all samples; if ``refit``.
    support_ : ndarray of shape (n_support,)
        Positions of the training samples that any of them needs.
    weights_ : ndarray of shape (n_estimators,)
        Their weights, which sum to one; to more than one if models on several matrices
        add up.
    similarity_weights_ : DataFrame
        If several matrices were fitted: the ``weight`` of each in the prediction, with
        its ``standard_error``, and ``score_alone``, the mean held-out score of the best
        model that uses this matrix alone. A weight is that of the models on a matrix
        times the spread of their scores, scaled such that all sum to one; the scaled
        mean counts for each matrix in equal parts. Errors are by the bootstrap, or by
        leaving out folds if models add up.
    estimator_similarities_ : list of str
        The matrix of each of ``estimators_``: a name, or "scaled mean".
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
    If ``scoring`` is log-loss, half an error is added to those among held-out samples
    (Laplace smoothing), so that a model that was right on all of them is not taken for
    infallible. ``scores_`` are without it. Ties go to the larger lam, then to the
    setting that comes first. The scale s is the mean over the training samples of the
    folds. Fits in cross-validation stop early: log-losses in ``scores_`` are off by up
    to 0.003 for u = 0.001, and more for smaller lam. Final fits are exact. What the
    kernels measure between samples, such as their distances, is computed once for all
    settings and kept while it fits in memory, unless it takes less time to compute than
    to look up. Models are weighted by pseudo Bayesian model averaging with the Bayesian
    bootstrap. For several matrices, the weighted sum of the best model of each
    (stacking) takes the place of the average if its held-out log-likelihood is larger
    by more than a standard error.

    See Also
    --------
    KreinLogisticRegression : One setting, without a search.
    LandmarkLogisticRegression : Any number of samples, by similarities with landmarks.
    DistanceSimilarity : Distances to similarities, for other estimators.

    Examples
    --------
    From distances to probabilities:

    >>> from kreinlearn import KreinLogisticRegressionCV
    >>> from scipy.spatial.distance import cdist
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> D = cdist(X, X, "canberra")  # any distance
    >>> model = KreinLogisticRegressionCV(kernel="distance").fit(D[::2, ::2], y[::2])
    >>> D_new = D[1::2, ::2]  # from new samples to training samples
    >>> model.predict_proba(D_new).shape
    (75, 3)
    >>> bool(model.score(D_new, y[1::2]) > 0.9)
    True
    """

    # Groups are the splitter's, and so is the question whether it takes them.
    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012  read by scikit-learn

    def __init__(
        self,
        kernel: KernelLike | Sequence[KernelLike] = ("tl1", "rbf", "laplacian"),
        *,
        kernel_params: dict[str, Any] | None = None,
        kernel_grid: Any = None,
        norms: Sequence[str] = ("hilbert", "euclidean"),
        lams: Sequence[float] | Array | None = None,
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
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.kernel_grid = kernel_grid
        self.norms = norms
        self.lams = lams
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

    @with_callbacks(3)  # race, search, final fits
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
        X : array-like of shape (n_samples, n_features), or samples of the kernel
            Training samples, as in `KreinLogisticRegression`. Several matrices of
            distances or similarities of the same samples: an array of shape
            (n_samples, n_samples, n_matrices), or a dict or list of matrices.
            DataFrames are matched by label.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, in the fits and in the scores. With metadata routing, a scorer
            other than a name gets them if it requests them.
        groups : array-like of shape (n_samples,), default=None
            Groups, for splitters that keep them together.

        Returns
        -------
        self : KreinLogisticRegressionCV
            The fitted estimator.
        """
        kernels, lams = self._check_parameters()
        about = (X, y, sample_weight, groups)
        samples, labels = self._check_training(kernels[0], *about)
        names = self._list_similarities()
        given = check_weights(sample_weight, len(labels))
        self.classes_, index = check_classes(labels, given)
        counts = apply_class_weight(given, self.class_weight, self.classes_, index)
        check_classes(labels, counts)  # weights of a class may be zero
        shared = Similarities(samples, names=names)
        settings = self._list_settings(kernels, shared, names)
        self.kernel_settings_ = [(one.source, one.described_params) for one in settings]
        score_weight, groups = self._route(sample_weight, groups)
        folds = self._make_folds(labels, groups)
        self._link = find_link(len(self.classes_), self.multi_class != "ovr")
        rows = self._draw_rows(index, lams)
        norms = self._select_norms(len(labels))
        work = (len(rows), len(settings), len(self.classes_))
        first = shared.select_given(settings[0]) if settings[0].is_pairwise else samples
        check_search_cost(first, kernels[0], norms, *work)
        n_jobs = None if self.n_jobs is None else effective_n_jobs(self.n_jobs)
        with (
            limit_blas_threads(len(labels), SINGLE_THREAD_SEARCH),
            report_measures(self.verbose),
            nullcontext() if n_jobs is None else limit_threads(n_jobs),
        ):
            part = self._take_samples(kernels[0], shared, rows)
            folds = restrict_folds(folds, rows)
            score_weights = None if score_weight is None else given[rows]
            model = (self.classes_, self._link)
            scored = (labels[rows], score_weights)
            scorer = HeldOutScorer(self, self.scoring, *scored, *model)
            weights = np.zeros((len(rows), len(folds)))  # zero if held out
            for f, (train, _) in enumerate(folds):
                own = (given[rows[train]], self.class_weight, self.classes_)
                weights[train, f] = apply_class_weight(*own, index[rows[train]])
            similarities = partial(self._make_operator, part, rows)
            targets = one_hot(index[rows], len(self.classes_))
            data = (folds, targets, counts[rows], weights, scorer)
            fits = (bool(self.fit_intercept), self.max_iter)
            context = SearchContext(similarities, settings, norms, lams, *data, *fits)
            candidates = self._search(context, part, rows, index[rows], len(labels))
            shares = self._choose(candidates, context, given[rows])
            ratio = context.n_used / np.count_nonzero(counts)
            self._rescale(ratio, rows, len(labels))
            self.held_out_index_ = np.where(counts > 0, index, -1)
            if self.refit:
                with subtask(self, "final fits"):
                    used = [candidates[c] for c in np.flatnonzero(shares)]
                    self._refit(settings, shared, index, counts, used, ratio)
                self.weights_ = shares[shares > 0]
        return self

    def predict_set(
        self, X: ArrayLike, *, coverage: float = 0.95, by_class: bool = False
    ) -> Array:
        """Return the labels that cannot be ruled out, as conformal prediction sets.

        A label is in the set of a sample if its probability is at least a threshold:
        the one that ``coverage`` of the training samples reach with their own labels
        in ``held_out_proba_``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or samples of the kernel
            Samples, as in `predict`.
        coverage : float, default=0.95
            Fraction of samples whose set should hold their label.
        by_class : bool, default=False
            Whether to use a threshold for each class, so that rare classes are covered
            as often as others. Sets are larger.

        Returns
        -------
        ndarray of bool of shape (n_new, n_classes)
            Sets of labels, in the order of ``classes_``. The most probable label is
            always in the set. If there are too few training samples for the coverage,
            all labels are in all sets, with a warning.

        Notes
        -----
        There is no guarantee for finite samples: the settings were chosen on the same
        folds, and the thresholds are applied to a model of all samples.
        """
        check_is_fitted(self)
        if not 0 < coverage < 1:
            raise ValueError(f"'coverage' must be between 0 and 1, got {coverage!r}.")
        if not hasattr(self, "held_out_index_"):
            raise ValueError(
                "A version without prediction sets saved the model; fit it again."
            )
        proba, own = self.predict_proba(X), self.held_out_index_
        own = np.where(np.isfinite(self.held_out_proba_[:, 0]), own, -1)
        reached = self.held_out_proba_[np.arange(len(own)), own]
        every = range(len(self.classes_))
        groups = [own == k for k in every] if by_class else [own >= 0] * len(every)
        thresholds = [find_threshold(reached[rows], coverage) for rows in groups]
        if min(thresholds) == 0:
            few = min(int(rows.sum()) for rows in groups)
            warn_caller(
                f"{few} samples{' of a class' * by_class} are too few for a coverage "
                f"of {coverage:g}: sets hold labels that could not be ruled out. Use a "
                f"coverage of at most {few / (few + 1):.3g}."
            )
        found = proba >= np.array(thresholds)
        found[np.arange(len(proba)), proba.argmax(axis=1)] = True
        return np.asarray(found)

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
        """Return the metadata that this estimator, the splitter and the scorer request.

        Returns
        -------
        MetadataRouter
            For scikit-learn's metadata routing.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        to_split = MethodMapping().add(caller="fit", callee="split")
        router.add(splitter=self.cv, method_mapping=to_split)
        if not isinstance(self.scoring, str):
            to_score = MethodMapping().add(caller="fit", callee="score")
            router.add(scorer=self.scoring, method_mapping=to_score)
        return router

    def _route(
        self, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> tuple[ArrayLike | None, ArrayLike | None]:
        """Return the weights for the scorer, and the groups for the splitter.

        A scorer given by name gets the weights of the fit.
        """
        if not get_config()["enable_metadata_routing"]:
            return sample_weight, groups
        given = {"sample_weight": sample_weight, "groups": groups}
        given = {name: value for name, value in given.items() if value is not None}
        found = process_routing(self, "fit", **given)
        if not isinstance(self.scoring, str):
            sample_weight = found.scorer.score.get("sample_weight")
        return sample_weight, found.splitter.split.get("groups")

    def _check_parameters(self) -> tuple[list[ResolvedKernel], Array | None]:
        """Return the kernels and the values of lam, if given, or raise."""
        kernels = list_kernels(self.kernel)
        pairwise = [each for each in ("precomputed", "distance") if each in kernels]
        if len(kernels) > 1 and (self.kernel_params or pairwise):
            raise ValueError(
                "Several kernels go with neither 'kernel_params' nor 'precomputed' nor "
                f"'distance', got kernel={self.kernel!r} and kernel_params="
                f"{self.kernel_params!r}."
            )
        resolved = self._resolve_kernels()
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
        if self.lams is None:
            return resolved, None
        if np.ndim(self.lams) != 1 or len(self.lams) == 0:
            raise ValueError(
                f"'lams' must be a sequence of positive numbers, got {self.lams!r}."
            )
        lams = np.sort([check_positive("lams", lam) for lam in self.lams])[::-1]
        return resolved, lams

    def _check_training(
        self,
        kernel: ResolvedKernel,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[ValidSamples, Array]:
        """Return validated samples and labels; several matrices with their mean."""
        self.similarity_names_: list[str] | None = None
        shape = np.shape(X) if isinstance(X, np.ndarray) else ()
        if kernel.is_pairwise and len(shape) == 3 and shape[0] != shape[1] == shape[2]:
            raise ValueError(
                "'X' must have the shape (n_samples, n_samples, n_matrices), got "
                f"{shape}; np.moveaxis(X, 0, 2) puts the matrices last."
            )
        about = (y, sample_weight, groups)
        is_pairwise = kernel.is_pairwise
        matrices = list_matrices(X, kernel, is_training=True) if is_pairwise else None
        if matrices is None:
            return super()._check_training(kernel, X, *about)
        valid: list[Array] = []
        for name, matrix in reversed(matrices.items()):  # labels are those of the first
            with name_matrix(name):
                samples, labels = super()._check_training(kernel, matrix, *about)
            valid.insert(0, np.asarray(samples))
        self.similarity_names_ = list(matrices)
        scales = [measure_scale(each, kernel.is_distance) for each in valid]
        self.similarity_scales_ = np.array(scales)
        return stack_with_mean(valid, self.similarity_scales_), labels

    def _list_similarities(self) -> list[str]:
        """Return the names of several matrices and of their mean."""
        names = self.similarity_names_ or []
        return [*names, SCALED_MEAN] if len(names) > 1 else names

    def _check_new(self, X: Any) -> ValidSamples:
        """Return validated new samples; several matrices with their mean."""
        names = getattr(self, "similarity_names_", None)
        if names is None:
            return super()._check_new(X)
        valid, kernel = [], self._resolve_kernels()[0]
        for name, matrix in zip(names, order_matrices(X, kernel, names), strict=True):
            with name_matrix(name):
                valid.append(np.asarray(super()._check_new(matrix)))
        return stack_with_mean(valid, self.similarity_scales_)

    def _list_settings(
        self,
        kernels: list[ResolvedKernel],
        shared: Similarities,
        similarities: list[str],
    ) -> list[ResolvedKernel]:
        """Return every kernel with every combination of its parameters."""
        grid = self.kernel_grid
        grids = [grid] * max(len(kernels), len(similarities))
        if grid is not None and len(kernels) > 1:
            grids = [grid.get(each.source) for each in kernels]
        if similarities:
            kernels = [replace(kernels[0], similarity=name) for name in similarities]
        pairs = zip(kernels, grids, strict=True)
        return [one for each, own in pairs for one in each.candidates(shared, own)]

    def _make_folds(self, y: Array, groups: ArrayLike | None) -> list[Fold]:
        cv = self.cv
        if isinstance(cv, int):
            seed = 0 if self.random_state is None else self.random_state
            cv = StratifiedKFold(cv, shuffle=True, random_state=seed)
        splitter = check_cv(cv, y, classifier=True)
        return list(splitter.split(np.zeros((len(y), 1)), y, groups))

    @property
    def _seed(self) -> int:
        return self.random_state if isinstance(self.random_state, int) else 0

    @property
    def _takes_any_shape(self) -> bool:
        return "euclidean" in self.norms

    def _select_norms(self, n: int) -> list[str]:
        """Return the norms that are tried with n samples."""
        norms = list(self.norms)
        is_large = self.search == "auto" and n > MAX_DECOMPOSED
        if is_large and {"hilbert", "euclidean"} <= {*norms}:
            norms.remove("hilbert")
        return norms

    def _draw_rows(self, index: Array, lams: Array | None) -> Array:
        """Return the samples that settings are chosen by: all, or some of many."""
        is_whole = self.search == "full" or lams is not None
        if is_whole or self.scoring != "neg_log_loss":
            return np.arange(len(index))
        return stratified_subsample(index, racing.SEARCH_ROWS, self._seed)

    def _take_samples(
        self, kernel: ResolvedKernel, shared: Similarities, rows: Array
    ) -> Similarities:
        """Return some of the samples, or all if their values are stored anyway."""
        if len(rows) == len(shared.X) or kernel.is_stored:
            return shared
        return shared.take(rows)

    def _make_operator(
        self, shared: Similarities, rows: Array | None, kernel: ResolvedKernel
    ) -> Dense | General | Blocked:
        """Return the similarities of some samples."""
        any_shape = self._takes_any_shape
        K = kernel.fit(shared).operator(shared, self.operator, any_shape=any_shape)
        if rows is None or K.shape[0] == len(rows):
            return K
        assert not isinstance(K, Blocked)
        return K.among(rows)

    def _search(
        self,
        context: SearchContext,
        shared: Similarities,
        rows: Array,
        index: Array,
        n_samples: int,
    ) -> list[Candidate]:
        """Try the settings and norms that remain after a race; set ``scores_``."""
        settings = context.settings
        deadline = np.inf if self.max_time is None else time.monotonic() + self.max_time
        windows: dict[int, Any] = dict.fromkeys(range(len(settings)))
        self.dropped_: list[racing.Dropped] = []
        self.lam_units_ = np.ones(len(settings))
        race_work = 0.0
        with subtask(self, "race"):
            # The criterion of a race is log-loss.
            is_whole = self.search == "full" or not context.scorer.is_log_loss
            if not is_whole and len(settings) > 1:
                some = racing.draw_race(index, self._seed)
                if len(shared.X) == len(rows):
                    shared = self._take_samples(settings[0], shared, some)
                operator = partial(self._make_operator, shared, rows[some])
                race = context.make_race(some, racing.RACE_FOLDS, operator)
                results = _evaluate(race, list(windows.items()), deadline)
                entries = [one for each in results for one in each]
                race_work = len(settings) * race.work
                found = racing.finish_race(context, race, entries)
                windows, self.lam_units_, self.dropped_ = found
        tried: list[list[Candidate]] = []
        report = _make_report(callback_for(self.verbose), settings)
        total = race_work + len(windows) * context.work
        runs = _evaluate(context, list(windows.items()), deadline)
        for own in notify_each(self, "search", runs, len(windows)):
            tried.append(own)
            done = race_work + len(tried) * context.work
            self.lam_units_[own[0].setting] = own[0].unit
            report(own, done / total)
        self._explain_untried(context, tried, n_samples)
        candidates = [one for own in tried for one in own]
        candidates.sort(key=lambda one: (one.setting, self.norms.index(one.norm)))
        if len(self.norms) > 1 and not all(one.is_symmetric for one in candidates):
            warn_caller(
                "The similarities are not symmetric, and only the norm 'euclidean' "
                "accepts them: the others were not tried. Set "
                "symmetrize='mean', 'max' or 'min' to try them all.",
                IndefiniteKernelWarning,
            )
        has_scores = [~np.isnan(one.fold_scores).all(axis=1) for one in candidates]
        n_lams = 1 + int(np.flatnonzero(np.any(has_scores, axis=0))[-1])
        self.lams_ = np.array([context.make_lams(u)[:n_lams] for u in self.lam_units_])
        shape = (len(settings), len(self.norms), n_lams, len(context.folds))
        self.scores_ = np.full(shape, np.nan)
        for one in candidates:
            place = one.setting, self.norms.index(one.norm)
            self.scores_[place] = one.fold_scores[:n_lams]
        return candidates

    def _explain_untried(
        self, context: SearchContext, found: list[list[Candidate]], n_samples: int
    ) -> None:
        """Add untried settings to ``dropped_``, and warn if time was over."""
        settings = context.settings
        if len(context.norms) < len(self.norms):
            self.dropped_ += racing.describe_undecomposed(settings, n_samples)
        known = {own[0].setting for own in found}
        known |= {
            i
            for i, kernel in enumerate(settings)
            for one in self.dropped_
            if (one["kernel"], one["params"]) == (kernel.name, kernel.described_params)
        }
        late = [i for i in range(len(settings)) if i not in known]
        self._is_late = len(late) > 0
        self.dropped_ += [
            racing.describe_dropped(settings, i, norm, racing.TIME_OVER)
            for i in late
            for norm in context.norms
        ]
        if late:
            warn_caller(
                f"Time was over (max_time={self.max_time:g}) after {len(found)} of "
                f"{len(settings)} settings of the kernel; the best so far is used. "
                "Raise max_time, or try fewer settings.",
                ConvergenceWarning,
            )

    def _choose(
        self, candidates: list[Candidate], context: SearchContext, given: Array
    ) -> Array:
        """Set the best setting and ``held_out_proba_``; return weights of candidates.

        Ties go to the larger lam, then to the first candidate.
        """
        best = max(candidates, key=lambda one: (one.criterion, -one.best))
        self.kernel_, self.kernel_params_ = context.settings[best.setting].setting
        self.norm_, self.lam_ = best.norm, float(best.lams[best.best])
        self.best_score_ = float(best.fold_scores[best.best].mean())
        n = len(context.Y)
        pooled = np.array([one.pool_scores(context.folds, n) for one in candidates])
        seen = np.flatnonzero(~np.isnan(pooled[0, :, 0]))
        pooled = pooled[:, seen]
        weights = np.array([float(one is best) for one in candidates])
        draws = weights[:, None]
        if self.average and len(candidates) > 1 and not self._is_late:
            logs, error = context.scorer.compute_logs(pooled, seen)
            weights, draws = weigh_models(logs, given[seen], error)
            if self.similarity_names_ is not None:
                stacked = self._stack(candidates, context, pooled, seen, weights)
                weights, draws = stacked or (weights, draws)
        if self.similarity_names_ is not None:
            spread = pooled.std(axis=1).mean(axis=1)  # of the scores of each model
            self._weigh_similarities(
                candidates, context, weights * spread, draws * spread[:, None]
            )
        scores = np.tensordot(weights, pooled, 1)
        self.held_out_proba_ = np.full((n, len(self.classes_)), np.nan)
        self.held_out_proba_[seen] = np.exp(log_probabilities(scores, self._link))
        used = [candidates[c] for c in np.flatnonzero(weights)]
        converged = np.array([one.converged[:, one.best] for one in used])
        if not converged.all():
            warn_caller(
                f"{(~converged).sum()} of {converged.size} fits of the chosen settings "
                f"did not converge within max_iter={self.max_iter} in "
                "cross-validation; their scores were used. Raise max_iter, "
                "or try larger lams.",
                ConvergenceWarning,
            )
        return weights

    def _stack(
        self,
        candidates: list[Candidate],
        context: SearchContext,
        pooled: Array,
        seen: Array,
        average: Array,
    ) -> tuple[Array, Array] | None:
        """Return weights of a sum of the best models of each matrix, if it is better.

        Better than the average by more than a standard error of the held-out
        log-likelihood, with weights from other folds; else None. The second result has
        the weights with each fold left out, spread such that their standard deviation
        is the standard error of the jackknife.
        """
        best: dict[str, int] = {}
        for c in np.argsort([-one.criterion for one in candidates], kind="stable"):
            best.setdefault(str(context.settings[candidates[c].setting].similarity), c)
        chosen, n_folds = list(best.values()), min(len(context.folds), MAX_STACK_FOLDS)
        if len(chosen) < 2 or n_folds < 2:
            return None
        groups = np.empty(len(context.Y), int)
        for f, (_, held) in enumerate(context.folds):
            groups[held] = f % n_folds
        scorer = context.scorer
        found, logs, draws = stack_models(scorer, pooled[chosen], seen, groups[seen])
        total = np.tensordot(average, pooled, 1)
        gain = logs - scorer.compute_logs(total, seen)[0]
        if gain.mean() <= gain.std() / np.sqrt(len(gain)):
            return None
        center = draws.mean(axis=1, keepdims=True)
        weights, left_out = np.zeros(len(pooled)), np.zeros((len(pooled), n_folds))
        weights[chosen] = np.where(found < MIN_STACKED * found.sum(), 0, found)
        left_out[chosen] = center + np.sqrt(n_folds - 1) * (draws - center)
        return weights, left_out

    def _weigh_similarities(
        self,
        candidates: list[Candidate],
        context: SearchContext,
        weights: Array,
        draws: Array,
    ) -> None:
        """Set the data of ``similarity_weights_`` and ``estimator_similarities_``.

        Weights are those of candidates, times the spread of their scores.
        """
        names = [str(context.settings[one.setting].similarity) for one in candidates]
        matrices = self.similarity_names_ or []
        part = np.array([[float(name == each) for name in names] for each in matrices])
        part[:, np.array(names) == SCALED_MEAN] = 1 / len(matrices)
        each_draw = part @ (draws / draws.sum(axis=0))
        scores = np.array([one.fold_scores[one.best].mean() for one in candidates])
        own = (scores[np.array(names) == each].tolist() for each in matrices)
        alone = [max(each, default=np.nan) for each in own]
        shares = part @ weights / weights.sum()
        columns = [shares, each_draw.std(axis=1), alone]
        self._similarity_weights = np.column_stack(columns)
        self.estimator_similarities_ = [names[c] for c in np.flatnonzero(weights)]

    @property
    def similarity_weights_(self) -> "pd.DataFrame":
        """Weight of each of several matrices in the prediction."""
        import pandas as pd

        check_is_fitted(self)
        if getattr(self, "similarity_names_", None) is None:
            raise AttributeError(
                "'similarity_weights_' exists if several matrices were fitted, got one."
            )
        columns = ["weight", "standard_error", "score_alone"]
        index = pd.Index(self.similarity_names_, name="similarity")
        return pd.DataFrame(self._similarity_weights, index, columns)

    def _rescale(self, ratio: float, rows: Array, n_samples: int) -> None:
        """Scale results from some of the samples to all samples.

        A unit of lam is inversely proportional to the number of samples.
        """
        if len(rows) == n_samples:
            return
        self.lams_, self.lam_units_ = self.lams_ * ratio, self.lam_units_ * ratio
        self.lam_ *= ratio
        proba = np.full((n_samples, len(self.classes_)), np.nan)
        proba[rows] = self.held_out_proba_
        self.held_out_proba_ = proba

    def _refit(
        self,
        settings: Sequence[ResolvedKernel],
        shared: Similarities,
        index: Array,
        counts: Array,
        used: list[Candidate],
        ratio: float,
    ) -> None:
        """Fit the chosen candidates to all samples."""
        parameters = {name: getattr(self, name) for name in SHARED_PARAMS}
        self.estimators_: list[KreinLogisticRegression] = []
        for i, same in groupby(used, key=lambda one: one.setting):
            kernel = settings[i].fit(shared)
            K = self._make_operator(shared, None, settings[i])
            group = list(same)
            models = [(one.norm, float(one.lams[one.best]) * ratio) for one in group]
            is_hard = any(one.lams[one.best] < HARD_UNITS * one.unit for one in group)
            starts: Sequence[Array | None] = [None] * len(models)
            if len(index) <= (MAX_WARM_HARD if is_hard else MAX_WARM):
                starts = self._find_starts(K, index, counts, models)
            for (norm, lam), start in zip(models, starts, strict=True):
                source, params = kernel.setting
                model = KreinLogisticRegression(
                    source, kernel_params=dict(params), lam=lam, norm=norm, **parameters
                )
                model.classes_ = self.classes_
                if hasattr(self, "n_features_in_"):
                    model.n_features_in_ = self.n_features_in_
                model._fit(kernel, K, shared.X, index, counts, start)
                self.estimators_.append(model)
        self.support_ = share_support(self.estimators_)
        self.n_iter_ = max(1, *(model.n_iter_ for model in self.estimators_))
        endings = [Status(model.status_) for model in self.estimators_]
        worst = str(max(endings, key=STATUS_ORDER))
        self.status_ = racing.TIME_OVER if self._is_late else worst

    def _find_starts(
        self,
        K: Dense | General | Blocked,
        index: Array,
        counts: Array,
        models: list[tuple[str, float]],
    ) -> Sequence[Array | None]:
        """Return scores for the fits to start from, if problems are convex."""
        norms, lams = zip(*models, strict=True)
        if isinstance(K, Blocked) or "krein" in norms:
            return [None] * len(models)
        problem = (K, counts, compute_scale(K, counts), norms, lams)
        found = warm_start_scores(
            *problem,
            one_hot(index, len(self.classes_)),
            multinomial=self._link == "multinomial",
            fit_intercept=bool(self.fit_intercept),
            max_iter=self.max_iter,
        )
        return list(found)

    def _scores(self, X: ArrayLike) -> Array:
        """Averaged scores of new samples, shape (n_new, n_columns)."""
        self._check_refit()
        each = compute_scores(self.estimators_, self._split_new(X))
        return np.asarray(np.tensordot(self.weights_, each, 1))

    def _compute_training_matrix(self, X: ArrayLike) -> Array:
        """Return the similarities of the model with the largest weight."""
        self._check_refit()
        best = int(np.argmax(self.weights_))
        kernel = self.estimators_[best]._restore_kernel()
        return kernel.cross(self._split_new(X)[best])

    def _check_refit(self) -> None:
        """Raise if there is no model to predict with."""
        check_is_fitted(self)
        if not hasattr(self, "estimators_"):
            raise AttributeError(
                "KreinLogisticRegressionCV was fitted with refit=False and has no "
                "model to predict with: set refit=True and fit again."
            )

    def _split_new(self, X: ArrayLike) -> list[Any]:
        """Return validated new samples for each of the averaged models."""
        new = self._check_new(X)
        parts = [new] * len(self.estimators_)
        if getattr(self, "similarity_names_", None) is not None:
            names = self._list_similarities()
            own = [names.index(name) for name in self.estimator_similarities_]
            parts = [np.asarray(new)[..., i] for i in own]
        is_pairwise = self.__sklearn_tags__().input_tags.pairwise
        if not is_pairwise or np.shape(new)[1] == self.n_features_in_:
            return parts
        # Columns of support_, of which each estimator has its own.
        pairs = zip(parts, self.estimators_, strict=True)
        return [
            np.asarray(part)[:, np.searchsorted(self.support_, model.support_)]
            for part, model in pairs
        ]

    def _contributions(self, X: ArrayLike) -> tuple[Array, Array, Array]:
        """Return contributions averaged over the models, as in the base class."""
        self._check_refit()
        new = self._split_new(X)
        shape = (len(new[0]), len(self.support_))
        K = np.zeros(shape)
        parts = np.zeros((*shape, len(self.estimators_[0].dual_coef_)))
        models = zip(self.weights_, self.estimators_, new, strict=True)
        for weight, model, own in models:
            at = np.searchsorted(self.support_, model.support_)
            similarities = model._compute_similarities(own)
            K[:, at] += weight * similarities
            a = model.dual_coef_[:, model.support_].T
            parts[:, at] += weight * similarities[:, :, None] * a
        return self.support_, K, parts


def _evaluate(
    context: SearchContext, windows: list[tuple[int, Any]], deadline: float
) -> Iterator[list[Candidate]]:
    """Yield the candidates of each setting, in batches, until time is over.

    At least one setting is tried. With a deadline, each setting is a batch.
    """
    size = context.batch_size if deadline == np.inf else 1
    for first in range(0, len(windows), size):
        if first > 0 and time.monotonic() >= deadline:
            return
        numbers, own = zip(*windows[first : first + size], strict=True)
        found = context.evaluate(numbers, own)
        for i in numbers:
            yield [one for one in found if one.setting == i]


def _make_report(
    watch: Watch | None, settings: Sequence[ResolvedKernel]
) -> Callable[[list[Candidate], float], None]:
    """Return a function that reports the candidates of a setting to a watch."""
    best = -np.inf

    def report(candidates: list[Candidate], done: float) -> None:
        nonlocal best
        means = [float(one.fold_scores[one.best].mean()) for one in candidates]
        best = max(best, *means)
        for one, score in zip(candidates, means, strict=True):
            kernel = settings[one.setting]
            row = {"kernel": kernel.name, **kernel.described_params, "norm": one.norm}
            row |= {"lam": float(one.lams[one.best]), "score": score}
            if watch is not None:
                watch(row | {"best": best, "done": done})

    return report


def find_threshold(reached: Array, coverage: float) -> float:
    """Return the probability that so many samples reach; 0 if there are too few.

    Parameters
    ----------
    reached : ndarray of shape (n,)
        Held-out probabilities of the samples' own labels.
    coverage : float
        Fraction of new samples that should reach the threshold.

    Examples
    --------
    >>> find_threshold(np.array([0.2, 0.9, 0.8, 0.7]), 0.6)
    0.7
    >>> find_threshold(np.array([0.2, 0.9, 0.8, 0.7]), 0.9)
    0.0
    """
    needed = math.ceil((len(reached) + 1) * coverage - COVERAGE_ROUNDING)
    return 0.0 if needed > len(reached) else float(np.sort(reached)[-needed])
