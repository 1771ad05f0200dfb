"""Which tables an experiment gives: summaries and published numbers side by side."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kreinlearn.pages.tables import (
    Entry,
    Note,
    Spread,
    Table,
    beside,
    difference_entry,
    marks_for,
    seconds_text,
    signed,
    spread_text,
    statuses_text,
)
from kreinlearn.paper import published
from kreinlearn.paper.face_tables import fig1, table1, table5
from kreinlearn.paper.published import Cost
from kreinlearn.paper.summary import Summary, csv_row, names_in
from kreinlearn.paper.table3 import table3

SIGNS = {"zeros": "0", "ones": "1", "minus-ones": "−1", "uniform": "in (0, 1)"}
"""First coefficients as the paper writes them."""

Layout = Callable[[Sequence[Summary], Sequence[Note]], list[Table]]


def _heads(*names: str) -> tuple[Entry, ...]:
    return tuple(Entry(name) for name in names)


def table2(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[Table]:
    """Return Table 2: extreme eigenvalues, published and ours.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.
    notes : sequence of Note
        Of the table.

    Returns
    -------
    list of Table
        One.
    """
    index = {each.data: each for each in summaries}
    rows = []
    for name in names_in(summaries, "data", tuple(published.TABLE2)):
        printed, records = published.TABLE2[name], index[name].records
        if not records:
            continue
        low, high = ([each["mu"][end] for each in records] for end in (0, 1))
        m, tau = records[-1]["m"], records[-1]["tau"]
        change = 100 * (statistics.fmean(high) / printed.mu_max - 1)
        rows.append(
            [
                Entry(name, marks=marks_for(notes, row=name)),
                Entry(str(printed.n), printed.n),
                Entry(f"{printed.m}" if printed.m == m else f"{printed.m} / {m}", m),
                Entry(f"{tau:g}", tau),
                Entry(f"{printed.mu_min:g}", printed.mu_min),
                _range_entry(low, "≤ " if "mu_bound" in records[-1] else ""),
                Entry(f"{printed.mu_max:g}", printed.mu_max),
                _range_entry(high),
                Entry(f"{signed(change, 1)} %", change),
            ]
        )
    caption = (
        "Smallest and largest eigenvalue of the TL1 kernel on random halves: mean, and "
        "range below it; difference of the largest. m as printed / in the file."
    )
    columns = _heads(
        "data",
        "n",
        "m",
        "τ",
        "μ min published",
        "ours",
        "μ max published",
        "ours",
        "difference",
    )
    return [Table("Table 2: eigenvalues of the TL1 kernel", caption, columns, rows)]


def _range_entry(values: list[float], prefix: str = "") -> Entry:
    mean = statistics.fmean(values)
    detail = f"{min(values):.4g} to {max(values):.4g}" if len(values) > 1 else ""
    return Entry(f"{prefix}{mean:.5g}", mean, detail)


def _costs(
    number: int, costs: Mapping[str, Mapping[str, Cost]], methods: Sequence[str]
) -> Layout:
    """Return the layout of Table 4 or 7: accuracy and seconds."""

    def layout(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[Table]:
        index = {(each.data, each.method): each for each in summaries}
        rows = []
        for name in names_in(summaries, "data", published.TABLE4_DATA):
            for method in names_in(summaries, "method", methods):
                if (name, method) in index:
                    printed = costs[name].get(method)
                    rows.append(_cost_row(index[name, method], printed, notes))
        caption = (
            "Accuracy on the test half, mean ± standard deviation, and mean seconds of "
            "one fit and of the prediction, kernel matrices given."
        )
        columns = _heads(
            "data",
            "method",
            "accuracy published",
            "ours",
            "difference",
            "training (s) published",
            "ours",
            "test (s) published",
            "ours",
            "fits",
        )
        title = f"Table {number}: accuracy and time on larger data sets"
        return [Table(title, caption, columns, rows)]

    return layout


def _cost_row(
    summary: Summary, printed: Cost | None, notes: Sequence[Note]
) -> list[Entry]:
    ours = summary.spread("acc")
    theirs = None if printed is None else printed.accuracy
    place = marks_for(notes, summary.data, summary.method)
    row = [
        Entry(summary.data, marks=marks_for(notes, row=summary.data)),
        Entry(summary.method, marks=marks_for(notes, column=summary.method)),
        _spread_entry(theirs, place),
        _spread_entry(ours),
        difference_entry(ours, theirs),
    ]
    given = (None, None) if printed is None else (printed.training, printed.test)
    for theirs_s, measure in zip(given, ("fit_s", "pred_s"), strict=True):
        own = summary.mean(measure)
        row += [Entry(seconds_text(each), each) for each in (theirs_s, own)]
    return [*row, Entry(statuses_text(summary.statuses))]


def _spread_entry(spread: Spread | None, marks: tuple[int, ...] = ()) -> Entry:
    value = None if spread is None else spread.mean
    return Entry(spread_text(spread), value, marks=marks)


def table6(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[Table]:
    """Return Table 6: accuracy by first coefficients.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.
    notes : sequence of Note
        Of the table.

    Returns
    -------
    list of Table
        One.
    """
    index = {(s.method, s.data, dict(s.settings)["init"]): s for s in summaries}
    places = [
        (method, name)
        for method in published.TABLE6_METHODS
        for name in published.TABLE6_DATA
    ]
    columns = [Entry("first coefficients")]
    for method, name in places:
        marks = marks_for(notes, column=method)
        columns.append(Entry(f"{method}, {name}", marks=marks))
    rows = []
    for init in published.INITS:
        row = [Entry(SIGNS[init])]
        for place in places:
            summary = index.get((*place, init))
            ours = None if summary is None else summary.spread("acc")
            row.append(beside(ours, published.TABLE6[init][place]))
        rows.append(row)
    caption = (
        "Accuracy on one fixed test half, mean ± standard deviation over runs; below "
        "it the published mean, and the difference."
    )
    title = "Table 6: different first coefficients"
    return [Table(title, caption, tuple(columns), rows)]


def fig2(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[Table]:
    """Return the numbers behind Figure 2.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.
    notes : sequence of Note
        Of the figure.

    Returns
    -------
    list of Table
        One.
    """
    rows = []
    for summary in sorted(summaries, key=lambda s: (s.data, dict(s.settings)["eps"])):
        eps = dict(summary.settings)["eps"]
        seconds = summary.mean("fit_s")
        rows.append(
            [
                Entry(summary.data),
                Entry(f"{eps:g}", eps),
                _spread_entry(summary.spread("acc")),
                Entry(seconds_text(seconds), seconds),
                Entry(statuses_text(summary.statuses)),
            ]
        )
    caption = "CCICP-GD: accuracy and seconds of one fit by the inexact parameter eps."
    columns = _heads("data", "eps", "accuracy", "training (s)", "fits")
    return [Table("Figure 2: influence of eps", caption, columns, rows)]


def fig3(summaries: Sequence[Summary], notes: Sequence[Note]) -> list[Table]:
    """Return the numbers behind Figure 3.

    Parameters
    ----------
    summaries : sequence of Summary
        Of the experiment.
    notes : sequence of Note
        Of the figure.

    Returns
    -------
    list of Table
        One.
    """
    rows = []
    for name in names_in(summaries, "data", published.FIG3_DATA):
        for method in names_in(summaries, "method", published.FIG3_METHODS):
            for each in summaries:
                if (each.data, each.method) == (name, method) and each.records:
                    rows.append(_curve_row(each, notes))
    caption = "First run: the objective before, at its lowest, and after the last step."
    columns = _heads(
        "data", "method", "lam", "first", "lowest", "last", "iterations", "fits"
    )
    title = "Figure 3: the objective after each outer iteration"
    return [Table(title, caption, columns, rows)]


def _curve_row(summary: Summary, notes: Sequence[Note]) -> list[Entry]:
    record = summary.records[0]
    curve = [value for value in record["curve"] if value is not None]
    lam = record["chosen"]["lam"]
    ends = (curve[0], min(curve), curve[-1])
    return [
        Entry(summary.data, marks=marks_for(notes, row=summary.data)),
        Entry(summary.method, marks=marks_for(notes, column=summary.method)),
        Entry(f"{lam:g}", lam),
        *(Entry(f"{value:.4g}", value) for value in ends),
        Entry(str(record["n_iter"]), record["n_iter"]),
        Entry(statuses_text(summary.statuses)),
    ]


LAYOUTS: dict[str, Layout] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "table4": _costs(
        4, published.TABLE4, published.TABLE4_METHODS + published.TABLE4_OURS
    ),
    "table5": table5,
    "table6": table6,
    "table7": _costs(7, published.TABLE7, published.TABLE7_METHODS),
    "fig1": fig1,
    "fig2": fig2,
    "fig3": fig3,
}
"""Experiment to the function that lays out its tables."""


def numbers(name: str, summaries: Iterable[Summary]) -> list[dict[str, Any]]:
    """Return the rows of the file of numbers.

    Parameters
    ----------
    name : str
        Name of the experiment.
    summaries : iterable of Summary
        Of that experiment.

    Returns
    -------
    list of dict
        See `kreinlearn.paper.summary.CSV_FIELDS`.
    """
    places = [*published.TABLE2, "breast-cancer-683x9"]
    ranks = {each: place for place, each in enumerate(places)}
    rows = []
    for summary in sorted(summaries, key=lambda each: ranks.get(each.data, len(ranks))):
        measures = OTHER_MEASURES.get(name, MEASURES)
        for measure in measures:
            printed = _published(name, summary, measure)
            if summary.values(measure) or printed is not None:
                rows.append(csv_row(summary, measure, printed))
    return rows


MEASURES = ("acc", "bacc", "ll", "fit_s", "pred_s")
OTHER_MEASURES = {
    "fig1": ("n",),
    "table1": ("tried", "indefinite", "mu_ratio"),
    "table2": ("mu_min", "mu_max"),
    "table5": (*MEASURES, "mu_min", "mu_max"),
}
"""Where what is measured is not the usual."""


def _published(name: str, summary: Summary, measure: str) -> Spread | None:
    """Return what the paper prints for one measure, if anything."""
    data, method = summary.data, summary.method
    if name == "table2":
        return Spread(getattr(published.TABLE2[data], measure))
    if name == "table3" and measure == "acc":
        return published.TABLE3.get(data, {}).get(method)
    if name == "table5" and measure == "acc" and data in published.TABLE5_DATA:
        return published.TABLE5.get(method)
    if name == "table6" and measure == "acc":
        return published.TABLE6[dict(summary.settings)["init"]].get((method, data))
    if name in ("table4", "table7"):
        cost = (published.TABLE4 if name == "table4" else published.TABLE7)[data].get(
            method
        )
        if cost is not None and measure == "acc":
            return cost.accuracy
        if cost is not None and measure in ("fit_s", "pred_s"):
            return Spread(cost.training if measure == "fit_s" else cost.test)
    return None
