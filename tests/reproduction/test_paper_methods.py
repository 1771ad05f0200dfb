"""The records that only the paper has, and its settings."""

import numpy as np
import pytest

from kreinlearn.app.methods import get_status
from kreinlearn.kernels import gram
from kreinlearn.solvers import AS_PRINTED, PUBLISHED
from reproduction.methods import (
    ON_TL1,
    PROCEDURES,
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
