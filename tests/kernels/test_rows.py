import math

import numpy as np
import pytest

from kreinlearn import kernels
from kreinlearn.kernels import KERNELS, gram, resolve, rows
from kreinlearn.kernels.threads import parallel_for
from tests.kernels import naive

VECTOR = sorted(set(rows.__all__) - {"check_rows"})

# Kernel and parameters, all of them given.
CASES = [
    ("linear", {}),
    ("rbf", {"sigma": 1.5}),
    ("laplacian", {"sigma": 3.0}),
    ("polynomial", {"degree": 3, "gamma": 0.3, "coef0": 0.5}),
    ("polynomial", {"degree": 4, "gamma": 0.3, "coef0": -1.0}),
    ("tl1", {"tau": 2.0}),
    ("tanh", {"gamma": 0.4, "coef0": -0.5}),
    ("gaussian_difference", {"sigma_narrow": 0.8, "sigma_wide": 2.0, "weight": 0.7}),
    ("epanechnikov", {"sigma": 1.2}),
    ("log", {"degree": 2.0}),
    ("log", {"degree": 1.0}),
    ("log", {"degree": 0.7}),
    ("power", {"degree": 1.0}),
    ("power", {"degree": 2.0}),
    ("power", {"degree": 1.3}),
]
IDS = ["-".join([name, *map(str, params.values())]) for name, params in CASES]

# Defaults for m features, as the documentation gives them.
DEFAULTS = {
    "linear": lambda m: {},
    "rbf": lambda m: {"sigma": math.sqrt(m)},
    "laplacian": lambda m: {"sigma": m},
    "polynomial": lambda m: {"degree": 3, "gamma": 1 / m, "coef0": 1.0},
    "tl1": lambda m: {"tau": 0.7 * m},
    "tanh": lambda m: {"gamma": 1 / m, "coef0": 0.0},
    "gaussian_difference": lambda m: {
        "sigma_narrow": math.sqrt(m) / 2,
        "sigma_wide": math.sqrt(m),
        "weight": 0.5,
    },
    "epanechnikov": lambda m: {"sigma": 0.7 * math.sqrt(m)},
    "log": lambda m: {"degree": 2.0},
    "power": lambda m: {"degree": 1.0},
}

# Entries are of order 1 to 100. Single precision keeps some seven digits of a sum.
RTOL = {np.float64: 1e-12, np.float32: 2e-5}


def samples(n, m, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, m)).astype(dtype)


def close(K, expected, dtype):
    np.testing.assert_allclose(K, expected, rtol=RTOL[dtype], atol=RTOL[dtype])


# -- values ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("name", "params"), CASES, ids=IDS)
def test_cross_matrix_is_the_double_loop(name, params, dtype):
    X, Y = samples(19, 7, dtype), samples(37, 7, dtype, seed=1)
    K = KERNELS[name](X, Y, **params)
    assert K.shape == (19, 37)
    assert K.dtype == dtype
    close(K, naive.matrix(getattr(naive, name), X, Y, **params), dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [5, 40])  # both halves computed, one half copied
@pytest.mark.parametrize(("name", "params"), CASES, ids=IDS)
def test_symmetric_matrix_is_the_double_loop(name, params, m, dtype):
    X = samples(71, m, dtype)
    K = KERNELS[name](X, **params)
    assert K.dtype == dtype
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K, KERNELS[name](X, X, **params))
    close(K, naive.matrix(getattr(naive, name), X, X, **params), dtype)


@pytest.mark.parametrize(("name", "params"), CASES, ids=IDS)
def test_many_features_go_through_a_matrix_product(name, params):
    # Small features, so that no kernel is everywhere 0 at this number of them.
    X, Y = samples(70, 131) / 10, samples(23, 131, seed=1) / 10
    twin = getattr(naive, name)
    K = KERNELS[name](X, **params)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, naive.matrix(twin, X, X, **params), rtol=1e-11)
    np.testing.assert_allclose(
        KERNELS[name](X, Y, **params), naive.matrix(twin, X, Y, **params), rtol=1e-11
    )


