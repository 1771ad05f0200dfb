"""Sequences (FASTA), time series (.ts, UCR archive) and graphs, with their labels.

A series is an array of values or, with several channels, a tuple of arrays. A folder
``DS`` of the TU collection has ``DS_A.txt`` (edges, two nodes a line, counted from 1
over all graphs), ``DS_graph_indicator.txt`` (the graph of each node, counted from 1),
and if there are any ``DS_graph_labels.txt``, ``DS_node_labels.txt`` and
``DS_node_attributes.txt``. Files about edges are not used.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from kreinlearn._files import PathName
from kreinlearn._typing import Array
from kreinlearn._validation import check_choice
from kreinlearn.io.columns import CellColumn, find_column, is_count, parse_numbers
from kreinlearn.io.dataset import (
    Dataset,
    ModelInput,
    ReadOptions,
    SampleKind,
    TrainingRecord,
)
from kreinlearn.io.labels import as_labels, read_labels, to_labels, to_text_labels
from kreinlearn.io.text import (
    MISSING_CELLS,
    TextRow,
    check_file,
    detect_header,
    name_file,
    parse_number,
    read_lines,
)

LabelRule = Literal["description", "bar"] | int
"""Position of the label in a header."""
Series = Array | tuple[Array, ...]
NO_LETTER = re.compile("[^A-Za-z*]")
GAP_LETTERS = str.maketrans("", "", "-.")
"""Translation that removes the gaps of an alignment."""
PADDING_CELLS = frozenset({"", "nan", "NaN", "NAN"})
"""Cells at the end of a line of the UCR archive whose series is shorter."""
EDGE_FILE = "_A.txt"
"""End of the name of the file of edges, after the name of the data set."""
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
LABEL_REMEDIES = {
    "ts": "add them, and the line '@classLabel true a b'",
    "ucr": "name another column by --target",
    "tu": "add a file ..._graph_labels.txt",
    "fasta": "add them to the headers",
}
"""Remedies for files without labels."""


class SampleText(NamedTuple):
    """Samples of a file, the text of their labels, if any, and their lines."""

    items: list[Any]
    labels: CellColumn | None
    lines: Sequence[int]
    names: list[str] | None = None
    title: str = ""
    unit: str = "line"


def read_samples(path: Path, format: str, options: ReadOptions) -> Dataset:
    """Return series, sequences or graphs for training, and their labels.

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
    Dataset
        With items, their kind, names of sequences, and y if there are labels.
    """
    check_choice("format", format, tuple(SAMPLE_FORMATS))
    is_inside, target = options.label_file is None, options.target
    needs_labels = bool(options.labels) or target is not None
    rule = target if is_inside else None
    found = _read_items(path, format, rule, options.header, needs_labels and is_inside)
    y = title = None
    remark = ""
    if options.label_file is not None:
        names = found.names or len(found.items)
        y, title, remark = read_labels(
            options.label_file, names, str(path), target, header=options.header
        )
    elif found.labels is not None:
        where, title = f"{path}, {found.title}", found.title
        y = as_labels(found.labels, found.lines, where, found.unit)
    elif options.labels:
        raise ValueError(f"{path} holds no labels; {LABEL_REMEDIES[format]}.")
    record = TrainingRecord(
        source=str(path),
        target="header" if title == "headers" else title,
        format=format,
        label_rule=rule,
        has_labels=is_inside,
    )
    return Dataset(
        str(path),
        y=y,
        items=found.items,
        kind=SAMPLE_FORMATS[format],
        names=found.names,
        remark=remark,
        record=record,
    )


def read_new_samples(
    path: Path, format: str, model: ModelInput, header: bool | None = None
) -> Dataset:
    """Return new samples for a model, and their labels if the file has them.

    Parameters
    ----------
    path : Path
        The file, or the folder of graphs.
    format : str
        Its format.
    model : ModelInput
        Input of the model.
    header : bool, optional
        Whether the first line of a file of the UCR archive holds names.

    Returns
    -------
    Dataset
        With items and names: those of sequences, and numbers from 1 for others.
        Unknown labels are empty, or NaN.
    """
    kind, training, held = model.kind, model.training, SAMPLE_FORMATS.get(format)
    if held is None or held != kind:
        what = held or ("a table" if format == "table" else "a matrix or pairs")
        raise ValueError(
            f"The model was trained on {kind}, but {path} holds {what}; give "
            f"{EXPECTED_INPUT[kind]}."  # type: ignore[index]
        )
    rule = training.label_rule if format in ("fasta", training.format) else None
    found = _read_items(path, format, rule, header)
    if format == "ucr":
        _check_series_labels(path, found, model.classes)
    if model.content not in (None, content := describe_content(held, found.items[0])):
        raise ValueError(
            f"{path}: the model was trained on {kind} with {model.content}, got {kind} "
            f"with {content}; give the same kind of samples."
        )
    y = None
    if found.labels is not None and (training.has_labels or format != "fasta"):
        is_text = any(isinstance(label, str) for label in model.classes)
        y = (to_text_labels if is_text else to_labels)(found.labels)
    names = found.names or [str(i) for i in range(1, len(found.items) + 1)]
    return Dataset(str(path), y=y, items=found.items, kind=held, names=names)


def _read_items(
    path: Path,
    format: str,
    rule: str | None,
    header: bool | None,
    needs_labels: bool = False,
) -> SampleText:
    """Return the samples of a file and the text of their labels."""
    if format == "ts":
        return read_ts_text(path)
    if format == "ucr":
        return read_ucr_text(path, rule, header)
    if format == "tu":
        graphs, y = read_tu(path)
        places = range(1, len(graphs) + 1)
        return SampleText(graphs, y, places, None, "graph_labels")
    names, sequences, descriptions = read_fasta(path)
    places = range(1, len(names) + 1)
    found = SampleText(sequences, None, places, names, "headers", "sequence")
    label_rule = _parse_label_rule(path, rule)
    if needs_labels:
        labels = header_labels(path, names, descriptions, label_rule)
    elif rule is None and not any(descriptions):
        return found
    else:
        labels = find_labels(names, descriptions, label_rule)
    return found._replace(labels=labels)


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
    check_choice("kind", kind, tuple(EXPECTED_INPUT))
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


def describe_samples(kind: SampleKind, items: Sequence[Any]) -> str:
    """Return a short description of samples.

    Examples
    --------
    >>> describe_samples("sequences", ["MKV", "MR"])
    'sequences of 2 to 3 letters'
    """
    check_choice("kind", kind, tuple(EXPECTED_INPUT))
    if kind == "series":
        n = count_channels(items[0])
        channels = f"{n} channels and " * (n > 1)
        sizes = [len(each[0] if isinstance(each, tuple) else each) for each in items]
        unit = "value"
    elif kind == "graphs":
        channels, sizes, unit = "", [graph["n_nodes"] for graph in items], "node"
    else:
        channels, sizes, unit = "", [len(letters) for letters in items], "letter"
    low, high = min(sizes), max(sizes)
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{kind} of {channels}{span} {unit}{'s' * (high > 1)}"


def _check_series_labels(
    path: Path, found: SampleText, classes: Sequence[str | int | float]
) -> None:
    """Raise if a label is not a class of the model, but probably a value of the series.

    A file without labels looks like one with them, and would lose a value.
    """
    known = {str(label) for label in classes}
    numbers = {float(label) for label in classes if not isinstance(label, str)}
    labels = [] if found.labels is None else found.labels
    for line, label in zip(found.lines, labels, strict=False):
        if label in known or label in MISSING_CELLS or parse_number(label) in numbers:
            continue
        listed = ", ".join(sorted(known)[:5]) + ", ..." * (len(known) > 5)
        raise ValueError(
            f"{path}, line {line}: a label of the model ({listed}) was expected before "
            f"the values, or ? if it is unknown, got {label!r}; add a column of labels "
            "to the file."
        )


@name_file
def read_fasta(path: PathName) -> tuple[list[str], list[str], list[str]]:
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
    parts, descriptions = list[list[str]](), list[str]()
    for line, content in enumerate(read_lines(place), 1):
        text, where = content.strip(), f"{path}, line {line}"
        if text.startswith(">"):
            name, *rest = text[1:].split(maxsplit=1) or [""]
            if not name:
                raise ValueError(
                    f"{where}: a name was expected after '>', as in '>P12345 nucleus'."
                )
            if name in lines:
                raise ValueError(
                    f"{where}: the name {name!r} was in line {lines[name]} already; "
                    "names of sequences must differ."
                )
            lines[name] = line
            parts.append([])
            descriptions.append("".join(rest).strip())
        elif text and not lines:
            raise ValueError(
                f"{where}: a header that starts with '>' was expected first, got "
                f"{text[:20]!r}."
            )
        elif text:
            letters = "".join(text.split()).translate(GAP_LETTERS)
            if bad := NO_LETTER.search(letters):
                raise ValueError(
                    f"{where}: letters were expected in the sequence "
                    f"{list(lines)[-1]!r}, got {bad[0]!r}."
                )
            parts[-1].append(letters.upper())
    sequences = ["".join(part).removesuffix("*") for part in parts]
    if "" in sequences:
        name, line = list(lines.items())[sequences.index("")]
        raise ValueError(
            f"{path}, line {line}: the sequence {name!r} has no letters; leave it out."
        )
    if not lines:
        raise ValueError(
            f"{path} is empty; FASTA was expected, with headers that start with '>'."
        )
    return list(lines), sequences, descriptions


def header_labels(
    path: PathName,
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
        headers = [f"{a} {b}" for a, b in zip(names, descriptions, strict=True)]
        fields = [re.split(r"[|\s]+", header.strip()) for header in headers]
        at = label - 1 if label > 0 else label
        return [f[at] if label and -len(f) <= at < len(f) else "" for f in fields]
    check_choice("label", label, ("description", "bar"))
    if label == "bar":
        return [name.rpartition("|")[2] if "|" in name else "" for name in names]
    return list(descriptions)


def _parse_label_rule(path: Path, target: str | None) -> LabelRule:
    """Return the position of labels in headers, as `header_labels` takes it."""
    if target in (None, "description"):
        return "description"
    if target == "bar":
        return "bar"
    if str(target).lstrip("-").isdigit() and int(str(target)) != 0:
        return int(str(target))
    raise ValueError(
        f"--target must be 'description' (the text after the name), 'bar' (the text "
        f"after its last bar), or the number of a field from 1 for the headers of "
        f"{path}, got {target!r}."
    )


@name_file
def read_ts(path: PathName) -> tuple[list[Series], Array | None]:
    r"""Return the series in a file of aeon or sktime, and their labels.

    Parameters
    ----------
    path : path-like
        Text, compressed if the name ends with .gz: a header whose lines start with
        ``@``, the last of them ``@data``, and then a series in each line, with commas
        between values, colons between channels, and the label after the last colon.

    Returns
    -------
    series : list
        One item per series: an array, or for several channels a tuple of arrays.
        Lengths may differ.
    y : ndarray of shape (n_series,) or None
        Labels: integers if all are, floats if all are numbers, text otherwise; None
        without ``@classLabel true``.

    Raises
    ------
    ValueError, OSError
        With the file and the line: a missing value (``?``), channels of
        different lengths or numbers, time stamps, or a contradiction to the header.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kreinlearn.io import read_ts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.ts")
    ...     _ = path.write_text("@classLabel true a b\n@data\n1,2:3,4:a\n5:6:b\n")
    ...     read_ts(path)[1]
    array(['a', 'b'], dtype='<U1')
    """
    found = read_ts_text(check_file(path, "a file of series"))
    return found.items, None if found.labels is None else to_labels(found.labels)


@name_file
def read_ucr(
    path: PathName, target: str | None = None, header: bool | None = None
) -> tuple[list[Series], Array | None]:
    r"""Return the series in a file of the UCR archive, and their labels.

    Parameters
    ----------
    path : path-like
        Text, compressed if the name ends with .gz: in each line a label and the values
        of a series, with tabs, commas or blanks between them. NaN at the end of a line
        is padding.
    target : str, optional
        Name or position (from 1; -1 is the last) of the label in a line; the first by
        default.
    header : bool, optional
        Whether the first line holds names; as in `kreinlearn.io.read`.

    Returns
    -------
    series : list of ndarray
        One item per series; lengths may differ.
    y : ndarray of shape (n_series,) or None
        Labels: integers if all are, floats if all are numbers, text otherwise. None if
        ``target`` is a name that the header lacks.

    Raises
    ------
    ValueError, OSError
        With the file and the line at fault.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kreinlearn.io import read_ucr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.tsv")
    ...     _ = path.write_text("1\t0.5\t0.25\n2\t1.5\tNaN\n")
    ...     read_ucr(path)
    ([array([0.5 , 0.25]), array([1.5])], array([1, 2]))
    """
    found = read_ucr_text(check_file(path, "a file of series"), target, header)
    return found.items, None if found.labels is None else to_labels(found.labels)


def read_ts_text(path: Path) -> SampleText:
    """Return the series of a .ts file with their lines; as `read_ts`."""
    texts = _read_filled_lines(path, "#%")
    tags = dict[str, list[str]]()
    for line, text in texts:
        if not text.startswith("@"):
            raise ValueError(
                f"{path}, line {line}: a line of the header such as '@data' was "
                f"expected before the first series, got {text[:20]!r}."
            )
        tag, *words = text[1:].split() or [""]
        tags[tag.lower()] = words
        if tag.lower() == "data":
            break
    if _is_true(tags, "timestamps"):
        raise ValueError(
            f"{path} has time stamps (@timeStamps true), which are not read; give "
            "series of values at equal steps, with @timeStamps false."
        )
    if _is_true(tags, "targetlabel"):
        raise ValueError(
            f"{path} has numbers to predict (@targetLabel true); labels of classes "
            "(@classLabel true) are needed."
        )
    has_labels = _is_true(tags, "classlabel")
    items, labels, lines = list[Series](), list[str](), list[int]()
    for line, text in texts:
        parts = text.split(":")
        if has_labels:
            labels.append(_take_label(path, line, parts, tags["classlabel"][1:]))
        channels = tuple(
            _parse_values(path, line, [cell.strip() for cell in part.split(",")], c)
            for c, part in enumerate(parts, 1)
        )
        first_line = lines[0] if lines else line
        _check_channels(f"{path}, line {line}", channels, items, first_line, tags)
        items.append(channels if len(channels) > 1 else channels[0])
        lines.append(line)
    if not items:
        raise ValueError(
            f"{path} holds no series; one in each line after '@data' was expected."
        )
    return SampleText(items, labels if has_labels else None, lines, title="@classLabel")


def read_ucr_text(path: Path, target: str | None, header: bool | None) -> SampleText:
    """Return the series of a file of the UCR archive; as `read_ucr`."""
    texts = _read_filled_lines(path, "")
    rows: Iterator[TextRow]
    rows = ((line, _split_cells(text)) for line, text in texts)
    top = next(rows, None)
    names, has_labels = list[str](), True
    if top is not None:
        if header is None:
            header, rows = detect_header(path, top[1], rows)
        rows = rows if header else chain([top], rows)
        names = top[1] if header else []
    if names and target is not None:  # a name in the header, or a position
        has_labels = target in names or target.lstrip("-").isdigit()
    items, labels, lines = list[Series](), list[str](), list[int]()
    for line, cells in rows:
        if has_labels:
            titles = names or [str(place + 1) for place in range(len(cells))]
            place = 0 if target is None else find_column(str(path), titles, target)
            labels.append(cells.pop(place))
        while cells and cells[-1] in PADDING_CELLS:
            del cells[-1]
        items.append(_parse_values(path, line, cells))
        lines.append(line)
    if not items:
        raise ValueError(
            f"{path} holds no series; a label and values in each line were expected."
        )
    title = target or "column 1"
    return SampleText(items, labels if has_labels else None, lines, title=title)


def count_channels(series: Series) -> int:
    """Return the number of channels of a series."""
    return len(series) if isinstance(series, tuple) else 1


def _read_filled_lines(path: Path, comments: str) -> Iterator[tuple[int, str]]:
    """Yield lines that hold something, with their numbers."""
    for line, content in enumerate(read_lines(path), 1):
        text = content.strip("\r\n ")
        if text.strip() and text[0] not in comments:
            yield line, text


def _split_cells(text: str) -> list[str]:
    """Return the cells of a line with tabs, commas or blanks."""
    mark = "\t" if "\t" in text else "," if "," in text else None
    return [cell.strip() for cell in text.split(mark)]


def _is_true(tags: dict[str, list[str]], tag: str) -> bool:
    return [word.lower() for word in tags.get(tag, [])[:1]] == ["true"]


def _take_label(path: Path, line: int, parts: list[str], classes: list[str]) -> str:
    """Take the label from the end of a line, and return it."""
    if len(parts) < 2:
        raise ValueError(
            f"{path}, line {line}: a label was expected after the last colon, as "
            "in @classLabel true, got no colon; add the label, or ? if it is not known."
        )
    label = parts.pop().strip()
    if classes and label not in classes and label not in MISSING_CELLS:
        raise ValueError(
            f"{path}, line {line}: the label {label!r} is none of those that "
            f"@classLabel lists, {', '.join(classes)}; correct it, or add it there."
        )
    return label


def _parse_values(path: Path, line: int, cells: list[str], channel: int = 1) -> Array:
    """Return the values of one channel, all of them finite numbers, or raise."""
    values = parse_numbers(cells) if cells else None
    if values is not None and np.isfinite(values).all():
        return values
    of_channel = f" of channel {channel}" if channel > 1 else ""
    if not any(cells):
        raise ValueError(
            f"{path}, line {line}: the series has no values{of_channel}; leave it out."
        )
    place = next(
        i
        for i, cell in enumerate(cells)
        if (value := parse_number(cell)) is None or not np.isfinite(value)
    )
    where = f"{path}, line {line}: the value at time {place + 1}{of_channel}"
    if cells[place] in MISSING_CELLS or cells[place].lower() == "nan":
        raise ValueError(
            f"{where} is missing ({cells[place]!r}); fill the gap, or leave the series "
            "out."
        )
    raise ValueError(f"{where} must be a finite number, got {cells[place]!r}.")


def _check_channels(
    where: str,
    channels: tuple[Array, ...],
    items: list[Series],
    first_line: int,
    tags: dict[str, list[str]],
) -> None:
    """Raise unless channels are as many as before, equally long, as in the header."""
    lengths = [len(channel) for channel in channels]
    expected, why = len(channels), ""
    if is_count("".join(tags.get("dimensions", [])[:1])):
        expected, why = int(tags["dimensions"][0]), "as @dimensions requires"
    elif items:
        expected, why = count_channels(items[0]), f"as in line {first_line}"
    if len(channels) != expected:
        raise ValueError(
            f"{where}: channels expected: {expected}, {why}, got {len(channels)}; is a "
            "colon or the label missing?"
        )
    if len(set(lengths)) > 1:
        raise ValueError(
            f"{where}: channels of a series must be equally long, got "
            f"{', '.join(map(str, lengths))} values; cut them, or fill the gaps."
        )
    size = "".join(tags.get("serieslength", [])[:1])
    if _is_true(tags, "equallength") and is_count(size) and lengths[0] != int(size):
        raise ValueError(
            f"{where}: {size} values were expected, as in @seriesLength, got "
            f"{lengths[0]}; correct the line, or use @equalLength false."
        )


@name_file
def read_tu(folder: PathName) -> tuple[list[dict[str, Any]], Array | None]:
    r"""Return the graphs in a folder of the TU collection, and their labels.

    Parameters
    ----------
    folder : path-like
        A folder with two files such as ``MUTAG_A.txt`` and
        ``MUTAG_graph_indicator.txt``. ``MUTAG_graph_labels.txt``,
        ``MUTAG_node_labels.txt`` and ``MUTAG_node_attributes.txt`` are optional.

    Returns
    -------
    graphs : list of dict
        For each graph ``n_nodes``, ``edges`` (both directions are one, nodes counted
        from 0), ``labels`` and ``attributes`` of nodes (None if there is no such
        file), as the functions of `kreinlearn.kernels.graphs` take them.
    y : ndarray of shape (n_graphs,) or None
        Labels of the graphs: integers if all are, floats if all are numbers, text
        otherwise; None if there is no file of them.

    Raises
    ------
    ValueError, OSError
        With the file and the line at fault.

    Notes
    -----
    Several labels of a node, separated by commas, are one label of text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kreinlearn.io import read_tu
    >>> with TemporaryDirectory() as folder:
    ...     for name, text in {
    ...         "A": "1, 2\n2, 1\n2, 3\n",
    ...         "graph_indicator": "1\n1\n1\n2\n",
    ...         "graph_labels": "-1\n1\n",
    ...     }.items():
    ...         _ = Path(folder, f"DS_{name}.txt").write_text(text)
    ...     graphs, y = read_tu(folder)
    >>> [graph["n_nodes"] for graph in graphs], graphs[0]["edges"].tolist(), y.tolist()
    ([3, 1], [[0, 1], [1, 2]], [-1, 1])
    """
    prefix = _find_prefix(Path(folder))
    node_file = Path(f"{prefix}_graph_indicator.txt")
    owners = _read_owners(node_file)
    target = Path(f"{prefix}_graph_labels.txt")
    y = _read_graph_labels(target) if target.is_file() else None
    n_graphs = len(y) if y is not None else int(owners.max()) + 1
    _check_graphs(node_file, owners, n_graphs, target if y is not None else None)
    # Nodes of one graph need not be neighbors in the file.
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=n_graphs)
    places = np.empty(len(owners), np.int64)
    starts = np.cumsum(counts) - counts
    places[order] = np.arange(len(owners)) - np.repeat(starts, counts)
    edges = _read_edges(Path(f"{prefix}{EDGE_FILE}"), owners, places, n_graphs)
    labels = _read_node_labels(Path(f"{prefix}_node_labels.txt"), len(owners))
    attributes = _read_attributes(Path(f"{prefix}_node_attributes.txt"), len(owners))
    graphs = [
        {
            "n_nodes": len(own),
            "edges": edges[g],
            "labels": None if labels is None else labels[own],
            "attributes": None if attributes is None else attributes[own],
        }
        for g, own in enumerate(np.split(order, starts[1:]))
    ]
    return graphs, y


def _find_prefix(folder: Path) -> str:
    """Return the common start of the paths of the files, or raise."""
    if not folder.is_dir():
        raise NotADirectoryError(
            f"{folder} is not a folder; one with files such as MUTAG_A.txt was "
            "expected."
        )
    found = sorted(path.name for path in folder.glob(f"*{EDGE_FILE}"))
    if len(found) > 1 and f"{folder.name}{EDGE_FILE}" in found:
        found = [f"{folder.name}{EDGE_FILE}"]
    if len(found) != 1:
        raise FileNotFoundError(
            f"{folder} must hold one file of edges whose name ends with {EDGE_FILE}, "
            f"such as MUTAG_A.txt, got {', '.join(found) or 'none'}."
        )
    return str(folder / found[0].removesuffix(EDGE_FILE))


def _read_cells(path: Path) -> list[list[str]]:
    """Return the cells of each line."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}, which TU folders have.")
    texts = "".join(read_lines(path)).rstrip().split("\n")
    rows = [[cell.strip() for cell in text.split(",")] for text in texts]
    if [""] in rows and len(rows) > 1:
        raise ValueError(
            f"{path}, line {rows.index(['']) + 1}: the line is empty; every line "
            "stands for one item, hence none may be left out."
        )
    return [] if rows == [[""]] else rows


