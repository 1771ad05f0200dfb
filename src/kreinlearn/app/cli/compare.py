"""krein compare."""

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.markup import escape

from kreinlearn._typing import Array, SampleSet
from kreinlearn.app.cli import data as samples
from kreinlearn.app.cli import options
from kreinlearn.app.cli.options import Facts, KernelParams
from kreinlearn.io.dataset import Dataset, ReadOptions

COMPARISON_FOOTNOTE = (
    "Means over held-out folds, the same for all methods; ± is the standard deviation\n"
    "over folds, not a standard error. Methods with equal predictions share a row.\n"
    "s: seconds per fit with its tuning."
)

RARE_CLASS = re.compile(
    r"has (?P<count>\d+) rows(?P<need>, but .* of each class); use fewer folds.*"
)
"""Message about a class with too few rows for the folds."""
MIN_ANY_FOLDS = 3
"""Rows of each class that any comparison needs."""


@options.command(
    "krein compare train.csv",
    'krein compare train.csv --kernels tl1 --methods "KreinCV,SVC clip,k-NN"',
    "krein compare visits.csv --group patient --folds 3 --out visits",
    data="Training samples: a file or folder, see above.",
)
@click.argument("data", type=click.Path())
@options.read_options(*options.DATA_OPTIONS, options.GROUP_OPTION)
@click.option(
    "--kernels",
    default="tl1,rbf",
    show_default=True,
    help="Kernels of a table, separated by commas; KreinCV chooses its own. Of series, "
    "sequences or graphs one, as in krein fit.",
)
@options.PARAM_OPTION
@click.option(
    "--methods",
    help="Names, separated by commas, or 'all'; by default all but the published "
    "procedures CCCP-GD, CCICP-GD and CCICP-SGD, which take longest, and SVMs with "
    "probabilities, SVC clip + Platt and SVC flip + Platt.",
)
@click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True, help="Outer folds."
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
@options.FORCE_OPTION
@options.JSON_OPTION
def compare_command(
    data: str,
    reading: ReadOptions,
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

    names = _split_names(kernels)
    chosen = None if methods is None else _split_names(methods)
    table = samples.open_samples(data, reading, names[0] if names else None)
    options.print_note(table.remark)
    n = len(table.y) if table.y is not None else 0
    request: Facts = {"methods": chosen, "folds": folds, "repeats": repeats}
    measure = transformer = None
    if options.list_given(("kernels",)) and (table.is_table or table.kind):
        _check_kernels(names, table.kind or "rows")
    with _name_options():
        kernel: str | list[str] = names if table.is_table else "precomputed"
        check_request(table.y, n, kernel=kernel, **request)
        samples.make_group_folds(table, folds, "--folds")
        if table.kind is not None:
            given: SampleSet
            given, kernel, measure = _measure_samples(table, names, params, form)
        else:
            for each in names if table.is_table else [None]:
                found_kernel, _ = samples.choose_kernel(table, each, {}, reading, form)
            given = np.asarray(table.K) if table.X is None else table.X
            kernel = names if table.is_table else str(found_kernel)
            if params:
                raise ValueError(
                    "--param goes with kernels of series, sequences and graphs; krein "
                    "compare sets the parameters of other kernels: leave it out."
                )
        if table.X is not None:
            transformer = prepare(table.X, **steps)
        with progress_bar(sys.stderr, "compare") as progress:
            found = compare(
                given,
                table.y,
                kernel=kernel,
                form=form,
                check=reading.holds != "similarities",
                name=Path(data).name,
                transformer=transformer,
                **request,
                seed=seed,
                n_jobs=jobs,
                groups=table.groups,
                out=out,
                overwrite=force,
                progress=progress,
                measure=measure,
            )
    samples.note_leaks(table)
    found.results["command"] = options.repeat_command()
    found.save(Path(out, PAGE_NAME), overwrite=True)
    if as_json:
        click.echo(json.dumps(found.results))
        return
    _print_comparison(found.results)
    click.echo(f"{COMPARISON_FOOTNOTE}\n\n{textwrap.fill(found.verdict, 80)}")
    click.echo(f"Page: {Path(out, PAGE_NAME)}")


@contextmanager
def _name_options() -> Iterator[None]:
    """Replace the names of Python arguments in messages by those of options."""
    try:
        yield
    except ValueError as error:
        message = re.sub("'(methods|kernels|folds|repeats|form)'", r"--\1", str(error))
        message = RARE_CLASS.sub(_advise_folds, message)
        raise ValueError(message) from error


def _advise_folds(found: re.Match[str]) -> str:
    """Return the message about a rare class, with the folds that it allows."""
    count = int(found["count"])
    rows = f"{count} row{'s' * (count > 1)}"
    remedy = f"use --folds {count}" if count >= MIN_ANY_FOLDS else "add rows"
    return f"has {rows}{found['need']}; {remedy}, or remove the rows of this class."


def _check_kernels(names: list[str], kind: str) -> None:
    """Raise if a name is nearly that of a kernel, with this kernel."""
    known = options.list_kernels(kind)
    for name in names:
        question = options.suggest_kernel(name, known)
        if name not in known and question:
            raise ValueError(
                f"--kernels must be one of {', '.join(known)}, got {name!r}.{question}"
            )


def _measure_samples(
    table: Dataset, kernels: list[str], params: KernelParams, form: str | None
) -> tuple[Array, str, str]:
    """Return distances or similarities of samples, which of both, and their name."""
    if not options.list_given(("kernels",)):
        kernels = []
    if len(kernels) > 1:
        raise ValueError(
            f"{table.path} holds {table.kind}, which are compared by one kernel at a "
            f"time, got {', '.join(kernels)}; name one of them by --kernels."
        )
    given = kernels[0] if kernels else None
    kernel, params = samples.choose_measure(table, given, params, form)
    if "width" in params:
        raise ValueError(
            "krein compare takes the median distance for the width of a form: leave "
            "out --param width."
        )
    own = {k: v for k, v in params.items() if k != "form"}
    matrix, content = samples.compute_matrix(table, kernel, own)
    return matrix, content, options.format_setting(kernel, own)


def _split_names(text: str) -> list[str]:
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
    table = options.make_table(["method"], right, escape(found["title"] + kernel))
    for row in rows:
        scores = []
        for name in best:
            text = "-" if row[name] is None else f"{row[name]:.3f}"
            scores.append(options.format_best(text == best[name], text))
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
