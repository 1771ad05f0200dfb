"""The page of a comparison, and its figures."""

import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kreinlearn.app import report
from kreinlearn.app.comparison.plan import GRAM_KERNEL
from kreinlearn.app.comparison.summary import rank_rows
from kreinlearn.app.report import NO_VALUE, Color, Entry, Figure, Findings, PageTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MAX_CURVES = len(report.CURVE_STYLES)
"""Curves in one picture."""
MAX_CONFUSION_CLASSES = 12
"""Classes above which no confusion matrix is drawn."""
MAX_COUNTED_CLASSES = 6
"""Classes above which a confusion matrix has no numbers."""
MIN_BIN_SAMPLES = 5
"""Samples below which a bin of probabilities is listed, but not drawn."""
ROC_RATES = (0.05, 0.1, 0.2)
"""False positive rates at which a ROC curve is read off."""
REVIEWED_FRACTIONS = (0.05, 0.1, 0.2, 0.3)
"""Fractions reviewed at which a review curve is read off."""
MIN_ACCURACY_SPAN = 0.1
"""Width of an axis of accuracies."""
EQUAL_SCORES_TOL = 5e-4
"""Difference of two scores that read alike."""

LabeledRows = Mapping[str, Findings]
"""Rows or their curves by label, from the best to the worst."""


def comparison_page(found: Findings, first: Sequence[report.Section] = ()) -> str:
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
    classes = [str(each) for each in data["classes"]]
    wanted = list(found.get("shown") or ())

    def select(key: str, score: str = "") -> dict[str, Any]:
        """Return the rows with a curve, those to be drawn first."""

        def order(label: str) -> tuple[int, float]:
            method, value = rows[label]["method"], rows[label].get(score)
            first = wanted.index(method) if method in wanted else len(wanted)
            return first, float("inf") if value is None else value

        known = [label for label in sorted(rows, key=order) if rows[label].get(key)]
        return {label: rows[label][key] for label in known}

    sections: dict[str, list[Figure | PageTable | None]] = {
        "Scores": [
            accuracy_figure(rows, found["interval"]),
            difference_figure(rows, "accuracy"),
            _make_score_table(rows),
        ],
        "Predictions": [
            review_figure(select("review", "log_loss")),
            reliability_figure(select("reliability", "log_loss"), classes),
            difference_figure(rows, "log_loss"),
            confusion_figure(select("confusion"), classes),
        ],
        "The similarities": [
            report.spectrum_figure(
                about, "The matrix" if name == GRAM_KERNEL else str(name)
            )
            for name, about in data["kernels"].items()
        ],
        "Curves": [roc_figure(select("roc"), rows, len(classes) > 2)],
    }
    verdict = found.get("lead") or found["sentences"][:1]
    folds = max((len(row["scores"]) for row in rows.values()), default=0)
    m = "" if data.get("m") is None else f", {data['m']} features"
    facts = {
        "Data": f"{data['name']}: {data['n']} samples{m}",
        "Methods": ", ".join(str(each) for each in found["methods"]),
        "Classes": ", ".join(classes) or NO_VALUE,
        **({"Held-out folds": str(folds)} if folds > 1 else {}),
        **(found.get("facts") or {}),
    }
    return report.html(
        found["title"],
        [
            *first,
            *(
                report.Section(title, list(filter(None, parts)), title == "Curves")
                for title, parts in sections.items()
            ),
        ],
        sentences=verdict,
        remarks=[each for each in found["sentences"] if each not in verdict],
        facts=facts,
        command=found.get("command", ""),
        versions=found["versions"],
    )


def _make_score_table(rows: LabeledRows) -> PageTable:
    has_converged = all(set(row["statuses"]) <= {"converged"} for row in rows.values())
    has_kernels = len({row["kernel"] for row in rows.values()} - {None}) > 1
    scored = [row for row in rows.values() if row["accuracy"] is not None]
    gaps = [abs(row["balanced_accuracy"] - row["accuracy"]) for row in scored]
    is_balanced = max(gaps, default=0) < EQUAL_SCORES_TOL
    skipped = "balanced_accuracy" if is_balanced else ""
    measures = [key for key in report.SCORE_NAMES if key != skipped]
    body = []
    for label, (accuracy, *others) in report.format_scores(rows, measures).items():
        row = rows[label]
        also = f"and {', '.join(row['also'])}" if row["also"] else ""
        ended = row["statuses"]
        is_single = sum(ended.values()) == 1
        status = next(iter(ended)) if is_single else report.format_statuses(ended)
        fits = Entry(status, detail=row["error"] or "")
        first = replace(accuracy, detail=_format_interval(row))
        seconds = report.format_seconds(row["fit_seconds"])
        cells = [Entry(label, detail=also), first, *others, seconds]
        cells += [Entry(row["kernel"] or NO_VALUE)] * has_kernels
        body.append(cells + [fits] * (not has_converged))
    several = any(row["accuracy_std"] is not None for row in rows.values())
    caption = "Means over held-out folds" if several else "On held-out samples"
    if any(map(_format_interval, rows.values())):
        caption += ", below the accuracy its 95% interval"
    if any(row["also"] for row in rows.values()):
        caption += "; methods with the same predictions share a row"
    names = [report.SCORE_NAMES[key] for key in measures]
    more = ["kernel"] * has_kernels + ["fits"] * (not has_converged)
    return report.make_table(
        "Scores",
        f"{caption}; the best of each column is bold. Seconds are for one fit with its "
        f"tuning.{' All fits converged.' if has_converged else ''}",
        ("method", *names, "fit (s)", *more),
        body,
    )