def _read_integers(path: Path, n: int) -> Array:
    """Return the n integers of each line, or raise."""
    rows = _read_cells(path)
    for line, cells in enumerate(rows, 1):
        is_whole = all(is_count(cell.removeprefix("-")) for cell in cells)
        if len(cells) != n or not is_whole:
            wanted = "one whole number was" if n == 1 else "two whole numbers were"
            raise ValueError(
                f"{path}, line {line}: {wanted} expected, got {', '.join(cells)!r}."
            )
    return np.array(rows, dtype=np.int64).reshape(-1, n)


def _read_owners(path: Path) -> Array:
    """Return the graph of each node, counted from 0."""
    graphs = _read_integers(path, 1)[:, 0]
    if len(graphs) == 0:
        raise ValueError(f"{path} is empty; the graph of each node was expected.")
    if graphs.min() < 1:
        raise ValueError(
            f"{path}, line {int(graphs.argmin()) + 1}: graphs are counted from 1, got "
            f"{graphs.min()}."
        )
    return graphs - 1


def _read_graph_labels(path: Path) -> Array:
    """Return the labels of graphs."""
    rows = _read_cells(path)
    for line, cells in enumerate(rows, 1):
        if len(cells) != 1 or cells[0] in MISSING_CELLS:
            raise ValueError(
                f"{path}, line {line}: a label was expected, got {', '.join(cells)!r}."
            )
    if not rows:
        raise ValueError(f"{path} is empty; the label of each graph was expected.")
    return to_labels([cells[0] for cells in rows])


