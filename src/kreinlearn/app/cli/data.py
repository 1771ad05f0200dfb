"""Samples of a command: opening them, their kernels and measures."""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from kreinlearn._files import PathName, user_cache
from kreinlearn._typing import Array
from kreinlearn.app.cli import options
from kreinlearn.app.cli.options import KernelParams, print_note
from kreinlearn.io.columns import find_leaking_columns, quote_columns
from kreinlearn.io.dataset import Dataset, ModelInput, ReadOptions, TrainingRecord
from kreinlearn.io.formats import open_data
from kreinlearn.io.samples import EXPECTED_INPUT, describe_content
from kreinlearn.kernels import KERNELS, Similarities, measuring, resolve_kernel
from kreinlearn.kernels.registry import find_kind

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from kreinlearn.search import Fold

DEFAULT_KERNELS = {
    "series": "dtw",
    "sequences": "smith_waterman",
    "graphs": "weisfeiler_lehman_assignment",
}
"""The kernel of samples if none is named."""
NUCLEOTIDE_LETTERS = frozenset("ACGTUN")
"""Letters of DNA and RNA, all of which stand for amino acids or their kinds, too."""
MAX_MEDIAN_RATIO = 5.0
"""Ratio of medians from which new values are not those of training, probably."""
SEQUENCE_POSITION = re.compile(r"Sequence (\d+) of 'X' \(counted from 0\)")
"""How kernels name a sequence that they cannot use."""


def open_samples(
    path: str, reading: ReadOptions, kernel: str | None = None, **how: Any
) -> Dataset:
    """Return the samples of a command; kernels of series open tsv as UCR lines.

    Their measures show progress, and are kept in the user's cache.
    """
    from kreinlearn.app.runs import report_fraction

    enter = click.get_current_context().with_resource
    show = enter(report_fraction(sys.stderr))
    enter(measuring(cache=find_cache_folder(), progress=show))
    reading = replace(reading, kind="series" if find_kind(kernel) == "series" else None)
    return open_data(path, reading, **how)


def open_matrices(
    paths: Sequence[str], reading: ReadOptions, kernel: str | None = None, **how: Any
) -> Dataset:
    """Return the samples of one file, or several matrices of the same samples.

    Labels come with the first file. Matrices have the names of their files. Those of
    new samples are matched to training by the names in theirs, or else by order.
    """
    model: ModelInput | None = how.get("model")
    known = [] if model is None else list(model.training.matrices)
    if model is not None and len(paths) != max(1, len(known)):
        listed = f" ({', '.join(known)})" if known else ""
        raise ValueError(
            f"The model takes {max(1, len(known))} files{listed}, got {len(paths)}: "
            f"give the same {'matrices' if known else 'data'} for new samples."
        )
    if len({Path(path).resolve() for path in paths}) < len(paths):
        raise ValueError("Each matrix must be a file of its own, got a file twice.")
    names = [Path(path).name.partition(".")[0] for path in paths]
    if known:
        paths = _order_files(paths, names, known)
        names = known
    elif len({*names}) < len(names):
        names = [str(path) for path in paths]
    first = open_samples(paths[0], reading, kernel, **how)
    others = replace(reading, labels=None, label_file=None, target=None)
    found = [first, *(open_data(path, others, **how) for path in paths[1:])]
    if len(paths) > 1:
        for each in found:
            if each.K is None:
                raise ValueError(
                    f"{each.path} holds no matrix; several files must hold matrices of "
                    "the same samples. Give one file, or matrices with --distance or "
                    "--similarity."
                )
    record = first.record
    if model is not None:
        _note_medians(found, model)
    else:
        medians = [] if first.K is None else [_find_median(each.K) for each in found]
        several = names if len(paths) > 1 else ()
        record = replace(record, matrices=several, medians=medians)
    if len(paths) == 1:
        return replace(first, record=record)
    remark = " ".join(filter(None, (each.remark for each in found)))
    matrices = dict(zip(names, found, strict=True))
    return replace(first, matrices=matrices, remark=remark, record=record)


