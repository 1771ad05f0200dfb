"""How fast are Wasserstein distances, next to POT and SciPy, pair by pair.

    python benchmarks/bench_transport.py [--quick] [--repeats N]

One JSON line a measurement: median and least of the repeats in seconds, after a first
run that is not counted, and how many times faster we are. In more than one dimension
we call POT: "kreinlearn, 1 thread" shows what we add to it or save. All pairs of n
clouds of m points; the peers compute each pair once, too.
"""

from functools import partial

import numba
import numpy as np
from common import OURS, emit, environment, measure, options_of, rows, say, start
from scipy.stats import wasserstein_distance

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
SERIAL = f"{OURS}, 1 thread"


def serial(function):
    """Return the function with all its work in one thread."""

    def run():
        before = numba.config.NUMBA_NUM_THREADS
        numba.config.NUMBA_NUM_THREADS = 1
        try:
            return function()
        finally:
            numba.config.NUMBA_NUM_THREADS = before

    return run


def each_pair(items, distance):
    D = np.zeros((len(items), len(items)))
    for i, x in enumerate(items):
        for j, y in enumerate(items[:i]):
            D[i, j] = D[j, i] = distance(x, y)
    return D


def by_pot(x, y):
    return ot.emd2(x[1], y[1], ot.dist(x[0], y[0], metric="euclidean"))


def sliced_by_pot(x, y, directions):
    return ot.sliced_wasserstein_distance(*x[:1], *y[:1], projections=directions, p=1)


def by_scipy(x, y):
    return wasserstein_distance(x[0][:, 0], y[0][:, 0], x[1], y[1])


def works(n, m):
    """Yield each work with its competitors."""
    rng = np.random.default_rng(0)
    line = check_clouds(rng.standard_normal((n, m, 1)))
    plane = check_clouds(rng.standard_normal((n, m, 2)))
    counts = rng.integers(1, 9, size=(n, m))
    support = rng.standard_normal((m, 2))
    ours = partial(wasserstein, line)
    peer = partial(each_pair, line, by_scipy)
    yield "clouds on a line", {OURS: ours, SERIAL: serial(ours), "scipy": peer}
    sliced = partial(sliced_wasserstein, plane)
    if ot is None:
        yield "sliced, 50 lines", {OURS: sliced, SERIAL: serial(sliced)}
        return
    directions = np.random.default_rng(0).standard_normal((50, 2))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    peer = partial(
        each_pair, plane, partial(sliced_by_pot, directions=directions.T.copy())
    )
    yield "sliced, 50 lines", {OURS: sliced, SERIAL: serial(sliced), "POT": peer}
    exact = partial(wasserstein, plane)
    peer = partial(each_pair, plane, by_pot)
    yield "clouds in the plane", {OURS: exact, SERIAL: serial(exact), "POT": peer}
    M = ot.dist(support, support, metric="euclidean")
    shares = counts / counts.sum(axis=1, keepdims=True)
    exact = partial(histogram_wasserstein, counts, support=support)
    peer = partial(each_pair, shares, lambda x, y: ot.emd2(x, y, M))
    yield "histograms in the plane", {OURS: exact, SERIAL: serial(exact), "POT": peer}


def main(argv=None):
    options = options_of(__doc__, argv)
    machine = environment("POT")
    if ot is None:
        say('POT is not installed and left out: pip install "kreinlearn[transport]"')
    for n, m in QUICK_SIZES if options.quick else SIZES:
        for work, functions in works(n, m):
            first, *others = [function() for function in functions.values()]
            if any(np.abs(first - other).max() > 1e-9 for other in others):
                raise RuntimeError(
                    f"{work}: the libraries compute different distances."
                )
            seconds = measure(functions, options.repeats)
            emit(rows("transport", work, seconds, n=n, m=m, dtype="float64"), machine)


if __name__ == "__main__":
    start(main)
