"""Figures of the experiments of the paper, from summaries."""

import base64
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.app.report import (
    PHONE_INCHES,
    Color,
    Drawing,
    Figure,
    label_powers_of_ten,
    label_rows,
)
from reproduction import published
from reproduction.evidence import Evidence, gather_evidence
from reproduction.methods import LETTER_SUFFIX
from reproduction.ranks import make_ranking_figure
from reproduction.summary import Summary, list_names, sort_summaries
from reproduction.table3 import (
    PRINTED_ACCURACIES,
    rank_our_methods,
    rank_published_methods,
)
from reproduction.tables import IMAGE_SETS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

DATA_LOOKS = dict(
    zip(published.FIG2_DATA, ((Color.ORANGE, "o"), (Color.BLUE, "s")), strict=True)
)
METHOD_LOOKS = {
    "CCCP-GD": (Color.ORANGE, "s"),
    "CCICP-GD": (Color.BLUE, "o"),
    "CCICP-SGD": (Color.GREEN, "^"),
}
"""Color and marker."""
WIDE_RANGE = 100.0
"""Range of values relative to their median that needs a log scale."""
COMPARED_READINGS = (
    ("CCICP-GD", "GD: step, mean, mean", "GD: outer, sum, mean, 100"),
    ("CCICP-SGD", "SGD: step, mean, mean", "SGD: outer, mean, mean, 100"),
)
"""The letter and the chosen reading of each procedure."""


def make_figures(name: str, summaries: Sequence[Summary]) -> dict[str, Figure]:
    """Return the figures of an experiment, by a short name.

    Parameters
    ----------
    name : str
        Name of the experiment.
    summaries : sequence of Summary
        Of that experiment.
    """
    makers = {
        "table3": _make_accuracy_figures,
        "fig1": _make_face_figures,
        "fig2": _make_eps_figures,
        "fig3": _make_objective_figures,
        "readings": make_reading_figures,
    }
    return makers[name](summaries) if summaries and name in makers else {}


def _make_accuracy_figures(summaries: Sequence[Summary]) -> dict[str, Figure]:
    parts = []
    for method in published.TABLE3_METHODS:
        pairs = [
            (published.TABLE3[each.data][method].mean, each.mean("acc"))
            for each in summaries
            if each.method == method and each.data in published.TABLE3
        ]
        known = [(theirs, ours) for theirs, ours in pairs if ours is not None]
        if known:
            theirs, ours = np.mean(known, axis=0)
            parts.append(f"{method} {theirs:.3f} and {ours:.3f}")
    found = {
        "dots": Figure(
            "Accuracy, published and ours",
            "Accuracy on the test half, published and ours, by method.",
            f"Mean accuracy over data sets, published and ours: {'; '.join(parts)}.",
            _draw_accuracy_dots(summaries),
            _draw_accuracy_dots(summaries, is_narrow=True),
        )
    }
    for short, ranking, whose in (
        ("cd", rank_our_methods(summaries), "our runs"),
        ("cd-published", rank_published_methods(), "the published accuracies"),
    ):
        if ranking is not None:
            found[short] = make_ranking_figure(ranking, whose, "data sets")
    return found


