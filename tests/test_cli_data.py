"""Data as people have them: matrices without names, label files, messy tables."""

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.test_cli import run

FIT = ("--lam", "0.01", "-o", "m.krein", "--force")
NAMES = [f"n{i}" for i in range(30)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return distances and labels; their files are in the working folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kinds = np.arange(30) % 2
    X = rng.normal(size=(30, 2)) + 3 * kinds[:, None]
    D = pd.DataFrame(np.abs(X[:, None] - X).sum(axis=2), NAMES, NAMES)
    y = pd.Series(np.where(kinds, "in", "out"), NAMES)
    D.to_csv("d.csv")
    np.savetxt("plain.csv", D, delimiter=",")
    y.to_csv("y.csv", header=False)
    y.to_csv("list.txt", index=False, header=False)
    D.iloc[:5].to_csv("new.csv")
    np.savetxt("plain-new.csv", D.iloc[:5], delimiter=",")
    y[:5].to_csv("new-list.txt", index=False, header=False)
    return D, y


@pytest.mark.parametrize("header", [(), ("--no-header",)])
def test_matrix_without_names(capsys, here, header):
    call = ("fit", "plain.csv", "--distance", "--labels", "list.txt", *header, *FIT)
    code, out, err = run(capsys, *call, "--json")
    assert code == 0, err
    assert json.loads(out)["samples"] == 30 and json.loads(out)["classes"] == [
        "in",
        "out",
    ]
    code, plain, err = run(
        capsys, "predict", "m.krein", "plain-new.csv", "--labels", "new-list.txt"
    )
    assert code == 0 and "accuracy" in err and "on 5 labeled samples" in err
    run(capsys, "fit", "d.csv", "--distance", "--labels", "y.csv", *FIT)
    code, named, err = run(
        capsys, "predict", "m.krein", "new.csv", "--labels", "y.csv", "--proba"
    )
    assert code == 0 and "on 5 labeled samples" in err
    assert "labels without a sample in new.csv: 25" in err
    found = [line.split(",")[1] for line in named.splitlines()[1:]]
    assert plain.splitlines()[1:] == found
    assert len(named.splitlines()[1].split(",")[2]) > 8  # digits in a pipe


def test_similarities_without_names(capsys, here):
    D, _ = here
    np.savetxt("k.csv", np.exp(-D), delimiter=";")
    call = ("fit", "k.csv", "--similarity", "--labels", "list.txt", *FIT)
    code, out, err = run(capsys, *call)
    assert code == 0 and "a Gram matrix" in out, err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("one name", ["29 of 30 names agree", "row 'mont' has no column"]),
        ("case", ["30 of the 30", "'N0', which differs in upper and lower case"]),
        ("swapped", ["y.csv and d.csv are exchanged", "by --labels y.csv."]),
        ("swapped, no names", ["list.csv and plain.csv are exchanged"]),
        ("other names", ["No name in y.csv ('W0', ...) is a sample of d.csv ('n0', "]),
        ("few lines", ["list.txt must have 30 lines", "got 29"]),
        ("not square", ["holds a table of 30 columns", "A matrix is square"]),
    ],
)
def test_slips_are_named(capsys, here, change, words):
    D, y = here
    matrix, labels = "d.csv", "y.csv"
    if change == "one name":
        D.rename(index={"n3": "mont"}).to_csv("d.csv")
    elif change == "case":
        y.rename(str.upper).to_csv("y.csv", header=False)
    elif change == "swapped":
        matrix, labels = labels, matrix
    elif change == "swapped, no names":
        Path("list.txt").rename("list.csv")
        matrix, labels = "list.csv", "plain.csv"
    elif change == "other names":
        y.set_axis([f"W{i}" for i in range(30)]).to_csv("y.csv", header=False)
    elif change == "few lines":
        matrix, labels = "plain.csv", "list.txt"
        y[:-1].to_csv(labels, index=False, header=False)
    else:
        matrix = "plain-new.csv"
    code, out, err = run(capsys, "fit", matrix, "--distance", "--labels", labels, *FIT)
    assert (code, out) == (2, "") and all(word in err for word in words), err


