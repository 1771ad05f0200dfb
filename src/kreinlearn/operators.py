"""Matrices as solvers see them: through products with blocks of columns."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import blas
from threadpoolctl import LibController, ThreadpoolController

from kreinlearn._typing import Array, SampleSet
from kreinlearn._validation import check_finite

__all__ = ["Blocked", "Dense", "General", "RowProducts", "Symmetric", "gemm"]

WIDENED_ROWS = 64
"""Rows of a single precision matrix that are widened at once."""
SYMV_COLUMNS = 4
"""Up to this many columns are multiplied one by one: faster for n of 1000 or more."""
MAX_SINGLE_THREAD = 600
"""Samples up to which an eigendecomposition gains nothing from a second thread."""
DIAGONAL_ROWS = 64
"""Samples whose matrix is computed at once for the sake of its diagonal."""
MIRROR_ROWS = 1024
"""Rows and columns of a matrix not stored that are compared with their mirror image."""


class Symmetric(Protocol):
    """A symmetric matrix of shape (n, n), stored or not."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, n)."""

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Precision of the entries."""

    def matmat(self, B: Array) -> Array:
        """Product with a block of columns, (n, k) to (n, k), in double precision."""

    def matmat_native(self, B: Array) -> Array:
        """Return the same product, in the matrix's own precision if that is faster."""

    def columns(self, idx: Array) -> Array:
        """Columns of the matrix, shape (n, len(idx))."""

    def diagonal(self) -> Array:
        """Diagonal, shape (n,)."""


def gemm(A: Array, B: Array, kind: DTypeLike = np.float64) -> Array:
    """Product of two matrices, by the BLAS that `Dense` uses.

    Parameters
    ----------
    A : ndarray of shape (n, k)
        Any order.
    B : ndarray of shape (k, p)
        Any order.
    kind : dtype
        Double or single precision.

    Returns
    -------
    ndarray of shape (n, p)
        The product, in C order.
    """
    if A.size == 0 or B.size == 0:
        return np.zeros((A.shape[0], B.shape[1]), kind)
    # BLAS has columns where we have rows: it computes (A B)' = B' A'.
    left, flip_left = (B.T, False) if B.flags.c_contiguous else (B, True)
    right, flip_right = (A.T, False) if A.flags.c_contiguous else (A, True)
    function = blas.sgemm if kind == np.float32 else blas.dgemm
    product = function(1.0, left, right, trans_a=flip_left, trans_b=flip_right)
    return np.asarray(product.T)


class _Stored:
    """Common base of stored matrices."""

    def __init__(self, K: Array) -> None:
        self.K = K

    @property
    def shape(self) -> tuple[int, int]:
        return (self.K.shape[0], self.K.shape[1])

    @property
    def dtype(self) -> np.dtype[np.floating]:
        return self.K.dtype

    def rows(self, idx: Array) -> Array:
        return np.asarray(self.K[idx], dtype=np.float64)

    def part(self, rows: Array, columns: Array) -> Array:
        return np.asarray(self.K[np.ix_(rows, columns)], dtype=np.float64)

    def among(self, rows: Array) -> Self:
        """Return the same among some of the samples."""
        columns = rows if self.shape[0] == self.shape[1] else slice(None)
        return type(self)(np.ascontiguousarray(self.K[rows][:, columns]))


class Dense(_Stored):
    """A stored symmetric matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The matrix, exactly symmetric: products read one half of it only. Single
        precision stays single precision.

    Notes
    -----
    All products go through SciPy's BLAS. NumPy brings a second one, with threads of
    its own: used in turns, the idle threads of one, still spinning, keep the other
    waiting, and a product of 0.3 ms takes 8 ms on a machine with two cores.
    """

    def __init__(self, K: Array) -> None:
        self.K = K if K.flags.c_contiguous else np.ascontiguousarray(K)
        self._symv, self._gemm = blas.get_blas_funcs(("symv", "gemm"), (self.K,))

    def matmat(self, B: Array) -> Array:
        if self.K.dtype == np.float64:
            return self.matmat_native(B)
        return _widened_product(self.K, B)

    def matmat_native(self, B: Array) -> Array:
        B = B.astype(self.K.dtype, copy=False)
        stored = self.K.T  # in the order of columns, as BLAS has it
        if B.shape[1] <= SYMV_COLUMNS:
            # symv reads half of K, at the speed of memory; gemm repacks all of it.
            product = np.empty(B.shape)
            for j in range(B.shape[1]):
                product[:, j] = self._symv(1.0, stored, B[:, j], lower=1)
            return product
        if self.K.dtype == np.float64:
            product = self._gemm(1.0, stored, B.T, trans_b=1)
        else:  # single precision is up to twice as fast the other way round
            product = self._gemm(1.0, B.T, stored).T
        return np.ascontiguousarray(product, dtype=np.float64)

    def rmatmat(self, B: Array) -> Array:
        return self.matmat(B)

    def columns(self, idx: Array) -> Array:
        # Rows, which are the same and lie together in memory.
        return self.K[idx].T.astype(np.float64, copy=False)

    def diagonal(self) -> Array:
        return self.K.diagonal().astype(np.float64)


