"""Long measures: computed in blocks of rows, with progress, and cached on disk.

The blocks depend on the number of samples alone, so that the same call gives the same
bits, whether it reports progress, was interrupted and resumed, or is read from disk.

The cache has a folder for each measure and set of samples, and in it one file of plain
numbers for each block. Not `joblib.Memory`: it stores pickles, which run code when they
are read, and its blocks cannot be found without a call for each.
"""

import math
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from os import PathLike, environ, utime
from pathlib import Path
from typing import Any

import numpy as np

from kreinlearn import _files
from kreinlearn._memory import check_fits
from kreinlearn._typing import Array, SampleSet
from kreinlearn.exceptions import warn_caller
from kreinlearn.kernels._records import Measure, Params
from kreinlearn.operators import split_rows

CACHE_FORMAT = 2
"""To be increased when a measure is computed in another way."""
CACHE_VARIABLE, CACHE_OFF = "KREINLEARN_CACHE", "off"
"""Environment variable that names the folder of the cache; and the word for none."""
MAX_CACHE_BYTES = 10 * 2**30
"""Size of the cache; the least recently used measures are removed beyond it."""
MIN_CACHED_SECONDS = 1.0
"""Time from which on a measure is stored on disk."""
MIN_BLOCK_ROWS, MAX_BLOCKS = 64, 32
"""Rows of a block, and number of blocks: more would cost more calls than they save."""
MAX_BLOCK_BYTES = 64 * 2**20
"""Size of a block of new samples, unless that is below MIN_BLOCK_ROWS."""

Progress = Callable[[str, float, float], None]
"""Called with the name of a measure, the fraction done, and the seconds left."""


@dataclass(frozen=True)
class _Settings:
    cache: Path | None = None
    progress: Progress | None = None


_ACTIVE_SETTINGS: ContextVar[_Settings | None] = ContextVar("measuring", default=None)


@contextmanager
def measuring(
    *, cache: str | PathLike[str] | None = None, progress: Progress | None = None
) -> Iterator[None]:
    """Cache measures on disk, or report their progress, within a context.

    This applies to measures between series, sequences, graphs and sets, in estimators
    as well as in `gram`. Measures that take less than a second are not stored.

    Parameters
    ----------
    cache : path-like, default=None
        A folder, which is created if need be. A measure among the same samples with
        the same parameters is read from there the next time; one that was interrupted
        is resumed. "off" means no cache, and None the folder named by the environment
        variable KREINLEARN_CACHE, if it is set.
    progress : callable, default=None
        Called with the name of the measure, the fraction of it that is done, and the
        seconds left.

    Examples
    --------
    >>> from kreinlearn import KreinLogisticRegression
    >>> from kreinlearn.kernels import measuring
    >>> series, y = [[0.0, 1.0], [0.0, 0.0, 1.0], [2.0, 3.0]], [0, 0, 1]
    >>> with measuring(progress=lambda name, done, left: print(name, done)):
    ...     model = KreinLogisticRegression(kernel="dtw").fit(series, y)
    dtw 1.0
    """
    settings = _get_settings()
    if cache is not None:
        settings = replace(settings, cache=_to_folder(cache))
    if progress is not None:
        settings = replace(settings, progress=progress)
    token = _ACTIVE_SETTINGS.set(settings)
    try:
        yield
    finally:
        _ACTIVE_SETTINGS.reset(token)


def _get_settings() -> _Settings:
    folder = environ.get(CACHE_VARIABLE) or CACHE_OFF
    return _ACTIVE_SETTINGS.get() or _Settings(_to_folder(folder))


def _to_folder(cache: str | PathLike[str]) -> Path | None:
    return None if cache == CACHE_OFF else Path(cache).expanduser()


def digest(content: Any) -> str | None:
    """Return a hash of content, or None for an object that cannot be pickled."""
    import joblib

    try:
        return joblib.hash(content)
    except Exception:  # whatever a class raises when it is pickled
        return None


def compute_measure(measure: Measure, X: SampleSet, params: Params) -> Array:
    """Return the values of a measure among samples, from the cache if they are there.

    Parameters
    ----------
    measure : Measure
        The measure.
    X : list of n samples
        As the check of their kind returns them.
    params : mapping
        Parameters of the measure.

    Returns
    -------
    ndarray of shape (n, n)
        ``measure.function(X, None, **params)``, the same to the last bit.
    """
    n, function = len(X), measure.function
    check_fits(n, n, np.float64, f"The values of {measure.name}")
    settings = _get_settings()
    cache = open_cache(settings.cache, measure, X, params)
    D = np.empty((n, n))
    blocks = split_rows(n, _choose_height(n))
    n_cached = 0
    pending: list[tuple[slice, Array]] = []  # until the measure is known to take long
    timer = None
    for rows in blocks:
        part = None if cache is None or timer is not None else cache.read(rows)
        if part is None:
            if timer is None:
                n_cached = rows.start
                done = n * n - (n - n_cached) ** 2
                timer = _Timer(measure.name, settings.progress, n * n, done)
                if n > MIN_BLOCK_ROWS:  # messages count bad samples from the first
                    function(X, X[:1], **params)
            part = np.empty((rows.stop - rows.start, n - rows.start))
            part[:, : len(part)] = function(X[rows], None, **params)
            if rows.stop < n:
                part[:, len(part) :] = function(X[rows], X[rows.stop :], **params)
            done = n * n - (n - rows.stop) ** 2
            seconds = timer.estimate(done)
            if cache is not None:
                pending.append((rows, part))
                if n_cached or seconds > MIN_CACHED_SECONDS:
                    cache.write(pending)
                    pending = []
            timer.report(done)  # nothing is reported that a kill would lose
        D[rows, rows.start :] = part
        D[rows.stop :, rows] = part[:, len(part) :].T
    return D


