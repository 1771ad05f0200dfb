"""krein predict."""

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from kreinlearn.app.cli import options, samples
from kreinlearn.app.cli.helping import GroupedHelpCommand, examples
from kreinlearn.app.cli.options import AS_JSON, DISTANCE, FORCE

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from kreinlearn._typing import Array
    from kreinlearn.io import Table
    from kreinlearn.io.schema import ModelInput, TableSchema


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""How cells begin that spreadsheets run as formulas, see OWASP on CSV injection."""
EXAMPLES = examples(
    "krein predict model.krein new.csv",
    "krein predict model.krein new.csv --proba -o predictions.csv",
)


@click.command(
    "predict",
    cls=GroupedHelpCommand,
    arguments={
        "model": "Model file written by `krein fit`.",
        "data": "New samples: a file or folder, see above.",
    },
    epilog=EXAMPLES,
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.option(
    "-o", "--out", metavar="OUT", help="File to write: csv, csv.gz, tsv or parquet."
)
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="FRACTION",
    help="Add the labels that cannot be ruled out: sets that hold the true label for "
    "about this fraction of samples, such as 0.95.",
)
@click.option(
    "--explain",
    type=click.IntRange(1),
    metavar="N",
    help="Print, in place of predictions, the N training samples that count most for "
    "and against each class.",
)
@click.option(
    "--safe-csv",
    is_flag=True,
    help="Guard text that a spreadsheet would take for a formula by an apostrophe.",
)
@options.HEADER
@options.SEP
@options.DECIMAL
@DISTANCE
@options.FORMAT_OPTION
@options.LABELS_OPTION
@options.TARGET_OPTION
@options.MISSING_OPTION
@FORCE
@AS_JSON
def predict_command(
    model: str,
    data: str,
    out: str | None,
    proba: bool,
    coverage: float | None,
    explain: int | None,
    safe_csv: bool,
    header: bool | None,
    distance: bool,
    format: str | None,
    labels: str | None,
    target: str | None,
    missing: float | None,
    sep: str | None,
    decimal: str,
    force: bool,
    as_json: bool,
) -> None:
    """Predict the labels of new samples with a saved model.

    \b
    MODEL is a file of `krein fit`, and DATA holds, for a model of
      a table      rows with the same columns, by name or, without names, by order
      a matrix     similarities with (or distances to) the training samples
      sequences, time series, graphs
                   new ones: the measure to the training samples is computed

    Columns that training left out are left out, and the column that --id named is
    kept. If DATA has labels too, or --labels names a file with them, the accuracy is
    printed. A matrix has one row per new sample; --distance need not be repeated. If
    the training samples have names, DATA may be pairs of new and training samples, or
    a matrix with names, in any order; --format and --missing of training apply here,
    too.
    Predictions have the names of the new samples, if these have names.
    """  # noqa: D301 - click reads \b as a mark
    from kreinlearn import persistence
    from kreinlearn._files import check_free, check_table_name, encode_table
    from kreinlearn._files import replace as write
    from kreinlearn.io.options import PairOptions, ReadOptions
    from kreinlearn.io.schema import TrainingRecord
    from kreinlearn.io.text import Dialect

    if safe_csv:
        _check_spreadsheet(out, as_json)
    if out is not None:
        check_table_name(out)
        check_free(out, force)
    fitted, stamp = persistence.load_stamped(model)
    if explain is not None and (proba or coverage is not None or labels is not None):
        raise ValueError(
            "--explain prints training samples in place of predictions; leave out "
            "--proba, --coverage and --labels."
        )
    needed = "predict_proba" if proba else "predict"
    if coverage is not None:
        needed = "predict_set"
    elif explain is not None:
        needed = "explain"
    if not hasattr(_split_pipeline(fitted)[1], needed):
        raise ValueError(f"The {type(fitted).__name__} in {model} has no {needed}.")
    if distance and not samples.takes_distances(fitted):
        raise ValueError(
            f"The model in {model} takes no distances; leave out --distance."
        )
    pairs = PairOptions(format, missing, dialect=Dialect(sep, decimal))
    record = TrainingRecord.from_notes(stamp["notes"])
    known = samples.describe_input(fitted, record)
    _check_format_options(model, known.kind, format, missing)
    table = samples.open_samples(
        data,
        ReadOptions(header=header, pairs=pairs),
        in_blocks=format is None and _takes_blocks(fitted),
        model=known,
    )
    options.print_remark(table)
    if explain is not None:
        frame = _explain(fitted, table, known, explain)
        if out is not None:
            write(out, encode_table(frame, out))
        _print_predictions(frame, out, None, as_json)
        return
    frame, y = _predict(fitted, table, known, proba, coverage)
    if labels is not None:
        y = _read_labels(labels, frame, data, target, header)
    elif target is not None:
        raise ValueError("--target names a column of the file of --labels; add that.")
    if record.id and "id" not in frame:
        click.echo(
            f"krein: {data} has no column {record.id!r}, which named the training "
            "samples: predictions are in the order of the rows.",
            err=True,
        )
    accuracy = _accuracy(fitted, frame["prediction"].to_numpy(), y)
    if safe_csv:
        frame = _guarded(frame)
    if record.id and record.header and record.id not in frame:
        frame = frame.rename(columns={"id": record.id})
    if out is not None:
        write(out, encode_table(frame, out))
    _print_predictions(frame, out, accuracy, as_json)


def _read_labels(
    path: str,
    frame: "pd.DataFrame",
    data: str,
    target: str | None,
    header: bool | None,
) -> "Array":
    """Return labels of the new samples from a file, by name or else by position."""
    from kreinlearn.io.labels import read_labels

    names = frame["id"].tolist() if "id" in frame else None
    found = read_labels(
        path,
        names,
        data,
        target,
        n_samples=len(frame),
        header=header,
        required=False,
    )
    if found.note:
        click.echo(f"krein: {found.note}", err=True)
    return found.y


def _check_spreadsheet(out: str | None, as_json: bool) -> None:
    """Raise if the output is not a text table that a spreadsheet would open."""
    is_parquet = out is not None and out.lower().endswith(".parquet")
    if is_parquet or (out is None and as_json):
        raise ValueError(
            "--safe-csv guards the cells of csv and tsv, got "
            f"{'parquet' if is_parquet else '--json'}, where text is never a formula; "
            "leave it out."
        )


def _guarded(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return predictions where no text begins as a formula does; numbers stay."""

    def guard(cell: object) -> object:
        is_formula = isinstance(cell, str) and cell.startswith(FORMULA_STARTS)
        return f"'{cell}" if is_formula else cell

    text = [name for name in ("id", "prediction") if name in frame]
    return frame.assign(**frame[text].map(guard))


