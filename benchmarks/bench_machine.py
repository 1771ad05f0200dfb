"""What the machine can do: how fast it copies memory, and how fast it multiplies.

    python benchmarks/bench_machine.py [--quick] [--repeats N]

Copies count bytes read and bytes written, on arrays that exceed the caches; products
of square matrices count 2 n^3 operations.
"""

import statistics

import numpy as np
from common import Copy, emit, environment, measure, options_of, rows, start

COPIED = 2**29  # bytes; server processors have caches of some hundred megabytes
QUICK_COPIED = 2**22
SIZES = (2000, 4000)
QUICK_SIZES = (100, 200)


def main(argv=None):
    options = options_of(__doc__, argv)
    machine = environment()
    copies(QUICK_COPIED if options.quick else COPIED, options.repeats, machine)
    products(QUICK_SIZES if options.quick else SIZES, options.repeats, machine)


def copies(nbytes, repeats, machine):
    functions = {threads: Copy(nbytes, threads) for threads in (1, 2)}
    for threads, times in measure(functions, repeats).items():
        rate = functions[threads].moved / statistics.median(times)
        fields = {"n": nbytes // 8, "m": None, "dtype": "float64", "threads": threads}
        fields["gb_per_s"] = round(rate / 1e9, 3)
        work = f"copy, {threads} thread{'s' * (threads > 1)}"
        emit(rows("machine", work, {"numpy": times}, ours=None, **fields), machine)


def products(sizes, repeats, machine):
    for n in sizes:
        for dtype in ("float64", "float32"):
            A = np.random.default_rng(0).standard_normal((n, n)).astype(dtype)
            times = measure({"numpy": lambda A=A: A @ A}, repeats)
            rate = 2 * n**3 / statistics.median(times["numpy"])
            fields = {"n": n, "m": n, "dtype": dtype}
            fields["gflop_per_s"] = round(rate / 1e9, 2)
            emit(rows("machine", "multiply", times, ours=None, **fields), machine)


if __name__ == "__main__":
    start(main)
