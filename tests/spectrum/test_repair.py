import numpy as np
import pytest
from scipy.linalg import sqrtm

from kreinlearn.spectrum.decompose import decompose
from kreinlearn.spectrum.repair import REPAIRS, replace_eigenvalues
from tests.conftest import gram_of_signature


def naive(K, mode):
    """Repair a matrix by matrix functions, without its eigenvectors."""
    modulus = np.real(sqrtm(K @ K))
    lowest = min(np.linalg.eigvalsh(K)[0], 0)
    return {
        "flip": modulus,
        "clip": (modulus + K) / 2,
        "shift": K - lowest * np.eye(len(K)),
        "square": K @ K,
    }[mode]


@pytest.mark.parametrize("mode", REPAIRS)
@pytest.mark.parametrize("signature", [(12, 7), (0, 9), (9, 0), (1, 0)])
def test_training_matrix(mode, signature):
    K = gram_of_signature(*signature)
    change = replace_eigenvalues(decompose(K), mode)
    expected = naive(K, mode)
    slack = 1e-10 * max(1, np.abs(expected).max())
    np.testing.assert_allclose(change.matrix(), expected, atol=slack)
    np.testing.assert_allclose(change.matrix(on_range=True), expected, atol=slack)
    assert np.linalg.eigvalsh(change.matrix())[0] >= -slack


@pytest.mark.parametrize("mode", REPAIRS)
def test_new_rows_follow_the_training_rows_that_they_combine(mode):
    K = gram_of_signature(12, 7)
    mix = np.random.default_rng(5).standard_normal((4, len(K)))
    rows = mix @ K @ replace_eigenvalues(decompose(K), mode).extension()
    np.testing.assert_allclose(rows, mix @ naive(K, mode), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("mode", REPAIRS)
def test_null_directions_stay_null_in_the_extension(mode):
    K = gram_of_signature(8, 4, 3)
    mu, V = np.linalg.eigh(K)
    null = V[:, np.abs(mu) < 1e-10]
    assert null.shape[1] == 3
    change = replace_eigenvalues(decompose(K), mode)
    assert np.abs(change.extension() @ null).max() < 1e-9
    assert np.abs(change.matrix(on_range=True) @ null).max() < 1e-9
    kept = -mu[0] if mode == "shift" else 0
    np.testing.assert_allclose(change.matrix() @ null, kept * null, atol=1e-9)
    np.testing.assert_allclose(
        K @ change.extension(), change.matrix(on_range=True), atol=1e-9
    )
