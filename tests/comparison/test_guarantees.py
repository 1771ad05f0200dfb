"""A method whose theory needs a positive semidefinite matrix, on one that is not."""

from dataclasses import replace

import numpy as np
import pytest

from kreinlearn.app.comparison import run as module
from kreinlearn.app.methods import ALL_METHODS
from kreinlearn.kernels import gram
from tests.comparison.test_compare import inline, run_comparison

ASSUMES = "assumes a positive semidefinite matrix"
INDEFINITE = "tl1 (ratio 0.7)"


@pytest.fixture
def sentences(rings, monkeypatch):
    """Return the notes on assumptions of some methods on three folds."""
    monkeypatch.setattr(module, "run", inline)

    def said(methods, X=rings[0], **options):
        found = run_comparison(X, rings[1], methods=methods, folds=3, **options)
        return [each for each in found["sentences"] if ASSUMES in each]

    return said


@pytest.mark.slow
def test_only_indefinite_matrices_are_named(sentences):
    methods = ["SVC raw", "SVC clip", "Krein norm"]
    assert sentences(methods, kernel=["tl1", "rbf"]) == [
        f"SVC raw {ASSUMES}; {INDEFINITE} is indefinite, so its result has no "
        "guarantee."
    ]
    assert sentences(["SVC raw"], kernel=["rbf"]) == []
    assert sentences(methods[1:], kernel=["tl1"]) == []


def test_a_given_matrix_is_called_the_matrix(sentences, rings):
    K = gram(rings[0], kernel="tl1") - 0.1 * np.eye(len(rings[0]))
    [said] = sentences(["SVC raw"], K, kernel="precomputed")
    assert f"{ASSUMES}; the matrix is indefinite" in said


def test_a_fold_without_result_claims_nothing(sentences, monkeypatch):
    def broken(value, seed):
        raise RuntimeError("broken")

    mine = replace(ALL_METHODS["SVC raw"], name="mine", build=broken)
    monkeypatch.setitem(ALL_METHODS, mine.name, mine)
    assert sentences(["mine", "Krein norm"], kernel=["tl1"]) == []
