"""How fast are the kernel matrices, next to SciPy and scikit-learn.

    python benchmarks/bench_kernels.py [--quick] [--repeats N] [--kernels tl1 rbf ...]

One JSON line a measurement: median and least of the repeats in seconds, after a first
run that is not counted, and how many times faster we are. The competitors take turns,
so that a busy moment of the machine hits all of them.
"""

import argparse
import json
import math
import platform
import statistics
import time
from functools import partial

import numba
import numpy as np
import scipy
import sklearn
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise

import kreinlearn
from kreinlearn import kernels

SIZES = [(7490, 14), (2000, 500)]
QUICK_SIZES = [(300, 14), (100, 200)]

# Kernel -> competitor -> function of (X, m), with the parameters of our defaults.
PEERS = {
    "tl1": {
        "scipy": lambda X, m: np.maximum(0.7 * m - cdist(X, X, "cityblock"), 0),
    },
    "laplacian": {
        "scipy": lambda X, m: np.exp(-cdist(X, X, "cityblock") / m),
        "scikit-learn": lambda X, m: pairwise.laplacian_kernel(X, gamma=1 / m),
    },
    "rbf": {
        "scipy": lambda X, m: np.exp(-cdist(X, X, "sqeuclidean") / m),
        "scikit-learn": lambda X, m: pairwise.rbf_kernel(X, gamma=1 / m),
    },
    "epanechnikov": {
        "scipy": lambda X, m: np.maximum(
            1 - cdist(X, X, "sqeuclidean") / (0.49 * m), 0
        ),
    },
    "power": {
        "scipy": lambda X, m: -cdist(X, X, "euclidean"),
        "scikit-learn": lambda X, m: -pairwise.euclidean_distances(X),
    },
    "polynomial": {
        "scikit-learn": lambda X, m: pairwise.polynomial_kernel(X),
    },
    "tanh": {
        "scikit-learn": lambda X, m: pairwise.sigmoid_kernel(X, coef0=0),
    },
    "linear": {
        "scikit-learn": lambda X, m: pairwise.linear_kernel(X),
    },
}


def measure(functions, repeats):
    """Return seconds of each repeat by name; the names take turns."""
    seconds = {name: [] for name in functions}
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            result = function()
            elapsed = time.perf_counter() - start
            del result  # outside the clock, and before the next one needs the memory
            if repeat > 0:
                seconds[name].append(elapsed)
    return seconds


def environment():
    """Return versions and thread count."""
    return {
        "versions": {
            "kreinlearn": getattr(kreinlearn, "__version__", "unknown"),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "numba": numba.__version__,
        },
        "threads": numba.get_num_threads(),
        "cpu": numba.config.CPU_NAME or platform.machine(),
    }


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kernels", nargs="+", default=list(PEERS), choices=PEERS)
    options = parser.parse_args(argv)
    repeats = 1 if options.quick else options.repeats
    surroundings = environment()

    for name in options.kernels:
        for n, m in QUICK_SIZES if options.quick else SIZES:
            for dtype in (np.float64, np.float32):
                X = np.random.default_rng(0).uniform(size=(n, m)).astype(dtype)
                functions = {"kreinlearn": partial(kernels.gram, X, kernel=name)}
                for peer, function in PEERS[name].items():
                    functions[peer] = partial(function, X, m)
                agree(name, functions, dtype)
                seconds = measure(functions, repeats)
                ours = statistics.median(seconds["kreinlearn"])
                for library, times in seconds.items():
                    row = {
                        "bench": "kernels",
                        "kernel": name,
                        "library": library,
                        "n": n,
                        "m": m,
                        "dtype": np.dtype(dtype).name,
                        "median_s": round(statistics.median(times), 6),
                        "min_s": round(min(times), 6),
                        "repeats": repeats,
                        "ours_faster": round(statistics.median(times) / ours, 2),
                    }
                    print(json.dumps(row | surroundings), flush=True)


def agree(name, functions, dtype):
    """Raise unless all competitors compute the same matrix."""
    ours = functions["kreinlearn"]()
    tolerance = math.sqrt(np.finfo(dtype).eps)
    for peer, function in functions.items():
        if not np.allclose(ours, function(), rtol=tolerance, atol=tolerance):
            raise RuntimeError(f"{name}: {peer} computes another matrix.")


if __name__ == "__main__":
    main()
