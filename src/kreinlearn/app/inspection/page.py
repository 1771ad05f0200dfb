"""The page of an inspection, and its figures."""

import textwrap
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.app import report
from kreinlearn.app.methods import KREIN_CV
from kreinlearn.app.report import Color, Entry, Figure, Findings, PageTable, Section
from kreinlearn.plotting import SimilarityMatrixDisplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MAX_DRAWN_CLASSES, MAX_DRAWN_SAMPLES = 12, 250
"""Classes above which the matrix is not drawn, and samples in the drawing."""


def inspection_page(
    found: Findings, matrix: Array | None = None, labels: Array | None = None
) -> str:
    """Return the page of an inspection, which needs no other file.

    Parameters
    ----------
    found : mapping
        Output of `krein inspect --json`.
    matrix : ndarray of shape (n, n), optional
        Similarities, which are drawn if there are labels.
    labels : ndarray of shape (n,), optional
        Labels.
    """
    listed, sentences = _spectrum_table(found), found["sentences"]
    verdict = [*sentences[: found["n_verdict"]], sentences[-1]]
    drawn = report.spectrum_figure(found, "The spectrum")
    figure = [] if drawn is None else [drawn]
    if matrix is not None and labels is not None:
        if 1 < len(np.unique(labels)) <= MAX_DRAWN_CLASSES:
            figure.insert(0, matrix_figure(matrix, labels))
    if list_scores(found):
        first = Section("Predictions and spectrum", [_score_table(found), *figure])
    else:
        first = Section("The spectrum", [*figure, listed])
    chance = [permutation_figure(found["value"])] if found["value"] else []
    more = [listed] if list_scores(found) else []
    return report.html(
        f"Inspection of {found['source']}",
        [
            first,
            Section("Could it be chance?", chance, is_detail=True),
            Section(listed.title, more, is_detail=True),
        ],
        sentences=verdict,
        remarks=[each for each in sentences if each not in verdict],
        facts=_list_facts(found),
        command=found.get("command", ""),
        versions=found["versions"],
    )


def matrix_figure(matrix: Array, labels: Array) -> Figure:
    """Return the similarities with samples ordered by class, and means by class.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Similarities.
    labels : ndarray of shape (n,)
        Labels.
    """
    classes = np.unique(labels)
    pairs = combinations_with_replacement(classes, 2)
    means = {(str(a), str(b)): _mean_between(matrix, labels, a, b) for a, b in pairs}
    rows = [(*pair, report.format_number(mean, ".4g")) for pair, mean in means.items()]
    order = np.argsort(labels, kind="stable")
    order = order[report.select_evenly(len(order), MAX_DRAWN_SAMPLES)]

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        names = np.array([report.shorten(str(label), 12) for label in labels[order]])
        part = matrix[np.ix_(order, order)]
        SimilarityMatrixDisplay.from_matrix(part, names, ax=axes, cmap="cividis")

    same = [mean for (a, b), mean in means.items() if a == b and mean is not None]
    return Figure(
        "The matrix, ordered by class",
        "Similarities between samples, ordered by class; bright pairs are alike. "
        "Bright squares on the diagonal are classes whose samples are alike.",
        "Matrix of similarities. Mean similarity within classes: "
        f"{', '.join(f'{value:.3g}' for value in same)}.",
        (draw, (report.COLUMN_INCHES, 3.4)),
        numbers=("Mean similarities between classes.", "class, class, mean", rows),
    )


def _mean_between(matrix: Array, labels: Array, a: object, b: object) -> float | None:
    """Return the mean similarity between different samples of two classes."""
    ours, theirs = np.flatnonzero(labels == a), np.flatnonzero(labels == b)
    part = matrix[np.ix_(ours, theirs)]
    if a != b:
        return float(part.mean())
    n = len(ours)
    return float((part.sum() - part.trace()) / (n * (n - 1))) if n > 1 else None


def _list_facts(found: Findings) -> dict[str, str]:
    pairs = [
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in found["params"].items()
    ]
    kernel = f"{found['kernel']} ({', '.join(pairs)})" if pairs else found["kernel"]
    facts = {"Kernel": kernel, "Samples": str(found["n"])}
    if found["n_given"] != found["n"]:
        facts["Samples"] += f" of {found['n_given']}"
    if found["classes"]:
        facts["Classes"] = ", ".join(str(each) for each in found["classes"])
    return facts | {"Recommendation": found["recommendation"]}


