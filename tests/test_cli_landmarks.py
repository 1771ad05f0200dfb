"""krein fit --landmarks: tables of any length, and what else fits in memory."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kreinlearn import LandmarkLogisticRegression, load
from kreinlearn.app.cli import fit
from kreinlearn.io import tables
from tests.test_cli import run

FIT = ("--landmarks", "25", "-o", "m.krein", "--force")
N = 400


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a table; its files are in the working folder, and read in small blocks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables, "MIN_BLOCK_ROWS", 50)
    monkeypatch.setattr(tables, "MAX_BLOCK_ROWS", 90)
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(5 + 10 * rng.random((N, 3)), columns=["a", "b", "c"])
    is_far = frame["a"] + frame["b"] > 20
    frame["kind"] = np.where(is_far, "far", "near")
    frame.to_csv("t.csv", index=False)
    return frame


def predicted(text):
    return pd.read_csv(io.StringIO(text))


def folder(frame):
    pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    Path("rows").mkdir()
    frame.iloc[:150].to_parquet("rows/0.parquet", index=False)
    frame.iloc[150:].to_parquet("rows/1.parquet", index=False)


def test_the_same_as_in_python(capsys, here):
    code, out, err = run(capsys, "fit", "t.csv", *FIT, "--lam", "0.001", "--json")
    assert code == 0 and json.loads(out)["landmarks"] == 25
    assert "400 samples and 25 landmarks: similarities take" in err
    assert "all of them are kept" in err
    X, y = here[["a", "b", "c"]], here["kind"]
    model = LandmarkLogisticRegression(n_landmarks=25, lam=0.001)
    expected = make_pipeline(MinMaxScaler(), model).fit(X, y).predict_proba(X)
    code, out, err = run(capsys, "predict", "m.krein", "t.csv", "--proba")
    found = predicted(out)
    np.testing.assert_allclose(found["proba_far"], expected[:, 0], atol=1e-6)
    accuracy = (found["prediction"] == y).mean()
    assert f"accuracy {accuracy:.4f} on 400 labeled samples" in err


def test_parquet_folders(capsys, here):
    folder(here)
    pick = ("--target", "kind", "--lam", "0.001")
    assert run(capsys, "fit", "t.csv", *FIT, *pick)[0] == 0
    expected = load("m.krein")
    code, out, _ = run(capsys, "fit", "rows", *FIT, *pick, "--memory", "20KB")
    assert code == 0 and "400 samples, 3 features" in out
    found = load("m.krein")
    np.testing.assert_allclose(found[-1].coef_, expected[-1].coef_, rtol=1e-5)
    code, out, err = run(capsys, "predict", "m.krein", "rows")
    assert code == 0 and len(predicted(out)) == N and "on 400 labeled" in err


def test_rows_that_are_not_kept_are_reported(capsys, here):
    _, _, err = run(capsys, "fit", "t.csv", *FIT, "--lam", "0.01", "--memory", "10KB")
    assert "25% of them are kept, the others are computed again" in err


@pytest.mark.parametrize("kernel", ["tl1", "rbf"])
def test_a_search_chooses_parameters_and_lam(capsys, here, kernel):
    code, out, _ = run(capsys, "fit", "t.csv", *FIT, "--kernel", kernel)
    assert code == 0 and "in 3-fold cross-validation" in out and "25 landmarks" in out
    model = load("m.krein")[-1]
    assert len(model.scores_) > 1 and model.verbose == 0
    code, out, _ = run(capsys, "fit", "t.csv", *FIT, "--kernel", kernel, "--json")
    assert json.loads(out)["folds"] == 3


def test_text_and_missing_cells(capsys, here):
    frame = here.assign(color=np.where(here["c"] > 9, "red", "blue"))
    frame = frame[["a", "b", "c", "color", "kind"]]
    frame.loc[[3, 200, N - 1], "b"] = np.nan
    frame.to_csv("u.csv", index=False)
    code, _, err = run(capsys, "fit", "u.csv", *FIT, "--lam", "0.01")
    assert code == 2 and "column 'color' holds text such as" in err
    code, _, err = run(capsys, "fit", "u.csv", *FIT, "--lam", "0.01", "--one-hot")
    assert code == 2 and "line 5, column 'b' is missing, 3 in all" in err
    both = ("--one-hot", "--impute", "--lam", "0.01")
    assert run(capsys, "fit", "u.csv", *FIT, *both)[0] == 0
    code, out, _ = run(capsys, "predict", "m.krein", "u.csv")
    assert code == 0 and len(predicted(out)) == N
    assert run(capsys, "fit", "t.csv", *FIT, "--lam", "0.01")[0] == 0
    code, _, err = run(capsys, "predict", "m.krein", "u.csv")
    assert code == 2 and "line 5, column 'b' is missing" in err


def test_new_columns_may_be_in_another_order(capsys, here):
    run(capsys, "fit", "t.csv", *FIT, "--lam", "0.01")
    expected = run(capsys, "predict", "m.krein", "t.csv", "--proba")[1]
    here[["kind", "c", "b", "a"]].assign(z=1.0).to_csv("v.csv", index=False)
    _, out, err = run(capsys, "predict", "m.krein", "v.csv", "--proba")
    assert out == expected and "columns left out: 'z'" in err
    here[["a", "b"]].to_csv("v.csv", index=False)
    code, _, err = run(capsys, "predict", "m.krein", "v.csv")
    assert code == 2 and "lacks column 'c'" in err


def test_labels_of_a_block_are_those_of_all(capsys, here):
    labels = np.where(np.arange(N) < 350, "1", "2")
    here.assign(kind=labels).to_csv("t.csv", index=False)
    run(capsys, "fit", "t.csv", *FIT, "--lam", "0.01")
    assert load("m.krein").classes_.tolist() == [1, 2]
    assert "on 400 labeled samples" in run(capsys, "predict", "m.krein", "t.csv")[2]


def test_matrices_libsvm_and_series(capsys, here, tmp_path):
    X = here[["a", "b", "c"]].to_numpy()[:90]
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    np.savez("d.npz", D=D, y=here["kind"].to_numpy()[:90].astype(str))
    code, out, _ = run(capsys, "fit", "d.npz", "--distance", *FIT)
    assert code == 0 and "distances" in out and "25 landmarks" in out
    code, out, _ = run(capsys, "predict", "m.krein", "d.npz", "--distance")
    assert code == 0 and len(predicted(out)) == 90
    lines = [f"{int(i % 2)} 1:{i} 2:{i % 7}" for i in range(100)]
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    assert run(capsys, "fit", "t.svm", *FIT, "--lam", "0.01")[0] == 0
    assert run(capsys, "predict", "m.krein", "t.svm")[0] == 0
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 12)).cumsum(axis=1) + 5 * (np.arange(60) % 2)[:, None]
    rows = [f"{i % 2}\t" + "\t".join(map(str, v)) for i, v in enumerate(values)]
    (tmp_path / "s.tsv").write_text("\n".join(rows) + "\n")
    series = ("--kernel", "dtw", "--format", "ucr")
    code, out, err = run(capsys, "fit", "s.tsv", *FIT, *series)
    assert code == 0, err
    code, out, err = run(capsys, "predict", "m.krein", "s.tsv")
    assert code == 0 and len(predicted(out)) == 60, err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("t.csv", "--landmarks", "9", "--target", "nope"), "no column 'nope'"),
        (("t.csv", "--memory", "1GB"), "--memory is for similarities with --landmarks"),
        (("t.csv", "--landmarks", "9", "--memory", "much"), "'--memory' must be"),
        (("t.csv", "--landmarks", "9", "--distance"), "holds a table"),
        (("t.csv", "--landmarks", "9", "--param", "tau=1"), "--param needs --kernel"),
        (("t.csv", "--landmarks", "9", "--cv", "399"), "each of 399 folds needs"),
        (("empty", "--landmarks", "9"), "The folder empty holds no parquet file"),
        (("none.csv", "--landmarks", "9"), "There is no file none.csv"),
    ],
)
def test_bad_calls_are_one_sentence(capsys, here, tmp_path, words, said):
    (tmp_path / "empty").mkdir()
    code, out, err = run(capsys, "fit", *words, "-o", "m.krein")
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1


def test_more_landmarks_than_rows(capsys, here):
    call = ("fit", "t.csv", "--landmarks", "900", "--lam", "0.1", "-o", "m.krein")
    code, out, err = run(capsys, *call)
    assert code == 0 and "all of them are landmarks" in err and "400 landmarks" in out


def test_tables_without_a_header(capsys, here):
    here.to_csv("bare.csv", index=False, header=False)
    assert run(capsys, "fit", "bare.csv", *FIT, "--lam", "0.01")[0] == 0
    expected = run(capsys, "predict", "m.krein", "bare.csv")[1]
    here[["a", "b", "c"]].to_csv("bare.csv", index=False, header=False)
    assert run(capsys, "predict", "m.krein", "bare.csv")[1] == expected
    here[["a", "b"]].to_csv("bare.csv", index=False, header=False)
    code, _, err = run(capsys, "predict", "m.krein", "bare.csv")
    assert code == 2 and "must have 3 columns" in err


def test_progress_has_the_time_left():
    told = []
    steps = fit.SolveProgress(2, 1e-6, lambda *row: told.append(row))
    for stage, iteration, residual in [(0, 1, 1.0), (0, 2, 1e-3), (0, 3, 1e-6)] * 2:
        steps.update({"stage": stage, "iteration": iteration, "residual": residual})
    shares = [share for _, share, _ in told]
    assert shares == sorted(shares) and shares[-1] == 0.99
    assert np.allclose(shares[:3], [0.25, 0.5, 0.5])
    assert all(left >= 0 for _, _, left in told)
