"""The records that only the paper has, and its settings."""

import numpy as np
import pytest

from kreinlearn.app.methods import get_status, published
from kreinlearn.kernels import gram
from kreinlearn.solvers import AS_PRINTED, PUBLISHED
from reproduction.methods import (
    ON_TL1,
    PROCEDURES,
    with_settings,
)

pytestmark = pytest.mark.slow

VALUES = [0.01, 0.1, 1.0]


@pytest.fixture
def task(rings):
    X, y = rings
    return gram(X[:40]), y[:40], gram(X[40:], X[:40])


@pytest.mark.parametrize("name", ["Flip", "Clip", "Shift", "Clip exact"])
def test_shortcut_and_estimator_end_at_the_same_solution(task, name):
    K, y, K_new = task
    method = ON_TL1[name]
    path = method.path(K, y, K_new, VALUES, 0)
    for value, (scores, status) in zip(VALUES, path, strict=True):
        model = method.build(value, 0).fit(K, y)
        assert status == get_status(model)
        expected = model.decision_function(K_new)
        # Both stop at a residual of 1e-6; scores are of order one.
        assert np.allclose(scores[:, 0], expected, atol=1e-4)


@pytest.mark.parametrize("name", ["CCCP-GD", "CCICP-GD", "CCICP-SGD", "CCICP-SGD-I"])
def test_a_procedure_as_read_and_as_printed(name):
    read, letter = PROCEDURES[name], PROCEDURES[f"{name} as printed"]
    assert read == PUBLISHED[name.lower()]
    assert letter == AS_PRINTED[name.lower()]
    assert (letter.loss_scale, letter.stop_on, letter.inner.shrink) == (
        "mean",
        None,  # that of the loss
        "step",
    )
    assert read.loss_scale == ("mean" if "SGD" in name else "sum")
    assert (read.stop_on, read.inner.shrink, read.max_inner) == ("mean", "outer", 100)
    # lam is that of the loss which is descended.
    assert ON_TL1[name].summed == ("SGD" not in name)
    assert not ON_TL1[f"{name} as printed"].summed


@pytest.mark.parametrize("solver", ["ccicp-gd", "ccicp-gd-as-printed"])
def test_summed_and_mean_values_of_lam_give_the_same_path(task, solver):
    K, y, K_new = task
    summed = published("sum", PUBLISHED[solver], summed=True)
    mean = published("mean", PUBLISHED[solver], summed=False)
    values = [0.01, 1.0, 10.0]
    ours = [value / len(y) for value in values]
    first, same = summed.path(K, y, K_new, values, 0), mean.path(K, y, K_new, ours, 0)
    other = mean.path(K, y, K_new, values, 0)
    for (scores, status), (expected, said) in zip(first, same, strict=True):
        np.testing.assert_array_equal(scores, expected)
        assert status == said
    assert not np.array_equal(first[1][0], other[1][0])


def test_settings_replace_those_of_the_procedure():
    method = ON_TL1["CCICP-GD"]
    other = with_settings(method, eps=0.5, init="ones")
    solver = other.build(0.1, 0).solver
    assert (solver.eps, solver.init) == (0.5, "ones")
    assert method.build(0.1, 0).solver.eps == 1.0
    assert (other.name, other.summed) == ("CCICP-GD", True)
    letter = with_settings(ON_TL1["CCICP-GD as printed"], eps=0.5)
    assert (letter.build(0.1, 0).solver.loss_scale, letter.summed) == ("mean", False)
    assert with_settings(ON_TL1["KSVM"]) is ON_TL1["KSVM"]
