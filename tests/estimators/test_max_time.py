import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression
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
