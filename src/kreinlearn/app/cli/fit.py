"""krein fit."""

import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kreinlearn._typing import Array
from kreinlearn.app.cli import data as samples
from kreinlearn.app.cli import options
from kreinlearn.app.cli.options import Facts, KernelParams, format_setting, print_note
from kreinlearn.io.dataset import Dataset, ReadOptions
from kreinlearn.io.samples import describe_samples

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.base import BaseEstimator

    from kreinlearn.pipelines import PreparedBlocks

CV_FOLDS, LANDMARK_FOLDS = 5, 3
"""Folds of the cross-validation by default; fewer on landmarks, for many rows."""
LONG_TEXT_BYTES = 2**26
"""Size of a text above which a note precedes the first pass over it."""
MAX_NUMBERS = 20
"""Different numbers above which labels may be a quantity."""
PROGRESS_FIELDS = ("norm", "lam", "score", "best", "done")
"""Progress values of a setting, besides its kernel and parameters."""
REGIMES_WORST_FIRST = ("nonconvex", "unknown", "unique")
"""Values of ``regime_``."""


@options.command(
    "krein fit train.csv -o model.krein",
    "krein fit visits.csv --target outcome --id visit --scale robust -o m.krein",
    "krein fit distances.csv --distance --labels labels.csv -o model.krein",
    train="Training samples: a file or folder, or several matrices.",
)
@click.argument("train", metavar="TRAIN...", nargs=-1, required=True)
@click.option(
    "-o",
    "--out",
    metavar="MODEL",
    help="File to write; by default beside TRAIN, with the ending .krein.",
)
@options.read_options(*options.DATA_OPTIONS, options.GROUP_OPTION)
@options.KERNEL_OPTION
@options.PARAM_OPTION
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
    help="Memory for similarities with the landmarks, such as 2GB; the rest is "
    "computed again in each pass.",
)
@options.FORCE_OPTION
@options.JSON_OPTION
def fit_command(
    train: tuple[str, ...],
    out: str | None,
    reading: ReadOptions,
    form: str | None,
    kernel: str | None,
    params: KernelParams,
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Train a classifier on your samples, and save the model.

    \b
    TRAIN is one of these; text may be compressed (.gz):
      a table      csv, tsv, parquet, libsvm; labels in the last column or --target
      a matrix     npz, npy, csv with names, phylip; similarities or --distance;
                   several files for several matrices of the same samples
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

    source = Path(train[0])
    stem = source.with_suffix("") if source.suffix.lower() == ".gz" else source
    place = Path(out or stem.with_suffix(".krein"))
    samples.check_output(place, *train, reading.label_file)
    check_free(place, force)
    _check_settings(reading, given)
    # Folds of groups need all rows at once.
    in_blocks = given["landmarks"] is not None and reading.group is None
    is_text = source.is_file() and source.suffix.lower() != ".parquet"
    if in_blocks and is_text and source.stat().st_size > LONG_TEXT_BYTES:
        print_note(f"looking through {source} for labels and text.")
    start = time.perf_counter()
    data = samples.open_matrices(train, reading, kernel, in_blocks=in_blocks)
    is_searched = given["lam"] is None and given["landmarks"] is None
    if data.matrices is not None and not is_searched:
        raise ValueError(
            "Several matrices are weighted by cross-validation: leave out --lam and "
            "--landmarks, or give one file."
        )
    chosen = samples.choose_kernel(data, kernel, params, reading, form)
    whole, found = _fit(data, *chosen, given)
    record = replace(
        data.record,
        impute=given["impute"] and data.is_table,
        sample_names=(data.names or ()) if data.kind == "sequences" else (),
        summary=dict(found),
        date=str(date.today()),
    )
    found |= {"seconds": time.perf_counter() - start, "model": str(place)}
    persistence.save(whole, place, overwrite=force, notes=record.to_notes())
    found["bytes"] = place.stat().st_size
    click.echo(json.dumps(found) if as_json else _format_summary(found))


def _check_settings(reading: ReadOptions, given: Facts) -> None:
    """Raise if options contradict each other."""
    from kreinlearn._memory import parse_bytes
    from kreinlearn._validation import check_positive

    if given["lam"] is not None:
        check_positive("lam", given["lam"])
        if given["cv"] is not None:
            raise ValueError("--lam is tried alone, without folds: leave out --cv.")
        if reading.group is not None:
            raise ValueError(
                "--group keeps rows together in folds, and --lam goes without folds: "
                f"to leave the column out, use --drop {reading.group}."
            )
    if given["memory"] is not None:
        if given["landmarks"] is None:
            raise ValueError("--memory is for similarities with --landmarks; add them.")
        parse_bytes("--memory", given["memory"])


def _fit(
    data: Dataset, kernel: str | None, params: KernelParams, given: Facts
) -> tuple["BaseEstimator", Facts]:
    """Fit a model to samples in memory, or on landmarks to a table on disk."""
    import numpy as np
    from sklearn.pipeline import make_pipeline

    from kreinlearn.pipelines import prepare

    print_note(data.remark)
    classes, counts = data.count_labels()
    is_exact = given["landmarks"] is None
    folds = given["cv"] or (CV_FOLDS if is_exact else LANDMARK_FOLDS)
    _check_folds(data, classes, counts, folds if given["lam"] is None else 1)
    splits = samples.make_group_folds(data, folds, "--cv")
    steps = {name: given[name] for name in options.PREPARATION_OPTIONS}
    before = features = blocks = drawn = None
    with samples.suggest_command():
        if data.blocks is not None:
            blocks, before, drawn = _prepare_blocks(data, steps)
        elif data.X is not None:
            before = prepare(data.X, **steps)
            samples.note_leaks(data)
    if is_exact:
        model = _make_exact_model(kernel, params, given, folds)
        progress = _show_search(model)
    else:
        if before is not None and given["lam"] is None:  # to search kernel parameters
            transform = before.fit_transform if drawn is None else before.transform
            features = np.asarray(transform(data.X if drawn is None else drawn))
        model = _make_landmark_model(kernel, params, given, features)
        progress = _show_landmarks(model, data.n_rows)
    if splits is not None:
        model.set_params(cv=splits)
    whole = model if before is None else make_pipeline(before, model)
    with progress, samples.name_sequences(data):
        if blocks is None:
            whole.fit(data.samples, data.y)
        else:
            model.fit(blocks)
    if splits is not None:
        model.set_params(cv=folds)  # the model does not store rows
    found: Facts = {
        "train": data.path,
        "target": data.record.target,
        "samples": data.n_rows,
        "features": len(data.record.columns) if data.is_table else None,
        "classes": classes.tolist(),
        "counts": counts.tolist(),
    }
    if data.kind is not None:
        found["kind"] = data.kind
        found["described"] = describe_samples(data.kind, data.items or [])
    return whole, found | _describe_model(model, data)


def _check_folds(data: Dataset, classes: Array, counts: Array, cv: int) -> None:
    """Raise if samples are too few, or a class has none in some fold."""
    if counts.sum() == 2:
        raise ValueError(
            f"{data.path} holds two samples, which are too few to learn from; give "
            f"several of each class, {CV_FOLDS} at least."
        )
    _check_quantity(data, classes, counts)
    least = int(counts.argmin())
    if counts[least] < cv:
        label, count = classes.tolist()[least], int(counts[least])
        advice = f"use --cv {count}" if count > 1 else "remove it"
        is_nameless = data.is_table and not data.record.header
        if count == 1 and is_nameless and isinstance(label, str):
            advice = "use --header if the first line holds names, remove the sample"
        raise ValueError(
            f"{data.path}: each of {cv} folds needs a sample of each class, but class "
            f"{label!r} has {count} sample{'s' * (count > 1)}; {advice}, or go without "
            "folds by --lam."
        )


def _check_quantity(data: Dataset, classes: Array, counts: Array) -> None:
    """Raise if labels are many different numbers, some of which occur once."""
    is_number = classes.dtype.kind in "iuf"
    if not (is_number and len(classes) > MAX_NUMBERS and counts.min() == 1):
        return
    advice = "name the column of the labels by --target"
    for name, column in () if data.X is None else data.X.items():
        values = column.dropna().unique()
        if column.dtype == object and 2 <= len(values) <= MAX_NUMBERS // 2:
            shown = ", ".join(map(str, values[:3]))
            advice = f"column {name!r} ({shown}) may hold labels: use --target {name}"
            break
    raise ValueError(
        f"{data.path}: {data.record.target!r} has {len(classes)} different numbers in "
        f"{counts.sum()} rows, and some occur once: it looks like a quantity, and "
        f"krein predicts classes; {advice}."
    )


def _prepare_blocks(
    data: Dataset, steps: Facts
) -> tuple["PreparedBlocks", "BaseEstimator", "DataFrame"]:
    """Return prepared blocks of a table on disk, as `prepare_blocks`; show progress."""
    from kreinlearn.app.runs import report_fraction
    from kreinlearn.pipelines import prepare_blocks

    start = time.monotonic()
    with report_fraction(sys.stderr) as show:

        def watch(done: float) -> None:
            show("scaling", done, (time.monotonic() - start) * (1 - done) / done)

        return prepare_blocks(data, watch, **steps)


def _make_landmark_model(
    kernel: str | None, params: KernelParams, given: Facts, features: Array | None
) -> "BaseEstimator":
    """Return the estimator on landmarks for the options of the command."""
    from kreinlearn import LandmarkLogisticRegression
    from kreinlearn.kernels import Similarities, resolve_kernel

    model = LandmarkLogisticRegression(
        kernel or "tl1",
        kernel_params=params or None,
        n_landmarks=given["landmarks"],
        norm=given["norm"] or "hilbert",
        memory=given["memory"],
    )
    if given["lam"] is not None:
        return model.set_params(lam=given["lam"])
    rows = None if features is None else Similarities(features)
    candidates = resolve_kernel(kernel or "tl1", params).candidates(rows)
    if len(candidates) > 1:
        model.set_params(kernel_grid=[dict(each.setting[1]) for each in candidates])
    return model.set_params(cv=given["cv"] or LANDMARK_FOLDS)


def _make_exact_model(
    kernel: str | None, params: KernelParams, given: Facts, cv: int
) -> "BaseEstimator":
    """Return the estimator for the options of the command."""
    from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV

    norm, settings = given["norm"], Facts(kernel_params=params or None)
    if given["lam"] is not None:
        settings |= {"lam": given["lam"], "norm": norm or "krein"}
        return KreinLogisticRegression(kernel or "tl1", **settings)
    settings |= {"kernel": kernel} if kernel else {}
    settings |= {"norms": (norm,)} if norm else {}
    return KreinLogisticRegressionCV(cv=cv, **settings)


@contextmanager
def _show_search(model: "BaseEstimator") -> Iterator[None]:
    """Show how many settings of the kernel have been tried."""
    if not hasattr(model, "norms"):  # one setting, no search
        yield
        return
    from kreinlearn.app.runs import counter

    seen: set[str] = set()
    with counter(sys.stderr, "fit") as show:

        def watch(row: Facts) -> bool:
            params = {k: v for k, v in row.items() if k not in PROGRESS_FIELDS}
            name = format_setting(params.pop("kernel"), params)
            if name not in seen:
                seen.add(name)
                text = f"{name}, best log-loss so far {-row['best']:.3f}"
                # Settings that were dropped early, with every norm, do not count.
                gone = Counter(
                    format_setting(x["kernel"], x["params"]) for x in model.dropped_
                )
                n_gone = sum(n == len(model.norms) for n in gone.values())
                total = len(model.kernel_settings_) - n_gone
                show(len(seen), total, text, row["done"])
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


@contextmanager
def _show_landmarks(model: "BaseEstimator", n_rows: int) -> Iterator[None]:
    """Print the memory of cached similarities, and show the progress of a fit."""
    from kreinlearn.app.runs import report_fraction

    # Problems to solve: those of searches, and the chosen setting.
    n_settings = len(model.kernel_grid or [{}])
    searches = 0 if model.cv is None else n_settings + (n_settings > 1)
    with report_fraction(sys.stderr) as show:
        steps = SolveProgress(searches + 1, model.tol, show)

        def watch(row: Facts) -> bool:
            if "share kept" in row:
                _note_cache(row, n_rows)
            else:
                steps.update(row)
            return False

        model.verbose = watch
        yield
        show("fit", 1.0, 0.0)
    model.verbose = 0


class SolveProgress:
    """Fraction of the work that is done, estimated from the residuals."""

    def __init__(
        self, n_solves: int, tol: float, show: Callable[[str, float, float], None]
    ) -> None:
        self.n_solves, self.tol, self.show = n_solves, tol, show
        self.start, self.solved, self.fraction = time.monotonic(), 0, 0.0
        self.last_step, self.worst = (-1, -1), tol

    def update(self, row: Facts) -> None:
        """Update the progress after a step."""
        step = (row["stage"], row["iteration"])
        if step < self.last_step:
            self.solved, self.worst = self.solved + 1, self.tol
        self.last_step, residual = step, max(row["residual"], self.tol)
        self.worst, done = max(self.worst, residual), 0.0
        if self.worst > self.tol:
            done = math.log(self.worst / residual) / math.log(self.worst / self.tol)
        fraction = (min(self.solved, self.n_solves - 1) + done) / self.n_solves
        self.fraction = min(0.99, max(self.fraction, fraction))
        if self.fraction > 0:
            elapsed = time.monotonic() - self.start
            self.show("fit", self.fraction, elapsed * (1 / self.fraction - 1))


def _note_cache(row: Facts, n_rows: int) -> None:
    kept, size = row["share kept"], row["GiB in single"]
    more = "the others are computed again in each pass (--memory)"
    part = (
        f"{kept:.0%} of them are kept, {more}" if kept < 1 else "all of them are kept"
    )
    text = f"{size:.2g} GiB" if size >= 0.1 else f"{1024 * size:.2g} MiB"
    print_note(
        f"{n_rows:,} samples and {row['landmarks']:,} landmarks: similarities take "
        f"{text} in single precision; {part}."
    )


def _describe_model(model: "BaseEstimator", data: Dataset) -> Facts:
    """Return settings, solution and held-out scores of a model, as plain data."""
    import numpy as np

    from kreinlearn.kernels.transforms import list_candidates

    # A setting that was chosen has an underscore, one that was given has none.
    known, names = vars(model), ("kernel", "kernel_params", "norm", "lam")
    found: Facts = {name: known.get(f"{name}_", known.get(name)) for name in names}
    given = found["kernel_params"] or {}
    on_landmarks = hasattr(model, "landmarks_")
    if found["kernel"] == "distance" and not on_landmarks:
        given = list_candidates(given, [{}])[0]
    found["kernel_params"] = {k: v for k, v in given.items() if k != "check"}
    found["lam"] = float(found["lam"])
    if on_landmarks:
        found |= {
            "landmarks": len(model.landmarks_),
            "status": model.status_,
            "residual": float(model.residual_),
            "passes": int(model.n_passes_),
        }
        if hasattr(model, "scores_"):
            found["folds"] = int(model.scores_.shape[2])
            chosen = model.scores_[model.lams_ == model.lam_].mean(axis=1)
            found["held_out_log_loss"] = float(-chosen.max())
        return found
    models = getattr(model, "estimators_", [model])
    unsolved = [each.status_ for each in models if each.status_ != "converged"]
    regimes = {each.regime_ for each in models}
    found |= {
        "models": len(models),
        "status": unsolved[0] if unsolved else "converged",
        "residual": max(float(each.residual_) for each in models),
        "regime": next(r for r in REGIMES_WORST_FIRST if r in regimes),
    }
    if data.matrices is not None:
        table = model.similarity_weights_
        found["similarity_weights"] = table["weight"].round(4).to_dict()
        found["similarity_errors"] = table["standard_error"].round(4).to_dict()
    if hasattr(model, "held_out_proba_"):
        y = np.asarray(data.y)
        seen = np.isfinite(model.held_out_proba_[:, 0])  # many samples: some of them
        held, y = model.held_out_proba_[seen], y[seen]
        true = held[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        true = np.maximum(true, np.finfo(float).tiny)  # which exp may have rounded to 0
        guessed = model.classes_[held.argmax(axis=1)]
        found |= {
            "folds": model.cv,
            "held_out": int(seen.sum()),
            "dropped": len(model.dropped_),
            "held_out_accuracy": float((guessed == y).mean()),
            "held_out_log_loss": float(-np.log(true).mean()),
        }
    return found


def _format_summary(found: Facts) -> str:
    """Return the findings for people."""
    new = f"new {found.get('kind', 'rows')}"
    if found["features"] is None and "kind" not in found:
        is_distance = found["kernel"] == "distance"
        new = f"{'distances to' if is_distance else 'similarities with'} these samples"
    files, names = "NEW", list(found.get("similarity_weights", ()))
    if names:
        files = " ".join(f"new-{name}.csv" for name in names)
        new += ", a file for each matrix in this order"
    return "\n".join(
        [
            *list_model_lines(found),
            f"Saved      {found['model']}, {found['bytes']:,} bytes, after "
            f"{found['seconds']:.1f} s",
            f"Next       krein predict {found['model']} {files}, with {new}",
        ]
    )


def list_model_lines(found: Facts) -> list[str]:
    """Return four lines about the data, the settings, their scores and the solution."""
    classes, counts = found["classes"], found["counts"]
    pairs = zip(classes, counts, strict=True)
    listed = ", ".join(f"{label} {count}" for label, count in pairs)
    if len(classes) > 10:
        listed = f"{min(counts)} to {max(counts)} samples each"
    features = f"{found['features']} features"
    if found["features"] is None:
        matrix = "distances" if found["kernel"] == "distance" else "a Gram matrix"
        features = found.get("described", matrix)
    held = "no cross-validation, since lam was given"
    on_landmarks = "landmarks" in found
    if "folds" in found:
        accuracy = part = ""
        if not on_landmarks:
            some, n = found["held_out"], found["samples"]
            part = f"{some:,} samples of " * (some < n)
            accuracy = f"accuracy {found['held_out_accuracy']:.3f}, "
        held = (
            f"{accuracy}log-loss {found['held_out_log_loss']:.3f} in "
            f"{found['folds']}-fold cross-validation on {part}this file\n"
            "           (the settings were chosen on the same folds: expect a little "
            "less on new samples)"
        )
    solved = f"{found['status']}, residual {found['residual']:.1e}"
    if on_landmarks:
        more = f", {found['landmarks']:,} landmarks"
        solved += f", in {found['passes']} passes over the samples"
    else:
        others = found["models"] - 1
        more = f"; averaged with {others} more" * (others > 0)
        is_unique = found["regime"] == "unique"
        point = "the only" if is_unique else "a"
        several = "" if is_unique else ", perhaps one of several"
        solved += f": {point} stationary point{several}"
    setting = format_setting(found["kernel"], found["kernel_params"])
    weights = ", ".join(
        f"{name} {weight:.2f} ± {found['similarity_errors'][name]:.2f}"
        for name, weight in found.get("similarity_weights", {}).items()
    )
    return [
        f"Data       {found['samples']} samples, {features}, {len(classes)} classes in "
        f"{found['target']!r}: {listed}",
        f"Chosen     {setting}, norm {found['norm']}, lam {found['lam']:.3g}{more}",
        *([f"Weights    {weights}"] if weights else []),
        f"Held out   {held}",
        f"Solved     {solved}",
    ]
