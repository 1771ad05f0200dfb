"""Series, sequences and graphs with their labels, for training and for prediction."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from kreinlearn._typing import Array
from kreinlearn.io.fasta import header_labels, read_fasta
from kreinlearn.io.graphs import read_tu
from kreinlearn.io.guards import naming_file
from kreinlearn.io.kinds import SAMPLES, Format, kind_of, located
from kreinlearn.io.labels import read_labels
from kreinlearn.io.scores import NOTHING_SAID, PairOptions
from kreinlearn.io.series import (
    SeriesText,
    length_of,
    n_channels,
    ts_series,
    ucr_series,
)
from kreinlearn.io.table import SampleKind, Table
from kreinlearn.io.values import MISSING, as_labels, plain_labels, text_labels

LINES = (".tsv", ".txt")
"""Endings of files of the UCR archive, which tables have, too."""
GIVE: dict[SampleKind, str] = {
    "series": "a .ts file, or lines of the UCR archive with --format ucr",
    "sequences": "a FASTA file",
    "graphs": "a folder of the TU collection",
}
"""What to give to a model."""


@dataclass(frozen=True)
class Learned:
    """What is known of the samples that a model was trained on.

    Attributes
    ----------
    kind : {"series", "sequences", "graphs"}
        What they are.
    classes : sequence of str, int or float
        Their labels.
    format : str or None
        The format of the training file, if it is known.
    target : str or None
        Where labels are in it, if that was said.
    labels : bool
        Whether the file had labels; otherwise they came from another one.
    content : str or None
        What `content_of` says of them, if it is known.
    """

    kind: SampleKind
    classes: Sequence[str | int | float]
    format: str | None = None
    target: str | None = None
    labels: bool = True
    content: str | None = None


def is_ucr(path: str | os.PathLike[str]) -> bool:
    """Tell whether the name of a file is one that the UCR archive uses."""
    return not Path(path).is_dir() and located(path)[1] in LINES


def read_samples(
    path: Path,
    kind: Format,
    options: PairOptions = NOTHING_SAID,
    *,
    target: str | None = None,
    labels: bool | None = True,
    header: bool | None = None,
) -> Table:
    """Return samples that are no rows of a table, and their labels.

    Parameters
    ----------
    path : Path
        The file, or the folder of graphs.
    kind : {"fasta", "ts", "ucr", "tu"}
        What it holds.
    options : PairOptions
        Where the labels of sequences are, if in another file; nothing else goes with
        samples.
    target : str, optional
        Where the label is in a header of FASTA or in a line of the UCR archive.
    labels : bool or None
        Whether labels are needed; None and False take them if they are there.
    header : bool, optional
        Whether the first line of a file of the UCR archive holds names.

    Returns
    -------
    Table
        With items, their kind, names of sequences, and y if there are labels.
    """
    _check_options(path, kind, options, target, header)
    if kind == "fasta":
        return _sequences(path, options.labels, target, labels)
    found = _graphs(path) if kind == "tu" else _series(path, kind, target, header)
    if found.y is None and labels:
        raise ValueError(f"{path} {_unlabeled(path, kind)}")
    return found


@naming_file
def read_new_samples(
    path: str | os.PathLike[str],
    learned: Learned,
    said: str | None = None,
    header: bool | None = None,
) -> Table:
    """Return new samples for a model, and their labels if they are there.

    Parameters
    ----------
    path : path-like
        A file of any format that holds such samples.
    learned : Learned
        What the model was trained on.
    said : str, optional
        The format of the file, if its name does not tell.
    header : bool, optional
        Whether the first line of a file of the UCR archive holds names.

    Returns
    -------
    Table
        With items and names: those of sequences, and numbers from 1 for others. Labels
        that are not known are empty, or NaN.

    Raises
    ------
    ValueError
        If the file holds something else.
    """
    if said is None and learned.kind == "series" and not Path(path).is_dir():
        is_like = learned.format == "ucr" and located(path)[1] == ".csv"
        said = "ucr" if is_like or is_ucr(path) else None
    place, kind, _ = kind_of(path, said)
    held = SAMPLES.get(kind)
    if held != learned.kind:
        what = held or ("a table" if kind == "table" else "a matrix or pairs")
        raise ValueError(
            f"The model was trained on {learned.kind}, but {path} holds {what}; give "
            f"{GIVE[learned.kind]}."
        )
    target = learned.target if kind in ("fasta", learned.format) else None
    items: list[Any]
    if kind == "fasta":
        names, items, descriptions = read_fasta(place)
        rule = _rule(place, target)
        cells = _known_labels(names, descriptions, rule) if learned.labels else None
    elif kind == "tu":
        items, y = read_tu(place)
        cells = None if y is None else [str(label) for label in y.tolist()]
    else:
        _check_options(place, kind, NOTHING_SAID, target, header)
        found = _text_of(place, kind, target, header)
        if kind == "ucr":
            _check_classes(place, found, learned.classes)
        items, cells = found.items, found.labels
    if learned.content not in (None, content := content_of(learned.kind, items[0])):
        raise ValueError(
            f"{path}: the model was trained on {learned.kind} with {learned.content}, "
            f"got {learned.kind} with {content}; give the same of new ones."
        )
    if kind != "fasta":
        names = [str(i) for i in range(1, len(items) + 1)]
    y = None
    if cells is not None:
        is_text = any(isinstance(label, str) for label in learned.classes)
        y = text_labels(cells) if is_text else plain_labels(cells)
    return Table(str(path), y=y, items=items, kind=held, names=names)


def content_of(kind: SampleKind, item: Any) -> str:
    """Return what all samples of a set must have in common.

    Parameters
    ----------
    kind : {"series", "sequences", "graphs"}
        What they are.
    item : series, str or dict
        One of them.

    Returns
    -------
    str
        Channels, letters, or what is known of nodes.
    """
    if kind == "series":
        return f"{n_channels(item)} channel{'s' * (n_channels(item) > 1)}"
    if kind == "sequences":
        return "letters"
    labels, attributes = item["labels"], item["attributes"]
    is_text = labels is not None and labels.dtype.kind == "U"
    said = "no node labels" if labels is None else f"node labels{' of text' * is_text}"
    if attributes is None:
        return said
    count = attributes.shape[1]
    return f"{said} and {count} node attribute{'s' * (count > 1)}"


def described(table: Table) -> str:
    """Return what samples are in a few words.

    Examples
    --------
    >>> described(Table("a.fasta", items=["MKV", "MR"], kind="sequences"))
    'sequences of 2 to 3 letters'
    """
    items: list[Any] = table.items or []
    if table.kind == "series":
        n = n_channels(items[0])
        of = f"series of {f'{n} channels and ' * (n > 1)}"
        sizes, unit = [length_of(series) for series in items], "value"
    elif table.kind == "graphs":
        of, sizes, unit = "graphs of ", [graph["n_nodes"] for graph in items], "node"
    else:
        of, sizes, unit = "sequences of ", [len(letters) for letters in items], "letter"
    low, high = min(sizes), max(sizes)
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{of}{span} {unit}{'s' * (high > 1)}"


def _check_options(
    path: Path,
    kind: Format,
    options: PairOptions,
    target: str | None,
    header: bool | None,
) -> None:
    """Raise if something was said that does not go with such a file."""
    about = SAMPLES[kind]
    if options.are_of_pairs:
        raise ValueError(
            f"{path} holds {about}; --missing, --missing-self and --repeated go with "
            "a matrix or a list of pairs: leave them out."
        )
    if options.labels is not None and kind != "fasta":
        raise ValueError(
            f"{path} holds {about} without names: leave out --labels; "
            f"labels are expected {_where(path, kind)}."
        )
    if target is not None and kind in ("ts", "tu"):
        raise ValueError(
            f"{path} has its labels {_where(path, kind)}: leave out the target, got "
            f"{target!r}."
        )
    if header is not None and kind != "ucr":
        raise ValueError(
            f"{path} holds {about}, not a table with names in the first line: leave "
            "out --header and --no-header."
        )


def _where(path: Path, kind: Format) -> str:
    places = {"ts": "after the last colon of each line", "ucr": "in each line"}
    return places.get(kind, f"in {path}{os.sep}..._graph_labels.txt")


def _unlabeled(path: Path, kind: Format) -> str:
    if kind == "tu":
        return "holds graphs without labels; add a file ..._graph_labels.txt."
    if kind == "ts":
        return "holds no labels; add them, and say so by '@classLabel true a b'."
    return "has no such column of labels; name another as the target (--target)."


def _sequences(
    path: Path, other: str | None, target: str | None, labels: bool | None
) -> Table:
    """Return the sequences of a FASTA file."""
    names, sequences, descriptions = read_fasta(path)
    table = Table(str(path), items=list(sequences), kind="sequences", names=names)
    if other is not None:
        y, title = read_labels(other, names, str(path), target)
        return replace(table, y=y, target=title)
    if not labels and target is None and not any(descriptions):
        return table
    found = header_labels(path, names, descriptions, _rule(path, target))
    places = range(1, len(names) + 1)
    y = as_labels(found, places, f"{path}, headers", unit="sequence")
    return replace(table, y=y, target="header")


def _rule(path: Path, target: str | None) -> Literal["description", "bar"] | int:
    """Return where labels are in headers, as `header_labels` takes it."""
    if target is None or target == "description":
        return "description"
    if target == "bar":
        return "bar"
    if target.lstrip("-").isdigit() and int(target) != 0:
        return int(target)
    raise ValueError(
        f"The labels in the headers of {path} are what follows the name "
        "('description'), what follows the last bar in it ('bar'), or a field with a "
        f"number from 1, got {target!r} as the target."
    )


def _known_labels(
    names: list[str],
    descriptions: list[str],
    rule: Literal["description", "bar"] | int,
) -> list[str]:
    """Return the labels in headers, empty where there is none."""
    found = []
    for name, description in zip(names, descriptions, strict=True):
        try:
            found += header_labels("", [name], [description], rule)
        except ValueError:
            found.append("")
    return found


def _graphs(path: Path) -> Table:
    """Return the graphs of a folder."""
    graphs, y = read_tu(path)
    table = Table(str(path), items=list(graphs), kind="graphs")
    if y is None:
        return table
    title = "graph_labels"
    y = as_labels(y, range(1, len(y) + 1), f"{path}, {title}")
    return replace(table, y=y, target=title)


def _text_of(
    path: Path, kind: Format, target: str | None, header: bool | None
) -> SeriesText:
    return ts_series(path) if kind == "ts" else ucr_series(path, target, header)


def _series(path: Path, kind: Format, target: str | None, header: bool | None) -> Table:
    """Return the series of a file."""
    found = _text_of(path, kind, target, header)
    table = Table(str(path), items=list(found.items), kind="series")
    if found.labels is None:
        return table
    title = "@classLabel" if kind == "ts" else target or "column 1"
    y: Array = as_labels(found.labels, found.lines, f"{path}, {title}")
    return replace(table, y=y, target=title)


def _check_classes(
    path: Path, found: SeriesText, classes: Sequence[str | int | float]
) -> None:
    """Raise if a label is none of the model, as the values of a series would be.

    A file without labels looks like one with them, and a value would be lost.
    """
    known = {str(label) for label in classes}
    numbers = {float(label) for label in classes if not isinstance(label, str)}
    for line, label in zip(found.lines, found.labels or [], strict=False):
        is_known = label in known or label in MISSING
        if not is_known and numbers:
            try:
                is_known = float(label) in numbers
            except ValueError:
                is_known = False
        if not is_known:
            listed = ", ".join(sorted(known)[:5]) + ", ..." * (len(known) > 5)
            raise ValueError(
                f"{path}, line {line}: a label of the model ({listed}) was expected "
                f"before the values, or ? where it is not known, got {label!r}; add a "
                "column of labels to the file."
            )
