"""krein fit and krein predict: the same numbers as in Python, whatever the file."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.shell_completion import BashComplete
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale

from kreinlearn import (
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    load,
    save,
)
from kreinlearn.app import cli
from kreinlearn.kernels import KERNELS, gram, linear
from kreinlearn.persistence import stamp
from tests.test_cli import run

QUICK = ("--kernel", "linear", "--norm", "krein")


def table_text(X, y, names=None, delimiter=","):
    """Return samples as text, with all digits."""
    head = [delimiter.join(names)] if names else []
    rows = [
        delimiter.join([*map(repr, r), str(v)])
        for r, v in zip(X.tolist(), y, strict=True)
    ]
    return "\n".join(head + rows) + "\n"


@pytest.fixture(scope="module")
def cells():
    """Return 72 samples of 10 features in two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[::8, :10], np.array(["malignant", "benign"])[y[::8]]


@pytest.fixture
def here(tmp_path, monkeypatch, cells):
    """Return a folder to work in, with a table in it."""
    monkeypatch.chdir(tmp_path)
    names = [f"x{i}" for i in range(cells[0].shape[1])] + ["kind"]
    (tmp_path / "cells.csv").write_text(table_text(*cells, names))
    return tmp_path


@pytest.fixture
def few_lams(monkeypatch):
    """Try fewer values of lam by default, where a test is not about them."""
    monkeypatch.setattr("kreinlearn.search.candidates.UNITS", (10.0, 1.0, 0.1))


def probabilities(text):
    rows = list(csv.reader(io.StringIO(text)))
    labels = [name.removeprefix("proba_") for name in rows[0][1:]]
    return labels, [r[0] for r in rows[1:]], np.array([r[1:] for r in rows[1:]], float)


def krein(*args, cwd):
    """Run a command in another process; return its output."""
    call = [sys.executable, "-m", "kreinlearn", *args]
    done = subprocess.run(call, capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_same_as_python(krein, train, X, y):
    """Fit and predict by the command, and here by the lines of the README."""
    krein("fit", str(train), "-o", "m.krein")
    out = krein("predict", "m.krein", str(train), "--proba")
    model = make_pipeline(MinMaxScaler(), KreinLogisticRegressionCV()).fit(X, y)
    labels, predicted, proba = probabilities(out)
    assert labels == [str(label) for label in model.classes_]
    assert predicted == [str(label) for label in model.predict(X)]
    assert (proba == model.predict_proba(X)).all()


@pytest.mark.usefixtures("few_lams")
def test_the_same_probabilities_as_in_python_to_the_last_bit(capsys, here, cells):
    check_same_as_python(lambda *args: run(capsys, *args)[1], "cells.csv", *cells)


@pytest.mark.slow
def test_the_same_probabilities_in_other_processes(here, cells):
    check_same_as_python(partial(krein, cwd=here), "cells.csv", *cells)


@pytest.mark.slow
def test_the_same_on_sonar(tmp_path, data_home):
    path = Path(data_home) / "sonar.csv.gz"
    rows = list(csv.reader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))
    X = np.array([[float(cell) for cell in row[:-1]] for row in rows[1:]])
    y = np.array([int(row[-1]) for row in rows[1:]])
    check_same_as_python(partial(krein, cwd=tmp_path), path, X, y)


@pytest.mark.usefixtures("few_lams")
def test_fit_reports_its_steps(capsys, here, cells):
    code, out, err = run(capsys, "fit", "cells.csv", "-o", "m.krein")
    assert code == 0
    assert (
        "72 samples, 10 features, 2 classes in 'kind': benign 48, malignant 24" in out
    )
    assert "5-fold cross-validation on this file" in out and "the same folds" in out
    assert "converged, residual" in out and "m.krein, " in out
    lines = err.splitlines()
    n = len(lines)
    assert n <= 16 and [line.split()[1] for line in lines] == [
        f"{k}/{n}:" for k in range(1, n + 1)
    ]
    assert lines[0].startswith(f"fit 1/{n}: tl1 ratio=0.") and " log-loss " in lines[0]
    code, out, _ = run(capsys, "fit", "cells.csv", "-o", "m.krein", "--force", "--json")
    found = json.loads(out)
    model = load("m.krein")[-1]
    y = cells[1]
    truth = model.held_out_proba_[np.arange(72), np.searchsorted(model.classes_, y)]
    assert found["held_out_log_loss"] == pytest.approx(-np.log(truth).mean())
    right = model.classes_[model.held_out_proba_.argmax(axis=1)] == y
    assert found["held_out_accuracy"] == right.mean() > 0.9
    assert found["lam"] == model.lam_ and found["kernel"] == model.kernel_
    assert found["kernel_params"] == model.kernel_params_
    assert found["models"] == len(model.estimators_) and found["folds"] == 5
    assert found["residual"] == max(each.residual_ for each in model.estimators_)
    assert found["bytes"] == os.path.getsize("m.krein")
    assert found["counts"] == [48, 24] and found["classes"][0] == "benign"
    assert model.verbose == 0


