"""Options that several commands share."""

import functools
import os
import shlex
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from kreinlearn._validation import SYMMETRIZERS
from kreinlearn.io.formats import FORMATS
from kreinlearn.kernels import KERNELS
from kreinlearn.kernels.transforms import FORMS

if TYPE_CHECKING:
    from kreinlearn.io import Table
    from kreinlearn.io.options import MatrixContent, ReadOptions
    from kreinlearn.io.schema import TableSchema
    from kreinlearn.search import Fold

KernelParams = dict[str, float | str | bool]
FILE_SAMPLES = {
    "rows": "of a table",
    "series": "of time series",
    "sequences": "of sequences",
    "graphs": "of graphs",
}
"""Kinds of samples in files, with their description in the help of --kernel."""
KERNEL_ALIASES = {"gauss": "rbf", "gaussian": "rbf", "edit": "levenshtein"}
"""Other names of kernels, for suggestions."""
SWITCH_VALUES = {"true": True, "false": False}


def kernels_between(samples: str) -> list[str]:
    """Return the kernels between samples of a kind that are registered now."""
    return [name for name, kernel in KERNELS.items() if kernel.samples == samples]


def file_kernels() -> list[str]:
    """Return the kernels between all samples that files hold."""
    return [name for kind in FILE_SAMPLES for name in kernels_between(kind)]


def _registered(
    context: click.Context, option: click.Parameter, given: str | None
) -> str | None:
    """Return the name of a kernel, or raise: a choice made at the time of the call."""
    if given is None:
        return None
    names = file_kernels()
    try:
        return click.Choice(names).convert(given, option, context)
    except click.BadParameter as error:
        near = get_close_matches(given.lower(), [*names, *KERNEL_ALIASES], 1)
        if not near:
            raise
        name = KERNEL_ALIASES.get(near[0], near[0])
        message = f"{error.message} Did you mean {name!r}?"
        raise click.BadParameter(message, context, option) from None


def _completed(
    context: click.Context, option: click.Parameter, begun: str
) -> list[str]:
    return [name for name in file_kernels() if name.startswith(begun)]


