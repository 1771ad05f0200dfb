"""Drawings of findings: spectra, curves, scores. Nothing is computed here.

Each function returns a `Drawing`: a function that draws on an empty figure, and width
and height in inches.
"""

import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._typing import Array
from kreinlearn.pages import colors
from kreinlearn.pages.entries import signed
from kreinlearn.pages.figures import NARROW, Drawing, plain, powers_of_ten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Curve = Mapping[str, Sequence[float]]
Curves = Mapping[str, Curve]

MOST_DRAWN = 200
"""Eigenvalues that are drawn at most: one for every other pixel, more or less."""
WIDE_RANGE = 100.0
"""Values that spread over this many times their size are drawn on a log scale."""
LEAST_SPAN = 0.1
"""Width of an axis of accuracies, lest a single sample look like a lot."""


def evenly_spaced(count: int, most: int) -> Array:
    """Return at most so many of the positions below a count, both ends among them."""
    some = np.linspace(0, count - 1, min(count, most))
    return np.unique(some.round().astype(int))


def spectrum(places: Sequence[int], values: Sequence[float], note: str) -> Drawing:
    """Return eigenvalues in order, the negative ones hatched and named.

    Parameters
    ----------
    places : sequence of int
        Ascending, from 1 for the largest.
    values : sequence of float
        The eigenvalues at these places.
    note : str
        Title of the drawing.
    """
    mu = np.asarray(values, dtype=float)
    kept = evenly_spaced(len(mu), MOST_DRAWN)
    place, shown = np.asarray(places)[kept], mu[kept]
    middle, top = float(np.median(np.abs(mu))), float(np.abs(mu).max())
    filled: dict[str, Any] = {"color": colors.BLUE, "lw": 0}
    hatched: dict[str, Any] = {"facecolor": "none", "edgecolor": colors.ORANGE}
    hatched |= {"hatch": "//////", "lw": 0.8}

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        for where, look in ((shown >= 0, filled), (shown < 0, hatched)):
            axes.fill_between(place, shown, where=where, step="mid", **look)
        if (mu < 0).any():
            first = float(place[shown < 0].min()) - 0.5
            axes.axvspan(first, places[-1] + 0.5, color=colors.ORANGE, alpha=0.12, lw=0)
            text = f"negative part\nto {signed(mu.min(), '.3g')}"
            axes.text(0.98, 0.96, text, ha="right", va="top", transform=axes.transAxes)
        axes.axhline(0, color=colors.INK, lw=0.8)
        if top > WIDE_RANGE * max(middle, 1e-300):
            _signed_powers(axes, float(mu.min()), float(mu.max()), middle)
            axes.set_ylim(1.5 * min(0.0, mu.min()), 1.5 * max(0.0, mu.max()))
        axes.set(
            xlabel="place of the eigenvalue, from the largest", ylabel="eigenvalue"
        )
        axes.set(title=note, xlim=(0.5, places[-1] + 0.5))
        axes.grid(axis="y")

    return draw, (NARROW, 2.8)


def convergence(curves: Curves) -> Drawing:
    """Return how fits converge, one panel per measure.

    Parameters
    ----------
    curves : mapping
        Measure to name to values after each iteration.
    """
    names = list(dict.fromkeys(name for own in curves.values() for name in own))

    def draw(figure: "Canvas") -> None:
        style = dict(zip(names, colors.looks(len(names)), strict=True))
        panels = figure.subplots(len(curves), 1, squeeze=False)[:, 0]
        for axes, (label, own) in zip(panels, curves.items(), strict=True):
            for name, values in own.items():
                color, marker, line = style[name]
                every = max(1, len(values) // 8)
                look = {"marker": marker or None, "markevery": every, "ms": 4}
                axes.plot(
                    np.array(values, dtype=float), color=color, ls=line, lw=1.4, **look
                )
            scale_by_range(axes, own.values(), is_log=True)
            axes.set_title(plain(label, 48))
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid()
        panels[-1].set_xlabel("iteration")
        _legend(figure, names)

    return draw, (NARROW, 0.5 + 1.9 * len(curves) + _legend_height(names))


def scale_by_range(
    axes: "Axes", curves: Iterable[ArrayLike], is_log: bool = False
) -> None:
    """Give an axis of values a log or symlog scale if their range asks for one.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where the curves are drawn.
    curves : iterable of array-like
        Their values; None and infinite ones do not count.
    is_log : bool
        Whether positive values over more than a factor of ten get a log scale.
    """
    values = np.concatenate([np.array(curve, dtype=float) for curve in curves])
    finite = values[np.isfinite(values)]
    spread = finite if finite.size else np.ones(1)
    if is_log and (spread > 0).all() and spread.max() > 10 * spread.min():
        scale = "log"
    elif np.ptp(spread) > WIDE_RANGE * max(1.0, abs(float(np.median(spread)))):
        scale = "symlog"
    else:
        return
    axes.set_yscale(scale)
    powers_of_ten(axes.yaxis)


def roc(curves: Curves) -> Drawing:
    """Return ROC curves.

    Parameters
    ----------
    curves : mapping
        Name, as it is to be read, to "fpr" and "tpr".
    """

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        rates = ("false positive rate", "true positive rate")
        _unit_square(axes, *rates, "diagonal: chance")
        styles = colors.looks(len(curves))
        for curve, (color, _, line) in zip(curves.values(), styles, strict=True):
            axes.plot(curve["fpr"], curve["tpr"], color=color, ls=line, lw=1.5)
        _legend(figure, curves, markers=False)

    return draw, (NARROW, 3.4 + _legend_height(curves))


def reliability_curves(curves: Curves) -> Drawing:
    """Return observed frequencies against predicted probabilities, and counts below.

    Parameters
    ----------
    curves : mapping
        Name to "predicted", "observed" and "count".
    """

    def draw(figure: "Canvas") -> None:
        upper, lower = figure.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": (3, 1)}
        )
        _unit_square(upper, "", "observed share", "diagonal: as predicted")
        styles = colors.looks(len(curves))
        for curve, (color, marker, line) in zip(curves.values(), styles, strict=True):
            look = {"color": color, "ls": line, "marker": marker or None, "ms": 4}
            upper.plot(curve["predicted"], curve["observed"], lw=1.4, **look)
            lower.plot(curve["predicted"], curve["count"], lw=1, **look)
        lower.set(xlabel="predicted probability", ylabel="samples")
        lower.set_ylim(bottom=0)
        lower.grid()
        _legend(figure, curves)

    return draw, (NARROW, 4.3 + _legend_height(curves))


