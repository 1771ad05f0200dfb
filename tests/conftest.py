"""Valid objects for all tests: matrices of a prescribed signature, real data."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"


def pytest_xdist_auto_num_workers(config):
    """Start no processes for some files only: it would take longer than they do."""
    return None if config.args == config.getini("testpaths") else 0


def gram_of_signature(positive, negative, zero=0, *, scale=1.0, seed=0):
    """Return a symmetric matrix with that many eigenvalues of each sign."""
    rng = np.random.default_rng(seed)
    n = positive + negative + zero
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    values = np.concatenate(
        [
            scale * n * rng.uniform(0.1, 1.0, positive),
            -scale * n * rng.uniform(0.02, 0.2, negative),
            np.zeros(zero),
        ]
    )
    K = (Q * values) @ Q.T
    return (K + K.T) / 2


def tl1_naive(X, Z, tau):
    return np.maximum(tau - np.abs(X[:, None, :] - Z[None, :, :]).sum(axis=2), 0.0)


def scaled(X):
    span = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(span > 0, span, 1.0)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Keep linear algebra to one thread.

    Matrices are small here, and threads that wait for each other on a busy machine
    take minutes. Processes that tests start have as many as ever.
    """
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session", autouse=True)
def same_code_in_other_processes():
    """Let processes that tests start run what is tested, compiled only once."""
    with pytest.MonkeyPatch.context() as patch:
        folders = os.pathsep.join(map(str, (ROOT / "src", ROOT)))
        patch.setenv("PYTHONPATH", folders, prepend=os.pathsep)
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def script(monkeypatch):
    """Return a function that imports a file of the benchmarks by name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = {path.stem for path in BENCHMARKS.glob("[!_]*.py")}
    yield lambda name: __import__(name)
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def compares_here(monkeypatch):
    """Let comparisons run in this process: others take seconds to start."""
    from tests.comparison.test_compare import inline

    monkeypatch.setattr("kreinlearn.app.comparison.run.run", inline)


@pytest.fixture
def indefinite():
    """Return an indefinite matrix and labels that depend on it."""
    K = gram_of_signature(25, 15)
    f = K @ np.random.default_rng(1).standard_normal(40)
    return K, np.where(f > np.median(f), 1, -1)


@pytest.fixture(scope="session")
def data_home():
    """Return the folder of real data, or skip."""
    home = os.environ.get("KREINLEARN_DATA")
    if not home or not Path(home).is_dir():
        pytest.skip("needs the real data sets: set KREINLEARN_DATA to their folder")
    return home


@pytest.fixture
def rings(rng):
    """Return samples of two classes that a line cannot part, and a few that are odd."""
    X = rng.uniform(size=(60, 3))
    y = np.where(np.abs(X - 0.5).sum(axis=1) > 0.75, 1, -1)
    y[:4] *= -1
    return X, y


@pytest.fixture(scope="session", autouse=True)
def no_cache_of_the_user():
    """Leave the user's cache alone, and take nothing from it."""
    before = os.environ.get("KREINLEARN_CACHE")
    os.environ["KREINLEARN_CACHE"] = "off"
    yield
    os.environ.pop("KREINLEARN_CACHE")
    if before is not None:
        os.environ["KREINLEARN_CACHE"] = before
