"""Wasserstein distances of all pairs, compared with POT and SciPy.

    python benchmarks/bench_transport.py [--quick] [--repeats N]

See `common` for the rows. n clouds of m points; the peers also compute each pair once.
In more than one dimension we call POT: "kreinlearn, 1 thread" shows our overhead.
"""

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
from scipy.stats import wasserstein_distance

from kreinlearn.kernels.threads import limit_threads
from kreinlearn.kernels.transport import (
    check_clouds,
    histogram_wasserstein,
    sliced_wasserstein,
    wasserstein,
)

try:
    import ot
except ImportError:
    ot = None

SIZES = [(60, 10), (40, 50), (20, 200)]
QUICK_SIZES = [(8, 10)]
ONE_THREAD = f"{OURS}, 1 thread"


def limit_to_one_thread(function):
    """Return a function that runs in one thread."""

    def run():
        with limit_threads(1):
            return function()

    return run


def compute_pairs(items, distance):
    D = np.zeros((len(items), len(items)))
    for i, x in enumerate(items):
        for j, y in enumerate(items[:i]):
            D[i, j] = D[j, i] = distance(x, y)
    return D


def compute_by_pot(x, y):
    return ot.emd2(x[1], y[1], ot.dist(x[0], y[0], metric="euclidean"))


def compute_sliced_by_pot(x, y, directions):
    return ot.sliced_wasserstein_distance(*x[:1], *y[:1], projections=directions, p=1)


def compute_by_scipy(x, y):
    return wasserstein_distance(x[0][:, 0], y[0][:, 0], x[1], y[1])


def add_one_thread(function):
    """Return the function, and the same limited to one thread, by library."""
    return {OURS: function, ONE_THREAD: limit_to_one_thread(function)}


def list_works(n, m):
    """Yield each work with its functions by library."""
    rng = np.random.default_rng(0)
    line = check_clouds(rng.standard_normal((n, m, 1)))
    plane = check_clouds(rng.standard_normal((n, m, 2)))
    counts = rng.integers(1, 9, size=(n, m))
    support = rng.standard_normal((m, 2))
    functions = add_one_thread(partial(wasserstein, line))
    peer = partial(compute_pairs, line, compute_by_scipy)
    yield "clouds on a line", functions | {"scipy": peer}
    functions = add_one_thread(partial(sliced_wasserstein, plane))
    if ot is None:
        yield "sliced, 50 lines", functions
        return
    directions = np.random.default_rng(0).standard_normal((50, 2))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    by_pot = partial(compute_sliced_by_pot, directions=directions.T.copy())
    peer = partial(compute_pairs, plane, by_pot)
    yield "sliced, 50 lines", functions | {"POT": peer}
    functions = add_one_thread(partial(wasserstein, plane))
    peer = partial(compute_pairs, plane, compute_by_pot)
    yield "clouds in the plane", functions | {"POT": peer}
    M = ot.dist(support, support, metric="euclidean")
    weights = counts / counts.sum(axis=1, keepdims=True)
    functions = add_one_thread(partial(histogram_wasserstein, counts, support=support))
    peer = partial(compute_pairs, weights, lambda x, y: ot.emd2(x, y, M))
    yield "histograms in the plane", functions | {"POT": peer}


def main(argv=None):
    options = parse_options(__doc__, argv)
    machine = describe_machine("POT")
    if ot is None:
        print_missing_library("POT", "transport")
    for n, m in QUICK_SIZES if options.quick else SIZES:
        for work, functions in list_works(n, m):
            check_agreement(work, functions, atol=1e-9)
            seconds = time_functions(functions, options.repeats)
            print_rows(
                make_rows("transport", work, seconds, n=n, m=m, dtype="float64"),
                machine,
            )


if __name__ == "__main__":
    run_script(main)
