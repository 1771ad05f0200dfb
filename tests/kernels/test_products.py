import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest

from kreinlearn.kernels import KERNELS, _pairwise, gram, multiply, products, threads
from kreinlearn.kernels.threads import apply_limit, limit_threads, ordered_parallel
from tests.kernels.test_rows import CASES, IDS, VECTOR, samples
from tests.memory import peak

SPD = ["spd_affine_invariant", "spd_log_euclid", "spd_stein", "spd_euclid"]


def columns(n, k, seed=3):
    return np.random.default_rng(seed).standard_normal((n, k))


def matrices(n, dtype=np.float64, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, 3, 6))
    return (A @ A.transpose(0, 2, 1) / 6 + 0.1 * np.eye(3)).astype(dtype)


def inner(X, Y):
    return np.asarray(X) @ np.asarray(Y).T


def common(X, Y, *, least=0):
    assert isinstance(X, list) and isinstance(Y, list)
    return [[max(len(set(x) & set(z)), least) for z in Y] for x in X]


def words(n, seed=0):
    letters = np.random.default_rng(seed).choice(list("abcdefgh"), size=(n, 5))
    return ["".join(row) for row in letters]


def agree(product, K, B, tol=1e-14):
    """Compare with the stored matrix; errors of a sum grow with the sum of sizes."""
    K, B = K.astype(float), np.asarray(B, float)
    assert product.dtype == np.float64
    assert product.shape == K.shape[:1] + B.shape[1:]
    size = np.abs(K) @ np.abs(B) + np.finfo(float).tiny
    assert np.max(np.abs(product - K @ B) / size, initial=0.0) < tol


@pytest.fixture
def small_blocks(monkeypatch):
    """Cut everything into small pieces, so that there are many of them."""
    monkeypatch.setattr(products, "BLOCK_ROWS", (48, 48))
    monkeypatch.setattr(products, "PRODUCT_COLUMNS", 4)
    monkeypatch.setattr(products, "VALUES_BYTES", 8 * 30**2)
    monkeypatch.setattr(_pairwise, "TERMS_PER_THREAD", 1000)
    monkeypatch.setattr("kreinlearn.kernels.threads.max_threads", lambda: 3)


# -- values ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 17, 130, 700])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("name", "params"), CASES, ids=IDS)
def test_product_is_that_of_the_matrix(name, params, dtype, n):
    X, Y = samples(n, 7, dtype), samples(53, 7, dtype, seed=1)
    pairs = ((X, None), (X, Y), (Y, X))
    K, cross, turned = (gram(*pair, name, **params) for pair in pairs)
    # Entries are the same numbers, except that `linear` needs none of them.
    tol = 1e-6 if (name, dtype) == ("linear", np.float32) else 2e-14
    for k in (1, 3, 35):
        B, C = columns(n, k), columns(53, k)
        agree(multiply(X, None, B, name, **params), K, B, tol)
        agree(multiply(X, Y, C, name, **params), cross, C, tol)
        agree(multiply(Y, X, B, name, **params), turned, B, tol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("name", "params"), CASES, ids=IDS)
@pytest.mark.usefixtures("small_blocks")
def test_blocks_and_threads(name, params, dtype):
    X, Y = samples(203, 7, dtype), samples(97, 7, dtype, seed=1)
    tol = 1e-6 if (name, dtype) == ("linear", np.float32) else 2e-14
    for k in (1, 11):
        B, C = columns(203, k), columns(97, k)
        agree(
            multiply(X, None, B, name, **params), gram(X, None, name, **params), B, tol
        )
        agree(multiply(X, Y, C, name, **params), gram(X, Y, name, **params), C, tol)


@pytest.mark.parametrize("name", VECTOR)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_features(name, dtype):
    # Here `gram` takes squared distances from a matrix product, and loses some digits.
    X, B = samples(150, 300, dtype) / 10, columns(150, 3)
    Y = samples(9, 300, dtype, seed=1) / 10
    tol = {np.float64: 1e-12, np.float32: 1e-4}[dtype]
    agree(multiply(X, None, B, name), gram(X, None, name), B, tol)
    agree(multiply(Y, X, B, name), gram(Y, X, name), B, tol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SPD)
