"""Readings of Algorithm 1, and what a cell of each kind finds."""

import re
from dataclasses import replace

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression
from kreinlearn.app.runs import Cell, make_record
from kreinlearn.kernels import gram
from kreinlearn.solvers import AS_PRINTED, PUBLISHED, SGD, GradientDescent
from kreinlearn.solvers.cccp import MAX_INNER_STEPS
from kreinlearn.spectrum import split
from reproduction import readings, splits
from reproduction.evidence import Evidence, is_monotone
from reproduction.figures import COMPARED_READINGS
from reproduction.methods import GRID, TL1
from reproduction.published import INITS
from reproduction.readings import READINGS, Reading
from reproduction.run import evaluate

pytestmark = pytest.mark.slow

N = 30
"""Training samples of the small data."""
LETTERS = {"GD": "GD: step, mean, mean", "SGD": "SGD: step, mean, mean"}
CHOSEN = {"GD": "GD: outer, sum, mean, 100", "SGD": "SGD: outer, mean, mean, 100"}
KINDS = ("GD", "SGD")


def test_a_name_says_what_is_read():
    assert Reading(False, "outer", "sum", "mean", 100).name == CHOSEN["GD"]
    assert Reading(True, "outer", "mean", "mean", 100).name == CHOSEN["SGD"]
    assert Reading(False, "step", "mean", "mean", MAX_INNER_STEPS).name == LETTERS["GD"]
    assert Reading(True, "increase", "mean", "sum", 7).name == (
        "SGD: increase, mean, sum, 7"
    )


def test_readings_are_all_combinations_by_name():
    assert all(name == reading.name for name, reading in READINGS.items())
    found = list(READINGS.values())
    assert len(set(found)) == len(found)
    capped = {("step", MAX_INNER_STEPS), ("increase", 100)}
    capped |= {("outer", cap) for cap in (100, 200, 300)}
    scales = ("mean", "sum")
    for stochastic, losses in ((False, scales), (True, ("mean",))):
        own = {
            ((r.shrink, r.cap), r.loss, r.stop)
            for r in found
            if r.stochastic == stochastic
        }
        assert own == {
            (c, loss, stop) for c in capped for loss in losses for stop in scales
        }


@pytest.mark.parametrize("name", READINGS)
def test_a_reading_is_a_procedure_with_these_settings(name):
    reading, solver = READINGS[name], READINGS[name].solver()
    kind = SGD if reading.stochastic else GradientDescent
    assert solver.inner == kind(shrink=reading.shrink)
    assert (solver.loss_scale, solver.stop_on) == (reading.loss, reading.stop)
    assert solver.max_inner == reading.cap
    assert solver.eps == (1e-4 if reading.stochastic else 1.0)
    assert reading.solver(0.5) == replace(solver, eps=0.5)
    method = reading.method()
    assert (method.name, method.parameter) == (name, "lam")
    assert method.summed == (reading.loss == "sum")
    assert method.build(0.1, 0).solver == solver


@pytest.mark.parametrize(
    ("kind", "eps", "name"),
    [
        ("GD", 1e-4, "cccp-gd"),
        ("GD", 1.0, "ccicp-gd"),
        ("SGD", 1e-4, "ccicp-sgd"),
        ("SGD", 1.0, "ccicp-sgd-i"),
    ],
)
def test_the_letter_and_the_chosen_reading_are_those_of_the_solvers(kind, eps, name):
    # The letter says what the default of its stopping rule is.
    letter = replace(AS_PRINTED[name], stop_on="mean")
    assert READINGS[LETTERS[kind]].solver(eps) == letter
    assert READINGS[CHOSEN[kind]].solver(eps) == PUBLISHED[name]
    if name in ("ccicp-gd", "ccicp-sgd"):  # those that Table 3 has
        assert READINGS[LETTERS[kind]].solver() == letter
        assert READINGS[CHOSEN[kind]].solver() == PUBLISHED[name]


def test_the_figure_shows_the_letter_and_the_chosen_reading():
    assert COMPARED_READINGS == tuple(
        (f"CCICP-{k}", LETTERS[k], CHOSEN[k]) for k in KINDS
    )
    assert all(name in READINGS for _, *names in COMPARED_READINGS for name in names)


