"""From series, sequences and graphs to predictions, on the command line alone."""

import gzip
import json
import os
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

import kreinlearn
from kreinlearn import KreinLogisticRegression
from kreinlearn._numba_cache import COMPILE_NOTICE
from kreinlearn.app.cli import main
from kreinlearn.app.inspection import verdict
from kreinlearn.io import read_fasta, read_ts, read_tu, read_ucr
from kreinlearn.kernels import KERNELS

N, NEW = 24, 5
KINDS = {
    "fasta": ("old.fasta", "new.fasta", "smith_waterman"),
    "ts": ("old.ts", "new.ts", "dtw"),
    "channels": ("wide.ts", "new-wide.ts", "dtw"),
    "ucr": ("old.tsv --kernel dtw", "new.tsv", "dtw"),
    "ucr, said": ("old.csv --format ucr --target y", "new.csv", "dtw"),
    "tu": ("OLD", "NEW", "weisfeiler_lehman_assignment"),
}
READ = {
    "old.fasta": lambda path: read_fasta(path)[1],
    "old.ts": lambda path: read_ts(path)[0],
    "wide.ts": lambda path: read_ts(path)[0],
    "old.tsv": lambda path: read_ucr(path)[0],
    "old.csv": lambda path: read_ucr(path, "y")[0],
    "OLD": lambda path: read_tu(path)[0],
}


@pytest.fixture
def krein(capsys):
    """Return a function that gives exit code, output and errors of a command."""

    def run(*argv):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in argv])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


def series(rng, label, length=None):
    time = np.linspace(0, 3, length or int(rng.integers(8, 14)))
    return np.sin(time * (1 + 2 * label)) + 0.2 * rng.standard_normal(len(time))


def joined(values, mark=","):
    return mark.join(f"{value:.3f}" for value in values)


def write_ts(path, rng, n, channels):
    lines = ["# made here", "@problemName waves", "@timeStamps false"]
    lines += ["@equalLength false", "@classLabel true calm wild", "@data"]
    for i in range(n):
        length = int(rng.integers(8, 14))
        parts = [joined(series(rng, i % 2, length)) for _ in range(channels)]
        lines.append(":".join([*parts, ("calm", "wild")[i % 2]]))
    Path(path).write_text("\n".join(lines) + "\n")


def write_ucr(path, rng, n, mark):
    """Write lines with the label first or, with commas, last, below names."""
    lines = [",".join([*(f"t{i}" for i in range(9)), "y"])] if mark == "," else []
    for i in range(n):
        cells, label = joined(series(rng, i % 2, 9 - (i == 2)), mark), str(1 + i % 2)
        cells += f"{mark}NaN" * (i == 2)
        lines.append(mark.join([cells, label] if mark == "," else [label, cells]))
    Path(path).write_text("\n".join(lines) + "\n")


def write_fasta(path, rng, n, is_labeled=True):
    old = np.random.default_rng(1).choice(list("ARNDCQEGHILKMFPSTWYV"), (2, 30))
    lines = []
    for i in range(n):
        other = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), 30)
        letters = np.where(rng.uniform(size=30) < 0.5, old[i % 2], other)
        lines.append(f">{path[0]}{i}" + f" {'in out'.split()[i % 2]}" * is_labeled)
        lines.append("".join(letters))
    Path(path).write_text("\n".join(lines) + "\n")


