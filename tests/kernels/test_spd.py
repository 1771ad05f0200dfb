import numpy as np
import pytest
from scipy.linalg import block_diag, logm, sqrtm
from sklearn.model_selection import cross_val_score

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.exceptions import IndefiniteKernelWarning
from kreinlearn.kernels import KERNELS, Similarities, gram, spd_distances, spd_widths
from kreinlearn.kernels._compiled import spd as compiled
from kreinlearn.kernels.spd import SPD_METRICS

KERNEL_OF = {metric: KERNELS[f"spd_{metric}"] for metric in SPD_METRICS}


def wishart(n, d, dtype=np.float64, seed=0):
    """Return random covariance matrices; their condition numbers are about 100."""
    A = np.random.default_rng(seed).standard_normal((n, d, 3 * d))
    return (A @ A.transpose(0, 2, 1) / (3 * d)).astype(dtype)


def rotated(values, rng):
    """Return a matrix with these eigenvalues and random eigenvectors."""
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    S = (Q * values) @ Q.T
    return (S + S.T) / 2


# -- the definitions once more, pair by pair -------------------------------------------


def euclid(S, T):
    return np.linalg.norm(S - T) ** 2


def log_euclid(log_S, log_T):
    return euclid(log_S, log_T)


def affine_invariant(S, T):
    half = np.linalg.inv(sqrtm(S))
    return np.linalg.norm(logm(half @ T @ half)) ** 2


def stein(S, T):
    def logdet(A):
        return np.linalg.slogdet(A)[1]

    return logdet((S + T) / 2) - (logdet(S) + logdet(T)) / 2


NAIVE = {
    "euclid": euclid,
    "log_euclid": log_euclid,
    "affine_invariant": affine_invariant,
    "stein": stein,
}


def naive(metric, X, Y):
    if metric == "log_euclid":  # once for each matrix, because it is slow
        X, Y = [logm(S) for S in X], [logm(T) for T in Y]
    return np.array([[NAIVE[metric](S, T) for T in Y] for S in X])


# -- values ----------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 5, 12])
@pytest.mark.parametrize("metric", SPD_METRICS)
def test_distances_are_the_double_loop(metric, d):
    X, Y = wishart(3, d), wishart(5, d, seed=1)
    D = spd_distances(X, Y, metric=metric)
    np.testing.assert_allclose(D, naive(metric, X, Y), rtol=1e-9, atol=1e-9)
    D = spd_distances(X, metric=metric)
    np.testing.assert_allclose(D, naive(metric, X, X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", SPD_METRICS)
def test_kernels_are_gaussians_of_the_distance(metric):
    X, Y = wishart(3, 4), wishart(5, 4, seed=1)
    kernel, name = KERNEL_OF[metric], f"spd_{metric}"
    D = naive(metric, X, Y)
    for sigma in (0.3, 1.0, 7.0):
        expected = np.exp(-D / sigma**2)
        np.testing.assert_allclose(kernel(X, Y, sigma=sigma), expected, atol=1e-9)
        np.testing.assert_array_equal(
            kernel(X, Y, sigma=sigma), gram(X, Y, name, sigma=sigma)
        )
    # The default is sqrt(d) = 2.
    np.testing.assert_array_equal(kernel(X, Y), kernel(X, Y, sigma=2.0))
    np.testing.assert_array_equal(kernel(X, Y), gram(X, Y, kernel))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 17, 64, 65, 150, 600])  # bands and panels
@pytest.mark.parametrize("metric", SPD_METRICS)
def test_symmetric_case(metric, n, dtype):
    X = wishart(n, 3, dtype)
    D = spd_distances(X, metric=metric)
    assert D.dtype == dtype
    assert D.shape == (n, n)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0)
    assert D.min() >= 0
    np.testing.assert_array_equal(spd_distances(X, X, metric=metric), D)
    cross = spd_distances(X, X.copy(), metric=metric)
    np.testing.assert_allclose(cross, D, atol=1e-5 if dtype == np.float32 else 1e-12)
    K = KERNEL_OF[metric](X)
    assert K.dtype == dtype
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diag(K), 1)


