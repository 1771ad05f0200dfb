"""The records that only the paper has, and its settings."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kreinlearn.app.methods import get_status, published
from kreinlearn.kernels import gram
from kreinlearn.solvers import AS_PRINTED, PUBLISHED
from reproduction.methods import (
    ON_FACES,
    ON_TABLES,
    ON_TL1,
    PROCEDURES,
    one_vs_rest,
    with_settings,
)
from reproduction.published import OURS, TABLE3_METHODS

pytestmark = pytest.mark.slow

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
        assert status == get_status(model)
        expected = model.decision_function(K_new)
        # Both stop at a residual of 1e-6; scores are of order one.
        assert np.allclose(scores[:, 0], expected, atol=1e-4)


def test_one_class_that_diverges_counts_for_all(three_classes):
    K, y, K_new = three_classes
    method, _ = ON_FACES["CCICP-GD"]
    (_, status), *_ = method.path(100 * K, y, K_new, [10.0], 0)
    assert status == "diverged"


def test_the_paper_s_constants():
    for name, solver in PROCEDURES.items():
        assert (solver.outer_iter, solver.split, solver.init) == (20, "paper", "zeros")
        assert (solver.inner.eta, solver.inner.decay) == (0.02, 0.8)
        inexact = name.startswith(("CCICP-GD", "CCICP-SGD-I"))
        assert solver.eps == (1.0 if inexact else 1e-4)


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


def test_other_methods_have_the_lam_of_the_mean_loss():
    summed = [name for name, (method, _) in ON_TABLES.items() if method.summed]
    assert summed == ["CCCP-GD", "CCICP-GD"]
    on_faces = {name for name, (method, _) in ON_FACES.items() if method.summed}
    assert on_faces == {"CCCP-GD", "CCICP-GD"}


def test_lam_of_the_summed_loss_is_n_times_ours():
    solver = PUBLISHED["ccicp-gd"]
    summed = published("sum", solver, summed=True)
    assert summed.per_sample(10.0, 40) == 0.25
    assert one_vs_rest(summed).per_sample(10.0, 40) == 0.25
    assert published("mean", solver).per_sample(10.0, 40) == 10.0


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


@pytest.mark.parametrize("name", ["CCCP-GD", "CCICP-GD", "CCICP-GD as printed"])
@pytest.mark.filterwarnings("ignore::kreinlearn.exceptions.ConvergenceWarning")
def test_path_and_estimator_of_a_procedure_end_at_the_same_point(task, name):
    K, y, K_new = task
    method = ON_TL1[name]
    path = method.path(K, y, K_new, VALUES, 0)
    for value, (scores, status) in zip(VALUES, path, strict=True):
        model = method.build(method.per_sample(value, len(y)), 0).fit(K, y)
        assert status == get_status(model)
        # Steps that overshoot carry roundings along.
        expected = model.decision_function(K_new)
        np.testing.assert_allclose(scores[:, 0], expected, rtol=1e-6, atol=1e-6)


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


def test_only_the_training_matrix_is_repaired_unless_the_name_says_exact():
    for name in ("Flip", "Clip", "Shift", "Flip exact", "Clip exact"):
        repair = ON_TL1[name].build(1.0, 0)[0]
        assert repair.out_of_sample == ("exact" if "exact" in name else "none")
