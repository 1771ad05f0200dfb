"""The similarities of the demo, each against a loop, and what is said of results."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from kreinlearn.comparison import demo
from kreinlearn.comparison.demo_data import balls, digits, patients
from kreinlearn.spectrum import describe


@pytest.mark.parametrize(
    ("make", "sizes", "share"),
    [(digits, 240, 0.05), (balls, 240, 0.04), (patients, 250, 0.3)],
)
def test_matrices_are_indefinite_and_always_the_same(make, sizes, share):
    K, y = make()
    again, labels = make()
    np.testing.assert_array_equal(K, again)
    np.testing.assert_array_equal(y, labels)
    assert K.shape == (sizes, sizes) and len(y) == sizes
    np.testing.assert_array_equal(K, K.T)
    assert describe(K)["negative_share"] > share
    assert np.unique(y, return_counts=True)[1].min() > 50


def test_hausdorff_distances_are_those_of_a_loop():
    K, y = digits(30)
    images = load_digits(return_X_y=True)[0]
    shapes = [
        [(a, b) for a in range(8) for b in range(8) if image[8 * a + b] > 8]
        for image, label in zip(images, load_digits().target, strict=True)
        if label in (3, 5, 8, 9)
    ]

    def one_way(A, B):
        return max(min(np.hypot(a - c, b - d) for c, d in B) for a, b in A)

    for i, j in ((0, 1), (3, 17), (29, 2), (5, 5)):
        d = max(one_way(shapes[i], shapes[j]), one_way(shapes[j], shapes[i]))
        assert K[i, j] == pytest.approx(np.exp(-d / 2))
    assert set(y.tolist()) == {3, 5, 8, 9}


def test_balls_would_be_euclidean_without_their_radii():
    K, y = balls(60)
    values = np.linalg.eigvalsh(K)
    # Three directions are those of the box; the sizes are in the many negative ones.
    assert (values > 0.1 * values.max()).sum() == 3 and (values < 0).sum() > 40
    # From K, gaps between balls, and between each ball and the one they are seen from.
    squares = np.add.outer(np.diag(K), np.diag(K)) - 2 * K
    gaps = np.sqrt(squares[np.triu_indices(60, 1)])
    assert 0 < gaps.min() < 1 and gaps.max() < 10 * np.sqrt(3)
    assert y.tolist() == [1, 0] * 30


def test_gaps_of_patients_are_those_of_a_loop():
    K, y = patients(40)
    X = load_breast_cancer().data[:40]
    known = np.random.default_rng(0).uniform(size=X.shape) < 0.2
    ranges = X.max(axis=0) - X.min(axis=0)
    without = 0
    for i in range(40):
        for j in range(i):
            both = [f for f in range(30) if known[i, f] and known[j, f]]
            gaps = [abs(X[i, f] - X[j, f]) / ranges[f] for f in both]
            without += not gaps
            d = np.mean(gaps) if gaps else 1.0
            assert K[i, j] == pytest.approx(np.exp(-d / 0.15))
    assert without > 50 and np.diag(K).tolist() == [1] * 40


def test_every_sample_is_judged_once_and_kernels_need_rows():
    for data in demo.DATA:
        halves = demo.job(data).splits
        assert list(halves) == [(0, 0), (0, 1)]
        (train, test), (other, rest) = halves.values()
        np.testing.assert_array_equal(np.sort(train), np.sort(rest))
        np.testing.assert_array_equal(np.sort(test), np.sort(other))
        assert len(np.union1d(train, test)) == len(demo.job(data).y)
    assert [data for data, method in demo.pairs() if method == "KreinCV"] == ["monks-1"]
    assert len(demo.pairs()) == 4 * len(demo.SHOWN) - 3


def made(method, data, accuracy, n=100):
    return [
        {
            "method": method,
            "data": data,
            "run": 0,
            "acc": accuracy,
            "truth": [0] * n,
            "mu": [-1.0, 2.0],
            "neg": 0.1,
            "fit_s": 1.0,
        }
    ] * 2


def test_it_is_told_who_keeps_up_with_the_best():
    records = [
        *made("IKLR", "digits", 0.9),
        *made("SVC clip", "digits", 0.87),
        *made("SVC flip", "digits", 0.7),
        *made("IKLR", "balls", 0.9),
        *made("SVC clip", "balls", 0.6),
        *made("SVC flip", "balls", 0.92),
    ]
    said = demo._keeps_up(records)
    assert said.startswith("No repair is right everywhere.")
    assert said.endswith("IKLR 2 of 2, SVC clip 1 of 2, SVC flip 1 of 2.")
    assert "No repair" not in demo._keeps_up(records[:4])
