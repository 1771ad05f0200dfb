import numpy as np
import pytest

from kreinlearn.operators import Dense
from kreinlearn.spectrum import certify_above, extreme
from kreinlearn.spectrum.lanczos import FAILURE_PROBABILITY, _hopeless, _lanczos
from tests.conftest import scaled, tl1_naive


class Counting(Dense):
    """A matrix that counts its products."""

    products = 0

    def matmat_native(self, B):
        self.products += B.shape[1]
        return super().matmat_native(B)


def compute_spectrum(values, seed=0):
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
        found = certify_above(Dense(K), factor * mu_min, max_steps=100, seed=seed)
        if found.verdict is not None:
            assert found.verdict == (factor > 1)
        assert found.value >= mu_min - 1e-9


def test_an_isolated_eigenvalue_is_not_overlooked():
    # One negative eigenvalue that a start nearly orthogonal to it cannot see: the
    # smallest Ritz value settles above zero with a tiny residual long before.
    n = 400
    values = np.append(np.linspace(1.0, 10.0, n - 1) ** 2, -0.5)
    K = compute_spectrum(values)
    v = np.linalg.eigh(K)[1][:, 0]
    verdicts = []
    for seed in range(50):
        x = np.random.default_rng(seed).standard_normal(n)
        verdicts.append(
            certify_above(Dense(K), -0.25, max_steps=300, seed=seed).verdict
        )
        assert (
            abs(v @ x) > FAILURE_PROBABILITY
        )  # else the test would ask for the impossible
    assert True not in verdicts
    assert False in verdicts


def test_proofs_are_cheap_and_end_early_without_hope():
    values = np.concatenate([np.linspace(0.0, 10.0, 500), [1e4]])
    easy = Counting(compute_spectrum(values))
    assert certify_above(easy, -2.0, max_steps=50).verdict is True
    assert easy.products < 35
    hard = Counting(compute_spectrum(values))
    assert certify_above(hard, -1e-6, max_steps=50).verdict is None
    assert hard.products <= 12


@pytest.mark.parametrize("n", [1, 2, 5])
def test_small_matrices_are_seen_whole(n):
    assert certify_above(Dense(np.eye(n)), -0.5, max_steps=50).verdict is True
    assert certify_above(Dense(-np.eye(n)), -0.5, max_steps=50).verdict is False
    assert certify_above(Dense(np.zeros((n, n))), -0.5, max_steps=50).verdict is True


def test_eigenvalues_are_followed_as_far_as_requested():
    K = compute_spectrum(np.linspace(-1.0, 5.0, 300))
    loose = extreme(Dense(K), "smallest", rtol=1e-1)
    tight = extreme(Dense(K), "smallest", rtol=1e-10, max_steps=300)
    assert loose.steps < tight.steps < 300
    assert loose.error <= 0.1 * 5 and tight.error <= 1e-10 * 5.001
    assert tight.value == pytest.approx(-1.0, abs=1e-10)
    few = extreme(Dense(K), "largest", max_steps=7)
    assert few.steps == 7 and few.error > 1e-6 * 5
    assert extreme(Dense(K), "largest").steps <= 100
    one = extreme(Counting(K), "largest", max_steps=7, seed=1)
    assert one.value != few.value  # from another start


def test_ends_in_spaces_that_are_invariant():
    # After two steps there is nothing new: two eigenvalues, the ends of the spectrum.
    K = Counting(compute_spectrum(np.array([-3.0] * 5 + [2.0] * 5)))
    low = extreme(K, "smallest")
    assert (low.steps, K.products) == (2, 2)
    assert low.value == pytest.approx(-3.0) and low.error < 1e-12
    high = extreme(Dense(K.K), "largest")
    assert high.value == pytest.approx(2.0) and high.error < 1e-12
    none = extreme(Dense(np.zeros((4, 4))), "largest")
    assert (none.value, none.error, none.steps) == (0.0, 0.0, 1)


def test_ends_are_known():
    with pytest.raises(ValueError, match="'end' must be one of 'smallest', 'largest'"):
        extreme(Dense(np.eye(3)), "lowest")


