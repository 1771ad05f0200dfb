"""krein fit."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kreinlearn.app.cli import options, report, samples
from kreinlearn.app.cli.helping import GroupedHelpCommand, examples
from kreinlearn.app.cli.landmarks import progress as landmark_progress
from kreinlearn.app.cli.options import KernelParams
from kreinlearn.app.cli.output import Facts, setting_text

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from kreinlearn import (
        KreinLogisticRegression,
        KreinLogisticRegressionCV,
        LandmarkLogisticRegression,
    )
    from kreinlearn._typing import Array
    from kreinlearn.io import Table
    from kreinlearn.io.blocks import TableBlocks
    from kreinlearn.io.options import MatrixContent, ReadOptions
    from kreinlearn.io.schema import TrainingRecord

    Exact = KreinLogisticRegression | KreinLogisticRegressionCV

CV_FOLDS, LANDMARK_FOLDS = 5, 3
"""Folds of the cross-validation by default; fewer on landmarks, for many rows."""
LONG_TEXT_BYTES = 2**26
"""Size of a text above which a note precedes the first pass over it."""


EXAMPLES = examples(
    "krein fit train.csv -o model.krein",
    "krein fit patients.csv --target outcome --id patient --scale robust -o m.krein",
    "krein fit distances.csv --distance --labels labels.csv -o model.krein",
)


@click.command(
    "fit",
    cls=GroupedHelpCommand,
    arguments={
        "train": "Training samples: a file or folder, see above.",
    },
    epilog=EXAMPLES,
)
@click.argument("train", metavar="TRAIN")
@click.option("-o", "--out", required=True, metavar="MODEL", help="File to write.")
@options.data_options()
@options.KERNEL_OPTION
@options.PARAM
@click.option(
    "--cv",
    type=click.IntRange(2),
    help=f"Folds that choose kernel parameters, lam and norm; {CV_FOLDS} by default, "
    f"{LANDMARK_FOLDS} with --landmarks.",
)
@click.option("--lam", type=float, help="Fix the regularization: no cross-validation.")
@click.option(
    "--norm",
    type=click.Choice(["krein", "hilbert", "euclidean"]),
    help="Try only this norm; by default hilbert and euclidean are averaged.",
)
@click.option(
    "--landmarks",
    type=click.IntRange(1),
    metavar="N",
    help="Learn from similarities with N of the samples, for any number of samples: "
    "1000 is usual. Tables (csv, tsv, parquet, a folder of parquet files) are read in "
    "blocks.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="Memory for similarities with the landmarks, such as 2GB; what is beyond is "
    "computed anew when it is needed.",
)
@options.FORCE
@options.AS_JSON
def fit_command(
    train: str,
    out: str,
    reading: "ReadOptions",
    form: str | None,
    kernel: str | None,
    params: KernelParams,
    cv: int | None,
    lam: float | None,
    norm: str | None,
    landmarks: int | None,
    memory: str | None,
    force: bool,
    as_json: bool,
    **steps: Any,
) -> None:
    """Train a classifier on your samples, and save the model.

    \b
    TRAIN is one of these; text may be compressed (.gz):
      a table      csv, tsv, parquet, libsvm; labels in the last column or --target
      a matrix     npz, npy, csv with names, phylip; similarities or --distance
      pairs        m8 or --format pairs; labels in the file that --labels names
      sequences    fasta; labels in the headers or --labels
      time series  ts or --format ucr
      graphs       a folder of the TU collection

    By default three kernels of a table, or eight forms and widths of distances, are
    tried, and averaged by how well they predict held-out samples. Of sequences, series
    and graphs, a measure is computed first. With --landmarks, one kernel (tl1) is tried
    with several parameters.
    """  # noqa: D301 - click reads \b as a mark
    from kreinlearn import persistence
    from kreinlearn._files import check_free
    from kreinlearn.io.blocks import TableBlocks

    check_free(out, force)
    _check_options(lam, cv, landmarks, memory)
    options.check_groups(reading, lam)
    # Folds of groups need all rows at once.
    in_blocks = landmarks is not None and reading.roles.group is None
    if in_blocks and _is_long_text(train):
        click.echo(f"krein: looking through {train} for labels and text.", err=True)
    start = time.perf_counter()
    table = samples.open_samples(train, reading, kernel, in_blocks=in_blocks)
    chosen = _choose_kernel(table, kernel, params, reading.holds, form)
    if isinstance(table, TableBlocks):
        whole, found = _fit_blocks(table, *chosen)
    else:
        whole, found = _fit_table(table, *chosen)
    record = _record_training(table, steps["impute"], reading)
    record = replace(record, summary=dict(found), date=str(date.today()))
    found |= {"seconds": time.perf_counter() - start, "model": str(out)}
    persistence.save(whole, out, overwrite=force, notes=record.to_notes())
    found["bytes"] = Path(out).stat().st_size
    click.echo(json.dumps(found) if as_json else report.summary(found))


def _is_long_text(path: str) -> bool:
    """Return whether a file is a text that takes long to read."""
    place = Path(path)
    is_text = place.is_file() and place.suffix.lower() != ".parquet"
    return is_text and place.stat().st_size > LONG_TEXT_BYTES


def _check_options(
    lam: float | None, cv: int | None, landmarks: int | None, memory: str | None
) -> None:
    """Raise if options contradict each other."""
    from kreinlearn._memory import parse_bytes

    if lam is not None and cv is not None:
        raise ValueError("--lam is tried alone, without folds: leave out --cv.")
    if memory is not None:
        if landmarks is None:
            raise ValueError("--memory is for similarities with --landmarks; add them.")
        parse_bytes("--memory", memory)


def _fit_blocks(
    table: "TableBlocks", kernel: str | None, params: KernelParams
) -> tuple["Pipeline", Facts]:
    """Fit a model on landmarks to a table that is read in blocks."""
    import numpy as np
    from sklearn.pipeline import make_pipeline

    from kreinlearn.app.runs import share_teller
    from kreinlearn.pipelines import prepare_blocks

    given = click.get_current_context().params
    if given["lam"] is None:
        folds = given["cv"] or LANDMARK_FOLDS
        _check_folds(table, table.classes, table.counts, folds)
    steps = {name: given[name] for name in options.PREPARATION_OPTIONS}
    start = time.monotonic()
    with share_teller(sys.stderr) as show:

        def watch(share: float) -> None:
            show("scaling", share, (time.monotonic() - start) * (1 - share) / share)

        with options.suggest_command():
            blocks, transformer, drawn = prepare_blocks(table, watch, **steps)
    model = _landmark_model(
        kernel, params, given, lambda: np.asarray(transformer.transform(drawn))
    )
    with landmark_progress(model, table.n_rows):
        model.fit(blocks)
    counted = (table.classes, table.counts)
    found = report.of_data(table.path, table.target, len(table.columns), *counted)
    return make_pipeline(transformer, model), report.of_landmarks(found, model)


def _fit_table(
    table: "Table", kernel: str | None, params: KernelParams
) -> tuple["BaseEstimator", Facts]:
    """Fit a model to what is in memory."""
    import numpy as np
    from sklearn.pipeline import make_pipeline

    from kreinlearn.pipelines import prepare

    given, y = click.get_current_context().params, np.asarray(table.y)
    counted = np.unique(y, return_counts=True)
    is_exact = given["landmarks"] is None
    folds = given["cv"] or (CV_FOLDS if is_exact else LANDMARK_FOLDS)
    if given["lam"] is None:
        _check_folds(table, *counted, folds)
    splits = options.group_folds(table, folds, "--cv")
    options.print_remark(table)
    steps = {name: given[name] for name in ("scale", "impute", "one_hot")}
    before = None
    if table.X is not None:
        with options.suggest_command():
            before = prepare(table.X, **steps)
    if is_exact:
        model = _model(kernel, params, given["lam"], given["norm"], folds)
        watching = _search_progress(model)
    else:
        transform = None if before is None else partial(before.fit_transform, table.X)
        model = _landmark_model(kernel, params, given, transform)
        watching = landmark_progress(model, len(y))
    if splits is not None:
        model.set_params(cv=splits)
    whole = model if before is None else make_pipeline(before, model)
    with watching, samples.named(table):
        whole.fit(table.named_samples, y)
    if splits is not None:
        model.set_params(cv=folds)  # rows are none of the model's
    n_features = None if table.X is None else table.X.shape[1]
    found = report.of_data(table.path, table.target, n_features, *counted)
    if table.kind is not None:
        from kreinlearn.io.samples import describe_samples

        found["kind"], found["described"] = table.kind, describe_samples(table)
    if is_exact:
        return whole, report.of_exact(found, model, y)
    return whole, report.of_landmarks(found, model)


def _choose_kernel(
    table: "Table | TableBlocks",
    kernel: str | None,
    params: KernelParams,
    holds: "MatrixContent | None",
    form: str | None,
) -> tuple[str | None, KernelParams]:
    """Return the kernel for the samples, None for the default ones of a table."""
    from kreinlearn.io import Table

    if isinstance(table, Table) and table.kind is not None:
        return samples.kernel_for(table, kernel, params, form)
    options.check_form(form, holds == "distances")
    if params and not kernel:
        raise ValueError("--param needs --kernel, whose parameter it is.")
    if isinstance(table, Table) and table.K is not None:
        what = "distances" if holds == "distances" else "a matrix"
        options.check_no_features(table.path, what, ("kernel", "params"))
        return options.matrix_kernel(holds, form)
    samples.check_rows(table, kernel)
    return kernel, params


def _landmark_model(
    kernel: str | None,
    params: KernelParams,
    given: Facts,
    features: "Callable[[], Array] | None",
) -> "LandmarkLogisticRegression":
    """Return the estimator on landmarks for the options of the command.

    Features are computed only if parameters of the kernel are searched.
    """
    from kreinlearn import LandmarkLogisticRegression
    from kreinlearn._validation import check_positive
    from kreinlearn.kernels import Similarities, resolve_kernel

    model = LandmarkLogisticRegression(
        kernel or "tl1",
        kernel_params=params or None,
        n_landmarks=given["landmarks"],
        norm=given["norm"] or "hilbert",
        memory=given["memory"],
    )
    if given["lam"] is not None:
        check_positive("lam", given["lam"])
        return model.set_params(lam=given["lam"])
    rows = None if features is None else Similarities(features())
    candidates = resolve_kernel(kernel or "tl1", params).candidates(rows)
    if len(candidates) > 1:
        model.set_params(kernel_grid=[dict(each.setting[1]) for each in candidates])
    return model.set_params(cv=given["cv"] or LANDMARK_FOLDS)


def _model(
    kernel: str | None,
    params: KernelParams,
    lam: float | None,
    norm: str | None,
    cv: int,
) -> "Exact":
    """Return the estimator that the options ask for."""
    from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
    from kreinlearn._validation import check_positive

    if lam is not None:
        check_positive("lam", lam)
        return KreinLogisticRegression(
            kernel or "tl1", kernel_params=params or None, lam=lam, norm=norm or "krein"
        )
    model = KreinLogisticRegressionCV(cv=cv, kernel_params=params or None)
    if kernel:
        model.set_params(kernel=kernel)
    if norm:
        model.set_params(norms=(norm,))
    return model


def _check_folds(
    table: "Table | TableBlocks", classes: "Array", counts: "Array", cv: int
) -> None:
    """Raise if a class is too small for a sample of it in each fold."""
    least = int(counts.argmin())
    if counts[least] < cv:
        label, count = classes.tolist()[least], int(counts[least])
        advice = f"use --cv {count}" if count > 1 else "remove it"
        is_nameless = table.target_place is not None and not table.header
        if count == 1 and is_nameless and isinstance(label, str):
            advice = "use --header if the first line holds names, remove the sample"
        raise ValueError(
            f"{table.path}: each of {cv} folds needs a sample of each class, but class "
            f"{label!r} has {count} sample{'s' * (count > 1)}; {advice}, or go without "
            "folds by --lam."
        )


PROGRESS_FIELDS = ("norm", "lam", "score", "best", "done")
"""Progress values of a setting, besides its kernel and parameters."""


@contextmanager
def _search_progress(model: "Exact") -> Iterator[None]:
    """Show how many settings of the kernel have been tried."""
    if not hasattr(model, "norms"):  # one setting, no search
        yield
        return
    from kreinlearn.app.runs import counter

    seen: set[str] = set()
    with counter(sys.stderr, "fit") as show:

        def watch(row: Facts) -> bool:
            params = {k: v for k, v in row.items() if k not in PROGRESS_FIELDS}
            name = setting_text(params.pop("kernel"), params)
            if name not in seen:
                seen.add(name)
                text = f"{name}, best log-loss so far {-row['best']:.3f}"
                show(len(seen), _n_left(model), text, row["done"])
            return False

        model.verbose = watch
        try:
            yield
        except MemoryError as error:
            if "--landmarks" in str(error):
                raise
            raise MemoryError(
                f"{error} Or take --norm euclidean, which needs no eigenvectors, "
                "--lam, which fits once, or --landmarks 1000, whose memory grows with "
                "the number of samples only."
            ) from None
    model.verbose = 0


def _n_left(model: "KreinLogisticRegressionCV") -> int:
    """Return how many settings were not dropped early, with any norm."""
    gone = [setting_text(why["kernel"], why["params"]) for why in model.dropped_]
    norms = len(model.norms)
    return len(model.kernel_settings_) - sum(
        gone.count(name) == norms for name in set(gone)
    )


def _record_training(
    table: "Table | TableBlocks", impute: bool, reading: "ReadOptions"
) -> "TrainingRecord":
    """Return the facts about the training file that `krein predict` needs."""
    from kreinlearn.io.blocks import TableBlocks
    from kreinlearn.io.schema import TrainingRecord
    from kreinlearn.pipelines import text_columns

    record = TrainingRecord(source=table.path, target=table.target)
    if isinstance(table, TableBlocks) or table.X is not None:
        layout = table.layout
        assert layout is not None
        return replace(
            record,
            columns=list(layout.features),
            header=table.header,
            target_place=table.target_place,
            text=table.text
            if isinstance(table, TableBlocks)
            else text_columns(table.X),
            impute=impute,
            apart=dict(layout.apart),
            id=layout.id,
            group=layout.group,
        )
    pairs = reading.pairs
    if table.kind is not None:
        is_inside = pairs.labels is None
        rule = reading.target if is_inside else None
        return replace(
            record, format=table.format, label_rule=rule, has_labels=is_inside
        )
    if table.names is None:
        return record
    return replace(
        record,
        format=table.format,
        missing=pairs.missing,
        missing_self=pairs.missing_self,
        repeated=pairs.repeated,
        symmetrize=reading.symmetrize,
    )
