"""krein predict --explain and --coverage, against the estimators."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

import kreinlearn
from tests.test_cli_fit import run


@pytest.fixture
def flowers(capsys, tmp_path, monkeypatch):
    """Write a table, and distances with names, and fit a model to each."""
    monkeypatch.chdir(tmp_path)
    data = load_iris(as_frame=True)
    table = data.data.assign(kind=data.target_names[data.target])
    table[::2].to_csv("train.csv", index=False)
    table[1::10].drop(columns="kind").to_csv("new.csv", index=False)
    names = [f"flower {i}" for i in range(150)]
    D = pd.DataFrame(cdist(data.data, data.data), names, names)
    D.iloc[::2, ::2].to_csv("D.csv")
    D.iloc[1::10, ::2].to_csv("D-new.csv")
    table[["kind"]].set_axis(names).to_csv("labels.csv", index_label="flower")
    for args in (
        ["train.csv", "--kernel", "rbf", "-o", "table.krein"],
        ["D.csv", "--distance", "--labels", "labels.csv", "-o", "matrix.krein"],
    ):
        assert run(capsys, "fit", *args)[0] == 0
    return D.iloc[1::10, ::2]


def rows(capsys, *args):
    code, out, _ = run(capsys, "predict", *args)
    assert code == 0
    return list(csv.DictReader(io.StringIO(out)))


def test_contributions_and_intercepts_sum_to_the_scores(capsys, flowers):
    found = rows(capsys, "matrix.krein", "D-new.csv", "--explain", "75")
    model = kreinlearn.load("matrix.krein")
    assert {row["sample"] for row in found} == set(flowers.index)
    assert {row["training_sample"] for row in found} <= set(flowers.columns)
    scores = np.zeros((len(flowers), 3))
    for row in found:
        i = flowers.index.get_loc(row["sample"])
        scores[i, list(model.classes_).index(row["class"])] += float(
            row["contribution"]
        )
    intercept = sum(
        weight * each.intercept_
        for weight, each in zip(model.weights_, model.estimators_, strict=True)
    )
    expected = model.decision_function(flowers)
    np.testing.assert_allclose(scores + intercept, expected, atol=1e-10)


def test_tables_are_explained_after_their_preparation(capsys, flowers):
    found = rows(capsys, "table.krein", "new.csv", "--explain", "2")
    assert [row["sample"] for row in found[:7]] == ["0"] * 6 + ["1"]
    before, model = kreinlearn.load("table.krein").steps
    X = before[1].transform(pd.read_csv("new.csv"))
    expected = model[1].explain(X, top=2)["contribution"]
    np.testing.assert_allclose([float(row["contribution"]) for row in found], expected)


def test_explanations_are_written_to_a_file(capsys, flowers):
    code, out, err = run(
        capsys, "predict", "table.krein", "new.csv", "--explain", "1", "-o", "why.csv"
    )
    assert code == 0 and out == "" and "why.csv" in err
    assert len(pd.read_csv("why.csv")) == 15 * 3


def test_sets_hold_the_labels_that_are_not_ruled_out(capsys, flowers):
    found = rows(capsys, "matrix.krein", "D-new.csv", "--coverage", "0.97")
    model = kreinlearn.load("matrix.krein")
    sets = model.predict_set(flowers, coverage=0.97)
    assert [row["set"] for row in found] == [
        "|".join(model.classes_[each]) for each in sets
    ]
    found = rows(capsys, "table.krein", "new.csv", "--coverage", "0.9", "--proba")
    assert all(row["prediction"] in row["set"].split("|") for row in found)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--coverage", "1.5"), ["--coverage", "1.5"]),
        (("--explain", "0"), ["--explain", "0"]),
        (("--explain", "2", "--proba"), ["--explain", "leave out", "--proba"]),
    ],
)
def test_bad_requests_are_rejected(capsys, flowers, args, words):
    code, out, err = run(capsys, "predict", "matrix.krein", "D-new.csv", *args)
    assert code == 2 and out == "" and len(err.splitlines()) == 1
    assert all(word in err for word in words)


def test_models_on_landmarks_have_no_sets(capsys, flowers):
    args = ("train.csv", "--landmarks", "20", "--lam", "0.01", "-o", "some.krein")
    assert run(capsys, "fit", *args)[0] == 0
    code, _, err = run(capsys, "predict", "some.krein", "new.csv", "--coverage", "0.9")
    assert code == 2 and "--coverage needs a model of cross-validation" in err
    found = rows(capsys, "some.krein", "new.csv", "--explain", "1")
    assert len(found) == 15 * 3