@pytest.fixture
def small(monkeypatch, rings):
    """Let all cells have the same small halves."""
    parts = splits.halves(*rings, 0)
    monkeypatch.setattr(splits, "parts_of", lambda cell, home: parts)
    assert len(parts.y_train) == len(parts.y_test) == N
    return parts


def cell_of(name, evidence=None):
    """Return a cell; its data set is known, but that of `small` is used."""
    settings = (("evidence", evidence), ("half", "fixed")) if evidence else ()
    return Cell("readings", "monks1", name, 0, settings)


def fitted(parts, reading, lam, eps=None, **settings):
    """Return the estimator of a reading, for lam of its own loss."""
    solver = replace(reading.solver(eps), **settings)
    lam = lam / N if reading.loss == "sum" else lam
    model = KreinLogisticRegression("precomputed", lam=lam, solver=solver)
    return model.fit(gram(parts.X_train, **TL1[0]), parts.y_train)


@pytest.mark.parametrize("name", [LETTERS["GD"], CHOSEN["GD"], LETTERS["SGD"]])
def test_accuracy_of_a_reading(small, name):
    record = make_record(cell_of(name), evaluate(cell_of(name)))
    assert record["method"] == name
    assert record["status"] in ("max_iter", "diverged")
    assert 0.3 < record["acc"] <= 1
    assert record["n"] == N
    assert ("lam_of_mean" in record["chosen"]) == ("sum" in name)
    assert record["grid"] == {"lam": list(GRID)}
    assert sum(record["cv"].values()) == 5 * len(GRID)
    assert not {"hits", "curves", "steps", "split"} & set(record)


@pytest.mark.filterwarnings("ignore::kreinlearn.exceptions.ConvergenceWarning")
def test_accuracy_of_a_reading_is_that_of_its_estimator(small):
    outcome = evaluate(cell_of(CHOSEN["GD"]))
    model = fitted(small, READINGS[CHOSEN["GD"]], outcome["chosen"]["lam"])
    rows = gram(small.X_test, small.X_train, **TL1[0])
    assert outcome["acc"] == model.score(rows, small.y_test)
    assert outcome["status"] == model.status_


def started(name):
    record = make_record(cell_of(name, "starts"), evaluate(cell_of(name, "starts")))
    assert (record["status"], record["n"]) == ("done", N)
    assert list(record["hits"]) == list(INITS)
    assert all(len(hits) == len(GRID) == 7 for hits in record["hits"].values())
    assert list(record["curves"]) == ["0.0001", "1"]
    assert all(len(curves) == 7 for curves in record["curves"].values())
    assert not {"acc", "chosen", "steps"} & set(record)
    return record


@pytest.mark.parametrize(
    ("name", "first"),
    [
        (LETTERS["GD"], np.log(2)),
        (CHOSEN["GD"], N * np.log(2)),  # the summed loss
        (LETTERS["SGD"], np.log(2)),
        pytest.param(CHOSEN["SGD"], np.log(2), marks=pytest.mark.slow),
    ],
)
def test_starts_of_a_reading(small, name, first):
    record = started(name)
    for curves in record["curves"].values():
        starts = [curve[0] for curve in curves]
        assert starts == pytest.approx([first] * 7, rel=1e-5)
        assert all(2 <= len(curve) <= 21 for curve in curves)
    for init, hits in record["hits"].items():
        assert all(0 <= count <= N for count in hits)
        if "SGD" not in name and init != "uniform":
            assert all(count == round(count) for count in hits)
    # Means over ten streams, and chance makes a difference.
    uniform = [10 * count for count in record["hits"]["uniform"]]
    assert uniform == pytest.approx(np.round(uniform))
    assert any(round(count) % 10 for count in uniform)


