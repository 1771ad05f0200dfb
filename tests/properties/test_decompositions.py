"""Decompositions of matrices: parts sum to the matrix and have the stated properties.

The oracles are NumPy's eigenvectors and SciPy's matrix square root.
"""

import numpy as np
import pytest
from scipy.linalg import sqrtm

from kreinlearn.operators import Dense
from kreinlearn.spectrum import certify_above, decompose, describe, extreme, split
from kreinlearn.spectrum.norms import matrix_modulus, negative_part
from kreinlearn.spectrum.repair import REPAIRS, replace_eigenvalues
from tests.properties.draws import examples, hypothesis, matrices, st

MODES = st.sampled_from(["paper", "tight", "shift"])


def close(found, expected, K, digits=1e-10):
    """Assert equality up to rounding of a matrix of the size of K."""
    size = np.abs(K).max() or 1.0
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=digits)


def smallest(A):
    return np.linalg.eigvalsh((A + A.T) / 2)[0]


@examples(40)
@hypothesis.given(K=matrices(1))
def test_decompose_gives_back_the_matrix(K):
    found = decompose(K)
    assert (np.diff(found.values) >= 0).all()
    close(found.matrix(), K, K)
    gram = found.vectors.T @ found.vectors
    np.testing.assert_allclose(gram, np.eye(len(K)), atol=1e-12)
    parts = found.positive().matrix() + found.negative().matrix()
    close(parts, K, K)
    signature = (found.positive().values > 0).sum(), (found.negative().values < 0).sum()
    assert found.signature == (*signature, len(K) - sum(signature))
    close(decompose(K, "negative").matrix(), found.negative().matrix(), K)
    # Other routines round in other ways: at the edge of zero they need not agree.
    sizes = np.abs(found.values)
    if not ((sizes > 0.3 * found.zero) & (sizes < 30 * found.zero)).any():
        assert describe(K)["signature"] == found.signature


@examples(40)
@hypothesis.given(K=matrices(1), mode=MODES)
def test_splits_are_differences_of_positive_semidefinite_matrices(K, mode):
    parts = split(Dense(K), mode)
    minus = parts.minus(np.eye(len(K)))
    plus = K + minus
    size = np.abs(K).max()
    assert min(smallest(minus), smallest(plus)) >= -1e-10 * size
    close(parts.norm_plus, np.linalg.norm(plus, 2), K, 1e-5)
    close(parts.norm_minus, np.linalg.norm(minus, 2), K, 1e-5)
    close(parts.norm, np.linalg.norm(K, 2), K, 1e-5)
    mu, V = np.linalg.eigh(K)
    negative = (V * np.maximum(-mu, 0.0)) @ V.T
    if mode == "shift":
        negative = np.zeros_like(K)
    close(minus, negative + parts.tau * np.eye(len(K)), K)
    if mode == "tight":
        assert parts.tau == 0
    elif mu[0] > -1e-12 * size:  # "shift" knows that to the accuracy of Lanczos steps
        accuracy = 1.1e-6 if mode == "shift" else 1e-10
        assert parts.tau <= accuracy * max(size, np.abs(mu).max())
    else:
        assert parts.tau > -mu[0]


@examples(40)
@hypothesis.given(K=matrices(1))
def test_the_modulus_is_the_root_of_the_square(K):
    expected = np.real(sqrtm(K @ K))
    found, back = matrix_modulus(K, np.ones(len(K)))
    # The square root of a singular matrix has half of the digits.
    close(found, expected, K, 1e-6)
    assert smallest(found) >= -1e-12 * np.abs(K).max()
    d = np.random.default_rng(0).standard_normal((len(K), 2))
    close(K @ back(d), found @ d, K)
    negative = negative_part(K, np.ones(len(K))).matrix()
    close(found, K + 2 * negative, K)


@examples(20)
@hypothesis.given(K=matrices(1, 12), data=st.data())
def test_the_modulus_with_weights_is_that_of_repeated_rows(K, data):
    counts = data.draw(st.lists(st.integers(1, 3), min_size=len(K), max_size=len(K)))
    rows = np.repeat(np.arange(len(K)), counts)
    found, _ = matrix_modulus(K, np.array(counts, dtype=float))
    repeated, _ = matrix_modulus(K[np.ix_(rows, rows)], np.ones(len(rows)))
    close(found[np.ix_(rows, rows)], repeated, K)


@examples(20)
@hypothesis.given(K=matrices(1), mode=st.sampled_from(sorted(REPAIRS)))
def test_repaired_matrices_are_positive_semidefinite(K, mode):
    change = replace_eigenvalues(decompose(K), mode)
    mended, size = change.matrix(), np.abs(K).max() or 1.0
    assert smallest(mended) >= -1e-10 * max(size, size**2)
    on_range = change.matrix(on_range=True)
    close(K @ change.extension(), on_range, on_range, 1e-8)
    if smallest(K) >= 0 and mode != "square":
        close(mended, K, K)


@examples(40)
@hypothesis.given(K=matrices(1), end=st.sampled_from(["smallest", "largest"]))
def test_lanczos_is_never_beyond_the_end(K, end):
    mu, size = np.linalg.eigvalsh(K), np.abs(K).max() or 1.0
    found = extreme(Dense(K), end)
    true = mu[0] if end == "smallest" else mu[-1]
    beyond = true - found.value if end == "smallest" else found.value - true
    assert beyond <= 1e-10 * size
    assert abs(found.value - true) <= found.error + 1e-10 * size
    assert found.steps <= len(K)


@examples(40)
@hypothesis.given(
    K=matrices(1), factor=st.sampled_from([0.5, 0.9, 1.1, 2.0]), steps=st.integers(1, 9)
)
def test_a_proven_floor_is_one(K, factor, steps):
    mu = np.linalg.eigvalsh(K)
    hypothesis.assume(abs(mu[0]) > 1e-6 * np.abs(K).max())
    found = certify_above(Dense(K), factor * mu[0], max_steps=steps)
    above = mu[0] > factor * mu[0]
    assert found.verdict in (None, above)
    assert found.value >= mu[0] - 1e-10 * np.abs(K).max()
    assert found.steps <= min(steps, len(K))
    if steps >= len(K):
        assert found.verdict is not None or len(K) >= 8


def test_the_zero_matrix_has_no_parts():
    zero = np.zeros((3, 3))
    assert decompose(zero).signature == (0, 0, 3)
    assert matrix_modulus(zero, np.ones(3))[0] == pytest.approx(zero)
    assert split(Dense(zero), "paper").minus(np.eye(3)) == pytest.approx(zero)
