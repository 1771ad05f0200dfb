"""The comparison of similarities: its cases, its methods, its records and findings."""

import csv
import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from kreinlearn.app.runs import Cell, read_records

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "benchmarks"
LIMIT = 300


@pytest.fixture
def home(tmp_path, monkeypatch, rng):
    """Return a data folder whose distances tell two groups apart."""
    X = rng.standard_normal((40, 2))
    X[20:] += 4.0
    D = np.abs(X[:, None] - X[None]).max(axis=2)
    for name in ("sim", "seq", "ucr", "graphs"):
        (tmp_path / name).mkdir()
    np.savez(tmp_path / "sim" / "cat-cortex.npz", D=D, y=np.repeat([1, 2], 20))
    monkeypatch.setenv("KREINLEARN_DATA", str(tmp_path))
    return tmp_path


# -- cases -----------------------------------------------------------------------------


def test_every_case_has_a_matrix(script):
    cases = script("cases")
    names = {case.split(":")[0] for case in cases.CASES}
    assert names == set(cases.MATRICES) and len(cases.CASES) >= 14


def test_a_matrix_is_computed_once_and_missing_ones_have_a_word(script, home, capsys):
    cases, cache = script("cases"), home / "cache"
    first = cases.matrix("cat-cortex", cache)
    (home / "sim" / "cat-cortex.npz").unlink()
    again = cases.matrix("cat-cortex", cache)
    assert again.is_distance and again.source == "distances as published"
    assert np.array_equal(first.values, again.values) and set(again.y) == {1, 2}
    assert cases.matrix("protein", cache) is None
    said = capsys.readouterr().err
    assert "protein is left out" in said and "has sim/protein.npz" in said
    assert [path.name for path in cache.iterdir()] == ["cat-cortex.npz"]


def test_a_missing_library_has_a_word(script, home, monkeypatch, capsys):
    cases = script("cases")
    monkeypatch.setitem(sys.modules, "aeon", None)
    monkeypatch.setitem(sys.modules, "aeon.datasets", None)
    assert cases.matrix("ArrowHead", home / "cache") is None
    assert "ArrowHead is left out: pip install aeon\n" in capsys.readouterr().err


def test_an_asymmetric_matrix_is_averaged(script, home, rng):
    D = rng.random((6, 6))
    np.savez(home / "sim" / "protein.npz", D=D, y=np.arange(6) % 2)
    found = script("cases").matrix("protein", home / "cache")
    assert np.array_equal(found.values, (D + D.T) / 2)


def test_similarities_do_not_look_at_test_rows(script, rng):
    cases = script("cases")
    D = np.abs(rng.standard_normal((9, 9)))
    D = D + D.T
    train, test = np.arange(6), np.arange(6, 9)
    y = np.arange(9) % 2
    fold = cases.fold_of(cases.Matrix(D, True, y, ""), "exp", train, test)
    far = D.copy()
    far[6:], far[:, 6:] = 7 * D[6:], 7 * D[:, 6:]
    other = cases.fold_of(cases.Matrix(far, True, y, ""), "exp", train, test)
    assert np.array_equal(fold.K_train, other.K_train)
    np.testing.assert_allclose(other.K_test, fold.K_test**7)
    negative = cases.fold_of(cases.Matrix(D, True, y, ""), "-d", train, test)
    assert np.array_equal(negative.K_test, -D[6:, :6])


def test_similarities_become_distances(script, rng):
    cases = script("cases")
    X = rng.standard_normal((7, 3))
    found = cases.Matrix(X @ X.T, False, np.arange(7) % 2, "")
    fold = cases.fold_of(found, "", np.arange(5), np.arange(5, 7))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    np.testing.assert_allclose(fold.D_train, D[:5, :5], atol=1e-7)
    np.testing.assert_allclose(fold.D_test, D[5:, :5], atol=1e-7)


def naive_warping(one, other):
    reached = np.full((len(one) + 1, len(other) + 1), np.inf)
    reached[0, 0] = 0.0
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            before = min(reached[i, j], reached[i, j + 1], reached[i + 1, j])
            reached[i + 1, j + 1] = (a - b) ** 2 + before
    return np.sqrt(reached[-1, -1])


@pytest.mark.filterwarnings("ignore")
def test_warping_is_the_naive_loop(script, home, rng):
    pytest.importorskip("aeon", reason="aeon is not installed")
    X, y = rng.standard_normal((6, 12)), np.array([-1, 1, 1, -1, 1, -1])
    for part, rows in (("TRAIN", slice(2)), ("TEST", slice(2, 6))):
        table = np.column_stack([X[rows], y[rows]])
        header = ",".join([f"x{i}" for i in range(12)] + ["y"])
        path = home / "ucr" / f"GunPoint_{part}.csv.gz"
        np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.17g")
    found = script("cases").matrix("GunPoint", home / "cache")
    expected = [[naive_warping(one, other) for other in X] for one in X]
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    assert np.array_equal(found.y, y) and "aeon" in found.source


