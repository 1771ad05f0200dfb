"""krein demo."""

import json
import sys
from pathlib import Path
from typing import Any, Literal

import click

from kreinlearn.cli.options import AS_JSON, FORCE


@click.command(epilog="Example:  krein demo --out demo")
@click.option(
    "--out",
    default=".",
    show_default=True,
    metavar="DIR",
    help="Folder of report.html; made if it is not there.",
)
@FORCE
@AS_JSON
def demo(out: str, force: bool, as_json: bool) -> None:
    """Fit and compare on bundled data, in under a minute.

    Takes a similarity that is not a kernel (truncated L1 distance), learns with it as
    it is, and sets that beside a support vector machine on the raw and on repaired
    matrices. Everything is chosen by cross-validation on the training half. Prints a
    table and writes report.html with spectra, convergence and curves.
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
    _print_table([printed_fields(record) for record in records])
    click.echo(
        "All but KreinCV learn with one TL1 matrix; mu_min is its smallest\n"
        "eigenvalue: below zero no kernel method accepts it as it is. KreinCV tries\n"
        "three kernels and averages them by what they predict of held-out samples.\n"
        f"Spectra, convergence and curves: {page}\n"
        "Next: `krein inspect DATA` says how indefinite a similarity of your own is,\n"
        "`krein fit DATA -o MODEL` learns from it."
    )


def _print_table(lines: list[dict[str, Any]]) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for each in lines:
        rows.setdefault(each["data"], {})[each["method"]] = each
    methods = list(dict.fromkeys(each["method"] for each in lines))
    title = "Test accuracy on the other half (best of a row in bold)"
    table = Table(title=title, box=SIMPLE, collapse_padding=True, pad_edge=False)
    for name in ("data", "n", "mu_min", *methods):
        side: Literal["left", "right"] = "left" if name == "data" else "right"
        table.add_column(name, justify=side, no_wrap=True)
    for data, found in rows.items():
        first = next(iter(found.values()))
        best = max(each["accuracy"] for each in found.values())
        table.add_row(
            data,
            str(first["n_train"]),
            f"{first['mu_min']:.2f}",
            *(
                f"[bold]{found[m]['accuracy']:.3f}[/bold]"
                if found[m]["accuracy"] == best
                else f"{found[m]['accuracy']:.3f}"
                for m in methods
            ),
        )
    means = [
        sum(found[m]["accuracy"] for found in rows.values()) / len(rows)
        for m in methods
    ]
    table.add_section()
    table.add_row("mean", "", "", *(f"{mean:.3f}" for mean in means))
    Console().print(table)
