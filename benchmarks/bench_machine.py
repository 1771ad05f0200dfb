"""Bandwidth of memory copies and speed of matrix products.

    python benchmarks/bench_machine.py [--quick] [--repeats N]

Copies count bytes read and bytes written, on arrays larger than the caches. Products of
square matrices count 2 n^3 operations.
"""

import statistics

import numpy as np
from common import (
    ThreadedCopy,
    describe_machine,
    make_rows,
    parse_options,
    print_rows,
    run_script,
    time_functions,
)

COPIED_BYTES = 2**29  # server processors have caches of some hundred megabytes
QUICK_COPIED_BYTES = 2**22
SIZES = (2000, 4000)
QUICK_SIZES = (100, 200)


def main(argv=None):
    options = parse_options(__doc__, argv)
    machine = describe_machine()
    measure_copies(
        QUICK_COPIED_BYTES if options.quick else COPIED_BYTES, options.repeats, machine
    )
    measure_products(QUICK_SIZES if options.quick else SIZES, options.repeats, machine)


def measure_copies(nbytes, repeats, machine):
    functions = {threads: ThreadedCopy(nbytes, threads) for threads in (1, 2)}
    for threads, times in time_functions(functions, repeats).items():
        rate = functions[threads].moved / statistics.median(times)
        fields = {"n": nbytes // 8, "m": None, "dtype": "float64", "threads": threads}
        fields["gb_per_s"] = round(rate / 1e9, 3)
        work = f"copy, {threads} thread{'s' * (threads > 1)}"
        print_rows(
            make_rows("machine", work, {"numpy": times}, ours=None, **fields), machine
        )


def measure_products(sizes, repeats, machine):
    for n in sizes:
        for dtype in ("float64", "float32"):
            A = np.random.default_rng(0).standard_normal((n, n)).astype(dtype)
            times = time_functions({"numpy": lambda A=A: A @ A}, repeats)
            rate = 2 * n**3 / statistics.median(times["numpy"])
            fields = {"n": n, "m": n, "dtype": dtype}
            fields["gflop_per_s"] = round(rate / 1e9, 2)
            print_rows(
                make_rows("machine", "multiply", times, ours=None, **fields), machine
            )


if __name__ == "__main__":
    run_script(main)
