"""krein predict."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kreinlearn._typing import Array, SampleSet
from kreinlearn.app.cli import data as samples
from kreinlearn.app.cli import options
from kreinlearn.app.cli.options import print_note
from kreinlearn.io.dataset import Dataset, ModelInput, ReadOptions, TrainingRecord

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator


Transform = Callable[[SampleSet], SampleSet]
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""How cells begin that spreadsheets run as formulas, see OWASP on CSV injection."""


@options.command(
    "krein predict model.krein new.csv",
    "krein predict model.krein new.csv --proba -o predictions.csv",
    model="Model file written by `krein fit`.",
    data="New samples: a file or folder, see above; as many as in training.",
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA...", nargs=-1, required=True)
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
@options.read_options(
    options.HEADER_OPTION,
    options.SEP_OPTION,
    options.DECIMAL_OPTION,
    options.DISTANCE_OPTION,
    options.FORMAT_OPTION,
    options.LABELS_OPTION,
    options.TARGET_OPTION,
    options.MISSING_OPTION,
)
@options.FORCE_OPTION
@options.JSON_OPTION
def predict_command(
    model: str,
    data: tuple[str, ...],
    out: str | None,
    proba: bool,
    coverage: float | None,
    explain: int | None,
    safe_csv: bool,
    reading: ReadOptions,
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
    from kreinlearn import LandmarkLogisticRegression, _files, persistence
    from kreinlearn.io.labels import read_labels
    from kreinlearn.kernels.registry import find_kind

    is_parquet = out is not None and out.lower().endswith(".parquet")
    if safe_csv and (is_parquet or (out is None and as_json)):
        raise ValueError(
            "--safe-csv guards the cells of csv and tsv, got "
            f"{'parquet' if is_parquet else '--json'}, where text is never a formula; "
            "leave it out."
        )
    if out is not None:
        _files.check_table_name(out)
        samples.check_output(out, model, *data, reading.label_file)
        _files.check_free(out, force)
    fitted, stamp = persistence.load_stamped(model)
    is_plain = not proba and coverage is None and reading.label_file is None
    if explain is not None and not is_plain:
        raise ValueError(
            "--explain prints training samples in place of predictions; leave out "
            "--proba, --coverage and --labels."
        )
    last, needed = _split_pipeline(fitted)[1], "predict_proba" if proba else "predict"
    if coverage is not None and not hasattr(last, "predict_set"):
        raise ValueError(
            "--coverage needs a model of cross-validation, got a "
            f"{type(last).__name__} in {model}; train it without --lam and --landmarks."
        )
    needed = needed if explain is None else "explain"
    if not hasattr(last, needed):
        raise ValueError(f"The {type(fitted).__name__} in {model} has no {needed}.")
    if reading.holds and not samples.takes_distances(fitted):
        raise ValueError(
            f"The model in {model} takes no distances; leave out --distance."
        )
    if reading.target is not None and reading.label_file is None:
        raise ValueError("--target names a column of the file of --labels; add that.")
    record = TrainingRecord.from_notes(stamp["notes"])
    known = samples.describe_input(fitted, record)
    # Rows are compared with landmarks in blocks of any length.
    in_blocks = isinstance(last, LandmarkLogisticRegression) and reading.format is None
    in_blocks = in_blocks and find_kind(last.kernel) == "rows"
    found = samples.open_matrices(data, reading, in_blocks=in_blocks, model=known)
    first = data[0]
    print_note(found.remark)
    accuracy = None
    if explain is not None:
        frame = _explain(fitted, found, known, explain)
    else:
        frame, y = _predict(fitted, found, known, proba, coverage)
        if reading.label_file is not None:
            y, _, note = read_labels(
                reading.label_file,
                frame["id"].tolist() if "id" in frame else len(frame),
                first,
                reading.target,
                header=reading.header,
                required=False,
            )
            print_note(note)
        if record.id and "id" not in frame:
            print_note(
                f"{first} has no column {record.id!r}, which named the training "
                "samples: predictions are in the order of the rows."
            )
        accuracy = _measure_accuracy(fitted, frame["prediction"].to_numpy(), y)
        if record.source and Path(first).resolve() == Path(record.source).resolve():
            print_note(
                f"{first} is the training file: the model has seen these samples, and "
                "predicts new ones less well; `krein show` has held-out scores."
            )
        frame = _guard_formulas(frame) if safe_csv else frame
        if record.id and record.header and record.id not in frame:
            frame = frame.rename(columns={"id": record.id})
    if out is not None:
        _files.replace(out, _files.encode_table(frame, out))
    _print_predictions(frame, out, accuracy, as_json)


def _guard_formulas(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return predictions where no text begins as a formula does; numbers stay."""

    def guard(cell: object) -> object:
        is_formula = isinstance(cell, str) and cell.startswith(FORMULA_STARTS)
        return f"'{cell}" if is_formula else cell

    text = [name for name in ("id", "prediction") if name in frame]
    return frame.assign(**frame[text].map(guard))


def _predict(
    model: "BaseEstimator",
    data: Dataset,
    known: ModelInput,
    proba: bool,
    coverage: float | None,
) -> tuple["pd.DataFrame", Array | None]:
    """Return predictions for the samples in a file, and labels if they are there."""
    import numpy as np
    import pandas as pd

    from kreinlearn.io.labels import to_labels

    frames: list[pd.DataFrame] = []
    labels: list[Array] = []
    # A measure or a block of similarities is computed once.
    is_once = data.blocks is not None or (proba and data.kind is not None)
    for block in data:
        X = _get_features(model, block, known)
        frame = pd.DataFrame({} if block.names is None else {"id": block.names})
        with samples.name_sequences(block):
            if not is_once:
                predicted = model.predict(X)
            if proba or is_once:
                probabilities = model.predict_proba(X)
        if is_once:
            predicted = model.classes_[probabilities.argmax(axis=1)]
        frame["prediction"] = predicted.tolist()
        if proba:
            frame[[f"proba_{label}" for label in known.classes]] = probabilities
        if coverage is not None:
            before, last = _split_pipeline(model)
            sets = last.predict_set(before(X), coverage=coverage)
            frame["set"] = ["|".join(map(str, last.classes_[row])) for row in sets]
        frames.append(frame)
        labels += [] if block.y is None else [block.y]
    y = np.concatenate(labels) if labels else None
    if y is not None and data.blocks is not None and not known.training.text_labels:
        y = to_labels(y)
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0], y


def _split_pipeline(model: "BaseEstimator") -> tuple[Transform, "BaseEstimator"]:
    """Return the transform before a classifier, and the classifier."""
    if not hasattr(model, "steps"):
        return lambda X: X, model
    return model[:-1].transform, model[-1]


def _explain(
    model: "BaseEstimator", data: Dataset, known: ModelInput, top: int
) -> "pd.DataFrame":
    """Return the training samples that count most for each sample and class.

    Two classes have one score: contributions are those to the predicted class.
    """
    import numpy as np
    import pandas as pd

    before, last = _split_pipeline(model)
    frames: list[pd.DataFrame] = []
    n_before = 0
    for block in data:
        with samples.name_sequences(block):
            X = before(_get_features(model, block, known))
            frame, predicted = last.explain(X, top=top), last.predict(X)
        # Rows of each sample follow each other.
        positions = np.repeat(np.arange(len(predicted)), len(frame) // len(predicted))
        names = block.names or range(n_before, n_before + len(predicted))
        frame["sample"] = [names[i] for i in positions]
        n_before += len(predicted)
        frame.insert(1, "prediction", predicted[positions])
        if len(last.classes_) == 2:
            is_first = frame["prediction"] == last.classes_[0]
            frame["contribution"] *= np.where(is_first, -1, 1)
            frame["class"] = frame["prediction"]
        if trained := known.training.sample_names:
            frame["training_sample"] = [trained[i] for i in frame["training_sample"]]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _get_features(
    model: "BaseEstimator", data: Dataset, known: ModelInput, is_named: bool = False
) -> SampleSet:
    """Return new samples as a model takes them; with names if rows are matched."""
    import pandas as pd

    from kreinlearn.pipelines import check_complete

    if data.matrices is not None:
        return {
            name: _get_features(model, replace(each, matrices=None), known, True)
            for name, each in data.matrices.items()
        }
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if data.X is not None:
        if not known.training.impute:
            remedy = "fill it in, or train again with `krein fit --impute`"
            check_complete(data.X, remedy)
        return data.X.set_axis(names, axis=1) if names else data.X.to_numpy()
    K = data.K
    if K is None or data.names is None:
        return data.samples
    needed = names if K.shape[1] == len(names) else [names[i] for i in model.support_]
    index = data.names if is_named else None
    return pd.DataFrame(K, index=index, columns=needed, copy=False)


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


def _measure_accuracy(
    model: "BaseEstimator", predicted: Array, y: Array | None
) -> float | None:
    """Return the fraction of known labels that were predicted, and print it."""
    import numpy as np

    is_text = model.classes_.dtype.kind in "UO"
    if y is None or (y.dtype.kind == "U") != is_text:
        return None
    if not np.isin(y, model.classes_).any():
        return None
    labeled = y != "" if is_text else np.isfinite(y)
    accuracy = float((predicted == y)[labeled].mean())
    print_note(f"accuracy {accuracy:.4f} on {int(labeled.sum())} labeled samples.")
    return accuracy
