"""Several matrices on the command line: files of training, new files, bad calls."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

import kreinlearn
from kreinlearn import KreinLogisticRegressionCV
from tests.test_cli import run

TRAIN, NEW = np.arange(0, 178, 2), np.arange(1, 60, 2)
NAMES = ("acids", "colors")


@pytest.fixture(scope="module")
def frames():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    ids = [f"w{i}" for i in range(178)]
    parts = {"acids": X[:, :6], "colors": X[:, 6:]}
    matrices = {name: pd.DataFrame(cdist(A, A), ids, ids) for name, A in parts.items()}
    return matrices, pd.Series(y, ids, name="kind").map(lambda k: f"kind {k}")


@pytest.fixture
def files(frames, tmp_path, monkeypatch):
    """Write matrices of training and of new samples, in different orders."""
    monkeypatch.chdir(tmp_path)
    matrices, y = frames
    rng = np.random.default_rng(0)
    for name, D in matrices.items():
        order = rng.permutation(TRAIN)
        D.iloc[order, order].to_csv(f"{name}.csv")
        D.iloc[rng.permutation(NEW), order].to_csv(f"new-{name}.csv")
    y.iloc[TRAIN].to_csv("labels.csv")
    y.iloc[NEW].to_csv("new-labels.csv")
    return matrices, y


def fit(capsys, *more):
    options = ("--distance", "--labels", "labels.csv", "-o", "m.krein", *more)
    return run(capsys, "fit", "acids.csv", "colors.csv", *options)


def test_files_are_matched_by_name_of_sample(files, capsys):
    matrices, y = files
    code, out, _ = fit(capsys)
    assert code == 0 and "Weights    acids 0." in out
    names = pd.read_csv("acids.csv", index_col=0).index
    model = KreinLogisticRegressionCV(kernel="distance").fit(
        {name: D.loc[names, names] for name, D in matrices.items()}, y[names]
    )
    saved = kreinlearn.load("m.krein")
    assert saved.similarity_names_ == list(NAMES)
    new = pd.read_csv("new-acids.csv", index_col=0).index
    asked = {name: D.loc[new, names] for name, D in matrices.items()}
    expected = model.predict_proba(asked)
    command = ("predict", "m.krein", "new-acids.csv", "new-colors.csv", "--proba")
    code, out, err = run(capsys, *command, "--labels", "new-labels.csv", "-o", "p.csv")
    assert code == 0 and "accuracy" in err
    found = pd.read_csv("p.csv", index_col="id")
    assert found.index.tolist() == new.tolist()
    np.testing.assert_allclose(found.filter(like="proba"), expected, atol=1e-12)
    # Files whose names hold those of training may be in any order.
    files = ("new-colors.csv", "new-acids.csv")
    code, _, err = run(capsys, "predict", "m.krein", *files, "--proba", "-o", "q.csv")
    assert code == 0 and "acids from new-acids.csv, colors from new-colors.csv." in err
    pd.testing.assert_frame_equal(pd.read_csv("q.csv", index_col="id"), found)


def test_sets_explanations_and_show(files, capsys):
    fit(capsys)
    new = ("new-acids.csv", "new-colors.csv")
    code, out, _ = run(capsys, "predict", "m.krein", *new, "--coverage", "0.9")
    assert code == 0 and out.startswith("id,prediction,set\n")
    code, out, _ = run(capsys, "predict", "m.krein", *new, "--explain", "1")
    ids = pd.read_csv("new-acids.csv", index_col=0).index
    assert code == 0 and out.split("\n")[1].startswith(f"{ids[0]},")
    assert "matrices: acids, colors" in run(capsys, "show", "m.krein")[1]
    code, out, _ = run(capsys, "show", "m.krein", "--json")
    assert sum(json.loads(out)["similarity_weights"].values()) == pytest.approx(1)


def test_matrices_without_names(files, capsys):
    matrices, y = files
    for i, name in enumerate(NAMES):
        D = matrices[name].to_numpy()
        more = {"y": y.to_numpy()[TRAIN].astype(str)} if i == 0 else {}
        np.savez(f"{name}.npz", D=D[np.ix_(TRAIN, TRAIN)], **more)
        np.savez(f"new-{name}.npz", D=D[np.ix_(NEW, TRAIN)])
    code, _, err = run(capsys, "fit", "acids.npz", "colors.npz", "--distance")
    assert code == 0, err
    code, out, _ = run(
        capsys, "predict", "acids.krein", "new-acids.npz", "new-colors.npz"
    )
    assert code == 0 and len(out.split("\n")) == len(NEW) + 2


@pytest.mark.parametrize(
    "call, words",
    [
        ("fit acids.csv labels.csv --distance --labels labels.csv", "labels.csv"),
        ("fit acids.csv colors.csv --distance --labels labels.csv --lam 1", "--lam"),
        ("predict m.krein new-acids.csv", "takes 2 files (acids, colors), got 1"),
        ("predict m.krein new-acids.csv less.csv", "'colors' has no row"),
        ("fit acids.csv less.csv --distance --labels labels.csv", "'less' has no row"),
    ],
)
def test_bad_calls_are_one_message(files, capsys, call, words):
    fit(capsys)
    pd.read_csv("new-colors.csv", index_col=0)[1:].to_csv("less.csv")
    if call.startswith("fit acids.csv less"):
        D = pd.read_csv("colors.csv", index_col=0).iloc[1:, 1:]
        D.to_csv("less.csv")
    code, _, err = run(capsys, *call.split(), "--force")
    assert code == 2 and words in err and "Traceback" not in err
    assert len(err.strip().split("\n")) <= 2
