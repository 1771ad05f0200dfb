"""krein fit."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from kreinlearn.cli.options import (
    AS_JSON,
    FORCE,
    HEADER,
    IMPUTE,
    KERNEL,
    NO_SCALE,
    ONE_HOT,
    PARAM,
    TARGET,
)

if TYPE_CHECKING:
    from kreinlearn.files import Table

FOLDS = 5
"""Folds of the cross-validation by default."""
LONG = 120.0
"""Seconds from which a search is announced."""
KREIN_NORM, BOTH_NORMS = (0.45, 1.9), (0.55, 2.3)
"""Seconds of a setting with 1,000 samples on two cores, and the power of n by which
they grow: the mean of all settings on EEG, which is among the harder data."""


@click.command(epilog="Example:  krein fit train.csv --target label -o model.krein")
@click.argument("train", metavar="TRAIN")
@click.option("-o", "--out", required=True, metavar="MODEL", help="File to write.")
@TARGET
@HEADER
@KERNEL
@PARAM
@click.option(
    "--cv",
    type=click.IntRange(2),
    help=f"Folds that choose kernel parameters, lam and norm; {FOLDS} by default.",
)
@click.option(
    "--lam", type=float, help="The regularization, fixed: no cross-validation then."
)
@click.option(
    "--norm", type=click.Choice(["krein", "hilbert"]), help="Only this norm, not both."
)
@NO_SCALE
@IMPUTE
@ONE_HOT
@FORCE
@AS_JSON
def fit(
    train: str,
    out: str,
    target: str | None,
    header: bool | None,
    kernel: str | None,
    params: dict[str, Any],
    cv: int | None,
    lam: float | None,
    norm: str | None,
    no_scale: bool,
    impute: bool,
    one_hot: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Learn from the samples in TRAIN, and save the model.

    TRAIN is a table (csv, tsv, parquet), LIBSVM text (libsvm, svm, svmlight), or a
    Gram matrix (npz, npy); text may be compressed (.gz). By default three kernels are
    tried, and averaged by what they predict of held-out samples.
    """
    import numpy as np

    from kreinlearn import files, persistence
    from kreinlearn._files import check_free

    check_free(out, force)
    if params and not kernel:
        raise ValueError("--param needs --kernel, whose parameter it is.")
    if lam is not None and cv is not None:
        raise ValueError("--lam is tried alone, without folds: leave out --cv.")
    table = files.read(train, target=target, header=header)
    if table.K is not None and (kernel or no_scale or impute or one_hot):
        raise ValueError(
            f"{train} holds a Gram matrix, which takes none of --kernel, --no-scale, "
            "--impute and --one-hot."
        )
    if table.K is not None:
        kernel = "precomputed"
    model = _model(kernel, params, lam, norm, cv or FOLDS)
    if lam is None:
        _check_folds(table, cv or FOLDS)
    whole = model
    if table.X is not None:
        from sklearn.pipeline import make_pipeline

        from kreinlearn.pipelines import prepare

        steps = prepare(table.X, scale=not no_scale, impute=impute, one_hot=one_hot)
        whole = make_pipeline(steps, model)
    start = time.perf_counter()
    samples = table.K if table.X is None else table.X
    if lam is not None:
        whole.fit(samples, table.y)
    else:
        _announce(len(np.asarray(table.y)), model)
        with _progress(model) as model.verbose:
            try:
                whole.fit(samples, table.y)
            except MemoryError as error:
                raise MemoryError(
                    f"{error} Or take --norm krein, which needs no eigenvectors, or "
                    "--lam, which fits once."
                ) from None
        model.verbose = 0
    seconds = time.perf_counter() - start
    persistence.save(whole, out, overwrite=force, notes=_notes(table, impute))
    found = _findings(table, model, out, seconds)
    click.echo(json.dumps(found) if as_json else _summary(found))


def _model(
    kernel: str | None,
    params: dict[str, Any],
    lam: float | None,
    norm: str | None,
    cv: int,
) -> Any:
    """Return the estimator that the options ask for."""
    from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
    from kreinlearn._validation import check_positive

    if lam is not None:
        check_positive("lam", lam)
        return KreinLogisticRegression(
            kernel or "tl1", params or None, lam=lam, norm=norm or "krein"
        )
    settings: dict[str, Any] = {"cv": cv, "kernel_params": params or None}
    if kernel:
        settings["kernel"] = kernel
    if norm:
        settings["norms"] = (norm,)
    return KreinLogisticRegressionCV(**settings)


def _announce(n: int, model: Any) -> None:
    """Say what a long search will take, and what would be shorter."""
    from kreinlearn.estimators.logistic_cv import kernel_settings, kernels_of
    from kreinlearn.kernels import Similarities

    kernels = kernels_of(model.kernel)
    rows = Similarities([[0.0], [1.0]])
    count = len(kernel_settings(kernels, rows, model.kernel_params))
    first, power = BOTH_NORMS if "hilbert" in model.norms else KREIN_NORM
    seconds = count * first * (n / 1000) ** power
    if seconds < LONG:
        return
    shorter = [
        "--kernel tl1 tries one kernel" if len(kernels) > 1 else "",
        "--norm krein needs no eigenvectors" if "hilbert" in model.norms else "",
        "--lam fits once",
    ]
    click.echo(
        f"krein: cross-validation of {n:,} samples takes {8 * n * n / 2**30:.2g} GiB "
        f"for a matrix and roughly {_rough(seconds)}; shorter: "
        f"{', '.join(each for each in shorter if each)}.",
        err=True,
    )


