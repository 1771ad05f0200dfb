"""krein predict."""

import json
import sys
from dataclasses import replace
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
    from kreinlearn.io import PairOptions, Table
    from kreinlearn.io.schema import TrainingRecord


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
    printed. A matrix has
    one row per new sample; --distance need not be repeated. If the training samples
    have names, DATA may be pairs of new and training samples, or a matrix with names,
    in any order; --format and --missing of training apply here, too.
    Predictions have the names of the new samples, if these have names.
    """  # noqa: D301 - click reads \b as a mark
    from kreinlearn import persistence
    from kreinlearn._files import check_free, check_table_name, encode_table
    from kreinlearn._files import replace as write
    from kreinlearn.io import PairOptions
    from kreinlearn.io.schema import TrainingRecord
    from kreinlearn.io.text import Dialect

    if safe_csv:
        _check_spreadsheet(out, as_json)
    if out is not None:
        check_table_name(out)
        check_free(out, force)
    click.get_current_context().with_resource(options.measuring())
    fitted, stamp = persistence.load_stamped(model)
    needed = "predict_proba" if proba else "predict"
    if not hasattr(fitted, needed):
        raise ValueError(f"The {type(fitted).__name__} in {model} has no {needed}.")
    is_distance = _takes_distances(fitted)
    if distance and not is_distance:
        raise ValueError(
            f"The model in {model} takes no distances; leave out --distance."
        )
    given = PairOptions(format, missing, dialect=Dialect(sep, decimal))
    record = TrainingRecord.from_notes(stamp["notes"])
    is_plain = format is None and missing is None
    if is_plain and _predicts_in_blocks(fitted, data):
        frame, y = _predict_blocks(fitted, record, data, header, given, proba)
    else:
        frame, y = _predict(model, fitted, record, data, header, given, proba)
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


def _predict(
    path: str,
    model: "BaseEstimator",
    record: "TrainingRecord",
    data: str,
    header: bool | None,
    given: "PairOptions",
    proba: bool,
) -> tuple["pd.DataFrame", "Array | None"]:
    """Return predictions for the samples in a file, and labels if they are there."""
    import pandas as pd

    X, table = _new_samples(path, model, record, data, header, given)
    frame = pd.DataFrame({} if table.names is None else {"id": table.names})
    with samples.named(table):
        if proba and table.kind is not None:  # measured once
            probabilities = model.predict_proba(X)
            predicted = model.classes_[probabilities.argmax(axis=1)]
        else:
            predicted = model.predict(X)
            probabilities = model.predict_proba(X) if proba else None
        frame["prediction"] = predicted.tolist()
        if probabilities is not None:
            names = [f"proba_{label}" for label in model.classes_.tolist()]
            frame[names] = probabilities
    return frame, table.y


def _predicts_in_blocks(model: "BaseEstimator", data: str) -> bool:
    """Return whether a model on landmarks takes rows that can be read in blocks."""
    from kreinlearn import LandmarkLogisticRegression
    from kreinlearn.io.blocks import can_read_blocks
    from kreinlearn.kernels.registry import find_kind

    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not isinstance(last, LandmarkLogisticRegression):
        return False
    return find_kind(last.kernel) == "rows" and can_read_blocks(data)


def _predict_blocks(
    model: "Pipeline",
    record: "TrainingRecord",
    data: str,
    header: bool | None,
    given: "PairOptions",
    proba: bool,
) -> tuple["pd.DataFrame", "Array | None"]:
    """Return predictions for a table of any length, and labels if it has them."""
    import numpy as np
    import pandas as pd

    from kreinlearn.io.blocks import open_blocks, read_blocks
    from kreinlearn.io.labels import to_labels
    from kreinlearn.io.schema import TableSchema

    training = _complete_record(model, record)
    names = [f"proba_{label}" for label in model.classes_.tolist()]
    known = list(getattr(model, "feature_names_in_", ()))
    source = open_blocks(data, header, given.dialect)
    schema = TableSchema.match(source, replace(training, text_labels=True))
    frames: list[pd.DataFrame] = []
    labels: list[Array] = []
    for cells in read_blocks(source, schema.columns, list(schema.text)):
        table, _ = schema.convert(cells)
        assert table.X is not None
        _check_missing(record, table.X)
        X = table.X.set_axis(known, axis=1) if known else table.X.to_numpy()
        probabilities = model.predict_proba(X)
        frame = pd.DataFrame({} if table.names is None else {"id": table.names})
        frame["prediction"] = model.classes_[probabilities.argmax(axis=1)]
        if proba:
            frame[names] = probabilities
        frames.append(frame)
        labels += [] if table.y is None else [table.y]
    if not frames:
        raise ValueError(f"{data} holds a header but no samples below it.")
    _print_ignored(schema.ignored)
    whole = pd.concat(frames, ignore_index=True)
    y = np.concatenate(labels) if labels else None
    if y is not None and not training.text_labels:
        y = to_labels(y)
    return whole, y


def _new_samples(
    path: str,
    model: "BaseEstimator",
    record: "TrainingRecord",
    data: str,
    header: bool | None,
    given: "PairOptions",
) -> tuple["pd.DataFrame | Array | list[Any]", "Table"]:
    """Return new samples as a model takes them, and the file with their labels."""
    import pandas as pd
    from sklearn.utils import get_tags

    format, missing = given.format, given.missing
    kind = samples.sample_kind(model)
    if get_tags(model).input_tags.pairwise:
        table = _similarities(model, record, data, header, given)
        X = table.samples
        if table.names is not None:
            X = pd.DataFrame(X, columns=_columns(model, X.shape[1]), copy=False)
        return X, table
    if missing is not None or (kind is None and format not in (None, "table")):
        what = (
            "a table: leave out --format and" if kind is None else f"{kind}: leave out"
        )
        raise ValueError(f"The model in {path} was trained on {what} --missing.")
    if kind is not None:
        table = samples.new_samples(model, kind, record, data, given, header)
        return table.items or [], table
    return _known_features(model, record, data, header, given)


def _takes_distances(model: "BaseEstimator") -> bool:
    """Return whether a model was trained on distances, also in a search or pipeline."""
    from kreinlearn import DistanceSimilarity

    inner = getattr(model, "best_estimator_", model)
    first = inner.steps[0][1] if hasattr(inner, "steps") else inner
    is_change = isinstance(first, DistanceSimilarity)
    return is_change or getattr(first, "kernel", None) == "distance"


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


def _similarities(
    model: "BaseEstimator",
    record: "TrainingRecord",
    data: str,
    header: bool | None,
    given: "PairOptions",
) -> "Table":
    """Return the similarities with, or the distances to, the training samples."""
    from kreinlearn.io.schema import read_similarities

    known = getattr(model, "feature_names_in_", None)
    pairs = given
    is_text = known is not None and not data.lower().endswith((".npz", ".npy"))
    if is_text:
        pairs = replace(
            given,
            missing=record.missing if given.missing is None else given.missing,
            missing_self=record.missing_self,
            repeated=record.repeated,
        )
    table = read_similarities(
        data,
        model.n_features_in_,
        getattr(model, "support_", ()),
        is_distance=_takes_distances(model),
        names=None if known is None else list(map(str, known)),
        pairs=pairs,
        usual=record.format,
        symmetrize=record.symmetrize,
        header=header,
    )
    options.print_remark(table)
    return table


def _columns(model: "BaseEstimator", count: int) -> list[str]:
    """Return the names of the training samples that predictions need."""
    names = list(model.feature_names_in_)
    return names if count == len(names) else [names[i] for i in model.support_]


def _known_features(
    model: "Pipeline",
    record: "TrainingRecord",
    data: str,
    header: bool | None,
    given: "PairOptions",
) -> tuple["pd.DataFrame | Array", "Table"]:
    """Return the features that the model knows, and the file with the labels."""
    from kreinlearn.io.schema import read_like

    training = _complete_record(model, record)
    table, ignored = read_like(data, training, header, given.dialect)
    _print_ignored(ignored)
    X: pd.DataFrame = table.X
    _check_missing(record, X)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    return X.set_axis(names, axis=1) if names else X.to_numpy(), table


def _complete_record(model: "Pipeline", record: "TrainingRecord") -> "TrainingRecord":
    """Return the record with the features and the type of labels of the model."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    return replace(
        record,
        columns=names or [str(i + 1) for i in range(model.n_features_in_)],
        header=bool(names) and record.header,
        text_labels=model.classes_.dtype.kind in "UO",
    )


def _check_missing(record: "TrainingRecord", X: "pd.DataFrame") -> None:
    """Raise if a cell is missing that the model cannot fill."""
    from kreinlearn.pipelines import check_complete

    if not record.impute:
        check_complete(X, "fill it in, or train again with `krein fit --impute`")


def _print_ignored(names: list[str]) -> None:
    from kreinlearn.io.errors import quote_names

    if names:
        click.echo(f"krein: columns left out: {quote_names(names)}.", err=True)


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
