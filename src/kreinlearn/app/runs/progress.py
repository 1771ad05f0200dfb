"""Progress on stderr: a bar with the time left, or plain lines without a terminal."""

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import fmean
from typing import NamedTuple, TextIO

MIN_FINISHED = 0.1
"""Fraction of the expected work below which no time left is estimated."""


class RunState(NamedTuple):
    """State of a run.

    Attributes
    ----------
    done, total : int
        Finished steps, and all steps.
    text : str
        The last step and its result.
    left : float or None
        Estimated seconds until all steps are done.
    """

    done: int
    total: int
    text: str = ""
    left: float | None = None


Watcher = Callable[[RunState], object]
"""Receives the state of a run after each step."""


class TimeLeft:
    """Estimate of the time left, from the seconds of finished steps.

    Steps of a kind that was seen are expected to take the mean of their kind; for
    others, the expected times are scaled by the times seen so far.

    Parameters
    ----------
    steps : iterable of (kind, float)
        Kind and expected time of each step, in any unit.
    workers : int
        Steps that run at the same time.

    Examples
    --------
    >>> left = TimeLeft([("a", 1.0), ("a", 1.0), ("b", 2.0)])
    >>> left.finish("a", 10.0)
    >>> left.estimate()
    30.0
    """

    def __init__(
        self, steps: Iterable[tuple[Hashable, float]], workers: int = 1
    ) -> None:
        self.workers = workers
        self.left: Counter[Hashable] = Counter()
        self.weight: dict[Hashable, float] = {}
        self.seen: dict[Hashable, list[float]] = {}
        for kind, weight in steps:
            self.left[kind] += 1
            self.weight[kind] = max(weight, self.weight.get(kind, 0.0))

    def finish(self, kind: Hashable, seconds: float) -> None:
        """Store the seconds of a finished step."""
        self.left[kind] -= 1
        self.seen.setdefault(kind, []).append(seconds)

    def estimate(self) -> float | None:
        """Return the seconds left; None before a tenth of the work is finished."""
        done = sum(map(sum, self.seen.values()))
        weight = sum(self.weight[kind] * len(own) for kind, own in self.seen.items())
        if weight <= 0:
            return None
        expected = {kind: done / weight * each for kind, each in self.weight.items()}
        expected |= {kind: fmean(own) for kind, own in self.seen.items()}
        left = sum(n * expected[kind] for kind, n in self.left.items())
        if done < MIN_FINISHED * (done + left):
            return None
        return left / max(1, min(self.workers, self.left.total()))


@contextmanager
def progress_bar(stream: TextIO, label: str = "") -> Iterator[Watcher]:
    """Yield a function that writes progress to a stream.

    A terminal shows a bar; other streams get one line per step.

    Parameters
    ----------
    stream : text stream
        Usually stderr.
    label : str
        Name of the command.
    """
    if not stream.isatty():
        yield lambda state: stream.write(f"{progress_line(state, label)}\n")
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

        def show(state: RunState) -> None:
            left = "" if state.left is None else f"{format_duration(state.left)} left"
            bar.update(task, completed=state.done, total=state.total, left=left)

        yield show


@contextmanager
def counter(stream: TextIO, label: str) -> Iterator[Callable[..., None]]:
    """Yield a function that reports finished steps.

    Its arguments are ``(done, total, text, fraction=None)``; the fraction of the work
    that is done is ``done / total`` by default.
    """
    start = time.monotonic()
    with progress_bar(stream, label) as show:

        def report(
            done: int, total: int, text: str, fraction: float | None = None
        ) -> None:
            fraction = fraction or done / total
            left = (time.monotonic() - start) * (1 / fraction - 1)
            show(
                RunState(done, total, text, left if fraction >= MIN_FINISHED else None)
            )

        yield report


@contextmanager
def share_teller(
    stream: TextIO, patience: float = 3.0
) -> Iterator[Callable[[str, float, float], None]]:
    """Yield a function that reports the finished fraction of a computation.

    Its arguments are ``(name, fraction, left)``, with the seconds left. Computations
    that take less than ``patience`` seconds are not reported; lines are ``patience``
    seconds apart.
    """
    with ExitStack() as stack:
        bars: dict[str, Watcher] = {}
        last = [time.monotonic()]

        def report(name: str, fraction: float, left: float) -> None:
            waited = time.monotonic() - last[0]
            if fraction >= 1:
                bars.clear()
                stack.close()
            elif stream.isatty() and (bars or waited + left > patience):
                if not bars:
                    bars["bar"] = stack.enter_context(progress_bar(stream, name))
                bars["bar"](RunState(round(100 * fraction), 100, "", left))
            elif not stream.isatty() and waited > patience:
                last[0] = time.monotonic()
                text = f"{fraction:.0%} done, {format_duration(left)} left"
                stream.write(f"{name}: {text}\n")

        yield report


def progress_line(state: RunState, label: str = "") -> str:
    """Return the state of a run as one line.

    Examples
    --------
    >>> from kreinlearn.app.runs.progress import RunState, progress_line
    >>> progress_line(RunState(3, 9, "KreinCV, fold 3", 65.0), "compare")
    'compare 3/9: KreinCV, fold 3; 1m05s left'
    """
    head = f"{label} {state.done}/{state.total}: {state.text}".strip()
    return head if state.left is None else f"{head}; {format_duration(state.left)} left"


def format_duration(seconds: float) -> str:
    """Return seconds as hours and minutes, or as minutes and seconds.

    Examples
    --------
    >>> from kreinlearn.app.runs.progress import format_duration
    >>> format_duration(59.6), format_duration(3725)
    ('1m00s', '1h02m')
    """
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 60}m{whole % 60:02d}s"
