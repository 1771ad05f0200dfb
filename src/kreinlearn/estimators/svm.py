"""Support vector machines with a similarity that need not be a kernel."""

from abc import abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._typing import Array, Kernel
from kreinlearn._validation import check_count, check_positive
from kreinlearn.estimators._callbacks import tells_callbacks
from kreinlearn.estimators._inputs import (
    ClassWeight,
    check_classes,
    check_weights,
    class_weighted,
    learn_support,
    learns_form,
    one_per_class,
    training_gram,
    warn_if_uninformative,
)
from kreinlearn.estimators._libsvm import (
    Column,
    dual_violation,
    solve_dca,
    solve_margin,
)
from kreinlearn.estimators._outputs import Scored
from kreinlearn.exceptions import ConvergenceWarning, warn_caller
from kreinlearn.kernels import Similarities
from kreinlearn.operators import Dense, few_threads
from kreinlearn.spectrum.modulus import negative_part


class _KernelMachine(Scored):
    """What both machines share: one-versus-rest columns over one Gram matrix."""

    C: float
    class_weight: ClassWeight
    tol: float
    max_iter: int

    @abstractmethod
    def _solve(self, K: Array, labels: Array, bounds: Array) -> list[Column]:
        """Return one column for each column of labels, none of them constant."""

    @tells_callbacks()
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or whatever the kernel takes
            Training samples; with ``kernel="precomputed"`` the Gram matrix of shape
            (n_samples, n_samples), with "distance" the distances. Columns of a
            DataFrame are matched to rows by label.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C; a weight of two is a row repeated.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        C = self._check_parameters()
        samples, given = self._check_training(X, y, sample_weight)
        n = len(given)
        weights = check_weights(sample_weight, n)
        self.classes_, index = check_classes(given, weights)
        weights = weights * class_weighted(self.class_weight, self.classes_, index)
        check_classes(given, weights)

        shared = Similarities(samples) if learns_form(self.kernel) else samples
        K = training_gram(shared, self.kernel, self.kernel_params or {})
        warn_if_uninformative(Dense(K), self.kernel)
        K = K.astype(float, copy=False)
        kept = np.flatnonzero(weights)
        if len(kept) < n:
            K = K[np.ix_(kept, kept)]
        labels = 2 * one_per_class(index[kept], len(self.classes_)) - 1

        # A class without weight: f = -1 has no loss and no norm.
        self.dual_coef_ = np.zeros((labels.shape[1], n))
        self.intercept_ = np.full(labels.shape[1], -1.0)
        varied = np.flatnonzero(np.ptp(labels, axis=0))
        with few_threads(n):
            columns = self._solve(K, labels[:, varied], C * weights[kept])
        for j, column in zip(varied, columns, strict=True):
            self.dual_coef_[j, kept], self.intercept_[j] = column.a, column.b
        learn_support(self, shared)
        self.n_iter_ = max(column.n_iter for column in columns)
        converged = all(column.converged for column in columns)
        self.status_ = "converged" if converged else "max_iter"
        if not converged:
            warn_caller(
                f"{type(self).__name__} stopped with status {self.status_!r} after "
                f"{self.n_iter_} iterations (max_iter {self.max_iter}, tol "
                f"{self.tol:.1e}). Raise max_iter, use a looser tol, or a smaller C.",
                ConvergenceWarning,
            )
        return self

    def _check_parameters(self) -> float:
        self._check_kernel()
        check_positive("tol", self.tol)
        return check_positive("C", self.C)


