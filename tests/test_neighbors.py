"""Objects of neighboring libraries, which the package takes without importing them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.kernels import gram
from tests.test_cli import run

INSTALL = "needs {0}: pip install {0}"


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::3], y[::3]


class Ids:
    """A matrix of distances in the manner of scikit-bio."""

    def __init__(self, D, ids):
        self.data, self.ids = D, tuple(ids)

    def to_data_frame(self):
        return pd.DataFrame(self.data, self.ids, self.ids)


def make_matrix(kind, D, ids):
    if kind == "a double":
        return Ids(D, ids)
    skbio = pytest.importorskip("skbio", reason=INSTALL.format("scikit-bio"))
    return skbio.DistanceMatrix(D, ids)


@pytest.mark.parametrize("kind", ["a double", "scikit-bio"])
def test_a_distance_matrix_of_scikit_bio(kind, iris):
    X, y = iris
    D, ids = cdist(X, X, "braycurtis"), [f"s{i}" for i in range(len(X))]
    labels = pd.Series(y, ids)
    matrix = make_matrix(kind, D, ids)
    model = KreinLogisticRegressionCV(kernel="distance").fit(matrix, labels)
    assert model.feature_names_in_.tolist() == ids
    new = matrix.to_data_frame().iloc[:5, ::-1]
    expected = KreinLogisticRegressionCV(kernel="distance").fit(D, y)
    np.testing.assert_array_equal(model.predict(new), expected.predict(D[:5]))
    several = KreinLogisticRegressionCV(kernel="distance")
    several.fit({"a": matrix, "b": make_matrix(kind, cdist(X, X), ids)}, labels)
    assert several.similarity_weights_["weight"].sum() == pytest.approx(1)
    listed = KreinLogisticRegressionCV(kernel="distance").fit([matrix, matrix], labels)
    assert listed.similarity_names_ == ["0", "1"]


@pytest.mark.parametrize("ending", ["tsv", "lsmat"])
def test_files_of_scikit_bio(ending, iris, tmp_path, capsys, monkeypatch):
    X, y = iris
    monkeypatch.chdir(tmp_path)
    D, ids = cdist(X, X, "braycurtis"), [f"s{i}" for i in range(len(X))]
    pd.DataFrame(D, ids, ids).to_csv(f"d.{ending}", sep="\t")  # what it writes
    pd.Series(y, ids, name="species").to_csv("labels.csv")
    code, out, err = run(
        capsys, "fit", f"d.{ending}", "--distance", "--labels", "labels.csv"
    )
    assert code == 0 and "50 samples, distances" in out, err


def test_pairs_of_anndata(iris):
    anndata = pytest.importorskip("anndata", reason=INSTALL.format("anndata"))
    from sklearn.neighbors import kneighbors_graph

    X, y = iris
    adata = anndata.AnnData(X)
    adata.obsp["distances"] = kneighbors_graph(X, 15, mode="distance")
    adata.obs["species"] = y.astype(str)
    model = KreinLogisticRegressionCV(
        kernel="distance", kernel_params={"missing": 5.0}
    ).fit(adata.obsp["distances"], adata.obs["species"].to_numpy())
    assert model.score(adata.obsp["distances"], y.astype(str)) > 0.9


def test_quantum_kernels():
    machine = pytest.importorskip(
        "qiskit_machine_learning.kernels",
        reason=INSTALL.format("qiskit-machine-learning"),
    )
    from qiskit.circuit.library import zz_feature_map

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, about names that they replace
        kernel = machine.FidelityStatevectorKernel(
            feature_map=zz_feature_map(2), enforce_psd=False
        )
        X = np.random.default_rng(0).uniform(size=(30, 2))
        y = (X[:, 0] > X[:, 1]).astype(int)
        model = KreinLogisticRegression(kernel=kernel.evaluate, lam=1e-3).fit(X, y)
        assert model.score(X, y) > 0.7
        np.testing.assert_allclose(
            gram(X, kernel=kernel.evaluate), kernel.evaluate(X), atol=1e-12
        )


def test_complex_similarities_need_no_imaginary_part():
    def kernel(X, Y, imaginary):
        return X @ Y.T + 1j * imaginary

    X = np.eye(3)
    assert gram(X, kernel=kernel, imaginary=1e-14).dtype == float
    with pytest.raises(
        ValueError, match=r"imaginary parts up to 0\.5; return the real"
    ):
        gram(X, kernel=kernel, imaginary=0.5)
