"""One measure for many kernels and widths, and the settings that a search tries."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from kreinlearn.kernels import (
    KERNELS,
    Similarities,
    gram,
    spd_distances,
    spd_widths,
)
from tests.kernels.test_products import SPD, common, matrices, words
from tests.kernels.test_rows import CASES, VECTOR, samples


@pytest.fixture
def measured(monkeypatch):
    """Count how often each measure is computed, for all samples of 3 or more."""
    counts = Counter()

    def counted(measure, X, Y, **params):
        counts[measure.name] += 1
        return measure.function(X, Y, **params)

    for name, kernel in dict(KERNELS).items():
        function = partial(counted, kernel.measure)
        measure = replace(kernel.measure, function=function)
        monkeypatch.setitem(KERNELS, name, replace(kernel, measure=measure))
    return counts


def same_bits(similarities, kernel, params):
    K = similarities.matrix(kernel, params)
    expected = gram(similarities.X, None, kernel, **params)
    assert K.dtype == expected.dtype and K.tobytes() == expected.tobytes()
    return K


# Both sides of: fused or stored, summed or by BLAS, one tile or several.
@pytest.mark.parametrize(("n", "m"), [(5, 3), (150, 31), (131, 32), (140, 130)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_bits_are_those_of_gram(n, m, dtype):
    similarities = Similarities(samples(n, m, dtype))
    for name, params in [*CASES, *((name, {}) for name in VECTOR)]:
        same_bits(similarities, name, params)


@pytest.mark.parametrize("name", SPD)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_bits_are_those_of_gram_for_matrices(name, dtype):
    X = matrices(40, dtype)
    for stack in (X, np.stack([X, X[::-1]], axis=1)):
        similarities = Similarities(stack)
        for params in ({}, {"sigma": 0.7}, {"sigma": 1.3, "ridge": 0.1}):
            same_bits(similarities, name, params)


def test_a_measure_is_computed_once(measured):
    similarities = Similarities(samples(20, 40))
    for name in VECTOR:
        for values in similarities.grid(name, {}).values():
            assert len(values) in (5, 6)
        for _ in range(2):
            first = similarities.matrix(name, {})
            first[:] = np.nan  # the caller's own
    assert measured == {
        "L1 distance": 1,
        "squared Euclidean distance": 1,
        "inner product": 1,
    }


def test_an_expensive_measure_is_computed_once_with_its_median(measured):
    similarities = Similarities(matrices(20))
    for ridge in ({}, {"ridge": 0.1}):
        for sigma in similarities.grid("spd_stein", ridge)["sigma"]:
            similarities.matrix("spd_stein", {"sigma": sigma, **ridge})
    assert measured == {"S-divergence": 2}


def test_few_features_are_summed_again(measured):
    similarities = Similarities(samples(20, 31))
    for name in VECTOR:
        similarities.matrix(name, {})
    assert not measured


def test_what_does_not_fit_is_not_kept(measured, monkeypatch):
    monkeypatch.setattr("kreinlearn.kernels.registry.fits", lambda *of: False)
    for X, name in [(samples(20, 40), "tl1"), (matrices(20), "spd_stein")]:
        similarities = Similarities(X)
        same_bits(similarities, name, {})
        assert similarities.grid(name, {})
    assert measured == {"S-divergence": 1}  # for the median


def test_functions_are_called():
    similarities = Similarities(words(6))
    same_bits(similarities, common, {"least": 2})
    assert similarities.grid(common, {}) == {}


# -- settings --------------------------------------------------------------------------


def test_default_grids():
    X = samples(700, 3)
    similarities = Similarities(X)
    some = X[np.linspace(0, 699, 500).astype(int)]
    D = np.sqrt(KERNELS["rbf"].measure.function(some, None))
    middle = np.median(D[np.triu_indices(500, 1)])
    widths = similarities.grid("rbf", {})["sigma"]
    np.testing.assert_allclose(widths, middle * np.array([0.25, 0.5, 1, 2, 4]))
    assert similarities.grid("linear", {}) == {} == similarities.grid(np.dot, {})
    assert KERNELS["rbf"].measure.median(np.zeros((5, 2))) == 1.0


def test_what_is_fixed_is_not_tried():
    similarities = Similarities([[0.0], [1.0]])
    assert similarities.grid("tl1", {}) == {"ratio": [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]}
    assert similarities.grid("tl1", {"tau": 1}) == {}
    assert similarities.grid("tl1", {"ratio": 1}) == {}
    assert similarities.grid("rbf", {"sigma": 1}) == {}


def test_the_median_of_all_is_that_of_some():
    X = matrices(150)
    for name in SPD:
        once = Similarities(X).grid(name, {"ridge": 0.1})["sigma"]
        measure = KERNELS[name].measure
        assert once[0] == measure.median(X, ridge=0.1)
        D = spd_distances(X, metric=name.removeprefix("spd_"), ridge=0.1)
        assert once == spd_widths(D)
