"""The page of a comparison, and its figures."""

import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kreinlearn.app.comparison.plan import PRECOMPUTED
from kreinlearn.app.comparison.summary import rank_rows
from kreinlearn.app.report import figures
from kreinlearn.app.report.figures import (
    BLUE,
    COLUMN,
    CURVE_STYLES,
    Figure,
    label_rows,
    shorten,
    spectrum_figure,
)
from kreinlearn.app.report.page import Section, html
from kreinlearn.app.report.tables import (
    DASH,
    SCORE_NAMES,
    Entry,
    Findings,
    PageTable,
    TableRow,
    format_number,
    format_scores,
    format_seconds,
    format_signed,
    format_statuses,
    make_table,
)
from kreinlearn.plotting import ReviewCurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MAX_CURVES = len(CURVE_STYLES)
"""Curves in one picture."""
MAX_CONFUSION_CLASSES = 12
"""Classes above which no confusion matrix is drawn."""
MAX_COUNTED_CLASSES = 6
"""Classes above which a confusion matrix has no numbers."""
MIN_BIN_SAMPLES = 5
"""Samples below which a bin of probabilities is listed, but not drawn."""
ROC_RATES = (0.05, 0.1, 0.2)
"""False positive rates at which a ROC curve is read off."""
REVIEWED = (0.05, 0.1, 0.2, 0.3)
"""Fractions reviewed at which a review curve is read off."""
MIN_ACCURACY_SPAN = 0.1
"""Width of an axis of accuracies."""
ROUNDED = 5e-4
"""Difference of two scores that read alike."""

Rows = Mapping[str, Findings]
"""Rows by their labels, from the best to the worst."""


def comparison_page(found: Findings, first: Sequence[Section] = ()) -> str:
    """Return the page of a comparison, which needs no other file.

    Parameters
    ----------
    found : mapping
        Output of `krein compare --json`. Methods in "shown", if there are any, are
        drawn; by default the three with the best scores.
    first : sequence of Section
        Sections of the data, before all others.
    """
    data, rows = found["data"], {row["label"]: row for row in rank_rows(found)}
    classes = [str(each) for each in data.get("classes") or ()]
    wanted = list(found.get("shown") or ())

    def select(key: str, score: str, sign: int) -> dict[str, Any]:
        """Return the rows with a curve, those to be drawn first."""
        own = [label for label, row in rows.items() if row.get(key)]

        def order(label: str) -> tuple[int, float]:
            method, value = rows[label]["method"], rows[label].get(score)
            first = wanted.index(method) if method in wanted else len(wanted)
            return first, float("inf") if value is None else sign * value

        return {label: rows[label][key] for label in sorted(own, key=order)}

    counts, scores = select("confusion", "accuracy", -1), _score_table(rows)
    drawn: list[list[Figure | None]] = [
        [accuracy_figure(rows, found["interval"]), difference_figure(rows, "accuracy")],
        [
            review_figure(select("review", "log_loss", 1)),
            reliability_figure(select("reliability", "log_loss", 1), classes),
            difference_figure(rows, "log_loss"),
            confusion_figure(counts, classes),
        ],
        [
            spectrum_figure(about, "The matrix" if name == PRECOMPUTED else str(name))
            for name, about in data["kernels"].items()
        ],
        [roc_figure(select("roc", "accuracy", -1), rows, len(classes) > 2)],
    ]
    overview, likely, spectra, curves = (
        [f for f in own if f is not None] for own in drawn
    )
    verdict = found.get("lead") or found["sentences"][:1]
    return html(
        found["title"],
        [
            *first,
            Section(scores.title, [*overview, scores]),
            Section("Predictions", likely),
            Section("The similarities", spectra),
            Section("Curves", curves, is_detail=True),
        ],
        sentences=verdict,
        remarks=[each for each in found["sentences"] if each not in verdict],
        facts=_list_facts(found) | dict(found.get("facts") or {}),
        command=str(found.get("command") or ""),
        versions=found["versions"],
    )


def _list_facts(found: Findings) -> dict[str, str]:
    data = found["data"]
    m = "" if data.get("m") is None else f", {data['m']} features"
    facts = {"Data": f"{data['name']}: {data['n']} samples{m}"}
    facts["Methods"] = ", ".join(str(each) for each in found["methods"])
    facts["Classes"] = ", ".join(str(name) for name in data["classes"]) or DASH
    folds = max((len(row["scores"]) for row in found["rows"]), default=0)
    return facts | ({"Held-out folds": str(folds)} if folds > 1 else {})


