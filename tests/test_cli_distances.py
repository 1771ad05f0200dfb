"""Distances, matrices that are not symmetric and look-alikes, on the command line."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import kreinlearn
from kreinlearn import (
    DistanceSimilarity,
    KreinLogisticRegressionCV,
    SpectrumRepair,
    inspect_similarity,
)
from kreinlearn.app.cli import main
from kreinlearn.datasets import make_gram
from kreinlearn.kernels.transforms import FORMS
from tests.test_cli_fit import run


def loaded(path):
    """Return the matrix and the labels in a file."""
    with np.load(path) as held:
        return held["D" if "D" in held else "K"], held["y"]


@pytest.fixture
def krein(capsys):
    """Return a function that gives exit code, output and errors of a command."""

    def run(*argv):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in argv])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return distances and labels; files of them are in the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(48, 2))
    y = np.where(np.abs(X - 0.5).sum(axis=1) > 0.5, "out", "in")
    D = np.abs(X[:, None] - X).sum(axis=2)
    np.savez("D.npz", D=D, y=y)
    np.savez("new.npz", D=D[:5])
    lopsided = D + np.triu(rng.uniform(size=D.shape), 1)
    np.savez("lopsided.npz", D=lopsided, y=y)
    np.savez("counts.npz", K=np.round(3 * D), y=y)
    return D, y


def test_fit_tries_forms_and_predict_knows_that_they_are_distances(krein, data):
    D, _ = data
    code, out, err = krein("fit", "D.npz", "--distance", "-o", "m.krein", "--cv", 3)
    assert code == 0, err
    assert re.search(r"Chosen +distance form=\w+", out)
    assert "48 samples, distances, 2 classes" in out
    model = kreinlearn.load("m.krein")
    assert model.kernel == "distance"
    expected = "\n".join(["prediction", *model.predict(D[:5])]) + "\n"
    for options in ([], ["--distance"]):
        assert krein("predict", "m.krein", "new.npz", *options)[:2] == (0, expected)
    np.savez("part.npz", D=D[:5][:, model.support_])
    assert krein("predict", "m.krein", "part.npz")[1] == expected


@pytest.mark.parametrize("form", FORMS)
def test_one_form(krein, data, form):
    argv = ["fit", "D.npz", "--distance", "--form", form, "-o", "m.krein", "--json"]
    code, out, err = krein(*argv, "--lam", 0.1)
    assert code == 0, err
    width = {} if form in ("negative", "centered") else {"width": 1.0}
    assert json.loads(out)["kernel_params"] == {"form": form, **width}
    code, out, _ = krein("predict", "m.krein", "new.npz")
    assert (code, len(out.splitlines())) == (0, 6)


def test_the_default_form_is_named(krein, data):
    code, out, _ = krein("fit", "D.npz", "--distance", "--lam", 0.1, "-o", "m.krein")
    assert code == 0
    assert "distance form=exponential width=1, norm" in out


@pytest.mark.slow
def test_look_alikes_are_learned_from_if_insisted(krein, data, compares_here):
    for command in ("fit", "inspect", "compare"):
        end = {"fit": ["-o", "a.krein"], "inspect": [], "compare": ["--jobs", 1]}
        code, out, err = krein(command, "counts.npz", *end[command])
        assert (code, out) == (2, "")
        assert "looks like distances" in err
        assert "--distance" in err and "--similarity" in err
        assert err.count("\n") == 1
    code, out, err = krein("fit", "counts.npz", "--similarity", "-o", "a.krein")
    assert code == 0, err
    assert "Chosen     precomputed, norm" in out
    code, _, err = krein("inspect", "counts.npz", "--similarity")
    assert code == 0, err
    argv = [
        "counts.npz",
        "--similarity",
        "--methods",
        "KreinCV,SVC clip,KSVM,clip + KLR",
    ]
    code, out, err = krein("compare", *argv, "--folds", 2, "--jobs", 1, "--json")
    assert code == 0, err
    assert all(row["accuracy"] is not None for row in json.loads(out)["rows"])


def test_a_matrix_that_is_not_symmetric(krein, data):
    argv = ["lopsided.npz", "--distance", "-o", "m.krein", "--lam", 0.1]
    code, _, err = krein("fit", *argv)
    assert code == 2
    assert "must be symmetric" in err and "--symmetrize mean" in err
    D, _ = loaded("lopsided.npz")
    ways = {"mean": (D + D.T) / 2, "max": np.maximum(D, D.T), "min": np.minimum(D, D.T)}
    for way, expected in ways.items():
        assert krein("fit", *argv, "--symmetrize", way, "--force")[0] == 0
        upper = expected[np.triu_indices(48, 1)]
        found = kreinlearn.load("m.krein").distance_median_
        assert found == pytest.approx(np.median(upper))


@pytest.mark.slow
def test_compare_takes_the_form_of_the_training_rows(krein, data, compares_here):
    argv = ["D.npz", "--distance", "--methods", "Krein norm,SVC clip", "--folds", 2]
    code, out, err = krein("compare", *argv, "--jobs", 1, "--out", "a", "--json")
    assert code == 0, err
    rows = json.loads(out)["rows"]
    assert {row["kernel"] for row in rows} == {"exponential of distances"}
    assert min(row["accuracy"] for row in rows) > 0.6
    more = ["--form", "negative", "--jobs", 1]
    code, _, err = krein("compare", *argv, *more, "--out", "a", "--json")
    assert code == 2 and "holds results of other data" in err
    code, out, _ = krein("compare", *argv, *more, "--out", "b")
    assert code == 0 and "negative of distances" in out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "fit D.npz -o m",
            "'D' names distances. Distances go with --distance; if",
        ),
        ("fit D.npz --distance --similarity -o m", "not both"),
        ("fit K.npz --form negative -o m", "--form is a form of distances"),
        (
            "inspect t.csv --distance",
            "t.csv holds a table of 2 columns: leave out --distance",
        ),
        ("compare t.csv --symmetrize max", "t.csv holds a table"),
        ("fit K.npz --distance -o m", "'K' names similarities; name the matrix 'D'"),
        ("fit S.npy --target y.txt --distance -o m", "there it is largest"),
        ("fit nan.npz --distance -o m", "got nan in row 4, column 6"),
        (
            "fit negative.npz --distance -o m",
            "not be negative, got -1 in row 4, column",
        ),
        ("fit diagonal.npz --distance -o m", "got 1 for sample 3"),
        ("predict D.krein K.npz", "'K' names similarities"),
        ("predict D.krein few.npz", "must have 48 columns"),
        ("predict K.krein new.npz", "'D' names distances; name the matrix 'K'"),
        ("predict K.krein K.npz --distance", "takes no distances"),
        (
            "predict D.krein t.csv",
            "trained on a matrix of distances, but t.csv holds a",
        ),
    ],
)
def test_bad_calls(krein, data, line, words):
    D, y = data
    K = np.exp(-D)
    Path("t.csv").write_text("a,b\n1,x\n2,y\n")
    Path("y.txt").write_text("\n".join(y))
    np.savez("K.npz", K=K, y=y)
    np.save("S.npy", K)
    np.savez("few.npz", D=D[:, :7])
    for name, (i, j, value) in {
        "nan": (3, 5, np.nan),
        "negative": (3, 5, -1.0),
        "diagonal": (2, 2, 1.0),
    }.items():
        spoiled = D.copy()
        spoiled[i, j] = value
        np.savez(f"{name}.npz", D=spoiled, y=y)
    kinds = {"D.krein": ("distance", D), "K.krein": ("precomputed", K)}
    for path, (kernel, X) in kinds.items():
        model = kreinlearn.KreinLogisticRegression(kernel).fit(X, y)
        kreinlearn.save(model, path)
    code, out, err = krein(*shlex.split(line))
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_similarities_named_d_if_insisted(krein, data):
    D, y = data
    np.savez("odd.npz", D=np.exp(-D), y=y)
    argv = ["fit", "odd.npz", "--lam", 0.1, "-o", "m.krein"]
    assert krein(*argv)[0] == 2
    assert krein(*argv, "--similarity")[0] == 0


@pytest.mark.parametrize(
    "name",
    ["protein", pytest.param("chickenpieces-20-60", marks=pytest.mark.slow)],
)
def test_the_verdict_on_distances_is_that_on_their_similarity(
    krein, data_home, tmp_path, name
):
    path = Path(data_home, "sim", f"{name}.npz")
    if not path.exists():
        pytest.skip(f"needs {path}")
    D, y = loaded(path)
    D = (D + D.T) / 2
    K = np.exp(-D / np.median(D[np.triu_indices(len(D), 1)]))
    np.savez(tmp_path / "K.npz", K=K, y=y)
    few = ["--permutations", 99, "--json"]
    argv = [path, "--distance", "--symmetrize", "mean", *few]
    first = json.loads(krein("inspect", *argv)[1])
    second = json.loads(krein("inspect", tmp_path / "K.npz", *few)[1])
    assert first["recommendation"] == second["recommendation"]
    # The first sentence is about KreinCV, which tries several forms of distances.
    assert first["sentences"][1] == second["sentences"][1]
    assert first["signature"] == second["signature"]
    assert first["params"] == {"form": "exponential", "width": 1.0}


def suggestions(sentence):
    """Return commands and Python that a sentence sets in backticks."""
    assert sentence.startswith("Next: ")
    return re.findall(r"`([^`]+)`", sentence)


def run_as_printed(said, krein, K, y):
    """Run a command or Python; a pipeline is fitted to the matrix K as well."""
    if said.startswith("krein "):
        code, _, err = krein(*shlex.split(said)[1:], "--force")
        assert code == 0, err
        return
    names = {"KreinLogisticRegressionCV": KreinLogisticRegressionCV, "SVC": SVC}
    names |= {"SpectrumRepair": SpectrumRepair, "make_pipeline": make_pipeline}
    names |= {"DistanceSimilarity": DistanceSimilarity, "K": K, "y": y}
    model = eval(said, names)
    if said.startswith("make_pipeline"):
        model.fit(K, y)


TABLE = ["t.csv", "--kernel", "tl1", "--param", "ratio=0.5", "--scale", "none"]
INSPECTED = {
    "distances": ["D.npz", "--distance"],
    "another form": ["D.npz", "--distance", "--form", "centered"],
    "not symmetric distances": ["lopsided.npz", "--distance", "--symmetrize", "max"],
    "not symmetric": ["asymmetric.npz"],
    "not symmetric, made so": ["asymmetric.npz", "--symmetrize", "min"],
    "counts": ["counts.npz", "--similarity"],
    "semidefinite": ["psd.npz"],
    "negative part": ["gram.npz"],
    "four of a class": ["four.npz"],
    "one of a class": ["one.npz"],
    "no labels": ["alone.npy"],
    "labels elsewhere": ["alone.npy", "--target", "y.txt"],
    "zero": ["zero.npz"],
    "table": TABLE,
    "table, default": ["t.csv"],
    "table, definite": ["t.csv", "--kernel", "rbf"],
}


@pytest.fixture
def files(data):
    """Write a matrix or table for each verdict of inspect."""
    D, y = data
    rng = np.random.default_rng(0)
    K, labels = make_gram((3, 3), n_samples=40, random_state=1)
    np.savez("gram.npz", K=K, y=labels)
    np.savez("asymmetric.npz", K=K + np.triu(rng.uniform(size=K.shape), 1), y=labels)
    np.savez("psd.npz", K=K @ K, y=labels)
    np.savez("zero.npz", K=np.zeros((40, 40)), y=labels)
    np.savez("four.npz", K=K, y=np.where(np.arange(40) < 4, 2, np.arange(40) % 2))
    np.savez("one.npz", K=K, y=np.where(np.arange(40) < 1, 2, np.arange(40) % 2))
    np.save("alone.npy", K)
    Path("y.txt").write_text("\n".join(map(str, labels)))
    X = rng.uniform(size=(48, 3))
    table = pd.DataFrame(X, columns=list("abc")).assign(kind=y)
    table.to_csv("t.csv", index=False)
    return D, y


QUICK = ("distances", "table, default")
VERDICTS = [
    pytest.param(name, "own", marks=[] if name in QUICK else pytest.mark.slow)
    for name in INSPECTED
]
VERDICTS += [
    pytest.param(name, verdict, marks=pytest.mark.slow)
    for name in ("distances", "counts", "table")
    for verdict in ("keep", "either", "repair")
]


@pytest.mark.parametrize(("name", "verdict"), VERDICTS)
def test_what_is_recommended_runs_as_printed(krein, files, name, verdict, monkeypatch):
    def decide(*given):
        return found(*given) | {"what": verdict}

    if verdict != "own":  # every recommendation, for any data
        from kreinlearn.app.inspection import verdict as module

        found = module._assess_negative_part
        monkeypatch.setattr(module, "_assess_negative_part", decide)
    argv = INSPECTED[name]
    code, out, err = krein("inspect", *argv, "--permutations", 9, "--json")
    assert code == 0, err
    said = json.loads(out)["sentences"][-1]
    K = y = None
    if argv[0].endswith(".npz"):
        K, y = loaded(argv[0])
        K = (K + K.T) / 2
    elif argv[0].endswith(".npy"):
        K, y = np.load(argv[0]), loaded("gram.npz")[1]
    else:
        K, y = np.eye(48), files[1]  # a pipeline for any matrix of similarities
    for each in suggestions(said):
        run_as_printed(each, krein, K, y)
    if argv == ["alone.npy"]:
        assert suggestions(said) == []


@pytest.mark.parametrize("what", ["symmetric", "not symmetric", "counts"])
def test_python_that_is_recommended_runs_as_printed(krein, files, what):
    name = {"symmetric": "gram", "not symmetric": "asymmetric", "counts": "counts"}
    K, y = loaded(f"{name[what]}.npz")
    how = {"kernel": "precomputed", "check": what != "counts"}
    found = inspect_similarity(K, y, permutations=9, **how).results
    given = (K + K.T) / 2
    for said in suggestions(found["sentences"][-1]):
        run_as_printed(said, krein, K if "fit" in said else given, y)


def test_inspect_similarity_rejects_distances_as_similarities(data):
    D, y = data
    with pytest.raises(ValueError, match="looks like distances"):
        inspect_similarity(D, y, kernel="precomputed")


def test_a_matrix_without_names_is_not_taken_for_a_table(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).integers(0, 9, size=(20, 2))
    D = np.abs(X[:, None] - X).sum(axis=2)
    np.savetxt("bare.csv", D, delimiter=",", fmt="%d")
    labels = "".join(f"s{i},{'ab'[i % 2]}\n" for i in range(20))
    Path("labels.csv").write_text(labels)
    for command in ("inspect bare.csv", "fit bare.csv -o m.krein", "compare bare.csv"):
        code, _, err = run(capsys, *command.split())
        assert code == 2 and "looks like a matrix of distances: 20 rows" in err
        assert "--distance and --labels FILE" in err
    args = ("fit", "bare.csv", "--distance", "--labels", "labels.csv", "-o", "m.krein")
    code, _, err = run(capsys, *args)
    assert code == 0 and "labels are taken from labels.csv in the order" in err