def write_tu(folder, rng, n, more=()):
    edges, graph, labels, y = [], [], [], []
    for g in range(n):
        size, first = int(rng.integers(5, 8)), len(graph) + 1
        last = first + size - 1
        edges += [f"{a}, {a + 1}" for a in range(first, last)]
        edges += [f"{first}, {last if g % 2 else first + 2}"]
        graph += [g + 1] * size
        labels += rng.choice([6, 6, 6, 7], size).tolist()
        y.append((-1, 1)[g % 2])
    files = {"A": edges, "graph_indicator": graph, "graph_labels": y}
    files |= {"node_labels": labels} | dict(more)
    Path(folder).mkdir()
    for name, rows in files.items():
        text = "".join(f"{row}\n" for row in rows)
        Path(folder, f"DS_{name}.txt").write_text(text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Be in a folder with files of all kinds."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, n in (("old", N), ("new", NEW)):
        write_ts(f"{name}.ts", rng, n, 1)
        write_ts("wide.ts" if name == "old" else "new-wide.ts", rng, n, 2)
        write_ucr(f"{name}.tsv", rng, n, "\t")
        write_ucr(f"{name}.csv", rng, n, ",")
        write_fasta(f"{name}.fasta", rng, n, name == "old")
        write_tu(name.upper(), rng, n)
    return tmp_path


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind in ("fasta", "ts") else pytest.mark.slow)
        for kind in KINDS
    ],
)
def test_from_a_file_to_predictions(krein, folder, kind):
    train, new, kernel = KINDS[kind]
    words = train.split()
    code, out, err = krein("fit", *words, "-o", "m.krein", "--cv", 3, "--norm", "krein")
    assert code == 0, err
    assert f"{N} samples, {KERNELS[kernel].samples} of" in out and kernel in out
    code, out, err = krein("predict", "m.krein", new, "--proba")
    assert code == 0, err
    Path("found.csv").write_text(out)
    found = pd.read_csv("found.csv", index_col="id")
    is_named = kind == "fasta"
    names = [f"n{i}" if is_named else i + 1 for i in range(NEW)]
    assert found.index.tolist() == names
    # Labels in the file are compared, and have no part in predictions.
    assert ("accuracy" in err) == (not is_named)
    # The same as from Python.
    model = kreinlearn.load("m.krein")
    items = READ[words[0]](new)
    np.testing.assert_allclose(model.predict_proba(items), found.iloc[:, 1:])
    assert model.predict(items).tolist() == found["prediction"].tolist()
    assert model.classes_[0] == found.columns[1].removeprefix("proba_") or not is_named
    truth = np.arange(NEW) % 2
    assert (found["prediction"] == model.classes_[truth]).mean() >= 0.6
    code, out, _ = krein("predict", "m.krein", new, "--json", "-o", "found.tsv")
    assert code == 0 and json.loads(out)["samples"] == NEW
    kreinlearn.save(model, "python.krein")  # without notes
    if kind != "ucr, said":
        code, out, err = krein("predict", "python.krein", new, "--proba")
        assert (code, out) == (0, Path("found.csv").read_text()), err


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fasta", "ts", "ucr", "tu"])
def test_inspect_and_compare(krein, folder, compares_here, kind):
    train, _, kernel = KINDS[kind]
    few = ["--permutations", 9, "--json", "-o", "page.html"]
    code, out, err = krein("inspect", *train.split(), *few)
    assert code == 0, err
    found = json.loads(out)
    assert found["n"] == N and len(found["classes"]) == 2 and found["kernel"] == kernel
    assert kernel in Path("page.html").read_text()
    parts = found["sentences"][-1].split("`")
    said = next(part for part in parts if "krein fit" in part)
    code, _, err = krein(*shlex.split(said)[1:])
    assert code == 0, err
    words = [word for word in train.split() if word not in ("--kernel", "dtw")]
    words += ["--kernels", "dtw"] if kind == "ucr" else []
    more = ["--methods", "Krein norm,SVC clip", "--folds", 2, "--jobs", 1, "--json"]
    code, out, err = krein("compare", *words, *more)
    assert code == 0, err
    found = json.loads(out)
    assert all(kernel in row["kernel"] for row in found["rows"])
    assert max(row["accuracy"] for row in found["rows"]) > 0.5
    assert Path("comparison/report.html").exists()


