"""Region covariance descriptors: images in, stacks of covariance matrices out.

Each pixel of an image has nine features; the descriptor of a region is the 9 x 9
covariance matrix of the features of its pixels. Its size does not
depend on that of the image, and the kernels ``spd_...`` compare descriptors.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from kreinlearn._typing import Array
from kreinlearn._validation import check_count, check_positive

__all__ = ["FEATURES", "RegionCovariance", "pixel_features"]

FEATURES = ("x", "y", "I", "|Gx|", "|Gy|", "|G|", "|Gxx|", "|Gyy|", "angle")
"""Features of the rows and columns of a descriptor, in this order."""

Images = Array | Sequence[ArrayLike]
"""Images of one size as a stack, or of any sizes one by one."""

LUMINANCE_WEIGHTS = np.array([0.2125, 0.7154, 0.0721])
"""Weights of red, green and blue (ITU-R BT.709, as in scikit-image's ``rgb2gray``)."""

WHITE_LEVEL = {"bool": 1.0, "uint8": 255.0, "uint16": 65535.0}
"""Brightest intensity of the usual integer types of images."""


class RegionCovariance(TransformerMixin, BaseEstimator):
    r"""Covariance matrices of pixel features, as descriptors of images.

    With intensity I and its derivatives, every pixel at (x, y) has the features

    .. math::

        \left[x,\; y,\; I,\; |G_x|,\; |G_y|,\; \sqrt{G_x^2 + G_y^2},\;
        |G_{xx}|,\; |G_{yy}|,\; \arctan\frac{|G_x|}{|G_y|}\right],

    and the descriptor of a region is their covariance over the N pixels in it, with
    1 / (N - 1). Stateless: there is nothing to learn.

    Parameters
    ----------
    grid : tuple of two int, default=(1, 1)
        Rows and columns of regions that every image is cut into.
    ridge : float, default=1e-6
        Fraction of the mean of its diagonal that is added to the diagonal of every
        descriptor. Without it an image with a flat intensity, or derivatives in one
        direction only, gives a singular matrix. 0 adds nothing.
    white : float, default=None
        Intensity that counts as 1. None means the largest value of the type for
        uint8, uint16 and bool, and 1 for floats; other integers need a number here.

    See Also
    --------
    kreinlearn.kernels.spd_affine_invariant : Similarities of descriptors.
    kreinlearn.kernels.spd_distances : Distances, summed over regions.

    Notes
    -----
    x and y run from 0 to 1 over the whole image, left to right and top to bottom,
    so that images of different sizes can be compared. :math:`G_x` comes from the
    filter [-1 0 1] along a row, without a factor 1/2, :math:`G_{xx}` from [1 -2 1],
    and the same along columns for y. Pixels on the border are repeated outwards
    (SciPy's mode "nearest"). Derivatives belong to the whole image: the grid cuts
    their values, and makes no new borders. The angle is in [0, pi/2], and 0 where
    both derivatives are 0.

    The affine-invariant and the Stein distance do not depend on such scales (but for
    the ridge), the Euclidean and the log-Euclidean distance do.

    References
    ----------
    .. [1] O. Tuzel, F. Porikli, P. Meer, "Region covariance: a fast descriptor for
       detection and classification", European Conference on Computer Vision, 2006.

    .. [2] F. Liu, X. Huang, C. Gong, J. Yang, J. A. K. Suykens, "Indefinite kernel
       logistic regression with concave-inexact-convex procedure", IEEE Transactions
       on Neural Networks and Learning Systems 30 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn.features import RegionCovariance
    >>> images = np.random.default_rng(0).integers(256, size=(5, 24, 20), dtype="uint8")
    >>> RegionCovariance().fit_transform(images).shape
    (5, 9, 9)
    >>> RegionCovariance(grid=(2, 3)).fit_transform(images).shape
    (5, 6, 9, 9)
    """

    _doc_link_module = "kreinlearn"
    _doc_link_template = (
        "https://kreinlearn.readthedocs.io/en/stable/api/generated/"
        "kreinlearn.features.{estimator_name}.html"
    )

    def __init__(self, grid=(1, 1), ridge=1e-6, white=None):
        self.grid = grid
        self.ridge = ridge
        self.white = white

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Images, y: ArrayLike | None = None) -> Self:
        """Check the parameters and the shape of the images; nothing is learned.

        Parameters
        ----------
        X : array-like of shape (n, h, w) or (n, h, w, 3), or sequence of images
            As in `transform`.
        y : object, default=None
            Not used.

        Returns
        -------
        self : RegionCovariance
            The same object.
        """
        self._check_parameters()
        for _ in _images(X):
            pass
        return self

    def transform(self, X: Images) -> Array:
        """Return the descriptors of images, one after the other.

        Parameters
        ----------
        X : array-like of shape (n, h, w) or (n, h, w, 3), or sequence of images
            A three-dimensional array holds gray images, whatever its last dimension;
            a four-dimensional one holds color images. In a sequence, each image has
            shape (h, w) or (h, w, 3), and sizes may differ.

        Returns
        -------
        ndarray of shape (n, 9, 9), or (n, rows * columns, 9, 9) with a grid
            Symmetric positive definite matrices, regions from left to right and top
            to bottom.
        """
        rows, columns, ridge, white = self._check_parameters()
        d = len(FEATURES)
        descriptors = []
        for i, image in enumerate(_images(X)):
            features = pixel_features(_intensity(image, i, white))
            cells = _regions(i, features.shape[1:], rows, columns)
            covariances = np.stack([_covariance(features[:, r, c]) for r, c in cells])
            means = np.einsum("ijj->i", covariances) / d
            covariances[:, range(d), range(d)] += ridge * means[:, None]
            descriptors.append(covariances)
        stack = np.stack(descriptors)
        return stack[:, 0] if rows * columns == 1 else stack

    def _check_parameters(self) -> tuple[int, int, float, float | None]:
        """Return rows, columns, ridge and white, or raise."""
        try:
            rows, columns = self.grid
        except (TypeError, ValueError):
            raise ValueError(
                "'grid' must be two numbers, rows and columns of regions, got "
                f"{self.grid!r}."
            ) from None
        rows, columns = check_count("grid", rows), check_count("grid", columns)
        ridge = self.ridge
        if not isinstance(ridge, Real) or not 0 <= float(ridge) < np.inf:
            raise ValueError(f"'ridge' must be a number, 0 or above, got {ridge!r}.")
        white = None if self.white is None else check_positive("white", self.white)
        return rows, columns, float(ridge), white


