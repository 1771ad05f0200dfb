import warnings

import numpy as np
import pytest

from kreinlearn.exceptions import ConvergenceWarning
from kreinlearn.kernels import gram
from kreinlearn.paper.learners import (
    Exact,
    Margin,
    Published,
    iterations_of,
    status_of,
)
from kreinlearn.paper.methods import LEARNERS
from kreinlearn.solvers import PUBLISHED

VALUES = [0.01, 0.1, 1.0]


@pytest.fixture
def task(rings):
    X, y = rings
    return gram(X[:40]), y[:40], gram(X[40:], X[:40])


@pytest.mark.parametrize("name", [name for name in LEARNERS if "SGD" not in name])
def test_shortcut_and_estimator_end_at_the_same_solution(task, name):
    K, y, K_new = task
    learner = LEARNERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = learner.path(K, y, K_new, VALUES, 0)
        for value, (scores, status) in zip(VALUES, path, strict=True):
            model = learner.estimator(value, 0).fit(K, y)
            assert status == status_of(model)
            expected = model.decision_function(K_new)
            # Both stop at a residual of 1e-6; scores are of order one.
            assert np.allclose(scores, expected, atol=1e-4)


def test_stochastic_paths_repeat_with_their_seed_and_do_not_depend_on_the_grid(task):
    learner = LEARNERS["CCICP-SGD"]
    first = learner.path(*task, VALUES, 3)
    again = learner.path(*task, VALUES[1:], 3)
    other = learner.path(*task, VALUES, 4)
    assert np.array_equal(first[1][0], again[0][0])
    assert not np.array_equal(first[1][0], other[1][0])


def test_the_paper_s_constants():
    gd = LEARNERS["CCICP-GD"].solver
    assert (gd.eps, gd.outer_iter, gd.split, gd.loss_scale) == (
        1.0,
        20,
        "paper",
        "mean",
    )
    assert (gd.inner.eta, gd.inner.decay) == (0.02, 0.8)
    assert LEARNERS["CCCP-GD"].solver.eps == LEARNERS["CCICP-SGD"].solver.eps == 1e-4
    assert LEARNERS["CCICP-SGD-I"].solver.eps == 1.0


def test_settings_replace_those_of_the_procedure():
    learner = Published(PUBLISHED["ccicp-gd"])
    other = learner.with_settings(eps=0.5, init="ones")
    assert (other.solver.eps, other.solver.init) == (0.5, "ones")
    assert learner.solver.eps == 1.0


def test_status_and_iterations_of_pipelines_and_of_scikit_learn(task):
    K, y, _ = task
    pipeline = Exact(repair="clip").estimator(0.1, 0).fit(K, y)
    assert status_of(pipeline) == "converged"
    assert iterations_of(pipeline) == pipeline[-1].n_iter_
    svc = Margin("svc").estimator(1.0, 0).fit(K, y)
    assert status_of(svc) == "converged"
    assert iterations_of(svc) > 0
