"""Figures of the experiments of the paper, from summaries."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kreinlearn.pages.diagram import critical_difference_figure
from kreinlearn.pages.figures import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    GRID,
    NARROW,
    ORANGE,
    PAPER,
    Canvas,
    Drawing,
    Figure,
    powers_of_ten,
)
from kreinlearn.paper import published
from kreinlearn.paper.face_tables import NAMES, example_images
from kreinlearn.paper.summary import Summary, names_in
from kreinlearn.paper.table3 import comparison, published_comparison

WIDE = 100.0
"""Values that spread over this many times their size are drawn on a log scale."""


def accuracy_dots(summaries: Sequence[Summary], is_narrow: bool = False) -> Drawing:
    """Return published and our accuracies, a panel for each method of the paper.

    Parameters
    ----------
    summaries : sequence of Summary
        Of Table 3.
    is_narrow : bool
        Whether it is for a phone.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    methods = [
        name
        for name in names_in(summaries, "method", published.TABLE3_METHODS)
        if name in published.TABLE3_METHODS
    ]
    datasets = names_in(summaries, "data", published.TABLE3_DATA)
    index = {(each.data, each.method): each.mean("acc") for each in summaries}
    n_columns = min(2 if is_narrow else 4, max(1, len(methods)))
    n_rows = max(1, -(-len(methods) // n_columns))

    def draw(figure: Canvas) -> None:
        grid = figure.subplots(
            n_rows, n_columns, sharex=True, sharey=True, squeeze=False
        )
        for axes in grid.flat[len(methods) :]:
            axes.set_visible(False)
        for axes, method in zip(grid.flat, methods, strict=False):
            theirs = [_published(name, method) for name in datasets]
            ours = [index.get((name, method)) for name in datasets]
            pairs = np.array([theirs, ours], dtype=float)  # None becomes NaN
            places = np.arange(len(datasets))
            axes.hlines(places, *pairs, color=FAINT, lw=1.2)
            axes.plot(pairs[0], places, "o", mfc=PAPER, mec=ORANGE, ms=5)
            axes.plot(pairs[1], places, "o", color=BLUE, ms=4.5)
            axes.set_title(method)
            axes.grid(axis="x", color=GRID, lw=0.6)
            axes.set_axisbelow(True)
            axes.tick_params(axis="y", length=0)
        grid[0, 0].set_yticks(range(len(datasets)), datasets)
        grid[0, 0].set_ylim(len(datasets) - 0.5, -0.5)
        grid[0, 0].set_xlim(right=1.02)
        from matplotlib.lines import Line2D

        keys = [
            Line2D([], [], ls="", marker="o", mfc=PAPER, mec=ORANGE, ms=5),
            Line2D([], [], ls="", marker="o", color=BLUE, ms=4.5),
        ]
        figure.legend(keys, ["published", "ours"], loc="outside upper right", ncols=2)
        figure.supxlabel("accuracy on the test half", size=9)

    width = NARROW if is_narrow else 2.0 * n_columns + 1.2
    return draw, (width, n_rows * (0.5 + 0.19 * len(datasets)) + 0.6)


def eps_curves(summaries: Sequence[Summary], is_narrow: bool = False) -> Drawing:
    """Return Figure 2: accuracy and time against eps.

    Parameters
    ----------
    summaries : sequence of Summary
        Of Figure 2.
    is_narrow : bool
        Whether it is for a phone.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    looks = dict(zip(published.FIG2_DATA, ((ORANGE, "o"), (BLUE, "s")), strict=True))

    def draw(figure: Canvas) -> None:
        panels = figure.subplots(*((2, 1) if is_narrow else (1, 2)))
        for name in names_in(summaries, "data", published.FIG2_DATA):
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
        powers_of_ten(panels[1].yaxis)
        for axes in panels:
            axes.set_xscale("log")
            powers_of_ten(axes.xaxis)
            axes.set_xlabel("inexact parameter eps")
            axes.grid(color=GRID, lw=0.6)
        _legend(figure, panels[0])

    return draw, ((NARROW, 5.0) if is_narrow else (7.5, 3.0))


def objective_curves(summaries: Sequence[Summary], is_narrow: bool = False) -> Drawing:
    """Return Figure 3: the objective after each outer iteration.

    Parameters
    ----------
    summaries : sequence of Summary
        Of Figure 3.
    is_narrow : bool
        Whether it is for a phone.

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
    datasets = names_in(summaries, "data", published.FIG3_DATA)
    n_panels = max(1, len(datasets))

    def draw(figure: Canvas) -> None:
        shape = (n_panels, 1) if is_narrow else (1, n_panels)
        panels = figure.subplots(*shape, squeeze=False).ravel()
        for axes, name in zip(panels, datasets, strict=False):
            everything: list[float] = []
            for method in names_in(summaries, "method", published.FIG3_METHODS):
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
                powers_of_ten(axes.yaxis)
            axes.set_title(name)
            axes.set_xlabel("outer iteration")
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid(color=GRID, lw=0.6)
        panels[0].set_ylabel("objective F")
        _legend(figure, panels[0])

    size = (NARROW, 0.4 + 2.5 * n_panels) if is_narrow else (3.75 * n_panels, 3.0)
    return draw, size


def _published(data: str, method: str) -> float | None:
    printed = published.TABLE3.get(data, {}).get(method)
    return None if printed is None else printed.mean


def _legend(figure: Canvas, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels) or 1)


def figures_for(name: str, summaries: Sequence[Summary]) -> dict[str, Figure]:
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
        From a short name to a figure.
    """
    if name == "fig1":
        return {each.data: _faces_figure(each) for each in summaries if each.records}
    makers = {"table3": _table3_figures, "fig2": _fig2_figures, "fig3": _fig3_figures}
    return makers[name](summaries) if summaries and name in makers else {}


def _table3_figures(summaries: Sequence[Summary]) -> dict[str, Figure]:
    said = []
    for method in published.TABLE3_METHODS:
        pairs = [
            (published.TABLE3[each.data][method].mean, each.mean("acc"))
            for each in summaries
            if each.method == method and each.data in published.TABLE3
        ]
        known = [(theirs, ours) for theirs, ours in pairs if ours is not None]
        if known:
            theirs, ours = np.mean(known, axis=0)
            said.append(f"{method} {theirs:.3f} and {ours:.3f}")
    alt = f"Mean accuracy over data sets, published and ours: {'; '.join(said)}."
    found = {
        "dots": Figure(
            "Accuracy, published and ours",
            "Accuracy on the test half, published and ours, by method.",
            alt,
            accuracy_dots(summaries),
            accuracy_dots(summaries, is_narrow=True),
        )
    }
    for short, ranking, whose in (
        ("cd", comparison(summaries), "our runs"),
        ("cd-published", published_comparison(), "the published accuracies"),
    ):
        if ranking is not None:
            found[short] = critical_difference_figure(ranking, whose, "data sets")
    return found


def _faces_figure(summary: Summary) -> Figure:
    name = NAMES.get(summary.data, summary.data)
    rows, columns, *_ = summary.records[0]["shape"]
    return Figure(
        name,
        f"{name}: a row for each subject.",
        f"{rows} rows of {columns} gray images; each row is one subject.",
        example_images(summary),
        example_images(summary, NARROW),
    )


def _fig2_figures(summaries: Sequence[Summary]) -> dict[str, Figure]:
    said = []
    for name in names_in(summaries, "data", published.FIG2_DATA):
        own = [each for each in summaries if each.data == name and each.records]
        accuracy = [float(np.mean(each.values("acc"))) for each in own]
        seconds = [float(np.median(each.values("fit_s"))) for each in own]
        if own:
            said.append(
                f"{name}: accuracy between {min(accuracy):.3f} and "
                f"{max(accuracy):.3f}, seconds between {min(seconds):.3g} and "
                f"{max(seconds):.3g}"
            )
    return {
        "eps": Figure(
            "Accuracy and time by eps",
            "CCICP-GD by eps: mean accuracy ± one standard deviation, median and range "
            "of the seconds of one fit. The table has the numbers.",
            f"Curves over eps. {'; '.join(said)}.",
            eps_curves(summaries),
            eps_curves(summaries, is_narrow=True),
        )
    }


def _fig3_figures(summaries: Sequence[Summary]) -> dict[str, Figure]:
    said = []
    for each in summaries:
        if each.records:
            curve = [value for value in each.records[0]["curve"] if value is not None]
            said.append(
                f"{each.method} on {each.data} from {curve[0]:.3g} to {curve[-1]:.3g} "
                f"in {len(curve) - 1} iterations"
            )
    return {
        "objective": Figure(
            "The objective along the iterations",
            "The objective after each outer iteration, in the first run.",
            f"Curves of the objective: {'; '.join(said)}.",
            objective_curves(summaries),
            objective_curves(summaries, is_narrow=True),
        )
    }
