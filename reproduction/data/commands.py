"""``python -m reproduction data``: list, check, fetch."""

import json

import click

from kreinlearn.app.cli.options import JSON_OPTION

DATA_FOLDER = click.option(
    "--data",
    "data_home",
    metavar="DIR",
    help="Folder of the data; $KREINLEARN_DATA or a cache folder by default.",
)


@click.group("data", epilog="Example:  python -m reproduction data check")
def data_command() -> None:
    """List, check and fetch the data sets of the paper."""


@data_command.command("list", epilog="Example:  python -m reproduction data list")
@DATA_FOLDER
@JSON_OPTION
def list_data(data_home: str | None, as_json: bool) -> None:
    """Print the data sets, and whether the folder has them."""
    from reproduction.data import available, info, names

    here = available(data_home)
    for name in names():
        entry = info(name)
        place = "here" if name in here else "missing"
        rows = entry.parts[entry.paper_part].n_samples
        if as_json:
            shape = {"n_samples": rows, "n_features": entry.n_features}
            click.echo(json.dumps({"name": name, **shape, "here": name in here}))
        else:
            click.echo(f"{name:<14} {rows:6d} x {entry.n_features:<4d} {place}")


@data_command.command(
    "check", epilog="Example:  python -m reproduction data check --data DIR"
)
@DATA_FOLDER
@JSON_OPTION
def check_data(data_home: str | None, as_json: bool) -> None:
    """Compare the files with their checksums and counts; exit 2 if one is wrong."""
    from reproduction.data import check

    found = check(data_home)
    for record in found:
        line = f"{record.name:<14} {record.status:<16} {record.detail}".rstrip()
        click.echo(json.dumps(record._asdict()) if as_json else line)
    wrong = [each.name for each in found if each.status not in ("ok", "missing")]
    if wrong:
        raise ValueError(
            f"{len(wrong)} data sets have unexpected contents: {', '.join(wrong)}; "
            "remove their files and run `python -m reproduction data fetch NAME`."
        )


@data_command.command(
    "fetch", epilog="Example:  python -m reproduction data fetch monks1 sonar"
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@DATA_FOLDER
def fetch_data(names: tuple[str, ...], data_home: str | None) -> None:
    """Download data sets from their public homes (UCI, LIBSVM); `all` for all."""
    from reproduction.data import fetch
    from reproduction.data import names as known

    for name in known() if names == ("all",) else names:
        for path in fetch(name, data_home):
            click.echo(str(path))
