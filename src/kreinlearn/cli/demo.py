"""krein demo."""

import json
from dataclasses import asdict
from typing import Literal

import click

from kreinlearn.cli.options import AS_JSON


@click.command(epilog="Example:  krein demo --json > demo.json")
@AS_JSON
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
    from rich.box import SIMPLE
    from rich.table import Table

    title = "Test accuracy on the other half (best of a row in bold)"
    table = Table(title=title, box=SIMPLE, collapse_padding=True, pad_edge=False)
    for name in ("data", "n", "mu_min", *METHODS):
        side: Literal["left", "right"] = "left" if name == "data" else "right"
        table.add_column(name, justify=side, no_wrap=True)
    for data, found in rows.items():
        first = next(iter(found.values()))
        best = max(outcome.accuracy for outcome in found.values())
        table.add_row(
            data,
            str(first.n_train),
            f"{first.mu_min:.2f}",
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
    table.add_row("mean", "", "", *(f"{mean:.3f}" for mean in means))
    Console().print(table)
    click.echo(
        "All but 'ours' learn with one TL1 matrix; mu_min is its smallest eigenvalue.\n"
        "Below zero no kernel method accepts it as it is. 'ours' tries three kernels\n"
        "and averages them by what they predict of held-out samples.\n"
        "Next: python -c 'import kreinlearn; help(kreinlearn.KreinLogisticRegression)'"
    )
