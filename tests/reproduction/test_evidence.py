"""What speaks for a reading, by hand."""

from math import log2, sqrt

import numpy as np
import pytest

from kreinlearn.app.runs import Cell, make_record, read_records
from reproduction import published
from reproduction.evidence import (
    Evidence,
    find_settling_iteration,
    gather_evidence,
    is_monotone,
    make_readings_tables,
    rank_readings,
)
from reproduction.methods import GRID
from reproduction.readings import READINGS
from reproduction.summary import find_published, numbers, summarize_records

pytestmark = pytest.mark.slow

READING, LETTER = "GD: outer, sum, mean, 100", "GD: step, mean, mean"
STOCHASTIC = "SGD: outer, mean, mean, 100"
FALLING, RISING = [0.7, 0.6, 0.5, 0.45], [0.7, 0.5, 0.6, 0.4]


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        # From 100 to 0, the first value below 1 is that of the third iteration.
        ([100.0, 100.0, 2.0, 0.9, 0.0], 3),
        # Before the first iteration nothing counts, neither for the range ...
        ([1e6, 100.0, 2.0, 0.9, 0.0], 3),
        # ... nor as a value that is far from the last.
        ([100.0, 5.0, 5.0, 5.0], 1),
        # Once far, it has not settled before: also on the way up.
        ([9.0, 5.0, 0.0, 5.0, 5.0], 3),
        ([9.0, 0.0, 5.0, 5.001, 5.0], 2),
        ([100.0, 100.0, 0.0], 2),
        ([0.7, 0.6], 1),
    ],
)
def test_settled_after(curve, expected):
    assert find_settling_iteration(curve) == expected


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (FALLING, True),
        (RISING, False),
        ([0.7, 0.5, 0.5, 0.4], True),
        ([0.1, 0.7, 0.6], True),  # the step from the start does not count
        ([0.7, 0.5, 0.4, np.inf], False),
    ],
)
def test_is_monotone(curve, expected):
    assert is_monotone(curve) is expected


def evidence(name=READING, accuracies=None, hits=None, curves=None, steps=None):
    """Return what was found about a reading: hits from the three starts, by lam."""
    starts = {}
    if hits is not None:
        starts = dict(zip(("zeros", "ones", "minus-ones"), hits, strict=True))
    if curves is not None:
        curves = {
            eps: [each] * len(GRID)
            for eps, each in zip(("0.0001", "1"), curves, strict=True)
        }
    return Evidence(name, accuracies or {}, starts, curves or {}, steps or {})


def near(column, *gaps):
    """Return accuracies that are off the published ones by so much."""
    names = ("monks1", "heart", "sonar", "haberman")
    pairs = zip(names, gaps, strict=False)
    return {name: published.TABLE3[name][column].mean + gap for name, gap in pairs}


def test_distance_from_the_published_accuracies():
    found = evidence(accuracies=near("CCICP-GD", 0.03, -0.04, 0.0))
    assert found.column == "CCICP-GD"
    assert found.published_accuracies() == {
        "monks1": 0.765,
        "heart": 0.803,
        "sonar": 0.794,
    }
    assert found.distance == pytest.approx(sqrt((0.03**2 + 0.04**2) / 3))
    other = evidence(STOCHASTIC, found.accuracies)
    assert other.column == "CCICP-SGD"
    assert other.published_accuracies() == {
        "monks1": 0.752,
        "heart": 0.809,
        "sonar": 0.690,
    }
    gaps = (0.795 - 0.752, 0.763 - 0.809, 0.794 - 0.690)
    assert other.distance == pytest.approx(sqrt(sum(gap**2 for gap in gaps) / 3))
    assert np.isnan(evidence().distance)


def test_correlation_with_the_published_accuracies():
    theirs = near("CCICP-GD", 0, 0, 0)
    along = evidence(accuracies={k: 2 * v - 1 for k, v in theirs.items()})
    against = evidence(accuracies={k: 1 - v / 2 for k, v in theirs.items()})
    assert along.correlation == pytest.approx(1)
    assert against.correlation == pytest.approx(-1)
    x, y = np.array([0.7, 0.9, 0.8]), np.array([0.765, 0.803, 0.794])
    mixed = evidence(accuracies=dict(zip(theirs, x, strict=True)))
    dx, dy = x - x.mean(), y - y.mean()
    expected = dx @ dy / sqrt((dx @ dx) * (dy @ dy))
    assert mixed.correlation == pytest.approx(expected)
    # Two points are always on a line.
    assert evidence(accuracies=near("CCICP-GD", 0.1, 0.2)).correlation is None


