"""Records to tables, figures and pages. Nothing is run here."""

import os
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kreinlearn._files import replace
from kreinlearn._validation import check_choice
from kreinlearn.app.report import (
    Figure,
    PageTable,
    Section,
    csv_text,
    draw_files,
    html,
    make_table,
)
from kreinlearn.app.runs import FAILED_STATUSES, Record, read_records
from reproduction.entries import Note
from reproduction.figures import make_figures
from reproduction.markdown import format_table
from reproduction.notes import find_notes
from reproduction.summary import NUMBER_FIELDS, list_numbers, summarize_records
from reproduction.tables import TABLE_MAKERS

__all__ = ["write"]

NEAR_DIFFERENCE = 0.03
"""Difference of accuracies that readers of a table would call the same: about the
standard deviation over random halves that the paper prints for small data sets."""


def write(
    name: str,
    records: str | os.PathLike[str],
    out: str | os.PathLike[str],
    command: str | None = None,
) -> list[Path]:
    """Write tables, figures and the page of an experiment from its records.

    Parameters
    ----------
    name : str
        Name of the experiment.
    records : path-like
        File of its records.
    out : path-like
        Folder; created if needed.
    command : str, optional
        Command line for the page; by default the command without options.

    Returns
    -------
    list of Path
        ``NAME.html``, ``NAME.md``, ``NAME.csv``, and each figure as
        ``NAME-figure.svg`` and ``.png``.

    Raises
    ------
    ValueError
        If the experiment is unknown or has no records.
    """
    check_choice("name", name, TABLE_MAKERS)
    found = [record for record in read_records(records) if record["exp"] == name]
    if not found:
        raise ValueError(f"{os.fspath(records)} holds no records of {name!r}.")
    summaries = summarize_records(found)
    notes = find_notes(name)
    tables = TABLE_MAKERS[name](summaries, notes) + _make_failure_tables(found)
    figures = make_figures(name, summaries)
    listed = list_numbers(name, summaries)
    command = command or f"python -m reproduction {name}"
    facts, verdict = _describe_runs(found), _format_verdict(name, listed)
    shown = _PageContent(name, command, verdict, facts, tables, figures, notes)

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        f"{name}-{short}.{kind}": content
        for short, figure in figures.items()
        for kind, content in draw_files(figure).items()
    }
    contents[f"{name}.csv"] = csv_text(NUMBER_FIELDS, listed).encode()
    contents[f"{name}.md"] = shown.as_markdown().encode()
    contents[f"{name}.html"] = shown.as_page().encode()
    for file, content in contents.items():
        replace(folder / file, content)
    return [folder / file for file in reversed(contents)]


class _PageContent(NamedTuple):
    """Contents of the page of an experiment."""

    name: str
    command: str
    verdict: Sequence[str]
    facts: Mapping[str, str]
    tables: Sequence[PageTable]
    figures: Mapping[str, Figure]
    notes: Sequence[Note]

    @property
    def title(self) -> str:
        return f"{self.tables[0].title.partition(':')[0]}, reproduced"

    def as_page(self) -> str:
        drawn = Section("Figures", list(self.figures.values()))
        sections = [Section(table.title, [table]) for table in self.tables]
        facts = {
            term.capitalize(): text
            for term, text in self.facts.items()
            if term not in ("versions", "revision")
        }
        return html(
            self.title,
            # Figures of the paper come first.
            [drawn, *sections] if self.name.startswith("fig") else [*sections, drawn],
            sentences=self.verdict,
            facts=facts,
            remarks=[each.text for each in self.notes if not (each.row or each.column)],
            notes=[each.text for each in self.notes],
            command=self.command,
            versions=self.facts["versions"],
        )

    def as_markdown(self) -> str:
        facts = "; ".join(f"{term}: {text}" for term, text in self.facts.items())
        texts = [each.text for each in self.notes if not (each.row or each.column)]
        general = "".join(f"- {text}\n" for text in texts)
        images = [
            f"![{figure.caption}]({self.name}-{short}.svg)\n"
            for short, figure in self.figures.items()
        ]
        tables = [format_table(table, self.notes) for table in self.tables]
        parts = [f"# {self.title}\n", f"{facts}.\n", *([general] if general else [])]
        return "\n".join(parts + images + tables)


Numbers = Sequence[Mapping[str, str | int]]
"""Rows of the file of numbers."""


def _format_verdict(name: str, rows: Numbers) -> list[str]:
    """Return sentences that compare our results with the published ones, if any."""
    if name == "readings":  # several readings, of which one is used
        return []
    known = [each for each in rows if "difference" in each]
    pairs = [each for each in known if each["measure"] == "acc"]
    if pairs:
        return _describe_accuracies(pairs)
    largest = [each for each in known if each["measure"] == "mu_max"]
    if largest:
        gaps = [
            abs(float(each["difference"])) / float(each["published"])
            for each in largest
        ]
        return [
            f"{sum(gap <= NEAR_DIFFERENCE for gap in gaps)} of {len(gaps)} "
            "published largest eigenvalues are met within "
            f"{100 * NEAR_DIFFERENCE:.0f} %; the median difference is "
            f"{100 * statistics.median(gaps):.1f} %."
        ]
    return _describe_ranges(rows) if name == "fig2" else []


def _describe_accuracies(pairs: Numbers) -> list[str]:
    """Return how many published accuracies are reproduced, and the largest gap."""
    gaps = [abs(float(each["difference"])) for each in pairs]
    far = pairs[gaps.index(max(gaps))]
    place = ", ".join(
        str(far[key]) for key in ("data", "method", "settings") if far[key]
    )
    return [
        f"{sum(gap <= NEAR_DIFFERENCE for gap in gaps)} of {len(gaps)} published "
        f"accuracies are met within {NEAR_DIFFERENCE:g}; the median difference is "
        f"{statistics.median(gaps):.3f}.",
        f"Farthest apart: {place}; published {float(far['published']):.3f}, ours "
        f"{float(far['ours']):.3f}.",
    ]


def _describe_ranges(rows: Numbers) -> list[str]:
    """Return by how much the accuracy changes with a setting."""
    found: dict[str, list[float]] = {}
    for each in rows:
        if each["measure"] == "acc" and "ours" in each:
            place = f"{each['method']} on {each['data']}"
            found.setdefault(place, []).append(float(each["ours"]))
    changes = [f"{max(own) - min(own):.3f} for {place}" for place, own in found.items()]
    return [f"Mean accuracy changes with eps by {', '.join(changes)}."]


def _describe_runs(records: Sequence[Record]) -> dict[str, str]:
    """Return facts about the runs: counts, failures, versions, revisions."""
    runs = {record["run"] for record in records}
    facts = {"Cells": str(len(records)), "runs": str(len(runs))}
    failed = sum(record["status"] in FAILED_STATUSES for record in records)
    if failed:
        facts["failed"] = str(failed)
    versions = {
        f"{name} {version}"
        for record in records
        for name, version in record.get("ver", {}).items()
    }
    facts["versions"] = ", ".join(sorted(versions)) or "unknown"
    revisions = sorted({record["git"] for record in records if "git" in record})
    if revisions:
        facts["revision"] = ", ".join(revisions)
    return facts


def _make_failure_tables(records: Sequence[Record]) -> list[PageTable]:
    rows = [
        (each["key"], each["status"], each.get("error", ""))
        for each in records
        if each["status"] in FAILED_STATUSES
    ]
    caption = "Cells without scores; the tables above leave them out."
    heads = "cell, status, reason"
    return [make_table("Failed cells", caption, heads, rows)] if rows else []
