from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from kreinlearn import (
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    SpectrumRepair,
)
from kreinlearn.app import methods as tuning
from kreinlearn.app.methods import (
    ALL_METHODS,
    LAM_UNITS,
    MAX_LOG_LOSS,
    SVM_COSTS,
    Method,
    evaluate,
    fit_method,
    get_iterations,
    get_status,
    held_out_scores,
    inner_folds,
    published,
    tune,
    worst_status,
)
from kreinlearn.kernels import gram
from kreinlearn.solvers import PUBLISHED
from reproduction.methods import one_vs_rest
from tests.conftest import gram_of_signature

MATRIX = [name for name, each in ALL_METHODS.items() if each.input == "gram"]
PATHS = [
    name
    for name, each in ALL_METHODS.items()
    if each.path is not None and not each.is_calibrated
]


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return gram(minmax_scale(X[::3]), kernel="tl1"), y[::3]


@pytest.fixture
def task(rings):
    X, y = rings
    return gram(X[:40]), y[:40], gram(X[40:], X[:40])


CLASSES = [
    pytest.param(name, n_classes, marks=[pytest.mark.slow] * (name not in some))
    for n_classes, some in ((2, MATRIX), (3, ("Krein norm", "SVC clip", "CCICP-GD")))
    for name in MATRIX
]


@pytest.mark.parametrize(("name", "n_classes"), CLASSES)
def test_every_method_learns_two_and_three_classes(name, n_classes, flowers):
    K, y = flowers
    rows = y < n_classes
    K_some, y_some = K[np.ix_(rows, rows)], y[rows]
    fitted = fit_method(name, K_some, y_some, fold_seed=0, seed=1)
    model = fitted.model
    assert n_classes == len(np.unique(y_some))
    least = 0.6 if name.endswith("SGD") else 0.8
    assert (model.predict(K_some) == y_some).mean() > least
    has_proba = hasattr(model, "predict_proba")
    is_margin = "SVC" in name or "SVM" in name or name == "k-NN"
    assert has_proba != (is_margin and "Platt" not in name)
    assert has_proba == ALL_METHODS[name].has_proba
    if has_proba:
        proba = model.predict_proba(K_some)
        assert proba.shape == (len(y_some), n_classes)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
    if ALL_METHODS[name].is_calibrated:
        return
    scores = np.asarray(model.decision_function(K_some))
    assert scores.shape == ((len(y_some),) + (n_classes,) * (n_classes > 2))
    fields = fitted.fields()
    assert fields["status"] in ("converged", "max_iter", "diverged")
    assert {"lam", "C", "n_neighbors"} & set(fields["chosen"])


@pytest.mark.slow
def test_the_recommended_one_brings_its_kernels(rings):
    X, y = rings
    fitted = fit_method("KreinCV", X, y, fold_seed=3, seed=0)
    alone = KreinLogisticRegressionCV(cv=inner_folds(y, 3)).fit(X, y)
    np.testing.assert_array_equal(fitted.model.predict_proba(X), alone.predict_proba(X))
    assert fitted.fields()["chosen"]["kernel"] == alone.kernel_


@pytest.mark.slow
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
    values = [s / len(y) for s in LAM_UNITS] if parameter == "lam" else list(SVM_COSTS)
    oracle = GridSearchCV(
        pipeline, {step: values}, cv=inner_folds(y, 5), scoring=get_scorer(scoring)
    ).fit(K, y)
    fitted = fit_method(name, K, y, fold_seed=5, seed=0)
    expected = oracle.cv_results_["mean_test_score"]
    np.testing.assert_allclose(fitted.choice.scores[0], expected)
    assert fitted.choice.value == oracle.best_params_[step]
    new = K[:7]
    np.testing.assert_allclose(
        fitted.model.decision_function(new), oracle.decision_function(new), rtol=1e-6
    )


def test_all_are_tuned_on_the_same_folds(monkeypatch, indefinite):
    seen = []
    original = tuning.inner_folds
    monkeypatch.setattr(
        tuning,
        "inner_folds",
        lambda y, seed, **given: seen.append(original(y, seed, **given)) or seen[-1],
    )
    K, y = indefinite
    for name in ("KreinCV", "SVC raw", "CCICP-GD"):
        fit_method(name, K, y, fold_seed=11, seed=0, kernel={"kernel": "precomputed"})
    for folds in seen[1:]:
        for one, other in zip(folds, seen[0], strict=True):
            np.testing.assert_array_equal(one[1], other[1])


def test_rare_classes_get_fewer_inner_folds():
    y = np.array([0] * 20 + [1] * 3)
    assert len(inner_folds(y, 0)) == 3


