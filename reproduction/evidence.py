"""Evidence for each reading of Algorithm 1: tables and a figure from records."""

import itertools
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2, sqrt

import numpy as np

from kreinlearn.app.report import (
    NO_VALUE,
    Entry,
    PageTable,
    TableRow,
    format_number,
    make_table,
)
from reproduction import published
from reproduction.entries import Note
from reproduction.methods import GRID
from reproduction.summary import Summary

SETTLED_FRACTION = 0.01
"""A curve has settled within this fraction of its range from the last value."""
TEST_ROWS = 432
"""Predefined test samples of monks1."""
FIXED_STARTS = ("zeros", "ones", "minus-ones")
"""The starts that involve no chance."""
EXACT, INEXACT = "0.0001", "1"
"""The values of eps, as the fields of records name them."""
STEP_DATA = ("guide1-t", "madelon")
"""Data sets on which steps are counted."""
EVIDENCE_UNITS = (0.05, 4.0, 2.0, 1.0)
"""One unit of distance in each kind of evidence.

A root mean square difference of 0.05, as large as most published deviations; 4 test
rows, a hundredth of all; a factor of 4 in the ratio of times; one statement.
"""
SHRINK_WORDS = {
    "step": "each step",
    "outer": "each loop",
    "increase": "each increase",
}
"""When the rate shrinks, in a table."""


def find_settling_iteration(curve: Sequence[float]) -> int:
    """Return the outer iteration after which a curve stays near its last value.

    The first value, from before the first iteration, does not count here and below:
    it is near the lowest for any reading whose first steps overshoot, and a figure
    "versus iteration" does not show it.
    """
    if not np.isfinite(curve).all():
        return len(curve)  # never
    way = np.abs(np.array(curve[1:]) - curve[-1])
    far = np.flatnonzero(way > SETTLED_FRACTION * way.max(initial=0.0))
    return int(far[-1]) + 2 if len(far) else 1


def is_monotone(curve: Sequence[float]) -> bool:
    """Return whether a curve never increases from its first iteration on.

    A run that diverged at once shows nothing of the kind.
    """
    steps = itertools.pairwise(curve[1:])
    return len(curve) > 2 and all(after <= before for before, after in steps)


@dataclass(frozen=True)
class Evidence:
    """Evidence for one reading.

    Attributes
    ----------
    name : str
        Name of the reading.
    accuracies : dict
        Data set to mean accuracy.
    starts : dict
        First coefficients to the test rows of monks1 that are right, for each lam.
    curves : dict
        eps to the objective after each outer iteration on monks1, for each lam.
    steps : dict
        Data set to the numbers of steps for eps = 1e-4 and for eps = 1.
    """

    name: str
    accuracies: dict[str, float]
    starts: dict[str, list[float]]
    curves: dict[str, list[list[float]]]
    steps: dict[str, tuple[int, int]]

    @property
    def column(self) -> str:
        """The procedure of the paper that it reads."""
        return "CCICP-SGD" if self.name.startswith("SGD") else "CCICP-GD"

    def published_accuracies(self) -> dict[str, float]:
        """Return the published accuracies on the data sets that were run."""
        table = published.TABLE3
        return {name: table[name][self.column].mean for name in self.accuracies}

    @property
    def distance(self) -> float:
        """Root mean square difference from the published accuracies."""
        gaps = [
            self.accuracies[k] - theirs
            for k, theirs in self.published_accuracies().items()
        ]
        return sqrt(statistics.fmean(gap**2 for gap in gaps)) if gaps else np.nan

    @property
    def correlation(self) -> float | None:
        """Correlation with the published accuracies over the data sets."""
        theirs = self.published_accuracies()
        pairs = np.array([(self.accuracies[k], theirs[k]) for k in theirs])
        if len(pairs) < 3 or not np.ptp(pairs, axis=0).all():
            return None
        return float(np.corrcoef(pairs.T)[0, 1])

    def misses(self) -> list[float]:
        """Return, for each lam, how far the hits of the worst start are from print."""
        if not self.starts:
            return []
        printed = [
            published.TABLE6[start][self.column, "monks1"].mean * TEST_ROWS
            for start in FIXED_STARTS
        ]
        hits = np.array([self.starts[start] for start in FIXED_STARTS])
        return [float(x) for x in np.abs(hits - np.array(printed)[:, None]).max(axis=0)]

    @property
    def best_lam(self) -> int:
        """Position in the grid of the lam whose hits are nearest to print."""
        return int(np.argmin(self.misses()))

    def ratios(self) -> dict[str, tuple[float, float]]:
        """Return, by data set, how many times as long eps = 1e-4 takes as eps = 1.

        By numbers of steps, and by the printed seconds. A data set on which the reading
        diverges has none.
        """
        return {
            name: (exact / inexact, compute_printed_ratio(self.column, name))
            for name, (exact, inexact) in self.steps.items()
        }

    def distances(self) -> list[float]:
        """Return how far it is from print in each kind of evidence."""
        doublings = [
            abs(log2(ours / theirs)) for ours, theirs in self.ratios().values()
        ]
        found = [
            self.distance,
            min(self.misses(), default=np.nan),
            statistics.fmean(doublings) if doublings else np.nan,
        ]
        if self.column == "CCICP-GD":
            found.append(self._failed_statements())
        return found

    def _failed_statements(self) -> float:
        pair = self.pair_of_curves()
        if pair is None:
            return np.nan
        exact, inexact = pair
        first = find_settling_iteration(inexact) < find_settling_iteration(exact)
        return float(sum(not each for each in (*map(is_monotone, pair), first)))

    def pair_of_curves(self) -> tuple[list[float], list[float]] | None:
        """Return the curves of eps = 1e-4 and eps = 1 at the lam of the starts."""
        if not self.curves:
            return None
        return self.curves[EXACT][self.best_lam], self.curves[INEXACT][self.best_lam]


