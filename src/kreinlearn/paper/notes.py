"""What is known to be wrong with the published numbers, and where ours depart.

The notes themselves are data: ``notes.toml`` in this folder.
"""

import tomllib
from importlib.resources import files

from kreinlearn.pages.entries import Note


def _read_notes() -> tuple[Note, ...]:
    text = files(__package__).joinpath("notes.toml").read_text(encoding="utf-8")
    return tuple(
        Note(
            tables=each["tables"],
            row=each.get("row", ""),
            column=each.get("column", ""),
            text=" ".join(each["text"].split()),
        )
        for each in tomllib.loads(text)["note"]
    )


NOTES = _read_notes()
"""Every known slip and departure, next to what it touches."""


def notes_for(table: str) -> list[Note]:
    """Return the notes on one table or figure, general ones first."""
    found = [note for note in NOTES if table in note.tables.split()]
    return sorted(found, key=lambda note: (bool(note.row), bool(note.column)))
