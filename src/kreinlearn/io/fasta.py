"""FASTA: named sequences, one header and any number of lines of letters each."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from kreinlearn._validation import check_choice
from kreinlearn.io.guards import naming_file
from kreinlearn.io.text import lines_of

FASTA = (".fasta", ".fa", ".fas", ".faa", ".fna", ".ffn")
"""Usual endings of the names of such files, which may be followed by .gz."""
GAPS = str.maketrans("", "", "-.")
"""Takes out what stands for a gap in an alignment."""


@naming_file
def read_fasta(
    path: str | os.PathLike[str],
) -> tuple[list[str], list[str], list[str]]:
    r"""Return the sequences in a FASTA file.

    A header is a line such as ``>P12345 cytoplasm``: its first word is the name of the
    sequence, the rest a description. Letters are put into upper case. Gaps (``-`` and
    ``.``), spaces and a stop (``*``) at the end of a sequence are taken out; stops
    inside stay, as matrices of amino acids have a score for them.

    Parameters
    ----------
    path : path-like
        UTF-8 text, compressed if the name ends with .gz.

    Returns
    -------
    names, sequences, descriptions : list of str
        One each per sequence; the descriptions may be empty.

    Raises
    ------
    ValueError, OSError
        One sentence with the file, the line and the sequence that are bad: no header,
        no or a doubled name, no letters, or something that is not a letter.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kreinlearn.io import read_fasta
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.fasta")
    ...     _ = path.write_text(">a cytoplasm\nMKV\nLA*\n>b nucleus\nmr-t\n")
    ...     read_fasta(path)
    (['a', 'b'], ['MKVLA', 'MRT'], ['cytoplasm', 'nucleus'])
    """
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a folder; a FASTA file was expected.")
    if not place.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    lines: dict[str, int] = {}  # where each name was
    sequences, descriptions = [], []
    for line, header, body in _entries(place):
        name, *rest = header.split(maxsplit=1) or [""]
        if not name:
            raise ValueError(
                f"{path}, line {line}: a name was expected after '>', as in '>P12345 "
                "cytoplasm'."
            )
        if name in lines:
            raise ValueError(
                f"{path}, line {line}: the name {name!r} was in line {lines[name]} "
                "already; names of sequences must differ."
            )
        lines[name] = line
        sequences.append(_letters(f"{path}, line", name, line, body))
        descriptions.append("".join(rest).strip())
    if not lines:
        raise ValueError(
            f"{path} is empty; FASTA was expected, with headers that start with '>'."
        )
    return list(lines), sequences, descriptions


def header_labels(
    path: str | os.PathLike[str],
    names: Sequence[str],
    descriptions: Sequence[str],
    label: Literal["description", "bar"] | int = "description",
) -> list[str]:
    """Return the labels in the headers of a FASTA file.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    names, descriptions : sequence of str
        What `read_fasta` gave.
    label : {"description", "bar"} or int
        All that follows the name, ``>P12345 cell membrane``; what follows the last bar
        in the name, ``>P12345|membrane``; or a field of the header, counted from 1 or,
        if negative, from its end, with bars or blanks between fields: 2 in
        ``>P12345 membrane test``.

    Returns
    -------
    list of str
        One label per sequence.

    Raises
    ------
    ValueError
        One sentence with the first sequence that has no label.

    Examples
    --------
    >>> from kreinlearn.io import header_labels
    >>> header_labels("a.fasta", ["a|in", "b|out"], ["", ""], "bar")
    ['in', 'out']
    """
    if not isinstance(label, int):
        check_choice("label", label, ("description", "bar"))
    found = list(descriptions)
    example = "P12345 cell membrane"
    if label == "bar":
        found = ["".join(name.rpartition("|")[1:])[1:] for name in names]
        example = "P12345|membrane"
    elif isinstance(label, int):
        found = [_field(*each, label) for each in zip(names, descriptions, strict=True)]
        example = "P12345 membrane test"
    if "" in found:
        item = found.index("")
        got = f"{names[item]} {descriptions[item]}".strip()
        raise ValueError(
            f"{path}: a label was expected in the header of sequence {item} (counted "
            f"from 0), as in '>{example}', got '>{got}'; add it, or give labels in a "
            "second file (--labels on the command line)."
        )
    return found


def _field(name: str, description: str, place: int) -> str:
    """Return a field of a header, counted from 1 or from the end, or nothing."""
    fields = re.split(r"[|\s]+", f"{name} {description}".strip())
    at = place - 1 if place > 0 else place
    return fields[at] if place and -len(fields) <= at < len(fields) else ""


def _entries(path: Path) -> Iterator[tuple[int, str, list[tuple[int, str]]]]:
    """Yield line and text of each header, and the lines that follow it."""
    entry: tuple[int, str, list[tuple[int, str]]] | None = None
    for line, content in enumerate(lines_of(path), 1):
        text = content.strip()
        if text.startswith(">"):
            if entry is not None:
                yield entry
            entry = line, text[1:], []
        elif text and entry is None:
            raise ValueError(
                f"{path}, line {line}: a header that starts with '>' was expected "
                f"first, got {text[:20]!r}."
            )
        elif text and entry is not None:
            entry[2].append((line, text))
    if entry is not None:
        yield entry


def _letters(where: str, name: str, line: int, body: list[tuple[int, str]]) -> str:
    """Return the letters of one sequence, or raise."""
    parts = ["".join(text.split()).translate(GAPS) for _, text in body]
    sequence = "".join(parts).removesuffix("*")
    if not sequence:
        raise ValueError(
            f"{where} {line}: the sequence {name!r} has no letters; leave it out."
        )
    if not _is_letters(sequence):
        number, part = next(
            (number, part)
            for (number, _), part in zip(body, parts, strict=True)
            if not _is_letters(part)
        )
        bad = next(each for each in part if not _is_letters(each))
        raise ValueError(
            f"{where} {number}: letters were expected in the sequence {name!r}, got "
            f"{bad!r}."
        )
    return sequence.upper()


def _is_letters(text: str) -> bool:
    """Tell whether there is nothing but letters from A to Z and stops."""
    rest = text.replace("*", "")
    return not rest or (rest.isascii() and rest.isalpha())
