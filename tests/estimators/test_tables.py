"""Samples as sparse matrices, and as tables of pandas, polars and Arrow."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from kreinlearn import (
    DistanceSimilarity,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    LandmarkFeatures,
    LandmarkLogisticRegression,
    SpectrumRepair,
)

rng = np.random.default_rng(0)
X = rng.uniform(size=(60, 8)) * (rng.uniform(size=(60, 8)) < 0.4)
y = (X.sum(axis=1) > 1.6).astype(int)
MODELS = {
    "single": KreinLogisticRegression("rbf", kernel_params={"sigma": 1.0}),
    "search": KreinLogisticRegressionCV(
        kernel=("linear", "rbf"), cv=2, lams=[1e-2, 1e-3]
    ),
    "machine": KreinSVC(kernel="linear"),
    "landmarks": LandmarkLogisticRegression("rbf", n_landmarks=20),
}


# -- sparse ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr_matrix", "csr_array", "csc_array", "coo_array"])
@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows_give_the_same_bits(name, form):
    given = getattr(sparse, form)(X)
    dense = clone(MODELS[name]).fit(X, y)
    model = clone(MODELS[name]).fit(given, y)
    assert model.n_features_in_ == 8
    expected = dense.decision_function(X[:7])
    for new in (X[:7], getattr(sparse, form)(X[:7])):
        np.testing.assert_array_equal(model.decision_function(new), expected)
    np.testing.assert_array_equal(dense.predict(given), dense.predict(X))


def test_sparse_rows_in_a_grid_and_as_landmarks():
    rows = sparse.csr_array(X)
    grid = {"kernel_params__sigma": [0.5, 1.0]}
    search = GridSearchCV(KreinLogisticRegression("rbf"), grid, cv=2).fit(rows, y)
    dense = GridSearchCV(KreinLogisticRegression("rbf"), grid, cv=2).fit(X, y)
    assert search.best_params_ == dense.best_params_
    features = LandmarkFeatures("rbf", landmarks=rows[:5]).fit(rows)
    expected = LandmarkFeatures("rbf", landmarks=X[:5]).fit(X).transform(X)
    np.testing.assert_array_equal(features.transform(rows), expected)


def test_sparse_whole_numbers_and_functions():
    counts = rng.poisson(0.5, size=(60, 5))
    for kernel in ("linear", lambda A, B: A @ B.T):
        model = KreinLogisticRegression(kernel).fit(sparse.csr_array(counts), y)
        expected = KreinLogisticRegression(kernel).fit(counts, y)
        np.testing.assert_array_equal(
            model.decision_function(counts), expected.decision_function(counts)
        )


@pytest.mark.parametrize(
    "model",
    [
        KreinLogisticRegression("precomputed"),
        KreinSVC(kernel="distance"),
        SpectrumRepair(),
        DistanceSimilarity(),
    ],
    ids=["precomputed", "distance", "repair", "form"],
)
def test_sparse_matrices_of_similarities_are_refused(model):
    with pytest.raises((TypeError, ValueError), match=r"toarray\(\)"):
        model.fit(sparse.csr_array(np.eye(60)), y)


def test_too_many_columns_are_refused_before_memory_is_taken():
    wide = sparse.csr_array((np.ones(2), ([0, 1], [0, 1])), shape=(60, 10**12))
    with pytest.raises(MemoryError, match=r"shape \(60, 1000000000000\).*TruncatedSVD"):
        KreinLogisticRegression("linear").fit(wide, y)


# -- tables ----------------------------------------------------------------------------


def make_text_table(library, names=tuple("abcdefgh")):
    """Return X as a table of a library, and rows of it."""
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    columns = dict(zip(names, X.T, strict=True))
    if library == "pyarrow":
        return module.table(columns)
    return module.DataFrame(columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", MODELS)
def test_tables_give_the_same_bits(name, library):
    table = make_text_table(library)
    model = clone(MODELS[name]).fit(table, y)
    assert list(model.feature_names_in_) == list("abcdefgh")
    expected = clone(MODELS[name]).fit(X, y).decision_function(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.decision_function(table), expected)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(model.decision_function(X), expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_names_of_tables_are_checked(library):
    model = KreinLogisticRegression("rbf").fit(make_text_table(library), y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(make_text_table(library, tuple("abcdefgx")))
    with pytest.raises(ValueError, match="same order"):
        model.predict(make_text_table(library, tuple("bacdefgh")))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_labels_and_weights_of_other_libraries(library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    column = module.Series if library == "polars" else module.array
    words = np.array(["no", "yes"])[y]
    weights = rng.uniform(0.5, 2.0, size=len(y))
    model = KreinLogisticRegression("rbf")
    model.fit(
        make_text_table(library), column(words.tolist()), column(weights.tolist())
    )
    expected = KreinLogisticRegression("rbf").fit(X, words, weights)
    assert list(model.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_functions_get_arrays(library):
    def product(A, B):
        assert isinstance(A, np.ndarray)
        return A @ B.T

    model = KreinLogisticRegression(product).fit(make_text_table(library), y)
    expected = KreinLogisticRegression(product).fit(X, y).dual_coef_
    np.testing.assert_array_equal(model.dual_coef_, expected)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_matrices_of_similarities(library):
    names = tuple(f"s{i}" for i in range(len(X)))
    K = X @ X.T
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    frame = pd.DataFrame(K, columns=names)
    is_polars = library == "polars"
    table = module.from_pandas(frame) if is_polars else module.table(frame)
    model = KreinLogisticRegression("precomputed").fit(table, y)
    expected = KreinLogisticRegression("precomputed").fit(K, y)
    assert list(model.feature_names_in_) == list(names)
    np.testing.assert_array_equal(model.predict(table), expected.predict(K))