class KreinSVC(_KernelMachine):
    r"""Support vector machine in a Krein space (KSVM).

    Minimizes the hinge loss of f = K a + b, measured in the associated Hilbert norm:

    .. math::

        C \sum_i \max(0, 1 - y_i f_i) + \tfrac12 a^\top |K| a,
        \qquad |K| = V |\Lambda| V^\top.

    This is convex. The machine of \|K\| gives coefficients
    :math:`\tilde a`; then :math:`a = V \operatorname{sign}(\Lambda) V^\top \tilde a`
    and the same b give the same scores with K itself, and new samples need no change
    of their similarities.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss.
    kernel : str or callable, default="tl1"
        A name in ``kreinlearn.kernels.KERNELS``, a callable ``f(X, Y)`` on whole
        arrays, "precomputed" for Gram matrices, or "distance" for matrices of
        distances.
    kernel_params : dict, default=None
        Keyword arguments of the kernel; in grids one by one, as
        ``kernel_params__sigma``. For "distance": ``form`` and ``width`` of
        `DistanceSimilarity`; for "precomputed": ``check=False`` if similarities are
        meant though they look like distances.
    class_weight : None, "balanced" or dict, default=None
        Factors of C, as in scikit-learn.
    tol : float, default=1e-3
        Tolerance of LIBSVM, in units of the decision function.
    max_iter : int, default=-1
        Most steps of LIBSVM for each class; -1 for no limit.
    dtype : {None, "float32", "float64"}, default=None
        Precision in which the kernel is computed; None keeps that of X.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    dual_coef_ : ndarray of shape (n_columns, n_samples)
        Coefficients a, one row per class, or a single row if there are two. Not sparse.
    support_ : ndarray of shape (n_support,)
        Positions of the training samples that predictions need: those with a nonzero
        coefficient in any row of ``dual_coef_``; all, if distances are "centered".
        Only they are kept.
    distance_median_ : float
        Median distance between training samples, with ``kernel="distance"``.
    intercept_ : ndarray of shape (n_columns,)
        Intercepts b.
    n_iter_ : int
        Most steps of LIBSVM for any class.
    status_ : str
        "converged" or "max_iter", if one class was stopped by it.
    n_features_in_ : int
        Number of features, if samples are rows of a table.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Their names, if X has string column names.

    See Also
    --------
    DCASVC : Keeps a'Ka in the objective instead, which is then not convex.
    SpectrumRepair : "flip" before scikit-learn's SVC is the same machine.

    Notes
    -----
    Only the negative eigenpairs are computed: \|K\| = K + 2 K-, and
    a = a~ - 2 V- V-' a~. More than two classes are solved one against the rest, with
    \|K\| shared, while scikit-learn's SVC takes every pair of classes. For a positive
    semidefinite K and two classes it is that SVC.

    Weights enter \|K\| as well: it is the \|K\| of the repeated rows, in the
    eigenbasis of W^(1/2) K W^(1/2).

    References
    ----------
    .. [1] G. Loosli, S. Canu, C. S. Ong, "Learning SVM in Krein spaces", IEEE
       Transactions on Pattern Analysis and Machine Intelligence 38 (2016).

    Examples
    --------
    >>> from kreinlearn import KreinSVC
    >>> from kreinlearn.datasets import make_monks
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> X, y = make_monks(3)
    >>> model = make_pipeline(MinMaxScaler(), KreinSVC(C=0.1))
    >>> print(f"{model.fit(X, y).score(X, y):.2f}")
    0.97
    """

    def __init__(
        self,
        C: float = 1.0,
        kernel: Kernel = "tl1",
        kernel_params: dict[str, Any] | None = None,
        class_weight: str | dict[Any, float] | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        dtype: str | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype

    def _check_parameters(self) -> float:
        if not isinstance(self.max_iter, Integral) or self.max_iter != -1:
            check_count("max_iter", self.max_iter)
        return super()._check_parameters()

    def _solve(self, K: Array, labels: Array, bounds: Array) -> list[Column]:
        negative = negative_part(K, bounds)
        H = K + 2 * negative.matrix()
        columns = []
        for y in labels.T:
            column = solve_margin(H, y, bounds, tol=self.tol, max_iter=self.max_iter)
            # From a~ to a: K a = |K| a~.
            a = column.a - 2 * negative.right @ (negative.left.T @ column.a)
            columns.append(column._replace(a=a))
        return columns


class DCASVC(_KernelMachine):
    r"""Support vector machine by DC programming on its indefinite dual (TDCASVM).

    Finds a stationary point of

    .. math::

        \min_a \tfrac12 a^\top K a - \sum_i y_i a_i \quad\text{over}\quad
        0 \le y_i a_i \le C, \ \sum_i a_i = 0

    for any symmetric K. The box keeps the objective bounded, so it has a minimum;
    for an indefinite K it also has other stationary points, and which one is found
    depends on the path.

    Parameters
    ----------
    C : float, default=1.0
        Bound of the coefficients.
    kernel : str or callable, default="tl1"
        A name in ``kreinlearn.kernels.KERNELS``, a callable ``f(X, Y)`` on whole
        arrays, "precomputed" for Gram matrices, or "distance" for matrices of
        distances.
    kernel_params : dict, default=None
        Keyword arguments of the kernel; in grids one by one, as
        ``kernel_params__sigma``. For "distance": ``form`` and ``width`` of
        `DistanceSimilarity`; for "precomputed": ``check=False`` if similarities are
        meant though they look like distances.
    class_weight : None, "balanced" or dict, default=None
        Factors of C, as in scikit-learn.
    tol : float, default=1e-6
        Stop when a step lowers the objective by no more than this share of it. LIBSVM
        is given ten times this number, in units of the decision function.
    max_iter : int, default=100
        Most convex subproblems for each class.
    dtype : {None, "float32", "float64"}, default=None
        Precision in which the kernel is computed; None keeps that of X.

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
        Intercepts b.
    n_iter_ : int
        Most convex subproblems for any class.
    status_ : str
        "converged" or "max_iter", if one class was stopped by it.
    objective_ : list of ndarray
        For each column solved, the objective after each step; it never increases.
    residual_ : float
        Certificate: largest violation of the optimality conditions of the indefinite
        dual over all columns, in units of the decision function.
    n_features_in_ : int
        Number of features, if samples are rows of a table.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Their names, if X has string column names.

    See Also
    --------
    KreinSVC : The convex machine with the same decision function.

    Notes
    -----
    K = K+ - K- with K- from the negative eigenvalues. Each step replaces -1/2 a'K-a by
    its tangent at the current point and solves the support vector machine of K+ whose
    linear term is y + K- a_k instead of y. The start is a = 0, so that the first step
    is the machine of the clipped matrix, and the only one for a positive semidefinite
    K.

    LIBSVM's classifier has no free linear term t, but its epsilon-insensitive
    regression has one: with targets t + eps y and an eps above a known bound, both
    have the same minimizer, exactly (``kreinlearn.estimators._libsvm.solve_tilted``).

    Reference [1]_ puts (truncated) DC steps inside a decomposition method, on a few
    variables at a time. Here the DC loop is outside and the decomposition method is
    inside, on all variables. Objective, DC parts and stationary points are the same;
    the paths, and so the points found, may differ.

    The objective is flat near a stationary point: see ``residual_`` for how close a
    fit came, and lower ``tol`` if that matters. LIBSVM keeps K in single precision,
    which bounds what can be had if C times the row sums of K is very large. More than
    two classes are solved one against the rest.

    References
    ----------
    .. [1] F. B. Akoa, "Combining DC algorithms (DCAs) and decomposition techniques for
       the training of nonpositive-semidefinite kernels", IEEE Transactions on Neural
       Networks 19 (2008).

    Examples
    --------
    >>> from kreinlearn import DCASVC
    >>> from kreinlearn.datasets import make_monks
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> X, y = make_monks(3)
    >>> model = make_pipeline(MinMaxScaler(), DCASVC(C=0.1))
    >>> print(f"{model.fit(X, y).score(X, y):.2f}")
    0.97
    """

    def __init__(
        self,
        C: float = 1.0,
        kernel: Kernel = "tl1",
        kernel_params: dict[str, Any] | None = None,
        class_weight: str | dict[Any, float] | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        dtype: str | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype

    def _check_parameters(self) -> float:
        check_count("max_iter", self.max_iter)
        return super()._check_parameters()

    def _solve(self, K: Array, labels: Array, bounds: Array) -> list[Column]:
        negative = negative_part(K, bounds)
        plus = K + negative.matrix()
        tol, max_iter = self.tol, self.max_iter
        columns = [
            solve_dca(K, plus, negative, y, bounds, tol=tol, max_iter=max_iter)
            for y in labels.T
        ]
        self.objective_ = [column.objective for column in columns]
        self.residual_ = max(
            dual_violation(K, y, column.a, bounds)
            for y, column in zip(labels.T, columns, strict=True)
        )
        return columns
