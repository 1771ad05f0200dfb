"""Ranks of methods over data sets, whether they differ, and the diagram of that.

Letters: N data sets, k methods; ``scores`` (N, k), higher is better.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from kreinlearn._typing import Array
from kreinlearn.app.report import (
    NO_VALUE,
    PHONE_INCHES,
    Color,
    Drawing,
    Figure,
    TableRow,
    format_number,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

TEST_LEVEL = 0.05
"""Level of the tests."""
NAME_LENGTH = 24
"""Letters of a name in the wide diagram."""


class Ranking(NamedTuple):
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


def compute_mean_ranks(scores: Array) -> Array:
    """Return the mean rank of each method, between 1, best, and k; ties share ranks.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.ranks import compute_mean_ranks
    >>> compute_mean_ranks(np.array([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]]))
    array([1.  , 2.25, 2.75])
    """
    return np.asarray(rankdata(-scores, axis=1).mean(axis=0))


def compute_critical_difference(
    k: int, n_datasets: int, alpha: float = TEST_LEVEL
) -> float:
    """Return Nemenyi's critical difference: mean ranks farther apart differ.

    References
    ----------
    J. Demšar, "Statistical comparisons of classifiers over multiple data sets",
    Journal of Machine Learning Research 7, 1-30, 2006, section 3.2.2.

    Examples
    --------
    >>> from reproduction.ranks import compute_critical_difference
    >>> round(compute_critical_difference(4, 14), 2)
    1.25
    """
    q = float(studentized_range.ppf(1 - alpha, k, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n_datasets)))


def find_cliques(ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """Return first and last position of the largest groups within a distance.

    Groups of one, and groups inside others, are left out.

    Parameters
    ----------
    ranks : sequence of float
        Ascending mean ranks.
    distance : float
        Critical difference.

    Examples
    --------
    >>> from reproduction.ranks import find_cliques
    >>> find_cliques([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = sum(each - rank <= distance for each in ranks) - 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def rank_methods(scores: Array, methods: Sequence[str]) -> Ranking | None:
    """Return mean ranks and tests, best first.

    Parameters
    ----------
    scores : ndarray of shape (N, k)
        Higher is better.
    methods : sequence of str
        Names of the columns.

    Returns
    -------
    Ranking or None
        None for fewer than three methods or two data sets, or if all tie.
    """
    n_datasets, k = scores.shape
    if k < 3 or n_datasets < 2 or np.all(np.ptp(scores, axis=1) == 0):
        return None
    statistic, pvalue = friedmanchisquare(*scores.T)
    ranks = compute_mean_ranks(scores)
    order = np.argsort(ranks, kind="stable")
    distance = compute_critical_difference(k, n_datasets)
    return Ranking(
        tuple(methods[j] for j in order),
        tuple(float(ranks[j]) for j in order),
        n_datasets,
        float(statistic),
        float(pvalue),
        distance,
        tuple(find_cliques(ranks[order].tolist(), distance)),
    )


def make_ranking_figure(
    ranking: Ranking, whose: str, blocks: str, caution: str = ""
) -> Figure:
    """Return the diagram of Demšar, and for a phone a list of ranks.

    Parameters
    ----------
    ranking : Ranking
        Mean ranks and cliques.
    whose : str
        Scores that were ranked, such as "our runs".
    blocks : str
        Blocks of the ranking, such as "data sets".
    caution : str
        A sentence to end the caption with.
    """
    pairs = list(zip(ranking.methods, ranking.ranks, strict=True))
    listed_ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in pairs)
    groups = [
        f"{ranking.methods[first]} to {ranking.methods[last]}"
        for first, last in ranking.cliques
    ]
    rows: list[TableRow] = []
    for place, (name, rank) in enumerate(pairs):
        own = [
            str(group)
            for group, (first, last) in enumerate(ranking.cliques, start=1)
            if first <= place <= last
        ]
        rows.append((name, format_number(rank, ".2f"), ", ".join(own) or NO_VALUE))
    listed = (
        "1 is best. Methods in the same group do not differ (Nemenyi's test at 5 %). "
        f"Friedman's test: p = {ranking.pvalue:.2g}."
    )
    return Figure(
        f"Mean ranks of {whose}",
        f"Mean ranks over {blocks}; 1 is best. Bars join methods that do not differ "
        f"(Nemenyi's test at 5 %: less than {ranking.distance:.2f} apart). "
        f"{caution}".rstrip(),
        f"Mean ranks, best first: {listed_ranks}. Critical difference "
        f"{ranking.distance:.2f}. Not different: {'; '.join(groups) or 'none'}.",
        _draw_diagram(ranking),
        _draw_rank_list(ranking),
        (listed, "method, mean rank, groups", rows),
    )


def _draw_diagram(ranking: Ranking) -> Drawing:
    """Return mean ranks on a scale, with bars over methods that do not differ."""
    low, high = 1, len(ranking.methods)
    half = -(-high // 2)
    bar_step, label_step, first_bar = 0.17, 0.26, 0.22
    first_label = first_bar + bar_step * len(ranking.cliques) + 0.12
    depth = first_label + label_step * half
    letters = max(len(shorten(name, NAME_LENGTH)) for name in ranking.methods)

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        axes.set_axis_off()
        # As much space beside the scale as the longest name needs.
        margin = (0.25 + 0.018 * letters) * (high - low)
        axes.set_xlim(low - margin, high + margin)
        axes.set_ylim(-depth, 0.75)
        axes.plot([low, high], [0, 0], color=Color.INK, lw=0.8)
        for tick in range(low, high + 1, _choose_tick_step(high)):
            axes.plot([tick, tick], [0, 0.07], color=Color.INK, lw=0.8)
            axes.text(tick, 0.11, str(tick), ha="center", va="bottom", size=9)
        end = low + ranking.distance
        axes.plot(
            [low, end], [0.5, 0.5], color=Color.ORANGE, lw=2, solid_capstyle="butt"
        )
        text = f"critical difference {ranking.distance:.2f}"
        axes.text(low, 0.55, text, ha="left", va="bottom", size=9)
        beyond = 0.04 * (high - low)
        for bar, (first, last) in enumerate(ranking.cliques):
            y = -(first_bar + bar_step * bar)
            ends = [ranking.ranks[first] - 0.06, ranking.ranks[last] + 0.06]
            axes.plot(ends, [y, y], color=Color.BLUE, lw=3, solid_capstyle="round")
        rank_readings = zip(ranking.methods, ranking.ranks, strict=True)
        for place, (name, rank) in enumerate(rank_readings):
            is_left = place < half
            row = place if is_left else high - 1 - place
            y = -(first_label + label_step * row)
            x, sign = (low, -1) if is_left else (high, 1)
            end = x + sign * beyond
            axes.plot([rank, rank, end], [0, y, y], color=Color.GREY, lw=0.6)
            axes.plot([rank], [0], "o", color=Color.INK, ms=3)
            words = (shorten(name, NAME_LENGTH), f"{rank:.2f}")
            label = "  ".join(words[::-sign])
            side = "right" if is_left else "left"
            axes.text(end + sign * beyond / 3, y, label, ha=side, va="center", size=9)

    return draw, (7.5, 0.9 + 0.85 * depth)


def _choose_tick_step(k: int) -> int:
    """Return the distance between ticks, so that their numbers do not touch."""
    return -(-k // 10)


def _draw_rank_list(ranking: Ranking) -> Drawing:
    """Return the same for a phone: one row per method, bars upright."""
    k = len(ranking.methods)

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        axes.plot(ranking.ranks, range(k), "o", color=Color.INK, ms=5)
        for y, rank in enumerate(ranking.ranks):
            axes.plot([1, rank], [y, y], color=Color.GREY, lw=0.8, zorder=1)
            axes.text(rank, y - 0.18, f"{rank:.2f}", ha="center", va="bottom")
        for bar, (first, last) in enumerate(ranking.cliques):
            x = k + 0.5 + 0.045 * k * bar
            axes.plot([x, x], [first - 0.15, last + 0.15], color=Color.BLUE, lw=3)
        low = k - 0.25
        axes.plot([1, 1 + ranking.distance], [low, low], color=Color.ORANGE, lw=2)
        text = f"critical difference {ranking.distance:.2f}"
        axes.text(1, low + 0.12, text, ha="left", va="top")
        axes.set_ylim(k + 0.35, -0.75)
        axes.set_xlim(0.8, k + 0.7 + 0.045 * k * len(ranking.cliques))
        axes.set_yticks(range(k), [shorten(name, 20) for name in ranking.methods])
        axes.tick_params(axis="y", length=0)
        axes.set_xticks(range(1, k + 1, _choose_tick_step(k)))
        axes.set_xlabel("mean rank; 1 is best")
        axes.grid(axis="x")

    return draw, (PHONE_INCHES, 0.9 + 0.32 * k)
