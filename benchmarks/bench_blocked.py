"""Products and a fit without a stored matrix, compared with computing its entries.

    python benchmarks/bench_blocked.py [--quick] [--repeats N] [--n N]

A product that recomputes K cannot be faster than computing its entries: all of them
(``tiles``), or those on and above the diagonal (``tiles, half``) if a product uses each
entry twice. The fit runs in a separate process, which reports its peak memory. A stored
matrix would take ``matrix_mb``.
"""

import json
import time
import warnings
from functools import partial

import numpy as np
from common import (
    OURS,
    SelfTimed,
    describe_machine,
    get_peak_mb,
    make_rows,
    parse_options,
    print_rows,
    run_in_process,
    run_script,
    time_functions,
)
from samples import load_rows

from kreinlearn import KreinLogisticRegression, operators
from kreinlearn.kernels import gram, resolve_kernel

BLOCKED_SETTINGS = {"operator": "blocked"}
"""Parameters of the estimator for products without a stored matrix."""
N_SAMPLES, QUICK_N_SAMPLES = 50_000, 300
COLUMN_COUNTS = (1, 5)
LAM = 1e-3
TILE_SHAPE = (1024, 2048)
"""Rows and columns of a tile, small enough that its memory is reused."""


def main(argv=None):
    options = parse_options(
        __doc__,
        argv,
        n={"type": int, "default": N_SAMPLES, "metavar": "N"},
        child={"help": "for internal use"},
    )
    if options.child:
        print(json.dumps(fit_blocked(**json.loads(options.child))))
        return
    machine = describe_machine()
    n = QUICK_N_SAMPLES if options.quick else options.n
    measure_products(n, options, machine)
    task = {"n": n, "quick": options.quick}
    details = {}
    work = {OURS: SelfTimed(partial(run_in_process, __file__, task))}
    # Minutes at full size: once is enough.
    seconds = time_functions(work, 1, details=details)
    shape = describe_shape(n)
    print_rows(make_rows("blocked", "fit", seconds, details=details, **shape), machine)


def describe_shape(n):
    return {"n": n, "m": 22, "dtype": "float64", "matrix_mb": round(n * n / 2**17, 1)}


def measure_products(n, options, machine):
    X, _, data = load_rows(n, options.quick)
    operator = operators.Blocked(resolve_kernel("tl1"), X)
    tiles = {
        "tiles": partial(compute_tiles, X),
        "tiles, half": partial(compute_upper_tiles, X),
    }
    for columns in COLUMN_COUNTS:
        B = np.random.default_rng(1).standard_normal((n, columns))
        check_product(operator, X, B)
        functions = {OURS: partial(operator.matmat, B), **tiles}
        seconds = time_functions(functions, options.repeats)
        work = f"product, {columns} column{'s' * (columns > 1)}"
        fields = describe_shape(n) | {"columns": columns, "data": data}
        print_rows(make_rows("blocked", work, seconds, **fields), machine)


def compute_tiles(X):
    """Compute all entries once, in tiles."""
    height, width = TILE_SHAPE
    for i in range(0, len(X), height):
        for j in range(0, len(X), width):
            gram(X[i : i + height], X[j : j + width])


def compute_upper_tiles(X):
    """Compute the entries on and above the diagonal once, in tiles."""
    height, width = TILE_SHAPE
    for i in range(0, len(X), height):
        for j in range(i, len(X), width):
            gram(X[i : i + height], X[j : j + width])


def check_product(operator, X, B):
    """Raise RuntimeError unless a few rows of the product are correct."""
    few = slice(0, min(len(X), 64))
    expected = gram(X[few], X) @ B
    close = 1e-6 * np.abs(expected).max()
    if not np.allclose(operator.matmat(B)[few], expected, rtol=0, atol=close):
        raise RuntimeError(
            "The blocked product differs from the product with rows of K."
        )


def fit_blocked(n, quick):
    """Fit in this process, and return seconds, memory and status."""
    X, y, data = load_rows(n, quick)
    before = get_peak_mb()
    model = KreinLogisticRegression(kernel="tl1", lam=LAM, **BLOCKED_SETTINGS)
    # A small fit first, such that compiled code is loaded.
    model.fit(X[:QUICK_N_SAMPLES], y[:QUICK_N_SAMPLES])
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the row has the status
        model.fit(X, y)
    return {
        "seconds": time.perf_counter() - start,
        "lam": LAM,
        "data": data,
        "status": model.status_,
        "residual": float(f"{model.residual_:.3g}"),
        "n_iter": int(model.n_iter_),
        "products": model.history_[-1].get("products"),
        "peak_mb": get_peak_mb(),
        "data_mb": before,
    }


if __name__ == "__main__":
    run_script(main)
