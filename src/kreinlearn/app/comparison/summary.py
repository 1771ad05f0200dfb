"""Summary of a comparison: scores, intervals, curves and sentences, as one dict.

Notation: J folds of all repetitions; n_train and n_test rows on the sides of a fold.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student
from sklearn.metrics import roc_curve

from kreinlearn._typing import Array
from kreinlearn.app.comparison.plan import GRAM_KERNEL, OWN_KERNELS, Job, Place
from kreinlearn.app.methods import ALL_METHODS, KREIN_CV
from kreinlearn.app.report import Findings, csv_text, select_evenly
from kreinlearn.app.runs import FAILED_STATUSES, Record, describe_environment, to_json
from kreinlearn.kernels import KERNELS
from kreinlearn.plotting import review_curve
from kreinlearn.spectrum import describe

NORMAL_QUANTILE = 1.959964
"""For intervals of 95%."""
STUDENT_LEVEL = 0.975
"""For the same."""
MIN_FOLDS = 3
"""With fewer folds, Wilson's interval replaces that of Nadeau and Bengio."""
MIN_SPREAD = 1e-12
"""Spread of scores that is due to rounding."""
MAX_CURVE_POINTS = 100
MAX_EIGENVALUES = 400
MAX_BINS = 10
"""Bins of a reliability curve, at most."""
SAMPLES_PER_BIN = 30
"""Samples of a bin, on average; with fewer samples there are fewer bins."""
MEAN_FIELDS = {
    "acc": "accuracy",
    "bacc": "balanced_accuracy",
    "ll": "log_loss",
    "auc": "auc",
    "fit_s": "fit_seconds",
}
"""Fields of a record, and names of their means over the folds."""
CSV_COLUMNS = (
    "data method kernel accuracy accuracy_std accuracy_low accuracy_high "
    "balanced_accuracy log_loss auc fit_seconds statuses folds failed error"
).split()

Interval = tuple[float, float]
MODEL_OF_FIT = f"{KREIN_CV}, the model that `krein fit` builds,"


