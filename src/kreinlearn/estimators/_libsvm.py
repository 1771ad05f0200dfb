"""From a Gram matrix to a support vector machine: the steps that estimators share.

Letters: ``K`` (n, n) the Gram matrix; ``y`` (n,) labels, -1 or 1; ``a`` (n,) signed
coefficients, so that f = K a + b; ``bounds`` (n,) the C of each sample, so that
0 <= y_i a_i <= bounds_i. LIBSVM, through scikit-learn, solves every convex problem.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.svm import SVC, SVR

from kreinlearn._typing import Array
from kreinlearn.exceptions import ConvergenceWarning
from kreinlearn.spectrum.modulus import Negative

INNER_TOL = 10.0
"""Tolerance of a convex subproblem, in units of the decision function, over that of
the outer loop, in units of the objective, which is flatter near a solution."""
INNER_STEPS = 10_000_000
"""Most steps of LIBSVM in a subproblem: the cap of LIBSVM's own programs."""


class Column(NamedTuple):
    """One binary machine: coefficients, and how the solve that gave them ended."""

    a: Array
    b: float
    converged: bool
    n_iter: int
    objective: Array = np.zeros(0)


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
        Stop when the objective falls by no more than this share of itself.
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
