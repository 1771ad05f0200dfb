"""Time and memory of a fit by the number of samples, with the exponents.

    python benchmarks/bench_scaling.py [--quick] [--repeats N] [--limit SECONDS]
                                       [--sizes N ...]

Fits from samples (including the kernel) to the first n rows of ijcnn1-tr, and the grid
of a cross-validation. Each measurement runs in a separate process, which reports its
seconds and peak memory. A peer whose fit exceeds ``--limit`` seconds gets no larger n;
every process is stopped after ten times the limit.
"""

import json
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from bench_blocked import BLOCKED_SETTINGS
from common import (
    OURS,
    SelfTimed,
    describe_machine,
    fit_exponent,
    get_peak_mb,
    limit_memory,
    make_rows,
    parse_options,
    print_rows,
    run_in_process,
    run_script,
    select_larger_half,
    time_functions,
)
from samples import load_rows
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.kernels import tl1

SIZES = [1000, 2000, 4000, 8000, 16_000, 32_000]
QUICK_SIZES = [100, 150, 200]
LAM, COST = 1e-3, 1.0
LAMS = [10.0**-k for k in range(1, 8)]
N_WARM_UP = 100
"""Samples of the untimed fit that loads compiled code."""

build_exact = partial(KreinLogisticRegression, "tl1", lam=LAM)
# Work -> library -> estimator.
ESTIMATORS = {
    "fit": {
        OURS: build_exact,
        f"{OURS}, float32": partial(build_exact, dtype="float32"),
        f"{OURS}, blocked": partial(build_exact, **BLOCKED_SETTINGS),
        "SVC": partial(SVC, kernel=tl1, C=COST),
        "CCCP-GD": partial(build_exact, solver="cccp-gd-as-printed"),
    },
    "cross-validation": {
        OURS: partial(
            KreinLogisticRegressionCV,
            "tl1",
            lams=LAMS,
            norms=("krein",),
            kernel_grid={},
            refit=False,
        ),
    },
}


def main(argv=None):
    options = parse_options(
        __doc__,
        argv,
        limit={"type": float, "default": 60.0, "metavar": "SECONDS"},
        sizes={"type": int, "nargs": "+", "metavar": "N"},
        child={"help": "for internal use"},
    )
    if options.child:
        limit_memory()
        print(json.dumps(run_task(**json.loads(options.child))))
        return
    machine = describe_machine()
    sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        X, y, data = load_rows(max(sizes), options.quick)
        np.savez(file, X=X, y=y)
        for work in ESTIMATORS:
            measure_growth(work, sorted(sizes), str(file), data, options, machine)


def measure_growth(work, sizes, file, data, options, machine):
    """Measure all libraries at each size, then compute their slopes."""
    alive = list(ESTIMATORS[work])
    points = {library: [] for library in alive}
    for n in sizes:
        functions = {
            library: make_measurement(work, library, n, file, options)
            for library in alive
        }
        details = {}
        seconds = time_functions(
            functions, options.repeats, budget=options.limit / 2, details=details
        )
        shape = {"n": n, "m": 22, "dtype": "float64", "data": data}
        found = make_rows("scaling", work, seconds, details=details, **shape)
        print_rows(found, machine)
        for row in found:
            median = row["median_s"]
            if median is not None:
                points[row["library"]].append((n, median))
            if median is None or (
                median > options.limit and not row["library"].startswith(OURS)
            ):
                alive.remove(row["library"])
    print_rows(
        [make_slope_row(work, library, each) for library, each in points.items()],
        machine,
    )


def make_measurement(work, library, n, file, options):
    """Return the measurement of one library, in this process if ``--quick``."""
    task = {"work": work, "library": library, "n": n, "file": file}
    if options.quick and library != "SVC":
        return SelfTimed(partial(run_task, **task))
    return SelfTimed(partial(run_in_process, __file__, task, 10 * options.limit))


def run_task(work, library, n, file):
    """Fit in this process, and return seconds, memory and status."""
    with np.load(file) as given:
        X, y = given["X"][:n], given["y"][:n]
    warnings.simplefilter("ignore")  # the row has the status
    make = ESTIMATORS[work][library]
    first = np.r_[
        np.flatnonzero(y > 0)[: N_WARM_UP // 2], np.flatnonzero(y < 0)[:N_WARM_UP]
    ]
    make().fit(X[first], y[first])
    before = get_peak_mb()
    start = time.perf_counter()
    model = make().fit(X, y)
    found = {"seconds": time.perf_counter() - start, "peak_mb": get_peak_mb()}
    found["before_mb"] = before
    if "float32" in library:
        found["dtype"] = "float32"
    if hasattr(model, "residual_"):
        found["status"] = model.status_
        found["residual"] = float(f"{model.residual_:.3g}")
        found["products"] = model.history_[-1].get("products")
    return found


def make_slope_row(work, library, points):
    """Return the row of the exponents."""
    sizes, seconds = zip(*points, strict=True) if points else ((), ())
    few = select_larger_half(points)
    return {
        "bench": "scaling",
        "work": f"slope, {work}",
        "library": library,
        "n": max(sizes, default=None),
        "m": 22,
        "dtype": "float32" if "float32" in library else "float64",
        "median_s": None,
        "min_s": None,
        "repeats": None,
        "ours_faster": None,
        "sizes": sizes,
        "slope_all": round_slope(fit_exponent(sizes, seconds)),
        "slope_large": round_slope(
            fit_exponent(*zip(*few, strict=True)) if few else None
        ),
    }


def round_slope(value):
    return None if value is None else round(value, 3)


if __name__ == "__main__":
    run_script(main)