def _check_graphs(
    path: Path, owners: Array, n_graphs: int, target: Path | None
) -> None:
    """Raise unless every graph has a node, and every node a graph that has a label."""
    beyond = owners >= n_graphs
    if beyond.any():
        line = int(beyond.argmax()) + 1
        raise ValueError(
            f"{path}, line {line}: the node belongs to graph {owners[line - 1] + 1}, "
            f"but {target} has labels for {n_graphs} graphs."
        )
    there = np.unique(owners)
    if len(there) < n_graphs:  # the missing ones may not fit in memory
        graph = int(np.append(there != np.arange(len(there)), True).argmax()) + 1
        why = f", but {target}, line {graph} has its label" if target else ""
        raise ValueError(
            f"{path}: graph {graph} has no nodes{why}; leave the graph out of all "
            "files."
        )


def _read_edges(path: Path, owners: Array, places: Array, n_graphs: int) -> list[Array]:
    """Return the edges of each graph, with nodes counted from 0 in the graph."""
    pairs, n = _read_integers(path, 2), len(owners)
    outside = ((pairs < 1) | (pairs > n)).any(axis=1)
    if outside.any():
        line = int(outside.argmax()) + 1
        raise ValueError(
            f"{path}, line {line}: nodes are numbers from 1 to {n}, the number of "
            f"nodes, got {pairs[line - 1].tolist()}."
        )
    graphs = owners[pairs - 1]
    across = graphs[:, 0] != graphs[:, 1]
    if across.any():
        line = int(across.argmax()) + 1
        one, two = (graphs[line - 1] + 1).tolist()
        raise ValueError(
            f"{path}, line {line}: an edge must join two nodes of one graph, got "
            f"{pairs[line - 1].tolist()}, which belong to graphs {one} and {two}."
        )
    local = np.sort(places[pairs - 1], axis=1)
    unique = np.unique(np.column_stack([graphs[:, 0], local]), axis=0)
    return np.split(unique[:, 1:], np.searchsorted(unique[:, 0], range(1, n_graphs)))


