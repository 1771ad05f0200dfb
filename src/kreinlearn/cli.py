"""The command line: parses, calls, exits with a code."""

import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Literal

import click

EPILOG = "Example:  krein demo"


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EPILOG)
@click.version_option(version("kreinlearn"), prog_name="krein")
def app() -> None:
    """Learn with similarities that are not positive definite kernels."""


@app.command(epilog="Example:  krein demo --json > demo.json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a result.")
def demo(as_json: bool) -> None:
    """Fit and compare on bundled data, in under a minute.

    Takes a similarity that is not a kernel (truncated L1 distance), learns with it as
    it is, and sets that beside a support vector machine on the raw and on repaired
    matrices. Everything is chosen by cross-validation on the training half.
    """
    from kreinlearn.experiments.demo import METHODS, Outcome, outcomes

    rows: dict[str, dict[str, Outcome]] = {}
    from rich.console import Console

    progress = Console(stderr=True)
    for outcome in outcomes():
        rows.setdefault(outcome.data, {})[outcome.method] = outcome
        if as_json:
            click.echo(json.dumps(asdict(outcome)))
        else:
            line = f"{outcome.data}: {outcome.method} {outcome.accuracy:.3f}"
            progress.print(f"[dim]{line} in {outcome.seconds:.1f} s[/dim]")
    if as_json:
        return
    from rich.table import Table

    table = Table(title="Test accuracy on the other half (best of a row in bold)")
    for name in ("data", "n", "mu_min", "neg.", *METHODS):
        side: Literal["left", "right"] = "left" if name == "data" else "right"
        table.add_column(name, justify=side, no_wrap=True)
    for data, found in rows.items():
        first = next(iter(found.values()))
        best = max(outcome.accuracy for outcome in found.values())
        table.add_row(
            data,
            str(first.n_train),
            f"{first.mu_min:.2f}",
            f"{abs(first.negative_share):.1%}",
            *(
                f"[bold]{found[m].accuracy:.3f}[/bold]"
                if found[m].accuracy == best
                else f"{found[m].accuracy:.3f}"
                for m in METHODS
            ),
        )
    means = [
        sum(found[m].accuracy for found in rows.values()) / len(rows) for m in METHODS
    ]
    table.add_section()
    table.add_row("mean", "", "", "", *(f"{mean:.3f}" for mean in means))
    Console().print(table)
    click.echo(
        "All but 'ours' learn with one TL1 matrix; mu_min is its smallest eigenvalue,\n"
        "neg. the share of negative ones in the sum of moduli. Below zero no kernel\n"
        "method accepts it as it is. 'ours' tries and averages kernels and ranges.\n"
        "Next: python -c 'import kreinlearn; help(kreinlearn.KreinLogisticRegression)'"
    )


@app.command(epilog="Example:  krein info --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(as_json: bool) -> None:
    """Print versions, threads and linear algebra libraries."""
    from threadpoolctl import threadpool_info

    packages = ("kreinlearn", "numpy", "scipy", "scikit-learn", "numba", "skops")
    facts: dict[str, object] = {name: version(name) for name in packages}
    import numba
    import numpy  # noqa: F401  (loads its BLAS, so that it is listed)

    facts["python"] = platform.python_version()
    facts["platform"] = platform.platform()
    facts["numba threads"] = numba.get_num_threads()
    for pool in threadpool_info():
        key = f"{pool['user_api']} ({pool['internal_api']} {pool['version']})"
        facts[key] = f"{pool['num_threads']} threads"
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, fact in facts.items():
        click.echo(f"{name:<28} {fact}")


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command and leave with its exit code.

    0 when done; 2 for bad input, with one line on stderr; 130 when interrupted.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.
    """
    try:
        code = app.main(args=argv, prog_name="krein", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = 2
    except click.ClickException as error:
        click.echo(f"krein: {error.format_message()}", err=True)
        code = 2
    except (ValueError, TypeError, OSError, MemoryError) as error:
        click.echo(f"krein: {' '.join(str(error).split())}", err=True)
        code = 2
    except (click.Abort, KeyboardInterrupt):  # click has ended the line by then
        click.echo("krein: interrupted.", err=True)
        code = 130
    sys.exit(code if isinstance(code, int) else 0)
