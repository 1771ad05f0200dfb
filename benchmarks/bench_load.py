"""The default search while other processes use all processors.

    python benchmarks/bench_load.py [--quick] [--repeats N]

The search is timed alone, next to one busy process per processor, and next to them
without our limit of one BLAS thread. A grid search of support vector machines is timed
alone and next to the busy processes.
"""

import os
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

from bench_cv import start_workers
from bench_search import SVC_GRID
from common import (
    OURS,
    SelfTimed,
    describe_machine,
    make_rows,
    parse_options,
    print_rows,
    run_script,
    time_functions,
)
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.estimators import logistic_cv

SIZES = (500, 1000, 2000, 4000, 8000)
QUICK_SIZES = (100,)
MAX_SVC_SAMPLES = 2000
"""Samples up to which the grid search of support vector machines is timed."""
BUSY_CODE = "while True: pass"


def main(argv=None):
    options = parse_options(__doc__, argv)
    machine = describe_machine()
    warnings.simplefilter("ignore")
    start_workers()
    count = os.cpu_count() or 1
    beside = f"beside {count} busy processes"
    for n in QUICK_SIZES if options.quick else SIZES:
        X, y = make_classification(n, 20, n_informative=8, flip_y=0.1, random_state=0)
        X = minmax_scale(X)
        ours, grid = (
            KreinLogisticRegressionCV(),
            GridSearchCV(SVC(), SVC_GRID, n_jobs=2),
        )
        loads = {
            OURS: (ours, 0),
            beside: (ours, count),
            f"{beside}, BLAS not limited": (ours, count, 0),
        }
        if n <= MAX_SVC_SAMPLES:
            loads["GridSearchCV, SVC"] = (grid, 0)
            loads[f"GridSearchCV, SVC, {beside}"] = (grid, count)
        time_fit(X, y, ours)  # fills the caches
        calls = {
            name: SelfTimed(partial(time_fit, X, y, *load))
            for name, load in loads.items()
        }
        seconds = time_functions(calls, options.repeats)
        shape = {"n": n, "m": X.shape[1], "dtype": str(X.dtype)}
        print_rows(make_rows("load", "search", seconds, **shape), machine)


def time_fit(X, y, model, n_busy=0, limit=logistic_cv.SINGLE_THREAD_SEARCH):
    """Return the seconds of a fit next to busy processes."""
    with (
        run_busy_processes(n_busy),
        patch.object(logistic_cv, "SINGLE_THREAD_SEARCH", limit),
    ):
        begin = time.perf_counter()
        model.fit(X, y)
        return {"seconds": time.perf_counter() - begin}


@contextmanager
def run_busy_processes(count):
    """Run processes that do not end by themselves, and kill them on exit."""
    processes = [
        subprocess.Popen([sys.executable, "-c", BUSY_CODE]) for _ in range(count)
    ]
    time.sleep(0.2 if count else 0)
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    run_script(main)
