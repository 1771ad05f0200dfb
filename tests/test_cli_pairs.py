"""From pairs and matrices with names to predictions, on the command line alone."""

import gzip
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kreinlearn
from kreinlearn.app.cli import main
from kreinlearn.io import read_pairs

N, NEW = 40, 6


@pytest.fixture
def krein(capsys):
    """Return a function that gives exit code, output and errors of a command."""

    def run(*argv):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in argv])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


def hits(D, rows, columns, rng):
    """Return outfmt 6 of a search: weak hits are left out, strong ones are doubled."""
    lines = ["# BLASTP 2.15.0+"]
    for a in rows:
        for b in columns:
            bits = 100 - 40 * D.loc[a, b] + rng.uniform(0, 0.2)
            if a != b and bits < 55:
                continue
            for score in (bits, bits - 20)[: 1 + (bits > 80)]:
                cells = [a, b, 98.5, 60, 1, 0, 1, 60, 3, 62, "2e-30", f"{score:.1f}"]
                lines.append("\t".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def phylip(D):
    rows = [
        f"{name:<10}" + "".join(f" {value!r}" for value in D.iloc[i, :i].tolist())
        for i, name in enumerate(D.index)
    ]
    return f"{len(D)}\n" + "\n".join(rows) + "\n"


def long(D, rows, columns):
    """Return a list of pairs, each in one direction, in an order by chance."""
    seen = dict.fromkeys(frozenset((a, b)) for a in rows for b in columns if a != b)
    pairs = [sorted(pair) for pair in seen]
    order = np.random.default_rng(5).permutation(len(pairs))
    lines = [f"{a},{b},{float(D.loc[a, b])!r}" for a, b in (pairs[i] for i in order)]
    return "one,other,distance\n" + "\n".join(lines) + "\n"


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return distances and labels of old and new samples; files are in the folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(N + NEW, 2))
    y = np.where(np.abs(X - 0.5).sum(axis=1) > 0.5, "out", "in")
    old, new = [f"s{i}" for i in range(N)], [f"n{i}" for i in range(NEW)]
    names = old + new
    D = pd.DataFrame(np.abs(X[:, None] - X).sum(axis=2), names, names)
    labels = pd.Series(y, names, name="kind")
    labels[old].sample(frac=1, random_state=0).to_csv("kinds.csv", index_label="id")
    Path("hits.m8").write_text(hits(D, old, old, rng))
    Path("new.m8").write_text(hits(D, new, old, rng))
    Path("d.phylip").write_text(phylip(D.loc[old, old]))
    Path("all.phylip").write_text(phylip(D.loc[new + old, new + old]))
    Path("pairs.csv").write_text(long(D, old, old))
    Path("new-pairs.csv").write_text(long(D, new, old))
    Path("square.csv").write_text(D.loc[old, old].to_csv())
    Path("new-square.csv").write_text(D.loc[new, old[::-1]].to_csv())
    return D, labels, old, new


SEARCH = ["--missing", 0, "--symmetrize", "max"]
KINDS = {
    "blast": (["hits.m8", *SEARCH], "new.m8"),
    "phylip": (["d.phylip", "--distance"], "all.phylip"),
    "pairs": (["pairs.csv", "--format", "pairs", "--distance"], "new-pairs.csv"),
    "square": (["square.csv", "--distance"], "new-square.csv"),
}
LABELS = ["--labels", "kinds.csv"]


def expected(data, kind):
    """Return the matrix that a file holds, in the order of its samples."""
    if kind == "blast":
        return read_pairs("hits.m8", missing=0, symmetrize="max")
    return data[0]


