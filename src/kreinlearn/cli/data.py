"""krein data: list, check, fetch."""

import json

import click

from kreinlearn.cli.options import AS_JSON, FOLDER


@click.group("data", epilog="Example:  krein data check")
def data_command() -> None:
    """List, check and fetch the data sets of the paper."""


@data_command.command("list", epilog="Example:  krein data list")
@FOLDER
@AS_JSON
def list_data(data_home: str | None, as_json: bool) -> None:
    """Print the data sets, and whether they are here."""
    from kreinlearn.datasets import available, info, names

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


@data_command.command("check", epilog="Example:  krein data check --data ~/krein-data")
@FOLDER
@AS_JSON
def check_data(data_home: str | None, as_json: bool) -> None:
    """Compare the files with their checksums and counts; exit 2 if one is wrong."""
    from kreinlearn.datasets import check

    found = check(data_home)
    for record in found:
        line = f"{record.name:<14} {record.status:<16} {record.detail}".rstrip()
        click.echo(json.dumps(record._asdict()) if as_json else line)
    wrong = [each.name for each in found if each.status not in ("ok", "missing")]
    if wrong:
        raise ValueError(
            f"{len(wrong)} data sets are not what they should be: {', '.join(wrong)}; "
            "remove their files and run `krein data fetch NAME`."
        )


@data_command.command("fetch", epilog="Example:  krein data fetch monks1 sonar")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@FOLDER
def fetch_data(names: tuple[str, ...], data_home: str | None) -> None:
    """Download data sets from their public homes (UCI, LIBSVM); `all` for all."""
    from kreinlearn.datasets import fetch
    from kreinlearn.datasets import names as known

    for name in known() if names == ("all",) else names:
        for path in fetch(name, data_home):
            click.echo(str(path))