def wilson_interval(fraction: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """Return the ends of Wilson's 95% interval of a fraction of n samples.

    Examples
    --------
    >>> low, high = wilson_interval(0.9, 50)
    >>> round(float(low), 3), round(float(high), 3)
    (0.786, 0.957)
    """
    p, n, z = np.asarray(fraction, float), np.asarray(n, float), NORMAL_QUANTILE
    middle = p + z**2 / (2 * n)
    half = z * np.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    width = 1 + z**2 / n
    ends = (middle - half) / width, (middle + half) / width
    return np.maximum(0.0, ends[0]), np.minimum(1.0, ends[1])


def corrected_interval(values: Sequence[float], test_ratio: float) -> Interval | None:
    """Return a 95% interval of a mean over folds that share training rows.

    The variance of the mean is estimated as ``(1 / J + n_test / n_train) s^2``, with
    the variance s^2 over the folds.

    Parameters
    ----------
    values : sequence of float
        One per fold.
    test_ratio : float
        n_test / n_train.

    Returns
    -------
    (float, float) or None
        None with fewer than three folds, or if all values are equal.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
    52, 239-281, 2003.

    Examples
    --------
    >>> low, high = corrected_interval([0.8, 0.9, 0.85, 0.95, 0.8], 1 / 4)
    >>> round(low, 3), round(high, 3)
    (0.739, 0.981)
    """
    if len(values) < MIN_FOLDS or np.ptp(values) < MIN_SPREAD:
        return None
    variance = (1 / len(values) + test_ratio) * float(np.var(values, ddof=1))
    half = float(student.ppf(STUDENT_LEVEL, len(values) - 1)) * variance**0.5
    mean = float(np.mean(values))
    return mean - half, mean + half


def accuracy_interval(records: Sequence[Record]) -> Interval | None:
    """Return a 95% interval of the accuracy over the folds of a method.

    With fewer than three folds it is Wilson's, from the number of held-out rows;
    repetitions score the same rows again, and do not make it narrower. None if all
    folds are equal.
    """
    if len(records) >= MIN_FOLDS:
        scores = [each["acc"] for each in records]
        found = corrected_interval(scores, _test_ratio(records))
        return None if found is None else (max(0.0, found[0]), min(1.0, found[1]))
    sizes = np.array([len(record["truth"]) for record in records], float)
    mean = float(sizes @ [record["acc"] for record in records] / sizes.sum())
    n = sizes.sum() / len({each["run"] for each in records})
    low, high = wilson_interval(mean, n)
    return float(low), float(high)


def differences_from_best(
    groups: Mapping[Any, Sequence[Record]], field: str, smaller: bool = False
) -> dict[Any, Record]:
    """Return the difference of each method from the best one, paired by fold.

    Parameters
    ----------
    groups : mapping
        The folds of each method. Methods that lack one of them are left out.
    field : str
        "acc" or "ll".
    smaller : bool
        Whether smaller is better.

    Returns
    -------
    dict
        "mean", "low" and "high" of the difference from the best mean; the ends are
        None where there is no interval.
    """
    known = {key: own for key, own in groups.items() if own and field in own[0]}
    folds = {_place(record) for own in known.values() for record in own}
    scores = {
        key: [record[field] for record in sorted(own, key=_place)]
        for key, own in known.items()
        if len(own) == len(folds)
    }
    if not scores:
        return {}
    best = (min if smaller else max)(scores, key=lambda key: np.mean(scores[key]))
    found = {}
    for key, own in scores.items():
        gaps = np.subtract(own, scores[best])
        ends = corrected_interval(gaps.tolist(), _test_ratio(groups[best]))
        low, high = ends or (None, None)
        found[key] = {"mean": float(gaps.mean()), "low": low, "high": high}
    return found


def _test_ratio(records: Sequence[Record]) -> float:
    """Return n_test / n_train, on average over the folds."""
    return float(np.mean([len(each["truth"]) / each["n"] for each in records]))


def _place(record: Record) -> Place:
    return int(record["run"]), int(record["set"]["fold"])


def label_kernel(kernel: str) -> str | None:
    """Return the name of a kernel in tables; None if the method chooses its kernels.

    Examples
    --------
    >>> label_kernel("tl1"), label_kernel("rbf"), label_kernel("linear")
    ('tl1 (ratio 0.7)', 'rbf (median width)', 'linear')
    """
    if kernel == OWN_KERNELS:
        return None
    return KERNELS[kernel].label if kernel in KERNELS else kernel


def summarize(
    job: Job, records: Sequence[Record], *, title: str, sentences: Sequence[str] = ()
) -> Record:
    """Summarize the records of a comparison.

    Parameters
    ----------
    job : Job
        The data.
    records : sequence of dict
        Results of its cells.
    title : str
        Heading.
    sentences : sequence of str
        Notes on the procedure.

    Returns
    -------
    dict
        ``kind``, ``title``, ``verdict``, ``sentences``, ``interval`` (its name),
        ``data``, ``methods``, ``rows`` and ``versions``. A row without scores has None
        in their place and the reason in ``error``. ``behind`` is its difference from
        the best row, ``same_as`` an earlier method with the same predictions on the
        same kernel. Spectra are those of the training rows of the first fold.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        key = record["method"], record["set"]["kernel"]
        groups.setdefault(key, []).append(record)
    for group in groups.values():
        group.sort(key=_place)
    done = {key: _select_done(group) for key, group in groups.items()}
    gaps = {
        "accuracy": differences_from_best(done, "acc"),
        "log_loss": differences_from_best(done, "ll", smaller=True),
    }
    same = _find_repeated(done)
    most = max(map(len, done.values()), default=0)
    labels = {key: label_kernel(key[1]) for key in groups}
    has_kernels = len(set(labels.values()) - {None}) > 1
    rows = []
    for key, group in groups.items():
        on = (labels[key] or "").partition(" (")[0] if has_kernels else ""
        row = {"method": key[0], "kernel": labels[key], **summarize_scores(group)}
        if len(done[key]) < MIN_FOLDS <= most:  # no interval of another kind
            row["accuracy_low"] = row["accuracy_high"] = None
        row["behind"] = {name: found.get(key) for name, found in gaps.items()}
        row["same_as"] = same.get(key)
        if done[key]:
            row |= _describe_predictions(done[key], len(job.classes))
        rows.append(row | {"label": f"{key[0]}, {on}" if on else key[0]})
    found: Record = {
        "kind": "comparison",
        "title": title,
        "interval": "Nadeau and Bengio" if most >= MIN_FOLDS else "Wilson",
        "data": to_json(_describe_data(job, records)),
        "methods": list(dict.fromkeys(row["method"] for row in rows)),
        "rows": to_json(rows),
        "versions": describe_environment()["ver"],
    }
    verdict, *facts = _state_results(found)
    return found | {"verdict": verdict, "sentences": [verdict, *sentences, *facts]}


def _select_done(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record["status"] not in FAILED_STATUSES]


def summarize_scores(group: Sequence[Record]) -> Record:
    """Return mean scores of a method and a kernel, and the statuses of its folds."""
    done = _select_done(group)
    row: Record = {}
    for field, name in MEAN_FIELDS.items():
        values = [record[field] for record in done if field in record]
        row[name] = float(np.mean(values)) if values else None
    scores = [record["acc"] for record in done]
    lost = [each.get("error", each["status"]) for each in group if each not in done]
    low, high = (accuracy_interval(done) if done else None) or (None, None)
    return row | {
        "accuracy_low": low,
        "accuracy_high": high,
        # Not a standard error, because folds share training rows.
        "accuracy_std": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
        "statuses": dict(sorted(Counter(each["status"] for each in group).items())),
        "scores": scores,
        "failed": len(lost),
        "error": lost[0] if lost else None,
    }


def read_predictions(done: Sequence[Record]) -> tuple[Array, Array, Array, Array]:
    """Return the predictions for the held-out rows of some folds of a method.

    Returns
    -------
    truth : ndarray of shape (n,)
        True classes, by position.
    given : ndarray of shape (n,) or (n, n_classes)
        Probabilities or, if the method has none, scores.
    predicted : ndarray of shape (n,)
        Predicted classes.
    confidence : ndarray of shape (n,)
        A prediction is as certain as its probability, or as its score is ahead of the
        next.
    """
    has_proba = "proba" in done[0]
    field = "proba" if has_proba else "score"
    truth = np.concatenate([record["truth"] for record in done])
    given = np.concatenate([np.asarray(record[field], float) for record in done])
    if given.ndim == 1:
        margin = given - (0.5 if has_proba else 0.0)
        return truth, given, (margin > 0).astype(int), np.abs(margin)
    largest = np.partition(given, -2, axis=1)
    ahead = largest[:, -1] if has_proba else largest[:, -1] - largest[:, -2]
    return truth, given, given.argmax(axis=1), ahead


def compute_review(done: Sequence[Record]) -> dict[str, Array]:
    """Return the errors left against the fraction reviewed, the least certain first.

    Errors are those of one repetition, on average.
    """
    truth, _, predicted, confidence = read_predictions(done)
    fraction, left = review_curve(predicted != truth, confidence)
    some = select_evenly(len(fraction), MAX_CURVE_POINTS)
    n_runs = len({record["run"] for record in done})
    return {"fraction": fraction[some], "left": left[some] / n_runs}


def _find_repeated(
    done: Mapping[tuple[str, str], Sequence[Record]],
) -> dict[tuple[str, str], str]:
    """Return methods that predict the same as an earlier one, and its name.

    On a positive semidefinite matrix a repair changes only the last digits: equal
    means the same classes of all held-out rows, and equal rounded scores.
    """
    first: dict[object, str] = {}
    found = {}
    for (method, kernel), own in done.items():
        if own:
            read = [f"{each.get('ll', 0):.3f} {each['auc']:.3f}" for each in own]
            guesses = read_predictions(own)[2].tobytes()
            key = (kernel, "proba" in own[0], tuple(read), guesses)
            if first.setdefault(key, method) != method:
                found[method, kernel] = first[key]
    return found


def _describe_predictions(done: Sequence[Record], n_classes: int) -> Record:
    """Return confusion counts and curves of all held-out predictions.

    Confusion counts are by true (rows) and predicted class (columns).
    """
    truth, given, guess, _ = read_predictions(done)
    counts = np.zeros((n_classes, n_classes), int)
    np.add.at(counts, (truth, guess), 1)
    if given.ndim == 1:
        fpr, tpr, _ = roc_curve(truth, given)
        predicted, is_right = given, truth == 1
    else:
        one_hot = truth[:, None] == np.arange(n_classes)
        fpr, tpr, _ = roc_curve(one_hot.ravel(), given.ravel())
        predicted, is_right = given.max(axis=1), guess == truth
    kept = select_evenly(len(fpr), MAX_CURVE_POINTS)
    has_proba = "proba" in done[0]
    return {
        "confusion": counts,
        "roc": {"fpr": fpr[kept], "tpr": tpr[kept]},
        "reliability": compute_reliability(predicted, is_right) if has_proba else None,
        "review": compute_review(done),
    }


def compute_reliability(predicted: Array, is_right: Array) -> dict[str, Array]:
    """Return observed frequencies of events by their predicted probability.

    Parameters
    ----------
    predicted : ndarray of shape (k,)
        Probabilities.
    is_right : ndarray of shape (k,)
        Whether the event happened.

    Returns
    -------
    dict
        ``predicted`` and ``observed``, means over bins of equal width; ``low`` and
        ``high``, the ends of Wilson's 95% interval; and ``count``. Empty bins are left
        out.

    Examples
    --------
    >>> import numpy as np
    >>> predicted, is_right = np.array([0.1, 0.12, 0.9]), np.array([0, 1, 1])
    >>> found = compute_reliability(predicted, is_right)
    >>> found["observed"], found["count"]
    (array([0.5, 1. ]), array([2, 1]))
    """
    bins = int(np.clip(len(predicted) // SAMPLES_PER_BIN, 4, MAX_BINS))
    place = np.minimum((predicted * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    full = count > 0
    given, right = (
        np.bincount(place, values, bins)[full] / count[full]
        for values in (predicted, is_right)
    )
    low, high = wilson_interval(right, count[full])
    ends = {"low": low, "high": high}
    return {"predicted": given, "observed": right, **ends, "count": count[full]}


def _describe_data(job: Job, records: Sequence[Record]) -> Record:
    """Return the data, and the spectra of the first fold that has a result."""
    spectra, places = {}, [_place(each) for each in _select_done(records)]
    for kernel in job.kernels if places else ():
        K, _ = job.split_similarities(min(places), kernel)
        report, values = describe(K), np.linalg.eigvalsh((K + K.T) / 2)[::-1]
        names = ("mu_min", "mu_max", "signature", "negative_share")
        spectra[str(label_kernel(kernel))] = {
            **{name: report[name] for name in names},
            "eigenvalues": values[select_evenly(len(values), MAX_EIGENVALUES)],
        }
    return {
        "name": job.name,
        "n": len(job.y),
        "m": job.X.shape[1] if job.kind == "rows" else None,
        "classes": list(job.classes),
        "kernels": spectra,
    }


def rank_rows(found: Findings) -> list[Record]:
    """Return the rows from the best to the worst, without repeated predictions.

    High accuracy comes first, then low log-loss. ``also`` names the methods with the
    same predictions.
    """

    def rank(row: Record) -> list[float]:
        signed = zip((-1, 1), (row["accuracy"], row["log_loss"]), strict=True)
        return [float("inf") if x is None else sign * x for sign, x in signed]

    rows: dict[tuple[str, str], Record] = {}
    for row in found["rows"]:  # a method comes after the one with its predictions
        if row.get("same_as") is None:
            rows[row["method"], row["kernel"]] = row | {"also": []}
        else:
            rows[row["same_as"], row["kernel"]]["also"].append(row["method"])
    return sorted(rows.values(), key=rank)


def _state_results(found: Record) -> list[str]:
    """Return the verdict, and further sentences about the numbers."""
    ranked = [row for row in rank_rows(found) if row["accuracy"] is not None]
    sentences = [_state_best(ranked) if ranked else "No method gave a result."]
    likely = [row for row in ranked if row["log_loss"] is not None]
    if likely:
        best = min(likely, key=lambda row: row["log_loss"])
        sentences += [f"Lowest log-loss: {best['label']} with {best['log_loss']:.3f}."]
    for kernel, about in found["data"]["kernels"].items():
        sentences += [
            f"{row['method']} assumes a positive semidefinite matrix; "
            f"{'the matrix' if kernel == GRAM_KERNEL else kernel} is indefinite, "
            "so its result has no guarantee."
            for row in found["rows"]
            if about["signature"][1]
            and row["accuracy"] is not None
            and row["kernel"] == kernel
            and ALL_METHODS[row["method"]].definite_only
        ]
    lost = ", ".join(row["label"] for row in found["rows"] if row["failed"])
    if lost:
        sentences.append(f"Folds without a result, left out of the means: {lost}.")
    return sentences


def _state_best(ranked: Sequence[Record]) -> str:
    """Return one sentence: the best row, and the place of the model of `krein fit`."""

    def is_ours(row: Record) -> bool:
        return KREIN_CV in (row["method"], *row["also"])

    best, *others = ranked
    own = next(filter(is_ours, others), None)
    name = MODEL_OF_FIT if is_ours(best) else best["label"]
    text = f"{name} has the highest accuracy, {best['accuracy']:.3f}"
    if own is not None:
        clear = is_clear(own, "accuracy")
        gap = "clearly less" if clear else "a difference within the margin of error"
        return f"{text}; {MODEL_OF_FIT} has {own['accuracy']:.3f}, {gap}."
    worse = sum(is_clear(row, "accuracy") for row in others)
    if not others:
        return f"{text}."
    many = f"{worse} of the {len(others)} other rows {'is' if worse == 1 else 'are'}"
    return f"{text}; {many if worse else 'no other row is'} clearly less accurate."


def is_clear(row: Record, measure: str) -> bool:
    """Return whether the interval of a difference from the best excludes zero."""
    gap = row["behind"][measure]
    return bool(gap and gap["low"] is not None) and not gap["low"] <= 0 <= gap["high"]


def rows_as_csv(found: Record) -> str:
    """Return the rows of a comparison as CSV, one line per method and kernel."""
    rows = [
        row
        | {"data": found["data"]["name"], "folds": len(row["scores"])}
        | {"statuses": json.dumps(row["statuses"])}
        for row in found["rows"]
    ]
    return csv_text(CSV_COLUMNS, rows)
