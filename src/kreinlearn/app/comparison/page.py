"""The page of a comparison of methods, on one data set or on several."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from kreinlearn.app.comparison.fold import PRECOMPUTED
from kreinlearn.app.comparison.panels import (
    accuracy_figure,
    curve_figures,
    difference_figure,
    ends_of,
    labeled,
    repeated,
)
from kreinlearn.app.report import entries
from kreinlearn.app.report.entries import DASH, Entry, Findings
from kreinlearn.app.report.figures import Figure
from kreinlearn.app.report.page import Section, html
from kreinlearn.app.report.spectra import spectrum_figure, spectrum_numbers
from kreinlearn.app.report.tables import PageTable, TableRow, make_table, versions_text

SCORES = ("accuracy", "balanced_accuracy", "log_loss", "auc")
"""Measures, in the order of columns."""
SAME = 5e-4
"""Difference of two scores that read alike."""


def comparison_page(found: Findings) -> str:
    """Return the page of a comparison, valid without any other file.

    Parameters
    ----------
    found : mapping
        What `krein compare --json` prints.
    """
    names = [each["name"] for each in found["data"]]
    rows_of = {name: _ordered(labeled(found, "rows", name)) for name in names}
    is_one = len(names) == 1
    drawn = accuracy_figure(rows_of, str(found.get("interval", "Wilson")))
    sections = []
    evidence: list[Section] = []
    for name, own in rows_of.items():
        panels = curve_figures(found, name, own)
        of = "" if is_one else f" on {name}"
        scores = _score_table(found, own, f"Scores{of}")
        first = [*(drawn if is_one else ()), *difference_figure(own, "accuracy")]
        likely = [*panels.reliability, *difference_figure(own, "log_loss")]
        sections.append(Section(scores.title, [*first, scores]))
        sections.append(Section(f"Predictions{of}", [*likely, *panels.confusion]))
        traced = [*panels.roc, *panels.convergence]
        evidence.append(Section(f"Curves{of}", traced, is_detail=True))
    sections += [_spectra(found), *evidence]
    default = f"krein compare {names[0]}" if is_one else "krein demo"
    said = list(found.get("sentences", ()))
    verdict = found.get("verdict") or said[:1]
    return html(
        str(found.get("title", "Comparison")),
        sections,
        sentences=verdict,
        remarks=[each for each in said if each not in verdict],
        facts=_about_data(found) | dict(found.get("facts") or {}),
        command=str(found.get("command", default)),
        versions=versions_text(found),
    )


def _ordered(rows: Mapping[str, Findings]) -> dict[str, Findings]:
    """Return rows from the highest accuracy to the lowest, and those without one."""
    missing = float("-inf")

    def mean(each: tuple[str, Findings]) -> float:
        accuracy = each[1].get("accuracy")
        return missing if accuracy is None else float(accuracy)

    return dict(sorted(rows.items(), key=mean, reverse=True))


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


def _score_table(
    found: Findings, rows: Mapping[str, Findings], title: str
) -> PageTable:
    body: list[TableRow] = []
    is_plain = all(
        set(row.get("statuses") or ()) <= {"converged"} for row in rows.values()
    )
    kernels = {row.get("kernel") for row in rows.values()} - {None}
    measures = [key for key in SCORES if not _is_repeated(rows, key)]
    for name, (accuracy, *others) in entries.scores(rows, measures).items():
        row = rows[name]
        accuracy = replace(accuracy, detail=_interval(row))
        ended = Counter(row.get("statuses") or {})
        status = entries.statuses(ended) if ended.total() != 1 else next(iter(ended))
        last = Entry(status, detail=str(row.get("error") or ""))
        took = entries.seconds(row.get("fit_seconds"))
        again = repeated(found, row)
        head = Entry(name, detail=f"and {', '.join(again)}" if again else "")
        on = [row.get("kernel") or DASH] if len(kernels) > 1 else []
        body.append((head, accuracy, *others, took, *on, *([] if is_plain else [last])))
    several = any(row.get("accuracy_std") is not None for row in rows.values())
    over = "Means over held-out folds" if several else "On held-out samples"
    if any(map(ends_of, rows.values())):
        over += ", below the accuracy its 95 % interval"
    if any(repeated(found, row) for row in rows.values()):
        over += "; methods with the same predictions share a row"
    names = [entries.SCORE_NAMES[key] for key in measures]
    more = ["kernel"] * (len(kernels) > 1) + ["fits"] * (not is_plain)
    return make_table(
        title,
        f"{over}; the best of each column is bold. Seconds are for one fit, with its "
        "choice of parameters; after installing, the first ones also compile."
        f"{' All fits converged.' if is_plain else ''}",
        ("method", *names, "fit (s)", *more),
        body,
    )


def _is_repeated(rows: Mapping[str, Findings], measure: str) -> bool:
    """Tell whether classes are of one size, so that balanced accuracy says nothing."""
    return measure == "balanced_accuracy" and all(
        row.get(measure) is None or abs(row[measure] - row["accuracy"]) < SAME
        for row in rows.values()
    )


def _interval(row: Findings) -> str:
    return " to ".join(f"{end:.3f}" for end in ends_of(row))


def _spectra(found: Findings) -> Section:
    """Return spectra of the training rows of a fold; beside a single one, numbers."""
    drawn: list[Figure | None] = []
    listed: list[PageTable | Figure] = []
    for each in found["data"]:
        for kernel, about in (each.get("kernels") or {}).items():
            name = "The matrix" if kernel == PRECOMPUTED else str(kernel)
            name = name if len(found["data"]) == 1 else f"{each['name']}: {kernel}"
            drawn.append(spectrum_figure(about, name))
            listed.append(spectrum_numbers(about, "In numbers"))
    parts: list[PageTable | Figure] = [each for each in drawn if each is not None]
    return Section("The similarities", parts + listed if len(listed) == 1 else parts)