def pixel_features(intensity: Array) -> Array:
    """Return the nine features of every pixel.

    Parameters
    ----------
    intensity : ndarray of shape (h, w)
        A gray image, in float64.

    Returns
    -------
    ndarray of shape (9, h, w)
        The features, in the order of ``FEATURES``.

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn.features import pixel_features
    >>> pixel_features(np.array([[0.0, 1.0, 3.0]]))[3]
    array([[1., 3., 2.]])
    """
    h, w = intensity.shape
    padded = np.pad(intensity, 1, mode="edge")
    left, right = padded[1:-1, :-2], padded[1:-1, 2:]
    above, below = padded[:-2, 1:-1], padded[2:, 1:-1]
    features = np.empty((len(FEATURES), h, w))
    x, y, level, gx, gy, length, gxx, gyy, angle = features
    x[:] = np.arange(w) / max(w - 1, 1)
    y[:] = np.arange(h)[:, None] / max(h - 1, 1)
    level[:] = intensity
    np.abs(right - left, out=gx)
    np.abs(below - above, out=gy)
    np.hypot(gx, gy, out=length)
    np.abs(right - 2 * intensity + left, out=gxx)
    np.abs(below - 2 * intensity + above, out=gyy)
    np.arctan2(gx, gy, out=angle)
    return features


def _images(X: Images) -> Iterator[Array]:
    """Yield one image after the other, of shape (h, w) or (h, w, 3), or raise."""
    if isinstance(X, np.ndarray) and X.dtype != object:
        if X.ndim != 3 and not (X.ndim == 4 and X.shape[3] == 3):
            hint = " A single image becomes a stack as X[None]." if X.ndim == 2 else ""
            raise ValueError(
                "'X' must be images of shape (n, h, w), or (n, h, w, 3) in color, got "
                f"shape {X.shape}.{hint}"
            )
    elif not (hasattr(X, "__len__") and hasattr(X, "__iter__")):
        raise TypeError(
            "'X' must be an array or a sequence of images, got an object of type "
            f"{type(X).__name__}."
        )
    if len(X) == 0:
        raise ValueError("'X' must hold at least one image, got none.")
    for i, image in enumerate(X):
        array = np.asarray(image)
        if array.ndim != 2 and not (array.ndim == 3 and array.shape[2] == 3):
            raise ValueError(
                f"Image {i} must have shape (h, w), or (h, w, 3) in color, got shape "
                f"{array.shape}."
            )
        yield array


def _intensity(image: Array, i: int, white: float | None) -> Array:
    """Return the gray image number i in float64, with white as 1, or raise."""
    kind = image.dtype.kind
    if kind not in "fiub":
        raise TypeError(
            f"Image {i} must hold real numbers, got an array of dtype {image.dtype}."
        )
    if white is None:
        white = 1.0 if kind == "f" else WHITE_LEVEL.get(image.dtype.name)
    if white is None:
        raise ValueError(
            f"Image {i} is of dtype {image.dtype}, which does not define how bright "
            "white is. Give 'white', e.g. 255, or convert to uint8."
        )
    gray = image @ LUMINANCE_WEIGHTS if image.ndim == 3 else image
    gray = np.asarray(gray, dtype=np.float64)
    if not np.isfinite(gray).all():
        r, c = np.argwhere(~np.isfinite(gray))[0]
        raise ValueError(
            f"Image {i} must hold finite numbers, got {image[r, c]} in row {r}, "
            f"column {c}."
        )
    return gray / white


def _regions(
    i: int, shape: tuple[int, ...], rows: int, columns: int
) -> list[tuple[slice, slice]]:
    """Return where the regions of image number i are, or raise."""
    h, w = shape
    if h < rows or w < columns or (h // rows) * (w // columns) < 2:
        raise ValueError(
            f"Image {i} of shape ({h}, {w}) is too small for a grid of {rows} x "
            f"{columns} regions: each needs at least 2 pixels."
        )
    down = [slice(r * h // rows, (r + 1) * h // rows) for r in range(rows)]
    across = [slice(c * w // columns, (c + 1) * w // columns) for c in range(columns)]
    return list(product(down, across))


def _covariance(features: Array) -> Array:
    """Return the covariance over the pixels of a region, shape (9, 9)."""
    values = features.reshape(len(features), -1)
    values = values - values.mean(axis=1, keepdims=True)
    return values @ values.T / (values.shape[1] - 1)