def _takes_blocks(model: "BaseEstimator") -> bool:
    """Return whether a model compares rows with landmarks, in blocks of any length."""
    from kreinlearn import LandmarkLogisticRegression
    from kreinlearn.kernels.registry import find_kind

    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not isinstance(last, LandmarkLogisticRegression):
        return False
    return find_kind(last.kernel) == "rows"


def _check_format_options(
    path: str, kind: str, format: str | None, missing: float | None
) -> None:
    """Raise if options of pairs and matrices are given for a model of others."""
    is_table = kind == "rows"
    is_wrong = missing is not None or (is_table and format not in (None, "table"))
    if is_wrong and kind != "matrix":
        what = "a table: leave out --format and" if is_table else f"{kind}: leave out"
        raise ValueError(f"The model in {path} was trained on {what} --missing.")


def _predict(
    model: "BaseEstimator",
    data: "Table | TableSchema",
    known: "ModelInput",
    proba: bool,
    coverage: float | None,
) -> tuple["pd.DataFrame", "Array | None"]:
    """Return predictions for the samples in a file, and labels if they are there."""
    import numpy as np
    import pandas as pd

    from kreinlearn.io import Table
    from kreinlearn.io.labels import to_labels

    is_whole = isinstance(data, Table)
    parts: Iterable[Table] = [data] if isinstance(data, Table) else data
    frames: list[pd.DataFrame] = []
    labels: list[Array] = []
    for table in parts:
        X = _features(model, table, known)
        frame = pd.DataFrame({} if table.names is None else {"id": table.names})
        with samples.named(table):
            # A measure or a block of similarities is computed once.
            is_once = not is_whole or (proba and table.kind is not None)
            predicted = None if is_once else model.predict(X)
            if proba or is_once:
                probabilities = model.predict_proba(X)
        if predicted is None:
            predicted = model.classes_[probabilities.argmax(axis=1)]
        frame["prediction"] = predicted.tolist()
        if proba:
            frame[[f"proba_{label}" for label in known.classes]] = probabilities
        if coverage is not None:
            frame["set"] = _format_sets(model, X, coverage)
        frames.append(frame)
        labels += [] if table.y is None else [table.y]
    y = np.concatenate(labels) if labels else None
    if y is not None and not is_whole and not known.training.text_labels:
        y = to_labels(y)
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0], y


