"""How fast are alignments of sequences, next to parasail and Opal.

    python benchmarks/bench_sequences.py [--quick] [--repeats N]

One JSON line a measurement: median and least of the repeats in seconds, after a first
run that is not counted, and how many times faster we are. The competitors take turns
on two threads. ``pairs_per_s`` are alignments a second, ``gcups`` billions of entries
of alignment tables a second. Edit distances are RapidFuzz's: the ratio is what our
checks cost.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from common import OURS, emit, environment, measure, options_of, rows, start, without

from kreinlearn.kernels import levenshtein, needleman_wunsch, smith_waterman
from kreinlearn.kernels.threads import max_threads

try:
    import parasail
except ImportError:
    parasail = None
try:
    import pyopal
    from scoring_matrices import ScoringMatrix
except ImportError:
    pyopal = None
try:
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein
except ImportError:
    process = None

GAPS = (12, 1)
OURSELVES = {"sw": smith_waterman, "nw": needleman_wunsch}
NAMES = {"sw": "Smith-Waterman", "nw": "Needleman-Wunsch"}
# Name -> shortest, longest, queries, others.
SETS = {
    "peptides": (9, 15, 200, 5000),
    "proteins of length 300": (300, 300, 32, 1000),
    "proteins of length 50 to 900": (50, 900, 32, 1000),
    "families of length 300": (300, 300, 32, 1000),
}
QUICK = {"peptides": (9, 15, 5, 60), "families of length 300": (300, 300, 2, 20)}


def sequences(name, shortest, longest, n):
    """Return random proteins; those of families share half of their letters."""
    rng = np.random.default_rng(0)
    letters = np.array(list("ARNDCQEGHILKMFPSTWYV"))
    found = [rng.choice(letters, rng.integers(shortest, longest + 1)) for _ in range(n)]
    if name.startswith("families"):
        for i in range(10, n):
            kept = rng.uniform(size=shortest) < 0.5
            found[i] = np.where(kept, found[i % 10], found[i])
    return ["".join(each) for each in found]


def in_threads(function, X):
    """Return the rows of a function of one sequence, computed in threads."""
    with ThreadPoolExecutor(max_threads()) as pool:
        return np.array(list(pool.map(function, X)), dtype=float)


def by_parasail(X, Y, algorithm):
    # The fastest of its ways: a striped profile of each query, 8 bits first.
    align = getattr(parasail, f"{algorithm}_striped_profile_sat")

    def row(x):
        profile = parasail.profile_create_sat(x, parasail.blosum62)
        return [align(profile, z, *GAPS).score for z in Y]

    return in_threads(row, X)


def by_opal(X, Y, algorithm):
    aligner = pyopal.Aligner(ScoringMatrix.from_name("BLOSUM62"), *GAPS)
    database = pyopal.Database(Y)

    def row(x):
        hits = aligner.align(x, database, mode="score", algorithm=algorithm)
        return [hit.score for hit in hits]

    return in_threads(row, X)


def contenders(X, Y, algorithm):
    """Return what computes the raw scores of all pairs, by library."""
    ours = OURSELVES[algorithm]
    functions = {OURS: partial(ours, X, Y, normalized=False)}
    if parasail:
        functions["parasail"] = partial(by_parasail, X, Y, algorithm)
    if pyopal:
        functions["pyopal"] = partial(by_opal, X, Y, algorithm)
    return functions


def edits(X, Y):
    """Return what computes edit distances of all pairs, by library."""
    settings = {
        "scorer": Levenshtein.distance,
        "workers": max_threads(),
        "dtype": float,
    }
    return {
        OURS: partial(levenshtein, X, Y),
        "rapidfuzz": partial(process.cdist, X, Y, **settings),
    }


def agree(work, functions):
    """Raise unless all competitors compute the same scores."""
    first, *others = [function() for function in functions.values()]
    if not all((first == other).all() for other in others):
        raise RuntimeError(f"{work}: the libraries compute different scores.")


def main(argv=None):
    options = options_of(__doc__, argv)
    machine = environment("parasail", "pyopal", "rapidfuzz")
    for peer, module in (
        ("parasail", parasail),
        ("pyopal", pyopal),
        ("rapidfuzz", process),
    ):
        if module is None:
            without(peer)
    for name, (shortest, longest, n, k) in (QUICK if options.quick else SETS).items():
        Y = sequences(name, shortest, longest, k)
        X = Y[:n]
        cells = sum(map(len, X)) * sum(map(len, Y))
        works = {NAMES[each]: contenders(X, Y, each) for each in OURSELVES}
        if process:
            works["Levenshtein"] = edits(X, Y)
        for work, functions in works.items():
            agree(work, functions)
            seconds = measure(functions, options.repeats)
            found = rows(
                "sequences", f"{work}, {name}", seconds, n=k, m=longest, dtype="int"
            )
            for row in found:
                if row["median_s"]:
                    row["pairs_per_s"] = round(n * k / row["median_s"])
                    row["gcups"] = round(cells / row["median_s"] / 1e9, 2)
            emit(found, machine)


if __name__ == "__main__":
    start(main)
