"""Time and memory of a fit as samples grow, with the exponents.

    python benchmarks/bench_scaling.py [--quick] [--repeats N] [--limit SECONDS]
                                       [--sizes N ...]

Fits given samples (kernel and all) of the first n rows of ijcnn1-tr, and the grid of a
cross-validation. Each measurement has a process of its own, which reports its seconds
and its largest memory. A peer whose fit took longer than ``--limit`` seconds gets no
larger n; nobody gets more than ten times that.
"""

import inspect
import json
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from bench_blocked import FORCED
from common import (
    OURS,
    Fresh,
    emit,
    environment,
    fresh,
    larger_half,
    limit_memory,
    measure,
    options_of,
    peak_mb,
    rows,
    say,
    slope,
    start,
)
from samples import many_rows
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.kernels import tl1

SIZES = [1000, 2000, 4000, 8000, 16_000, 32_000]
QUICK_SIZES = [100, 150, 200]
LAM, COST = 1e-3, 1.0
LAMS = [10.0**-k for k in range(1, 8)]
SMALL = 100
"""Samples of the fit that loads compiled code, before the clock starts."""

exact = partial(KreinLogisticRegression, "tl1", lam=LAM)
# Work -> library -> estimator.
SERIES = {
    "fit": {
        OURS: exact,
        f"{OURS}, float32": partial(exact, dtype="float32"),
        f"{OURS}, blocked": partial(exact, **FORCED),
        "SVC": partial(SVC, kernel=tl1, C=COST),
        "CCCP-GD": partial(exact, solver="cccp-gd-as-printed"),
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
    options = options_of(
        __doc__,
        argv,
        limit={"type": float, "default": 60.0, "metavar": "SECONDS"},
        sizes={"type": int, "nargs": "+", "metavar": "N"},
        child={"help": "for internal use"},
    )
    if options.child:
        limit_memory()
        print(json.dumps(run(**json.loads(options.child))))
        return
    machine = environment()
    sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        X, y, data = many_rows(max(sizes), options.quick)
        np.savez(file, X=X, y=y)
        for work in SERIES:
            series(work, sorted(sizes), str(file), data, options, machine)


def series(work, sizes, file, data, options, machine):
    """Measure all libraries at one size after the other, then their slopes."""
    alive = available(work)
    points = {library: [] for library in alive}
    for n in sizes:
        functions = {
            library: turn(work, library, n, file, options) for library in alive
        }
        details = {}
        seconds = measure(
            functions, options.repeats, budget=options.limit / 2, details=details
        )
        shape = {"n": n, "m": 22, "dtype": "float64", "data": data}
        found = rows("scaling", work, seconds, details=details, **shape)
        emit(found, machine)
        for row in found:
            median = row["median_s"]
            if median is not None:
                points[row["library"]].append((n, median))
            if median is None or (
                median > options.limit and not row["library"].startswith(OURS)
            ):
                alive.remove(row["library"])
    emit([slopes(work, library, each) for library, each in points.items()], machine)


def available(work):
    """Return the names of the libraries; one may not be able to do the work yet."""
    names = list(SERIES[work])
    known = inspect.signature(KreinLogisticRegression).parameters
    if f"{OURS}, blocked" in names and not FORCED.keys() <= known.keys():
        say(f"KreinLogisticRegression does not take {FORCED}: left out")
        names.remove(f"{OURS}, blocked")
    return names


def turn(work, library, n, file, options):
    """Return the measurement of one library; under ``--quick`` few are processes."""
    task = {"work": work, "library": library, "n": n, "file": file}
    if options.quick and library != "SVC":
        return Fresh(partial(run, **task))
    return Fresh(partial(fresh, __file__, task, 10 * options.limit))


def run(work, library, n, file):
    """Fit in this process, and return seconds, memory and ending."""
    with np.load(file) as given:
        X, y = given["X"][:n], given["y"][:n]
    warnings.simplefilter("ignore")  # the status says it
    make = SERIES[work][library]
    first = np.r_[np.flatnonzero(y > 0)[: SMALL // 2], np.flatnonzero(y < 0)[:SMALL]]
    make().fit(X[first], y[first])
    before = peak_mb()
    start = time.perf_counter()
    model = make().fit(X, y)
    found = {"seconds": time.perf_counter() - start, "peak_mb": peak_mb()}
    found["before_mb"] = before
    if "float32" in library:
        found["dtype"] = "float32"
    if hasattr(model, "residual_"):
        found["status"] = model.status_
        found["residual"] = float(f"{model.residual_:.3g}")
        found["products"] = model.history_[-1].get("products")
    return found


def slopes(work, library, points):
    """Return the row of the exponents."""
    sizes, seconds = zip(*points, strict=True) if points else ((), ())
    few = larger_half(points)
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
        "slope_all": rounded(slope(sizes, seconds)),
        "slope_large": rounded(slope(*zip(*few, strict=True)) if few else None),
    }


def rounded(value):
    return None if value is None else round(value, 3)


if __name__ == "__main__":
    start(main)
