"""Checks that raise one message: expected, got, remedy."""

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kreinlearn._typing import Array
from kreinlearn.exceptions import IndefiniteKernelWarning, warn_caller

INFORMATIVE_TOL = 1e-3
"""Similarities with relative differences below this no longer separate samples."""
SYMMETRY_TOL = 1e-6
"""Largest asymmetry, relative to the largest entry, that is averaged away."""
MEAN_REMEDY = "If the symmetric part is meant, pass (K + K.T) / 2."
"""Advice for a matrix that is not symmetric."""
MIRROR_TILE = 320
"""Rows and columns compared with their mirror image while in cache."""
DISTANCE_REMEDY = (
    "Distances go with kernel='distance' (--distance on the command line); if these "
    "are similarities, such as counts or an adjacency matrix, set "
    "kernel_params={'check': False} (--similarity)."
)
"""Advice for similarities that look like distances."""
STRIP_ROWS = 1024
"""Rows that are processed together to avoid a second n x n array."""


def check_positive(name: str, value: float) -> float:
    """Return a finite number above zero, or raise."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name!r} must be a positive number, got {value!r}.")
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name!r} must be a positive number, got {value!r}.")
    return number


def check_count(name: str, value: int) -> int:
    """Return a whole number above zero, or raise."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name!r} must be a positive whole number, got {value!r}.")
    if value < 1:
        raise ValueError(f"{name!r} must be a positive whole number, got {value!r}.")
    return int(value)


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """Return the value if it is one of the choices, or raise."""
    allowed = list(choices)
    if not isinstance(value, str) or value not in allowed:
        listed = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{name!r} must be one of {listed}, got {value!r}.")
    return value


def check_finite(K: Array, rule: str, first: tuple[int, int] = (0, 0)) -> None:
    """Raise the rule, and which entry breaks it, unless a matrix is finite.

    ``first`` are the numbers of its first row and column.
    """
    # Both ends pass on NaN, and need no second matrix as np.isfinite(K) does.
    if K.size == 0 or (np.isfinite(K.min()) and np.isfinite(K.max())):
        return
    row = next(i for i, values in enumerate(K) if not np.isfinite(values).all())
    column = int(np.isfinite(K[row]).argmin())
    raise ValueError(
        f"{rule}, got {K[row, column]} in row {row + first[0]}, column "
        f"{column + first[1]}."
    )


def check_matrix(
    K: ArrayLike,
    what: str = "A Gram matrix",
    *,
    symmetric: Literal["refuse", "average", "any"] = "refuse",
    square: bool = True,
    dtype: DTypeLike | None = None,
    first: int = 0,
    remedy: str = MEAN_REMEDY,
) -> tuple[Array, float]:
    """Return a matrix of finite numbers and its asymmetry, or raise.

    Parameters
    ----------
    K : array-like of shape (n, n), or (n, k) if not ``square``
        Similarities.
    what : str
        Name of the matrix, for the message.
    symmetric : {"refuse", "average", "any"}
        Treatment of a matrix that is not symmetric: raise unless the difference is
        small, and warn if it is more than rounding; take the symmetric part; or not
        even look.
    square : bool
        Whether there must be as many rows as columns, and at least one.
    dtype : dtype, optional
        Precision to convert to; by default single precision stays what it is, and all
        else becomes double.
    first : int
        Number of the first row and column, for the message.
    remedy : str
        Remedy for a matrix that is not symmetric.

    Returns
    -------
    K : ndarray
        The matrix itself if it is symmetric; exactly symmetric but for "any".
    asymmetry : float
        Largest ``|K - K'|`` relative to the largest ``|K|``; 0 for "any".
    """
    given = np.asarray(K)
    if given.dtype.kind not in "fiub":
        raise ValueError(
            f"{what} must hold real numbers, got an array of dtype {given.dtype}."
        )
    shape = given.shape
    if len(shape) != 2 or 0 in shape or (square and shape[0] != shape[1]):
        kind = "square, one row and one column per sample" if square else "a matrix"
        raise ValueError(f"{what} must be {kind}, got an array of shape {shape}.")
    if dtype is None:
        dtype = np.float32 if given.dtype == np.float32 else np.float64
    matrix: Array = given.astype(dtype, copy=False)
    if symmetric != "any" and _is_finite_and_symmetric(matrix):
        return matrix, 0.0
    check_finite(matrix, f"{what} must be finite", (first, first))
    if symmetric == "any":
        return matrix, 0.0
    difference, relative = _asymmetry(matrix)
    if symmetric == "refuse":
        judge_asymmetry(difference, relative, matrix.dtype, what, remedy)
    return (matrix + matrix.T) / 2, relative


