"""krein inspect: listings, JSON and pages from tables and Gram matrices."""

import json

import numpy as np
import pytest

from kreinlearn.app.cli import main
from kreinlearn.datasets import make_gram, make_monks
from kreinlearn.kernels import KERNELS
from tests.conftest import scaled


def run(argv, capsys):
    """Return exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as ended:
        main(["inspect", *map(str, argv)])
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


@pytest.fixture
def table(tmp_path):
    """Return a file of 48 samples with a header and labels in the last column."""
    X, y = make_monks(1)
    X, y = X[::9], y[::9]
    path = tmp_path / "monks.csv"
    lines = [",".join(map(str, row)) for row in np.column_stack([X, y.astype(int)])]
    path.write_text("\n".join(["a,b,c,d,e,f,class", *lines]) + "\n")
    return path, X


@pytest.fixture
def matrix(tmp_path):
    """Return a file of a Gram matrix whose negative part holds labels."""
    K, y = make_gram((3, 3), n_samples=40, random_state=1)
    path = tmp_path / "gram.npz"
    np.savez(path, K=K, y=y)
    return path


def test_a_gram_matrix_with_labels(matrix, capsys):
    code, out, err = run([matrix, "--permutations", 99], capsys)
    assert code == 0
    words = " ".join(out.split())
    assert "eigenvalues 3 positive, 3 negative, 34 zero" in words
    assert "negative part 50 %" in words
    assert "Keep the negative part: without it, held-out accuracy falls" in words
    # Long paths are broken anywhere.
    assert f"krein fit {matrix} -o model.krein".replace(" ", "") in "".join(out.split())
    lines = err.splitlines()
    assert lines[0].startswith("inspect 1/10: fold 1 done; ")
    assert len(lines) == 10
    assert words.startswith("The labels are predictable: KreinCV, the model that")
    assert max(map(len, out.splitlines())) <= 80


def test_json_is_the_dict_and_nothing_else(matrix, capsys):
    code, out, _ = run([matrix, "--permutations", 20, "--json"], capsys)
    found = json.loads(out)
    assert code == 0
    assert found["kind"] == "inspection"
    assert found["signature"] == [3, 3, 34]
    assert len(found["value"]["permutations"]) == 20
    assert found["source"] == str(matrix)


def test_a_table_with_the_default_kernel(table, capsys):
    path, X = table
    code, out, _ = run([path, "--permutations", 20, "--json"], capsys)
    found = json.loads(out)
    assert code == 0
    assert (found["kernel"], found["params"]) == ("tl1", {"ratio": 0.7})
    assert (found["n"], found["classes"]) == (len(X), [-1, 1])
    assert found["signature"][1] > 0
    assert found["sentences"][-1] == f"Next: `krein fit {path} -o model.krein`."


def test_the_width_of_a_gaussian_is_reported(table, capsys):
    path, X = table
    code, out, _ = run([path, "--kernel", "rbf", "--json"], capsys)
    found = json.loads(out)
    sigma = KERNELS["rbf"].measure.median(scaled(X))
    assert code == 0
    assert found["params"]["sigma"] == pytest.approx(sigma)
    assert any(f"set to {sigma:.4g}, the median" in said for said in found["sentences"])
    assert "positive semidefinite" in found["sentences"][1]
    _, out, _ = run([path, "--kernel", "rbf", "--param", "sigma=9", "--json"], capsys)
    assert json.loads(out)["params"] == {"sigma": 9}


def test_options_are_repeated_in_the_command_to_run_next(table, capsys):
    path, _ = table
    argv = [path, "--target", "a", "--kernel", "linear", "--scale", "none"]
    argv += ["--header"]
    code, out, _ = run([*argv, "--json"], capsys)
    found = json.loads(out)
    assert code == 0
    expected = f"{path} --target a --header --scale none --kernel linear"
    assert found["command"] == f"krein inspect {expected}"
    assert f"`krein fit {expected} -o model.krein`" in found["sentences"][-1]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["a", "b"], "Next: add samples, at least 5 of each class."),
        (
            ["a"] * 4 + ["b"] * 9,
            "at least 5 of each class, or run `krein fit {} --cv 4",
        ),
        (["a"] * 9 + ["b"], "at least 5 of each class, or run `krein fit {} --lam 0.0"),
        ([*range(21)] * 3 + [22], "labels of classes; these are 22 different numbers"),
    ],
)
def test_the_next_step_with_rare_classes(tmp_path, capsys, y, words):
    path = tmp_path / "few.csv"
    rows = [f"{i % 7},{i % 5},{label}" for i, label in enumerate(y)]
    path.write_text("\n".join(["a,b,kind", *rows]) + "\n")
    code, out, err = run([path, "--permutations", 9, "--json"], capsys)
    assert code == 0, err
    assert words.format(path) in json.loads(out)["sentences"][-1]


def test_a_matrix_without_labels(tmp_path, capsys):
    K, _ = make_gram((3, 2), n_samples=20, random_state=0)
    path = tmp_path / "K.npy"
    np.save(path, K)
    code, out, err = run([path], capsys)
    assert code == 0
    assert "labels none" in " ".join(out.split())
    assert "no labels were given" in " ".join(out.split())
    assert err == ""


def test_the_page_is_written_once(matrix, tmp_path, capsys):
    page = tmp_path / "page.html"
    argv = [matrix, "--permutations", 40, "-o", page]
    code, out, _ = run(argv, capsys)
    assert code == 0
    assert f"Written: {page}" in out
    text = page.read_text(encoding="utf-8")
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert "Keep the negative part: without it" in text
    code, _, err = run(argv, capsys)
    assert code == 2
    assert "exists already" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--kernel", "rbf"], "holds a matrix; --kernel goes with a table"),
        (["--target", "z"], "'z'"),
        (["--permutations", "0"], "--permutations"),
    ],
)
def test_bad_options_end_with_one_line(matrix, options, words, capsys):
    code, out, err = run([matrix, *options], capsys)
    assert code == 2
    assert out == ""
    assert err.startswith("krein: ")
    assert words in err
    assert err.count("\n") == 1