@pytest.mark.parametrize("name", ["rbf", "epanechnikov", "log", "power"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distances_from_a_product_are_never_negative(name, dtype):
    # Far from the origin, and all rows nearly alike: the worst case for cancellation.
    X = (1000 + 1e-3 * samples(65, 200)).astype(dtype)
    K, largest = KERNELS[name](X), {"rbf": 1.0, "epanechnikov": 1.0}.get(name, 0.0)
    assert np.isfinite(K).all()
    assert K.max() <= largest
    np.testing.assert_array_equal(np.diag(K), largest)
    np.testing.assert_array_equal(K, K.T)


def test_centering_keeps_the_digits_of_distances():
    X = samples(30, 200)
    np.testing.assert_allclose(
        rows.rbf(X + 1e4, sigma=3.0), rows.rbf(X, sigma=3.0), rtol=1e-10
    )


@pytest.mark.parametrize("name", VECTOR)
@pytest.mark.parametrize("m", [1, 6])
def test_defaults_are_as_documented(name, m):
    X = samples(9, m)
    expected = naive.matrix(getattr(naive, name), X, X, **DEFAULTS[name](m))
    close(KERNELS[name](X), expected, np.float64)


def test_every_kernel_has_a_twin_and_a_case():
    assert set(VECTOR) == set(DEFAULTS) == {name for name, _ in CASES}
    assert all(KERNELS[name].function is getattr(rows, name) for name in VECTOR)


def test_ratio_is_a_share_of_the_features():
    X = samples(5, 4)
    np.testing.assert_array_equal(rows.tl1(X, ratio=0.5), rows.tl1(X, tau=2.0))
    np.testing.assert_array_equal(rows.tl1(X), rows.tl1(X, ratio=0.7))


@pytest.mark.parametrize("sigma", [1e-3, 1.0, 30.0, 1e3])
def test_exponential_is_accurate_over_its_whole_range(sigma):
    d = np.linspace(0.0, 1000.0, 4001)
    K = rows.laplacian(d[:, None], [[0.0]], sigma=sigma)[:, 0]
    expected = np.exp(-d / sigma)
    expected[d / sigma >= 708] = 0.0  # smaller ones are taken for 0
    # The argument is rounded before the exponential: up to 708 units, then two more.
    np.testing.assert_allclose(K, expected, rtol=2e-13)
    assert K[0] == 1.0
    assert (np.diff(K) <= 0).all()


def test_tanh_is_accurate_over_its_whole_range():
    small = [[10.0**-k] for k in (300, 20, 9, 3, 1)]
    large = [[0.3], [1.0], [9.5], [18.9], [19.1], [22.0], [400.0], [1e300]]
    x = np.array([*small, *large])
    for sign in (1.0, -1.0):
        K = rows.tanh(x, [[sign]], gamma=1.0)
        # Three units in the last place.
        np.testing.assert_allclose(K, sign * np.tanh(x), rtol=7e-16, atol=0)
    assert rows.tanh([[0.0]])[0, 0] == 0.0


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7])
def test_degrees_of_polynomials(degree):
    K = rows.polynomial([[2.0], [-3.0]], gamma=0.5, coef0=-2.0, degree=degree)
    base = np.array([[0.0, -5.0], [-5.0, 2.5]])
    np.testing.assert_allclose(K, base**degree, rtol=1e-14)


@pytest.mark.parametrize("name", VECTOR)
def test_signs_of_eigenvalues_are_as_documented(name):
    values = np.linalg.eigvalsh(KERNELS[name](samples(200, 5)))
    is_definite = name in ("laplacian", "linear", "polynomial", "rbf")
    assert (values.min() > -1e-10) == is_definite
    assert values.max() > 1


