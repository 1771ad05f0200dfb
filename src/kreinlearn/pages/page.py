"""One self-contained HTML page: tables that sort, figures, notes; no network."""

import base64
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from kreinlearn.pages.entries import DASH, Entry, Note
from kreinlearn.pages.figures import NARROW, Figure, clean, pictures
from kreinlearn.pages.tables import PageTable, general_notes, marks_in

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

LONG_TEXT = 24
"""Entries of more letters may break into lines."""


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes
    ----------
    title : str
        Heading.
    parts : sequence of PageTable or Figure
        In order. A table with the title of the section has no heading of its own.
    """

    title: str
    parts: Sequence[PageTable | Figure]


def html(
    title: str,
    sections: Sequence[Section],
    *,
    sentences: Sequence[str] = (),
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
    facts : mapping or None
        What to say before the sections: term to text.
    notes : sequence of Note
        Numbered from 1; those without a place stand at the top of the page.
    command : str
        What to type for the same page.
    versions : str
        What it was made with.
    """
    return _template().render(
        title=title,
        sections=[section for section in sections if section.parts],
        sentences=sentences,
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
        "narrow": NARROW,
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

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", escape(clean(text))))


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


def _sort_key(entry: Entry) -> str:
    """Return what the script sorts an entry by; nothing for a dash."""
    if entry.value is None:
        return "" if entry.text == DASH else entry.text
    # As JavaScript writes it.
    return (
        "" if math.isnan(entry.value) else str(entry.value).replace("inf", "Infinity")
    )
