"""Options that several commands share."""

import click

FOLDER = click.option(
    "--data",
    "data_home",
    metavar="DIR",
    help="Folder of the data; $KREINLEARN_DATA or a cache folder by default.",
)

AS_JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object a line."
)
FORCE = click.option("--force", is_flag=True, help="Replace files that exist.")