def test_misses_are_those_of_the_worst_start():
    # Printed are 0.694, 0.697 and 0.694 of 432 rows.
    theirs = np.array([299.808, 301.104, 299.808])
    hits = np.full((3, 7), 216.0)
    hits[:, 2] = [300, 303, 298]
    hits[:, 4] = [299, 301, 310]
    found = evidence(hits=hits)
    expected = np.abs(hits - theirs[:, None]).max(axis=0)
    assert found.misses() == pytest.approx(list(expected))
    assert found.misses()[2] == pytest.approx(303 - 301.104)
    assert found.misses()[4] == pytest.approx(310 - 299.808)
    assert found.misses()[0] == pytest.approx(301.104 - 216)
    assert found.best_lam == 2
    other = evidence(STOCHASTIC, hits=hits)
    assert other.misses()[2] == pytest.approx(300 - 0.662 * 432)
    assert evidence().misses() == []


def test_ratios_of_steps_and_of_printed_seconds():
    steps = {"guide1-t": (600, 20), "madelon": (100, 40)}
    assert evidence(steps=steps).ratios() == {
        "guide1-t": (30.0, 1314.3 / 47.23),
        "madelon": (2.5, 305.29 / 8.129),
    }
    assert evidence(STOCHASTIC, steps=steps).ratios() == {
        "guide1-t": (30.0, 714.72 / 1.4146),
        "madelon": (2.5, 160.71 / 2.543),
    }
    assert evidence().ratios() == {}


def test_distances_in_each_kind_of_evidence():
    hits = np.full((3, 7), 216.0)
    hits[:, 3] = [300, 301, 300]
    printed = 1314.3 / 47.23, 305.29 / 8.129
    steps = {"guide1-t": (600, 20), "madelon": (100, 40)}
    accuracies = near("CCICP-GD", 0.03, -0.03)
    # CCCP-GD (1e-4) settles after CCICP-GD (1), and both fall.
    slow, fast = [0.7, 0.6, 0.5, 0.4], [0.7, 0.6, 0.4, 0.4]
    found = evidence(READING, accuracies, hits, (slow, fast), steps)
    doublings = (log2(30 / printed[0]), log2(2.5 / printed[1]))
    expected = [0.03, 300 - 299.808, (abs(doublings[0]) + abs(doublings[1])) / 2, 0]
    assert found.pair_of_curves() == (slow, fast)
    assert found.distances() == pytest.approx(expected)
    # What is missing is no distance.
    assert evidence().distances() == pytest.approx([np.nan] * 4, nan_ok=True)
    assert evidence(STOCHASTIC).distances() == pytest.approx([np.nan] * 3, nan_ok=True)


@pytest.mark.parametrize(
    ("curves", "failed"),
    [
        (([9.0, 4, 3, 2], [9.0, 4, 2, 2]), 0),
        (([9.0, 4, 2, 2], [9.0, 4, 3, 2]), 1),  # the other way round
        (([9.0, 4, 3, 2], [9.0, 4, 3, 2]), 1),  # at the same time
        (([9.0, 4, 5, 2], [9.0, 4, 2, 2]), 1),  # CCCP-GD rises
        (([9.0, 4, 3, 2], [9.0, 1, 2, 2]), 1),  # CCICP-GD rises
        (([9.0, 1, 2, 2], [9.0, 4, 5, 2]), 3),
    ],
)
def test_statements_about_figure_3(curves, failed):
    found = evidence(hits=np.full((3, 7), 300.0), curves=curves)
    assert found.distances()[-1] == failed


def factor(number):
    """Return steps whose ratio is off that of the printed seconds by a factor."""
    theirs = 714.72 / 1.4146
    return {"guide1-t": (theirs / number, 1)}


