"""The norm of the rows of K: the penalty s a'a, by an independent solver."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.exceptions import IndefiniteKernelWarning
from kreinlearn.kernels import gram

LAM = 0.03


@pytest.fixture
def similar():
    """Indefinite similarities of 60 samples, and three classes."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3))
    K = gram(X, kernel="tl1", tau=2.0)
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(60), [-0.4, 0.5])
    return K, y


def scale(K):
    return np.abs(np.linalg.eigvalsh(K)).mean()


def ours(K, y, lam=LAM, **params):
    model = KreinLogisticRegression(
        "precomputed", lam=lam, norm="euclidean", tol=1e-10, **params
    )
    return model.fit(K, y)


def ridge(features, y, strength, sample_weight=None, **params):
    """Scikit-learn's answer: mean loss + (strength / 2) a'a."""
    w = np.ones(len(y)) if sample_weight is None else sample_weight
    model = LogisticRegression(
        C=1 / (w.sum() * strength), tol=1e-12, max_iter=100_000, **params
    )
    return model.fit(features, y, sample_weight=w)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_two_classes_are_logistic_regression_on_rows(similar, fit_intercept):
    K, y = similar
    y = (y > 0).astype(int)
    model = ours(K, y, fit_intercept=fit_intercept)
    other = ridge(
        K, y, LAM * scale(K), fit_intercept=fit_intercept, solver="newton-cholesky"
    )
    assert_allclose(model.dual_coef_, other.coef_, atol=1e-7)
    assert_allclose(model.intercept_, other.intercept_, atol=1e-6)
    assert model.residual_ < 1e-9 and model.regime_ == "unique"


def test_many_classes_are_multinomial_regression_on_rows(similar):
    K, y = similar
    other = ridge(K, y, LAM * scale(K), solver="newton-cholesky")
    assert_allclose(ours(K, y).predict_proba(K), other.predict_proba(K), atol=1e-6)


def test_asymmetric_matrices_are_taken_as_they_are(similar):
    K, y = similar
    K = K + 0.3 * np.random.default_rng(1).standard_normal(K.shape)
    y = (y > 0).astype(int)
    s = np.linalg.svd(K, compute_uv=False).mean()
    model = ours(K, y)
    other = ridge(K, y, LAM * s, solver="newton-cholesky")
    assert_allclose(model.dual_coef_, other.coef_, atol=1e-7)
    assert np.isnan(model.mu_min_) and model.regime_ == "unique"
    for norm in ("krein", "hilbert"):
        with pytest.raises(ValueError, match="symmetrize='mean'.*'euclidean'"):
            KreinLogisticRegression("precomputed", norm=norm).fit(K, y)


def test_rectangular_matrices_are_features(similar):
    K, y = similar
    C, y = K[:, ::3], (y > 0).astype(int)
    s = np.linalg.svd(C, compute_uv=False).sum() / np.sqrt(C.size)
    model = ours(C, y)
    other = ridge(C, y, LAM * s, solver="newton-cholesky")
    assert_allclose(model.dual_coef_, other.coef_, atol=1e-7)
    assert model.predict(C[:5]).shape == (5,)
    w = np.random.default_rng(0).uniform(size=len(y))
    again = ours(C, y).fit(C, y, sample_weight=w)
    root = np.sqrt(w / w.sum())[:, None]
    s = np.linalg.svd(root * C, compute_uv=False).sum() / np.sqrt(C.shape[1])
    other = ridge(C, y, LAM * s, w, solver="newton-cholesky")
    assert_allclose(again.dual_coef_, other.coef_, atol=1e-7)


def lopsided(X, Y):
    """A similarity whose mirror image differs."""
    X, Y = np.asarray(X), np.asarray(Y)
    return np.exp(-np.abs(X[:, None, 0] - 0.6 * Y[None, :, 0]))


@pytest.mark.parametrize("how", ["mean", "max", "min"])
def test_symmetrize_before_any_norm(similar, how):
    K, y = similar
    rough = K + 0.3 * np.random.default_rng(1).standard_normal(K.shape)
    combine = {"mean": lambda a, b: (a + b) / 2, "max": np.maximum, "min": np.minimum}
    clean = combine[how](rough, rough.T)
    for norm in ("krein", "hilbert", "euclidean"):
        params = {"lam": LAM, "norm": norm}
        one = KreinLogisticRegression("precomputed", symmetrize=how, **params)
        two = KreinLogisticRegression("precomputed", **params)
        one.fit(rough, y), two.fit(clean, y)
        assert (one.dual_coef_ == two.dual_coef_).all()


@pytest.mark.parametrize("operator", ["dense", "blocked"])
def test_symmetrize_a_kernel_of_the_users_for_new_samples_too(rng, operator):
    X = rng.uniform(size=(50, 1))
    y = (X[:, 0] > 0.5).astype(int)

    def mean(X, Y):
        return (lopsided(X, Y) + lopsided(Y, X).T) / 2

    one = KreinLogisticRegression(lopsided, symmetrize="mean", operator=operator)
    two = KreinLogisticRegression(mean, operator=operator)
    new = rng.uniform(size=(7, 1))
    assert_allclose(
        one.fit(X, y).predict_proba(new), two.fit(X, y).predict_proba(new), atol=1e-12
    )


def test_symmetrize_must_be_known(similar):
    for model in (KreinLogisticRegression, KreinLogisticRegressionCV):
        with pytest.raises(ValueError, match="'symmetrize' must be one of 'mean'"):
            model(kernel="precomputed", symmetrize="median").fit(*similar)


def test_search_on_asymmetric_matrices_names_skipped_norms(similar):
    K, y = similar
    K = K + 0.3 * np.random.default_rng(1).standard_normal(K.shape)
    model = KreinLogisticRegressionCV(kernel="precomputed")
    with pytest.warns(IndefiniteKernelWarning, match="only the norm 'euclidean'"):
        model.fit(K, y)
    assert model.norm_ == "euclidean"
    assert np.isnan(model.scores_[:, 0]).all()
    assert [each.norm for each in model.estimators_] == ["euclidean"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(symmetrize="mean").fit(K, y)
    assert not np.isnan(model.scores_[:, :, :10]).any()
    with pytest.raises(ValueError, match="symmetrize='mean'"):
        KreinLogisticRegressionCV(kernel="precomputed", norms=["hilbert"]).fit(K, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_published_procedures_take_it_too(similar):
    K, y = similar
    y = (y > 0).astype(int)
    model = KreinLogisticRegression(
        "precomputed", norm="euclidean", solver="ccicp-gd", lam=1e-2
    )
    assert model.fit(K, y).score(K, y) > 0.7
