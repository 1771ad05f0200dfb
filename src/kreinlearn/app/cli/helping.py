"""Help that shows what a command is for, examples, and its options in groups."""

from typing import Any

import click

OPTION_GROUPS: dict[str, tuple[str, ...]] = {
    "What the file holds": ("target", "labels", "header", "sep", "decimal", "format"),
    "Columns of a table that are no features": ("drop", "id", "group"),
    "How features are prepared": ("scale", "impute", "one_hot"),
    "Matrices and pairs": (
        "distance",
        "form",
        "similarity",
        "symmetrize",
        "missing",
        "missing_self",
        "repeated",
    ),
    "The similarity and the model": ("kernel", "params", "cv", "lam", "norm"),
    "Many samples": ("landmarks", "memory"),
    "The comparison": ("kernels", "methods", "folds", "repeats"),
    "The tests": ("permutations",),
}
"""Headings of the help, and the parameters below them; all others come last."""
ARGUMENTS_HEADING = "Arguments"
LAST_HEADING = "Output and the rest"


class GroupedHelpCommand(click.Command):
    """Command whose help describes its arguments and groups its options.

    Parameters
    ----------
    *args, **attrs
        As in ``click.Command``.
    arguments : dict
        Help of each argument, by name. Before version 8.5, click has no place for it.
    """

    def __init__(self, *args: Any, arguments: dict[str, str], **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.arguments = arguments

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write arguments and options, each below its heading."""
        headings = {
            name: head for head, names in OPTION_GROUPS.items() for name in names
        }
        found: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            name = str(parameter.name)
            if isinstance(parameter, click.Argument):
                row = (parameter.make_metavar(ctx), self.arguments[name])
                found.setdefault(ARGUMENTS_HEADING, []).append(row)
                continue
            record = parameter.get_help_record(ctx)
            if record is not None:
                found.setdefault(headings.get(name, LAST_HEADING), []).append(record)
        for heading in (ARGUMENTS_HEADING, *OPTION_GROUPS, LAST_HEADING):
            if heading in found:
                with formatter.section(heading):
                    formatter.write_dl(found[heading])


def examples(*commands: str) -> str:
    """Return the end of a help: commands that can be pasted, one in a line."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])
