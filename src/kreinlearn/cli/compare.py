"""krein compare."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kreinlearn.cli.options import (
    AS_JSON,
    FORCE,
    HEADER,
    IMPUTE,
    NO_SCALE,
    ONE_HOT,
    TARGET,
)

if TYPE_CHECKING:
    from kreinlearn.comparison.plan import Plan

FOOTNOTE = (
    "Means over the held-out folds, which are the same for all; ± is the standard\n"
    "deviation over folds, no standard error, for folds share training rows. Each\n"
    "method is tuned on the training rows of a fold alone: by log-loss, or by\n"
    "accuracy if it has no probabilities. s: seconds of a fit with its tuning;\n"
    "conv.: fits that converged."
)


@click.command(epilog="Example:  krein compare sonar.csv --kernels tl1,rbf")
@click.argument("data", type=click.Path())
@TARGET
@HEADER
@click.option(
    "--kernels",
    default="tl1,rbf",
    show_default=True,
    help="Names with commas between; a Gram matrix needs none.",
)
@click.option("--methods", help="Names with commas between; all by default.")
@click.option("--folds", type=int, default=5, show_default=True, help="Outer folds.")
@click.option("--repeats", type=int, default=1, show_default=True, help="Of the folds.")
@NO_SCALE
@IMPUTE
@ONE_HOT
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--out", default="comparison", show_default=True, help="Folder to write to."
)
@click.option("--jobs", type=click.IntRange(1), help="Processes; one a processor.")
@FORCE
@AS_JSON
def compare(
    data: str,
    target: str | None,
    header: bool | None,
    kernels: str,
    methods: str | None,
    folds: int,
    repeats: int,
    no_scale: bool,
    impute: bool,
    one_hot: bool,
    seed: int,
    out: str,
    jobs: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compare every method on your data, with the same folds for all.

    DATA is a table or a Gram matrix with labels. Each method is tuned by
    cross-validation on the training rows of a fold and judged on the rows held out.
    Results are added to compare.jsonl in the folder as they are found: the same
    command again continues. The table is in compare.csv, curves and spectra are in
    report.html.

    Methods: KreinCV, IKLR, IKLR krein, IKLR hilbert, clip + KLR, flip + KLR,
    shift + KLR, square + KLR, SVC raw, SVC clip, SVC flip, KSVM, TDCASVM, CCCP-GD,
    CCICP-GD, CCICP-SGD.
    """
    from kreinlearn._files import replace
    from kreinlearn.comparison.page import comparison_page
    from kreinlearn.comparison.plan import plan
    from kreinlearn.comparison.run import PAGE, check_folder, run_comparison
    from kreinlearn.files import read
    from kreinlearn.pipelines import prepare
    from kreinlearn.runs.progress import watcher

    table = read(data, target=target, header=header)
    is_gram = table.K is not None
    planned = plan(
        table.K if is_gram else table.X,
        table.y,
        is_gram=is_gram,
        name=Path(data).name,
        transformer=None
        if is_gram
        else prepare(table.X, scale=not no_scale, impute=impute, one_hot=one_hot),
        kernels=_names(kernels),
        methods=None if methods is None else _names(methods),
        folds=folds,
        repeats=repeats,
        seed=seed,
        jobs=jobs,
    )
    check_folder(planned, Path(out), force)
    _announce(planned)
    with watcher(sys.stderr, "compare") as progress:
        found = run_comparison(
            planned, out=out, jobs=jobs, force=force, progress=progress
        )
    found["command"] = _command(click.get_current_context())
    page = Path(out, PAGE)
    replace(page, comparison_page(found).encode())
    if as_json:
        click.echo(json.dumps(found))
        return
    _print_table(found)
    click.echo(f"{FOOTNOTE}\n{page}")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _command(context: click.Context) -> str:
    """Return the call, for the page, with what decides its numbers."""
    words = ["krein", "compare", str(context.params["data"])]
    for option in context.command.params:
        name = str(option.name)
        if (
            name in ("data", "out", "jobs", "force", "as_json")
            or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE
        ):
            continue
        value = context.params[name]
        if value is False and option.secondary_opts:
            words.append(option.secondary_opts[0])
        else:
            words += [option.opts[0]] if value is True else [option.opts[0], str(value)]
    return shlex.join(words)


def _announce(planned: "Plan") -> None:
    """Say what a large comparison will cost, before it begins."""
    from kreinlearn.comparison.plan import ANNOUNCED
    from kreinlearn.runs.progress import duration

    n = len(planned.job.y)
    if n > ANNOUNCED:
        click.echo(
            f"{n} rows: {len(planned.cells)} fits with their tuning take up to "
            f"{planned.bytes_needed:,} bytes and, roughly, "
            f"{duration(planned.seconds)}; the time grows with the cube of the rows.",
            err=True,
        )


def _print_table(found: dict[str, Any]) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    rows = sorted(found["rows"], key=_place)
    best = {
        "accuracy": _extreme(max, rows, "accuracy"),
        "log_loss": _extreme(min, rows, "log_loss"),
        "auc": _extreme(max, rows, "auc"),
    }
    table = Table(
        title=found["title"], box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for name in ("method", "kernel"):
        table.add_column(name, no_wrap=True)
    for name in ("accuracy", "log-loss", "AUC", "s", "conv."):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        accuracy = _number(row, "accuracy", best)
        if row["accuracy_std"] is not None:
            accuracy += f" ± {row['accuracy_std']:.3f}"
        table.add_row(
            row["method"],
            (row["kernel"] or "its own").split(" (")[0],
            accuracy,
            *(_number(row, each, best) for each in list(best)[1:]),
            "" if row["fit_seconds"] is None else f"{row['fit_seconds']:.2f}",
            f"{row['statuses'].get('converged', 0)}/{sum(row['statuses'].values())}",
        )
    Console().print(table)
    for row in rows:
        if row["error"]:
            click.echo(f"{row['method']}, {row['kernel']}: {row['error']}", err=True)


def _place(row: dict[str, Any]) -> tuple[float, float]:
    """Return what rows are sorted by: high accuracy, then low log-loss."""
    accuracy, loss = row["accuracy"], row["log_loss"]
    last = float("inf")
    return last if accuracy is None else -accuracy, last if loss is None else loss


def _extreme(choose: Any, rows: list[dict[str, Any]], name: str) -> str | None:
    values = [row[name] for row in rows if row[name] is not None]
    return f"{choose(values):.3f}" if values else None


def _number(row: dict[str, Any], name: str, best: dict[str, str | None]) -> str:
    if row[name] is None:
        return "-"
    text = f"{row[name]:.3f}"
    return f"[bold]{text}[/bold]" if text == best[name] else text
