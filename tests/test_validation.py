import warnings

import numpy as np
import pytest

from kreinlearn._validation import MIRROR_TILE, check_matrix
from kreinlearn.exceptions import IndefiniteKernelWarning

N = 2 * MIRROR_TILE + 9  # three tiles, the last of them small


@pytest.fixture
def K(rng):
    A = rng.standard_normal((N, N))
    return A + A.T


@pytest.mark.parametrize("symmetric", ["refuse", "average", "any"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_good_matrix_is_returned_as_it_is(K, symmetric, order):
    K = np.asarray(K, order=order)
    found, asymmetry = check_matrix(K, symmetric=symmetric)
    assert found is K and asymmetry == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64, int, bool])
def test_precision(dtype):
    found, _ = check_matrix(np.eye(3, dtype=dtype).tolist())
    assert found.dtype == float
    found, _ = check_matrix(np.eye(3, dtype=dtype))
    assert found.dtype == (np.float32 if dtype == np.float32 else float)
    assert check_matrix(np.eye(3, dtype=dtype), dtype=float)[0].dtype == float


@pytest.mark.parametrize(
    "place", [(0, N - 1), (N - 1, 0), (MIRROR_TILE, 3), (MIRROR_TILE, MIRROR_TILE - 1)]
)
def test_every_tile_is_looked_at(K, place):
    K[place] += 1e-3
    size = np.abs(K).max()
    with pytest.raises(ValueError, match=r"must be symmetric, .* by up to 0\.001 "):
        check_matrix(K)
    averaged, asymmetry = check_matrix(K, symmetric="average")
    np.testing.assert_array_equal(averaged, (K + K.T) / 2)
    assert asymmetry == pytest.approx(1e-3 / size)
    assert check_matrix(K, symmetric="any")[0] is K


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("symmetric", ["refuse", "average", "any"])
@pytest.mark.parametrize("both", [True, False])
def test_infinite_numbers_are_found(K, bad, symmetric, both):
    K[MIRROR_TILE, 3] = bad
    if both:
        K[3, MIRROR_TILE] = bad
    row, column = (3, MIRROR_TILE) if both else (MIRROR_TILE, 3)
    words = f"^K must be finite, got {bad} in row {row + 1}, column {column + 1}\\.$"
    with pytest.raises(ValueError, match=words):
        check_matrix(K, "K", symmetric=symmetric, first=1)


def test_rounding_is_averaged_without_a_word_and_more_with_one(K):
    K[0, 1] *= 1 + 4e-16
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, asymmetry = check_matrix(K)
    assert 0 < asymmetry < 1e-14
    np.testing.assert_array_equal(found, found.T)
    K[0, 1] += 1e-7
    with pytest.warns(IndefiniteKernelWarning, match=r"up to 5\.0e-08") as told:
        check_matrix(K)
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.ones(3), r"square, one row and one column per sample, got .* \(3,\)"),
        (np.ones((2, 3)), r"square, .* got an array of shape \(2, 3\)"),
        (np.ones((0, 0)), r"square, .* got an array of shape \(0, 0\)"),
        (np.eye(2) + 1j, "real numbers, got an array of dtype complex128"),
        ([["a"]], "real numbers, got an array of dtype <U1"),
    ],
)
def test_what_is_no_matrix_is_refused(given, words):
    with pytest.raises(ValueError, match=f"^S must (be|hold) {words}"):
        check_matrix(given, "S")


def test_rectangles():
    assert check_matrix(np.ones((2, 3)), symmetric="any", square=False)[0].shape == (
        2,
        3,
    )
    with pytest.raises(ValueError, match=r"^S must be a matrix, got .* \(2,\)\.$"):
        check_matrix(np.ones(2), "S", symmetric="any", square=False)


def test_zeros_are_symmetric():
    assert check_matrix(np.zeros((4, 4)), symmetric="average")[1] == 0.0
