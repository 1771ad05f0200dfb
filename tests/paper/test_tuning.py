from collections import Counter

import numpy as np
import pytest

from kreinlearn.paper.learners import Exact
from kreinlearn.paper.tuning import choice_fields, choose, folds, subsample


class Scripted:
    """A learner whose scores are prescribed: right on a share of the new samples."""

    def __init__(self, parameter, shares, status="converged"):
        self.parameter, self.shares, self.status = parameter, shares, status

    def path(self, K, y, K_new, values, seed):
        truth = K_new[:, 0]  # the test hides the labels there
        found = []
        for value in values:
            share, status = self.shares[value], self.status
            if isinstance(share, str):
                share, status = 1.0, share
            wrong = np.arange(len(truth)) >= round(share * len(truth))
            found.append((np.where(wrong, -truth, truth), status))
        return found


@pytest.fixture
def labels():
    return np.tile([1, -1], 25)


def chosen(labels, parameter, shares, matrices=1):
    K = np.repeat(labels[:, None], len(labels), axis=1).astype(float)
    values = sorted(shares)
    learner = Scripted(parameter, shares)
    return choose(learner, [K] * matrices, labels, half_seed=0, seed=1, values=values)


def test_best_value_wins(labels):
    choice = chosen(labels, "lam", {0.1: 0.6, 1.0: 0.9, 10.0: 0.5})
    assert choice.value == 1.0
    assert choice.accuracy == pytest.approx(np.array([[0.6, 0.9, 0.5]]))
    assert choice.statuses == Counter(converged=15)


@pytest.mark.parametrize(("parameter", "value"), [("lam", 10.0), ("C", 0.1)])
def test_ties_go_to_more_regularization_and_the_first_matrix(labels, parameter, value):
    choice = chosen(labels, parameter, {0.1: 0.8, 1.0: 0.8, 10.0: 0.8}, matrices=2)
    assert (choice.value, choice.setting) == (value, 0)


def test_diverged_fits_count_as_wrong(labels):
    choice = chosen(labels, "lam", {0.1: 0.2, 1.0: "diverged", 10.0: "nonfinite"})
    assert choice.value == 0.1
    assert choice.statuses == Counter(converged=5, diverged=5, nonfinite=5)


def test_folds_are_the_same_for_all_methods_and_stratified(labels):
    first, again = folds(labels, 7), folds(labels, 7)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert all(abs(labels[test].sum()) == 0 for _, test in first)


def test_a_fold_without_one_class_is_no_error():
    y = np.array([1] + [-1] * 14)  # one row of a class: training folds miss it once
    X = np.linspace(0, 1, 15)
    K = np.maximum(1 - np.abs(X[:, None] - X), 0)
    choice = choose(Exact(), [K], y, half_seed=0, seed=0, values=[0.1, 1.0])
    assert sum(choice.statuses.values()) == 4 * 2
    assert 0.9 <= choice.accuracy.max() <= 1


def test_subsample():
    assert np.array_equal(subsample(1000, 0), np.arange(1000))
    rows = subsample(5000, 0)
    assert len(np.unique(rows)) == 1000
    assert rows.max() < 5000
    assert np.array_equal(rows, subsample(5000, 0))


def test_record_says_what_was_chosen_from_what(labels):
    choice = chosen(labels, "C", {0.1: 0.6, 1.0: 0.9})
    fields = choice_fields(choice, Scripted("C", {}), 50)
    assert fields == {
        "chosen": {"C": 1.0},
        "grid": {"C": (0.1, 1.0)},
        "cv": {"converged": 10},
    }
    assert choice_fields(choice, Scripted("C", {}), 80)["cv_n"] == 50
