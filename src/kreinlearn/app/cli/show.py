"""krein show."""

import json

import click

from kreinlearn.app.cli import report
from kreinlearn.app.cli.helping import GroupedHelpCommand, examples
from kreinlearn.app.cli.options import AS_JSON
from kreinlearn.app.cli.output import Facts


@click.command(
    "show",
    cls=GroupedHelpCommand,
    arguments={"model": "Model file written by `krein fit` or `kreinlearn.save`."},
    epilog=examples("krein show model.krein"),
)
@click.argument("model", metavar="MODEL")
@AS_JSON
def show_command(model: str, as_json: bool) -> None:
    """Describe a saved model: data, classes, held-out scores, settings, versions."""
    from kreinlearn import persistence
    from kreinlearn.io.schema import TrainingRecord

    fitted, stamp = persistence.load_stamped(model)
    record = TrainingRecord.from_notes(stamp["notes"])
    packages = persistence.STAMPED_PACKAGES
    found: Facts = {
        "model": model,
        "estimator": type(_last_step(fitted)).__name__,
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
    click.echo(f"Model      {found['estimator']}{source}")
    if record.summary:
        click.echo("\n".join(report.model_lines(found)))
    else:
        last = _last_step(fitted)
        settings = last.get_params() if hasattr(last, "get_params") else {}
        listed = ", ".join(f"{k}={v!r}" for k, v in settings.items() if v is not None)
        click.echo(f"Classes    {', '.join(map(str, found['classes'] or ['none']))}")
        click.echo(f"Settings   {listed}")
    written = ", ".join(f"{name} {stamp[name]}" for name in packages)
    click.echo(f"Saved      {f'{record.date}, ' if record.date else ''}{written}")


def _last_step(model: object) -> object:
    """Return the estimator at the end of a pipeline."""
    return model.steps[-1][1] if hasattr(model, "steps") else model
