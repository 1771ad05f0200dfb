"""krein compare."""

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.markup import escape

from kreinlearn.app.cli import options, samples
from kreinlearn.app.cli.helping import GroupedHelpCommand, examples
from kreinlearn.app.cli.options import KernelParams
from kreinlearn.app.cli.output import Facts, bold_if, setting_text, text_table

if TYPE_CHECKING:
    from kreinlearn._typing import Array
    from kreinlearn.io import Table
    from kreinlearn.io.options import ReadOptions

FOOTNOTE = (
    "Means over held-out folds, the same for all methods; ± is the standard deviation\n"
    "over folds, not a standard error. Methods with equal predictions share a row.\n"
    "s: seconds per fit with its tuning."
)


EXAMPLES = examples(
    "krein compare train.csv",
    'krein compare train.csv --kernels tl1 --methods "KreinCV,SVC clip,k-NN"',
    "krein compare visits.csv --group patient --folds 3 --out visits",
)


@click.command(
    "compare",
    cls=GroupedHelpCommand,
    arguments={
        "data": "Training samples: a file or folder, see above.",
    },
    epilog=EXAMPLES,
)
@click.argument("data", type=click.Path())
@options.data_options()
@click.option(
    "--kernels",
    default="tl1,rbf",
    show_default=True,
    help="Kernels of a table, separated by commas; KreinCV chooses its own. Of series, "
    "sequences or graphs one, as in krein fit.",
)
@options.PARAM
@click.option(
    "--methods",
    help="Names, separated by commas, or 'all'; by default all but the published "
    "procedures CCCP-GD, CCICP-GD and CCICP-SGD, which take longest, and SVMs with "
    "probabilities, SVC clip + Platt and SVC flip + Platt.",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="Outer folds.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Repetitions of the folds.",
)
@click.option("--seed", default=0, show_default=True, help="Random seed.")
@click.option(
    "--out", default="comparison", show_default=True, help="Folder to write to."
)
@click.option("--jobs", type=click.IntRange(1), help="Processes; one per processor.")
@options.FORCE
@options.AS_JSON
def compare_command(
    data: str,
    reading: "ReadOptions",
    form: str | None,
    kernels: str,
    params: KernelParams,
    methods: str | None,
    folds: int,
    repeats: int,
    seed: int,
    out: str,
    jobs: int | None,
    force: bool,
    as_json: bool,
    **steps: Any,
) -> None:
    """Compare all methods on your data, with the same folds for all.

    DATA is the input of `krein fit`, with labels: a table, a matrix, pairs, sequences
    (fasta), time series (ts, --format ucr) or a folder of graphs (TU). Each method is
    tuned by cross-validation on the training rows of a fold, and scored on the
    held-out rows. A hundred rows take about a minute.

    Results are appended to compare.jsonl in the folder: run the same command again to
    resume. The table is in compare.csv, figures are in report.html.

    Methods: KreinCV, the model that `krein fit` builds; its components Krein norm,
    Hilbert norm and Euclidean norm; clip + KLR, flip + KLR, shift + KLR,
    square + KLR, SVC raw, SVC clip, SVC flip, KSVM, TDCASVM; as baselines k-NN,
    logistic regression and SVC RBF; if they are named, or with --methods all, the
    published procedures CCCP-GD, CCICP-GD and CCICP-SGD. Logistic regression and SVC
    RBF need a table.
    """
    from kreinlearn import compare
    from kreinlearn.app.comparison.plan import check_request
    from kreinlearn.app.comparison.run import PAGE_NAME
    from kreinlearn.app.runs import progress_bar
    from kreinlearn.pipelines import prepare

    names = _split(kernels)
    table = samples.open_samples(data, reading, names[0] if names else None)
    is_distance = reading.holds == "distances"
    chosen = None if methods is None else _split(methods)
    n = len(table.y) if table.y is not None else 0
    request: Facts = {"methods": chosen, "folds": folds, "repeats": repeats}
    with _option_names():
        is_matrix = table.X is None
        kernel = "precomputed" if is_matrix else names
        check_request(table.y, n, kernel=kernel, **request)
        options.group_folds(table, folds, "--folds")
        measure = None
        if table.kind is not None:
            given, kernel, measure = _compute_matrix(table, names, params, form)
        else:
            options.check_form(form, is_distance)
            _check_table_options(table, names, params)
            given, kernel = table.samples, "distance" if is_distance else kernel
        options.print_remark(table)
        with progress_bar(sys.stderr, "compare") as progress:
            found = compare(
                given,
                table.y,
                kernel=kernel,
                form=form,
                check=reading.holds != "similarities",
                name=Path(data).name,
                transformer=None if is_matrix else prepare(table.X, **steps),
                **request,
                seed=seed,
                n_jobs=jobs,
                groups=table.groups,
                out=out,
                overwrite=force,
                progress=progress,
                measure=measure,
            )
    found.results["command"] = options.whole_command()
    found.save(Path(out, PAGE_NAME), overwrite=True)
    if as_json:
        click.echo(json.dumps(found.results))
        return
    _print_comparison(found.results)
    click.echo(f"{FOOTNOTE}\n\n{textwrap.fill(found.verdict, 80)}")
    click.echo(f"Page: {Path(out, PAGE_NAME)}")


