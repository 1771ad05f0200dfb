"""Callbacks of scikit-learn, where they exist: they receive the tasks of a fit."""

import subprocess
import sys

import numpy as np
import pytest

from kreinlearn import (
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    LandmarkFeatures,
    LandmarkLogisticRegression,
)

callback = pytest.importorskip(
    "sklearn.callback", reason="scikit-learn has callbacks from 1.9 on"
)
rng = np.random.default_rng(0)
X = rng.uniform(size=(50, 3))
y = (X[:, 0] > 0.5).astype(int)
SMALL = {"kernel": "tl1", "kernel_grid": {"ratio": [0.3, 0.5, 0.7]}, "cv": 2}


class Listener:
    """Writes down what it hears."""

    max_propagation_depth = None

    def __init__(self):
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, metadata=None):
        self.heard.append(("begin", context.task_name, X is not None, metadata))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        scores = None
        if fitted_estimator is not None:
            scores = fitted_estimator.predict(globals()["X"])
        self.heard.append(("end", context.task_name, scores))

    def tasks(self):
        return [(one[0], one[1]) for one in self.heard if isinstance(one, tuple)]


@pytest.mark.slow
def test_a_search_reports_its_race_its_settings_and_its_fits():
    listener = Listener()
    model = KreinLogisticRegressionCV(**SMALL).set_callbacks(listener)
    model.fit(X, y)
    tried = np.isfinite(model.scores_[..., 0]).any(axis=(1, 2)).sum()
    one = [("begin", "search of one setting"), ("end", "search of one setting")]
    assert listener.tasks() == [
        ("begin", "fit"),
        ("begin", "race"),
        ("end", "race"),
        ("begin", "search"),
        *one * tried,
        ("end", "search"),
        ("begin", "final fits"),
        ("end", "final fits"),
        ("end", "fit"),
    ]
    assert listener.heard[0] == "setup"
    assert listener.heard[-1] == "teardown"
    np.testing.assert_array_equal(listener.heard[-2][2], model.predict(X))
    expected = KreinLogisticRegressionCV(**SMALL).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize(
    "model",
    [
        KreinLogisticRegression(),
        KreinSVC(),
        LandmarkLogisticRegression(n_landmarks=5),
        LandmarkFeatures(n_landmarks=5),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_fit_reports_its_begin_and_end(model):
    listener = Listener()
    if not hasattr(model, "predict"):
        listener.on_fit_task_end = lambda estimator, context: listener.heard.append(
            ("end", context.task_name)
        )
    model.set_callbacks(listener).fit(X, y)
    assert listener.tasks() == [("begin", "fit"), ("end", "fit")]
    model.set_callbacks().fit(X, y)
    assert len(listener.heard) == 4


def test_bad_weights_are_named_at_any_place():
    weights = np.ones(50)
    for args, given in (((weights,), {}), ((), {"sample_weight": weights})):
        listener = Listener()
        model = KreinLogisticRegression().set_callbacks(listener)
        model.fit(X, y, *args, **given)
        assert listener.heard[1][3]["sample_weight"] is weights


def test_callbacks_are_torn_down_after_an_error():
    listener = Listener()
    with pytest.raises(ValueError, match="'lam' must be"):
        KreinLogisticRegression(lam=-1.0).set_callbacks(listener).fit(X, y)
    assert listener.heard[-1] == "teardown"


def test_a_progress_bar(capsys):
    model = KreinLogisticRegressionCV(**SMALL)
    model.set_callbacks(callback.ProgressBar()).fit(X, y)
    out = capsys.readouterr().out
    assert "KreinLogisticRegressionCV - fit" in out
    assert "search" in out
    assert "100%" in out


WITHOUT = """
import sys
import sklearn.cluster, sklearn.model_selection
sys.modules["sklearn.callback"] = None  # as before 1.9
from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV

X, y = [[0.0], [0.1], [0.8], [1.0]], [0, 0, 1, 1]
search = KreinLogisticRegressionCV(kernel="tl1", cv=2, lams=[0.1], kernel_grid={})
for model in (KreinLogisticRegression(), search):
    assert not hasattr(model, "set_callbacks")
    assert list(model.fit(X, y).predict(X)) == y
"""


@pytest.mark.slow
def test_without_callbacks_nothing_changes():
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)
