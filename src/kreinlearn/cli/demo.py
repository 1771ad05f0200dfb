"""krein demo."""

import json
import sys
from pathlib import Path

import click

from kreinlearn.cli.options import AS_JSON, FORCE
from kreinlearn.cli.output import Facts, bold_if, text_table


@click.command("demo", epilog="Example:  krein demo --out demo")
@click.option(
    "--out",
    default=".",
    show_default=True,
    metavar="DIR",
    help="Folder for report.html; it is made if need be.",
)
@FORCE
@AS_JSON
def demo_command(out: str, force: bool, as_json: bool) -> None:
    """Fit and compare on bundled data, in under a minute.

    Takes a similarity that is not a positive definite kernel (truncated L1 distance),
    learns with it as it is, and compares that with support vector machines on the raw
    matrix and on repaired ones. Everything is chosen by cross-validation on the
    training half. Prints a table, and writes report.html with spectra, convergence and
    curves.
    """
    from kreinlearn._files import check_free, replace
    from kreinlearn.comparison.demo import (
        DATA,
        SHOWN,
        findings,
        outcomes,
        printed_fields,
    )
    from kreinlearn.comparison.page import comparison_page
    from kreinlearn.runs.progress import counter

    folder = Path(out)
    page = folder / "report.html"
    if page.is_file() and not force:
        raise FileExistsError(
            f"{page} exists already; replace it with --force, or write to another "
            "folder with --out."
        )
    folder.mkdir(parents=True, exist_ok=True)
    check_free(page, force)
    records = []
    with counter(sys.stderr, "demo") as tell:
        for record, share in outcomes():
            records.append(record)
            shown = printed_fields(record)
            if as_json:
                click.echo(json.dumps(shown))
            text = f"{shown['data']}: {shown['method']} {shown['accuracy']:.3f}"
            done = f"{text} in {shown['seconds']:.1f} s"
            tell(len(records), len(DATA) * len(SHOWN), done, share)
    replace(page, comparison_page(findings(records)).encode())
    if as_json:
        return
    _print_accuracies([printed_fields(record) for record in records])
    click.echo(
        "All but KreinCV learn with one TL1 matrix; mu_min is its smallest\n"
        "eigenvalue: below zero, the matrix is not positive semidefinite, as most\n"
        "kernel methods need it to be. KreinCV tries three kernels, and averages them\n"
        "by how well they predict held-out samples.\n"
        f"Spectra, convergence and curves: {page}\n"
        "Next: `krein inspect DATA` says how indefinite a similarity of your own is,\n"
        "`krein fit DATA -o MODEL` learns from it."
    )


def _print_accuracies(lines: list[Facts]) -> None:
    from rich.console import Console

    rows: dict[str, dict[str, Facts]] = {}
    for each in lines:
        rows.setdefault(each["data"], {})[each["method"]] = each
    methods = list(dict.fromkeys(each["method"] for each in lines))
    title = "Test accuracy on the other half (the best of each row in bold)"
    table = text_table(["data"], ["n", "mu_min", *methods], title)
    for data, found in rows.items():
        first = next(iter(found.values()))
        accuracies = [found[method]["accuracy"] for method in methods]
        cells = [bold_if(each == max(accuracies), f"{each:.3f}") for each in accuracies]
        table.add_row(data, str(first["n_train"]), f"{first['mu_min']:.2f}", *cells)
    means = [
        sum(found[method]["accuracy"] for found in rows.values()) / len(rows)
        for method in methods
    ]
    table.add_section()
    table.add_row("mean", "", "", *(f"{mean:.3f}" for mean in means))
    Console().print(table)
