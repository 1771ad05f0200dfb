"""The command line: run the scripts ``bench_*.py`` of this folder."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from kreinlearn.app.cli.options import JSON_OPTION, examples
from reproduction.data.commands import DATA_FOLDER

PROGRAM = "python -m benchmarks"
ROW_FORMAT = "{:<26}  {:<18}  {:>8}  {:>7}  {:>8}  {:>7}"
COLUMN_TITLES = ("library", "n", "type", "seconds", "ratio")


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(f"{PROGRAM} --quick", f"{PROGRAM} product fit --out records"),
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quick", is_flag=True, help="Tiny sizes, as a test.")
@click.option("--out", metavar="DIR", help="Append the results to DIR/NAME.jsonl.")
@click.option("--repeats", type=click.IntRange(1), help="Runs of each; 5 by default.")
@JSON_OPTION
@DATA_FOLDER
def app(
    names: tuple[str, ...],
    quick: bool,
    out: str | None,
    repeats: int | None,
    as_json: bool,
    data_home: str | None,
) -> None:
    """Measure speed against the other libraries that are installed.

    NAME is machine, product, kernels, spd, series, sequences, graphs, transport, fit,
    cv, search, load, published, blocked, scaling, landmarks, dask or import; all of
    them by default, which takes more than an hour. A ratio above one means that
    kreinlearn is faster. Each result is written at once: an interrupted run keeps its
    results.
    """
    scripts = find_scripts()
    for name in names:
        if name not in scripts:
            listed = ", ".join(repr(each) for each in scripts)
            raise ValueError(f"'NAME' must be one of {listed}, got {name!r}.")
    options = ["--quick"] if quick else []
    options += ["--repeats", str(repeats)] if repeats else []
    environ = os.environ | ({"KREINLEARN_DATA": data_home} if data_home else {})
    if out:
        Path(out).mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names or scripts:
        call = [sys.executable, str(scripts[name]), *options]
        with subprocess.Popen(
            call, stdout=subprocess.PIPE, text=True, env=environ
        ) as process:
            file = Path(out, f"{name}.jsonl") if out else None
            print_results(process.stdout or (), file, as_json)
        if process.returncode:
            failed.append(name)
    if failed:
        click.echo(f"benchmarks: {', '.join(failed)} failed, see above.", err=True)
        raise click.exceptions.Exit(1)


def find_scripts() -> dict[str, Path]:
    """Return the scripts by name."""
    scripts = sorted(Path(__file__).parent.glob("bench_*.py"))
    return {path.stem.removeprefix("bench_"): path for path in scripts}


def print_results(lines: Iterable[str], file: Path | None, as_json: bool) -> None:
    """Print the results of one script as they arrive, and append them to a file."""
    for number, line in enumerate(lines):
        if file:
            with file.open("a", encoding="utf-8") as kept:
                kept.write(line)
        if as_json:
            click.echo(line, nl=False)
            continue
        row = json.loads(line)
        if number == 0:
            click.echo(ROW_FORMAT.format(row["bench"], *COLUMN_TITLES))
        cells = [row["work"], row["library"], row["n"], row["dtype"]]
        cells += [
            row[name] and f"{row[name]:.3g}" for name in ("median_s", "ours_faster")
        ]
        click.echo(ROW_FORMAT.format(*("" if cell is None else cell for cell in cells)))
