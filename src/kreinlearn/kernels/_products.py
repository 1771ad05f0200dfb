"""Kernels that see two rows through their inner product only.

Letters are those of ``vector``, which offers these functions as its own.
"""

from numpy.typing import ArrayLike

from kreinlearn._typing import Array
from kreinlearn.kernels import transforms
from kreinlearn.kernels._pairs import between_rows


def linear(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Inner product, K(x, z) = <x, z>.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix.

    Examples
    --------
    >>> from kreinlearn.kernels import linear
    >>> linear([[1, 2], [3, 4]])
    array([[ 5., 11.],
           [11., 25.]])
    """
    return between_rows(X, Y, "product", transforms.identity)


def polynomial(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    degree: int = 3,
    gamma: float | None = None,
    coef0: float = 1.0,
) -> Array:
    """Polynomial kernel, K(x, z) = (gamma <x, z> + coef0)^degree.

    Positive definite if coef0 >= 0, else indefinite in general.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    degree : int, default=3
        Exponent, 1 or more.
    gamma : float, default=None
        Factor of the inner product; None means 1 / m.
    coef0 : float, default=1.0
        Constant term.

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix.

    Examples
    --------
    >>> from kreinlearn.kernels import polynomial
    >>> polynomial([[1.0], [2.0]], degree=2)
    array([[ 4.,  9.],
           [ 9., 25.]])
    """
    return between_rows(X, Y, "product", transforms.polynomial, degree, gamma, coef0)


def tanh(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    gamma: float | None = None,
    coef0: float = 0.0,
) -> Array:
    """Sigmoid kernel, K(x, z) = tanh(gamma <x, z> + coef0).

    Indefinite in general.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    gamma : float, default=None
        Factor of the inner product; None means 1 / m.
    coef0 : float, default=0.0
        Constant term.

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix, entries in [-1, 1].

    References
    ----------
    H.-T. Lin, C.-J. Lin, "A study on sigmoid kernels for SVM and the training of
    non-PSD kernels by SMO-type methods", National Taiwan University, 2003.

    Examples
    --------
    >>> from kreinlearn.kernels import tanh
    >>> tanh([[0.0], [1.0]]).round(4)
    array([[0.    , 0.    ],
           [0.    , 0.7616]])
    """
    return between_rows(X, Y, "product", transforms.tanh, gamma, coef0)
