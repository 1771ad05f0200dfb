"""What the records of a comparison say, as one dict that pages and tables are made of.

Letters: n samples, m features; K similarities among training samples.
"""

import json
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_curve

from kreinlearn._typing import Array
from kreinlearn.app.comparison.fold import Job, label_of
from kreinlearn.app.comparison.intervals import (
    CORRECTED,
    FEWEST_FOLDS,
    WILSON,
    behind,
    interval_of,
    wilson,
)
from kreinlearn.app.methods.records import GIVEN
from kreinlearn.app.report.plots import evenly_spaced
from kreinlearn.app.report.tables import csv_text
from kreinlearn.app.runs.records import FAILED, Record, rounded
from kreinlearn.app.runs.runner import surroundings
from kreinlearn.estimators import KreinLogisticRegression
from kreinlearn.spectrum import describe

MOST_POINTS = 100
"""Points of a curve."""
MOST_EIGENVALUES = 400
BINS = 10
"""Bins of a reliability curve, at most."""
FULL_BIN = 30
"""Samples for each of them, on average; with fewer samples there are fewer bins."""
BEHIND = {"accuracy": ("acc", False), "log_loss": ("ll", True)}
"""Measures with differences from the best: field, and whether smaller is better."""
TRACED = {
    "newton": (
        "Newton (exact)",
        "residual",
        "largest violation of the stationarity condition",
    ),
    "ccicp-gd": ("CCICP-GD (published)", "gradient", "largest entry of the gradient"),
}
"""Solvers whose convergence is shown: name, field of their history, and its label."""
MEANS = {
    "acc": "accuracy",
    "bacc": "balanced_accuracy",
    "ll": "log_loss",
    "auc": "auc",
    "fit_s": "fit_seconds",
}
"""Fields of a record, and names of their means over the folds."""
CSV_COLUMNS = (
    *("data", "method", "kernel", "accuracy", "accuracy_std", "accuracy_low"),
    *(
        "accuracy_high",
        "balanced_accuracy",
        "log_loss",
        "auc",
        "fit_seconds",
        "statuses",
        "folds",
        "failed",
        "error",
    ),
)
"""Columns of the CSV file."""

Compared = dict[str, Any]
"""As JSON takes it; the keys are those of `summary_of`."""


def summary_of(
    found: Sequence[tuple[Job, Sequence[Record]]],
    kernels: Sequence[str],
    *,
    title: str,
    sentences: Sequence[str],
) -> Compared:
    """Return everything that a page shows about a comparison.

    Parameters
    ----------
    found : sequence of (Job, sequence of records)
        Data sets and what came of their cells.
    kernels : sequence of str
        Names of the kernels that were compared; ``("precomputed",)`` for a matrix.
    title : str
        Heading.
    sentences : sequence of str
        What to say first. Spectra and convergence, of the first kernel, are those of
        the training rows of the first fold that has a result.

    Returns
    -------
    dict
        ``kind``, ``title``, ``sentences``, ``interval`` (after whom the intervals are
        named), ``data``, ``methods``, ``rows``, ``curves``, ``convergence`` and
        ``versions``, as JSON takes them. A row without scores has None in their place
        and the reason in ``error``. ``behind`` is its difference from the best row,
        ``same_as`` an earlier method on the same kernel with the same predictions.
    """
    data, convergence, curves = [], [], []
    rows: list[Record] = []
    for job, records in found:
        groups: dict[tuple[str, str], list[Record]] = {}
        for record in records:
            key = record["method"], record["set"]["kernel"]
            groups.setdefault(key, []).append(record)
        places = {
            kernel: min(_place_of(each) for each in done)
            for kernel in kernels
            if (done := [r for r in _done(records) if r["set"]["kernel"] == kernel])
        }
        data.append(_described(job, places))
        for kernel in list(places)[:1]:
            convergence += _traced(job, kernel, places[kernel])
        for group in groups.values():
            group.sort(key=_place_of)
        own, drawn = _scored(job, groups)
        rows += own
        curves += drawn
    most = max((len(row["scores"]) for row in rows), default=0)
    return {
        "kind": "comparison",
        "title": title,
        "sentences": list(sentences),
        "interval": CORRECTED if most >= FEWEST_FOLDS else WILSON,
        "data": rounded(data),
        "methods": list(dict.fromkeys(row["method"] for row in rows)),
        "rows": rounded(rows),
        "curves": rounded(curves),
        "convergence": rounded(convergence),
        "versions": surroundings()["ver"],
    }


