"""krein inspect."""

import click


@click.command(epilog="Example:  krein inspect")
def inspect() -> None:
    """To be written."""
