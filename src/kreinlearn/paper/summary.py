"""Records to summaries of all runs, and the file of numbers. Nothing is run here."""

import csv
import io
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kreinlearn.pages.tables import Spread
from kreinlearn.runs.records import FAILED, Record

ENDS = {"mu_min": 0, "mu_max": 1}
"""Measures that share a field."""
HIDDEN = ("half", "tuned")
"""Settings that all cells of an experiment share."""
CSV_FIELDS = (
    "data",
    "method",
    "settings",
    "measure",
    "published",
    "published_std",
    "ours",
    "ours_std",
    "runs",
    "difference",
    "statuses",
)
"""Columns of the file of numbers."""


@dataclass(frozen=True)
class Summary:
    """All runs of one method on one data set with one setting.

    Attributes
    ----------
    data, method : str
        Names.
    settings : tuple of (str, value) pairs
        Those that tell rows apart.
    records : tuple of dict
        Successful runs.
    statuses : Counter
        How the fits with the chosen hyper-parameters ended, failures included.
    cv : Counter
        How the fits of the cross-validations ended.
    """

    data: str
    method: str
    settings: tuple[tuple[str, Any], ...]
    records: tuple[Record, ...]
    statuses: Counter[str]
    cv: Counter[str]

    def values(self, measure: str) -> list[float]:
        """Return a field of all runs that have it, in the order of the runs.

        Parameters
        ----------
        measure : str
            Key of a record, or "mu_min" or "mu_max".

        Returns
        -------
        list of float
            Possibly empty.
        """
        if measure in ENDS:
            return [each["mu"][ENDS[measure]] for each in self.records if "mu" in each]
        return [each[measure] for each in self.records if measure in each]

    def spread(self, measure: str) -> Spread | None:
        """Return mean and standard deviation of a field.

        Parameters
        ----------
        measure : str
            Key of a record.

        Returns
        -------
        Spread or None
            None without values; no deviation for a single one.
        """
        values = self.values(measure)
        if not values:
            return None
        std = statistics.stdev(values) if len(values) > 1 else None
        return Spread(statistics.fmean(values), std)

    def mean(self, measure: str) -> float | None:
        """Return the mean of a field.

        Parameters
        ----------
        measure : str
            Key of a record.

        Returns
        -------
        float or None
            None without values.
        """
        spread = self.spread(measure)
        return None if spread is None else spread.mean


def total(counters: Iterable[Counter[str]]) -> Counter[str]:
    """Return the sum of counters.

    Parameters
    ----------
    counters : iterable of Counter
        What to add.

    Returns
    -------
    Counter
        Possibly empty.
    """
    found: Counter[str] = Counter()
    for counter in counters:
        found += counter
    return found


def summarize(records: Iterable[Record]) -> list[Summary]:
    """Return one summary for each data set, method and setting.

    Parameters
    ----------
    records : iterable of dict
        Of one experiment.

    Returns
    -------
    list of Summary
        In the order in which they first appear.
    """
    groups: dict[tuple[str, str, tuple[Any, ...]], list[Record]] = {}
    for record in sorted(records, key=lambda each: each["run"]):
        settings = tuple(
            (name, value)
            for name, value in record.get("set", {}).items()
            if name not in HIDDEN
        )
        key = (record["data"], record["method"], settings)
        groups.setdefault(key, []).append(record)
    return [
        Summary(
            data,
            method,
            settings,
            tuple(each for each in group if each["status"] not in FAILED),
            Counter(each["status"] for each in group),
            total(Counter(each.get("cv", {})) for each in group),
        )
        for (data, method, settings), group in groups.items()
    ]


def names_in(
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

    Returns
    -------
    list of str
        Each once.
    """
    present = dict.fromkeys(getattr(each, what) for each in summaries)
    known = [name for name in order if name in present]
    return known + [name for name in present if name not in known]


def csv_text(rows: Iterable[dict[str, Any]]) -> str:
    """Return rows of numbers as CSV.

    Parameters
    ----------
    rows : iterable of dict
        With the keys `CSV_FIELDS`; absent ones are left empty.

    Returns
    -------
    str
        With a first line of names.
    """
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CSV_FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def csv_row(
    summary: Summary, measure: str, published: Spread | None = None
) -> dict[str, Any]:
    """Return one row of the file of numbers.

    Parameters
    ----------
    summary : Summary
        Our runs.
    measure : str
        Key of a record.
    published : Spread, optional
        What the paper prints.

    Returns
    -------
    dict
        Numbers with six significant digits.
    """
    ours = summary.spread(measure)
    row: dict[str, Any] = {
        "data": summary.data,
        "method": summary.method,
        "settings": " ".join(f"{name}={value}" for name, value in summary.settings),
        "measure": measure,
        "runs": len(summary.values(measure)),
        "statuses": " ".join(f"{k}:{n}" for k, n in sorted(summary.statuses.items())),
    }
    for prefix, spread in (("published", published), ("ours", ours)):
        if spread is not None:
            row[prefix] = f"{spread.mean:.6g}"
            row[f"{prefix}_std"] = "" if spread.std is None else f"{spread.std:.6g}"
    if ours is not None and published is not None:
        row["difference"] = f"{ours.mean - published.mean:.6g}"
    return row
