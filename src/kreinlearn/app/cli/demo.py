"""krein demo."""

import json
import sys
from pathlib import Path

import click

from kreinlearn.app.cli import options
from kreinlearn.app.cli.options import Facts, format_best, make_table


@click.command("demo", epilog="Example:  krein demo --out demo")
@click.option(
    "--case",
    type=click.Choice(["digits", "balls"]),
    default="digits",
    show_default=True,
    help="Handwritten digits, or cells whose sizes show in the negative eigenvalues.",
)
@click.option(
    "--out",
    default=".",
    show_default=True,
    metavar="DIR",
    help="Folder for report.html; it is created if necessary.",
)
@options.FORCE_OPTION
@options.JSON_OPTION
def demo_command(case: str, out: str, force: bool, as_json: bool) -> None:
    """Classify handwritten digits, given only distances between them, in seconds.

    Several methods learn from the same distances, all tuned by cross-validation. Prints
    the result and writes report.html, with the predictions that a person should review.
    """
    from kreinlearn._files import check_free, replace
    from kreinlearn.app.comparison import demo
    from kreinlearn.app.comparison.page import comparison_page
    from kreinlearn.app.runs import counter

    folder = Path(out)
    page = folder / "report.html"
    if page.is_file() and not force:
        raise FileExistsError(
            f"{page} exists already; replace it with --force, or write to another "
            "folder with --out."
        )
    folder.mkdir(parents=True, exist_ok=True)
    check_free(page, force)
    methods, records, lines = demo.DEMO_CASES[case]["methods"], [], []
    with counter(sys.stderr, "demo") as report:
        for found, fraction in demo.run_methods(case):
            records += found
            lines.append(demo.summarize_method(found))
            if as_json:
                click.echo(json.dumps(lines[-1]))
            text = "{method}, accuracy {accuracy:.3f}".format_map(lines[-1])
            report(len(lines), len(methods), text, fraction)
    compared = demo.summarize_demo(case, records)
    compared["command"] = options.repeat_command()
    replace(page, comparison_page(compared, demo.make_sections(case, records)).encode())
    if not as_json:
        _print_demo(compared["lead"], lines, methods, page)


def _print_demo(
    lead: list[str], lines: list[Facts], does: dict[str, str], page: Path
) -> None:
    """Print the verdict, the numbers, and commands for the user's data."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    best = max(each["accuracy"] for each in lines)
    losses = [each["log_loss"] for each in lines if each["log_loss"] is not None]
    table = make_table(["", "use of the matrix"], ["accuracy", "95%", "log-loss"])
    for each in lines:
        loss, ends = each["log_loss"], ""
        if each["accuracy_low"] is not None:
            ends = f"{each['accuracy_low']:.2f}-{each['accuracy_high']:.2f}"
        text = "-" if loss is None else format_best(loss == min(losses), f"{loss:.3f}")
        accuracy = format_best(each["accuracy"] == best, f"{each['accuracy']:.3f}")
        table.add_row(each["method"], does[each["method"]], accuracy, ends, text)
    first, *others = lead
    console.print(Text(first, style="bold"))
    for sentence in others:
        console.print(Text(sentence))
    console.print(table)
    click.echo(
        "95%: interval of the accuracy. Log-loss scores probabilities; smaller is "
        f"better.\nPage: {page}\n\n"
        "Next, with your distances and a file of names and labels:\n"
        "  krein inspect distances.csv --distance --labels labels.csv\n"
        "  krein fit distances.csv --distance --labels labels.csv -o model.krein"
    )
