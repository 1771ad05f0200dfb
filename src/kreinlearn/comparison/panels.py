"""Figures of a comparison: accuracies, ROC, reliability and convergence."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

from kreinlearn.pages import plots
from kreinlearn.pages.entries import DASH, Findings, numeral
from kreinlearn.pages.figures import Figure
from kreinlearn.pages.plots import Curve, Curves
from kreinlearn.pages.tables import TableRow

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
    >>> from kreinlearn.comparison.panels import row_label
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
    """Return the "rows" or "curves" of one data set by their labels."""
    own = (each for each in found.get(key) or () if each["data"] == data)
    return {row_label(found, each): each for each in own}


def ends_of(row: Findings) -> tuple[float, ...]:
    """Return the ends of the interval of an accuracy, none if it is not known."""
    ends = row.get("accuracy_low"), row.get("accuracy_high")
    return tuple(float(end) for end in ends if end is not None)


def accuracy_figure(rows_of: Mapping[str, Mapping[str, Findings]]) -> list[Figure]:
    """Return the accuracies of all methods and folds, one panel per data set.

    Parameters
    ----------
    rows_of : mapping
        Data set to label to row, with "scores" and the ends of an interval, if known.

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
        what += ", and a line for its 95 % interval"
    is_wide = len(scores) > 1
    drawn = Figure(
        "Accuracy",
        f"{what}; the largest diamond is the best.",
        f"Mean accuracies. {'; '.join(said)}.",
        plots.accuracies(scores, intervals, n_columns=2 if is_wide else 1),
        plots.accuracies(scores, intervals) if is_wide else None,
        (
            "Accuracy on each held-out fold.",
            "data, method, mean, 95 % interval, folds",
            rows,
        ),
    )
    return [drawn]


def curve_figures(
    found: Findings, data: str, rows: Mapping[str, Findings]
) -> list[Figure]:
    """Return ROC, reliability and convergence of one data set, as far as known.

    Parameters
    ----------
    found : mapping
        A comparison.
    data : str
        Name of the data set.
    rows : mapping
        Label to row of this data set.
    """
    curves = labeled(found, "curves", data)
    # The best come first: only the first few have a color of their own.
    labels = [label for label in rows if label in curves]
    labels.sort(key=lambda label: -(rows[label].get("accuracy") or 0.0))
    rocs = _each_once({label: curves[label].get("roc") for label in labels})
    labels.sort(key=lambda label: _loss(rows[label]))
    bins = _each_once({label: curves[label].get("reliability") for label in labels})
    about = next(each for each in found["data"] if each["name"] == data)
    several = len(about.get("classes") or ()) > 2
    traces = [each for each in found.get("convergence") or () if each["data"] == data]
    figures = []
    if rocs:
        figures.append(_roc_figure(rocs, rows, several))
    if bins:
        figures.append(_reliability_figure(bins, several))
    if traces:
        figures.append(_convergence_figure(traces))
    return figures


def _each_once(curves: Mapping[str, Curve | None]) -> dict[str, Curve]:
    """Return the curves that exist, those that repeat an earlier one last.

    On a positive definite matrix half of the methods agree to the last digit.
    """
    first: dict[str, Curve] = {}
    repeated: dict[str, Curve] = {}
    for label, curve in curves.items():
        if curve:
            (repeated if curve in first.values() else first)[label] = curve
    return first | repeated


def _loss(row: Findings) -> float:
    loss = row.get("log_loss")
    return float("inf") if loss is None else float(loss)


def _roc_figure(curves: Curves, rows: Mapping[str, Findings], several: bool) -> Figure:
    """Return the ROC curves, with each AUC, and rates read off from them."""

    def read_off(curve: Curve, rate: float) -> float:
        pairs = zip(curve["fpr"], curve["tpr"], strict=True)
        return max((tpr for fpr, tpr in pairs if fpr <= rate), default=0.0)

    named = {}
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
        f"ROC curves of held-out predictions, {whose}; AUC is the mean over folds.",
        f"ROC curves, best accuracy first. {'; '.join(named)}.",
        plots.roc(named),
        numbers=("True positive rates at three false positive rates.", heads, body),
    )


def _reliability_figure(curves: Curves, several: bool) -> Figure:
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
    what = "that the predicted class is right" if several else "of the second class"
    listed = "Means over bins of predicted probabilities."
    return Figure(
        "Reliability",
        f"Predicted probabilities {what}, and how often it was so; below, the number "
        "of samples. On the diagonal, predictions come true as often as they say.",
        f"Reliability curves. {'; '.join(said)}.",
        plots.reliability_curves(curves),
        numbers=(listed, "method, predicted, observed, samples", rows),
    )


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
