"""Products and a fit without a stored matrix, next to its entries computed once.

    python benchmarks/bench_blocked.py [--quick] [--repeats N] [--n N]

A product that recomputes K cannot be faster than the entries of K are computed: once by
blocks of rows (``tiles``), or only those on one side of the diagonal (``tiles, half``)
if a product uses each entry twice. The fit runs in a process of its own, which reports
its largest memory; the matrix that it does not store would take ``matrix_mb``.
"""

import inspect
import json
import statistics
import time
import warnings
from functools import partial

import numpy as np
from common import (
    OURS,
    Fresh,
    emit,
    environment,
    fresh,
    measure,
    options_of,
    peak_mb,
    rows,
    say,
    start,
)
from samples import many_rows

from kreinlearn import KreinLogisticRegression, operators
from kreinlearn.kernels import gram, resolve_kernel

FORCED = {"operator": "blocked"}
"""What makes the estimator compute products without a stored matrix."""
N, QUICK_N = 50_000, 300
COLUMNS = (1, 5)
LAM = 1e-3
TILE = (1024, 2048)
"""Rows and columns of a tile: small enough that its memory is used again."""


def main(argv=None):
    options = options_of(
        __doc__,
        argv,
        n={"type": int, "default": N, "metavar": "N"},
        child={"help": "for internal use"},
    )
    if options.child:
        print(json.dumps(fit(**json.loads(options.child))))
        return
    machine = environment()
    n = QUICK_N if options.quick else options.n
    if hasattr(operators, "Blocked"):
        products(n, options, machine)
    else:
        say("kreinlearn.operators has no Blocked: products are left out")
    if FORCED.keys() <= inspect.signature(KreinLogisticRegression).parameters.keys():
        task = {"n": n, "quick": options.quick}
        details = {}
        work = {OURS: Fresh(partial(fresh, __file__, task))}
        # Minutes at full size: once is enough.
        seconds = measure(work, 1, details=details)
        emit(rows("blocked", "fit", seconds, details=details, **shape(n)), machine)
    else:
        say(f"KreinLogisticRegression does not take {FORCED}: the fit is left out")


def shape(n):
    return {"n": n, "m": 22, "dtype": "float64", "matrix_mb": round(n * n / 2**17, 1)}


def products(n, options, machine):
    X, _, data = many_rows(n, options.quick)
    operator = operators.Blocked(resolve_kernel("tl1"), X)
    tiles = {"tiles": partial(whole, X), "tiles, half": partial(half, X)}
    for columns in COLUMNS:
        B = np.random.default_rng(1).standard_normal((n, columns))
        agree(operator, X, B)
        functions = {OURS: partial(operator.matmat, B), **tiles}
        seconds = measure(functions, options.repeats)
        bound = statistics.median(seconds["tiles, half"])
        share = round(bound / statistics.median(seconds[OURS]), 3)
        work = f"product, {columns} column{'s' * (columns > 1)}"
        fields = shape(n) | {"columns": columns, "data": data}
        details = {OURS: {"share": share}}
        emit(rows("blocked", work, seconds, details=details, **fields), machine)


def whole(X):
    """Compute all entries once."""
    height, width = TILE
    for i in range(0, len(X), height):
        for j in range(0, len(X), width):
            gram(X[i : i + height], X[j : j + width])


def half(X):
    """Compute the entries on and above the diagonal once, by blocks."""
    height, width = TILE
    for i in range(0, len(X), height):
        for j in range(i, len(X), width):
            gram(X[i : i + height], X[j : j + width])


def agree(operator, X, B):
    """Raise unless a few rows of the product are right."""
    few = slice(0, min(len(X), 64))
    expected = gram(X[few], X) @ B
    close = 1e-6 * np.abs(expected).max()
    if not np.allclose(operator.matmat(B)[few], expected, rtol=0, atol=close):
        raise RuntimeError("The blocked product differs from that with the rows of K.")


def fit(n, quick):
    """Fit in this process, and return seconds, memory and ending."""
    X, y, data = many_rows(n, quick)
    before = peak_mb()
    model = KreinLogisticRegression(kernel="tl1", lam=LAM, **FORCED)
    # A small fit first: compiled code is loaded outside the clock.
    model.fit(X[:QUICK_N], y[:QUICK_N])
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status says it
        model.fit(X, y)
    return {
        "seconds": time.perf_counter() - start,
        "lam": LAM,
        "data": data,
        "status": model.status_,
        "residual": float(f"{model.residual_:.3g}"),
        "n_iter": int(model.n_iter_),
        "products": model.history_[-1].get("products"),
        "peak_mb": peak_mb(),
        "data_mb": before,
    }


if __name__ == "__main__":
    start(main)
