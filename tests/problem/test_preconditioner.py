"""The sketch of a matrix and the preconditioner made of it, against full matrices."""

import numpy as np
import pytest

from kreinlearn.losses import Logistic
from kreinlearn.operators import Dense
from kreinlearn.problem import KreinDual
from kreinlearn.problem.preconditioner import NystroemSketch, Preconditioner
from tests.conftest import gram_of_signature


class Columns:
    """A matrix of rank one that is never stored, and which columns were asked for."""

    def __init__(self, n):
        self.shape, self.asked = (n, n), None
        self.v = np.linspace(1, 2, n)

    def columns(self, idx):
        self.asked = idx
        return np.outer(self.v, self.v[idx])

    def diagonal(self):
        return self.v**2 + 0.5


@pytest.mark.parametrize(
    ("n", "landmarks"), [(20, 20), (40, 30), (900, 30), (1500, 50), (9000, 150)]
)
def test_one_landmark_per_thirty_samples(n, landmarks):
    K = Columns(n)
    sketch = NystroemSketch.of(K)
    assert len(K.asked) == landmarks and (np.diff(K.asked) > 0).all()
    assert sketch.V.shape == (n, 1)
    np.testing.assert_allclose(sketch.V @ sketch.V[:3].T, np.outer(K.v, K.v[:3]))
    np.testing.assert_allclose(sketch.rest, np.full(n, 0.5))


def test_the_sketch_leaves_out_what_is_negative_or_tiny():
    K = gram_of_signature(12, 8)
    sketch = NystroemSketch.of(Dense(K))
    mu, V = np.linalg.eigh(K)
    positive = (V * np.maximum(mu, 0)) @ V.T
    np.testing.assert_allclose(sketch.V @ sketch.V.T, positive, atol=1e-9)
    assert (sketch.rest == 0).all()  # what is left of the diagonal is negative
    tiny = np.diag([1.0, 2e-6, 0.5e-6])
    sketch = NystroemSketch.of(Dense(tiny))
    assert sketch.V.shape == (3, 2)
    np.testing.assert_allclose(sketch.rest, np.full(3, 0.5e-6 / 3))


def made(rng, n=25, problems=3, columns=2):
    B = rng.standard_normal((n, 4))
    s = rng.uniform(0.1, 2.0, (n, problems, columns))
    sketch = NystroemSketch(B, rng.uniform(0.1, 0.5, n))
    shift = np.array([0.0, 0.7, 5.0])[:problems]
    return sketch, s, shift, Preconditioner.of(sketch, s, shift)


def matrix(sketch, s, shift):
    inner = sketch.V @ sketch.V.T + np.diag(sketch.rest + shift)
    return np.eye(len(s)) + s[:, None] * inner * s


def test_it_solves_with_the_matrix_of_the_module(rng):
    sketch, s, shift, found = made(rng)
    R = rng.standard_normal(s.shape)
    solved = found.solve(R)
    for p, c in np.ndindex(3, 2):
        M = matrix(sketch, s[:, p, c], shift[p])
        np.testing.assert_allclose(M @ solved[:, p, c], R[:, p, c], atol=1e-9)


def test_problems_are_taken_and_turned_off(rng):
    _, s, _, found = made(rng)
    R = rng.standard_normal(s.shape)
    whole = found.solve(R)
    np.testing.assert_allclose(found.take([2, 0]).solve(R[:, [2, 0]]), whole[:, [2, 0]])
    off = found.off(np.array([False, True, False])).solve(R)
    np.testing.assert_array_equal(off[:, 1], R[:, 1])
    np.testing.assert_allclose(off[:, [0, 2]], whole[:, [0, 2]])


def test_a_sketch_of_nothing_leaves_all_as_it_is(rng):
    R = rng.standard_normal((5, 1, 1))
    sketch = NystroemSketch.of(Dense(-np.eye(5)))
    assert sketch.V.shape == (5, 0) and (sketch.rest == 0).all()
    found = Preconditioner.of(sketch, np.ones((5, 1, 1)), np.zeros(1))
    np.testing.assert_array_equal(found.solve(R), R)


def test_models_without_preconditioner_where_requested(rng):
    K, n = gram_of_signature(30, 0), 30
    Y = rng.integers(0, 2, (n, 2, 1)).astype(float)
    weights, lam = np.full((n, 2), 1 / n), np.array([0.1, 0.2])
    dual = KreinDual(Dense(K), Y, weights, lam, Logistic(), False)
    point = dual.point(dual.start())
    R = rng.standard_normal(Y.shape)
    plain = dual.model(point, np.zeros(2))
    assert plain.precondition(R) is R
    assert plain.without_preconditioner(np.array([True, True])) is plain
    assert plain.with_shift(np.ones(2)).preconditioner is None
    model = dual.with_preconditioner().model(point, np.zeros(2))
    half = model.without_preconditioner(np.array([True, False]))
    np.testing.assert_array_equal(half.precondition(R)[:, 0], R[:, 0])
    np.testing.assert_allclose(half.precondition(R)[:, 1], model.precondition(R)[:, 1])
    taken = model.take([1])
    np.testing.assert_allclose(
        taken.precondition(R[:, [1]]), model.precondition(R)[:, [1]]
    )
    # A shift moves the preconditioner with the model.
    shifted = model.with_shift(np.array([0.0, 3.0]))
    H = shifted.hessian_vector(*shifted.apply(R), R)
    np.testing.assert_allclose(shifted.precondition(H), R, atol=1e-8)
