"""How many files a reader must open to follow a Gram matrix through a fit."""

import sys
from pathlib import Path

import numpy as np
import pytest

import kreinlearn
from kreinlearn import KreinLogisticRegression

ROOT = Path(kreinlearn.__file__).parent


@pytest.mark.parametrize(
    ("n", "also", "most"),
    [
        (40, set(), 12),
        # Eigenvalues are bounded instead of computed, and a preconditioner pays.
        (1000, {"spectrum/lanczos.py", "problem/preconditioner.py"}, 13),
    ],
)
def test_a_gram_matrix_goes_through_few_files(rng, n, also, most):
    K = rng.standard_normal((n, n))
    K, y = K + K.T, np.where(rng.standard_normal(n) > 0, 1, -1)
    # Looser than by default: quicker, through the same files.
    model = KreinLogisticRegression(kernel="precomputed", tol=0.1)
    called = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":  # an import
            called.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model.fit(K, y)
    finally:
        sys.setprofile(before)
    paths = [Path(path) for path in called if path.startswith(str(ROOT))]
    files = {path.relative_to(ROOT).as_posix() for path in paths}
    assert {"estimators/logistic.py", "solvers/newton.py"} | also < files
    assert len(files) <= most, sorted(files)