def _rough(seconds: float) -> str:
    """Return a long time in words that promise no more than is known."""
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.0f} hours"


def _check_folds(table: "Table", cv: int) -> None:
    """Raise if a class is too small for a sample of it in each fold."""
    import numpy as np

    classes, counts = np.unique(np.asarray(table.y), return_counts=True)
    least = int(counts.argmin())
    if counts[least] < cv:
        label, count = classes.tolist()[least], int(counts[least])
        advice = f"use --cv {count}" if count > 1 else "remove it"
        raise ValueError(
            f"{table.path}: each of {cv} folds needs a sample of each class, but class "
            f"{label!r} has {count} sample{'s' * (count > 1)}; {advice}, or go without "
            "folds by --lam."
        )


@contextmanager
def _progress(model: Any) -> Iterator[Callable[[dict[str, Any]], bool]]:
    """Give a callback that shows how many settings of the kernel have been tried."""
    from kreinlearn.runs.progress import counter

    seen: set[str] = set()
    with counter(sys.stderr, "fit") as show:

        def tell(row: dict[str, Any]) -> bool:
            params = {k: v for k, v in row.items() if k not in ("norm", "lam", "score")}
            name = _setting(params.pop("kernel"), params)
            if name not in seen:
                seen.add(name)
                text = f"{name} log-loss {-row['score']:.3f}"
                show(len(seen), len(model.kernel_settings_), text)
            return False

        yield tell


def _notes(table: "Table", impute: bool) -> dict[str, Any]:
    """Return what predict has to know of the training file."""
    notes: dict[str, Any] = {"source": table.path, "target": table.target}
    if table.X is not None:
        from kreinlearn.pipelines import text_columns

        notes |= {
            "header": table.header,
            "columns": list(table.X.columns),
            "target_place": table.target_place,
            "text": text_columns(table.X),
            "impute": impute,
        }
    return notes


def _findings(table: "Table", model: Any, out: str, seconds: float) -> dict[str, Any]:
    """Return what the model is, as plain data."""
    from pathlib import Path

    import numpy as np

    y = np.asarray(table.y)
    classes, counts = np.unique(y, return_counts=True)
    searched = hasattr(model, "estimators_")
    models = model.estimators_ if searched else [model]
    worst = [each.status_ for each in models if each.status_ != "converged"]
    found: dict[str, Any] = {
        "train": table.path,
        "target": table.target,
        "samples": len(y),
        "features": None if table.X is None else table.X.shape[1],
        "classes": classes.tolist(),
        "counts": counts.tolist(),
        "kernel": model.kernel_ if searched else model.kernel,
        "kernel_params": (model.kernel_params_ if searched else model.kernel_params)
        or {},
        "norm": model.norm_ if searched else model.norm,
        "lam": float(model.lam_ if searched else model.lam),
        "models": len(models),
        "status": worst[0] if worst else "converged",
        "residual": max(float(each.residual_) for each in models),
        "regime": "unique"
        if all(each.regime_ == "unique" for each in models)
        else "nonconvex",
    }
    if searched:
        held = model.held_out_proba_
        true = held[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        true = np.maximum(true, np.finfo(float).tiny)  # which exp may have rounded to 0
        guessed = model.classes_[held.argmax(axis=1)]
        found |= {
            "folds": model.cv,
            "held_out_accuracy": float((guessed == y).mean()),
            "held_out_log_loss": float(-np.log(true).mean()),
        }
    return found | {
        "seconds": seconds,
        "model": str(out),
        "bytes": Path(out).stat().st_size,
    }


def _summary(found: dict[str, Any]) -> str:
    """Return the findings for people."""
    many = zip(found["classes"], found["counts"], strict=True)
    listed = ", ".join(f"{label} {count}" for label, count in many)
    if len(found["classes"]) > 10:
        listed = f"{min(found['counts'])} to {max(found['counts'])} samples each"
    features = "a Gram matrix"
    if found["features"] is not None:
        features = f"{found['features']} features"
    averaged = ""
    if found["models"] > 1:
        averaged = f"; averaged with {found['models'] - 1} more"
    chosen = (
        f"{_setting(found['kernel'], found['kernel_params'])}, norm {found['norm']}, "
        f"lam {found['lam']:.3g}{averaged}"
    )
    held = "no cross-validation, since lam was given"
    if "folds" in found:
        held = (
            f"accuracy {found['held_out_accuracy']:.3f}, log-loss "
            f"{found['held_out_log_loss']:.3f} in {found['folds']}-fold "
            "cross-validation on this file\n"
            "           (the settings were chosen on the same folds: on new samples "
            "expect a little less)"
        )
    point = "the only stationary point"
    if found["regime"] != "unique":
        point = "a stationary point, perhaps one of several"
    return "\n".join(
        [
            f"Data       {found['samples']} samples, {features}, "
            f"{len(found['classes'])} classes in {found['target']!r}: {listed}",
            f"Chosen     {chosen}",
            f"Held out   {held}",
            f"Solved     {found['status']}, residual {found['residual']:.1e}: {point}",
            f"Saved      {found['model']}, {found['bytes']:,} bytes, after "
            f"{found['seconds']:.1f} s",
        ]
    )


def _setting(kernel: str, params: dict[str, Any]) -> str:
    return " ".join(
        [kernel, *(f"{name}={value:.4g}" for name, value in params.items())]
    )
