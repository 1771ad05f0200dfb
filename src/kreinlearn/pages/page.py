"""One self-contained HTML page: tables that sort, figures, notes; no network."""

import base64
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape as escape_signs

from kreinlearn.pages.figures import NARROW, Figure, clean, pictures
from kreinlearn.pages.style import SCRIPT, STYLE
from kreinlearn.pages.tables import Entry, Note, Table, marks_in

MANY = 3
"""Pages of this many sections have a table of contents."""
LONG = 24
"""Entries of more letters are given room to break in lines."""


def escape(text: str) -> str:
    """Return a text of a user as it may stand in a page, also within quotes."""
    return escape_signs(clean(text))


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes
    ----------
    title : str
        Heading.
    parts : sequence of Table or Figure
        In order. A table with the title of the section has no heading of its own.
    """

    title: str
    parts: Sequence[Table | Figure]


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
    """Return a page.

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
        Numbered from 1; those without a place stand first on the page.
    command : str
        What to type for the same page.
    versions : str
        What it was made with.

    Returns
    -------
    str
        Valid without any other file.
    """
    shown = [section for section in sections if section.parts]
    general = [note.text for note in notes if not (note.row or note.column)]
    head = [f"<h1>{escape(title)}</h1>"]
    if sentences:
        first, *others = sentences
        head.append(f'<p class="lead">{_with_code(first)}</p>')
        head += [f"<p>{_with_code(text)}</p>" for text in others]
    if facts:
        pairs = [
            f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>"
            for term, text in facts.items()
        ]
        head.append(f"<dl>{''.join(pairs)}</dl>")
    if general:
        items = "".join(f"<li>{escape(text)}</li>" for text in general)
        head.append(f'<ul class="notes">{items}</ul>')
    body = [_section(f"s{k}", each, notes) for k, each in enumerate(shown, start=1)]
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
            '<a class="skip" href="#main">Skip to the findings</a>',
            f'<main id="main" tabindex="-1">\n{chr(10).join(head)}',
            _contents(shown),
            *body,
            '<p class="hidden" id="sorts">Sorts the table by this column.</p>',
            '<p class="hidden" id="said" role="status"></p>',
            f"</main>\n{_footer(command, versions)}",
            f"<script>{SCRIPT}</script>\n</body>\n</html>\n",
        ]
    )


def _with_code(text: str) -> str:
    """Return a sentence; what stands between backticks is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _contents(sections: Sequence[Section]) -> str:
    if len(sections) < MANY:
        return ""
    items = "".join(
        f'<li><a href="#s{k}">{escape(each.title)}</a></li>'
        for k, each in enumerate(sections, start=1)
    )
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _footer(command: str, versions: str) -> str:
    said = []
    if command:
        said.append(f"Made by <code>{escape(command)}</code>.")
    if versions:
        said.append(f"Versions: {escape(versions)}.")
    said.append("This page needs no network; a click on a column head sorts a table.")
    return f"<footer><p>{' '.join(said)}</p></footer>"


def _section(place: str, section: Section, notes: Sequence[Note]) -> str:
    lines = [f'<section>\n<h2 id="{place}">{escape(section.title)}</h2>']
    is_open = False  # a grid of figures that stand beside one another
    for k, part in enumerate(section.parts, start=1):
        is_figure = isinstance(part, Figure)
        if is_figure != is_open:
            lines.append('<div class="figures">' if is_figure else "</div>")
            is_open = is_figure
        if isinstance(part, Figure):
            lines.append(_figure(part, f"{place}-f{k}", section.title))
        else:
            if part.title != section.title:
                lines.append(f"<h3>{escape(part.title)}</h3>")
            lines.append(_table(part, f"{place}-t{k}", section.title, notes))
    return "\n".join([*lines, *(["</div>"] if is_open else []), "</section>"])


