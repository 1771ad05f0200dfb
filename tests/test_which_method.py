"""The comparison of similarities: its cases, its methods, its records and findings."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss

from kreinlearn.app.runs import read_records

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "benchmarks"
MAX_SECONDS = 300


@pytest.fixture
def home(tmp_path, monkeypatch, rng):
    """Return a data folder whose distances separate two groups."""
    X = rng.standard_normal((40, 2))
    X[20:] += 4.0
    D = np.abs(X[:, None] - X[None]).max(axis=2)
    for name in ("sim", "seq", "ucr", "graphs"):
        (tmp_path / name).mkdir()
    np.savez(tmp_path / "sim" / "cat-cortex.npz", D=D, y=np.repeat([1, 2], 20))
    monkeypatch.setenv("KREINLEARN_DATA", str(tmp_path))
    return tmp_path


# -- methods ---------------------------------------------------------------------------


def make_fold(script, rng, n=90, noise=False):
    X, y = rng.standard_normal((n, 3)), np.arange(n) % 3
    if not noise:
        X[np.arange(n), y] += 2.5
    D = np.abs(X[:, None] - X).max(axis=2)
    cases = script("cases")
    rows = np.arange(n)
    train, test = rows[: n * 2 // 3], rows[n * 2 // 3 :]
    fold = cases.make_fold(cases.Matrix(D, True, y, ""), "exp", train, test)
    return fold, y[train], y[test]


def test_methods_learn_and_give_probabilities(script, rng):
    contenders = script("contenders")
    fold, y, truth = make_fold(script, rng, n=45)
    ours = ("default", "square, logistic")
    for name in (*ours, "rows as features", "nearest neighbors", "1-NN"):
        learned = contenders.METHODS[name](fold, y)
        assert learned.proba.shape == (len(truth), 3) and learned.chosen
        assert np.mean(learned.labels == truth) > 0.7, name
        assert log_loss(truth, learned.proba) < 0.9, name


# -- records and findings --------------------------------------------------------------


def make_records(case, method, accuracies, losses):
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
        *make_records("a", "default", [0.8, 0.9], [0.5, 0.3]),
        *make_records("a", "hilbert", [0.7, 0.9], [0.6, 0.6]),
        *make_records("a", "1-NN", [0.9, 1.0], [1.0, 1.0]),
        *make_records("a", "krein", [0.9], [1.0]),
    ][::-1]
    about = {"a": {"case": "a", "n": 10}}
    methods = ["default", "hilbert", "1-NN", "krein"]
    rows = findings.summarize_records(records, about, methods, 2)
    assert [row["method"] for row in rows] == methods[:3]
    assert "a, krein: 1 of 2 folds, left out." in capsys.readouterr().err
    other = rows[1]
    assert other["log_loss"] == pytest.approx(0.6)
    assert other["log_loss_difference"] == pytest.approx(0.2)
    # Differences 0.1 and 0.3: variance 0.02, times 1/2 for two folds plus 1/4.
    assert other["log_loss_difference_se"] == pytest.approx(np.sqrt(0.75 * 0.02))
    text = "\n".join([*findings.format_tables(rows), *findings.format_checks(rows)])
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
        for record in make_records(
            case, method, [0.8, 0.9], [loss + more, loss + 3 * more]
        )
    ]
    about = {case: {"case": case, "n": 10} for case in names}
    rows = findings.summarize_records(records, about, ["default", "clip, SVC"], 2)
    found = findings.average_transforms(rows)
    assert [(row["case"], row["method"]) for row in found[:3:2]] == [
        ("a", "default"),
        ("b", "default"),
    ]
    assert found[0]["log_loss"] == pytest.approx(0.3)
    assert found[1]["log_loss_difference"] == pytest.approx(0.2)
    lines = findings.format_summary(found)
    assert lines[2] == "| KreinCV | **0.600** | **1.0** | **0.850** | **1.5** |"
    assert lines[3] == "| clip, then SVC | 0.800 | 2.0 | **0.850** | **1.5** |"


def run_script(home, *options):
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
        timeout=MAX_SECONDS,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done


@pytest.mark.slow
def test_the_same_command_continues(home):
    path = home / "cache" / "which-method.jsonl"
    run_script(home, "--methods", "1-NN")
    lines = path.read_text().splitlines()
    assert len(lines) == 5
    failed = json.loads(lines[0]) | {"status": "error", "error": "full disk"}
    path.write_text("\n".join([json.dumps(failed), *lines[1:]]) + "\n")
    done = run_script(home, "--methods", "nearest neighbors", "1-NN")
    records = read_records(path)
    assert {each["status"] for each in records} == {"done"} and len(records) == 10
    assert path.read_text().splitlines()[:4] == lines[1:]
    assert "10/10" in done.stderr and "4/10" in done.stderr


@pytest.mark.slow
def test_measurements_compare_all_methods(home):
    done = run_script(home, "--out", str(home / "out"))
    with (home / "out" / "results" / "similarities.csv").open() as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert len(rows) >= 13 and "mean ranks by log-loss" in done.stdout
    # Two groups far apart: choices on training rows alone suffice.
    assert all(float(row["accuracy"]) > 0.9 for row in rows.values())
    assert all(float(row["log_loss"]) < 0.5 for row in rows.values())
    assert float(rows["default"]["log_loss_difference"]) == 0
    assert (home / "out" / "images" / "which-method.svg").exists()
