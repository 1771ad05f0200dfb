"""What a search leaves out early, and that little is lost by it."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.preprocessing import minmax_scale

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.kernels import gram, resolve_kernel
from kreinlearn.search import racing
from kreinlearn.search.candidates import Candidate
from kreinlearn.search.grid import stratified_subsample

SETTINGS = [resolve_kernel("tl1", {"ratio": ratio}) for ratio in (0.1, 0.3, 0.5)]
SETTINGS.append(resolve_kernel("rbf"))


def moons(n=120):
    X, y = make_moons(n, noise=0.25, random_state=0)
    return minmax_scale(X), y


class Logs:
    """A scorer whose scores are log-probabilities."""

    def compute_logs(self, scores, rows):
        return scores[:, 0], None


def race(means, noise, n, settings=SETTINGS, held=400, best=3):
    """Finish a race in which models have these means; return windows and dropped."""
    rng = np.random.default_rng(0)
    shared = rng.normal(0, 1, held)
    candidates = []
    for i, mean in enumerate(means):
        logs = mean + shared + noise * rng.normal(0, 1, held)
        scores = np.zeros((10, held, 1))
        scores[best, :, 0] = logs
        criteria = np.where(np.arange(10) == best, mean, -np.inf)
        about = (np.ones(10), True, [scores], None, None, criteria)
        candidates.append(Candidate(i, "hilbert", 0.5, *about))
    context = SimpleNamespace(
        Y=np.zeros((n, 1)), settings=settings, n_first=10, n_used=2 * held
    )
    small = SimpleNamespace(folds=[(None, np.arange(held))], scorer=Logs(), n_used=held)
    return racing.finish_race(context, small, candidates)


def test_what_is_clearly_behind_is_dropped():
    windows, units, dropped = race([-0.9, -0.2, -0.5, -0.6], 0.1, 400)
    assert list(windows) == [1, 2, 0]  # neighbors of the best stay, the best first
    assert windows[1] == {"hilbert": slice(2, 5)}
    np.testing.assert_array_equal(units, 0.25)
    (why,) = dropped
    assert why["kernel"] == "rbf" and why["norm"] == "hilbert"
    assert why["rows"] == 400 and why["reason"] == "clearly behind"
    assert why["behind"] == pytest.approx(0.4, abs=0.02)
    assert why["error"] == pytest.approx(0.1 * 2**0.5 / 20, rel=0.2)


def test_doubt_keeps():
    assert race([-0.5, -0.2, -0.5, -0.25], 2.0, 300)[2] == []


def test_subsamples_keep_the_classes_in_proportion():
    index = np.repeat([0, 1, 2], [700, 250, 50])
    rows = stratified_subsample(index, 100, seed=0)
    assert len(np.unique(rows)) == 100 and (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(np.bincount(index[rows]), [70, 25, 5])
    assert not np.array_equal(rows, stratified_subsample(index, 100, seed=1))
    np.testing.assert_array_equal(stratified_subsample(index, 1000, 0), np.arange(1000))


def test_few_samples_of_two_classes_are_searched_whole():
    X, y = moons()
    assert KreinLogisticRegressionCV(cv=3).fit(X[:60], y[:60]).dropped_ == []


def test_full_tries_everything(monkeypatch):
    monkeypatch.setattr("kreinlearn.search.racing.MIN_ROWS", 0)
    X, y = moons()
    full = KreinLogisticRegressionCV(search="full", cv=3).fit(X, y)
    assert full.dropped_ == [] and not np.isnan(full.scores_[..., :10, :]).any()
    auto = KreinLogisticRegressionCV(cv=3).fit(X, y)
    settings = [(name, params) for name, params in auto.kernel_settings_]
    gone = {
        (settings.index((why["kernel"], why["params"])), auto.norms.index(why["norm"]))
        for why in auto.dropped_
    }
    tried = ~np.isnan(auto.scores_).all(axis=(2, 3))
    assert gone == {tuple(place) for place in np.argwhere(~tried)} != set()
    assert auto.best_score_ == pytest.approx(full.best_score_, abs=0.01)
    both = ~np.isnan(auto.scores_)
    most = auto.scores_.shape[2]
    np.testing.assert_allclose(
        auto.scores_[both], full.scores_[:, :, :most][both], atol=2e-3
    )


def test_same_data_same_choice():
    X, y = moons()
    one, two = (KreinLogisticRegressionCV(cv=3).fit(X, y) for _ in range(2))
    assert one.dropped_ == two.dropped_
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_another_judge_sees_everything():
    X, y = moons(60)
    model = KreinLogisticRegressionCV(scoring="accuracy", cv=2, kernel="tl1")
    assert model.fit(X, y).dropped_ == []


@pytest.mark.slow
def test_many_samples_are_chosen_by_some(monkeypatch):
    X, y = make_classification(400, 5, random_state=0)
    monkeypatch.setattr("kreinlearn.search.racing.SEARCH_ROWS", 200)
    model = KreinLogisticRegressionCV(kernel=("tl1", "rbf"), cv=3).fit(X, y)
    held = ~np.isnan(model.held_out_proba_).any(axis=1)
    assert held.sum() == 200
    np.testing.assert_allclose(y[held].mean(), y.mean(), atol=0.01)
    units = model.lams_ / model.lam_units_[:, None]
    np.testing.assert_allclose(units[0, :4], [100, 30, 10, 3])
    assert model.estimators_[0].dual_coef_.shape == (1, 400)
    assert model.score(X, y) > 0.9
    full = KreinLogisticRegressionCV(kernel=("tl1", "rbf"), cv=3, search="full")
    full.fit(X, y)
    assert np.isfinite(full.held_out_proba_).all()
    chosen = full.kernel_settings_.index((model.kernel_, model.kernel_params_))
    assert full.lam_units_[chosen] == pytest.approx(model.lam_units_[chosen], rel=0.1)


@pytest.mark.parametrize("kernel", ["precomputed", "distance", "dtw"])
def test_given_and_measured_matrices_are_cut(monkeypatch, kernel):
    monkeypatch.setattr("kreinlearn.search.racing.SEARCH_ROWS", 60)
    monkeypatch.setattr("kreinlearn.search.racing.RACE_ROWS", 40)
    X, y = moons(90)
    if kernel == "precomputed":
        X = gram(X, kernel="tl1", ratio=0.5)
    elif kernel == "distance":
        X = np.abs(X[:, None] - X[None]).sum(axis=2)
    model = KreinLogisticRegressionCV(kernel=kernel, cv=2).fit(X, y)
    assert (~np.isnan(model.held_out_proba_[:, 0])).sum() == 60
    assert model.score(X, y) > 0.8


def test_search_is_checked():
    with pytest.raises(ValueError, match="'search' must be"):
        KreinLogisticRegressionCV(search="quick").fit(*moons(30))


def test_many_samples_are_not_decomposed(monkeypatch):
    monkeypatch.setattr("kreinlearn.estimators.logistic_cv.MAX_DECOMPOSED", 50)
    X, y = make_moons(60, noise=0.3, random_state=0)
    given = {"kernel": "tl1", "cv": 2}
    model = KreinLogisticRegressionCV(**given).fit(X, y)
    assert {each.norm for each in model.estimators_} == {"euclidean"}
    assert np.isnan(model.scores_[:, 0]).all()
    reasons = [why["reason"] for why in model.dropped_ if why["norm"] == "hilbert"]
    assert len(reasons) == len(model.kernel_settings_)
    assert all("eigenvectors of 60 samples" in reason for reason in reasons)
    full = KreinLogisticRegressionCV(search="full", **given).fit(X, y)
    assert not np.isnan(full.scores_[:, 0]).all()
    alone = KreinLogisticRegressionCV(norms=["hilbert"], **given).fit(X, y)
    assert alone.norm_ == "hilbert"