def _order_files(
    paths: Sequence[str], names: Sequence[str], known: Sequence[str]
) -> list[str]:
    """Return files in the order of the matrices of training, and print which is which.

    A file is matched by the one name of training that its own name holds.
    """
    held = [[each for each in known if each in name] for name in names]
    if sorted(held) == sorted([name] for name in known):
        paths = [paths[held.index([name])] for name in known]
    pairs = zip(known, paths, strict=True)
    print_note(f"matrices: {', '.join(f'{name} from {path}' for name, path in pairs)}.")
    return list(paths)


def _find_median(matrix: Array | None) -> float:
    """Return the median of a matrix; of a square one off its diagonal."""
    values = np.asarray(matrix)
    if values.shape[0] == values.shape[1]:
        values = values[~np.eye(len(values), dtype=bool)]
    return float(np.median(values)) if values.size else 0.0


def _note_medians(found: Sequence[Dataset], model: ModelInput) -> None:
    """Warn if the values of new samples are of another size than those of training."""
    for each, median in zip(found, model.training.medians, strict=False):
        new = _find_median(each.K)
        if median != 0 and not 1 / MAX_MEDIAN_RATIO < new / median < MAX_MEDIAN_RATIO:
            what = "distances" if model.is_distance else "similarities"
            print_note(
                f"warning: {each.path}: the median is {new:.3g}, but it was "
                f"{median:.3g} among the training samples; are these the same {what}?"
            )


def note_leaks(data: Dataset) -> None:
    """Warn about columns that predict all labels alone."""
    if data.X is None or data.y is None:
        return
    if leaks := find_leaking_columns(data.X, data.y):
        print_note(
            f"warning: {data.path}: {quote_columns(leaks)} alone predicts every label; "
            "if it was made from the labels, or is known only after them, leave it out "
            f"by --drop {leaks[0]}."
        )


def find_cache_folder() -> str:
    """Return the folder where measures are kept; "off" means nowhere."""
    return os.environ.get("KREINLEARN_CACHE") or str(user_cache() / "measures")


def choose_kernel(
    data: Dataset,
    kernel: str | None,
    params: KernelParams,
    reading: ReadOptions,
    form: str | None,
) -> tuple[str | None, KernelParams]:
    """Return the kernel for the samples, None for the default ones of a table."""
    if data.kind is not None:
        return choose_measure(data, kernel, params, form)
    is_distance = reading.holds == "distances"
    if form is not None and not is_distance:
        raise ValueError(
            "--form is a form of distances: it goes with --distance, or with a kernel "
            "that gives distances, such as dtw."
        )
    if data.K is not None:
        what = "distances" if is_distance else "a matrix"
        check_no_features(data.path, what, ("kernel", "params"))
        if is_distance:
            return "distance", {} if form is None else {"form": form}
        return "precomputed", {"check": False} if reading.holds else {}
    if params and not kernel:
        raise ValueError("--param needs --kernel, whose parameter it is.")
    kind = find_kind(kernel)
    if kind in EXPECTED_INPUT:
        remedy = f"give {EXPECTED_INPUT[kind]}"
        if kind == "series":
            remedy = "use --format ucr if each line is a label and a series"
        raise ValueError(
            f"{data.path} holds a table, and the kernel {kernel!r} compares {kind}; "
            f"{remedy}."
        )
    return kernel, params


def check_no_features(path: str, holds: str, names: tuple[str, ...] = ()) -> None:
    """Raise if the command was given an option that only a table takes."""
    given = options.list_given((*names, *options.PREPARATION_OPTIONS))
    if given:
        raise ValueError(
            f"{path} holds {holds}; {', '.join(given)} "
            f"{'goes' if len(given) == 1 else 'go'} with a table: leave "
            f"{'it' if len(given) == 1 else 'them'} out."
        )


