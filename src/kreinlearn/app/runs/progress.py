"""Progress for people: a bar with the time left, or plain lines in a pipe."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO

from kreinlearn.app.runs.runner import Progress, Watcher


@contextmanager
def progress_bar(stream: TextIO, label: str = "") -> Iterator[Watcher]:
    """Give a callable for `run` that writes progress to a stream.

    Parameters
    ----------
    stream : text stream
        Where to write: a bar if it is a terminal, one line per cell otherwise.
    label : str
        What is running.

    Yields
    ------
    callable
        For the parameter ``progress``.
    """
    if not stream.isatty():
        yield lambda state: stream.write(progress_line(state, label))
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[left]}"),
    )
    console = Console(file=stream)
    with progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None, left="")

        def show(state: Progress) -> None:
            left = "" if state.left is None else f"{duration(state.left)} left"
            bar.update(task, completed=state.done, total=state.total, left=left)

        yield show


@contextmanager
def counter(stream: TextIO, label: str) -> Iterator[Callable[..., None]]:
    """Give a callable that tells how many steps of a job are done.

    Parameters
    ----------
    stream : text stream
        Where to write, as in `progress_bar`.
    label : str
        What is running.

    Yields
    ------
    callable
        Of ``(done, total, text, share=None)``: steps done and in all, what the last
        one gave, and the share of the work that is done, if steps are not alike.
    """
    start = time.monotonic()
    with progress_bar(stream, label) as show:

        def tell(done: int, total: int, text: str, share: float | None = None) -> None:
            share = done / total if share is None else share
            left = (time.monotonic() - start) * (1 - share) / share
            show(Progress(done, total, 0, left, {"key": text, "status": ""}))

        yield tell


@contextmanager
def share_teller(
    stream: TextIO, patience: float = 3.0
) -> Iterator[Callable[[str, float, float], None]]:
    """Give a callable that tells how much of a measurement is done.

    Parameters
    ----------
    stream : text stream
        Where to write, as in `progress_bar`.
    patience : float
        Seconds between two lines of text; what takes less is not told about.

    Yields
    ------
    callable
        Of ``(name, share, left)``: what is measured, the share of it that is done, and
        the seconds left.
    """
    with ExitStack() as stack:
        shown: dict[str, Watcher] = {}
        last = [time.monotonic()]

        def tell(name: str, share: float, left: float) -> None:
            waited = time.monotonic() - last[0]
            if share >= 1:
                shown.clear()
                stack.close()
            elif stream.isatty() and (shown or waited + left > patience):
                if not shown:
                    shown["bar"] = stack.enter_context(progress_bar(stream, name))
                shown["bar"](Progress(round(100 * share), 100, 0, left, None))
            elif not stream.isatty() and waited > patience:
                last[0] = time.monotonic()
                stream.write(f"{name}: {share:.0%} done, {duration(left)} left\n")

        yield tell


def progress_line(state: Progress, label: str = "") -> str:
    """Return the state as one line of text.

    Parameters
    ----------
    state : Progress
        What the runner told.
    label : str
        What is running.

    Returns
    -------
    str
        With its line break.
    """
    head = f"{label} {state.done}/{state.total}".strip()
    if state.record is None:
        return f"{head} ({state.skipped} found)\n"
    tail = f"{state.record['key']} {state.record['status']}".rstrip()
    if "acc" in state.record:
        tail += f" {state.record['acc']:.3f}"
    if state.left is not None:
        tail += f", {duration(state.left)} left"
    return f"{head} {tail}\n"


def duration(seconds: float) -> str:
    """Return a number of seconds for people.

    Parameters
    ----------
    seconds : float
        How long.

    Returns
    -------
    str
        Hours and minutes, or minutes and seconds.

    Examples
    --------
    >>> from kreinlearn.app.runs.progress import duration
    >>> duration(59.6), duration(3725)
    ('1m00s', '1h02m')
    """
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 60}m{whole % 60:02d}s"
