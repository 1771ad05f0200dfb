"""Series, sequences (FASTA) and graphs with their labels."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from kreinlearn._validation import check_choice
from kreinlearn.io.columns import MISSING_CELLS, parse_number
from kreinlearn.io.errors import check_file, name_file
from kreinlearn.io.graphs import read_tu
from kreinlearn.io.labels import as_labels, read_labels
from kreinlearn.io.options import ReadOptions, SampleKind
from kreinlearn.io.series import (
    SeriesText,
    count_channels,
    count_times,
    read_ts_text,
    read_ucr_text,
)
from kreinlearn.io.table import Table
from kreinlearn.io.text import read_lines

LabelRule = Literal["description", "bar"] | int
"""Position of the label in a header."""
REMOVE_GAPS = str.maketrans("", "", "-.")
SAMPLE_FORMATS: dict[str, SampleKind] = {
    "fasta": "sequences",
    "ts": "series",
    "ucr": "series",
    "tu": "graphs",
}
"""Formats of samples that are not rows of a table, and their kind."""
EXPECTED_INPUT: dict[SampleKind, str] = {
    "series": "a .ts file, or lines of the UCR archive with --format ucr",
    "sequences": "a FASTA file",
    "graphs": "a folder of the TU collection",
}
"""Input of a model, for messages."""


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
    place = check_file(path, "a FASTA file")
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


def read_samples(path: Path, format: str, options: ReadOptions) -> Table:
    """Return series, sequences or graphs, and their labels.

    Parameters
    ----------
    path : Path
        The file, or the folder of graphs.
    format : {"fasta", "ts", "ucr", "tu"}
        Its format.
    options : ReadOptions
        Only those about labels and the header apply.

    Returns
    -------
    Table
        With items, their kind, names of sequences, and y if there are labels.
    """
    check_choice("format", format, tuple(SAMPLE_FORMATS))
    _check_options(path, format, options)
    if format == "fasta":
        found = _read_sequences(path, options)
    elif format == "tu":
        found = _read_graphs(path)
    else:
        found = _read_series(path, format, options.target, options.header)
    if found.y is None and options.labels:
        raise ValueError(f"{path} {_describe_unlabeled(format)}")
    return replace(found, format=format)


def describe_content(kind: SampleKind, item: Any) -> str:
    """Return the properties that all samples of a data set share.

    Parameters
    ----------
    kind : {"series", "sequences", "graphs"}
        Their kind.
    item : series, str or dict
        One of them.

    Returns
    -------
    str
        Channels, letters, or labels and attributes of nodes.
    """
    if kind == "series":
        return f"{count_channels(item)} channel{'s' * (count_channels(item) > 1)}"
    if kind == "sequences":
        return "letters"
    labels, attributes = item["labels"], item["attributes"]
    is_text = labels is not None and labels.dtype.kind == "U"
    found = "no node labels" if labels is None else f"node labels{' of text' * is_text}"
    if attributes is None:
        return found
    count = attributes.shape[1]
    return f"{found} and {count} node attribute{'s' * (count > 1)}"


def describe_samples(table: Table) -> str:
    """Return a short description of samples.

    Examples
    --------
    >>> describe_samples(Table("a.fasta", items=["MKV", "MR"], kind="sequences"))
    'sequences of 2 to 3 letters'
    """
    items: list[Any] = table.items or []
    if table.kind == "series":
        n = count_channels(items[0])
        of = f"series of {f'{n} channels and ' * (n > 1)}"
        sizes, unit = [count_times(series) for series in items], "value"
    elif table.kind == "graphs":
        of, sizes, unit = "graphs of ", [graph["n_nodes"] for graph in items], "node"
    else:
        of, sizes, unit = "sequences of ", [len(letters) for letters in items], "letter"
    low, high = min(sizes), max(sizes)
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{of}{span} {unit}{'s' * (high > 1)}"


def _check_options(path: Path, format: str, options: ReadOptions) -> None:
    """Raise if an option does not apply to a file of this format."""
    kind, pairs = SAMPLE_FORMATS[format], options.pairs
    if options.is_for_matrix:
        raise ValueError(
            f"{path} holds {kind}; --distance, --similarity and --symmetrize go with a "
            "matrix or a list of pairs: leave them out."
        )
    if pairs.has_fill_values:
        raise ValueError(
            f"{path} holds {kind}; --missing, --missing-self and --repeated go with "
            "a matrix or a list of pairs: leave them out."
        )
    if pairs.labels is not None and format != "fasta":
        raise ValueError(
            f"{path} holds {kind} without names: leave out --labels; "
            f"labels are expected {_describe_label_place(path, format)}."
        )
    if options.target is not None and format in ("ts", "tu"):
        raise ValueError(
            f"{path} has its labels {_describe_label_place(path, format)}: leave out "
            f"--target, got {options.target!r}."
        )
    if options.header is not None and format != "ucr" and pairs.labels is None:
        raise ValueError(
            f"{path} holds {kind}, not a table with names in the first line: leave "
            "out --header and --no-header."
        )


def _describe_label_place(path: Path, format: str) -> str:
    places = {"ts": "after the last colon of each line", "ucr": "in each line"}
    return places.get(format, f"in {path}{os.sep}..._graph_labels.txt")


def _describe_unlabeled(format: str) -> str:
    if format == "tu":
        return "holds graphs without labels; add a file ..._graph_labels.txt."
    if format == "ts":
        return "holds no labels; add them, and the line '@classLabel true a b'."
    return "has no such column of labels; name another by --target."


def _read_sequences(path: Path, options: ReadOptions) -> Table:
    """Return the sequences of a FASTA file."""
    names, sequences, descriptions = read_fasta(path)
    table = Table(str(path), items=list(sequences), kind="sequences", names=names)
    target, header = options.target, options.header
    if (file := options.pairs.labels) is not None:
        y, title, note = read_labels(file, names, str(path), target, header=header)
        return replace(table, y=y, target=title, remark=note)
    if not options.labels and target is None and not any(descriptions):
        return table
    found = header_labels(path, names, descriptions, parse_label_rule(path, target))
    places = range(1, len(names) + 1)
    y = as_labels(found, places, f"{path}, headers", unit="sequence")
    return replace(table, y=y, target="header")


def parse_label_rule(path: Path, target: str | None) -> LabelRule:
    """Return the position of labels in headers, as `header_labels` takes it."""
    if target is None or target == "description":
        return "description"
    if target == "bar":
        return "bar"
    if target.lstrip("-").isdigit() and int(target) != 0:
        return int(target)
    raise ValueError(
        f"--target must be 'description' (the text after the name), 'bar' (the text "
        f"after its last bar), or the number of a field from 1 for the headers of "
        f"{path}, got {target!r}."
    )


def _read_graphs(path: Path) -> Table:
    """Return the graphs of a folder."""
    graphs, y = read_tu(path)
    table = Table(str(path), items=list(graphs), kind="graphs")
    if y is None:
        return table
    title = "graph_labels"
    y = as_labels(y, range(1, len(y) + 1), f"{path}, {title}")
    return replace(table, y=y, target=title)


def read_series_text(
    path: Path, format: str, target: str | None, header: bool | None
) -> SeriesText:
    """Return the series of a file with the text of their labels."""
    if format == "ts":
        return read_ts_text(path)
    check_choice("format", format, ("ts", "ucr"))
    return read_ucr_text(path, target, header)


def _read_series(
    path: Path, format: str, target: str | None, header: bool | None
) -> Table:
    """Return the series of a file."""
    found = read_series_text(path, format, target, header)
    table = Table(str(path), items=list(found.items), kind="series")
    if found.labels is None:
        return table
    title = "@classLabel" if format == "ts" else target or "column 1"
    y = as_labels(found.labels, found.lines, f"{path}, {title}")
    return replace(table, y=y, target=title)


def check_series_labels(
    path: Path, found: SeriesText, classes: Sequence[str | int | float]
) -> None:
    """Raise if a label is not a class of the model, but probably a value of the series.

    A file without labels looks like one with them, and would lose a value.
    """
    known = {str(label) for label in classes}
    numbers = {float(label) for label in classes if not isinstance(label, str)}
    for line, label in zip(found.lines, found.labels or [], strict=False):
        if label in known or label in MISSING_CELLS or parse_number(label) in numbers:
            continue
        listed = ", ".join(sorted(known)[:5]) + ", ..." * (len(known) > 5)
        raise ValueError(
            f"{path}, line {line}: a label of the model ({listed}) was expected before "
            f"the values, or ? if it is unknown, got {label!r}; add a column of labels "
            "to the file."
        )