@pytest.mark.parametrize(
    ("model", "new", "words"),
    [
        ("d.csv", "plain-new.csv", "plain-new.csv has no names, but the 30 training"),
        ("d.csv", "plain.csv", "plain.csv has no names, but the 30 training samples"),
        (
            "plain.csv",
            "new.csv",
            "new.csv has names, but the model was trained without",
        ),
        ("plain.csv", "d.csv", "d.csv has names, but the model was trained without"),
        ("d.csv", "t.csv", "(none of its columns is one, such as 'n0')"),
        ("plain.csv", "t.csv", "(line 1: a finite number was expected, got 'a' in"),
        ("d.csv", "t.parquet", "(parquet is a format of tables)"),
        ("plain.csv", "t.parquet", "(parquet is a format of tables)"),
    ],
)
def test_new_samples_unlike_the_training_samples(capsys, here, model, new, words):
    table = pd.DataFrame({"a": range(4), "b": range(4), "kind": list("xyxy")})
    table.to_csv("t.csv", index=False)
    table.to_parquet("t.parquet")
    labels = "y.csv" if model == "d.csv" else "list.txt"
    assert run(capsys, "fit", model, "--distance", "--labels", labels, *FIT)[0] == 0
    code, out, err = run(capsys, "predict", "m.krein", new)
    assert (code, out) == (2, "") and words in err, err
    if new.startswith("t."):
        start = f"The model was trained on a matrix of distances, but {new} holds a tab"
        assert err.startswith(f"krein: {start}")


@pytest.mark.parametrize("source", ["labels", "table"])
def test_labels_that_differ_in_case(capsys, here, source):
    _, y = here
    y = y.where(np.arange(30) % 4 > 0, y.str.upper())
    call = ["d.csv", "--distance", "--labels", "y.csv"]
    y.to_csv("y.csv", header=False)
    if source == "table":
        call = ["y.csv"]
        y.rename("kind").reset_index(drop=True).to_frame().assign(
            a=np.arange(30.0) % 7
        )[["a", "kind"]].to_csv("y.csv", index=False)
    code, _, err = run(capsys, "fit", *call, *FIT)
    note = "y.csv: the labels 'OUT' and 'out' differ only in case and count as two"
    assert code == 0 and err.count(note) == 1, err


def test_labels_with_a_title_that_is_a_sample(capsys, here):
    _, y = here
    y.to_csv("y.csv", index_label="n7", header=["kind"])
    call = ("fit", "d.csv", "--distance", "--labels", "y.csv", *FIT)
    code, _, err = run(capsys, *call)
    assert code == 2 and "use --header if the first line holds titles" in err
    code, out, err = run(capsys, *call, "--header")
    assert code == 0 and "2 classes in 'kind'" in out, err


def test_counted_first_line_is_ambiguous(capsys, here):
    points = np.arange(6.0)
    D = np.abs(points[:, None] - points).astype(int)
    np.savetxt("line.csv", D, delimiter=",", fmt="%d")
    call = ("inspect", "line.csv", "--distance")
    code, _, err = run(capsys, *call)
    assert code == 2 and "use --header or --no-header" in err
    assert run(capsys, *call, "--no-header")[0] == 0