class General(_Stored):
    """A stored matrix that need be neither symmetric nor square.

    Parameters
    ----------
    K : ndarray of shape (n, k)
        The matrix. Single precision stays single precision.
    """

    def matmat(self, B: Array) -> Array:
        return _widened_product(self.K, B)

    def rmatmat(self, B: Array) -> Array:
        return _widened_product(self.K.T, B)


def _widened_product(K: Array, B: Array) -> Array:
    """Return K B in double precision, for K in any precision."""
    if K.dtype == np.float64:
        return gemm(K, B)
    product = np.empty((len(K), B.shape[1]))
    for i in range(0, len(product), WIDENED_ROWS):
        product[i : i + WIDENED_ROWS] = gemm(K[i : i + WIDENED_ROWS].astype(float), B)
    return product


class BlockKernel(Protocol):
    """A kernel that computes blocks of its matrix and products with it."""

    @property
    def is_symmetric(self) -> bool:
        """Whether both values of a pair are known to be equal."""

    def cross(self, X: Any, Y: Any = None) -> Array:
        """Return the similarities (n, k) between two sets of samples."""

    def call(self, X: Any, Y: Any) -> Any:
        """Return the values of a user's function."""

    def dot(self, X: Any, Y: Any, B: Array, is_transposed: bool = False) -> Array:
        """Return the product (n, p) of these similarities with columns (k, p)."""