class _KernelOption(click.Option):
    """An option whose help names the kernels at the time of the call."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        listed = [
            f"{what} {', '.join(kernels_between(k))}"
            for k, what in FILE_SAMPLES.items()
        ]
        self.help = f"The kernel: {'; '.join(listed)}."
        return super().get_help_record(ctx)


def _words() -> set[str]:
    """Return the parameters that are no numbers, such as a matrix of substitutions."""
    return {
        name
        for kind in FILE_SAMPLES
        for kernel in kernels_between(kind)
        for name, usual in KERNELS[kernel].parameters.items()
        if isinstance(usual, str | bool)
    }


def _parsed(
    context: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> KernelParams:
    """Return NAME=VALUE pairs as a dict."""
    params: KernelParams = {}
    for pair in given:
        name, _, value = pair.partition("=")
        if name in _words():
            params[name] = SWITCH_VALUES.get(value.lower(), value)
            continue
        try:
            params[name] = int(value) if value.lstrip("+-").isdigit() else float(value)
        except ValueError:
            raise click.BadParameter(
                f"expected NAME=VALUE with a number such as sigma=0.5, got {pair!r}."
            ) from None
    return params


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


AS_JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object per line."
)
FORCE = click.option("--force", is_flag=True, help="Replace files that exist.")
KERNEL_OPTION = click.option(
    "--kernel",
    cls=_KernelOption,
    callback=_registered,
    metavar="NAME",
    shell_complete=_completed,
    help="",
)
PARAM = click.option(
    "--param",
    "params",
    multiple=True,
    callback=_parsed,
    metavar="NAME=VALUE",
    help="Fix a parameter of the kernel; may be given several times.",
)
DISTANCE = click.option(
    "--distance",
    is_flag=True,
    help="The matrix holds distances; in npz it is named 'D' or is the only one.",
)
_MATRIX_OPTIONS = (
    DISTANCE,
    click.option(
        "--form",
        type=click.Choice(FORMS),
        help="How distances become similarities; widths are multiples of their median.",
    ),
    click.option(
        "--similarity",
        is_flag=True,
        help="The matrix holds similarities, even if it looks like distances: counts, "
        "or an adjacency matrix.",
    ),
    click.option(
        "--symmetrize",
        type=click.Choice(list(SYMMETRIZERS)),
        help="What to make of the two directions of a matrix that is not symmetric.",
    ),
)


FORMAT_OPTION = click.option(
    "--format",
    "format",
    type=click.Choice(list(FORMATS)),
    help="What the file holds, if its name does not determine it: 'pairs' are lines "
    "'a,b,score', 'blast' is outfmt 6, also of Foldseek, 'matrix' has names in the "
    "first line and the first column, 'ucr' has a label and a time series in each "
    "line.",
)
MISSING_OPTION = click.option(
    "--missing",
    type=float,
    metavar="VALUE",
    help="Fill value for missing pairs (default: error).",
)
LABELS_OPTION = click.option(
    "--labels",
    metavar="FILE",
    help="csv or tsv with name and label of each sample of a matrix, of pairs or of "
    "FASTA, or one label per line for a matrix without names; with more columns, "
    "--target names that of the labels.",
)
TARGET_OPTION = click.option(
    "--target", metavar="COL", help="Column of the labels in the file of --labels."
)
_PAIR_OPTIONS = (
    FORMAT_OPTION,
    LABELS_OPTION,
    SEP,
    DECIMAL,
    MISSING_OPTION,
    click.option(
        "--missing-self",
        type=float,
        metavar="VALUE",
        help="Fill value for missing similarities of samples with themselves "
        "(default: error).",
    ),
    click.option(
        "--repeated",
        type=click.Choice(list(SYMMETRIZERS)),
        help="What to make of several scores of one pair; of hits of a search the "
        "best by default.",
    ),
)
PAIR_OPTIONS = (
    "format",
    "labels",
    *DIALECT_OPTIONS,
    "missing",
    "missing_self",
    "repeated",
)


def data_options(
    groups: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options about the data of a command.

    The command takes those of the file as one argument, ``reading``, and those of
    features and of --form by their names.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def read_options(
            target: str | None,
            header: bool | None,
            drop: tuple[str, ...],
            id: str | None,
            distance: bool,
            similarity: bool,
            symmetrize: str | None,
            format: str | None,
            labels: str | None,
            sep: str | None,
            decimal: str,
            missing: float | None,
            missing_self: float | None,
            repeated: str | None,
            group: str | None = None,
            **rest: object,
        ) -> None:
            from kreinlearn.io.columns import ColumnRoles
            from kreinlearn.io.options import PairOptions, ReadOptions
            from kreinlearn.io.text import Dialect

            fills = missing, missing_self, repeated
            pairs = PairOptions(format, *fills, labels, Dialect(sep, decimal))
            reading = ReadOptions(
                target,
                header,
                holds=choose_content(distance, similarity),
                symmetrize=symmetrize,
                pairs=pairs,
                roles=ColumnRoles(drop, id, group),
            )
            command(reading=reading, **rest)

        groups_option = (GROUP,) if groups else ()
        table = (*_COLUMN_OPTIONS, *groups_option, *_FEATURE_OPTIONS)
        decorated: Callable[..., None] = read_options
        for option in reversed((*table, *_MATRIX_OPTIONS, *_PAIR_OPTIONS)):
            decorated = option(decorated)
        return decorated

    return decorate


def print_remark(table: "Table | TableSchema") -> None:
    """Print the note about filled or ignored values of a file."""
    if table.remark:
        click.echo(f"krein: {table.remark}", err=True)


def choose_content(distance: bool, similarity: bool) -> "MatrixContent | None":
    """Return the content of a matrix by the options, or raise if they contradict."""
    if distance and similarity:
        raise ValueError("Give --distance or --similarity, not both.")
    if distance:
        return "distances"
    return "similarities" if similarity else None


def check_form(form: str | None, distance: bool) -> None:
    """Raise if a form was named for what is neither given nor computed distances."""
    if form is not None and not distance:
        raise ValueError(
            "--form is a form of distances: it goes with --distance, or with a kernel "
            "that gives distances, such as dtw."
        )


def matrix_kernel(
    holds: "MatrixContent | None", form: str | None = None
) -> tuple[str, KernelParams]:
    """Return the kernel of a matrix that was read, and its parameters."""
    if holds == "distances":
        return "distance", {} if form is None else {"form": form}
    return "precomputed", {"check": False} if holds == "similarities" else {}


def repeated_options(names: Collection[str]) -> list[str]:
    """Return those of the named options that were given, as words of a command."""
    context = click.get_current_context()
    words: list[str] = []
    for option in context.command.params:
        name, value = str(option.name), context.params[str(option.name)]
        source = context.get_parameter_source(name)
        if name not in names or source is not ParameterSource.COMMANDLINE:
            continue
        if isinstance(value, bool):
            is_off = not value and option.secondary_opts
            words.append((option.secondary_opts if is_off else option.opts)[0])
            continue
        each_given = [value]
        if name == "params":
            each_given = [f"{n}={v}" for n, v in value.items()]
        elif isinstance(value, tuple):
            each_given = list(value)
        for each in each_given:
            word = next(
                (w for w, mark in SEPARATOR_NAMES.items() if mark == each), str(each)
            )
            words += [option.opts[0], word]
    return words


def whole_command() -> str:
    """Return the command as it was typed, but for --json: that makes no page."""
    context = click.get_current_context()
    words = [
        str(context.params[str(each.name)])
        for each in context.command.params
        if isinstance(each, click.Argument)
    ]
    options_given = {
        str(each.name)
        for each in context.command.params
        if isinstance(each, click.Option) and each.name != "as_json"
    }
    given = repeated_options(options_given)
    return shlex.join([*context.command_path.split(), *words, *given])


def cache_folder() -> str:
    """Return the folder where measures are kept; "off" means nowhere."""
    from kreinlearn._files import user_cache

    return os.environ.get("KREINLEARN_CACHE") or str(user_cache() / "measures")


@contextmanager
def measuring() -> Iterator[None]:
    """Show how far a measure between samples is, and keep it in the user's cache."""
    from kreinlearn import kernels
    from kreinlearn.app.runs import share_teller

    with share_teller(sys.stderr) as show:
        with kernels.measuring(cache=cache_folder(), progress=show):
            yield


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


def check_groups(reading: "ReadOptions", lam: float | None) -> None:
    """Raise if groups are named where there are no folds."""
    if reading.roles.group is not None and lam is not None:
        raise ValueError(
            f"--group keeps rows together in folds, and --lam goes without folds: to "
            f"leave the column out, use --drop {reading.roles.group}."
        )


def group_folds(table: "Table", count: int, option: str) -> "list[Fold] | None":
    """Return folds that keep groups together; None if there are no groups."""
    if table.groups is None or table.layout is None or table.y is None:
        return None
    from kreinlearn.app.methods import grouped_folds

    try:
        return grouped_folds(table.y, table.groups, count, seed=0)
    except ValueError as error:
        where = f"{table.path}, column {table.layout.group!r}"
        raise ValueError(f"{where}: {str(error)[:-1]} ({option}).") from None
