"""Roles of columns and dialects of text on the command line."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.preprocessing import RobustScaler, StandardScaler

from kreinlearn import load
from kreinlearn.persistence import stamp
from tests.test_cli import run

QUICK = ("--kernel", "linear", "--lam", "0.01")
FEATURES = ["width", "length", "height"]


def patients(n=48):
    """Return visits of patients: a number, features, the patient, a kind."""
    rng = np.random.default_rng(0)
    kinds = np.repeat(rng.permutation(np.arange(n // 3) % 2), 3)
    X = rng.normal(size=(n, 3)).round(3) + 2 * kinds[:, None]
    table = pd.DataFrame(X, columns=FEATURES)
    table.insert(0, "visit", range(1, n + 1))
    table["patient"] = [f"p{i // 3}" for i in range(n)]
    table["kind"] = np.where(kinds, "red", "blue")
    return table


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a folder to work in, with tables in it."""
    monkeypatch.chdir(tmp_path)
    table = patients()
    table.to_csv("t.csv", index=False)
    table.drop(columns=["visit", "patient"]).to_csv("plain.csv", index=False)
    return tmp_path


def fitted(capsys, *words, out="m.krein"):
    """Fit with a fixed lam; return the result and the output."""
    call = ["fit", *words, *QUICK, "-o", out, "--force", "--json"]
    code, text, err = run(capsys, *call)
    assert code == 0, err
    return json.loads(text), err


def coefficients(path="m.krein"):
    return load(path)[-1].dual_coef_


ROLES = ("--id", "visit", "--drop", "patient")


def test_what_is_no_feature_is_not_learned_from(capsys, here):
    plain, _ = fitted(capsys, "plain.csv")
    expected = coefficients()
    found, err = fitted(capsys, "t.csv", *ROLES)
    assert found["features"] == plain["features"] == 3 and err == ""
    np.testing.assert_array_equal(coefficients(), expected)
    assert load("m.krein").feature_names_in_.tolist() == FEATURES
    notes = stamp("m.krein")["notes"]
    assert notes["apart"] == {"patient": 4, "visit": 0} and notes["id"] == "visit"
    twice, _ = fitted(capsys, "t.csv", "--drop", "visit", "--drop", "-2")
    assert twice["features"] == 3


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("labels", [True, False])
def test_predictions_keep_the_id_without_being_asked_again(
    capsys, here, header, labels
):
    table = patients()
    table["visit"] += 100
    table.to_csv("a.csv", index=False, header=header)
    new = table if labels else table.drop(columns="kind")
    new.head(7).to_csv("b.csv", index=False, header=header)
    by = ("--id", "visit", "--drop", "patient") if header else ("--id=1", "--drop=5")
    fitted(capsys, "a.csv", *by)
    code, out, err = run(capsys, "predict", "m.krein", "b.csv")
    assert code == 0
    frame = pd.read_csv(Path(here, "b.csv"), header=0 if header else None)
    rows = [line.split(",") for line in out.splitlines()]
    assert rows[0] == ["visit" if header else "id", "prediction"]
    assert [row[0] for row in rows[1:]] == [str(100 + i) for i in range(1, 8)]
    assert ("accuracy" in err) == labels and "left out" not in err
    X = frame.iloc[:, 1:4].to_numpy()
    model = load("m.krein")
    X = pd.DataFrame(X, columns=model.feature_names_in_)
    assert [row[1] for row in rows[1:]] == model.predict(X).tolist()


def test_a_new_file_may_lack_what_is_no_feature(capsys, here):
    fitted(capsys, "t.csv", *ROLES)
    code, out, err = run(capsys, "predict", "m.krein", "plain.csv")
    assert code == 0 and out.startswith("prediction\n")
    assert "plain.csv has no column 'visit', which named the training samples" in err


def test_the_last_column_that_is_not_spoken_for_holds_labels(capsys, here):
    table = patients()[[*FEATURES, "kind", "patient", "visit"]]
    table.to_csv("t.csv", index=False)
    found, _ = fitted(capsys, "t.csv", *ROLES)
    assert found["target"] == "kind" and found["features"] == 3


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_blocks_have_roles(capsys, here, kind):
    path = f"t2.{kind}"
    table = patients()
    if kind == "parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False)
    landmarks = ("--landmarks", "10")
    fitted(capsys, "plain.csv", *landmarks)
    expected = load("m.krein")[-1].landmarks_
    fitted(capsys, path, *ROLES, *landmarks)
    np.testing.assert_array_equal(load("m.krein")[-1].landmarks_, expected)
    code, out, _ = run(capsys, "predict", "m.krein", path)
    assert code == 0 and out.splitlines()[:1] == ["visit,prediction"]
    assert [line.split(",")[0] for line in out.splitlines()[1:4]] == ["1", "2", "3"]


