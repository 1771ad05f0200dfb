"""One product with a stored matrix, next to NumPy and to a copy of memory.

    python benchmarks/bench_product.py [--quick] [--repeats N]

A product has to read K, so memory bounds it: ``gb_per_s`` is the bytes of K by the
seconds, ``share`` that number by the copy bandwidth (bytes read and written) of the
same run. A share above one means that less than all of K was read, or that reading
alone is faster than copying.
"""

import statistics

import numpy as np
from bench_machine import COPIED, QUICK_COPIED
from common import OURS, Copy, emit, environment, measure, options_of, rows, start

from kreinlearn.kernels import gram
from kreinlearn.operators import Dense

N, QUICK_N, M = 7490, 200, 14
COLUMNS = (1, 5, 35)


def main(argv=None):
    options = options_of(__doc__, argv)
    machine = environment()
    copy = Copy(QUICK_COPIED if options.quick else COPIED, machine["threads"])
    X = np.random.default_rng(0).uniform(size=(QUICK_N if options.quick else N, M))
    for dtype in ("float64", "float32"):
        K = gram(X.astype(dtype))
        for columns in COLUMNS:
            emit(product(K, columns, copy, options.repeats), machine)


def product(K, columns, copy, repeats):
    """Return the rows of one product."""
    B = np.random.default_rng(1).standard_normal((len(K), columns)).astype(K.dtype)
    operator = Dense(K)
    functions = {OURS: lambda: operator.matmat_native(B), "numpy": lambda: K @ B}
    agree(functions, K.dtype)
    seconds = measure(functions | {"copy": copy}, repeats)
    per_second = copy.moved / statistics.median(seconds.pop("copy"))
    details = {}
    for library, times in seconds.items():
        median = statistics.median(times)
        details[library] = {
            "gb_per_s": round(K.nbytes / median / 1e9, 3),
            "gflop_per_s": round(2 * K.size * columns / median / 1e9, 2),
            "copy_gb_per_s": round(per_second / 1e9, 3),
            "share": round(K.nbytes / median / per_second, 3),
        }
    return rows(
        "product",
        f"product, {columns} column{'s' * (columns > 1)}",
        seconds,
        details=details,
        n=len(K),
        m=M,
        columns=columns,
        dtype=K.dtype.name,
    )


def agree(functions, dtype):
    """Raise unless both compute the same product."""
    ours, theirs = (function() for function in functions.values())
    # Sums of n terms lose a few digits more than one operation does.
    if not np.allclose(
        ours, theirs, rtol=0, atol=1e4 * np.finfo(dtype).eps * abs(theirs).max()
    ):
        raise RuntimeError("The two products differ.")


if __name__ == "__main__":
    start(main)
