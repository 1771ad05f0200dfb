"""Drawings of findings: spectra, curves, scores. Nothing is computed here."""

import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from kreinlearn.pages.figures import (
    BLUE,
    FAINT,
    GREY,
    GRID,
    INK,
    LOOKS,
    NARROW,
    ORANGE,
    Canvas,
    Drawing,
    looks,
    plain,
    powers_of_ten,
)

FEW = 200
"""Eigenvalues that are drawn at most: one for every other pixel, more or less."""
WIDE = 100.0
"""Values that spread over this many times their size are drawn on a log scale."""

LEAST_SPAN = 0.1
"""Width of an axis of accuracies, lest a single sample look like a lot."""


def spectrum(places: Sequence[int], values: Sequence[float], note: str) -> Drawing:
    """Return eigenvalues in order, what is negative hatched and named.

    Parameters
    ----------
    places : sequence of int
        Ascending, from 1 for the largest.
    values : sequence of float
        The eigenvalues at these places.
    note : str
        What to write into the drawing.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    mu = np.asarray(values, dtype=float)
    kept = np.unique(np.linspace(0, len(mu) - 1, min(FEW, len(mu))).round().astype(int))
    place, shown = np.asarray(places)[kept], mu[kept]
    middle, top = float(np.median(np.abs(mu))), float(np.abs(mu).max())

    def draw(figure: Canvas) -> None:
        axes = figure.add_subplot()
        axes.fill_between(place, shown, where=shown >= 0, color=BLUE, lw=0, step="mid")
        axes.fill_between(
            place,
            shown,
            where=shown < 0,
            facecolor="none",
            edgecolor=ORANGE,
            hatch="//////",
            lw=0.8,
            step="mid",
        )
        if (mu < 0).any():
            first = float(place[shown < 0].min()) - 0.5
            axes.axvspan(first, places[-1] + 0.5, color=ORANGE, alpha=0.12, lw=0)
            text = f"negative part\nto {mu.min():.3g}".replace("-", "−")
            axes.text(0.98, 0.96, text, ha="right", va="top", transform=axes.transAxes)
        axes.axhline(0, color=INK, lw=0.8)
        if top > WIDE * max(middle, 1e-300):
            _signed_powers(axes, float(mu.min()), float(mu.max()), middle)
            axes.set_ylim(1.5 * min(0.0, mu.min()), 1.5 * max(0.0, mu.max()))
        axes.set_title(note)
        axes.set_xlim(0.5, places[-1] + 0.5)
        axes.set_xlabel("place of the eigenvalue, from the largest")
        axes.set_ylabel("eigenvalue")
        axes.grid(axis="y", color=GRID, lw=0.6)
        axes.set_axisbelow(True)

    return draw, (NARROW, 2.8)


def convergence(curves: Mapping[str, Mapping[str, Sequence[float]]]) -> Drawing:
    """Return how fits approach their ends, a panel for each measure.

    Parameters
    ----------
    curves : mapping
        Measure to name to values after each iteration.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    names = list(dict.fromkeys(name for own in curves.values() for name in own))

    def draw(figure: Canvas) -> None:
        style = dict(zip(names, looks(len(names)), strict=True))
        panels = figure.subplots(len(curves), 1, squeeze=False)[:, 0]
        for axes, (label, own) in zip(panels, curves.items(), strict=True):
            everything: list[float] = []
            for name, values in own.items():
                color, marker, line = style[name]
                y = np.array(values, dtype=float)
                everything += y[np.isfinite(y)].tolist()
                every = max(1, len(y) // 8)
                axes.plot(
                    y,
                    color=color,
                    ls=line,
                    marker=marker or None,
                    markevery=every,
                    ms=4,
                    lw=1.4,
                )
            spread = np.array(everything or [1.0])
            if (spread > 0).all() and spread.max() > 10 * spread.min():
                axes.set_yscale("log")
                powers_of_ten(axes.yaxis)
            elif np.ptp(spread) > WIDE * max(1.0, abs(float(np.median(spread)))):
                axes.set_yscale("symlog")
                powers_of_ten(axes.yaxis)
            axes.set_title(plain(label, 48))
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid(color=GRID, lw=0.6)
        panels[-1].set_xlabel("iteration")
        _legend(figure, names)

    return draw, (NARROW, 0.5 + 1.9 * len(curves) + _legend_height(names))


def roc(curves: Mapping[str, Mapping[str, Sequence[float]]]) -> Drawing:
    """Return ROC curves.

    Parameters
    ----------
    curves : mapping
        Name, as it is to be read, to "fpr" and "tpr".

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """

    def draw(figure: Canvas) -> None:
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=FAINT, lw=1)
        axes.text(0.99, 0.03, "on the line: by chance", ha="right", va="bottom")
        for curve, (color, _, line) in zip(
            curves.values(), looks(len(curves)), strict=True
        ):
            axes.plot(curve["fpr"], curve["tpr"], color=color, ls=line, lw=1.5)
        _unit_square(axes, "false positive rate", "true positive rate")
        _legend(figure, curves, markers=False)

    return draw, (NARROW, 3.4 + _legend_height(curves))