def test_ranked_by_the_sum_of_distances_with_what_is_missing_last():
    # Printed from the third start are 0.661 of 432 rows, the farthest from 290.
    hits = {gap: np.full((3, 7), 285.552 + gap) for gap in (8, 12, 20)}

    def stochastic(name, gap, *rest):
        return evidence(f"SGD: {name}", near("CCICP-SGD", gap), *rest)

    # In units of 0.05, of 4 rows, and of a factor of 4.
    first = stochastic("a", 0.01, hits[12], None, factor(2))  # 0.2 + 3 + 0.5
    second = stochastic("b", -0.1, hits[8], None, factor(1 / 4))  # 2 + 2 + 1
    third = stochastic("c", 0.0, hits[20], None, factor(2))  # 0 + 5 + 0.5
    # However near in the others, one kind that is missing is enough to come last.
    gap = stochastic("d", 0.0, hits[8])
    nothing = evidence("SGD: e")
    order = rank_readings([gap, nothing, third, second, first])
    assert [each.name[-1] for _, each in order] == ["a", "b", "c", "d", "e"]
    assert [total for total, _ in order] == pytest.approx([3.7, 5, 5.5, np.inf, np.inf])
    assert rank_readings([]) == []


def test_ranked_counts_failed_statements_about_gradient_descent():
    hits, accuracies = np.full((3, 7), 297.104), near("CCICP-GD", 0.05)
    steps = {"guide1-t": (4 * 1314.3 / 47.23, 1)}
    curves = ([9.0, 4, 2, 2], [9.0, 4, 3, 2])  # settle in the wrong order
    found = evidence(READING, accuracies, hits, curves, steps)
    ((total, _),) = rank_readings([found])
    assert total == pytest.approx(1 + 1 + 1 + 1)


def test_ranked_keeps_the_order_of_ties():
    names = ("SGD: c", "SGD: a", "SGD: b")
    same = [
        evidence(name, near("CCICP-SGD", 0.1), np.full((3, 7), 290.0), None, factor(2))
        for name in names
    ]
    assert [each.name for _, each in rank_readings(same)] == list(names)


def fields(acc=None, **others):
    return {"status": "max_iter" if acc else "done", "n": 62} | (
        others if acc is None else {"acc": acc}
    )


def records():
    """Return those of four readings: one whole, two with gaps, and a stochastic one."""
    hits = {
        init: [216.0] * 3 + [count] + [216.0] * 3
        for init, count in (
            ("zeros", 300.0),
            ("ones", 299.0),
            ("minus-ones", 298.0),
            ("uniform", 299.5),
        )
    }
    slow, fast = [43.0, 50, 30, 21, 20], [43.0, 50, 21, 20.1, 20]
    curves = {"0.0001": [slow] * 7, "1": [fast] * 7}
    starts = (("evidence", "starts"), ("half", "fixed"))
    steps = (("evidence", "steps"), ("half", "fixed"))
    gaps = {LETTER: -0.2, READING: 0.01, "GD: increase, mean, sum, 100": 0.05}
    found = [
        (Cell("readings", data, name, run), fields(accuracy + (-1) ** run * 0.02))
        for name, gap in gaps.items()
        for data, accuracy in near("CCICP-GD", gap, gap, gap).items()
        for run in (0, 1)
    ]
    found += [
        (
            Cell("readings", "monks1", READING, 0, starts),
            fields(hits=hits, curves=curves),
        ),
        (
            Cell("readings", "guide1-t", READING, 0, steps),
            fields(steps={"0.0001": [500, 700, 900], "1": [20, 20, None]}),
        ),
        (
            Cell("readings", "madelon", READING, 0, steps),
            fields(steps={"0.0001": [None], "1": [20]}),
        ),
        (Cell("readings", "monks1", STOCHASTIC, 0), fields(0.75)),
        (Cell("readings", "monks1", LETTER, 0, starts), {"status": "timeout"}),
    ]
    return [make_record(cell, outcome) for cell, outcome in found]


def test_evidence_is_gathered_from_records():
    found = {each.name: each for each in gather_evidence(summarize_records(records()))}
    assert set(found) == {LETTER, READING, "GD: increase, mean, sum, 100", STOCHASTIC}
    read = found[READING]
    # Means over runs.
    assert read.accuracies == pytest.approx(near("CCICP-GD", 0.01, 0.01, 0.01))
    assert read.distance == pytest.approx(0.01)
    assert read.starts["ones"][3] == 299
    assert [len(each) for each in read.curves.values()] == [7, 7]
    # Sums over the lam that diverge with neither eps; without any, nothing.
    assert read.steps == {"guide1-t": (1200, 40)}
    assert read.ratios()["guide1-t"][0] == 30
    letter = found[LETTER]
    assert (letter.starts, letter.curves, letter.steps) == ({}, {}, {})


