"""krein compare."""

import click


@click.command(epilog="Example:  krein compare")
def compare() -> None:
    """To be written."""