def judge_asymmetry(
    difference: float,
    relative: float,
    dtype: np.dtype[np.floating],
    what: str = "A Gram matrix",
    remedy: str = MEAN_REMEDY,
) -> bool:
    """Raise if entries differ too much from their mirror images, warn if they differ.

    Parameters
    ----------
    difference : float
        Largest ``|K - K'|``.
    relative : float
        The same, relative to the largest ``|K|``.
    dtype : dtype
        Precision of the matrix.
    what, remedy : str
        Name of the matrix, and the remedy, for the message.

    Returns
    -------
    bool
        Whether the difference is more than rounding, so that the mean is to be taken.
    """
    if relative > SYMMETRY_TOL:
        raise ValueError(
            f"{what} must be symmetric, but entries of K and its transpose differ by "
            f"up to {difference:.3g} ({relative:.1e} of the largest entry; at most "
            f"{SYMMETRY_TOL:.0e} is averaged away). {remedy}"
        )
    is_more = relative > 100 * np.finfo(dtype).eps
    if is_more:
        warn_caller(
            "K was not quite symmetric: replaced by (K + K.T) / 2, which changed it by "
            f"up to {difference / 2:.1e}.",
            IndefiniteKernelWarning,
        )
    return bool(is_more)


SYMMETRIZERS: dict[str, Callable[[Array, Array], Array]] = {
    "mean": lambda K, mirror: (K + mirror) / 2,
    "max": np.maximum,
    "min": np.minimum,
}
"""Functions that make one similarity of both values of a pair."""


def asymmetry(K: Array) -> float:
    """Return the largest ``|K - K'|`` relative to the largest ``|K|``.

    Infinite for a matrix that is not square.
    """
    if K.shape[0] != K.shape[1]:
        return np.inf
    return 0.0 if _is_finite_and_symmetric(K) else _asymmetry(K)[1]


def symmetrize_matrix(K: Array, how: str) -> Array:
    """Return a symmetric matrix: of both directions the mean, the maximum or minimum.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Similarities or distances.
    how : {"mean", "max", "min"}
        Which of them.

    Returns
    -------
    ndarray of shape (n, n)
        Exactly symmetric.
    """
    check_choice("symmetrize", how, SYMMETRIZERS)
    return np.asarray(SYMMETRIZERS[how](K, K.T))


def check_similarities(
    K: Array, what: str = "A Gram matrix", ways: str = DISTANCE_REMEDY
) -> None:
    """Raise if a matrix of similarities looks like distances.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Finite numbers.
    what : str
        Name of the matrix, for the message.
    ways : str
        Remedies, for the message.
    """
    if not looks_like_distances(K):
        return
    raise ValueError(
        f"{what} must hold similarities, and this one looks like distances: its "
        "diagonal is zero and nothing is negative, so that a sample would be least "
        f"like itself. {ways}"
    )


def looks_like_distances(K: Array) -> bool:
    """Return whether K has a zero diagonal and nothing negative off it, but not all 0.

    Entries that are negligible beside the largest one count as zero. No second matrix
    is made, and for most similarities the diagonal decides.
    """
    if len(K) < 2 or K.shape[0] != K.shape[1]:
        return False
    zero = SYMMETRY_TOL * float(K.max())
    if zero <= 0 or float(np.abs(K.diagonal()).max()) > zero:
        return False
    return float(K.min()) >= -zero


