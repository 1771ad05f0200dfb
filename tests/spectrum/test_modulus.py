"""|K| with weighted samples and with samples that have no weight."""

import numpy as np

from kreinlearn.spectrum import norms as modulus
from kreinlearn.spectrum.norms import matrix_modulus, modulus_factor
from tests.conftest import gram_of_signature


def naive(K):
    mu, V = np.linalg.eigh(K)
    return (V * np.abs(mu)) @ V.T


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
