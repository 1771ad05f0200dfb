"""|K| with weighted samples and with samples that have no weight."""

import numpy as np
import pytest

from kreinlearn.spectrum import norms as modulus
from kreinlearn.spectrum.norms import matrix_modulus, modulus_factor, negative_part
from tests.conftest import gram_of_signature


def naive(K):
    mu, V = np.linalg.eigh(K)
    return (V * np.abs(mu)) @ V.T


def test_factors_of_the_negative_part(rng):
    K = gram_of_signature(8, 5)
    weights = rng.uniform(0.5, 2.0, 13)
    root = np.sqrt(weights)
    inner = root[:, None] * K * root
    mu, V = np.linalg.eigh(inner)
    expected = (V * np.maximum(-mu, 0)) @ V.T / root[:, None] / root
    found = negative_part(K, weights)
    np.testing.assert_allclose(found.matrix(), expected, atol=1e-10)
    a = rng.standard_normal(13)
    np.testing.assert_allclose(found.product(a), expected @ a, atol=1e-10)
    np.testing.assert_allclose(K @ found.right, -found.left * found.sizes, atol=1e-10)
    again = negative_part(K, 7 * weights)  # only their ratios matter
    np.testing.assert_allclose(again.matrix(), expected, atol=1e-10)
    assert (found.sizes > 0).all()


def test_samples_without_weight_are_as_if_new(rng):
    K = gram_of_signature(8, 5)
    weights = np.ones(13)
    weights[[2, 7]] = 0.0
    used = weights > 0
    G, back = modulus_factor(K, weights)
    full = K + G @ G.T
    np.testing.assert_allclose(
        full[np.ix_(used, used)], naive(K[np.ix_(used, used)]), atol=1e-10
    )
    a = rng.standard_normal((13, 2)) * used[:, None]
    before = a.copy()
    np.testing.assert_allclose(K @ back(a), full @ a, atol=1e-9)
    np.testing.assert_array_equal(a, before)
    assert (back(a)[~used] == 0).all()
    found, _ = matrix_modulus(K, weights)
    np.testing.assert_allclose(found[:, used], full[:, used], atol=1e-12)
    # Between samples without weight, nothing is needed and nothing is changed.
    np.testing.assert_array_equal(found[np.ix_(~used, ~used)], K[np.ix_(~used, ~used)])


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_small_weights_count_as_weights(rng, scale):
    K = gram_of_signature(8, 5)
    weights = rng.uniform(0.1, 1.0, 13)
    weights[[2, 7]] = 0.0
    used = weights > 0
    inner = K[np.ix_(used, used)]
    root = np.sqrt(weights[used])
    mu, V = np.linalg.eigh(root[:, None] * inner * root)
    expected = (V * np.abs(mu)) @ V.T / root[:, None] / root
    G, back = modulus_factor(K, scale * weights)
    full = K + G @ G.T
    np.testing.assert_allclose(full[np.ix_(used, used)], expected, atol=1e-10)
    a = rng.standard_normal((13, 2)) * used[:, None]
    np.testing.assert_allclose(K @ back(a), full @ a, atol=1e-9)


def test_the_precision_is_kept_and_nothing_is_changed():
    K = gram_of_signature(8, 5).astype(np.float32)
    before = K.copy()
    found, back = matrix_modulus(K, np.ones(13))
    assert found.dtype == np.float32 and back(np.ones((13, 1))).dtype == float
    np.testing.assert_array_equal(K, before)
    np.testing.assert_allclose(found, naive(K.astype(float)), atol=1e-5)


def test_memory_is_asked_for_before_it_is_used(monkeypatch):
    asked = []
    monkeypatch.setattr(modulus, "check_fits", lambda *args: asked.append(args))
    weights = np.ones(13)
    weights[0] = 0.0
    modulus_factor(gram_of_signature(8, 5), weights)
    words = "Room for the eigenvectors of a Gram matrix"
    assert asked == [(4 * 12, 12, np.float64, words)]


@pytest.mark.parametrize("signature", [(6, 0), (0, 6), (0, 0, 6)])
def test_definite_matrices(signature):
    K = gram_of_signature(*signature)
    found, back = matrix_modulus(K, np.ones(6))
    np.testing.assert_allclose(found, naive(K), atol=1e-10)
    sign = -1.0 if signature[1] else 1.0
    np.testing.assert_allclose(back(np.eye(6)), sign * np.eye(6), atol=1e-10)