def compute_printed_ratio(column: str, name: str) -> float:
    """Return how many times the seconds of eps = 1 are printed for eps = 1e-4."""
    if column == "CCICP-GD":
        costs = published.TABLE4[name]
        return costs["CCCP-GD"].training / costs["CCICP-GD"].training
    costs = published.TABLE7[name]
    return costs["CCICP-SGD"].training / costs["CCICP-SGD-I"].training


def gather_evidence(summaries: Sequence[Summary]) -> list[Evidence]:
    """Return the evidence for each reading, in the order of the records."""
    names = dict.fromkeys(each.method for each in summaries)
    return [
        _gather_reading(name, [s for s in summaries if s.method == name])
        for name in names
    ]


def _gather_reading(name: str, own: Sequence[Summary]) -> Evidence:
    kinds = {each.settings.get("evidence"): each for each in own if each.records}
    accuracies = {
        each.data: statistics.fmean(each.values("acc"))
        for each in own
        if each.values("acc")
    }
    starts, curves = {}, {}
    if "starts" in kinds:
        record = kinds["starts"].records[0]
        starts = record["hits"]
        curves = {
            eps: [[np.inf if v is None else v for v in curve] for curve in own_curves]
            for eps, own_curves in record["curves"].items()
        }
    steps = {}
    for each in own:
        if each.settings.get("evidence") == "steps" and each.records:
            record = each.records[0]
            pairs = zip(
                *(record["steps"][eps] for eps in (EXACT, INEXACT)), strict=True
            )
            kept = [(a, b) for a, b in pairs if a is not None and b is not None]
            if kept:
                steps[each.data] = (sum(a for a, _ in kept), sum(b for _, b in kept))
    return Evidence(name, accuracies, starts, curves, steps)


def rank_readings(found: Sequence[Evidence]) -> list[tuple[float, Evidence]]:
    """Return readings of one procedure, the nearest to print first.

    Each has the sum of its distances in all kinds of evidence, in the units of
    `EVIDENCE_UNITS`; it is infinite if a kind is missing.
    """
    totals = []
    for each in found:
        distances = each.distances()
        units = EVIDENCE_UNITS[: len(distances)]
        total = sum(d / unit for d, unit in zip(distances, units, strict=True))
        totals.append(np.inf if np.isnan(total) else float(total))
    order = np.argsort(totals, kind="stable")
    return [(totals[j], found[j]) for j in order]


