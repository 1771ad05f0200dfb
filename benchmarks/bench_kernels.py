"""How fast are the kernel matrices, next to SciPy and scikit-learn.

    python benchmarks/bench_kernels.py [--quick] [--repeats N] [--kernels tl1 rbf ...]

One JSON line a measurement: median and least of the repeats in seconds, after a first
run that is not counted, and how many times faster we are. The competitors take turns,
so that a busy moment of the machine hits all of them.
"""

import math
from functools import partial

import numpy as np
from common import OURS, emit, environment, measure, options_of, rows, start
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise

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


def main(argv=None):
    names = {"nargs": "+", "default": list(PEERS), "choices": PEERS}
    options = options_of(__doc__, argv, kernels=names)
    machine = environment()
    for name in options.kernels:
        for n, m in QUICK_SIZES if options.quick else SIZES:
            for dtype in ("float64", "float32"):
                X = np.random.default_rng(0).uniform(size=(n, m)).astype(dtype)
                functions = {OURS: partial(kernels.gram, X, kernel=name)}
                for peer, function in PEERS[name].items():
                    functions[peer] = partial(function, X, m)
                agree(name, functions, dtype)
                seconds = measure(functions, options.repeats)
                fields = {"kernel": name, "n": n, "m": m, "dtype": dtype}
                emit(rows("kernels", name, seconds, **fields), machine)


def agree(name, functions, dtype):
    """Raise unless all competitors compute the same matrix."""
    ours = functions[OURS]()
    tolerance = math.sqrt(np.finfo(dtype).eps)
    for peer, function in functions.items():
        if not np.allclose(ours, function(), rtol=tolerance, atol=tolerance):
            raise RuntimeError(f"{name}: {peer} computes another matrix.")


if __name__ == "__main__":
    start(main)
