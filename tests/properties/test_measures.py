"""Measures between samples: symmetric, zero on the diagonal, metrics where they are."""

import numpy as np
import pytest

from kreinlearn.kernels import (
    KERNELS,
    adtw,
    dtw,
    erp,
    gram,
    lcss,
    levenshtein,
    msm,
    needleman_wunsch,
    smith_waterman,
    spd_distances,
    twe,
    wdtw,
)
from kreinlearn.kernels.transport import (
    histogram_wasserstein,
    sliced_wasserstein,
    wasserstein,
)
from tests.properties.draws import examples, hypothesis, st

pytestmark = pytest.mark.slow

VALUES = st.floats(-100, 100, allow_nan=False).map(lambda value: round(value, 3))
SERIES = st.lists(st.lists(VALUES, min_size=1, max_size=12), min_size=3, max_size=6)
STRINGS = st.lists(st.text("ACGTxé", min_size=1, max_size=12), min_size=3, max_size=6)
PROTEINS = st.lists(
    st.text("ARNDCQEGHILKMFPSTWYV", min_size=1, max_size=20), min_size=3, max_size=6
)


def check_distances(D, is_metric, digits=1e-12):
    """Assert what every measure of distance keeps, and the triangle inequality."""
    size = max(D.max(), 1e-300)
    assert np.isfinite(D).all() and (D >= 0).all()
    np.testing.assert_array_equal(D, D.T)
    assert (np.diag(D) <= digits * size).all()
    if is_metric:
        detours = (D[:, :, None] + D[None, :, :]).min(axis=1)
        assert (D <= detours + 1e-10 * size).all()


def check_parts(measure, X, **params):
    """Assert that each distance depends on its two samples alone."""
    D = measure(X, **params)
    np.testing.assert_allclose(
        measure(X[:1], X[1:], **params), D[:1, 1:], rtol=1e-9, atol=1e-9 * D.max()
    )
    np.testing.assert_allclose(
        measure(X[1:], X[:1], **params), D[1:, :1], rtol=1e-9, atol=1e-9 * D.max()
    )
    return D


@examples(30)
@hypothesis.given(X=SERIES, data=st.data())
@pytest.mark.parametrize(
    ("measure", "params", "is_metric"),
    [
        (dtw, {"window": st.sampled_from([None, 0.0, 0.3, 1.0])}, False),
        (wdtw, {"g": st.floats(0, 1)}, False),
        (adtw, {"penalty": st.floats(0, 10)}, False),
        (lcss, {"epsilon": st.floats(0, 10)}, False),
        (erp, {"g": st.floats(-10, 10)}, True),
        (msm, {"c": st.floats(0, 10)}, True),
        (twe, {"nu": st.floats(1e-3, 2), "lmbda": st.floats(0, 5)}, True),
    ],
    ids=["dtw", "wdtw", "adtw", "lcss", "erp", "msm", "twe"],
)
def test_distances_between_series(measure, params, is_metric, X, data):
    drawn = {name: data.draw(values) for name, values in params.items()}
    check_distances(check_parts(measure, X, **drawn), is_metric)


def test_time_warping_is_no_metric():
    # Were it one, the test above would be too weak.
    D = dtw([[0.0], [1.0, 2.0], [2.0, 3.0, 3.0]])
    assert D[0, 2] > D[0, 1] + D[1, 2]


@examples(30)
@hypothesis.given(X=STRINGS)
def test_edit_distances(X):
    pytest.importorskip("rapidfuzz")
    D = check_parts(levenshtein, X)
    check_distances(D, is_metric=True)
    np.testing.assert_array_equal(D, np.round(D))
    lengths = np.array([len(each) for each in X])
    assert (D >= np.abs(lengths[:, None] - lengths)).all()
    assert (D <= np.maximum(lengths[:, None], lengths)).all()
    assert ((D == 0) == (np.array(X)[:, None] == np.array(X))).all()


