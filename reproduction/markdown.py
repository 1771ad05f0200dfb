"""Tables as Markdown."""

from collections.abc import Sequence

from kreinlearn.app.report import Entry, PageTable, list_marks
from reproduction.entries import Note


def format_table(table: PageTable, notes: Sequence[Note] = ()) -> str:
    """Return a table as Markdown: heading, caption, pipe table and notes.

    Parameters
    ----------
    table : PageTable
        Table; the best entries are bold.
    notes : sequence of Note
        Notes that its marks refer to.
    """
    rule = "|" + "|".join([" --- ", *[" ---: "] * (len(table.columns) - 1)]) + "|"
    lines = [f"## {table.title}", "", table.caption, ""]
    lines += [_format_row(table.columns), rule]
    lines += [_format_row(row) for row in table.rows + table.totals]
    used = [mark for mark in list_marks(table) if mark <= len(notes)]
    lines += ["", *(f"<sup>{mark}</sup> {notes[mark - 1].text}  " for mark in used)]
    return "\n".join(lines).rstrip() + "\n"


def _format_row(entries: Sequence[Entry]) -> str:
    """Return entries as a row of a pipe table."""
    return "| " + " | ".join(_format_entry(each) for each in entries) + " |"


def _format_entry(entry: Entry) -> str:
    """Return an entry as Markdown."""
    text = entry.text.replace("|", "\\|")
    if entry.is_best:
        text = f"**{text}**"
    if entry.marks:
        text += f"<sup>{','.join(map(str, entry.marks))}</sup>"
    return f"{text}<br>{entry.detail}" if entry.detail else text
