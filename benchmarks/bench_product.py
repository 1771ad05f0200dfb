"""One product with a stored matrix, compared with NumPy and a memory copy.

    python benchmarks/bench_product.py [--quick] [--repeats N]

A product is bounded by memory bandwidth: ``gb_per_s`` is the size of K divided by the
seconds, ``share`` that rate divided by the copy bandwidth (bytes read and written) of
the same run. A share above one means that the product does not read all of K, or that
reading is faster than copying.
"""

import statistics

import numpy as np
from bench_machine import COPIED_BYTES, QUICK_COPIED_BYTES
from common import (
    OURS,
    ThreadedCopy,
    check_agreement,
    describe_machine,
    make_rows,
    parse_options,
    print_rows,
    run_script,
    time_functions,
)

from kreinlearn.kernels import gram
from kreinlearn.operators import Dense

N_SAMPLES, QUICK_N_SAMPLES, N_FEATURES = 7490, 200, 14
COLUMN_COUNTS = (1, 5, 35)


def main(argv=None):
    options = parse_options(__doc__, argv)
    machine = describe_machine()
    copy = ThreadedCopy(
        QUICK_COPIED_BYTES if options.quick else COPIED_BYTES, machine["threads"]
    )
    X = np.random.default_rng(0).uniform(
        size=(QUICK_N_SAMPLES if options.quick else N_SAMPLES, N_FEATURES)
    )
    for dtype in ("float64", "float32"):
        K = gram(X.astype(dtype))
        for columns in COLUMN_COUNTS:
            print_rows(measure_product(K, columns, copy, options.repeats), machine)


def measure_product(K, columns, copy, repeats):
    """Return the rows of one product."""
    B = np.random.default_rng(1).standard_normal((len(K), columns)).astype(K.dtype)
    operator = Dense(K)
    functions = {OURS: lambda: operator.matmat_native(B), "numpy": lambda: K @ B}
    # Sums of n terms lose a few more digits than a single operation.
    tol = 1e4 * np.finfo(K.dtype).eps
    work = f"product, {columns} column{'s' * (columns > 1)}"
    check_agreement(work, functions, scaled_atol=tol)
    seconds = time_functions(functions | {"copy": copy}, repeats)
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
    return make_rows(
        "product",
        work,
        seconds,
        details=details,
        n=len(K),
        m=N_FEATURES,
        columns=columns,
        dtype=K.dtype.name,
    )


if __name__ == "__main__":
    run_script(main)
