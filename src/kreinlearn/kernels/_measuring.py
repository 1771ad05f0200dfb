"""Measures that take their time: block by block, watched, and kept on disk.

The blocks depend on the number of samples alone, so that the same call gives the same
bits, whether it was watched, interrupted and continued, or read from disk.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from os import PathLike, environ
from pathlib import Path

import numpy as np

from kreinlearn._memory import check_fits
from kreinlearn._typing import Array
from kreinlearn.kernels._kept import Kept, digest
from kreinlearn.kernels._records import Function, Measure, Params, SampleSet

CACHE, OFF = "KREINLEARN_CACHE", "off"
"""Environment variable: a folder for measures; and the word for none."""
FEWEST_ROWS, MOST_BLOCKS = 64, 32
"""Rows of a block: fewer would cost more calls than they tell about progress."""
MOST_BYTES = 64 * 2**20
"""Size of a block of new samples, unless that is below FEWEST_ROWS."""
WORTH_KEEPING = 1.0
"""Seconds from which a measure is kept on disk."""

Watcher = Callable[[str, float, float], None]
"""Told the name of a measure, the share of it that is done, and the seconds left."""


@dataclass(frozen=True)
class _Surroundings:
    cache: Path | None = None
    progress: Watcher | None = None


_SURROUNDINGS: ContextVar[_Surroundings | None] = ContextVar("measuring", default=None)


@contextmanager
def measuring(
    *, cache: str | PathLike[str] | None = None, progress: Watcher | None = None
) -> Iterator[None]:
    """Keep measures on disk, or watch them, as long as the context lasts.

    It concerns measures between series, sequences, graphs and sets, in estimators as
    well as in `gram`. What takes less than a second is not kept.

    Parameters
    ----------
    cache : path-like, default=None
        A folder, which is made if need be. A measure among the same samples with the
        same parameters is read from there the next time, verified; one that was
        interrupted goes on where it was. "off" means none, and None the folder named by
        the environment variable KREINLEARN_CACHE, if it is set.
    progress : callable, default=None
        Called with the name of the measure, the share of it that is done, and the
        seconds left.

    Examples
    --------
    >>> from kreinlearn import KreinLogisticRegression
    >>> from kreinlearn.kernels import measuring
    >>> series, y = [[0.0, 1.0], [0.0, 0.0, 1.0], [2.0, 3.0]], [0, 0, 1]
    >>> with measuring(progress=lambda name, share, left: print(name, share)):
    ...     model = KreinLogisticRegression(kernel="dtw").fit(series, y)
    dtw 1.0
    """
    now = _surroundings()
    if cache is not None:
        now = replace(now, cache=_folder(cache))
    if progress is not None:
        now = replace(now, progress=progress)
    token = _SURROUNDINGS.set(now)
    try:
        yield
    finally:
        _SURROUNDINGS.reset(token)


def _surroundings() -> _Surroundings:
    found = _SURROUNDINGS.get()
    return _Surroundings(_folder(environ.get(CACHE) or OFF)) if found is None else found


def _folder(cache: str | PathLike[str]) -> Path | None:
    return None if cache == OFF else Path(cache).expanduser()


def measured(measure: Measure, X: SampleSet, params: Params) -> Array:
    """Return the values of a measure among samples, from disk if they are there.

    Parameters
    ----------
    measure : Measure
        The measure.
    X : list of n samples
        As the check of their kind gives them.
    params : mapping
        Parameters of the measure.

    Returns
    -------
    ndarray of shape (n, n)
        ``measure.function(X, None, **params)``, the same to the last bit.
    """
    n = len(X)
    check_fits(n, n, np.float64, f"The values of {measure.name}")
    now = _surroundings()
    kept = _kept(now.cache, measure, X, params)
    D = np.empty((n, n))
    done = _fill_from(kept, D) if kept is not None else 0
    clock = _Clock(measure.name, now.progress, n * n, _pairs(n, done))
    waiting: list[tuple[slice, Array]] = []  # until it is known to take its time
    function = measure.function
    if n > FEWEST_ROWS and done < n:  # messages say where in all samples a bad one is
        function(X, X[:1], **params)
    for rows in _blocks(n, done, _height(n)):
        part = _block(function, X, rows, params)
        _put(D, rows, part)
        clock.tell(_pairs(n, rows.stop))
        if kept is not None:
            waiting.append((rows, part))
            if done or clock.expected > WORTH_KEEPING:
                kept.append(waiting)
                waiting = []
    return D


def measured_rows(
    measure: Measure, X: SampleSet, Y: SampleSet, params: Params
) -> Iterator[tuple[slice, Array]]:
    """Give the values of a measure between two sets, a block of rows at a time.

    Parameters
    ----------
    measure : Measure
        The measure.
    X : list of n samples
        As the check of their kind gives them.
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
    if n > FEWEST_ROWS:
        measure.function(X, Y[:1], **params)
    height = min(_height(n), max(FEWEST_ROWS, MOST_BYTES // (8 * k)))
    clock = _Clock(measure.name, _surroundings().progress, n * k)
    for rows in _blocks(n, 0, height):
        values = measure.function(X[rows], Y, **params)
        clock.tell(rows.stop * k)
        yield rows, values


class _Clock:
    """Tells how much of the work is done, and how long the rest will take."""

    def __init__(
        self, name: str, progress: Watcher | None, total: int, done: int = 0
    ) -> None:
        self.name, self.progress, self.total, self.done = name, progress, total, done
        self.start, self.first = time.perf_counter(), done
        self.expected = 0.0

    def tell(self, done: int) -> None:
        """Note that so many pairs are done."""
        passed = time.perf_counter() - self.start
        left = passed * (self.total - done) / max(done - self.first, 1)
        self.expected = passed + left
        if self.progress is not None:
            self.progress(self.name, done / self.total, left)


def _kept(
    folder: Path | None, measure: Measure, X: SampleSet, params: Params
) -> Kept | None:
    """Return the file of a measure among samples, if it is to have one."""
    if folder is None:
        return None
    set_ = digest(dict(sorted(params.items())))
    samples = digest(X)
    if set_ is None or samples is None:
        return None
    about = {"measure": measure.name, "params": set_, "samples": samples}
    return Kept(folder, {**about, "n": len(X)})


def _height(n: int) -> int:
    return max(FEWEST_ROWS, math.ceil(n / MOST_BLOCKS))


def _blocks(n: int, start: int, height: int) -> Iterator[slice]:
    for i in range(start, n, height):
        yield slice(i, min(i + height, n))


def _pairs(n: int, row: int) -> int:
    """Return how many entries are known when the first rows, and columns, are."""
    return n * n - (n - row) ** 2


def _block(function: Function, X: SampleSet, rows: slice, params: Params) -> Array:
    """Return the rows of a symmetric matrix from the diagonal on."""
    part = np.empty((rows.stop - rows.start, len(X) - rows.start))
    width = len(part)
    part[:, :width] = function(X[rows], None, **params)
    if rows.stop < len(X):
        part[:, width:] = function(X[rows], X[rows.stop :], **params)
    return part


def _put(D: Array, rows: slice, part: Array) -> None:
    D[rows, rows.start :] = part
    D[rows.stop :, rows] = part[:, len(part) :].T


def _fill_from(kept: Kept, D: Array) -> int:
    """Put in what is kept, and return how many rows are known."""
    row = 0
    for rows, part in kept.read():
        _put(D, rows, part)
        row = rows.stop
    return row