def naive_alignment(one, other, score):
    """Gotoh's recursions, a gap of k letters costs 11 + (k - 1)."""
    shape = len(one) + 1, len(other) + 1
    best, down, right = np.zeros(shape), np.full(shape, -99.0), np.full(shape, -99.0)
    for i, a in enumerate(one, start=1):
        for j, b in enumerate(other, start=1):
            down[i, j] = max(best[i - 1, j] - 11, down[i - 1, j] - 1)
            right[i, j] = max(best[i, j - 1] - 11, right[i, j - 1] - 1)
            matched = best[i - 1, j - 1] + score(a, b)
            best[i, j] = max(0.0, matched, down[i, j], right[i, j])
    return best.max()


def test_alignment_is_the_naive_loop(script, home, rng):
    parasail = pytest.importorskip("parasail", reason="parasail is not installed")
    letters = "ARNDCQEGHILKMFPSTWYV"
    core = "".join(rng.choice(list(letters), 40))
    sequences = [core, core[:18] + core[22:], core[:25] + "WWW" + core[25:], core[::-1]]
    with gzip.open(home / "seq" / "protein-location.csv.gz", "wt") as file:
        file.write("name,sequence,y\n")
        file.writelines(f"p,{each},{i % 2}\n" for i, each in enumerate(sequences))
    scores = parasail.blosum62
    order = letters  # in the order of the matrix

    def score(a, b):
        return scores.matrix[order.index(a), order.index(b)]

    S = [
        [naive_alignment(one, other, score) for other in sequences] for one in sequences
    ]
    own = np.sqrt(np.diag(S))
    found = script("cases").matrix("protein-location", home / "cache")
    np.testing.assert_allclose(found.values, S / np.outer(own, own))
    assert not found.is_distance and 0.5 < found.values[0, 1] < 1


def naive_labels(neighbors, labels):
    """All Weisfeiler-Lehman labels of a graph, written out as nested tuples."""
    counted = Counter(labels.values())
    for _ in range(5):
        labels = {
            node: (labels[node], *sorted(repr(labels[other]) for other in near))
            for node, near in neighbors.items()
        }
        counted += Counter(labels.values())
    return counted


@pytest.mark.filterwarnings("ignore")
def test_assignment_is_the_naive_count(script, home, rng):
    pytest.importorskip("grakel", reason="grakel is not installed")
    edges, graph, first = [], [], 1
    for number, size in enumerate((5, 6, 7, 8), start=1):
        links = [(first + i, first + i + 1) for i in range(size - 1)]
        links.append((first, first + size - 1 - number % 2))
        edges += [pair for a, b in links for pair in ((a, b), (b, a))]
        graph += [number] * size
        first += size
    labels = rng.integers(0, 2, len(graph))
    np.savez(
        home / "graphs" / "MUTAG.npz",
        **{"A": edges, "graph_indicator": graph, "node_labels": labels},
        y=[1, -1, 1, -1],
    )
    cases = script("cases")
    counts = [naive_labels(*each) for each in cases.molecules()[0]]
    K = np.array([[sum((a & b).values()) for b in counts] for a in counts])
    own = np.sqrt(np.diag(K))
    found = cases.matrix("MUTAG", home / "cache")
    np.testing.assert_allclose(found.values, K / np.outer(own, own))


# -- methods ---------------------------------------------------------------------------


def test_votes_are_the_naive_count(script, rng):
    D, codes = rng.random((5, 9)), rng.integers(0, 3, 9)
    codes[:3] = 0, 1, 2
    found = script("contenders").votes(D, codes, 4, 0.1)
    for row, proba in zip(D, found, strict=True):
        nearest = sorted(range(9), key=lambda i: row[i])[:4]
        whole = sum(1 / row[i] for i in nearest)
        for code in range(3):
            share = sum(1 / row[i] for i in nearest if codes[i] == code) / whole
            assert proba[code] == pytest.approx((4 * share + 0.1) / (4 + 0.3))


def test_a_neighbor_at_no_distance_decides(script):
    D = np.array([[0.0, 0.1, 0.1]])
    proba = script("contenders").votes(D, np.array([0, 1, 1]), 3, 0.01)
    assert proba[0, 0] > 0.98 and np.isfinite(proba).all()


