"""Forms of given distances, against loops over pairs."""

import math

import numpy as np
import pytest

from kreinlearn.kernels.transforms import (
    DEFAULT_CANDIDATES,
    FORMS,
    fit_transform,
    list_candidates,
    median_distance,
)


def naive(D_new, D, form, width):
    """Return a form of distances to training samples, one pair after another."""
    n = len(D)
    pairs = sorted(D[i, j] for i in range(n) for j in range(i))
    half = len(pairs) // 2
    m = pairs[half] if len(pairs) % 2 else (pairs[half - 1] + pairs[half]) / 2
    of_training = [sum(D[j, t] ** 2 for t in range(n)) / n for j in range(n)]
    grand = sum(of_training) / n
    K = np.empty(D_new.shape)
    for i, row in enumerate(D_new):
        mean = sum(d**2 for d in row) / n
        for j, d in enumerate(row):
            K[i, j] = {
                "exponential": math.exp(-d / (width * m)),
                "gaussian": math.exp(-((d / (width * m)) ** 2)),
                "negative": -d,
                "centered": -(d**2 - mean - of_training[j] + grand) / 2,
                "truncated": max(width * m - d, 0.0),
            }[form]
    return K


@pytest.fixture
def points(rng):
    return rng.standard_normal((13, 3))


def distances(X, Z):
    return np.abs(X[:, None] - Z).sum(axis=2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
def test_forms_are_those_of_a_loop(points, form, width):
    D, new = distances(points, points), distances(points[:4] + 0.3, points)
    learned = fit_transform(D, form, width)
    np.testing.assert_allclose(learned(D), naive(D, D, form, width), atol=1e-12)
    np.testing.assert_allclose(learned(new), naive(new, D, form, width), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_symmetric_to_the_last_bit_in_the_precision_given(rng, form, dtype, order):
    X = rng.standard_normal((1100, 2))  # more than one strip of rows
    D = np.asarray(distances(X, X), dtype=dtype, order=order)
    K = fit_transform(D, form, 1.3)(D)
    assert K.dtype == dtype
    np.testing.assert_array_equal(K, K.T)


def test_euclidean_distances_centered_are_inner_products(points):
    D = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    X = points - points.mean(axis=0)
    np.testing.assert_allclose(fit_transform(D, "centered")(D), X @ X.T, atol=1e-12)


@pytest.mark.parametrize(
    ("upper", "expected"),
    [
        ([2.0, 4.0, 9.0], 4.0),
        ([0.0, 0.0, 3.0], 3.0),  # most samples have copies
        ([0.0, 0.0, 0.0], 1.0),
    ],
)
def test_median(upper, expected):
    D = np.zeros((3, 3))
    D[np.triu_indices(3, 1)] = upper
    assert median_distance(D + D.T) == expected


def test_median_of_one_sample_and_of_many(rng):
    assert median_distance(np.zeros((1, 1))) == 1.0
    x = rng.uniform(size=3000)
    D = np.abs(x[:, None] - x)
    exact = np.median(D[np.triu_indices(3000, 1)])
    assert median_distance(D) == pytest.approx(exact, rel=0.02)


def test_each_form_is_tried_once():
    tried = [
        {"form": form, "width": width}
        for form in ("negative", "centered", "truncated")
        for width in (1.0, 2.0)
    ]
    assert list_candidates({}, tried) == [
        {"form": "negative"},
        {"form": "centered"},
        {"form": "truncated", "width": 1.0},
        {"form": "truncated", "width": 2.0},
    ]
    assert list_candidates({}) == list(DEFAULT_CANDIDATES)
    assert list_candidates({"width": 3.0}) == [
        {"form": "exponential", "width": 3.0},
        {"form": "gaussian", "width": 3.0},
        {"form": "negative"},
        {"form": "truncated", "width": 3.0},
    ]
    assert list_candidates({"form": "centered"}) == [{"form": "centered"}]
    widths = [each["width"] for each in list_candidates({"form": "exponential"})]
    assert widths == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"form": "cosine"}, ValueError, "'form' must be one of 'exponential'"),
        ({"width": 0}, ValueError, "'width' must be a positive number"),
        ({"width": "1"}, TypeError, "'width' must be a positive number"),
        ({"sigma": 1}, TypeError, "takes 'form', 'width', 'missing', got 'sigma'"),
    ],
)
def test_bad_parameters(params, error, words):
    with pytest.raises(error, match=words):
        list_candidates(params)
