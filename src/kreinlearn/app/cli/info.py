"""krein info."""

import json
import platform
from importlib.metadata import version

import click

from kreinlearn.app.cli.options import AS_JSON, cache_folder


@click.command("info", epilog="Example:  krein info --json")
@click.option(
    "--compile",
    "is_compiled",
    is_flag=True,
    help="Compile all kernels now, e.g. when an image is built; about a minute.",
)
@AS_JSON
def info_command(is_compiled: bool, as_json: bool) -> None:
    """Print versions, threads, linear algebra libraries and where measures are kept."""
    from threadpoolctl import threadpool_info

    if is_compiled:
        compile_with_progress()

    packages = ("kreinlearn", "numpy", "scipy", "scikit-learn", "numba", "skops")
    facts: dict[str, str | int] = {name: version(name) for name in packages}
    import numba
    import numpy  # noqa: F401  (loads its BLAS, so that it is listed)

    facts["python"] = platform.python_version()
    facts["platform"] = platform.platform()
    facts["numba threads"] = numba.get_num_threads()
    facts["kept measures"] = str(cache_folder())
    for pool in threadpool_info():
        key = f"{pool['user_api']} ({pool['internal_api']} {pool['version']})"
        facts[key] = f"{pool['num_threads']} threads"
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, fact in facts.items():
        click.echo(f"{name:<28} {fact}")


def compile_with_progress() -> None:
    """Compile all kernels; print one line for each to stderr."""
    from kreinlearn.kernels.precompile import compile_kernels

    def show(name: str, done: int, total: int) -> None:
        click.echo(f"compiling {name} ({done + 1} of {total})", err=True)

    compile_kernels(show)
