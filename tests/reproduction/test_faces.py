import base64
import zlib

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.app.runs import Cell, make_record
from kreinlearn.features import RegionCovariance
from kreinlearn.kernels import Similarities
from reproduction import faces
from reproduction.faces import Stored, distances, images
from reproduction.published import TABLE5, TABLE5_OURS
from reproduction.run import estimate_cost, evaluate
from reproduction.splits import half_rows

pytestmark = pytest.mark.slow

QUICK = ("SVM(Log-E)", "SVM(Log-E) regions", "KSVM", "IKLR krein")
"""One of each kind; tests/paper/test_protocol.py runs every method on small data."""


@pytest.fixture
def three_digits(monkeypatch):
    """Let the digits be few: 0, 1 and 2, twenty images each."""
    X, y = images("digits")
    rows = np.concatenate([np.flatnonzero(y == k)[:20] for k in range(3)])
    monkeypatch.setattr(faces, "images", lambda name, home=None: (X[rows], y[rows]))
    distances.cache_clear()
    yield X[rows], y[rows]
    distances.cache_clear()


@pytest.mark.parametrize(
    "name",
    [
        each if each in QUICK else pytest.param(each, marks=pytest.mark.slow)
        for each in (*TABLE5, *TABLE5_OURS)
    ],
)
def test_every_method_gives_a_record(three_digits, name):
    cell = Cell("table5", "digits", name, 0)
    assert estimate_cost(cell) == 1
    record = make_record(cell, evaluate(cell))
    assert record["status"] in ("converged", "max_iter", "diverged")
    assert record["n"] == sum(record["sig"]) == 30
    assert record["acc"] > (0.2 if name.startswith("CC") else 0.7)
    assert ("ll" in record) == (name in ("IKLR krein", "KreinCV"))
    if name != "KreinCV":
        chosen = record["chosen"]
        if name in ("CCCP-GD", "CCICP-GD"):  # of the summed loss
            ours = pytest.approx(chosen["lam"] / 30, rel=1e-5)
            assert chosen.pop("lam_of_mean") == ours
        assert set(chosen) <= {"lam", "C", "sigma"}
        fits = 2 * 5 if "regions" in name else 4 * 7
        assert sum(record["cv"].values()) == 5 * fits


def test_stored_distances_are_the_kernels(three_digits):
    X, y = three_digits
    train, test = half_rows(len(y), 0)
    stacks = RegionCovariance((2, 2)).transform(X)
    kernel = Stored("stein", distances("digits", "stein", (2, 2)))
    grid = Similarities(stacks[train]).grid("spd_stein", {})
    widths = faces.spd_widths(kernel.D[np.ix_(train, train)])
    np.testing.assert_allclose(widths, grid["sigma"])
    settings = {"lams": [1e-3], "cv": 3}
    by_number = KreinLogisticRegressionCV(kernel=kernel, kernel_grid=grid, **settings)
    by_matrix = KreinLogisticRegressionCV(kernel="spd_stein", **settings)
    by_number.fit(train[:, None], y[train])
    by_matrix.fit(stacks[train], y[train])
    np.testing.assert_allclose(
        by_number.predict_proba(test[:, None]),
        by_matrix.predict_proba(stacks[test]),
        atol=1e-4,
    )


def unpacked(record):
    raw = zlib.decompress(base64.b64decode(record["pixels"]))
    return np.frombuffer(raw, np.uint8).reshape(record["shape"])


def test_real_faces(data_home):
    if not faces.faces_path(data_home).is_file():
        pytest.skip("needs yaleb.npz in the data folder")
    X, y = images("yaleb", data_home)
    assert X.shape == (640, 192, 168) and X.dtype == np.uint8
    np.testing.assert_array_equal(np.bincount(y)[1:], 64)
    D = distances("yaleb", "log_euclid", (1, 1), data_home)
    assert D[np.triu_indices(640, 1)].min() > 0.2**2  # as in the notes