@pytest.mark.usefixtures("small_blocks")
def test_stacks_of_matrices(name, dtype):
    X, Y = matrices(70, dtype), matrices(40, dtype, seed=1)
    # The distance of a matrix from itself is found to be 0 in the stored matrix only.
    tol = {np.float64: 1e-12, np.float32: 1e-6}[dtype]
    for k in (1, 3):
        B, C = columns(70, k), columns(40, k)
        K = gram(X, None, name, sigma=2.0)
        agree(multiply(X, None, B, name, sigma=2.0), K, B, tol)
        agree(multiply(X, X, B, name, sigma=2.0), K, B, tol)
        agree(multiply(X, Y, C, name, sigma=2.0), gram(X, Y, name, sigma=2.0), C, tol)
    regions = np.stack([X, 2 * X], axis=1)
    agree(multiply(list(regions), None, B, name), gram(regions, None, name), B, tol)


@pytest.mark.usefixtures("small_blocks")
def test_functions_of_the_user():
    for dtype in (np.float64, np.float32):
        X, Y, B = samples(71, 4, dtype), samples(65, 4, dtype, seed=1), columns(65, 3)
        agree(multiply(X, Y, B, inner), gram(X, Y, inner), B)
        agree(multiply(Y, None, B, inner), gram(Y, None, inner), B)
    A, C, B = words(64), words(33, seed=1), columns(33, 2)
    agree(multiply(A, C, B, common, least=2), gram(A, C, common, least=2), B)
    agree(multiply(C, None, B, common), gram(C, None, common), B)
    agree(
        multiply(C, None, B, partial(common, least=3)),
        np.maximum(gram(C, C, common), 3),
        B,
    )


def test_functions_need_not_be_symmetric():
    def first(X, Y):
        return np.repeat(np.asarray(X)[:, :1], len(Y), axis=1)

    X, B = samples(20, 2), columns(20, 2)
    agree(multiply(X, None, B, first), gram(X, None, first), B)


def test_the_kernels_themselves_are_compiled_too(monkeypatch):
    monkeypatch.delattr("kreinlearn.kernels.registry.multiply_values")
    X, B = samples(20, 4), columns(20, 2)
    for name in VECTOR:
        product = multiply(X, None, B, KERNELS[name])
        np.testing.assert_array_equal(product, multiply(X, None, B, name))
        np.testing.assert_array_equal(product, multiply(X, X, B, name))


# -- bits ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tl1", "rbf", "linear"])
@pytest.mark.parametrize("k", [1, 6])
def test_bits_do_not_depend_on_threads(monkeypatch, name, k):
    X, Y, B = samples(2000, 9), samples(1100, 9, seed=1), columns(2000, k)
    first, cross = multiply(X, None, B, name), multiply(Y, X, B, name)
    for n_threads in (1, 2, 2, 2, 5):
        monkeypatch.setattr(
            "kreinlearn.kernels.threads.max_threads", lambda n=n_threads: n
        )
        np.testing.assert_array_equal(multiply(X, None, B, name), first)
        np.testing.assert_array_equal(multiply(Y, X, B, name), cross)


def test_columns_do_not_depend_on_each_other():
    X, B = samples(130, 9), columns(130, 6)
    whole = multiply(X, None, B)
    for q in range(6):
        np.testing.assert_array_equal(multiply(X, None, B[:, q]), whole[:, q])
    B[7, 2] = np.nan
    spoiled = multiply(X, None, B)
    assert np.isnan(spoiled[:, 2]).all()
    np.testing.assert_array_equal(np.delete(spoiled, 2, 1), np.delete(whole, 2, 1))


@pytest.mark.parametrize("n", [3, 21])
def test_what_fills_up_a_tile_does_not_count(n):
    # Squares overflow, also those of the distance to the zeros at the end of a panel.
    X, B = 1e25 * np.arange(1, n + 1, dtype=np.float32)[:, None], columns(n, 2)
    np.testing.assert_array_equal(multiply(X, None, B, "rbf"), B)
    np.testing.assert_array_equal(multiply(X, X.copy(), B, "rbf"), B)


# -- samples and columns ---------------------------------------------------------------


