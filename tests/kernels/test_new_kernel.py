"""One function and one record make a kernel: everything else finds it by its name."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV, load
from kreinlearn.app import cli
from kreinlearn.kernels import (
    KERNELS,
    Grid,
    Kernel,
    Measure,
    gram,
    multiply,
    resolve_kernel,
)
from kreinlearn.operators import Blocked
from tests.comparison.test_compare import plan_comparison
from tests.kernels.test_rows import samples

DOCS = Path(__file__).parents[2] / "docs"
NAME = "worst_feature"


def largest_difference(X, Y=None):
    return cdist(X, X if Y is None else Y, "chebyshev")


def exponential(size, sigma):
    """Take s to exp(-s / sigma)."""
    return lambda D, is_symmetric=False, out=None: np.exp(-D / sigma, out=out)


def worst_feature(X, Y=None, *, sigma=0.5):
    return np.exp(-largest_difference(X, Y) / sigma)


RECORD = Kernel(
    NAME,
    worst_feature,
    Measure("largest difference", largest_difference, size=lambda X: np.shape(X)[1]),
    exponential,
    Grid("sigma", (0.5, 1.0, 2.0), default=1.0),
)


@pytest.fixture
def known():
    """Add the kernel, and remove it again."""
    KERNELS[NAME] = RECORD
    yield RECORD
    del KERNELS[NAME]


@pytest.fixture
def data():
    X = samples(40, 3)
    return X, (X[:, 0] > X[:, 1]).astype(int)


def test_matrices_and_products(known, data):
    X, _ = data
    K = worst_feature(X, sigma=0.3)
    np.testing.assert_array_equal(gram(X, kernel=NAME, sigma=0.3), K)
    np.testing.assert_array_equal(gram(X, None, known, sigma=0.3), K)
    np.testing.assert_array_equal(known(X, X[:5]), worst_feature(X, X[:5]))
    B = samples(40, 2, seed=1)
    np.testing.assert_allclose(multiply(X, None, B, NAME, sigma=0.3), K @ B)
    np.testing.assert_allclose(
        Blocked(resolve_kernel(NAME, {"sigma": 0.3}), X).matmat(B), K @ B
    )
    with pytest.raises(TypeError, match=r"'worst_feature' takes 'sigma', got 'tau'\."):
        gram(X, kernel=NAME, tau=1)


def test_estimators(known, data):
    X, y = data
    for operator in ("dense", "blocked"):
        model = KreinLogisticRegression(
            NAME, kernel_params={"sigma": 0.3}, operator=operator
        )
        twin = KreinLogisticRegression(worst_feature, kernel_params={"sigma": 0.3})
        np.testing.assert_allclose(
            model.fit(X, y).predict_proba(X), twin.fit(X, y).predict_proba(X), atol=1e-6
        )


def test_a_search_tries_its_grid(known, data):
    X, y = data
    D = largest_difference(X)
    middle = np.median(D[np.triu_indices(40, 1)])
    search = KreinLogisticRegressionCV(kernel=NAME, cv=3, lams=[0.1, 0.01])
    tried = [params["sigma"] for _, params in search.fit(X, y).kernel_settings_]
    np.testing.assert_allclose(tried, middle * np.array([0.5, 1.0, 2.0]))


def test_the_command_line(known, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = data
    rows = np.column_stack([X, y])
    np.savetxt("t.csv", rows, delimiter=",", fmt="%.17g")
    words = ["fit", "t.csv", "-o", "m.krein", "--norm", "krein", "--json"]
    with pytest.raises(SystemExit) as stop:
        cli.main([*words, "--kernel", NAME])
    out = capsys.readouterr().out
    assert stop.value.code == 0
    assert json.loads(out)["kernel"] == load("m.krein")[-1].kernel_ == NAME


def test_a_comparison_takes_it(known, data):
    planned = plan_comparison(*data, kernel=[NAME], methods=["k-NN"], folds=2)
    assert planned.job.kernels == (NAME,)
    assert known.label == "worst_feature (median width)"
    assert known.default_params(data[0])["sigma"] == RECORD.measure.median(data[0])


def test_the_table_of_the_docs_has_a_row_per_record(known):
    where = DOCS / "kernels_table.py"
    spec = importlib.util.spec_from_file_location("kernels_table", where)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    lines = page.make_table().splitlines()
    names = [line.split("`")[1] for line in lines[2:]]
    assert names == list(KERNELS) and len({line.count("|") for line in lines}) == 1
    assert lines[-1] == (
        "| `worst_feature` | rows | largest difference | `exp(-s / sigma)` | sigma | "
        "no | sigma: 0.5, 1, 2 times the median distance |"
    )
    assert page.PLACEHOLDER in (DOCS / "add-a-kernel.md").read_text(encoding="utf-8")


def test_a_function_is_a_kernel_too(data):
    X, y = data
    KERNELS[NAME] = worst_feature
    try:
        assert KERNELS[NAME] == Kernel(NAME, worst_feature)
        np.testing.assert_array_equal(gram(X, kernel=NAME), worst_feature(X))
        model = KreinLogisticRegressionCV(kernel=NAME, cv=3, lams=[0.1]).fit(X, y)
        assert model.kernel_settings_ == [(NAME, {})]
        with pytest.raises(TypeError, match="'worst_feature' has no measure"):
            KERNELS[NAME].make_transform(X, {})
    finally:
        del KERNELS[NAME]
