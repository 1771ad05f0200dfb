"""Tables 1 and 5 and Figure 1: covariance matrices and faces."""

import base64
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kreinlearn.pages.tables import (
    Entry,
    Note,
    Table,
    difference_entry,
    marks_for,
    number_entry,
    seconds_text,
    spread_text,
    statuses_text,
)
from kreinlearn.paper import published
from kreinlearn.paper.summary import Summary, names_in, total

METRICS = (*published.TABLE1, "Stein")
FORMULAS = {
    "Euclidean": "‖S − T‖",
    "Log-Euclidean": "‖log S − log T‖",
    "Affine-invariant": "‖log(S^−½ T S^−½)‖",
    "Stein": "√(log det ((S + T)/2) − ½ log det (S T))",
}
NAMES = {
    "yaleb": "Yale Face Database B, frontal images",
    "digits": "NOT FACES: the digits of scikit-learn, in place of the faces",
}
"""Data sets in words."""
TIE = 1e-9


def table1(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[Table]:
    """Return Table 1: metrics, theory and search.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.
    notes : sequence of Note
        Of the table.

    Returns
    -------
    list of Table
        One.
    """
    index = {(each.method, each.data): each for each in summaries}
    sizes = sorted(names_in(summaries, "data", ()), key=lambda s: int(s.split()[0]))
    rows = []
    for name in names_in(summaries, "method", METRICS):
        printed = published.TABLE1.get(name)
        if printed is None:
            theory = ["no", "for some σ"]
        else:
            theory = ["yes" if each else "no" for each in printed]
        row = [
            Entry(name, marks=marks_for(notes, row=name)),
            Entry(FORMULAS.get(name, "")),
            *map(Entry, theory),
        ]
        row += [_search_entry(index.get((name, size))) for size in sizes]
        rows.append(row)
    caption = (
        "Is the distance geodesic, and is exp(−d²/σ²) positive definite for every σ: "
        "as printed (Stein: theory). By size of the matrices: the smallest eigenvalue "
        "that was found, beside the largest of its kernel matrix; below it how many of "
        "the kernel matrices are indefinite."
    )
    heads = ("metric", "d(S, T)", "geodesic", "positive definite", *sizes)
    columns = tuple(Entry(head) for head in heads)
    return [Table("Table 1: metrics on covariance matrices", caption, columns, rows)]


def _search_entry(summary: Summary | None) -> Entry:
    if summary is None or not summary.records:
        return Entry("–")
    worst = min(summary.values("mu_ratio"))
    tried, indefinite = (int(sum(summary.values(x))) for x in ("tried", "indefinite"))
    # What is rounding and what is not was decided when the matrices were at hand.
    text = f"{worst:.2g}".replace("-", "−") if indefinite else "≥ 0"
    return Entry(text, worst, f"{indefinite} of {tried}")


def table5(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[Table]:
    """Return Table 5: accuracy on faces, published and ours.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.
    notes : sequence of Note
        Of the table.

    Returns
    -------
    list of Table
        One for each data set; published numbers beside faces only.
    """
    order = (*published.TABLE5, *published.TABLE5_OURS)
    tables = []
    for data in names_in(summaries, "data", tuple(NAMES)):
        index = {each.method: each for each in summaries if each.data == data}
        means = {name: each.mean("acc") for name, each in index.items()}
        best = max((mean for mean in means.values() if mean is not None), default=0.0)
        rows = [
            _accuracy_row(index[name], notes, best, data)
            for name in names_in(summaries, "method", order)
            if name in index
        ]
        runs = max((len(each.records) for each in index.values()), default=0)
        over = f"{runs} random halves" if runs != 1 else "one random half"
        caption = (
            f"{NAMES.get(data, data)}. Accuracy on the test half, mean ± standard "
            f"deviation over {over}; seconds of one fit (KreinCV: of its "
            "whole cross-validation), given distances; smallest and largest eigenvalue "
            "of the chosen kernel matrix, mean."
        )
        if data in published.TABLE5_DATA:
            low, high = published.TABLE5_MU
            caption += f" The paper prints {low} and {high} for the affine-invariant."
        heads = (
            "method",
            "published",
            "ours",
            "difference",
            "log-loss",
            "fit (s)",
            "μ min",
            "μ max",
            "chosen fits",
            "fits in cross-validation",
        )
        columns = tuple(Entry(head) for head in heads)
        place = "accuracy on faces" if data in published.TABLE5_DATA else data
        tables.append(Table(f"Table 5: {place}", caption, columns, rows))
    return tables


def _accuracy_row(
    summary: Summary, notes: Sequence[Note], best: float, data: str
) -> list[Entry]:
    ours = summary.spread("acc")
    theirs = (
        published.TABLE5.get(summary.method) if data in published.TABLE5_DATA else None
    )
    seconds = summary.mean("fit_s")
    is_best = ours is not None and ours.mean > best - TIE
    return [
        Entry(summary.method, marks=marks_for(notes, row=summary.method)),
        Entry(spread_text(theirs), None if theirs is None else theirs.mean),
        Entry(spread_text(ours), None if ours is None else ours.mean, "", is_best),
        difference_entry(ours, theirs),
        number_entry(summary.mean("ll"), ".3f"),
        Entry(seconds_text(seconds), seconds),
        number_entry(summary.mean("mu_min"), ".3g"),
        number_entry(summary.mean("mu_max"), ".4g"),
        Entry(statuses_text(summary.statuses)),
        Entry(statuses_text(total([summary.cv]))),
    ]


def fig1(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[Table]:
    """Return what Figure 1 shows.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.
    notes : sequence of Note
        Of the figure.

    Returns
    -------
    list of Table
        One.
    """
    rows = []
    for each in summaries:
        for record in each.records:
            count, shown = record["n"], record["shape"][0] * record["shape"][1]
            words = Entry(NAMES.get(each.data, each.data))
            numbers = [Entry(str(value), value) for value in (count, shown)]
            rows.append([Entry(each.data), words, *numbers])
    columns = tuple(Entry(head) for head in ("data", "what", "images", "shown"))
    caption = "Where the examples come from."
    return [Table("Figure 1: example faces", caption, columns, rows)]


def example_images(
    summary: Summary, width: float = 6.0
) -> tuple[Callable[[Any], None], tuple[float, float]]:
    """Return Figure 1: a grid of images.

    Parameters
    ----------
    summary : Summary
        With one record or more; the first is drawn.
    width : float
        In inches.

    Returns
    -------
    draw : callable
        Draws on an empty figure.
    size : (float, float)
        Width and height in inches.
    """
    record = summary.records[0]
    rows, columns, h, w = record["shape"]
    raw = zlib.decompress(base64.b64decode(record["pixels"]))
    pixels = np.frombuffer(raw, np.uint8).reshape(rows, columns, h, w)
    gap = max(1, h // 16)
    # What is masked is not drawn: the gaps have the color of the page.
    shape = (rows, columns, h + gap, w + gap)
    sheet = np.ma.masked_all(shape, np.uint8)
    sheet[:, :, :h, :w] = pixels
    sheet = sheet.transpose(0, 2, 1, 3).reshape(rows * (h + gap), columns * (w + gap))
    sheet = sheet[:-gap, :-gap]

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.imshow(sheet, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        axes.set_axis_off()

    return draw, (width, width * sheet.shape[0] / sheet.shape[1])
