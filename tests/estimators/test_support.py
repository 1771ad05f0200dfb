import numpy as np
import pytest
from sklearn.datasets import make_moons

from kreinlearn import (
    DCASVC,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
)
from kreinlearn.estimators._base import share_support
from kreinlearn.kernels import gram
from tests.conftest import scaled

MODELS = [
    KreinSVC(kernel="rbf"),
    DCASVC(kernel="tl1"),
    KreinLogisticRegression("tl1"),
    KreinLogisticRegression("tl1", norm="hilbert"),
]
SEARCH = KreinLogisticRegressionCV(lams=[0.1, 0.01], kernel="tl1", cv=2)


@pytest.fixture
def moons():
    X, y = make_moons(80, noise=0.2, random_state=0)
    return scaled(X), y


def naive(model, K):
    """Scores from the similarities with all training samples."""
    return (K @ model.dual_coef_.T + model.intercept_)[:, 0]


def fitted_by_part(model, X, y):
    """Fit a model that needs two thirds of the samples at most."""
    return model.fit(X, y, sample_weight=np.arange(len(y)) % 3 != 0)


@pytest.mark.parametrize("model", MODELS)
def test_needed_samples_alone_give_the_scores_of_all(model, moons):
    X, y = moons
    new = np.random.default_rng(0).uniform(size=(30, 2))
    fitted_by_part(model, X, y)
    assert 0 < len(model.support_) < len(y)
    assert model.dual_coef_.shape == (1, len(y))
    np.testing.assert_array_equal(model.support_, np.flatnonzero(model.dual_coef_[0]))
    np.testing.assert_array_equal(model.X_fit_, X[model.support_])
    expected = naive(model, gram(new, X, model.kernel))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10)


def test_a_sample_needed_by_any_class_is_kept(moons):
    X, _ = moons
    y = np.digitize(X[:, 0], [0.3, 0.6])
    model = DCASVC(kernel="rbf").fit(X, y)
    needed = model.dual_coef_ != 0
    assert not needed.all(axis=0)[model.support_].all()
    np.testing.assert_array_equal(model.support_, np.flatnonzero(needed.any(axis=0)))
    expected = gram(X, kernel="rbf") @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)


def test_samples_are_not_copied_if_all_are_needed(moons):
    X, y = moons
    model = KreinLogisticRegression().fit(X, y)
    np.testing.assert_array_equal(model.support_, np.arange(len(y)))
    assert np.shares_memory(model.X_fit_, X)
    several = KreinLogisticRegressionCV(lams=[0.1], kernel="tl1", cv=2).fit(X, y)
    assert len(several.estimators_) > 1
    assert all(np.shares_memory(each.X_fit_, X) for each in several.estimators_)
    np.testing.assert_array_equal(several.support_, np.arange(len(y)))


def test_estimators_with_the_same_support_share_their_samples(moons):
    X, y = moons
    model = fitted_by_part(SEARCH, X, y)
    assert len(model.estimators_) > 1
    assert len({id(each.X_fit_) for each in model.estimators_}) == 1
    np.testing.assert_array_equal(model.support_, np.flatnonzero(np.arange(80) % 3))
    expected = sum(
        weight * naive(each, gram(X, None, "tl1", **each.kernel_params))
        for weight, each in zip(model.weights_, model.estimators_, strict=True)
    )
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)


def overlap(X, Y):
    return np.array([[float(len(set(x) & set(y))) for y in Y] for x in X])


def test_lists_of_anything():
    words = ["ab", "abc", "b", "ba", "xyz", "yx", "z", "xy"]
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    weight = [1, 1, 0, 1, 1, 1, 0, 1]
    model = KreinLogisticRegression(overlap).fit(words, y, sample_weight=weight)
    assert model.X_fit_ == ["ab", "abc", "ba", "xyz", "yx", "xy"]
    expected = naive(model, overlap(["abz", "y"], words))
    np.testing.assert_allclose(model.decision_function(["abz", "y"]), expected)


@pytest.mark.parametrize("model", [*MODELS, SEARCH])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_new", [1, 7, 40])
def test_the_columns_of_the_support_are_enough(model, dtype, order, n_new, moons):
    X, y = moons
    kernel = model.kernel
    new = np.random.default_rng(0).uniform(size=(n_new, 2))
    K = gram(X, kernel=kernel).astype(dtype)
    rows = gram(new, X, kernel).astype(dtype)
    params = {k: v for k, v in model.get_params().items() if k != "kernel"}
    model = fitted_by_part(type(model)(**params, kernel="precomputed"), K, y)
    assert 0 < len(model.support_) < len(y)
    part = np.asarray(rows[:, model.support_], order=order)
    all_of_it = model.decision_function(np.asarray(rows, order=order))
    np.testing.assert_array_equal(all_of_it, model.decision_function(part))
    each = getattr(model, "estimators_", [model])
    shares = getattr(model, "weights_", [1.0])
    expected = sum(w * naive(one, rows) for w, one in zip(shares, each, strict=True))
    np.testing.assert_allclose(all_of_it, expected, atol=1e-5)
    np.testing.assert_array_equal(model.predict(rows), model.predict(part.tolist()))


def test_other_numbers_of_columns_are_refused(moons):
    X, y = moons
    K = gram(X, kernel="rbf")
    searched = KreinLogisticRegressionCV(lams=[0.1], kernel="precomputed", cv=2)
    for model in (KreinSVC(kernel="precomputed"), searched):
        fitted_by_part(model, K, y)
        n = len(model.support_)
        for wrong in (n - 1, n + 1, 79, 81):
            words = (
                rf"X has {wrong} features, but .* expecting 80 .*one column per train"
            )
            with pytest.raises(ValueError, match=words):
                model.predict(np.ones((2, wrong)))


def test_estimators_with_supports_of_their_own(moons):
    X, y = moons
    K = np.abs(X[:, None] - X).sum(axis=2)
    model = KreinLogisticRegressionCV(
        lams=[0.1], kernel="distance", kernel_grid={"width": [1, 1.1]}, cv=2
    ).fit(K, y)
    assert len(model.estimators_) == 2
    for each, unused in zip(model.estimators_, ([3, 7], [3, 50]), strict=True):
        each.dual_coef_[:, unused] = 0
        each._store_support(each._restore_kernel(), K)
    model.support_ = share_support(model.estimators_)
    np.testing.assert_array_equal(model.support_, np.delete(np.arange(80), 3))
    np.testing.assert_array_equal(
        model.decision_function(K), model.decision_function(K[:, model.support_])
    )