def test_divergence_is_recorded_and_never_preferred():
    K = gram_of_signature(30, 10, scale=50.0)
    y = np.where(K[0] > np.median(K[0]), 1, 0)
    fitted = fit_method("CCICP-GD", K, y, fold_seed=0, seed=0)  # warnings are errors
    ended = fitted.fields()["cv"]
    assert ended["diverged"] > 0 and sum(ended.values()) == 5 * len(LAM_UNITS)
    scores = fitted.choice.scores[0]
    lost = np.isclose(scores, -MAX_LOG_LOSS)
    assert lost.any() and (lost.all() or not lost[scores.argmax()])


def test_a_method_is_added_as_one_record(monkeypatch, flowers):
    """Similarities as features: what a matrix is good for without any theory."""
    K, y = flowers
    method = Method(
        "rows as features",
        lambda value, seed: LogisticRegression(C=value),
        "C",
        "multinomial",
    )
    monkeypatch.setitem(ALL_METHODS, method.name, method)
    fitted = fit_method(method.name, K, y, fold_seed=0, seed=0)
    folds, values = inner_folds(y, 0), method.values(len(y))
    choice = tune(method, [K], y, folds, values, seed=0)
    expected = [
        -log_loss(y[test], LogisticRegression(C=C).fit(A, y[train]).predict_proba(B))
        for C in values
        for train, test in folds
        for A, B in [(K[np.ix_(train, train)], K[np.ix_(test, train)])]
    ]
    expected = np.reshape(expected, (len(values), len(folds))).mean(axis=1)
    np.testing.assert_allclose(choice.scores[0], expected)
    assert fitted.fields()["chosen"] == {"C": values[expected.argmax()]}
    assert evaluate(fitted.model, K, y)["acc"] > 0.9


@pytest.mark.parametrize("name", [name for name in PATHS if "SGD" not in name])
@pytest.mark.filterwarnings("ignore::kreinlearn.exceptions.ConvergenceWarning")
def test_path_and_estimators_end_at_the_same_solution(task, name):
    method, values = ALL_METHODS[name], [0.01, 0.1, 1.0]
    K, y, K_new = task
    fits = method.path(K, y, K_new, values, 0)
    for value, (scores, status) in zip(values, fits, strict=True):
        model = method.build(value, 0).fit(K, y)
        assert status == get_status(model)
        # Both stop at a residual of 1e-6; scores are of order one.
        expected = model.decision_function(K_new)
        np.testing.assert_allclose(scores[:, 0], expected, atol=1e-4)


@pytest.mark.parametrize(
    "method",
    [
        ALL_METHODS["Krein norm"],
        ALL_METHODS["clip + KLR"],
        *(one_vs_rest(ALL_METHODS[name]) for name in ("Krein norm", "flip + KLR")),
        one_vs_rest(ALL_METHODS["SVC raw"]),
    ],
    ids=lambda method: method.name,
)
def test_path_and_estimators_agree_on_three_classes(flowers, method):
    K, y = flowers
    train, test = np.arange(50) % 3 > 0, np.arange(50) % 3 == 0
    K, K_new = K[np.ix_(train, train)], K[np.ix_(test, train)]
    fits = method.path(K, y[train] + 4, K_new, [0.1, 1.0], 0)
    for value, (scores, status) in zip([0.1, 1.0], fits, strict=True):
        model = method.build(value, 0).fit(K, y[train] + 4)
        assert scores.shape == (17, 3)
        assert status == get_status(model) == "converged"
        predicted = np.unique(y + 4)[scores.argmax(axis=1)]
        np.testing.assert_array_equal(predicted, model.predict(K_new))


def test_stochastic_paths_repeat_with_their_seed_and_do_not_depend_on_the_grid(task):
    method, values = ALL_METHODS["CCICP-SGD"], [0.01, 0.1, 1.0]
    first = method.path(*task, values, 3)
    again = method.path(*task, values[1:], 3)
    other = method.path(*task, values, 4)
    np.testing.assert_array_equal(first[1][0], again[0][0])
    assert not np.array_equal(first[1][0], other[1][0])


def test_a_search_solves_the_same_problems_more_loosely(task):
    method = ALL_METHODS["Krein norm"]
    one = method.path(*task, [1.0, 0.1, 0.01], 0)
    two = method.search_path(*task, [1.0, 0.1, 0.01], 0)
    for (scores, _), (others, _) in zip(one, two, strict=True):
        np.testing.assert_allclose(others, scores, atol=1e-2)
    # The last step of a single fit may reach both tolerances.
    both = zip(one, two, strict=True)
    assert not all(np.array_equal(scores, others) for (scores, _), (others, _) in both)


