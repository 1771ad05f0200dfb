"""Hostile runs: ``python -m tests.stress --minutes 10``.

A kind of stress is a function ``(settings) -> Iterator[Batch]`` that goes on for ever
and yields what it tried; the program takes batches of all kinds in turn until time is
over, and prints one table. A module of further kinds has a dictionary ``KINDS`` and is
named in ``MODULES`` of `tests.stress.__main__`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """Results of a run; all randomness comes from the seed."""

    seed: int
    keep: Path
    """Folder for what failed."""


@dataclass
class Batch:
    """How many cases were tried, and one line about each that failed."""

    tried: int = 0
    failed: list[str] = field(default_factory=list)


Kind = Callable[[Settings], Iterator[Batch]]


def table(found: dict[str, Batch]) -> str:
    """Return tried, survived and failed of each kind as lines of text."""
    rows: list[tuple[str, ...]] = [("kind", "tried", "survived", "failed")]
    for name, batch in found.items():
        failed = len(batch.failed)
        counts = (batch.tried, batch.tried - failed, failed)
        rows.append((name, *(f"{count:,}" for count in counts)))
    width = max(len(row[0]) for row in rows)
    return "\n".join(
        name.ljust(width) + "".join(cell.rjust(10) for cell in cells)
        for name, *cells in rows
    )
