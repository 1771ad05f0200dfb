"""Ranks of methods over data sets, and whether they differ more than by chance.

Letters: N data sets, k methods; ``scores`` (N, k), higher is better.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from kreinlearn._typing import Array

ALPHA = 0.05
"""Level of the tests."""


class Comparison(NamedTuple):
    """Mean ranks and the tests of Friedman and Nemenyi.

    Attributes
    ----------
    methods : tuple of str
        From the best mean rank to the worst.
    ranks : tuple of float
        Their mean ranks; 1 is best.
    n_datasets : int
        Number of data sets.
    statistic, pvalue : float
        Friedman's test that all methods are alike.
    distance : float
        Nemenyi's critical difference of two mean ranks.
    cliques : tuple of (int, int)
        First and last position of each group of methods that do not differ.
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    n_datasets: int
    statistic: float
    pvalue: float
    distance: float
    cliques: tuple[tuple[int, int], ...]


def mean_ranks(scores: Array) -> Array:
    """Return the mean rank of each method; ties share their ranks.

    Parameters
    ----------
    scores : ndarray of shape (N, k)
        Higher is better.

    Returns
    -------
    ndarray of shape (k,)
        Between 1, best, and k.

    Examples
    --------
    >>> import numpy as np
    >>> from kreinlearn.pages.ranks import mean_ranks
    >>> mean_ranks(np.array([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]]))
    array([1.  , 2.25, 2.75])
    """
    return np.asarray(rankdata(-scores, axis=1).mean(axis=0))


def critical_difference(k: int, n_datasets: int, alpha: float = ALPHA) -> float:
    """Return Nemenyi's critical difference of two mean ranks.

    Parameters
    ----------
    k : int
        Number of methods.
    n_datasets : int
        Number of data sets.
    alpha : float
        Level.

    Returns
    -------
    float
        Mean ranks farther apart differ at that level.

    References
    ----------
    J. Demšar, "Statistical comparisons of classifiers over multiple data sets",
    Journal of Machine Learning Research 7, 1-30, 2006, section 3.2.2.

    Examples
    --------
    >>> from kreinlearn.pages.ranks import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = float(studentized_range.ppf(1 - alpha, k, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n_datasets)))


def cliques(ranks: Array, distance: float) -> list[tuple[int, int]]:
    """Return the largest groups of neighbors within a distance.

    Parameters
    ----------
    ranks : ndarray of shape (k,)
        Ascending mean ranks.
    distance : float
        Critical difference.

    Returns
    -------
    list of (first, last)
        Positions; groups of one, and groups inside others, are left out.

    Examples
    --------
    >>> from kreinlearn.pages.ranks import cliques
    >>> cliques([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        within = [
            j for j in range(first, len(ranks)) if ranks[j] - ranks[first] <= distance
        ]
        last = within[-1]
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def compare(scores: Array, methods: list[str]) -> Comparison | None:
    """Return mean ranks and tests, best first.

    Parameters
    ----------
    scores : ndarray of shape (N, k)
        Higher is better.
    methods : list of str
        Names of the columns.

    Returns
    -------
    Comparison or None
        None for fewer than three methods or two data sets, or if all tie.
    """
    n_datasets, k = scores.shape
    if k < 3 or n_datasets < 2 or np.all(np.ptp(scores, axis=1) == 0):
        return None
    statistic, pvalue = friedmanchisquare(*scores.T)
    ranks = mean_ranks(scores)
    order = np.argsort(ranks, kind="stable")
    distance = critical_difference(k, n_datasets)
    return Comparison(
        tuple(methods[j] for j in order),
        tuple(float(ranks[j]) for j in order),
        n_datasets,
        float(statistic),
        float(pvalue),
        distance,
        tuple(cliques(ranks[order], distance)),
    )