def _scored(
    job: Job, groups: Mapping[tuple[str, str], Sequence[Record]]
) -> tuple[list[Record], list[Record]]:
    """Return the row of each method and kernel, and the curves of those with one."""
    ended = {key: _done(group) for key, group in groups.items()}
    gaps = {name: behind(ended, *how) for name, how in BEHIND.items()}
    same = _repeated(ended)
    most = max(map(len, ended.values()), default=0)
    rows, curves = [], []
    for key, group in groups.items():
        method, kernel = key
        head = {"data": job.name, "method": method, "kernel": label_of(kernel)}
        own = {name: found.get(key) for name, found in gaps.items()}
        row: Record = {**head, **_row_of(group), "behind": own}
        row["same_as"] = same.get(key)
        if len(ended[key]) < FEWEST_FOLDS <= most:  # no interval of another kind
            row["accuracy_low"] = row["accuracy_high"] = None
        if ended[key]:
            row["confusion"] = _confusion(ended[key], len(job.classes))
            curves.append(head | _curves(ended[key]))
        rows.append(row)
    return rows, curves


def _place_of(record: Record) -> tuple[int, int]:
    """Return the repetition and the fold of a record."""
    return int(record["run"]), int(record["set"]["fold"])


def _done(records: Sequence[Record]) -> list[Record]:
    """Return the records with a result."""
    return [record for record in records if record["status"] not in FAILED]


def _row_of(group: Sequence[Record]) -> Record:
    """Return the scores of a method and a kernel, and how its folds ended."""
    done = _done(group)
    row: Record = {}
    for field, name in MEANS.items():
        values = [record[field] for record in done if field in record]
        row[name] = float(np.mean(values)) if values else None
    scores = [record["acc"] for record in done]
    lost = [each.get("error", each["status"]) for each in group if each not in done]
    low, high = (interval_of(done) if done else None) or (None, None)
    return row | {
        "accuracy_low": low,
        "accuracy_high": high,
        # Over the folds, as a sample of them: no standard error, for folds share rows.
        "accuracy_std": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
        "statuses": dict(sorted(Counter(each["status"] for each in group).items())),
        "scores": scores,
        "failed": len(lost),
        "error": lost[0] if lost else None,
    }


def _predicted(record: Record) -> Array:
    """Return the class that was predicted for each held-out row, by position."""
    given = np.asarray(record.get("proba", record.get("score")), float)
    if given.ndim == 1:
        return (given > (0.5 if "proba" in record else 0.0)).astype(int)
    return given.argmax(axis=1)


def _confusion(done: Sequence[Record], n_classes: int) -> Array:
    """Return counts of held-out rows, by true (rows) and predicted class (columns)."""
    counts = np.zeros((n_classes, n_classes), int)
    for record in done:
        np.add.at(counts, (np.asarray(record["truth"]), _predicted(record)), 1)
    return counts


def _repeated(
    ended: Mapping[tuple[str, str], Sequence[Record]],
) -> dict[tuple[str, str], str]:
    """Return methods that predict what an earlier one does, and which one that is.

    The same classes for all held-out rows, and scores that read alike: on a positive
    semidefinite matrix a repair changes nothing but the last digits.
    """
    first: dict[object, str] = {}
    found = {}
    for (method, kernel), done in ended.items():
        if not done:
            continue
        read = [f"{each.get('ll', 0):.3f} {each['auc']:.3f}" for each in done]
        guesses = tuple(_predicted(each).tobytes() for each in done)
        own = (kernel, "proba" in done[0], tuple(read), guesses)
        if first.setdefault(own, method) != method:
            found[method, kernel] = first[own]
    return found


