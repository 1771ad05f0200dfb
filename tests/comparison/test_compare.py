import csv
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler
from sklearn.svm import SVC

import kreinlearn
from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.app.cli import main
from kreinlearn.app.comparison import run as module
from kreinlearn.app.comparison.page import comparison_page
from kreinlearn.app.comparison.plan import Job, repeat_folds
from kreinlearn.app.comparison.run import compute_unit, score_fold
from kreinlearn.app.comparison.summary import (
    rows_as_csv,
    summarize,
)
from kreinlearn.app.methods import ALL_METHODS, Method, inner_folds
from kreinlearn.app.runs import Cell, Store, make_record, run_cell
from kreinlearn.app.runs import read_records as read
from kreinlearn.kernels import gram

FEW = ("Krein norm", "SVC clip")
GRAM = {"kernel": "precomputed"}
FEW_OPTIONS = {"kernel": ["tl1"], "methods": FEW, "folds": 3}


def inline(cells, path, work, progress=None, **_):
    """Do what the runner does, in this process and at once."""
    with Store(path) as store:
        for cell in cells:
            if cell.key not in store.keys:
                store.append(make_record(cell, run_cell(work, cell)))


class Planned(Exception):
    """Job, cells, and arguments of a run that was not started."""


def plan_comparison(X, y, *, kernel=("tl1", "rbf"), **options):
    """Return the job, the cells and the time limit of a comparison, without fits."""

    def stop(cells, path, work, *, limit, **_):
        raise Planned(module._load_job(work.args[0]), cells, limit)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "run", stop)
        patch.setattr(module, "CELL_SECONDS", 0.0)
        try:
            kreinlearn.compare(X, y, kernel=kernel, **options)
        except Planned as planned:
            return SimpleNamespace(
                **dict(zip(("job", "cells", "seconds"), planned.args, strict=True))
            )
    return None


def run_comparison(X, y, *, kernel=("tl1", "rbf"), **options):
    """Return the results of a comparison as a dict."""
    return kreinlearn.compare(X, y, kernel=kernel, **options).results


@pytest.fixture
def here(monkeypatch):
    """Run cells in this process."""
    monkeypatch.setattr(module, "run", inline)


def without_seconds(found):
    rows = [
        {k: v for k, v in row.items() if k != "fit_seconds"} for row in found["rows"]
    ]
    return found | {"rows": rows}


def picky(X):
    """Fail where the first sample, the only one with a one, is held out."""
    if len(X) > 30 and not (np.asarray(X) == 1).any():
        raise ValueError("where is the one?")
    return X


@pytest.mark.slow
def test_processes_change_nothing_and_runs_resume(rings, tmp_path):
    X, y = rings
    how = FEW_OPTIONS | {"out": tmp_path / "two"}
    y = np.where(y > 0, "yes", "no")
    two = run_comparison(X, y, **how, n_jobs=2)
    path = tmp_path / "two" / "compare.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:20])  # killed while writing
    told = []
    again = run_comparison(X, y, **how, n_jobs=1, progress=told.append)
    assert told[0].done == 3 and told[-1].done == 6
    assert path.read_bytes().startswith(b"".join(lines[:3]))
    assert without_seconds(again) == without_seconds(two)
    assert two["data"]["classes"] == ["no", "yes"]
    assert len(set(map(len, (row["scores"] for row in two["rows"])))) == 1
    json.dumps(two, allow_nan=False)


@pytest.mark.parametrize("method", ["SVC raw", "KSVM", "flip + KLR", "KreinCV"])
def test_no_method_depends_on_the_unit_of_a_matrix(rings, method):
    X, y = rings
    K = gram(X, kernel="tl1") - 0.1 * np.eye(len(X))
    parts, labels = repeat_folds(y, 2, 1, 0), (y > 0).astype(int)
    cell = Cell("compare", "rings", method, 0, (("kernel", "precomputed"), ("fold", 0)))
    one, other = (
        score_fold(Job("rings", factor * K, labels, (-1, 1), parts, "gram"), cell)
        for factor in (1.0, 2.0**20)
    )
    for each in (one, other):  # lam has the unit of the matrix
        each.pop("fit_s"), each["chosen"].pop("lam", None)
    assert str(one) == str(other)