def test_layout_does_not_matter():
    X, B = samples(40, 6), columns(40, 4)
    frozen = B.copy()
    frozen.setflags(write=False)
    wide = np.zeros((80, 8))
    wide[::2, ::2] = B
    expected = multiply(X, None, B)
    for same in (np.asfortranarray(B), frozen, wide[::2, ::2], B.tolist()):
        np.testing.assert_array_equal(multiply(X, None, same), expected)
    for same in (np.asfortranarray(X), X.tolist()):
        np.testing.assert_array_equal(multiply(same, None, B), expected)
    np.testing.assert_array_equal(B, columns(40, 4))
    np.testing.assert_array_equal(
        multiply(X, None, B.astype(np.float32)), multiply(X, None, np.float32(B) * 1.0)
    )


def test_one_column_may_be_a_vector():
    X, b = samples(30, 4), columns(30, 1)[:, 0]
    for kernel in ("tl1", inner):
        product = multiply(X, None, b, kernel)
        assert product.shape == (30,)
        np.testing.assert_array_equal(
            product, multiply(X, None, b[:, None], kernel)[:, 0]
        )


def test_no_column_is_no_work():
    assert multiply(samples(9, 2), None, np.empty((9, 0))).shape == (9, 0)


def test_mixed_precision_is_double_precision():
    X, Y, B = samples(30, 4, np.float32), samples(20, 4, seed=1), columns(20, 2)
    agree(multiply(X, Y, B), gram(X, Y), B)


# -- mistakes --------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["tl1", "linear", inner])
def test_columns_of_a_wrong_shape(kernel):
    X, Y = samples(5, 3), samples(4, 3)
    match = (
        r"'B' must be a 1-d or 2-d array with {} rows, one for each sample of '{}', "
    )
    for shape in [(4,), (4, 2), (1, 5), (), (5, 2, 2)]:
        end = rf"got shape \({', '.join(map(str, shape))},?\)\."
        with pytest.raises(ValueError, match=match.format(5, "X") + end):
            multiply(X, None, np.ones(shape), kernel)
    with pytest.raises(
        ValueError, match=match.format(4, "Y") + r"got shape \(5, 1\)\."
    ):
        multiply(X, Y, np.ones((5, 1)), kernel)
    with pytest.raises(TypeError, match=r"'B' must hold real numbers, .* complex128\."):
        multiply(X, None, 1j * np.ones(5), kernel)


@pytest.mark.parametrize(
    ("args", "params"),
    [
        (([[1.0]], None), {"tau": -1.0}),
        (([[1.0]], None), {"tau": 1.0, "ratio": 1.0}),
        (([[1.0]], None), {"sigma": 1.0}),
        (([[1.0]], None), {"kernel": "rbf", "sigma": 0.0}),
        (([[1.0]], None), {"kernel": "foo"}),
        (([[1.0]], None), {"kernel": "precomputed"}),
        (([[1.0]], None), {"kernel": "polynomial", "degree": 1.5}),
        (([[np.nan]], None), {}),
        ((["a"], None), {}),
        (([[1.0]], [[1.0, 2.0]]), {}),
        ((1.0, None), {}),
        ((np.ones((1, 2, 3)), None), {"kernel": "spd_stein"}),
        ((np.ones((1, 2, 2)), None), {"kernel": "spd_stein", "ridge": -1.0}),
    ],
)
def test_other_mistakes_are_those_of_gram(args, params):
    with pytest.raises((TypeError, ValueError)) as expected:
        gram(*args, **params)
    with pytest.raises(expected.type) as raised:
        multiply(*args, [1.0], **params)
    assert str(raised.value) == str(expected.value)


@pytest.mark.usefixtures("small_blocks")
def test_mistakes_are_at_the_stated_place():
    X = matrices(70)
    X[61] *= -1
    with pytest.raises(ValueError, match=r"X\[61\]"):
        multiply(X, None, columns(70, 1), "spd_stein")
    with pytest.raises(ValueError, match=r"Y\[61\]"):
        multiply(X[:50], X, columns(70, 1), "spd_stein")

    def broken(X, Y):
        K = inner(X, Y)
        K[np.ix_(X[:, 0] == 65, Y[:, 0] == 34)] = np.inf
        return K

    numbers = np.arange(70.0)[:, None]
    with pytest.raises(ValueError, match=r"got inf in row 65, column 34\."):
        multiply(numbers, None, columns(70, 1), broken)
    with pytest.raises(ValueError, match=r"must give a matrix of shape \(30, 30\)"):
        multiply(numbers, None, columns(70, 1), lambda X, Y: np.ones(2))


