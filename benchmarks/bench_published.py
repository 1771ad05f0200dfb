"""A thousand inner steps of the published procedures, next to their products alone.

    python benchmarks/bench_published.py [--quick] [--repeats N]

A step of gradient descent takes two products with K (scores, and the pull of the loss)
and one with K-; a step of SGD takes one product with K and one with K-. The products
are made in turn, as the procedures make them; what a procedure takes beyond that is
overhead. The matrix is TL1 on guide1-t's training half, n = 2000.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from common import OURS, emit, environment, measure, options_of, rows, start
from samples import halves

from kreinlearn.kernels import gram
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinRisk
from kreinlearn.solvers import PUBLISHED
from kreinlearn.spectrum import split

STEPS = 1000
PRODUCTS = {"ccicp-gd": 2, "ccicp-sgd": 1}
"""Products with K in each step."""


def main(argv=None):
    options = options_of(__doc__, argv)
    machine = environment()
    data = halves("guide1-t", options.quick)
    K, y = Dense(gram(data.X_train, ratio=0.7)), np.where(data.y_train > 0, 1.0, -1.0)
    parts, n = split(K), len(y)
    steps = 50 if options.quick else STEPS
    for name, products in PRODUCTS.items():
        scale = float(n) if PUBLISHED[name].loss_scale == "sum" else 1.0
        risk = KreinRisk(K, parts, y, np.full(n, 1 / n), 1e-4 / n, scale=scale)
        # No loop ends by itself: all steps are taken, and all at the first rate.
        solver = replace(PUBLISHED[name], eps=-1.0, outer_iter=1, max_inner=steps)
        functions = {
            OURS: partial(solver.solve, risk, tol=0.0, rng=np.random.default_rng(0)),
            "products alone": partial(multiply, K, parts, steps, products),
        }
        seconds = measure(functions, options.repeats)
        shape = {"n": n, "m": data.X_train.shape[1], "dtype": "float64"}
        work = f"{steps} inner steps, {name}"
        emit(rows("published", work, seconds, **shape, data=data.data), machine)


def multiply(K, parts, steps, products):
    """Make the products of some steps."""
    column = np.ones((K.shape[0], 1))
    for _ in range(steps):
        parts.minus(column)
        for _ in range(products):
            K.matmat(column)


if __name__ == "__main__":
    start(main)