def _figure(figure: Figure, place: str, section: str) -> str:
    # As data in an image, identifiers of two drawings cannot clash.
    sources = [
        (media, f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}")
        for media, svg in pictures(figure)
    ]
    *others, (_, last) = sources
    width, height = figure.wide[1]
    kind = ' class="wide"' if width > NARROW else ""
    lines = [
        f"<figure{kind}>",
        f"<h3>{escape(figure.title)}</h3>\n<picture>",
        *(f'<source media="{media}" srcset="{data}">' for media, data in others),
        f'<img alt="{escape(figure.alt)}" width="{96 * width:.0f}" '
        f'height="{96 * height:.0f}" src="{last}">\n</picture>',
        f"<figcaption>{escape(figure.caption)}</figcaption>",
    ]
    if figure.table is not None:
        hidden = f'<span class="hidden"> of {escape(figure.title)}</span>'
        lines.append(f"<details><summary>The numbers{hidden}</summary>")
        lines += [_table(figure.table, place, section, ()), "</details>"]
    return "\n".join([*lines, "</figure>"])


def _table(table: Table, place: str, section: str, notes: Sequence[Note]) -> str:
    # Under a name that no other part of the page has.
    name = table.title if table.title == section else f"{section}, {table.title}"
    kinds = [_kind(entries) for entries in zip(*table.rows, strict=True)]
    kinds = kinds or [""] * len(table.columns)
    heads = "".join(
        f'<th scope="col"{kind}><button type="button" aria-describedby="sorts">'
        f"{escape(each.text)}</button>{_marks(each, place, notes)}</th>"
        for each, kind in zip(table.columns, kinds, strict=True)
    )
    body = "\n".join(_row(row, kinds, place, notes) for row in table.rows)
    foot = "\n".join(_row(row, kinds, place, notes) for row in table.totals)
    # Outside the scrolled part, so that a long text is never wider than the page.
    lines = [
        f'<p class="about" id="{place}-about">{escape(table.caption)}</p>',
        f'<div class="scroll" tabindex="0" role="region" '
        f'aria-label="Table: {escape(name)}">',
        f'<table aria-describedby="{place}-about">',
        f'<caption class="hidden">{escape(table.title)}</caption>',
        f"<thead><tr>{heads}</tr></thead>",
        f"<tbody>\n{body}\n</tbody>",
        *([f"<tfoot>\n{foot}\n</tfoot>"] if foot else []),
        "</table></div>",
    ]
    used = marks_in(table)
    if used:
        items = "".join(
            f'<li id="{place}-n{mark}" value="{mark}">'
            f"{escape(notes[mark - 1].text)}</li>"
            for mark in used
        )
        lines.append(f'<ol class="notes">{items}</ol>')
    return "\n".join(lines)


def _kind(entries: Sequence[Entry]) -> str:
    """Return the class of a column: numbers stand at the right, words at the left."""
    words = [each.text for each in entries if each.value is None and each.text != "–"]
    if not words:
        return ""
    is_long = max(len(each.text + each.detail) for each in entries) > LONG
    return ' class="words long"' if is_long else ' class="words"'


def _row(
    row: Sequence[Entry], kinds: Sequence[str], place: str, notes: Sequence[Note]
) -> str:
    first, *others = row
    cells = [
        f'<th scope="row" data-value="{escape(_key(first))}">{escape(first.text)}'
        f"{_marks(first, place, notes)}</th>"
    ]
    for entry, kind in zip(others, kinds[1:], strict=True):
        text = escape(entry.text)
        if entry.is_best:
            text = f"<strong>{text}</strong>"
        text += _marks(entry, place, notes)
        if entry.detail:
            text += f"<small>{escape(entry.detail)}</small>"
        cells.append(f'<td{kind} data-value="{escape(_key(entry))}">{text}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _key(entry: Entry) -> str:
    """Return what the script sorts an entry by; nothing for a dash."""
    if entry.value is None:
        return "" if entry.text == "–" else entry.text
    if math.isinf(entry.value):
        return "Infinity" if entry.value > 0 else "-Infinity"
    return "" if math.isnan(entry.value) else str(entry.value)


def _marks(entry: Entry, place: str, notes: Sequence[Note]) -> str:
    if not entry.marks:
        return ""
    links = ", ".join(
        f'<a href="#{place}-n{mark}" title="{escape(notes[mark - 1].text)}" '
        f'aria-label="note {mark}">{mark}</a>'
        for mark in entry.marks
    )
    return f"<sup>{links}</sup>"
