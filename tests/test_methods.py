import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from kreinlearn import (
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    SpectrumRepair,
)
from kreinlearn import methods as contenders
from kreinlearn.kernels import gram
from kreinlearn.methods import (
    CONTENDERS,
    STRENGTHS,
    Tuned,
    fit,
    inner_folds,
    outcome_fields,
)
from tests.conftest import gram_of_signature

MATRIX = [name for name, each in CONTENDERS.items() if not each.on_samples]


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return gram(minmax_scale(X[::3]), kernel="tl1"), y[::3]


@pytest.mark.parametrize("name", MATRIX)
def test_every_method_learns_two_and_three_classes(name, flowers):
    K, y = flowers
    for rows in (y < 2, y >= 0):
        K_some, y_some = K[np.ix_(rows, rows)], y[rows]
        model = fit(name, K_some, y_some, fold_seed=0, seed=1)
        n_classes = len(np.unique(y_some))
        least = 0.6 if name.endswith("SGD") else 0.8
        assert (model.predict(K_some) == y_some).mean() > least
        has_proba = hasattr(model, "predict_proba")
        assert has_proba != ("SVC" in name or "SVM" in name)
        if has_proba:
            proba = model.predict_proba(K_some)
            assert proba.shape == (len(y_some), n_classes)
            np.testing.assert_allclose(proba.sum(axis=1), 1)
        scores = np.asarray(model.decision_function(K_some))
        assert scores.shape == ((len(y_some),) + (n_classes,) * (n_classes > 2))
        fields = outcome_fields(model)
        assert fields["status"] in ("converged", "max_iter", "diverged")
        assert {"lam", "C"} & set(fields["chosen"])


def test_the_recommended_one_brings_its_kernels(rings):
    X, y = rings
    model = fit("KreinCV", X, y, fold_seed=3, seed=0)
    alone = KreinLogisticRegressionCV(cv=inner_folds(y, 3)).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
    assert outcome_fields(model)["chosen"]["kernel"] == alone.kernel_


@pytest.mark.parametrize(
    ("name", "last", "parameter", "scoring"),
    [
        ("clip + KLR", KreinLogisticRegression("precomputed"), "lam", "neg_log_loss"),
        ("SVC flip", SVC(kernel="precomputed"), "C", "accuracy"),
    ],
)
def test_tuning_is_that_of_a_grid_search(indefinite, name, last, parameter, scoring):
    K, y = indefinite
    mode = "clip" if "clip" in name else "flip"
    pipeline = make_pipeline(SpectrumRepair(mode), last)
    step = f"{pipeline.steps[-1][0]}__{parameter}"
    values = [s / len(y) if parameter == "lam" else 1 / s for s in STRENGTHS]
    oracle = GridSearchCV(
        pipeline, {step: values}, cv=inner_folds(y, 5), scoring=get_scorer(scoring)
    ).fit(K, y)
    model = fit(name, K, y, fold_seed=5, seed=0)
    np.testing.assert_allclose(model.scores_, oracle.cv_results_["mean_test_score"])
    assert getattr(model.model_, parameter) == oracle.best_params_[step]
    new = K[:7]
    np.testing.assert_allclose(
        model.decision_function(new), oracle.decision_function(new), rtol=1e-6
    )


def test_all_are_tuned_on_the_same_folds(monkeypatch, indefinite):
    seen = []
    original = contenders.inner_folds
    monkeypatch.setattr(
        contenders,
        "inner_folds",
        lambda y, seed: seen.append(original(y, seed)) or seen[-1],
    )
    K, y = indefinite
    for name in ("IKLR", "SVC raw", "CCICP-GD"):
        fit(name, K, y, fold_seed=11, seed=0)
    for folds in seen[1:]:
        for one, other in zip(folds, seen[0], strict=True):
            np.testing.assert_array_equal(one[1], other[1])


def test_rare_classes_get_fewer_inner_folds():
    y = np.array([0] * 20 + [1] * 3)
    assert len(inner_folds(y, 0)) == 3


def test_divergence_is_recorded_and_never_preferred():
    K = gram_of_signature(30, 10, scale=50.0)
    y = np.where(K[0] > np.median(K[0]), 1, 0)
    model = fit("CCICP-GD", K, y, fold_seed=0, seed=0)  # warnings are errors here
    ended = outcome_fields(model)["cv"]
    assert ended["diverged"] > 0 and sum(ended.values()) == 5 * len(STRENGTHS)
    lost = np.isclose(model.scores_, -contenders.WORST_LOG_LOSS)
    assert lost.any() and (lost.all() or not lost[model.scores_.argmax()])


def test_ties_go_to_the_strongest():
    K, y = np.eye(20), np.arange(20) % 2
    values = [1 / s for s in STRENGTHS]
    model = Tuned(SVC(kernel="precomputed"), "C", values, inner_folds(y, 0)).fit(K, y)
    assert model.model_.C == 0.01
