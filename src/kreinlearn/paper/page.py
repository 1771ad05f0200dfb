"""Records to tables, figures and pages. Nothing is run here."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kreinlearn._files import replace
from kreinlearn._validation import check_choice
from kreinlearn.pages.entries import Note
from kreinlearn.pages.figures import Figure, files
from kreinlearn.pages.page import Section, html
from kreinlearn.pages.tables import (
    PageTable,
    csv_text,
    general_notes,
    make_table,
    markdown,
)
from kreinlearn.paper.figures import figures_for
from kreinlearn.paper.notes import notes_for
from kreinlearn.paper.summary import NUMBER_FIELDS, numbers, summaries_of
from kreinlearn.paper.tables import LAYOUTS
from kreinlearn.runs.records import FAILED, Record, read_records

__all__ = ["write"]


def write(
    name: str, records: str | os.PathLike[str], out: str | os.PathLike[str]
) -> list[Path]:
    """Write what the records of an experiment show.

    Parameters
    ----------
    name : str
        Name of the experiment.
    records : path-like
        File of its records.
    out : path-like
        Folder; made if it is not there.

    Returns
    -------
    list of Path
        ``NAME.html``, ``NAME.md``, ``NAME.csv``, and each figure as
        ``NAME-figure.svg`` and ``.png``.

    Raises
    ------
    ValueError
        If there is no such experiment, or no record of it.
    """
    check_choice("name", name, LAYOUTS)
    found = [record for record in read_records(records) if record["exp"] == name]
    if not found:
        raise ValueError(f"{os.fspath(records)} holds no records of {name!r}.")
    summaries = summaries_of(found)
    notes = notes_for(name)
    tables = LAYOUTS[name](summaries, notes) + _failures(found)
    figures = figures_for(name, summaries)
    shown = _Shown(name, _about_runs(found), tables, figures, notes)

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        f"{name}-{short}.{kind}": content
        for short, figure in figures.items()
        for kind, content in files(figure).items()
    }
    contents[f"{name}.csv"] = csv_text(NUMBER_FIELDS, numbers(name, summaries)).encode()
    contents[f"{name}.md"] = shown.as_markdown().encode()
    contents[f"{name}.html"] = shown.as_page().encode()
    for file, content in contents.items():
        replace(folder / file, content)
    return [folder / file for file in reversed(contents)]


class _Shown(NamedTuple):
    """What is shown of an experiment."""

    name: str
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
        facts = dict(self.facts)
        last = [facts.pop(term) for term in ("versions", "revision") if term in facts]
        return html(
            self.title,
            # What the paper shows as a figure comes first as one.
            [drawn, *sections] if self.name.startswith("fig") else [*sections, drawn],
            facts={term.capitalize(): text for term, text in facts.items()},
            notes=self.notes,
            command=f"krein reproduce {self.name}",
            versions="; revision ".join(last),
        )

    def as_markdown(self) -> str:
        said = "; ".join(f"{term}: {text}" for term, text in self.facts.items())
        general = "".join(f"- {text}\n" for text in general_notes(self.notes))
        images = [
            f"![{figure.caption}]({self.name}-{short}.svg)\n"
            for short, figure in self.figures.items()
        ]
        tables = [markdown(table, self.notes) for table in self.tables]
        parts = [f"# {self.title}\n", f"{said}.\n", *([general] if general else [])]
        return "\n".join(parts + images + tables)


def _about_runs(records: Sequence[Record]) -> dict[str, str]:
    """Return what there is to say about the runs."""
    runs = {record["run"] for record in records}
    facts = {"Cells": str(len(records)), "runs": str(len(runs))}
    failed = sum(record["status"] in FAILED for record in records)
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


def _failures(records: Sequence[Record]) -> list[PageTable]:
    rows = [
        (each["key"], each["status"], each.get("error", ""))
        for each in records
        if each["status"] in FAILED
    ]
    caption = "Cells without scores; the tables above leave them out."
    heads = "cell, status, reason"
    return [make_table("Failed cells", caption, heads, rows)] if rows else []
