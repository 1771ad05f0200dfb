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

    Takes four similarities that are not positive definite kernels (truncated L1 and
    Hausdorff distances, gaps between things, tables with holes), learns with them as
    they are, and compares that with nearest neighbors, and with support vector machines
    on the raw matrix and on repaired ones. Everything is chosen by cross-validation on
    the training half. Prints a table, and writes report.html with spectra, convergence
    and curves.
    """
    from kreinlearn._files import check_free, replace
    from kreinlearn.comparison.demo import (
        findings,
        outcomes,
        pairs,
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
    records, lines = [], []
    with counter(sys.stderr, "demo") as tell:
        for found, share in outcomes():
            records += found
            shown = printed_fields(found)
            lines.append(shown)
            if as_json:
                click.echo(json.dumps(shown))
            text = f"{shown['data']}: {shown['method']} {shown['accuracy']:.3f}"
            done = f"{text} in {shown['seconds']:.1f} s"
            tell(len(lines), len(pairs()), done, share)
    replace(page, comparison_page(findings(records)).encode())
    if as_json:
        return
    _print_accuracies(lines)
    click.echo(
        "Negative: share of the negative eigenvalues; most kernel methods need none.\n"
        "KreinCV needs rows of a table, and chooses its kernels; all others are given\n"
        "the same matrix. Both halves are learned from and judged; in brackets, what\n"
        "so many samples can tell (95 % intervals).\n"
        f"Spectra, convergence and curves: {page}\n"
        "Next: `krein inspect DATA` says how indefinite a similarity of your own is,\n"
        "`krein fit DATA -o MODEL` learns from it."
    )


def _print_accuracies(lines: list[Facts]) -> None:
    from rich.console import Console

    rows: dict[str, dict[str, Facts]] = {}
    heads: dict[str, Facts] = {}
    for each in lines:
        rows.setdefault(each["method"], {})[each["data"]] = each
        heads.setdefault(each["data"], each)
    best = {
        data: max(each["accuracy"] for each in lines if each["data"] == data)
        for data in heads
    }
    title = "Accuracy on the other half (the best of each column in bold)"
    table = text_table([""], list(heads), title)
    table.add_row("samples", *(str(each["n"]) for each in heads.values()))
    shares = [f"{100 * each['negative_share']:.1f} %" for each in heads.values()]
    table.add_row("negative", *shares)
    table.add_section()
    for method, found in rows.items():
        cells = [
            _accuracy(found[data], best[data]) if data in found else "-"
            for data in heads
        ]
        table.add_row(method, *cells)
    Console().print(table)


def _accuracy(found: Facts, best: float) -> str:
    ends = [f"{found[f'accuracy_{end}']:.2f}" for end in ("low", "high")]
    text = bold_if(found["accuracy"] == best, f"{found['accuracy']:.3f}")
    return f"{text} ({'-'.join(end.removeprefix('0') for end in ends)})"
