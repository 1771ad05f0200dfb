"""Generated data with known answers.

``K`` is a symmetric matrix of shape (n_samples, n_samples), ``y`` holds labels -1
and +1 and has shape (n_samples,).
"""

from collections.abc import Sequence
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kreinlearn._validation import check_count, check_positive

__all__ = ["make_gram", "make_monks"]

MONKS_VALUES = (3, 3, 2, 3, 4, 2)
"""Number of values of each of the attributes a1 to a6."""

SMALLEST_RATIO = 0.1
"""Smallest over largest magnitude of the nonzero eigenvalues of `make_gram`: far
from rounding, so that every sensible tolerance finds the same signature."""


def make_monks(problem: int) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """Return the whole domain of one of the three MONK's problems.

    Six attributes a1 to a6 take 3, 3, 2, 3, 4 and 2 values. The label is +1 where

    1. a1 = a2, or a5 = 1;
    2. exactly two of the six attributes are 1;
    3. a5 = 3 and a4 = 1, or a5 is not 4 and a2 is not 3.

    Parameters
    ----------
    problem : {1, 2, 3}
        Which rule.

    Returns
    -------
    X : ndarray of shape (432, 6)
        Every combination of attributes, coded from 1, the last one running fastest.
    y : ndarray of shape (432,)
        Labels, -1 or +1, without noise.

    Raises
    ------
    ValueError
        If the problem is not 1, 2 or 3.

    Notes
    -----
    The official test files are these domains. The official training files are
    samples of them; that of the third problem has about five percent of its labels
    flipped, which this function does not imitate.

    References
    ----------
    .. [1] S. Thrun et al., "The MONK's Problems: A Performance Comparison of
       Different Learning Algorithms", Carnegie Mellon University, CS-CMU-91-197,
       1991.

    Examples
    --------
    >>> from kreinlearn.datasets import make_monks
    >>> X, y = make_monks(1)
    >>> X.shape, int((y == 1).sum())
    ((432, 6), 216)
    """
    X = np.array(list(product(*(range(1, count + 1) for count in MONKS_VALUES))))
    a1, a2, _, a4, a5, _ = X.T
    if problem == 1:
        holds = (a1 == a2) | (a5 == 1)
    elif problem == 2:
        holds = (X == 1).sum(axis=1) == 2
    elif problem == 3:
        holds = ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3))
    else:
        raise ValueError(f"'problem' must be one of 1, 2, 3, got {problem!r}.")
    return X.astype(np.float64), np.where(holds, 1, -1)


def make_gram(
    signature: Sequence[int],
    *,
    n_samples: int | None = None,
    scale: float = 1.0,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    r"""Return a random symmetric matrix of prescribed signature, and labels.

    .. math:: K = U \operatorname{diag}(\mu_1, \dots, \mu_p, -\nu_1, \dots, -\nu_q,
              0, \dots, 0) U^\top

    with `U` uniformly distributed over the orthogonal matrices.

    Parameters
    ----------
    signature : tuple of two or three int
        Number of positive, negative and, optionally, zero eigenvalues.
    n_samples : int, optional
        Size of the matrix; eigenvalues beyond the signature are zero. By
        default the sum of the signature.
    scale : float, default=1.0
        Largest magnitude of an eigenvalue, of either sign.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness; an integer makes the result reproducible.

    Returns
    -------
    K : ndarray of shape (n_samples, n_samples)
        Exactly symmetric. Its eigenvalues do not depend on ``random_state``: they
        are ``scale * geomspace(1, 0.1, p)``, ``-scale * geomspace(1, 0.1, q)`` and
        zeros, up to rounding.
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1, split at the median of the sum of the eigenvectors of the
        largest and of the smallest eigenvalue. Half of the signal is thus in a
        positive and half in a negative direction, and the classes differ by at
        most one sample.

    Raises
    ------
    TypeError
        If a count is not a whole number, or the scale not a number.
    ValueError
        If a count is negative, the matrix would be empty, ``n_samples`` does not
        fit the signature, or the scale is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn.datasets import make_gram
    >>> K, y = make_gram((2, 1, 1), scale=10.0, random_state=0)
    >>> np.abs(np.linalg.eigvalsh(K)).round(6)
    array([10.,  0.,  1., 10.])
    """
    p, q, zeros = _check_signature(signature, n_samples)
    scale = check_positive("scale", scale)
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    rng = np.random.default_rng(random_state)

    n = p + q + zeros
    # The sign of the diagonal of R makes Q uniform; QR alone favors some matrices.
    Q, R = np.linalg.qr(rng.standard_normal((n, n)))
    U = Q * np.where(np.diag(R) < 0, -1.0, 1.0)
    values = np.zeros(n)
    values[:p] = scale * np.geomspace(1.0, SMALLEST_RATIO, p)
    values[p : p + q] = -scale * np.geomspace(1.0, SMALLEST_RATIO, q)
    K = (U * values) @ U.T
    K = (K + K.T) / 2

    leading = ([0] if p else []) + ([p] if q else [])
    signal = U[:, leading or [0]].sum(axis=1)
    return K, np.where(signal >= np.median(signal), 1, -1)


def _check_signature(signature: Any, n_samples: Any) -> tuple[int, int, int]:
    """Return the numbers of positive, negative and zero eigenvalues."""
    expected = (
        "'signature' must be (n_positive, n_negative) or (n_positive, n_negative, "
        f"n_zero) in whole numbers from 0 up, got {signature!r}."
    )
    if not isinstance(signature, Sequence) or not all(
        isinstance(count, Integral) for count in signature
    ):
        raise TypeError(expected)
    if len(signature) not in (2, 3) or min(signature) < 0:
        raise ValueError(expected)
    total = sum(signature)
    n = total if n_samples is None else check_count("n_samples", n_samples)
    if n == 0:
        raise ValueError(
            f"'signature' must ask for one eigenvalue or more, got {signature!r}."
        )
    if n < total or (len(signature) == 3 and n != total):
        raise ValueError(
            f"'n_samples' must fit the signature {tuple(signature)!r} of {total} "
            f"eigenvalues, got {n_samples!r}."
        )
    p, q = int(signature[0]), int(signature[1])
    return p, q, n - p - q
