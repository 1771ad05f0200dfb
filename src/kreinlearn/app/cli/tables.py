"""Options of tables: text files, roles of columns, and preparation of features."""

import functools
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from kreinlearn.io import Table
    from kreinlearn.io.columns import ColumnRoles
    from kreinlearn.search import Fold

SCALE_CHOICES = ("minmax", "standard", "robust", "none")
SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t", "space": " "}
"""Names of separators that are hard to type."""
PREPARATION_OPTIONS = ("scale", "impute", "one_hot")
DIALECT_OPTIONS = ("sep", "decimal")


def _separator(
    context: click.Context, option: click.Parameter, given: str | None
) -> str | None:
    """Return what separates cells, or raise if nothing can."""
    mark = SEPARATOR_NAMES.get(given, given) if given is not None else None
    if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in "\"'.+-\r\n"):
        raise click.BadParameter(
            "expected one character that separates cells, such as ; or | (in quotes, "
            f"for the shell), or 'tab' or 'space', got {given!r}."
        )
    return mark


HEADER = click.option(
    "--header/--no-header",
    default=None,
    help="Whether the first line holds names; by default it does if no cell of it is "
    "a number, or if some are, but its words are unlike those below.",
)
SEP = click.option(
    "--sep",
    metavar="CHAR",
    callback=_separator,
    help="What separates the cells of a text: a character, 'tab' or 'space'; by "
    "default a comma, a semicolon or a tab, whichever the first line has.",
)
DECIMAL = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    default=".",
    show_default=True,
    help="What stands before decimals: a comma for numbers such as 5,8.",
)
DROP = click.option(
    "--drop",
    multiple=True,
    metavar="COL",
    help="Leave out a column, by name or position; may be given several times.",
)
ID = click.option(
    "--id",
    "id",
    metavar="COL",
    help="Column of sample names: not a feature, but kept in predictions.",
)
GROUP = click.option(
    "--group",
    metavar="COL",
    help="Group column, such as a patient ID, for rows that belong together: "
    "groups are never split across folds. It is not a feature.",
)
_COLUMN_OPTIONS = (
    click.option(
        "--target",
        metavar="COL",
        help="Column of the labels, by name or position (from 1; -1 is the last); the "
        "last by default, in the format ucr the first. For npz an array, 'y' by "
        "default; for npy a file; for FASTA what follows the name ('description', by "
        "default), its last bar ('bar'), or the number of a field of the header.",
    ),
    HEADER,
    DROP,
    ID,
)
_FEATURE_OPTIONS = (
    click.option(
        "--scale",
        type=click.Choice(SCALE_CHOICES),
        default=SCALE_CHOICES[0],
        show_default=True,
        help="How features are scaled: to [0, 1]; to mean 0 and variance 1; by median "
        "and quantiles (5 % to 95 %), for columns with outliers; or not at all.",
    ),
    click.option(
        "--impute",
        is_flag=True,
        help="Fill missing values with the median or, for text, the most frequent one.",
    ),
    click.option(
        "--one-hot", is_flag=True, help="Encode columns of text as zeros and ones."
    ),
)


def table_options(
    groups: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what adds the options of tables.

    A command takes those of columns as one argument, ``roles``, and those of features
    by their names.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def bundled(
            drop: tuple[str, ...],
            id: str | None,
            group: str | None = None,
            **rest: object,
        ) -> None:
            from kreinlearn.io.columns import ColumnRoles

            command(roles=ColumnRoles(drop, id, group), **rest)

        whole: Callable[..., None] = bundled
        for option in reversed(
            (*_COLUMN_OPTIONS, *((GROUP,) if groups else ()), *_FEATURE_OPTIONS)
        ):
            whole = option(whole)
        return whole

    return decorated


def given_options(names: tuple[str, ...]) -> list[str]:
    """Return those of the named options that were given, as they are typed."""
    context = click.get_current_context()
    return [
        option.opts[0]
        for option in context.command.params
        if option.name in names
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]


def check_no_features(path: str, holds: str, names: tuple[str, ...] = ()) -> None:
    """Raise if the command was given an option that only a table takes."""
    given = given_options((*names, *PREPARATION_OPTIONS))
    if given:
        raise ValueError(
            f"{path} holds {holds}; {', '.join(given)} "
            f"{'goes' if len(given) == 1 else 'go'} with a table: leave "
            f"{'it' if len(given) == 1 else 'them'} out."
        )


@contextmanager
def suggest_command() -> Iterator[None]:
    """Add the complete command to errors about several problems of a table."""
    from kreinlearn.app.cli.options import whole_command
    from kreinlearn.pipelines import PreparationError

    try:
        yield
    except PreparationError as error:
        start = str(error).rpartition(" Use --")[0]
        if not start:
            raise
        words = error.options
        if given_options(("id",)) and "--id" in words:
            words = ["--drop" if word == "--id" else word for word in words]
        command = f"{whole_command()} {shlex.join(words)}"
        raise ValueError(f"{start} This command works: {command}") from None


def check_groups(roles: "ColumnRoles", lam: float | None) -> None:
    """Raise if groups are named where there are no folds."""
    if roles.group is not None and lam is not None:
        raise ValueError(
            f"--group keeps rows together in folds, and --lam goes without folds: to "
            f"leave the column out, use --drop {roles.group}."
        )


def group_folds(table: "Table", count: int, option: str) -> "list[Fold] | None":
    """Return folds that keep groups together; None if there are no groups."""
    if table.groups is None or table.layout is None or table.y is None:
        return None
    from kreinlearn.app.methods.tuning import grouped_folds

    try:
        return grouped_folds(table.y, table.groups, count, seed=0)
    except ValueError as error:
        where = f"{table.path}, column {table.layout.group!r}"
        raise ValueError(f"{where}: {str(error)[:-1]} ({option}).") from None
