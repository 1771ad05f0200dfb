import numpy as np
import pytest

from kreinlearn.kernels import resolve_kernel
from kreinlearn.operators import Blocked, Dense
from kreinlearn.spectrum import (
    decompose,
    describe,
    extreme,
    split,
    theorem1_bound,
)
from tests.conftest import gram_of_signature


def test_decompose_returns_the_matrix_and_its_signature():
    K = gram_of_signature(12, 5, 3)
    spectrum = decompose(K)
    assert spectrum.signature == (12, 5, 3)
    np.testing.assert_allclose(spectrum.matrix(), K, atol=1e-12)
    parts = spectrum.positive().matrix() + spectrum.negative().matrix()
    np.testing.assert_allclose(parts, K, atol=1e-12)


@pytest.mark.parametrize("negative", [3, 260])
def test_few_and_many_negative_pairs_agree_with_all(negative):
    K = gram_of_signature(450 - negative, negative)
    alone, full = decompose(K, "negative"), decompose(K).negative()
    np.testing.assert_allclose(alone.values, full.values, rtol=1e-9)
    np.testing.assert_allclose(alone.matrix(), full.matrix(), atol=1e-9 * len(K))


def test_negative_end_alone_agrees_with_all():
    K = gram_of_signature(12, 5, 3)
    alone = decompose(K, "negative")
    full = decompose(K).negative()
    np.testing.assert_allclose(alone.values, full.values)
    np.testing.assert_allclose(alone.matrix(), full.matrix(), atol=1e-12)
    assert decompose(gram_of_signature(5, 0), "negative").values.size == 0
    assert decompose(np.zeros((4, 4)), "negative").values.size == 0


@pytest.mark.parametrize("end", ["smallest", "largest"])
@pytest.mark.parametrize("n", [(1, 0), (60, 20), (300, 100)])
def test_lanczos_bounds_the_end(end, n):
    K = gram_of_signature(*n, seed=3)
    values = np.linalg.eigvalsh(K)
    true = values[0] if end == "smallest" else values[-1]
    bound = extreme(Dense(K), end)
    assert abs(bound.value - true) <= bound.error + 1e-9 * abs(values).max()
    inside = bound.value >= true if end == "smallest" else bound.value <= true
    assert inside or bound.value == pytest.approx(true, rel=1e-12)


@pytest.mark.parametrize("mode", ["paper", "tight", "shift"])
@pytest.mark.parametrize("signature", [(20, 10, 0), (20, 0, 5), (0, 12, 0), (0, 0, 6)])
def test_splits_are_positive_decompositions(mode, signature):
    K = gram_of_signature(*signature)
    n = len(K)
    parts = split(Dense(K), mode)
    minus = parts.minus(np.eye(n))
    plus = K + minus
    slack = 1e-9 * max(1.0, np.abs(K).max())
    assert np.linalg.eigvalsh(minus)[0] >= -slack
    assert np.linalg.eigvalsh(plus)[0] >= -slack
    assert parts.norm_plus == pytest.approx(np.linalg.norm(plus, 2), abs=slack)
    assert parts.norm_minus == pytest.approx(np.linalg.norm(minus, 2), abs=slack)
    assert parts.norm == pytest.approx(np.linalg.norm(K, 2), abs=slack)
    if mode == "paper" and signature[1]:
        assert parts.tau > -np.linalg.eigvalsh(K)[0]
    if mode == "tight":
        assert parts.tau == 0


def test_describe_lists_everything():
    K = gram_of_signature(6, 3, 1)
    values = np.linalg.eigvalsh(K)
    report = describe(K, lam=0.5)
    assert report["signature"] == (6, 3, 1)
    assert report["mu_min"] == pytest.approx(values[0])
    assert report["mu_max"] == pytest.approx(values[-1])
    share = -values[values < 0].sum() / np.abs(values).sum()
    assert report["negative_share"] == pytest.approx(share)
    assert report["asymmetry"] == 0
    assert report["lam_unique"] == pytest.approx(-values[0] / 40)
    top, low = values[-1], -values[0]
    bound = 0.5 * (top - low) - top**2 / 40
    assert report["theorem1_bound"] == pytest.approx(bound)
    assert theorem1_bound(top, top + 3, low + 3, 10, 0.5) == pytest.approx(bound)
    skewed = K + 1e-3 * np.triu(np.ones_like(K), 1)
    assert describe(skewed)["asymmetry"] == pytest.approx(
        1e-3 / np.abs(skewed).max(), rel=1e-6
    )
    symmetric_part = (skewed + skewed.T) / 2
    lowest = np.linalg.eigvalsh(symmetric_part)[0]
    assert describe(skewed)["mu_min"] == pytest.approx(lowest, rel=1e-12)


