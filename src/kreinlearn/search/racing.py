"""Race: discard candidates that are significantly worse on a cheap first round.

All settings and norms are tried on some folds, some samples and every other lam. Those
that would get no weight in the end, by paired differences of held-out
log-likelihoods, are dropped.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.kernels import ResolvedKernel
from kreinlearn.search.candidates import Candidate, SearchContext, Windows
from kreinlearn.search.grid import stratified_subsample

SEARCH_ROWS = 1000
"""Largest number of samples by which settings are chosen."""
RACE_ROWS, RACE_FOLDS = 400, 2
"""Largest number of samples of a race, and its folds."""
MIN_ROWS = 150
"""A race takes half of the samples, but not fewer than this; up to this number of
samples of two classes, it takes longer than it saves."""
LAM_MARGIN = 1
"""Values of lam before and after the best of the race that are tried first."""
N_ERRORS = 2.0
"""Standard errors by which a candidate must be behind."""
MIN_NATS = -float(np.log(0.01))
"""Difference in log-likelihood beyond which a model would get no weight."""
MAX_WORK, MIN_SETTINGS = 1500, 3
"""Samples times settings that stay, about, and the smallest number of settings: each
needs an eigendecomposition per fold."""
TIME_OVER = "max_time"
"""Reason of settings that were not tried in time."""


Dropped = dict[str, Any]
"""A candidate that was left out of a search, and why: see ``dropped_``."""


def draw_race(index: Array, seed: int) -> Array:
    """Return the samples of a race."""
    size = min(max(len(index) // 2, MIN_ROWS), RACE_ROWS)
    return stratified_subsample(index, size, seed)


def finish_race(
    context: SearchContext, race: SearchContext, candidates: Sequence[Candidate]
) -> tuple[dict[int, Windows | None], Array, list[Dropped]]:
    """Drop candidates that are clearly behind, or one too many.

    Parameters
    ----------
    context, race : SearchContext
        The whole search, and the race.
    candidates : sequence of Candidate
        Results of the race.

    Returns
    -------
    windows : dict of int to mapping
        Values of lam to try first, by setting, the most promising setting first. The
        best candidate always stays, and so do its neighbors: the settings of the same
        kernel before and after it, with the same norm. Of several matrices, the best
        candidate of each stays.
    units : ndarray of shape (n_settings,)
        Units of lam.
    dropped : list of dict
        Candidates that are left out.
    """
    n, settings = len(context.Y), context.settings
    held = np.concatenate([rows for _, rows in race.folds])
    parts = ([fold[one.best] for fold in one.scores] for one in candidates)
    logs = [race.scorer.compute_logs(np.concatenate(own), held)[0] for own in parts]
    order = sorted(range(len(candidates)), key=lambda c: -candidates[c].criterion)
    best = candidates[order[0]]
    max_settings = max(MIN_SETTINGS, MAX_WORK // n)
    windows: dict[int, dict[str, slice]] = {}
    matrices = set[str | None]()
    dropped: list[Dropped] = []
    for c in order:
        one = candidates[c]
        gap = logs[c] - logs[order[0]]
        behind = float(-gap.mean())
        error = float(gap.std() / np.sqrt(max(len(gap) - 1, 1)))
        is_near = (
            abs(one.setting - best.setting) <= 1
            and settings[one.setting].source == settings[best.setting].source
            and settings[one.setting].similarity == settings[best.setting].similarity
            and one.norm == best.norm
        )
        matrix = settings[one.setting].similarity
        is_first = matrix is not None and matrix not in matrices
        matrices.add(matrix)
        is_new = one.setting not in windows and not is_first
        reason = ""
        if not (is_near or is_first) and n * (behind - N_ERRORS * error) > MIN_NATS:
            reason = "clearly behind"
        elif is_new and len(windows) >= max_settings:
            reason = f"not among the best {max_settings} settings"
        if reason:
            about = (settings, one.setting, one.norm, reason)
            dropped.append(describe_dropped(*about, len(gap), behind, error))
            continue
        first = max(0, min(one.best - LAM_MARGIN, context.n_first - 2 * LAM_MARGIN - 1))
        part = slice(first, min(first + 2 * LAM_MARGIN + 1, context.n_first))
        windows.setdefault(one.setting, {})[one.norm] = part
    units = np.ones(len(settings))
    for one in candidates:
        units[one.setting] = one.unit * race.n_used / context.n_used
    return dict(windows), units, dropped


def describe_dropped(
    settings: Sequence[ResolvedKernel],
    setting: int,
    norm: str,
    reason: str,
    rows: int = 0,
    behind: float = np.nan,
    error: float = np.nan,
) -> Dropped:
    """Return the entry of ``dropped_`` for a candidate."""
    return {
        "kernel": settings[setting].name,
        "params": settings[setting].described_params,
        "norm": norm,
        "rows": rows,
        "behind": behind,
        "error": error,
        "reason": reason,
    }


def describe_undecomposed(settings: Sequence[ResolvedKernel], n: int) -> list[Dropped]:
    """Return entries of ``dropped_`` for a norm that needs too many eigenvectors."""
    reason = f"eigenvectors of {n} samples take long; search='full' tries it"
    every = range(len(settings))
    return [describe_dropped(settings, i, "hilbert", reason) for i in every]