def check_distances(
    D: ArrayLike,
    what: str = "A matrix of distances",
    *,
    square: bool = True,
    symmetric: bool = True,
    first: int = 0,
) -> Array:
    """Return a matrix of distances, or raise.

    Parameters
    ----------
    D : array-like of shape (n, n), or (k, n) if not ``square``
        Distances among training samples, or of new samples to these.
    what : str
        Name of the matrix, for the message.
    square : bool
        Whether rows and columns are the same samples.
    symmetric : bool
        Whether a square matrix must be symmetric; if so, it is exactly that.
    first : int
        Number of the first row and column, for the message.

    Returns
    -------
    ndarray
        The matrix itself if it is symmetric.
    """
    given = np.asarray(D)
    if given.ndim == 2 and given.dtype.kind == "f":
        check_finite(given, f"{what} must hold no NaN or infinity", (first, first))
    given, _ = check_matrix(given, what, symmetric="any", square=square, first=first)
    low, high = float(given.min()), float(given.max())
    zero, ends = SYMMETRY_TOL * high, given.diagonal() if square else None
    advice = "similarities go with kernel='precomputed' (without --distance)"
    if ends is not None and ends.min() > zero and (ends >= given.max(axis=1)).all():
        raise ValueError(
            f"{what} must be zero on its diagonal, but there it is largest, as in a "
            f"matrix of similarities; {advice}."
        )
    if low < -max(zero, 0.0):
        row, column = np.unravel_index(given.argmin(), given.shape)
        raise ValueError(
            f"{what} must not be negative, got {low:.4g} in row {row + first}, column "
            f"{column + first}; {advice}."
        )
    if ends is None:
        return given
    worst = int(np.abs(ends).argmax())
    if abs(ends[worst]) > zero:
        raise ValueError(
            f"{what} must be zero on its diagonal, since a sample is at no distance "
            f"from itself, got {ends[worst]:.4g} for sample {worst + first}."
        )
    if not symmetric:
        return given
    _check_both_ways(given, what, first)
    return check_matrix(given, what)[0]


def _check_both_ways(D: Array, what: str, first: int) -> None:
    """Raise if a distance is another on the way back, and name the worst pair."""
    if _is_finite_and_symmetric(D) or _asymmetry(D)[1] <= SYMMETRY_TOL:
        return
    gaps = [np.abs(row - column).max() for row, column in zip(D, D.T, strict=True)]
    i = int(np.argmax(gaps))
    j = int(np.abs(D[i] - D[:, i]).argmax())
    raise ValueError(
        f"{what} must be symmetric, but it has {D[i, j]:.4g} from {i + first} to "
        f"{j + first} and {D[j, i]:.4g} back, where both differ most; "
        "symmetrize='mean' (--symmetrize mean on the command line) takes the mean of "
        "both."
    )


def _is_finite_and_symmetric(K: Array) -> bool:
    """Return whether no entry differs from its mirror image, one tile after another.

    The difference is not zero for infinite numbers and NaN either.
    """
    buffer = np.empty((MIRROR_TILE, MIRROR_TILE), K.dtype)
    starts = range(0, len(K), MIRROR_TILE)
    with np.errstate(invalid="ignore", over="ignore"):
        for i in starts:
            for j in starts[i // MIRROR_TILE :]:
                tile = K[i : i + MIRROR_TILE, j : j + MIRROR_TILE]
                mirror = K[j : j + MIRROR_TILE, i : i + MIRROR_TILE]
                difference = buffer[: tile.shape[0], : tile.shape[1]]
                if np.subtract(tile, mirror.T, out=difference).any():
                    return False
    return True


def _asymmetry(K: Array) -> tuple[float, float]:
    """Return the largest ``|K - K'|``, absolute and relative to the largest ``|K|``."""
    largest, difference = 0.0, 0.0
    for i in range(0, len(K), STRIP_ROWS):
        rows = K[i : i + STRIP_ROWS]
        largest = max(largest, float(np.abs(rows).max()))
        mirror = K[:, i : i + STRIP_ROWS].T
        difference = max(difference, float(np.abs(rows - mirror).max()))
    return difference, difference / largest if largest > 0 else 0.0
