"""Records to summaries of all runs, and the file of numbers. Nothing is run here."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kreinlearn.app.runs import FAILED_STATUSES, Record
from reproduction import published
from reproduction.entries import Spread

EXTREME_PLACES = {"mu_min": 0, "mu_max": 1}
"""Measures that share a field."""
HIDDEN_SETTINGS = ("half", "tuned")
"""Settings that all cells of an experiment share."""
TIE_TOL = 1e-9
"""Accuracies that differ by less count as equal."""
RECORDED_MEASURES = ("acc", "bacc", "ll", "fit_s", "pred_s")
OTHER_MEASURES = {
    "fig1": ("n",),
    "table1": ("tried", "indefinite", "mu_ratio"),
    "table2": ("mu_min", "mu_max"),
    "table5": (*RECORDED_MEASURES, "mu_min", "mu_max"),
}
"""Experiments with other measures."""
NUMBER_FIELDS = (
    "data method settings measure published published_std ours ours_std runs "
    "difference statuses"
).split()
"""Columns of the file of numbers."""


@dataclass(frozen=True)
class Summary:
    """All runs of one method on one data set with one setting.

    Attributes
    ----------
    data, method : str
        Names.
    settings : mapping
        Those that differ between rows.
    records : tuple of dict
        Successful runs.
    statuses : Counter
        How the fits with the chosen hyper-parameters ended, failures included.
    cv : Counter
        How the fits of the cross-validations ended.
    """

    data: str
    method: str
    settings: Mapping[str, Any]
    records: tuple[Record, ...]
    statuses: Counter[str]
    cv: Counter[str]

    def values(self, measure: str) -> list[float]:
        """Return a field, or "mu_min" or "mu_max", of all runs that have it."""
        if measure in EXTREME_PLACES:
            end = EXTREME_PLACES[measure]
            return [each["mu"][end] for each in self.records if "mu" in each]
        return [each[measure] for each in self.records if measure in each]

    def spread(self, measure: str) -> Spread | None:
        """Return mean and standard deviation of a field; no deviation for one run."""
        values = self.values(measure)
        if not values:
            return None
        std = statistics.stdev(values) if len(values) > 1 else None
        return Spread(statistics.fmean(values), std)

    def mean(self, measure: str) -> float | None:
        """Return the mean of a field, or None without values."""
        spread = self.spread(measure)
        return None if spread is None else spread.mean


def summarize_records(records: Iterable[Record]) -> list[Summary]:
    """Return one summary per data set, method and setting of an experiment.

    They come in the order in which they first appear.
    """
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in sorted(records, key=lambda each: each["run"]):
        key = (record["data"], record["method"], str(_select_settings(record)))
        groups.setdefault(key, []).append(record)
    return [
        Summary(
            data,
            method,
            _select_settings(group[0]),
            tuple(each for each in group if each["status"] not in FAILED_STATUSES),
            Counter(each["status"] for each in group),
            sum((Counter(each.get("cv", {})) for each in group), Counter()),
        )
        for (data, method, _), group in groups.items()
    ]


def _select_settings(record: Record) -> Record:
    settings = record.get("set", {}).items()
    return {name: value for name, value in settings if name not in HIDDEN_SETTINGS}


def list_names(
    summaries: Iterable[Summary], what: str, order: Sequence[str]
) -> list[str]:
    """Return the data sets or methods that occur.

    Parameters
    ----------
    summaries : iterable of Summary
        Where to look.
    what : {"data", "method"}
        Which names.
    order : sequence of str
        Names in the order of the paper; others come last.
    """
    present = dict.fromkeys(getattr(each, what) for each in summaries)
    known = [name for name in order if name in present]
    return known + [name for name in present if name not in known]


def sort_summaries(
    summaries: Sequence[Summary], data: Sequence[str], methods: Sequence[str]
) -> Iterator[Summary]:
    """Yield summaries in the order of the paper, by data set and then by method."""
    for name in list_names(summaries, "data", data):
        for method in list_names(summaries, "method", methods):
            for each in summaries:
                if (each.data, each.method) == (name, method):
                    yield each


def find_best_accuracy(summaries: Iterable[Summary]) -> float:
    """Return the mean accuracy from which on a method counts as best."""
    means = (each.mean("acc") for each in summaries)
    return max((mean for mean in means if mean is not None), default=0.0) - TIE_TOL


def describe_halves(summaries: Iterable[Summary]) -> str:
    """Return over how many random halves accuracies were averaged."""
    runs = max((len(each.values("acc")) for each in summaries), default=0)
    return "one random half" if runs == 1 else f"{runs} random halves"


def list_numbers(name: str, summaries: Iterable[Summary]) -> list[dict[str, str | int]]:
    """Return the rows of the file of numbers, with keys of `NUMBER_FIELDS`.

    Parameters
    ----------
    name : str
        Name of the experiment.
    summaries : iterable of Summary
        Of that experiment.
    """
    places = [*published.TABLE2, "breast-cancer-683x9"]
    ranks = {each: place for place, each in enumerate(places)}
    rows = []
    for summary in sorted(summaries, key=lambda each: ranks.get(each.data, len(ranks))):
        for measure in OTHER_MEASURES.get(name, RECORDED_MEASURES):
            theirs = find_published(name, summary, measure)
            if summary.values(measure) or theirs is not None:
                rows.append(_make_numbers_row(summary, measure, theirs))
    return rows


def _make_numbers_row(
    summary: Summary, measure: str, theirs: Spread | None
) -> dict[str, str | int]:
    """Return one row, numbers with six significant digits."""
    ours = summary.spread(measure)
    row: dict[str, str | int] = {
        "data": summary.data,
        "method": summary.method,
        "settings": " ".join(f"{key}={each}" for key, each in summary.settings.items()),
        "measure": measure,
        "runs": len(summary.values(measure)),
        "statuses": " ".join(f"{k}:{n}" for k, n in sorted(summary.statuses.items())),
    }
    for prefix, spread in (("published", theirs), ("ours", ours)):
        if spread is not None:
            row[prefix] = f"{spread.mean:.6g}"
            row[f"{prefix}_std"] = "" if spread.std is None else f"{spread.std:.6g}"
    if ours is not None and theirs is not None:
        row["difference"] = f"{ours.mean - theirs.mean:.6g}"
    return row


def find_published(name: str, summary: Summary, measure: str = "acc") -> Spread | None:
    """Return the published value of one measure, if any."""
    data, method = summary.data, summary.method
    if name == "table2":
        return Spread(getattr(published.TABLE2[data], measure))
    if name in ("table4", "table7"):
        costs = published.TABLE4 if name == "table4" else published.TABLE7
        cost = costs[data].get(method)
        if cost is None:
            return None
        times = {"fit_s": Spread(cost.training), "pred_s": Spread(cost.test)}
        return {"acc": cost.accuracy, **times}.get(measure)
    if measure != "acc":
        return None
    if name == "table3":
        return published.TABLE3.get(data, {}).get(method)
    if name == "readings" and not summary.settings:
        return published.TABLE3[data][
            "CCICP-SGD" if method.startswith("SGD") else "CCICP-GD"
        ]
    if name == "table5" and data in published.TABLE5_DATA:
        return published.TABLE5.get(method)
    if name == "table6":
        return published.TABLE6[summary.settings["init"]].get((method, data))
    return None