def make_readings_tables(
    summaries: Sequence[Summary], notes: Sequence[Note]
) -> list[PageTable]:
    """Return the readings of both procedures, ranked by their distance to print."""
    found = gather_evidence(summaries)
    tables = []
    for column, kind in (("CCICP-GD", "gradient descent"), ("CCICP-SGD", "SGD")):
        own = rank_readings([each for each in found if each.column == column])
        if own:
            tables.append(_make_ranking_table(column, kind, own))
    return tables


def _make_ranking_table(
    column: str, kind: str, own: Sequence[tuple[float, Evidence]]
) -> PageTable:
    is_gd = column == "CCICP-GD"
    rows: list[TableRow] = []
    for total, each in own:
        shrink, loss, stop, *cap = each.name.partition(": ")[2].split(", ")
        head = (SHRINK_WORDS[shrink], loss, stop, cap[0] if cap else "none")
        fit = (
            format_number(_compute_mean(each.accuracies.values()), ".3f"),
            format_number(each.correlation, ".2f"),
            _format_finite(each.distance, ".3f"),
        )
        curves = _format_curves(each) if is_gd else ()
        found = (*_format_starts(each), *_format_ratios(each), *curves)
        rows.append((*head, *fit, *found, _format_finite(total, ".1f")))
    fullest = max((each for _, each in own), key=lambda each: len(each.accuracies))
    printed = _format_finite(
        _compute_mean(fullest.published_accuracies().values()), ".3f"
    ).text
    rows_right = [
        published.TABLE6[s][column, "monks1"].mean * TEST_ROWS for s in FIXED_STARTS
    ]
    hits = ", ".join(f"{x:.0f}" for x in rows_right)
    times = ", ".join(
        f"{name} {compute_printed_ratio(column, name):.0f}" for name in STEP_DATA
    )
    caption = (
        f"Readings of {column}, the nearest to print first. Mean accuracy on small "
        f"data sets (published {printed}), correlation and root mean square "
        "difference "
        f"over them; test rows of monks1 that are right from the starts 0, 1 and −1 "
        f"(published {hits} of {TEST_ROWS}), at the lam that comes nearest; how many "
        f"times as many steps eps = 1e-4 takes as eps = 1 (printed seconds: {times})"
    )
    if is_gd:
        caption += (
            "; after how many outer iterations the objective has settled with eps = 1 "
            "and with 1e-4 (published 5 and 16), and whether both curves are monotone"
        )
    heads = [
        *("rate shrinks after", "loss", "change of", "cap"),
        *("accuracy", "correlation", "distance", "starts", "lam"),
        *(f"steps, {name}" for name in STEP_DATA),
        *(("settled", "monotone") if is_gd else ()),
        "total",
    ]
    title = f"Readings of Algorithm 1: {kind}"
    return make_table(title, f"{caption}.", heads, rows)


def _format_finite(value: float | None, form: str) -> Entry:
    """Return a number, or a dash if it is missing or not finite."""
    known = value is not None and np.isfinite(value)
    return format_number(value if known else None, form)


def _compute_mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return statistics.fmean(found) if found else None


def _format_starts(each: Evidence) -> tuple[Entry, Entry]:
    if not each.starts:
        return Entry(NO_VALUE), Entry(NO_VALUE)
    hits = [each.starts[start][each.best_lam] for start in FIXED_STARTS]
    text = ", ".join(f"{x:.0f}" for x in hits)
    lam = format_number(GRID[each.best_lam], "g")
    return Entry(text, min(each.misses())), lam


def _format_ratios(each: Evidence) -> list[Entry]:
    ratios = each.ratios()
    return [
        format_number(ratios[name][0], ".3g") if name in ratios else Entry(NO_VALUE)
        for name in STEP_DATA
    ]


def _format_curves(each: Evidence) -> tuple[Entry, Entry]:
    pair = each.pair_of_curves()
    if pair is None:
        return Entry(NO_VALUE), Entry(NO_VALUE)
    exact, inexact = pair
    falling = "yes" if is_monotone(exact) and is_monotone(inexact) else "no"
    settled = [find_settling_iteration(curve) for curve in (inexact, exact)]
    return Entry(f"{settled[0]}, {settled[1]}"), Entry(falling)