class Blocked:
    """A kernel matrix that is not stored, but computed again for each product.

    Parameters
    ----------
    kernel : ResolvedKernel
        The kernel.
    X : sequence of n samples
        Samples of the kernel; not copied if it is an array.

    Attributes
    ----------
    is_symmetric : bool
        True unless a caller, who has called `asymmetry`, sets it.

    Notes
    -----
    Products take 64 MiB of memory or less for any n, see `kernels.multiply`. For
    kernels between vectors, one column takes little more time than computing half of
    the matrix, and 35 columns two to three times as much.
    """

    def __init__(self, kernel: BlockKernel, X: Any) -> None:
        # One column checks all samples and parameters, and has the precision of all.
        self._dtype = kernel.cross(X, X[:1]).dtype
        self.kernel, self.X = kernel, X
        self.is_symmetric = True

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.X), len(self.X))

    @property
    def dtype(self) -> np.dtype[np.floating]:
        return self._dtype

    def matmat(self, B: Array) -> Array:
        return self.kernel.dot(self.X, None, B)

    def matmat_native(self, B: Array) -> Array:
        return self.matmat(B)  # in the precision of the matrix, but for sums

    def rmatmat(self, B: Array) -> Array:
        if self.kernel.is_symmetric:
            return self.matmat(B)
        return self.kernel.dot(self.X, None, B, is_transposed=True)

    def columns(self, idx: Array) -> Array:
        if len(idx) == 0:
            return np.empty((len(self.X), 0))
        K = self.kernel.cross(self.X, take_samples(self.X, idx))
        return K.astype(np.float64, copy=False)

    def rows(self, idx: Array) -> Array:
        return self.part(idx, np.arange(len(self.X)))

    def part(self, rows: Array, columns: Array) -> Array:
        parts = take_samples(self.X, rows), take_samples(self.X, columns)
        K = self.kernel.cross(*parts)
        return K.astype(np.float64, copy=False)

    def asymmetry(self) -> tuple[float, float]:
        """Return the largest ``|K - K'|``, and its ratio to the largest ``|K|``.

        Every entry is computed once and must be finite.
        """
        difference = largest = 0.0
        n = 0 if self.kernel.is_symmetric else len(self.X)
        parts = split_rows(n, MIRROR_ROWS)
        for i in parts:
            for j in parts[i.start // MIRROR_ROWS :]:
                K = self._compute_part(i, j)
                mirror = K if i == j else self._compute_part(j, i)
                largest = max(largest, np.abs(K).max(), np.abs(mirror).max())
                difference = max(difference, np.abs(K - mirror.T).max())
        return float(difference), float(difference / largest) if largest else 0.0

    def _compute_part(self, i: slice, j: slice) -> Array:
        """Return rows i and columns j of a user's kernel, or raise."""
        K = np.asarray(self.kernel.call(self.X[i], self.X[j]), dtype=float)
        check_finite(K, "The kernel must give finite numbers", (i.start, j.start))
        return K

    def diagonal(self) -> Array:
        strips = split_rows(len(self.X), DIAGONAL_ROWS)
        parts = [self.kernel.cross(self.X[i]).diagonal() for i in strips]
        return np.concatenate(parts).astype(np.float64)


def split_rows(n: int, step: int) -> list[slice]:
    """Return slices of n rows, at most ``step`` long."""
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


def take_samples(samples: SampleSet, which: Array) -> SampleSet:
    """Return some of the samples, by positions or by a mask."""
    if isinstance(samples, np.ndarray):
        return samples[which]
    return [samples[i] for i in np.arange(len(samples))[which]]


class RowProducts:
    """Weighted inner products of the rows of K, ``K diag(v) K'``, not stored.

    Parameters
    ----------
    K : Dense, General or Blocked
        A matrix of shape (n, k): one row per sample, whose k entries are features.
    v : ndarray of shape (k,)
        Weights of the features.

    Notes
    -----
    A product is two products with K: forming the matrix would take as long as some
    n / 4 of them. `store` does so, for searches, which need more.
    """

    def __init__(self, K: "Dense | General | Blocked", v: Array) -> None:
        self.K, self.v = K, v[:, None]

    @property
    def shape(self) -> tuple[int, int]:
        return (self.K.shape[0], self.K.shape[0])

    @property
    def dtype(self) -> np.dtype[np.floating]:
        return self.K.dtype

    def matmat(self, B: Array) -> Array:
        return self.K.matmat(self.coefficients(B))

    def matmat_native(self, B: Array) -> Array:
        return self.matmat(B)

    def coefficients(self, B: Array) -> Array:
        """Return diag(v) K' B: those A for which K A is the product with B."""
        return np.asarray(self.v * self.K.rmatmat(B))

    def columns(self, idx: Array) -> Array:
        if len(idx) == 0:
            return np.empty((self.shape[0], 0))
        return self.K.matmat(self.v * self.K.rows(idx).T)

    def diagonal(self) -> Array:
        every = np.arange(self.shape[0])
        strips = (every[i] for i in split_rows(len(every), DIAGONAL_ROWS))
        return np.concatenate([self.K.rows(i) ** 2 @ self.v[:, 0] for i in strips])

    def store(self) -> Dense:
        """Return the stored matrix, in double precision."""
        if isinstance(self.K, Blocked):
            raise TypeError("A matrix that is not stored has no stored products.")
        K = self.K.K.astype(float, copy=False)
        M = gemm(K * self.v.T, K.T)
        return Dense((M + M.T) / 2)


@contextmanager
def limit_blas_threads(n: int, limit: int = MAX_SINGLE_THREAD) -> Iterator[None]:
    """Limit BLAS to one thread up to a number of samples.

    Threads of BLAS wait for each other in busy loops. If other processes use the
    processors, two threads take several times as long as one.
    """
    if n > limit:
        yield
    else:
        with one_thread():
            yield


def require_stored(K: "Dense | General | Blocked", what: str) -> Array:
    """Return a stored symmetric matrix, or raise; ``what`` needs it."""
    if isinstance(K, Dense):
        return K.K
    if isinstance(K, General):
        raise TypeError(f"{what} needs a symmetric matrix.")
    raise MemoryError(
        f"{what} needs the eigenvectors of the Gram matrix, of {dense_bytes(K):,} "
        "bytes, but it is not stored. Use the norm 'euclidean', fewer samples, or "
        "dtype='float32' with operator='dense'."
    )


def dense_bytes(K: "Symmetric | General") -> int:
    """Return the number of bytes that the whole matrix takes."""
    return K.shape[0] * K.shape[1] * K.dtype.itemsize


# Threads of BLAS.

_lock = threading.Lock()
_n_inside = 0
"""How many ask for one thread at present; read and written under the lock."""
_before: list[int] = []
"""Threads of each library before the first of them came."""

if hasattr(os, "register_at_fork"):  # no forked process finds it locked for good
    os.register_at_fork(
        before=_lock.acquire,
        after_in_parent=_lock.release,
        after_in_child=_lock.release,
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread, such as while threads of our own call it.

    The number of threads belongs to the whole process. The first to come sets it, and
    the last to leave puts back what was there, in whatever order threads come and go.
    If each put back what it had found, BLAS would be left with one thread for good.
    Where BLAS runs on OpenMP, each thread has a number of its own.
    """
    global _n_inside
    shared, own = _libraries()
    mine = [library.num_threads for library in own]
    _set_threads(own, [1] * len(own))
    with _lock:
        if _n_inside == 0:
            _before[:] = [library.num_threads for library in shared]
            _set_threads(shared, [1] * len(shared))
        _n_inside += 1
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                _set_threads(shared, _before)
        _set_threads(own, mine)


def _set_threads(libraries: list[LibController], numbers: list[int]) -> None:
    for library, number in zip(libraries, numbers, strict=True):
        # From version 3.8 on, threadpoolctl ignores all threads but the first to set a
        # number, so that the last of ours to leave could not put it back.
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(number)
        clear(force=True)


@cache  # looking for them takes milliseconds
def _libraries() -> tuple[list[LibController], list[LibController]]:
    """Return those with threads of the process, and those with threads of a thread."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    is_own = [getattr(each, "threading_layer", "") == "openmp" for each in found]
    shared = [each for each, own in zip(found, is_own, strict=True) if not own]
    return shared, [each for each, own in zip(found, is_own, strict=True) if own]
