"""krein reproduce."""

import csv
import json
import sys
from importlib.util import find_spec

import click

from kreinlearn.cli.helping import examples
from kreinlearn.cli.options import AS_JSON, FOLDER, whole_command


@click.command(
    "reproduce",
    epilog=examples(
        "krein reproduce table3 --runs 10",
        "krein reproduce table1 --dataset sonar --out results",
    ),
)
@click.argument("name", metavar="{table1..table7, fig1..fig3, readings, all}")
@FOLDER
@click.option("--runs", type=int, help="Repetitions; the experiment's own by default.")
@click.option("--dataset", help="Only this data set; for faces also `digits`.")
@click.option("--out", default="results", show_default=True, help="Folder to write to.")
@click.option("--jobs", type=int, help="Processes; one per processor by default.")
@click.option("--limit", type=float, default=1800.0, help="Seconds per fit at most.")
@click.option("--retry", is_flag=True, help="Run again what failed before.")
@AS_JSON
def reproduce_command(
    name: str,
    data_home: str | None,
    runs: int | None,
    dataset: str | None,
    out: str,
    jobs: int | None,
    limit: float,
    retry: bool,
    as_json: bool,
) -> None:
    """Run a table or figure of the paper, and compare with the published numbers.

    Each result is written as it is found: the same command again continues where this
    one stopped or, if nothing is missing, only writes the pages again.
    """
    if find_spec("kreinlearn.paper") is None:
        raise click.ClickException(
            "The reproduction of the paper is not part of this build; install "
            "kreinlearn as it comes."
        )
    from kreinlearn import paper
    from kreinlearn.runs.progress import progress_bar

    names = list(paper.EXPERIMENTS) if name == "all" else [name]
    said = paper.announcement(
        names, data_home=data_home, runs=runs, dataset=dataset, out=out
    )
    if said:
        click.echo(said, err=True)
    for each in names:
        with progress_bar(sys.stderr, each) as progress:
            records = paper.run_experiment(
                each,
                data_home=data_home,
                runs=runs,
                dataset=dataset,
                out=out,
                jobs=jobs,
                limit=limit,
                retry=retry,
                progress=progress,
            )
        written = paper.write(each, records, out, whole_command())
        by_kind = {path.suffix: path for path in written}
        if as_json:
            with by_kind[".csv"].open(encoding="utf-8", newline="") as numbers:
                for row in csv.DictReader(numbers):
                    click.echo(json.dumps({"experiment": each, **row}))
            continue
        click.echo(by_kind[".md"].read_text(encoding="utf-8"))
        click.echo("\n".join(str(path) for path in written))
