"""How fast are elastic distances between time series, next to aeon and tslearn.

    python benchmarks/bench_series.py [--quick] [--repeats N] [--measures dtw msm ...]

All pairs of 200 series of length 128, in as many threads as there are processors. One
JSON line a measurement: median and least of the repeats in seconds, after a first run
that is not counted, and how many times faster we are. The competitors take turns, so
that a busy moment of the machine hits all of them. The last lines are the memory that
the process took at most before and after one matrix of long series, which a table of
all alignments of a pair would dwarf, and 32 series against 2,000.
"""

import os
from functools import partial

import numpy as np
from common import (
    OURS,
    emit,
    environment,
    measure,
    options_of,
    peak_mb,
    rows,
    start,
    without,
)

from kreinlearn import kernels

try:
    from aeon import distances as aeon
except ImportError:
    aeon = None
try:
    from tslearn import metrics as tslearn
except ImportError:
    tslearn = None

# What is measured, and the parameters.
MEASURES = {
    "dtw": {},
    "dtw, window 10 %": {"window": 0.1},
    "wdtw": {},
    "erp": {},
    "lcss": {},
    "msm": {},
    "twe": {},
}
SIZE = (200, 1, 128)
QUICK_SIZE = (20, 1, 32)
LONG = 5_000
"""A table of all alignments of two series of this length would have 200 MB."""


def main(argv=None):
    names = {"nargs": "+", "default": list(MEASURES), "choices": MEASURES}
    options = options_of(__doc__, argv, measures=names)
    machine = environment()
    n, channels, length = QUICK_SIZE if options.quick else SIZE
    X = walks(n, channels, length)
    for work in options.measures:
        functions = competitors(work, X)
        agree(work, functions)
        seconds = measure(functions, options.repeats)
        shape = {"n": n, "m": length, "dtype": "float64"}
        emit(rows("series", work, seconds, **shape), machine)
    few, many = (4, 50) if options.quick else (32, 2000)
    Y = walks(many, channels, length)
    functions = {OURS: partial(kernels.dtw, Y[:few], Y)}
    if aeon is not None:
        jobs = os.cpu_count()
        functions["aeon"] = partial(aeon.dtw_pairwise_distance, Y[:few], Y, n_jobs=jobs)
    seconds = measure(functions, options.repeats)
    shape = {"n": few, "m": length, "dtype": "float64", "others": many}
    emit(rows("series", "dtw, few against many", seconds, **shape), machine)
    long = walks(2, 1, 200 if options.quick else LONG)
    before = peak_mb()
    seconds = measure({OURS: partial(kernels.dtw, long)}, 1)
    grown = {"grown_mb": round(peak_mb() - before, 1)}
    shape = {"n": 2, "m": long.shape[2], "dtype": "float64"}
    emit(rows("series", "dtw, long series", seconds, **shape, **grown), machine)


def walks(n, channels, length):
    """Return random walks, an array as aeon has it."""
    steps = np.random.default_rng(0).standard_normal((n, channels, length))
    return steps.cumsum(axis=2)


def competitors(work, X):
    """Return what computes all distances, by name."""
    name, params = work.split(",")[0], MEASURES[work]
    functions = {OURS: partial(getattr(kernels, name), X, **params)}
    jobs = os.cpu_count()
    if aeon is None:
        without("aeon")
    else:
        theirs = getattr(aeon, f"{name}_pairwise_distance")
        functions["aeon"] = partial(theirs, X, n_jobs=jobs, **params)
    if tslearn is None:
        without("tslearn")
    elif name == "dtw":
        band = {}
        if params:
            radius = int(params["window"] * X.shape[2])
            band = {
                "global_constraint": "sakoe_chiba",
                "sakoe_chiba_radius": radius,
            }
        series = X.transpose(0, 2, 1).copy()
        functions["tslearn"] = partial(tslearn.cdist_dtw, series, n_jobs=jobs, **band)
    return functions


def agree(work, functions):
    """Raise unless all competitors compute the same matrix."""
    ours = functions[OURS]()
    for peer, function in functions.items():
        D = function()
        if peer == "aeon" and "dtw" in work:
            D = np.sqrt(D)
        # aeon starts from the sum of all gaps, its authors from the running sum.
        if not (np.allclose(ours, D) or (work == "erp" and (ours <= D + 1e-9).all())):
            raise RuntimeError(f"{work}: {peer} computes another matrix.")


if __name__ == "__main__":
    start(main)
