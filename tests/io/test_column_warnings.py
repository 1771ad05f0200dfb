"""Columns that are probably not what a user thinks they are."""

import numpy as np
import pandas as pd
import pytest

from kreinlearn.io.columns import (
    is_counter,
    range_fraction,
    warn_about_columns,
)
from kreinlearn.pipelines import prepare


@pytest.mark.parametrize("start", [0, 1, 1000])
def test_counters(start):
    rows = np.arange(start, start + 30.0)
    assert is_counter("a", rows) and is_counter("a", 10 * rows)
    assert not is_counter("a", rows + 0.5)  # a measurement
    assert not is_counter("a", rows[:9])  # too few values
    assert not is_counter("a", np.repeat(rows, 2))
    assert not is_counter("a", rows[::-1])
    rows[4] = np.nan
    assert not is_counter("a", rows)


@pytest.mark.parametrize("name", ["id", "ID", "patient_id", "patientId", "row index"])
def test_names_of_ids(name):
    rows = np.random.default_rng(0).permutation(30).astype(float)
    assert is_counter(name, rows) and not is_counter(name, rows // 2)
    assert not is_counter("liquid", rows) and not is_counter("grid", rows)


def test_a_few_outliers_leave_little_to_the_rest():
    rng = np.random.default_rng(0)
    values = rng.normal(size=500)
    assert range_fraction(values) > 0.5
    assert range_fraction(np.r_[values, 1e4]) < 1e-3
    assert range_fraction(np.r_[values, 1e4, -1e4, 2e4]) < 1e-3
    assert range_fraction(np.exp(values)) > 0.2  # skewed, and no outlier
    assert range_fraction(np.r_[values, np.full(50, 1e4)]) > 0.9  # not a few
    assert range_fraction(np.r_[np.zeros(500), 1.0]) == 1  # nothing to squeeze
    assert range_fraction(np.r_[values[:20], np.nan, 1e4]) < 1e-3
    assert range_fraction(np.array([1.0, 2.0, 1e9])) == 1  # too few values


def test_each_warning_names_columns_and_what_to_do():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    X.loc[3, ["a", "b"]] = 1e6
    with pytest.warns(UserWarning, match=r"in columns 'a', 'b': .* --scale robust"):
        prepare(X)
    with pytest.warns(UserWarning, match=r"in columns 'a', 'b'"):
        prepare(X, scale="standard")
    prepare(X, scale="robust")  # a warning would be an error
    X = X[["c"]].assign(n=range(40), m=range(7, 47))
    with pytest.warns(UserWarning, match=r"columns 'n', 'm' seem to .* --drop n"):
        warn_about_columns(X, list(X))


def test_robust_scaling_leaves_to_all_values_what_an_outlier_takes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": np.r_[rng.uniform(5, 6, 99), 1e6]})
    with pytest.warns(UserWarning, match="outliers"):
        squeezed = prepare(X).fit_transform(X)[:99]
    found = prepare(X, scale="robust").fit_transform(X)[:99]
    assert np.ptp(squeezed) < 1e-5 and 0.9 < np.ptp(found) < 1.3
