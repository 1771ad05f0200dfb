"""Elastic distances between time series, compared with aeon and tslearn.

    python benchmarks/bench_series.py [--quick] [--repeats N] [--measures dtw msm ...]

All pairs of 200 series of length 128, with one thread per processor. See `common` for
the rows. The last rows are 32 series against 2,000, and the growth of the peak memory
during one matrix of long series. A full alignment table of a pair would take far more.
"""

import os
from functools import partial

import numpy as np
from common import (
    OURS,
    describe_machine,
    get_peak_mb,
    make_rows,
    parse_options,
    print_missing_library,
    print_rows,
    run_script,
    time_functions,
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

# Distance -> parameters.
MEASURE_PARAMS = {
    "dtw": {},
    "dtw, window 10 %": {"window": 0.1},
    "wdtw": {},
    "erp": {},
    "lcss": {},
    "msm": {},
    "twe": {},
}
FULL_SIZE = (200, 1, 128)
QUICK_SIZE = (20, 1, 32)
LONG_LENGTH = 5_000
"""A full alignment table of two series of this length would take 200 MB."""


def main(argv=None):
    names = {"nargs": "+", "default": list(MEASURE_PARAMS), "choices": MEASURE_PARAMS}
    options = parse_options(__doc__, argv, measures=names)
    machine = describe_machine()
    n, channels, length = QUICK_SIZE if options.quick else FULL_SIZE
    X = make_walks(n, channels, length)
    for work in options.measures:
        functions = build_competitors(work, X)
        check_distances(work, functions)
        seconds = time_functions(functions, options.repeats)
        shape = {"n": n, "m": length, "dtype": "float64"}
        print_rows(make_rows("series", work, seconds, **shape), machine)
    few, many = (4, 50) if options.quick else (32, 2000)
    Y = make_walks(many, channels, length)
    functions = {OURS: partial(kernels.dtw, Y[:few], Y)}
    if aeon is not None:
        jobs = os.cpu_count()
        functions["aeon"] = partial(aeon.dtw_pairwise_distance, Y[:few], Y, n_jobs=jobs)
    seconds = time_functions(functions, options.repeats)
    shape = {"n": few, "m": length, "dtype": "float64", "others": many}
    print_rows(make_rows("series", "dtw, few against many", seconds, **shape), machine)
    long = make_walks(2, 1, 200 if options.quick else LONG_LENGTH)
    before = get_peak_mb()
    seconds = time_functions({OURS: partial(kernels.dtw, long)}, 1)
    grown = {"grown_mb": round(get_peak_mb() - before, 1)}
    shape = {"n": 2, "m": long.shape[2], "dtype": "float64"}
    print_rows(
        make_rows("series", "dtw, long series", seconds, **shape, **grown), machine
    )


def make_walks(n, channels, length):
    """Return random walks as an array in the format of aeon."""
    steps = np.random.default_rng(0).standard_normal((n, channels, length))
    return steps.cumsum(axis=2)


def build_competitors(work, X):
    """Return functions that compute all distances, by library."""
    name, params = work.split(",")[0], MEASURE_PARAMS[work]
    functions = {OURS: partial(getattr(kernels, name), X, **params)}
    jobs = os.cpu_count()
    if aeon is None:
        print_missing_library("aeon")
    else:
        theirs = getattr(aeon, f"{name}_pairwise_distance")
        functions["aeon"] = partial(theirs, X, n_jobs=jobs, **params)
    if tslearn is None:
        print_missing_library("tslearn")
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


def check_distances(work, functions):
    """Raise RuntimeError unless all libraries compute the same matrix."""
    ours = functions[OURS]()
    for peer, function in functions.items():
        D = function()
        if peer == "aeon" and "dtw" in work:
            D = np.sqrt(D)
        # aeon initializes with the sum of all gaps, the authors with the running sum.
        if not (np.allclose(ours, D) or (work == "erp" and (ours <= D + 1e-9).all())):
            raise RuntimeError(f"{work}: {peer} computes another matrix.")


if __name__ == "__main__":
    run_script(main)