def test_numbers_are_those_of_scikit_learn(rings, here, monkeypatch):
    X, y = rings
    by_hand = Method("by hand", lambda value, seed: SVC(kernel="precomputed"))
    monkeypatch.setitem(ALL_METHODS, "by hand", by_hand)
    how = {"methods": ["by hand"], "folds": 4}
    [row] = run_comparison(X, y, kernel=["linear"], **how)["rows"]
    K = gram(X, kernel="linear")
    parts = list(repeat_folds(y, 4, 1, 0).values())

    # Scaled on the training rows of each fold, by hand.
    accuracies, areas = [], []
    for train, test in parts:
        scaler = MinMaxScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        unit = compute_unit(gram(A, kernel="linear"))
        machine = SVC(kernel="linear", C=1 / unit).fit(A, y[train])
        accuracies.append(machine.score(B, y[test]))
        areas.append(roc_auc_score(y[test], machine.decision_function(B)))
    assert row["scores"] == pytest.approx(accuracies, abs=1e-6)
    assert row["accuracy"] == pytest.approx(np.mean(accuracies), abs=1e-6)
    assert row["accuracy_std"] == pytest.approx(np.std(accuracies, ddof=1), abs=1e-6)
    assert row["auc"] == pytest.approx(np.mean(areas), abs=1e-6)
    assert row["log_loss"] is None and row["kernel"] == "linear"

    # The same on a Gram matrix, against cross_val_predict.
    [row] = run_comparison(K, y, kernel="precomputed", **how)["rows"]
    expected = []
    for train, test in parts:
        among = K[np.ix_(train, train)]
        machine = SVC(kernel="precomputed", C=1 / compute_unit(among)).fit(
            among, y[train]
        )
        expected.append(machine.score(K[np.ix_(test, train)], y[test]))
    assert row["scores"] == pytest.approx(expected, abs=1e-6)
    assert row["kernel"] == "precomputed"


@pytest.mark.slow
def test_a_method_added_as_one_record_is_compared(
    rings, tmp_path, here, monkeypatch, capsys
):
    """Similarities as features, under any name, from the command to the page."""
    X, y = rings
    rows = Method(
        "rows as features",
        lambda value, seed: LogisticRegression(C=value),
        "C",
        "multinomial",
    )
    monkeypatch.setitem(ALL_METHODS, rows.name, rows)
    assert rows.name in {cell.method for cell in plan_comparison(X, y).cells}
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), "%.6g", ",")
    call = ["compare", f"{tmp_path}/data.csv", "--methods", "SVC raw,rows as features"]
    call += ["--kernels", "tl1", "--folds", "2", "--out", f"{tmp_path}/out"]
    with pytest.raises(SystemExit, match="0"):
        main(call)
    assert rows.name in capsys.readouterr().out
    assert rows.name in (tmp_path / "out" / "report.html").read_text()
    table = (tmp_path / "out" / "compare.csv").read_text()
    assert [line["method"] for line in csv.DictReader(table.splitlines())] == [
        "SVC raw",
        rows.name,
    ]


def test_held_out_rows_have_no_influence(rings):
    X, y = rings
    planned = plan_comparison(X, y, **FEW_OPTIONS)
    train, test = planned.job.splits[0, 1]
    wild = X.copy()
    wild[test[0]] = 1e6
    other = Job("wild", wild, planned.job.y, (-1, 1), planned.job.splits)
    for kernel in ("tl1", "rbf"):
        tame_K, tame_new = planned.job.split_similarities((0, 1), kernel)
        wild_K, wild_new = other.split_similarities((0, 1), kernel)
        np.testing.assert_array_equal(tame_K, wild_K)
        np.testing.assert_array_equal(tame_new[1:], wild_new[1:])
        assert not np.array_equal(tame_new[0], wild_new[0])
    cell = next(c for c in planned.cells if c.setting("fold") == 1)
    one, two = score_fold(planned.job, cell), score_fold(other, cell)
    np.testing.assert_array_equal(one["proba"][1:], two["proba"][1:])


