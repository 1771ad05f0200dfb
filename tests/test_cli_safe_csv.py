"""krein predict --safe-csv: no label and no name becomes a formula in a spreadsheet."""

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kreinlearn.app.cli.predict import _guard_formulas
from tests.test_cli import run

LABELS = ['=HYPERLINK("http://x","y")', "@SUM(A1)", "plain"]


def written(text, delimiter=","):
    return list(csv.reader(io.StringIO(text), delimiter=delimiter))


@pytest.fixture
def model(tmp_path, monkeypatch, capsys):
    """Return the samples of a table whose labels are formulas; a model is beside it."""
    monkeypatch.chdir(tmp_path)
    X = np.repeat(np.eye(3), 8, axis=0) + np.linspace(-0.1, 0.1, 72).reshape(24, 3)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.repeat(LABELS, 8))
    table.to_csv("t.csv", index=False)
    call = ["fit", "t.csv", "--kernel", "rbf", "--lam", "0.001", "-o", "m.krein"]
    assert run(capsys, *call)[0] == 0
    return table


def test_labels_are_guarded_and_numbers_are_not(model, capsys):
    call = ["predict", "m.krein", "t.csv", "--proba"]
    _, exact, _ = run(capsys, *call)
    code, safe, err = run(capsys, *call, "--safe-csv")
    assert code == 0 and "accuracy 1.0000" in err
    before, after = written(exact), written(safe)
    assert [row[0] for row in before[1:]] == model["y"].tolist()
    guarded = [f"'{LABELS[0]}", f"'{LABELS[1]}", "plain"]
    assert [row[0] for row in after[1:]] == np.repeat(guarded, 8).tolist()
    assert [row[1:] for row in before] == [row[1:] for row in after]
    assert before[0][0] == after[0][0] == "prediction"


@pytest.mark.parametrize("name", ["p.csv", "p.tsv.gz"])
def test_files_are_guarded_too(model, capsys, name):
    code, _, _ = run(
        capsys, "predict", "m.krein", "t.csv", "--safe-csv", "-o", name, "--json"
    )
    assert code == 0
    content = Path(name).read_bytes()
    text = gzip.decompress(content) if name.endswith("gz") else content
    assert written(text.decode(), "\t")[1][0].strip('"').startswith("'=")


@pytest.mark.parametrize(
    ("options", "word"), [(("-o", "p.parquet"), "parquet"), (("--json",), "--json")]
)
def test_there_is_nothing_to_guard_elsewhere(model, capsys, options, word):
    code, out, err = run(capsys, "predict", "m.krein", "t.csv", "--safe-csv", *options)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert f"guards the cells of csv and tsv, got {word}" in err


def test_every_beginning_of_a_formula():
    names = ["=a", "+a", "-5", "@a", "\ta", "\ra", "'=a", "a=b", "", "é"]
    frame = pd.DataFrame({"id": names, "prediction": np.arange(-5, 5), "p": -0.5})
    safe = _guard_formulas(frame)
    expected = ["'=a", "'+a", "'-5", "'@a", "'\ta", "'\ra", "'=a", "a=b", "", "é"]
    assert safe["id"].tolist() == expected
    pd.testing.assert_frame_equal(safe[["prediction", "p"]], frame[["prediction", "p"]])
    assert frame["id"].tolist() == names
