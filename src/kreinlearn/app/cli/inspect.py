"""krein inspect."""

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from kreinlearn.app.cli import options, samples, tables
from kreinlearn.app.cli.helping import GroupedHelpCommand, examples
from kreinlearn.app.cli.options import KernelParams
from kreinlearn.app.cli.output import Facts, setting_text, text_table
from kreinlearn.app.cli.tables import PREPARING, table_options

if TYPE_CHECKING:
    from kreinlearn._typing import Array
    from kreinlearn.io import PairOptions, Table
    from kreinlearn.io.columns import ColumnRoles as Roles

OF_MATRICES = ("distance", "form", "similarity", "symmetrize")
READING = ("target", "header", "drop", "id", *OF_MATRICES, *options.PAIR_OPTIONS)
LABELS = "Labels come from a csv with a name and a label in each line: --labels FILE."
TRAINING = (*READING, *PREPARING, "kernel", "params")
"""Options that `krein fit` takes too."""


EXAMPLES = examples(
    "krein inspect train.csv -o page.html",
    "krein inspect distances.csv --distance --labels labels.csv",
    "krein inspect gram.npz --json",
)


@click.command(
    "inspect",
    cls=GroupedHelpCommand,
    arguments={
        "data": "Samples or a matrix: a file or folder, see above.",
    },
    epilog=EXAMPLES,
)
@click.argument("data", metavar="DATA-or-GRAM")
@table_options(groups=False)
@options.matrix_options
@options.pair_options
@options.KERNEL_OPTION
@options.PARAM
@click.option(
    "--permutations",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Random permutations in each test.",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed.")
@click.option("-o", "--out", metavar="PAGE", help="Write an HTML page as well.")
@options.FORCE
@options.AS_JSON
def inspect_command(
    data: str,
    target: str | None,
    header: bool | None,
    distance: bool,
    form: str | None,
    similarity: bool,
    symmetrize: str | None,
    kernel: str | None,
    params: KernelParams,
    permutations: int,
    seed: int,
    out: str | None,
    force: bool,
    as_json: bool,
    pairs: "PairOptions",
    roles: "Roles",
    **steps: Any,
) -> None:
    """Tell how indefinite a similarity is, and what to do about it.

    \b
    DATA or GRAM is one of these, with or without labels:
      a table      csv, tsv, parquet, libsvm; --kernel computes similarities
      a matrix     npz, npy, csv with names, phylip; similarities or --distance
      pairs        m8 or --format pairs; labels in the file that --labels names
      sequences, time series, graphs
                   fasta, ts (or --format ucr), a TU folder

    The similarities are judged by their eigenvalues and, if there are labels, by how
    well held-out samples are predicted with and without their negative part. The last
    sentence is the command that learns from them. Features are scaled with all samples,
    also with those that are held out later: this is an inspection, not an estimate of
    accuracy on new data.
    """  # noqa: D301 - click reads \b as a mark
    import numpy as np

    from kreinlearn import io
    from kreinlearn._files import check_free
    from kreinlearn.app.inspection import verdict as inspection
    from kreinlearn.app.runs.progress import counter

    if out is not None:
        check_free(out, force)
    click.get_current_context().with_resource(options.measuring())
    holds = options.held(distance, similarity)
    pairs = samples.with_format(data, kernel, pairs)
    table = io.read(
        data,
        target=target,
        header=header,
        labels=None,
        holds=holds,
        symmetrize=symmetrize,
        pairs=pairs,
        roles=roles,
    )
    given, notes = [data, *options.repeated_options(TRAINING)], list[str]()
    if table.kind is not None:
        kernel, params = samples.kernel_for(table, kernel, params, form)
        K, y, about = _similarities_between(table, kernel, params, seed)
    elif table.X is None:
        options.check_form(form, distance)
        what = "distances" if distance else "a matrix"
        tables.check_no_features(data, what, ("kernel", "params"))
        K, y, about = np.asarray(table.samples), table.y, Facts(check=not similarity)
        if distance:
            K, about = _formed(K, form or "exponential")
        if y is None and table.names is not None:
            notes.append(LABELS)
    else:
        options.check_form(form, distance)
        samples.check_rows(table, kernel)
        kernel = kernel or "tl1"
        given += [] if "--kernel" in given else ["--kernel", kernel]
        K, y, about, notes = _similarities_of(table, kernel, params, steps, seed)
        about["definite"] = _fit_command([*_without_kernel(data), "--kernel", "rbf"], y)
    if "form" in about.get("params", {}) and "--form" not in given:
        given += ["--form", about["params"]["form"]]
    options.remark(table)
    with counter(sys.stderr, "inspect") as tell:
        found = inspection.inspect_matrix(
            K,
            y,
            permutations=permutations,
            seed=seed,
            progress=lambda done, total: tell(done, total, f"fold {done} done"),
            source=data,
            command=_fit_command(_symmetric(given, K), y),
            **about,
        )
    found["command"] = options.whole_command()
    found["sentences"][-1:-1] = notes
    _tell(found, out, as_json)


def _tell(found: Facts, page: str | None, as_json: bool) -> None:
    """Print what was found, and write it to a page if there is to be one."""
    from kreinlearn._files import replace
    from kreinlearn.app.inspection.page import inspection_page

    if page is not None:
        replace(page, inspection_page(found).encode())
    if as_json:
        click.echo(json.dumps(found))
    else:
        _print_verdict(found, page)


