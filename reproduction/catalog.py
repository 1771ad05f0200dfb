"""The experiments by name, each a grid of cells."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kreinlearn._validation import check_choice
from kreinlearn.app.runs import Cell, Value
from reproduction import faces, metrics, published, readings, splits
from reproduction.cells import grid
from reproduction.protocol import STATISTICS


@dataclass(frozen=True)
class Experiment:
    """A table or figure as a grid of cells.

    Parameters
    ----------
    name, title : str
        Name on the command line, and title.
    datasets, methods : tuple of str
        Their names.
    settings : dict
        Further settings and the values that they take.
    runs : int or dict
        Default number of repetitions; with a dictionary, by data set.
    minutes : float or dict
        Time of all cells on two cores; with a dictionary, by data set.
    is_timed : bool
        Whether seconds or memory matter: cells then run one at a time, with all
        threads.
    stand_ins : tuple of str
        Data sets that may take the place of the paper's.
    listed : callable, optional
        Lists the cells where they are not a grid, from ``runs`` and ``dataset``.
    is_repeated : callable, optional
        Returns whether a cell would only repeat that of the first run.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    settings: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    runs: int | Mapping[str, int] = 10
    minutes: float | Mapping[str, float] = 0.0
    is_timed: bool = False
    stand_ins: tuple[str, ...] = ()
    listed: Callable[[int | None, str | None], list[Cell]] | None = None
    is_repeated: Callable[[Cell], bool] = field(default=lambda cell: False)

    def cells(self, runs: int | None = None, dataset: str | None = None) -> list[Cell]:
        """Return all cells, or those of one data set or stand-in."""
        names = self.datasets
        if dataset is not None:
            names = (check_choice("dataset", dataset, names + self.stand_ins),)
        if self.listed is not None:
            return self.listed(runs, dataset)
        found: list[Cell] = []
        for name in names:
            count = self.runs if isinstance(self.runs, int) else self.runs[name]
            count = count if runs is None else runs
            found += grid(self.name, (name,), self.methods, count, **self.settings)
        return [cell for cell in found if not cell.run or not self.is_repeated(cell)]

    def expected_minutes(self, cells: Sequence[Cell]) -> float:
        """Return a rough estimate of the minutes of some cells on two cores."""
        everything = self.cells()
        if not isinstance(self.minutes, Mapping):
            return self.minutes * len(cells) / len(everything)
        ours, whole = (Counter(c.dataset for c in each) for each in (cells, everything))
        return sum(
            self.minutes[name] * count / whole[name] for name, count in ours.items()
        )


def _involves_no_chance(cell: Cell) -> bool:
    """Return whether runs on the same samples are deterministic."""
    return "SGD" not in cell.method and cell.setting("init") != "uniform"


LARGE_RUNS = {"EEG": 3, "guide1-t": 10, "ijcnn1-tr": 3, "madelon": 10}
"""Repetitions on the larger data sets; the largest take minutes each."""

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        Experiment(
            "table1",
            "Metrics on covariance matrices",
            tuple(metrics.SIZES),
            tuple(metrics.SEARCHED_METRICS),
            minutes=1,
        ),
        Experiment(
            "table2",
            "Eigenvalues of the TL1 kernel",
            tuple(published.TABLE2),
            (STATISTICS,),
            minutes=2,
        ),
        Experiment(
            "table3",
            "Accuracy on small data sets",
            published.TABLE3_DATA,
            published.TABLE3_METHODS + published.TABLE3_OURS,
            minutes=20,
        ),
        Experiment(
            "table4",
            "Accuracy and time on larger data sets",
            published.TABLE4_DATA,
            published.TABLE4_METHODS + published.TABLE4_OURS,
            runs=LARGE_RUNS,
            minutes={"EEG": 6, "guide1-t": 4, "ijcnn1-tr": 25, "madelon": 3},
            is_timed=True,
        ),
        Experiment(
            "table5",
            "Accuracy on faces",
            (faces.FACES,),
            tuple(published.TABLE5) + published.TABLE5_OURS,
            minutes=15,
            stand_ins=(faces.STAND_IN,),
        ),
        Experiment(
            "table6",
            "First coefficients",
            published.TABLE6_DATA,
            published.TABLE6_METHODS + published.TABLE6_OURS,
            {"init": published.INITS, "half": (splits.FIXED,)},
            minutes=6,
            is_repeated=_involves_no_chance,
        ),
        Experiment(
            "table7",
            "Inexact stochastic steps",
            published.TABLE4_DATA,
            published.TABLE7_METHODS + published.TABLE7_OURS,
            runs=LARGE_RUNS,
            minutes={"EEG": 4, "guide1-t": 3, "ijcnn1-tr": 9, "madelon": 1},
            is_timed=True,
        ),
        Experiment(
            "fig1",
            "Example faces",
            (faces.FACES,),
            (faces.EXAMPLES,),
            runs=1,
            minutes=0.1,
            stand_ins=(faces.STAND_IN,),
        ),
        Experiment(
            "fig2",
            "Influence of eps",
            published.FIG2_DATA,
            published.FIG2_METHODS,
            {"eps": published.FIG2_EPS},
            runs={"monks1": 10, "guide1-t": 3},
            minutes={"monks1": 1, "guide1-t": 5},
            is_timed=True,
        ),
        Experiment(
            "fig3",
            "Objective after each outer iteration",
            published.FIG3_DATA,
            published.FIG3_METHODS + published.FIG3_OURS,
            {"tuned": ("CCICP-GD",), "half": (splits.FIXED,)},
            runs=1,
            minutes={"monks1": 0.2, "ijcnn1-tr": 9},
            is_timed=True,
        ),
        Experiment(
            "readings",
            "Readings of Algorithm 1",
            (*readings.SMALL_DATA, *readings.STEP_DATA),
            tuple(readings.READINGS),
            runs=readings.HALVES,
            minutes=20,
            listed=readings.cells,
        ),
    )
}
"""Every experiment by its name on the command line."""
