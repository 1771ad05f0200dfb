"""FASTA: named sequences, one header and any number of lines of letters each."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from kreinlearn._validation import check_choice
from kreinlearn.io.errors import name_file
from kreinlearn.io.text import read_lines

LabelRule = Literal["description", "bar"] | int
"""Position of the label in a header."""
REMOVE_GAPS = str.maketrans("", "", "-.")


@name_file
def read_fasta(
    path: str | os.PathLike[str],
) -> tuple[list[str], list[str], list[str]]:
    r"""Return the sequences in a FASTA file.

    A header is a line such as ``>P12345 cytoplasm``: its first word is the name of the
    sequence, the rest a description. Letters are converted to upper case. Gaps (``-``
    and ``.``), spaces and a stop (``*``) at the end of a sequence are removed; stops
    inside stay, since substitution matrices have a score for them.

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
        With the file, the line and the sequence at fault: no header, no or a repeated
        name, no letters, or something that is not a letter.

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
    lines: dict[str, int] = {}  # of names
    sequences, descriptions = [], []
    for line, header, body in _read_entries(place):
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
        sequences.append(_join_letters(path, name, line, body))
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
    label: LabelRule = "description",
) -> list[str]:
    """Return the labels in the headers of a FASTA file.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    names, descriptions : sequence of str
        Results of `read_fasta`.
    label : {"description", "bar"} or int
        All text after the name, ``>P12345 cell membrane``; the text after the last bar
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
        With the first sequence that has no label.

    Examples
    --------
    >>> from kreinlearn.io import header_labels
    >>> header_labels("a.fasta", ["a|in", "b|out"], ["", ""], "bar")
    ['in', 'out']
    """
    found = find_labels(names, descriptions, label)
    if "" in found:
        examples = {"bar": "P12345|membrane", "description": "P12345 cell membrane"}
        example = examples.get(str(label), "P12345 membrane test")
        item = found.index("")
        got = f"{names[item]} {descriptions[item]}".strip()
        raise ValueError(
            f"{path}: a label was expected in the header of sequence {item} (counted "
            f"from 0), as in '>{example}', got '>{got}'; add it, or name a file of "
            "labels by --labels."
        )
    return found


def find_labels(
    names: Sequence[str], descriptions: Sequence[str], label: LabelRule
) -> list[str]:
    """Return the labels in headers, empty where there is none."""
    if isinstance(label, int):
        both = zip(names, descriptions, strict=True)
        return [_find_field(*each, label) for each in both]
    check_choice("label", label, ("description", "bar"))
    if label == "bar":
        return [name.rpartition("|")[2] if "|" in name else "" for name in names]
    return list(descriptions)


def _find_field(name: str, description: str, place: int) -> str:
    """Return a field of a header, counted from 1 or from the end, or empty text."""
    fields = re.split(r"[|\s]+", f"{name} {description}".strip())
    at = place - 1 if place > 0 else place
    return fields[at] if place and -len(fields) <= at < len(fields) else ""


def _read_entries(path: Path) -> Iterator[tuple[int, str, list[tuple[int, str]]]]:
    """Yield line and text of each header, and the lines that follow it."""
    entry: tuple[int, str, list[tuple[int, str]]] | None = None
    for line, content in enumerate(read_lines(path), 1):
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


def _join_letters(
    path: str | os.PathLike[str], name: str, line: int, body: list[tuple[int, str]]
) -> str:
    """Return the letters of one sequence, or raise."""
    parts = ["".join(text.split()).translate(REMOVE_GAPS) for _, text in body]
    sequence = "".join(parts).removesuffix("*")
    if not sequence:
        raise ValueError(
            f"{path}, line {line}: the sequence {name!r} has no letters; leave it out."
        )
    if not _is_letters(sequence):
        number, part = next(
            (number, part)
            for (number, _), part in zip(body, parts, strict=True)
            if not _is_letters(part)
        )
        bad = next(each for each in part if not _is_letters(each))
        raise ValueError(
            f"{path}, line {number}: letters were expected in the sequence {name!r}, "
            f"got {bad!r}."
        )
    return sequence.upper()


def _is_letters(text: str) -> bool:
    """Return whether text holds nothing but letters from A to Z and stops."""
    rest = text.replace("*", "")
    return not rest or (rest.isascii() and rest.isalpha())
