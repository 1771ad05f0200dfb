"""Metadata that scikit-learn routes: weights to scorers, groups to splitters."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kreinlearn import (
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    LandmarkLogisticRegression,
)

rng = np.random.default_rng(0)
X = rng.uniform(size=(48, 3))
y = (X[:, 0] + 0.2 * rng.standard_normal(48) > 0.5).astype(int)
GROUPS = np.arange(48) // 4
WEIGHTS = rng.uniform(0.2, 3.0, size=48)
SMALL = {"kernel": "tl1", "kernel_grid": {"ratio": [0.7]}, "lams": [1e-2, 1e-3]}


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def search(**settings):
    return KreinLogisticRegressionCV(**{**SMALL, "cv": 3, **settings})


def scores(model, **given):
    """Return what a search finds without routing."""
    with config_context(enable_metadata_routing=False):
        return model.fit(X, y, **given).scores_


def test_groups_reach_the_splitter():
    model = search(cv=GroupKFold(3))
    found = model.fit(X, y, groups=GROUPS).scores_
    np.testing.assert_array_equal(found, scores(model, groups=GROUPS))
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        model.fit(X, y)


def test_groups_that_no_splitter_takes_are_refused():
    with pytest.raises(TypeError, match=r"fit got unexpected argument\(s\) {'groups'}"):
        search().fit(X, y, groups=GROUPS)


@pytest.mark.parametrize(
    "model",
    [
        KreinLogisticRegression(),
        LandmarkLogisticRegression(n_landmarks=10),
        search(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_weights_are_asked_for(model):
    with pytest.raises(UnsetMetadataPassedError, match=r"\[sample_weight\] are passed"):
        make_pipeline(MinMaxScaler(), model).fit(X, y, sample_weight=WEIGHTS)
    model.set_fit_request(sample_weight=True)
    found = make_pipeline(MinMaxScaler(), model).fit(X, y, sample_weight=WEIGHTS)
    rows = MinMaxScaler().fit_transform(X)
    by_hand = model.fit(rows, y, sample_weight=WEIGHTS).predict_proba(rows)
    np.testing.assert_array_equal(found.predict_proba(X), by_hand)


def test_by_name_a_scorer_gets_the_weights_of_the_fit():
    for scoring in ("neg_log_loss", "accuracy"):
        model = search(scoring=scoring)
        found = model.fit(X, y, sample_weight=WEIGHTS).scores_
        np.testing.assert_array_equal(found, scores(model, sample_weight=WEIGHTS))


def test_a_scorer_gets_weights_if_it_asks_for_them():
    seen = []

    def share(y_true, y_pred, sample_weight=None):
        seen.append(sample_weight)
        return np.average(y_true == y_pred, weights=sample_weight)

    scorer = make_scorer(share)
    model = search(scoring=scorer.set_score_request(sample_weight=True))
    model.fit(X, y, sample_weight=WEIGHTS)
    assert all(each is not None for each in seen)
    seen.clear()
    model.set_params(scoring=scorer.set_score_request(sample_weight=False))
    model.fit(X, y, sample_weight=WEIGHTS)
    assert seen
    assert all(each is None for each in seen)
    unset = get_scorer("accuracy")
    if "sample_weight" not in str(unset.get_metadata_routing()):
        return  # scorers of scikit-learn 1.6 declare no weights
    model.set_params(scoring=unset)
    with pytest.raises(UnsetMetadataPassedError, match=r"\[sample_weight\] are passed"):
        model.fit(X, y, sample_weight=WEIGHTS)


def test_requests_that_a_search_has():
    requests = search(cv=GroupKFold(3)).get_metadata_routing()
    assert requests.consumes("fit", ["groups", "sample_weight", "other"]) == {"groups"}
    asked = search().set_fit_request(sample_weight=True).get_metadata_routing()
    assert asked.consumes("fit", ["groups", "sample_weight"]) == {"sample_weight"}