def _read_node_cells(path: Path, n_nodes: int) -> list[list[str]] | None:
    """Return the cells of each node, or None if there is no file."""
    if not path.is_file():
        return None
    rows = _read_cells(path)
    if len(rows) != n_nodes:
        raise ValueError(
            f"{path} must have one line for each of the {n_nodes} nodes, got "
            f"{len(rows)} lines."
        )
    return rows


def _read_node_labels(path: Path, n_nodes: int) -> Array | None:
    """Return the labels of nodes, integers or text, or None if there is no file."""
    rows = _read_node_cells(path, n_nodes)
    if rows is None:
        return None
    cells = [", ".join(row) for row in rows]
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(cells, dtype=np.str_)


def _read_attributes(path: Path, n_nodes: int) -> Array | None:
    """Return the attributes of nodes, or None if there is no file."""
    rows = _read_node_cells(path, n_nodes)
    for line, cells in enumerate(rows or [], 1):
        values = parse_numbers(cells)
        is_wide = rows is not None and len(cells) == len(rows[0])
        if not is_wide or values is None or not np.isfinite(values).all():
            raise ValueError(
                f"{path}, line {line}: as many finite numbers as in the first line "
                f"were expected, got {', '.join(cells)!r}."
            )
    return None if rows is None else np.array(rows, dtype=float)
