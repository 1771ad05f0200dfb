"""Eigenvalues and positive decompositions of symmetric matrices.

Letters: ``K`` (n, n) symmetric, with eigenvalues mu_1 >= ... >= mu_n, the last of
which may be negative; ``V`` (n, r) eigenvectors, one per column.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cholesky, eigh, eigvalsh

from kreinlearn._typing import Array
from kreinlearn._validation import check_choice, check_matrix, check_positive
from kreinlearn.operators import Dense, Symmetric, gemm
from kreinlearn.spectrum.lanczos import extreme

SMALL_MATRIX = 512
"""Up to this n all eigenvalues cost less than a few dozen Lanczos steps."""

SPECTRUM_SAMPLES, MANY_NEGATIVE = 200, 0.2
"""If more than this fraction of the eigenvalues of so many samples is negative, all
eigenpairs take less time than the negative ones."""

TAU_MARGIN = 1.01
"""The paper asks for tau > -mu_n: this much more."""


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues (ascending) and eigenvectors of a symmetric matrix.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, the smallest first.
    vectors : ndarray of shape (n, r)
        Eigenvectors, one per column.
    """

    values: Array
    vectors: Array

    @property
    def zero(self) -> float:
        """Size up to which an eigenvalue is zero to rounding.

        The largest modulus times n times the spacing of the precision.
        """
        largest, eps = np.abs(self.values).max(initial=0.0), np.finfo(self.values.dtype)
        return float(largest * self.vectors.shape[0] * eps.eps)

    @property
    def signature(self) -> tuple[int, int, int]:
        """Numbers of positive, negative and zero eigenvalues."""
        positive = int((self.values > self.zero).sum())
        negative = int((self.values < -self.zero).sum())
        return positive, negative, len(self.values) - positive - negative

    def positive(self) -> "Spectrum":
        """Return the part with positive eigenvalues."""
        return self._where(self.values > self.zero)

    def negative(self) -> "Spectrum":
        """Return the part with negative eigenvalues."""
        return self._where(self.values < -self.zero)

    def _where(self, kept: Array) -> "Spectrum":
        return Spectrum(self.values[kept], self.vectors[:, kept])

    def matrix(self) -> Array:
        """Return V diag(values) V', the matrix or its part."""
        return np.asarray((self.vectors * self.values) @ self.vectors.T)


def decompose(K: Array, part: Literal["all", "negative"] = "all") -> Spectrum:
    """Return the eigenvalues and eigenvectors of a symmetric matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    part : {"all", "negative"}
        Everything, or only the pairs with negative eigenvalue, which is all that
        K+, K- and ``|K|`` need and costs a fraction of the time if they are few.

    Returns
    -------
    Spectrum
        Eigenvalues ascending.

    Examples
    --------
    >>> import numpy as np
    >>> decompose(np.diag([3.0, -1.0, 0.0])).signature
    (1, 1, 1)
    """
    check_choice("part", part, ("all", "negative"))
    K, _ = check_matrix(K, "K", symmetric="any")
    if part == "all":
        values, vectors = eigh(K, check_finite=False)
        return Spectrum(values, vectors)
    # The largest row sum bounds every eigenvalue: below its rounding, zero.
    scale = float(np.abs(K).sum(axis=1).max(initial=0.0))
    zero = max(scale * np.finfo(K.dtype).eps, np.finfo(K.dtype).tiny)
    if has_factor(K, zero / 2):
        return Spectrum(np.empty(0, K.dtype), np.empty((len(K), 0), K.dtype))
    if _estimate_negative_fraction(K, zero) > MANY_NEGATIVE:
        values, vectors = eigh(K, driver="evd", check_finite=False)
    else:
        some = {"subset_by_value": (-np.inf, -zero)}
        values, vectors = eigh(K, check_finite=False, **some)
    # LAPACK returns every pair of a zero matrix, whatever the interval.
    return Spectrum(values, vectors)._where(values < -zero)


def has_factor(K: Array, shift: float) -> bool:
    """Return whether K + shift I has a Cholesky factor, and so is positive definite."""
    shifted = K.copy()
    shifted.flat[:: len(K) + 1] += shift
    try:
        cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


