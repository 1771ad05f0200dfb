"""The page of a comparison of methods, on one data set or on several."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kreinlearn.comparison.panels import (
    accuracy_figure,
    curve_figures,
    ends_of,
    labeled,
)
from kreinlearn.pages import entries
from kreinlearn.pages.entries import DASH, Entry, Findings
from kreinlearn.pages.figures import Figure
from kreinlearn.pages.page import Section, html
from kreinlearn.pages.ranks import critical_difference_figure, rank_methods
from kreinlearn.pages.spectra import spectrum_figure
from kreinlearn.pages.tables import PageTable, TableRow, make_table, versions_text

SCORES = ("accuracy", "balanced_accuracy", "log_loss", "auc")
"""Measures, in the order of columns."""

RowsOf = Mapping[str, Mapping[str, Findings]]
"""Data set to label to row."""


def comparison_page(found: Findings) -> str:
    """Return the page of a comparison, valid without any other file.

    Parameters
    ----------
    found : mapping
        What `krein compare --json` prints.
    """
    names = [each["name"] for each in found["data"]]
    rows_of = {name: labeled(found, "rows", name) for name in names}
    is_one = len(names) == 1
    overall = [*accuracy_figure(rows_of), *_ranks(rows_of)]
    sections = []
    if not is_one:
        at_a_glance = _at_a_glance(rows_of)
        sections.append(Section(at_a_glance.title, [at_a_glance, *overall]))
    for name, own in rows_of.items():
        scores = _score_table(own, "Scores" if is_one else str(name))
        parts = [*(overall if is_one else ()), *curve_figures(found, name, own)]
        sections.append(Section(scores.title, [scores, *parts]))
    sections.append(_spectra(found))
    default = f"krein compare {names[0]}" if is_one else "krein demo"
    return html(
        str(found.get("title", "Comparison")),
        sections,
        sentences=found.get("sentences", ()),
        facts=_about_data(found),
        command=str(found.get("command", default)),
        versions=versions_text(found),
    )


def _about_data(found: Findings) -> dict[str, str]:
    facts = {"Methods": ", ".join(str(each) for each in found["methods"])}
    if len(found["data"]) == 1:
        (each,) = found["data"]
        m = "" if each.get("m") is None else f", {each['m']} features"
        classes = ", ".join(str(name) for name in each.get("classes") or ())
        facts = {"Data": f"{each['name']}: {each['n']} samples{m}"} | facts
        facts["Classes"] = classes or DASH
    folds = max((len(row["scores"]) for row in found["rows"]), default=0)
    if folds > 1:
        facts["Held-out folds"] = str(folds)
    return facts


def _at_a_glance(rows_of: RowsOf) -> PageTable:
    """Return one row per data set, one column per method."""
    labels = list(dict.fromkeys(label for own in rows_of.values() for label in own))
    rows: list[TableRow] = []
    columns = []
    for name, own in rows_of.items():
        means = [own.get(label, {}).get("accuracy") for label in labels]
        columns.append(means)
        cells = [
            replace(entries.best(mean, means), detail=_interval(own.get(label, {})))
            for label, mean in zip(labels, means, strict=True)
        ]
        rows.append((name, *cells))
    # No mean over fewer sets.
    full = (entries.full_mean(column) for column in zip(*columns, strict=True))
    total: TableRow = (
        f"mean of {len(rows)}",
        *(entries.numeral(mean, ".3f") for mean in full),
    )
    text = (
        "Mean accuracy on held-out samples, the best of each row in bold, and its "
        "95 % interval."
    )
    return make_table("Accuracy at a glance", text, ("data", *labels), rows, [total])


def _ranks(rows_of: RowsOf) -> list[Figure]:
    """Return the diagram of ranks over data sets, or over the folds of the only one."""
    everyone = list(rows_of.values())
    labels = [
        label
        for label in everyone[0]
        if all(own.get(label, {}).get("scores") for own in everyone)
    ]
    if len(everyone) == 1:
        folds = {label: everyone[0][label]["scores"] for label in labels}
        most = max(map(len, folds.values()), default=0)
        labels = [label for label in labels if len(folds[label]) == most]
        blocks = [folds[label] for label in labels]
        over = "the folds of one data set"
        caution = "Folds share training data: this is a picture, not a proof."
    else:
        blocks = [[own[label]["accuracy"] for own in everyone] for label in labels]
        over, caution = "data sets", ""
    ranking = rank_methods(np.array(blocks).T, labels) if labels else None
    if ranking is None:
        return []
    return [critical_difference_figure(ranking, "accuracy", over, caution)]


def _score_table(rows: Mapping[str, Findings], title: str) -> PageTable:
    body: list[TableRow] = []
    for name, (accuracy, *others) in entries.scores(rows, SCORES).items():
        row = rows[name]
        std = row.get("accuracy_std")
        if row.get("accuracy") is not None and std is not None:
            accuracy = replace(accuracy, text=f"{accuracy.text} ± {std:.3f}")
        accuracy = replace(accuracy, detail=_interval(row))
        ended = Counter(row.get("statuses") or {})
        status = entries.statuses(ended) if ended.total() != 1 else next(iter(ended))
        last = Entry(status, detail=str(row.get("error") or ""))
        took = entries.seconds(row.get("fit_seconds"))
        body.append((name, accuracy, *others, took, row.get("kernel") or DASH, last))
    over = "On held-out samples"
    if any(row.get("accuracy_std") is not None for row in rows.values()):
        over = "Means over held-out folds, accuracy ± standard deviation"
    if any(map(ends_of, rows.values())):
        over += " and, below, its 95 % interval"
    names = [entries.SCORE_NAMES[key] for key in SCORES]
    return make_table(
        title,
        f"{over}; the best of each column is bold. Seconds are for one fit, with its "
        "choice of parameters.",
        ("method", *names, "fit (s)", "kernel", "fits"),
        body,
    )


def _interval(row: Findings) -> str:
    return " to ".join(f"{end:.3f}" for end in ends_of(row))


def _spectra(found: Findings) -> Section:
    rows: list[TableRow] = []
    drawn = []
    for each in found["data"]:
        for kernel, about in (each.get("kernels") or {}).items():
            name = kernel if len(found["data"]) == 1 else f"{each['name']}: {kernel}"
            ends = [entries.numeral(about[key], ".4g") for key in ("mu_min", "mu_max")]
            share = entries.numeral(about["negative_share"], ".4f")
            sizes = (each["n"], each.get("m"), *about["signature"])
            rows.append((name, *sizes, *ends, share))
            drawn.append(spectrum_figure(about, name))
    listed = make_table(
        "The similarities",
        "Number of positive, negative and zero eigenvalues, the smallest and the "
        "largest, and the negative share of the sum of absolute values, on the "
        "training rows of the first fold.",
        "similarity, samples, features, positive, negative, zero, μ min, μ max, "
        "negative share",
        rows,
    )
    figures = [each for each in drawn if each is not None]
    return Section(listed.title, [listed, *figures] if rows else [])
