"""How many files a reader must open to follow a Gram matrix through a fit."""

import sys
from pathlib import Path

import kreinlearn
from kreinlearn import KreinLogisticRegression

ROOT = Path(kreinlearn.__file__).parent
MOST = 12


def test_a_gram_matrix_goes_through_few_files(indefinite):
    K, y = indefinite
    model = KreinLogisticRegression(kernel="precomputed")
    model.fit(K, y)  # whatever is imported late has been imported
    files = set()

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            files.add(path.relative_to(ROOT).as_posix())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model.fit(K, y)
    finally:
        sys.setprofile(before)
    assert {"estimators/logistic.py", "solvers/newton.py"} < files
    assert len(files) <= MOST, sorted(files)
