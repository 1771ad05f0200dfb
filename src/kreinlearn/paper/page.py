"""Records to tables, figures and pages. Nothing is run here."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kreinlearn._files import replace
from kreinlearn._validation import check_choice
from kreinlearn.pages.figures import Figure, files
from kreinlearn.pages.page import Section, html
from kreinlearn.pages.tables import Entry, Note, Table, markdown
from kreinlearn.paper.figures import figures_for
from kreinlearn.paper.layouts import LAYOUTS, numbers
from kreinlearn.paper.notes import notes_for
from kreinlearn.paper.summary import csv_text, summarize
from kreinlearn.runs.records import FAILED, Record
from kreinlearn.runs.records import read_records as read

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
    found = [record for record in read(records) if record["exp"] == name]
    if not found:
        raise ValueError(f"{os.fspath(records)} holds no records of {name!r}.")
    notes = notes_for(name)
    summaries = summarize(found)
    tables = LAYOUTS[name](summaries, notes) + _failures(found)
    figures = figures_for(name, summaries)
    title = f"{tables[0].title.partition(':')[0]}, reproduced"
    facts = _facts(found)

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    contents: dict[str, bytes] = {}
    for short, figure in figures.items():
        for kind, content in files(figure).items():
            contents[f"{name}-{short}.{kind}"] = content
    contents[f"{name}.csv"] = csv_text(numbers(name, summaries)).encode()
    text = _markdown(name, title, facts, tables, figures, notes)
    contents[f"{name}.md"] = text.encode()
    contents[f"{name}.html"] = _page(
        name, title, facts, tables, figures, notes
    ).encode()
    for file, content in contents.items():
        replace(folder / file, content)
    return [folder / file for file in reversed(contents)]


def _page(
    name: str,
    title: str,
    facts: Mapping[str, str],
    tables: Sequence[Table],
    figures: Mapping[str, Figure],
    notes: Sequence[Note],
) -> str:
    drawn = Section("Figures", list(figures.values()))
    sections = [Section(table.title, [table]) for table in tables]
    # What the paper shows as a figure comes first as one.
    ordered = [drawn, *sections] if name.startswith("fig") else [*sections, drawn]
    last = ("versions", "revision")
    return html(
        title,
        ordered,
        facts={
            term.capitalize(): text for term, text in facts.items() if term not in last
        },
        notes=notes,
        command=f"krein reproduce {name}",
        versions="; revision ".join(facts[term] for term in last if term in facts),
    )


def _facts(records: Sequence[Record]) -> dict[str, str]:
    """Return what there is to say about the runs."""
    runs = {record["run"] for record in records}
    facts = {"Cells": str(len(records)), "runs": str(len(runs))}
    failed = sum(record["status"] in FAILED for record in records)
    if failed:
        facts["failed"] = str(failed)
    versions = {
        f"{name} {number}"
        for record in records
        for name, number in record.get("ver", {}).items()
    }
    facts["versions"] = ", ".join(sorted(versions)) or "unknown"
    revisions = sorted({record["git"] for record in records if "git" in record})
    if revisions:
        facts["revision"] = ", ".join(revisions)
    return facts


def _failures(records: Sequence[Record]) -> list[Table]:
    rows = [
        [Entry(each["key"]), Entry(each["status"]), Entry(each.get("error", ""))]
        for each in records
        if each["status"] in FAILED
    ]
    if not rows:
        return []
    columns = (Entry("cell"), Entry("status"), Entry("reason"))
    caption = "Cells without scores; the tables above leave them out."
    return [Table("Failed cells", caption, columns, rows)]


def _markdown(
    name: str,
    title: str,
    facts: Mapping[str, str],
    tables: Sequence[Table],
    figures: Mapping[str, Figure],
    notes: Sequence[Note],
) -> str:
    said = "; ".join(f"{term}: {text}" for term, text in facts.items())
    general = [note.text for note in notes if not (note.row or note.column)]
    parts = [f"# {title}\n", f"{said}.\n"]
    if general:
        parts.append("".join(f"- {text}\n" for text in general))
    parts += [
        f"![{figure.caption}]({name}-{short}.svg)\n"
        for short, figure in figures.items()
    ]
    parts += [markdown(table, notes) for table in tables]
    return "\n".join(parts)