# -- sizes and layouts -----------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 64, 65])
@pytest.mark.parametrize("k", [1, 7, 8, 9, 513])
def test_odd_sizes(n, k):
    X, Y = samples(n, 2), samples(k, 2, seed=1)
    close(rows.tl1(X, Y, tau=1), naive.matrix(naive.tl1, X, Y, tau=1), np.float64)


@pytest.mark.parametrize("m", [1, 2, 31, 32, 128, 129, 257])
@pytest.mark.parametrize("name", ["tl1", "rbf", "linear"])
def test_odd_numbers_of_features(name, m):
    X = samples(66, m)
    params = DEFAULTS[name](m)
    expected = naive.matrix(getattr(naive, name), X, X[:5], **params)
    np.testing.assert_allclose(KERNELS[name](X)[:, :5], expected, rtol=1e-11)
    np.testing.assert_allclose(KERNELS[name](X, X[:5]), expected, rtol=1e-11)


@pytest.mark.parametrize("name", VECTOR)
def test_layout_does_not_matter(name):
    X = samples(40, 6)
    frozen = X.copy()
    frozen.setflags(write=False)
    wide = np.zeros((80, 12))
    wide[::2, ::2] = X
    expected = KERNELS[name](X, X[:9])
    for same in (np.asfortranarray(X), frozen, wide[::2, ::2], X.tolist()):
        np.testing.assert_array_equal(KERNELS[name](same, X[:9]), expected)
    np.testing.assert_array_equal(KERNELS[name](X[::-1], X[:9]), expected[::-1])


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool, np.float16, object])
def test_other_numbers_become_float64(dtype):
    X = np.array([[0, 1], [1, 1], [1, 0]], dtype=dtype)
    K = rows.tl1(X, tau=2)
    assert K.dtype == np.float64
    np.testing.assert_array_equal(K, [[2, 1, 0], [1, 2, 1], [0, 1, 2]])


def test_mixed_precision_becomes_float64():
    X = samples(3, 2)
    assert rows.rbf(X.astype(np.float32), X).dtype == np.float64


def test_input_is_left_alone():
    X = samples(70, 130)
    before = X.copy()
    for name in VECTOR:
        KERNELS[name](X)
        KERNELS[name](X, X[:3])
    np.testing.assert_array_equal(X, before)


def parts(n):
    return [slice(i, i + 17) for i in range(0, n, 17)]


@pytest.mark.parametrize("m", [9, 40, 131])  # whole, mirrored, from a product
@pytest.mark.parametrize("name", ["tl1", "laplacian", "rbf", "power"])
def test_several_tiles_and_threads(name, m):
    X, Y = samples(700, m), samples(650, m, seed=1)
    small = {"tl1": {"tau": 1.0}, "laplacian": {"sigma": 5.0}}.get(name, {})
    K, cross = KERNELS[name](X, **small), KERNELS[name](X, Y, **small)
    np.testing.assert_array_equal(K, K.T)
    rows = [0, 1, 127, 128, 300, 640, 699]  # about the borders of tiles
    params = DEFAULTS[name](m) | small
    twin = getattr(naive, name)
    expected = naive.matrix(twin, X[rows], X, **params)
    np.testing.assert_allclose(K[rows], expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(K[:, rows], expected.T, rtol=1e-11, atol=1e-11)
    expected = naive.matrix(twin, X[rows], Y, **params)
    np.testing.assert_allclose(cross[rows], expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_items", [1, 2, 100])
def test_all_work_is_done_once(n_items, n_threads):
    done = []
    parallel_for(lambda i, j: done.extend(range(i, j)), n_items, n_threads)
    assert sorted(done) == list(range(n_items))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_a_thread_reaches_the_caller(n_threads):
    def fail(first, last):
        raise RuntimeError(f"no {first}")

    with pytest.raises(RuntimeError, match="no "):
        parallel_for(fail, 100, n_threads)


# -- mistakes in the samples -----------------------------------------------------------


@pytest.mark.parametrize("name", VECTOR)
def test_different_numbers_of_columns(name):
    with pytest.raises(ValueError, match=r"same number of columns, got 3 and 4\."):
        KERNELS[name](samples(5, 3), samples(5, 4))


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        ([1.0, 2.0], ValueError, r"'X' must be a 2-d array .*, got shape \(2,\)\."),
        (np.ones((2, 3, 4)), ValueError, r"2-d array .*, got shape \(2, 3, 4\)\."),
        (np.ones((0, 3)), ValueError, r"at least one row .*, got shape \(0, 3\)\."),
        (np.ones((3, 0)), ValueError, r"at least one row .*, got shape \(3, 0\)\."),
        ([[1.0], [2.0, 3.0]], ValueError, r"'X' must have as many numbers in each row"),
        ([["a"], ["b"]], TypeError, r"'X' must hold real numbers, got .* dtype <U1\."),
        ([[1j]], TypeError, r"'X' must hold real numbers, got .* dtype complex128\."),
        (np.array([["a", 1]], object), TypeError, r"real numbers: .* float: 'a'\."),
        ([[1, 2], [3, np.nan]], ValueError, r"finite .*, got nan in row 1, column 1\."),
        ([[1, -np.inf]], ValueError, r"finite .*, got -inf in row 0, column 1\."),
    ],
)
def test_samples_that_are_no_matrix_of_numbers(X, error, match):
    with pytest.raises(error, match=match):
        rows.tl1(X)
    with pytest.raises(error, match=match.replace("'X'", "'Y'")):
        rows.tl1([[1.0, 2.0]], X)


