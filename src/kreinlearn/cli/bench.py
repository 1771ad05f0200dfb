"""krein bench."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from kreinlearn.cli.helping import examples
from kreinlearn.cli.options import AS_JSON, FOLDER

LINE = "{:<26}  {:<18}  {:>8}  {:>7}  {:>8}  {:>7}"
TITLES = ("library", "n", "type", "seconds", "ratio")


@click.command(
    "bench",
    epilog=examples("krein bench --quick", "krein bench product fit --out records"),
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quick", is_flag=True, help="Tiny sizes, to see that all works.")
@click.option("--out", metavar="DIR", help="Append the results to DIR/NAME.jsonl.")
@click.option("--repeats", type=click.IntRange(1), help="Runs of each; 5 by default.")
@AS_JSON
@FOLDER
def bench_command(
    names: tuple[str, ...],
    quick: bool,
    out: str | None,
    repeats: int | None,
    as_json: bool,
    data_home: str | None,
) -> None:
    """Measure speed against the other libraries that are installed.

    Runs from a checkout of the source, which has the benchmarks. NAME is machine,
    product, kernels, spd, series, sequences, graphs, transport, fit, cv, search,
    published, blocked, scaling, landmarks, dask or import; all of them by default,
    which takes more than an hour. A ratio above one means that kreinlearn is faster.
    Results are written as they come: an interrupted run loses nothing.
    """
    scripts = _benchmarks()
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
            _pass_on(process.stdout or (), file, as_json)
        if process.returncode:
            failed.append(name)
    if failed:
        click.echo(f"krein: {', '.join(failed)} failed, see above.", err=True)
        raise click.exceptions.Exit(1)


def _benchmarks() -> dict[str, Path]:
    """Return the scripts by name: of the checkout that runs, or the current folder."""
    for root in (Path(__file__).parents[3], Path.cwd()):
        scripts = sorted(root.glob("benchmarks/bench_*.py"))
        if scripts and (root / "src/kreinlearn/__init__.py").is_file():
            return {path.stem.removeprefix("bench_"): path for path in scripts}
    raise FileNotFoundError(
        "The benchmarks are not part of an installed package; run `krein bench` in the "
        "folder of a checkout of its source."
    )


def _pass_on(lines: Iterable[str], file: Path | None, as_json: bool) -> None:
    """Keep and print the results of one script as they come."""
    for number, line in enumerate(lines):
        if file:
            with file.open("a", encoding="utf-8") as kept:
                kept.write(line)
        if as_json:
            click.echo(line, nl=False)
            continue
        row = json.loads(line)
        if number == 0:
            click.echo(LINE.format(row["bench"], *TITLES))
        cells = [row["work"], row["library"], row["n"], row["dtype"]]
        cells += [
            row[name] and f"{row[name]:.3g}" for name in ("median_s", "ours_faster")
        ]
        click.echo(LINE.format(*("" if cell is None else cell for cell in cells)))