@pytest.fixture
def patients(tmp_path, monkeypatch):
    """Write a table with an id, text, dates and gaps."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 2
    frame = pd.DataFrame(
        {
            "patient": [f"P{i:03}" for i in range(60)],
            "clinic": rng.choice(["north", "south"], 60),
            "visit": [f"2024-03-{i % 28 + 1:02}" for i in range(60)],
            "size": rng.normal(size=60) + 2 * kind,
            "age": rng.normal(size=60),
            "outcome": np.where(kind, "ill", "well"),
        }
    )
    frame.loc[7, "age"] = np.nan
    frame.to_csv("p.csv", index=False)


@pytest.mark.parametrize("landmarks", [(), ("--landmarks", "9")])
def test_all_problems_of_a_table_come_at_once(capsys, patients, landmarks):
    code, _, err = run(capsys, "fit", "p.csv", *landmarks, *FIT)
    assert code == 2
    for words in ("'patient'", "'clinic'", "dates such as '2024-03-01'"):
        assert words in err
    command = err.rpartition("This command works: ")[2]
    assert "--id patient --drop visit --one-hot" in command
    code, out, err = run(capsys, *shlex.split(command)[1:])
    if landmarks:  # the first block has shown no missing cell
        assert "line 9, column 'age' is missing" in err
        return
    assert code == 0, err
    code, out, err = run(capsys, "predict", "m.krein", "p.csv")
    assert out.startswith("patient,prediction\nP000,")


def test_dates_need_a_decision(capsys, patients):
    call = ("fit", "p.csv", "--id", "patient", "--drop", "clinic", "--impute", *FIT)
    code, _, err = run(capsys, *call)
    assert code == 2 and "leave them out (--drop visit)" in err
    code, _, err = run(capsys, *call, "--one-hot")
    assert code == 2 and "dates such as '2024-03-01'" in err
    frame = pd.read_csv("p.csv")
    frame.assign(visit=frame["visit"].str[:-1] + "1").to_csv("p.csv", index=False)
    code, _, err = run(capsys, *call)
    assert code == 2 and "To encode each date as a category" in err
    assert run(capsys, *call, "--one-hot")[0] == 0


def test_probabilities_on_a_terminal_are_short(capsys, here, monkeypatch):
    run(capsys, "fit", "d.csv", "--distance", "--labels", "y.csv", *FIT)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    code, out, _ = run(capsys, "predict", "m.krein", "new.csv", "--proba")
    assert code == 0 and len(out.splitlines()[1].split(",")[2]) == 6


def test_show(capsys, here):
    run(capsys, "fit", "d.csv", "--distance", "--labels", "y.csv", *FIT)
    code, out, err = run(capsys, "show", "m.krein")
    assert code == 0, err
    for words in (
        "Model      KreinLogisticRegression, trained on d.csv",
        "30 samples, distances, 2 classes",
        "no cross-validation",
        "kreinlearn",
    ):
        assert words in out
    code, out, _ = run(capsys, "show", "m.krein", "--json")
    found = json.loads(out)
    assert found["classes"] == ["in", "out"] and found["date"].count("-") == 2
    assert run(capsys, "show", "d.csv")[0] == 2


def test_show_a_model_of_python(capsys, tmp_path, monkeypatch):
    from kreinlearn import KreinLogisticRegression, save

    monkeypatch.chdir(tmp_path)
    X = np.arange(8.0)[:, None] / 8
    save(KreinLogisticRegression(lam=1.0).fit(X, np.arange(8) % 2), "p.krein")
    code, out, _ = run(capsys, "show", "p.krein")
    assert code == 0 and "Classes    0, 1" in out and "lam=1.0" in out
    for path in sorted((Path(__file__).parent / "data" / "models").glob("*.krein")):
        code, out, err = run(capsys, "show", str(path))  # of earlier versions
        assert code == 0 and "Settings   " in out, err


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("ft", "x.csv"), "No such command 'ft'. Did you mean 'fit'?"),
        (("fit", "x.csv", "--kernel", "gauss", "-o", "m"), "Did you mean 'rbf'?"),
        (("fit", "d.csv", "-o", "taken.krein"), "replace it with --force."),
        (("predict", "m", "d.csv", "--target", "3"), "There is no file m"),
    ],
)
def test_suggestions(capsys, here, call, words):
    Path("taken.krein").write_bytes(b"a model")
    code, _, err = run(capsys, *call)
    assert code == 2 and words in err


@pytest.fixture
def mistakes(here):
    """Write files that newcomers might have, and two models."""
    D, y = here
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(60, 2)).round(3), columns=["a", "b"])
    leak = 3 * (np.arange(60) % 2) + 1
    table.assign(leak=leak, kind=np.where(leak > 2, "yes", "no")).to_csv(
        "leak.csv.gz", index=False
    )
    words = [f"w{i % 100}" for i in range(240)]
    rows = {"a": rng.normal(size=240).round(3), "word": words}
    rows["kind"] = np.arange(240) % 7 % 2
    pd.DataFrame(rows).to_csv("w.csv", index=False)
    D.round(6).to_csv("header.csv", index=False)
    D.round(6).iloc[:5].to_csv("header-new.csv", index=False)
    np.exp(-D).to_csv("k.csv")
    np.save("d.npy", D)
    np.save("k.npy", np.exp(-D))
    return here


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("fit leak.csv.gz --lam 1", 0, "column 'leak' alone predicts every label"),
        ("fit leak.csv.gz --lam 1 -o no/m", 2, "folder no does not exist"),
        ("fit w.csv --one-hot --lam 1", 0, "100 categories in 240 rows, and most"),
        ("fit d.npy --distance --labels y.csv --lam 1", 0, "in the order of its lines"),
        ("fit header.csv --distance --labels y.csv --lam 1", 0, ""),
        ("fit header.csv", 2, "looks like a matrix of distances: 30 rows"),
        ("predict D.krein header-new.csv", 0, ""),
        ("predict D.krein k.csv", 2, "trained on distances, and these look like sim"),
        ("predict D.krein k.npy", 2, "trained on distances, and these look like sim"),
        ("predict K.krein d.csv", 2, "trained on similarities, and these look like"),
        ("predict D.krein d.csv --labels y.csv", 0, "d.csv is the training file"),
    ],
)
def test_mistakes_of_newcomers(capsys, mistakes, words, code, message):
    for name, flags in (("D", ["--distance"]), ("K", [])):
        call = ["fit", f"{'dk'[name == 'K']}.csv", *flags, "--labels", "y.csv"]
        assert run(capsys, *call, "--lam", "1", "-o", f"{name}.krein")[0] == 0
    found, out, err = run(capsys, *words.split())
    assert found == code and message in err and (message or err == ""), err
    if words.startswith("fit") and code == 0:
        model = words.split()[1].split(".")[0] + ".krein"
        assert f"Saved      {model}" in out
        found, _, err = run(capsys, *words.split())
        assert found == 2 and f"{model} exists already" in err