def _curves(done: Sequence[Record]) -> Record:
    """Return the curves of all held-out predictions of a method."""
    field = "proba" if "proba" in done[0] else "score"
    truth = np.concatenate([record["truth"] for record in done])
    given = np.concatenate([np.asarray(record[field], float) for record in done])
    if given.ndim == 1:
        fpr, tpr, _ = roc_curve(truth, given)
        predicted, is_right = given, truth == 1
    else:
        onehot = truth[:, None] == np.arange(given.shape[1])
        fpr, tpr, _ = roc_curve(onehot.ravel(), given.ravel())
        predicted, is_right = given.max(axis=1), given.argmax(axis=1) == truth
    kept = evenly_spaced(len(fpr), MOST_POINTS)
    return {
        "roc": {"fpr": fpr[kept], "tpr": tpr[kept]},
        "reliability": reliability_bins(predicted, is_right)
        if field == "proba"
        else None,
    }


def reliability_bins(predicted: Array, is_right: Array) -> dict[str, Array]:
    """Return how often what was predicted with a probability is so.

    Parameters
    ----------
    predicted : ndarray of shape (k,)
        Probabilities.
    is_right : ndarray of shape (k,)
        Whether it was so.

    Returns
    -------
    dict
        ``predicted`` and ``observed``, means over bins of equal width; ``low`` and
        ``high``, the ends of Wilson's 95 % interval; and ``count``. Empty bins are left
        out.

    Examples
    --------
    >>> import numpy as np
    >>> predicted, is_right = np.array([0.1, 0.12, 0.9]), np.array([0, 1, 1])
    >>> found = reliability_bins(predicted, is_right)
    >>> found["observed"], found["count"]
    (array([0.5, 1. ]), array([2, 1]))
    """
    bins = int(np.clip(len(predicted) // FULL_BIN, 4, BINS))
    place = np.minimum((predicted * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    full = count > 0
    given, right = (
        np.bincount(place, values, bins)[full] / count[full]
        for values in (predicted, is_right)
    )
    low, high = wilson(right, count[full])
    ends = {"low": low, "high": high}
    return {"predicted": given, "observed": right, **ends, "count": count[full]}


def _described(job: Job, places: dict[str, tuple[int, int]]) -> Record:
    """Return the data, and the spectra of the training rows of a fold."""
    spectra = {}
    for kernel, place in places.items():
        K, _ = job.matrices(*place, kernel)
        report, values = describe(K), np.linalg.eigvalsh((K + K.T) / 2)[::-1]
        names = ("mu_min", "mu_max", "signature", "negative_share")
        spectra[str(label_of(kernel))] = {
            **{name: report[name] for name in names},
            "eigenvalues": values[evenly_spaced(len(values), MOST_EIGENVALUES)],
        }
    return {
        "name": job.name,
        "n": len(job.y),
        "m": None if job.is_gram else job.X.shape[1],
        "classes": list(job.classes),
        "kernels": spectra,
    }


def _traced(job: Job, kernel: str, place: tuple[int, int]) -> list[Record]:
    """Return how two solvers come on, on the training rows of a fold."""
    K, _ = job.matrices(*place, kernel)
    y = job.y[job.splits[place][0]]
    traces = []
    for solver, (name, field, text) in TRACED.items():
        model = KreinLogisticRegression(
            "precomputed",
            kernel_params=GIVEN,
            lam=1 / len(y),
            solver=solver,
            random_state=0,
        )
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what the curve shows
            model.fit(K, y)
        worst: dict[float, float] = {}
        for row in model.history_:  # several problems, one for each class
            worst[row["iter"]] = max(worst.get(row["iter"], 0.0), float(row[field]))
        traces.append(
            {
                "data": job.name,
                "method": name,
                "kernel": label_of(kernel),
                "label": text,
                "lam": model.lam,
                "status": model.status_,
                "values": [worst[i] for i in sorted(worst)],
            }
        )
    return traces


def rows_as_csv(found: Compared) -> str:
    """Return the rows of a comparison as CSV, one line per method and kernel."""
    rows = [
        row | {"folds": len(row["scores"]), "statuses": json.dumps(row["statuses"])}
        for row in found["rows"]
    ]
    return csv_text(CSV_COLUMNS, rows)
