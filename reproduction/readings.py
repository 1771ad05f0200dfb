"""Readings of Algorithm 1: what must have run for the paper to print what it prints.

Three kinds of evidence: accuracies on small data sets, the starts of Table 6 on the
predefined samples of monks1 (with the curves of Figure 3), and numbers of steps, whose
ratios are those of the printed seconds. lam is that of the loss as each reading has it.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np

from kreinlearn.app.methods import Method
from kreinlearn.app.runs import Cell, Record
from kreinlearn.kernels import gram
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinRisk
from kreinlearn.solvers import CCCP, SGD, GradientDescent, Result
from kreinlearn.solvers.cccp import MAX_INNER_STEPS
from kreinlearn.spectrum import Split, split
from reproduction import splits
from reproduction.cells import grid
from reproduction.evidence import EXACT, INEXACT, STEP_DATA
from reproduction.methods import GRID, TL1, procedure
from reproduction.protocol import learn
from reproduction.published import INITS, TABLE3_DATA

UNEXPLAINED = ("parkinsons", "diabetic", "splice")
"""Data sets whose published rows no reading comes near."""
SMALL_DATA = tuple(name for name in TABLE3_DATA if name not in UNEXPLAINED)
HALVES = 5
STREAMS = 10
"""Streams of random numbers for a stochastic reading from each start."""
STEP_LAMS = (0.0001,)
"""Values of lam at which steps are counted; larger ones diverge on madelon."""


@dataclass(frozen=True)
class Reading:
    """One way to read Algorithm 1.

    Parameters
    ----------
    stochastic : bool
        Whether the inner steps are those of CCICP-SGD, or of CCICP-GD and CCCP-GD.
    shrink, loss, stop : str
        When the rate shrinks; whether the loss is a mean or a sum; of which of the two
        the change is compared with eps.
    cap : int
        Most inner steps; for rates that shrink at each step there is none.
    """

    stochastic: bool
    shrink: Literal["step", "outer", "increase"]
    loss: Literal["mean", "sum"]
    stop: Literal["mean", "sum"]
    cap: int

    @property
    def name(self) -> str:
        """Name in tables and records."""
        kind, cap = "SGD" if self.stochastic else "GD", f", {self.cap}"
        cap = "" if self.cap == MAX_INNER_STEPS else cap
        return f"{kind}: {self.shrink}, {self.loss}, {self.stop}{cap}"

    @property
    def eps(self) -> float:
        """That of CCICP-SGD, or of CCICP-GD."""
        return float(EXACT if self.stochastic else INEXACT)

    def solver(self, eps: float | None = None) -> CCCP:
        """Return the procedure, with another eps if one is given."""
        gd, sgd = GradientDescent(shrink=self.shrink), SGD(shrink=self.shrink)
        return CCCP(
            inner=sgd if self.stochastic else gd,
            eps=self.eps if eps is None else eps,
            loss_scale=self.loss,
            stop_on=self.stop,
            max_inner=self.cap,
        )

    def method(self) -> Method:
        """Return the procedure as a method that is tuned like the others."""
        return procedure(self.name, self.solver())


def _all_readings() -> dict[str, Reading]:
    """Return the readings that are tried, by name.

    The printed step of SGD has no 1/n: it estimates the gradient of the mean loss.
    """
    scales: tuple[Literal["mean", "sum"], ...] = ("mean", "sum")
    capped: tuple[tuple[Literal["step", "outer", "increase"], int], ...] = (
        ("step", MAX_INNER_STEPS),
        ("increase", 100),
        ("outer", 100),
        ("outer", 200),
        ("outer", 300),
    )
    found = [
        Reading(stochastic, shrink, loss, stop, cap)
        for stochastic, (shrink, cap), loss, stop in product(
            (False, True), capped, scales, scales
        )
        if not (stochastic and loss == "sum")
    ]
    return {each.name: each for each in found}


READINGS = _all_readings()
"""Every reading by its name, which is the method of its cells."""


def cells(runs: int | None = None, dataset: str | None = None) -> list[Cell]:
    """Return what is run: accuracies on halves, starts, and counts of steps."""
    fixed = [splits.FIXED]
    wanted = [
        *grid("readings", SMALL_DATA, READINGS, HALVES if runs is None else runs),
        *grid("readings", ["monks1"], READINGS, 1, evidence=["starts"], half=fixed),
        *grid("readings", STEP_DATA, READINGS, 1, evidence=["steps"], half=fixed),
    ]
    return [cell for cell in wanted if dataset in (None, cell.dataset)]


def evaluate_reading(cell: Cell, data_home: str | None) -> Record:
    """Return what one reading gives in one place."""
    reading, parts = READINGS[cell.method], splits.parts_of(cell, data_home)
    if cell.setting("evidence") is None:
        return learn(reading.method(), TL1, parts, cell)
    blocks = _Blocks(reading, parts)
    found: Record
    if cell.setting("evidence") == "steps":
        found = {
            "steps": {
                eps: blocks.steps(blocks.solve(float(eps), STEP_LAMS))
                for eps in (EXACT, INEXACT)
            }
        }
    else:
        found = {
            "hits": {init: blocks.hits(init) for init in INITS},
            "curves": {eps: blocks.curves(float(eps)) for eps in (EXACT, INEXACT)},
        }
    return {"status": "done", "n": len(parts.y_train), **found}


class _Blocks:
    """One reading on one pair of training and test samples, all lam as one block."""

    def __init__(self, reading: Reading, parts: splits.Halves) -> None:
        self.reading, self.parts = reading, parts
        self.K = Dense(gram(parts.X_train, **TL1[0]))
        self.parts_of_K: Split = split(self.K)

    def solve(
        self, eps: float, lams: tuple[float, ...], init: Any = "zeros", streams: int = 1
    ) -> Result:
        n, method = len(self.parts.y_train), self.reading.method()
        ours = [method.per_sample(lam, n) for lam in lams for _ in range(streams)]
        risk = KreinRisk(
            self.K,
            self.parts_of_K,
            np.tile(self.parts.y_train[:, None].astype(float), len(ours)),
            np.full(n, 1 / n),
            np.array(ours),
            scale=float(n) if self.reading.loss == "sum" else 1.0,
        )
        rngs = [np.random.default_rng([j % streams, 0]) for j in range(len(ours))]
        solver = replace(self.reading.solver(eps), init=init)
        with np.errstate(all="ignore"):
            return solver.solve(risk, tol=1e-6, rng=rngs)

    def hits(self, init: str) -> list[float]:
        """Return the number of test rows that are right, for each lam of the grid.

        It is a mean over ten streams if the reading, or the start, is random.
        """
        random = self.reading.stochastic or init == "uniform"
        result = self.solve(self.reading.eps, GRID, init, STREAMS if random else 1)
        X, y, X_test, y_test = self.parts
        scores = gram(X_test, X, **TL1[0]) @ result.w[: len(y)] + result.w[len(y)]
        right = ((scores > 0) == (y_test[:, None] > 0)).sum(axis=0)
        return [float(h) for h in right.reshape(len(GRID), -1).mean(axis=1)]

    def curves(self, eps: float) -> list[list[float]]:
        """Return the objective after each outer step, for each lam of the grid."""
        result = self.solve(eps, GRID)
        values = iter(row["value"] for row in result.history)
        return [[next(values) for _ in range(k + 1)] for k in result.n_iter]

    def steps(self, result: Result) -> list[int | None]:
        """Return the number of inner steps of each problem; None if it diverged."""
        inner = iter(int(row["inner"]) for row in result.history)
        counts = [sum(next(inner) for _ in range(k + 1)) for k in result.n_iter]
        lost = [status in ("diverged", "nonfinite") for status in result.status]
        return [None if x else count for x, count in zip(lost, counts, strict=True)]