@pytest.mark.filterwarnings("ignore::kreinlearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [LETTERS["GD"], CHOSEN["GD"]])
def test_hits_and_curves_are_those_of_the_estimator(small, name):
    record, reading = started(name), READINGS[name]
    rows = gram(small.X_test, small.X_train, **TL1[0])
    for place, lam in enumerate(GRID):
        for init in ("zeros", "ones"):
            model = fitted(small, reading, lam, init=init)
            hits = (model.predict(rows) == small.y_test).sum()
            assert record["hits"][init][place] == hits
        for eps in (1e-4, 1.0):
            model = fitted(small, reading, lam, eps)
            values = [row["value"] for row in model.history_]
            curve = record["curves"][f"{eps:g}"][place]
            assert curve == pytest.approx(values, rel=1e-5)


def test_a_random_start_has_a_stream_of_its_own(small, monkeypatch):
    monkeypatch.setattr(readings, "STREAMS", 2)
    reading = READINGS[LETTERS["GD"]]
    hits = evaluate(cell_of(reading.name, "starts"))["hits"]["uniform"]
    rows = gram(small.X_test, small.X_train, **TL1[0])
    K = gram(small.X_train, **TL1[0])
    found = []
    for stream in (0, 1):
        start = np.random.default_rng([stream, 0]).uniform(size=N)
        solver = replace(reading.solver(), init=start)
        model = KreinLogisticRegression("precomputed", lam=GRID[-1], solver=solver)
        with pytest.warns(UserWarning, match="stops early by design"):
            model.fit(K, small.y_train)
        found.append((model.predict(rows) == small.y_test).sum())
    assert hits[-1] == np.mean(found)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_a_reading(small, kind):
    found = {}
    for name in (LETTERS[kind], CHOSEN[kind]):
        cell = cell_of(name, "steps")
        record = make_record(cell, evaluate(cell))
        assert (record["status"], record["n"]) == ("done", N)
        assert not {"acc", "hits", "curves"} & set(record)
        assert {eps: len(each) for eps, each in record["steps"].items()} == {
            eps: len(readings.STEP_LAMS) for eps in ("0.0001", "1")
        }
        found[name] = record["steps"]
        # One step in each of twenty outer iterations, or more.
        assert all(each >= 20 for own in record["steps"].values() for each in own)
    exact, inexact = (found[CHOSEN[kind]][eps][0] for eps in ("0.0001", "1"))
    assert inexact < exact <= 20 * 100
    assert exact > found[LETTERS[kind]]["0.0001"][0]


@pytest.mark.filterwarnings("ignore::kreinlearn.exceptions.ConvergenceWarning")
def test_steps_are_all_inner_steps_and_none_where_a_fit_diverged(small, monkeypatch):
    lams = (0.0001, 10.0, 0.1)
    monkeypatch.setattr(readings, "STEP_LAMS", lams)
    reading = READINGS[CHOSEN["GD"]]
    steps = evaluate(cell_of(reading.name, "steps"))["steps"]
    for eps in (1e-4, 1.0):
        models = [fitted(small, reading, lam, eps) for lam in lams]
        expected = [
            None
            if model.status_ == "diverged"
            else sum(row["inner"] for row in model.history_)
            for model in models
        ]
        assert expected[1] is None and expected[0] and expected[2]
        assert steps[f"{eps:g}"] == expected


def test_a_matrix_is_split_once(small, monkeypatch):
    calls = []
    monkeypatch.setattr(readings, "split", lambda K: calls.append(K) or split(K))
    evaluate(cell_of(LETTERS["GD"], "starts"))
    assert len(calls) == 1


@pytest.mark.slow
def test_starts_on_the_predefined_samples(data_home):
    """One lam comes near the printed hits from all three starts, as the notes say."""
    record = evaluate(cell_of(CHOSEN["GD"], "starts"), data_home)
    assert record["n"] == 124
    for curves in record["curves"].values():
        assert [curve[0] for curve in curves] == pytest.approx([124 * np.log(2)] * 7)
    found = Evidence(CHOSEN["GD"], {}, record["hits"], record["curves"], {})
    assert GRID[found.best_lam] == 0.1
    assert min(found.misses()) < 0.01 * 432
    assert all(map(is_monotone, found.pair_of_curves()))


def test_names_are_fit_for_keys():
    for name in READINGS:
        assert re.fullmatch(r"S?GD: [a-z]+, [a-z]+, [a-z]+(, \d+)?", name)
        assert cell_of(name).key == f"readings/monks1/{name}/0"
