"""One self-contained HTML page: tables that sort, figures, notes; no network."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from kreinlearn.experiments.paper import Note
from kreinlearn.report.tables import Entry, Table, marks_in

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --soft: #5c5c5c; --page: #fff;
  --line: #ddd; --band: #f5f5f5; --best: #00527f; --link: #00527f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --soft: #a5a5a5;
  --page: #16181b; --line: #3a3d42; --band: #202327; --best: #7cc7f2;
  --link: #7cc7f2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 78rem; color: var(--ink);
  background: var(--page); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .3rem; }
p, li { max-width: 46rem; }
a { color: var(--link); }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; }
table { border-collapse: collapse; font-size: .85rem; width: 100%;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .6rem .7rem; color: var(--soft);
  caption-side: top; }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap;
  border-top: 1px solid var(--line); vertical-align: top; }
thead th { vertical-align: bottom; white-space: normal; min-width: 4.5rem; }
th:first-child, td.words { text-align: left; }
td.words { white-space: normal; min-width: 11rem; }
th[scope=row] { position: sticky; left: 0; background: var(--page);
  font-weight: 600; }
tbody tr:nth-child(even) > * { background: var(--band); }
tfoot > tr > * { border-top: 2px solid var(--line); font-weight: 600; }
thead button { all: unset; cursor: pointer; font-weight: 600; }
thead button:focus-visible { outline: 2px solid var(--link); }
th[aria-sort=ascending] button::after { content: " \\25B2"; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
small { display: block; color: var(--soft); }
strong { color: var(--best); }
sup a { text-decoration: none; }
figure { margin: 1.5rem 0; }
figure img { width: 100%; max-width: 60rem; background: #fff; padding: .5rem;
  border-radius: .4rem; border: 1px solid var(--line); }
figcaption, .notes, .facts { color: var(--soft); font-size: .85rem; }
.notes li { margin: .25rem 0; }
"""

SCRIPT = """
for (const table of document.querySelectorAll("table")) {
  const heads = table.querySelectorAll("thead th");
  heads.forEach((head, column) => head.querySelector("button").onclick = () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const key = row => row.cells[column].dataset.value ?? "";
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
      return down ? -order : order;
    };
    body.append(...[...body.rows].sort(compare));
  });
}
"""


def html(
    title: str,
    facts: Mapping[str, str],
    tables: Sequence[Table],
    figures: Mapping[str, Mapping[str, Any]],
    notes: Sequence[Note],
) -> str:
    """Return the page of an experiment.

    Parameters
    ----------
    title : str
        Heading.
    facts : mapping
        What to say about the runs: term to text.
    tables : sequence of Table
        In order.
    figures : mapping
        Short name to "caption" and "svg".
    notes : sequence of Note
        Numbered from 1; those without a place stand first on the page.

    Returns
    -------
    str
        Valid without any other file.
    """
    general = [note.text for note in notes if not (note.row or note.column)]
    parts = [f"<h1>{escape(title)}</h1>", _facts(facts)]
    if general:
        items = "".join(f"<li>{escape(text)}</li>" for text in general)
        parts.append(f'<ul class="notes">{items}</ul>')
    parts += [_figure(each) for each in figures.values()]
    parts += [_section(k, table, notes) for k, table in enumerate(tables, start=1)]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<main>\n{chr(10).join(parts)}\n</main>\n<script>{SCRIPT}</script>\n"
        "</body>\n</html>\n"
    )


def _facts(facts: Mapping[str, str]) -> str:
    pairs = [f"{escape(term)}: {escape(text)}" for term, text in facts.items()]
    return f'<p class="facts">{"; ".join(pairs)}.</p>'


def _figure(figure: Mapping[str, Any]) -> str:
    # As data in an image, identifiers of two drawings cannot clash.
    code = base64.b64encode(figure["svg"]).decode()
    text = escape(figure["caption"])
    return (
        f'<figure><img alt="{text}" src="data:image/svg+xml;base64,{code}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def _section(number: int, table: Table, notes: Sequence[Note]) -> str:
    place = f"t{number}"
    heads = "".join(
        f'<th scope="col"><button type="button">{escape(each.text)}</button>'
        f"{_marks(each, place, notes)}</th>"
        for each in table.columns
    )
    body = "\n".join(_row(row, place, notes) for row in table.rows)
    foot = "\n".join(_row(row, place, notes) for row in table.totals)
    lines = [
        f'<section aria-labelledby="{place}">',
        f'<h2 id="{place}">{escape(table.title)}</h2>',
        '<div class="scroll"><table>',
        f"<caption>{escape(table.caption)}</caption>",
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
    return "\n".join([*lines, "</section>"])


def _row(row: Sequence[Entry], place: str, notes: Sequence[Note]) -> str:
    first, *others = row
    cells = [
        f'<th scope="row" data-value="{escape(first.text)}">{escape(first.text)}'
        f"{_marks(first, place, notes)}</th>"
    ]
    for entry in others:
        text = escape(entry.text)
        if entry.is_best:
            text = f"<strong>{text}</strong>"
        text += _marks(entry, place, notes)
        if entry.detail:
            text += f"<small>{escape(entry.detail)}</small>"
        is_word = entry.value is None and entry.text != "–"
        value = entry.text if is_word else "" if entry.value is None else entry.value
        kind = ' class="words"' if is_word else ""
        cells.append(f'<td{kind} data-value="{escape(str(value))}">{text}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _marks(entry: Entry, place: str, notes: Sequence[Note]) -> str:
    if not entry.marks:
        return ""
    links = ", ".join(
        f'<a href="#{place}-n{mark}" title="{escape(notes[mark - 1].text)}" '
        f'aria-label="note {mark}">{mark}</a>'
        for mark in entry.marks
    )
    return f"<sup>{links}</sup>"
