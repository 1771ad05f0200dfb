import csv
import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris

from kreinlearn.app.comparison import run as module
from kreinlearn.app.runs import RunState
from kreinlearn.kernels import gram
from tests.comparison.test_compare import inline
from tests.test_cli import run

FEW = ("--methods", "KreinCV,SVC raw", "--kernels", "tl1", "--folds", "2")


@pytest.fixture
def flowers(tmp_path, monkeypatch):
    """Write a table with names of flowers, and go where it is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "run", inline)
    X, y = load_iris(return_X_y=True)
    names = np.array(["rose", "lily", "iris"])[y]
    rows = [[*map(str, x), name] for x, name in zip(X[::3], names[::3], strict=True)]
    with open("flowers.csv", "w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "c", "d", "kind"], *rows])
    return X[::3], y[::3]


@pytest.fixture
def not_drawn(monkeypatch):
    """Leave the page empty, where a test is about something else."""
    name = "kreinlearn.app.comparison.run.comparison_page"
    monkeypatch.setattr(name, lambda found: "<!DOCTYPE html>")


def test_a_table_is_compared_printed_and_drawn(capsys, flowers, tmp_path):
    code, out, err = run(capsys, "compare", "flowers.csv", *FEW)
    assert code == 0
    assert err.startswith("krein: 50 rows: 4 fits with their tuning take about 0m02s.")
    for name in ("KreinCV", "SVC raw"):
        row = next(line for line in out.splitlines() if line.strip().startswith(name))
        assert re.search(r"  [01]\.\d{3} ± 0\.\d{3} +(-|0\.\d{3}) +[01]\.\d{3}", row)
    assert "not a standard error" in out and out.rstrip().endswith(
        "comparison/report.html"
    )
    assert max(map(len, out.splitlines())) <= 80
    [verdict] = json.loads(run(capsys, "compare", "flowers.csv", *FEW, "--json")[1])[
        "sentences"
    ][:1]
    assert verdict in " ".join(out.split())
    folder = tmp_path / "comparison"
    names = {path.name for path in folder.iterdir()}
    assert names == {"compare.jsonl", "compare.csv", "report.html"}
    page = (folder / "report.html").read_text()
    assert "flowers.csv" in page and "krein compare flowers.csv --kernels tl1" in page
    records = (folder / "compare.jsonl").read_bytes()
    code, again, _ = run(capsys, "compare", "flowers.csv", *FEW)
    assert code == 0 and again == out
    assert (folder / "compare.jsonl").read_bytes() == records


@pytest.mark.usefixtures("not_drawn")
def test_json_is_the_whole_dict_and_nothing_else(capsys, flowers):
    code, out, _ = run(capsys, "compare", "flowers.csv", *FEW, "--json", "--out", "x")
    found = json.loads(out)
    assert code == 0 and found["kind"] == "comparison"
    assert found["data"]["classes"] == ["iris", "lily", "rose"]
    assert {row["method"] for row in found["rows"]} == {"KreinCV", "SVC raw"}


@pytest.mark.usefixtures("not_drawn")
def test_gram_matrices_are_compared(capsys, flowers):
    X, y = flowers
    np.savez("gram.npz", K=gram(X / X.max(axis=0)), y=y)
    code, out, _ = run(capsys, "compare", "gram.npz", "--methods", "KreinCV", "--json")
    [row] = json.loads(out)["rows"]
    assert code == 0 and row["kernel"] == "precomputed" and row["accuracy"] > 0.85


@pytest.mark.usefixtures("not_drawn")
def test_other_settings_are_refused_with_one_line(capsys, flowers, tmp_path):
    run(capsys, "compare", "flowers.csv", *FEW)
    code, out, err = run(capsys, "compare", "flowers.csv", *FEW, "--seed", "1")
    assert code == 2 and out == "" and len(err.splitlines()) == 1
    assert "other data" in err and "--force" in err
    code, _, _ = run(capsys, "compare", "flowers.csv", *FEW, "--seed", "1", "--force")
    assert code == 0
    code, out, err = run(capsys, "compare", "flowers.csv", "--methods", "SVM")
    assert code == 2 and out == "" and "'KSVM'" in err and len(err.splitlines()) == 1
    code, _, err = run(capsys, "compare", "nothing.csv")
    assert code == 2 and "nothing.csv" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("count", "given", "words"),
    [
        (
            3,
            (),
            "has 3 rows, but 5 folds need 5 of each class; use --folds 3, or remove",
        ),
        (3, ("--folds", "2"), "2 folds need 4 of each class; use --folds 3, or remove"),
        (1, (), "has 1 row, but 5 folds need 5 of each class; add rows, or remove the"),
        (9, ("--kernels", "gauss"), "got 'gauss'. Did you mean 'rbf'?"),
        (9, ("--kernels", "tl1,laplace"), "'laplace'. Did you mean 'laplacian'?"),
        (9, ("--kernels", "zzz"), "--kernels must be one of 'epanechnikov'"),
    ],
)
def test_rare_classes_and_unknown_kernels(capsys, tmp_path, count, given, words):
    rows = [f"{i},{i % 3},{'rare' if i < count else 'usual'}" for i in range(30)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,kind", *rows]))
    code, out, err = run(capsys, "compare", str(path), *given)
    assert (code, out) == (2, "") and words in err, err


@pytest.mark.usefixtures("not_drawn")
def test_large_data_are_announced(capsys, flowers, monkeypatch):
    monkeypatch.setattr("kreinlearn.app.comparison.run.LARGE_DATA", 10)
    code, _, err = run(capsys, "compare", "flowers.csv", *FEW, "--jobs", "1")
    assert code == 0
    assert re.match(r"krein: 50 rows: 4 fits .* 55,000 bytes and about 0m03s;", err)


@pytest.mark.usefixtures("not_drawn")
def test_progress_goes_to_stderr(capsys, flowers, monkeypatch):
    def told(cells, path, work, progress=None, **rest):
        inline(cells, path, work)
        progress(RunState(4, 4, "4 found, 0 to run"))

    monkeypatch.setattr(module, "run", told)
    code, out, err = run(capsys, "compare", "flowers.csv", *FEW)
    first, rest = err.split("\n", 1)
    assert first == "krein: 50 rows: 4 fits with their tuning take about 0m02s."
    progress, leak = rest.splitlines()
    assert code == 0 and progress == "compare 4/4: 4 found, 0 to run"
    assert "column 'd' alone predicts every label" in leak and "found" not in out


def test_help_names_every_method(capsys):
    from kreinlearn.app.methods import ALL_METHODS

    code, out, _ = run(capsys, "compare", "--help")
    text = "".join(out.split())
    assert code == 0 and "Examples:\n    krein compare" in out
    assert all(name.replace(" ", "") in text for name in ALL_METHODS)
