"""How indefinite a similarity is, and whether its negative part is worth keeping."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kreinlearn._typing import Array
from kreinlearn._validation import (
    INFORMATIVE_TOL,
    check_count,
    check_matrix,
    check_similarities,
    looks_like_distances,
)
from kreinlearn.app.inspection import wording
from kreinlearn.app.inspection.evidence import Tell, exchanged, predictions
from kreinlearn.app.inspection.permutation import conditional
from kreinlearn.app.inspection.wording import LEVEL, MATTERS, ROUNDED, Inspection
from kreinlearn.app.methods.table import inner_folds
from kreinlearn.app.runs.runner import surroundings
from kreinlearn.losses import loss_for
from kreinlearn.problem import uniqueness_threshold
from kreinlearn.spectrum import describe

RAREST = 3
"""Classes with fewer samples are left out of the comparison."""
FEWEST = 20
"""Samples below which nothing can be told from held-out predictions."""
LEARNED = 500
"""Most samples to learn from; more would take minutes and change little."""
LARGEST = 2000
"""Most samples whose spectrum is computed, which takes n^3 operations."""
BETTER = "gain in log-likelihood per sample if the negative part is kept"
BEYOND = "drop in squared error per sample if the negative part is kept"
WORSE = "gain in log-likelihood per sample if the negative part is clipped"


def inspect_matrix(
    K: ArrayLike,
    y: ArrayLike | None = None,
    *,
    permutations: int = 1000,
    seed: int = 0,
    progress: Tell | None = None,
    source: str | None = None,
    kernel: str = "precomputed",
    params: Mapping[str, float] | None = None,
    n_given: int | None = None,
    check: bool = True,
    command: str | None = None,
    definite: str | None = None,
) -> Inspection:
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
        Name of the kernel that gave them; "distance" if they are a form of distances.
    params : mapping, optional
        Its parameters.
    n_given : int, optional
        Samples that there are in all, if K holds some of them.
    check : bool
        Whether to refuse similarities that look like distances.
    command : str, optional
        What to run to learn from the similarities as they are, for the last sentence;
        empty if nothing can be learned, for lack of labels. By default Python.
    definite : str, optional
        What to run instead with a kernel that has no negative part.

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
    positive part does not: see `kreinlearn.app.inspection.permutation`. Alone, at
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
    >>> found = inspect_matrix(K)
    >>> found["signature"], found["recommendation"]
    ([3, 2, 35], 'unknown')
    """
    count = check_count("permutations", permutations)
    matrix, _ = check_matrix(K, "Similarities", symmetric="any", dtype=float)
    if check and kernel == "precomputed":
        check_similarities(matrix, "The matrix")
    labels = None if y is None else np.asarray(y)
    if labels is not None and labels.shape != (len(matrix),):
        raise ValueError(
            f"'y' must have shape ({len(matrix)},), one label for each row of K, got "
            f"shape {labels.shape}."
        )
    n_given = n_given or len(matrix)
    rows = sampled(labels, len(matrix), LARGEST, seed)
    matrix = matrix[np.ix_(rows, rows)]
    labels = None if labels is None else labels[rows]
    found: Inspection = {
        "kind": "inspection",
        "source": source or "K",
        "kernel": kernel,
        "params": dict(params or {}),
        "n": len(matrix),
        "n_given": n_given,
        "classes": None if labels is None else np.unique(labels).tolist(),
        **_measured(matrix),
    }
    is_odd = kernel == "precomputed" and looks_like_distances(matrix)
    loss = loss_for(len(found["classes"] or ()) > 2)
    found["unique_lam"] = uniqueness_threshold(found["mu_min"], 1 / len(matrix), loss)
    matrix = (matrix + matrix.T) / 2
    found["matrix"] = _matrix_kind(matrix, found["negative_share"])
    found["value"], why = None, "no labels were given"
    if found["matrix"] == "indefinite" and labels is not None:
        found["value"], why = _value(matrix, labels, count, seed, progress)
    found["recommendation"] = "either"
    if found["matrix"] == "indefinite":
        found["recommendation"] = (found["value"] or {"what": "unknown"})["what"]
    commands = wording.Commands(command, definite, is_insisted=is_odd)
    found["sentences"] = wording.sentences(found, why, commands)
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


def _measured(K: Array) -> Inspection:
    """Return the numbers about the eigenvalues and the symmetry of a matrix."""
    report: Inspection = describe(K)
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
        "eigenvalues": np.linalg.eigvalsh((K + K.T) / 2)[::-1].tolist(),
        "negative_share": report["negative_share"],
    }


def _matrix_kind(K: Array, negative_share: float) -> str:
    """Return what sort of matrix this is, for decisions and words."""
    size = float(np.abs(K).max())
    diagonal = float(np.abs(K.diagonal()).mean())
    off = float(np.abs(K - np.diag(K.diagonal())).sum()) / max(1, len(K) * (len(K) - 1))
    if size == 0:
        return "zero"
    if len(K) > 2 and float(np.ptp(K)) < INFORMATIVE_TOL * size:
        return "constant"
    if len(K) > 2 and off < INFORMATIVE_TOL * diagonal:
        return "diagonal"
    return "semidefinite" if negative_share < ROUNDED else "indefinite"


def _value(
    K: Array, y: Array, count: int, seed: int, progress: Tell | None
) -> tuple[Inspection | None, str]:
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
        return None, f"at least {FEWEST} samples are needed, and there are {len(rows)}"
    rows = rows[sampled(y[rows], len(rows), LEARNED, seed)]
    _, index = np.unique(y[rows], return_inverse=True)
    folds = inner_folds(index, seed, least=2)
    inside = K[np.ix_(rows, rows)]
    found = predictions(inside, index, folds, progress)
    first, second = found["as it is"].own, found["clip"].own
    gain, exchanges = (first - second).mean(), exchanged(first, second, count, seed)
    extra, chance = conditional(inside, index, found["clip"].logs, folds, count, seed)
    better, beyond = _p_value(gain, exchanges), _p_value(extra, chance)
    worse = _p_value(-gain, -exchanges)
    # For "keep" both tests must find something, so that the larger p-value counts.
    if gain < 0:
        p, seen, null, label = worse, -gain, -exchanges, WORSE
    elif better >= beyond:
        p, seen, null, label = better, gain, exchanges, BETTER
    else:
        p, seen, null, label = beyond, extra, chance, BEYOND
    is_clear = abs(gain) >= MATTERS and p <= LEVEL
    return {
        "what": ("keep" if gain > 0 else "repair") if is_clear else "either",
        "scores": {name: held.scores() for name, held in found.items()},
        "gain": float(gain),
        "p_better": better,
        "p_beyond": beyond,
        "p_worse": worse,
        "p_value": p,
        "difference": float(seen),
        "permutations": null.tolist(),
        "label": label,
        "folds": len(folds),
        "repeats": 1,
        "n": len(rows),
        "left_out": classes[sizes < RAREST].tolist(),
    }, ""


def _p_value(seen: float, null: Array) -> float:
    return float((1 + (null >= seen).sum()) / (1 + len(null)))