def test_fixed_settings(capsys, here, cells):
    args = ("--lam", "0.01", "--norm", "hilbert", "--kernel", "rbf", "--param")
    code, out, err = run(
        capsys, "fit", "cells.csv", "-o", "m.krein", *args, "sigma=1.5", "--json"
    )
    assert code == 0 and err == ""
    found = json.loads(out)
    assert found["kernel_params"] == {"sigma": 1.5} and found["norm"] == "hilbert"
    assert found["models"] == 1 and "folds" not in found
    same = KreinLogisticRegression(
        "rbf", kernel_params={"sigma": 1.5}, lam=0.01, norm="hilbert"
    )
    same = make_pipeline(MinMaxScaler(), same).fit(*cells)
    expected = same.predict_proba(cells[0])
    model = load("m.krein")
    assert (
        model[-1].predict_proba(MinMaxScaler().fit_transform(cells[0])) == expected
    ).all()
    code, out, _ = run(
        capsys,
        "fit",
        "cells.csv",
        "-o",
        "t.krein",
        "--lam",
        "1",
        "--scale",
        "none",
        *args[4:6],
    )
    assert code == 0 and "no cross-validation" in out and "rbf, norm krein" in out


def test_one_kernel_with_a_fixed_parameter_and_other_folds(capsys, here):
    args = ("--kernel", "tl1", "--param", "tau=4", "--cv", "3", "--json")
    code, out, err = run(capsys, "fit", "cells.csv", "-o", "m.krein", *args)
    found = json.loads(out)
    assert code == 0 and found["folds"] == 3 and found["kernel_params"] == {"tau": 4}
    assert err.count("\n") == 1


def fitted(capsys, train, *args):
    code, _, err = run(capsys, "fit", train, "-o", "m.krein", "--force", *QUICK, *args)
    assert code == 0, err


def predicted(capsys, data, *args):
    code, out, err = run(capsys, "predict", "m.krein", data, "--proba", *args)
    assert code == 0, err
    return probabilities(out)[2], err


def test_columns_in_any_order_with_others_and_without_the_target(capsys, here, cells):
    fitted(capsys, "cells.csv")
    expected, err = predicted(capsys, "cells.csv")
    assert "accuracy" in err and "72 labeled samples" in err
    frame = pd.read_csv("cells.csv", dtype=str)
    frame["note"] = "inf"
    frame["x1 "] = "?"
    frame[["note", *frame.columns[:-3][::-1]]].to_csv("other.csv", index=False)
    found, err = predicted(capsys, "other.csv")
    assert (found == expected).all() and err == "krein: columns left out: 'note'.\n"
    frame[frame.columns[:10]].to_csv("bare.csv", index=False, header=False)
    assert (predicted(capsys, "bare.csv")[0] == expected).all()
    frame[frame.columns[:11]].to_csv("bare.csv", index=False, header=False)
    found, err = predicted(capsys, "bare.csv")
    assert (found == expected).all() and "accuracy" in err


def test_labels_that_are_not_known_are_not_counted(capsys, here):
    fitted(capsys, "cells.csv")
    frame = pd.read_csv("cells.csv", dtype=str)
    frame.loc[:9, "kind"] = ""
    frame.to_csv("some.csv", index=False)
    assert "on 62 labeled samples" in predicted(capsys, "some.csv")[1]
    frame.assign(kind="").to_csv("some.csv", index=False)
    assert predicted(capsys, "some.csv")[1] == ""
    frame.assign(kind="7").to_csv("some.csv", index=False)
    assert predicted(capsys, "some.csv")[1] == ""


