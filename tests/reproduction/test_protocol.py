from collections import Counter

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression
from kreinlearn.app.methods import Choice, Method
from kreinlearn.app.runs import Cell, make_record
from kreinlearn.kernels import gram
from reproduction import protocol, splits
from reproduction.methods import ON_TABLES
from reproduction.protocol import (
    statistics,
)
from reproduction.run import evaluate
from reproduction.splits import half_rows, halves
from tests.conftest import tl1_naive

pytestmark = pytest.mark.slow


@pytest.fixture
def fake_table(monkeypatch, rings):
    monkeypatch.setattr(splits, "table", lambda name, home: rings)


@pytest.mark.parametrize("name", [*ON_TABLES, "KreinCV"])
def test_every_method_gives_a_record(fake_table, name):
    cell = Cell("table3", "heart", name, 0)
    record = make_record(cell, evaluate(cell))
    assert record["status"] in ("converged", "max_iter", "diverged")
    assert 0.4 <= record["acc"] <= 1
    assert (record["n"], record["m"]) == (30, 3)
    assert record["fit_s"] > 0
    assert record["pred_s"] > 0
    assert sum(record["sig"]) == 30
    has_probabilities = name not in ("TDCASVM", "KSVM", "SVC raw", "SVM(RBF)")
    assert ("ll" in record) == has_probabilities
    assert not {"truth", "proba", "score", "split", "cv_n"} & set(record)
    if name != "KreinCV":
        chosen = record["chosen"]
        if name in ("CCCP-GD", "CCICP-GD"):  # of the summed loss
            ours = pytest.approx(chosen["lam"] / 30, rel=1e-5)
            assert chosen.pop("lam_of_mean") == ours
        assert set(chosen) <= {"lam", "C", "sigma"}
        fits = 35 * (7 if "RBF" in name else 1)
        assert sum(record["cv"].values()) == fits


def test_scores_by_hand(fake_table, rings):
    cell = Cell("table3", "heart", "IKLR krein", 1)
    outcome = evaluate(cell)
    parts = halves(*rings, cell.half_seed)
    tau = 0.7 * 3
    model = KreinLogisticRegression("precomputed", lam=outcome["chosen"]["lam"])
    model.fit(tl1_naive(parts.X_train, parts.X_train, tau), parts.y_train)
    K_test = tl1_naive(parts.X_test, parts.X_train, tau)
    right = model.predict(K_test) == parts.y_test
    assert outcome["acc"] == pytest.approx(right.mean())
    positive = parts.y_test == 1
    balanced = (right[positive].mean() + right[~positive].mean()) / 2
    assert outcome["bacc"] == pytest.approx(balanced)
    p = model.predict_proba(K_test)[np.arange(30), (parts.y_test > 0).astype(int)]
    assert outcome["ll"] == pytest.approx(-np.log(p).mean(), rel=1e-4)
    values = np.linalg.eigvalsh(gram(parts.X_train, tau=tau))
    assert outcome["mu"] == pytest.approx([values[0], values[-1]])


def test_settings_reach_the_solver(fake_table, monkeypatch):
    seen = []
    original = protocol._fit

    def spy(method, *args):
        found = original(method, *args)
        solver = found[1].solver
        seen.append((solver.eps, solver.init, solver.split))
        return found

    monkeypatch.setattr(protocol, "_fit", spy)
    monkeypatch.setattr(protocol, "SPLIT_LIMIT", 10)
    settings = (("eps", 0.5), ("init", "ones"))
    outcome = evaluate(Cell("fig2", "monks1", "CCICP-GD", 0, settings))
    assert seen == [(0.5, "ones", "shift")]
    assert outcome["split"] == "shift"
    assert outcome["curve"][0] > 0


class FakeModel:
    def __init__(self, value, seed):
        self.value, self.status_ = value, "diverged" if value > 0.5 else "max_iter"

    def fit(self, K, y):
        return self


def test_lam_that_diverges_on_all_rows_gives_way_to_the_next_best():
    y = np.ones(4)
    ranking = ((0, 10.0), (1, 0.1), (0, 1.0), (0, 0.01))
    mean, summed = (Method("fake", FakeModel, "lam", summed=s) for s in (False, True))

    def fitted(rows, ranking=ranking, method=mean):
        choice = Choice(ranking, np.zeros((2, 4)), Counter(), rows, ())
        return protocol._fit(method, choice, None, y, 0)[0]

    assert fitted(rows=2) == 0.01  # of the same matrix
    assert fitted(rows=4) == 10.0  # chosen on all rows: used unchanged
    assert fitted(rows=2, ranking=ranking[:1]) == 10.0  # none is better
    # A quarter of it is what the estimator gets: 2.5 diverges, 0.25 does not.
    assert fitted(rows=2, method=summed) == 1.0


def test_statistics_scale_over_all_rows_and_use_the_printed_m(rng):
    X = rng.uniform(size=(40, 22)) * 9
    cell = Cell("table2", "parkinsons", "TL1", 0)
    outcome = statistics(X, cell)
    assert outcome["tau"] == pytest.approx(0.7 * 23)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    rows = half_rows(40, cell.half_seed)[0]
    values = np.linalg.eigvalsh(tl1_naive(scaled[rows], scaled[rows], 0.7 * 23))
    assert outcome["mu"] == pytest.approx([values[0], values[-1]])
