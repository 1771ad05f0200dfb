"""Prediction sets: thresholds against a count by hand, coverage, bad input."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import minmax_scale

import kreinlearn
from kreinlearn import KreinLogisticRegressionCV


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    D = cdist(minmax_scale(X), minmax_scale(X), "cityblock")
    train, new = np.arange(0, 178, 2), np.arange(1, 178, 2)
    labels = np.array(["barolo", "grignolino", "barbera"])[y]
    model = KreinLogisticRegressionCV(kernel="distance")
    model.fit(D[np.ix_(train, train)], labels[train])
    return model, D[np.ix_(new, train)], labels[new], labels[train]


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_sets_are_those_of_their_definition(wine, coverage, by_class):
    model, X, _, y_train = wine
    found = model.predict_set(X, coverage=coverage, by_class=by_class)
    proba = model.predict_proba(X)
    own = {
        k: [
            p[list(model.classes_).index(k)]
            for p, label in zip(model.held_out_proba_, y_train, strict=True)
            if label == k
        ]
        for k in model.classes_
    }
    for i, row in enumerate(proba):
        for j, k in enumerate(model.classes_):
            scores = own[k] if by_class else np.concatenate(list(own.values()))
            # The conformal p-value of this label.
            rank = sum(score <= row[j] for score in scores) + 1
            is_kept = rank / (len(scores) + 1) > 1 - coverage + 1e-12
            assert found[i, j] == (is_kept or j == row.argmax())


def test_sets_cover_new_samples_and_grow_with_the_coverage(wine):
    model, X, y, _ = wine
    index = np.searchsorted(model.classes_, y)
    sizes = []
    for coverage in (0.5, 0.9, 0.97):
        found = model.predict_set(X, coverage=coverage)
        assert found.dtype == bool and found.shape == (len(X), 3)
        assert found[np.arange(len(y)), index].mean() >= coverage - 0.05
        assert found.any(axis=1).all()
        sizes.append(found.sum())
    assert sizes == sorted(sizes)


def test_too_few_samples_keep_all_labels_with_a_warning(wine):
    model, X, _, _ = wine
    with pytest.warns(UserWarning, match=r"89 samples are too few .* at most 0.989"):
        assert model.predict_set(X, coverage=0.995).all()
    with pytest.warns(UserWarning, match="samples of a class are too few"):
        model.predict_set(X, coverage=0.98, by_class=True)


def test_samples_without_weight_do_not_count():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    weight = np.r_[np.ones(45), np.zeros(15)]
    model = KreinLogisticRegressionCV(kernel="rbf").fit(X, y, sample_weight=weight)
    assert (model.held_out_index_ == np.where(weight > 0, y, -1)).all()
    with pytest.warns(UserWarning, match="45 samples are too few"):
        model.predict_set(X, coverage=0.98)


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 95, float("nan")])
def test_a_coverage_outside_of_its_range_raises(wine, coverage):
    with pytest.raises(ValueError, match="'coverage' must be between 0 and 1, got"):
        wine[0].predict_set(wine[1], coverage=coverage)


def test_sets_need_a_fitted_model(wine, tmp_path):
    with pytest.raises(NotFittedError):
        KreinLogisticRegressionCV(kernel="distance").predict_set(wine[1])
    model, X, _, _ = wine
    kreinlearn.save(model, tmp_path / "m.krein")
    loaded = kreinlearn.load(tmp_path / "m.krein")
    np.testing.assert_array_equal(loaded.predict_set(X), model.predict_set(X))
    del loaded.held_out_index_
    with pytest.raises(ValueError, match="fit it again"):
        loaded.predict_set(X)
