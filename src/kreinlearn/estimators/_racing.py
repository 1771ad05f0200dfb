"""Which settings of a search are clearly behind, found out with part of the work.

All settings and norms are tried on some folds, some rows and a few values of lam. What
would have no weight in the end, going by paired differences of held-out
log-likelihoods, is dropped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.crossval import Fold
from kreinlearn.estimators._inputs import (
    AnyKernel,
    Keywords,
    is_pairwise,
    kernel_name,
    learns_form,
)
from kreinlearn.estimators._search import NEGLIGIBLE_WEIGHT, Setting
from kreinlearn.kernels import Similarities

SEARCH_ROWS = 1000
"""Most samples by which settings are chosen."""
RACE_ROWS = 400
"""Most samples of a race."""
UNRACED = 150
"""Most samples of two classes that need no race: it would take longer than it saves."""
RACE_FOLDS = 2
"""Folds of a race."""
RACE_STEP = 2
"""Values of lam of a race, among those of the search: every other one."""
RACE_TOL = 3e-3
"""Error of its fits, see `kreinlearn.crossval`; more would not change the order."""
AROUND = 2
"""Values of lam before and after the best of the race that are tried at first."""
DOUBT = 2.0
"""Standard errors that are granted to what is behind."""
MOST_WORK, FEWEST_SETTINGS = 3000, 3
"""Samples times settings that stay, about, and the fewest settings: each costs an
eigendecomposition per fold."""


DECOMPOSED = 5000
"""Most samples whose eigenvectors are computed unless that is asked for: they take
minutes beyond, for each model."""

LATE = "max_time"
"""Why a setting was not tried before time was over."""


class Dropped(TypedDict):
    """A setting that was left out of a search, and why."""

    kernel: str
    params: Keywords
    norm: str
    rows: int
    behind: float
    error: float
    reason: str


@dataclass(frozen=True)
class Runner:
    """A setting and norm in a race: how it did, and on each held-out sample."""

    setting: int
    norm: str
    criterion: float
    lam: int
    logs: Array


@dataclass(frozen=True)
class Left:
    """What is left of a setting: its norms, and where to look for lam first."""

    norms: list[str]
    lams: slice


def everything(norms: Sequence[str], n_lams: int) -> Left:
    """Return what there is to try without a race."""
    return Left(list(norms), slice(0, n_lams))


def left_of(
    runners: Sequence[Runner], gone: Sequence[Runner], setting: int, n_lams: int
) -> Left:
    """Return what a race left of a setting."""
    mine = [one for one in runners if one.setting == setting]
    mine = [one for one in mine if not any(one is each for each in gone)]
    if not mine:
        return Left([], slice(0, 0))
    places = [one.lam for one in mine]
    first, last = max(0, min(places) - AROUND), min(n_lams, max(places) + AROUND + 1)
    return Left([one.norm for one in mine], slice(first, last))


def some_rows(index: Array, most: int, seed: int) -> Array:
    """Return at most so many samples, increasing, with all classes in proportion.

    Parameters
    ----------
    index : ndarray of shape (n,)
        Classes of all samples, counted from 0.
    most : int
        How many are wanted.
    seed : int
        Of what is left to chance.

    Returns
    -------
    ndarray
        Positions.
    """
    n = len(index)
    if n <= most:
        return np.arange(n)
    # Where a sample stands among those of its class; the first of all classes are
    # taken together.
    order = np.random.default_rng(seed).permutation(n)
    place = np.empty(n)
    for label in np.unique(index):
        mine = order[index[order] == label]
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return np.sort(np.argsort(place, kind="stable")[:most])


def some_of(
    shared: Similarities, rows: Array, kernel: AnyKernel | Sequence[AnyKernel]
) -> Similarities:
    """Return some of the samples, or all if they have been measured anyway."""
    if len(rows) == len(shared.X) or is_pairwise(kernel) or learns_form(kernel):
        return shared
    X = shared.X
    return Similarities(X[rows] if hasattr(X, "shape") else [X[i] for i in rows])


def folds_among(folds: Sequence[Fold], rows: Array) -> list[Fold]:
    """Return folds as far as they are among some rows, by places among these."""
    return [
        (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, held)))
        for train, held in folds
    ]


def stragglers(
    runners: Sequence[Runner], settings: Sequence[Setting], n: int
) -> list[tuple[Runner, Dropped]]:
    """Return the runners that are clearly behind, and why.

    Parameters
    ----------
    runners : sequence of Runner
        All of them.
    settings : sequence of (kernel, dict)
        What they stand for.
    n : int
        Samples of the whole search.

    Returns
    -------
    list of (Runner, Dropped)
        Never the best, nor its neighbors: the next settings of the same kernel before
        and after it, with the same norm.
    """
    best = max(runners, key=lambda one: one.criterion)
    near = [s for s in (best.setting - 1, best.setting + 1) if 0 <= s < len(settings)]
    near = [s for s in near if settings[s][0] == settings[best.setting][0]]
    nats = -np.log(NEGLIGIBLE_WEIGHT)
    found, left = [], []
    for one in runners:
        gap = one.logs - best.logs
        rows = len(gap)
        behind, error = float(-gap.mean()), float(gap.std() / np.sqrt(max(rows - 1, 1)))
        about = (one, behind, error, rows)
        is_safe = one is best or (one.norm == best.norm and one.setting in near)
        if not is_safe and n * (behind - DOUBT * error) > nats:
            found.append((one, _dropped(settings, *about, "clearly behind")))
        else:
            left.append(about)
    most = max(FEWEST_SETTINGS, MOST_WORK // n)
    kept: list[int] = []
    for about in sorted(left, key=lambda each: -each[0].criterion):
        one = about[0]
        if one.setting not in kept and len(kept) < most:
            kept.append(one.setting)
        if one.setting not in kept:
            why = f"not among the best {most} settings"
            found.append((one, _dropped(settings, *about, why)))
    return found


def too_many(settings: Sequence[Setting], n: int) -> list[Dropped]:
    """Return why a norm that needs eigenvectors is not tried with many samples."""
    why = f"eigenvectors of {n} samples take long; search='full' tries it"
    return [_unseen(settings, i, "hilbert", why) for i in range(len(settings))]


def left_untried(
    settings: Sequence[Setting], places: Iterable[int], norms: Sequence[str]
) -> list[Dropped]:
    """Return why settings were not tried before time was over."""
    return [_unseen(settings, i, norm, LATE) for i in places for norm in norms]


def _unseen(settings: Sequence[Setting], setting: int, norm: str, why: str) -> Dropped:
    one = Runner(setting, norm, np.nan, 0, np.empty(0))
    return _dropped(settings, one, np.nan, np.nan, 0, why)


def _dropped(
    settings: Sequence[Setting],
    one: Runner,
    behind: float,
    error: float,
    rows: int,
    reason: str,
) -> Dropped:
    kernel: AnyKernel
    kernel, params = settings[one.setting]
    return Dropped(
        kernel=kernel_name(kernel),
        params=params,
        norm=one.norm,
        rows=rows,
        behind=behind,
        error=error,
        reason=reason,
    )