@pytest.mark.parametrize("landmarks", [(), ("--landmarks", "10")])
def test_decimal_commas_and_semicolons(capsys, here, landmarks):
    table = patients().drop(columns="visit")
    table.to_csv("d.csv", index=False, sep=";", decimal=",")
    text = Path("d.csv").read_text()
    with gzip.open("d.csv.gz", "wt") as stream:
        stream.write(text)
    fitted(capsys, "plain.csv", *landmarks)
    expected = coefficients() if not landmarks else load("m.krein")[-1].coef_
    for name in ("d.csv", "d.csv.gz"):
        fitted(capsys, name, "--decimal", ",", "--drop", "patient", *landmarks)
        found = coefficients() if not landmarks else load("m.krein")[-1].coef_
        np.testing.assert_array_equal(found, expected)
    code, out, _ = run(capsys, "predict", "m.krein", "d.csv", "--decimal", ",")
    assert code == 0
    code, plain, _ = run(capsys, "predict", "m.krein", "plain.csv")
    assert code == 0 and plain == out
    code, _, err = run(capsys, "predict", "m.krein", "d.csv")
    assert code == 2 and "use --decimal ," in err


@pytest.mark.parametrize(
    ("mark", "said"), [("|", "|"), ("\t", "tab"), (" ", "space"), (":", ":")]
)
def test_separators(capsys, here, mark, said):
    patients().to_csv("s.csv", index=False, sep=mark)
    found, _ = fitted(capsys, "s.csv", "--sep", said, *ROLES)
    assert found["features"] == 3
    code, out, _ = run(capsys, "predict", "m.krein", "s.csv", "--sep", said)
    assert code == 0 and len(out.splitlines()) == 49


def test_a_matrix_of_text_has_marks_too(capsys, here):
    D = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))) / 4
    names = [f"s{i}" for i in range(12)]
    frame = pd.DataFrame(D, names, names)
    frame.to_csv("D.csv", sep="|", decimal=",")
    pd.Series(["a", "b"] * 6, names).to_csv("y.csv", header=False)
    call = ("fit", "D.csv", "--distance", "--labels", "y.csv", "--lam", "0.1")
    call += ("--sep", "|", "--decimal", ",", "-o", "D.krein")
    code, out, err = run(capsys, *call)
    assert code == 0 and "12 samples, distances" in out, err
    frame.iloc[:2].to_csv("new.csv", sep="|", decimal=",")
    call = ("predict", "D.krein", "new.csv", "--sep", "|", "--decimal", ",")
    code, out, err = run(capsys, *call)
    assert code == 0 and out.splitlines()[1].startswith("s0,"), err


@pytest.mark.parametrize("sep", [",", ";"])
def test_a_decimal_comma_without_effect_warns(capsys, here, sep):
    whole = patients().drop(columns=["visit", "patient"])
    whole[FEATURES] = whole[FEATURES].round().astype(int)
    whole.to_csv("i.csv", index=False, sep=sep)
    _, err = fitted(capsys, "i.csv", "--decimal", ",")
    assert err.count("--decimal had no effect") == 1


