"""How indefinite a similarity is, and whether its negative part is worth keeping."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from kreinlearn._typing import Array
from kreinlearn._validation import ALMOST, check_count, check_matrix
from kreinlearn.inspection import wording
from kreinlearn.inspection.evidence import Tell, exchanged, predictions
from kreinlearn.inspection.permutation import conditional
from kreinlearn.runs.runner import surroundings
from kreinlearn.spectrum import describe

FOLDS = 5
"""Folds of the cross-validation, or fewer if a class has fewer samples."""
RAREST = 3
"""Classes with fewer samples are left out of the comparison."""
FEWEST = 20
"""Samples below which nothing can be told from held-out predictions."""
LEARNED = 500
"""Most samples to learn from; more would take minutes and change little."""
LARGEST = 2000
"""Most samples whose spectrum is computed, which takes n^3 operations."""
BETTER = "log-likelihood a sample, as it is less clipped"
BEYOND = "squared error a sample, clipped less as it is"
WORSE = "log-likelihood a sample, clipped less as it is"
LEVEL = 0.05
"""Largest p-value that is called significant."""


def inspect(
    K: Any,
    y: Any = None,
    *,
    permutations: int = 1000,
    seed: int = 0,
    progress: Tell | None = None,
    source: str | None = None,
    kernel: str = "precomputed",
    params: Mapping[str, Any] | None = None,
    n_given: int | None = None,
    command: str | None = None,
) -> dict[str, Any]:
    """Tell how indefinite a similarity is, and what to do about it.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Similarities. If they are not symmetric, their symmetric part is inspected.
    y : array-like of shape (n,), optional
        Labels, to tell whether the negative part is worth keeping.
    permutations : int
        Random permutations of each test.
    seed : int
        Seed of folds, samples and permutations.
    progress : callable, optional
        Told after each fold how many are done, and of how many.
    source : str, optional
        Where the similarities come from.
    kernel : str
        Name of the kernel that gave them.
    params : mapping, optional
        Its parameters.
    n_given : int, optional
        Samples that there are in all, if K holds some of them.
    command : str, optional
        What to run to learn from the similarities as they are, for the last sentence.

    Returns
    -------
    dict
        As JSON takes it: ``signature``, ``mu_min``, ``mu_max``, ``eigenvalues`` (the
        largest first), ``negative_share``, ``unique_lam``, ``asymmetry``; ``value``,
        what the negative part is worth on held-out samples, or None;
        ``recommendation``, one of "keep", "repair", "either" and "unknown";
        ``sentences`` in plain words, the headline first.

    Notes
    -----
    "keep" takes two tests, and the larger of their p-values is given. The first asks
    whether predictions are better with the negative part: its statistic is the mean
    difference of the log-probabilities that "as it is" and "clip" give to the class
    of a held-out sample, and under the null hypothesis the two can be exchanged for
    each sample. The second asks whether it tells something of the labels that the
    positive part does not: see `kreinlearn.inspection.permutation`. Alone, at
    a level of 5 %, the first found noise worth keeping in up to a quarter of simulated
    problems, since noise may act as a regularization, and the second in more than a
    third of others, since the positive part is no complete account of the samples;
    both together in at most 5 %. "repair" takes the first test, the other way round.

    To permute the rows and columns of the negative part against the rest was tried
    and left: both parts have orthogonal eigenvectors, and permuted ones do not.

    Above 500 samples the comparison takes 500 of them, the spectrum at most 2000, at
    random with the proportions of the classes.

    Examples
    --------
    >>> from kreinlearn.datasets import make_gram
    >>> K, y = make_gram((3, 2), n_samples=40, random_state=0)
    >>> found = inspect(K)
    >>> found["signature"], found["recommendation"]
    ([3, 2, 35], 'unknown')
    """
    count = check_count("permutations", permutations)
    K, y = _checked(K, y)
    n_given = n_given or len(K)
    rows = sampled(y, len(K), LARGEST, seed)
    K, y = K[np.ix_(rows, rows)], None if y is None else y[rows]
    found: dict[str, Any] = {
        "kind": "inspection",
        "source": source or "K",
        "kernel": kernel,
        "params": dict(params or {}),
        "n": len(K),
        "n_given": n_given,
        "classes": None if y is None else np.unique(y).tolist(),
        **_spectrum(K),
    }
    if len(found["classes"] or ()) > 2:  # the multinomial model needs twice that
        found["unique_lam"] *= 2
    K = (K + K.T) / 2
    found["matrix"] = _kind(K, found["negative_share"])
    found["value"], why = None, "no labels were given"
    if found["matrix"] == "indefinite" and y is not None:
        found["value"], why = _value(K, y, count, seed, progress)
    found["recommendation"] = _recommendation(found)
    found["sentences"] = wording.sentences(found, why, command)
    found["versions"] = surroundings()["ver"]
    return found


def sampled(y: Array | None, n: int, most: int, seed: int = 0) -> Array:
    """Return samples drawn with the proportions of the classes, or all of them.

    Parameters
    ----------
    y : ndarray of shape (n,) or None
        Labels.
    n : int
        Number of samples.
    most : int
        How many to draw if there are more.
    seed : int
        Source of randomness.

    Returns
    -------
    ndarray
        Positions, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [30, 10])
    >>> np.bincount(y[sampled(y, 40, 20)])
    array([15,  5])
    """
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(seed).permutation(n)
    if y is not None:  # class after class, of which every other few are taken
        order = order[np.argsort(y[order], kind="stable")]
        order = order[np.linspace(0, n, most, endpoint=False).astype(int)]
    return np.sort(order[:most])


def _checked(K: Any, y: Any) -> tuple[Array, Array | None]:
    """Return a square matrix of finite numbers and its labels, or raise."""
    K, _ = check_matrix(K, "A matrix of similarities", symmetric="any", dtype=float)
    if y is None:
        return K, None
    y = np.asarray(y)
    if y.shape != (len(K),):
        raise ValueError(
            f"'y' must have shape ({len(K)},), one label for each row of K, got shape "
            f"{y.shape}."
        )
    return K, y


def _spectrum(K: Array) -> dict[str, Any]:
    """Return the numbers about the eigenvalues and the symmetry of a matrix."""
    report: dict[str, Any] = describe(K)
    mu = np.linalg.eigvalsh((K + K.T) / 2)[::-1]
    size = float(np.linalg.norm(K))
    return {
        "asymmetry": {
            "largest": float(np.abs(K - K.T).max()),
            "relative": report["asymmetry"],
            "share": float(np.linalg.norm(K - K.T)) / (2 * size) if size > 0 else 0.0,
        },
        "signature": list(report["signature"]),
        "mu_min": report["mu_min"],
        "mu_max": report["mu_max"],
        "eigenvalues": mu.tolist(),
        "negative_share": report["negative_share"],
        "unique_lam": report["lam_unique"],
    }


def _kind(K: Array, negative_share: float) -> str:
    """Return what sort of matrix this is, for decisions and words."""
    size = float(np.abs(K).max())
    diagonal = float(np.abs(K.diagonal()).mean())
    off = float(np.abs(K - np.diag(K.diagonal())).sum()) / max(1, len(K) * (len(K) - 1))
    if size == 0:
        return "zero"
    if len(K) > 2 and float(np.ptp(K)) < ALMOST * size:
        return "constant"
    if len(K) > 2 and off < ALMOST * diagonal:
        return "diagonal"
    return "semidefinite" if negative_share < wording.ROUNDING else "indefinite"


def _value(
    K: Array, y: Array, count: int, seed: int, progress: Tell | None
) -> tuple[dict[str, Any] | None, str]:
    """Return what the negative part is worth, or None and why that is not known."""
    classes, sizes = np.unique(y, return_counts=True)
    frequent = classes[sizes >= RAREST]
    if len(frequent) < 2:
        return None, (
            f"two classes of at least {RAREST} samples are needed, and there "
            f"{'is' if len(frequent) == 1 else 'are'} {len(frequent) or 'none'}"
        )
    rows = np.flatnonzero(np.isin(y, frequent))
    if len(rows) < FEWEST:
        return None, (
            f"at least {FEWEST} samples are needed, and there are {len(rows)}"
        )
    rows = rows[sampled(y[rows], len(rows), LEARNED, seed)]
    _, index = np.unique(y[rows], return_inverse=True)
    n_folds = max(2, min(FOLDS, int(np.bincount(index).min())))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    folds = list(splitter.split(index, index))
    found = predictions(K[np.ix_(rows, rows)], index, folds, progress)
    first, second = found["as it is"].own, found["clip"].own
    gain = float((first - second).mean())
    exchanges = exchanged(first, second, count, seed)
    inside = K[np.ix_(rows, rows)]
    extra, chance = conditional(inside, index, found["clip"].logs, folds, count, seed)
    tests = [
        (_p_value(gain, exchanges), gain, exchanges, BETTER),
        (_p_value(extra, chance), extra, chance, BEYOND),
    ]
    worse = (_p_value(-gain, -exchanges), -gain, -exchanges, WORSE)
    # For "keep" both tests must find something, so that the larger p-value counts.
    shown = max(tests, key=lambda test: test[0]) if gain >= 0 else worse
    p, seen, null, label = shown
    value = {
        "scores": {way: held.scores() for way, held in found.items()},
        "gain": gain,
        "p_better": tests[0][0],
        "p_beyond": tests[1][0],
        "p_worse": worse[0],
        "p_value": p,
        "difference": seen,
        "permutations": null.tolist(),
        "label": label,
        "folds": n_folds,
        "repeats": 1,
        "n": len(rows),
        "left_out": classes[sizes < RAREST].tolist(),
    }
    return {"what": _verdict(value), **value}, ""


def _p_value(seen: float, null: Array) -> float:
    return float((1 + (null >= seen).sum()) / (1 + len(null)))


def _verdict(value: Mapping[str, Any]) -> str:
    if abs(value["gain"]) < wording.MATTERS:
        return "either"
    if value["p_value"] > LEVEL:
        return "either"
    return "keep" if value["gain"] > 0 else "repair"


def _recommendation(found: Mapping[str, Any]) -> str:
    if found["matrix"] != "indefinite":
        return "either"
    return "unknown" if found["value"] is None else str(found["value"]["what"])