def test_lanczos_vectors_stay_orthogonal():
    # Without reorthogonalization an eigenvalue that stands out would come back.
    values = np.concatenate([[1e3], np.linspace(0.0, 1.0, 150)])
    K = Dense(compute_spectrum(values))
    entries = list(_lanczos(K, 1.0, 60, 0))
    assert len(entries) == 60
    T = np.diag([alpha for alpha, _ in entries])
    beta = [beta for _, beta in entries[:-1]]
    T += np.diag(beta, 1) + np.diag(beta, -1)
    ritz = np.linalg.eigvalsh(T)
    assert (ritz > 500).sum() == 1 and ritz[-1] == pytest.approx(1e3)
    flipped = list(_lanczos(K, -1.0, 60, 0))
    np.testing.assert_allclose(
        np.array(flipped)[:5], np.array(entries)[:5] * [-1, 1], rtol=1e-6
    )


def test_a_bound_comes_with_the_smallest_ritz_value():
    K = compute_spectrum(np.linspace(1.0, 2.0, 40))
    found = certify_above(Dense(K), 0.0, max_steps=40)
    assert found.verdict is True
    steps = found.steps
    entries = list(_lanczos(Dense(K), 1.0, steps, 0))
    T = np.diag([alpha for alpha, _ in entries])
    beta = [beta for _, beta in entries[:-1]]
    T += np.diag(beta, 1) + np.diag(beta, -1)
    assert found.value == pytest.approx(np.linalg.eigvalsh(T)[0])
    assert certify_above(Dense(K), 1.5, max_steps=40).verdict is False
    assert certify_above(Dense(K), 0.999, max_steps=3) == certify_above(
        Dense(K), 0.999, max_steps=3
    )
    assert certify_above(Dense(K), 0.999, max_steps=3).verdict is None
    assert certify_above(Dense(K), 0.999, max_steps=3).steps == 3


def test_a_level_on_an_eigenvalue_is_not_proven():
    for n in (1, 3):
        assert certify_above(Dense(np.eye(n)), 1.0, max_steps=5).verdict is False
        assert certify_above(Dense(np.eye(n)), 1 - 1e-6, max_steps=5).verdict is True


def test_the_proof_takes_what_the_start_may_hide():
    # Exactly as many steps as Christoffel's function at the level asks for.
    K, level = compute_spectrum(np.linspace(1.0, 10.0, 200)), 0.9
    found = certify_above(Dense(K), level, max_steps=200)
    assert found.verdict is True and found.steps > 10
    x = np.random.default_rng(0).standard_normal(200)
    target = x @ x / (np.pi / 2 * FAILURE_PROBABILITY**2)
    entries = list(_lanczos(Dense(K), 1.0, 200, 0))
    p, total, steps = [0.0, 1.0], 1.0, 0
    last = 0.0
    while total <= target:
        alpha, beta = entries[steps]
        p.append(((level - alpha) * p[-1] - last * p[-2]) / beta)
        total, last, steps = total + p[-1] ** 2, beta, steps + 1
    assert found.steps == steps


def test_a_sum_that_grows_too_slowly_is_hopeless():
    grows = [2.0**j for j in range(10)]  # twice as much with each step
    of_late = [1.0] * 5 + [2.0**j for j in range(5)]  # what came before does not count
    for sums in (grows, of_late):
        assert not _hopeless(sums, sums[-1] * 4.0**10 * 0.99, 19)
        assert _hopeless(sums, sums[-1] * 4.0**10 * 1.01, 19)
    for share in (0.5, 1.0):
        assert not _hopeless(grows, grows[-1] * share, 9)  # it is there


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_invariant_spaces_are_seen_at_any_scale(scale):
    K = Dense(scale * compute_spectrum(np.array([1.0] * 5 + [2.0] * 5)))
    found = certify_above(K, 0.5 * scale, max_steps=9)
    assert found.verdict is True and found.steps == 2
    assert found.value == pytest.approx(scale)
    assert extreme(K, "smallest", rtol=1e-30).steps == 2


def test_what_is_proven_is_proven_of_the_start_that_was_made(monkeypatch):
    seeds, usual = [], np.random.default_rng
    monkeypatch.setattr(
        np.random, "default_rng", lambda seed: seeds.append(seed) or usual(seed)
    )
    certify_above(Dense(np.eye(3)), 0.5, max_steps=3, seed=7)
    assert set(seeds) == {7}
    seeds.clear()
    extreme(Dense(np.eye(3)), "largest", seed=8)
    extreme(Dense(np.eye(3)), "largest")
    certify_above(Dense(np.eye(3)), 0.5, max_steps=3)
    assert seeds == [8, 0, 0, 0]