def test_a_target_in_the_middle_without_header(capsys, here, cells):
    X, y = cells
    rows = [
        [*map(repr, r[:3]), v, *map(repr, r[3:])]
        for r, v in zip(X.tolist(), y, strict=True)
    ]
    text = "\n".join(",".join(row) for row in rows)
    Path("bare.csv").write_text(text)
    Path("new.tsv").write_text(table_text(X[:, :-1], X[:, -1], delimiter="\t"))
    fitted(capsys, "bare.csv", "--target", "4")
    assert stamp("m.krein")["notes"]["target_place"] == 3
    with_labels, err = predicted(capsys, "bare.csv")
    without, silent = predicted(capsys, "new.tsv")
    assert (with_labels == without).all() and "accuracy" in err and silent == ""


def test_text_and_missing_values_stay_in_the_model(capsys, here):
    rng = np.random.default_rng(0)
    n = 60
    codes = np.array(["01", "1", "x"])[rng.integers(0, 3, n)]
    numbers = rng.standard_normal(n)
    y = np.where(numbers + (codes == "x") > 0.3, "b", "a")
    written = [repr(float(v)) for v in numbers]
    written[4] = "NA"
    rows = [f"{c},{v},{label}" for c, v, label in zip(codes, written, y, strict=True)]
    Path("t.csv").write_text("\n".join(["code,v,y", *rows]))
    fitted(capsys, "t.csv", "--impute", "--one-hot")
    everything, _ = predicted(capsys, "t.csv")
    # Codes that look like numbers, a number that is not known, a word that is new.
    Path("u.csv").write_text(f"v,code\n{written[0]},{codes[0]}\n,01\n,new\n")
    few, _ = predicted(capsys, "u.csv")
    assert (few[0] == everything[0]).all() and len(few) == 3
    one = [i for i in range(n) if codes[i] in ("01", "1")][:8]
    Path("v.csv").write_text(
        "code,v\n" + "".join(f"{codes[i]},{written[i]}\n" for i in one)
    )
    assert (predicted(capsys, "v.csv")[0] == everything[one]).all()


def test_libsvm_text(capsys, here):
    X, y = load_iris(return_X_y=True)
    X = np.where(X < 1, 0, X)
    dump_svmlight_file(X, y, "iris.svm", zero_based=False)
    fitted(capsys, "iris.svm")
    expected, err = predicted(capsys, "iris.svm")
    assert "150 labeled" in err
    assert not X[:50, 3].any()
    dump_svmlight_file(X[:50, :3], np.zeros(50), "few.svm", zero_based=False)
    found, _ = predicted(capsys, "few.svm")  # index 4 is zero in all of them
    assert (found == expected[:50]).all()
    Path("bare.csv").write_text(table_text(X[:, :3], X[:, 3]))
    assert (predicted(capsys, "bare.csv")[0] == expected).all()


def test_parquet_in_and_out(capsys, here):
    frame = pd.read_csv("cells.csv")
    frame.to_parquet("cells.parquet")
    fitted(capsys, "cells.parquet", "--target", "kind")
    expected, _ = predicted(capsys, "cells.parquet")
    for name in ("p.parquet", "p.csv", "p.csv.gz", "p.tsv"):
        args = ("predict", "m.krein", "cells.parquet", "--proba", "-o", name)
        code, out, err = run(capsys, *args)
        assert code == 0 and out == "" and "72 predictions written to " in err
        delimiter = "\t" if "tsv" in name else ","
        read = {"delimiter": delimiter, "dtype": str}
        found = pd.read_parquet(name) if "q" in name else pd.read_csv(name, **read)
        assert found.columns[0] == "prediction"
        assert (found.iloc[:, 1:].to_numpy(dtype=float) == expected).all()
        code, out, err = run(capsys, *args)
        assert code == 2 and "--force" in err
    code, out, _ = run(capsys, *args, "--force", "--json")
    assert code == 0 and json.loads(out)["samples"] == 72