@examples(20)
@hypothesis.given(X=PROTEINS)
@pytest.mark.parametrize("measure", [smith_waterman, needleman_wunsch])
def test_alignment_scores(measure, X):
    S = check_parts(measure, X, normalized=False)
    np.testing.assert_array_equal(S, S.T)
    # No sequence is more like another than like itself.
    own = np.diag(S)
    assert (S <= np.minimum(own[:, None], own)).all()
    assert measure is needleman_wunsch or (S >= 0).all()
    normalized = measure(X, normalized=True)
    np.testing.assert_allclose(np.diag(normalized), 1.0)
    np.testing.assert_array_equal(normalized, normalized.T)


@pytest.mark.slow
@examples(30)
@hypothesis.given(
    seed=st.integers(0, 2**32),
    d=st.integers(1, 5),
    spread=st.sampled_from([0.1, 1.0, 4.0]),
    metric=st.sampled_from(["affine_invariant", "log_euclid", "euclid", "stein"]),
)
def test_distances_between_covariances(seed, d, spread, metric):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((5, d, d)))
    values = np.exp(spread * rng.standard_normal((5, 1, d)))
    X = (Q * values) @ Q.transpose(0, 2, 1)
    X = (X + X.transpose(0, 2, 1)) / 2
    D = np.sqrt(check_parts(spd_distances, X, metric=metric))
    # All four are metrics, the root of the Stein divergence too (Sra, 2016).
    check_distances(D, is_metric=True, digits=1e-6)
    if metric == "affine_invariant":
        A = rng.standard_normal((d, d)) + 3 * np.eye(d)
        moved = A @ X @ A.T
        moved = (moved + moved.transpose(0, 2, 1)) / 2
        again = np.sqrt(spd_distances(moved, metric=metric))
        np.testing.assert_allclose(again, D, rtol=1e-5, atol=1e-5 * D.max())


@st.composite
def clouds(draw, d):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, 6), min_size=3, max_size=5))
    points = [rng.standard_normal((m, d)) for m in sizes]
    if draw(st.booleans()):
        return points
    return [(each, rng.uniform(0.1, 1.0, len(each))) for each in points]


@examples(30)
@hypothesis.given(data=st.data(), p=st.sampled_from([1.0, 1.5, 2.0]))
@pytest.mark.parametrize("d", [1, 2])
def test_transport_distances(data, p, d):
    X = data.draw(clouds(d))
    sliced = check_parts(sliced_wasserstein, X, p=p)
    check_distances(sliced, is_metric=True, digits=1e-6)
    if d > 1:
        pytest.importorskip("ot")
    D = check_parts(wasserstein, X, p=p)
    check_distances(D, is_metric=True, digits=1e-6)
    assert (sliced <= D + 1e-6 * D.max()).all()


@examples(30)
@hypothesis.given(
    seed=st.integers(0, 2**32), m=st.integers(1, 6), p=st.sampled_from([1.0, 2.0])
)
def test_transport_distances_between_histograms(seed, m, p):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (5, m)) + np.eye(5, m)
    X[:, 0] += X.sum(axis=1) == 0
    support = np.sort(rng.uniform(size=m))
    D = check_parts(histogram_wasserstein, X, p=p, support=support)
    check_distances(D, is_metric=True, digits=1e-6)
    points = [(support[:, None], each) for each in X]
    np.testing.assert_allclose(wasserstein(points, p=p), D, atol=1e-6)


VECTOR_KERNELS = sorted(
    name for name, kernel in KERNELS.items() if kernel.samples == "rows"
)


@examples(6)
@hypothesis.given(seed=st.integers(0, 2**32), n=st.integers(1, 9), single=st.booleans())
@pytest.mark.parametrize("name", VECTOR_KERNELS)
def test_similarities_of_vectors_are_symmetric(name, seed, n, single):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.01, 1.0, size=(n, 3)).astype(np.float32 if single else float)
    K = gram(X, kernel=name)
    np.testing.assert_array_equal(K, K.T)
    digits = 1e-5 if single else 1e-10
    others = gram(X, X.copy(), kernel=name)
    np.testing.assert_allclose(others, K, rtol=0, atol=digits * np.abs(K).max())
