"""krein inspect."""

import json
import shlex
import sys
from dataclasses import replace
from typing import Any

import click

from kreinlearn._typing import Array, SampleSet
from kreinlearn.app.cli import data as samples
from kreinlearn.app.cli import options
from kreinlearn.app.cli.options import Facts, KernelParams
from kreinlearn.io.dataset import Dataset, ReadOptions

LABELS_ADVICE = (
    "Labels come from a csv with a name and a label in each line: --labels FILE."
)
NOT_FOR_FIT = {"data", "permutations", "seed", "out", "force", "as_json"}
"""Options that `krein fit` does not take."""


@options.command(
    "krein inspect train.csv -o page.html",
    "krein inspect distances.csv --distance --labels labels.csv",
    "krein inspect gram.npz --json",
    data="Samples or a matrix: a file or folder, see above.",
)
@click.argument("data", metavar="DATA-or-GRAM")
@options.read_options(*options.DATA_OPTIONS)
@options.KERNEL_OPTION
@options.PARAM_OPTION
@click.option(
    "--permutations",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Random permutations in each test.",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed.")
@click.option("-o", "--out", metavar="PAGE", help="Write an HTML page as well.")
@options.FORCE_OPTION
@options.JSON_OPTION
def inspect_command(
    data: str,
    reading: ReadOptions,
    form: str | None,
    kernel: str | None,
    params: KernelParams,
    permutations: int,
    seed: int,
    out: str | None,
    force: bool,
    as_json: bool,
    **steps: Any,
) -> None:
    """Measure how well a similarity predicts labels, and how indefinite it is.

    \b
    DATA or GRAM is one of these, with or without labels:
      a table      csv, tsv, parquet, libsvm; --kernel computes similarities
      a matrix     npz, npy, csv with names, phylip; similarities or --distance
      pairs        m8 or --format pairs; labels in the file that --labels names
      sequences, time series, graphs
                   fasta, ts (or --format ucr), a TU folder

    The model that `krein fit` builds (KreinCV) predicts held-out samples. Then the
    eigenvalues are reported and, if some are negative, predictions with and without
    them. The last sentence is the command to run next. Features are scaled with all
    samples, also with held-out ones: scores on new data may be a little lower.
    """  # noqa: D301 - click reads \b as a mark
    from kreinlearn import inspect_similarity
    from kreinlearn._files import check_free
    from kreinlearn._validation import SYMMETRY_TOL, check_matrix
    from kreinlearn.app.inspection import verdict
    from kreinlearn.app.runs import counter
    from kreinlearn.pipelines import prepare

    if out is not None:
        check_free(out, force)
    table = samples.open_samples(data, replace(reading, labels=None), kernel)
    fit_options = click.get_current_context().params.keys() - NOT_FOR_FIT
    given = [data, *options.repeat_options(fit_options)]
    y: Array | None = table.y
    X: SampleSet = table.K
    name, params = samples.choose_kernel(table, kernel, params, reading, form)
    about: Facts = {"kernel": name, "kernel_params": params}
    if table.kind is not None:
        rows = verdict.sample_rows(y, len(table.items or []), verdict.MAX_SAMPLES, seed)
        X, y, about = _measure_some(table, rows, str(name), params)
    elif table.X is not None:
        X = prepare(table.X, **steps).fit_transform(table.X)
    else:
        if name == "precomputed":
            about = {"kernel": name, "check": params.get("check", True)}
        asymmetry = check_matrix(X, symmetric="average")[1]
        if asymmetry > SYMMETRY_TOL and "--symmetrize" not in given:
            given += ["--symmetrize", "mean"]
    options.print_note(table.remark)
    with counter(sys.stderr, "inspect") as report:
        found = inspect_similarity(
            X,
            y,
            permutations=permutations,
            seed=seed,
            progress=lambda done, total: report(done, total, f"fold {done} done"),
            source=data,
            command=_fit_command(given, y),
            **about,
        )
    samples.note_leaks(table)
    results = found.results
    results["command"] = options.repeat_command()
    if y is None and table.names is not None and table.kind is None:
        results["sentences"].insert(-1, LABELS_ADVICE)
    if out is not None:
        found.save(out, overwrite=force)
    if as_json:
        click.echo(json.dumps(results))
    else:
        _print_inspection(results, out)


def _fit_command(words: list[str], y: Array | None) -> str:
    """Return a command that fits to such labels; empty if there is none."""
    import numpy as np

    from kreinlearn.app.cli.fit import CV_FOLDS

    _, counts = np.unique([] if y is None else y, return_counts=True)
    if len(counts) < 2 or counts.sum() == 2:
        return ""
    least, folds = int(counts.min()), list[str]()
    if least < CV_FOLDS:  # each fold needs a sample of each class
        folds = ["--cv", str(least)] if least > 1 else ["--lam", "0.01"]
    return shlex.join(["krein", "fit", *words, *folds, "-o", "model.krein"])


def _measure_some(
    table: Dataset, rows: Array, kernel: str, params: KernelParams
) -> tuple[Array, Array | None, Facts]:
    """Return the matrix of some samples, their labels, and the kernel."""
    items, names = table.items or [], table.names
    some = replace(
        table,
        items=[items[i] for i in rows],
        names=None if names is None else [names[i] for i in rows],
        y=None if table.y is None else table.y[rows],
    )
    matrix, content = samples.compute_matrix(some, kernel, params)
    fixed = {k: v for k, v in params.items() if k in ("form", "width")}
    own = {k: v for k, v in params.items() if k not in fixed}
    about = Facts(
        measure=(kernel, own), n_given=len(items), check=False, kernel=content
    )
    if content == "distance":
        about["kernel_params"] = fixed
    return matrix, some.y, about


def _print_inspection(found: Facts, page: str | None) -> None:
    """Print the verdict, scores, facts, and further sentences."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from kreinlearn.app.inspection.page import list_scores

    console, n = Console(highlight=False, width=80), found["n_verdict"]
    for sentence in found["sentences"][:n]:
        console.print(Text(sentence, style="bold"))
    if list_scores(found):
        scores = options.make_table(["held out"], ["accuracy", "log-loss"])
        for name, each in list_scores(found).items():
            loss = "-" if each["log_loss"] is None else f"{each['log_loss']:.3f}"
            scores.add_row(name, f"{each['accuracy']:.3f}", loss)
        console.print(scores)
    else:
        console.print()
    positive, negative, zero = found["signature"]
    labels = "none"
    if found["classes"] is not None:
        count, first = len(found["classes"]), map(str, found["classes"][:8])
        labels = f"{count} classes: {', '.join(first)}{', ...' * (count > 8)}"
    facts = {
        "kernel": options.format_setting(found["kernel"], found["params"]),
        "samples": f"{found['n']}",
        "labels": labels,
        "eigenvalues": f"{positive} positive, {negative} negative, {zero} zero",
        "smallest, largest": f"{found['mu_min']:.4g}, {found['mu_max']:.4g}",
        "negative part": f"{100 * found['negative_share']:.3g} %",
        "asymmetry": f"{found['asymmetry']['relative']:.2g} of the largest entry",
    }
    listing = Table.grid(padding=(0, 2))
    for name, fact in facts.items():
        listing.add_row(Text(name), Text(fact))
    console.print(listing)
    console.print()
    for sentence in found["sentences"][n:]:
        console.print(Text(sentence))
    if page is not None:
        click.echo(f"\nWritten: {page}")
