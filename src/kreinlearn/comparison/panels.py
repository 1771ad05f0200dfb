"""Figures of a comparison: accuracies, ROC, reliability and convergence."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kreinlearn.pages import plots
from kreinlearn.pages.figures import Figure
from kreinlearn.pages.tables import Entry, Table, number_entry

Found = Mapping[str, Any]
Curves = Mapping[str, Mapping[str, Sequence[float]]]

RATES = (0.05, 0.1, 0.2)
"""False positive rates at which a ROC curve is read off."""


def label(found: Found, row: Found) -> str:
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
    >>> from kreinlearn.comparison.panels import label
    >>> row = {"data": "wine", "method": "SVC", "kernel": "rbf"}
    >>> label({"rows": [row]}, row)
    'SVC'
    >>> label({"rows": [row, row | {"kernel": "tl1 (ratio 0.7)"}]}, row)
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


def accuracy_figures(
    scores: Mapping[str, Mapping[str, Sequence[float]]],
) -> list[Figure]:
    """Return the accuracy of every method, with its folds.

    Parameters
    ----------
    scores : mapping
        Data set to method to accuracies of folds.

    Returns
    -------
    list of Figure
        One, with a panel for each data set; none if nothing was scored.
    """
    most = max(
        (len(folds) for own in scores.values() for folds in own.values()), default=0
    )
    if most == 0:
        return []
    said, rows = [], []
    for data, own in scores.items():
        means = {key: statistics.fmean(values) for key, values in own.items() if values}
        texts = [f"{key} {mean:.3f}" for key, mean in means.items()]
        said.append(f"{data}: {', '.join(texts)}")
        for key, values in own.items():
            folds = ", ".join(f"{value:.3f}" for value in values) or "–"
            cells = [Entry(data), Entry(key), number_entry(means.get(key), ".3f")]
            rows.append([*cells, Entry(folds)])
    columns = tuple(Entry(head) for head in ("data", "method", "mean", "folds"))
    title = "Accuracy"
    is_wide = len(scores) > 1
    what = "A diamond for each method"
    if most > 1:
        what = "A tick for each held-out fold, a diamond for the mean"
    drawn = Figure(
        title,
        f"{what}; the largest diamond is the best.",
        f"Mean accuracies. {'; '.join(said)}.",
        plots.accuracies(scores, n_columns=2 if is_wide else 1),
        plots.accuracies(scores) if is_wide else None,
        Table(title, "Accuracy on each held-out fold.", columns, rows),
    )
    return [drawn]


def curve_figures(found: Found, data: str) -> list[Figure]:
    """Return the curves of one data set.

    Parameters
    ----------
    found : mapping
        A comparison.
    data : str
        Name of the data set.

    Returns
    -------
    list of Figure
        ROC, reliability, convergence: those that there is something to draw for.
    """
    best = {label(found, row): row for row in found["rows"] if row["data"] == data}
    # The best come first: they are the ones that are told apart by their looks.
    order = sorted(best, key=lambda key: -(best[key].get("accuracy") or 0.0))
    mine = {
        label(found, each): each
        for each in found.get("curves") or ()
        if each["data"] == data
    }
    kept = {key: mine[key] for key in order if key in mine}
    rocs = _each_once({key: each.get("roc") for key, each in kept.items()})
    kept = dict(sorted(kept.items(), key=lambda item: _loss(best[item[0]])))
    promises = _each_once({key: each.get("reliability") for key, each in kept.items()})
    several = len((_about(found, data)).get("classes") or ()) > 2
    figures = []
    if rocs:
        auc = {key: best[key].get("auc") for key in rocs}
        figures.append(_roc_figure(rocs, auc, several))
    if promises:
        figures.append(_reliability_figure(promises, several))
    traces = [each for each in found.get("convergence") or () if each["data"] == data]
    if traces:
        figures.append(_convergence_figure(traces))
    return figures


def _each_once(curves: Mapping[str, Any]) -> dict[str, Any]:
    """Return the curves that there are, those that repeat an earlier one last.

    On a positive definite matrix half of the methods agree to the last digit.
    """
    first: dict[str, Any] = {}
    repeated: dict[str, Any] = {}
    for key, curve in curves.items():
        if curve:
            (repeated if curve in first.values() else first)[key] = curve
    return first | repeated


def _loss(row: Found) -> float:
    loss = row.get("log_loss")
    return float("inf") if loss is None else float(loss)


def _about(found: Found, data: str) -> Found:
    return next(each for each in found["data"] if each["name"] == data)


def _roc_figure(curves: Curves, auc: Found, several: bool) -> Figure:
    def read_off(curve: Mapping[str, Sequence[float]], rate: float) -> float:
        pairs = zip(curve["fpr"], curve["tpr"], strict=True)
        return max((tpr for fpr, tpr in pairs if fpr <= rate), default=0.0)

    named = {}
    for key, curve in curves.items():
        known = auc[key]
        named[key if known is None else f"{key}: AUC {known:.3f}"] = curve
    columns = ("method", "AUC", *(f"at {rate:g}" for rate in RATES))
    rows = [
        [
            Entry(key),
            number_entry(auc[key], ".3f"),
            *(number_entry(read_off(curve, rate), ".3f") for rate in RATES),
        ]
        for key, curve in curves.items()
    ]
    whose = "all classes pooled" if several else "of the second class"
    title = "ROC curves"
    text = (
        "True positive rates at three false positive rates; AUC is the mean of folds."
    )
    return Figure(
        title,
        f"ROC curves of held-out predictions, {whose}; AUC is the mean of the folds.",
        f"ROC curves, best accuracy first. {'; '.join(named)}.",
        plots.roc(named),
        table=Table(title, text, tuple(Entry(head) for head in columns), rows),
    )


def _reliability_figure(curves: Curves, several: bool) -> Figure:
    rows, said = [], []
    for key, curve in curves.items():
        bins = list(
            zip(curve["predicted"], curve["observed"], curve["count"], strict=True)
        )
        for predicted, observed, count in bins:
            numbers = [number_entry(each, ".3f") for each in (predicted, observed)]
            rows.append([Entry(key), *numbers, number_entry(count, ".0f")])
        worst = max(bins, key=lambda each: abs(each[0] - each[1]))
        said.append(
            f"{key}: farthest from the diagonal at {worst[0]:.2f}, where "
            f"{worst[1]:.2f} of {worst[2]:.0f} samples were observed"
        )
    what = "that the predicted class is right" if several else "of the second class"
    heads = ("method", "predicted", "observed", "samples")
    title = "Reliability"
    return Figure(
        title,
        f"Predicted probabilities {what}, and how often it was so; below, the number "
        "of samples. On the diagonal, probabilities keep their promise.",
        f"Reliability curves. {'; '.join(said)}.",
        plots.reliability(curves),
        table=Table(
            title,
            "Means over bins of predicted probabilities.",
            tuple(Entry(head) for head in heads),
            rows,
        ),
    )


def _convergence_figure(traces: Sequence[Found]) -> Figure:
    panels: dict[str, dict[str, Sequence[float]]] = {}
    rows, said = [], []
    for each in traces:
        values = [value for value in each["values"] if value is not None]
        if not values:
            continue
        panels.setdefault(str(each["label"]), {})[str(each["method"])] = values
        ends = [number_entry(value, ".3g") for value in (values[0], values[-1])]
        iterations = len(values) - 1
        rows.append(
            [
                Entry(str(each["method"])),
                Entry(str(each["label"])),
                number_entry(iterations, "d"),
                *ends,
                Entry(str(each.get("status") or "–")),
            ]
        )
        said.append(
            f"{each['method']}, {each['label']}: from {ends[0].text} to "
            f"{ends[1].text} in {iterations} iterations"
        )
    heads = ("method", "measure", "iterations", "first", "last", "status")
    kernel = traces[0].get("kernel")
    title = "Convergence"
    return Figure(
        title,
        "How fits approach their ends"
        + (f", on {kernel}" if kernel else "")
        + "; steep and down to rounding is good.",
        f"Convergence on a log scale. {'; '.join(said)}.",
        plots.convergence(panels),
        table=Table(
            title, "Ends of the curves.", tuple(Entry(head) for head in heads), rows
        ),
    )
