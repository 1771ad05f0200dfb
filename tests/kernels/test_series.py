"""Elastic distances: against plain Python, aeon and tslearn, and in all containers."""

import math
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from kreinlearn import kernels
from kreinlearn.kernels import check_series
from kreinlearn.kernels.series import SERIES_MEASURES
from tests.kernels import naive_series
from tests.kernels.test_plain import assert_same_without_compiler
from tests.memory import peak

SETTINGS = [
    ("dtw", {}),
    ("dtw", {"window": 0.0}),
    ("dtw", {"window": 0.1}),
    ("dtw", {"window": 0.5}),
    ("dtw", {"window": 1.0}),
    ("wdtw", {"g": 0.05}),
    ("wdtw", {"g": 1.0}),
    ("adtw", {"penalty": 0.0}),
    ("adtw", {"penalty": 0.4}),
    ("adtw", {"penalty": 0.4, "window": 0.2}),
    ("erp", {"g": 0.0}),
    ("erp", {"g": -0.7}),
    ("erp", {"g": 0.3, "window": 0.2}),
    ("lcss", {"epsilon": 0.3}),
    ("lcss", {"epsilon": 1.0}),
    ("lcss", {"epsilon": 0.3, "window": 0.2}),
    ("msm", {"c": 1.0}),
    ("msm", {"c": 0.1}),
    ("twe", {"nu": 0.001, "lmbda": 1.0}),
    ("twe", {"nu": 0.2, "lmbda": 0.1}),
]
IDS = [f"{name}-{'-'.join(map(str, params.values()))}" for name, params in SETTINGS]
CHANNELS = pytest.mark.parametrize("channels", [1, 3])


def ragged(channels=1, n=46, seed=0):
    """Return series of many lengths: single values, equal ones, constants, ties."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 21, size=n)
    lengths[:2] = 1
    samples = [rng.standard_normal((channels, m)) for m in lengths]
    samples[3] = samples[4].copy()
    samples[5] = np.full((channels, 7), 0.5)
    samples[6] = np.zeros((channels, 12))
    samples[7] = rng.integers(-1, 2, size=(channels, 15)).astype(float)
    samples[8] = rng.integers(-1, 2, size=(channels, 15)).astype(float)
    return [tuple(x) for x in samples]


def equal(channels=1, n=46, length=19):
    """Return series of one length, as aeon has them."""
    return np.random.default_rng(2).standard_normal((n, channels, length))


def times(series):
    """Return a series as a list of times, each a list of channels."""
    return np.array(series).T.tolist()


@CHANNELS
@pytest.mark.parametrize(("name", "params"), SETTINGS, ids=IDS)
def test_the_definition(name, params, channels):
    X = ragged(channels)
    D = getattr(kernels, name)(X, **params)
    naive = getattr(naive_series, name)
    lists = [times(x) for x in X]
    expected = [[naive(x, y, **params) for y in lists] for x in lists]
    assert D.shape == (46, 46)  # 1,081 pairs and the diagonal
    np.testing.assert_allclose(D, expected, rtol=1e-12, atol=1e-12)


@CHANNELS
@pytest.mark.parametrize("name", [measure.name for measure in SERIES_MEASURES])
def test_derivatives_are_distances_between_slopes(name, channels):
    X = [x for x in ragged(channels) if len(x[0]) > 2]
    steep = [np.array(naive_series.slopes(times(x))).T for x in X]
    function = getattr(kernels, name)
    found = function(X, derivative=True)
    np.testing.assert_allclose(found, function([tuple(x) for x in steep]), rtol=1e-12)
    assert not np.allclose(found, function(X))
    with pytest.raises(ValueError, match=r"three values, got 2 in Y\[0\]"):
        function(
            X,
            [X[0][0][:2]] if channels == 1 else [tuple(z[:2] for z in X[0])],
            derivative=True,
        )


@CHANNELS
@pytest.mark.parametrize(("name", "params"), SETTINGS, ids=IDS)
def test_symmetric_and_the_same_bits_in_blocks(name, params, channels):
    function, X = getattr(kernels, name), ragged(channels)
    D = function(X, **params)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(D.diagonal(), 0.0)
    np.testing.assert_array_equal(D, function(X, **params))
    np.testing.assert_array_equal(D, function(X, X, **params))
    np.testing.assert_array_equal(D, function(X, list(X), **params))
    np.testing.assert_array_equal(D[5:8], function(X[5:8], X, **params))
    np.testing.assert_array_equal(D[:, 5:8], function(X, X[5:8], **params))
    np.testing.assert_array_equal(D[2:3, 9:10], function(X[2:3], X[9:10], **params))
    assert D.dtype == np.float64 and D.flags.c_contiguous


@pytest.mark.parametrize("n_threads", [1, 3, 64])
def test_threads_change_nothing(n_threads, monkeypatch):
    X = equal(n=70)
    D = kernels.dtw(X)
    monkeypatch.setattr("kreinlearn.kernels.series.SERIAL_CELLS", 0)
    monkeypatch.setattr("kreinlearn.kernels.threads.max_threads", lambda: n_threads)
    np.testing.assert_array_equal(kernels.dtw(X), D)
    np.testing.assert_array_equal(kernels.dtw(X[:20], X), D[:20])


# -- other libraries -------------------------------------------------------------------


@pytest.fixture(scope="module")
def aeon():
    return pytest.importorskip("aeon.distances", reason="needs aeon: pip install aeon")


def theirs(aeon, name, X, **params):
    """Return aeon's distances; roots of those that it gives as squares."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba's, about their loops
        if "penalty" in params:
            params["warp_penalty"] = params.pop("penalty")
        D = getattr(aeon, f"{name}_pairwise_distance")(X, **params)
    return np.sqrt(D) if name in ("dtw", "wdtw", "adtw") else D