def reliability(curves: Mapping[str, Mapping[str, Sequence[float]]]) -> Drawing:
    """Return observed shares against predicted probabilities, and counts below.

    Parameters
    ----------
    curves : mapping
        Name to "predicted", "observed" and "count".

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """

    def draw(figure: Canvas) -> None:
        upper, lower = figure.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": (3, 1)}
        )
        upper.plot([0, 1], [0, 1], color=FAINT, lw=1)
        upper.text(0.99, 0.03, "on the line: as promised", ha="right", va="bottom")
        for curve, (color, marker, line) in zip(
            curves.values(), looks(len(curves)), strict=True
        ):
            look = {"color": color, "ls": line, "marker": marker or None, "ms": 4}
            upper.plot(curve["predicted"], curve["observed"], lw=1.4, **look)
            lower.plot(curve["predicted"], curve["count"], lw=1, **look)
        _unit_square(upper, "", "observed share")
        lower.set_xlabel("predicted probability")
        lower.set_ylabel("samples")
        lower.set_ylim(bottom=0)
        lower.grid(color=GRID, lw=0.6)
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

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """

    def draw(figure: Canvas) -> None:
        axes = figure.add_subplot()
        low, high = min(*null, observed), max(*null, observed)
        pad = 0.05 * (high - low) or 0.05
        edges = np.linspace(low - pad, high + pad, 26)
        axes.hist(null, bins=edges, color=FAINT, edgecolor=GREY, lw=0.5)
        axes.axvline(observed, color=ORANGE, lw=2, ls="--")
        axes.set_ylim(top=1.22 * axes.get_ylim()[1])
        is_right = observed > (low + high) / 2
        axes.annotate(
            f"observed {observed:+.3g} ".replace("-", "−"),
            (observed, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(-4 if is_right else 4, 0),
            textcoords="offset points",
            ha="right" if is_right else "left",
            va="top",
        )
        axes.set_xlabel(textwrap.fill(label, 42))
        axes.set_ylabel("permutations")
        axes.grid(axis="y", color=GRID, lw=0.6)
        axes.set_axisbelow(True)

    return draw, (NARROW, 2.6)


def accuracies(
    scores: Mapping[str, Mapping[str, Sequence[float]]], n_columns: int = 1
) -> Drawing:
    """Return the accuracy of each method: a tick for a fold, a diamond for the mean.

    Parameters
    ----------
    scores : mapping
        Data set to method to accuracies of folds.
    n_columns : int
        Panels beside each other.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    names = list(
        dict.fromkeys(name for own in scores.values() for name in own if own[name])
    )
    n_rows = -(-len(scores) // n_columns)

    def draw(figure: Canvas) -> None:
        grid = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False)
        for axes in grid.flat[len(scores) :]:
            axes.set_visible(False)
        for axes, (data, own) in zip(grid.flat, scores.items(), strict=False):
            means = {name: float(np.mean(own[name])) for name in own if own[name]}
            best = max(means.values(), default=0.0)
            for y, name in enumerate(names):
                if name not in means:
                    continue
                if len(own[name]) > 1:
                    axes.plot(own[name], [y] * len(own[name]), "|", color=GREY, ms=9)
                is_best = means[name] >= best
                color = BLUE if is_best else INK
                axes.plot(means[name], y, "D", color=color, ms=7 if is_best else 4.5)
            if len(scores) > 1:
                axes.set_title(plain(data))
            axes.grid(axis="both", color=GRID, lw=0.6)
            axes.set_axisbelow(True)
            low, high = axes.get_xlim()
            high = max(high, min((low + high + LEAST_SPAN) / 2, 1.01))
            axes.set_xlim(min(low, high - LEAST_SPAN), high)
            axes.locator_params(axis="x", nbins=4)
            axes.tick_params(axis="y", length=0)
        grid[0, 0].set_yticks(range(len(names)), [plain(name, 24) for name in names])
        grid[0, 0].set_ylim(len(names) - 0.5, -0.5)
        figure.supxlabel("accuracy on held-out samples", size=9)

    height = n_rows * (0.45 + 0.24 * max(2, len(names))) + 0.35
    return draw, (NARROW if n_columns == 1 else 1.6 + 2.6 * n_columns, height)


def _signed_powers(axes: Any, low: float, high: float, middle: float) -> None:
    """Scale an axis by powers of ten on both sides of zero, with room for each tick."""
    top = max(abs(low), high)
    least = int(np.floor(np.log10(max(middle, 1e-6 * top))))
    most = int(np.floor(np.log10(top)))
    step = -(-(most - least) // 4) or 1
    sizes = [10.0**power for power in range(most, least, -step)]
    axes.set_yscale("symlog", linthresh=10.0**least, linscale=0.4)
    ticks = [-size for size in sizes if -size >= low] + [0.0]
    axes.set_yticks(ticks + [size for size in sizes if size <= high])
    powers_of_ten(axes.yaxis)


def _unit_square(axes: Any, x: str, y: str) -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(color=GRID, lw=0.6)
    axes.set_axisbelow(True)


def _legend_height(names: Collection[str]) -> float:
    return 0.2 * min(len(names), len(LOOKS) + 1) + 0.1


def _legend(figure: Canvas, names: Collection[str], markers: bool = True) -> None:
    """Put the names below the axes, where none of them hides a curve."""
    from matplotlib.lines import Line2D

    labels = [plain(text, 44) for text in names]
    others = len(labels) - len(LOOKS)
    if others > 0:
        labels[len(LOOKS) :] = [f"{others} more; see the numbers"]
    keys = [
        Line2D([], [], color=color, ls=line, marker=marker if markers else "", ms=4)
        for color, marker, line in looks(len(labels))
    ]
    figure.legend(keys, labels, loc="outside lower left", ncols=1, labelspacing=0.3)