def _list_ends(interval: Findings, prefix: str = "") -> list[float]:
    """Return the ends of an interval; none if it is not known."""
    ends = (interval.get(f"{prefix}{end}") for end in ("low", "high"))
    return [float(end) for end in ends if end is not None]


def _format_interval(row: Findings) -> str:
    return " to ".join(f"{end:.3f}" for end in _list_ends(row, "accuracy_"))


def _draw_diamonds(
    axes: "Axes",
    names: Collection[str],
    points: Sequence[tuple[float, Sequence[float], str, str, float]],
) -> None:
    """Draw one row per name: value, ends of its interval, edge, fill and size."""
    for y, (value, ends, color, fill, size) in enumerate(points):
        axes.plot(ends, [y] * len(ends), color=color, lw=1.5)
        axes.plot(value, y, "D", mec=color, mfc=fill, ms=size)
    report.label_rows(axes, [report.shorten(name, 26) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=4)
    axes.grid(axis="x")


def accuracy_figure(rows: LabeledRows, interval: str) -> Figure | None:
    """Return the accuracies of all methods and folds, with intervals of that name."""
    scored = {label: row for label, row in rows.items() if row["scores"]}
    if not scored:
        return None
    has_folds = max(len(row["scores"]) for row in scored.values()) > 1
    best = max(row["accuracy"] for row in scored.values())
    ends = {label: _list_ends(row, "accuracy_") for label, row in scored.items()}

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        for y, row in enumerate(scored.values() if has_folds else ()):
            axes.plot(row["scores"], [y] * len(row["scores"]), "|", c=Color.GREY, ms=9)
        look = {True: (Color.BLUE, Color.BLUE, 7.0), False: (Color.INK, Color.INK, 4.5)}
        points = [
            (row["accuracy"], ends[label], *look[row["accuracy"] >= best])
            for label, row in scored.items()
        ]
        _draw_diamonds(axes, scored, points)
        low, high = axes.get_xlim()
        high = max(high, min((low + high + MIN_ACCURACY_SPAN) / 2, 1.01))
        axes.set_xlim(min(low, high - MIN_ACCURACY_SPAN), high)
        axes.set_xlabel("accuracy on held-out samples")

    what = "One diamond per method"
    if has_folds:
        what = "One tick per held-out fold, a diamond for the mean"
    if any(ends.values()):
        what += f", and a line for its 95% interval (after {interval})"
    texts = [f"{label} {row['accuracy']:.3f}" for label, row in scored.items()]
    body = []
    for label, row in scored.items():
        folds = ", ".join(f"{value:.3f}" for value in row["scores"])
        body.append((label, row["accuracy"], _format_interval(row) or NO_VALUE, folds))
    heads = "method, mean, 95% interval, folds"
    return Figure(
        "Accuracy of each method",
        f"{what}; the largest diamond is the best.",
        f"Mean accuracies. {', '.join(texts)}.",
        (draw, (report.COLUMN_INCHES, 0.8 + 0.24 * max(2, len(scored)))),
        numbers=("Accuracy on each held-out fold.", heads, body),
    )


def difference_figure(rows: LabeledRows, measure: str) -> Figure | None:
    """Return the difference of each row from the best one, paired by fold.

    Parameters
    ----------
    rows : mapping
        Label to row.
    measure : str
        "accuracy" or "log_loss"; None if fewer than two rows have it.
    """
    found = {label: row["behind"][measure] for label, row in rows.items()}
    sign = 1 if measure == "log_loss" else -1
    gaps = {label: gap for label, gap in found.items() if gap}
    gaps = dict(sorted(gaps.items(), key=lambda each: sign * each[1]["mean"]))
    if len(gaps) < 2:
        return None
    best, name = next(iter(gaps)), report.SCORE_NAMES[measure]

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        axes.axvline(0, color=Color.GREY, lw=1)
        points = []
        for gap in gaps.values():
            ends = _list_ends(gap)
            is_apart = bool(ends) and not min(ends) <= 0 <= max(ends)
            color = Color.ORANGE if is_apart else Color.BLUE
            fill = color if is_apart else Color.PAPER
            points.append((gap["mean"], ends, color, fill, 5.5))
        _draw_diamonds(axes, gaps, points)
        label = f"difference in {name} from {best}"
        axes.set_xlabel(textwrap.fill(report.shorten(label, 90), 38))

    body = []
    for label, gap in gaps.items():
        ends = " to ".join(map(report.format_signed, _list_ends(gap))) or NO_VALUE
        mean = Entry(report.format_signed(gap["mean"]), gap["mean"])
        body.append((label, mean, ends))
    listed = [f"{label} {mean.text} ({ends})" for label, mean, ends in body[1:]]
    about = f"Differences in {name} from {best}, paired by fold."
    return Figure(
        f"{name[0].upper()}{name[1:]}: difference from the best",
        f"Mean difference from {best} over the same folds, with 95% intervals (after "
        "Nadeau and Bengio), which allow for training rows that folds share. Filled: "
        "the interval excludes zero.",
        f"Differences from {best}: {'; '.join(listed)}.",
        (draw, (report.COLUMN_INCHES, 0.8 + 0.24 * max(2, len(gaps)))),
        numbers=(about, "method, mean difference, 95% interval", body),
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
        names = [report.shorten(each, 10) for each in classes] if has_numbers else []
        for axes, (name, table) in zip(panels, counts.items(), strict=True):
            for (i, j), count in np.ndenumerate(table):
                alpha = 0.6 * count / max(sum(table[i]), 1)
                place = ([j - 0.5, j + 0.5], i - 0.5, i + 0.5)
                axes.fill_between(*place, lw=0, color=Color.BLUE, alpha=alpha)
                if has_numbers:
                    axes.text(j, i, str(count), ha="center", va="center")
            axes.set_title("\n".join(textwrap.wrap(report.shorten(name, 36), 18)))
            axes.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
            axes.set_xticks(range(len(names)), names, rotation=90 * (k > 2))
            axes.set_yticks(range(len(names)), names)
            axes.tick_params(length=0)
        panels[0].set_ylabel("true class")
        figure.supxlabel("predicted class", size=9)

    right = [
        f"{label}: {np.trace(table)} of {np.sum(table)} right"
        for label, table in counts.items()
    ]
    body = [
        (label, f"{classes[i]}, predicted {classes[j]}", int(count))
        for label, table in counts.items()
        for (i, j), count in np.ndenumerate(table)
    ]
    return Figure(
        "Confusion of classes",
        "Held-out samples by true class (rows) and predicted class (columns); the "
        "stronger the color, the larger the fraction of a row.",
        f"Confusion matrices. {'; '.join(right)}.",
        (draw, (report.COLUMN_INCHES, 2.4)),
        numbers=("Held-out samples.", "method, true class, samples", body),
    )


def _draw_curves(
    curves: LabeledRows,
    x: str,
    y: str,
    height: float,
    decorate: Callable[["Axes"], object],
) -> report.Drawing:
    """Return a drawing of the first curves, with their names below."""
    drawn = dict(list(curves.items())[:MAX_CURVES])

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        styles = zip(drawn.values(), report.CURVE_STYLES, strict=False)
        for curve, (color, _, line) in styles:
            axes.plot(curve[x], curve[y], color=color, ls=line, lw=1.5)
        decorate(axes)
        _draw_legend(figure, drawn, has_markers=False)

    return draw, (report.COLUMN_INCHES, height + 0.2 * len(drawn))


def roc_figure(
    curves: LabeledRows, rows: LabeledRows, is_multiclass: bool
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
    named = {f"{x}: AUC {rows[x]['auc']:.3f}": curve for x, curve in curves.items()}

    def decorate(axes: "Axes") -> None:
        _draw_unit_square(axes, "diagonal: chance")
        axes.set(xlabel="false positive rate", ylabel="true positive rate")

    body = []
    for label, curve in curves.items():
        places = np.searchsorted(curve["fpr"], ROC_RATES, side="right") - 1
        body.append((label, rows[label]["auc"], *(curve["tpr"][k] for k in places)))
    whose = "all classes pooled" if is_multiclass else "of the second class"
    heads = ("method", "AUC", *(f"at {rate:g}" for rate in ROC_RATES))
    return Figure(
        "ROC curves",
        f"ROC curves of held-out predictions, {whose}; AUC is the mean over folds."
        f"{_mention_others(curves)}",
        f"ROC curves. {'; '.join(named)}.",
        _draw_curves(named, "fpr", "tpr", 3.5, decorate),
        numbers=("True positive rates at three false positive rates.", heads, body),
    )


def review_figure(curves: LabeledRows) -> Figure | None:
    """Return errors left against the fraction of predictions that a person reviews.

    Parameters
    ----------
    curves : mapping
        Label to "fraction" and "left"; the first three are drawn.
    """
    if not curves:
        return None

    def decorate(axes: "Axes") -> None:
        axes.set(xlabel="fraction reviewed", ylabel="errors left", xlim=(0, 1))
        axes.set_ylim(bottom=0)
        axes.grid()

    fractions = (0.0, *REVIEWED_FRACTIONS)
    texts: list[str] = []
    body: list[report.TableRow] = []
    for label, curve in curves.items():
        left = np.interp(fractions, curve["fraction"], curve["left"]).tolist()
        body.append((label, *(Entry(f"{each:.1f}", each) for each in left)))
        after = left[fractions.index(0.2)]
        texts.append(f"{label}: {left[0]:.0f}, and {after:.0f} after 20% are reviewed")
    heads = ("method", "errors", *(f"after {each:.0%}" for each in REVIEWED_FRACTIONS))
    return Figure(
        "Errors left after a review",
        "A person reviews and corrects the held-out predictions that the method is "
        f"least certain of, first.{_mention_others(curves)}",
        f"Errors left. {'; '.join(texts)}.",
        _draw_curves(curves, "fraction", "left", 2.9, decorate),
        numbers=("Errors left by fraction reviewed.", heads, body),
    )


def reliability_figure(curves: LabeledRows, classes: Sequence[str]) -> Figure | None:
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
    drawn = {}
    for label in list(curves)[:MAX_CURVES]:
        columns = {name: np.asarray(own) for name, own in curves[label].items()}
        kept = columns["count"] >= MIN_BIN_SAMPLES
        kept |= not kept.any()
        drawn[label] = {name: own[kept] for name, own in columns.items()}

    def draw(figure: "Canvas") -> None:
        ratios = {"height_ratios": (3, 1)}
        upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw=ratios)
        _draw_unit_square(upper, "diagonal: as predicted")
        upper.set(ylabel="observed frequency")
        styles = zip(drawn.values(), report.CURVE_STYLES, strict=False)
        for curve, (color, marker, line) in styles:
            look = {"color": color, "ls": line, "marker": marker, "ms": 4}
            ends = curve["predicted"], curve["low"], curve["high"]
            upper.fill_between(*ends, color=color, alpha=0.15, lw=0)
            upper.plot(curve["predicted"], curve["observed"], lw=1.4, **look)
            lower.plot(curve["predicted"], curve["count"], lw=1, **look)
        lower.set(xlabel="predicted probability", ylabel="samples")
        lower.set_ylim(bottom=0)
        lower.grid()
        _draw_legend(figure, drawn)

    farthest, body, names = [], [], ("predicted", "observed", "count")
    for label, curve in curves.items():
        bins = list(zip(*(curve[name] for name in names), strict=True))
        body += [(label, *each) for each in bins]
        given, observed, count = max(bins, key=lambda each: abs(each[0] - each[1]))
        farthest.append(
            f"{label}: farthest from the diagonal at {given:.2f}, where "
            f"{observed:.2f} of {count:.0f} samples were observed"
        )
    what = "that the predicted class is right"
    if len(classes) == 2:
        what = f"of the class {classes[-1]}"
    heads = "method, predicted, observed, samples"
    return Figure(
        "Reliability",
        f"Predicted probabilities {what}, and observed frequencies with 95% bands "
        "(Wilson); below, the number of samples. On the diagonal, predictions come "
        f"true as often as predicted. Bins of fewer than {MIN_BIN_SAMPLES} samples are "
        f"among the numbers only.{_mention_others(curves)}",
        f"Reliability curves. {'; '.join(farthest)}.",
        (draw, (report.COLUMN_INCHES, 4.4 + 0.2 * len(drawn))),
        numbers=("Means over bins of predicted probabilities.", heads, body),
    )


def _mention_others(curves: Collection[str]) -> str:
    more = len(curves) - MAX_CURVES
    return f" Numbers of {more} more are below." if more > 0 else ""


def _draw_unit_square(axes: "Axes", diagonal: str) -> None:
    """Prepare axes from 0 to 1 with a named diagonal."""
    axes.plot([0, 1], [0, 1], color=Color.FAINT, lw=1, zorder=1)
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
        for color, marker, line in report.CURVE_STYLES[: len(names)]
    ]
    labels = [report.shorten(text, 44) for text in names]
    figure.legend(keys, labels, loc="outside lower left", ncols=1, labelspacing=0.3)