def permutations(null: Sequence[float], observed: float, label: str) -> Drawing:
    """Return a histogram of what chance gives, with the observed value marked.

    Parameters
    ----------
    null : sequence of float
        Values under permutations.
    observed : float
        The value without one.
    label : str
        What is counted, for the axis.
    """

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        low, high = min(*null, observed), max(*null, observed)
        pad = 0.05 * (high - low) or 0.05
        edges = np.linspace(low - pad, high + pad, 26).tolist()
        axes.hist(null, bins=edges, color=colors.FAINT, edgecolor=colors.GREY, lw=0.5)
        axes.axvline(observed, color=colors.ORANGE, lw=2, ls="--")
        axes.set_ylim(top=1.22 * axes.get_ylim()[1])
        is_right = observed > (low + high) / 2
        axes.annotate(
            f"observed {signed(observed, '+.3g')} ",
            (observed, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(-4 if is_right else 4, 0),
            textcoords="offset points",
            ha="right" if is_right else "left",
            va="top",
        )
        axes.set(xlabel=textwrap.fill(label, 42), ylabel="permutations")
        axes.grid(axis="y")

    return draw, (NARROW, 2.6)


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
        grid = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False)
        for axes in grid.flat[len(scores) :]:
            axes.set_visible(False)
        for axes, (data, own) in zip(grid.flat, scores.items(), strict=False):
            _dots(axes, names, own, intervals.get(data, {}))
            if len(scores) > 1:
                axes.set_title(plain(data))
        name_rows(grid[0, 0], [plain(name, 24) for name in names])
        figure.supxlabel("accuracy on held-out samples", size=9)

    height = n_rows * (0.45 + 0.24 * max(2, len(names))) + 0.35
    return draw, (NARROW if n_columns == 1 else 1.6 + 2.6 * n_columns, height)


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
    low, high = axes.get_xlim()
    high = max(high, min((low + high + LEAST_SPAN) / 2, 1.01))
    axes.set_xlim(min(low, high - LEAST_SPAN), high)
    axes.locator_params(axis="x", nbins=4)
    axes.tick_params(axis="y", length=0)


def name_rows(axes: "Axes", names: Sequence[str]) -> None:
    """Write names at 0, 1, ..., from top to bottom, in place of numbers."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _signed_powers(axes: "Axes", low: float, high: float, middle: float) -> None:
    """Scale an axis by powers of ten on both sides of zero, not too densely."""
    top = max(abs(low), high)
    least = int(np.floor(np.log10(max(middle, 1e-6 * top))))
    most = int(np.floor(np.log10(top)))
    step = -(-(most - least) // 4) or 1
    sizes = [10.0**power for power in range(most, least, -step)]
    axes.set_yscale("symlog", linthresh=10.0**least, linscale=0.4)
    ticks = [-size for size in sizes if -size >= low] + [0.0]
    axes.set_yticks(ticks + [size for size in sizes if size <= high])
    powers_of_ten(axes.yaxis)


def _unit_square(axes: "Axes", x: str, y: str, diagonal: str) -> None:
    """Prepare axes from 0 to 1 with a named diagonal."""
    axes.plot([0, 1], [0, 1], color=colors.FAINT, lw=1)
    axes.text(0.99, 0.03, diagonal, ha="right", va="bottom")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x, ylabel=y)
    axes.grid()


def _legend_height(names: Collection[str]) -> float:
    return 0.2 * min(len(names), len(colors.LOOKS) + 1) + 0.1


def _legend(figure: "Canvas", names: Collection[str], markers: bool = True) -> None:
    """Put the names below the axes, where none of them hides a curve."""
    from matplotlib.lines import Line2D

    labels = [plain(text, 44) for text in names]
    others = len(labels) - len(colors.LOOKS)
    if others > 0:
        labels[len(colors.LOOKS) :] = [f"{others} more; see the numbers"]
    keys = [
        Line2D([], [], color=color, ls=line, marker=marker if markers else "", ms=4)
        for color, marker, line in colors.looks(len(labels))
    ]
    figure.legend(keys, labels, loc="outside lower left", ncols=1, labelspacing=0.3)
