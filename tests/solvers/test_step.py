"""One Newton step: what it remembers, how it shifts, where it ends."""

import numpy as np
import pytest

from kreinlearn.losses import Logistic, Multinomial
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.solvers.newton import (
    conjugate_gradients,
    dot,
)
from tests.conftest import gram_of_signature


def dual(signature=(20, 10), lam=(0.1, 0.02), *, columns=1, intercept=True, seed=0):
    K = gram_of_signature(*signature, scale=0.1, seed=seed)
    n, P = len(K), len(lam)
    rng = np.random.default_rng(seed)
    if columns == 1:
        Y, loss = rng.integers(0, 2, (n, P, 1)).astype(float), Logistic()
    else:
        Y, loss = np.eye(columns)[rng.integers(0, columns, (n, P))], Multinomial()
    weights = np.full((n, P), 1 / n)
    return KreinDual(Dense(K), Y, weights, np.array(lam), loss, intercept)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sketched", [False, True])
def test_conjugate_gradients_solve_the_system(columns, intercept, sketched):
    block = dual((30, 0), (0.1, 0.02), columns=columns, intercept=intercept)
    block = block.with_preconditioner() if sketched else block
    model = block.model(block.point(block.start()), np.zeros(2))
    found = conjugate_gradients(model, np.array([1e-10, 1e-4]), 500)
    assert not found.negative.any()
    np.testing.assert_allclose(found.KD, block.product(found.D), atol=1e-9)
    # D = T X, and X + T'K D = rhs: apply T to it.
    left = found.D + model.root.apply(model.project(model.root.apply_t(found.KD)))
    right = model.root.apply(model.rhs)
    error = np.sqrt(dot(left - right, left - right) / dot(right, right))
    assert error[0] < 1e-8 and error[1] < 1e-2
    if sketched:  # from all of its columns: it is the inverse
        assert found.products < 10
    else:  # the second problem was done earlier, and left
        assert error[1] > 1e-8
        assert columns * found.products < found.columns < 2 * columns * found.products


@pytest.mark.parametrize("columns", [1, 3])
def test_negative_curvature_is_that_of_the_matrix(columns):
    block = dual((10, 20), (1e-3, 10.0), columns=columns, intercept=False)
    model = block.model(block.point(block.start()), np.zeros(2))
    found = conjugate_gradients(model, np.full(2, 1e-8), 500)
    lowest = -np.linalg.eigvalsh(block.K.K)[0]
    assert 0 < found.negative[0] <= lowest * (1 + 1e-9)
    assert found.negative[1] == 0  # where lam is large, nothing is bent
    shifted = model.with_shift(np.array([1.1 * lowest, 0.0]))
    assert not conjugate_gradients(shifted, np.full(2, 1e-8), 500).negative.any()
