"""Contributions of training samples to the scores of new samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import minmax_scale

from kreinlearn import (
    DCASVC,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    LandmarkLogisticRegression,
)

X, Y = load_iris(return_X_y=True)
X = minmax_scale(X)
NEW = X[1::10]
D = np.abs(X[:, None] - X).sum(axis=2)
WORDS = ["cat", "car", "cut", "dog", "dot", "dig"] * 4


def add_up(model, new):
    """Return the sums of all contributions and the intercept."""
    found = model.explain(new, top=None)
    wide = found.pivot_table("contribution", "sample", "class", "sum")
    if isinstance(model, KreinLogisticRegressionCV):
        each = zip(model.weights_, model.estimators_, strict=True)
        intercept = sum(weight * one.intercept_ for weight, one in each)
    else:
        intercept = model.intercept_
    return wide.to_numpy() + intercept


def assert_adds_up(model, new):
    scores = np.atleast_2d(model.decision_function(new).T).T
    np.testing.assert_allclose(add_up(model, new), scores, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "model",
    [
        KreinLogisticRegression(lam=1e-3),
        KreinLogisticRegression("rbf", lam=1e-3, norm="hilbert"),
        KreinSVC(),
        DCASVC(),
        LandmarkLogisticRegression(n_landmarks=20),
        KreinLogisticRegressionCV(cv=3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_and_intercept_add_up_to_the_score(model, n_classes):
    used = Y < n_classes
    assert_adds_up(model.fit(X[used], Y[used]), NEW)


@pytest.mark.parametrize("form", ["exponential", "centered"])
def test_distances(form):
    model = KreinLogisticRegression(
        "distance", kernel_params={"form": form}, lam=1e-2
    ).fit(D, Y)
    assert_adds_up(model, D[::15])
    search = KreinLogisticRegressionCV(kernel="distance", cv=3).fit(D, Y)
    assert_adds_up(search, D[::15])
    assert_adds_up(search, D[::15][:, search.support_])


def test_sequences():
    model = KreinLogisticRegressionCV(kernel="levenshtein", cv=2)
    model.fit(WORDS, [0, 0, 0, 1, 1, 1] * 4)
    assert_adds_up(model, ["cot", "dug"])
    nearest = model.explain(["cat"], top=4)
    assert {WORDS[i] for i in nearest["training_sample"]} >= {"cat"}


def test_labels_of_a_matrix_are_kept():
    names = [f"flower {i}" for i in range(len(Y))]
    frame = pd.DataFrame(D, names, names)
    model = KreinLogisticRegression("distance", lam=1e-2).fit(frame, Y)
    found = model.explain(frame.iloc[::50], top=3)
    assert list(found.columns) == [
        *("sample", "class", "training_sample", "similarity", "contribution")
    ]
    assert found["sample"].unique().tolist() == names[::50]
    assert set(found["training_sample"]) <= set(names)
    assert len(found) == 3 * 3 * 3
    sizes = found["contribution"].abs().to_numpy().reshape(9, 3)
    assert (np.diff(sizes, axis=1) <= 0).all()


def test_a_table_with_names_has_positions_of_samples():
    table = pd.DataFrame(
        X, columns=list("abcd"), index=[f"row {i}" for i in range(150)]
    )
    found = KreinLogisticRegression(lam=1e-2).fit(table, Y).explain(table.iloc[:2])
    assert found["sample"].unique().tolist() == ["row 0", "row 1"]
    assert set(found["training_sample"]) <= set(range(150))


def test_bad_calls():
    model = KreinLogisticRegression()
    with pytest.raises(NotFittedError):
        model.explain(X)
    model.fit(X, Y)
    with pytest.raises(ValueError, match="'top' must be a positive whole number"):
        model.explain(X, top=0)
    search = KreinLogisticRegressionCV(cv=2, refit=False, kernel="tl1").fit(X, Y)
    with pytest.raises(AttributeError, match="refit=False"):
        search.explain(X)