@pytest.mark.slow
def test_a_measure_is_computed_once_and_only_for_the_support(
    krein, folder, monkeypatch
):
    calls = []
    measure, dtw = KERNELS["dtw"].measure, KERNELS["dtw"].function

    def counted(X, Y=None, **params):
        calls.append((len(X), None if Y is None else len(Y)))
        return dtw(X, Y, **params)

    object.__setattr__(measure, "function", counted)
    try:
        argv = ["--cv", 3, "--norm", "krein", "-o", "m.krein"]
        assert krein("fit", "old.ts", *argv)[0] == 0
        assert calls == [(N, None)]
        argv = ["--methods", "SVC raw,SVC clip,k-NN", "--folds", 3, "--jobs", 1]
        assert krein("compare", "old.ts", *argv)[0] == 0
        assert calls == [(N, None)] * 2
        items, y = read_ts("old.ts")
        weights = np.r_[np.zeros(6), np.ones(N - 6)]
        model = KreinLogisticRegression("dtw").fit(items, y, sample_weight=weights)
        assert len(model.support_) == N - 6
        kreinlearn.save(model, "part.krein")
        del calls[:]
        assert krein("predict", "part.krein", "new.ts")[0] == 0
        assert calls == [(NEW, N - 6)]
    finally:
        object.__setattr__(measure, "function", dtw)


def chosen(krein, *argv):
    argv = [*argv, "--lam", 0.01, "-o", "m.krein", "--force", "--json"]
    code, out, err = krein("fit", *argv)
    assert code == 0, err
    notes = [line for line in err.splitlines(True) if COMPILE_NOTICE not in line]
    return json.loads(out), "".join(notes)


def test_kernels_and_parameters(krein, folder):
    argv = ["--kernel", "erp", "--param", "g=0.5", "--param", "window=0.3"]
    found, _ = chosen(krein, "old.ts", *argv, "--form", "gaussian")
    assert found["kernel"] == "erp" and found["kind"] == "series"
    assert found["kernel_params"] == {"g": 0.5, "window": 0.3, "form": "gaussian"}
    argv = ["matrix=pam120", "gap_open=9", "normalized=false"]
    argv = [word for pair in argv for word in ("--param", pair)]
    found, err = chosen(krein, "old.fasta", *argv)
    expected = {"matrix": "pam120", "gap_open": 9, "normalized": False}
    assert found["kernel_params"] == expected
    assert not err
    code, out, _ = krein("inspect", "old.fasta", *argv, "--permutations", 9)
    words = "--param matrix=pam120 --param gap_open=9 --param normalized=False"
    assert code == 0 and words in " ".join(out.split())
    found, _ = chosen(
        krein, "OLD", "--kernel", "node_assignment", "--param", "rounds=1"
    )
    assert found["kernel_params"] == {"rounds": 1}


def test_nucleotides_are_not_taken_for_amino_acids(krein, folder):
    rng = np.random.default_rng(0)
    lines = []
    for i in range(N):
        letters = "".join(rng.choice(list("ACGTN"), 20, p=[*np.roll(P, 2 * i), 0.1]))
        lines.append(f">d{i} {i % 2}\n{letters}\n")
    Path("dna.fna").write_text("".join(lines))
    found, err = chosen(krein, "dna.fna")
    assert found["kernel_params"] == {"matrix": "nuc44"}
    assert "matrix=nuc44" in err and err.count("\n") == 1
    found, err = chosen(krein, "dna.fna", "--param", "matrix=blosum62")
    assert found["kernel_params"] == {"matrix": "blosum62"} and not err
    assert krein("inspect", "dna.fna", "--json")[1].count("nuc44")


P = [0.6, 0.1, 0.1, 0.1]