def _split_pipeline(model: "Any") -> tuple["Any", "Any"]:
    """Return the steps before the classifier, or None, and the classifier."""
    if not hasattr(model, "steps"):
        return None, model
    return model[:-1], model[-1]


def _format_sets(model: "BaseEstimator", X: "Any", coverage: float) -> list[str]:
    """Return the labels of each prediction set, separated by a vertical bar."""
    before, last = _split_pipeline(model)
    sets = last.predict_set(
        X if before is None else before.transform(X), coverage=coverage
    )
    return ["|".join(map(str, last.classes_[row])) for row in sets]


def _explain(
    model: "BaseEstimator", data: "Table | TableSchema", known: "ModelInput", top: int
) -> "pd.DataFrame":
    """Return the training samples that count most for each sample and class."""
    import pandas as pd

    from kreinlearn.io import Table

    before, last = _split_pipeline(model)
    frames: list[pd.DataFrame] = []
    n_before = 0
    parts: Iterable[Table] = [data] if isinstance(data, Table) else data
    for table in parts:
        X: Any = _features(model, table, known)
        with samples.named(table):
            frame = last.explain(X if before is None else before.transform(X), top=top)
        positions = frame["sample"].to_numpy()
        names = table.names
        frame["sample"] = (
            positions + n_before if names is None else [names[i] for i in positions]
        )
        n_before += 1 + int(positions.max())
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _features(
    model: "BaseEstimator", table: "Table", known: "ModelInput"
) -> "pd.DataFrame | Array | list[Any]":
    """Return new samples as a model takes them."""
    import pandas as pd

    from kreinlearn.pipelines import check_complete

    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if table.kind is not None:
        return table.items or []
    if table.X is not None:
        if not known.training.impute:
            remedy = "fill it in, or train again with `krein fit --impute`"
            check_complete(table.X, remedy)
        return table.X.set_axis(names, axis=1) if names else table.X.to_numpy()
    X = table.samples
    if table.names is None:
        return X
    is_part = X.shape[1] != len(names)
    needed = [names[i] for i in model.support_] if is_part else names
    return pd.DataFrame(X, columns=needed, copy=False)


def _print_predictions(
    frame: "pd.DataFrame", out: str | None, accuracy: float | None, as_json: bool
) -> None:
    """Print the predictions or, if they are in a file, where they are."""
    if out is not None and as_json:
        summary = {"out": out, "samples": len(frame), "accuracy": accuracy}
        click.echo(json.dumps(summary))
    elif out is not None:
        click.echo(f"{len(frame)} predictions written to {out}.", err=True)
    elif as_json:
        for row in frame.to_dict("records"):
            click.echo(json.dumps(row))
    else:
        digits = "%.4f" if sys.stdout.isatty() else None
        text = frame.to_csv(index=False, lineterminator="\n", float_format=digits)
        click.echo(text, nl=False)


def _accuracy(model: "Pipeline", predicted: "Array", y: "Array | None") -> float | None:
    """Return the share of known labels that were predicted, and print it."""
    import numpy as np

    is_text = model.classes_.dtype.kind in "UO"
    if (
        y is None
        or (y.dtype.kind == "U") != is_text
        or not np.isin(y, model.classes_).any()
    ):
        return None
    labeled = y != "" if y.dtype.kind == "U" else np.isfinite(y)
    accuracy = float((predicted == y)[labeled].mean())
    click.echo(
        f"krein: accuracy {accuracy:.4f} on {int(labeled.sum())} labeled samples.",
        err=True,
    )
    return accuracy
