import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kreinlearn.kernels import gram
from kreinlearn.paper.learners import Exact, Margin
from kreinlearn.paper.methods import LEARNERS
from kreinlearn.paper.several import (
    Multinomial,
    Rest,
    status_of_all,
    worst,
)
from kreinlearn.paper.tuning import choose


@pytest.fixture
def three():
    X, y = make_blobs(60, centers=3, cluster_std=2.0, random_state=1)
    return gram(X, kernel="rbf", sigma=3.0), y + 4


@pytest.mark.parametrize(
    "learner",
    [Rest(Exact()), Rest(Exact(repair="flip")), Rest(Margin("svc")), Multinomial()],
)
def test_path_and_estimator_agree(three, learner):
    K, y = three
    train, test = np.arange(40), np.arange(40, 60)
    K_train, K_test = K[np.ix_(train, train)], K[np.ix_(test, train)]
    fits = learner.path(K_train, y[train], K_test, [0.1, 1.0], 0)
    for value, (scores, status) in zip([0.1, 1.0], fits, strict=True):
        model = learner.estimator(value, 0).fit(K_train, y[train])
        assert scores.shape == (20, 3)
        assert status == status_of_all(model) == "converged"
        predicted = np.unique(y)[scores.argmax(axis=1)]
        np.testing.assert_array_equal(predicted, model.predict(K_test))


def test_the_worst_ending_counts(three):
    assert worst(["converged", "diverged", "max_iter"]) == "diverged"
    K, y = three
    learner = Rest(LEARNERS["CCICP-GD"])
    (_, status), *_ = learner.path(100 * K, y, K, [10.0], 0)
    assert status == "diverged"


def test_cross_validation_of_several_classes(three):
    K, y = three
    choice = choose(Multinomial(), [K, np.eye(60)], y, half_seed=0, seed=0)
    assert choice.setting == 0
    assert choice.accuracy.max() > 0.8
    assert choice.accuracy[1].max() < 0.5
