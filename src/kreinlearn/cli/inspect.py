"""krein inspect."""

import json
import shlex
import sys
from pathlib import Path
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
    from kreinlearn._typing import Array
    from kreinlearn.files import Table

GRAMS = (".npz", ".npy")
"""Endings of files with a Gram matrix, which needs no labels."""


@click.command(epilog="Example:  krein inspect train.csv --target label -o page.html")
@click.argument("data", metavar="DATA-or-GRAM")
@TARGET
@HEADER
@KERNEL
@PARAM
@NO_SCALE
@IMPUTE
@ONE_HOT
@click.option(
    "--permutations",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Random permutations of each test.",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Of all randomness.")
@click.option("-o", "--out", metavar="PAGE", help="Write an HTML page as well.")
@FORCE
@AS_JSON
def inspect(
    data: str,
    target: str | None,
    header: bool | None,
    kernel: str | None,
    params: dict[str, Any],
    no_scale: bool,
    impute: bool,
    one_hot: bool,
    permutations: int,
    seed: int,
    out: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Tell how indefinite a similarity is, and what to do about it.

    DATA is a table (csv, tsv, parquet) or LIBSVM text, from which a kernel makes
    similarities (tl1 by default); GRAM is a matrix of similarities (npz, npy), whose
    labels may be missing. Features are scaled with all samples, also those that are
    held out later: this is an inspection, not an estimate of accuracy on new data.
    """
    from kreinlearn._files import check_free, replace
    from kreinlearn.inspection import verdict as inspection
    from kreinlearn.kernels import gram
    from kreinlearn.runs.progress import counter

    if out is not None:
        check_free(out, force)
    table = _read(data, target, header)
    about: dict[str, Any] = {}
    K, y, note = table.K, table.y, ""
    steps = {"scale": not no_scale, "impute": impute, "one_hot": one_hot}
    if table.X is not None:
        kernel = kernel or "tl1"
        X, y = _features(table, steps, seed)
        settings, note = _filled(kernel, params, X)
        about = {"kernel": kernel, "params": settings, "n_given": len(table.X)}
        K = gram(X, kernel=kernel, **settings)
    elif kernel or params or no_scale or impute or one_hot:
        raise ValueError(
            f"{data} holds a Gram matrix, which takes none of --kernel, --param, "
            "--no-scale, --impute and --one-hot."
        )
    assert K is not None  # a file holds samples or a matrix
    options = _options(target, header, kernel, params, steps)
    with counter(sys.stderr, "inspect") as tell:
        found = inspection.inspect_matrix(
            K,
            y,
            permutations=permutations,
            seed=seed,
            progress=lambda done, total: tell(done, total, f"fold {done} done"),
            source=data,
            command=shlex.join(["krein", "fit", data, *options, "-o", "model.krein"]),
            **about,
        )
    found["command"] = shlex.join(["krein", "inspect", data, *options])
    if note:
        found["sentences"].insert(-1, note)
    if out is not None:
        from kreinlearn.inspection.page import inspection_page

        replace(out, inspection_page(found).encode())
    if as_json:
        click.echo(json.dumps(found))
        return
    _show(found)
    if out is not None:
        click.echo(f"\nWritten: {out}")


def _read(data: str, target: str | None, header: bool | None) -> "Table":
    """Return the samples in a file; those of a Gram matrix may have no labels."""
    from dataclasses import replace

    from kreinlearn import files

    is_gram = Path(data).suffix.lower() in GRAMS
    table = files.read(data, target=target, header=header, labels=not is_gram)
    if not is_gram or table.y is None:
        return table
    rows = range(1, len(table.y) + 1)
    where = f"{data}, {table.target!r}"
    return replace(table, y=files.as_labels(table.y, rows, where, unit="row"))


def _features(
    table: "Table", steps: dict[str, bool], seed: int
) -> tuple["Array", "Array"]:
    """Return the features and labels of the table, or of a part of its samples."""
    import numpy as np

    from kreinlearn.inspection import verdict as inspection
    from kreinlearn.pipelines import prepare

    X = prepare(table.X, **steps).fit_transform(table.X)
    y = np.asarray(table.y)
    rows = inspection.sampled(y, len(y), inspection.LARGEST, seed)
    return np.asarray(X, dtype=float)[rows], y[rows]


def _options(
    target: str | None,
    header: bool | None,
    kernel: str | None,
    params: dict[str, Any],
    steps: dict[str, bool],
) -> list[str]:
    """Return the options again, for commands to copy."""
    said = [] if target is None else ["--target", target]
    if header is not None:
        said.append("--header" if header else "--no-header")
    if kernel is not None:
        said += ["--kernel", kernel]
    for name, value in params.items():
        said += ["--param", f"{name}={value}"]
    said += ["--no-scale"] * (not steps["scale"])
    said += ["--impute"] * steps["impute"]
    return said + ["--one-hot"] * steps["one_hot"]


def _filled(
    kernel: str, params: dict[str, Any], X: "Array"
) -> tuple[dict[str, Any], str]:
    """Return parameters with those that depend on the data, and a sentence on it."""
    from kreinlearn.kernels import KERNELS

    grid = KERNELS[kernel].grid
    if grid is None or {grid.parameter, *grid.rivals} & set(params):
        return params, ""
    params = {**params, **KERNELS[kernel].default_params(X)}
    if not grid.of_median or grid.parameter not in params:
        return params, ""  # its default, so that it is said
    return params, (
        f"The width {grid.parameter} of the kernel {kernel} was set to "
        f"{params[grid.parameter]:.4g}, the median distance between samples; "
        f"--param {grid.parameter}=... sets another."
    )


def _show(found: dict[str, Any]) -> None:
    """Print the facts as a listing, then the sentences."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    listing = Table.grid(padding=(0, 2))
    for name, fact in _facts(found):
        listing.add_row(Text(name), Text(fact))
    console.print(listing)
    if found["value"] is not None:
        console.print()
        console.print(_scores(found["value"]["scores"]))
    console.print()
    for k, sentence in enumerate(found["sentences"]):
        style = "bold" if k == 0 else ""
        console.print(Text(sentence, style=style))


def _facts(found: dict[str, Any]) -> list[tuple[str, str]]:
    positive, negative, zero = found["signature"]
    settings = [f"{name} {value:.4g}" for name, value in found["params"].items()]
    classes = found["classes"]
    labels = "none"
    if classes is not None:
        listed = ", ".join(str(label) for label in classes[:8])
        labels = f"{len(classes)} classes: {listed}{', ...' * (len(classes) > 8)}"
    return [
        ("kernel", " ".join([found["kernel"], *settings])),
        ("samples", f"{found['n']}"),
        ("labels", labels),
        ("eigenvalues", f"{positive} positive, {negative} negative, {zero} zero"),
        ("smallest, largest", f"{found['mu_min']:.4g}, {found['mu_max']:.4g}"),
        ("negative share", f"{100 * found['negative_share']:.3g} %"),
        ("asymmetry", f"{found['asymmetry']['relative']:.2g} of the largest entry"),
        ("one solution above", f"lam = {found['unique_lam']:.3g}"),
    ]


def _scores(scores: dict[str, dict[str, float]]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("held out")
    table.add_column("accuracy", justify="right")
    table.add_column("log-loss", justify="right")
    for way, each in scores.items():
        table.add_row(way, f"{each['accuracy']:.3f}", f"{each['log_loss']:.3f}")
    return table