def test_predictions_as_json(capsys, here):
    fitted(capsys, "cells.csv")
    expected, _ = predicted(capsys, "cells.csv")
    code, out, _ = run(capsys, "predict", "m.krein", "cells.csv", "--proba", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and len(rows) == 72
    assert [row["proba_malignant"] for row in rows] == expected[:, 1].tolist()
    code, out, _ = run(capsys, "predict", "m.krein", "cells.csv")
    assert out.splitlines()[:2] == ["prediction", "malignant"]


def test_gram_matrices(capsys, here, cells):
    X, y = minmax_scale(cells[0]), cells[1]
    K = gram(X, kernel="tl1")
    np.savez("g.npz", K=K, y=y)
    code, out, err = run(capsys, "fit", "g.npz", "-o", "m.krein", "--json")
    found = json.loads(out)
    assert code == 0 and found["kernel"] == "precomputed" and found["features"] is None
    model = KreinLogisticRegressionCV(kernel="precomputed").fit(K, y)
    expected = model.predict_proba(K)
    assert (predicted(capsys, "g.npz")[0] == expected).all()
    np.save("new.npy", K[:5])
    # Products of other shapes are summed in another order.
    np.testing.assert_allclose(
        predicted(capsys, "new.npy")[0], expected[:5], atol=1e-12
    )
    np.save("new.npy", K[:5, model.support_])
    np.testing.assert_allclose(
        predicted(capsys, "new.npy")[0], expected[:5], atol=1e-12
    )
    np.save("K.npy", K)
    Path("y.txt").write_text("\n".join(y))
    code, _, _ = run(capsys, "fit", "K.npy", "--target", "y.txt", "-o", "n.krein")
    assert code == 0
    assert (load("n.krein").predict_proba(K) == expected).all()


def test_warnings_are_plain_lines(capsys, here):
    text = Path("cells.csv").read_text().splitlines()
    rows = [f"{'one' if i == 0 else '1'},{row}" for i, row in enumerate(text)]
    Path("c.csv").write_text("\n".join(rows))
    code, _, err = run(capsys, "fit", "c.csv", "-o", "m.krein", *QUICK)
    assert code == 0 and err.splitlines()[0] == (
        "krein: warning: c.csv: the same value for all samples in column 'one', which "
        "cannot separate classes."
    )
    narrow = ("--kernel", "rbf", "--param", "sigma=1e-3", "--lam", "1")
    code, _, err = run(capsys, "fit", "cells.csv", "-o", "n.krein", *narrow)
    assert code == 0 and err.startswith(
        "krein: warning: The Gram matrix of kernel 'rbf'"
    )
    assert len(err.splitlines()) == 1


def test_labels_of_text_that_look_like_numbers(capsys, here, cells):
    kinds = np.where(cells[1] == "benign", "1", "b")
    Path("t.csv").write_text(table_text(cells[0], kinds, [*"abcdefghij", "kind"]))
    fitted(capsys, "t.csv")
    only = np.flatnonzero(kinds == "1")
    text = table_text(cells[0][only], kinds[only], [*"abcdefghij", "kind"])
    Path("u.csv").write_text(text)
    assert "on 48 labeled samples" in predicted(capsys, "u.csv")[1]
    pd.read_csv("u.csv").to_parquet("u.parquet")  # where they are numbers
    assert "on 48 labeled samples" in predicted(capsys, "u.parquet")[1]


def test_a_model_saved_in_python_without_notes(capsys, here, cells):
    model = make_pipeline(MinMaxScaler(), KreinLogisticRegression()).fit(*cells)
    save(model, "p.krein")
    Path("new.csv").write_text(table_text(cells[0][:, :-1], cells[0][:, -1]))
    code, out, err = run(capsys, "predict", "p.krein", "new.csv", "--proba")
    assert code == 0 and err == ""
    assert (probabilities(out)[2] == model.predict_proba(cells[0])).all()


@pytest.mark.parametrize(
    ("words", "position", "expected"),
    [
        ("krein ", 1, ["demo", "inspect", "fit", "predict", "compare", "info"]),
        ("krein fi", 1, ["fit"]),
        ("krein fit --kernel t", 3, ["tanh", "tl1", "twe"]),
        ("krein fit --kernel ", 3, ["laplacian", "rbf", "tl1"]),
        ("krein fit --one", 2, ["--one-hot"]),
        ("krein fit --norm ", 3, ["krein", "hilbert"]),
    ],
)
def test_the_shell_completes(monkeypatch, words, position, expected):
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(position))
    shell = BashComplete(cli.app, {}, "krein", "_KREIN_COMPLETE")
    found = [line.partition(",")[2] for line in shell.complete().split("\n")]
    assert set(expected) <= set(found) and "spd_stein" not in found
    assert found == expected or len(expected) > 2 or "norm" in words


ASKED = {"COMP_WORDS": "krein fit --kernel tl", "COMP_CWORD": "3"}
ASKED |= {"_KREIN_COMPLETE": "bash_complete"}


