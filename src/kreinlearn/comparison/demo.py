"""One story in a few seconds: similarities that are no kernel, and what to do."""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from kreinlearn.comparison.demo_data import gaps, with_a_ruler
from kreinlearn.comparison.fold import PRECOMPUTED, Job, outcome
from kreinlearn.comparison.intervals import interval_of
from kreinlearn.comparison.plan import stratified
from kreinlearn.comparison.summary import Compared, summary_of
from kreinlearn.methods.table import METHODS
from kreinlearn.runs.cells import Cell
from kreinlearn.runs.records import Record, record_of
from kreinlearn.runs.runner import surroundings
from kreinlearn.spectrum import describe

DATA = "gaps"
FOLDS = 5
SHOWN = {
    "SVC raw": "takes the matrix for a kernel",
    "k-NN": "looks for the nearest cells",
    "SVC clip": "drops the negative part",
    "SVC flip": "makes the negative part positive",
    "flip + KLR": "the same, with probabilities",
    "IKLR": "learns from it as it is: ours",
}
"""Methods in the order of the story, and what each does with the matrix."""
DRAWN = ("SVC raw", "SVC clip", "IKLR")
"""Whose curves are drawn."""
OURS, NAIVE, WITHOUT = "IKLR", "SVC raw", "SVC clip"
SURE = 0.9
"""Probability of a class from which on a method is called sure of it."""
TITLE = "Which cells are large? All that is known are the gaps between them"
STORY = (
    "The cells were generated: balls of two kinds in a box, one kind larger on "
    "average. A gap is the distance between two surfaces. Distances between centers "
    "would be Euclidean; so what the gaps say of the sizes is in what is not "
    "Euclidean, that is, in the negative eigenvalues. The example was chosen for that, "
    "not by who wins. In other data the negative part may be noise: `krein inspect` "
    "tells which.",
    "Three things can be done with such a matrix. Take it for a kernel and hope: SVC "
    "raw, a support vector machine, and k-NN, which looks for the nearest cells. "
    "Repair it: clip drops the negative part, flip makes it positive; then SVC learns "
    "labels, and KLR, kernel logistic regression, probabilities. Or learn from it as "
    "it is: IKLR, logistic regression in a Krein space.",
    f"Each method learns from four fifths of the cells, where its settings are chosen "
    f"by cross-validation, and is judged on the rest, {FOLDS} times. All see the same "
    "folds. The spectrum is that of the first four fifths.",
)


@cache
def job() -> Job:
    """Return the similarities and the folds, each of which is held out once."""
    cells = gaps()
    folds = stratified(cells.y, folds=FOLDS, repeats=1, seed=0)
    return Job(DATA, cells.K, cells.y, ("small", "large"), folds, is_gram=True)


def outcomes() -> Iterator[tuple[list[Record], float]]:
    """Yield the records of each method, as they are found.

    Yields
    ------
    records : list of dict
        One method on all folds.
    share : float
        Of the work that is done, roughly.
    """
    work, done = sum(METHODS[method].weight for method in SHOWN), 0.0
    for method in SHOWN:
        records = []
        for run_, fold in job().splits:
            settings = (("kernel", PRECOMPUTED), ("fold", fold))
            cell = Cell("demo", DATA, method, run_, settings)
            found = outcome(job(), cell)
            records.append(record_of(cell, found, **surroundings()))
        done += METHODS[method].weight
        yield records, done / work


def printed_fields(records: Sequence[Record]) -> Record:
    """Return what is printed of a method.

    Parameters
    ----------
    records : sequence of dict
        Those of all folds, from `outcomes`.

    Returns
    -------
    dict
        Data set, method, number of samples; means of accuracy and log-loss over the
        folds, with a 95 % interval of the accuracy; seconds of all fits.
    """
    losses = [record["ll"] for record in records if "ll" in record]
    low, high = interval_of(records) or (None, None)
    return {
        "data": DATA,
        "method": records[0]["method"],
        "n": sum(len(record["truth"]) for record in records),
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
        See `summary_of`; also "verdict", the sentences to begin with, and "shown", the
        methods whose curves are drawn.
    """
    found = summary_of([(job(), records)], [PRECOMPUTED], title=TITLE, sentences=[])
    found["verdict"] = [*_verdict(found), _trust(records)]
    found["sentences"] = [*found["verdict"], *STORY]
    return found | {"shown": DRAWN}


def _verdict(found: Compared) -> list[str]:
    """Return what came out, the headline first, with what speaks against us."""
    rows = {row["method"]: row for row in found["rows"]}
    told = {name: _percent(row["accuracy"]) for name, row in rows.items()}
    low, high = rows[NAIVE]["accuracy_low"], rows[NAIVE]["accuracy_high"]
    is_coin = low is not None and low <= 0.5 <= high
    report: Record = describe(job().X)
    said = [
        f"From the gaps as they are, {OURS} tells {told[OURS]} of the cells right. A "
        f"support vector machine that takes them for a kernel tells {told[NAIVE]}"
        f"{', no better than a coin' if is_coin else ''}.",
        f"{report['signature'][1]} of {report['n']} eigenvalues are negative, and they "
        f"hold the sizes: without them ({WITHOUT}) it is {told[WITHOUT]}. With a ruler "
        f"at each cell it would be {_percent(with_a_ruler(gaps()))}.",
    ]
    ours = rows[OURS]
    ahead = [name for name in rows if rows[name]["accuracy"] > ours["accuracy"]]
    if ahead:
        end = ours["behind"]["accuracy"]["high"]
        is_clear = end is not None and end < 0
        names = " and ".join(f"{name} ({told[name]})" for name in ahead)
        come = f"{'comes' if len(ahead) == 1 else 'come'} out ahead"
        said.append(
            f"{OURS} is not the best here: {names} {come}"
            f"{', and clearly' if is_clear else ', though not clearly'}. Which repair "
            f"is right depends on the data; {OURS} needs none."
        )
    return said


def _trust(records: Sequence[Record]) -> str:
    """Return how often our method was right where it was sure."""
    own = [record for record in records if record["method"] == OURS]
    large = np.concatenate([record["proba"] for record in own])
    truth = np.concatenate([record["truth"] for record in own])
    sure = np.maximum(large, 1 - large) >= SURE
    right = ((large > 0.5) == truth)[sure]
    return (
        f"Can its probabilities be trusted? Of the {sure.sum()} cells of which {OURS} "
        f"was at least {_percent(SURE)} sure, {_percent(right.mean())} were right."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"
