"""Options that several commands share."""

from typing import Any

import click

from kreinlearn.kernels import KERNELS


def row_kernels() -> tuple[str, ...]:
    """Return the names of the kernels between rows of a table.

    Returns
    -------
    tuple of str
        Those known now.
    """
    return tuple(each.name for each in KERNELS.values() if each.samples == "rows")


class KernelName(click.Choice):
    """A kernel between rows of a table, of those known when the command runs."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the name, or fail."""
        self.choices = row_kernels()
        return str(super().convert(value, param, ctx))


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
TARGET = click.option(
    "--target",
    metavar="COL",
    help="Column of the labels, by name or position (from 1; -1 is the last); the last "
    "by default. For npz an array, 'y' by default; for npy a file.",
)
HEADER = click.option(
    "--header/--no-header",
    default=None,
    help="Whether the first line holds names; by default if no cell of it is a number.",
)
NO_SCALE = click.option(
    "--no-scale", is_flag=True, help="Take features as they are, not scaled to [0, 1]."
)
IMPUTE = click.option(
    "--impute",
    is_flag=True,
    help="Fill missing values: by the median, or the most frequent text.",
)
ONE_HOT = click.option(
    "--one-hot", is_flag=True, help="Encode columns of text as zeros and ones."
)
KERNEL = click.option(
    "--kernel",
    type=KernelName(row_kernels()),
    metavar="NAME",
    help=f"The kernel: {', '.join(row_kernels())}.",
)


def _parsed(
    context: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> dict[str, Any]:
    """Return NAME=VALUE pairs as a dict."""
    params: dict[str, Any] = {}
    for pair in given:
        name, _, value = pair.partition("=")
        try:
            params[name] = int(value) if value.lstrip("+-").isdigit() else float(value)
        except ValueError:
            raise click.BadParameter(
                f"expected NAME=VALUE with a number such as sigma=0.5, got {pair!r}."
            ) from None
    return params


PARAM = click.option(
    "--param",
    "params",
    multiple=True,
    callback=_parsed,
    metavar="NAME=VALUE",
    help="A parameter of the kernel, fixed; may be given several times.",
)