def fold_of(script, rng, n=90, noise=False):
    X, y = rng.standard_normal((n, 3)), np.arange(n) % 3
    if not noise:
        X[np.arange(n), y] += 2.5
    D = np.abs(X[:, None] - X).max(axis=2)
    cases = script("cases")
    rows = np.arange(n)
    train, test = rows[: n * 2 // 3], rows[n * 2 // 3 :]
    fold = cases.fold_of(cases.Matrix(D, True, y, ""), "exp", train, test)
    return fold, y[train], y[test]


@pytest.mark.parametrize("name", ["SVC raw", "clip, SVC", "KreinSVC"])
def test_machines_know_what_they_do_not_know(script, rng, name):
    """Values of rows that a machine was trained on would make it far too sure."""
    contenders = script("contenders")
    fold, y, truth = fold_of(script, rng, noise=True)
    learned = contenders.METHODS[name](fold, y)
    np.testing.assert_allclose(learned.proba.sum(axis=1), 1.0)
    assert log_loss(truth, learned.proba) < 1.3  # log(3) is 1.1
    fold, y, truth = fold_of(script, rng)
    learned = contenders.METHODS[name](fold, y)
    assert log_loss(truth, learned.proba) < 0.6
    assert np.mean(learned.labels == truth) > 0.8


def test_held_out_values_are_the_naive_loop(script, rng, monkeypatch):
    contenders = script("contenders")
    fold, y, _ = fold_of(script, rng)
    given = []
    monkeypatch.setattr(
        contenders,
        "calibrated",
        lambda held_out, y, values: given.append((held_out, values)) or values,
    )
    learned = contenders.METHODS["SVC raw"](fold, y)
    K, expected = fold.K_train, np.zeros((len(y), 3))
    settings = {"kernel": "precomputed", "decision_function_shape": "ovo"}
    for train, test in contenders.INNER.split(y, y):
        model = SVC(**learned.chosen, **settings).fit(K[np.ix_(train, train)], y[train])
        expected[test] = model.decision_function(K[np.ix_(test, train)])
    np.testing.assert_allclose(given[0][0], expected)
    whole = SVC(**learned.chosen, **settings).fit(K, y)
    np.testing.assert_allclose(given[0][1], whole.decision_function(fold.K_test))


@pytest.mark.parametrize("n_columns", [1, 3])
def test_probabilities_do_not_depend_on_units_of_the_values(script, rng, n_columns):
    contenders, y = script("contenders"), np.arange(60) % 3
    held_out = rng.standard_normal((60, n_columns)) + y[:, None]
    values = held_out[:7] + 0.1
    if n_columns == 1:
        held_out, values = held_out[:, 0], values[:, 0]
    found = contenders.calibrated(held_out, y, values)
    other = contenders.calibrated(1e-4 * held_out - 1, y, 1e-4 * values - 1)
    np.testing.assert_allclose(found, other, atol=1e-6)
    assert found.shape == (7, 3) and np.ptp(found[:, 0]) > 0.1


def test_costs_follow_the_scale_of_the_matrix(script, rng):
    contenders, cases = script("contenders"), script("cases")
    fold, y, _ = fold_of(script, rng)
    larger = cases.Fold(64 * fold.K_train, 64 * fold.K_test, fold.D_train, fold.D_test)
    found, scaled = (contenders.METHODS["SVC raw"](f, y) for f in (fold, larger))
    assert found.chosen["C"] == pytest.approx(64 * scaled.chosen["C"])
    assert np.array_equal(found.labels, scaled.labels)


def test_methods_learn_and_give_probabilities(script, rng):
    contenders = script("contenders")
    fold, y, truth = fold_of(script, rng, n=45)
    ours = ("default", "square, logistic")
    for name in (*ours, "rows as features", "nearest neighbors", "1-NN"):
        learned = contenders.METHODS[name](fold, y)
        assert learned.proba.shape == (len(truth), 3) and learned.chosen
        assert np.mean(learned.labels == truth) > 0.7, name
        assert log_loss(truth, learned.proba) < 0.9, name


# -- records and findings --------------------------------------------------------------


def test_all_methods_see_the_same_folds(script, home):
    which = script("which_method")
    y = np.repeat([1, 2], 20)
    held = [which.outer_fold(y, 0, fold)[1] for fold in range(5)]
    assert np.array_equal(np.sort(np.concatenate(held)), np.arange(40))
    assert not np.array_equal(which.outer_fold(y, 1, 0)[1], held[0])
    cell = Cell("similarities", "cat-cortex:exp", "1-NN", 0, (("fold", 2),))
    outcome = which.measure(home / "cache", cell)
    assert outcome["acc"] > 0.8 and outcome["n"] == 32 and outcome["chosen"]["k"] == 1


def scored(case, method, accuracies, losses):
    return [
        {
            **{"data": case, "method": method, "run": 0, "set": {"fold": fold}},
            **{"acc": accuracy, "ll": loss, "fit_s": 1.0},
        }
        for fold, (accuracy, loss) in enumerate(zip(accuracies, losses, strict=True))
    ]


def test_findings_by_hand(script, capsys):
    findings = script("findings")
    records = [
        *scored("a", "default", [0.8, 0.9], [0.5, 0.3]),
        *scored("a", "hilbert", [0.7, 0.9], [0.6, 0.6]),
        *scored("a", "1-NN", [0.9, 1.0], [1.0, 1.0]),
        *scored("a", "krein", [0.9], [1.0]),
    ][::-1]
    about = {"a": {"case": "a", "n": 10}}
    methods = ["default", "hilbert", "1-NN", "krein"]
    rows = findings.findings(records, about, methods, 2)
    assert [row["method"] for row in rows] == methods[:3]
    assert "a, krein: 1 of 2 folds, left out." in capsys.readouterr().err
    other = rows[1]
    assert other["log_loss"] == pytest.approx(0.6)
    assert other["log_loss_difference"] == pytest.approx(0.2)
    # Differences 0.1 and 0.3: variance 0.02, times 1/2 for two folds plus 1/4.
    assert other["log_loss_difference_se"] == pytest.approx(np.sqrt(0.75 * 0.02))
    text = "\n".join([*findings.tables(rows), *findings.checks(rows)])
    assert "| a | **0.400** | 0.600 | 1.000 |" in text
    assert "| a | 0.850 | 0.800 | **0.950** |" in text
    assert "default 1.00, hilbert 2.00, 1-NN 3.00" in text
    assert "0 of 1 cases; not on a (0.850, 0.950, standard error 0.000)" in text


def test_transforms_of_one_data_set_count_once(script):
    findings = script("findings")
    names = ("a:exp", "a:-d", "b")
    records = [
        record
        for case, loss in zip(names, (0.2, 0.4, 0.9), strict=True)
        for method, more in (("default", 0.0), ("clip, SVC", 0.1))
        for record in scored(case, method, [0.8, 0.9], [loss + more, loss + 3 * more])
    ]
    about = {case: {"case": case, "n": 10} for case in names}
    rows = findings.findings(records, about, ["default", "clip, SVC"], 2)
    found = findings.average_transforms(rows)
    assert [(row["case"], row["method"]) for row in found[:3:2]] == [
        ("a", "default"),
        ("b", "default"),
    ]
    assert found[0]["log_loss"] == pytest.approx(0.3)
    assert found[1]["log_loss_difference"] == pytest.approx(0.2)
    lines = findings.summary(found)
    assert lines[2] == "| KreinCV | **0.600** | **1.0** | **0.850** | **1.5** |"
    assert lines[3] == "| clip, then SVC | 0.800 | 2.0 | **0.850** | **1.5** |"


def test_measurements_need_data(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KREINLEARN_DATA", str(tmp_path))
    script("which_method").main(["--quick", "--cache", str(tmp_path)])
    said = capsys.readouterr()
    assert said.out == ""
    assert "set KREINLEARN_DATA to a folder that has sim/cat-cortex.npz" in said.err


def measure(home, *options):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    command = [
        sys.executable,
        str(FOLDER / "which_method.py"),
        "--quick",
        "--jobs",
        "1",
    ]
    done = subprocess.run(
        [*command, "--cache", str(home / "cache"), *options],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done


@pytest.mark.slow
def test_the_same_command_continues(home):
    path = home / "cache" / "which-method.jsonl"
    measure(home, "--methods", "1-NN")
    lines = path.read_text().splitlines()
    assert len(lines) == 5
    failed = json.loads(lines[0]) | {"status": "error", "error": "full disk"}
    path.write_text("\n".join([json.dumps(failed), *lines[1:]]) + "\n")
    done = measure(home, "--methods", "nearest neighbors", "1-NN")
    records = read_records(path)
    assert {each["status"] for each in records} == {"done"} and len(records) == 10
    assert path.read_text().splitlines()[:4] == lines[1:]
    assert "10/10" in done.stderr and "4/10" in done.stderr


@pytest.mark.slow
def test_measurements_compare_all_methods(home):
    done = measure(home, "--out", str(home / "out"))
    with (home / "out" / "results" / "similarities.csv").open() as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert len(rows) >= 13 and "mean ranks by log-loss" in done.stdout
    # Two groups far apart: whoever chooses on training rows alone finds them.
    assert all(float(row["accuracy"]) > 0.9 for row in rows.values())
    assert all(float(row["log_loss"]) < 0.5 for row in rows.values())
    assert float(rows["default"]["log_loss_difference"]) == 0
    assert (home / "out" / "images" / "which-method.svg").exists()