def test_values_that_were_not_finite_are_infinite():
    own = [dict(record) for record in records()]
    (record,) = (each for each in own if "curves" in each)
    record["curves"] = {"0.0001": [[43.0, 50, None]] * 7, "1": [[43.0, 50, 40]] * 7}
    (found,) = (e for e in gather_evidence(summarize_records(own)) if e.name == READING)
    assert found.curves["0.0001"][0] == [43.0, 50, np.inf]
    assert not is_monotone(found.curves["0.0001"][0])


def test_tables_of_readings():
    gd, sgd = make_readings_tables(summarize_records(records()), [])
    assert gd.title == "Readings of Algorithm 1: gradient descent"
    assert sgd.title == "Readings of Algorithm 1: SGD"
    rows = [[entry.text for entry in row[:-1]] for row in gd.rows]
    # The whole one first; the others as they were recorded, for lack of evidence.
    assert rows == [
        [
            *("each loop", "sum", "mean", "100"),
            *("0.797", "1.00", "0.010", "300, 299, 298", "0.1"),
            *("30", "–", "3, 4", "yes"),
        ],
        [
            *("each step", "mean", "mean", "none"),
            *("0.587", "1.00", "0.200", "–", "–", "–", "–", "–", "–"),
        ],
        [
            *("each increase", "mean", "sum", "100"),
            *("0.837", "1.00", "0.050", "–", "–", "–", "–", "–", "–"),
        ],
    ]
    ratio = 1314.3 / 47.23
    total = 0.01 / 0.05 + (301.104 - 299) / 4 + log2(30 / ratio) / 2 + 0
    assert gd.rows[0][-1].value == pytest.approx(total)
    assert all(row[-1].value in (None, np.inf) for row in gd.rows[1:])
    heads = [head.text for head in gd.columns]
    assert heads[4:11] == [
        *("accuracy", "correlation", "distance", "starts", "lam"),
        *("steps, guide1-t", "steps, madelon"),
    ]
    assert heads[11:] == ["settled", "monotone", "total"]
    assert "(published 0.787)" in gd.caption  # of 0.765, 0.803 and 0.794
    assert "(published 300, 301, 300 of 432)" in gd.caption
    assert "guide1-t 28" in gd.caption
    # SGD has no statements about curves, and one data set no correlation.
    assert [head.text for head in sgd.columns[-2:]] == ["steps, madelon", "total"]
    assert [entry.text for entry in sgd.rows[0][:-1]] == [
        *("each loop", "mean", "mean", "100", "0.750", "–", "0.002"),
        *("–", "–", "–", "–"),
    ]


def test_tables_of_one_procedure_alone():
    own = [each for each in summarize_records(records()) if each.method == STOCHASTIC]
    (table,) = make_readings_tables(own, [])
    assert table.title == "Readings of Algorithm 1: SGD"
    assert make_readings_tables([], []) == []


def test_every_reading_has_a_row(stored):
    gd, sgd = make_readings_tables(
        summarize_records(read_records(stored("readings"))), []
    )
    assert len(gd.rows) + len(sgd.rows) == len(READINGS)
    for table in (gd, sgd):
        totals = [row[-1].value for row in table.rows]
        assert np.isfinite(totals).all()
        assert totals == sorted(totals)


def test_published_accuracies_stand_beside_those_of_readings():
    summaries = summarize_records(records())
    rows = numbers("readings", summaries)
    assert {row["measure"] for row in rows} == {"acc"}
    published_of = {(row["data"], row["method"]): row["published"] for row in rows}
    assert published_of["monks1", READING] == "0.765"
    assert published_of["monks1", STOCHASTIC] == "0.752"
    # The other kinds of cells have no accuracy.
    starts = next(s for s in summaries if s.settings == {"evidence": "starts"})
    assert find_published("readings", starts) is None


def test_curves_that_ended_at_once_or_ran_away_show_nothing():
    assert not is_monotone([0.7, 0.6])
    assert find_settling_iteration([0.7, 5.0, np.inf]) == 3
    assert (
        evidence(READING, dict.fromkeys(near("CCICP-GD", 0.0), 0.7)).correlation is None
    )
