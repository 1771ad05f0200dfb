import numpy as np
import pytest

from kreinlearn.kernels import gram, resolve_kernel
from kreinlearn.operators import Blocked, Dense
from tests.conftest import gram_of_signature
from tests.kernels.test_products import common, inner, matrices, words
from tests.kernels.test_rows import VECTOR, samples

N = 150  # more than one block of the diagonal

# Name, samples for n and dtype, kernel, parameters.
CASES = [
    *((name, lambda n, dtype: samples(n, 6, dtype), name, {}) for name in VECTOR),
    ("tau", lambda n, dtype: samples(n, 6, dtype), "tl1", {"tau": 2.0}),
    ("wide", lambda n, dtype: samples(n, 140, dtype) / 9, "power", {}),
    ("stein", matrices, "spd_stein", {"sigma": 2.0}),
    ("log_euclid", matrices, "spd_log_euclid", {"ridge": 0.1}),
    ("function", lambda n, dtype: samples(n, 6, dtype), inner, {}),
    ("strings", lambda n, dtype: words(n), common, {"least": 1}),
]


@pytest.fixture(params=CASES, ids=lambda case: case[0])
def case(request):
    return request.param[1:]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocked_is_dense(rng, case, dtype):
    make, kernel, params = case
    X = make(N, dtype)
    K = gram(X, None, kernel, **params)
    blocked, dense = Blocked(resolve_kernel(kernel, params), X), Dense(K)
    assert blocked.shape == dense.shape == (N, N)
    assert blocked.dtype == dense.dtype
    # In single precision entries differ if their sums are taken in another order.
    atol = {np.float64: 1e-11, np.float32: 1e-4}[dtype] * np.abs(K).max()
    for k in (1, 3, 35):
        B = rng.standard_normal((N, k))
        for method in ("matmat", "matmat_native"):
            product = getattr(blocked, method)(B)
            assert product.dtype == np.float64
            assert product.shape == (N, k)
            np.testing.assert_allclose(product, K.astype(float) @ B, atol=atol)
    diagonal = blocked.diagonal()
    assert diagonal.dtype == np.float64
    np.testing.assert_allclose(diagonal, dense.diagonal(), rtol=0, atol=atol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns(case, dtype):
    make, kernel, params = case
    X = make(N, dtype)
    blocked = Blocked(resolve_kernel(kernel, params), X)
    K = gram(X, None, kernel, **params).astype(float)
    # Of equal rows, products and cross distances are not exactly 0.
    atol = {np.float64: 1e-6, np.float32: 2e-3}[dtype]
    for idx in (np.array([3]), np.array([149, 0, 7, 7]), np.arange(N) % 50 == 0, [-1]):
        found = blocked.columns(idx)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, K[:, idx], atol=atol)
    assert blocked.columns(np.array([], int)).shape == (N, 0)
    with pytest.raises(IndexError, match="150"):
        blocked.columns(np.array([150]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 7])
def test_dense_products(rng, dtype, k):
    K = gram_of_signature(6, 4).astype(dtype)
    B = rng.standard_normal((10, k))
    operator = Dense(K)
    assert operator.shape == (10, 10) and operator.dtype == dtype
    product = operator.matmat(B)
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, K.astype(float) @ B, atol=1e-4)
    np.testing.assert_allclose(operator.diagonal(), np.diag(K))
    np.testing.assert_allclose(operator.columns(np.array([2, 5])), K[:, [2, 5]])
