"""krein predict."""

import json
from typing import TYPE_CHECKING

import click

from kreinlearn.cli.options import AS_JSON, DISTANCE, FORCE, HEADER, Notes

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from kreinlearn._typing import Array


@click.command("predict", epilog="Example:  krein predict model.krein new.csv --proba")
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.option(
    "-o", "--out", metavar="OUT", help="File to write: csv, csv.gz, tsv or parquet."
)
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@HEADER
@DISTANCE
@FORCE
@AS_JSON
def predict_command(
    model: str,
    data: str,
    out: str | None,
    proba: bool,
    header: bool | None,
    distance: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Predict the labels of the samples in DATA with a saved MODEL.

    DATA is a file of a kind that `krein fit` reads. Columns are matched by name or,
    without a header, by their order; if DATA has labels too, they are compared with
    the predictions. For a model of a matrix, DATA holds one row per new sample: its
    similarities with, or its distances to, the training samples, whichever the model
    was trained on (--distance need not be given).
    """
    import pandas as pd
    from sklearn.utils import get_tags

    from kreinlearn import persistence
    from kreinlearn._files import check_free, check_table_name, encoded, replace
    from kreinlearn.files import matching

    if out is not None:
        check_table_name(out)
        check_free(out, force)
    fitted, stamp = persistence.load_stamped(model)
    needed = "predict_proba" if proba else "predict"
    if not hasattr(fitted, needed):
        raise ValueError(f"The {type(fitted).__name__} in {model} has no {needed}.")
    is_distance = _takes_distances(fitted)
    if distance and not is_distance:
        raise ValueError(
            f"The model in {model} takes no distances; leave out --distance."
        )
    if get_tags(fitted).input_tags.pairwise:
        support = getattr(fitted, "support_", ())
        table = matching.read_similarities(
            data, fitted.n_features_in_, support, is_distance=is_distance
        )
        X, y = table.K, table.y
    else:
        X, y = _known_features(fitted, stamp["notes"], data, header)
    frame = pd.DataFrame({"prediction": fitted.predict(X).tolist()})
    if proba:
        names = [f"proba_{label}" for label in fitted.classes_.tolist()]
        frame[names] = fitted.predict_proba(X)
    accuracy = _accuracy(fitted, frame["prediction"].to_numpy(), y)
    if out is not None:
        replace(out, encoded(frame, out))
    _print_predictions(frame, out, accuracy, as_json)


def _takes_distances(model: "BaseEstimator") -> bool:
    """Tell whether a model was trained on distances, in a search or pipeline or not."""
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
        said = {"out": out, "samples": len(frame), "accuracy": accuracy}
        click.echo(json.dumps(said))
    elif out is not None:
        click.echo(f"{len(frame)} predictions written to {out}.", err=True)
    elif as_json:
        for row in frame.to_dict("records"):
            click.echo(json.dumps(row))
    else:
        click.echo(frame.to_csv(index=False, lineterminator="\n"), nl=False)


def _known_features(
    model: "Pipeline", notes: Notes, data: str, header: bool | None
) -> tuple["Array", "Array | None"]:
    """Return the features that the model knows, and the labels if they are there."""
    from kreinlearn.files.matching import Training, read_like
    from kreinlearn.files.values import some_of
    from kreinlearn.pipelines import check_complete

    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    training = Training(
        names or [str(i + 1) for i in range(model.n_features_in_)],
        header=bool(names) and notes.get("header", True),
        target=notes.get("target"),
        target_place=notes.get("target_place"),
        text=notes.get("text", ()),
        text_labels=model.classes_.dtype.kind in "UO",
    )
    table, left_out = read_like(data, training, header)
    if left_out:
        click.echo(f"krein: columns left out: {some_of(left_out)}.", err=True)
    X: pd.DataFrame = table.X
    if not notes.get("impute", False):
        check_complete(X, "fill it in, or train again with `krein fit --impute`")
    return X.set_axis(names, axis=1) if names else X.to_numpy(), table.y


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
