"""What the records of a comparison say, as one dict that pages and tables are made of.

Letters: n samples, m features; K similarities among training samples.
"""

import csv
import io
import json
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_curve

from kreinlearn._typing import Array
from kreinlearn.comparison.fold import PRECOMPUTED, Job, label
from kreinlearn.estimators import KreinLogisticRegression
from kreinlearn.runs.records import FAILED, Record, rounded
from kreinlearn.runs.runner import surroundings
from kreinlearn.spectrum import describe

MOST_POINTS = 100
"""Points of a curve."""
MOST_EIGENVALUES = 400
BINS = 10
"""Bins of a reliability curve."""
TRACED = {"newton": "Newton (exact)", "ccicp-gd": "CCICP-GD (published)"}
"""Solvers whose convergence is shown, and what they are called."""
MEANS = {
    "acc": "accuracy",
    "bacc": "balanced_accuracy",
    "ll": "log_loss",
    "auc": "auc",
    "fit_s": "fit_seconds",
}
"""Fields of a record, and names of their means over the folds."""
CSV_FIELDS = (
    "data",
    "method",
    "kernel",
    "accuracy",
    "accuracy_std",
    "balanced_accuracy",
    "log_loss",
    "auc",
    "fit_seconds",
    "statuses",
    "folds",
    "failed",
    "error",
)


def summarize(
    found: Sequence[tuple[Job, Sequence[Record]]],
    kernels: Sequence[str],
    *,
    title: str,
    sentences: Sequence[str],
) -> dict[str, Any]:
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
    methods: dict[str, None] = {}
    for job, records in found:
        places = _places(records, kernels)
        data.append(_described(job, places))
        for kernel, place in list(places.items())[:1]:
            convergence += _traced(job, kernel, place)
        for (method, kernel), group in _grouped(records).items():
            methods[method] = None
            head = {"data": job.name, "method": method, "kernel": label(kernel)}
            rows.append(head | _row(group))
            curves += [head | each for each in _curves(job, group)]
    return {
        "kind": "comparison",
        "title": title,
        "sentences": list(sentences),
        "data": rounded(data),
        "methods": list(methods),
        "rows": rounded(rows),
        "curves": rounded(curves),
        "convergence": rounded(convergence),
        "versions": surroundings()["ver"],
    }