def _draw_accuracy_dots(
    summaries: Sequence[Summary], is_narrow: bool = False
) -> Drawing:
    """Return published and our accuracies, one panel per method of the paper."""
    present = {each.method for each in summaries}
    methods = [name for name in published.TABLE3_METHODS if name in present]
    datasets = list_names(summaries, "data", published.TABLE3_DATA)
    ours = {(each.data, each.method): each.mean("acc") for each in summaries}
    theirs = {cell: spread.mean for cell, spread in PRINTED_ACCURACIES.items()}
    n_columns = min(2 if is_narrow else 4, max(1, len(methods)))
    n_rows = max(1, -(-len(methods) // n_columns))

    def draw(figure: "Canvas") -> None:
        shape = (n_rows, n_columns)
        grid = figure.subplots(*shape, sharex=True, sharey=True, squeeze=False)
        for axes in grid.flat[len(methods) :]:
            axes.set_visible(False)
        hollow = {"mfc": Color.PAPER, "mec": Color.ORANGE, "ms": 5}
        filled = {"color": Color.BLUE, "ms": 4.5}
        for axes, method in zip(grid.flat, methods, strict=False):
            cells = [(name, method) for name in datasets]
            pairs = [[own.get(cell) for cell in cells] for own in (theirs, ours)]
            left, right = np.array(pairs, dtype=float)  # None becomes NaN
            places = np.arange(len(datasets))
            axes.hlines(places, left, right, color=Color.FAINT, lw=1.2)
            axes.plot(left, places, "o", label="published", **hollow)
            axes.plot(right, places, "o", label="ours", **filled)
            axes.set_title(method)
            axes.grid(axis="x")
            axes.tick_params(axis="y", length=0)
        label_rows(grid[0, 0], datasets)
        grid[0, 0].set_xlim(right=1.02)
        _draw_legend(figure, grid[0, 0])
        figure.supxlabel("accuracy on the test half", size=9)

    width = PHONE_INCHES if is_narrow else 2.0 * n_columns + 1.2
    return draw, (width, n_rows * (0.5 + 0.19 * len(datasets)) + 0.6)


def _make_face_figures(summaries: Sequence[Summary]) -> dict[str, Figure]:
    found = {}
    for each in summaries:
        if each.records:
            name = IMAGE_SETS.get(each.data, each.data)
            rows, columns, *_ = each.records[0]["shape"]
            found[each.data] = Figure(
                name,
                f"{name}: one row per subject.",
                f"{rows} rows of {columns} gray images; each row is one subject.",
                _draw_example_images(each, 6.0),
                _draw_example_images(each, PHONE_INCHES),
            )
    return found


def _draw_example_images(summary: Summary, width: float) -> Drawing:
    """Return Figure 1, a grid of images, in so many inches."""
    record = summary.records[0]
    rows, columns, h, w = record["shape"]
    raw = zlib.decompress(base64.b64decode(record["pixels"]))
    gap = max(1, h // 16)
    # Masked pixels are not drawn: gaps have the color of the page.
    sheet = np.ma.masked_all((rows, columns, h + gap, w + gap), np.uint8)
    sheet[:, :, :h, :w] = np.frombuffer(raw, np.uint8).reshape(rows, columns, h, w)
    sheet = sheet.transpose(0, 2, 1, 3).reshape(rows * (h + gap), columns * (w + gap))
    sheet = sheet[:-gap, :-gap]

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        axes.imshow(sheet, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        axes.set_axis_off()

    return draw, (width, width * sheet.shape[0] / sheet.shape[1])


def _make_eps_figures(summaries: Sequence[Summary]) -> dict[str, Figure]:
    found = {}
    for method in list_names(summaries, "method", published.FIG2_METHODS):
        own = [each for each in summaries if each.method == method]
        short = "eps-as-printed" if method.endswith(LETTER_SUFFIX) else "eps"
        found[short] = _make_eps_figure(method, own)
    return found


def _make_eps_figure(method: str, summaries: Sequence[Summary]) -> Figure:
    parts = []
    for name in list_names(summaries, "data", published.FIG2_DATA):
        own = [each for each in summaries if each.data == name and each.records]
        accuracy = [float(np.mean(each.values("acc"))) for each in own]
        seconds = [float(np.median(each.values("fit_s"))) for each in own]
        if own:
            parts.append(
                f"{name}: accuracy between {min(accuracy):.3f} and "
                f"{max(accuracy):.3f}, seconds between {min(seconds):.3g} and "
                f"{max(seconds):.3g}"
            )
    return Figure(
        f"{method}: accuracy and time by eps",
        f"{method} by eps: mean accuracy ± one standard deviation, median and range "
        "of the seconds of one fit. The table has the numbers.",
        f"Curves over eps. {'; '.join(parts)}.",
        _draw_eps_curves(summaries),
        _draw_eps_curves(summaries, is_narrow=True),
    )


def _draw_eps_curves(summaries: Sequence[Summary], is_narrow: bool = False) -> Drawing:
    """Return Figure 2: accuracy and time against eps."""

    def draw(figure: "Canvas") -> None:
        panels = figure.subplots(*((2, 1) if is_narrow else (1, 2)))
        for name in list_names(summaries, "data", published.FIG2_DATA):
            color, marker = DATA_LOOKS.get(name, (Color.GREEN, "^"))
            own = [each for each in summaries if each.data == name and each.records]
            own.sort(key=lambda each: each.settings["eps"])
            x = [each.settings["eps"] for each in own]
            accuracy, seconds = (
                [np.array(each.values(key)) for each in own] for key in ("acc", "fit_s")
            )
            curves = (
                [(v.mean(), v.mean() - v.std(), v.mean() + v.std()) for v in accuracy],
                [(np.median(v), v.min(), v.max()) for v in seconds],
            )
            look = {"color": color, "marker": marker, "ms": 4, "lw": 1.4, "label": name}
            for axes, points in zip(panels, curves, strict=True):
                middle, low, high = np.reshape(points, (-1, 3)).T
                axes.plot(x, middle, **look)
                axes.fill_between(x, low, high, color=color, alpha=0.15, lw=0)
        panels[0].set_title("accuracy on the test half")
        panels[1].set_title("seconds of one fit")
        panels[1].set_yscale("log")
        label_powers_of_ten(panels[1].yaxis)
        for axes in panels:
            axes.set_xscale("log")
            label_powers_of_ten(axes.xaxis)
            axes.set_xlabel("inexact parameter eps")
            axes.grid()
        _draw_legend(figure, panels[0])

    return draw, ((PHONE_INCHES, 5.0) if is_narrow else (7.5, 3.0))


def _make_objective_figures(summaries: Sequence[Summary]) -> dict[str, Figure]:
    letter = [each for each in summaries if each.method.endswith(LETTER_SUFFIX)]
    reading = [each for each in summaries if each not in letter]
    return {
        short: _make_objective_figure(title, own)
        for short, title, own in (
            ("objective", "The objective over the iterations", reading),
            ("objective-as-printed", "The same, as printed", letter),
        )
        if own
    }


def _make_objective_figure(title: str, summaries: Sequence[Summary]) -> Figure:
    parts = []
    for each in summaries:
        if each.records:
            curve = [value for value in each.records[0]["curve"] if value is not None]
            parts.append(
                f"{each.method} on {each.data} from {curve[0]:.3g} to {curve[-1]:.3g} "
                f"in {len(curve) - 1} iterations"
            )
    return Figure(
        title,
        "The objective after each outer iteration, in the first run.",
        f"Curves of the objective: {'; '.join(parts)}.",
        _draw_objective_curves(summaries),
        _draw_objective_curves(summaries, is_narrow=True),
    )


def _draw_objective_curves(
    summaries: Sequence[Summary], is_narrow: bool = False
) -> Drawing:
    """Return Figure 3: the objective after each outer iteration."""
    datasets = list_names(summaries, "data", published.FIG3_DATA)
    n_panels = max(1, len(datasets))

    def draw(figure: "Canvas") -> None:
        shape = (n_panels, 1) if is_narrow else (1, n_panels)
        panels = figure.subplots(*shape, squeeze=False).ravel()
        for axes, name in zip(panels, datasets, strict=False):
            own = [each for each in summaries if each.data == name and each.records]
            curves = []
            for each in sort_summaries(
                own, (), published.FIG3_METHODS + published.FIG3_OURS
            ):
                short = each.method.removesuffix(LETTER_SUFFIX)
                color, marker = METHOD_LOOKS.get(short, (Color.GREY, "."))
                look = {"color": color, "marker": marker, "ms": 3.5, "lw": 1.4}
                curves.append(np.array(each.records[0]["curve"][1:], dtype=float))
                iterations = np.arange(1, len(curves[-1]) + 1)
                axes.plot(iterations, curves[-1], label=each.method, **look)
            _scale_by_range(axes, curves)
            axes.set(title=name, xlabel="outer iteration")
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid()
        panels[0].set_ylabel("objective F")
        _draw_legend(figure, panels[0])

    size = (PHONE_INCHES, 0.4 + 2.5 * n_panels) if is_narrow else (3.75 * n_panels, 3.0)
    return draw, size


def make_reading_figures(summaries: Sequence[Summary]) -> dict[str, Figure]:
    """Return published and our accuracies, for the letter and for the chosen reading.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the readings.
    """
    found = {each.name: each for each in gather_evidence(summaries)}
    pairs = {
        kind: [found[name] for name in (letter, reading) if name in found]
        for kind, letter, reading in COMPARED_READINGS
    }
    if not all(len(own) == 2 for own in pairs.values()):
        return {}
    parts = [
        f"{kind}: root mean square difference {letter.distance:.3f} as printed and "
        f"{reading.distance:.3f} as read"
        for kind, (letter, reading) in pairs.items()
    ]
    drawn = Figure(
        "Published accuracies against ours",
        "Each point is a small data set: published accuracy and ours, with Algorithm 1 "
        "to the letter and in the reading that we chose. On the line they agree.",
        f"Scatter plots. {'; '.join(parts)}.",
        _draw_agreement(pairs),
        _draw_agreement(pairs, is_narrow=True),
    )
    return {"agreement": drawn}


def _draw_agreement(
    pairs: dict[str, list[Evidence]], is_narrow: bool = False
) -> Drawing:
    def draw(figure: "Canvas") -> None:
        shape = (2, 1) if is_narrow else (1, 2)
        panels = figure.subplots(*shape, sharex=True, sharey=True)
        hollow = {"marker": "o", "ls": "", "mfc": Color.PAPER, "mec": Color.ORANGE}
        filled = {"marker": "o", "ls": "", "color": Color.BLUE}
        for axes, (kind, own) in zip(panels, pairs.items(), strict=True):
            axes.plot([0.4, 1.0], [0.4, 1.0], color=Color.FAINT, lw=1.2)
            for each, label, look in zip(
                own, ("as printed", "as read"), (hollow, filled), strict=True
            ):
                theirs = each.published_accuracies()
                ours = [each.accuracies[name] for name in theirs]
                axes.plot(list(theirs.values()), ours, label=label, ms=5, **look)
            axes.set_title(kind)
            axes.set_xlabel("published accuracy")
            axes.set_aspect("equal")
            axes.grid()
        panels[0].set_ylabel("ours")
        _draw_legend(figure, panels[0])

    return draw, ((PHONE_INCHES, 6.4) if is_narrow else (7.0, 3.7))


def _draw_legend(figure: "Canvas", axes: "Axes") -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels) or 1)


def _scale_by_range(axes: "Axes", curves: Sequence[Array]) -> None:
    """Set a symlog scale if the values of curves spread over a wide range."""
    values = np.concatenate(curves) if curves else np.ones(1)
    finite = values[np.isfinite(values)]
    spread = finite if finite.size else np.ones(1)
    if np.ptp(spread) > WIDE_RANGE * max(1.0, abs(float(np.median(spread)))):
        axes.set_yscale("symlog")
        label_powers_of_ten(axes.yaxis)