def _score_table(rows: Rows) -> PageTable:
    body: list[TableRow] = []
    has_converged = all(set(row["statuses"]) <= {"converged"} for row in rows.values())
    kernels = {row["kernel"] for row in rows.values()} - {None}
    is_balanced = all(
        row["accuracy"] is None
        or abs(row["balanced_accuracy"] - row["accuracy"]) < ROUNDED
        for row in rows.values()
    )
    measures = [k for k in SCORE_NAMES if k != "balanced_accuracy" or not is_balanced]
    for label, (accuracy, *others) in format_scores(rows, measures).items():
        row = rows[label]
        ended: Counter[str] = Counter(row["statuses"])
        status = format_statuses(ended) if ended.total() != 1 else next(iter(ended))
        also = f"and {', '.join(row['also'])}" if row["also"] else ""
        body.append(
            (
                Entry(label, detail=also),
                replace(accuracy, detail=_interval_text(row)),
                *others,
                format_seconds(row["fit_seconds"]),
                *([row["kernel"] or DASH] if len(kernels) > 1 else []),
                *([] if has_converged else [Entry(status, detail=row["error"] or "")]),
            )
        )
    several = any(row["accuracy_std"] is not None for row in rows.values())
    caption = "Means over held-out folds" if several else "On held-out samples"
    if any(map(_interval_text, rows.values())):
        caption += ", below the accuracy its 95 % interval"
    if any(row["also"] for row in rows.values()):
        caption += "; methods with the same predictions share a row"
    names = [SCORE_NAMES[key] for key in measures]
    more = ["kernel"] * (len(kernels) > 1) + ["fits"] * (not has_converged)
    return make_table(
        "Scores",
        f"{caption}; the best of each column is bold. Seconds are for one fit with its "
        f"tuning.{' All fits converged.' if has_converged else ''}",
        ("method", *names, "fit (s)", *more),
        body,
    )


def _list_ends(row: Findings) -> list[float]:
    """Return the ends of the interval of an accuracy; none if it is not known."""
    ends = row.get("accuracy_low"), row.get("accuracy_high")
    return [float(end) for end in ends if end is not None]


def _interval_text(row: Findings) -> str:
    return " to ".join(f"{end:.3f}" for end in _list_ends(row))


def accuracy_figure(rows: Rows, interval: str) -> Figure | None:
    """Return the accuracies of all methods and folds; None without scores.

    Parameters
    ----------
    rows : mapping
        Label to row.
    interval : str
        Name of the intervals.
    """
    scored = {label: row for label, row in rows.items() if row["scores"]}
    if not scored:
        return None
    most = max(len(row["scores"]) for row in scored.values())
    best = max(row["accuracy"] for row in scored.values())

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        for y, row in enumerate(scored.values()):
            if most > 1:
                places = [y] * len(row["scores"])
                axes.plot(row["scores"], places, "|", color=figures.GREY, ms=9)
            is_best = row["accuracy"] >= best
            color, size = (BLUE, 7.0) if is_best else (figures.INK, 4.5)
            if ends := _list_ends(row):
                axes.plot(ends, [y, y], color=color, lw=1.5)
            axes.plot(row["accuracy"], y, "D", color=color, ms=size)
        low, high = axes.get_xlim()
        high = max(high, min((low + high + MIN_ACCURACY_SPAN) / 2, 1.01))
        axes.set_xlim(min(low, high - MIN_ACCURACY_SPAN), high)
        axes.locator_params(axis="x", nbins=4)
        axes.grid()
        axes.tick_params(axis="y", length=0)
        label_rows(axes, [shorten(label, 24) for label in scored])
        axes.set_xlabel("accuracy on held-out samples")

    what = "One diamond per method"
    if most > 1:
        what = "One tick per held-out fold, a diamond for the mean"
    if any(map(_list_ends, scored.values())):
        what += f", and a line for its 95 % interval (after {interval})"
    texts = [f"{label} {row['accuracy']:.3f}" for label, row in scored.items()]
    body: list[TableRow] = [
        (
            label,
            format_number(row["accuracy"], ".3f"),
            _interval_text(row) or DASH,
            ", ".join(f"{value:.3f}" for value in row["scores"]),
        )
        for label, row in scored.items()
    ]
    return Figure(
        "Accuracy of each method",
        f"{what}; the largest diamond is the best.",
        f"Mean accuracies. {', '.join(texts)}.",
        (draw, (COLUMN, 0.8 + 0.24 * max(2, len(scored)))),
        numbers=(
            "Accuracy on each held-out fold.",
            "method, mean, 95 % interval, folds",
            body,
        ),
    )


