"""Cells of an experiment, and removal of failed ones."""

import os
from collections.abc import Iterable, Sequence
from itertools import product

from kreinlearn._files import replace
from kreinlearn.app.runs import Cell, Value, encode_record, read_records

__all__ = ["drop_records", "grid"]


def grid(
    experiment: str,
    datasets: Iterable[str],
    methods: Iterable[str],
    runs: int,
    **settings: Sequence[Value],
) -> list[Cell]:
    """Return every combination of data set, method, run and settings.

    Parameters
    ----------
    experiment : str
        Name of the experiment.
    datasets, methods : iterable of str
        Names.
    runs : int
        Number of repetitions.
    **settings : sequence of values
        Values of each setting.

    Examples
    --------
    >>> from reproduction.cells import grid
    >>> len(grid("fig2", ["monks1", "guide1-t"], ["CCICP-GD"], 10, eps=[0.1, 1.0]))
    40
    """
    combinations = list(product(*settings.values()))
    return [
        Cell(experiment, data, method, run, tuple(zip(settings, values, strict=True)))
        for data, run, method, values in product(
            datasets, range(runs), methods, combinations
        )
    ]


def drop_records(path: str | os.PathLike[str], keys: Iterable[str]) -> None:
    """Remove records from a file, so that their cells are run again."""
    dropped = set(keys)
    if dropped:
        kept = [each for each in read_records(path) if each["key"] not in dropped]
        replace(path, b"".join(map(encode_record, kept)))
