"""Cells and grids as data: what is to be run, and the seeds that follow from it."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

Value = str | int | float | bool
"""What a setting may be: everything that JSON gives back unchanged."""
Record = dict[str, Any]
"""What is known of a cell that was run; its keys are `records.FIELDS`."""


def seed_of(*identity: Value) -> int:
    """Return a seed that depends on the identity alone.

    Parameters
    ----------
    *identity : str or number
        What the seed is for; its text counts.

    Returns
    -------
    int
        Below 2**32, the same in every process and on every machine.

    Examples
    --------
    >>> from kreinlearn.app.runs.cells import seed_of
    >>> seed_of("half", "monks1", 0)
    1729717323
    """
    text = "\x1f".join(str(part) for part in identity)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Cell:
    """One thing to run: a method on one random half of one data set.

    Parameters
    ----------
    experiment : str
        Name of the experiment, such as "table3".
    dataset, method : str
        Names of the data set and of the method.
    run : int
        Number of the repetition.
    settings : tuple of (str, value) pairs
        What else tells cells apart. The setting "half" fixes the random half: cells
        of all runs then see the half of that run.

    Examples
    --------
    >>> from kreinlearn.app.runs.cells import Cell
    >>> Cell("fig2", "monks1", "CCICP-GD", 3, (("eps", 0.1),)).key
    'fig2/monks1/CCICP-GD/3/eps=0.1'
    """

    experiment: str
    dataset: str
    method: str
    run: int = 0
    settings: tuple[tuple[str, Value], ...] = ()

    @property
    def key(self) -> str:
        """Readable and unique: what a record is found by."""
        parts = [self.experiment, self.dataset, self.method, str(self.run)]
        parts += [f"{name}={value}" for name, value in self.settings]
        return "/".join(parts)

    @property
    def seed(self) -> int:
        """Seed of all that is random in the method itself."""
        return seed_of("cell", self.key)

    @property
    def half_seed(self) -> int:
        """Seed of the random half and of the folds: the same for all methods."""
        return seed_of("half", self.dataset, self.setting("half", self.run))

    def setting(self, name: str, default: Any = None) -> Any:
        """Return a setting.

        Parameters
        ----------
        name : str
            Its name.
        default : object
            What to return if there is none.

        Returns
        -------
        object
            Its value.
        """
        return dict(self.settings).get(name, default)

    def as_dict(self) -> Record:
        """Return the cell as JSON takes it, with short keys.

        Returns
        -------
        dict
            The inverse of `from_dict`.
        """
        fields: Record = {
            "exp": self.experiment,
            "data": self.dataset,
            "method": self.method,
            "run": self.run,
        }
        if self.settings:
            fields["set"] = dict(self.settings)
        return fields

    @classmethod
    def from_dict(cls, fields: Record) -> "Cell":
        """Return the cell of a record.

        Parameters
        ----------
        fields : mapping
            A record, or what `as_dict` gave.

        Returns
        -------
        Cell
            Equal to the one that was run.
        """
        settings = tuple(fields.get("set", {}).items())
        names = fields["exp"], fields["data"], fields["method"]
        return cls(*names, int(fields["run"]), settings)


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
        Number of repetitions, from zero.
    **settings : sequence of values
        For each setting the values that it takes.

    Returns
    -------
    list of Cell
        No two alike.

    Examples
    --------
    >>> from kreinlearn.app.runs.cells import grid
    >>> len(grid("fig2", ["monks1", "guide1-t"], ["CCICP-GD"], 10, eps=[0.1, 1.0]))
    40
    """
    combinations = list(product(*settings.values()))
    return [
        Cell(
            experiment, dataset, method, run, tuple(zip(settings, values, strict=True))
        )
        for dataset, run, method, values in product(
            datasets, range(runs), methods, combinations
        )
    ]
