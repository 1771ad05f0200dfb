"""Generators: rules against a naive loop, signatures against an eigensolver."""

import numpy as np
import pytest

from kreinlearn.datasets import make_gram, make_monks
from reproduction.data import load


def naive_monks(problem, row):
    a1, a2, _, a4, a5, _ = row
    if problem == 1:
        return a1 == a2 or a5 == 1
    if problem == 2:
        return list(row).count(1) == 2
    return (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3)


# Positive rows as in the published description of the problems.
@pytest.mark.parametrize(("problem", "n_positive"), [(1, 216), (2, 142), (3, 228)])
def test_monks_is_the_whole_domain(problem, n_positive):
    X, y = make_monks(problem)
    assert X.dtype == np.float64
    assert len(np.unique(X, axis=0)) == 432
    np.testing.assert_array_equal(X.min(axis=0), np.ones(6))
    np.testing.assert_array_equal(X.max(axis=0), [3, 3, 2, 3, 4, 2])
    np.testing.assert_array_equal(
        y, [1 if naive_monks(problem, row) else -1 for row in X]
    )
    assert int(np.sum(y == 1)) == n_positive


@pytest.mark.parametrize("problem", [0, 4, "1", None])
def test_monks_knows_three_problems(problem):
    with pytest.raises(ValueError, match=f"one of 1, 2, 3, got {problem!r}"):
        make_monks(problem)


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_monks_is_the_official_test_file(problem, data_home):
    X, y = make_monks(problem)
    official = load(f"monks{problem}", data_home, part="test")
    ours = {(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)}
    theirs = zip(official.data.tolist(), official.target.tolist(), strict=True)
    assert ours == {(*row, label) for row, label in theirs}


@pytest.mark.parametrize(
    "signature", [(5, 3, 2), (4, 0, 0), (0, 4, 0), (0, 0, 3), (1, 0, 0), (1, 1), (0, 2)]
)
def test_gram_has_its_signature_and_eigenvalues(signature):
    scale = 3.0
    K, y = make_gram(signature, scale=scale, random_state=1)
    p, q = signature[:2]
    n = sum(signature)
    np.testing.assert_array_equal(K, K.T)
    zeros = np.zeros(n - p - q)
    expected = np.concatenate(
        [scale * np.geomspace(1, 0.1, p), -scale * np.geomspace(1, 0.1, q), zeros]
    )
    # Backward error of the eigensolver: a few units of rounding times scale.
    np.testing.assert_allclose(
        np.linalg.eigvalsh(K), np.sort(expected), atol=1e-14 * scale * n
    )
    assert K.shape == (n, n)
    assert y.shape == (n,)
    assert abs(y.sum()) <= 1
    assert set(y) <= {-1, 1}


def test_gram_labels_lie_along_both_ends_of_the_spectrum():
    # For a random direction u the correlation |u'y| / sqrt(n) would be about 0.05.
    K, y = make_gram((200, 200), random_state=0)
    values, vectors = np.linalg.eigh(K)
    signal = np.abs(vectors.T @ y) / np.sqrt(len(y))
    assert values[0] < 0 < values[-1]
    assert signal[0] > 0.4
    assert signal[-1] > 0.4
    assert np.max(signal[1:-1]) < 0.3


def test_gram_fills_up_with_zeros():
    K, _ = make_gram((2, 1), n_samples=6, random_state=0)
    values = np.linalg.eigvalsh(K)
    assert (np.sum(values > 1e-12), np.sum(values < -1e-12)) == (2, 1)
    assert len(values) == 6


def test_gram_random_state():
    K, y = make_gram((3, 2), random_state=0)
    again, labels = make_gram((3, 2), random_state=np.random.default_rng(0))
    np.testing.assert_array_equal(K, again)
    np.testing.assert_array_equal(y, labels)
    first, _ = make_gram((3, 2), random_state=np.random.RandomState(0))
    second, _ = make_gram((3, 2), random_state=np.random.RandomState(0))
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(K, make_gram((3, 2), random_state=1)[0])
    assert not np.allclose(make_gram((3, 2))[0], make_gram((3, 2))[0])


@pytest.mark.parametrize(
    ("signature", "options", "error", "message"),
    [
        ((1,), {}, ValueError, r"got \(1,\)"),
        ((2, -1), {}, ValueError, r"got \(2, -1\)"),
        ((0, 0, 0), {}, ValueError, "one eigenvalue or more"),
        ((2, 1.5), {}, TypeError, r"got \(2, 1.5\)"),
        (3, {}, TypeError, "got 3"),
        ((2, 1), {"n_samples": 2}, ValueError, r"\(2, 1\) of 3 eigenvalues, got 2"),
        ((2, 1, 0), {"n_samples": 4}, ValueError, "of 3 eigenvalues, got 4"),
        ((2, 1), {"n_samples": 2.5}, TypeError, "'n_samples'.*got 2.5"),
        ((2, 1), {"scale": 0.0}, ValueError, "'scale' must be a positive.*got 0.0"),
    ],
)
def test_gram_refuses(signature, options, error, message):
    with pytest.raises(error, match=message):
        make_gram(signature, **options)
