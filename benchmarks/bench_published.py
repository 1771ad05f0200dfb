"""A thousand inner steps of the published procedures, and their products alone.

    python benchmarks/bench_published.py [--quick] [--repeats N]

A step of gradient descent takes two products with K (scores and gradient) and one with
K-. A step of SGD takes one product with K and one with K-. *products alone* computes
them in the same order; the difference is overhead. The matrix is TL1 on the training
half of guide1-t, n = 2000.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from common import (
    OURS,
    describe_machine,
    make_rows,
    parse_options,
    print_rows,
    run_script,
    time_functions,
)
from samples import load_halves

from kreinlearn.kernels import gram
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinRisk
from kreinlearn.solvers import PUBLISHED
from kreinlearn.spectrum import split

N_STEPS = 1000
PRODUCTS_PER_STEP = {"ccicp-gd": 2, "ccicp-sgd": 1}
"""Products with K in each step."""


def main(argv=None):
    options = parse_options(__doc__, argv)
    machine = describe_machine()
    data = load_halves("guide1-t", options.quick)
    K, y = Dense(gram(data.X_train, ratio=0.7)), np.where(data.y_train > 0, 1.0, -1.0)
    parts, n = split(K), len(y)
    steps = 50 if options.quick else N_STEPS
    for name, products in PRODUCTS_PER_STEP.items():
        scale = float(n) if PUBLISHED[name].loss_scale == "sum" else 1.0
        risk = KreinRisk(K, parts, y, np.full(n, 1 / n), 1e-4 / n, scale=scale)
        # No loop stops early: all steps are taken at the initial rate.
        solver = replace(PUBLISHED[name], eps=-1.0, outer_iter=1, max_inner=steps)
        functions = {
            OURS: partial(solver.solve, risk, tol=0.0, rng=np.random.default_rng(0)),
            "products alone": partial(compute_products, K, parts, steps, products),
        }
        seconds = time_functions(functions, options.repeats)
        shape = {"n": n, "m": data.X_train.shape[1], "dtype": "float64"}
        work = f"{steps} inner steps, {name}"
        print_rows(
            make_rows("published", work, seconds, **shape, data=data.data), machine
        )


def compute_products(K, parts, steps, products):
    """Compute the products of some steps."""
    column = np.ones((K.shape[0], 1))
    for _ in range(steps):
        parts.minus(column)
        for _ in range(products):
            K.matmat(column)


if __name__ == "__main__":
    run_script(main)