def iterate_measure_rows(
    measure: Measure, X: SampleSet, Y: SampleSet, params: Params
) -> Iterator[tuple[slice, Array]]:
    """Yield the values of a measure between two sets, a block of rows at a time.

    Parameters
    ----------
    measure : Measure
        The measure.
    X : list of n samples
        As the check of their kind returns them.
    Y : list of k samples
        Likewise.
    params : mapping
        Parameters of the measure.

    Yields
    ------
    rows : slice
        Of X.
    values : ndarray of shape (rows, k)
        Their values.
    """
    n, k = len(X), len(Y)
    if n > MIN_BLOCK_ROWS:
        measure.function(X, Y[:1], **params)
    height = min(_choose_height(n), max(MIN_BLOCK_ROWS, MAX_BLOCK_BYTES // (8 * k)))
    timer = _Timer(measure.name, _get_settings().progress, n * k)
    for rows in split_rows(n, height):
        values = measure.function(X[rows], Y, **params)
        timer.estimate(rows.stop * k)
        timer.report(rows.stop * k)
        yield rows, values


class _Timer:
    """Reports how much of the work is done, and the time that is left."""

    def __init__(
        self, name: str, progress: Progress | None, total: int, done: int = 0
    ) -> None:
        self.name, self.progress, self.total, self.first = name, progress, total, done
        self.start, self.left = time.perf_counter(), 0.0

    def estimate(self, done: int) -> float:
        """Return the seconds expected in all when so many pairs are done."""
        passed = time.perf_counter() - self.start
        self.left = passed * (self.total - done) / max(done - self.first, 1)
        return passed + self.left

    def report(self, done: int) -> None:
        """Call back with the fraction that is done and the seconds left."""
        if self.progress is not None:
            self.progress(self.name, done / self.total, self.left)


def _choose_height(n: int) -> int:
    return max(MIN_BLOCK_ROWS, math.ceil(n / MAX_BLOCKS))


def open_cache(
    folder: Path | None, measure: Measure, X: SampleSet, params: Params
) -> "MeasureCache | None":
    """Return the cache of a measure among samples, or None if it has none."""
    if folder is None:
        return None
    content = [CACHE_FORMAT, measure.name, sorted(params.items()), X]
    key = digest(content)
    return None if key is None else MeasureCache(folder / key, measure.name, len(X))


class MeasureCache:
    """Values of a measure among n samples, in a folder of their own.

    A block is a file of float64 numbers: the rows of a symmetric matrix from the
    diagonal on. Files of any other size are ignored, and so are errors of reading.

    Parameters
    ----------
    folder : Path
        The folder, named by a digest of the measure, its parameters and the samples.
    name : str
        Name of the measure.
    n : int
        Number of samples.
    """

    def __init__(self, folder: Path, name: str, n: int) -> None:
        self.folder, self.name, self.n = folder, name, n
        self.is_broken = False

    def get_path(self, rows: slice) -> Path:
        """Return the file of a block."""
        return self.folder / f"{rows.start}-{rows.stop}.f8"

    def read(self, rows: slice) -> Array | None:
        """Return a block, or None if there is none."""
        shape = rows.stop - rows.start, self.n - rows.start
        path = self.get_path(rows)
        try:
            if not path.is_file() or path.stat().st_size != 8 * shape[0] * shape[1]:
                return None
            if rows.start == 0:
                utime(self.folder)
            return np.fromfile(path, "<f8").reshape(shape)
        except (OSError, ValueError):  # removed meanwhile by another process
            return None

    def write(self, blocks: list[tuple[slice, Array]]) -> None:
        """Store blocks; after an error, warn once and store no more."""
        if self.is_broken:
            return
        try:
            if blocks[0][0].start == 0:
                self._make_room()
            self.folder.mkdir(parents=True, exist_ok=True)
            for rows, part in blocks:
                _files.replace(self.get_path(rows), part.astype("<f8").tobytes())
        except OSError as error:
            self.is_broken = True
            warn_caller(
                f"The values of {self.name} could not be kept in "
                f"{self.folder.parent}: {error.strerror or error}.",
                UserWarning,
            )

    def _make_room(self) -> None:
        """Remove old measures; raise if this one would fill the disk."""
        root, wanted = self.folder.parent, 4 * self.n * self.n
        root.mkdir(parents=True, exist_ok=True)
        found = []
        for folder in root.iterdir():
            with suppress(OSError):
                if folder.suffix == ".measure":  # a file of format 1
                    folder.unlink()
                size = sum(path.stat().st_size for path in folder.glob("*.f8"))
                found.append((folder.stat().st_mtime, size, folder))
        total = wanted + sum(size for _, size, _ in found)
        for _, size, folder in sorted(found):
            if total <= MAX_CACHE_BYTES:
                break
            if size:  # one of ours
                shutil.rmtree(folder, ignore_errors=True)
                total -= size
        if wanted > min(MAX_CACHE_BYTES, shutil.disk_usage(root).free // 2):
            raise OSError(f"{wanted / 2**30:.1f} GiB are more than there is room for")
