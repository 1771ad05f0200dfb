"""How indefinite a similarity matrix is, in numbers."""

import numpy as np

from kreinlearn._typing import Array
from kreinlearn._validation import check_matrix, check_positive
from kreinlearn.spectrum.decompose import Spectrum


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
