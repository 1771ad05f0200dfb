"""Alignments of sequences, compared with parasail and Opal.

    python benchmarks/bench_sequences.py [--quick] [--repeats N]

See `common` for the rows. ``pairs_per_s`` are alignments per second, ``gcups`` billions
of entries of alignment tables per second. Our edit distances call RapidFuzz: the ratio
is the overhead of our checks.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from common import (
    OURS,
    check_agreement,
    describe_machine,
    make_rows,
    parse_options,
    print_missing_library,
    print_rows,
    run_script,
    time_functions,
)

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

GAP_COSTS = (12, 1)
OUR_FUNCTIONS = {"sw": smith_waterman, "nw": needleman_wunsch}
ALGORITHM_NAMES = {"sw": "Smith-Waterman", "nw": "Needleman-Wunsch"}
# Name -> shortest, longest, queries, others.
SEQUENCE_SETS = {
    "peptides": (9, 15, 200, 5000),
    "proteins of length 300": (300, 300, 32, 1000),
    "proteins of length 50 to 900": (50, 900, 32, 1000),
    "families of length 300": (300, 300, 32, 1000),
}
QUICK_SETS = {"peptides": (9, 15, 5, 60), "families of length 300": (300, 300, 2, 20)}


def make_sequences(name, shortest, longest, n):
    """Return random proteins; members of a family share half of their letters."""
    rng = np.random.default_rng(0)
    letters = np.array(list("ARNDCQEGHILKMFPSTWYV"))
    found = [rng.choice(letters, rng.integers(shortest, longest + 1)) for _ in range(n)]
    if name.startswith("families"):
        for i in range(10, n):
            kept = rng.uniform(size=shortest) < 0.5
            found[i] = np.where(kept, found[i % 10], found[i])
    return ["".join(each) for each in found]


def compute_in_threads(function, X):
    """Return the results of a function of one sequence, computed in threads."""
    with ThreadPoolExecutor(max_threads()) as pool:
        return np.array(list(pool.map(function, X)), dtype=float)


def compute_by_parasail(X, Y, algorithm):
    # Its fastest method: a striped profile of each query, 8 bits first.
    align = getattr(parasail, f"{algorithm}_striped_profile_sat")

    def row(x):
        profile = parasail.profile_create_sat(x, parasail.blosum62)
        return [align(profile, z, *GAP_COSTS).score for z in Y]

    return compute_in_threads(row, X)


def compute_by_opal(X, Y, algorithm):
    aligner = pyopal.Aligner(ScoringMatrix.from_name("BLOSUM62"), *GAP_COSTS)
    database = pyopal.Database(Y)

    def row(x):
        hits = aligner.align(x, database, mode="score", algorithm=algorithm)
        return [hit.score for hit in hits]

    return compute_in_threads(row, X)


def list_aligners(X, Y, algorithm):
    """Return functions that compute the raw scores of all pairs, by library."""
    ours = OUR_FUNCTIONS[algorithm]
    functions = {OURS: partial(ours, X, Y, normalized=False)}
    if parasail:
        functions["parasail"] = partial(compute_by_parasail, X, Y, algorithm)
    if pyopal:
        functions["pyopal"] = partial(compute_by_opal, X, Y, algorithm)
    return functions


def list_edit_distances(X, Y):
    """Return functions that compute all edit distances, by library."""
    settings = {
        "scorer": Levenshtein.distance,
        "workers": max_threads(),
        "dtype": float,
    }
    return {
        OURS: partial(levenshtein, X, Y),
        "rapidfuzz": partial(process.cdist, X, Y, **settings),
    }


def main(argv=None):
    options = parse_options(__doc__, argv)
    machine = describe_machine("parasail", "pyopal", "rapidfuzz")
    for peer, module in (
        ("parasail", parasail),
        ("pyopal", pyopal),
        ("rapidfuzz", process),
    ):
        if module is None:
            print_missing_library(peer)
    for name, (shortest, longest, n, k) in (
        QUICK_SETS if options.quick else SEQUENCE_SETS
    ).items():
        Y = make_sequences(name, shortest, longest, k)
        X = Y[:n]
        cells = sum(map(len, X)) * sum(map(len, Y))
        works = {
            ALGORITHM_NAMES[each]: list_aligners(X, Y, each) for each in OUR_FUNCTIONS
        }
        if process:
            works["Levenshtein"] = list_edit_distances(X, Y)
        for work, functions in works.items():
            check_agreement(work, functions)
            seconds = time_functions(functions, options.repeats)
            found = make_rows(
                "sequences", f"{work}, {name}", seconds, n=k, m=longest, dtype="int"
            )
            for row in found:
                if row["median_s"]:
                    row["pairs_per_s"] = round(n * k / row["median_s"])
                    row["gcups"] = round(cells / row["median_s"] / 1e9, 2)
            print_rows(found, machine)


if __name__ == "__main__":
    run_script(main)
