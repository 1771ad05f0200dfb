"""Kernels between the rows of two matrices.

Letters: X (n, m) and Y (k, m) hold one sample per row, x and z are rows of X and Y, and
K (n, k) is the kernel matrix. Defaults suit features scaled to [0, 1].

Every kernel takes any two blocks of rows, so that a large matrix can be computed in
blocks; ``check_rows`` prepares samples that are used many times.

float32 stays float32, everything else becomes float64. Without Y, K is exactly
symmetric and distances on its diagonal are exactly 0. Up to 128 features, distances are
summed pair by pair, to nearly full precision. With more, squared distances come from a
matrix product and are never below 0, but digits cancel for rows that are close to each
other: the error is about 1e-15 (|x|^2 + |z|^2) in float64 and 1e-6 (|x|^2 + |z|^2) in
float32, with norms measured from the mean sample.
"""

from functools import partial

from numpy.typing import ArrayLike

from kreinlearn._typing import Array
from kreinlearn.kernels import transforms
from kreinlearn.kernels._pairwise import check_rows, compute_pairwise
from kreinlearn.kernels._records import Grid, Kernel, Measure

__all__ = [
    "check_rows",
    "epanechnikov",
    "gaussian_difference",
    "laplacian",
    "linear",
    "log",
    "polynomial",
    "power",
    "rbf",
    "tanh",
    "tl1",
]


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
    return compute_pairwise(X, Y, "product", transforms.identity)


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
    about = (transforms.polynomial, degree, gamma, coef0)
    return compute_pairwise(X, Y, "product", *about)


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
    return compute_pairwise(X, Y, "product", transforms.tanh, gamma, coef0)


def rbf(
    X: ArrayLike, Y: ArrayLike | None = None, *, sigma: float | None = None
) -> Array:
    """Gaussian kernel, ``K(x, z) = exp(-|x - z|^2 / sigma^2)``.

    Positive definite. Scikit-learn writes gamma for 1 / sigma^2.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    sigma : float, default=None
        Width; None means sqrt(m).

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix, entries in [0, 1].

    Examples
    --------
    >>> from kreinlearn.kernels import rbf
    >>> rbf([[0.0], [1.0]], sigma=2).round(4)
    array([[1.    , 0.7788],
           [0.7788, 1.    ]])
    """
    return compute_pairwise(X, Y, "square", transforms.gaussian, sigma)