@contextmanager
def _option_names() -> Iterator[None]:
    """Replace the names of Python arguments in messages by those of options."""
    try:
        yield
    except ValueError as error:
        message = re.sub("'(methods|kernels|folds|repeats|form)'", r"--\1", str(error))
        raise ValueError(message) from error


def _check_table_options(
    table: "Table", kernels: list[str], params: KernelParams
) -> None:
    """Raise if an option was given that goes with series, sequences and graphs."""
    if table.X is None:
        options.check_no_features(table.path, "a matrix")
    else:
        for kernel in kernels:
            samples.check_rows(table, kernel)
    if params:
        raise ValueError(
            "--param goes with kernels of series, sequences and graphs; krein compare "
            "sets the parameters of other kernels: leave it out."
        )


def _compute_matrix(
    table: "Table", kernels: list[str], params: KernelParams, form: str | None
) -> tuple["Array", str, str]:
    """Return distances or similarities of samples, which of both, and their name."""
    from kreinlearn.kernels import KERNELS

    source = click.get_current_context().get_parameter_source("kernels")
    if source is not ParameterSource.COMMANDLINE:
        kernels = []
    if len(kernels) > 1:
        raise ValueError(
            f"{table.path} holds {table.kind}, which are compared by one kernel at a "
            f"time, got {', '.join(kernels)}; name one of them by --kernels."
        )
    named = kernels[0] if kernels else None
    kernel, params = samples.kernel_for(table, named, params, form)
    own = {k: v for k, v in params.items() if k != "form"}
    if "width" in own:
        raise ValueError(
            "krein compare takes the median distance for the width of a form: leave "
            "out --param width."
        )
    measure = setting_text(kernel, own)
    if KERNELS[kernel].is_distance:
        return samples.distances(table, kernel, own), "distance", measure
    return samples.similarities(table, kernel, own), "precomputed", measure


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _print_comparison(found: Facts) -> None:
    """Print the table within 80 columns: constant columns are left out."""
    from rich.console import Console

    from kreinlearn.app.comparison.summary import rank_rows

    rows = rank_rows(found)
    best = {}
    for name, choose in (("accuracy", max), ("log_loss", min), ("auc", max)):
        known = [row[name] for row in rows if row[name] is not None]
        best[name] = f"{choose(known):.3f}" if known else None
    has_failed = any(set(row["statuses"]) - {"converged"} for row in rows)
    right = ["accuracy", "log-loss", "AUC", "s", *["converged"] * has_failed]
    kernels = {row["kernel"] for row in rows} - {None, "precomputed"}
    kernel = f"\nkernel: {kernels.pop()}" if len(kernels) == 1 else ""
    table = text_table(["method"], right, escape(found["title"] + kernel))
    for row in rows:
        scores = []
        for name in best:
            text = "-" if row[name] is None else f"{row[name]:.3f}"
            scores.append(bold_if(text == best[name], text))
        if row["accuracy_std"] is not None:
            scores[0] += f" ± {row['accuracy_std']:.3f}"
        seconds = "" if row["fit_seconds"] is None else f"{row['fit_seconds']:.2f}"
        counts = row["statuses"].get("converged", 0), sum(row["statuses"].values())
        fits = [f"{counts[0]}/{counts[1]}"] if has_failed else []
        names = "\n  = ".join([row["label"], *row["also"]])
        table.add_row(escape(names), *scores, seconds, *fits)
    Console(width=80).print(table)
    for row in rows:
        if row["error"]:
            click.echo(f"{row['label']}: {row['error']}", err=True)