def test_groups_stay_in_one_fold(capsys, here, monkeypatch):
    from kreinlearn import KreinLogisticRegressionCV

    seen = []
    original = KreinLogisticRegressionCV.fit

    def spied(self, X, y, *rest, **more):
        seen.extend(self.cv)
        return original(self, X, y, *rest, **more)

    monkeypatch.setattr(KreinLogisticRegressionCV, "fit", spied)
    call = ("fit", "t.csv", "--group", "patient", "--id", "visit", "--kernel", "linear")
    code, out, err = run(capsys, *call, "--cv", "4", "-o", "g.krein", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["folds"] == 4 and found["features"] == 3 and len(seen) == 4
    groups, kinds = patients()["patient"].to_numpy(), patients()["kind"].to_numpy()
    for train, test in seen:
        assert not set(groups[train]) & set(groups[test])
        assert len(set(kinds[test])) == 2
    assert sorted(np.concatenate([test for _, test in seen])) == list(range(48))
    assert load("g.krein")[-1].cv == 4
    assert stamp("g.krein")["notes"]["group"] == "patient"
    code, out, _ = run(capsys, "predict", "g.krein", "t.csv")
    assert code == 0 and out.startswith("visit,prediction\n1,")


def test_landmarks_keep_groups_together(capsys, here):
    call = ("fit", "t.csv", "--group", "patient", "--drop", "visit", "--landmarks", "9")
    code, out, err = run(capsys, *call, "--kernel", "linear", "-o", "g.krein")
    assert code == 0 and "3-fold" in out, err


@pytest.mark.slow
def test_compare_keeps_groups_together(capsys, here, compares_here, monkeypatch):
    from kreinlearn.app.comparison import summary as module

    jobs = []
    original = module.summarize
    monkeypatch.setattr(
        module,
        "summarize",
        lambda job, *args, **more: jobs.append(job) or original(job, *args, **more),
    )
    call = ("compare", "t.csv", "--group", "patient", "--drop", "visit", "--folds", "3")
    call += ("--methods", "k-NN,Krein norm", "--kernels", "linear", "--jobs", "1")
    code, out, err = run(capsys, *call, "--json")
    assert code == 0, err
    job = jobs[0]
    groups = patients()["patient"].to_numpy()
    assert job.groups.tolist() == groups.tolist() and list(job.X) == FEATURES
    for train, test in job.splits.values():
        assert not set(groups[train]) & set(groups[test])
    found = json.loads(out)
    assert not any(row["error"] for row in found["rows"])
    assert "--group patient" in found["command"]
    assert "48 rows: 6 fits with their tuning take about 0m0" in err


def test_rows_that_are_alike_within_groups_do_not_flatter(capsys, here):
    """Copies of a row in other folds are remembered; in the same fold they are not."""
    rng = np.random.default_rng(1)
    X = np.repeat(rng.normal(size=(24, 2)), 4, axis=0)
    y = np.repeat(rng.permutation(np.arange(24) % 2), 4)
    table = pd.DataFrame(X, columns=["a", "b"])
    table["patient"], table["kind"] = np.repeat(np.arange(24), 4), y
    table.to_csv("c.csv", index=False)
    found = {}
    for option in ("--drop", "--group"):
        call = ("fit", "c.csv", option, "patient", "--kernel", "rbf", "--cv", "4")
        code, out, _ = run(capsys, *call, "-o", f"{option}.krein", "--json")
        assert code == 0
        found[option] = json.loads(out)["held_out_accuracy"]
    assert found["--drop"] > 0.9 and found["--group"] < 0.8


def test_folds_of_groups_against_scikit_learn():
    from kreinlearn.app.methods import grouped_folds

    table = patients()
    y, groups = table["kind"].to_numpy(), table["patient"].to_numpy()
    ours = grouped_folds(y, groups, 4, seed=0)
    splitter = StratifiedGroupKFold(4, shuffle=True, random_state=0)
    for (train, test), (their_train, their_test) in zip(
        ours, splitter.split(y, y, groups), strict=True
    ):
        np.testing.assert_array_equal(train, their_train)
        np.testing.assert_array_equal(test, their_test)


@pytest.mark.parametrize("scale", ["minmax", "standard", "robust", "none"])
def test_scales(capsys, here, scale):
    fitted(capsys, "plain.csv", "--scale", scale)
    X = pd.read_csv("plain.csv")[FEATURES].to_numpy()
    low, high = X.min(axis=0), X.max(axis=0)
    expected = {
        "minmax": (X - low) / (high - low),
        "standard": StandardScaler().fit_transform(X),
        "robust": RobustScaler(quantile_range=(5, 95)).fit_transform(X),
        "none": X,
    }[scale]
    frame = pd.DataFrame(X, columns=FEATURES)
    found = load("m.krein")[:-1].transform(frame)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_inspect_and_compare_scale_too(capsys, here):
    call = ("inspect", "plain.csv", "--kernel", "linear", "--json")
    found = []
    for scale in ("minmax", "standard"):
        few = ("--permutations", "9")
        code, out, _ = run(capsys, *call, "--scale", scale, *few)
        assert code == 0
        found.append(json.loads(out))
    assert found[0]["mu_max"] != found[1]["mu_max"]
    assert "--scale standard" in found[1]["command"]
    assert "--scale standard" in found[1]["sentences"][-1]


def test_outliers_warn(capsys, here):
    table = pd.read_csv("plain.csv")
    table.loc[5, "length"] = 1e5
    table.to_csv("o.csv", index=False)
    _, err = fitted(capsys, "o.csv")
    assert "a few outliers squeeze everything else in column 'length'" in err
    assert "use --scale robust" in err and err.count("\n") == 1
    for scale in ("robust", "none"):
        assert "outliers" not in fitted(capsys, "o.csv", "--scale", scale)[1]
    _, err = fitted(capsys, "o.csv", "--landmarks", "9")
    assert "use --scale robust" in err


def test_counters_warn(capsys, here):
    _, err = fitted(capsys, "t.csv", "--drop", "patient")
    assert "column 'visit' seems to number or name the samples" in err
    assert "--drop visit, or keep it in predictions by --id visit" in err
    table = patients().drop(columns="patient").rename(columns={"visit": "sample_id"})
    table["sample_id"] = np.random.default_rng(0).permutation(48) * 7
    table.to_csv("r.csv", index=False)
    assert "column 'sample_id' seems" in fitted(capsys, "r.csv")[1]
    _, err = fitted(capsys, "t.csv", "--drop", "patient", "--landmarks", "9")
    assert "column 'visit' seems" in err


BAD = {
    "no such column": ("--drop patint", "no column 'patint'; did you mean 'patient'?"),
    "no such id": ("--id Visits", "no column 'Visits'; did you mean 'visit'?"),
    "no such group": ("--group zzz", "no column 'zzz'; it has 'visit', 'width'"),
    "no such place": ("--drop 9", "The position of --drop must be from 1 to 6"),
    "dropped twice": ("--drop visit --drop 1", "'visit' is named twice by --drop"),
    "two roles": ("--drop visit --id visit", "'visit' is named by --drop and --id"),
    "label is id": ("--target kind --id kind", "'kind' is named by --id and --target"),
    "id repeats": ("--id patient", "'p0' is in lines 2 and 3; for rows that belong"),
    "nothing left": (
        "--drop 1 --drop 2 --drop 3 --drop 4 --drop 5",
        "at least one column of features, got",
    ),
    "wrong sep": ("--sep ;", "cells separated by ';' were expected (--sep)"),
    "long sep": ("--sep ;;", "expected one character that separates cells"),
    "letter sep": ("--sep a", "expected one character that separates cells"),
    "points": (
        "--decimal , --drop visit",
        "a number with a decimal comma was expected (--decimal), got",
    ),
    "other decimal": ("--decimal ;", "is not one of '.', ','"),
    "other scale": ("--scale max", "is not one of 'minmax', 'standard', 'robust'"),
    "text": (
        "--drop visit",
        "leave it out (--drop patient), or, if it holds the",
    ),
}


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("case", BAD)
def test_bad_columns(capsys, here, case, blocks):
    words, message = BAD[case]
    more = ("--landmarks", "5") if blocks else ()
    call = ("fit", "t.csv", *words.split(), *more, "-o", "m.krein")
    code, out, err = run(capsys, *call)
    assert code == 2 and out == "" and err.count("\n") == 1, err
    assert message in err and not Path("m.krein").exists()


GROUPS = {
    "one": (lambda t: t.assign(patient="p"), "at least 5 of them, got 1 group; name"),
    "few": (
        lambda t: t.assign(patient=[f"p{i % 3}" for i in range(len(t))]),
        "at least 5 of them, got 3 groups; use 3 folds (",
    ),
    "of a class": (
        lambda t: t.assign(patient=t["patient"].where(t["kind"] == "red", "b")),
        "but class 'blue' is in 1 of",
    ),
    "missing": (
        lambda t: t.assign(patient=t["patient"].where(t.index != 4)),
        "the group in line 6, column 'patient' is missing",
    ),
}


@pytest.mark.parametrize("command", ["fit", "compare"])
@pytest.mark.parametrize("case", GROUPS)
def test_bad_groups(capsys, here, case, command):
    change, message = GROUPS[case]
    change(patients()).to_csv("g.csv", index=False)
    out = ("-o", "m.krein") if command == "fit" else ("--out", "results")
    call = (command, "g.csv", "--group", "patient", "--drop", "visit", *out)
    code, text, err = run(capsys, *call)
    assert code == 2 and text == "" and err.count("\n") == 1, err
    assert message in err and "g.csv" in err
    assert not Path("m.krein").exists() and not Path("results").exists()


def test_groups_need_folds(capsys, here):
    call = ("fit", "t.csv", "--group", "patient", "--lam", "1", "-o", "m.krein")
    code, _, err = run(capsys, *call)
    assert code == 2 and "--lam goes without folds" in err and "--drop patient" in err


@pytest.fixture
def others(here):
    """Write files that hold no table of text."""
    np.savez("K.npz", K=np.eye(12), y=[0, 1] * 6)
    names = [f"s{i}" for i in range(12)]
    pd.DataFrame(np.eye(12), names, names).to_csv("K.csv")
    pd.Series([0, 1] * 6, names).to_csv("y.csv", header=False)
    Path("a.fasta").write_text("".join(f">s{i} {i % 2}\nMKV\n" for i in range(12)))
    Path("a.libsvm").write_text("".join(f"{i % 2} 1:{i} 2:1\n" for i in range(12)))
    patients().to_parquet("t.parquet", index=False)
    return here


ELSEWHERE = {
    "K.npz --drop a": "holds a matrix: leave out --drop",
    "K.npz --sep ;": "holds a matrix: leave out --sep",
    "K.npz --scale robust": "holds a matrix; --scale goes with a table",
    "K.csv --labels y.csv --id a": "holds a matrix: leave out --id",
    "K.csv --labels y.csv --scale none --impute": "--scale, --impute go with a table",
    "a.fasta --group a": "holds sequences: leave out --group",
    "a.fasta --decimal ,": "holds sequences: leave out --decimal",
    "a.fasta --scale minmax": "holds sequences; --scale goes with a table",
    "a.libsvm --drop 1": "in each line: leave out --drop",
    "a.libsvm --sep ;": "in each line: leave out --sep",
    "t.parquet --decimal ,": "holds a table in Parquet: leave out --decimal",
    "t.parquet --sep ; --landmarks 5": "holds a table in Parquet: leave out --sep",
}


@pytest.mark.parametrize("words", ELSEWHERE)
@pytest.mark.parametrize("command", ["fit", "inspect", "compare"])
def test_options_of_tables_elsewhere(capsys, others, command, words):
    if command == "inspect" and "--group" in words:
        pytest.skip("inspect has no groups")
    if command != "fit" and "--landmarks" in words:
        pytest.skip("only fit has landmarks")
    more = ["-o", "m.krein"] if command == "fit" else []
    code, out, err = run(capsys, command, *words.split(), *more)
    assert code == 2 and out == "" and err.count("\n") == 1, err
    assert ELSEWHERE[words] in err
    assert not Path("comparison").exists() and not Path("m.krein").exists()


def test_one_column_is_an_error_about_separators(capsys, here):
    patients().to_csv("s.csv", index=False, sep="|")
    code, _, err = run(capsys, "fit", "s.csv", "-o", "m.krein")
    assert code == 2 and "got one column only" in err and "--sep" in err
    code, _, err = run(capsys, "fit", "s.csv", "--target", "kind", "-o", "m.krein")
    assert code == 2 and "name their separator by --sep" in err


def test_refusals_come_before_computation(capsys, here, monkeypatch):
    """A bad request is refused before distances are computed, and before estimates."""
    Path("a.fasta").write_text("".join(f">s{i} {i % 2}\nMKV\n" for i in range(12)))

    def computed(*_, **__):
        raise AssertionError("computed")

    monkeypatch.setattr("kreinlearn.app.cli.data.compute_matrix", computed)
    for words, message in {
        "--folds 7": "7 folds need 7 of each class",
        "--methods nobody": "nobody",
        "--methods nobody,k-NN": "--methods must be one of",
        "--repeats 0": "--repeats",
    }.items():
        code, _, err = run(capsys, "compare", "a.fasta", *words.split())
        assert code == 2 and message in err and "about" not in err, err


def test_compare_leaves_out_what_takes_longest_unless_asked():
    from kreinlearn.app.methods import ALL_METHODS
    from tests.comparison.test_compare import plan_comparison

    table = patients(99)
    X, y = table[FEATURES].to_numpy(), table["kind"].to_numpy()
    asked = {name for name, method in ALL_METHODS.items() if method.on_request}
    assert {"CCCP-GD", "CCICP-GD", "CCICP-SGD"} < asked
    usual = plan_comparison(X, y, n_jobs=2)
    assert {cell.method for cell in usual.cells} == set(ALL_METHODS) - asked
    assert 10 < usual.seconds < 120
    every = plan_comparison(X, y, methods=["all"])
    assert {cell.method for cell in every.cells} == set(ALL_METHODS)


def test_scales_are_those_of_pipelines():
    from kreinlearn.app.cli.options import SCALE_CHOICES
    from kreinlearn.pipelines import SCALER_MAKERS

    assert tuple(SCALER_MAKERS) == SCALE_CHOICES