def laplacian(
    X: ArrayLike, Y: ArrayLike | None = None, *, sigma: float | None = None
) -> Array:
    """Laplacian kernel, ``K(x, z) = exp(-|x - z|_1 / sigma)``.

    Positive definite.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    sigma : float, default=None
        Width; None means m.

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix, entries in [0, 1].

    Examples
    --------
    >>> from kreinlearn.kernels import laplacian
    >>> laplacian([[0.0], [1.0]], sigma=2).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    return compute_pairwise(X, Y, "absolute", transforms.exponential, sigma)


def tl1(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    tau: float | None = None,
    ratio: float | None = None,
) -> Array:
    """TL1, the truncated L1 distance kernel, ``K(x, z) = max(tau - |x - z|_1, 0)``.

    Positive definite for m = 1, indefinite in general beyond. Piecewise linear, with
    compact support.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    tau : float, default=None
        Distance from which on the kernel is 0; None means ratio * m.
    ratio : float, default=None
        tau as a fraction of m, in place of tau; None means 0.7.

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix, entries in [0, tau].

    References
    ----------
    X. Huang, J. A. K. Suykens, S. Wang, J. Hornegger, A. Maier, "Classification with
    truncated L1 distance kernel", IEEE Transactions on Neural Networks and Learning
    Systems 29(5), 2018.

    Examples
    --------
    >>> from kreinlearn.kernels import tl1
    >>> tl1([[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]], tau=1.5)
    array([[1.5 , 0.75, 0.  ],
           [0.75, 1.5 , 0.25],
           [0.  , 0.25, 1.5 ]])
    """
    return compute_pairwise(X, Y, "absolute", transforms.hinge, tau, ratio)


def gaussian_difference(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    sigma_narrow: float | None = None,
    sigma_wide: float | None = None,
    weight: float = 0.5,
) -> Array:
    """Difference of two Gaussians, a narrow one minus a multiple of a wide one.

    With ``d = |x - z|``,
    K(x, z) = exp(-d^2 / sigma_narrow^2) - weight exp(-d^2 / sigma_wide^2).
    Indefinite in general.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    sigma_narrow : float, default=None
        Width of the first Gaussian; None means sigma_wide / 2.
    sigma_wide : float, default=None
        Width of the second, above sigma_narrow; None means sqrt(m).
    weight : float, default=0.5
        Factor of the second, above 0.

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix, with 1 - weight where x = z.

    References
    ----------
    C. S. Ong, X. Mary, S. Canu, A. J. Smola, "Learning with non-positive kernels",
    International Conference on Machine Learning, 2004.

    Examples
    --------
    >>> from kreinlearn.kernels import gaussian_difference
    >>> gaussian_difference([[0.0], [1.0]]).round(4)
    array([[ 0.5   , -0.1656],
           [-0.1656,  0.5   ]])
    """
    params = sigma_narrow, sigma_wide, weight
    return compute_pairwise(X, Y, "square", transforms.difference, *params)


def epanechnikov(
    X: ArrayLike, Y: ArrayLike | None = None, *, sigma: float | None = None
) -> Array:
    """Epanechnikov kernel, ``K(x, z) = max(1 - |x - z|^2 / sigma^2, 0)``.

    Indefinite in general, with compact support.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    sigma : float, default=None
        Radius of the support; None means 0.7 sqrt(m).

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix, entries in [0, 1].

    References
    ----------
    C. S. Ong, X. Mary, S. Canu, A. J. Smola, "Learning with non-positive kernels",
    International Conference on Machine Learning, 2004.

    Examples
    --------
    >>> from kreinlearn.kernels import epanechnikov
    >>> epanechnikov([[0.0], [1.0], [3.0]], sigma=2)
    array([[1.  , 0.75, 0.  ],
           [0.75, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    return compute_pairwise(X, Y, "square", transforms.parabola, sigma)


def log(X: ArrayLike, Y: ArrayLike | None = None, *, degree: float = 2.0) -> Array:
    """Logarithmic kernel, ``K(x, z) = -log(1 + |x - z|^degree)``.

    Conditionally positive definite for degree <= 2; its trace is 0, so it has
    eigenvalues of both signs.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    degree : float, default=2.0
        Exponent of the distance, above 0.

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix, entries 0 or below.

    References
    ----------
    S. Boughorbel, J.-P. Tarel, N. Boujemaa, "Conditionally positive definite kernels
    for SVM based image recognition", IEEE International Conference on Multimedia and
    Expo, 2005.

    Examples
    --------
    >>> from kreinlearn.kernels import log
    >>> log([[0.0], [2.0]], [[0.0]], degree=1).round(4)
    array([[ 0.    ],
           [-1.0986]])
    """
    return compute_pairwise(X, Y, "square", transforms.negative_log, degree)


def power(X: ArrayLike, Y: ArrayLike | None = None, *, degree: float = 1.0) -> Array:
    """Power distance kernel, ``K(x, z) = -|x - z|^degree``.

    Conditionally positive definite for degree <= 2; its trace is 0, so it has
    eigenvalues of both signs.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Samples.
    Y : array-like of shape (k, m), default=None
        Other samples; None means X.
    degree : float, default=1.0
        Exponent of the distance, above 0.

    Returns
    -------
    ndarray of shape (n, k)
        The kernel matrix, entries 0 or below.

    References
    ----------
    B. Schölkopf, "The kernel trick for distances", Advances in Neural Information
    Processing Systems 13, 2000.

    Examples
    --------
    >>> from kreinlearn.kernels import power
    >>> power([[0.0], [2.0]], [[5.0]])
    array([[-5.],
           [-3.]])
    """
    return compute_pairwise(X, Y, "square", transforms.negative_power, degree)


STORED_FEATURES = 32
"""With fewer features, measure and transform together are as fast as the transform.

Summing 16 features takes as long as reading a stored sum from memory. At 60 features a
stored measure takes half the time for `tl1`, at 200 a fifth.
"""


def _count_features(X: ArrayLike) -> int:
    return check_rows("X", X).shape[1]


def _make_measure(
    name: str, sums: str, metric: str | None = None, is_squared: bool = False
) -> Measure:
    """Return a measure between rows that is a sum over their features."""
    function = partial(compute_pairwise, sums=sums, form=transforms.identity)
    about = (is_squared, metric, sums, STORED_FEATURES)
    return Measure(name, function, _count_features, (), *about)


L1_DISTANCE = _make_measure("L1 distance", "absolute", "cityblock")
SQUARED_DISTANCE = _make_measure(
    "squared Euclidean distance", "square", "euclidean", True
)
INNER_PRODUCT = _make_measure("inner product", "product")

# On training halves of sixteen small data sets, cross-validation chose ratios below 0.3
# in one case of six.
RATIO_GRID = Grid("ratio", (0.1, 0.2, 0.3, 0.5, 0.7, 0.9), 0.7, False, ("tau",))
WIDTH_GRID = Grid("sigma", (0.25, 0.5, 1.0, 2.0, 4.0), 1.0)

ROW_KERNELS = tuple(
    Kernel(function.__name__, function, measure, form, grid, is_definite=is_definite)
    for function, measure, form, grid, is_definite in (
        (epanechnikov, SQUARED_DISTANCE, transforms.parabola, WIDTH_GRID, False),
        (gaussian_difference, SQUARED_DISTANCE, transforms.difference, None, False),
        (laplacian, L1_DISTANCE, transforms.exponential, WIDTH_GRID, True),
        (linear, INNER_PRODUCT, transforms.identity, None, True),
        (log, SQUARED_DISTANCE, transforms.negative_log, None, False),
        (polynomial, INNER_PRODUCT, transforms.polynomial, None, False),
        (power, SQUARED_DISTANCE, transforms.negative_power, None, False),
        (rbf, SQUARED_DISTANCE, transforms.gaussian, WIDTH_GRID, True),
        (tanh, INNER_PRODUCT, transforms.tanh, None, False),
        (tl1, L1_DISTANCE, transforms.hinge, RATIO_GRID, False),
    )
)
"""All kernels between rows."""