# -- mistakes in the parameters --------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("rbf", "sigma"),
        ("laplacian", "sigma"),
        ("polynomial", "gamma"),
        ("tl1", "tau"),
        ("tl1", "ratio"),
        ("tanh", "gamma"),
        ("gaussian_difference", "sigma_narrow"),
        ("gaussian_difference", "sigma_wide"),
        ("gaussian_difference", "weight"),
        ("epanechnikov", "sigma"),
        ("log", "degree"),
        ("power", "degree"),
    ],
)
def test_parameters_that_must_be_positive(name, parameter):
    for value in (0, -0.5, math.nan, math.inf):
        with pytest.raises(
            ValueError, match=f"'{parameter}' must be a positive number, got {value}"
        ):
            KERNELS[name]([[1.0]], **{parameter: value})
    with pytest.raises(
        TypeError, match=f"'{parameter}' must be a positive number, got 'one'"
    ):
        KERNELS[name]([[1.0]], **{parameter: "one"})


@pytest.mark.parametrize(
    ("name", "params", "error", "match"),
    [
        ("polynomial", {"coef0": math.nan}, ValueError, "finite number, got nan"),
        ("polynomial", {"coef0": None}, TypeError, "finite number, got None"),
        ("tanh", {"coef0": math.nan}, ValueError, "finite number, got nan"),
        ("tanh", {"coef0": None}, TypeError, "finite number, got None"),
        ("polynomial", {"degree": 2.5}, TypeError, r"whole number, got 2\.5"),
        ("polynomial", {"degree": 0}, ValueError, "whole number, got 0"),
        ("tl1", {"tau": 1.0, "ratio": 0.5}, ValueError, r"got tau=1\.0 and ratio=0\.5"),
        (
            "gaussian_difference",
            {"sigma_narrow": 2, "sigma_wide": 1.5},
            ValueError,
            r"'sigma_wide', got 2 and 1\.5",
        ),
    ],
)
def test_other_bad_parameters(name, params, error, match):
    first = next(iter(params))
    with pytest.raises(error, match=rf"'{first}' .*{match}.*\."):
        KERNELS[name]([[1.0]], **params)


# -- names, functions, gram ------------------------------------------------------------


def test_resolve_names_and_functions():
    assert resolve("rbf") is kernels.rbf
    assert resolve(len) is len