def difference_figure(rows: Rows, measure: str) -> Figure | None:
    """Return the difference of each row from the best one, paired by fold.

    Parameters
    ----------
    rows : mapping
        Label to row.
    measure : str
        "accuracy" or "log_loss"; None if fewer than two rows have it.
    """
    gaps: dict[str, list[float]] = {}
    for label, row in rows.items():
        if gap := (row.get("behind") or {}).get(measure):
            ends = [gap[end] for end in ("low", "high") if gap[end] is not None]
            gaps[label] = [gap["mean"], *ends]
    if len(gaps) < 2:
        return None
    sign = 1 if measure == "log_loss" else -1
    gaps = dict(sorted(gaps.items(), key=lambda each: sign * each[1][0]))
    best, name = next(iter(gaps)), SCORE_NAMES[measure]

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        axes.axvline(0, color=figures.GREY, lw=1)
        for y, (mean, *ends) in enumerate(gaps.values()):
            is_apart = bool(ends) and not min(ends) <= 0 <= max(ends)
            color = figures.ORANGE if is_apart else BLUE
            if ends:
                axes.plot(ends, [y, y], color=color, lw=1.5)
            fill = color if is_apart else figures.PAPER
            axes.plot(mean, y, "D", mec=color, mfc=fill, ms=5.5)
        label_rows(axes, [shorten(label, 28) for label in gaps])
        label = f"difference in {name} from {best}"
        axes.set_xlabel(textwrap.fill(shorten(label, 90), 46))
        axes.locator_params(axis="x", nbins=5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")

    texts = {
        label: " to ".join(format_signed(end) for end in ends) or DASH
        for label, (_, *ends) in gaps.items()
    }
    means = {label: Entry(format_signed(gap[0]), gap[0]) for label, gap in gaps.items()}
    said = [f"{label} {means[label].text} ({texts[label]})" for label in gaps]
    return Figure(
        f"{name[0].upper()}{name[1:]}: difference from the best",
        f"Mean difference from {best} over the same folds, with 95 % intervals (after "
        "Nadeau and Bengio), which allow for training rows that folds share. Filled: "
        "the interval excludes zero.",
        f"Differences from {best}: {'; '.join(said[1:])}.",
        (draw, (COLUMN, 0.8 + 0.24 * max(2, len(gaps)))),
        numbers=(
            f"Differences in {name} from {best}, paired by fold.",
            "method, mean difference, 95 % interval",
            [(label, means[label], texts[label]) for label in gaps],
        ),
    )


def confusion_figure(
    found: Mapping[str, Sequence[Sequence[int]]], classes: Sequence[str]
) -> Figure | None:
    """Return counts of held-out samples by true and predicted class.

    Parameters
    ----------
    found : mapping
        Label to counts, true classes in rows; the first three are drawn.
    classes : sequence of str
        Names of the classes; None if there are too many.
    """
    counts = dict(list(found.items())[:MAX_CURVES])
    k, has_numbers = len(classes), len(classes) <= MAX_COUNTED_CLASSES
    if not counts or k > MAX_CONFUSION_CLASSES:
        return None

    def draw(figure: "Canvas") -> None:
        panels = figure.subplots(1, len(counts), sharey=True, squeeze=False)[0]
        for axes, (name, rows) in zip(panels, counts.items(), strict=True):
            for i, row in enumerate(rows):
                for j, count in enumerate(row):
                    alpha = 0.6 * count / max(sum(row), 1)
                    place = ([j - 0.5, j + 0.5], i - 0.5, i + 0.5)
                    axes.fill_between(*place, lw=0, color=BLUE, alpha=alpha)
                    if has_numbers:
                        axes.text(j, i, str(count), ha="center", va="center")
            axes.set_title("\n".join(textwrap.wrap(shorten(name, 36), 18)))
            axes.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
            names = [shorten(each, 10) for each in classes] if has_numbers else []
            axes.set_xticks(range(len(names)), names, rotation=90 * (k > 2))
            axes.set_yticks(range(len(names)), names)
            axes.tick_params(length=0)
        panels[0].set_ylabel("true class")
        figure.supxlabel("predicted class", size=9)

    said = [
        f"{label}: {sum(row[i] for i, row in enumerate(table))} of "
        f"{sum(map(sum, table))} right"
        for label, table in counts.items()
    ]
    body: list[TableRow] = [
        (label, f"{name}, predicted {other}", count)
        for label, table in counts.items()
        for name, row in zip(classes, table, strict=True)
        for other, count in zip(classes, row, strict=True)
    ]
    return Figure(
        "Confusion of classes",
        "Held-out samples by true class (rows) and predicted class (columns); the "
        "stronger the color, the larger the fraction of a row.",
        f"Confusion matrices. {'; '.join(said)}.",
        (draw, (COLUMN, 2.4)),
        numbers=("Held-out samples.", "method, true class, samples", body),
    )


def roc_figure(
    curves: Mapping[str, Findings], rows: Rows, is_multiclass: bool
) -> Figure | None:
    """Return ROC curves, the first three of them drawn; None without curves.

    Parameters
    ----------
    curves : mapping
        Label to "fpr" and "tpr".
    rows : mapping
        Label to row, with "auc".
    is_multiclass : bool
        Whether the curves pool several classes.
    """
    if not curves:
        return None
    names = {label: f"{label}: AUC {rows[label]['auc']:.3f}" for label in curves}
    drawn = list(curves)[:MAX_CURVES]

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        _draw_unit_square(axes, "diagonal: chance")
        axes.set(xlabel="false positive rate", ylabel="true positive rate")
        for label, (color, _, line) in zip(drawn, CURVE_STYLES, strict=False):
            curve = curves[label]
            axes.plot(curve["fpr"], curve["tpr"], color=color, ls=line, lw=1.5)
        _draw_legend(figure, [names[label] for label in drawn], has_markers=False)

    def read_off(curve: Findings, rate: float) -> Entry:
        pairs = zip(curve["fpr"], curve["tpr"], strict=True)
        value = max((tpr for fpr, tpr in pairs if fpr <= rate), default=0.0)
        return format_number(value, ".3f")

    body: list[TableRow] = [
        (
            label,
            format_number(rows[label]["auc"], ".3f"),
            *(read_off(curve, rate) for rate in ROC_RATES),
        )
        for label, curve in curves.items()
    ]
    whose = "all classes pooled" if is_multiclass else "of the second class"
    heads = ("method", "AUC", *(f"at {rate:g}" for rate in ROC_RATES))
    return Figure(
        "ROC curves",
        f"ROC curves of held-out predictions, {whose}; AUC is the mean over folds."
        f"{_mention_others(curves)}",
        f"ROC curves. {'; '.join(names.values())}.",
        (draw, (COLUMN, 3.5 + 0.2 * len(drawn))),
        numbers=("True positive rates at three false positive rates.", heads, body),
    )


def review_figure(curves: Mapping[str, Findings]) -> Figure | None:
    """Return errors left against the fraction of predictions that a person reviews.

    Parameters
    ----------
    curves : mapping
        Label to "fraction" and "left"; the first three are drawn.
    """
    if not curves:
        return None
    drawn = list(curves)[:MAX_CURVES]

    def read_off(curve: Findings, fraction: float) -> float:
        return float(np.interp(fraction, curve["fraction"], curve["left"]))

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        for label, (color, _, line) in zip(drawn, CURVE_STYLES, strict=False):
            ReviewCurveDisplay(
                fraction_reviewed=curves[label]["fraction"],
                errors_left=curves[label]["left"],
            ).plot(axes, color=color, ls=line, lw=1.5)
        axes.grid()
        _draw_legend(figure, drawn, has_markers=False)

    body: list[TableRow] = [
        (
            label,
            *(format_number(read_off(curve, f), ".1f") for f in (0.0, *REVIEWED)),
        )
        for label, curve in curves.items()
    ]
    said = [
        f"{label}: {read_off(curve, 0):.0f}, and {read_off(curve, 0.2):.0f} after 20% "
        "are reviewed"
        for label, curve in curves.items()
    ]
    heads = ("method", "errors", *(f"after {each:.0%}" for each in REVIEWED))
    return Figure(
        "Errors left after a review",
        "A person reviews and corrects the held-out predictions that the method is "
        f"least certain of, first.{_mention_others(curves)}",
        f"Errors left. {'; '.join(said)}.",
        (draw, (COLUMN, 2.9 + 0.2 * len(drawn))),
        numbers=("Errors left by fraction reviewed.", heads, body),
    )


def reliability_figure(
    curves: Mapping[str, Findings], classes: Sequence[str]
) -> Figure | None:
    """Return observed frequencies against predicted probabilities, and counts.

    Parameters
    ----------
    curves : mapping
        Label to "predicted", "observed", "low", "high" and "count"; the first three
        are drawn.
    classes : sequence of str
        Names of the classes.
    """
    if not curves:
        return None
    drawn = {
        label: _drop_small_bins(curves[label]) for label in list(curves)[:MAX_CURVES]
    }

    def draw(figure: "Canvas") -> None:
        ratios = {"height_ratios": (3, 1)}
        upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw=ratios)
        _draw_unit_square(upper, "diagonal: as predicted")
        upper.set(ylabel="observed frequency")
        styles = zip(drawn.values(), CURVE_STYLES, strict=False)
        for curve, (color, marker, line) in styles:
            look: Any = {"color": color, "ls": line, "marker": marker, "ms": 4}
            ends = curve["predicted"], curve["low"], curve["high"]
            upper.fill_between(*ends, color=color, alpha=0.15, lw=0)
            upper.plot(curve["predicted"], curve["observed"], lw=1.4, **look)
            lower.plot(curve["predicted"], curve["count"], lw=1, **look)
        lower.set(xlabel="predicted probability", ylabel="samples")
        lower.set_ylim(bottom=0)
        lower.grid()
        _draw_legend(figure, drawn)

    said, body = [], list[TableRow]()
    for label, curve in curves.items():
        columns = (curve[key] for key in ("predicted", "observed", "count"))
        bins = list(zip(*columns, strict=True))
        forms = (".3f", ".3f", ".0f")
        body += [(label, *map(format_number, each, forms)) for each in bins]
        given, observed, count = max(bins, key=lambda each: abs(each[0] - each[1]))
        said.append(
            f"{label}: farthest from the diagonal at {given:.2f}, where "
            f"{observed:.2f} of {count:.0f} samples were observed"
        )
    what = "that the predicted class is right"
    if len(classes) == 2:
        what = f"of the class {classes[-1]}"
    return Figure(
        "Reliability",
        f"Predicted probabilities {what}, and observed frequencies with 95 % bands "
        "(Wilson); below, the number of samples. On the diagonal, predictions come "
        f"true as often as predicted. Bins of fewer than {MIN_BIN_SAMPLES} samples are "
        f"among the numbers only.{_mention_others(curves)}",
        f"Reliability curves. {'; '.join(said)}.",
        (draw, (COLUMN, 4.4 + 0.2 * len(drawn))),
        numbers=(
            "Means over bins of predicted probabilities.",
            "method, predicted, observed, samples",
            body,
        ),
    )


