"""The experiments by name: which cells, and what a worker does with one."""

import os
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kreinlearn._validation import check_choice
from kreinlearn.datasets import info
from kreinlearn.exceptions import ConvergenceWarning, IndefiniteKernelWarning
from kreinlearn.paper import faces, metrics, published
from kreinlearn.paper.methods import METHODS, statistics
from kreinlearn.paper.splits import (
    data_home_text,
    halves,
    stored_name,
    table,
)
from kreinlearn.runs.cells import Cell, Value, grid
from kreinlearn.runs.workers import Work

STATISTICS = "TL1"
"""The only "method" of Table 2."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure as a grid of cells.

    Parameters
    ----------
    name : str
        Name on the command line.
    title : str
        What it shows.
    datasets, methods : tuple of str
        Names.
    settings : dict
        Further settings and the values that they take.
    runs : int
        Repetitions if nobody says otherwise.
    is_timed : bool
        Whether seconds matter, or memory: then one cell at a time, with all threads.
    stand_ins : tuple of str
        Data sets that may be asked for in place of those of the paper.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    settings: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    runs: int = 10
    is_timed: bool = False
    stand_ins: tuple[str, ...] = ()

    def cells(self, runs: int | None = None, dataset: str | None = None) -> list[Cell]:
        """Return the cells.

        Parameters
        ----------
        runs : int, optional
            Repetitions.
        dataset : str, optional
            The only data set, one of the experiment's own or of its stand-ins.

        Returns
        -------
        list of Cell
            All combinations.
        """
        count = self.runs if runs is None else runs
        names = self.datasets
        if dataset is not None:
            names = (check_choice("dataset", dataset, names + self.stand_ins),)
        return grid(self.name, names, self.methods, count, **self.settings)


EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        Experiment(
            "table1",
            "Metrics on covariance matrices",
            tuple(metrics.SIZES),
            tuple(metrics.METRICS),
        ),
        Experiment(
            "table2",
            "Eigenvalues of the TL1 kernel",
            tuple(published.TABLE2),
            (STATISTICS,),
        ),
        Experiment(
            "table3",
            "Accuracy on small data sets",
            published.TABLE3_DATA,
            published.TABLE3_METHODS + published.OURS,
        ),
        Experiment(
            "table4",
            "Accuracy and time on larger data sets",
            published.TABLE4_DATA,
            published.TABLE4_METHODS + published.TABLE4_OURS,
            runs=3,
            is_timed=True,
        ),
        Experiment(
            "table5",
            "Accuracy on faces",
            (faces.FACES,),
            tuple(published.TABLE5) + published.TABLE5_OURS,
            stand_ins=(faces.DIGITS,),
        ),
        Experiment(
            "table6",
            "First coefficients",
            published.TABLE6_DATA,
            published.TABLE6_METHODS,
            {"init": published.INITS, "half": (0,)},
        ),
        Experiment(
            "table7",
            "Inexact stochastic steps",
            published.TABLE4_DATA,
            published.TABLE7_METHODS,
            runs=3,
            is_timed=True,
        ),
        Experiment(
            "fig1",
            "Example faces",
            (faces.FACES,),
            (faces.EXAMPLES,),
            runs=1,
            stand_ins=(faces.DIGITS,),
        ),
        Experiment(
            "fig2",
            "Influence of eps",
            published.FIG2_DATA,
            published.FIG2_METHODS,
            {"eps": published.FIG2_EPS},
            is_timed=True,
        ),
        Experiment(
            "fig3",
            "Objective after each outer iteration",
            published.FIG3_DATA,
            published.FIG3_METHODS,
            {"tuned": ("CCICP-GD",)},
            runs=1,
            is_timed=True,
        ),
    )
}
"""Every experiment by its name on the command line."""


def evaluate(cell: Cell, data_home: str | None = None) -> dict[str, Any]:
    """Run one cell: what a worker does.

    Parameters
    ----------
    cell : Cell
        What to run.
    data_home : str, optional
        The data folder.

    Returns
    -------
    dict
        Fields of a record.
    """
    with warnings.catch_warnings():
        # Statuses are recorded; the published procedures would warn at every fit.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        if cell.dataset in metrics.SIZES:
            return metrics.search(cell)
        if cell.dataset in faces.REGIONS:
            return faces.METHODS[cell.method](cell, data_home)
        X, y = table(cell.dataset, data_home)
        if cell.method == STATISTICS:
            return statistics(X, cell)
        return METHODS[cell.method](*halves(X, y, cell.half_seed), cell)


def worker_for(data_home: str | os.PathLike[str] | None) -> Work:
    """Return what a worker does with a cell.

    Parameters
    ----------
    data_home : path-like or None
        The data folder.

    Returns
    -------
    callable
        From a cell to fields of a record.
    """
    return partial(evaluate, data_home=data_home_text(data_home))


def is_table(dataset: str) -> bool:
    """Tell whether samples come from a table of `kreinlearn.datasets`.

    Parameters
    ----------
    dataset : str
        Name in an experiment.

    Returns
    -------
    bool
        False for images and for random matrices.
    """
    return dataset not in metrics.SIZES and dataset not in faces.REGIONS


def cost(cell: Cell) -> float:
    """Return a rough estimate of the time of a cell, in any unit.

    Parameters
    ----------
    cell : Cell
        What to run.

    Returns
    -------
    float
        Square of the number of samples; 1 where they are not in a table.
    """
    if not is_table(cell.dataset):
        return 1.0
    return float(info(stored_name(cell.dataset)).table(None).n_samples) ** 2
