"""Matrices of the dual problem for each norm, and the scale of a matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kreinlearn.kernels import resolve_kernel
from kreinlearn.operators import Blocked, Dense, General, RowProducts
from kreinlearn.spectrum import norms
from kreinlearn.spectrum.norms import (
    NORMS,
    compute_scale,
    make_dual_matrix,
    matrix_modulus,
    modulus_factor,
)
from tests.conftest import gram_of_signature


@pytest.fixture
def square(rng):
    K = rng.standard_normal((40, 40))
    return K + K.T


def operators(square, rng):
    X = rng.uniform(size=(40, 3))
    yield Dense(square), square
    yield General(square + np.triu(square)), square + np.triu(square)
    yield General(square[:, :15]), square[:, :15]
    yield Dense(square.astype(np.float32)), square.astype(np.float32)
    blocked = Blocked(resolve_kernel("tl1"), X)
    yield blocked, blocked.columns(np.arange(40))


def test_products_of_rows_against_the_formula(square, rng):
    for K, full in operators(square, rng):
        v = rng.uniform(size=K.shape[1])
        M = (full.astype(float) * v) @ full.astype(float).T
        rows, B = RowProducts(K, v), rng.standard_normal((40, 6))
        for product in (rows.matmat(B), rows.matmat_native(B)):
            assert_allclose(product, M @ B, atol=1e-5 * np.abs(M).max())
        assert_allclose(rows.columns(np.array([3, 0])), M[:, [3, 0]], rtol=1e-5)
        assert rows.columns(np.array([], dtype=int)).shape == (40, 0)
        assert_allclose(rows.diagonal(), M.diagonal(), rtol=1e-5)
        assert_allclose(K.matmat(rows.coefficients(B)), rows.matmat(B))
        if not isinstance(K, Blocked):
            formed = rows.store().K
            assert (formed == formed.T).all()
            assert_allclose(formed, M, atol=1e-5 * np.abs(M).max())


@pytest.mark.parametrize("norm", NORMS)
def test_back_gives_the_coefficients_of_k(square, rng, norm):
    w = rng.uniform(size=40)
    w[7] = 0
    d = rng.standard_normal((40, 2))
    d[7] = 0
    matrix, back = make_dual_matrix(norm, Dense(square), w)
    # For the sample without weight too, as if it were new.
    assert_allclose(square @ back(d), matrix.matmat(d), atol=1e-9)
    assert_allclose(back(d)[7], 0)


def test_scale_is_the_mean_absolute_eigenvalue(square):
    moduli = np.abs(np.linalg.eigvalsh(square))
    assert compute_scale(Dense(square), np.ones(40)) == pytest.approx(moduli.mean())
    general = np.triu(square)
    values = np.linalg.svd(general, compute_uv=False)
    assert compute_scale(General(general), np.ones(40)) == pytest.approx(values.mean())
    # of a positive definite matrix, and of one that is barely not
    definite = gram_of_signature(40, 0)
    barely = definite - (np.linalg.eigvalsh(definite)[0] + 1e-3) * np.eye(40)
    for K in (definite, barely):
        mean = np.abs(np.linalg.eigvalsh(K)).mean()
        assert compute_scale(Dense(K), np.ones(40)) == pytest.approx(mean, rel=1e-9)
    assert compute_scale(Dense(np.zeros((5, 5))), np.ones(5)) == 1.0


def test_scale_of_many_samples_is_that_of_some(square, monkeypatch):
    monkeypatch.setattr(norms, "SCALE_SAMPLES", 25)
    some = compute_scale(Dense(square), np.ones(40))
    assert some == compute_scale(Dense(square), np.ones(40))
    assert some != pytest.approx(np.abs(np.linalg.eigvalsh(square)).mean())
    # A sample of square pieces: the same for landmarks among the samples.
    assert some == pytest.approx(np.abs(np.linalg.eigvalsh(square)).mean(), rel=0.4)


def test_the_matrix_of_each_norm(square, rng):
    w = rng.uniform(0.5, 2.0, 40)
    K = Dense(square)
    krein = make_dual_matrix("krein", K, w)
    d = rng.standard_normal((40, 2))
    assert krein.matrix is K and krein.back(d) is d
    moduli = np.abs(np.linalg.eigvalsh(square))
    for scale in (None, 3.0):
        for formed in (False, True):
            found = make_dual_matrix("euclidean", K, np.ones(40), scale, formed=formed)
            s = moduli.mean() if scale is None else scale
            assert_allclose(found.matrix.matmat(d), square @ (square @ d) / s)
            assert_allclose(found.back(d), square.T @ d / s)
            assert isinstance(found.matrix, Dense if formed else RowProducts)
    blocked = Blocked(resolve_kernel("tl1"), rng.uniform(size=(40, 3)))
    formed = make_dual_matrix("euclidean", blocked, w, formed=True).matrix
    assert isinstance(formed, RowProducts)  # what is not stored is not formed
    full = blocked.columns(np.arange(40))
    roots = np.sqrt(w / w.sum())
    s = np.abs(np.linalg.eigvalsh(full * roots[:, None] * roots)).sum()
    assert_allclose(formed.matmat(d), (full * w) @ full @ d / s, rtol=1e-6)


def test_the_norm_that_does_not_fit_is_named(square):
    for norm in ("krein", "hilbert"):
        words = rf"^(The norm '{norm}'|norm='{norm}') needs a symmetric matrix\.$"
        with pytest.raises(TypeError, match=words):
            make_dual_matrix(norm, General(square), np.ones(40))
    blocked = Blocked(resolve_kernel("tl1"), np.ones((3, 1)))
    with pytest.raises(MemoryError, match="^norm='hilbert' needs the eigenvectors"):
        make_dual_matrix("hilbert", blocked, np.ones(3))


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
    monkeypatch.setattr(norms, "check_fits", lambda *args: asked.append(args))
    weights = np.ones(13)
    weights[0] = 0.0
    modulus_factor(gram_of_signature(8, 5), weights)
    words = "Room for the eigenvectors of a Gram matrix"
    assert asked == [(4 * 12, 12, np.float64, words)]
