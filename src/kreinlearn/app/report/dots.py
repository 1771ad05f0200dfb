"""Dot plots: one row per method, on one axis for all. Nothing is computed here."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn.app.report import colors
from kreinlearn.app.report.figures import COLUMN, Drawing, plain
from kreinlearn.app.report.plots import Curve, Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LEAST_SPAN = 0.1
"""Width of an axis of accuracies, lest a single sample look like a lot."""


def accuracies(scores: Curves, intervals: Curves, n_columns: int = 1) -> Drawing:
    """Return the accuracy of each method: a tick per fold, a diamond for the mean.

    Parameters
    ----------
    scores : mapping
        Data set to method to accuracies of folds.
    intervals : mapping
        Data set to method to the ends of a line through the diamond, if there is one.
    n_columns : int
        Number of panels side by side.
    """
    scored = (name for own in scores.values() for name in own if own[name])
    names = list(dict.fromkeys(scored))
    n_rows = -(-len(scores) // n_columns)

    def draw(figure: "Canvas") -> None:
        grid = figure.subplots(
            n_rows, n_columns, sharex=True, sharey=True, squeeze=False
        )
        for axes in grid.flat[len(scores) :]:
            axes.set_visible(False)
        for axes, (data, own) in zip(grid.flat, scores.items(), strict=False):
            _dots(axes, names, own, intervals.get(data, {}))
            if len(scores) > 1:
                axes.set_title(plain(data))
        _widen(grid[0, 0])
        name_rows(grid[0, 0], [plain(name, 24) for name in names])
        figure.supxlabel("accuracy on held-out samples", size=9)

    height = n_rows * (0.45 + 0.24 * max(2, len(names))) + 0.35
    return draw, (COLUMN if n_columns == 1 else 1.6 + 2.6 * n_columns, height)


def _dots(axes: "Axes", names: Sequence[str], scores: Curve, intervals: Curve) -> None:
    means = {name: float(np.mean(own)) for name, own in scores.items() if own}
    best = max(means.values(), default=0.0)
    for y, name in enumerate(names):
        if name not in means:
            continue
        own = scores[name]
        if len(own) > 1:
            axes.plot(own, [y] * len(own), "|", color=colors.GREY, ms=9)
        color, size = (colors.BLUE, 7.0) if means[name] >= best else (colors.INK, 4.5)
        if name in intervals:
            axes.plot(intervals[name], [y, y], color=color, lw=1.5)
        axes.plot(means[name], y, "D", color=color, ms=size)
    axes.grid()
    axes.tick_params(axis="y", length=0)


def _widen(axes: "Axes") -> None:
    """Give an axis of accuracies a least width, below one."""
    low, high = axes.get_xlim()
    high = max(high, min((low + high + LEAST_SPAN) / 2, 1.01))
    axes.set_xlim(min(low, high - LEAST_SPAN), high)
    axes.locator_params(axis="x", nbins=4)


def differences(gaps: Curve, label: str) -> Drawing:
    """Return how far each method is from the best one, with intervals.

    Parameters
    ----------
    gaps : mapping
        Name to mean difference, and the ends of its interval if there is one.
    label : str
        What the axis shows.
    """

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        axes.axvline(0, color=colors.GREY, lw=1)
        for y, (mean, *ends) in enumerate(gaps.values()):
            is_apart = bool(ends) and not min(ends) <= 0 <= max(ends)
            color = colors.ORANGE if is_apart else colors.BLUE
            if ends:
                axes.plot(ends, [y, y], color=color, lw=1.5)
            fill = color if is_apart else colors.PAPER
            axes.plot(mean, y, "D", mec=color, mfc=fill, ms=5.5)
        name_rows(axes, [plain(name, 28) for name in gaps])
        axes.set_xlabel(textwrap.fill(plain(label, 90), 46))
        axes.locator_params(axis="x", nbins=5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")

    return draw, (COLUMN, 0.8 + 0.24 * max(2, len(gaps)))


def name_rows(axes: "Axes", names: Sequence[str]) -> None:
    """Write names at 0, 1, ..., from top to bottom, in place of numbers."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