def test_where_labels_of_sequences_are(krein, folder):
    names, sequences, labels = read_fasta("old.fasta")
    both = list(zip(names, sequences, labels, strict=True))

    def write(path, header):
        text = "".join(f">{header(a, y)}\n{s}\n" for a, s, y in both)
        Path(path).write_text(text)

    write("bar.fa", lambda name, label: f"sp|{name}|{label} not this")
    write("field.faa", lambda name, label: f"{name} {label} test")
    write("bare.fas", lambda name, label: name)
    pd.Series(labels, names).sample(frac=1).to_csv("labels.csv", header=["place"])
    expected, _ = chosen(krein, "old.fasta")
    assert expected["classes"] == ["in", "out"] and expected["target"] == "header"
    for words in (
        "bar.fa --target bar",
        "bar.fa --target 3",
        "field.faa --target 2",
        "field.faa --target -2",
        "bare.fas --labels labels.csv",
        "field.faa --labels labels.csv",
    ):
        found, _ = chosen(krein, *words.split())
        assert found["counts"] == expected["counts"]
        assert found["residual"] == expected["residual"]
        # A new file is read like the old one; labels by name are not looked for.
        code, _, err = krein("predict", "m.krein", words.split()[0])
        assert code == 0 and ("accuracy" in err) == ("labels.csv" not in words)
    # Other descriptions are not labels; the file need not have any.
    krein("fit", "old.fasta", "--lam", 0.1, "-o", "m.krein", "--force")
    assert krein("predict", "m.krein", "bare.fas")[2] == ""
    code, out, _ = krein("inspect", "bare.fas", "--json")
    assert code == 0 and json.loads(out)["classes"] is None


def test_compressed_text_and_files_of_another_format(krein, folder):
    for name in ("old.fasta", "old.ts", "old.tsv", "new.tsv"):
        packed = gzip.compress(Path(name).read_bytes())
        Path(f"{name}.gz").write_bytes(packed)
    chosen(krein, "old.fasta.gz")
    chosen(krein, "old.ts.gz")
    chosen(krein, "old.tsv.gz", "--kernel", "dtw")
    first = krein("predict", "m.krein", "new.tsv.gz")[1]
    Path("blanks.txt").write_text(Path("new.tsv").read_text().replace("\t", "  "))
    assert krein("predict", "m.krein", "blanks.txt")[1] == first
    unknown = [f"?{line[1:]}" for line in Path("new.tsv").read_text().splitlines()]
    Path("unknown.tsv").write_text("\n".join(unknown))
    assert krein("predict", "m.krein", "unknown.tsv")[1:] == (first, "")
    # Series of a .ts file for a model of .tsv, whose labels are others.
    code, out, err = krein("predict", "m.krein", "new.ts")
    assert (code, len(out.splitlines()), err) == (0, NEW + 1, "")
    Path("letters.txt").write_text(Path("old.fasta").read_text())
    chosen(krein, "letters.txt", "--format", "fasta")


