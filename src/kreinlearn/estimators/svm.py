"""Support vector machines with a similarity that need not be a kernel.

Letters: ``K`` (n, n) the Gram matrix; ``y`` (n,) labels, -1 or 1; ``a`` (n,) signed
coefficients, so that f = K a + b; ``bounds`` (n,) the C of each sample, so that
0 <= y_i a_i <= bounds_i. LIBSVM, through scikit-learn, solves every convex problem.
"""

import warnings
from abc import abstractmethod
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.svm import SVC, SVR

from kreinlearn._typing import Array, KernelLike
from kreinlearn._validation import check_count, check_positive
from kreinlearn.estimators._base import (
    ClassWeight,
    KernelClassifier,
    check_classes,
    check_weights,
    expand_class_weight,
    one_hot,
    warn_if_uninformative,
    with_callbacks,
)
from kreinlearn.exceptions import ConvergenceWarning, warn_caller
from kreinlearn.kernels import Similarities
from kreinlearn.operators import Dense, limit_blas_threads
from kreinlearn.spectrum.norms import Negative, negative_part

INNER_TOL = 10.0
"""Tolerance of a convex subproblem, in units of the decision function, over that of
the outer loop, in units of the objective, which is flatter near a solution."""
INNER_STEPS = 10_000_000
"""Most steps of LIBSVM in a subproblem: the cap of LIBSVM's own programs."""


class Column(NamedTuple):
    """One binary machine: coefficients, and how the solve ended."""

    a: Array
    b: float
    converged: bool
    n_iter: int
    objective: Array = np.zeros(0)


class _KernelMachine(KernelClassifier):
    """Base of both machines: one-versus-rest columns over one Gram matrix."""

    C: float
    class_weight: ClassWeight
    tol: float
    max_iter: int

    @abstractmethod
    def _solve(self, K: Array, labels: Array, bounds: Array) -> list[Column]:
        """Return one column for each column of labels, none of them constant."""

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
            Factors of C; a weight of two is a row repeated.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        C = self._check_parameters()
        kernel = self._resolve_kernels()[0]
        samples, given = self._check_training(kernel, X, y, sample_weight)
        n = len(given)
        weights = check_weights(sample_weight, n)
        self.classes_, index = check_classes(given, weights)
        weights = weights * expand_class_weight(self.class_weight, self.classes_, index)
        check_classes(given, weights)

        shared = Similarities(samples, is_search=False)
        kernel = kernel.fit(shared)
        K = kernel.training_matrix(shared)
        warn_if_uninformative(Dense(K), kernel)
        K = K.astype(float, copy=False)
        kept = np.flatnonzero(weights)
        if len(kept) < n:
            K = K[np.ix_(kept, kept)]
        labels = 2 * one_hot(index[kept], len(self.classes_)) - 1

        # A class without weight: f = -1 has no loss and no norm.
        self.dual_coef_ = np.zeros((labels.shape[1], n))
        self.intercept_ = np.full(labels.shape[1], -1.0)
        varied = np.flatnonzero(np.ptp(labels, axis=0))
        with limit_blas_threads(n):
            columns = self._solve(K, labels[:, varied], C * weights[kept])
        for j, column in zip(varied, columns, strict=True):
            self.dual_coef_[j, kept], self.intercept_[j] = column.a, column.b
        self._store_support(kernel, samples)
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
    kernel : str or callable, default="tl1"
        A name in ``kreinlearn.kernels.KERNELS``, a callable ``f(X, Y)`` on whole
        arrays, "precomputed" for Gram matrices, or "distance" for matrices of
        distances.
    C : float, default=1.0
        Weight of the loss.
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
        kernel: KernelLike = "tl1",
        *,
        C: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        class_weight: str | dict[Any, float] | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        dtype: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
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
    kernel : str or callable, default="tl1"
        A name in ``kreinlearn.kernels.KERNELS``, a callable ``f(X, Y)`` on whole
        arrays, "precomputed" for Gram matrices, or "distance" for matrices of
        distances.
    C : float, default=1.0
        Bound of the coefficients.
    kernel_params : dict, default=None
        Keyword arguments of the kernel; in grids one by one, as
        ``kernel_params__sigma``. For "distance": ``form`` and ``width`` of
        `DistanceSimilarity`; for "precomputed": ``check=False`` if similarities are
        meant though they look like distances.
    class_weight : None, "balanced" or dict, default=None
        Factors of C, as in scikit-learn.
    tol : float, default=1e-6
        Stop when a step lowers the objective by no more than this fraction of it.
        LIBSVM gets ten times this number, in units of the decision function.
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
    have the same minimizer, exactly (``kreinlearn.estimators.svm.solve_tilted``).

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
        kernel: KernelLike = "tl1",
        *,
        C: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        class_weight: str | dict[Any, float] | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        dtype: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
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


