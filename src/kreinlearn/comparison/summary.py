"""What the records of a comparison say, as one dict that pages and tables are made of.

Letters: n samples, m features; K similarities among training samples.
"""

import json
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_curve

from kreinlearn._typing import Array
from kreinlearn.comparison.fold import PRECOMPUTED, Job, label_of
from kreinlearn.estimators import KreinLogisticRegression
from kreinlearn.methods.records import GIVEN
from kreinlearn.methods.table import METHODS
from kreinlearn.pages.plots import evenly_spaced
from kreinlearn.pages.tables import csv_text
from kreinlearn.runs.records import FAILED, Record, rounded
from kreinlearn.runs.runner import surroundings
from kreinlearn.spectrum import describe

MOST_POINTS = 100
"""Points of a curve."""
MOST_EIGENVALUES = 400
QUANTILE = 1.959964
"""That of a normal distribution, for intervals of 95 %."""
BINS = 10
"""Bins of a reliability curve."""
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
        ``kind``, ``title``, ``sentences``, ``data``, ``methods``, ``rows``, ``curves``,
        ``convergence`` and ``versions``, as JSON takes them. A row without scores has
        None in their place and the reason in ``error``.
    """
    data, convergence, rows, curves = [], [], [], []
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
        for (method, kernel), group in groups.items():
            group.sort(key=_place_of)
            head = {"data": job.name, "method": method, "kernel": label_of(kernel)}
            rows.append(head | _row_of(group))
            if done := _done(group):
                curves.append(head | _curves(done))
    return {
        "kind": "comparison",
        "title": title,
        "sentences": list(sentences),
        "data": rounded(data),
        "methods": list(dict.fromkeys(row["method"] for row in rows)),
        "rows": rounded(rows),
        "curves": rounded(curves),
        "convergence": rounded(convergence),
        "versions": surroundings()["ver"],
    }


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
    low, high = interval_of(done) if done else (None, None)
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


def interval_of(records: Sequence[Record]) -> tuple[float, float]:
    """Return a 95 % interval of the accuracy: what so many held-out rows can tell.

    Parameters
    ----------
    records : sequence of dict
        The folds of a method. Repetitions judge the same rows again: they do not make
        the interval narrower.

    Returns
    -------
    low, high : float
        Wilson's interval.

    Examples
    --------
    >>> low, high = interval_of([{"run": 0, "acc": 0.9, "truth": [0] * 50}])
    >>> round(low, 3), round(high, 3)
    (0.786, 0.957)
    """
    sizes = np.array([len(record["truth"]) for record in records], float)
    share = float(sizes @ [record["acc"] for record in records] / sizes.sum())
    n = sizes.sum() / len({record["run"] for record in records})
    middle = share + QUANTILE**2 / (2 * n)
    spread = share * (1 - share) / n + (QUANTILE / (2 * n)) ** 2
    half = QUANTILE * float(np.sqrt(spread))
    width = 1 + QUANTILE**2 / n
    low, high = (middle - half) / width, (middle + half) / width
    return max(0.0, float(low)), min(1.0, float(high))


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
        ``predicted`` and ``observed``, means over bins of equal width, and ``count``;
        empty bins are left out.

    Examples
    --------
    >>> import numpy as np
    >>> predicted, is_right = np.array([0.1, 0.12, 0.9]), np.array([0, 1, 1])
    >>> found = reliability_bins(predicted, is_right)
    >>> found["observed"], found["count"]
    (array([0.5, 1. ]), array([2, 1]))
    """
    place = np.minimum((predicted * BINS).astype(int), BINS - 1)
    count = np.bincount(place, minlength=BINS)
    full = count > 0
    sums = np.bincount(place, predicted, BINS), np.bincount(place, is_right, BINS)
    return {
        "predicted": sums[0][full] / count[full],
        "observed": sums[1][full] / count[full],
        "count": count[full],
    }


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
            "precomputed", GIVEN, lam=1 / len(y), solver=solver, random_state=0
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


def facts(found: Compared) -> list[str]:
    """Return what the numbers show, in words: the best rows, and the matrices."""
    scored = [row for row in found["rows"] if row["accuracy"] is not None]
    sentences = [_best(scored) if scored else "No method gave a result."]
    for each in found["data"]:
        for kernel, about in each["kernels"].items():
            _, negative, _ = about["signature"]
            text = "no negative eigenvalue; a kernel like any other."
            if negative:
                text = (
                    f"{negative} negative eigenvalue{'s' * (negative > 1)} down to "
                    f"{about['mu_min']:.3g}, {100 * about['negative_share']:.2g} % of "
                    "the sum of absolute values."
                )
            sentences.append(f"{kernel}: {text}")
            sentences += [
                f"{row['method']} assumes a positive semidefinite matrix; "
                f"{'the matrix' if kernel == PRECOMPUTED else kernel} is indefinite, "
                "so its result has no guarantee."
                for row in scored
                if negative
                and row["kernel"] == kernel
                and METHODS[row["method"]].definite_only
            ]
    lost = ", ".join(_named(row) for row in found["rows"] if row["failed"])
    if lost:
        sentences.append(f"Folds without a result, which the means leave out: {lost}.")
    return sentences


def _best(scored: Sequence[Record]) -> str:
    """Return which of the rows with scores are best."""
    best = max(scored, key=lambda row: row["accuracy"])
    equal = sum(row["accuracy"] == best["accuracy"] for row in scored) - 1
    text = f"Highest accuracy: {_named(best)} with {best['accuracy']:.3f}"
    text += f", as {equal} other row{'s' * (equal > 1)}" if equal else ""
    likely = [row for row in scored if row["log_loss"] is not None]
    if likely:
        least = min(likely, key=lambda row: row["log_loss"])
        text += f"; lowest log-loss: {_named(least)} with {least['log_loss']:.3f}"
    return (
        f"{text}. The best of {len(scored)} rows looks better than it is: differences "
        "below the spread of the folds say little."
    )


def _named(row: Record) -> str:
    on = "" if row["kernel"] in (None, PRECOMPUTED) else f" on {row['kernel']}"
    return f"{row['method']}{on}"
