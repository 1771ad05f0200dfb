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
from kreinlearn.app.report import colors
from kreinlearn.app.report.entries import signed
from kreinlearn.app.report.figures import COLUMN, Drawing, plain, powers_of_ten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Curve = Mapping[str, Sequence[float]]
Curves = Mapping[str, Curve]

MOST_DRAWN = 200
"""Eigenvalues that are drawn at most: one for every other pixel, more or less."""
WIDE_RANGE = 100.0
"""Values that spread over this many times their size are drawn on a log scale."""
MOST_COUNTED = 6
"""Classes of a confusion matrix above which it has no numbers."""


def evenly_spaced(count: int, most: int) -> Array:
    """Return at most so many of the positions below a count, both ends among them."""
    some = np.linspace(0, count - 1, min(count, most))
    return np.unique(some.round().astype(int))


def spectrum(places: Sequence[int], values: Sequence[float], note: str) -> Drawing:
    """Return eigenvalues in order on a symlog axis, the negative ones hatched.

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
    middle, lowest = float(np.median(np.abs(mu))), float(mu.min())
    # A tenth of the largest negative one is still seen as a bar.
    least = min(middle, -lowest / 10) if lowest < 0 else middle
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
            text = f"negative, down\nto {signed(lowest, '.3g')}"
            axes.text(0.98, 0.96, text, ha="right", va="top", transform=axes.transAxes)
        axes.axhline(0, color=colors.INK, lw=0.8)
        if (mu != 0).any():
            _signed_powers(axes, lowest, float(mu.max()), least)
            axes.set_ylim(2 * min(0.0, lowest), 2 * max(0.0, mu.max()))
        axes.set(
            xlabel="place of the eigenvalue, from the largest", ylabel="eigenvalue"
        )
        axes.set(title=note, xlim=(0.5, places[-1] + 0.5))
        axes.grid(axis="y")

    return draw, (COLUMN, 2.8)


def convergence(curves: Curves) -> Drawing:
    """Return how fits converge, one panel per measure.

    Parameters
    ----------
    curves : mapping
        Measure to name to values after each iteration.
    """
    names = list(dict.fromkeys(name for own in curves.values() for name in own))

    def draw(figure: "Canvas") -> None:
        style = dict(zip(names, colors.LOOKS[: len(names)], strict=True))
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

    return draw, (COLUMN, 0.5 + 1.9 * len(curves) + _legend_height(names))


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
        styles = colors.LOOKS[: len(curves)]
        for curve, (color, _, line) in zip(curves.values(), styles, strict=True):
            axes.plot(curve["fpr"], curve["tpr"], color=color, ls=line, lw=1.5)
        _legend(figure, curves, markers=False)

    return draw, (COLUMN, 3.4 + _legend_height(curves))


def reliability_curves(curves: Curves) -> Drawing:
    """Return observed frequencies against predicted probabilities, and counts below.

    Parameters
    ----------
    curves : mapping
        Name to "predicted", "observed" and "count", and the ends "low" and "high" of a
        band.
    """

    def draw(figure: "Canvas") -> None:
        upper, lower = figure.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": (3, 1)}
        )
        _unit_square(upper, "", "observed share", "diagonal: as predicted")
        styles = colors.LOOKS[: len(curves)]
        for curve, (color, marker, line) in zip(curves.values(), styles, strict=True):
            look = {"color": color, "ls": line, "marker": marker or None, "ms": 4}
            ends = curve["predicted"], curve["low"], curve["high"]
            upper.fill_between(*ends, color=color, alpha=0.15, lw=0)
            upper.plot(curve["predicted"], curve["observed"], lw=1.4, **look)
            lower.plot(curve["predicted"], curve["count"], lw=1, **look)
        lower.set(xlabel="predicted probability", ylabel="samples")
        lower.set_ylim(bottom=0)
        lower.grid()
        _legend(figure, curves)

    return draw, (COLUMN, 4.3 + _legend_height(curves))


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

    return draw, (COLUMN, 2.6)


def confusion(
    counts: Mapping[str, Sequence[Sequence[int]]], classes: Sequence[str]
) -> Drawing:
    """Return how many samples of each class were given which class.

    Parameters
    ----------
    counts : mapping
        Name to counts, true classes in rows; the stronger the color, the larger the
        share of a row.
    classes : sequence of str
        Names of the classes.
    """
    k = len(classes)
    is_told = k <= MOST_COUNTED
    shown = [plain(name, 10) for name in classes]

    def draw(figure: "Canvas") -> None:
        panels = figure.subplots(1, len(counts), sharey=True, squeeze=False)[0]
        for axes, (name, rows) in zip(panels, counts.items(), strict=True):
            for i, row in enumerate(rows):
                for j, count in enumerate(row):
                    look = {
                        "color": colors.BLUE,
                        "alpha": 0.6 * count / max(sum(row), 1),
                    }
                    axes.fill_between(
                        [j - 0.5, j + 0.5], i - 0.5, i + 0.5, lw=0, **look
                    )
                    if is_told:
                        axes.text(j, i, str(count), ha="center", va="center")
            axes.set_title("\n".join(textwrap.wrap(plain(name, 36), 18)))
            axes.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
            ticks = range(k) if is_told else []
            axes.set_xticks(ticks, shown if is_told else [], rotation=90 * (k > 2))
            axes.set_yticks(ticks, shown if is_told else [])
            axes.tick_params(length=0)
        panels[0].set_ylabel("true class")
        figure.supxlabel("predicted class", size=9)

    return draw, (COLUMN, 2.4)


def _signed_powers(axes: "Axes", low: float, high: float, small: float) -> None:
    """Scale an axis by powers of ten on both sides of zero, not too densely."""
    top = max(abs(low), high)
    least = int(np.floor(np.log10(max(small, 1e-6 * top))))
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
    return 0.2 * len(names) + 0.1


def _legend(figure: "Canvas", names: Collection[str], markers: bool = True) -> None:
    """Put the names below the axes, where none of them hides a curve."""
    from matplotlib.lines import Line2D

    labels = [plain(text, 44) for text in names]
    keys = [
        Line2D([], [], color=color, ls=line, marker=marker if markers else "", ms=4)
        for color, marker, line in colors.LOOKS[: len(labels)]
    ]
    figure.legend(keys, labels, loc="outside lower left", ncols=1, labelspacing=0.3)
