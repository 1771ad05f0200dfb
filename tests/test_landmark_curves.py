"""The scripts behind the page on landmarks, on little data."""

import csv
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

from kreinlearn.kernels import gram

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"


def test_features_are_those_of_scikit_learn(script, rng):
    X = rng.uniform(size=(40, 3))

    def one_pair(x, z):
        return gram(x[None], z[None])[0, 0]

    peer = Nystroem(one_pair, n_components=12, random_state=0).fit(X)
    features = script("landmark_curves").nystroem(X[peer.component_indices_])
    np.testing.assert_allclose(features(X), peer.transform(X), atol=1e-8)


def test_a_run_goes_on_where_it_was_ended(script, tmp_path, monkeypatch):
    curves, calls = script("landmark_curves"), []
    monkeypatch.setattr(
        curves, "measured", lambda *task: calls.append(task) or (9, 1, 0)
    )
    words = ["--quick", "--only", "clusters", "--out", str(tmp_path)]
    curves.main(words)
    assert len(calls) == 7
    curves.main(words)
    assert len(calls) == 7
    with (tmp_path / "results" / "landmarks.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 7


def test_losses_are_those_of_scikit_learn(script, rng):
    from sklearn.linear_model import LogisticRegression

    floor = script("landmark_floor")
    A = rng.standard_normal((60, 4))
    y = (A[:, 0] + rng.standard_normal(60) > 0).astype(int)
    u = floor.newton(np.c_[A, np.ones(60)], y, 0.01, np.zeros(5))
    peer = LogisticRegression(C=1 / 0.6, tol=1e-10).fit(A, y)
    np.testing.assert_allclose(u, np.r_[peer.coef_[0], peer.intercept_], atol=1e-4)


@pytest.mark.slow
def test_the_figures_are_those_of_the_records(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "results").mkdir()
    shutil.copy(DOCS / "results" / "landmarks.csv", tmp_path / "results")
    runpy.run_path(str(DOCS / "draw_landmarks.py"))["main"](tmp_path)
    found = sorted(path.name for path in (tmp_path / "images").iterdir())
    assert found == ["landmarks-choice.svg", "landmarks-number.svg"]
