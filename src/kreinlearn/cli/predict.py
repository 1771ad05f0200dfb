"""krein predict."""

import click


@click.command(epilog="Example:  krein predict")
def predict() -> None:
    """To be written."""
