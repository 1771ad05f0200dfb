"""Indefinite kernel logistic regression as a scikit-learn classifier."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from kreinlearn._typing import Array, KernelLike, Seed
from kreinlearn._validation import check_choice, check_count, check_positive
from kreinlearn.estimators._base import (
    ProbabilisticKernelClassifier,
    ValidSamples,
    apply_class_weight,
    check_classes,
    check_weights,
    one_hot,
    warn_if_uninformative,
    with_callbacks,
)
from kreinlearn.estimators._fit import (
    MAX_FACTORED,
    MAX_QUICK_SAMPLES,
    Deadline,
    UniquenessCheck,
    check_fit_cost,
    check_relative_lam,
    curvature_limit,
    find_regime,
    fit_dc,
    fit_dual,
    report_measures,
    warn_not_converged,
)
from kreinlearn.kernels import ResolvedKernel, Similarities
from kreinlearn.losses import find_link
from kreinlearn.operators import (
    Blocked,
    Dense,
    General,
    dense_bytes,
    limit_blas_threads,
)
from kreinlearn.solvers.base import DCSolver, DualSolver, Status
from kreinlearn.solvers.cccp import PUBLISHED
from kreinlearn.solvers.monitor import callback_for
from kreinlearn.solvers.newton import DualNewton
from kreinlearn.spectrum.norms import NORMS, make_dual_matrix

MIN_LAM = 1e-250
"""Smallest lam whose inverse leaves room for similarities in double precision."""
SINGLE_THREAD_FIT = 2000
"""Samples up to which BLAS has one thread: more are slow if processors are shared."""


class KreinLogisticRegression(ProbabilisticKernelClassifier):
    r"""Kernel logistic regression with a similarity that need not be a kernel.

    Finds a stationary point of

    .. math::

        \frac1n \sum_i \log(1 + e^{-y_i f_i}) + \frac{\lambda}{2} a^\top K a,
        \qquad f = K a + c,

    for any symmetric K. If K is indefinite this objective is unbounded below, so no
    method minimizes it; the stationary point, which reproducing kernel Krein spaces
    ask for, always exists, and is the only one for ``lam > |mu_min| / (4 n)``.

    Parameters
    ----------
    kernel : str or callable, default="tl1"
        A name in ``kreinlearn.kernels.KERNELS``, also of a measure between time
        series, sequences, graphs or sets, which X then holds; a callable ``f(X, Y)`` on
        whole arrays; "precomputed" for Gram matrices, or "distance" for matrices of
        distances.
    kernel_params : dict, default=None
        Keyword arguments of the kernel; in grids one by one, as
        ``kernel_params__sigma``. For "distance": ``form`` and ``width`` of
        `DistanceSimilarity`; for "precomputed": ``check=False`` if similarities are
        meant though they look like distances.
    lam : float, default=1e-2
        Regularization; with a linear kernel ``1 / (n * lam)`` is the ``C`` of
        scikit-learn's ``LogisticRegression``.
    norm : {"krein", "hilbert", "euclidean"}, default="krein"
        Penalty a'Ka, the paper's; a'\|K\|a; or s a'a with the scale s of K, the mean of
        its absolute eigenvalues. The last two are convex for every lam. K stays in the
        decision function in all. "euclidean" is logistic regression on the rows of K
        with a ridge; it needs no eigenvectors, and K need be neither symmetric nor,
        with "precomputed", square.
    solver : str or solver object, default="newton"
        "newton" finds the stationary point, with a certificate. "cccp-gd",
        "ccicp-gd", "ccicp-sgd" and "ccicp-sgd-i" are the published procedures, which
        stop early by design, in the reading that reproduces the paper's tables;
        "cccp-gd-as-printed" and so on are Algorithm 1 to the letter. ``lam`` means the
        same for all of them: the mean loss. Objects of ``kreinlearn.solvers`` give
        full control, and so does any object with a method ``solve`` and an attribute
        ``needs``, "dual" or "dc", as in ``kreinlearn.solvers.base``.
    fit_intercept : bool, default=True
        Whether to add c.
    multi_class : {"auto", "ovr", "multinomial"}, default="auto"
        For more than two classes; auto is multinomial for "newton" and other solvers
        of the dual, and one-versus-rest for the published procedures.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, as in scikit-learn.
    tol : float, default=1e-6
        Newton: largest violation of the stationarity condition, in units of
        probability. Published procedures: largest entry of the gradient.
    max_iter : int, default=100
        Most Newton steps. The published procedures have a cap of their own.
    dtype : {None, "float32", "float64"}, default=None
        Precision of the Gram matrix; None keeps that of X.
    operator : {"auto", "dense", "blocked"}, default="auto"
        Whether the Gram matrix is stored, or computed in blocks for every
        product, which needs memory for a few columns only and takes longer. "auto"
        stores it if it fits in memory.
    symmetrize : {None, "mean", "max", "min"}, default=None
        How to combine K(x, z) and K(z, x) if they differ. None refuses a matrix that
        is not symmetric beyond rounding, unless the norm is "euclidean", which takes
        it. Rows of new samples in a given matrix are not changed.
    random_state : int, RandomState or None, default=None
        For "ccicp-sgd" and random starts.
    verbose : int or callable, default=0
        Prints the operator and one line per iteration if positive; a callable gets
        these rows instead, and stops the fit if it returns true.
    max_time : float, default=None
        Seconds after which the solver makes no further step: the fit ends with what it
        has, and with ``status_`` "max_time".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    dual_coef_ : ndarray of shape (n_columns, n_samples)
        Coefficients a, one row per class, or a single row if there are two.
    support_ : ndarray of shape (n_support,)
        Positions of the training samples that predictions need: those with a nonzero
        coefficient in any row of ``dual_coef_``; all, if distances are "centered".
        Only they are kept.
    distance_median_ : float
        Median distance between training samples, with ``kernel="distance"``.
    intercept_ : ndarray of shape (n_columns,)
        Intercepts c.
    n_iter_ : int
        Most iterations of any column.
    residual_ : float
        Certificate: largest violation of the stationarity condition
        ``n lam y_i a_i = sigma(-y_i f_i)`` over all samples and columns. For the other
        norms the coefficients d of the dual take the place of a: ``K a = |K| d``, or
        ``a = K'd / s``.
    status_ : str
        "converged", "max_iter", "max_time", "stalled", "diverged" or "nonfinite": the
        worst of all columns.
    operator_ : str
        "dense" or "blocked".
    regime_ : {"unique", "nonconvex", "unknown"}
        "unique" if there is provably one stationary point (with an error probability
        of one in a million above 512 samples), "nonconvex" if a direction of negative
        curvature is known, so that there may be several, "unknown" if neither. What
        cheap bounds leave open is decided by a factorization when this is first asked
        for, up to 2000 samples.
    mu_min_ : float
        Smallest eigenvalue of K; above 512 samples an estimate from above by ten to
        fifty Lanczos steps. NaN if K is not symmetric.
    history_ : list of dict
        One row for each iteration of each column.
    n_features_in_ : int
        Number of features, if samples are rows of a table.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Their names, if X has string column names.

    See Also
    --------
    kreinlearn.kernels.tl1 : The default kernel; wants features scaled to [0, 1].

    Notes
    -----
    Below the threshold of uniqueness the stationary point found may depend on the
    start and need not be the best classifier: let cross-validation choose ``lam``.

    References
    ----------
    .. [1] F. Liu, X. Huang, C. Gong, J. Yang, J. A. K. Suykens, "Indefinite kernel
       logistic regression with concave-inexact-convex procedure", IEEE Transactions
       on Neural Networks and Learning Systems 30 (2019).

    Examples
    --------
    >>> from kreinlearn import KreinLogisticRegression
    >>> from kreinlearn.datasets import make_monks
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> X, y = make_monks(3)
    >>> model = make_pipeline(MinMaxScaler(), KreinLogisticRegression())
    >>> print(f"{model.fit(X, y).score(X, y):.2f}")
    0.97
    >>> model[-1].status_
    'converged'
    """

    _regime: str
    _open: UniquenessCheck | None

    def __init__(
        self,
        kernel: KernelLike = "tl1",
        *,
        kernel_params: dict[str, Any] | None = None,
        lam: float = 1e-2,
        norm: str = "krein",
        solver: Any = "newton",
        fit_intercept: bool = True,
        multi_class: str = "auto",
        class_weight: str | dict[Any, float] | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        dtype: str | None = None,
        operator: str = "auto",
        symmetrize: str | None = None,
        random_state: Seed = None,
        verbose: Any = 0,
        max_time: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.lam = lam
        self.norm = norm
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.operator = operator
        self.symmetrize = symmetrize
        self.random_state = random_state
        self.verbose = verbose
        self.max_time = max_time

    @with_callbacks()
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or samples of the kernel
            Training samples; with ``kernel="precomputed"`` the Gram matrix of shape
            (n_samples, n_samples), with "distance" the distances. Columns of a
            DataFrame are matched to rows by label.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of two is a row repeated.

        Returns
        -------
        self : KreinLogisticRegression
            The fitted estimator.
        """
        kernel = self._check_parameters()
        samples, labels = self._check_training(kernel, X, y, sample_weight)
        weights = check_weights(sample_weight, len(labels))
        self.classes_, index = check_classes(labels, weights)
        weights = apply_class_weight(weights, self.class_weight, self.classes_, index)
        check_classes(labels, weights)  # weights of a class may be zero
        if len(labels) > MAX_QUICK_SAMPLES:
            check_fit_cost(len(labels), len(self.classes_), self.norm, self.solver)
        with (
            limit_blas_threads(len(labels), SINGLE_THREAD_FIT),
            report_measures(self.verbose),
        ):
            shared = Similarities(samples, is_search=False)
            kernel = kernel.fit(shared)
            any_shape = self._takes_any_shape
            K = kernel.operator(shared, self.operator, any_shape=any_shape)
            self._fit(kernel, K, samples, index, weights)
        return self

    @property
    def _takes_any_shape(self) -> bool:
        return self.norm == "euclidean"

    @property
    def regime_(self) -> str:
        """Whether there is one stationary point: see the attributes of the class."""
        if self._open is not None:
            self._regime, self._open = self._open.run(), None
        return self._regime

    def __getstate__(self) -> dict[str, Any]:
        if getattr(self, "_open", None) is not None:
            self.regime_  # noqa: B018  settled now, so that no matrix is saved
        return super().__getstate__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "regime_" in state:  # saved before there were three of them
            is_unique = state.pop("regime_") == "unique"
            state |= {"_regime": "unique" if is_unique else "unknown", "_open": None}
        super().__setstate__(state)

    def _fit(
        self,
        kernel: ResolvedKernel,
        K: Dense | General | Blocked,
        X: ValidSamples,
        index: Array,
        counts: Array,
        start: Array | None = None,
    ) -> None:
        """Fit to similarities K of validated samples X by a fitted kernel.

        ``counts`` are the weights of the samples, not normalized, and ``start`` scores
        for a warm start.
        """
        weights = counts / counts.sum()
        warn_if_uninformative(K, kernel)
        solver = self._solver()
        multinomial = self._is_multinomial(solver)
        self._link = find_link(len(self.classes_), multinomial)
        self.operator_ = "blocked" if isinstance(K, Blocked) else "dense"
        watch = callback_for(self.verbose) if self.verbose else None
        if watch is not None:
            watch({"operator": self.operator_, "GiB if dense": dense_bytes(K) / 2**30})
        lam = float(self.lam)
        if multinomial:
            check_relative_lam(K, lam)
        self._find_regime(K, weights, multinomial)
        is_dc = solver.needs == "dc"
        matrix, back = make_dual_matrix(self.norm, K, counts, formed=is_dc)
        columns = one_hot(index, len(self.classes_))
        deadline = None if self.max_time is None else Deadline(self.max_time, watch)
        settings: dict[str, Any] = {
            "fit_intercept": bool(self.fit_intercept),
            "tol": self.tol,
            "callback": watch if deadline is None else deadline,
        }
        if solver.needs == "dc":
            seed = check_random_state(self.random_state).randint(2**31, size=4)
            settings["rng"] = np.random.default_rng(seed)
            fit = fit_dc(solver, matrix, columns, weights, lam, **settings)
        else:
            settings |= {"multinomial": multinomial, "start": start}
            try:
                fit = fit_dual(solver, matrix, columns, weights, lam, **settings)
            except np.linalg.LinAlgError as error:  # of a matrix that is not finite
                raise ValueError(
                    "Scores overflow with similarities of this range and "
                    f"lam={lam:.2g}; raise lam, or divide the similarities and lam by "
                    "one constant."
                ) from error
        if deadline is not None and deadline.is_over and fit.status == Status.MAX_ITER:
            fit = replace(fit, status=str(Status.MAX_TIME))
        self.dual_coef_, self.intercept_ = back(fit.a).T, fit.c
        self._store_support(kernel, X)
        self.status_, self.n_iter_ = fit.status, fit.n_iter
        self.residual_, self.history_ = fit.residual, fit.history
        if fit.status != Status.CONVERGED:
            warn_not_converged(fit, self.solver, solver.needs, self.tol)

    def _find_regime(
        self, K: Dense | General | Blocked, weights: Array, multinomial: bool
    ) -> None:
        """Set ``mu_min_`` and ``_regime``, unless a factorization must decide later."""
        lam, self._open, self._regime = float(self.lam), None, "unique"
        if isinstance(K, General) or (isinstance(K, Blocked) and not K.is_symmetric):
            self.mu_min_ = np.nan
            return
        limit = curvature_limit(lam, weights.max(), multinomial)
        verdict, self.mu_min_ = find_regime(K, limit)
        if self.norm != "krein" or verdict == "unique":
            return
        self._regime = verdict
        if isinstance(K, Dense) and K.shape[0] <= MAX_FACTORED:
            model = (lam, multinomial, bool(self.fit_intercept))
            self._open = UniquenessCheck(K.K, weights, *model)

    def _check_parameters(self) -> ResolvedKernel:
        kernel = self._resolve_kernels()[0]
        if check_positive("lam", self.lam) < MIN_LAM:
            raise ValueError(
                f"'lam' must be at least {MIN_LAM:g}, or coefficients overflow, got "
                f"{self.lam!r}; multiply the similarities and lam by one constant."
            )
        check_positive("tol", self.tol)
        check_choice("norm", self.norm, NORMS)
        check_choice("multi_class", self.multi_class, ["auto", "ovr", "multinomial"])
        check_count("max_iter", self.max_iter)
        if self.max_time is not None:
            check_positive("max_time", self.max_time)
        self._solver()
        return kernel

    def _solver(self) -> DualSolver | DCSolver:
        """Return the solver, or raise."""
        solver = self.solver
        if isinstance(solver, str):
            check_choice("solver", solver, ["newton", *PUBLISHED])
            return PUBLISHED.get(solver) or DualNewton(int(self.max_iter))
        needs = getattr(solver, "needs", None)
        if not hasattr(solver, "solve") or needs not in ("dual", "dc"):
            raise TypeError(
                "'solver' must be a name, or an object with a method 'solve' and an "
                "attribute 'needs' that is 'dual' or 'dc', as kreinlearn.solvers has "
                f"them, got {solver!r}."
            )
        return solver

    def _is_multinomial(self, solver: DualSolver | DCSolver) -> bool:
        if len(self.classes_) == 2:
            return False
        if solver.needs == "dc" and self.multi_class == "multinomial":
            raise ValueError(
                "'multi_class' must be 'auto' or 'ovr' for the published solvers and "
                "others that need 'dc', which are binary, got 'multinomial'. Use "
                "solver='newton' for a multinomial fit."
            )
        return solver.needs == "dual" and self.multi_class != "ovr"