# What they define in another way has tests of its own.
SHARED = [
    (name, params)
    for name, params in SETTINGS
    if name != "erp" and not (name == "lcss" and "window" in params)
]


@CHANNELS
@pytest.mark.parametrize(("name", "params"), SHARED)
def test_aeon(aeon, name, params, channels):
    for X in (ragged(channels), equal(channels)):
        ours = getattr(kernels, name)(X, **params)
        D = theirs(aeon, name, [np.array(x) for x in X], **params)
        known = np.ones(D.shape, bool)
        if "window" in params:
            known = is_exact(X)
            assert known.mean() > 0.3
        np.testing.assert_allclose(ours[known], D[known], rtol=1e-9, atol=1e-9)


def is_exact(X):
    """Tell for which pairs no cell of the diagonal is a matter of rounding in aeon."""
    lengths = [np.array(x).shape[1] for x in X]
    return np.array(
        [
            [n == m or math.gcd(min(n, m), max(n, m) + 1) == 1 for m in lengths]
            for n in lengths
        ]
    )


@CHANNELS
def test_aeon_erp_where_it_cannot_start_with_a_gap(aeon, channels):
    """A far value in front is matched with its like; from there on all is the same."""
    X = ragged(channels)
    far = np.full((channels, 1), 1e4)
    ahead = [np.hstack([far, x]) for x in X]
    for g in (0.0, 0.4):
        D = theirs(aeon, "erp", ahead, g=g)
        np.testing.assert_allclose(kernels.erp(X, g=g), D, rtol=1e-9, atol=1e-8)


def test_aeon_lcss_in_a_window(aeon):
    """They drop what was found on leaving the window; never is more found there."""
    X = equal()
    for window in (0.1, 0.3):
        ours = kernels.lcss(X, epsilon=0.3, window=window)
        D = theirs(aeon, "lcss", X, epsilon=0.3, window=window)
        assert (ours <= D + 1e-12).all()
        assert np.isclose(ours, D).mean() > 0.99
    X = [np.array(x) for x in ragged()]
    ours = kernels.lcss(X, epsilon=0.3, window=0.3)[is_exact(X)]
    assert (ours <= theirs(aeon, "lcss", X, epsilon=0.3, window=0.3)[is_exact(X)]).all()