BAD = {
    "letter": (
        "fit letter.fasta --cv 2 -o m",
        ["letter.fasta", "'b'", "'J'", "blosum62"],
    ),
    "letter, compare": ("compare many.fasta", ["many.fasta", "'o3'", "'J'"]),
    "letter, predict": ("predict f.krein letter.fasta", ["letter.fasta", "'b'", "'J'"]),
    "label missing": ("fit new.fasta -o m", ["new.fasta", "'>n0'", "--labels"]),
    "no field": ("fit old.fasta --target 3 -o m", ["old.fasta", "'>o0 in'"]),
    "target": ("fit old.fasta --target kind -o m", ["old.fasta", "'bar'", "'kind'"]),
    "id missing": ("fit old.fasta --labels few.csv -o m", ["few.csv has no label for"]),
    "NaN": ("inspect nan.tsv --kernel msm", ["nan.tsv, line 2", "time 1", "fill"]),
    "no values": ("fit void.tsv --format ucr -o m", ["void.tsv, line 2", "no values"]),
    "no labels": ("fit bare.ts -o m", ["bare.ts holds no labels", "@classLabel true"]),
    "window": (
        "fit old.ts --param window=5 -o m",
        ["'window' must be a share", "divide it by the length"],
    ),
    "label is value": (
        "fit old.ucr --format ucr --target -1 -o m",
        ["old.ucr", "class labels"],
    ),
    "no such format": ("fit old.txt -o m", ["old.txt", "--format"]),
    "no folder": ("fit old.ts --format tu -o m", ["old.ts is a file", "folder"]),
    "no edges": ("fit PLAIN -o m", ["PLAIN is a folder without", "MUTAG_A.txt"]),
    "graphs unlabeled": ("fit BARE -o m", ["BARE holds no labels; add a file"]),
    "kernel": (
        "fit old.fasta --kernel dtw -o m",
        ["old.fasta", "levenshtein", "'dtw'"],
    ),
    "kernel of series": (
        "fit old.csv --kernel dtw -o m",
        ["old.csv holds a table", "--format ucr"],
    ),
    "kernel of sequences": (
        "inspect old.csv --kernel smith_waterman",
        ["old.csv holds a table", "give a FASTA file"],
    ),
    "two kernels": ("compare old.ts --kernels dtw,erp", ["one kernel at a time"]),
    "width": ("compare old.ts --param width=2", ["leave out --param width"]),
    "parameter": (
        "inspect old.ts --param g=1",
        ["'dtw' takes window, derivative, width, got 'g'"],
    ),
    "param of table": ("compare old.csv --param tau=1", ["--param goes with"]),
    "matrix": ("fit old.fasta --param matrix=x -o m", ["'x'", "'blosum62'"]),
    "form": ("fit OLD --form negative -o m", ["--form", "gives similarities"]),
    "form of table": ("fit old.csv --form negative -o m", ["--distance", "dtw"]),
    "scale": ("fit old.ts --scale none -o m", ["old.ts holds series", "--scale"]),
    "distance": ("fit old.ts --distance -o m", ["old.ts holds series", "--distance"]),
    "labels": ("fit old.ts --labels few.csv -o m", ["old.ts", "--labels"]),
    "target of ts": (
        "fit old.ts --target y -o m",
        ["old.ts", "last colon", "leave out --target"],
    ),
    "header": ("fit OLD --no-header -o m", ["OLD holds graphs", "--no-header"]),
    "other kind": (
        "predict f.krein new.ts",
        ["trained on sequences", "new.ts holds series", "give a FASTA file"],
    ),
    "folder for series": (
        "predict s.krein NEW",
        ["trained on series", "NEW holds graphs"],
    ),
    "table for graphs": ("predict g.krein old.csv", ["trained on graphs", "a table"]),
    "samples for table": ("predict t.krein new.fasta", ["holds sequences", "a table"]),
    "samples for matrix": ("predict k.krein new.ts", ["trained on a matrix", "series"]),
    "other channels": (
        "predict s.krein new-wide.ts",
        ["new-wide.ts", "1 channel,", "2 channels"],
    ),
    "other nodes": (
        "predict g.krein BARE",
        ["BARE", "with node labels, got", "no node"],
    ),
    "no label column": (
        "predict u.krein unlabeled.tsv",
        ["unlabeled.tsv, line 1", "(1, 2)", "?"],
    ),
}
TS = "@classLabel true a b\n@data\n"
FILES = {
    "letter.fasta": ">a in\nMKV\n>b out\nMRJ\n" + ">c in\nMK\n>d out\nMR\n",
    "gap.ts": f"{TS}1,?,2:a\n1,2:b\n",
    "nan.tsv": "1\t2\t3\n2\tNaN\t4\n",
    "void.tsv": "1\t2\t3\n2\tNaN\tNaN\n",
    "bare.ts": "@data\n1,2\n3,4\n",
    "old.txt": "1 2 3\n",
    "old.ucr": "".join(f"1\t{i}.5\t{i}.25\n" for i in range(30)),
    "unlabeled.tsv": "0.5\t0.25\t0.125\n",
}


@pytest.fixture
def bad(krein, folder):
    """Write bad files, and models of each kind."""
    for name, text in FILES.items():
        Path(name).write_text(text)
    names, _, labels = read_fasta("old.fasta")
    lines = [f"{name},{label}\n" for name, label in zip(names, labels, strict=True)]
    Path("more.csv").write_text("".join([*lines, "eel,in\n"]))
    Path("few.csv").write_text("".join(lines[:-1]))
    text = Path("old.fasta").read_text().splitlines()
    text[7] = f"J{text[7]}"
    Path("many.fasta").write_text("\n".join(text))
    Path("PLAIN").mkdir()
    rng = np.random.default_rng(0)
    write_tu("BARE", rng, 4)
    for name in ("graph_labels", "node_labels"):
        Path(f"BARE/DS_{name}.txt").unlink()
    np.savez("gram.npz", K=np.eye(4), y=[0, 1, 0, 1])


