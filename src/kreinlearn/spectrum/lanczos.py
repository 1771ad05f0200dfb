"""Ends of the spectrum from Lanczos steps, and proofs of bounds from them.

Letters: ``K`` (n, n) symmetric, ``x`` a random Gaussian start, ``q_j`` the Lanczos
vectors, ``T`` the tridiagonal matrix of ``alpha`` and ``beta``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import blas, eigh_tridiagonal, eigvalsh_tridiagonal

from kreinlearn._validation import check_choice
from kreinlearn.operators import Symmetric

FAILURE_PROBABILITY = 1e-6
"""Probability that `certify_above` wrongly proves a level."""
MIN_STEPS = 8
"""Steps before `certify_above` may give up."""


def _lanczos(
    K: Symmetric, sign: float, max_steps: int, seed: int
) -> Iterator[tuple[float, float]]:
    """Yield the entries alpha and beta of T for sign * K, one row per product.

    Full reorthogonalization, so that no ghost values appear.
    """
    n = K.shape[0]
    x = np.random.default_rng(seed).standard_normal(n)
    Q = np.empty((min(n, max_steps) + 1, n))
    Q[0] = x / np.linalg.norm(x)
    for k in range(min(n, max_steps)):
        r = sign * K.matmat_native(Q[k][:, None])[:, 0]
        alpha = float(blas.ddot(Q[k], r))
        known = Q[: k + 1].T
        beta = float(blas.dnrm2(r))
        for _ in range(2):  # twice is enough (Kahan and Parlett), and rarely needed
            before = beta
            shares = blas.dgemv(1.0, known, r, trans=1)
            r = blas.dgemv(-1.0, known, shares, 1.0, r, overwrite_y=1)
            beta = float(blas.dnrm2(r))
            if beta > before / 2:
                break
        yield alpha, beta
        Q[k + 1] = r / beta if beta > 0 else 0.0


@dataclass(frozen=True)
class Bound:
    """An extreme eigenvalue and its error bound.

    Attributes
    ----------
    value : float
        The Ritz value: never beyond the true extreme eigenvalue.
    error : float
        Norm of its residual: an eigenvalue lies within this distance of ``value``.
    steps : int
        Products with K that it took.
    """

    value: float
    error: float
    steps: int


def extreme(
    K: Symmetric,
    end: Literal["smallest", "largest"],
    *,
    max_steps: int = 100,
    rtol: float = 1e-6,
    seed: int = 0,
) -> Bound:
    """Return one end of the spectrum by Lanczos steps, with an error bound.

    Parameters
    ----------
    K : Symmetric
        The matrix.
    end : {"smallest", "largest"}
        Which end.
    max_steps : int
        Most products with K.
    rtol : float
        Stop when the error is below this fraction of the largest modulus seen.
    seed : int
        Seed of the random start.

    Returns
    -------
    Bound
        Value, error and number of products.

    Notes
    -----
    The error bound means that *some* eigenvalue is that near, not that it is the
    extreme one: an isolated eigenvalue may stay unseen for dozens of steps while the
    error looks small. The extreme eigenvalue lies at ``value`` or beyond it; see
    `certify_above` for a proof.
    """
    check_choice("end", end, ("smallest", "largest"))
    sign = 1.0 if end == "smallest" else -1.0
    alpha: list[float] = []
    beta: list[float] = []
    value, error = 0.0, np.inf
    for diagonal, coupling in _lanczos(K, sign, max_steps, seed):
        alpha.append(diagonal)
        ritz, s = eigh_tridiagonal(alpha, beta)
        value, error = float(ritz[0]), coupling * abs(float(s[-1, 0]))
        scale = float(np.abs(ritz).max())
        if error <= rtol * scale or coupling <= 1e-14 * scale:
            break
        beta.append(coupling)
    return Bound(sign * value, error, len(alpha))


@dataclass(frozen=True)
class Floor:
    """Result of `certify_above`: whether all eigenvalues are above a level.

    Attributes
    ----------
    verdict : bool or None
        True if every eigenvalue is above the level (wrong with probability 1e-6 at
        most), False if one is certainly not, None if that stayed open.
    value : float
        The smallest Ritz value: the smallest eigenvalue is there or below.
    steps : int
        Products with K that it took.
    """

    verdict: bool | None
    value: float
    steps: int


def certify_above(
    K: Symmetric, level: float, *, max_steps: int, seed: int = 0
) -> Floor:
    r"""Decide whether all eigenvalues of K are above a level.

    Parameters
    ----------
    K : Symmetric
        The matrix.
    level : float
        The level.
    max_steps : int
        Most products with K; fewer are made where these would not be enough.
    seed : int
        Seed of the random start.

    Returns
    -------
    Floor
        The verdict.

    Notes
    -----
    Lanczos steps give the orthonormal polynomials p_j of the measure that puts the
    mass :math:`(v_i' x)^2 / |x|^2` on the eigenvalue of each eigenvector v_i. A point
    z has a mass of at most :math:`1 / \sum_j p_j(z)^2` (Christoffel's function), and
    below the Ritz values that bound falls as z falls. As x is Gaussian, the mass of
    the smallest eigenvalue is below :math:`\pi \delta^2 / (2 |x|^2)` with probability
    :math:`\delta` only. Hence, once the sum exceeds the inverse of that at the level,
    no eigenvalue is there or below. A Ritz value minus the norm of its residual, which
    is often taken for such a bound, proves nothing.

    The signs of the p_j at the level alternate as long as all Ritz values are above.
    Products are those in the precision of K: of a single precision matrix, eigenvalues
    are known to about 1e-7 of the largest.
    """
    n = K.shape[0]
    x = np.random.default_rng(seed).standard_normal(n)
    target = float(x @ x) / (np.pi / 2 * FAILURE_PROBABILITY**2)
    alpha: list[float] = []
    beta: list[float] = []
    verdict: bool | None = None
    before, now, total = 0.0, 1.0, 1.0
    sums = [total]
    for diagonal, coupling in _lanczos(K, 1.0, max_steps, seed):
        alpha.append(diagonal)
        last = beta[-1] if beta else 0.0
        following = (level - diagonal) * now - last * before  # times beta
        if following * now >= 0:
            verdict = False
            break
        if coupling <= 1e-14 * max(map(abs, alpha)):
            verdict = True  # an invariant space: the Ritz values are all there is
            break
        before, now = now, following / coupling
        total += now * now
        sums.append(total)
        if total > target:
            verdict = True
            break
        beta.append(coupling)
        if len(alpha) >= MIN_STEPS and _hopeless(sums, target, max_steps):
            break
    values = eigvalsh_tridiagonal(alpha, beta[: len(alpha) - 1])
    return Floor(verdict, float(values[0]), len(alpha))


def _hopeless(sums: list[float], target: float, max_steps: int) -> bool:
    """Return whether a sum that grows twice as fast as now would come too late."""
    half = len(sums) // 2
    growth = 2 * np.log(sums[-1] / sums[half]) / (len(sums) - 1 - half)
    left = max_steps - (len(sums) - 1)
    return bool(np.log(target / sums[-1]) > growth * left)