def _estimate_negative_fraction(K: Array, zero: float) -> float:
    """Return the fraction of negative eigenvalues among some samples."""
    step = -(-len(K) // SPECTRUM_SAMPLES)
    values = eigvalsh(K[::step, ::step], check_finite=False)
    return float((values < -zero).mean())


@dataclass(frozen=True)
class Split:
    """A positive decomposition K = K+ - K- with both parts positive semidefinite.

    ``K- = V diag(sizes) V' + tau I`` and ``K+ = K + K-``, so that only the negative
    eigenpairs, if any, are stored.

    Attributes
    ----------
    tau : float
        Shift common to both parts.
    sizes : ndarray of shape (r,)
        Moduli of the negative eigenvalues that K- holds.
    vectors : ndarray of shape (n, r)
        Their eigenvectors.
    norm : float
        Spectral norm of K.
    norm_plus, norm_minus : float
        Spectral norms of K+ and K-.
    """

    tau: float
    sizes: Array
    vectors: Array
    norm: float
    norm_plus: float
    norm_minus: float

    def minus(self, B: Array) -> Array:
        """Return K- B for a block of columns."""
        if not len(self.sizes):
            return np.asarray(self.tau * B)
        low_rank = gemm(self.vectors, self.sizes[:, None] * gemm(self.vectors.T, B))
        return np.asarray(self.tau * B + low_rank)


def split(K: Symmetric, mode: Literal["paper", "tight", "shift"] = "paper") -> Split:
    """Return a positive decomposition of K.

    Parameters
    ----------
    K : Symmetric
        The matrix; the first two modes need it stored.
    mode : {"paper", "tight", "shift"}
        "paper": positive and negative eigenvalues apart, and tau > -mu_n on both
        diagonals. "tight": the same with tau = 0. "shift": K+ = K + tau I and
        K- = tau I, which needs one eigenvalue and no eigenvector.

    Returns
    -------
    Split
        The decomposition.

    Notes
    -----
    For positive semidefinite K, K- is zero in all three; with "shift" up to the
    accuracy of Lanczos steps, a millionth of the largest eigenvalue.
    """
    check_choice("mode", mode, ("paper", "tight", "shift"))
    n = K.shape[0]
    none = np.zeros(0), np.zeros((n, 0))
    top = extreme(K, "largest")
    if mode == "shift" or not isinstance(K, Dense):
        low = extreme(K, "smallest")
        reach = -low.value + low.error
        zero = np.finfo(float).eps * n * abs(top.value)
        tau = max(0.0, TAU_MARGIN * reach) if reach > zero else 0.0
        norm = max(top.value, -low.value)
        return Split(tau, *none, norm, top.value + tau, tau)
    negative = decompose(K.K, "negative")
    sizes, vectors = -negative.values.astype(float), negative.vectors.astype(float)
    worst = float(sizes.max(initial=0.0))
    tau = TAU_MARGIN * worst if mode == "paper" else 0.0
    positive = max(top.value, 0.0)
    return Split(tau, sizes, vectors, max(positive, worst), positive + tau, worst + tau)


def theorem1_bound(
    norm: float, norm_plus: float, norm_minus: float, n: int, lam: float
) -> float:
    """Return the right side of the paper's Theorem 1.

    The theorem asks for ``eps < lam (|K+| - |K-|) - |K|^2 / (4 n)``.

    Parameters
    ----------
    norm, norm_plus, norm_minus : float
        Spectral norms of K, K+ and K-; a shift common to both parts cancels.
    n : int
        Number of samples.
    lam : float
        Regularization.

    Returns
    -------
    float
        The bound; a diagnostic, not a guarantee.

    Notes
    -----
    The printed proof replaces the norm of the inverse of K+ by the inverse of its
    norm, and the value is negative for most data and lam: no eps satisfies it.
    """
    return lam * (norm_plus - norm_minus) - norm**2 / (4 * n)


def describe(K: Array, lam: float | None = None) -> dict[str, object]:
    """Return how indefinite a similarity matrix is, in numbers.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Similarities; the asymmetric part is measured, then left out.
    lam : float, optional
        Adds the bound of the paper's Theorem 1 for this regularization.

    Returns
    -------
    dict
        ``n``; ``signature`` (numbers of positive, negative, zero eigenvalues);
        ``mu_min``, ``mu_max``; ``negative_share``, of the sum of moduli of all
        eigenvalues (trace norm); ``asymmetry``, largest ``|K - K'|`` over largest
        ``|K|``; ``lam_unique``, the lam above which logistic regression of two classes
        with this matrix has exactly one stationary point (a multinomial model needs
        twice that); with ``lam`` also
        ``theorem1_bound``, a diagnostic and no guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> report = describe(np.diag([3.0, -1.0]))
    >>> report["signature"], report["negative_share"], report["lam_unique"]
    ((1, 1, 0), 0.25, 0.125)
    """
    K, asymmetry = check_matrix(K, "K", symmetric="average", dtype=float)
    n = K.shape[0]
    values = np.linalg.eigvalsh(K)
    spectrum = Spectrum(values, np.empty((n, n)))
    mass = float(np.abs(values).sum())
    negative = float(np.abs(np.minimum(values, 0.0)).sum())
    report: dict[str, object] = {
        "n": n,
        "signature": spectrum.signature,
        "mu_min": float(values[0]),
        "mu_max": float(values[-1]),
        "negative_share": negative / mass if mass > 0 else 0.0,
        "asymmetry": asymmetry,
        "lam_unique": max(0.0, -float(values[0])) / (4 * n),
    }
    if lam is not None:
        lam = check_positive("lam", lam)
        plus, minus = max(float(values[-1]), 0.0), max(-float(values[0]), 0.0)
        report["theorem1_bound"] = theorem1_bound(max(plus, minus), plus, minus, n, lam)
    return report