MODELS = {
    "f.krein": "old.fasta",
    "s.krein": "old.ts",
    "u.krein": "old.tsv --kernel dtw",
    "g.krein": "OLD",
    "t.krein": "old.csv --impute",
    "k.krein": "gram.npz",
}


@pytest.mark.parametrize("case", BAD)
def test_bad_calls_are_one_sentence(krein, bad, case):
    line, words = BAD[case]
    model = line.split()[1]
    if model in MODELS:
        argv = [*MODELS[model].split(), "--lam", 1, "-o", model]
        assert krein("fit", *argv)[0] == 0
    before = sorted(Path().rglob("*"))
    code, out, err = krein(*shlex.split(line))
    assert (code, out) == (2, ""), err
    assert err.count("\n") == 1
    for each in words:
        assert each in err
    assert sorted(Path().rglob("*")) == before


def test_a_missing_library_is_named(krein, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    monkeypatch.setitem(sys.modules, "rapidfuzz.process", None)
    argv = ["old.fasta", "--kernel", "levenshtein", "--lam", 1, "-o", "m"]
    code, out, err = krein("fit", *argv)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert 'pip install "kreinlearn[sequences]"' in err and not Path("m").exists()


def test_a_part_of_many_sequences_keeps_its_names(krein, bad, monkeypatch):
    monkeypatch.setattr(verdict, "MAX_SAMPLES", 10)
    rows = verdict.sample_rows(np.arange(N) % 2, N, 10, 0)
    assert rows[3] != 3
    text = Path("old.fasta").read_text().splitlines()
    text[2 * rows[3] + 1] = "MJ"
    Path("spoiled.fasta").write_text("\n".join(text))
    code, _, err = krein("inspect", "spoiled.fasta")
    assert code == 2 and f"spoiled.fasta: the sequence 'o{rows[3]}' has 'J'" in err
    found = json.loads(krein("inspect", "old.fasta", "--json")[1])
    assert found["n"] == 10 and found["n_given"] == N


def test_a_search_of_scikit_learn_predicts_from_a_file(krein, folder):
    items, y = read_ts("old.ts")
    model = KreinLogisticRegression("dtw")
    search = GridSearchCV(model, {"lam": [0.1, 0.01]}, cv=2)
    search.fit(np.array([*items, None], dtype=object)[:-1], y)
    kreinlearn.save(search, "search.krein")
    code, out, err = krein("predict", "search.krein", "new.ts")
    assert code == 0 and len(out.splitlines()) == NEW + 1, err
    code, _, err = krein("predict", "search.krein", "new-wide.ts")
    assert code == 2 and "1 channel" in err


def test_gunpoint_from_its_files(krein, tmp_path, monkeypatch):
    ucr = Path(os.environ.get("KREINLEARN_DATA", "none")).resolve() / "ucr"
    if not ucr.is_dir():
        pytest.skip("GunPoint is not in the folder of the data")
    monkeypatch.chdir(tmp_path)
    argv = ["--format", "ucr", "--target", "y", "--param", "window=0.1", "--norm"]
    argv += ["hilbert", "--lam", 1e-4, "-o", "gun.krein"]
    code, out, err = krein("fit", ucr / "GunPoint_TRAIN.csv.gz", *argv)
    assert code == 0 and "series of 150 values" in out, err
    argv = ["--proba", "-o", "found.csv", "--json"]
    code, out, err = krein("predict", "gun.krein", ucr / "GunPoint_TEST.csv.gz", *argv)
    assert code == 0 and json.loads(out)["accuracy"] > 0.9, err


def test_help_teaches_it(krein):
    for command in ("fit", "inspect", "compare"):
        _, out, _ = krein(command, "--help")
        text = " ".join(out.split())
        head = text.split("What the file holds:")[0]  # before the options
        assert re.search(r"sequences.*\bfasta\b", head) and "graphs" in head
        assert re.search(r"time series.*\bts\b.*--format ucr", head)
    assert "of time series adtw" in " ".join(krein("fit", "--help")[1].split())
