"""Wasserstein distances: POT, SciPy, naive twins, and what is refused."""

import builtins
import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance

from kreinlearn.kernels import transport as module
from kreinlearn.kernels.transport import (
    check_clouds,
    check_histograms,
    histogram_wasserstein,
    sliced_wasserstein,
    wasserstein,
)


def random_clouds(n, d, seed=0, most=25, weighted=True):
    """Return clouds of different sizes: single points, copies, weights of zero."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n - 4):
        points = rng.standard_normal((rng.integers(1, most), d))
        if i % 3 == 0:
            points = np.round(points)  # ties
        weights = rng.uniform(size=len(points)) * (rng.uniform(size=len(points)) < 0.8)
        weights[0] += 0.1
        found.append((points, weights) if weighted and i % 2 else points)
    return [*found, np.zeros((1, d)), np.ones((5, d)), np.ones((3, d)), found[0]]


def transport_naive(own, other, p):
    """Return the distance from its definition, a linear program."""
    (x, a), (y, b) = own, other
    n, m = len(x), len(y)
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    cost = (cdist(x, y) ** p).ravel()
    # One equation follows from the others, and is left out for rounding.
    A, masses = np.vstack([rows, columns[1:]]), np.concatenate([a, b[1:]])
    return max(linprog(cost, A_eq=A, b_eq=masses).fun, 0) ** (1 / p)


def line_naive(own, other, p):
    """Return the distance on a line: the gap at each height of the distributions."""
    (_x, _a), (_y, _b) = own, other
    heights = []
    for values, weights in (own, other):
        order = np.argsort(values[:, 0])
        heights.append((values[order, 0], np.cumsum(weights[order])))
    cuts = np.unique(np.concatenate([[0.0], heights[0][1], heights[1][1]]))
    total = 0.0
    for low, high in itertools.pairwise(cuts):
        ends = []
        for values, upto in heights:
            place = min(np.searchsorted(upto, (low + high) / 2), len(values) - 1)
            ends.append(values[place])
        total += (high - low) * abs(ends[0] - ends[1]) ** p
    return total ** (1 / p)


def pairs(function, X, Y):
    return np.array([[function(x, y) for y in Y] for x in X])


# -- clouds ----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1.0, 2.0, 3.5])
def test_lines_are_their_naive_twin(p):
    X = check_clouds(random_clouds(35, 1, seed=1))
    Y = check_clouds(random_clouds(40, 1, seed=2))
    expected = pairs(lambda x, y: line_naive(x, y, p), X, Y)
    # Slivers of height by rounding, 1e-16, to the power of 1 / p.
    assert np.abs(wasserstein(X, Y, p=p) ** p - expected**p).max() < 1e-12


def test_lines_are_what_scipy_computes():
    X = check_clouds(random_clouds(40, 1))

    def theirs(x, y):
        return wasserstein_distance(x[0][:, 0], y[0][:, 0], x[1], y[1])

    D = wasserstein(X)
    assert D.size >= 1000 and np.abs(D - pairs(theirs, X, X)).max() < 1e-13
    assert np.array_equal(D, D.T) and not D.diagonal().any()
    assert D[0, -1] == 0 and D[-2, -3] < 1e-15  # a copy; the same point three times


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_clouds_are_what_pot_computes(p):
    ot = pytest.importorskip("ot", reason="needs POT: pip install '.[transport]'")
    X = check_clouds(random_clouds(36, 3))

    def theirs(x, y):
        return ot.emd2(x[1], y[1], cdist(x[0], y[0]) ** p) ** (1 / p)

    D = wasserstein(X, p=p)
    assert D.size >= 1000 and np.abs(D**p - pairs(theirs, X, X) ** p).max() < 1e-12
    assert np.array_equal(D, D.T) and not D.diagonal().any() and D[0, -1] == 0


def test_clouds_are_their_naive_twin():
    pytest.importorskip("ot", reason="needs POT: pip install '.[transport]'")
    X = check_clouds(random_clouds(10, 2, seed=1, most=8))
    Y = check_clouds(random_clouds(12, 2, seed=2, most=8))
    for p in (1.0, 2.0):
        expected = pairs(lambda x, y, p=p: transport_naive(x, y, p), X, Y)
        assert wasserstein(X, Y, p=p) == pytest.approx(expected, abs=1e-6)


# -- slices ----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_slices_are_their_naive_twin(p):
    X = check_clouds(random_clouds(12, 3, seed=1))
    Y = check_clouds(random_clouds(15, 3, seed=2))
    directions = np.random.default_rng(7).standard_normal((9, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)

    def naive(x, y):
        costs = [
            line_naive(((x[0] @ u)[:, None], x[1]), ((y[0] @ u)[:, None], y[1]), p) ** p
            for u in directions
        ]
        return np.mean(costs)

    S = sliced_wasserstein(X, Y, p=p, n_projections=9, seed=7)
    assert np.abs(S**p - pairs(naive, X, Y)).max() < 1e-12


def test_slices_are_what_pot_computes():
    ot = pytest.importorskip("ot", reason="needs POT: pip install '.[transport]'")
    X = check_clouds(random_clouds(36, 3, weighted=False))
    directions = np.random.default_rng(0).standard_normal((50, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)

    def theirs(x, y):
        given = {"projections": directions.T, "p": 2}
        return ot.sliced_wasserstein_distance(x[0], y[0], **given)

    S = sliced_wasserstein(X, p=2)
    assert S.size >= 1000 and np.abs(S**2 - pairs(theirs, X, X) ** 2).max() < 1e-12


def test_slices_are_definite_and_below_the_distance():
    pytest.importorskip("ot", reason="needs POT: pip install '.[transport]'")
    X = check_clouds(random_clouds(40, 2))
    S = sliced_wasserstein(X)
    assert np.array_equal(S, S.T) and not S.diagonal().any()
    assert (S <= wasserstein(X) + 1e-12).all()
    assert np.linalg.eigvalsh(np.exp(-S))[0] > -1e-10
    assert np.array_equal(S, sliced_wasserstein(X))
    assert not np.array_equal(S, sliced_wasserstein(X, seed=1))


# -- histograms ------------------------------------------------------------------------


def random_histograms(n, m, seed=0):
    rng = np.random.default_rng(seed)
    H = rng.integers(0, 9, size=(n, m)) * (rng.uniform(size=(n, m)) < 0.6)
    H[:, 0] += 1
    H[-1] = H[0]
    H[-2] = 0
    H[-2, -1] = 4
    return H


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_histograms_on_a_line(p):
    H, G = random_histograms(35, 12, 1), random_histograms(30, 12, 2)
    support = np.random.default_rng(0).standard_normal(12)

    def naive(x, y):
        own, other = ((support[:, None], each / each.sum()) for each in (x, y))
        return line_naive(own, other, p)

    D = histogram_wasserstein(H, G, support=support, p=p)
    assert D.size >= 1000 and np.abs(D**p - pairs(naive, H, G) ** p).max() < 1e-12
    D = histogram_wasserstein(H, p=p)
    clouds = [(np.arange(12.0)[:, None], each) for each in H]
    assert np.abs(D**p - wasserstein(clouds, p=p) ** p).max() < 1e-12
    assert np.array_equal(D, D.T) and not D.diagonal().any() and D[0, -1] == 0


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_histograms_in_the_plane(p):
    ot = pytest.importorskip("ot", reason="needs POT: pip install '.[transport]'")
    H, support = random_histograms(36, 9), np.argwhere(np.ones((3, 3)))
    M = cdist(support, support) ** p

    def theirs(x, y):
        return ot.emd2(x / x.sum(), y / y.sum(), M) ** (1 / p)

    D = histogram_wasserstein(H, support=support, p=p)
    assert D.size >= 1000 and np.abs(D**p - pairs(theirs, H, H) ** p).max() < 1e-12
    assert np.array_equal(D, D.T) and not D.diagonal().any()


def test_one_bin_has_no_distances():
    assert not histogram_wasserstein([[1.0], [2.0]]).any()
    assert not histogram_wasserstein([[1.0], [2.0]], support=[[1.0, 2.0]]).any()


# -- all -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "d"),
    [
        (wasserstein, 1),
        (wasserstein, 2),
        (sliced_wasserstein, 2),
        (histogram_wasserstein, 0),
    ],
)
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_bits_do_not_depend_on_blocks_or_threads(function, d, p, monkeypatch):
    if d == 2:
        pytest.importorskip("ot", reason="needs POT: pip install '.[transport]'")
    X = random_clouds(40, d) if d else list(random_histograms(40, 10))
    D = function(X, p=p)
    parts = [function(X[i : i + 7], X, p=p) for i in range(0, 40, 7)]
    assert np.array_equal(np.vstack(parts), D)
    assert np.array_equal(function(X, X, p=p), D)
    monkeypatch.setattr(module, "STEPS_PER_THREAD", 1)
    monkeypatch.setattr(module, "POINTS_AT_ONCE", 3000)
    assert np.array_equal(function(X, p=p), D)
    checked = check_clouds(X) if d else check_histograms(X)
    assert np.array_equal(function(checked, p=p), D)


def test_checked_clouds_can_be_saved_without_trust():
    import skops.io

    clouds, histograms = random_clouds(9, 2), random_histograms(9, 4)
    for checked in (check_clouds(clouds), check_histograms(histograms)):
        saved = skops.io.dumps(checked)
        assert skops.io.get_untrusted_types(data=saved) == []
        assert all(map(np.array_equal, checked[0], skops.io.loads(saved)[0]))


def test_a_missing_library_is_named(monkeypatch):
    found = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "ot":
            raise ImportError(name)
        return found(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "kreinlearn\[transport\]"'):
        wasserstein(random_clouds(5, 2))
    assert wasserstein(random_clouds(5, 1)).shape == (5, 5)
    assert sliced_wasserstein(random_clouds(5, 2)).shape == (5, 5)


def test_a_solver_that_gives_up_is_an_error(monkeypatch):
    pytest.importorskip("ot", reason="needs POT: pip install '.[transport]'")
    monkeypatch.setitem(module.POT_OPTIONS, "numItermax", 1)
    clouds = random_clouds(8, 2, weighted=False)
    with (
        pytest.raises(ArithmeticError, match="POT found no transport between sample 0"),
        pytest.warns(UserWarning),
    ):
        wasserstein(clouds[:1], clouds[1:2] * 2)


SQUARE = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([], "At least one cloud"),
        ("clouds", "A list of clouds was expected"),
        (3, "A list of clouds was expected"),
        ([SQUARE, np.zeros((0, 2))], r"Cloud 1 must be a matrix .* got shape \(0, 2\)"),
        ([[1.0, 2.0]], r"Cloud 0 must be a matrix .* x\[:, None\]"),
        (SQUARE, "Cloud 0 must be a matrix .* histogram_wasserstein"),
        ([((0.0, 1.0), (1.0, 1.0))], "Cloud 0 must be a matrix"),
        ([SQUARE, SQUARE + np.nan], "Cloud 1 must hold finite numbers, .* in row 0"),
        ([["a"]], "Cloud 0 must be a matrix of numbers"),
        ([SQUARE, np.zeros((2, 3))], "cloud 0 has 2, and cloud 1 has 3"),
        ([(SQUARE, [1.0])], "Cloud 0 has 2 points, but 1 weights"),
        ([(SQUARE, [1.0, -1.0])], "Cloud 0: weights must be finite and not negative"),
        ([(SQUARE, [0.0, 0.0])], "Cloud 0: at least one weight must be above 0"),
        ([(SQUARE, [1.0, 1.0], 2)], r"Cloud 0: a tuple must be \(points, weights\)"),
    ],
)
@pytest.mark.parametrize("function", [wasserstein, sliced_wasserstein])
def test_clouds_that_are_refused(function, X, words):
    with pytest.raises((ValueError, TypeError), match=words):
        function(X)


@pytest.mark.parametrize(
    ("X", "given", "words"),
    [
        ([], {}, "one histogram per row"),
        ([1.0, 2.0], {}, "one histogram per row"),
        ([[1.0, 2.0], [1.0]], {}, "histogram 0 has 2 of them, and histogram 1 has 1"),
        ([[1.0, 2.0], [0.0, 0.0]], {}, "Histogram 1: at least one weight"),
        ([[1.0, np.nan]], {}, "Histogram 0: weights must be finite"),
        ([[1.0, 2.0]], {"support": [1.0]}, "'support' must hold .* 2 bins"),
        ([[1.0, 2.0]], {"support": [1.0, np.inf]}, "'support' must hold"),
        ([[1.0, 2.0]], {"p": 0.5}, "'p' must be a number, 1 or more"),
        ([[1.0, 2.0]], {"Y": [[1.0]]}, "same bins, got 2 and 1"),
    ],
)
def test_histograms_that_are_refused(X, given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        histogram_wasserstein(X, **given)


def test_bad_parameters():
    with pytest.raises(ValueError, match="'n_projections' must be"):
        sliced_wasserstein([SQUARE], n_projections=0)
    with pytest.raises(ValueError, match="points of the same dimension, got 2 and 1"):
        sliced_wasserstein([SQUARE], [np.zeros((2, 1))])
    for p in (0.0, np.inf, np.nan, "1"):
        with pytest.raises(ValueError, match="'p' must be a number, 1 or more"):
            wasserstein([SQUARE], p=p)
