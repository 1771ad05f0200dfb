"""krein predict."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kreinlearn.cli.options import AS_JSON, FORCE, HEADER

if TYPE_CHECKING:
    import pandas as pd

    from kreinlearn.files import Table

WRITTEN = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
"""Endings of what can be written."""


@click.command(epilog="Example:  krein predict model.krein new.csv --proba -o out.csv")
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.option(
    "-o", "--out", metavar="OUT", help="File to write: csv, csv.gz, tsv or parquet."
)
@click.option("--proba", is_flag=True, help="Give the probability of each class too.")
@HEADER
@FORCE
@AS_JSON
def predict(
    model: str,
    data: str,
    out: str | None,
    proba: bool,
    header: bool | None,
    force: bool,
    as_json: bool,
) -> None:
    """Predict the labels of the samples in DATA by a saved MODEL.

    DATA is of a kind that `krein fit` reads. Columns are matched by their names, or
    without a header by their order; labels that are there are compared with the
    predictions. For a Gram matrix, DATA holds a row of similarities with the training
    samples for each new sample.
    """
    from sklearn.utils import get_tags

    from kreinlearn import files, persistence
    from kreinlearn._files import check_free, replace

    if out is not None:
        if not out.lower().endswith(WRITTEN):
            listed = ", ".join(WRITTEN)
            raise ValueError(f"The name of OUT must end with {listed}, got {out!r}.")
        check_free(out, force)
    notes = persistence.stamp(model)["notes"]
    learned = persistence.load(model)
    needed = "predict_proba" if proba else "predict"
    if not hasattr(learned, needed):
        raise ValueError(f"The {type(learned).__name__} in {model} has no {needed}.")
    if get_tags(learned).input_tags.pairwise:
        table = files.read(data, labels=False, square=False)
        X, y = _similarities(learned, table), table.y
    else:
        X, y = _features(learned, notes, data, header)
    rows = {"prediction": learned.predict(X).tolist()}
    if proba:
        columns = learned.predict_proba(X).T.tolist()
        for label, column in zip(learned.classes_.tolist(), columns, strict=True):
            rows[f"proba_{label}"] = column
    accuracy = _accuracy(learned, rows["prediction"], y)
    if out is not None:
        replace(out, _content(rows, out))
        said = {"out": out, "samples": len(rows["prediction"]), "accuracy": accuracy}
        if as_json:
            click.echo(json.dumps(said))
        else:
            click.echo(f"{said['samples']} predictions written to {out}.", err=True)
    elif as_json:
        for values in zip(*rows.values(), strict=True):
            click.echo(json.dumps(dict(zip(rows, values, strict=True))))
    else:
        click.echo(_text(rows, ","), nl=False)


def _similarities(model: Any, table: "Table") -> Any:
    """Return the similarities with training samples, checked."""
    n_train = model.n_features_in_
    needed = [int(place) + 1 for place in getattr(model, "support_", [])]
    if table.K is None:
        raise ValueError(
            f"The model was learned from a Gram matrix: DATA must be npz or npy with "
            f"{n_train} columns, one for each training sample, got {table.path}."
        )
    if table.K.shape[1] not in (n_train, len(needed) or n_train):
        listed = ", ".join(str(place) for place in needed[:10])
        more = ", ..." if len(needed) > 10 else ""
        part = ""
        if len(needed) < n_train:
            part = (
                f", or {len(needed)} columns, for the training samples that "
                f"predictions need (counted from 1: {listed}{more})"
            )
        raise ValueError(
            f"{table.path} must have {n_train} columns, one for each training sample"
            f"{part}, got shape {table.K.shape}."
        )
    return table.K


def _features(
    model: Any, notes: dict[str, Any], data: str, header: bool | None
) -> tuple["pd.DataFrame", Any]:
    """Return the columns that the model knows, and the labels if they are there."""
    from kreinlearn import files
    from kreinlearn.files.table import plain_labels

    known = [str(name) for name in getattr(model, "feature_names_in_", ())]
    columns = known or [str(i + 1) for i in range(model.n_features_in_)]
    found = files.column_names(data, header)
    if found is None:  # LIBSVM text, or a Gram matrix
        has_places = all(name.isdigit() for name in columns)
        names = columns if has_places else []
        table = files.read(data, labels=False, names=names, square=False)
        if table.X is None:
            raise ValueError(
                f"The model was learned from a table with {len(columns)} features, but "
                f"{data} holds a matrix; give a table."
            )
        chosen = _matched(data, columns, list(table.X.columns), has_places, {})
        label, y = None, table.y
    else:
        names, has_header = found
        by_name = bool(known) and has_header and notes.get("header", True)
        chosen = _matched(data, columns, names, by_name, notes)
        label = _label(chosen, names, by_name, notes)
        words = set(notes.get("text", ()))
        text = {at for name, at in zip(columns, chosen, strict=True) if name in words}
        text |= set(names) - set(chosen)  # what is not needed need not be numbers
        table = files.read(data, header=has_header, labels=False, text=text)
        assert table.X is not None
        y = None if label is None else table.X[label].fillna("").to_numpy(dtype=str)
        if y is not None and model.classes_.dtype.kind not in "UO":
            y = plain_labels(y)
    X = table.X[chosen]
    ignored = [name for name in table.X.columns if name not in (*chosen, label)]
    if ignored:
        listed = ", ".join(repr(name) for name in ignored[:5])
        more = f" and {len(ignored) - 5} more" if len(ignored) > 5 else ""
        click.echo(f"krein: columns left out: {listed}{more}.", err=True)
    _check_cells(X, dict(zip(chosen, columns, strict=True)), notes)
    return X.set_axis(columns, axis=1) if known else X.to_numpy(), y


def _matched(
    data: str,
    columns: list[str],
    names: list[str],
    by_name: bool,
    notes: dict[str, Any],
) -> list[str]:
    """Return which column of the file stands for each column of the model."""
    if by_name:
        missing = [name for name in columns if name not in names]
        if missing:
            listed = ", ".join(repr(name) for name in missing[:5])
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            raise ValueError(
                f"{data} lacks column{'s' * (len(missing) > 1)} {listed}{more}, which "
                "the model was learned with."
            )
        return columns
    place = notes.get("target_place")
    if place is not None and len(names) == len(columns) + 1:
        return names[:place] + names[place + 1 :]
    if len(names) != len(columns):
        either = f" or, with labels, {len(columns) + 1}" if place is not None else ""
        raise ValueError(
            f"{data} must have {len(columns)} columns{either}, as the training file, "
            f"got {len(names)}."
        )
    return names


def _label(
    chosen: list[str], names: list[str], by_name: bool, notes: dict[str, Any]
) -> str | None:
    """Return the column of labels, if the file has it."""
    if by_name:
        target = notes.get("target")
        return target if target in names and target not in chosen else None
    rest = [name for name in names if name not in chosen]
    return rest[0] if rest else None


def _check_cells(
    X: "pd.DataFrame", known_as: dict[str, str], notes: dict[str, Any]
) -> None:
    """Raise if a cell is missing or text, and the model cannot deal with it."""
    from kreinlearn.pipelines import check_complete, text_columns

    path, unit = X.attrs.get("path"), X.index.name
    for name in text_columns(X):
        if known_as[name] not in notes.get("text", ()):
            row, cell = next((i, c) for i, c in X[name].items() if isinstance(c, str))
            raise ValueError(
                f"{path}: a number was expected, got {cell!r} in {unit} {row}, column "
                f"{name!r}, which held numbers when the model was learned."
            )
    if not notes.get("impute", False):
        check_complete(
            X, "fill it in, or learn the model again with `krein fit --impute`"
        )


def _accuracy(model: Any, predicted: list[Any], y: Any) -> float | None:
    """Say how many of the labels that are known were predicted."""
    import numpy as np

    if y is None or (y.dtype.kind == "U") != (model.classes_.dtype.kind in "UO"):
        return None
    known = np.isin(y, model.classes_)
    if not known.any():
        return None
    labeled = y != "" if y.dtype.kind == "U" else np.isfinite(y)
    accuracy = float((np.asarray(predicted) == y)[labeled].mean())
    click.echo(
        f"krein: accuracy {accuracy:.4f} on {int(labeled.sum())} labeled samples.",
        err=True,
    )
    return accuracy


def _content(rows: dict[str, list[Any]], out: str) -> bytes:
    """Return the rows in the form that the name of the file asks for."""
    name = out.lower()
    if name.endswith(".parquet"):
        import pandas as pd

        buffer = io.BytesIO()
        try:
            pd.DataFrame(rows).to_parquet(buffer, index=False)
        except ImportError:
            raise ValueError(
                f"Writing {out} needs pyarrow: pip install 'kreinlearn[parquet]', or "
                "choose csv."
            ) from None
        return buffer.getvalue()
    is_gzip = name.endswith(".gz")
    kind = Path(name.removesuffix(".gz")).suffix
    content = _text(rows, "\t" if kind == ".tsv" else ",").encode()
    return gzip.compress(content, mtime=0) if is_gzip else content


def _text(rows: dict[str, list[Any]], delimiter: str) -> str:
    """Return the rows as text; numbers with all digits, as csv writes them."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(rows)
    writer.writerows(zip(*rows.values(), strict=True))
    return buffer.getvalue()
