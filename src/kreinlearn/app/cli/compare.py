"""krein compare."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kreinlearn.app.cli import options, samples, tables
from kreinlearn.app.cli.helping import GroupedHelpCommand, examples
from kreinlearn.app.cli.options import KernelParams
from kreinlearn.app.cli.output import Facts, bold_if, setting_text, text_table
from kreinlearn.app.cli.tables import table_options

if TYPE_CHECKING:
    from kreinlearn._typing import Array
    from kreinlearn.app.comparison.plan import Plan
    from kreinlearn.io import PairOptions, Table
    from kreinlearn.io.columns import ColumnRoles as Roles

FOOTNOTE = (
    "Means over the held-out folds, which are the same for all methods; ± is the\n"
    "standard deviation over folds, not a standard error, since folds share training\n"
    "rows. Each method is tuned on the training rows of a fold alone: by log-loss, or\n"
    "by accuracy if it has no probabilities. s: seconds per fit with its tuning;\n"
    "conv.: fits that converged."
)


EXAMPLES = examples(
    "krein compare train.csv",
    'krein compare train.csv --kernels tl1 --methods "IKLR,SVC clip,k-NN"',
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
@table_options()
@options.matrix_options
@options.pair_options
@click.option(
    "--kernels",
    default="tl1,rbf",
    show_default=True,
    help="Names, separated by commas; not used for a Gram matrix. Of series, sequences "
    "or graphs one, as in krein fit.",
)
@options.PARAM
@click.option(
    "--methods",
    help="Names, separated by commas, or 'all'; by default all but the published "
    "procedures CCCP-GD, CCICP-GD and CCICP-SGD, which take longest.",
)
@click.option("--folds", default=5, show_default=True, help="Outer folds.")
@click.option("--repeats", default=1, show_default=True, help="Draws of the folds.")
@click.option("--seed", default=0, show_default=True, help="Seed of all randomness.")
@click.option(
    "--out", default="comparison", show_default=True, help="Folder to write to."
)
@click.option("--jobs", type=click.IntRange(1), help="Processes; one per processor.")
@options.FORCE
@options.AS_JSON
def compare_command(
    data: str,
    target: str | None,
    header: bool | None,
    distance: bool,
    form: str | None,
    similarity: bool,
    symmetrize: str | None,
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
    pairs: "PairOptions",
    roles: "Roles",
    **steps: Any,
) -> None:
    """Find out which method is best on your data, with the same folds for all.

    DATA is whatever `krein fit` takes, with labels: a table, a matrix, pairs, sequences
    (fasta), time series (ts, --format ucr) or a folder of graphs (TU). Each
    method is tuned by cross-validation on the training rows of a fold, and judged on
    the rows held out. How long that takes is said before it begins; a hundred rows
    take about a minute.

    Results are added to compare.jsonl in the folder as they are found: the same command
    goes on where it was interrupted. The table is in compare.csv, curves and spectra
    are in report.html.

    Methods: KreinCV, IKLR, IKLR krein, IKLR hilbert, IKLR euclidean, clip + KLR,
    flip + KLR, shift + KLR, square + KLR, SVC raw, SVC clip, SVC flip, KSVM, TDCASVM;
    as controls k-NN, logistic regression and SVC RBF; if they are named, or with
    --methods all, the published procedures CCCP-GD, CCICP-GD and CCICP-SGD. KreinCV,
    logistic regression and SVC RBF need a table.
    """
    from kreinlearn.app.comparison.plan import check_request, plan_comparison
    from kreinlearn.app.comparison.run import PAGE
    from kreinlearn.io import read
    from kreinlearn.pipelines import prepare

    click.get_current_context().with_resource(options.measuring())
    holds = options.held(distance, similarity)
    names = _split(kernels)
    pairs = samples.with_format(data, names[0] if names else None, pairs)
    table = read(
        data,
        target=target,
        header=header,
        holds=holds,
        symmetrize=symmetrize,
        pairs=pairs,
        roles=roles,
    )
    chosen = None if methods is None else _split(methods)
    n = len(table.y) if table.y is not None else 0
    request: Facts = {"methods": chosen, "folds": folds, "repeats": repeats}
    check_request(table.y, n, is_gram=table.X is None, **request)
    tables.group_folds(table, folds, "--folds")
    measure = None
    if table.kind is not None:
        given, form, measure = _measured(table, names, params, form)
    else:
        given = table.samples
        options.check_form(form, distance)
        _check_table_options(table, names, params)
        form = (form or "exponential") if distance else None
    planned = plan_comparison(
        given,
        table.y,
        is_gram=table.X is None,
        form=form,
        measure=measure,
        check=not similarity,
        name=Path(data).name,
        transformer=None if table.X is None else prepare(table.X, **steps),
        kernels=names,
        **request,
        seed=seed,
        jobs=jobs,
        groups=table.groups,
    )
    options.remark(table)
    found = _results(planned, out, jobs, force)
    if as_json:
        click.echo(json.dumps(found))
        return
    _print_comparison(found)
    click.echo(f"{FOOTNOTE}\n{Path(out, PAGE)}")


def _results(planned: "Plan", out: str, jobs: int | None, force: bool) -> Facts:
    """Run the comparison, write its page, and return what was found."""
    from kreinlearn._files import replace
    from kreinlearn.app.comparison import run
    from kreinlearn.app.comparison.page import comparison_page
    from kreinlearn.app.runs.progress import progress_bar

    run.check_folder(planned, Path(out), force)
    _announce_cost(planned)
    with progress_bar(sys.stderr, "compare") as progress:
        found = run.run_comparison(
            planned, out=out, jobs=jobs, force=force, progress=progress
        )
    found["command"] = options.whole_command()
    replace(Path(out, run.PAGE), comparison_page(found).encode())
    return found


def _check_table_options(
    table: "Table", kernels: list[str], params: KernelParams
) -> None:
    """Raise if something was said that goes with series, sequences and graphs."""
    if table.X is None:
        tables.check_no_features(table.path, "a matrix")
    else:
        for kernel in kernels:
            samples.check_rows(table, kernel)
    if params:
        raise ValueError(
            "--param goes with kernels of series, sequences and graphs; those of a "
            "table have the parameters that krein compare gives them: leave it out."
        )


def _measured(
    table: "Table", kernels: list[str], params: KernelParams, form: str | None
) -> tuple["Array", str | None, str]:
    """Return scores or distances of samples, the form of these, and what they are."""
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
        return samples.distances(table, kernel, own), form or "exponential", measure
    return samples.similarities(table, kernel, own), None, measure


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _announce_cost(planned: "Plan") -> None:
    """Say what a comparison will cost, before it begins."""
    from kreinlearn.app.comparison.plan import LARGE_DATA
    from kreinlearn.app.runs.progress import duration

    n, time = len(planned.job.y), duration(planned.seconds)
    cost = f"roughly {time}"
    if n > LARGE_DATA:
        cost = (
            f"up to {planned.bytes_needed:,} bytes and, roughly, {time}; the time "
            "grows with the cube of the rows"
        )
    click.echo(
        f"{n} rows: {len(planned.cells)} fits with their tuning take {cost}.", err=True
    )


def _print_comparison(found: Facts) -> None:
    from rich.console import Console

    rows = sorted(found["rows"], key=_rank)
    best = {}
    for name, choose in (("accuracy", max), ("log_loss", min), ("auc", max)):
        known = [row[name] for row in rows if row[name] is not None]
        best[name] = f"{choose(known):.3f}" if known else None
    right = ["accuracy", "log-loss", "AUC", "s", "conv."]
    table = text_table(["method", "kernel"], right, found["title"])
    for row in rows:
        scores = []
        for name in best:
            text = "-" if row[name] is None else f"{row[name]:.3f}"
            scores.append(bold_if(text == best[name], text))
        if row["accuracy_std"] is not None:
            scores[0] += f" ± {row['accuracy_std']:.3f}"
        table.add_row(
            row["method"],
            (row["kernel"] or "features").split(" (")[0],
            *scores,
            "" if row["fit_seconds"] is None else f"{row['fit_seconds']:.2f}",
            f"{row['statuses'].get('converged', 0)}/{sum(row['statuses'].values())}",
        )
    Console().print(table)
    for row in rows:
        if row["error"]:
            click.echo(f"{row['method']}, {row['kernel']}: {row['error']}", err=True)


def _rank(row: Facts) -> tuple[float, float]:
    """Return what rows are sorted by: high accuracy, then low log-loss."""
    accuracy, loss = row["accuracy"], row["log_loss"]
    last = float("inf")
    return last if accuracy is None else -accuracy, last if loss is None else loss