@pytest.mark.slow  # they are compiled again in each process
@CHANNELS
def test_tslearn(channels):
    """The root, as ours; a window in samples, and padding with NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metrics = pytest.importorskip(
            "tslearn.metrics", reason="needs tslearn: pip install tslearn"
        )
        utils = pytest.importorskip("tslearn.utils")
        X = utils.to_time_series_dataset([np.array(x).T for x in ragged(channels)])
        assert np.isnan(X).any() and X.shape == (46, 20, channels)
        np.testing.assert_allclose(kernels.dtw(X), metrics.cdist_dtw(X), atol=1e-12)
        X = equal(channels)
        series = X.transpose(0, 2, 1).copy()
        band = {"global_constraint": "sakoe_chiba", "sakoe_chiba_radius": 3}
        D = metrics.cdist_dtw(series, **band)
        np.testing.assert_allclose(kernels.dtw(X, window=0.16), D, atol=1e-12)


# -- what distances promise ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params"),
    [("erp", {}), ("msm", {"c": 0.3}), ("twe", {"nu": 0.1, "lmbda": 0.2})],
)
def test_metrics_keep_the_triangle_inequality(name, params):
    D = getattr(kernels, name)(ragged(), **params)
    detours = (D[:, :, None] + D[None, :, :]).min(axis=1)
    assert (D <= detours + 1e-9).all()


MEMORY = """
import numpy as np
from tests.memory import peak
from kreinlearn.kernels import dtw, twe

short, long = np.zeros((2, 10)), np.zeros((2, 6000))
dtw(short), twe(short)
before = peak()
dtw(long), twe(long)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(peak() is None, reason="the system does not report the peak")
def test_no_table_of_a_pair_is_stored():
    """Of two series of length 6,000 it would have 288 MB."""
    call = [sys.executable, "-c", MEMORY]
    said = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    assert int(said) < 5e7


def compute_results():
    """Return a small matrix of each measure, for one channel and for two."""
    return {
        f"{name} {params} {channels}": getattr(kernels, name)(
            ragged(channels, n=18)[3:9], **params
        )
        for name, params in SETTINGS
        for channels in (1, 2)
    }


@pytest.mark.slow
def test_plain_loops_give_the_same(tmp_path):
    assert_same_without_compiler(__name__, tmp_path, lambda key: 1e-12)


# -- containers ------------------------------------------------------------------------


def same(samples, expected):
    assert isinstance(samples, list) and len(samples) == len(expected)
    for found, wanted in zip(samples, expected, strict=True):
        assert type(found) is type(wanted)
        for one, other in zip(np.atleast_2d(found), np.atleast_2d(wanted), strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == np.float64


ONE = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])]
TWO = [
    (np.array([1.0, 2.0, 3.0]), np.array([6.0, 5.0, 4.0])),
    (np.array([4.0, 5.0]), np.array([7.0, 8.0])),
]
NAN = np.nan


def objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


@pytest.mark.parametrize(
    "X",
    [
        ONE,
        tuple(ONE),
        objects(ONE),
        [[1, 2, 3], [4, 5]],
        [(1, 2, 3), (4, 5)],
        [np.array([1, 2, 3], np.int8), pd.Series([4.0, 5.0], index=[7, 9])],
        [x[None, :] for x in ONE],
        [x[:, None] for x in ONE],
        np.array([[1.0, 2, 3], [4, 5, NAN]]),
        np.array([[1.0, 2, 3], [4, 5, NAN]], np.float32),
        pd.DataFrame([[1.0, 2, 3], [4, 5, None]]),
        np.array([[[1.0, 2, 3]], [[4, 5, NAN]]]),
        np.array([[[1.0], [2], [3]], [[4], [5], [NAN]]]),
    ],
    ids=lambda X: type(X).__name__,
)
def test_containers_of_one_channel(X):
    same(check_series(X), ONE)


@pytest.mark.parametrize(
    "X",
    [
        TWO,
        objects(TWO),
        [np.array(x) for x in TWO],
        [np.array(x).tolist() for x in TWO],
        [np.array(x).T for x in TWO],
        np.array([[[1, 2, 3], [6, 5, 4]], [[4, 5, NAN], [7, 8, NAN]]]),
        np.array([[[1, 6], [2, 5], [3, 4]], [[4, 7], [5, 8], [NAN, NAN]]]),
    ],
    ids=["tuples", "objects", "aeon", "lists", "tslearn", "padded", "padded tslearn"],
)
def test_containers_of_two_channels(X):
    same(check_series(X), TWO)
    same(check_series(check_series(X)), TWO)


