"""Models on landmarks on the command line: many rows, read and predicted in blocks."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kreinlearn.app.cli.options import KernelParams, Notes
from kreinlearn.app.cli.output import Facts, setting_text
from kreinlearn.app.cli.tables import notes_of_columns

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.pipeline import Pipeline

    from kreinlearn import LandmarkLogisticRegression
    from kreinlearn._typing import Array
    from kreinlearn.io import PairOptions, Table
    from kreinlearn.io.chunks import TableBlocks
    from kreinlearn.io.columns import Roles
    from kreinlearn.io.headers import Marks
    from kreinlearn.io.matching import Training
    from kreinlearn.pipelines import Prepared

FOLDS = 3
"""Folds of the search by default: rows are many."""
MANY_BYTES = 2**26
"""A text of this size takes so long to look through that it is said."""


def table_for(
    train: str,
    target: str | None,
    header: bool | None,
    pairs: "PairOptions",
    roles: "Roles",
) -> "TableBlocks | None":
    """Return a table to be read in blocks, or None for what is read as a whole."""
    from kreinlearn.io.chunks import table_blocks
    from kreinlearn.io.kinds import kind_of

    if Path(train).is_dir():
        is_graphs = any(Path(train).glob("*_A.txt"))
        return None if is_graphs else table_blocks(train, target, roles=roles)
    marks = pairs.marks
    place, kind, ending = kind_of(
        train, pairs.format, header=header, target=target, marks=marks
    )
    if kind != "table" or ending not in (".csv", ".tsv", ".parquet"):
        return None
    if ending != ".parquet" and place.stat().st_size > MANY_BYTES:
        click.echo(f"krein: looking through {train} for labels and text.", err=True)
    return table_blocks(train, target, header=header, roles=roles, marks=marks)


def model_for(
    kernel: str,
    params: KernelParams,
    options: Facts,
    settings: "Callable[[], list[tuple[Any, Any]]]",
) -> "LandmarkLogisticRegression":
    """Return the estimator that the options ask for; settings are asked for at need."""
    from kreinlearn import LandmarkLogisticRegression
    from kreinlearn._validation import check_positive

    model = LandmarkLogisticRegression(
        kernel,
        kernel_params=params or None,
        n_landmarks=options["landmarks"],
        norm=options["norm"] or "hilbert",
        memory=options["memory"],
    )
    if options["lam"] is not None:
        check_positive("lam", options["lam"])
        return model.set_params(lam=options["lam"])
    tried = [dict(each) for _, each in settings()]
    if len(tried) > 1:
        model.set_params(kernel_grid=tried)
    return model.set_params(cv=options["cv"] or FOLDS)


def fit_table(
    table: "TableBlocks", kernel: str, params: KernelParams, options: Facts
) -> tuple["Pipeline", "LandmarkLogisticRegression"]:
    """Fit a model to a table that is read in blocks."""
    from sklearn.pipeline import make_pipeline

    blocks, transformer, model = _begun(table, kernel, params, options)
    with progress(model, table.n_rows):
        model.fit(blocks)
    return make_pipeline(transformer, model), model


def _begun(
    table: "TableBlocks", kernel: str, params: KernelParams, options: Facts
) -> tuple["Prepared", "TransformerMixin", "LandmarkLogisticRegression"]:
    """Return features to be learned from, what made them, and the model to be."""
    import numpy as np

    from kreinlearn.app.runs.progress import share_teller
    from kreinlearn.kernels import Similarities, resolve_kernel
    from kreinlearn.pipelines import prepared

    steps = {name: options[name] for name in ("scale", "impute", "one_hot")}
    start = time.monotonic()
    with share_teller(sys.stderr) as tell:

        def watch(share: float) -> None:
            tell("scaling", share, (time.monotonic() - start) * (1 - share) / share)

        blocks, transformer, drawn = prepared(table, watch, **steps)

    def settings() -> list[tuple[Any, Any]]:
        rows = np.asarray(transformer.transform(drawn))
        found = resolve_kernel(kernel, params).candidates(Similarities(rows))
        return [each.setting for each in found]

    return blocks, transformer, model_for(kernel, params, options, settings)


def settings_of(
    table: "Table",
    transformer: "TransformerMixin | None",
    kernel: str | None,
    params: KernelParams,
) -> list[tuple[Any, Any]]:
    """Return settings of the kernel to try for samples in memory."""
    import numpy as np

    from kreinlearn.kernels import Similarities, resolve_kernel

    rows = None
    if transformer is not None:
        rows = Similarities(np.asarray(transformer.fit_transform(table.X)))
    found = resolve_kernel(kernel or "tl1", params).candidates(rows)
    return [each.setting for each in found]


def notes_of(table: "TableBlocks", impute: bool) -> Notes:
    """Return what predict has to know of the training file."""
    notes: Notes = {
        "source": table.path,
        "target": table.target,
        "header": table.header,
        "columns": table.columns,
        "target_place": table.target_place,
        "text": table.text,
        "impute": impute,
    }
    notes |= notes_of_columns(table.layout)
    return notes


@contextmanager
def progress(model: "LandmarkLogisticRegression", n_rows: int) -> Iterator[None]:
    """Say what will be kept in memory, and show how far the fit is."""
    from kreinlearn.app.runs.progress import share_teller

    with share_teller(sys.stderr) as tell:
        steps = _Steps(_n_solves(model), model.tol, tell)

        def watch(row: Facts) -> bool:
            if "share kept" in row:
                click.echo(f"krein: {_announced(row, n_rows)}", err=True)
            else:
                steps.see(row)
            return False

        model.verbose = watch
        yield
        tell("fit", 1.0, 0.0)
    model.verbose = 0


def _n_solves(model: "LandmarkLogisticRegression") -> int:
    """Return how often a problem is solved: searches, and what was chosen."""
    n_settings = len(model.kernel_grid or [{}])
    searches = 0 if model.cv is None else n_settings + (n_settings > 1)
    return searches + 1


class _Steps:
    """How far a fit is, by residuals: each step makes them smaller by some factor."""

    def __init__(
        self, n_solves: int, tol: float, tell: Callable[[str, float, float], None]
    ) -> None:
        self.n_solves, self.tol, self.tell = n_solves, tol, tell
        self.start, self.solved, self.share = time.monotonic(), 0, 0.0
        self.last = (-1, -1)
        self.worst = tol

    def see(self, row: Facts) -> None:
        """Tell the share of the work that is done after a step."""
        now = (row["stage"], row["iteration"])
        if now < self.last:
            self.solved, self.worst = self.solved + 1, self.tol
        self.last = now
        residual = max(row["residual"], self.tol)
        self.worst = max(self.worst, residual)
        done = 0.0
        if self.worst > self.tol:
            done = math.log(self.worst / residual) / math.log(self.worst / self.tol)
        share = (min(self.solved, self.n_solves - 1) + done) / self.n_solves
        self.share = min(0.99, max(self.share, share))
        if self.share > 0:
            elapsed = time.monotonic() - self.start
            self.tell("fit", self.share, elapsed * (1 - self.share) / self.share)


def _announced(row: Facts, n_rows: int) -> str:
    kept = row["share kept"]
    rest = "all of them are kept" if kept >= 1 else f"{kept:.0%} of them are kept"
    more = "" if kept >= 1 else ", the others are computed anew in each pass (--memory)"
    return (
        f"{n_rows:,} samples and {row['landmarks']:,} landmarks: similarities take "
        f"{_size(row['GiB in single'])} in single precision; {rest}{more}."
    )


def _size(gibibytes: float) -> str:
    is_large = gibibytes >= 0.1
    return f"{gibibytes:.2g} GiB" if is_large else f"{1024 * gibibytes:.2g} MiB"


def findings(found: Facts, model: "LandmarkLogisticRegression") -> Facts:
    """Return what was found about the data, with what the model is."""
    params = model.kernel_params_
    found |= {
        "kernel": model.kernel,
        "kernel_params": {k: v for k, v in params.items() if k != "check"},
        "norm": model.norm,
        "lam": float(model.lam_),
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


def summary(found: Facts, data: str) -> str:
    """Return the findings for people; the first line is about the data."""
    held = "no cross-validation, since lam was given"
    if "folds" in found:
        held = (
            f"log-loss {found['held_out_log_loss']:.3f} in {found['folds']}-fold "
            "cross-validation on this file\n"
            "           (the settings were chosen on the same folds: expect a little "
            "less on new samples)"
        )
    return "\n".join(
        [
            data,
            f"Chosen     {setting_text(found['kernel'], found['kernel_params'])}, norm "
            f"{found['norm']}, lam {found['lam']:.3g}, {found['landmarks']:,} "
            "landmarks",
            f"Held out   {held}",
            f"Solved     {found['status']}, residual {found['residual']:.1e}, in "
            f"{found['passes']} passes over the samples",
            f"Saved      {found['model']}, {found['bytes']:,} bytes, after "
            f"{found['seconds']:.1f} s",
        ]
    )


def predicts_in_blocks(model: "BaseEstimator", data: str) -> bool:
    """Tell whether a model is one of many rows, and new rows can be read in blocks."""
    from kreinlearn import LandmarkLogisticRegression
    from kreinlearn.io.chunks import can_be_blocks

    last = model.steps[-1][1] if hasattr(model, "steps") else model
    is_ours = isinstance(last, LandmarkLogisticRegression)
    return is_ours and has_rows(last) and can_be_blocks(data)


def has_rows(model: "LandmarkLogisticRegression") -> bool:
    """Tell whether samples are rows of a table, rather than series or a matrix."""
    from kreinlearn.kernels.registry import find_kind

    return find_kind(model.kernel) == "rows"


def predicted(
    model: "Pipeline",
    training: "Training",
    data: str,
    header: bool | None,
    marks: "Marks",
    proba: bool,
    check: "Callable[[pd.DataFrame], object]",
) -> tuple["pd.DataFrame", "Array | None", list[str]]:
    """Return predictions, labels if they are there, and columns that were left out."""
    import numpy as np
    import pandas as pd

    from kreinlearn.io.chunks import cell_blocks
    from kreinlearn.io.matching import like
    from kreinlearn.io.values import plain_labels

    names = [f"proba_{label}" for label in model.classes_.tolist()]
    known = list(getattr(model, "feature_names_in_", ()))
    as_text = replace(training, text_labels=True)
    frames: list[pd.DataFrame] = []
    labels: list[Array] = []
    left_out: list[str] = []
    for cells in cell_blocks(data, header, marks):
        table, left_out = like(cells, as_text)
        assert table.X is not None
        check(table.X)
        X = table.X.set_axis(known, axis=1) if known else table.X.to_numpy()
        probabilities = model.predict_proba(X)
        guessed = model.classes_[probabilities.argmax(axis=1)]
        frame = pd.DataFrame({} if table.names is None else {"id": table.names})
        frame["prediction"] = guessed
        if proba:
            frame[names] = probabilities
        frames.append(frame)
        labels += [] if table.y is None else [table.y]
    whole = pd.concat(frames, ignore_index=True)
    if not labels:
        return whole, None, left_out
    y = np.concatenate(labels)
    return whole, y if training.text_labels else plain_labels(y), left_out