# -- work in order ---------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_workspaces", [1, 2, 7])
@pytest.mark.parametrize("n_items", [0, 1, 50])
def test_work_is_finished_in_order(n_items, n_workspaces, n_threads):
    in_use, lock, finished = set(), threading.Lock(), []

    def work(item, workspace):
        with lock:
            assert workspace not in in_use
            in_use.add(workspace)

    def finish(item, workspace):
        finished.append(item)
        in_use.remove(workspace)

    ordered_parallel(work, finish, range(n_items), list(range(n_workspaces)), n_threads)
    assert finished == list(range(n_items))
    assert not in_use


@pytest.mark.parametrize("where", ["work", "finish"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_a_thread_reaches_the_caller(where, n_threads):
    done = []

    def fail(item, workspace):
        if item == 5:
            raise RuntimeError("no 5")
        done.append(item)

    def nothing(item, workspace):
        pass

    steps = (fail, nothing) if where == "work" else (nothing, fail)
    with pytest.raises(RuntimeError, match="no 5"):
        ordered_parallel(*steps, range(1000), list(range(4)), n_threads)
    assert len(done) < 1000


# -- memory ----------------------------------------------------------------------------

MEMORY = """
import numpy as np
from tests.memory import peak
from kreinlearn.kernels import multiply

def first(X, Y):
    return X[:, :1] - Y[:, 0]

X, b = np.random.default_rng(0).uniform(size=(20000, 3)), np.ones(20000)
for kernel in ("tl1", "linear", first):
    multiply(X[:20], None, b[:20], kernel)  # loads what it needs
before = peak()
for kernel in ("tl1", "linear"):
    multiply(X, None, b, kernel)
multiply(X[:6000], None, b[:6000], first)
print(peak() - before)
"""


@pytest.mark.slow  # in a process of its own; the next one counts what is taken here
@pytest.mark.skipif(peak() is None, reason="the system does not report the peak")
def test_memory_does_not_grow_with_the_matrix():
    ran = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    # The matrices take 3.2e9 and 2.9e8 bytes; blocks may take 64 MiB, libraries more.
    assert int(ran.stdout) < 1.5e8


def test_workspaces_share_a_budget(monkeypatch):
    taken = []
    make = products._make_workspace

    def record(*args):
        taken.append(make(*args))
        return taken[-1]

    monkeypatch.setattr(products, "_make_workspace", record)
    monkeypatch.setattr("kreinlearn.kernels.threads.max_threads", lambda: 64)
    for n, m, k in [(3000, 3, 1), (2000, 3, 256), (500, 10_000, 1), (80, 90_000, 1)]:
        taken.clear()
        multiply(np.zeros((n, m)), None, np.zeros((n, k)))
        assert len(taken) > 1 or m == 90_000
        assert sum(part.nbytes for workspace in taken for part in workspace) < 2**26


def count_threads_used(n_threads):
    """Return the threads that share out pieces of work."""
    seen = set()
    threads.parallel_for(lambda *_: seen.add(threading.get_ident()), 100, n_threads)
    return seen


def test_a_thread_may_keep_kernels_to_itself():
    assert apply_limit(7) == 7
    with limit_threads(3):
        assert apply_limit(7) == 3 and apply_limit(2) == 2
        with limit_threads(5):
            assert apply_limit(7) == 3
    with limit_threads(1):
        assert apply_limit(7) == 1
        assert count_threads_used(4) == {threading.get_ident()}
        elsewhere = []
        other = threading.Thread(target=lambda: elsewhere.append(apply_limit(7)))
        other.start()
        other.join()
        assert elsewhere == [7]
        with limit_threads(2):
            pass
        assert apply_limit(7) == 1
    assert apply_limit(7) == 7