def _fit_libsvm(model: SVC | SVR, K: Array, target: Array, bounds: Array) -> Column:
    """Run LIBSVM with its C = 1 and one bound per sample; never warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(K, target, sample_weight=bounds)
    a = np.zeros(len(target))
    a[model.support_] = model.dual_coef_[0]
    b, n_iter = float(model.intercept_[0]), int(np.max(model.n_iter_))
    return Column(a, b, model.fit_status_ == 0, n_iter)


def solve_margin(
    K: Array, y: Array, bounds: Array, *, tol: float, max_iter: int
) -> Column:
    """Return the support vector machine of a positive semidefinite matrix.

    Parameters
    ----------
    K, y, bounds
        See the module docstring.
    tol : float
        Tolerance of LIBSVM.
    max_iter : int
        Most steps, or -1 for no limit.

    Returns
    -------
    Column
        Coefficients and intercept.
    """
    model = SVC(kernel="precomputed", C=1.0, tol=tol, max_iter=max_iter)
    return _fit_libsvm(model, K, y, bounds)


def solve_tilted(K: Array, y: Array, t: Array, bounds: Array, *, tol: float) -> Column:
    """Return the minimizer of 1/2 a'Ka - t'a over 0 <= y_i a_i <= C_i, sum a = 0.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semidefinite matrix.
    y, bounds
        See the module docstring.
    t : ndarray of shape (n,)
        Any linear term; t = y is the ordinary support vector machine.
    tol : float
        Tolerance of LIBSVM.

    Returns
    -------
    Column
        Coefficients, and the b with (K a)_i + b = t_i wherever a_i is off its bounds.

    Notes
    -----
    LIBSVM's classifier fixes t = y. Its epsilon-insensitive regression does not: its
    dual is

        min 1/2 a'Ka - z'a + eps sum|a_i|   over  |a_i| <= C_i,  sum a = 0

    for any targets z. With z = t + eps y the last two terms are -t_i a_i on the side
    y_i a_i >= 0 and (2 eps + y_i t_i)|a_i| on the other. So the two problems agree
    wherever the first is feasible, and a minimizer of the second that has the right
    signs minimizes the first. It has them once eps is at least half the largest
    ``(K a - t)_i + b`` in modulus. As b lies between two values of t - K a, the sum
    of the largest ``|t_i|`` and the largest ``sum_j |K_ij| C_j`` is enough: a finite
    eps known beforehand, no limit. Variables of the wrong sign start at zero and
    are never chosen by LIBSVM, which then takes the steps it would take with half the
    variables. The digits that t loses in t + eps y are beyond the single precision
    in which LIBSVM keeps K.
    """
    eps = float(np.abs(t).max() + (np.abs(K) @ bounds).max())
    model = SVR(kernel="precomputed", C=1.0, epsilon=eps, tol=tol, max_iter=INNER_STEPS)
    return _fit_libsvm(model, K, t + eps * y, bounds)


def solve_dca(
    K: Array,
    plus: Array,
    negative: Negative,
    y: Array,
    bounds: Array,
    *,
    tol: float,
    max_iter: int,
) -> Column:
    """Return a stationary point of the indefinite dual by DC programming.

    Parameters
    ----------
    K, y, bounds
        See the module docstring.
    plus : ndarray of shape (n, n)
        K + K-, positive semidefinite.
    negative : Negative
        K-.
    tol : float
        Stop when the objective falls by no more than this fraction of itself.
    max_iter : int
        Most convex subproblems.

    Returns
    -------
    Column
        Coefficients, intercept and the objective after each step, never increasing.
    """
    best = Column(np.zeros(len(y)), 0.0, False, 0)
    objective, value = [], 0.0
    for step in range(1, max_iter + 1):
        # 1. Replace -1/2 a'K-a by its tangent at the current point.
        t = y + negative.product(best.a)
        # 2. Solve the convex problem that is left.
        new = solve_tilted(plus, y, t, bounds, tol=INNER_TOL * tol)
        # 3. Keep the step if it goes down; up is rounding, or LIBSVM's tolerance.
        previous, value = value, float(new.a @ (K @ new.a) / 2 - y @ new.a)
        if value > previous:
            return best._replace(converged=new.converged, n_iter=step)
        objective.append(value)
        is_flat = previous - value <= tol * abs(value) or not negative.sizes.size
        converged = bool(is_flat and new.converged)
        best = Column(new.a, new.b, converged, step, np.array(objective))
        if is_flat:
            break
    return best


def dual_violation(K: Array, y: Array, a: Array, bounds: Array) -> float:
    """Return by how much coefficients fail the optimality conditions of the dual.

    Parameters
    ----------
    K, y, a, bounds
        See the module docstring.

    Returns
    -------
    float
        Largest ``(y - K a)_i`` whose a_i may rise, less the smallest one whose a_i may
        fall, if positive: LIBSVM's stopping rule, for any symmetric K.
    """
    rest = y - K @ a
    may_rise = a < np.where(y > 0, bounds, 0)
    may_fall = a > np.where(y > 0, 0, -bounds)
    return max(0.0, float(rest[may_rise].max() - rest[may_fall].min()))