def _fit_command(words: list[str], y: "Array | None") -> str:
    """Return a command that fits to such labels; empty if there is none."""
    import numpy as np

    from kreinlearn.app.cli.fit import CV_FOLDS

    _, counts = np.unique([] if y is None else y, return_counts=True)
    if len(counts) < 2:
        return ""
    least, folds = int(counts.min()), list[str]()
    if least < CV_FOLDS:  # each fold needs a sample of each class
        folds = ["--cv", str(least)] if least > 1 else ["--lam", "0.01"]
    return shlex.join(["krein", "fit", *words, *folds, "-o", "model.krein"])


def _symmetric(words: list[str], K: "Array") -> list[str]:
    """Return options with which a matrix that is not symmetric can be learned from."""
    from kreinlearn._validation import SYMMETRY_TOL, check_matrix

    share = check_matrix(K, symmetric="average")[1]
    is_needed = share > SYMMETRY_TOL and "--symmetrize" not in words
    return [*words, "--symmetrize", "mean"] if is_needed else words


def _without_kernel(data: str) -> list[str]:
    """Return what was given of the table, without a kernel and its parameters."""
    return [data, *options.repeated_options((*READING, *PREPARING))]


def _formed(D: "Array", form: str) -> tuple["Array", Facts]:
    """Return a form of distances, and what is known of it."""
    from kreinlearn.kernels.transforms import fit_transform, list_candidates

    params = list_candidates({"form": form}, [{}])[0]
    return fit_transform(D, form)(D), {"kernel": "distance", "params": params}


def _similarities_between(
    table: "Table", kernel: str, params: KernelParams, seed: int
) -> tuple["Array", "Array | None", Facts]:
    """Return similarities of samples that are no rows, their labels, and the kernel.

    A form of distances is that of their median width.
    """
    from kreinlearn.app.inspection import verdict as inspection
    from kreinlearn.kernels import KERNELS
    from kreinlearn.kernels.transforms import FORMS, FORMS_WITHOUT_WIDTH

    n = len(table.items or [])
    rows = inspection.sampled(table.y, n, inspection.LARGEST, seed)
    some = samples.some_of(table, rows)
    if KERNELS[kernel].is_distance:
        params = {"form": FORMS[0], "width": 1.0, **params}
        if params["form"] in FORMS_WITHOUT_WIDTH:
            del params["width"]
    K = samples.similarities(some, kernel, params)
    return K, some.y, Facts(kernel=kernel, params=params, n_given=n)


def _similarities_of(
    table: "Table", kernel: str, params: KernelParams, steps: Facts, seed: int
) -> tuple["Array", "Array", Facts, list[str]]:
    """Return the matrix of a kernel and labels, for all samples or a part of them.

    Also returns what is known of the kernel, and sentences about parameters that
    depend on the data.
    """
    import numpy as np

    from kreinlearn.app.inspection import verdict as inspection
    from kreinlearn.kernels import KERNELS, gram
    from kreinlearn.pipelines import prepare

    X = prepare(table.X, **steps).fit_transform(table.X)
    y = np.asarray(table.y)
    rows = inspection.sampled(y, len(y), inspection.LARGEST, seed)
    X, y, notes = np.asarray(X, dtype=float)[rows], y[rows], list[str]()
    grid = KERNELS[kernel].grid
    if grid is not None and not {grid.parameter, *grid.alternatives} & set(params):
        params = {**params, **KERNELS[kernel].default_params(X)}
        if grid.of_median and grid.parameter in params:
            notes.append(
                f"The width {grid.parameter} of the kernel {kernel} was set to "
                f"{params[grid.parameter]:.4g}, the median distance between samples; "
                f"--param {grid.parameter}=... sets another."
            )
    about = {"kernel": kernel, "params": params, "n_given": len(np.asarray(table.y))}
    return gram(X, kernel=kernel, **params), y, about, notes


def _print_verdict(found: Facts, page: str | None) -> None:
    """Print the verdict, the facts as a listing, the scores, then what else is said."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    headline, *others = found["sentences"]
    console.print(Text(headline, style="bold"))
    console.print()
    listing = Table.grid(padding=(0, 2))
    for name, fact in _listed_facts(found):
        listing.add_row(Text(name), Text(fact))
    console.print(listing)
    if found["value"] is not None:
        scores = text_table(["held out"], ["accuracy", "log-loss"])
        for name, each in found["value"]["scores"].items():
            scores.add_row(name, f"{each['accuracy']:.3f}", f"{each['log_loss']:.3f}")
        console.print(scores)
    console.print()
    for sentence in others:
        console.print(Text(sentence))
    if page is not None:
        click.echo(f"\nWritten: {page}")


def _listed_facts(found: Facts) -> list[tuple[str, str]]:
    positive, negative, zero = found["signature"]
    labels = "none"
    if found["classes"] is not None:
        count, first = len(found["classes"]), map(str, found["classes"][:8])
        labels = f"{count} classes: {', '.join(first)}{', ...' * (count > 8)}"
    return [
        ("kernel", setting_text(found["kernel"], found["params"])),
        ("samples", f"{found['n']}"),
        ("labels", labels),
        ("eigenvalues", f"{positive} positive, {negative} negative, {zero} zero"),
        ("smallest, largest", f"{found['mu_min']:.4g}, {found['mu_max']:.4g}"),
        ("negative share", f"{100 * found['negative_share']:.3g} %"),
        ("asymmetry", f"{found['asymmetry']['relative']:.2g} of the largest entry"),
        ("one solution above", f"lam = {found['unique_lam']:.3g}"),
    ]
