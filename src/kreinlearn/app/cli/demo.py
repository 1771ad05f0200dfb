"""krein demo."""

import json
import sys
from pathlib import Path

import click

from kreinlearn.app.cli.options import AS_JSON, FORCE, whole_command
from kreinlearn.app.cli.output import Facts, bold_if, text_table


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
    """Tell large cells from small ones by the gaps between them, in seconds.

    The gaps make similarities that are no kernel. They are learned from as they are,
    repaired, and taken for a kernel all the same; everything is chosen by
    cross-validation on training samples. Prints what came out, and writes report.html
    with the evidence.
    """
    from kreinlearn._files import check_free, replace
    from kreinlearn.app.comparison import demo
    from kreinlearn.app.comparison.page import comparison_page
    from kreinlearn.app.runs.progress import counter

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
        for found, share in demo.outcomes():
            records += found
            shown = demo.printed_fields(found)
            lines.append(shown)
            if as_json:
                click.echo(json.dumps(shown))
            text = f"{shown['method']} {shown['accuracy']:.3f}"
            done = f"{text} in {shown['seconds']:.1f} s"
            tell(len(lines), len(demo.SHOWN), done, share)
    compared = demo.findings(records) | {"command": whole_command()}
    replace(page, comparison_page(compared).encode())
    if not as_json:
        _tell(compared["verdict"], lines, demo.SHOWN, page)


def _tell(
    verdict: list[str], lines: list[Facts], does: dict[str, str], page: Path
) -> None:
    """Print the verdict, the numbers, and what to do with data of one's own."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    best = max(each["accuracy"] for each in lines)
    losses = [each["log_loss"] for each in lines if each["log_loss"] is not None]
    table = text_table(["", "what it does"], ["accuracy", "95 %", "log-loss"])
    for each in lines:
        loss, ends = each["log_loss"], ""
        if each["accuracy_low"] is not None:
            ends = f"{each['accuracy_low']:.2f}-{each['accuracy_high']:.2f}"
        told = "-" if loss is None else bold_if(loss == min(losses), f"{loss:.3f}")
        accuracy = bold_if(each["accuracy"] == best, f"{each['accuracy']:.3f}")
        table.add_row(each["method"], does[each["method"]], accuracy, ends, told)
    first, *others = verdict
    console.print(Text(first, style="bold"))
    for sentence in others:
        console.print(Text(sentence))
    console.print(table)
    click.echo(
        "95 %: interval of the accuracy. Log-loss judges probabilities: a coin has "
        f"0.693.\nThe evidence: {page}\n\n"
        "Next, with distances of your own and a file of names and labels:\n"
        "  krein inspect distances.csv --distance --labels labels.csv\n"
        "  krein fit distances.csv --distance --labels labels.csv -o model.krein"
    )