@pytest.mark.parametrize("kind", KINDS)
def test_from_a_file_to_predictions(krein, data, kind):
    D, labels, old, new = data
    argv, fresh = KINDS[kind]
    code, out, err = krein("fit", *argv, *LABELS, "-o", "m.krein", "--cv", 3)
    assert code == 0, err
    assert f"{N} samples" in out and "classes in 'kind'" in out
    assert ("missing and taken for 0" in err) == (kind == "blast")
    code, out, err = krein("predict", "m.krein", fresh, "--proba")
    assert code == 0, err
    assert "warning" not in err
    Path("found.csv").write_text(out)
    found = pd.read_csv("found.csv", index_col="id")
    assert set(new) <= set(found.index)
    assert found.columns.tolist() == ["prediction", "proba_in", "proba_out"]
    assert (found["prediction"] == labels[found.index])[new].mean() >= 0.6
    # The same as from Python, whose estimators match by name.
    model = kreinlearn.load("m.krein")
    K = D.loc[new, old]
    if kind == "blast":
        K = read_pairs("new.m8", training=old, missing=0, symmetrize="max").loc[new]
    assert model.predict(K).tolist() == found.loc[new, "prediction"].tolist()
    np.testing.assert_allclose(model.predict_proba(K), found.loc[new].iloc[:, 1:])
    code, out, _ = krein("predict", "m.krein", fresh, "--json")
    assert json.loads(out.splitlines()[0]).keys() == {"id", "prediction"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_inspect_and_compare(krein, data, compares_here, kind):
    argv, _ = KINDS[kind]
    few = ["--permutations", 9, "--json"]
    code, out, err = krein("inspect", *argv, *LABELS, *few, "-o", "page.html")
    assert code == 0, err
    found = json.loads(out)
    assert found["n"] == N and found["classes"] == ["in", "out"]
    assert Path("page.html").stat().st_size > 1000
    said = next(
        part for part in found["sentences"][-1].split("`") if "krein fit" in part
    )
    code, _, err = krein(*shlex.split(said)[1:])
    assert code == 0, err
    code, out, err = krein("inspect", *argv, *few)
    assert code == 0 and json.loads(out)["classes"] is None, err
    more = ["--methods", "Krein norm,SVC clip", "--folds", 2, "--jobs", 1, "--json"]
    code, out, err = krein("compare", *argv, *LABELS, *more)
    assert code == 0, err
    found = json.loads(out)
    assert max(row["accuracy"] for row in found["rows"]) > 0.5
    assert "--labels kinds.csv" in found["command"]
    assert Path("comparison/report.html").exists()


def test_what_predict_takes_besides(krein, data):
    D, _, old, new = data
    argv = ["square.csv", "--distance", *LABELS, "--lam", 0.01, "-o", "m.krein"]
    assert krein("fit", *argv)[0] == 0
    whole = krein("predict", "m.krein", "new-square.csv")[1]
    assert whole.splitlines()[0] == "id,prediction"

    def predicted(*argv):
        code, out, err = krein("predict", "m.krein", *argv)
        assert code == 0, err
        return dict(line.split(",") for line in out.splitlines()[1:])

    by_name = dict(line.split(",") for line in whole.splitlines()[1:])
    assert predicted("new-pairs.csv", "--format", "pairs") == by_name
    everything = predicted("all.phylip")
    assert {name: everything[name] for name in new} == by_name
    packed = gzip.compress(Path("new-pairs.csv").read_bytes())
    Path("packed.txt.gz").write_bytes(packed)
    assert predicted("packed.txt.gz", "--format", "pairs") == by_name
    model = kreinlearn.load("m.krein")
    needed = [old[i] for i in model.support_]
    D.loc[new, needed[::-1]].to_csv("part.csv")
    assert predicted("part.csv") == by_name
    np.savez("new.npz", D=D.loc[new, old])
    code, out, _ = krein("predict", "m.krein", "new.npz")
    assert (code, out.splitlines()[1:]) == (0, list(by_name.values()))
    # The training samples themselves, from the training file.
    assert set(predicted("square.csv")) == set(old)
    kreinlearn.save(model, "python.krein")  # without notes
    assert krein("predict", "python.krein", "new-square.csv")[1] == whole


def test_a_labels_file_with_more_columns(krein, data):
    frame = pd.read_csv("kinds.csv").assign(age=7)
    frame.to_csv("about.tsv", sep="\t", index=False)
    argv = ["fit", "square.csv", "--distance", "--labels", "about.tsv", "--lam", 0.1]
    code, out, err = krein(*argv, "--target", "kind", "-o", "m.krein")
    assert code == 0 and "'kind'" in out, err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fit hits.m8 -o m", ["hits.m8 holds no labels", "--labels"]),
        ("fit hits.m8 --labels kinds.csv -o m", ["lacks", "pairs", "--missing 0."]),
        ("fit hits.m8 --labels few.csv --missing 0 -o m", ["few.csv has no label for"]),
        ("fit d.phylip --labels kinds.csv -o m", ["with themselves", "--distance"]),
        ("fit square.csv --labels kinds.csv -o m", ["looks like distances"]),
        ("fit square.csv --distance --labels no.csv -o m", ["There is no file no.csv"]),
        ("fit pairs.csv --labels kinds.csv -o m", ["holds a table", "--format pairs"]),
        ("fit pairs.csv --missing 3 -o m", ["holds a table", "--missing"]),
        ("fit pairs.csv --format blast -o m --labels kinds.csv", ["12 columns"]),
        ("fit pairs.csv --format pairs --distance -o m --target x", ["no labels"]),
        ("inspect pairs.csv --format pairs --target x", ["--labels"]),
        ("inspect hits.m8 --missing nan", ["must be a finite number, got nan"]),
        ("inspect hits.m8 --kernel rbf --missing 0", ["--kernel goes with a table"]),
        ("inspect square.csv --repeated max", ["leave out --repeated"]),
        ("compare hits.m8 --missing 0", ["holds no labels"]),
        ("fit K.npz --missing 1 -o m", ["every pair must be known"]),
        ("predict D.krein lost.csv", ["lacks 1 of", "'s3'", "training samples"]),
        ("predict D.krein pairs.csv", ["line 2", "--format pairs"]),
        ("predict D.krein lost-pairs.csv --format pairs", ["lacks 1 of", "'n2'"]),
        ("predict D.krein d.npz --missing 1", ["every pair must be known"]),
        ("predict K.krein square.csv", ["square.csv has names, but the model"]),
        ("predict K.krein hits.m8", ["have no names"]),
        ("predict t.krein hits.m8", ["trained on a table"]),
        ("predict t.krein t.csv --missing 1", ["holds a table", "leave out --missing"]),
    ],
)
def test_bad_calls(krein, data, line, words):
    D, labels, old, new = data
    labels[old[:-1]].to_csv("few.csv")
    Path("more.csv").write_text(Path("kinds.csv").read_text() + "eel,in\n")
    K = np.exp(-D.loc[old, old].to_numpy())
    np.savez("K.npz", K=K, y=labels[old].to_numpy(str))
    np.savez("d.npz", D=D.loc[new, old])
    Path("t.csv").write_text("a,kind\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    argv = ["square.csv", "--distance", *LABELS, "-o", "D.krein", "--norm", "hilbert"]
    assert krein("fit", *argv, "--lam", 0.001)[0] == 0
    assert len(kreinlearn.load("D.krein").support_) == N
    assert krein("fit", "K.npz", "--lam", 0.01, "-o", "K.krein")[0] == 0
    assert krein("fit", "t.csv", "--lam", 0.01, "-o", "t.krein")[0] == 0
    D.loc[new, old].drop(columns="s3").to_csv("lost.csv")
    text = Path("new-pairs.csv").read_text().splitlines()
    kept = [row for row in text if not row.startswith("n2,s3,")]
    assert len(kept) == len(text) - 1
    Path("lost-pairs.csv").write_text("\n".join(kept))
    before = sorted(Path().iterdir())
    code, out, err = krein(*shlex.split(line))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for each in words:
        assert each in err
    assert sorted(Path().iterdir()) == before


def test_two_directions_are_made_one_for_new_samples_too(krein, data):
    _, _, old, _ = data
    rng = np.random.default_rng(0)
    lines = Path("new-pairs.csv").read_text().splitlines()[1:]
    backward = [
        f"{b},{a},{float(s) + rng.uniform()}"
        for a, b, s in (line.split(",") for line in lines)
    ]
    Path("both.csv").write_text("\n".join(lines + backward) + "\n")
    argv = ["pairs.csv", "--format", "pairs", "--distance", *LABELS, "--lam", 0.01]
    code, _, err = krein("fit", *argv, "--symmetrize", "mean", "-o", "m.krein")
    assert code == 0, err
    code, out, err = krein("predict", "m.krein", "both.csv", "--proba", "--json")
    assert code == 0, err
    D = read_pairs("both.csv", "pairs", training=old, symmetrize="mean")
    assert not D.equals(read_pairs("both.csv", "pairs", training=old))
    proba = kreinlearn.load("m.krein").predict_proba(D)
    found = [json.loads(line) for line in out.splitlines()]
    assert [each["id"] for each in found] == D.index.tolist()
    np.testing.assert_allclose([each["proba_in"] for each in found], proba[:, 0])
