"""Landmarks among samples that are not rows of numbers, and the memory they take."""

import json
import subprocess
import sys

import numpy as np
import pytest

import kreinlearn
from kreinlearn import LandmarkLogisticRegression
from kreinlearn.kernels import KERNELS
from tests.estimators.test_domains import DOMAINS, Y, make_samples

NAMES = [name for name in DOMAINS if KERNELS[name].samples in ("graphs", "sets")]


@pytest.mark.slow
@pytest.mark.parametrize("landmarks", ["uniform", "leverage"])
@pytest.mark.parametrize("name", NAMES)
def test_graphs_and_sets_are_samples(name, landmarks, rng, tmp_path):
    if name in ("wasserstein", "histogram_wasserstein"):
        pytest.importorskip("ot")
    X = make_samples(KERNELS[name].samples, rng)
    if name == "histogram_wasserstein":
        X = np.array([rng.dirichlet([5, 1, 1][:: 2 * label - 1]) for label in Y])
    model = LandmarkLogisticRegression(
        name, n_landmarks=9, landmarks=landmarks, lam=1e-2, chunk_size=7
    ).fit(X, Y)
    assert model.converged_ and model.score(X, Y) > 0.8
    rows = model.landmark_indices_
    assert len(model.landmarks_) == len(rows) == 9
    given = LandmarkLogisticRegression(name, landmarks=[X[i] for i in rows], lam=1e-2)
    expected = model.decision_function(X)
    np.testing.assert_allclose(
        given.fit(X, Y).decision_function(X), expected, atol=1e-8
    )
    kreinlearn.save(model, tmp_path / "model.krein")
    same = kreinlearn.load(tmp_path / "model.krein")
    np.testing.assert_array_equal(same.decision_function(X), expected)


def test_graphs_are_those_of_their_matrix(rng):
    X = make_samples("graphs", rng)
    name = "weisfeiler_lehman_assignment"
    model = LandmarkLogisticRegression(name, n_landmarks=8, lam=1e-2).fit(X, Y)
    rows = model.landmark_indices_
    C = KERNELS[name](X, [X[i] for i in rows])
    given = LandmarkLogisticRegression("precomputed", landmarks=rows, lam=1e-2)
    found = given.fit(C, Y).decision_function(C)
    np.testing.assert_allclose(found, model.decision_function(X), atol=1e-8)


PEAK = """
import json, sys
import numpy as np
from kreinlearn import LandmarkLogisticRegression
from tests.memory import peak
rng = np.random.default_rng(0)
X = rng.standard_normal((int(sys.argv[1]), 16)).cumsum(axis=1)
model = LandmarkLogisticRegression("dtw", n_landmarks=30, lam=1e-2, memory="4MB")
model.fit(X, (X[:, -1] > 0).astype(int))
print(json.dumps([model.status_, peak() / 2**20]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of a process")
def test_memory_of_many_series_is_linear():
    found = {}
    for n in (2000, 20_000):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(n)],
            capture_output=True,
            text=True,
            check=True,
        )
        status, found[n] = json.loads(done.stdout)
        assert status == "converged"
    # The series take 2.3 MB more; a matrix of all pairs would take 3,000.
    assert found[20_000] - found[2000] < 60
