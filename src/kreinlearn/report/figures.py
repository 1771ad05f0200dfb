"""Figures from summaries; matplotlib is loaded only when one is drawn."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kreinlearn.experiments import paper
from kreinlearn.report.faces import NAMES, example_images
from kreinlearn.report.ranks import Comparison
from kreinlearn.report.summary import Summary, names_in
from kreinlearn.report.table3 import comparison, published_comparison

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
"""From the palette of Okabe and Ito, which color-blind people can tell apart."""
INK = "#222222"
STYLE: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.6,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "kreinlearn",
    "svg.fonttype": "path",
}
DPI = 160
WIDE = 100.0
"""Values that spread over this many times their size are drawn on a log scale."""

Figure = Any
"""A matplotlib figure."""
Drawing = Callable[[Figure], None]
"""Draws on an empty figure."""


def render(draw: Drawing, size: tuple[float, float]) -> dict[str, bytes]:
    """Return a drawing as SVG and PNG.

    Parameters
    ----------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.

    Returns
    -------
    dict
        "svg" and "png" to bytes; the same drawing gives the same bytes.
    """
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    files = {}
    with matplotlib.rc_context(STYLE):
        figure = Canvas(figsize=size, layout="constrained")
        draw(figure)
        for kind, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, dpi=DPI, metadata=metadata)
            files[kind] = stream.getvalue()
    return files


def critical_difference_diagram(
    ranking: Comparison,
) -> tuple[Drawing, tuple[float, float]]:
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

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.set_axis_off()
        margin = 0.42 * (high - low)
        axes.set_xlim(low - margin, high + margin)
        axes.set_ylim(-depth, 0.75)
        axes.plot([low, high], [0, 0], color=INK, lw=0.8)
        for tick in range(low, high + 1):
            axes.plot([tick, tick], [0, 0.07], color=INK, lw=0.8)
            axes.text(tick, 0.11, str(tick), ha="center", va="bottom", size=8)
        end = low + ranking.distance
        axes.plot([low, end], [0.5, 0.5], color=ORANGE, lw=2, solid_capstyle="butt")
        axes.text(
            (low + end) / 2,
            0.55,
            f"critical difference {ranking.distance:.2f}",
            ha="center",
            va="bottom",
            size=8,
        )
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
            x = low - 0.3 if is_left else high + 0.3
            axes.plot([rank, rank, x], [0, y, y], color=GREY, lw=0.6)
            axes.plot([rank], [0], "o", color=INK, ms=3)
            side = "right" if is_left else "left"
            shift = -0.1 if is_left else 0.1
            label = f"{name}  {rank:.2f}" if is_left else f"{rank:.2f}  {name}"
            axes.text(x + shift, y, label, ha=side, va="center", size=8.5)

    return draw, (7.5, 0.9 + 0.85 * depth)


def accuracy_dots(summaries: Sequence[Summary]) -> tuple[Drawing, tuple[float, float]]:
    """Return published and our accuracies, a panel for each method of the paper.

    Parameters
    ----------
    summaries : sequence of Summary
        Of Table 3.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    methods = [
        name
        for name in names_in(summaries, "method", paper.TABLE3_METHODS)
        if name in paper.TABLE3_METHODS
    ]
    datasets = names_in(summaries, "data", paper.SMALL)
    index = {(each.data, each.method): each.mean("acc") for each in summaries}
    n_columns = min(4, max(1, len(methods)))
    n_rows = max(1, -(-len(methods) // n_columns))

    def draw(figure: Figure) -> None:
        grid = figure.subplots(
            n_rows, n_columns, sharex=True, sharey=True, squeeze=False
        )
        for axes in grid.flat[len(methods) :]:
            axes.set_visible(False)
        for axes, method in zip(grid.flat, methods, strict=False):
            for y, name in enumerate(datasets):
                ours = index.get((name, method))
                printed = paper.TABLE3.get(name, {}).get(method)
                if ours is not None and printed is not None:
                    axes.plot([printed.mean, ours], [y, y], color="#bbbbbb", lw=1.2)
                if printed is not None:
                    axes.plot(printed.mean, y, "o", mfc="white", mec=ORANGE, ms=5)
                if ours is not None:
                    axes.plot(ours, y, "o", color=BLUE, ms=4.5)
            axes.set_title(method)
            axes.grid(axis="x", color="#e5e5e5", lw=0.6)
            axes.set_axisbelow(True)
            axes.tick_params(axis="y", length=0)
        grid[0, 0].set_yticks(range(len(datasets)), datasets)
        grid[0, 0].set_ylim(len(datasets) - 0.5, -0.5)
        grid[0, 0].set_xlim(right=1.02)
        from matplotlib.lines import Line2D

        keys = [
            Line2D([], [], ls="", marker="o", mfc="white", mec=ORANGE, ms=5),
            Line2D([], [], ls="", marker="o", color=BLUE, ms=4.5),
        ]
        figure.legend(keys, ["published", "ours"], loc="outside upper right", ncols=2)
        figure.supxlabel("accuracy on the test half", size=9)

    return draw, (2.0 * n_columns + 1.2, n_rows * (0.5 + 0.19 * len(datasets)) + 0.6)


def eps_curves(summaries: Sequence[Summary]) -> tuple[Drawing, tuple[float, float]]:
    """Return Figure 2: accuracy and time against eps.

    Parameters
    ----------
    summaries : sequence of Summary
        Of Figure 2.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    looks = dict(zip(paper.FIG2_DATA, ((ORANGE, "o"), (BLUE, "s")), strict=True))

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2)
        for name in names_in(summaries, "data", paper.FIG2_DATA):
            color, marker = looks.get(name, (GREEN, "^"))
            own = sorted(
                (each for each in summaries if each.data == name and each.records),
                key=lambda each: dict(each.settings)["eps"],
            )
            x = [dict(each.settings)["eps"] for each in own]
            accuracy = [np.array(each.values("acc")) for each in own]
            seconds = [np.array(each.values("fit_s")) for each in own]
            middles = [v.mean() for v in accuracy], [np.median(v) for v in seconds]
            bands = (
                (
                    [v.mean() - v.std() for v in accuracy],
                    [v.mean() + v.std() for v in accuracy],
                ),
                ([v.min() for v in seconds], [v.max() for v in seconds]),
            )
            for axes, middle, band in zip(panels, middles, bands, strict=True):
                axes.plot(
                    x, middle, color=color, marker=marker, ms=4, lw=1.4, label=name
                )
                axes.fill_between(x, *band, color=color, alpha=0.15, lw=0)
        panels[0].set_title("accuracy on the test half")
        panels[1].set_title("seconds of one fit")
        panels[1].set_yscale("log")
        for axes in panels:
            axes.set_xscale("log")
            axes.set_xlabel("inexact parameter eps")
            axes.grid(color="#e5e5e5", lw=0.6)
        _legend(figure, panels[0])

    return draw, (7.5, 3.0)


def objective_curves(
    summaries: Sequence[Summary],
) -> tuple[Drawing, tuple[float, float]]:
    """Return Figure 3: the objective after each outer iteration.

    Parameters
    ----------
    summaries : sequence of Summary
        Of Figure 3.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    looks = {
        "CCCP-GD": (ORANGE, "s"),
        "CCICP-GD": (BLUE, "o"),
        "CCICP-SGD": (GREEN, "^"),
    }
    datasets = names_in(summaries, "data", paper.FIG3_DATA)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, max(1, len(datasets)), squeeze=False)[0]
        for axes, name in zip(panels, datasets, strict=False):
            everything: list[float] = []
            for method in names_in(summaries, "method", paper.FIG3_METHODS):
                color, marker = looks.get(method, (GREY, "."))
                for each in summaries:
                    if (each.data, each.method) == (name, method) and each.records:
                        curve = np.array(each.records[0]["curve"], dtype=float)
                        everything += curve[np.isfinite(curve)].tolist()
                        axes.plot(
                            curve,
                            color=color,
                            marker=marker,
                            ms=3.5,
                            lw=1.4,
                            label=method,
                        )
            if np.ptp(everything) > WIDE * max(1.0, abs(np.median(everything))):
                axes.set_yscale("symlog")
            axes.set_title(name)
            axes.set_xlabel("outer iteration")
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid(color="#e5e5e5", lw=0.6)
        panels[0].set_ylabel("objective F")
        _legend(figure, panels[0])

    return draw, (3.75 * max(1, len(datasets)), 3.0)


def _legend(figure: Figure, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels) or 1)


