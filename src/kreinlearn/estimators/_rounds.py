"""The rounds of a search: a race by part of the work, then all folds for what is left.

Both go through the settings one by one, or side by side, until they are done or time is
over.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from kreinlearn._blas import one_thread
from kreinlearn._typing import Array
from kreinlearn.estimators._racing import (
    Dropped,
    Left,
    Runner,
    left_of,
    left_untried,
    stragglers,
)
from kreinlearn.estimators._search import Setting
from kreinlearn.estimators._trial import Found, Trial
from kreinlearn.kernels.threads import one_thread as kernels_alone

Item = TypeVar("Item")
Result = TypeVar("Result")
MIN_BATCHES = 2
"""So that two jobs have work."""


class Deadline:
    """Tells when time is over; never, for None.

    Parameters
    ----------
    seconds : float or None
        From now on.
    """

    def __init__(self, seconds: float | None) -> None:
        self.end = np.inf if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether it is."""
        return time.monotonic() >= self.end


class Raced(NamedTuple):
    """What a race leaves, and says of all settings.

    ``left`` and ``units``, of lam, by setting; ``order`` are those of which something
    is left, the best first.
    """

    left: list[Left | None]
    units: Array
    order: list[int]
    dropped: list[Dropped]


def no_race(settings: Sequence[Setting]) -> Raced:
    """Return what is left without a race: everything."""
    n = len(settings)
    return Raced([None] * n, np.ones(n), list(range(n)), [])


def race(
    raced: Trial,
    trial: Trial,
    settings: Sequence[Setting],
    n_jobs: int | None,
    deadline: Deadline,
) -> Raced:
    """Try all settings and norms on part of the work, and drop what is clearly behind.

    Parameters
    ----------
    raced, trial : Trial
        The part, and the whole of it.
    settings : sequence of (kernel, dict)
        What runs.
    n_jobs : int or None
        As in joblib.
    deadline : Deadline
        Settings that have not run when it ends are dropped.

    Returns
    -------
    Raced
        What is left.
    """
    numbered = list(enumerate(settings))
    size = raced.batch_size
    results = list(side_by_side(raced.race, numbered, size, n_jobs, deadline))
    runners: list[Runner] = [one for mine, _ in results for one in mine]
    units = np.ones(len(settings))
    units[: len(results)] = [scale / trial.n_used for _, scale in results]
    out = stragglers(runners, settings, len(trial.index))
    dropped = [why for _, why in out]
    dropped += left_untried(settings, range(len(results), len(settings)), trial.norms)
    gone = [one for one, _ in out]
    n_lams = trial.grid(1.0)[1]
    left = [left_of(runners, gone, i, n_lams) for i in range(len(settings))]
    order = [one.setting for one in sorted(runners, key=lambda one: -one.criterion)]
    order = [i for i in dict.fromkeys(order) if left[i].norms]
    return Raced(list(left), units, order, dropped)


def tried(
    trial: Trial,
    settings: Sequence[Setting],
    raced: Raced,
    n_jobs: int | None,
    deadline: Deadline,
) -> Iterator[tuple[int, Found]]:
    """Yield what all folds say of each setting that a race has left, the best first."""
    given = [(settings[i], raced.left[i]) for i in raced.order]
    runs = side_by_side(trial.search, given, trial.batch_size, n_jobs, deadline)
    yield from zip(raced.order, runs, strict=False)


def side_by_side(
    function: Callable[[Sequence[Item]], Sequence[Result]],
    given: Sequence[Item],
    batch_size: int,
    n_jobs: int | None,
    deadline: Deadline,
) -> Iterator[Result]:
    """Yield what a function returns for batches, in order, by as many threads as asked.

    Each of them is then alone: neither BLAS nor kernels nor folds have threads of their
    own. With one job it is they that have them. Nothing but the first begins after the
    deadline. Batches do not depend on the number of jobs, and neither does rounding;
    with a deadline, each setting is a batch.
    """
    jobs = effective_n_jobs(n_jobs)
    size = min(batch_size, -(-len(given) // MIN_BATCHES))
    if deadline.end < np.inf:
        size = 1
    batches = [given[i : i + size] for i in range(0, len(given), size)]

    def timely(place: int, batch: Sequence[Item]) -> Sequence[Result]:
        if place > 0 and deadline.is_over:
            return []
        with nullcontext() if jobs == 1 else kernels_alone():
            return function(batch)

    results: Iterable[Sequence[Result]]
    if jobs == 1:
        results = (timely(*each) for each in enumerate(batches))
    else:
        pool = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")
        results = pool(delayed(timely)(*each) for each in enumerate(batches))
    with nullcontext() if jobs == 1 else one_thread():
        for batch in results:
            yield from batch
