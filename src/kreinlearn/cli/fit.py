"""krein fit."""

import click


@click.command(epilog="Example:  krein fit")
def fit() -> None:
    """To be written."""