def test_the_command_answers_the_shell(capsys, monkeypatch):
    for name, value in ASKED.items():
        monkeypatch.setenv(name, value)
    assert run(capsys)[1].split() == ["plain,tl1"]


@pytest.mark.slow
def test_the_shell_asks_the_command():
    call = [sys.executable, "-m", "kreinlearn"]
    done = subprocess.run(call, capture_output=True, text=True, env=os.environ | ASKED)
    assert done.stdout.split() == ["plain,tl1"]


def test_a_long_search_is_announced_with_what_is_shorter(
    capsys, here, monkeypatch, few_lams
):
    call = ("fit", "cells.csv", *QUICK, "-o", "m.krein", "--force")
    assert "takes roughly" not in run(capsys, *call)[2]
    monkeypatch.setattr("kreinlearn.estimators._fit.SLOW_SECONDS", 1e-9)
    monkeypatch.setattr("kreinlearn.estimators.logistic.MAX_QUICK_SAMPLES", 0)
    code, _, said = run(capsys, *call)
    assert code == 0 and "Cross-validation of 72 samples takes roughly" in said
    assert "--landmarks 1000" in said and "--lam" in said
    code, _, said = run(capsys, *call, "--lam", "0.1")
    assert code == 0 and "A fit of 72 samples takes roughly" in said


@pytest.mark.usefixtures("here", "few_lams")
def test_many_samples_are_judged_by_some_of_them(capsys, monkeypatch):
    monkeypatch.setattr("kreinlearn.search.racing.SEARCH_ROWS", 40)
    code, out, _ = run(capsys, "fit", "cells.csv", "-o", "m.krein", "--json")
    found = json.loads(out)
    assert code == 0 and found["held_out"] == 40 and found["held_out_accuracy"] > 0.7
    _, out, _ = run(capsys, "fit", "cells.csv", "-o", "m.krein", "--force")
    assert "cross-validation on 40 samples of this file" in out


def test_what_does_not_fit_is_refused_before_it_is_estimated(capsys, here, monkeypatch):
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 100_000)
    monkeypatch.setattr("kreinlearn.estimators._fit.SLOW_SECONDS", 1e-9)
    call = ("fit", "cells.csv", "--kernel", "linear", "-o", "m.krein")
    code, _, said = run(capsys, *call)
    assert code == 2 and "eigenvectors" in said and "--landmarks 1000" in said
    assert "takes roughly" not in said and said.count("\n") == 1


@pytest.mark.parametrize("name", ["cells.csv", "cells.csv.gz", "cells.parquet"])
def test_predict_opens_the_data_and_the_model_once(capsys, here, monkeypatch, name):
    frame = pd.read_csv("cells.csv", dtype=str)
    frame.to_csv("cells.csv.gz", index=False)
    pd.read_csv("cells.csv").to_parquet("cells.parquet")
    fitted(capsys, "cells.csv")
    opened = []

    def audit(event, args):
        if event == "open" and monkeypatch.watching and isinstance(args[0], str | Path):
            opened.append(Path(args[0]).name)

    monkeypatch.watching = True
    sys.addaudithook(audit)  # cannot be removed, so it is switched off below
    try:
        code, out, err = run(capsys, "predict", "m.krein", name)
    finally:
        monkeypatch.watching = False
    assert code == 0 and "72 labeled samples" in err
    assert opened.count("m.krein") == 1
    # pyarrow opens files without Python: at least none is opened besides.
    assert opened.count(name) == (0 if name.endswith("parquet") else 1)


def test_a_kernel_registered_now_is_offered(capsys, here, monkeypatch):
    _, text, _ = run(capsys, "fit", "--help")
    assert "tl1" in text and "doubled" not in text and "spd_stein" not in text
    monkeypatch.setitem(KERNELS, "doubled", lambda X, Y=None: 2 * linear(X, Y))
    _, text, _ = run(capsys, "fit", "--help")
    assert "doubled" in text and "spd_stein" not in text
    code, out, _ = run(capsys, "inspect", "cells.csv", "--kernel", "doubled", "--json")
    assert code == 0 and json.loads(out)["kernel"] == "doubled"
    code, _, err = run(capsys, "fit", "cells.csv", "-o", "m", "--kernel", "moon")
    assert code == 2 and "'doubled'" in err and "'spd_stein'" not in err
