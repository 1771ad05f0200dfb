"""The experiments by name, each a grid of cells."""

from dataclasses import dataclass, field

from kreinlearn._validation import check_choice
from kreinlearn.paper import faces, metrics, published
from kreinlearn.paper.protocol import STATISTICS
from kreinlearn.runs.cells import Cell, Value, grid


@dataclass(frozen=True)
class Experiment:
    """A table or figure as a grid of cells.

    Parameters
    ----------
    name, title : str
        Name on the command line, and what it shows.
    datasets, methods : tuple of str
        Their names.
    settings : dict
        Further settings and the values that they take.
    runs : int
        Default number of repetitions.
    is_timed : bool
        Whether seconds or memory matter: cells then run one at a time, with all
        threads.
    stand_ins : tuple of str
        Data sets that may take the place of the paper's.
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
        """Return all cells, or those of one data set or stand-in."""
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
            tuple(metrics.SEARCHED_METRICS),
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
            stand_ins=(faces.STAND_IN,),
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
            stand_ins=(faces.STAND_IN,),
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
