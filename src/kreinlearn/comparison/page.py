"""The page of a comparison of methods, on one data set or on several."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kreinlearn.comparison.panels import accuracy_figures, curve_figures, label
from kreinlearn.pages.diagram import critical_difference_figure
from kreinlearn.pages.figures import Figure
from kreinlearn.pages.page import Section, html
from kreinlearn.pages.ranks import compare
from kreinlearn.pages.spectra import spectrum_figure
from kreinlearn.pages.tables import (
    Entry,
    Table,
    best_entry,
    number_entry,
    seconds_text,
    statuses_text,
    versions_text,
)

Found = Mapping[str, Any]

MEASURES = (
    ("balanced_accuracy", "balanced accuracy"),
    ("log_loss", "log-loss"),
    ("auc", "AUC"),
)
"""Keys and column heads; log-loss is better if smaller."""


def comparison_page(found: Found) -> str:
    """Return the page of a comparison.

    Parameters
    ----------
    found : mapping
        What `krein compare --json` prints.

    Returns
    -------
    str
        One HTML page, valid without any other file.
    """
    names = [each["name"] for each in found["data"]]
    sections = []
    if len(names) > 1:
        sections.append(Section("Accuracy at a glance", _overview(found, names)))
    for each in found["data"]:
        name = each["name"]
        title = "Scores" if len(names) == 1 else str(name)
        parts: list[Table | Figure] = [_scores(found, name, title)]
        if len(names) == 1:
            parts += accuracy_figures(_fold_scores(found, names))
            parts += _ranks(found, names)
        parts += curve_figures(found, name)
        sections.append(Section(title, parts))
    sections.append(Section("The similarities", _similarities(found)))
    title = str(found.get("title", "Comparison"))
    source = names[0] if len(names) == 1 else ""
    default = f"krein compare {source}" if source else "krein demo"
    return html(
        title,
        sections,
        sentences=found.get("sentences", ()),
        facts=_facts(found),
        command=str(found.get("command", default)),
        versions=versions_text(found),
    )


def _facts(found: Found) -> dict[str, str]:
    folds = max((len(row["scores"]) for row in found["rows"]), default=0)
    facts = {"Methods": ", ".join(str(each) for each in found["methods"])}
    if len(found["data"]) == 1:
        (each,) = found["data"]
        m = "" if each.get("m") is None else f", {each['m']} features"
        classes = ", ".join(str(name) for name in each.get("classes") or ())
        facts = {"Data": f"{each['name']}: {each['n']} samples{m}"} | facts
        facts["Classes"] = classes or "–"
    if folds > 1:
        facts["Held-out folds"] = str(folds)
    return facts


def _rows_of(found: Found, data: str) -> dict[str, Found]:
    return {label(found, row): row for row in found["rows"] if row["data"] == data}


def _fold_scores(
    found: Found, names: Sequence[str]
) -> dict[str, dict[str, Sequence[float]]]:
    return {
        name: {key: row["scores"] for key, row in _rows_of(found, name).items()}
        for name in names
    }


def _overview(found: Found, names: Sequence[str]) -> list[Table | Figure]:
    """Return a row for each data set, a column for each method; ranks and dots."""
    rows_of = {name: _rows_of(found, name) for name in names}
    columns = list(dict.fromkeys(key for own in rows_of.values() for key in own))
    rows = []
    for name in names:
        means = [rows_of[name].get(key, {}).get("accuracy") for key in columns]
        rows.append([Entry(name), *(best_entry(mean, means) for mean in means)])
    total = [Entry(f"mean of {len(names)}")]
    for key in columns:
        means = [rows_of[name].get(key, {}).get("accuracy") for name in names]
        known = [mean for mean in means if mean is not None]
        is_full = len(known) == len(names)  # no mean over fewer sets
        total.append(number_entry(statistics.fmean(known) if is_full else None, ".3f"))
    text = "Mean accuracy on held-out samples; bold is the best of a row."
    heads = (Entry("data"), *(Entry(key) for key in columns))
    table = Table("Accuracy at a glance", text, heads, rows, [total])
    dots = accuracy_figures(_fold_scores(found, names))
    return [table, *dots, *_ranks(found, names)]


def _ranks(found: Found, names: Sequence[str]) -> list[Figure]:
    """Return the diagram of ranks over data sets, or over the folds of the only one."""
    rows_of = {name: _rows_of(found, name) for name in names}
    keys = [
        key
        for key in dict.fromkeys(key for own in rows_of.values() for key in own)
        if all(rows_of[name].get(key, {}).get("scores") for name in names)
    ]
    if len(names) == 1:
        own = rows_of[names[0]]
        most = max((len(own[key]["scores"]) for key in keys), default=0)
        keys = [key for key in keys if len(own[key]["scores"]) == most]
        blocks = [own[key]["scores"] for key in keys]
        over = "the folds of one data set"
        caution = "Folds share training data, so that this is a picture, not a proof."
    else:
        blocks = [[rows_of[name][key]["accuracy"] for name in names] for key in keys]
        over, caution = "data sets", ""
    scores = np.array(blocks, dtype=float).T
    ranking = compare(scores, keys) if scores.ndim == 2 else None
    if ranking is None:
        return []
    return [critical_difference_figure(ranking, "accuracy", over, caution)]


def _scores(found: Found, data: str, title: str) -> Table:
    own = _rows_of(found, data)
    everyone = {
        key: [row.get(key) for row in own.values()]
        for key in ("accuracy", *(key for key, _ in MEASURES))
    }
    rows = []
    for name, row in own.items():
        accuracy, std = row.get("accuracy"), row.get("accuracy_std")
        entry = best_entry(accuracy, everyone["accuracy"])
        if accuracy is not None and std is not None:
            text = f"{entry.text} ± {std:.3f}"
            entry = Entry(text, entry.value, is_best=entry.is_best)
        seconds = row.get("fit_seconds")
        statuses = Counter(row.get("statuses") or {})
        is_one = statuses.total() == 1
        status = next(iter(statuses)) if is_one else statuses_text(statuses)
        rows.append(
            [
                Entry(name),
                entry,
                *(
                    best_entry(row.get(key), everyone[key], smaller=key == "log_loss")
                    for key, _ in MEASURES
                ),
                Entry(seconds_text(seconds), seconds),
                Entry(str(row.get("kernel") or "–")),
                Entry(status, detail=str(row.get("error") or "")),
            ]
        )
    heads = ("method", "accuracy", *(head for _, head in MEASURES))
    columns = tuple(Entry(head) for head in (*heads, "fit (s)", "kernel", "fits"))
    is_spread = any(row.get("accuracy_std") is not None for row in own.values())
    over = "On held-out samples"
    if is_spread:
        over = "Means over held-out folds, accuracy ± standard deviation"
    text = (
        f"{over}; bold is the best of a column. Seconds are those of one fit, with all "
        "it chooses."
    )
    return Table(title, text, columns, rows)


def _similarities(found: Found) -> list[Table | Figure]:
    rows, drawn = [], []
    for each in found["data"]:
        for kernel, about in (each.get("kernels") or {}).items():
            p, q, z = about["signature"]
            title = kernel if len(found["data"]) == 1 else f"{each['name']}: {kernel}"
            rows.append(
                [
                    Entry(title),
                    number_entry(each["n"], "d"),
                    number_entry(each.get("m"), "d"),
                    *(number_entry(count, "d") for count in (p, q, z)),
                    number_entry(about["mu_min"], ".4g"),
                    number_entry(about["mu_max"], ".4g"),
                    number_entry(about["negative_share"], ".4f"),
                ]
            )
            figure = spectrum_figure(about, title)
            if figure is not None:
                drawn.append(figure)
    heads = (
        "similarity",
        "samples",
        "features",
        "positive",
        "negative",
        "zero",
        "μ min",
        "μ max",
        "negative share",
    )
    text = (
        "Number of positive, negative and zero eigenvalues, the smallest and the "
        "largest, and the negative share of the sum of absolute values, on the "
        "training rows of the first fold."
    )
    columns = tuple(Entry(head) for head in heads)
    table = Table("The similarities", text, columns, rows)
    return [table, *drawn] if rows else []
