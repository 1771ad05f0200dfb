"""krein fit."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kreinlearn.cli import options, samples
from kreinlearn.cli.options import KernelParams, Notes
from kreinlearn.cli.output import Facts, setting_text

if TYPE_CHECKING:
    from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
    from kreinlearn.files import PairOptions, Table
    from kreinlearn.files.scores import Holds

    Model = KreinLogisticRegression | KreinLogisticRegressionCV

CV_FOLDS = 5
"""Folds of the cross-validation by default."""
ANNOUNCED = 120.0
"""Seconds from which a search is announced."""
KREIN_NORM, BOTH_NORMS = (0.45, 1.9), (0.55, 2.3)
"""Seconds of one setting with 1,000 samples on two cores, and the power of n by which
they grow: the mean of all settings on EEG, which is among the harder data."""


WORST_FIRST = ("nonconvex", "unknown", "unique")
"""Values of ``regime_``."""


@click.command("fit", epilog="Example:  krein fit train.csv -o model.krein")
@click.argument("train", metavar="TRAIN")
@click.option("-o", "--out", required=True, metavar="MODEL", help="File to write.")
@options.table_options
@options.matrix_options
@options.pair_options
@options.KERNEL_OPTION
@options.PARAM
@click.option(
    "--cv",
    type=click.IntRange(2),
    help=f"Folds that choose kernel parameters, lam and norm; {CV_FOLDS} by default.",
)
@click.option("--lam", type=float, help="Fix the regularization: no cross-validation.")
@click.option(
    "--norm",
    type=click.Choice(["krein", "hilbert", "euclidean"]),
    help="Try only this norm; by default hilbert and euclidean are averaged.",
)
@options.FORCE
@options.AS_JSON
def fit_command(
    train: str,
    out: str,
    target: str | None,
    header: bool | None,
    distance: bool,
    form: str | None,
    similarity: bool,
    symmetrize: str | None,
    kernel: str | None,
    params: KernelParams,
    cv: int | None,
    lam: float | None,
    norm: str | None,
    force: bool,
    as_json: bool,
    pairs: "PairOptions",
    **steps: bool,
) -> None:
    """Train on the samples in TRAIN, and save the model.

    TRAIN is a table (csv, tsv, parquet), LIBSVM text (libsvm, svm, svmlight) or a
    matrix of similarities or, with --distance, of distances (npz, npy, csv with names,
    phylip), or a list of pairs (m8, --format pairs), with the labels in the file that
    --labels names; or sequences (fasta), time series (ts, --format ucr) or a folder of
    graphs (TU), of which a measure is computed; text may be compressed (.gz). By
    default three kernels, or eight forms and widths of distances, are tried, and
    averaged by how well they predict held-out samples.
    """
    import numpy as np
    from sklearn.pipeline import make_pipeline

    from kreinlearn import files, persistence
    from kreinlearn._files import check_free
    from kreinlearn.pipelines import prepare

    check_free(out, force)
    if lam is not None and cv is not None:
        raise ValueError("--lam is tried alone, without folds: leave out --cv.")
    click.get_current_context().with_resource(options.measuring())
    holds = options.held(distance, similarity)
    pairs = samples.with_format(train, kernel, pairs)
    table = files.read(
        train,
        target=target,
        header=header,
        holds=holds,
        symmetrize=symmetrize,
        pairs=pairs,
    )
    kernel, params = _kernel_of(table, kernel, params, holds, form)
    model = _model(kernel, params, lam, norm, cv or CV_FOLDS)
    if lam is None:
        _check_folds(table, cv or CV_FOLDS)
    options.remark(table)
    whole = model
    if table.X is not None:
        whole = make_pipeline(prepare(table.X, **steps), model)
    start = time.perf_counter()
    y = np.asarray(table.y)
    with _search_progress(model, len(y)), samples.named(table):
        whole.fit(table.named_samples, y)
    seconds = time.perf_counter() - start
    notes = _notes(table, steps["impute"], pairs, symmetrize)
    if table.kind is not None:
        notes["samples"] = samples.notes_of(table, pairs, target)
    persistence.save(whole, out, overwrite=force, notes=notes)
    found = _findings(table, model) | {"seconds": seconds, "model": str(out)}
    found["bytes"] = Path(out).stat().st_size
    click.echo(json.dumps(found) if as_json else _summary(found))


def _kernel_of(
    table: "Table",
    kernel: str | None,
    params: KernelParams,
    holds: "Holds | None",
    form: str | None,
) -> tuple[str | None, KernelParams]:
    """Return the kernel of what was read, None for the default ones of a table."""
    if table.kind is not None:
        return samples.kernel_for(table, kernel, params, form)
    options.check_form(form, holds == "distances")
    if params and not kernel:
        raise ValueError("--param needs --kernel, whose parameter it is.")
    if table.K is not None:
        options.check_gram_options(table.path)
        return options.matrix_kernel(holds, form)
    samples.check_rows(table, kernel)
    return kernel, params


def _model(
    kernel: str | None,
    params: KernelParams,
    lam: float | None,
    norm: str | None,
    cv: int,
) -> "Model":
    """Return the estimator that the options ask for."""
    from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
    from kreinlearn._validation import check_positive

    if lam is not None:
        check_positive("lam", lam)
        return KreinLogisticRegression(
            kernel or "tl1", params or None, lam=lam, norm=norm or "krein"
        )
    model = KreinLogisticRegressionCV(cv=cv, kernel_params=params or None)
    if kernel:
        model.set_params(kernel=kernel)
    if norm:
        model.set_params(norms=(norm,))
    return model


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
def _search_progress(model: "Model", n_samples: int) -> Iterator[None]:
    """Announce a search, and show how many settings of the kernel have been tried."""
    if not hasattr(model, "norms"):  # one setting, no search
        yield
        return
    from kreinlearn.runs.progress import counter

    if announcement := search_announcement(n_samples, model):
        click.echo(f"krein: {announcement}", err=True)
    seen: set[str] = set()
    with counter(sys.stderr, "fit") as show:

        def tell(row: Facts) -> bool:
            params = {k: v for k, v in row.items() if k not in ("norm", "lam", "score")}
            name = setting_text(params.pop("kernel"), params)
            if name not in seen:
                seen.add(name)
                text = f"{name} log-loss {-row['score']:.3f}"
                show(len(seen), len(model.kernel_settings_), text)
            return False

        model.verbose = tell
        try:
            yield
        except MemoryError as error:
            raise MemoryError(
                f"{error} Or take --norm euclidean, which needs no eigenvectors, or "
                "--lam, which fits once."
            ) from None
    model.verbose = 0


def search_announcement(n: int, model: "KreinLogisticRegressionCV") -> str | None:
    """Return what a long search will take and what would be shorter, or None."""
    from kreinlearn.estimators.logistic_cv import kernel_settings, kernels_of
    from kreinlearn.kernels import KERNELS, Similarities

    kernels = kernels_of(model.kernel)
    rows = Similarities([[0.0], [1.0]])
    count = len(kernel_settings(kernels, rows, model.kernel_params))
    first, power = BOTH_NORMS if "hilbert" in model.norms else KREIN_NORM
    seconds = count * first * (n / 1000) ** power
    if seconds < ANNOUNCED:
        return None
    # Words that promise no more than is known.
    minutes = seconds / 60
    time_taken = (
        f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.0f} hours"
    )
    shorter = ["--kernel tl1 tries one kernel"] if len(kernels) > 1 else []
    has_form = kernels == ["distance"] or (
        kernels[0] in KERNELS and KERNELS[str(kernels[0])].learns_form
    )
    if has_form and "form" not in (model.kernel_params or {}):
        shorter.append("--form exponential tries one form")
    if "hilbert" in model.norms:
        shorter.append("--norm euclidean needs no eigenvectors")
    return (
        f"cross-validation of {n:,} samples takes {8 * n * n / 2**30:.2g} GiB for a "
        f"matrix and roughly {time_taken}; shorter: "
        f"{', '.join([*shorter, '--lam fits once'])}."
    )


def _notes(
    table: "Table", impute: bool, pairs: "PairOptions", symmetrize: str | None
) -> Notes:
    """Return what predict has to know of the training file."""
    notes: Notes = {"source": table.path, "target": table.target}
    if table.names is not None and table.K is not None:
        from kreinlearn.files.kinds import kind_of

        notes["pairs"] = {
            "format": kind_of(table.path, pairs.format)[1],
            "missing": pairs.missing,
            "missing_self": pairs.missing_self,
            "repeated": pairs.repeated,
            "symmetrize": symmetrize,
        }
    if table.X is not None:
        from kreinlearn.pipelines import text_columns

        notes["header"] = table.header
        notes["columns"] = list(table.X.columns)
        notes["target_place"] = table.target_place
        notes["text"] = text_columns(table.X)
        notes["impute"] = impute
    return notes


def _findings(table: "Table", model: "Model") -> Facts:
    """Return what the model is, as plain data."""
    import numpy as np

    from kreinlearn.files.samples import described
    from kreinlearn.kernels.distances import form_settings

    y = np.asarray(table.y)
    classes, counts = np.unique(y, return_counts=True)
    found: Facts = {
        "train": table.path,
        "target": table.target,
        "samples": len(y),
        "features": None if table.X is None else table.X.shape[1],
        "classes": classes.tolist(),
        "counts": counts.tolist(),
    }
    if table.kind is not None:
        found["kind"], found["described"] = table.kind, described(table)
    fitted = "_" if hasattr(model, "estimators_") else ""  # chosen, or given
    for name in ("kernel", "kernel_params", "norm", "lam"):
        found[name] = getattr(model, name + fitted)
    if found["kernel"] == "distance":
        found["kernel_params"] = form_settings(found["kernel_params"] or {}, [{}])[0]
    given = found["kernel_params"] or {}
    found["kernel_params"] = {k: v for k, v in given.items() if k != "check"}
    found["lam"] = float(found["lam"])
    models = getattr(model, "estimators_", [model])
    unsolved = [each.status_ for each in models if each.status_ != "converged"]
    regimes = {each.regime_ for each in models}
    found |= {
        "models": len(models),
        "status": unsolved[0] if unsolved else "converged",
        "residual": max(float(each.residual_) for each in models),
        "regime": next(r for r in WORST_FIRST if r in regimes),
    }
    if fitted:
        held = model.held_out_proba_
        true = held[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        true = np.maximum(true, np.finfo(float).tiny)  # which exp may have rounded to 0
        guessed = model.classes_[held.argmax(axis=1)]
        found["folds"] = model.cv
        found["held_out_accuracy"] = float((guessed == y).mean())
        found["held_out_log_loss"] = float(-np.log(true).mean())
    return found


def _summary(found: Facts) -> str:
    """Return the findings for people."""
    many = zip(found["classes"], found["counts"], strict=True)
    listed = ", ".join(f"{label} {count}" for label, count in many)
    if len(found["classes"]) > 10:
        listed = f"{min(found['counts'])} to {max(found['counts'])} samples each"
    n_features = found["features"]
    features = f"{n_features} features"
    if n_features is None:
        is_distance = found["kernel"] == "distance"
        features = "distances" if is_distance else "a Gram matrix"
        features = found.get("described", features)
    more = found["models"] - 1
    held = "no cross-validation, since lam was given"
    if "folds" in found:
        held = (
            f"accuracy {found['held_out_accuracy']:.3f}, log-loss "
            f"{found['held_out_log_loss']:.3f} in {found['folds']}-fold "
            "cross-validation on this file\n"
            "           (the settings were chosen on the same folds: expect a little "
            "less on new samples)"
        )
    point = "the only stationary point"
    if found["regime"] != "unique":
        point = "a stationary point, perhaps one of several"
    return "\n".join(
        [
            f"Data       {found['samples']} samples, {features}, "
            f"{len(found['classes'])} classes in {found['target']!r}: {listed}",
            f"Chosen     {setting_text(found['kernel'], found['kernel_params'])}, norm "
            f"{found['norm']}, lam {found['lam']:.3g}"
            f"{f'; averaged with {more} more' * (more > 0)}",
            f"Held out   {held}",
            f"Solved     {found['status']}, residual {found['residual']:.1e}: {point}",
            f"Saved      {found['model']}, {found['bytes']:,} bytes, after "
            f"{found['seconds']:.1f} s",
        ]
    )
