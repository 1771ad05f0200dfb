"""One self-contained HTML page: tables that sort, figures, notes; no network."""

import base64
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self

from kreinlearn._files import check_free, replace
from kreinlearn.app.report.figures import COLUMN_INCHES, Figure, clean, draw_pictures
from kreinlearn.app.report.tables import NO_VALUE, Entry, PageTable, list_marks

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup
    from pandas import DataFrame

LONG_TEXT = 24
"""Entries of more letters may break into lines."""
COLUMN_LETTERS = 66
"""Letters in a row of a table that fits into one of two columns."""


@dataclass(frozen=True)
class Result:
    """Results with a verdict, a table and a page; notebooks show the first two.

    Attributes
    ----------
    results : dict
        All results, as the command prints them with ``--json``.
    """

    results: dict[str, Any]

    @property
    def verdict(self) -> str:
        """The results in a sentence or two."""
        raise NotImplementedError

    @property
    def table(self) -> "DataFrame":
        """The scores."""
        raise NotImplementedError

    def _make_page(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.verdict}\n\n{self.table.to_string(float_format='{:.3f}'.format)}"

    def _repr_html_(self) -> str:
        table = self.table.to_html(float_format="{:.3f}".format, na_rep="")
        return f"<p>{escape(self.verdict)}</p>{table}"

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Self:
        """Write the page, with figures, to an HTML file.

        Parameters
        ----------
        path : path-like
            The file.
        overwrite : bool
            Whether to replace an existing file.

        Returns
        -------
        self : object
            The same results.
        """
        check_free(path, overwrite)
        replace(path, self._make_page().encode())
        return self


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
        Whether it stands among the details, after all other sections.
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
    notes: Sequence[str] = (),
    command: str = "",
    versions: Mapping[str, str] | str = "",
) -> str:
    """Return a page that is valid without any other file.

    Parameters
    ----------
    title : str
        Heading.
    sections : sequence of Section
        In order; those without parts are left out.
    sentences : sequence of str
        Verdict in plain words; the first is the headline.
    remarks : sequence of str
        Further sentences, among the details.
    facts : mapping or None
        Terms and texts before the sections.
    notes : sequence of str
        Notes that marks of tables refer to, numbered from 1.
    command : str
        Command that makes the page.
    versions : mapping or str
        Versions of libraries.
    """
    if not isinstance(versions, str):
        versions = ", ".join(f"{name} {text}" for name, text in versions.items())
    return _load_template().render(
        title=title,
        shown=[each for each in sections if each.parts and not each.is_detail],
        details=[each for each in sections if each.parts and each.is_detail],
        sentences=sentences,
        remarks=remarks,
        facts=facts,
        notes=notes,
        command=command,
        versions=versions,
    )


@cache
def _load_template() -> "Template":
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
        "column": COLUMN_INCHES,
        "is_wide": _is_wide,
        "column_classes": _column_classes,
        "marks_in": list_marks,
        "sort_key": _sort_key,
        "sources": _sources,
        "with_code": _with_code,
    }
    return environment.get_template("page.html.j2")


def _with_code(text: str) -> "Markup":
    """Return a sentence with code between backticks."""
    from markupsafe import Markup, escape

    # A plain string: a text that is joined to Markup would be escaped once more.
    plain = str(escape(clean(text)))
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", plain))


def _sources(figure: Figure) -> list[tuple[str, str]]:
    """Return the drawings as addresses: identifiers of two of them cannot clash."""
    return [
        (media, f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}")
        for media, svg in draw_pictures(figure)
    ]


def _column_classes(table: PageTable) -> list[str]:
    """Return the class of each column: words to the left, numbers to the right."""
    kinds = [""] * len(table.columns)
    for place, entries in enumerate(zip(*table.rows, strict=True)):
        if any(each.value is None and each.text != NO_VALUE for each in entries):
            longest = max(len(each.text + each.detail) for each in entries)
            kinds[place] = "words long" if longest > LONG_TEXT else "words"
    return kinds


def _is_wide(table: PageTable) -> bool:
    """Return whether a table needs the whole width of the page."""
    columns = zip(table.columns, *table.rows, *table.totals, strict=True)
    letters = [
        min(LONG_TEXT, max(len(each.text) for each in column)) + 4 for column in columns
    ]
    return sum(letters) > COLUMN_LETTERS


def _sort_key(entry: Entry) -> str:
    """Return the sort key of an entry for the script; nothing for a dash."""
    if entry.value is None:
        return "" if entry.text == NO_VALUE else entry.text
    # As JavaScript writes it.
    text = str(entry.value).replace("inf", "Infinity")
    return "" if math.isnan(entry.value) else text
