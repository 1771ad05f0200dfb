"""Series, sequences and graphs on the command line: their kernels and measures."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from kreinlearn.app.cli.options import KernelParams, check_no_features, measuring
from kreinlearn.kernels import KERNELS, Similarities, resolve_kernel

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from kreinlearn._typing import Array
    from kreinlearn.io import Table
    from kreinlearn.io.blocks import TableBlocks
    from kreinlearn.io.options import ReadOptions, SampleKind
    from kreinlearn.io.schema import ModelInput, TrainingRecord

DEFAULT_KERNELS = {
    "series": "dtw",
    "sequences": "smith_waterman",
    "graphs": "weisfeiler_lehman_assignment",
}
"""The kernel of samples if none is named."""
NUCLEOTIDES = frozenset("ACGTUN")
"""Letters of DNA and RNA, all of which stand for amino acids or their kinds, too."""
SEQUENCE_POSITION = re.compile(r"Sequence (\d+) of 'X' \(counted from 0\)")
"""How kernels name a sequence that they cannot use."""


def open_samples(
    path: str,
    reading: "ReadOptions",
    kernel: str | None = None,
    *,
    in_blocks: bool = False,
    model: "ModelInput | None" = None,
) -> Any:
    """Return the samples of a command, which are opened for its kernel.

    Parameters
    ----------
    path : str
        The file or folder.
    reading : ReadOptions
        Options of the command about it.
    kernel : str or None
        The kernel. One of series opens tsv and txt as lines of the UCR archive.
    in_blocks : bool
        Whether to read a table in blocks, if its format allows it.
    model : ModelInput, optional
        Input of a fitted model, for new samples.

    Returns
    -------
    Table, TableBlocks or TableSchema
        As `kreinlearn.io.schema.open_data` returns them.
    """
    from kreinlearn.io.schema import open_data

    click.get_current_context().with_resource(measuring())
    kind = KERNELS[str(kernel)].samples if kernel in KERNELS else None
    reading = replace(reading, kind=kind if kind == "series" else None)
    return open_data(path, reading, in_blocks=in_blocks, model=model)


def check_rows(table: "Table | TableBlocks", kernel: str | None) -> None:
    """Raise if a kernel of other samples was named for a table."""
    from kreinlearn.io.samples import EXPECTED_INPUT

    for kind in EXPECTED_INPUT:
        if kernel in KERNELS and KERNELS[str(kernel)].samples == kind:
            remedy = f"give {EXPECTED_INPUT[kind]}"
            if kind == "series":
                remedy = "use --format ucr if each line is a label and a series"
            raise ValueError(
                f"{table.path} holds a table, and the kernel {kernel!r} compares "
                f"{kind}; {remedy}."
            )


def kernel_for(
    table: "Table",
    kernel: str | None,
    params: Mapping[str, float | str | bool],
    form: str | None,
) -> tuple[str, KernelParams]:
    """Return the kernel of samples and its parameters, or raise if they do not fit."""
    assert table.kind is not None
    check_no_features(table.path, table.kind)
    name = kernel or DEFAULT_KERNELS[table.kind]
    record = KERNELS.get(name)
    if record is None or record.samples != table.kind:
        fitting = [each for each in KERNELS if KERNELS[each].samples == table.kind]
        raise ValueError(
            f"{table.path} holds {table.kind}, and the kernel must be one of "
            f"{', '.join(fitting)}, got {name!r}."
        )
    measure = record.measure
    known = [*(measure.params if measure else record.parameters)]
    known += ["width"] if record.is_distance else []
    for each in params:
        if each not in known:
            listed = ", ".join(known) or "no parameters"
            raise ValueError(f"Kernel {name!r} takes {listed}, got {each!r}.")
    found = dict(params)
    if form is not None:
        if not record.is_distance:
            raise ValueError(
                f"--form is a form of distances, and the kernel {name!r} gives "
                "similarities; leave it out."
            )
        found["form"] = form
    if "matrix" in known and "matrix" not in found and _are_nucleotides(table):
        click.echo(
            f"krein: {table.path}: all letters are those of nucleotides, hence "
            "matrix=nuc44; --param matrix=blosum62 takes them for amino acids.",
            err=True,
        )
        found["matrix"] = "nuc44"
    return name, found


def _are_nucleotides(table: "Table") -> bool:
    return all(NUCLEOTIDES.issuperset(sequence) for sequence in table.items or [])


@contextmanager
def named(table: "Table") -> Iterator[None]:
    """Call a sequence by its file and name, where a kernel counts sequences."""
    try:
        yield
    except ValueError as error:
        found = SEQUENCE_POSITION.match(str(error))
        if found is None or table.names is None:
            raise
        name, rest = table.names[int(found[1])], str(error)[found.end() :]
        raise ValueError(f"{table.path}: the sequence {name!r}{rest}") from None


def similarities(table: "Table", kernel: str, params: KernelParams) -> "Array":
    """Return the similarities of samples."""
    with named(table):
        return _measured(table, kernel).matrix(kernel, params)


def distances(table: "Table", kernel: str, params: KernelParams) -> "Array":
    """Return the distances of samples, before a form makes similarities of them."""
    return _measured(table, kernel).compute_distances(resolve_kernel(kernel, params))


def _measured(table: "Table", kernel: str) -> Similarities:
    """Return what computes a measure between samples, each once."""
    check = KERNELS[kernel].check
    return Similarities(table.items if check is None else check(table.items))


def some_of(table: "Table", rows: "Array") -> "Table":
    """Return some of the samples, with their names and labels."""
    y, names, items = table.y, table.names, table.items or []
    return replace(
        table,
        items=[items[i] for i in rows],
        names=None if names is None else [names[i] for i in rows],
        y=None if y is None else y[rows],
    )


def sample_kind(model: "BaseEstimator") -> "SampleKind | None":
    """Return the kind of training samples; None for tables and matrices."""
    from kreinlearn.io.samples import EXPECTED_INPUT

    kernel = getattr(_inside(model), "kernel", None)
    record = KERNELS.get(kernel) if isinstance(kernel, str) else None
    return next(
        (kind for kind in EXPECTED_INPUT if record and record.samples == kind), None
    )


def _inside(model: "BaseEstimator") -> "BaseEstimator":
    """Return the estimator in a search or at the end of a pipeline."""
    inner = getattr(model, "best_estimator_", model)
    return inner.steps[-1][1] if hasattr(inner, "steps") else inner


def describe_input(model: "BaseEstimator", record: "TrainingRecord") -> "ModelInput":
    """Return the input that a fitted model takes."""
    from sklearn.utils import get_tags

    from kreinlearn.io.samples import describe_content
    from kreinlearn.io.schema import ModelInput

    classes = model.classes_.tolist()
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if get_tags(model).input_tags.pairwise:
        return ModelInput(
            record,
            "matrix",
            classes,
            n_train=model.n_features_in_,
            support=getattr(model, "support_", ()),
            names=names or None,
            is_distance=takes_distances(model),
        )
    kind = sample_kind(model)
    if kind is not None:
        inner = _inside(model)
        first = getattr(inner, "estimators_", [inner])[0]
        kept = first.landmarks_ if hasattr(first, "landmarks_") else first.X_fit_
        content = describe_content(kind, kept[0]) if len(kept) else None
        return ModelInput(record, kind, classes, content)
    record = replace(
        record,
        columns=names or [str(i + 1) for i in range(model.n_features_in_)],
        header=bool(names) and record.header,
        text_labels=model.classes_.dtype.kind in "UO",
    )
    return ModelInput(record, "rows", classes)


def takes_distances(model: "BaseEstimator") -> bool:
    """Return whether a model was trained on distances, also in a search or pipeline."""
    from kreinlearn import DistanceSimilarity

    inner = getattr(model, "best_estimator_", model)
    first = inner.steps[0][1] if hasattr(inner, "steps") else inner
    is_change = isinstance(first, DistanceSimilarity)
    return is_change or getattr(first, "kernel", None) == "distance"