def test_resolve_lists_the_known_names():
    assert {"rbf", "tl1"} <= set(KERNELS)
    known = ", ".join(repr(name) for name in sorted(KERNELS))
    match = f"'kernel' must be one of {known}, a callable, 'precomputed' or 'distance'"
    with pytest.raises(ValueError, match=match + r", got 'foo'\."):
        resolve("foo")
    with pytest.raises(TypeError, match=match + r", got 3\."):
        resolve(3)
    with pytest.raises(ValueError, match="'precomputed', which is not a function"):
        resolve("precomputed")


@pytest.mark.parametrize(("name", "params"), CASES, ids=IDS)
def test_gram_calls_the_kernel(name, params):
    X, Y = samples(6, 3), samples(4, 3, seed=1)
    function = KERNELS[name]
    for kernel in (name, function):
        np.testing.assert_array_equal(
            gram(X, Y, kernel, **params), function(X, Y, **params)
        )
        np.testing.assert_array_equal(
            gram(X, kernel=kernel, **params), function(X, **params)
        )


def test_gram_takes_samples_of_any_kind():
    def common(X, Y, *, least=0):
        return [[max(len(set(x) & set(z)), least) for z in Y] for x in X]

    K = gram(["ab", "bc", "d"], kernel=common)
    assert K.dtype == np.float64
    np.testing.assert_array_equal(K, [[2, 1, 0], [1, 2, 0], [0, 0, 1]])
    np.testing.assert_array_equal(gram(["ab"], ["d"], common, least=1), [[1]])

    def trace(X, Y):
        return np.einsum("iab,jab->ij", X, Y)

    stack = np.random.default_rng(0).standard_normal((4, 3, 3)).astype(np.float32)
    assert gram(stack, stack[:2], trace).shape == (4, 2)
    assert gram(stack, stack[:2], trace).dtype == np.float32


def test_gram_refuses_wrong_keywords():
    with pytest.raises(TypeError, match=r"'tl1' takes 'tau', 'ratio', got 'sigma'\."):
        gram([[1.0]], kernel="tl1", sigma=1.0)
    with pytest.raises(TypeError, match=r"'linear' takes no parameters, got 'tau'\."):
        gram([[1.0]], kernel="linear", tau=1.0)


def test_gram_refuses_what_has_no_length():
    with pytest.raises(TypeError, match=r"'X' must be .*, got an object of type int\."):
        gram(3)
    with pytest.raises(TypeError, match=r"'Y' must be .*, got an object of type int\."):
        gram([[1.0]], 3)


@pytest.mark.parametrize("kernel", ["tl1", rows.rbf])
@pytest.mark.parametrize(
    ("dtype", "n_bytes"), [(np.float64, "800,000"), (np.float32, "400,000")]
)
def test_gram_refuses_what_does_not_fit(monkeypatch, kernel, dtype, n_bytes):
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 1000)
    # No column: if it got as far as the kernel, the message would be another.
    X, Y = np.empty((1000, 0), dtype), np.empty((100, 0), dtype)
    with pytest.raises(MemoryError, match=rf"shape \(1000, 100\) .* {n_bytes} bytes"):
        gram(X, Y, kernel)


@pytest.mark.parametrize(
    ("result", "error", "match"),
    [
        (np.ones((2, 2)), ValueError, r"shape \(2, 3\), .*, got shape \(2, 2\)\."),
        (1.0, ValueError, r"shape \(2, 3\), .*, got shape \(\)\."),
        (None, TypeError, r"real numbers, got an array of dtype object\."),
        (np.ones((2, 3)) * 1j, ValueError, r"imaginary parts up to 1; return"),
        ([[1, 2, 3], [4, np.nan, 6]], ValueError, r"got nan in row 1, column 1\."),
        ([[1, 2, -np.inf], [4, 5, 6]], ValueError, r"got -inf in row 0, column 2\."),
    ],
)
def test_gram_checks_what_a_function_gives(result, error, match):
    with pytest.raises(error, match=rf"The kernel must give .*{match}"):
        gram("ab", "cde", lambda X, Y: result)
