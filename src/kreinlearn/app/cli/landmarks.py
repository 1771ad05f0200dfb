"""Progress of fits on landmarks."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from kreinlearn.app.cli.output import Facts

if TYPE_CHECKING:
    from kreinlearn import LandmarkLogisticRegression


@contextmanager
def progress(model: "LandmarkLogisticRegression", n_rows: int) -> Iterator[None]:
    """Print the memory of cached similarities, and show the progress of a fit."""
    from kreinlearn.app.runs import share_teller

    with share_teller(sys.stderr) as show:
        steps = _Steps(_n_solves(model), model.tol, show)

        def watch(row: Facts) -> bool:
            if "share kept" in row:
                click.echo(f"krein: {_describe_cache(row, n_rows)}", err=True)
            else:
                steps.see(row)
            return False

        model.verbose = watch
        yield
        show("fit", 1.0, 0.0)
    model.verbose = 0


def _n_solves(model: "LandmarkLogisticRegression") -> int:
    """Return the number of problems: searches, and the chosen setting."""
    n_settings = len(model.kernel_grid or [{}])
    searches = 0 if model.cv is None else n_settings + (n_settings > 1)
    return searches + 1


class _Steps:
    """Fraction of the work that is done, estimated from the residuals."""

    def __init__(
        self, n_solves: int, tol: float, show: Callable[[str, float, float], None]
    ) -> None:
        self.n_solves, self.tol, self.show = n_solves, tol, show
        self.start, self.solved, self.share = time.monotonic(), 0, 0.0
        self.last = (-1, -1)
        self.worst = tol

    def see(self, row: Facts) -> None:
        """Update the progress after a step."""
        now = (row["stage"], row["iteration"])
        if now < self.last:
            self.solved, self.worst = self.solved + 1, self.tol
        self.last = now
        residual = max(row["residual"], self.tol)
        self.worst = max(self.worst, residual)
        done = 0.0
        if self.worst > self.tol:
            done = math.log(self.worst / residual) / math.log(self.worst / self.tol)
        share = (min(self.solved, self.n_solves - 1) + done) / self.n_solves
        self.share = min(0.99, max(self.share, share))
        if self.share > 0:
            elapsed = time.monotonic() - self.start
            self.show("fit", self.share, elapsed * (1 - self.share) / self.share)


def _describe_cache(row: Facts, n_rows: int) -> str:
    kept = row["share kept"]
    rest = "all of them are kept" if kept >= 1 else f"{kept:.0%} of them are kept"
    more = "" if kept >= 1 else ", the others are computed anew in each pass (--memory)"
    return (
        f"{n_rows:,} samples and {row['landmarks']:,} landmarks: similarities take "
        f"{_size(row['GiB in single'])} in single precision; {rest}{more}."
    )


def _size(gibibytes: float) -> str:
    is_large = gibibytes >= 0.1
    return f"{gibibytes:.2g} GiB" if is_large else f"{1024 * gibibytes:.2g} MiB"
