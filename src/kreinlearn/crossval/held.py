"""What a cross-validation tries, and what it finds about held-out samples.

Letters: L values of lam, k columns of scores, scores (L, n_held, k).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kreinlearn._typing import Array

UNITS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001)
"""What is tried by default: not lam itself, but u = n lam / s for n samples and a
matrix of scale s. For s = 1 that is what other tools call 1 / C."""
MORE_UNITS = (1e-4, 1e-5, 1e-6, 1e-7)
"""What is tried further, one after another, while the smallest value is the best."""
SEARCH_TOL = 1e-4
"""Residual of the fits in cross-validation: no score changes below it."""
RIDGE_TOL = 1e-4
"""The same for convex problems: root of twice the distance from the minimum, about."""

Fold = tuple[Array, Array]
"""Indices of training and of held-out samples."""


@dataclass(frozen=True)
class Held:
    """Scores of held-out samples: one array (L, n_held, k) per fold.

    ``converged`` has shape (n_folds, L). Scores are NaN for a lam that was not tried.
    """

    scores: list[Array]
    converged: Array

    def placed(self, first: int, total: int) -> "Held":
        """Return the same among more values of lam, with NaN for those not tried."""
        place = slice(first, first + self.converged.shape[1])
        scores = []
        for each in self.scores:
            more = np.full((total, *each.shape[1:]), np.nan)
            more[place] = each
            scores.append(more)
        converged = np.ones((len(self.converged), total), dtype=bool)
        converged[:, place] = self.converged
        return Held(scores, converged)

    def joined(self, other: "Held") -> "Held":
        """Return what either of two has tried of the same values of lam."""
        pairs = zip(self.scores, other.scores, strict=True)
        return Held(
            [np.where(np.isnan(a), b, a) for a, b in pairs],
            self.converged & other.converged,
        )


def where_held_out(
    chosen: Sequence[Held], lams: Sequence[int], folds: Sequence[Fold], n: int
) -> tuple[Array, Array]:
    """Return the scores of samples while they were held out.

    Parameters
    ----------
    chosen : sequence of Held
        One for each of G settings.
    lams : sequence of int
        Position of the lam of each.
    folds : sequence of pairs of ndarray
        Indices of training and of held-out samples.
    n : int
        Number of samples.

    Returns
    -------
    seen : ndarray of shape (n_seen,)
        Samples that were held out at least once.
    scores : ndarray of shape (G, n_seen, k)
        Their scores, averaged if that was more than once.
    """
    total = np.zeros((len(chosen), n, chosen[0].scores[0].shape[2]))
    times = np.zeros(n)
    for f, (_, rows) in enumerate(folds):
        times[rows] += 1.0
        for g, held in enumerate(chosen):
            total[g, rows] += held.scores[f][lams[g]]
    seen = np.flatnonzero(times)
    return seen, total[:, seen] / times[seen, None]
