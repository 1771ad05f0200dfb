"""Intervals of scores: what the folds, and what so many samples, can tell.

Letters: J folds of all repetitions; n_train and n_test rows on the sides of a fold.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from kreinlearn._typing import Array
from kreinlearn.app.runs.records import Record

QUANTILE = 1.959964
"""That of a normal distribution, for intervals of 95 %."""
LEVEL = 0.975
"""Of Student's distribution, for the same."""
FEWEST_FOLDS = 3
"""Below, the spread over folds says next to nothing, and Wilson's interval is used."""
ROUNDING = 1e-12
"""Spread of scores that is due to rounding."""
CORRECTED, WILSON = "Nadeau and Bengio", "Wilson"
"""After whom an interval is named."""

Ends = tuple[float, float]
Key = TypeVar("Key", bound=Hashable)


def wilson(share: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """Return the ends of Wilson's 95 % interval of a share among n samples.

    Examples
    --------
    >>> low, high = wilson(0.9, 50)
    >>> round(float(low), 3), round(float(high), 3)
    (0.786, 0.957)
    """
    share, n = np.asarray(share, float), np.asarray(n, float)
    middle = share + QUANTILE**2 / (2 * n)
    half = QUANTILE * np.sqrt(share * (1 - share) / n + (QUANTILE / (2 * n)) ** 2)
    width = 1 + QUANTILE**2 / n
    ends = (middle - half) / width, (middle + half) / width
    return np.maximum(0.0, ends[0]), np.minimum(1.0, ends[1])


def corrected(values: Sequence[float], test_ratio: float) -> Ends | None:
    """Return a 95 % interval of a mean over folds that share training rows.

    The variance of the mean is taken as ``(1 / J + n_test / n_train) s^2``, with the
    variance s^2 over the folds.

    Parameters
    ----------
    values : sequence of float
        One per fold.
    test_ratio : float
        n_test / n_train.

    Returns
    -------
    (float, float) or None
        None with fewer than three folds, or if all values are the same: then their
        spread says nothing.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
    52, 239-281, 2003.

    Examples
    --------
    >>> low, high = corrected([0.8, 0.9, 0.85, 0.95, 0.8], 1 / 4)
    >>> round(low, 3), round(high, 3)
    (0.739, 0.981)
    """
    if len(values) < FEWEST_FOLDS or np.ptp(values) < ROUNDING:
        return None
    variance = (1 / len(values) + test_ratio) * float(np.var(values, ddof=1))
    half = float(student.ppf(LEVEL, len(values) - 1)) * variance**0.5
    mean = float(np.mean(values))
    return mean - half, mean + half


def interval_of(records: Sequence[Record]) -> Ends | None:
    """Return a 95 % interval of an accuracy over the folds of a method.

    Parameters
    ----------
    records : sequence of dict
        The folds. With fewer than three, Wilson's interval, from the number of rows
        held out; repetitions judge the same rows again, and do not make it narrower.

    Returns
    -------
    (float, float) or None
        None if all folds are alike.
    """
    if len(records) >= FEWEST_FOLDS:
        found = corrected([each["acc"] for each in records], _test_ratio(records))
        return None if found is None else (max(0.0, found[0]), min(1.0, found[1]))
    sizes = np.array([len(record["truth"]) for record in records], float)
    share = float(sizes @ [record["acc"] for record in records] / sizes.sum())
    low, high = wilson(share, sizes.sum() / len({each["run"] for each in records}))
    return float(low), float(high)


def behind(
    groups: Mapping[Key, Sequence[Record]], field: str, smaller: bool = False
) -> dict[Key, dict[str, Any]]:
    """Return how far each method is from the best one, fold by fold.

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
        "mean", "low" and "high" of the difference to the best mean, which itself is at
        zero; the ends are None where there is no interval.
    """
    known = {
        key: {(each["run"], each["set"]["fold"]): each[field] for each in group}
        for key, group in groups.items()
        if group and field in group[0]
    }
    folds = sorted({fold for own in known.values() for fold in own})
    scores = {
        key: [own[fold] for fold in folds]
        for key, own in known.items()
        if len(own) == len(folds)
    }
    if not scores:
        return {}
    choose = min if smaller else max
    best = choose(scores, key=lambda key: float(np.mean(scores[key])))
    ratio = _test_ratio(groups[best])
    found = {}
    for key, own in scores.items():
        gaps = np.subtract(own, scores[best])
        low, high = corrected(gaps.tolist(), ratio) or (None, None)
        found[key] = {"mean": float(gaps.mean()), "low": low, "high": high}
    return found


def _test_ratio(records: Sequence[Record]) -> float:
    """Return n_test / n_train, on average over the folds."""
    return float(np.mean([len(each["truth"]) / each["n"] for each in records]))
