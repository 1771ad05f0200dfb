"""Help that shows what a command is for, examples, and its options in groups."""

import click

GROUPS: dict[str, tuple[str, ...]] = {
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
LAST = "Output and the rest"


class Taught(click.Command):
    """A command whose help shows its options in groups."""

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options, each below its heading."""
        heading_of = {name: head for head, names in GROUPS.items() for name in names}
        found: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                heading = heading_of.get(str(parameter.name), LAST)
                found.setdefault(heading, []).append(record)
        for heading in (*GROUPS, LAST):
            if heading in found:
                with formatter.section(heading):
                    formatter.write_dl(found[heading])


def examples(*commands: str) -> str:
    """Return the end of a help: commands that can be pasted, one in a line."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])
