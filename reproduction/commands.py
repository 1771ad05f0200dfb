"""The command line: one command per experiment, `all`, and `data`."""

import csv
import json
import sys

import click

from kreinlearn._validation import check_choice
from kreinlearn.app.cli.options import JSON_OPTION, examples, repeat_command
from reproduction.catalog import EXPERIMENTS
from reproduction.data.commands import DATA_FOLDER, data_command

ALL_EXPERIMENTS = "all"
DATA_COMMAND = "data"
HELP_EXAMPLES = examples(
    "python -m reproduction data fetch all",
    "python -m reproduction table3 --runs 10",
    "python -m reproduction all --out results",
)


class _Experiments(click.Group):
    """Commands named after the experiments."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*EXPERIMENTS, ALL_EXPERIMENTS, DATA_COMMAND]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        check_choice("NAME", cmd_name, self.list_commands(ctx))
        if cmd_name == DATA_COMMAND:
            return data_command
        return make_experiment_command(cmd_name)


@click.group(
    cls=_Experiments,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="NAME [OPTIONS]",
    epilog=HELP_EXAMPLES,
)
def app() -> None:
    """Run tables and figures of the paper, and compare with the published numbers."""


def make_experiment_command(name: str) -> click.Command:
    """Return the command that runs one experiment, or all of them."""
    is_all = name == ALL_EXPERIMENTS
    title = "All experiments" if is_all else EXPERIMENTS[name].title

    @click.command(
        name,
        short_help=f"{title}.",
        help=f"{title}: run, and compare with the published numbers.\n\nEach result is "
        "written immediately. Run the same command again to resume; if "
        "nothing is missing, it only writes the pages again.",
        epilog=examples(f"python -m reproduction {name} --out results"),
    )
    @DATA_FOLDER
    @click.option(
        "--runs", type=int, help="Repetitions; by default those of the experiment."
    )
    @click.option("--dataset", help="Only this data set; for faces also `digits`.")
    @click.option(
        "--out", default="results", show_default=True, help="Folder to write to."
    )
    @click.option("--jobs", type=int, help="Processes; one per processor by default.")
    @click.option("--limit", type=float, default=1800.0, help="Most seconds per fit.")
    @click.option("--retry", is_flag=True, help="Run failed cells again.")
    @JSON_OPTION
    def experiment_command(
        data_home: str | None,
        runs: int | None,
        dataset: str | None,
        out: str,
        jobs: int | None,
        limit: float,
        retry: bool,
        as_json: bool,
    ) -> None:
        from kreinlearn.app.runs import progress_bar
        from reproduction.page import write
        from reproduction.run import announce_runs, run_experiment

        names = list(EXPERIMENTS) if is_all else [name]
        announcement = announce_runs(
            names, data_home=data_home, runs=runs, dataset=dataset, out=out
        )
        if announcement:
            click.echo(announcement, err=True)
        for each in names:
            with progress_bar(sys.stderr, each) as progress:
                records = run_experiment(
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
            written = write(each, records, out, repeat_command())
            by_kind = {path.suffix: path for path in written}
            if as_json:
                with by_kind[".csv"].open(encoding="utf-8", newline="") as numbers:
                    for row in csv.DictReader(numbers):
                        click.echo(json.dumps({"experiment": each, **row}))
                continue
            click.echo(by_kind[".md"].read_text(encoding="utf-8"))
            click.echo("\n".join(str(path) for path in written))

    return experiment_command
