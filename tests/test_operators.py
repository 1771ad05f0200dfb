import numpy as np
import pytest

from kreinlearn.operators import Dense
from tests.conftest import gram_of_signature


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
