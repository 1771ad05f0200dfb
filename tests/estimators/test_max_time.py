import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.exceptions import ConvergenceWarning
from kreinlearn.kernels import gram

X = np.random.default_rng(0).uniform(size=(80, 3))
THREE = np.digitize(X[:, 0], [0.3, 0.6])
K = gram(X)


@pytest.mark.parametrize("solver", ["newton", "cccp-gd"])
@pytest.mark.parametrize("multi_class", ["auto", "ovr"])
def test_time_that_is_over_ends_a_fit_with_what_it_has(solver, multi_class):
    settings = {"solver": solver, "multi_class": multi_class, "lam": 1e-6}
    model = KreinLogisticRegression("precomputed", max_time=1e-9, **settings)
    with pytest.warns(ConvergenceWarning, match="status 'max_time'"):
        model.fit(K, THREE)
    assert model.status_ == "max_time"
    assert np.isfinite(model.dual_coef_).all()


def test_a_fit_stopped_on_the_path_is_kept_as_far_as_it_came(monkeypatch):
    ticks = iter(range(1000))
    monkeypatch.setattr("time.monotonic", lambda: next(ticks))
    model = KreinLogisticRegression("precomputed", lam=1e-9, max_time=12.5)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(K, THREE)
    assert model.history_[-1]["lam"] > 1e-9  # stopped before the last lam
    assert (model.predict(K) == THREE).mean() > 0.9


def test_time_enough_changes_nothing():
    usual = KreinLogisticRegression("precomputed").fit(K, THREE)
    other = KreinLogisticRegression("precomputed", max_time=600.0).fit(K, THREE)
    assert other.status_ == "converged"
    np.testing.assert_array_equal(usual.dual_coef_, other.dual_coef_)
    with pytest.raises(ValueError, match="'max_time' must be a positive number"):
        KreinLogisticRegression("precomputed", max_time=0).fit(K, THREE)


@pytest.mark.parametrize("search", ["auto", "full"])
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.filterwarnings("ignore:newton stopped")
def test_time_that_is_over_ends_a_search_with_the_best_so_far(search, n_jobs):
    model = KreinLogisticRegressionCV(search=search, n_jobs=n_jobs, max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="after 1 of 16 settings"):
        model.fit(X, THREE)
    assert model.status_ == "max_time"
    untried = [one for one in model.dropped_ if one["reason"] == "max_time"]
    assert len(untried) == 15 * 2
    assert len(model.estimators_) == 1
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_search_tries_the_most_promising_first_and_stops_in_between(monkeypatch):
    tried = []
    model = KreinLogisticRegressionCV(
        kernel="rbf", kernel_grid={"sigma": [0.01, 1.0]}, verbose=tried.append
    )
    model.fit(X, THREE)
    assert tried[0]["sigma"] == model.kernel_params_["sigma"] == 1.0
    tried.clear()
    KreinLogisticRegressionCV(kernel="rbf", verbose=tried.append).fit(X, THREE)
    order = list(dict.fromkeys(row["sigma"] for row in tried))
    ticks = iter([0.0] * 6 + [100.0] * 1000)  # over once two settings have been tried
    monkeypatch.setattr(
        "kreinlearn.estimators.logistic_cv.time.monotonic", ticks.__next__
    )
    some = KreinLogisticRegressionCV(kernel="rbf", max_time=50.0)
    with pytest.warns(ConvergenceWarning, match="after 2 of 5 settings"):
        some.fit(X, THREE)
    late = {one["params"]["sigma"] for one in some.dropped_}
    assert not late & set(order[:2])
    best = max(row["score"] for row in tried if row["sigma"] in order[:2])
    assert some.best_score_ == pytest.approx(best, abs=1e-4)


def test_time_enough_for_a_search_changes_nothing():
    usual = KreinLogisticRegressionCV(kernel="tl1").fit(X, THREE)
    other = KreinLogisticRegressionCV(kernel="tl1", max_time=600.0).fit(X, THREE)
    assert other.status_ == usual.status_ == "converged"
    # each setting is then a batch of its own
    proba = usual.predict_proba(X), other.predict_proba(X)
    np.testing.assert_allclose(*proba, atol=1e-4)
    with pytest.raises(ValueError, match="'max_time' must be a positive number"):
        KreinLogisticRegressionCV(max_time=-1).fit(X, THREE)
