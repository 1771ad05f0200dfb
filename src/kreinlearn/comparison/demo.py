"""The main job in under a minute: four similarities, every way to learn with them."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.comparison.demo_data import balls, digits, patients
from kreinlearn.comparison.fold import OWN, PRECOMPUTED, Job, outcome
from kreinlearn.comparison.plan import stratified
from kreinlearn.comparison.summary import Compared, interval_of, summary_of
from kreinlearn.datasets import make_monks
from kreinlearn.methods.table import METHODS
from kreinlearn.runs.cells import Cell
from kreinlearn.runs.records import Record, record_of
from kreinlearn.runs.runner import surroundings
from kreinlearn.spectrum import describe


class Source(NamedTuple):
    """How to load samples, or similarities if the kernel is "precomputed"."""

    load: Callable[[], tuple[Array, Array]]
    kernel: str = PRECOMPUTED


DATA = {
    "monks-1": Source(lambda: make_monks(1), "tl1"),
    "digits": Source(digits),
    "balls": Source(balls),
    "patients": Source(patients),
}
"""Data that come with this package or with scikit-learn, or are made here."""
SHOWN = ("KreinCV", "IKLR", "SVC raw", "SVC clip", "SVC flip", "KSVM", "k-NN")
"""Names of the methods that are shown, as far as they apply."""
REPAIRED = ("SVC clip", "SVC flip")
TITLE = "Four similarities, every way to learn with them"
SENTENCES = (
    "monks-1 are rows of a table, compared by a truncated L1 distance (TL1). Digits "
    "are images, compared by the Hausdorff distance of their strokes. Balls are small "
    "or large, compared by the gaps between their surfaces. Patients have four of five "
    "measurements missing, and are compared by those that both have. None of these "
    "similarities is a kernel: each matrix has negative eigenvalues, and the theory of "
    "support vector machines does not hold for it.",
    "Three things can be done: take the matrix as it is and hope (SVC raw), repair it "
    "first (SVC clip, SVC flip), or use a method made for it: IKLR, logistic "
    "regression that averages two norms, and KSVM, a support vector machine in a Krein "
    "space. KreinCV is IKLR that also chooses among three kernels and averages them; "
    "it needs rows of a table. Only these two have probabilities. k-NN is a control: "
    "it looks for the nearest samples, and needs no theory.",
    "Each method learns from one half of the samples, where its settings are chosen by "
    "cross-validation, and is judged on the other half; then the halves change places. "
    "All see the same halves and folds, and every sample is judged once. Intervals "
    "tell what so many samples can tell; differences within them may be chance.",
    "Spectra and convergence are those of the first half.",
)


@cache
def job(data: str) -> Job:
    """Return a data set and its halves, each of which is once held out.

    Parameters
    ----------
    data : str
        Its name in `DATA`.

    Returns
    -------
    Job
        Features, if there are any, are scaled to [0, 1] on the training half.
    """
    source = DATA[data]
    X, y = source.load()
    classes, index = np.unique(y, return_inverse=True)
    halves = stratified(index, folds=2, repeats=1, seed=0)
    is_gram = source.kernel == PRECOMPUTED
    return Job(data, X, index, tuple(classes.tolist()), halves, is_gram)


def pairs() -> list[tuple[str, str]]:
    """Return every data set with every method that applies to it."""
    return [
        (data, method)
        for data, source in DATA.items()
        for method in SHOWN
        if not (METHODS[method].on_samples and source.kernel == PRECOMPUTED)
    ]


def outcomes() -> Iterator[tuple[list[Record], float]]:
    """Yield the records of each method on each data set, as they are found.

    Everything is chosen on the training half by five-fold cross-validation; all
    methods see the same halves and folds. The TL1 kernel has tau = 0.7 m, but for
    "KreinCV", which tries several kernels and ranges.

    Yields
    ------
    records : list of dict
        One method on both halves of one data set.
    share : float
        Of the work that is done, roughly.
    """
    work = sum(METHODS[method].weight for _, method in pairs())
    done = 0.0
    for data, method in pairs():
        kernel = OWN if METHODS[method].on_samples else DATA[data].kernel
        records = []
        for run_, fold in job(data).splits:
            cell = Cell(
                "demo", data, method, run_, (("kernel", kernel), ("fold", fold))
            )
            found = outcome(job(data), cell) | _spectrum(data, fold)
            records.append(record_of(cell, found, **surroundings()))
        done += METHODS[method].weight
        yield records, done / work


@cache
def _spectrum(data: str, fold: int) -> Record:
    """Return how indefinite the matrix of a training half is, as fields of a record."""
    report = describe(job(data).matrices(0, fold, DATA[data].kernel)[0])
    return {
        "sig": report["signature"],
        "mu": [report["mu_min"], report["mu_max"]],
        "neg": report["negative_share"],
    }


def printed_fields(records: Sequence[Record]) -> Record:
    """Return what is printed of a method on a data set.

    Parameters
    ----------
    records : sequence of dict
        Those of both halves, from `outcomes`.

    Returns
    -------
    dict
        Data set, method, number of samples; smallest eigenvalue of the first training
        matrix and share of the negative ones; means of accuracy and log-loss over the
        halves, with a 95 % interval of the accuracy; seconds of all fits.
    """
    first = records[0]
    losses = [record["ll"] for record in records if "ll" in record]
    low, high = interval_of(records)
    return {
        "data": first["data"],
        "method": first["method"],
        "n": sum(len(record["truth"]) for record in records),
        "mu_min": first["mu"][0],
        "negative_share": first["neg"],
        "accuracy": float(np.mean([record["acc"] for record in records])),
        "accuracy_low": low,
        "accuracy_high": high,
        "log_loss": float(np.mean(losses)) if losses else None,
        "seconds": sum(record["fit_s"] for record in records),
    }


def findings(records: Sequence[Record]) -> Compared:
    """Return everything that the page shows.

    Parameters
    ----------
    records : sequence of dict
        All of `outcomes`.

    Returns
    -------
    dict
        See `summary_of`.
    """
    found = [
        (job(data), [record for record in records if record["data"] == data])
        for data in DATA
    ]
    kernels = list(dict.fromkeys(source.kernel for source in DATA.values()))
    sentences = [_keeps_up(records), SENTENCES[0], _where(records)]
    return summary_of(
        found, kernels, title=TITLE, sentences=[*sentences, *SENTENCES[1:]]
    )


def _keeps_up(records: Sequence[Record]) -> str:
    """Return on how many data sets each method keeps up with the best."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record["method"], record["data"]), []).append(record)
    shown = {place: printed_fields(group) for place, group in groups.items()}
    counts: dict[str, list[bool]] = {}
    for (method, data), own in shown.items():
        best = max(each["accuracy"] for each in shown.values() if each["data"] == data)
        counts.setdefault(method, []).append(own["accuracy_high"] >= best)
    order = sorted(counts, key=lambda method: -float(np.mean(counts[method])))
    said = [f"{each} {sum(counts[each])} of {len(counts[each])}" for each in order]
    repaired = [counts[each] for each in REPAIRED if each in counts]
    text = "Data sets on which a method keeps up with the best, that is, its interval "
    text += f"holds the best accuracy: {', '.join(said)}."
    if repaired and not any(map(all, repaired)):
        return f"No repair is right everywhere. {text}"
    return text


def _where(records: Sequence[Record]) -> str:
    """Return how indefinite the matrices are."""
    shares = {record["data"]: record["neg"] for record in reversed(records)}
    said = [f"{data} {100 * shares[data]:.2g} %" for data in DATA]
    return (
        "Share of the negative part in the sum of absolute eigenvalues: "
        f"{', '.join(said)}."
    )