def _spectrum_table(found: Findings) -> PageTable:
    signs = [f"{sign} eigenvalues" for sign in ("positive", "negative", "zero")]
    fraction = found["negative_share"]
    values = {
        "smallest eigenvalue": (found["mu_min"], ".6g"),
        "largest eigenvalue": (found["mu_max"], ".6g"),
        "negative fraction of the sum of absolute values": (fraction, ".4f"),
        "lam from which the solution is unique": (found["unique_lam"], ".4g"),
    }
    values |= {f"asymmetry, {k}": (v, ".3g") for k, v in found["asymmetry"].items()}
    rows: list[report.TableRow] = [*zip(signs, found["signature"], strict=True)]
    rows += [(name, report.format_number(*value)) for name, value in values.items()]
    title = "Numbers of the spectrum"
    return report.make_table(title, "The spectrum.", "quantity, value", rows)


def list_scores(found: Findings) -> dict[str, Findings]:
    """Return held-out scores by name: the default model, the majority, repairs.

    Equal scores share a row.
    """
    model, value = found["model"], found["value"] or {"scores": {}}
    names: dict[tuple[float, float], list[str]] = {}
    for name, own in value["scores"].items():
        names.setdefault((own["accuracy"], own["log_loss"]), []).append(name)
    scores: dict[str, Findings] = {}
    if model is not None:
        scores[KREIN_CV] = {key: model[key] for key in ("accuracy", "log_loss")}
        scores["majority class"] = {"accuracy": model["majority"], "log_loss": None}
    for (accuracy, loss), group in names.items():
        scores[", ".join(group)] = {"accuracy": accuracy, "log_loss": loss}
    return scores


def _score_table(found: Findings) -> PageTable:
    keys, scores = ["accuracy", "log_loss"], list_scores(found)
    repairs = (
        " The rows below the majority class are logistic regression on the matrix and "
        "on its repairs."
    )
    return report.make_table(
        "Held-out scores",
        f"Mean scores on held-out samples over {found['model']['folds']} folds; the "
        f"best of each column is bold. {KREIN_CV} is the model that krein fit builds."
        f"{repairs * (len(scores) > 2)}",
        ("model", *(report.SCORE_NAMES[key] for key in keys)),
        [(name, *row) for name, row in report.format_scores(scores, keys).items()],
    )


def permutation_figure(value: Findings) -> Figure:
    """Return a histogram of permuted differences, with the observed one marked.

    Parameters
    ----------
    value : mapping
        With "permutations", "difference", "p_value" and "label".
    """
    null, seen, p = value["permutations"], value["difference"], value["p_value"]
    beyond = sum(each >= seen for each in null)
    numbers = seen, min(null), max(null)
    observed, least, most = (report.format_signed(number, "+.3g") for number in numbers)

    def draw(figure: "Canvas") -> None:
        axes = figure.add_subplot()
        low, high = min(*null, seen), max(*null, seen)
        pad = 0.05 * (high - low) or 0.05
        edges = np.linspace(low - pad, high + pad, 26).tolist()
        axes.hist(null, bins=edges, color=Color.FAINT, edgecolor=Color.GREY, lw=0.5)
        axes.axvline(seen, color=Color.ORANGE, lw=2, ls="--")
        axes.set_ylim(top=1.22 * axes.get_ylim()[1])
        is_right = seen > (low + high) / 2
        axes.annotate(
            f"observed {observed} ",
            (seen, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(-4 if is_right else 4, 0),
            textcoords="offset points",
            ha="right" if is_right else "left",
            va="top",
        )
        label = report.shorten(str(value.get("label", "difference of scores")), 90)
        axes.set(xlabel=textwrap.fill(label, 42), ylabel="permutations")
        axes.grid(axis="y")

    rows = [
        ("observed difference", Entry(observed, seen)),
        ("p-value", report.format_number(p, ".3g")),
        ("permutations", len(null)),
        ("permutations with at least the observed difference", beyond),
        ("smallest difference by chance", Entry(least, min(null))),
        ("largest difference by chance", Entry(most, max(null))),
    ]
    return Figure(
        "The observed difference, and chance",
        f"The observed difference, {observed} (dashed), among those of {len(null)} "
        f"random permutations; p = {p:.3g}.",
        f"Histogram of {len(null)} differences by chance, {least} to {most}; the "
        f"observed {observed} is reached by {beyond} of them, p = {p:.3g}.",
        (draw, (report.COLUMN_INCHES, 2.6)),
        numbers=("Numbers of the histogram.", "quantity, value", rows),
    )