@pytest.mark.slow
def test_other_data_and_settings_are_refused(rings, tmp_path, here):
    X, y = rings
    options = {"kernel": ["tl1"], "methods": ["SVC raw"], "folds": 3}
    run_comparison(X, y, **options, out=tmp_path)
    before = (tmp_path / "compare.jsonl").read_bytes()
    shifted = X.copy()
    shifted[0, 0] += 1e-9
    others = [
        {"X": shifted},
        {"y": -y, "seed": 1},
        {"folds": 4},
        {"transformer": FunctionTransformer()},
        {"X": pd.DataFrame(X, columns=list("abc"))},
    ]
    for other in others:
        with pytest.raises(FileExistsError, match="other data, folds, seed.*--force"):
            run_comparison(**{"X": X, "y": y, **options, **other}, out=tmp_path)
    assert (tmp_path / "compare.jsonl").read_bytes() == before
    # More methods, kernels and repetitions do not change the settings: they are added.
    more = options | {"methods": ["SVC raw", "SVC clip"], "repeats": 2}
    assert len(run_comparison(X, y, **more, out=tmp_path)["rows"]) == 2
    assert (tmp_path / "compare.jsonl").read_bytes().startswith(before)
    run_comparison(shifted, y, **options, out=tmp_path, overwrite=True)
    assert len(read(tmp_path / "compare.jsonl")) == 3


def test_files_of_others_are_not_replaced(rings, tmp_path, here):
    X, y = rings
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(FileExistsError, match=r"report\.html exists already"):
        run_comparison(X, y, **FEW_OPTIONS, out=tmp_path)
    with pytest.raises(NotADirectoryError, match="is a file"):
        run_comparison(X, y, **FEW_OPTIONS, out=tmp_path / "report.html")


def test_a_failure_is_a_row_with_its_reason(rings, tmp_path, here):
    X, y = rings
    X = X * 0.9
    X[0] = 1.0
    transformer = FunctionTransformer(picky)
    found = run_comparison(X, y, **FEW_OPTIONS, transformer=transformer, out=tmp_path)
    for row in found["rows"]:
        assert row["statuses"] == {"converged": 2, "error": 1}
        assert len(row["scores"]) == 2 and row["failed"] == 1
        assert row["error"] == "ValueError: where is the one?"
    assert "Folds without a result" in found["sentences"][-1]
    text = (tmp_path / "compare.csv").read_text()
    table = list(csv.DictReader(text.splitlines()))
    assert [each["folds"] for each in table] == ["2", "2"]
    assert table[0]["error"].endswith("where is the one?")

    planned = plan_comparison(X, y, **FEW_OPTIONS)
    records = [make_record(c, {"status": "timeout"}) for c in planned.cells]
    lost = summarize(planned.job, records, title="none")
    assert [row["accuracy"] for row in lost["rows"]] == [None, None]
    assert lost["rows"][0]["error"] == "timeout" and "roc" not in lost["rows"][0]
    assert lost["data"]["kernels"] == {}
    assert comparison_page(lost).startswith("<!DOCTYPE html>")
    assert (
        "timeout" in rows_as_csv(lost) and "without a result" in lost["sentences"][-1]
    )


def test_three_classes_and_what_the_dict_holds(tmp_path, here, rng):
    X = rng.uniform(size=(75, 2))
    y = np.array(["low", "mid", "top"])[np.digitize(X.sum(axis=1), [0.8, 1.2])]
    planned = plan_comparison(X, y, **FEW_OPTIONS)
    found = run_comparison(X, y, **FEW_OPTIONS, out=tmp_path)
    assert found["kind"] == "comparison" and found["methods"] == list(FEW)
    data = found["data"]
    assert (data["n"], data["m"], data["classes"]) == (75, 2, ["low", "mid", "top"])
    about = data["kernels"]["tl1 (ratio 0.7)"]
    K, _ = planned.job.split_similarities((0, 0), "tl1")
    values = np.linalg.eigvalsh(K)[::-1]
    np.testing.assert_allclose(about["eigenvalues"], values, rtol=1e-5, atol=1e-6)
    assert sum(about["signature"]) == 50 and about["mu_min"] < 0
    for row in found["rows"]:
        assert row["kernel"] == "tl1 (ratio 0.7)"
        assert 0.7 < row["accuracy"] <= 1 and 0.8 < row["auc"] <= 1
        assert (row["log_loss"] is None) == (row["method"] == "SVC clip")
    records = [r for r in read(tmp_path / "compare.jsonl") if r["method"] == FEW[0]]
    losses, areas = [], []
    for record in records:
        P = np.array(record["proba"])
        P /= P.sum(axis=1, keepdims=True)  # six digits are kept
        losses.append(log_loss(record["truth"], P, labels=[0, 1, 2]))
        areas.append(roc_auc_score(record["truth"], P, multi_class="ovr"))
    assert found["rows"][0]["log_loss"] == pytest.approx(np.mean(losses), rel=1e-4)
    assert found["rows"][0]["auc"] == pytest.approx(np.mean(areas), rel=1e-4)
    for curve in found["rows"]:
        fpr, tpr = curve["roc"]["fpr"], curve["roc"]["tpr"]
        assert len(fpr) == len(tpr) <= 100 and (fpr[0], tpr[-1]) == (0, 1)
        assert (curve["reliability"] is None) == (curve["method"] == "SVC clip")
    assert sum(found["rows"][0]["reliability"]["count"]) == 75


