"""The main job in under a minute: one similarity, every way to learn with it."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split

from kreinlearn._typing import Array
from kreinlearn.comparison.fold import OWN, Job, outcome
from kreinlearn.comparison.summary import Compared, summary_of
from kreinlearn.datasets import make_monks
from kreinlearn.methods.table import METHODS
from kreinlearn.runs.cells import Cell
from kreinlearn.runs.records import Record, record_of
from kreinlearn.runs.runner import surroundings
from kreinlearn.spectrum import describe

SIMILARITY = "tl1"
DATA: dict[str, Callable[[], tuple[Array, Array]]] = {
    "monks-1": lambda: make_monks(1),
    "monks-2": lambda: make_monks(2),
    "wine": lambda: load_wine(return_X_y=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True),
}
"""Data that come with this package or with scikit-learn."""
SHOWN = ("KreinCV", "IKLR", "SVC raw", "SVC clip", "SVC flip", "KSVM")
"""Names of the methods that are shown."""
TITLE = "One similarity, every way to learn with it"
SENTENCES = (
    "The truncated L1 distance tells how alike two samples are, but it is no kernel: "
    "its matrix may have negative eigenvalues, and the theory of support vector "
    "machines does not hold for it then.",
    "Three things can be done: take the matrix as it is and hope (SVC raw), repair it "
    "first (SVC clip, SVC flip), or use a method made for it: IKLR, logistic "
    "regression in a Krein space, and KSVM, a support vector machine in one. KreinCV "
    "is IKLR that also chooses among three kernels and averages them.",
    "Each method learns from one half of the rows, where its settings are chosen by "
    "cross-validation, and is judged on the other half. All see the same halves and "
    "the same folds. With one split of each set, small differences are chance.",
    "Spectra and convergence are those of the training half.",
)


@cache
def job(data: str) -> Job:
    """Return a data set and its halves.

    Parameters
    ----------
    data : str
        Its name in `DATA`.

    Returns
    -------
    Job
        Features scaled to [0, 1] on the training half.
    """
    X, y = DATA[data]()
    classes, index = np.unique(y, return_inverse=True)
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.5, random_state=0, stratify=y
    )
    return Job(data, X, index, tuple(classes.tolist()), {(0, 0): (train, test)})


def outcomes() -> Iterator[tuple[Record, float]]:
    """Yield the record of each method on each data set, as it is found.

    Everything is chosen on the training half by five-fold cross-validation; all
    methods see the same halves and folds. The TL1 kernel has tau = 0.7 m, but for
    "KreinCV", which tries several kernels and ranges.

    Yields
    ------
    record : dict
        One method on one data set.
    share : float
        Of the work that is done, roughly.
    """
    work = len(DATA) * sum(METHODS[method].weight for method in SHOWN)
    done = 0.0
    for data in DATA:
        report = describe(job(data).matrices(0, 0, SIMILARITY)[0])
        spectrum = {
            "sig": report["signature"],
            "mu": [report["mu_min"], report["mu_max"]],
            "neg": report["negative_share"],
        }
        for method in SHOWN:
            kernel = OWN if METHODS[method].on_samples else SIMILARITY
            cell = Cell("demo", data, method, 0, (("kernel", kernel), ("fold", 0)))
            found = outcome(job(data), cell) | spectrum
            done += METHODS[method].weight
            yield record_of(cell, found, **surroundings()), done / work


def printed_fields(record: Record) -> Record:
    """Return what is printed of a record.

    Parameters
    ----------
    record : dict
        From `outcomes`.

    Returns
    -------
    dict
        Data set, method, sizes of the halves; smallest eigenvalue of the training
        matrix and share of the negative ones; accuracy and log-loss on the other half;
        seconds of the fit with its tuning.
    """
    return {
        "data": record["data"],
        "method": record["method"],
        "n_train": record["n"],
        "n_test": len(record["truth"]),
        "mu_min": record["mu"][0],
        "negative_share": record["neg"],
        "accuracy": record["acc"],
        "log_loss": record.get("ll"),
        "seconds": record["fit_s"],
    }


def findings(records: Sequence[Record]) -> Compared:
    """Return everything that the page shows.

    Parameters
    ----------
    records : sequence of dict
        From `outcomes`.

    Returns
    -------
    dict
        See `summary_of`.
    """
    found = [
        (job(data), [record for record in records if record["data"] == data])
        for data in DATA
    ]
    sentences = [_who_is_best(records), SENTENCES[0], _where(records), *SENTENCES[1:]]
    return summary_of(found, [SIMILARITY], title=TITLE, sentences=sentences)


def _who_is_best(records: Sequence[Record]) -> str:
    """Return who is best, in words that do not claim more than was seen."""
    accuracies: dict[str, list[float]] = {}
    for record in records:
        accuracies.setdefault(record["method"], []).append(record["acc"])
    means = {method: float(np.mean(own)) for method, own in accuracies.items()}
    first, *others = sorted(means, key=lambda method: -means[method])
    text = f"Best in the mean of {len(DATA)} data sets: {first}, accuracy "
    text += f"{means[first]:.3f}"
    if others:
        text += f"; next {others[0]}, {means[others[0]]:.3f}"
    if first == "KreinCV":
        text += ". It has three kernels to choose from, the others one"
    return f"{text}."


def _where(records: Sequence[Record]) -> str:
    """Return which of the matrices are indefinite."""
    shares = {record["data"]: record["neg"] for record in records}
    some = [f"{data} ({100 * share:.2g} %)" for data, share in shares.items() if share]
    none = [data for data, share in shares.items() if not share]
    return (
        "Share of the negative part in the sum of absolute eigenvalues: "
        f"{', '.join(some) or 'none'}"
        f"{'; none on ' * bool(some and none)}{', '.join(none) if some else ''}."
    )
