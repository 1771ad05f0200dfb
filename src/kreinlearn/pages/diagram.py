"""The critical-difference diagram: mean ranks, and what does not differ."""

from kreinlearn.pages.figures import (
    BLUE,
    GREY,
    GRID,
    INK,
    NARROW,
    ORANGE,
    Canvas,
    Drawing,
    Figure,
    plain,
)
from kreinlearn.pages.ranks import Comparison
from kreinlearn.pages.tables import Entry, Table

LENGTH = 24
"""Letters of a name in the wide diagram."""


def critical_difference_figure(
    ranking: Comparison, whose: str, blocks: str, caution: str = ""
) -> Figure:
    """Return the diagram of Demšar with what is to be said about it.

    Parameters
    ----------
    ranking : Comparison
        Mean ranks and cliques.
    whose : str
        What was ranked, such as "our runs".
    blocks : str
        What it was ranked over, such as "data sets".
    caution : str
        A sentence to end the caption with.

    Returns
    -------
    Figure
        With a list of ranks instead of the diagram on a phone.
    """
    pairs = list(zip(ranking.methods, ranking.ranks, strict=True))
    said = ", ".join(f"{name} {rank:.2f}" for name, rank in pairs)
    groups = "; ".join(
        " to ".join((ranking.methods[first], ranking.methods[last]))
        for first, last in ranking.cliques
    )
    columns = (Entry("method"), Entry("mean rank"), Entry("groups"))
    rows = []
    for place, (name, rank) in enumerate(pairs):
        own = [
            str(number)
            for number, (first, last) in enumerate(ranking.cliques, start=1)
            if first <= place <= last
        ]
        group = Entry(", ".join(own) or "–")
        rows.append([Entry(name), Entry(f"{rank:.2f}", rank), group])
    text = (
        "1 is best. Methods of one group do not differ (Nemenyi's test at 5 %). "
        f"Friedman's test: p = {ranking.pvalue:.2g}."
    )
    return Figure(
        f"Mean ranks of {whose}",
        f"Mean ranks over {blocks}; 1 is best. Bars join methods that do not differ "
        f"(Nemenyi's test at 5 %: less than {ranking.distance:.2f} apart)."
        + (f" {caution}" if caution else ""),
        f"Mean ranks, best first: {said}. Critical difference "
        f"{ranking.distance:.2f}. Not different: {groups or 'none'}.",
        critical_difference_diagram(ranking),
        _rank_list(ranking),
        Table(f"Mean ranks of {whose}", text, columns, rows),
    )


def critical_difference_diagram(ranking: Comparison) -> Drawing:
    """Return the diagram of Demšar: mean ranks, and bars over what does not differ.

    Parameters
    ----------
    ranking : Comparison
        Mean ranks and cliques.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    k = len(ranking.methods)
    half = -(-k // 2)
    n_bars = len(ranking.cliques)
    low, high = 1, k
    bar_step, label_step, first_bar = 0.17, 0.26, 0.22
    first_label = first_bar + bar_step * n_bars + 0.12
    depth = first_label + label_step * half
    letters = max(len(plain(name, LENGTH)) for name in ranking.methods)

    def draw(figure: Canvas) -> None:
        axes = figure.add_subplot()
        axes.set_axis_off()
        # As much room beside the scale as the longest name needs.
        margin = (0.25 + 0.018 * letters) * (high - low)
        axes.set_xlim(low - margin, high + margin)
        axes.set_ylim(-depth, 0.75)
        axes.plot([low, high], [0, 0], color=INK, lw=0.8)
        for tick in range(low, high + 1, _step(k)):
            axes.plot([tick, tick], [0, 0.07], color=INK, lw=0.8)
            axes.text(tick, 0.11, str(tick), ha="center", va="bottom", size=9)
        end = low + ranking.distance
        axes.plot([low, end], [0.5, 0.5], color=ORANGE, lw=2, solid_capstyle="butt")
        text = f"critical difference {ranking.distance:.2f}"
        axes.text(low, 0.55, text, ha="left", va="bottom", size=9)
        beyond = 0.04 * (high - low)
        for number, (first, last) in enumerate(ranking.cliques):
            y = -(first_bar + bar_step * number)
            ends = [ranking.ranks[first] - 0.06, ranking.ranks[last] + 0.06]
            axes.plot(ends, [y, y], color=BLUE, lw=3, solid_capstyle="round")
        for place, (name, rank) in enumerate(
            zip(ranking.methods, ranking.ranks, strict=True)
        ):
            is_left = place < half
            row = place if is_left else k - 1 - place
            y = -(first_label + label_step * row)
            x = low - beyond if is_left else high + beyond
            axes.plot([rank, rank, x], [0, y, y], color=GREY, lw=0.6)
            axes.plot([rank], [0], "o", color=INK, ms=3)
            side = "right" if is_left else "left"
            shift = -beyond / 3 if is_left else beyond / 3
            short = plain(name, LENGTH)
            label = f"{short}  {rank:.2f}" if is_left else f"{rank:.2f}  {short}"
            axes.text(x + shift, y, label, ha=side, va="center", size=9)

    return draw, (7.5, 0.9 + 0.85 * depth)


def _step(k: int) -> int:
    """Return the distance of ticks, so that no two of their numbers touch."""
    return -(-k // 10)


def _rank_list(ranking: Comparison) -> Drawing:
    """Return the same for a phone: a row for each method, bars upright."""
    k = len(ranking.methods)

    def draw(figure: Canvas) -> None:
        axes = figure.add_subplot()
        axes.plot(ranking.ranks, range(k), "o", color=INK, ms=5)
        for y, rank in enumerate(ranking.ranks):
            axes.plot([1, rank], [y, y], color=GREY, lw=0.8, zorder=1)
            axes.text(rank, y - 0.18, f"{rank:.2f}", ha="center", va="bottom")
        for number, (first, last) in enumerate(ranking.cliques):
            x = k + 0.5 + 0.045 * k * number
            axes.plot([x, x], [first - 0.15, last + 0.15], color=BLUE, lw=3)
        low = k - 0.25
        axes.plot([1, 1 + ranking.distance], [low, low], color=ORANGE, lw=2)
        text = f"critical difference {ranking.distance:.2f}"
        axes.text(1, low + 0.12, text, ha="left", va="top")
        axes.set_ylim(k + 0.35, -0.75)
        axes.set_xlim(0.8, k + 0.7 + 0.045 * k * len(ranking.cliques))
        axes.set_yticks(range(k), [plain(name, 20) for name in ranking.methods])
        axes.tick_params(axis="y", length=0)
        axes.set_xticks(range(1, k + 1, _step(k)))
        axes.set_xlabel("mean rank; 1 is best")
        axes.grid(axis="x", color=GRID, lw=0.6)
        axes.set_axisbelow(True)

    return draw, (NARROW, 0.9 + 0.32 * k)
