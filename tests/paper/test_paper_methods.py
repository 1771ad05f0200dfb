"""The records that only the paper has, and its settings."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kreinlearn.kernels import gram
from kreinlearn.methods.judging import status_of
from kreinlearn.paper.methods import (
    ON_FACES,
    ON_TABLES,
    ON_TL1,
    PROCEDURES,
    with_settings,
)
from kreinlearn.paper.published import OURS, TABLE3_METHODS

VALUES = [0.01, 0.1, 1.0]


@pytest.fixture
def task(rings):
    X, y = rings
    return gram(X[:40]), y[:40], gram(X[40:], X[:40])


@pytest.fixture
def three_classes():
    X, y = make_blobs(60, centers=3, cluster_std=2.0, random_state=1)
    K = gram(X, kernel="rbf", sigma=3.0)
    return K[:40, :40], y[:40] + 4, K[40:, :40]


def test_table3_has_every_column():
    assert set(TABLE3_METHODS + OURS) <= {*ON_TABLES, "KreinCV"}


@pytest.mark.parametrize("name", ["Flip", "Clip", "Shift", "Clip exact"])
def test_shortcut_and_estimator_end_at_the_same_solution(task, name):
    K, y, K_new = task
    method = ON_TL1[name]
    path = method.path(K, y, K_new, VALUES, 0)
    for value, (scores, status) in zip(VALUES, path, strict=True):
        model = method.build(value, 0).fit(K, y)
        assert status == status_of(model)
        expected = model.decision_function(K_new)
        # Both stop at a residual of 1e-6; scores are of order one.
        assert np.allclose(scores[:, 0], expected, atol=1e-4)


def test_one_class_that_diverges_counts_for_all(three_classes):
    K, y, K_new = three_classes
    method, _ = ON_FACES["CCICP-GD"]
    (_, status), *_ = method.path(100 * K, y, K_new, [10.0], 0)
    assert status == "diverged"


def test_the_paper_s_constants():
    gd = PROCEDURES["CCICP-GD"]
    assert (gd.eps, gd.outer_iter, gd.split, gd.loss_scale) == (
        1.0,
        20,
        "paper",
        "mean",
    )
    assert (gd.inner.eta, gd.inner.decay) == (0.02, 0.8)
    assert PROCEDURES["CCCP-GD"].eps == PROCEDURES["CCICP-SGD"].eps == 1e-4
    assert PROCEDURES["CCICP-SGD-I"].eps == 1.0


def test_settings_replace_those_of_the_procedure():
    method = ON_TL1["CCICP-GD"]
    other = with_settings(method, eps=0.5, init="ones")
    solver = other.build(0.1, 0).solver
    assert (solver.eps, solver.init) == (0.5, "ones")
    assert method.build(0.1, 0).solver.eps == 1.0
    assert with_settings(ON_TL1["KSVM"]) is ON_TL1["KSVM"]


def test_only_the_training_matrix_is_repaired_unless_the_name_says_exact():
    for name in ("Flip", "Clip", "Shift", "Flip exact", "Clip exact"):
        repair = ON_TL1[name].build(1.0, 0)[0]
        assert repair.out_of_sample == ("exact" if "exact" in name else "none")
