"""Options that several commands share, their help, and tables of results."""

import functools
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kreinlearn._validation import SYMMETRIZERS
from kreinlearn.io.dataset import MatrixContent, ReadOptions
from kreinlearn.io.formats import FILE_FORMATS
from kreinlearn.kernels import KERNELS
from kreinlearn.kernels.transforms import FORMS

if TYPE_CHECKING:
    from rich.table import Table

Command = Callable[..., None]
Decorator = Callable[[Command], Command]
Facts = dict[str, Any]
"""Results of a command, as JSON takes them."""
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
SCALE_CHOICES = ("minmax", "standard", "robust", "none")
SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t", "space": " "}
"""Names of separators that are hard to type."""
PREPARATION_OPTIONS = ("scale", "impute", "one_hot")
READ_FIELDS = {field.name for field in fields(ReadOptions)} - {"labels"}
OPTION_GROUPS: dict[str, tuple[str, ...]] = {
    "Content of the file": ("target", "labels", "header", "sep", "decimal", "format"),
    "Columns of a table that are not features": ("drop", "id", "group"),
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
        headings = {n: head for head, names in OPTION_GROUPS.items() for n in names}
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


def command(*lines: str, **arguments: str) -> Callable[[Command], click.Command]:
    """Return a decorator that makes a command, with examples and help of arguments."""
    name, epilog = lines[0].split()[1], examples(*lines)
    return click.command(name, GroupedHelpCommand, arguments=arguments, epilog=epilog)


def list_kernels(samples: str | None = None) -> list[str]:
    """Return the kernels that are registered now, between samples of files."""
    kinds = FILE_SAMPLES if samples is None else (samples,)
    return [name for kind in kinds for name, k in KERNELS.items() if k.samples == kind]


def suggest_kernel(given: str, known: Sequence[str]) -> str:
    """Return a question about a known kernel with a similar name, or nothing."""
    near = get_close_matches(given.lower(), [*known, *KERNEL_ALIASES], 1)
    name = KERNEL_ALIASES.get(near[0], near[0]) if near else None
    return f" Did you mean {name!r}?" if name in known else ""


def _check_kernel(
    context: click.Context, option: click.Parameter, given: str | None
) -> str | None:
    """Return the name of a kernel, or raise: a choice made at the time of the call."""
    if given is None:
        return None
    names = list_kernels()
    try:
        return click.Choice(names).convert(given, option, context)
    except click.BadParameter as error:
        message = error.message + suggest_kernel(given, names)
        raise click.BadParameter(message, context, option) from None


class _KernelOption(click.Option):
    """An option whose help names the kernels at the time of the call."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        kernels = (f"{w} {', '.join(list_kernels(k))}" for k, w in FILE_SAMPLES.items())
        self.help = f"The kernel: {'; '.join(kernels)}."
        return super().get_help_record(ctx)


def _parse_params(
    context: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> KernelParams:
    """Return NAME=VALUE pairs as a dict; some values are words, such as a matrix."""
    words = {
        name
        for kernel in list_kernels()
        for name, usual in KERNELS[kernel].parameters.items()
        if isinstance(usual, str | bool)
    }
    params: KernelParams = {}
    for pair in given:
        name, _, value = pair.partition("=")
        if name in words:
            params[name] = SWITCH_VALUES.get(value.lower(), value)
            continue
        try:
            params[name] = int(value) if value.lstrip("+-").isdigit() else float(value)
        except ValueError:
            raise click.BadParameter(
                f"expected NAME=VALUE with a number such as sigma=0.5, got {pair!r}."
            ) from None
    return params


def _parse_separator(
    context: click.Context, option: click.Parameter, given: str | None
) -> str | None:
    """Return the separator of cells, or raise if it cannot be one."""
    mark = SEPARATOR_NAMES.get(given, given) if given is not None else None
    if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in "\"'.+-\r\n"):
        raise click.BadParameter(
            "expected one character that separates cells, such as ; or | (in quotes, "
            f"for the shell), or 'tab' or 'space', got {given!r}."
        )
    return mark


HEADER_OPTION = click.option(
    "--header/--no-header",
    default=None,
    help="Whether the first line holds names; by default it does if no cell of it is "
    "a number, or if some are, but its words are unlike those below.",
)
SEP_OPTION = click.option(
    "--sep",
    metavar="CHAR",
    callback=_parse_separator,
    help="Separator of cells: a character, 'tab' or 'space'; by default a comma, a "
    "semicolon or a tab, whichever the first line has.",
)
DECIMAL_OPTION = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    default=".",
    show_default=True,
    help="Decimal mark: a comma for numbers such as 5,8.",
)
GROUP_OPTION = click.option(
    "--group",
    metavar="COL",
    help="Group column, such as a patient ID, for rows that belong together: "
    "groups are never split across folds. It is not a feature.",
)
JSON_OPTION = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object per line."
)
FORCE_OPTION = click.option("--force", is_flag=True, help="Replace files that exist.")
KERNEL_OPTION = click.option(
    "--kernel",
    cls=_KernelOption,
    callback=_check_kernel,
    metavar="NAME",
    shell_complete=lambda context, option, begun: [
        name for name in list_kernels() if name.startswith(begun)
    ],
    help="",
)
PARAM_OPTION = click.option(
    "--param",
    "params",
    multiple=True,
    callback=_parse_params,
    metavar="NAME=VALUE",
    help="Fix a parameter of the kernel; may be given several times.",
)
DISTANCE_OPTION = click.option(
    "--distance",
    is_flag=True,
    help="The matrix holds distances; in npz it is named 'D' or is the only one.",
)
FORMAT_OPTION = click.option(
    "--format",
    "format",
    type=click.Choice(list(FILE_FORMATS)),
    help="Format of the file, if its name does not determine it: 'pairs' are lines "
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
DATA_OPTIONS = (
    click.option(
        "--target",
        metavar="COL",
        help="Column of the labels, by name or position (from 1; -1 is the last); the "
        "last by default, in the format ucr the first. For npz an array, 'y' by "
        "default; for npy a file; for FASTA what follows the name ('description', by "
        "default), its last bar ('bar'), or the number of a field of the header.",
    ),
    HEADER_OPTION,
    click.option(
        "--drop",
        multiple=True,
        metavar="COL",
        help="Leave out a column, by name or position; may be given several times.",
    ),
    click.option(
        "--id",
        "id",
        metavar="COL",
        help="Column of sample names: not a feature, but kept in predictions.",
    ),
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
    DISTANCE_OPTION,
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
        help="Aggregate of the two directions of a matrix that is not symmetric.",
    ),
    FORMAT_OPTION,
    LABELS_OPTION,
    SEP_OPTION,
    DECIMAL_OPTION,
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
        help="Aggregate of several scores of one pair; by default the best hit of a "
        "search.",
    ),
)
"""Options about training samples."""


def read_options(*decorators: Decorator) -> Decorator:
    """Return a decorator that adds options, most of them about a file.

    The command takes those of the file as one argument, ``reading``, and others by
    their names.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(
            labels: str | None, distance: bool, similarity: bool = False, **rest: Any
        ) -> None:
            if distance and similarity:
                raise ValueError("Give --distance or --similarity, not both.")
            given = {name: rest.pop(name) for name in READ_FIELDS & rest.keys()}
            holds: MatrixContent | None = "similarities" if similarity else None
            reading = ReadOptions(
                holds="distances" if distance else holds, label_file=labels, **given
            )
            command(reading=reading, **rest)

        decorated: Command = run
        for option in reversed(decorators):
            decorated = option(decorated)
        return decorated

    return decorate


def _iterate_given(names: Collection[str]) -> Iterator[tuple[click.Parameter, Any]]:
    """Yield those of the named parameters that were typed, with their values."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name in names and source is ParameterSource.COMMANDLINE:
            yield parameter, context.params[name]


def list_given(names: Collection[str]) -> list[str]:
    """Return those of the named options that were given, without their values."""
    return [option.opts[0] for option, _ in _iterate_given(names)]


def repeat_options(names: Collection[str]) -> list[str]:
    """Return those of the named options that were given, as words of a command."""
    words: list[str] = []
    for option, value in _iterate_given(names):
        if isinstance(value, bool):
            is_off = not value and option.secondary_opts
            words.append((option.secondary_opts if is_off else option.opts)[0])
            continue
        values = list(value) if isinstance(value, tuple) else [value]
        if isinstance(value, dict):
            values = [f"{n}={v}" for n, v in value.items()]
        marks = {mark: word for word, mark in SEPARATOR_NAMES.items() if word != "\\t"}
        for each in values:
            words += [option.opts[0], marks.get(each, str(each))]
    return words


def repeat_command() -> str:
    """Return the command with all options but --json."""
    context = click.get_current_context()
    params = context.command.params
    words: list[str] = []
    for each in params:
        if isinstance(each, click.Argument):
            value = context.params[str(each.name)]
            words += value if isinstance(value, tuple) else [str(value)]
    names = {str(each.name) for each in params if isinstance(each, click.Option)}
    given = repeat_options(names - {"as_json"})
    return shlex.join([*context.command_path.split(), *words, *given])


def print_note(note: str) -> None:
    """Print a note to stderr, if there is one."""
    if note:
        click.echo(f"krein: {note}", err=True)


def make_table(
    left: Sequence[str], right: Sequence[str], title: str | None = None
) -> "Table":
    """Return a table without rows: columns of words, then columns of numbers."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(title=title, box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for name in left:
        table.add_column(name, no_wrap=True)
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def format_best(is_best: bool, text: str) -> str:
    """Return a cell of a table, in bold if it is the best."""
    return f"[bold]{text}[/bold]" if is_best else text


def format_setting(kernel: str, params: Mapping[str, float | str]) -> str:
    """Return a kernel and its parameters, as in "tl1 ratio=0.7"."""
    listed = [
        f"{name}={value}" if isinstance(value, str) else f"{name}={value:.4g}"
        for name, value in params.items()
    ]
    return " ".join([kernel, *listed])
