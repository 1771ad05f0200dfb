"""One self-contained HTML page: tables that sort, figures, notes; no network."""

import base64
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from kreinlearn.app.report.entries import DASH, Entry, Note
from kreinlearn.app.report.figures import COLUMN, Figure, clean, pictures
from kreinlearn.app.report.tables import PageTable, general_notes, marks_in

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

LONG_TEXT = 24
"""Entries of more letters may break into lines."""
COLUMN_LETTERS = 66
"""Letters in a row of a table that fits into one of two columns."""


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes
    ----------
    title : str
        Heading.
    parts : sequence of PageTable or Figure
        In order. A table with the title of the section has no heading of its own.
    is_detail : bool
        Whether it is evidence that a reader opens, after everything else.
    """

    title: str
    parts: Sequence[PageTable | Figure]
    is_detail: bool = False


def html(
    title: str,
    sections: Sequence[Section],
    *,
    sentences: Sequence[str] = (),
    remarks: Sequence[str] = (),
    facts: Mapping[str, str] | None = None,
    notes: Sequence[Note] = (),
    command: str = "",
    versions: str = "",
) -> str:
    """Return a page that is valid without any other file.

    Parameters
    ----------
    title : str
        Heading.
    sections : sequence of Section
        In order; those without parts are left out.
    sentences : sequence of str
        What was found, in plain words; the first is the headline.
    remarks : sequence of str
        What else there is to say, for those who open the details.
    facts : mapping or None
        What to say before the sections: term to text.
    notes : sequence of Note
        Numbered from 1; those without a place stand among the details.
    command : str
        What to type for the same page.
    versions : str
        What it was made with.
    """
    return _template().render(
        title=title,
        shown=[each for each in sections if each.parts and not each.is_detail],
        details=[each for each in sections if each.parts and each.is_detail],
        sentences=sentences,
        remarks=remarks,
        facts=facts,
        notes=notes,
        general=general_notes(notes),
        command=command,
        versions=versions,
    )


@cache
def _template() -> "Template":
    # Only here: whoever makes no page need not wait for the import.
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def cleaned(value: str | int) -> str | int:
        is_raw = isinstance(value, str) and not isinstance(value, Markup)
        return clean(str(value)) if is_raw else value

    environment = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=True,
        finalize=cleaned,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    here = files(__package__)
    environment.globals |= {
        "style": Markup(here.joinpath("page.css").read_text("utf-8")),
        "script": Markup(here.joinpath("page.js").read_text("utf-8")),
        "column": COLUMN,
        "is_wide": _is_wide,
        "column_classes": _column_classes,
        "marks_in": marks_in,
        "sort_key": _sort_key,
        "sources": _sources,
        "with_code": _with_code,
    }
    return environment.get_template("page.html.j2")


def _with_code(text: str) -> "Markup":
    """Return a sentence; what stands between backticks is code."""
    from markupsafe import Markup, escape

    # As a plain string: what is joined to Markup would be escaped once more.
    plain = str(escape(clean(text)))
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", plain))


def _sources(figure: Figure) -> list[tuple[str, str]]:
    """Return the drawings as addresses: identifiers of two of them cannot clash."""
    return [
        (media, f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}")
        for media, svg in pictures(figure)
    ]


def _column_classes(table: PageTable) -> list[str]:
    """Return the class of each column: words to the left, numbers to the right."""
    kinds = [""] * len(table.columns)
    for place, entries in enumerate(zip(*table.rows, strict=True)):
        if any(each.value is None and each.text != DASH for each in entries):
            longest = max(len(each.text + each.detail) for each in entries)
            kinds[place] = "words long" if longest > LONG_TEXT else "words"
    return kinds


def _is_wide(table: PageTable) -> bool:
    """Tell whether a table needs the whole width of the page."""
    columns = zip(table.columns, *table.rows, *table.totals, strict=True)
    letters = [
        min(LONG_TEXT, max(len(each.text) for each in column)) + 4 for column in columns
    ]
    return sum(letters) > COLUMN_LETTERS


def _sort_key(entry: Entry) -> str:
    """Return what the script sorts an entry by; nothing for a dash."""
    if entry.value is None:
        return "" if entry.text == DASH else entry.text
    # As JavaScript writes it.
    return (
        "" if math.isnan(entry.value) else str(entry.value).replace("inf", "Infinity")
    )
