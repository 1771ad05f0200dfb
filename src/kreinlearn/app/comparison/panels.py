"""Figures of a comparison: scores, differences, probabilities, errors, convergence."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kreinlearn.app.report import dots, plots
from kreinlearn.app.report.colors import LOOKS
from kreinlearn.app.report.entries import (
    DASH,
    SCORE_NAMES,
    Entry,
    Findings,
    numeral,
    signed,
)
from kreinlearn.app.report.figures import NARROW, Drawing, Figure
from kreinlearn.app.report.plots import Curve, Curves
from kreinlearn.app.report.tables import TableRow

MOST_CURVES = len(LOOKS)
"""Curves in one picture."""
MOST_CLASSES = 12
"""Classes above which no confusion matrix is drawn."""
FEWEST_IN_BIN = 5
"""Samples below which a bin of probabilities is listed, but not drawn."""
RATES = (0.05, 0.1, 0.2)
"""False positive rates at which a ROC curve is read off."""


def row_label(found: Findings, row: Findings) -> str:
    """Return the name of a row: its method, and its kernel if that tells rows apart.

    Parameters
    ----------
    found : mapping
        A comparison.
    row : mapping
        With "data", "method" and "kernel".

    Returns
    -------
    str
        Unique within the data set.

    Examples
    --------
    >>> from kreinlearn.app.comparison.panels import row_label
    >>> row = {"data": "wine", "method": "SVC", "kernel": "rbf"}
    >>> row_label({"rows": [row]}, row)
    'SVC'
    >>> row_label({"rows": [row, row | {"kernel": "tl1 (ratio 0.7)"}]}, row)
    'SVC, rbf'
    """
    alike = Counter((each["data"], each["method"]) for each in found["rows"])
    is_alone = all(n == 1 for (_, name), n in alike.items() if name == row["method"])
    if is_alone or row.get("kernel") is None:
        return str(row["method"])
    kernels = {str(each["kernel"]) for each in found["rows"] if each.get("kernel")}
    # Parameters stand in the tables; in a name only if they tell kernels apart.
    is_enough = len({each.partition(" (")[0] for each in kernels}) == len(kernels)
    kernel = str(row["kernel"])
    return f"{row['method']}, {kernel.partition(' (')[0] if is_enough else kernel}"


def labeled(found: Findings, key: str, data: str) -> dict[str, Findings]:
    """Return the "rows" or "curves" of one data set by their labels.

    Rows that repeat the predictions of another are left out: see `repeated`.
    """
    own = [each for each in found.get(key) or () if each["data"] == data]
    again = {
        (row["method"], row["kernel"])
        for row in found["rows"]
        if row["data"] == data and row.get("same_as") is not None
    }
    kept = (each for each in own if (each["method"], each["kernel"]) not in again)
    return {row_label(found, each): each for each in kept}


def repeated(found: Findings, row: Findings) -> list[str]:
    """Return the methods that make the same predictions as a row, and are left out."""
    place = row["data"], row["kernel"], row["method"]
    return [
        str(each["method"])
        for each in found["rows"]
        if (each["data"], each["kernel"], each.get("same_as")) == place
    ]


def ends_of(row: Findings) -> tuple[float, ...]:
    """Return the ends of the interval of an accuracy, none if it is not known."""
    ends = row.get("accuracy_low"), row.get("accuracy_high")
    return tuple(float(end) for end in ends if end is not None)


def accuracy_figure(
    rows_of: Mapping[str, Mapping[str, Findings]], interval: str
) -> list[Figure]:
    """Return the accuracies of all methods and folds, one panel per data set.

    Parameters
    ----------
    rows_of : mapping
        Data set to label to row, with "scores" and the ends of an interval, if known.
    interval : str
        After whom the intervals are named.

    Returns
    -------
    list of Figure
        One, or none if nothing was scored.
    """
    scores: dict[str, dict[str, Sequence[float]]] = {
        data: {label: row["scores"] for label, row in own.items()}
        for data, own in rows_of.items()
    }
    intervals: dict[str, dict[str, Sequence[float]]] = {
        data: {label: ends for label, row in own.items() if (ends := ends_of(row))}
        for data, own in rows_of.items()
    }
    said, most = [], 0
    rows: list[TableRow] = []
    for data, own in scores.items():
        means = {label: statistics.fmean(each) for label, each in own.items() if each}
        texts = [f"{label} {mean:.3f}" for label, mean in means.items()]
        said.append(f"{data}: {', '.join(texts)}")
        for label, each in own.items():
            most = max(most, len(each))
            folds = ", ".join(f"{value:.3f}" for value in each) or DASH
            shown = [f"{end:.3f}" for end in intervals[data].get(label, ())]
            mean = numeral(means.get(label), ".3f")
            rows.append((data, label, mean, " to ".join(shown) or DASH, folds))
    if most == 0:
        return []
    what = "One diamond per method"
    if most > 1:
        what = "One tick per held-out fold, a diamond for the mean"
    if any(intervals.values()):
        what += f", and a line for its 95 % interval (after {interval})"
    is_wide = len(scores) > 1
    drawn = Figure(
        "Accuracy of each method",
        f"{what}; the largest diamond is the best.",
        f"Mean accuracies. {'; '.join(said)}.",
        dots.accuracies(scores, intervals, n_columns=2 if is_wide else 1),
        _narrow(dots.accuracies(scores, intervals)) if is_wide else None,
        (
            "Accuracy on each held-out fold.",
            "data, method, mean, 95 % interval, folds",
            rows,
        ),
    )
    return [drawn]


def difference_figure(rows: Mapping[str, Findings], measure: str) -> list[Figure]:
    """Return how far each row is from the best one, fold by fold.

    Parameters
    ----------
    rows : mapping
        Label to row of one data set, with "behind".
    measure : str
        "accuracy" or "log_loss".

    Returns
    -------
    list of Figure
        One, or none if fewer than two rows have this measure.
    """
    gaps: dict[str, Sequence[float]] = {}
    for label, row in rows.items():
        gap = (row.get("behind") or {}).get(measure)
        if gap:
            ends = [gap[end] for end in ("low", "high") if gap[end] is not None]
            gaps[label] = [gap["mean"], *ends]
    if len(gaps) < 2:
        return []
    sign = 1 if measure == "log_loss" else -1
    gaps = dict(sorted(gaps.items(), key=lambda each: sign * each[1][0]))
    best, name = next(iter(gaps)), SCORE_NAMES[measure]
    body: list[TableRow] = []
    said = []
    for label, (mean, *ends) in gaps.items():
        told = " to ".join(signed(end) for end in ends) or DASH
        body.append((label, Entry(signed(mean), mean), told))
        said.append(f"{label} {signed(mean)} ({told})")
    drawn = Figure(
        f"{name[0].upper()}{name[1:]}: difference from the best",
        f"Mean difference from {best} over the same folds, with 95 % intervals (after "
        "Nadeau and Bengio), which allow for training rows that folds share. Filled: "
        "the interval leaves out zero.",
        f"Differences from {best}: {'; '.join(said[1:])}.",
        dots.differences(gaps, f"difference in {name} from {best}"),
        numbers=(
            f"Differences in {name} from {best}, fold by fold.",
            "method, mean difference, 95 % interval",
            body,
        ),
    )
    return [drawn]


class Panels(NamedTuple):
    """Figures of one data set, by what they are about; each list may be empty."""

    reliability: list[Figure]
    confusion: list[Figure]
    roc: list[Figure]
    convergence: list[Figure]


def curve_figures(found: Findings, data: str, rows: Mapping[str, Findings]) -> Panels:
    """Return reliability, confusion, ROC and convergence of one data set.

    Parameters
    ----------
    found : mapping
        A comparison. Methods in "shown", if there are any, are drawn; by default the
        three with the best scores.
    data : str
        Name of the data set.
    rows : mapping
        Label to row of this data set.
    """
    curves = labeled(found, "curves", data)
    labels = [label for label in rows if label in curves]
    wanted = found.get("shown") or ()
    order = {method: place for place, method in enumerate(wanted)}

    def first(label: str) -> int:
        return order.get(rows[label]["method"], len(order))

    labels.sort(key=lambda label: (first(label), -(rows[label].get("accuracy") or 0)))
    rocs = {label: own for label in labels if (own := curves[label].get("roc"))}
    labels.sort(key=lambda label: (first(label), _loss(rows[label])))
    bins = {label: own for label in labels if (own := curves[label].get("reliability"))}
    about = next(each for each in found["data"] if each["name"] == data)
    classes = [str(each) for each in about.get("classes") or ()]
    traces = [each for each in found.get("convergence") or () if each["data"] == data]
    several = len(classes) > 2
    counts = {
        label: own
        for label in list(rocs)[:MOST_CURVES]
        if (own := rows[label].get("confusion"))
    }
    is_counted = bool(counts) and len(classes) <= MOST_CLASSES
    return Panels(
        [_reliability_figure(bins, classes)] if bins else [],
        [_confusion_figure(counts, classes)] if is_counted else [],
        [_roc_figure(rocs, rows, several)] if rocs else [],
        [_convergence_figure(traces)] if traces else [],
    )


def _first(curves: Curves) -> dict[str, Curve]:
    """Return the few curves that are drawn."""
    return dict(list(curves.items())[:MOST_CURVES])


def _confusion_figure(
    counts: Mapping[str, Sequence[Sequence[int]]], classes: Sequence[str]
) -> Figure:
    """Return which classes are taken for which."""
    body: list[TableRow] = [
        (label, f"{name}, predicted {other}", count)
        for label, table in counts.items()
        for name, row in zip(classes, table, strict=True)
        for other, count in zip(classes, row, strict=True)
    ]
    said = [
        f"{label}: {sum(row[k] for k, row in enumerate(table))} of "
        f"{sum(map(sum, table))} right"
        for label, table in counts.items()
    ]
    return Figure(
        "Which classes are mistaken",
        "Held-out samples by true class (rows) and predicted class (columns); the "
        "stronger the color, the larger the share of a row.",
        f"Confusion matrices. {'; '.join(said)}.",
        plots.confusion(counts, classes),
        numbers=("Held-out samples.", "method, true class, samples", body),
    )


def _loss(row: Findings) -> float:
    loss = row.get("log_loss")
    return float("inf") if loss is None else float(loss)


def _roc_figure(curves: Curves, rows: Mapping[str, Findings], several: bool) -> Figure:
    """Return the ROC curves, with each AUC, and rates read off from them."""

    def read_off(curve: Curve, rate: float) -> float:
        pairs = zip(curve["fpr"], curve["tpr"], strict=True)
        return max((tpr for fpr, tpr in pairs if fpr <= rate), default=0.0)

    named: dict[str, Curve] = {}
    body: list[TableRow] = []
    for label, curve in curves.items():
        known = rows[label].get("auc")
        named[label if known is None else f"{label}: AUC {known:.3f}"] = curve
        values = (known, *(read_off(curve, rate) for rate in RATES))
        body.append((label, *(numeral(value, ".3f") for value in values)))
    whose = "all classes pooled" if several else "of the second class"
    heads = ("method", "AUC", *(f"at {rate:g}" for rate in RATES))
    return Figure(
        "ROC curves",
        f"ROC curves of held-out predictions, {whose}; AUC is the mean over folds."
        f"{_others(curves)}",
        f"ROC curves. {'; '.join(named)}.",
        plots.roc(_first(named)),
        numbers=("True positive rates at three false positive rates.", heads, body),
    )


def _others(curves: Curves) -> str:
    """Return what is said of curves that are not drawn."""
    more = len(curves) - MOST_CURVES
    return f" Numbers of {more} more are below." if more > 0 else ""


def _reliability_figure(curves: Curves, classes: Sequence[str]) -> Figure:
    """Return how often predictions came true, against their probability."""
    said = []
    rows: list[TableRow] = []
    for label, curve in curves.items():
        columns = (curve[key] for key in ("predicted", "observed", "count"))
        bins = list(zip(*columns, strict=True))
        for *shares, count in bins:
            numbers = [numeral(share, ".3f") for share in shares]
            rows.append((label, *numbers, numeral(count, ".0f")))
        given, observed, count = max(bins, key=lambda each: abs(each[0] - each[1]))
        said.append(
            f"{label}: farthest from the diagonal at {given:.2f}, where "
            f"{observed:.2f} of {count:.0f} samples were observed"
        )
    what = "that the predicted class is right"
    if len(classes) <= 2:
        what = f"of the class {classes[-1]}" if classes else "of the second class"
    listed = "Means over bins of predicted probabilities."
    return Figure(
        "Reliability",
        f"Predicted probabilities {what}, and how often it was so, with bands of 95 % "
        "(Wilson); below, the number of samples. On the diagonal, predictions come "
        f"true as often as they say. Bins of fewer than {FEWEST_IN_BIN} samples are "
        f"among the numbers only.{_others(curves)}",
        f"Reliability curves. {'; '.join(said)}.",
        plots.reliability_curves({k: _full(v) for k, v in _first(curves).items()}),
        numbers=(listed, "method, predicted, observed, samples", rows),
    )


def _full(curve: Curve) -> Curve:
    """Return the bins that have enough samples, or all if none has."""
    kept = [k for k, n in enumerate(curve["count"]) if n >= FEWEST_IN_BIN]
    if not kept:
        return curve
    return {name: [values[k] for k in kept] for name, values in curve.items()}


def _convergence_figure(traces: Sequence[Findings]) -> Figure:
    """Return how fast solvers converge, one panel for each thing measured."""
    panels: dict[str, dict[str, Sequence[float]]] = {}
    said = []
    rows: list[TableRow] = []
    for each in traces:
        values = [value for value in each["values"] if value is not None]
        if not values:
            continue
        method, measure = str(each["method"]), str(each["label"])
        panels.setdefault(measure, {})[method] = values
        first, last = (numeral(value, ".3g") for value in (values[0], values[-1]))
        steps = len(values) - 1
        rows.append((method, measure, steps, first, last, each.get("status") or DASH))
        ends = f"from {first.text} to {last.text} in {steps} iterations"
        said.append(f"{method}, {measure}: {ends}")
    kernel = traces[0].get("kernel")
    listed = "First and last value of each curve."
    return Figure(
        "Convergence",
        f"How fits converge{f', on {kernel}' if kernel else ''}; steep, and down to "
        "rounding, is good.",
        f"Convergence on a log scale. {'; '.join(said)}.",
        plots.convergence(panels),
        numbers=(listed, "method, measure, iterations, first, last, status", rows),
    )


def _narrow(drawing: Drawing) -> Drawing:
    """Return a drawing for phones."""
    draw, (_, height) = drawing
    return draw, (NARROW, height)
