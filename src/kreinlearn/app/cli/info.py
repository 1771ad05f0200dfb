"""krein info and krein show."""

import inspect
import json
import platform
from importlib.metadata import version

import click

from kreinlearn.app.cli.data import find_cache_folder
from kreinlearn.app.cli.fit import list_model_lines
from kreinlearn.app.cli.options import JSON_OPTION, Facts, command


@click.command("info", epilog="Example:  krein info --json")
@click.option(
    "--compile",
    "is_compiled",
    is_flag=True,
    help="Compile all kernels now, e.g. when an image is built; about a minute.",
)
@JSON_OPTION
def info_command(is_compiled: bool, as_json: bool) -> None:
    """Print versions, threads, linear algebra libraries and where measures are kept."""
    from threadpoolctl import threadpool_info

    if is_compiled:
        from kreinlearn.kernels.precompile import compile_kernels

        def show(name: str, done: int, total: int) -> None:
            click.echo(f"compiling {name} ({done + 1} of {total})", err=True)

        compile_kernels(show)
    packages = ("kreinlearn", "numpy", "scipy", "scikit-learn", "numba", "skops")
    facts: dict[str, str | int] = {name: version(name) for name in packages}
    import numba
    import numpy  # noqa: F401  (loads its BLAS, so that it is listed)

    facts["python"] = platform.python_version()
    facts["platform"] = platform.platform()
    facts["numba threads"] = numba.get_num_threads()
    facts["kept measures"] = str(find_cache_folder())
    for pool in threadpool_info():
        key = f"{pool['user_api']} ({pool['internal_api']} {pool['version']})"
        facts[key] = f"{pool['num_threads']} threads"
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, fact in facts.items():
        click.echo(f"{name:<28} {fact}")


@command(
    "krein show model.krein",
    model="Model file written by `krein fit` or `kreinlearn.save`.",
)
@click.argument("model", metavar="MODEL")
@JSON_OPTION
def show_command(model: str, as_json: bool) -> None:
    """Describe a saved model: data, classes, held-out scores, settings, versions."""
    from kreinlearn import persistence
    from kreinlearn.io.dataset import TrainingRecord

    fitted, stamp = persistence.load_stamped(model)
    record = TrainingRecord.from_notes(stamp["notes"])
    packages = persistence.STAMPED_PACKAGES
    last: object = fitted.steps[-1][1] if hasattr(fitted, "steps") else fitted
    found: Facts = {
        "model": model,
        "estimator": type(last).__name__,
        "classes": fitted.classes_.tolist() if hasattr(fitted, "classes_") else None,
        **record.summary,
        "train": record.source,
        "date": record.date,
        "versions": {name: stamp[name] for name in packages},
    }
    if as_json:
        click.echo(json.dumps(found))
        return
    source = f", trained on {record.source}" if record.source else ""
    if record.matrices:
        source += f" and others; matrices: {', '.join(record.matrices)}"
    click.echo(f"Model      {found['estimator']}{source}")
    if record.summary:
        click.echo("\n".join(list_model_lines(found)))
    else:
        # A model of an earlier version lacks newer parameters, which get_params reads.
        names = inspect.signature(type(last)).parameters
        settings = {name: getattr(last, name, None) for name in sorted(names)}
        listed = ", ".join(f"{k}={v!r}" for k, v in settings.items() if v is not None)
        click.echo(f"Classes    {', '.join(map(str, found['classes'] or ['none']))}")
        click.echo(f"Settings   {listed}")
    written = ", ".join(f"{name} {stamp[name]}" for name in packages)
    click.echo(f"Saved      {f'{record.date}, ' if record.date else ''}{written}")
