import numpy as np
import pytest

from kreinlearn.landmarks.penalty import build_penalty
from tests.conftest import gram_of_signature

MODULUS = {
    "hilbert": lambda K: (
        np.linalg.svd(K)[0] * np.linalg.svd(K)[1] @ np.linalg.svd(K)[0].T
    ),
    "krein": lambda K: K,
    "euclidean": lambda K: np.abs(np.linalg.eigvalsh(K)).mean() * np.eye(len(K)),
}


@pytest.mark.parametrize("norm", MODULUS)
def test_coordinates_hold_the_penalty(norm, rng):
    K = gram_of_signature(8, 4)
    penalty = build_penalty(norm, K)
    u = rng.standard_normal((13, 2, 3))
    b = penalty.coefficients(u)[:-1]
    expected = np.einsum("ipc,ij,jpc->pc", b, MODULUS[norm](K), b)
    found = np.einsum("ipc,i,ipc->pc", u[:-1], penalty.signs, u[:-1])
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    gradient = penalty.gradient(u)
    np.testing.assert_allclose(
        gradient[:-1], np.einsum("ij,jpc->ipc", MODULUS[norm](K), b), atol=1e-9
    )
    assert (gradient[-1] == 0).all()
    inside = penalty.project(gradient)[:-1]
    np.testing.assert_allclose(inside, penalty.signs[:, None, None] * u[:-1], atol=1e-9)


@pytest.mark.parametrize("norm", ["hilbert", "krein"])
def test_directions_that_count_elsewhere_are_raised(norm):
    K = np.diag([3.0, -1.0, 1e-6, -1e-6])
    moment = np.diag([2.0, 0.1, 0.01, 0.0])
    penalty = build_penalty(norm, K, moment=moment)
    R = penalty.Q @ np.linalg.inv(penalty.T)
    moduli = np.array([3.0, 1.0, 0.2, 1e-6])
    signs = np.array([1, -1, 1, -1]) if norm == "krein" else np.ones(4)
    np.testing.assert_allclose(R, np.diag(signs * moduli), atol=1e-9)
    dropped = build_penalty(norm, np.diag([3.0, -1.0, 0.0]))
    assert dropped.T.shape == (3, 2)


def test_nothing_is_raised_if_all_samples_are_landmarks():
    K = gram_of_signature(8, 4)
    one, two = (
        build_penalty("hilbert", K),
        build_penalty("hilbert", K, moment=K @ K / 12),
    )
    np.testing.assert_allclose(one.T, two.T, rtol=1e-8)
