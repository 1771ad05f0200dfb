"""Distances that need work for each pair of matrices: panels, bands, threads."""

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from kreinlearn._typing import Array
from kreinlearn.kernels import _spd_stacks as stacks
from kreinlearn.kernels import threads
from kreinlearn.kernels._pairs import pack
from kreinlearn.kernels._work import share_out

BAND = 16
"""Rows computed together: a buffer of 16 k numbers a thread is all the memory used."""

LANES = (64, 32, 16)
"""Matrices that one row meets at once, powers of 2.

More of them is less overhead, as long as there are many more, so that few are computed
in vain, and as d^2 numbers for each stay in cache.
"""

SERIAL_WORK = 100_000
"""Pairs times d^3 that take less time than to start a thread."""


def affine_distances(S: Array, T: Array | None, dtype: DTypeLike) -> Array:
    """Return squared affine-invariant distances.

    Parameters
    ----------
    S : ndarray of shape (n, d, d)
        Symmetric matrices.
    T : ndarray of shape (k, d, d) or None
        Others, or None for the same.
    dtype : dtype
        Precision of the output.

    Returns
    -------
    ndarray of shape (n, k)
        Squared distances.
    """
    from kreinlearn.kernels._compiled import spd

    L = stacks.factors("X", S)
    R = L if T is None else stacks.factors("Y", T)
    panels = pack(stacks.lower(R), _lanes(*R.shape[:2]))

    def fill(band: Array, i: slice, first: int) -> None:
        spd.affine_invariant(band, L[i], panels[first:])

    D = _in_bands(fill, len(L), len(R), S.shape[1], T is None, dtype)
    if np.isnan(D.max()):  # the maximum passes on NaN
        i, j = np.unravel_index(np.isnan(D).argmax(), D.shape)
        other = f"X[{j}]" if T is None else f"Y[{j}]"
        raise FloatingPointError(
            f"The affine-invariant distance between X[{i}] and {other} or a matrix "
            "near it was not found: their scales differ by more than double precision "
            "can hold."
        )
    return D


def _lanes(k: int, d: int) -> int:
    """Return how many of k matrices of size d one row should meet at once."""
    fitting = [q for q in LANES if 8 * q <= k and q * d**2 <= 2**17]
    return max(fitting, default=min(LANES))


def stein_distances(S: Array, T: Array | None, dtype: DTypeLike) -> Array:
    """Return squared Stein distances.

    Parameters
    ----------
    S : ndarray of shape (n, d, d)
        Symmetric matrices.
    T : ndarray of shape (k, d, d) or None
        Others, or None for the same.
    dtype : dtype
        Precision of the output.

    Returns
    -------
    ndarray of shape (n, k)
        Squared distances.
    """
    from kreinlearn.kernels._compiled import spd

    d = S.shape[1]
    diagonal = [r * (r + 1) // 2 + r for r in range(d)]

    def prepare(name: str, stack: Array) -> tuple[Array, Array, Array, Array]:
        stacks.factors(name, stack)
        rows = stacks.lower(stack)
        panels = pack(rows, _lanes(*stack.shape[:2]))
        eliminated = panels.copy()
        spd.eliminate(eliminated, d)
        panel_pivots = np.ascontiguousarray(eliminated[:, diagonal])
        pivots = panel_pivots.transpose(0, 2, 1).reshape(-1, d)[: len(rows)]
        return rows, np.ascontiguousarray(pivots), panels, panel_pivots

    own = prepare("X", S)
    others = own if T is None else prepare("Y", T)
    rows, pivots = own[:2]
    panels, panel_pivots = others[2:]

    def fill(band: Array, i: slice, first: int) -> None:
        spd.stein(band, rows[i], pivots[i], panels[first:], panel_pivots[first:])

    return _in_bands(fill, len(rows), len(others[0]), d, T is None, dtype)


def _in_bands(
    fill: Callable[[Array, slice, int], None],
    n: int,
    k: int,
    d: int,
    is_symmetric: bool,
    dtype: DTypeLike,
) -> Array:
    """Return an (n, k) matrix that is computed in bands of rows, in threads.

    ``fill(band, i, first)`` sets band to the values for the rows i, a slice, against
    all panels from the first on.
    """
    out = np.empty((n, k), dtype)
    lanes = _lanes(k, d)
    n_threads = 1 if n * k * d**3 < SERIAL_WORK else threads.max_threads()
    height = min(BAND, -(-n // n_threads))

    def work(first_band: int, last_band: int) -> None:
        for i0 in range(first_band * height, min(last_band * height, n), height):
            i1 = min(i0 + height, n)
            # Of a symmetric matrix the columns from i0 on, from the panel of i0 on.
            j0 = i0 if is_symmetric else 0
            first = j0 // lanes
            start = first * lanes
            band = np.empty((i1 - i0, -(-k // lanes) * lanes - start))
            fill(band, slice(i0, i1), first)
            out[i0:i1, j0:] = band[:, j0 - start : k - start]
            if is_symmetric:
                corner = np.triu(out[i0:i1, i0:i1], 1)
                out[i0:i1, i0:i1] = corner + corner.T
                out[i1:, i0:i1] = out[i0:i1, i1:].T

    share_out(work, -(-n // height), n_threads)
    return out
