"""The command line: parses, calls, exits with a code."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

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


@app.group(epilog="Example:  krein data check")
def data() -> None:
    """List, check and fetch the data sets of the paper."""


FOLDER = click.option(
    "--data",
    "data_home",
    metavar="DIR",
    help="Folder of the data; $KREINLEARN_DATA or a cache folder by default.",
)


@data.command("list", epilog="Example:  krein data list")
@FOLDER
def list_data(data_home: str | None) -> None:
    """Print the data sets, and whether they are here."""
    from kreinlearn.datasets import available, info, names

    here = available(data_home)
    for name in names():
        entry = info(name)
        place = "here" if name in here else "missing"
        rows = entry.parts[entry.paper_part].n_samples
        click.echo(f"{name:<14} {rows:6d} x {entry.n_features:<4d} {place}")


@data.command("check", epilog="Example:  krein data check --data ~/krein-data")
@FOLDER
def check_data(data_home: str | None) -> None:
    """Compare the files with their checksums and counts; exit 2 if one is wrong."""
    from kreinlearn.datasets import check

    found = check(data_home)
    for record in found:
        click.echo(f"{record.name:<14} {record.status:<16} {record.detail}".rstrip())
    wrong = [each.name for each in found if each.status not in ("ok", "missing")]
    if wrong:
        raise ValueError(
            f"{len(wrong)} data sets are not what they should be: {', '.join(wrong)}; "
            "remove their files and run `krein data fetch NAME`."
        )


@data.command("fetch", epilog="Example:  krein data fetch monks1 sonar")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@FOLDER
def fetch_data(names: tuple[str, ...], data_home: str | None) -> None:
    """Download data sets from their public homes (UCI, LIBSVM); `all` for all."""
    from kreinlearn.datasets import fetch
    from kreinlearn.datasets import names as known

    for name in known() if names == ("all",) else names:
        for path in fetch(name, data_home):
            click.echo(str(path))


@app.command(epilog="Example:  krein reproduce table3 --runs 10 --out results")
@click.argument("name", metavar="{table1..table7, fig1..fig3, all}")
@FOLDER
@click.option("--runs", type=int, help="Repetitions; the experiment's own by default.")
@click.option("--dataset", help="The only data set; for faces also `digits`.")
@click.option("--out", default="results", show_default=True, help="Folder to write to.")
@click.option("--jobs", type=int, help="Worker processes; one a processor by default.")
@click.option("--limit", type=float, default=1800.0, help="Seconds a cell may take.")
@click.option("--retry", is_flag=True, help="Run failed cells again.")
def reproduce(
    name: str,
    data_home: str | None,
    runs: int | None,
    dataset: str | None,
    out: str,
    jobs: int | None,
    limit: float,
    retry: bool,
) -> None:
    """Run a table or figure of the paper, and set ours beside the published numbers.

    Each result is written as it is found: the same command again continues where this
    one stopped, or, if nothing is missing, only writes the pages again.
    """
    from kreinlearn import experiments, report

    for each in experiments.EXPERIMENTS if name == "all" else [name]:
        with experiments.watcher(sys.stderr, each) as progress:
            records = experiments.run_experiment(
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
        written = report.write(each, records, out)
        text = next(path for path in written if path.suffix == ".md")
        click.echo(Path(text).read_text(encoding="utf-8"))
        click.echo("\n".join(str(path) for path in written))


@app.command(epilog="Example:  krein bench product fit --out records")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quick", is_flag=True, help="Tiny sizes, to see that all works.")
@click.option("--out", metavar="DIR", help="Append the results to DIR/NAME.jsonl.")
@click.option("--repeats", type=click.IntRange(1), help="Turns of each; 5 by default.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a result.")
@FOLDER
def bench(
    names: tuple[str, ...],
    quick: bool,
    out: str | None,
    repeats: int | None,
    as_json: bool,
    data_home: str | None,
) -> None:
    """Measure speed, next to other libraries that are installed.

    NAME is machine, product, kernels, spd, fit, cv, blocked, scaling or import; all of
    them by default, which takes about an hour. A ratio above one means that we are
    faster. Results are written as they come: an interrupted run loses nothing.
    """
    scripts = _benchmarks()
    for name in names:
        if name not in scripts:
            listed = ", ".join(repr(each) for each in scripts)
            raise ValueError(f"'NAME' must be one of {listed}, got {name!r}.")
    options = ["--quick"] if quick else []
    options += ["--repeats", str(repeats)] if repeats else []
    environ = {"KREINLEARN_DATA": data_home} if data_home else {}
    if out:
        Path(out).mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names or scripts:
        call = [sys.executable, str(scripts[name]), *options]
        settings: dict[str, Any] = {"text": True, "env": os.environ | environ}
        with subprocess.Popen(call, stdout=subprocess.PIPE, **settings) as process:
            file = Path(out, f"{name}.jsonl") if out else None
            _pass_on(process.stdout or (), file, as_json)
        if process.returncode:
            failed.append(name)
    if failed:
        click.echo(f"krein: {', '.join(failed)} failed, see above.", err=True)
        raise click.exceptions.Exit(1)


def _benchmarks() -> dict[str, Path]:
    """Return the scripts by name: in the package, or beside it in a checkout."""
    here = Path(__file__).parent
    for folder in (here / "benchmarks", here.parents[1] / "benchmarks"):
        scripts = sorted(folder.glob("bench_*.py"))
        if scripts:
            return {path.stem.removeprefix("bench_"): path for path in scripts}
    raise FileNotFoundError(f"The benchmarks are neither in {here} nor beside it.")


def _pass_on(lines: Iterable[str], file: Path | None, as_json: bool) -> None:
    """Keep and print the results of one script as they come."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for number, line in enumerate(lines):
        if file:
            with file.open("a", encoding="utf-8") as kept:
                kept.write(line)
        if as_json:
            click.echo(line, nl=False)
            continue
        row = json.loads(line)
        # One table a result, all of the same widths, for they come one by one.
        table = Table(box=None, collapse_padding=True, pad_edge=False)
        table.show_header = number == 0
        table.add_column(row["bench"], width=26)
        table.add_column("library", width=18)
        for title, width in (("n", 8), ("type", 7), ("seconds", 8), ("ratio", 7)):
            table.add_column(title, width=width, justify="right")
        cells = [row["work"], row["library"], row["n"], row["dtype"]]
        cells += [_rounded(row["median_s"]), _rounded(row["ours_faster"])]
        table.add_row(*("" if cell is None else str(cell) for cell in cells))
        console.print(table)


def _rounded(value: float | None) -> str | None:
    return None if value is None else f"{value:.3g}"


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
    except BrokenPipeError:  # whoever read our output, such as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except (ValueError, TypeError, OSError, MemoryError) as error:
        click.echo(f"krein: {' '.join(str(error).split())}", err=True)
        code = 2
    except (click.Abort, KeyboardInterrupt):  # click has ended the line by then
        click.echo("krein: interrupted.", err=True)
        code = 130
    sys.exit(code if isinstance(code, int) else 0)
