"""Solvers that keep the protocols of ``solvers.base`` and nothing else."""

import numpy as np

from kreinlearn.solvers import CCCP, DualNewton
from kreinlearn.solvers.newton import continuation


def test_solvers_state_what_they_need():
    assert (DualNewton.needs, CCCP.needs) == ("dual", "dc")
    assert "needs" not in repr(DualNewton()) + repr(CCCP())  # no setting


def test_paths_begin_where_scores_are_moderate_and_end_at_each_lam():
    nodes = continuation([-1, 0, 0, -1], [1.0, 1e-3, 0.5, 1e-2], [1.0, 250.0])
    paths = {j: [node for node in nodes if node.problem == j] for j in range(4)}
    factors = {j: [node.factor for node in path] for j, path in paths.items()}
    assert [len(path) for path in paths.values()] == [1, 3, 1, 4]
    np.testing.assert_allclose(factors[1], [100.0, 10.0, 1.0])
    np.testing.assert_allclose(factors[3], [250.0, 25.0, 2.5, 1.0])
    assert [path[-1].is_final for path in paths.values()] == [True] * 4
    assert paths[1][0].before is paths[2][0].before is paths[0][0]
    assert paths[0][0].before is paths[3][0].before is None
    for node in nodes:
        assert node.before is None or nodes.index(node.before) < nodes.index(node)
