import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression
from kreinlearn.kernels import gram
from kreinlearn.paper import methods
from kreinlearn.paper.catalog import EXPERIMENTS, evaluate
from kreinlearn.paper.methods import METHODS, statistics
from kreinlearn.paper.published import OURS, TABLE3_METHODS
from kreinlearn.paper.splits import halves
from kreinlearn.runs.cells import Cell
from kreinlearn.runs.records import record_of
from tests.conftest import tl1_naive


@pytest.fixture
def fake_table(monkeypatch, rings):
    from kreinlearn.paper import catalog

    monkeypatch.setattr(catalog, "table", lambda name, home: rings)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_a_record(fake_table, name):
    cell = Cell("table3", "heart", name, 0)
    record = record_of(cell, evaluate(cell))
    assert record["status"] in ("converged", "max_iter", "diverged")
    assert 0.4 <= record["acc"] <= 1
    assert record["n"] == 30
    assert record["fit_s"] > 0
    assert record["pred_s"] > 0
    assert sum(record["sig"]) == 30
    has_probabilities = name not in ("TDCASVM", "KSVM", "SVC raw", "SVM(RBF)")
    assert ("ll" in record) == has_probabilities
    if name != "KreinCV":
        assert set(record["chosen"]) <= {"lam", "C", "sigma"}
        fits = 35 * (7 if "RBF" in name else 1)
        assert sum(record["cv"].values()) == fits


def test_table3_has_every_column():
    assert EXPERIMENTS["table3"].methods == TABLE3_METHODS + OURS
    for experiment in EXPERIMENTS.values():
        if experiment.name not in ("table1", "table2", "table5", "fig1"):
            assert set(experiment.methods) <= set(METHODS)


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


def test_same_cell_same_outcome(fake_table):
    cell = Cell("table3", "heart", "CCICP-SGD", 0)
    first, again = evaluate(cell), evaluate(cell)
    for field in ("acc", "ll", "chosen", "cv", "status"):
        assert first[field] == again[field]


def test_settings_reach_the_solver(fake_table, monkeypatch):
    seen = []
    original = methods.Published.estimator

    def spy(self, value, seed):
        seen.append((self.solver.eps, self.solver.init, self.solver.split))
        return original(self, value, seed)

    monkeypatch.setattr(methods.Published, "estimator", spy)
    monkeypatch.setattr(methods, "SPLIT_LIMIT", 10)
    settings = (("eps", 0.5), ("init", "ones"))
    outcome = evaluate(Cell("fig2", "monks1", "CCICP-GD", 0, settings))
    assert seen == [(0.5, "ones", "shift")]
    assert outcome["split"] == "shift"
    assert outcome["curve"][0] > 0


def test_lam_that_diverges_on_all_rows_gives_way_to_the_next_best():
    from collections import Counter

    from kreinlearn.paper.tuning import Choice

    class Model:
        def __init__(self, value):
            self.value, self.status_ = value, "diverged" if value > 0.5 else "max_iter"

        def fit(self, K, y):
            return self

    class Learner:
        def estimator(self, value, seed):
            return Model(value)

    y = np.ones(4)
    ranking = ((0, 10.0), (1, 0.1), (0, 1.0), (0, 0.01))

    def fitted(rows, ranking=ranking):
        choice = Choice(ranking, np.zeros((2, 4)), Counter(), rows, ())
        return methods._fit(Learner(), choice, None, y, 0)[0]

    assert fitted(rows=2) == 0.01  # of the same matrix
    assert fitted(rows=4) == 10.0  # chosen on all rows: taken as it is
    assert fitted(rows=2, ranking=ranking[:1]) == 10.0  # none is better


def test_figure3_shares_lam(fake_table):
    cells = EXPERIMENTS["fig3"].cells(1)
    lams = {
        evaluate(cell)["chosen"]["lam"] for cell in cells if cell.dataset == "monks1"
    }
    assert len(cells) == 6
    assert len(lams) == 1


def test_statistics_scale_over_all_rows_and_use_the_printed_m(rng):
    X = rng.uniform(size=(40, 22)) * 9
    cell = Cell("table2", "parkinsons", "TL1", 0)
    outcome = statistics(X, cell)
    assert outcome["tau"] == pytest.approx(0.7 * 23)
    from kreinlearn.paper.splits import half_rows

    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    rows = half_rows(40, cell.half_seed)[0]
    values = np.linalg.eigvalsh(tl1_naive(scaled[rows], scaled[rows], 0.7 * 23))
    assert outcome["mu"] == pytest.approx([values[0], values[-1]])