def test_describe_refuses_what_is_no_matrix():
    with pytest.raises(
        ValueError, match=r"K must be square, .* got an array of shape \(2, 3\)"
    ):
        describe(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"got nan in row 1, column 0"):
        describe(np.array([[1.0, 0.0], [np.nan, 1.0]]))
    with pytest.raises(ValueError, match=r"'lam' must be a positive number, got -1"):
        describe(np.eye(2), lam=-1)
    with pytest.raises(ValueError, match="'mode' must be one of 'paper'.*got 'half'"):
        split(Dense(np.eye(2)), "half")
    with pytest.raises(ValueError, match="'part' must be one of .*got 'half'"):
        decompose(np.eye(2), "half")


def test_eigenvalues_that_are_zero_to_rounding():
    n, eps = 4, np.finfo(float).eps
    edge = 2.0 * n * eps
    spectrum = decompose(np.diag([-2.0, 0.9 * edge, -0.9 * edge, 1.1 * edge]))
    assert spectrum.zero == pytest.approx(edge)
    assert spectrum.signature == (1, 1, 2)
    assert spectrum.positive().vectors.shape == (4, 1)
    assert spectrum.negative().values == pytest.approx([-2.0])
    single = decompose(np.diag([-2.0, 1.0, 0.5, 0.1]).astype(np.float32))
    assert single.zero == pytest.approx(2.0 * n * np.finfo(np.float32).eps)
    # The negative end alone is cut by the largest sum of a row.
    K = np.diag([-0.9 * eps, -1.1 * eps, 1.0])
    assert decompose(K, "negative").values == pytest.approx([-1.1 * eps])
    tiny = np.finfo(float).tiny
    nearly = np.diag([-0.5 * tiny, -1e-200 * tiny])
    assert decompose(nearly, "negative").values.size == 0


@pytest.mark.parametrize("mode", ["paper", "tight", "shift"])
def test_splits_have_the_stated_properties(mode):
    K = gram_of_signature(12, 5)
    mu = np.linalg.eigvalsh(K)
    parts = split(Dense(K), mode)
    assert parts.tau == pytest.approx({"tight": 0.0}.get(mode, 1.01 * -mu[0]), rel=1e-5)
    assert len(parts.sizes) == (0 if mode == "shift" else 5)
    assert parts.vectors.shape == (17, len(parts.sizes))
    assert parts.sizes.dtype == parts.vectors.dtype == np.float64
    expected = np.sort(-mu[:5])[::-1] if mode != "shift" else []
    np.testing.assert_allclose(parts.sizes, expected)
    assert split(Dense(K)).tau == split(Dense(K), "paper").tau
    single = split(Dense(K.astype(np.float32)), mode)
    assert single.sizes.dtype == single.vectors.dtype == np.float64
    B = np.random.default_rng(0).standard_normal((17, 3))
    minus = (parts.vectors * parts.sizes) @ parts.vectors.T + parts.tau * np.eye(17)
    np.testing.assert_allclose(parts.minus(B), minus @ B, atol=1e-12)


def test_matrices_that_are_not_stored_are_split_by_a_shift():
    X = np.random.default_rng(0).integers(0, 3, (40, 4)) / 2.0
    blocked = Blocked(resolve_kernel("tl1"), X)
    mu = np.linalg.eigvalsh(blocked.columns(np.arange(40)))
    assert mu[0] < -1e-3
    parts = split(blocked, "paper")
    assert not len(parts.sizes) and parts.tau == pytest.approx(-1.01 * mu[0], rel=1e-4)
    assert parts.norm == pytest.approx(mu[-1], rel=1e-5)
    assert parts.norm_plus == pytest.approx(mu[-1] + parts.tau, rel=1e-5)
    assert parts.norm_minus == parts.tau


def test_a_matrix_that_is_positive_to_rounding_needs_no_shift():
    B = np.random.default_rng(0).standard_normal((30, 5))
    for mode in ("paper", "tight", "shift"):
        parts = split(Dense(B @ B.T), mode)
        assert parts.tau <= 1e-10 and parts.norm_minus <= 1e-10
    negative = split(Dense(-np.eye(3)), "shift")
    assert negative.norm == pytest.approx(1.0) and negative.tau == pytest.approx(1.01)


def test_reports_of_plain_matrices():
    report = describe(np.diag([4.0, 2.0]))
    assert "theorem1_bound" not in report and report["n"] == 2
    assert (report["lam_unique"], report["negative_share"]) == (0.0, 0.0)
    nothing = describe(np.zeros((3, 3)), lam=2.0)
    assert nothing["negative_share"] == 0.0 and nothing["signature"] == (0, 0, 3)
    assert nothing["theorem1_bound"] == 0.0
    below = describe(-np.eye(2), lam=2.0)
    assert below["negative_share"] == 1.0 and below["lam_unique"] == 1 / 8
    assert below["theorem1_bound"] == pytest.approx(2 * (0 - 1) - 1 / 8)
    assert type(below["mu_min"]) is type(below["mu_max"]) is float