def test_a_method_with_its_own_kernels_runs_once(rings, here, monkeypatch):
    X, y = rings
    own = Method("own", lambda value, seed: SVC(kernel="rbf"), input="rows")
    monkeypatch.setitem(ALL_METHODS, own.name, own)
    some = {"kernel": ["tl1", "rbf"], "methods": ["own", "SVC raw"], "folds": 2}
    found = run_comparison(X, y, **some)
    kernels = [(row["method"], row["kernel"]) for row in found["rows"]]
    assert kernels == [
        ("own", None),
        ("SVC raw", "tl1 (ratio 0.7)"),
        ("SVC raw", "rbf (median width)"),
    ]


def test_an_asymmetric_matrix_is_named(rings):
    X, y = rings
    K = gram(X)
    K[0, 1] += 1.0
    planned = plan_comparison(K, y, kernel="precomputed", methods=["KreinCV"])
    assert "not symmetric" in planned.job.notes[0]
    np.testing.assert_array_equal(planned.job.X, planned.job.X.T)
    planned = plan_comparison(gram(X), y, kernel="precomputed")
    assert planned.job.notes == ()
    names = {cell.method for cell in planned.cells}
    usual = {name for name in ALL_METHODS if not ALL_METHODS[name].on_request}
    asked = {"CCCP-GD", "CCICP-GD", "CCICP-SGD"}
    asked |= {"SVC clip + Platt", "SVC flip + Platt"}
    assert usual == set(ALL_METHODS) - asked
    assert names == usual - {"logistic regression", "SVC RBF"}
    assert {cell.method for cell in plan_comparison(X, y).cells} == usual


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kernel": ["tl2"]}, "'kernels' must be one of .*'tl1'.*got 'tl2'"),
        ({"kernel": []}, "at least one name"),
        ({"methods": ["SVM"]}, "'methods' must be one of .*'KSVM'.*got 'SVM'"),
        ({"folds": 1}, "'folds' must be 2 or more, got 1"),
        ({"folds": 40}, "has 2[0-9] rows, but 40 folds need 40 of each class"),
        ({"y": np.zeros(60)}, "two classes or more"),
        ({"y": np.linspace(0, 1, 60)}, "continuous values such as"),
        ({"y": [0, 1]}, "a label for each of 60 rows"),
        ({"X": np.diag([np.nan, *np.ones(59)])}, "must be finite, got nan in row 0"),
        ({"X": np.zeros((60, 2, 2))}, "matrix of similarities"),
        (
            {"X": np.zeros((60, 2)), "kernel": "precomputed"},
            r"must be square.*\(60, 2\)",
        ),
        (
            {"X": np.full((60, 60), np.inf), "kernel": "precomputed"},
            r"inf in row 0, column 0",
        ),
        (
            {"X": np.eye(60), **GRAM, "methods": ["SVC RBF"]},
            "leave it out",
        ),
    ],
)
def test_bad_input_is_rejected_before_any_work(rings, change, words):
    X, y = rings
    given = {"X": X, "y": y, "kernel": ["tl1"]} | change
    with pytest.raises(ValueError, match=words):
        plan_comparison(**given)


def test_costs_are_known_before(rings, monkeypatch):
    X, y = rings
    larger = plan_comparison(
        np.tile(X, (2, 1)), np.tile(y, 2), methods=["Krein norm"], n_jobs=2
    )
    smaller = plan_comparison(X, y, methods=["Krein norm"], n_jobs=2)
    # a share that all sizes have, and one that grows with the cube of the rows
    cells = len(smaller.cells) * ALL_METHODS["Krein norm"].weight / 2
    floor = module.OVERHEAD_FRACTION * cells
    assert larger.seconds - floor == pytest.approx(8 * (smaller.seconds - floor))
    monkeypatch.setattr("kreinlearn._memory.available_bytes", lambda: 10_000)
    with pytest.raises(
        MemoryError, match=r"with 48 training rows .* fewer samples or fewer"
    ):
        plan_comparison(X, y)


