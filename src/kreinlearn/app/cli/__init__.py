"""The command line: parses, calls, exits with a code."""

import atexit
import gc
import logging
import os
import re
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version

import click

HELP_EPILOG = """\b
Examples:
  krein inspect FILE                    can the labels be predicted?
  krein fit FILE -o model.krein         train a model
  krein predict model.krein NEW         predict new samples

krein COMMAND --help describes a command, with examples.
"""
COMMAND_NAMES = ("demo", "inspect", "fit", "predict", "compare", "show", "info")
"""Commands in the order of the help; each is a NAME_command in a module."""
MOVED_COMMANDS = {
    "reproduce": "python -m reproduction",
    "data": "python -m reproduction data",
    "bench": "python -m benchmarks",
}
"""Former commands and their replacements, which a checkout of the source has."""

GC_THRESHOLD = 50_000
"""New objects after which Python collects garbage. With the default of 700, a tenth of
the time of imports is spent on modules that stay."""
PYTHON_ARGUMENT = re.compile(
    r"""[\w.]+=(?:\{[^}]*\}|[^\s()]+)\ \((--[^()]*?)(?:\ on\ the\ command\ line)?\)
    | '\w+'\ \((--[\w-]+)\)""",
    re.VERBOSE,
)
"""An argument of Python in a message that also names the option, as in
``overwrite=True (--force on the command line)``."""


class _Commands(click.Group):
    """Commands, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMAND_NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in MOVED_COMMANDS:
            raise click.UsageError(
                f"`krein {cmd_name}` is now `{MOVED_COMMANDS[cmd_name]}`, run from a "
                "checkout of the source."
            )
        if cmd_name not in COMMAND_NAMES:
            near = get_close_matches(cmd_name, COMMAND_NAMES, 1, 0.5)
            if near:
                raise click.UsageError(
                    f"No such command {cmd_name!r}. Did you mean {near[0]!r}?"
                )
            return None
        file = "info" if cmd_name == "show" else cmd_name
        module = import_module(f"kreinlearn.app.cli.{file}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=HELP_EPILOG,
)
@click.version_option(version("kreinlearn"), prog_name="krein")
@click.pass_context
def app(context: click.Context) -> None:
    """Classify from distances and similarities, also indefinite ones."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(argv: Sequence[str] | None = None) -> None:
    """Run `krein` with the arguments of the process by default, and exit."""
    run_command(app, "krein", argv)


def run_command(
    command: click.Command, program: str, argv: Sequence[str] | None = None
) -> None:
    """Run a command line and exit.

    The exit code is 0 when done; 2 for bad input, with one line on stderr; 130 when
    interrupted.

    Parameters
    ----------
    command : click.Command
        The command line.
    program : str
        What a user types to run it; messages start with its last word.
    argv : sequence of str, optional
        The arguments; by default those of the process.
    """
    show_log()
    if argv is None:  # the process is ours
        gc.set_threshold(GC_THRESHOLD)
        atexit.register(gc.freeze)  # no garbage collection at the end
    name = program.split()[-1]

    def print_warning(message: Warning | str, *place: object, **rest: object) -> None:
        click.echo(f"{name}: warning: {_one_line(message)}", err=True)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = print_warning
            code = command.main(args=argv, prog_name=program, standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"{name}: {_one_line(error.format_message())}", err=True)
        code = 2
    except BrokenPipeError:  # the reader of our output, such as head, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        click.echo(f"{name}: {_one_line(error)}", err=True)
        code = 2
    except (click.Abort, KeyboardInterrupt):  # click has ended the line by then
        click.echo(f"{name}: interrupted.", err=True)
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def show_log() -> None:
    """Print messages of the package's logger to stderr, one line each."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            click.echo(f"krein: {record.getMessage()}", err=True)

    logger = logging.getLogger("kreinlearn")
    if not logger.handlers:
        logger.addHandler(Handler(logging.INFO))
    logger.setLevel(logging.INFO)


def _one_line(message: Exception | Warning | str) -> str:
    """Return a message on one line that names options, not Python arguments."""
    if isinstance(message, OSError) and message.filename and message.strerror:
        message = f"{message.filename}: {message.strerror}."
    text = PYTHON_ARGUMENT.sub(lambda m: m[1] or m[2], str(message))
    return " ".join(text.split())
