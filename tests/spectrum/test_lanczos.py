import numpy as np
import pytest

from kreinlearn.operators import Dense
from kreinlearn.spectrum import floor
from kreinlearn.spectrum.lanczos import DOUBT
from tests.conftest import scaled, tl1_naive


class Counting(Dense):
    """A matrix that counts its products."""

    products = 0

    def matmat_native(self, B):
        self.products += B.shape[1]
        return super().matmat_native(B)


def spectrum_of(values, seed=0):
    """Return a matrix with these eigenvalues."""
    n = len(values)
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))
    K = (Q * values) @ Q.T
    return (K + K.T) / 2


@pytest.mark.parametrize("seed", range(20))
def test_a_verdict_is_never_wrong(seed):
    rng = np.random.default_rng(seed)
    X = scaled(rng.integers(0, 3, size=(150, 5)).astype(float))
    K = tl1_naive(X, X, 3.5)
    mu_min = np.linalg.eigvalsh(K)[0]
    for factor in (0.2, 0.9, 1.1, 2.0, 5.0, 50.0):
        found = floor(Dense(K), factor * mu_min, max_steps=100, seed=seed)
        if found.verdict is not None:
            assert found.verdict == (factor > 1)
        assert found.value >= mu_min - 1e-9


def test_an_isolated_eigenvalue_is_not_overlooked():
    # One negative eigenvalue that a start nearly orthogonal to it cannot see: the
    # smallest Ritz value settles above zero with a tiny residual long before.
    n = 400
    values = np.append(np.linspace(1.0, 10.0, n - 1) ** 2, -0.5)
    K = spectrum_of(values)
    v = np.linalg.eigh(K)[1][:, 0]
    verdicts = []
    for seed in range(50):
        x = np.random.default_rng(seed).standard_normal(n)
        verdicts.append(floor(Dense(K), -0.25, max_steps=300, seed=seed).verdict)
        assert abs(v @ x) > DOUBT  # else the test would ask for the impossible
    assert True not in verdicts
    assert False in verdicts


def test_proofs_are_cheap_and_end_early_without_hope():
    values = np.concatenate([np.linspace(0.0, 10.0, 500), [1e4]])
    easy = Counting(spectrum_of(values))
    assert floor(easy, -2.0, max_steps=50).verdict is True
    assert easy.products < 35
    hard = Counting(spectrum_of(values))
    assert floor(hard, -1e-6, max_steps=50).verdict is None
    assert hard.products <= 12


@pytest.mark.parametrize("n", [1, 2, 5])
def test_small_matrices_are_seen_whole(n):
    assert floor(Dense(np.eye(n)), -0.5, max_steps=50).verdict is True
    assert floor(Dense(-np.eye(n)), -0.5, max_steps=50).verdict is False
    assert floor(Dense(np.zeros((n, n))), -0.5, max_steps=50).verdict is True