def test_the_same_predictions_are_found(rings, here):
    X, y = rings
    methods = ["SVC raw", "SVC clip", "SVC flip", "Krein norm"]
    rows = run_comparison(X, y, kernel=["rbf"], methods=methods, folds=3)["rows"]
    same = {row["method"]: row["same_as"] for row in rows}
    assert same == {
        "SVC raw": None,
        "SVC clip": "SVC raw",
        "SVC flip": "SVC raw",
        "Krein norm": None,
    }
    for row in rows:
        counts = np.array(row["confusion"])
        assert counts.sum() == len(y)
        assert (
            counts.sum(axis=1).tolist() == np.unique(y, return_counts=True)[1].tolist()
        )
        assert np.trace(counts) == pytest.approx(row["accuracy"] * len(y), abs=0.6)


@pytest.mark.slow
def test_the_page_explains_baselines(rings, tmp_path, here):
    X, y = rings

    def said(methods, **options):
        how = {"methods": methods, "folds": 2, "out": tmp_path, "overwrite": True}
        found = run_comparison(X, y, **how, **options)
        ends = [(row["accuracy_low"], row["accuracy_high"]) for row in found["rows"]]
        means = [row["accuracy"] for row in found["rows"]]
        assert found["interval"] == "Wilson"
        for mean, (low, high) in zip(means, ends, strict=True):
            assert 0 <= low <= mean <= high <= 1 and high - low > 0.05
        assert f"{ends[0][0]:.3f} to {ends[0][1]:.3f}" in comparison_page(found)
        table = list(
            csv.DictReader((tmp_path / "compare.csv").read_text().splitlines())
        )
        assert float(table[0]["accuracy_low"]) == ends[0][0]
        return " ".join(found["sentences"])

    everyone = said(["k-NN", "logistic regression", "SVC RBF"], kernel=["tl1"])
    assert "k-NN only uses the nearest rows" in everyone
    assert "logistic regression and SVC RBF use the features" in everyone
    assert "SVC RBF uses the features" in said(["SVC RBF"])
    assert "Baselines" not in said(["SVC raw"], kernel=["tl1"])


def test_a_full_temporary_folder_is_one_sentence(rings, monkeypatch):
    def dump(job, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.joblib, "dump", dump)
    with pytest.raises(OSError, match=r"job could not be written: No space .* TMPDIR"):
        run_comparison(*rings, **FEW_OPTIONS)


def test_the_default_search_is_a_row_of_distances(here, rng):
    """KreinCV learns from distances as `KreinLogisticRegressionCV` does."""
    X = rng.standard_normal((40, 3))
    D, y = np.abs(X[:, None] - X).sum(axis=2), (X[:, 0] > 0).astype(int)
    planned = plan_comparison(D, y, kernel="distance", methods=["KreinCV"], folds=2)
    cell = planned.cells[0]
    assert cell.setting("kernel") == "own"
    found = score_fold(planned.job, cell)
    train, test = planned.job.splits[0, cell.setting("fold")]
    folds = inner_folds(y[train], cell.half_seed)
    model = KreinLogisticRegressionCV(kernel="distance", cv=folds)
    model.fit(D[np.ix_(train, train)], y[train])
    expected = model.predict_proba(D[np.ix_(test, train)])[:, 1]
    np.testing.assert_array_equal(found["proba"], expected)
    fixed = plan_comparison(D, y, kernel="distance", form="negative")
    assert fixed.job.search_params["kernel_params"] == {"form": "negative"}


def test_results_in_a_notebook(here, rng, tmp_path):
    X = rng.standard_normal((40, 3))
    D, y = np.abs(X[:, None] - X).sum(axis=2), X[:, 0] > 0
    found = kreinlearn.compare(D, y, methods=["KreinCV", "SVC clip"], folds=3)
    assert set(found.table.index) == {"KreinCV", "SVC clip"}
    assert "KreinCV, the model that `krein fit` builds, has" in found.verdict
    assert found.table["accuracy"].is_monotonic_decreasing
    assert found.verdict in repr(found) and "<table" in found._repr_html_()
    page = tmp_path / "page.html"
    assert found.save(page) is found and page.stat().st_size > 10_000
    with pytest.raises(FileExistsError, match="exists already"):
        found.save(page)