def test_channels_come_first_unless_that_is_impossible():
    assert len(check_series(np.zeros((4, 2, 9)))[0]) == 2
    assert len(check_series(np.zeros((4, 5, 5)))[0]) == 5
    assert check_series(np.zeros((4, 9, 1)))[0].shape == (9,)
    assert check_series(np.zeros((4, 1, 1)))[0].shape == (1,)
    with pytest.raises(ValueError, match=r"\(channels, length\), got \(9, 2\) in X"):
        check_series(np.zeros((4, 9, 2)))
    with pytest.raises(ValueError, match=r"\[tuple\(x.T\) for x in Y\] if time"):
        check_series([np.zeros((9, 2))] * 3, "Y")
    many = [tuple(x) for x in np.zeros((4, 9, 2))]
    assert len(check_series(many)[0]) == 9


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([], "'X' must hold at least one series, got none."),
        ([[1.0], []], "at least one value, got none in X\\[1\\]"),
        ([[1.0], [1.0, NAN, 2.0]], "got nan in X\\[1\\] at time 1, counted"),
        ([[1.0], [1.0, NAN]], "got nan in X\\[1\\] at time 1, counted"),
        ([[1.0, np.inf]], "got inf in X\\[0\\] at time 1"),
        (np.array([[1.0, 2], [NAN, 1]]), "got nan in X\\[1\\] at time 0"),
        (np.array([[1.0, 2], [NAN, NAN]]), "got none in X\\[1\\]"),
        (np.array([[[1.0, NAN], [2, 3]]]), "got nan in X\\[0\\] at time 1"),
        ([TWO[0], ONE[0]], "channels, got 2 in X\\[0\\] and 1 in X\\[1\\]"),
        ([np.zeros((2, 5)), np.zeros((3, 6))], "channels, got 2 in X\\[0\\] and 3"),
        ([1.0, 2.0], "a single series becomes a set of one as \\[x\\]"),
        (np.zeros(5), "got a single series"),
        (np.zeros((2, 2, 2, 2)), "with 4 axes"),
        ([np.zeros((2, 2, 2))], "got X\\[0\\] with 3 axes"),
    ],
)
def test_bad_values(X, words):
    with pytest.raises(ValueError, match=words):
        check_series(X)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (["abc", "de"], "X\\[0\\] must hold real numbers"),
        ([[1.0], ["a", "b"]], "X\\[1\\] must hold real numbers"),
        ([[1j]], "X\\[0\\] must hold real numbers"),
        ([([1.0, 2.0], [1.0])], "X\\[0\\] must hold .* channels of equal length"),
        (np.array([["a", "b"]]), "X must hold real numbers"),
        (pd.DataFrame({"a": [pd.Series([1.0, 2.0])]}), "a series in each cell"),
        (
            pd.DataFrame({"a": [1.0, 2]}, index=[("s", 0), ("s", 1)]).set_index(
                pd.MultiIndex.from_tuples([("s", 0), ("s", 1)])
            ),
            "several levels of rows",
        ),
    ],
)
def test_what_is_not_taken(X, words):
    with pytest.raises(TypeError, match=words):
        check_series(X)


def test_numbers_of_channels_must_agree():
    with pytest.raises(ValueError, match="same number of channels, got .* 2 and 1"):
        kernels.dtw(TWO, ONE)
    with pytest.raises(ValueError, match="got nan in Y\\[0\\]"):
        kernels.dtw(ONE, [[NAN]])


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        ("dtw", {"window": 5}, "share of the length, 0 to 1, or None, got 5"),
        ("dtw", {"window": -0.1}, "got -0.1"),
        ("dtw", {"window": True}, "got True"),
        ("dtw", {"window": "10%"}, "got '10%'"),
        ("dtw", {"window": NAN}, "got nan"),
        ("erp", {"g": np.inf}, "'g' must be a finite number, got inf"),
        ("erp", {"window": 2}, "got 2"),
        ("lcss", {"epsilon": -1}, "'epsilon' must be a number, 0 or above, got -1"),
        ("lcss", {"window": 2}, "got 2"),
        ("msm", {"c": None}, "'c' must be a number"),
        ("twe", {"nu": -1}, "'nu' must be"),
        ("twe", {"lmbda": "1"}, "'lmbda' must be"),
        ("wdtw", {"g": -1}, "'g' must be"),
        ("adtw", {"penalty": -1}, "'penalty' must be"),
    ],
)
def test_bad_parameters(name, params, words):
    with pytest.raises(ValueError, match=words):
        getattr(kernels, name)(ONE, **params)


def test_overflow_warns():
    with pytest.raises(ValueError, match="too large for double precision"):
        kernels.dtw([[1e200], [0.0]])
