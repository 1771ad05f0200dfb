"""Kernel matrices, compared with SciPy and scikit-learn.

    python benchmarks/bench_kernels.py [--quick] [--repeats N] [--kernels tl1 rbf ...]

See `common` for the rows. The libraries take turns, such that a busy moment of the
machine affects all of them.
"""

import math
from functools import partial

import numpy as np
from common import (
    OURS,
    check_agreement,
    describe_machine,
    make_rows,
    parse_options,
    print_rows,
    run_script,
    time_functions,
)
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise

from kreinlearn import kernels

SIZES = [(7490, 14), (2000, 500)]
QUICK_SIZES = [(300, 14), (100, 200)]

# Kernel -> library -> function of (X, m), with our default parameters.
PEER_FUNCTIONS = {
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
    names = {"nargs": "+", "default": list(PEER_FUNCTIONS), "choices": PEER_FUNCTIONS}
    options = parse_options(__doc__, argv, kernels=names)
    machine = describe_machine()
    for name in options.kernels:
        for n, m in QUICK_SIZES if options.quick else SIZES:
            for dtype in ("float64", "float32"):
                X = np.random.default_rng(0).uniform(size=(n, m)).astype(dtype)
                functions = {OURS: partial(kernels.gram, X, kernel=name)}
                for peer, function in PEER_FUNCTIONS[name].items():
                    functions[peer] = partial(function, X, m)
                tol = math.sqrt(np.finfo(dtype).eps)
                check_agreement(name, functions, rtol=tol, atol=tol)
                seconds = time_functions(functions, options.repeats)
                fields = {"kernel": name, "n": n, "m": m, "dtype": dtype}
                print_rows(make_rows("kernels", name, seconds, **fields), machine)


if __name__ == "__main__":
    run_script(main)
