"""Mistakes of new users: each gets one message with its remedy, or a note."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

import kreinlearn
from tests.test_cli import run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Write a matrix of distances with labels, new samples, and a table."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 2))
    X[::2] += 2
    ids = [f"s{i}" for i in range(70)]
    D = pd.DataFrame(cdist(X, X), ids, ids)
    D.iloc[:60, :60].to_csv("d.csv")
    D.iloc[60:, :60].to_csv("new.csv")
    np.exp(-3 * D.iloc[60:, :60]).to_csv("similar.csv")
    labels = np.where(np.arange(70) % 2, "no", "yes")
    pd.Series(labels, ids, name="kind").iloc[:60].to_csv("labels.csv")
    days = np.r_[np.arange(10, 35), np.arange(10, 34), np.arange(10, 21)]
    table = pd.DataFrame(X[:60], columns=["a", "b"]).assign(kind=labels[:60], days=days)
    table.to_csv("days-last.csv", index=False)
    return D, labels


def fit(capsys, *words):
    options = ("--distance", "--labels", "labels.csv", "-o", "m.krein")
    return run(capsys, "fit", "d.csv", *options, *words)


@pytest.mark.parametrize("more", [(), ("--lam", "0.1")])
def test_a_quantity_is_not_taken_for_classes(here, capsys, more):
    code, _, err = run(capsys, "fit", "days-last.csv", *more)
    assert code == 2 and "'days' has 25 different numbers in 60 rows" in err
    assert "column 'kind' (yes, no) may hold labels: use --target kind." in err


def test_inputs_are_not_overwritten(here, capsys):
    before = Path("d.csv").read_bytes()
    code, _, err = fit(capsys)
    assert code == 0
    for words in (
        ("fit", "d.csv", "--distance", "--labels", "labels.csv", "-o", "d.csv"),
        ("fit", "d.csv", "--distance", "--labels", "labels.csv", "-o", "labels.csv"),
        ("predict", "m.krein", "new.csv", "-o", "new.csv"),
    ):
        code, _, err = run(capsys, *words, "--force")
        assert code == 2 and "is read by this command and is not replaced" in err
    assert Path("d.csv").read_bytes() == before


def test_values_of_another_size_are_noticed(here, capsys):
    fit(capsys)
    code, _, err = run(capsys, "predict", "m.krein", "similar.csv")
    assert code == 0 and "warning: similar.csv: the median is 0.0" in err
    assert "are these the same distances?" in err
    code, _, err = run(capsys, "predict", "m.krein", "new.csv")
    assert code == 0 and err == ""


def test_explanations_are_those_of_the_predicted_class(here, capsys):
    fit(capsys)
    code, out, _ = run(capsys, "predict", "m.krein", "new.csv", "--explain", "60")
    assert code == 0
    Path("why.csv").write_text(out)
    found = pd.read_csv("why.csv")
    assert (found["prediction"] == found["class"]).all()
    model = kreinlearn.load("m.krein")
    new = pd.read_csv("new.csv", index_col=0)
    offset = float(model.weights_ @ [e.intercept_[0] for e in model.estimators_])
    total = found.groupby("sample")["contribution"].sum()
    for name, score in zip(new.index, model.decision_function(new), strict=True):
        sign = 1 if score > 0 else -1  # the first class has the negative score
        assert total[name] == pytest.approx(sign * (score - offset), abs=1e-9)


def test_training_sequences_have_their_names(here, capsys):
    letters = np.random.default_rng(0).choice(list("ARND"), size=(12, 30))
    letters[::2, :15] = "W"
    lines = [
        f">pep{i} {'even' if i % 2 == 0 else 'odd'}\n{''.join(row)}"
        for i, row in enumerate(letters)
    ]
    Path("p.fasta").write_text("\n".join(lines))
    code, _, err = run(capsys, "fit", "p.fasta", "-o", "p.krein", "--cv", "2")
    assert code == 0, err
    code, out, _ = run(capsys, "predict", "p.krein", "p.fasta", "--explain", "1")
    assert code == 0 and out.splitlines()[1].split(",")[3].startswith("pep")


def test_a_file_is_not_given_twice(here, capsys):
    code, _, err = run(
        capsys, "fit", "d.csv", "d.csv", "--distance", "--labels", "labels.csv"
    )
    assert code == 2 and "got a file twice" in err


def test_coverage_needs_held_out_samples(here, capsys):
    fit(capsys, "--lam", "0.1")
    code, _, err = run(capsys, "predict", "m.krein", "new.csv", "--coverage", "0.9")
    assert code == 2 and "--coverage needs a model of cross-validation" in err


@pytest.mark.parametrize("command", ["fit", "inspect", "compare"])
def test_leaking_columns_are_named(here, capsys, command):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    table = {"a": rng.normal(size=60), "cost": 3.0 * y + 1, "kind": y}
    pd.DataFrame(table).to_csv("leak.csv", index=False)
    more = ("--methods", "SVC clip", "--folds", "2") if command == "compare" else ()
    code, _, err = run(capsys, command, "leak.csv", *more)
    assert code == 0
    assert "warning: leak.csv: column 'cost' alone predicts every label" in err


def test_a_mistyped_file_gets_a_suggestion(here, capsys):
    code, _, err = run(capsys, "fit", "label.csv")
    assert code == 2 and "There is no file label.csv. Did you mean labels.csv?" in err
