"""Controls: nearest neighbors by a similarity, and methods that never see it."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from kreinlearn.app.methods import (
    ALL_METHODS,
    NEIGHBOR_COUNTS,
    RBF_GAMMAS,
    SVM_COSTS,
    SimilarityNeighbors,
    evaluate,
    fit_method,
    get_status,
    inner_folds,
)
from kreinlearn.kernels import gram
from tests.conftest import gram_of_signature


@pytest.fixture
def flowers():
    X, y = load_iris(return_X_y=True)
    return minmax_scale(X), np.array(["a", "b", "c"])[y]


def naive(K, y, K_new, own_new, k):
    """Return predictions of the k nearest neighbors, one new sample at a time."""
    said = []
    for i, row in enumerate(K_new):
        squares = [own_new[i] + K[j, j] - 2 * row[j] for j in range(len(y))]
        nearest = sorted(range(len(y)), key=lambda j: squares[j])[:k]
        labels = [y[j] for j in nearest]
        most = max(labels.count(label) for label in labels)
        said.append(next(label for label in labels if labels.count(label) == most))
    return np.array(said)


@pytest.mark.parametrize("k", [*map(int, NEIGHBOR_COUNTS), 2, 4])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_neighbors_are_those_of_a_loop(k, n_classes):
    """Squared distances of an indefinite matrix, some of them negative."""
    K = np.random.default_rng(k).normal(size=(55, 55))
    K = K + K.T
    y = np.arange(len(K)) * 7 % n_classes - 1
    train, new = np.arange(35), np.arange(35, len(K))
    squares = np.add.outer(np.diag(K), np.diag(K)) - 2 * K
    assert (squares < -0.01).any()
    A, B = K[np.ix_(train, train)], K[np.ix_(new, train)]
    model = SimilarityNeighbors(k).fit(A, y[train])
    expected = naive(A, y[train], B, np.diag(K)[new], k)
    np.testing.assert_array_equal(model.predict(B), expected)
    scores = model.decision_function(B)
    assert scores.shape == ((len(new),) if n_classes == 2 else (len(new), n_classes))


def test_a_linear_kernel_has_the_neighbors_of_scikit_learn(flowers, rng):
    X, y = flowers
    X = X + 0.01 * rng.normal(size=X.shape)  # no two are equally near
    model = SimilarityNeighbors(5).fit(X[::2] @ X[::2].T, y[::2])
    oracle = KNeighborsClassifier(5).fit(X[::2], y[::2])
    A = X[1::2] @ X[::2].T
    shares = oracle.predict_proba(X[1::2])
    untied = (shares == shares.max(axis=1, keepdims=True)).sum(axis=1) == 1
    assert untied.sum() > 50
    np.testing.assert_array_equal(
        model.predict(A)[untied], oracle.predict(X[1::2])[untied]
    )


def test_ties_of_votes_go_to_the_nearest():
    y = np.array(["far", "near", "near", "far", "other"])
    K_new = np.array([[0.5, 0.9, 0.1, 0.4, 0.8]])
    K = np.eye(5)
    for k, winner in ((1, "near"), (2, "near"), (3, "near"), (4, "far"), (5, "near")):
        assert SimilarityNeighbors(k).fit(K, y).predict(K_new) == winner
    assert SimilarityNeighbors(99).fit(K, y).predict(K_new) == "near"


def test_neighbors_are_tuned_by_accuracy():
    K = gram_of_signature(40, 20)
    y = np.arange(len(K)) % 2
    fitted = fit_method("k-NN", K, y, fold_seed=2, seed=0)
    means = {}
    for k in NEIGHBOR_COUNTS:
        right = []
        for train, test in inner_folds(y, 2):
            A, B = K[np.ix_(train, train)], K[np.ix_(test, train)]
            own = np.diag(K)[test]
            right.append((naive(A, y[train], B, own, int(k)) == y[test]).mean())
        means[k] = np.mean(right)
    np.testing.assert_allclose(fitted.choice.scores[0], list(means.values()))
    assert fitted.fields()["chosen"] == {"n_neighbors": max(means, key=means.get)}
    fields = evaluate(fitted.model, K, y)
    assert "ll" not in fields and fields["score"].shape == (len(y),)


@pytest.mark.parametrize(
    ("name", "oracle", "grid", "scoring"),
    [
        ("logistic regression", LogisticRegression(max_iter=1000), {}, "neg_log_loss"),
        ("SVC RBF", SVC(), {"gamma": RBF_GAMMAS}, "accuracy"),
    ],
)
def test_features_are_searched_on_the_same_folds(flowers, name, oracle, grid, scoring):
    X, y = flowers
    fitted = fit_method(name, X, y, fold_seed=4, seed=0)
    grid = {"C": list(SVM_COSTS), **grid}
    search = GridSearchCV(oracle, grid, scoring=scoring, cv=inner_folds(y, 4))
    search.fit(X, y)
    assert fitted.fields() == {"status": "converged", "chosen": search.best_params_}
    np.testing.assert_array_equal(fitted.model.predict(X), search.predict(X))
    assert ("ll" in evaluate(fitted.model, X, y)) == ALL_METHODS[name].has_proba


def test_a_logistic_regression_that_was_cut_short_warns(flowers):
    X, y = flowers
    model = LogisticRegression(C=1e6, max_iter=2)
    with pytest.warns(UserWarning, match="converge"):
        model.fit(X, y)
    assert get_status(model) == "max_iter"
    assert get_status(SVC(max_iter=-1).fit(gram(X), y)) == "converged"


def test_which_are_controls():
    assert {
        each.name: (each.input == "rows")
        for each in ALL_METHODS.values()
        if each.is_control
    } == {
        "k-NN": False,
        "logistic regression": True,
        "SVC RBF": True,
    }