def choose_measure(
    data: Dataset,
    kernel: str | None,
    params: Mapping[str, float | str | bool],
    form: str | None,
) -> tuple[str, KernelParams]:
    """Return the kernel of samples and its parameters, or raise if they do not fit."""
    assert data.kind is not None
    check_no_features(data.path, data.kind)
    name = kernel or DEFAULT_KERNELS[data.kind]
    record = KERNELS.get(name)
    if record is None or record.samples != data.kind:
        raise ValueError(
            f"{data.path} holds {data.kind}, and the kernel must be one of "
            f"{', '.join(options.list_kernels(data.kind))}, got {name!r}."
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
    is_choice = "matrix" in known and "matrix" not in found
    if is_choice and all(map(NUCLEOTIDE_LETTERS.issuperset, data.items or [])):
        print_note(
            f"{data.path}: all letters are those of nucleotides, hence matrix=nuc44; "
            "--param matrix=blosum62 takes them for amino acids."
        )
        found["matrix"] = "nuc44"
    return name, found


@contextmanager
def name_sequences(data: Dataset) -> Iterator[None]:
    """Replace the position of a sequence in messages by its file and name."""
    try:
        yield
    except ValueError as error:
        found = SEQUENCE_POSITION.match(str(error))
        if found is None or data.names is None:
            raise
        name, rest = data.names[int(found[1])], str(error)[found.end() :]
        raise ValueError(f"{data.path}: the sequence {name!r}{rest}") from None


def compute_matrix(
    data: Dataset, kernel: str, params: KernelParams
) -> tuple[Array, str]:
    """Return the matrix of a measure, and the kernel that takes it.

    Distances are not transformed: the form and the width are left to that kernel.
    """
    check = KERNELS[kernel].check
    values = Similarities(data.items if check is None else check(data.items))
    with name_sequences(data):
        if KERNELS[kernel].is_distance:
            own = {k: v for k, v in params.items() if k not in ("form", "width")}
            return values.compute_distances(resolve_kernel(kernel, own)), "distance"
        return values.matrix(kernel, params), "precomputed"


def describe_input(model: "BaseEstimator", record: TrainingRecord) -> ModelInput:
    """Return the input that a fitted model takes."""
    from sklearn.utils import get_tags

    classes = model.classes_.tolist()
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    params = getattr(model, "kernel_params", None) or {}
    if get_tags(model).input_tags.pairwise:
        return ModelInput(
            record,
            "matrix",
            classes,
            n_train=model.n_features_in_,
            support=getattr(model, "support_", ()),
            names=names or None,
            is_distance=takes_distances(model),
            is_checked=params.get("check", True),
        )
    inner = getattr(model, "best_estimator_", model)
    inner = inner.steps[-1][1] if hasattr(inner, "steps") else inner
    kind = find_kind(getattr(inner, "kernel", None))
    if kind in EXPECTED_INPUT:
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
    is_transform = isinstance(first, DistanceSimilarity)
    return is_transform or getattr(first, "kernel", None) == "distance"


@contextmanager
def suggest_command() -> Iterator[None]:
    """Add the complete command to errors about several problems of a table."""
    from kreinlearn.pipelines import PreparationError

    try:
        yield
    except PreparationError as error:
        start = str(error).rpartition(" Use --")[0]
        if not start:
            raise
        words = error.options
        if options.list_given(("id",)) and "--id" in words:
            words = ["--drop" if word == "--id" else word for word in words]
        command = f"{options.repeat_command()} {shlex.join(words)}"
        raise ValueError(f"{start} This command works: {command}") from None


def make_group_folds(data: Dataset, count: int, option: str) -> "list[Fold] | None":
    """Return folds that keep groups together; None if there are no groups."""
    if data.groups is None or data.y is None:
        return None
    from kreinlearn.app.methods import grouped_folds

    try:
        return grouped_folds(data.y, data.groups, count, seed=0)
    except ValueError as error:
        where = f"{data.path}, column {data.record.group!r}"
        raise ValueError(f"{where}: {str(error)[:-1]} ({option}).") from None


def check_output(out: PathName, *inputs: str | None) -> None:
    """Raise if a file to write is one that the command reads."""
    for each in inputs:
        if each is not None and Path(out).resolve() == Path(each).resolve():
            raise ValueError(
                f"{out} is read by this command and is not replaced; choose another "
                "name for -o."
            )
