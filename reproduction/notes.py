"""Known errors of the published numbers, and departures of ours.

The notes themselves are data: ``notes.toml`` in this folder.
"""

from reproduction.entries import Note
from reproduction.published import read_data

NOTES = tuple(
    Note(
        tables=each["tables"],
        row=each.get("row", ""),
        column=each.get("column", ""),
        text=" ".join(each["text"].split()),
    )
    for each in read_data("notes.toml")["note"]
)
"""Every known slip and departure, next to what it touches."""


def find_notes(table: str) -> list[Note]:
    """Return the notes on one table or figure, general ones first."""
    found = [note for note in NOTES if table in note.tables.split()]
    return sorted(found, key=lambda note: (bool(note.row), bool(note.column)))