@pytest.mark.parametrize("metric", SPD_METRICS)
def test_several_bands_and_threads(metric):
    X, Y = wishart(600, 4), wishart(270, 4, seed=1)
    D, cross = spd_distances(X, metric=metric), spd_distances(X, Y, metric=metric)
    rows = [0, 15, 16, 63, 64, 200, 599]
    for row in rows:  # one against all is computed without bands
        alone = spd_distances(X[row : row + 1], X, metric=metric)[0]
        np.testing.assert_allclose(D[row], alone, rtol=1e-9, atol=1e-12)
        alone = spd_distances(X[row : row + 1], Y, metric=metric)[0]
        np.testing.assert_allclose(cross[row], alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", ["affine_invariant", "stein"])
def test_large_matrices(metric):
    d = 70
    X, Y = wishart(2, d), wishart(20, d, seed=1)
    D = spd_distances(X, Y, metric=metric)
    np.testing.assert_allclose(D[:, :2], naive(metric, X, Y[:2]), rtol=1e-9)


def test_float32_is_computed_in_float64():
    X = wishart(3, 5, np.float32)
    for metric in SPD_METRICS:
        D = spd_distances(X, metric=metric)
        expected = naive(metric, X.astype(float), X.astype(float))
        np.testing.assert_allclose(D, expected, rtol=2e-6, atol=1e-6)
        mixed = spd_distances(X, X.astype(float), metric=metric)
        assert mixed.dtype == np.float64


@pytest.mark.parametrize("metric", SPD_METRICS)
def test_layout_does_not_matter_and_input_is_left_alone(metric):
    X = wishart(9, 4)
    expected = spd_distances(X, X[:3], metric=metric)
    frozen = X.copy()
    frozen.setflags(write=False)
    wide = np.zeros((18, 8, 8))
    wide[::2, ::2, ::2] = X
    for same in (frozen, wide[::2, ::2, ::2], np.asfortranarray(X), X.tolist()):
        np.testing.assert_array_equal(
            spd_distances(same, X[:3], metric=metric), expected
        )
    np.testing.assert_array_equal(X, frozen)


# -- accuracy --------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [0, 1, 10, 100])
def test_diagonal_matrices_have_known_distances(spread):
    # Eigenvalues of a pair are from all 1 to between 2^-200 and 2^200, in any order.
    p = np.random.default_rng(0).integers(-spread, spread + 1, size=(66, 6))
    X = 2.0 ** p[:, :, None] * np.eye(6)
    apart = p[:, None] - p[None]
    D = spd_distances(X)
    np.testing.assert_allclose(D, (np.log(2) * apart) ** 2 @ np.ones(6), rtol=1e-13)
    D = spd_distances(X, metric="stein")
    expected = (np.logaddexp2(apart / 2, -apart / 2) - 1).sum(axis=2) * np.log(2)
    np.testing.assert_allclose(D, expected, rtol=1e-13, atol=1e-13)


def test_ill_conditioned_matrices_keep_their_digits():
    # Inverting both matrices changes no distance; condition numbers are 1e8.
    rng = np.random.default_rng(0)
    values = np.logspace(-8, 0, 5)
    Q = np.array([rotated(values, rng) for _ in range(20)])
    # The inverse from the factors, without loss beyond what S itself has lost.
    D, inverted = spd_distances(Q), spd_distances(np.linalg.inv(Q))
    assert D.max() > 500
    np.testing.assert_allclose(inverted, D, rtol=1e-5)


def test_every_eigenvalue_is_found_in_many_random_pairs():
    rng = np.random.default_rng(0)
    for d in (2, 3, 9, 20):
        spread = rng.uniform(0, 6, size=80)
        X = np.array([rotated(np.exp(rng.uniform(-s, s, d)), rng) for s in spread])
        for S, row in zip(X[:10], spd_distances(X[:10], X), strict=True):
            values = np.linalg.eigvals(np.linalg.solve(S, X)).real
            np.testing.assert_allclose(row, (np.log(values) ** 2).sum(1), 1e-5, 1e-9)


def test_pairs_that_converge_at_different_speed_do_not_disturb_each_other():
    # Side by side in the lanes: hardly coupled, many equal eigenvalues, few of them.
    rng = np.random.default_rng(1)
    d = 40
    X = [np.eye(d)]
    for n_large in (1, d // 2):
        values = np.where(np.arange(d) < n_large, 1.0, 1e-6)
        X += [rotated(values, rng) for _ in range(8)]
    for _ in range(16):
        block = rotated(rng.choice([1.0, 2.0, 4.0], d // 2), rng)
        X += [block_diag(block, np.diag(rng.choice([1.0, 2.0, 4.0], d // 2)))]
    X = np.array(X)
    D = spd_distances(X)
    L = np.linalg.cholesky(X)
    for factor, row in zip(L, D, strict=True):
        values = np.linalg.svd(np.linalg.solve(factor, L), compute_uv=False)
        expected = (4 * np.log(values) ** 2).sum(axis=1)
        np.testing.assert_allclose(row, expected, rtol=1e-6, atol=1e-9)


def test_scales_beyond_double_precision_are_an_error():
    X = np.array([1e-300 * np.eye(2), 1e300 * wishart(1, 2)[0]])
    with pytest.raises(FloatingPointError, match=r"X\[0\] and X\[1\] .* not found"):
        spd_distances(X)


# -- invariances -----------------------------------------------------------------------


@pytest.mark.parametrize("metric", SPD_METRICS)
def test_roots_of_distances_satisfy_the_triangle_inequality(metric):
    distances = np.sqrt(spd_distances(wishart(40, 3), metric=metric))
    detours = (distances[:, :, None] + distances[None]).min(axis=1)
    assert (distances <= detours + 1e-12).all()


# -- definiteness ----------------------------------------------------------------------

SIGMAS = [0.1, 0.3, 1.0, 3.0, 10.0, 100.0]


@pytest.mark.parametrize("metric", SPD_METRICS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_regions_add_up(metric, dtype):
    X = np.stack([wishart(7, 3, dtype, seed) for seed in range(4)], axis=1)
    Y = np.stack([wishart(5, 3, dtype, 9 + seed) for seed in range(4)], axis=1)
    kernel = KERNELS[f"spd_{metric}"]
    for other in (None, Y):
        D = spd_distances(X, other, metric=metric)
        parts = [
            spd_distances(X[:, r], None if other is None else Y[:, r], metric=metric)
            for r in range(4)
        ]
        assert D.dtype == dtype
        np.testing.assert_allclose(D, sum(parts), rtol=1e-5)
        np.testing.assert_allclose(kernel(X, other, sigma=5), np.exp(-D / 25), 1e-4)
        np.testing.assert_allclose(kernel(X, other), np.exp(-D / 12), 1e-4)
    D = spd_distances(X, X, metric=metric)
    assert (D == D.T).all() and (D.diagonal() == 0).all()


def test_regions_must_agree():
    X = np.stack([wishart(4, 3), wishart(4, 3)], axis=1)
    with pytest.raises(ValueError, match=r"number of regions.*2, 3, 3.*1, 3, 3"):
        spd_distances(X, X[:, :1])
    with pytest.raises(ValueError, match=r"regions.*\(4, 2, 3, 3\) and \(4, 3, 3\)"):
        spd_distances(X, X[:, 0])
    X[2, 1] = 0
    with pytest.raises(ValueError, match=r"In region 1: .* eigenvalue of X\[2\]"):
        spd_distances(X)


def smallest(K):
    return np.linalg.eigvalsh(K)[0]


@pytest.mark.parametrize("d", [2, 3, 9])
def test_signs_of_eigenvalues_are_as_documented(d):
    X = wishart(80, d)
    assert min(smallest(KERNEL_OF["affine_invariant"](X, sigma=s)) for s in SIGMAS) < (
        -1e-6
    )
    for metric in ("euclid", "log_euclid"):
        for sigma in SIGMAS:
            # Rounding of a matrix of norm up to 80 leaves some 1e-14.
            assert smallest(KERNEL_OF[metric](X, sigma=sigma)) > -1e-13


@pytest.mark.parametrize(
    ("d", "beta", "is_definite"),
    [
        (2, 0.25, False),
        (2, 0.45, False),
        (2, 0.5, True),
        (2, 0.7, True),
        (3, 0.25, False),
        (3, 0.5, True),
        (3, 0.6, False),
        (3, 0.75, False),
        (3, 1.0, True),
        (3, 1.3, True),
    ],
)
def test_stein_is_definite_where_theory_has_it(d, beta, is_definite):
    # Around the identity, in the coordinates Z = (I - S) / (I + S) in which the kernel
    # is a power series whose coefficients show the sign.
    rng = np.random.default_rng(0)
    z = rng.uniform(-0.7, 0.7, size=(300, d))
    X = np.array([rotated((1 - row) / (1 + row), rng) for row in z])
    mu_min = smallest(KERNEL_OF["stein"](X, sigma=beta**-0.5))
    assert mu_min > -1e-12 if is_definite else mu_min < -1e-5


# -- mistakes --------------------------------------------------------------------------


@pytest.mark.parametrize("metric", SPD_METRICS)
def test_not_positive_definite(metric):
    X = wishart(6, 3)
    X[4] = np.diag([2.0, -0.25, 1.0])
    message = (
        r"'X' must hold positive definite matrices, but the smallest eigenvalue of "
        r"X\[4\] is -0\.25 \(the largest is 2\)\. Give 'ridge'"
    )
    with pytest.raises(ValueError, match=message):
        KERNEL_OF[metric](X)
    with pytest.raises(ValueError, match=r"eigenvalue of Y\[4\] is -0\.25 "):
        KERNEL_OF[metric](wishart(2, 3), X)


@pytest.mark.parametrize("metric", SPD_METRICS)
def test_singular_up_to_rounding(metric):
    A = np.random.default_rng(0).standard_normal((30, 5, 4))
    X = A @ A.transpose(0, 2, 1)  # rank 4, with smallest eigenvalues of any sign
    with pytest.raises(ValueError, match=r"smallest eigenvalue of X\[0\] is -?\d"):
        spd_distances(X, metric=metric)
    D = spd_distances(X, metric=metric, ridge=1e-3)
    means = np.trace(X, axis1=1, axis2=2) / 5
    expected = spd_distances(X + 1e-3 * means[:, None, None] * np.eye(5), metric=metric)
    np.testing.assert_allclose(D, expected, rtol=1e-9)
    assert (KERNEL_OF[metric](X, ridge=1e-3) <= 1).all()


@pytest.mark.parametrize("metric", SPD_METRICS)
def test_a_matrix_of_zeros(metric):
    with pytest.raises(ValueError, match=r"eigenvalue of X\[0\] is 0 \(the largest is"):
        spd_distances(np.zeros((2, 3, 3)), metric=metric, ridge=0.1)


def test_graded_matrices_are_definite_for_the_scale_of_each_variable():
    scales = np.array([1e-12, 1.0, 1e-6])
    R = np.array([[1, 0.9, 0.5], [0.9, 1, 0.8], [0.5, 0.8, 1]])
    X = np.array([np.eye(3), R])
    graded = scales[:, None] * X * scales
    np.testing.assert_allclose(spd_distances(graded), spd_distances(X), rtol=1e-9)


def test_log_euclid_needs_eigenvalues_above_zero(monkeypatch):
    # A factor exists, but the smallest eigenvalue is lost in the rounding of others.
    X, eigh = wishart(3, 2), np.linalg.eigh

    def rounded(stack):
        values, vectors = eigh(stack)
        values[2, 0] = -1e-25
        return values, vectors

    monkeypatch.setattr(np.linalg, "eigh", rounded)
    with pytest.raises(ValueError, match=r"smallest eigenvalue of X\[2\] is 0\."):
        spd_distances(X, metric="log_euclid")


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e-10), (np.float32, 1e-6)])
def test_asymmetry_from_rounding_is_averaged_away(dtype, size):
    X = wishart(5, 3, dtype)
    skewed = X.copy()
    skewed[2, 0, 1] += size
    expected = (skewed + skewed.transpose(0, 2, 1)) / 2
    for metric in SPD_METRICS:
        np.testing.assert_allclose(
            spd_distances(skewed, metric=metric),
            spd_distances(expected, metric=metric),
            atol=1e-6 if dtype == np.float32 else 1e-13,
        )


def test_larger_asymmetry_is_an_error():
    X = np.tile(np.eye(3), (4, 1, 1))
    X[3, 0, 2] = 0.25
    message = (
        r"'X' must hold symmetric matrices, but entries of X\[3\] and its transpose "
        r"differ by up to 0\.25 \(2\.5e-01 of the largest entry; at most 1e-08 is"
    )
    with pytest.raises(ValueError, match=message):
        spd_distances(X)
    with pytest.raises(ValueError, match=r"entries of Y\[3\] .* at most 1e-04 is"):
        spd_distances(np.eye(3)[None], X.astype(np.float32))


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        (np.eye(3), ValueError, r"'X' .* got shape \(3, 3\)\. A single .* X\[None\]"),
        (np.ones((2, 3)), ValueError, r"of shape \(n, d, d\), .* shape \(2, 3\)\.$"),
        (np.ones((2, 3, 4)), ValueError, r"square matrices, .* shape \(2, 3, 4\)\.$"),
        (np.ones((2, 4, 3, 3)), ValueError, r"In region 0: 'X' must hold positive"),
        (
            np.ones((2, 0, 3, 3)),
            ValueError,
            r"regions, at least .* \(2, 0, 3, 3\)",
        ),
        (np.ones((1, 2, 1, 3, 3)), ValueError, r"\(n, r, d, d\), got .* 2, 1, 3, 3\)"),
        (np.ones((0, 3, 3)), ValueError, r"got shape \(0, 3, 3\)\.$"),
        (np.ones((3, 0, 0)), ValueError, r"got shape \(3, 0, 0\)\.$"),
        ([np.eye(2), np.eye(3)], ValueError, r"'X' must hold matrices of one size"),
        (np.ones((1, 2, 2), complex), TypeError, r"real numbers, .* dtype complex128"),
        ([[["a"]]], TypeError, r"'X' must hold real numbers, got .* dtype <U1"),
        (np.array([[["a"]]], object), TypeError, r"'X' must hold real numbers: could"),
    ],
)
def test_bad_stacks(X, error, match):
    with pytest.raises(error, match=match):
        spd_distances(X)


def test_sizes_that_differ():
    message = r"of the same size, got shapes \(5, 3, 3\) and \(4, 2, 2\)\."
    with pytest.raises(ValueError, match=message):
        spd_distances(wishart(5, 3), wishart(4, 2))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite(value):
    X = wishart(5, 3)
    X[3, 1, 2] = value
    message = rf"'Y' must hold finite numbers, got {value} in Y\[3\], row 1, column 2"
    with pytest.raises(ValueError, match=message):
        spd_distances(wishart(2, 3), X)


def test_bad_parameters():
    X = wishart(2, 2)
    with pytest.raises(ValueError, match=r"'metric' must be one of .*, got 'riemann'"):
        spd_distances(X, metric="riemann")
    with pytest.raises(ValueError, match=r"'ridge' .* 0 or above, got -1\."):
        spd_distances(X, ridge=-1)
    with pytest.raises(TypeError, match=r"'ridge' must be a number, .* got 'small'"):
        spd_distances(X, ridge="small")
    for sigma in (0, -1.0, np.inf):
        with pytest.raises(ValueError, match=r"'sigma' must be a positive number, got"):
            KERNEL_OF["stein"](X, sigma=sigma)
    with pytest.raises(TypeError, match=r"takes 'sigma', 'ridge', got 'tau'"):
        gram(X, kernel="spd_stein", tau=1)


def test_extreme_widths_give_no_warning():
    X = wishart(3, 2)
    np.testing.assert_array_equal(KERNEL_OF["stein"](X, sigma=1e-200), np.eye(3))
    np.testing.assert_array_equal(KERNEL_OF["stein"](X, sigma=1e200), np.ones((3, 3)))


# -- the compiled parts ----------------------------------------------------------------


def test_a_shift_that_is_too_large_is_taken_back(monkeypatch):
    # Beyond the lower bound by a tenth, the plain Python code must reject and recover.
    squares = np.array([[3.0, 1.0], [1.0, 2.0], [0.5, 4.0]])
    links = np.array([[0.7, 0.1], [0.2, 1.0], [0.0, 0.0]])
    B = np.zeros((2, 3, 3))
    B[:, range(3), range(3)] = np.sqrt(squares.T)
    B[:, range(2), range(1, 3)] = np.sqrt(links.T[:, :2])
    expected = np.linalg.svd(B, compute_uv=False) ** 2
    for name in ("_bound", "_shift", "_largest"):
        plain = getattr(compiled, name).py_func
        monkeypatch.setattr(compiled, name, plain)
    monkeypatch.setattr(compiled, "SHIFT_FACTOR", 1.1)
    values, new = np.empty((3, 2)), (np.empty((3, 2)), np.empty((3, 2)))
    found = compiled._find_eigenvalues.py_func(
        squares, links, *new, values, np.empty((9, 2))
    )
    assert found
    np.testing.assert_allclose(np.sort(values.T)[:, ::-1], expected, rtol=1e-12)


# -- estimators ------------------------------------------------------------------------


def two_classes(n, seed=0):
    """Return covariances of Gaussian samples from two laws, and labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    A = rng.standard_normal((n, 4, 40)) * np.array([[1, 2, 1, 1], [1, 1, 2, 1]])[
        y
    ].reshape(n, 4, 1)
    mixing = rng.standard_normal((4, 4))
    A = mixing @ A
    return A @ A.transpose(0, 2, 1) / 40, y


@pytest.mark.parametrize("metric", SPD_METRICS)
def test_logistic_regression_takes_stacks(metric):
    X, y = two_classes(120)
    sigma = float(np.sqrt(np.median(spd_distances(X, metric=metric))))
    model = KreinLogisticRegression(
        kernel=f"spd_{metric}", kernel_params={"sigma": sigma}
    )
    model.fit(X[:80], y[:80])
    assert model.status_ == "converged"
    assert model.score(X[80:], y[80:]) > 0.9
    scores = cross_val_score(model, X, y, cv=3)
    assert scores.min() > 0.9
    # The same from precomputed matrices.
    K = gram(X, kernel=f"spd_{metric}", sigma=sigma)
    twin = KreinLogisticRegression(kernel="precomputed").fit(K[:80, :80], y[:80])
    np.testing.assert_allclose(
        twin.predict_proba(K[80:, :80]), model.predict_proba(X[80:]), atol=1e-7
    )


@pytest.mark.parametrize(
    "kernel", ["spd_affine_invariant", ("spd_affine_invariant", "spd_log_euclid")]
)
@pytest.mark.parametrize("regions", [None, 2])
def test_cross_validation_takes_stacks(kernel, regions):
    X, y = two_classes(90)
    if regions:
        X = np.stack([X, two_classes(90, seed=1)[0]], axis=1)
    model = KreinLogisticRegressionCV(kernel=kernel, cv=3, lams=[1e-2, 1e-3])
    model.fit(X[:60], y[:60])
    n_kernels = 1 if isinstance(kernel, str) else 2
    assert len(model.kernel_settings_) == 5 * n_kernels
    assert model.predict_proba(X[60:]).shape == (30, 2)
    assert model.score(X[60:], y[60:]) > 0.85


def test_default_grid_is_wide_and_knows_the_ridge():
    X = wishart(300, 3)
    some = X[np.linspace(0, 299, 200).astype(int)]
    D = spd_distances(some, metric="stein")
    middle = np.sqrt(np.median(D[np.triu_indices(200, 1)]))
    widths = Similarities(X).grid("spd_stein", {})["sigma"]
    np.testing.assert_allclose(widths, middle * np.array([1, 2, 4, 8, 16]))
    ridged = Similarities(X).grid("spd_stein", {"ridge": 1.0})["sigma"]
    assert ridged[0] < widths[0]
    assert spd_widths(np.zeros((4, 4)))[0] == 1.0


@pytest.mark.parametrize(("sigma", "words"), [(1e-3, "below"), (1e4, "above")])
def test_uninformative_widths_are_remarked_on(sigma, words):
    X, y = two_classes(30)
    model = KreinLogisticRegression("spd_stein", kernel_params={"sigma": sigma})
    with pytest.warns(IndefiniteKernelWarning, match=f"far {words}.*Set sigma") as told:
        model.fit(X, y)
    assert "MinMaxScaler" not in str(told[0].message)


def test_a_search_tries_any_width_without_a_word():
    X, y = two_classes(40)
    model = KreinLogisticRegressionCV(
        kernel="spd_stein", kernel_grid={"sigma": [0.5, 1e4]}, cv=3, average=False
    )
    assert model.fit(X, y).kernel_params_ == {"sigma": 0.5}  # warnings are errors


def test_pyriemann_computes_the_same_distances():
    distance = pytest.importorskip("pyriemann.geometry.distance")
    X = wishart(10, 6)
    for ours, theirs in [
        ("euclid", "euclid"),
        ("log_euclid", "logeuclid"),
        ("affine_invariant", "riemann"),
    ]:
        expected = distance.pairwise_distance(X, metric=theirs, squared=True)
        np.testing.assert_allclose(
            spd_distances(X, metric=ours), expected, rtol=1e-9, atol=1e-11
        )