def scripted(parameter, shares):
    """Return a method that is right on a prescribed share of the new samples."""

    def path(K, y, K_new, values, seed):
        truth = K_new[:, 0]  # the test hides the labels there
        found = []
        for value in values:
            share, status = shares[value], "converged"
            if isinstance(share, str):
                share, status = 1.0, share
            wrong = np.arange(len(truth)) >= round(share * len(truth))
            found.append((np.where(wrong, -truth, truth)[:, None], status))
        return found

    return Method("scripted", None, parameter, path=path)


def chosen(parameter, shares, matrices=1):
    y = np.tile([1, -1], 25)
    K = np.repeat(y[:, None], len(y), axis=1).astype(float)
    method, values = scripted(parameter, shares), sorted(shares)
    return tune(method, [K] * matrices, y, inner_folds(y, 0), values, seed=1)


def test_the_best_value_wins():
    choice = chosen("lam", {0.1: 0.6, 1.0: 0.8, 10.0: 0.4})
    assert choice.value == 1.0
    assert choice.scores == pytest.approx(np.array([[0.6, 0.8, 0.4]]))
    assert choice.statuses == Counter(converged=15) and choice.rows == 50


@pytest.mark.parametrize(
    ("parameter", "value"), [("lam", 10.0), ("C", 0.1), ("n_neighbors", 10.0)]
)
def test_ties_go_to_more_regularization_and_the_first_matrix(parameter, value):
    choice = chosen(parameter, {0.1: 0.8, 1.0: 0.8, 10.0: 0.8}, matrices=2)
    assert (choice.value, choice.setting) == (value, 0)


def test_diverged_fits_count_as_wrong():
    choice = chosen("lam", {0.1: 0.2, 1.0: "diverged", 10.0: "nonfinite"})
    assert choice.value == 0.1
    assert choice.statuses == Counter(converged=5, diverged=5, nonfinite=5)


def test_ties_of_estimators_go_to_the_strongest():
    K, y = np.eye(20), np.arange(20) % 2
    assert fit_method("SVC raw", K, y, fold_seed=0, seed=0).choice.value == 0.01


def test_folds_that_miss_a_class():
    y = np.array([1] + [-1] * 14)
    X = np.linspace(0, 1, 15)
    K = np.maximum(1 - np.abs(X[:, None] - X), 0)
    folds = [(np.arange(3 * k), np.arange(3 * k, 3 * k + 3)) for k in (1, 2, 3, 4)]
    folds.append((np.arange(3, 15), np.arange(3)))
    method = ALL_METHODS["Krein norm"]
    scores, statuses = held_out_scores(method, K, y, folds, [0.1, 1.0], 0)
    assert [len(each) for each in statuses] == [2, 2, 2, 2, 0]
    assert (scores[:, :3] == -np.inf).all() and np.isfinite(scores[:, 3:]).all()
    choice = tune(method, [K], y, folds, [0.1, 1.0], seed=0, score="accuracy")
    assert sum(choice.statuses.values()) == 4 * 2
    assert 0.9 <= choice.scores.max() <= 1
    three = np.repeat([0, 1, 2], 5)
    fold = [(np.arange(10), np.arange(10, 15)), (np.arange(5, 15), np.arange(5))]
    scores, _ = held_out_scores(method, K, three, fold, [1.0], 0)
    assert (scores[0, 10:, 2] == -np.inf).all() and (scores[0, :5, 0] == -np.inf).all()


def test_cross_validation_of_several_matrices(flowers):
    K, y = flowers
    method, folds = ALL_METHODS["Krein norm"], inner_folds(y, 0)
    values = [0.001, 0.01, 0.1]
    choice = tune(method, [K, np.eye(50)], y, folds, values, seed=0, score="accuracy")
    assert choice.setting == 0
    assert choice.scores[0].max() > 0.8 and choice.scores[1].max() < 0.5


def test_the_worst_ending_counts(flowers):
    assert worst_status(["converged", "diverged", "max_iter"]) == "diverged"
    K, y = flowers
    method = published("gd", PUBLISHED["ccicp-gd"])
    [(_, status)] = method.path(100 * K, y, K, [10.0], 0)
    assert status == "diverged"


def test_status_and_iterations_of_pipelines_and_of_scikit_learn(task):
    K, y, _ = task
    pipeline = ALL_METHODS["clip + KLR"].build(0.1, 0).fit(K, y)
    assert get_status(pipeline) == "converged"
    assert get_iterations(pipeline) == pipeline[-1].n_iter_
    svc = ALL_METHODS["SVC raw"].build(1.0, 0).fit(K, y)
    assert get_status(svc) == "converged"
    assert get_iterations(svc) > 0
