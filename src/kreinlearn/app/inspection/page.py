"""The page of an inspection, and its figures."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from kreinlearn.app.methods import KREIN_CV
from kreinlearn.app.report import (
    COLUMN_INCHES,
    SCORE_NAMES,
    Color,
    Entry,
    Figure,
    Findings,
    PageTable,
    Section,
    TableRow,
    format_number,
    format_scores,
    format_signed,
    html,
    make_table,
    shorten,
    spectrum_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def inspection_page(found: Findings) -> str:
    """Return the page of an inspection, which needs no other file.

    Parameters
    ----------
    found : mapping
        Output of `krein inspect --json`.
    """
    value, listed = found.get("value"), _spectrum_table(found)
    scores = [_score_table(found)] if list_scores(found) else []
    drawn = spectrum_figure(found, "The spectrum")
    figure = [] if drawn is None else [drawn]
    chance = [] if value is None else [permutation_figure(value)]
    sentences = list(found["sentences"])
    verdict = [*sentences[: found["n_verdict"]], sentences[-1]]
    return html(
        f"Inspection of {found['source']}",
        [
            Section(
                "Predictions and spectrum" if scores else "The spectrum",
                [*scores, *figure, *([] if scores else [listed])],
            ),
            Section("Could it be chance?", chance, is_detail=True),
            Section(listed.title, [listed] if scores else [], is_detail=True),
        ],
        sentences=verdict,
        remarks=[each for each in sentences if each not in verdict],
        facts=_list_facts(found),
        command=str(found.get("command") or ""),
        versions=found["versions"],
    )


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
    signs = ("positive", "negative", "zero")
    asymmetry = found["asymmetry"].items()
    rows: list[TableRow] = [
        *(
            (f"{s} eigenvalues", n)
            for s, n in zip(signs, found["signature"], strict=True)
        ),
        ("smallest eigenvalue", format_number(found["mu_min"], ".6g")),
        ("largest eigenvalue", format_number(found["mu_max"], ".6g")),
        (
            "negative fraction of the sum of absolute values",
            format_number(found["negative_share"], ".4f"),
        ),
        (
            "lam from which the solution is unique",
            format_number(found["unique_lam"], ".4g"),
        ),
        *((f"asymmetry, {x}", format_number(y, ".3g")) for x, y in asymmetry),
    ]
    return make_table(
        "Numbers of the spectrum", "The spectrum.", "quantity, value", rows
    )


def list_scores(found: Findings) -> dict[str, Findings]:
    """Return held-out scores by name: the default model, the majority, repairs.

    Equal scores share a row.
    """
    model, value = found.get("model"), found.get("value")
    scores: dict[str, Findings] = {}
    for name, own in (value or {"scores": {}})["scores"].items():
        same = next((first for first, each in scores.items() if each == own), None)
        if same is None:
            scores[name] = own
        else:
            renamed = {same: f"{same}, {name}"}
            scores = {renamed.get(key, key): each for key, each in scores.items()}
    if model is None:
        return scores
    first = {key: model[key] for key in ("accuracy", "log_loss")}
    majority = {"accuracy": model["majority"], "log_loss": None}
    return {KREIN_CV: first, "majority class": majority, **scores}


def _score_table(found: Findings) -> PageTable:
    keys = ["accuracy", "log_loss"]
    folds = (found.get("model") or {}).get("folds")
    over = f" over {folds} folds" if folds else ""
    scores = list_scores(found)
    repairs = (
        " The rows below the majority class are logistic regression on the matrix and "
        "on its repairs."
    )
    return make_table(
        "Held-out scores",
        f"Mean scores on held-out samples{over}; the best of each column is bold. "
        f"{KREIN_CV} is the model that krein fit builds.{repairs * (len(scores) > 2)}",
        ("model", *(SCORE_NAMES[key] for key in keys)),
        [(name, *row) for name, row in format_scores(scores, keys).items()],
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
    observed, least, most = (
        format_signed(x, "+.3g") for x in (seen, min(null), max(null))
    )

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
        label = shorten(str(value.get("label", "difference of scores")), 90)
        axes.set(xlabel=textwrap.fill(label, 42), ylabel="permutations")
        axes.grid(axis="y")

    shown = {
        "observed difference": observed,
        "p-value": f"{p:.3g}",
        "permutations": str(len(null)),
        "permutations with at least the observed difference": str(beyond),
        "smallest difference by chance": least,
        "largest difference by chance": most,
    }
    rows = [(name, Entry(x, float(x.replace("−", "-")))) for name, x in shown.items()]
    return Figure(
        "The observed difference, and chance",
        f"The observed difference, {observed} (dashed), among those of {len(null)} "
        f"random permutations; p = {p:.3g}.",
        f"Histogram of {len(null)} differences by chance, {least} to {most}; the "
        f"observed {observed} is reached by {beyond} of them, p = {p:.3g}.",
        (draw, (COLUMN_INCHES, 2.6)),
        numbers=("Numbers of the histogram.", "quantity, value", rows),
    )