def figures_for(name: str, summaries: Sequence[Summary]) -> dict[str, dict[str, Any]]:
    """Return the figures of an experiment.

    Parameters
    ----------
    name : str
        Name of the experiment.
    summaries : sequence of Summary
        Of that experiment.

    Returns
    -------
    dict
        From a short name to "caption", "svg" and "png".
    """
    wanted: list[tuple[str, str, tuple[Drawing, tuple[float, float]]]] = []
    if name == "table3" and summaries:
        text = "Accuracy on the test half, published and ours, by method."
        wanted.append(("dots", text, accuracy_dots(summaries)))
        for short, ranking, whose in (
            ("cd", comparison(summaries), "our runs"),
            ("cd-published", published_comparison(), "the published accuracies"),
        ):
            text = (
                f"Mean ranks of {whose} over data sets; bars join methods that do not "
                "differ (Nemenyi's test at 5 %)."
            )
            if ranking is not None:
                wanted.append((short, text, critical_difference_diagram(ranking)))
    elif name == "fig1":
        for each in summaries:
            if each.records:
                text = f"{NAMES.get(each.data, each.data)}: a row for each subject."
                wanted.append((each.data, text, example_images(each)))
    elif name == "fig2" and summaries:
        text = (
            "CCICP-GD by eps: mean accuracy ± one standard deviation, median and range "
            "of the seconds of one fit."
        )
        wanted.append(("eps", text, eps_curves(summaries)))
    elif name == "fig3" and summaries:
        text = "The objective after each outer iteration, in the first run."
        wanted.append(("objective", text, objective_curves(summaries)))
    return {
        short: {"caption": text, **render(*drawing)} for short, text, drawing in wanted
    }
