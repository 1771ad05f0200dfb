import numpy as np
import pytest

from kreinlearn.kernels import KERNELS, gram, resolve_kernel
from kreinlearn.operators import Blocked, Dense
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


def test_products_are_symmetric(rng, case):
    make, kernel, params = case
    blocked = Blocked(resolve_kernel(kernel, params), make(N, np.float64))
    u, v = rng.standard_normal((2, N, 1))
    Ku, Kv = blocked.matmat(u), blocked.matmat(v)
    size = np.linalg.norm(Ku) * np.linalg.norm(v)
    np.testing.assert_allclose(u.T @ Kv, v.T @ Ku, rtol=0, atol=1e-13 * size)


def test_the_same_bits_again(rng):
    X, B = samples(1500, 9), rng.standard_normal((1500, 2))
    product = Blocked(resolve_kernel("tl1"), X).matmat(B)
    blocked = Blocked(resolve_kernel("tl1"), X)
    for _ in range(3):
        np.testing.assert_array_equal(blocked.matmat(B), product)


def test_samples_may_be_lists(rng):
    X, B = samples(9, 3), rng.standard_normal((9, 2))
    for kernel in ("tl1", "rbf", inner):
        expected = Blocked(resolve_kernel(kernel), X)
        blocked = Blocked(resolve_kernel(kernel), X.tolist())
        np.testing.assert_array_equal(blocked.matmat(B), expected.matmat(B))
        np.testing.assert_array_equal(blocked.columns([1]), expected.columns([1]))
        np.testing.assert_array_equal(blocked.diagonal(), expected.diagonal())


@pytest.mark.parametrize("name", sorted(n for n in KERNELS if not KERNELS[n].check))
def test_one_sample(name):
    X = matrices(1) if name.startswith("spd") else samples(1, 2)
    blocked, K = Blocked(resolve_kernel(name), X), gram(X, None, name)
    np.testing.assert_allclose(blocked.matmat(np.array([[2.0]])), 2 * K)
    np.testing.assert_allclose(blocked.diagonal(), K[0])


@pytest.mark.parametrize(
    ("X", "params", "error", "match"),
    [
        (
            [[1.0]],
            {"tau": -1.0},
            ValueError,
            r"'tau' must be a positive number, got -1",
        ),
        (
            [[1.0]],
            {"sigma": 1},
            TypeError,
            r"'tl1' takes 'tau', 'ratio', got 'sigma'\.",
        ),
        ([[1.0]], {"kernel": "foo"}, ValueError, r"'kernel' must be one of .*'foo'\."),
        ([[1.0], [np.nan]], {}, ValueError, r"'X' .* got nan in row 1, column 0\."),
        ([1.0, 2.0], {}, ValueError, r"'X' must be a 2-d array .* shape \(2,\)\."),
        (-matrices(3), {"kernel": "spd_stein"}, ValueError, r"X\[0\]"),
        (["a"], {"kernel": lambda X, Y: [1.0]}, ValueError, r"got shape \(1,\)\."),
    ],
)
def test_mistakes_are_found_at_once(X, params, error, match):
    with pytest.raises(error, match=match):
        kernel = params.get("kernel", "tl1")
        params = {name: params[name] for name in params if name != "kernel"}
        Blocked(resolve_kernel(kernel, params), X)


def test_columns_of_a_wrong_shape():
    match = (
        r"'B' must be .* with 5 rows, one for each sample of 'X', got shape \(4, 1\)\."
    )
    with pytest.raises(ValueError, match=match):
        Blocked(resolve_kernel("tl1"), samples(5, 2)).matmat(np.ones((4, 1)))


def test_samples_that_are_no_numbers():
    words = ["MKVLA", "MKV", "LLGGPA", "LGG", "MKAA"]
    K = gram(words, None, "smith_waterman")
    blocked = Blocked(resolve_kernel("smith_waterman"), words)
    B = np.arange(10.0).reshape(5, 2)
    np.testing.assert_allclose(blocked.matmat(B), K @ B)
    np.testing.assert_allclose(blocked.columns(np.array([3, 1])), K[:, [3, 1]])
    np.testing.assert_allclose(blocked.diagonal(), K.diagonal())