def _grouped(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    """Return records by method and kernel, each group in the order of the folds."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record["method"], record["set"]["kernel"]), []).append(
            record
        )
    for group in groups.values():
        group.sort(key=lambda record: (record["run"], record["set"]["fold"]))
    return groups


def _row(group: Sequence[Record]) -> dict[str, Any]:
    done = [record for record in group if record["status"] not in FAILED]
    row: dict[str, Any] = {}
    for field, name in MEANS.items():
        values = [record[field] for record in done if field in record]
        row[name] = float(np.mean(values)) if values else None
    scores = [record["acc"] for record in done]
    # Over the folds, as a sample of them: no standard error, for folds share rows.
    row["accuracy_std"] = float(np.std(scores, ddof=1)) if len(scores) > 1 else None
    row["statuses"] = dict(sorted(Counter(each["status"] for each in group).items()))
    row["scores"] = scores
    row["failed"] = len(group) - len(done)
    reasons = [each.get("error", each["status"]) for each in group if each not in done]
    row["error"] = reasons[0] if reasons else None
    return row


def _curves(job: Job, group: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the curves of all held-out predictions of a method, if there are any."""
    done = [record for record in group if record["status"] not in FAILED]
    if not done:
        return []
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
    kept = _evenly(len(fpr), MOST_POINTS)
    curve = {"roc": {"fpr": fpr[kept], "tpr": tpr[kept]}, "reliability": None}
    if field == "proba":
        curve["reliability"] = reliability(predicted, is_right)
    return [curve]


def reliability(predicted: Array, is_right: Array) -> dict[str, Array]:
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
    >>> found = reliability(np.array([0.1, 0.12, 0.9]), np.array([False, True, True]))
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


def _evenly(count: int, most: int) -> Array:
    """Return positions, both ends among them."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).round().astype(int))


def _places(
    records: Sequence[Record], kernels: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """Return the first repetition and fold in which each kernel led to a result."""
    places: dict[str, tuple[int, int]] = {}
    for kernel in kernels:
        done = [
            (int(record["run"]), int(record["set"]["fold"]))
            for record in records
            if record["set"]["kernel"] == kernel and record["status"] not in FAILED
        ]
        if done:
            places[kernel] = min(done)
    return places


def _described(job: Job, places: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Return the data and the spectra of the training rows of the first fold."""
    spectra = {}
    for kernel, place in places.items():
        K, _ = job.matrices(*place, kernel)
        report = describe(K)
        values = np.linalg.eigvalsh((K + K.T) / 2)[::-1]
        spectra[str(label(kernel))] = {
            "mu_min": report["mu_min"],
            "mu_max": report["mu_max"],
            "signature": report["signature"],
            "negative_share": report["negative_share"],
            "eigenvalues": values[_evenly(len(values), MOST_EIGENVALUES)],
        }
    return {
        "name": job.name,
        "n": len(job.y),
        "m": None if job.is_gram else job.X.shape[1],
        "classes": list(job.classes),
        "kernels": spectra,
    }


def _traced(job: Job, kernel: str, place: tuple[int, int]) -> list[dict[str, Any]]:
    """Return how two solvers come on, on the training rows of the first fold."""
    K, _ = job.matrices(*place, kernel)
    y = job.y[job.splits[place][0]]
    traces = []
    for solver, name in TRACED.items():
        model = KreinLogisticRegression(
            "precomputed", lam=1 / len(y), solver=solver, random_state=0
        )
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what the curve shows
            model.fit(K, y)
        field = "residual" if solver == "newton" else "gradient"
        worst: dict[float, float] = {}
        for row in model.history_:  # several problems, one for each class
            worst[row["iter"]] = max(worst.get(row["iter"], 0.0), float(row[field]))
        traces.append(
            {
                "data": job.name,
                "method": name,
                "kernel": label(kernel),
                "label": "largest violation of the stationarity condition"
                if solver == "newton"
                else "largest entry of the gradient",
                "lam": model.lam,
                "status": model.status_,
                "values": [worst[i] for i in sorted(worst)],
            }
        )
    return traces


def csv_text(found: Mapping[str, Any]) -> str:
    """Return the rows of a comparison as CSV.

    Parameters
    ----------
    found : mapping
        From `summarize`.

    Returns
    -------
    str
        One line a method and kernel.
    """
    stream = io.StringIO()
    writer = csv.DictWriter(
        stream, CSV_FIELDS, lineterminator="\n", extrasaction="ignore"
    )
    writer.writeheader()
    for row in found["rows"]:
        flat = {"folds": len(row["scores"]), "statuses": json.dumps(row["statuses"])}
        writer.writerow(row | flat)
    return stream.getvalue()


def facts(found: Mapping[str, Any]) -> list[str]:
    """Return sentences about the best rows and about the matrices.

    Parameters
    ----------
    found : mapping
        From `summarize`, for one data set.

    Returns
    -------
    list of str
        What the numbers show, in words.
    """
    scored = [row for row in found["rows"] if row["accuracy"] is not None]
    sentences = [_best(scored) if scored else "No method gave a result."]
    for each in found["data"]:
        for kernel, about in each["kernels"].items():
            _, negative, _ = about["signature"]
            sentences.append(_about_matrix(kernel, negative, about))
    lost = [row for row in found["rows"] if row["failed"]]
    if lost:
        names = ", ".join(_named(row) for row in lost)
        sentences.append(f"Folds without a result, which the means leave out: {names}.")
    return sentences


def _best(scored: Sequence[Mapping[str, Any]]) -> str:
    """Return which of the rows with scores are best."""
    best = max(scored, key=lambda row: row["accuracy"])
    equal = sum(row["accuracy"] == best["accuracy"] for row in scored) - 1
    text = f"Highest accuracy: {_named(best)} with {best['accuracy']:.3f}"
    text += f", as {equal} other row{'s' * (equal > 1)}" if equal else ""
    likely = [row for row in scored if row["log_loss"] is not None]
    if likely:
        calm = min(likely, key=lambda row: row["log_loss"])
        text += f"; lowest log-loss: {_named(calm)} with {calm['log_loss']:.3f}"
    return (
        f"{text}. The best of {len(scored)} rows looks better than it is: differences "
        "below the spread of the folds say little."
    )


def _named(row: Mapping[str, Any]) -> str:
    on = "" if row["kernel"] in (None, PRECOMPUTED) else f" on {row['kernel']}"
    return f"{row['method']}{on}"


def _about_matrix(kernel: str, negative: int, about: Mapping[str, Any]) -> str:
    if negative == 0:
        return f"{kernel}: no negative eigenvalue; a kernel like any other."
    return (
        f"{kernel}: {negative} negative eigenvalue{'s' * (negative > 1)} down to "
        f"{about['mu_min']:.3g}, "
        f"{100 * about['negative_share']:.2g}% of the sum of moduli."
    )