def _drop_small_bins(curve: Findings) -> Findings:
    """Return the bins that have enough samples, or all if none has."""
    kept = [k for k, n in enumerate(curve["count"]) if n >= MIN_BIN_SAMPLES]
    kept = kept or list(range(len(curve["count"])))
    return {name: [values[k] for k in kept] for name, values in curve.items()}


def _mention_others(curves: Collection[str]) -> str:
    more = len(curves) - MAX_CURVES
    return f" Numbers of {more} more are below." if more > 0 else ""


def _draw_unit_square(axes: "Axes", diagonal: str) -> None:
    """Prepare axes from 0 to 1 with a named diagonal."""
    axes.plot([0, 1], [0, 1], color=figures.FAINT, lw=1)
    axes.text(0.99, 0.03, diagonal, ha="right", va="bottom")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.grid()


def _draw_legend(
    figure: "Canvas", names: Collection[str], has_markers: bool = True
) -> None:
    """Put the names below the axes, where they do not hide a curve."""
    from matplotlib.lines import Line2D

    keys = [
        Line2D([], [], color=color, ls=line, marker=marker if has_markers else "", ms=4)
        for color, marker, line in CURVE_STYLES[: len(names)]
    ]
    labels = [shorten(text, 44) for text in names]
    figure.legend(keys, labels, loc="outside lower left", ncols=1, labelspacing=0.3)
