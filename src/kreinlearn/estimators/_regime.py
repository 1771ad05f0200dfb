"""Whether logistic regression in a Krein space has one solution.

Letters as in ``kreinlearn.problem.dual``. The dual J is convex, and its stationary
point unique, if K + diag(lam / (weights * b)) is positive definite, where b is the
largest second derivative of the loss. With an intercept the columns of A sum to zero,
and it is enough that this holds for such columns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cholesky, eigvalsh

from kreinlearn._typing import Array
from kreinlearn.losses import loss_for
from kreinlearn.operators import Blocked, Dense
from kreinlearn.spectrum.decompose import SMALL_MATRIX
from kreinlearn.spectrum.lanczos import floor

REGIME_STEPS = 50
"""Lanczos steps, enough to estimate mu_min; more would cost as much as the fit."""
FEW_STEPS = 20
"""The same where K is not stored, and each step computes it anew."""
DECIDED = 2000
"""Most samples for which an open question is settled by a factorization."""


def limit_of(lam: float, max_weight: float, multinomial: bool) -> float:
    """Return how far below zero the spectrum may reach."""
    return lam / (max_weight * loss_for(multinomial).hessian_bound)


def regime(K: Dense | Blocked, limit: float) -> tuple[str, float]:
    """Tell whether the stationary point is unique, and the smallest eigenvalue.

    Parameters
    ----------
    K : Dense or Blocked
        Similarities.
    limit : float
        What `limit_of` gives.

    Returns
    -------
    regime : {"unique", "unknown"}
        "unknown" means that uniqueness is not proven.
    mu_min : float
        Smallest eigenvalue; for large n an estimate from above.

    Notes
    -----
    See `kreinlearn.spectrum.lanczos.floor` for the proof, which costs a few dozen
    products and is given up early where it would take more; a Cholesky factor would
    settle every case, but takes longer than the fit.
    """
    if isinstance(K, Dense) and K.shape[0] <= SMALL_MATRIX:
        matrix = K.K.astype(float, copy=False)
        mu_min = float(eigvalsh(matrix, subset_by_index=(0, 0))[0])
        return ("unique" if mu_min > -limit else "unknown"), mu_min
    steps = REGIME_STEPS if isinstance(K, Dense) else FEW_STEPS
    found = floor(K, -limit, max_steps=steps)
    return ("unique" if found.verdict else "unknown"), found.value


@dataclass(frozen=True)
class OpenQuestion:
    """A fit for which it is open whether J is convex; ``weights`` (n,) sum to one."""

    K: Array
    weights: Array
    lam: float
    multinomial: bool
    fit_intercept: bool

    def answer(self) -> str:
        """Return "unique" or "nonconvex", by a Cholesky factor.

        J is convex if its Hessian is positive definite where it is smallest, at equal
        probabilities: K plus a diagonal, on the coefficients that are allowed. If it is
        not, that factor meets a direction of negative curvature.
        """
        used = self.weights > 0
        bound = loss_for(self.multinomial).hessian_bound
        diagonal = self.lam / (self.weights[used] * bound)
        H = self.K[np.ix_(used, used)].astype(float)
        H.flat[:: len(H) + 1] += diagonal
        if self.fit_intercept:
            H -= H.mean(axis=0)
            H -= H.mean(axis=1, keepdims=True)
            H += diagonal.mean() / len(H)  # so that constants decide nothing
        return "unique" if positive_definite(H, 0.0) else "nonconvex"


def positive_definite(K: Array, shift: float) -> bool:
    """Tell whether K + shift I has a Cholesky factor."""
    shifted = K.astype(float)
    shifted.flat[:: len(K) + 1] += shift
    try:
        cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True
