"""Fits at the ends of double precision: finite models, and words that are true."""

import warnings

import numpy as np
import pytest

from kreinlearn import KreinLogisticRegression
from kreinlearn.exceptions import ConvergenceWarning, DivergenceWarning
from kreinlearn.kernels import gram

N = 80
X = np.random.default_rng(0).uniform(size=(N, 3))
TWO = (X[:, 0] > 0.5).astype(int)
THREE = np.digitize(X[:, 0], [0.3, 0.6])
K = gram(X)


def quiet(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DivergenceWarning)
        return model.fit(*data)


@pytest.mark.parametrize("scale", [1e-26, 1e20, 1e26, 1e100])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_similarities_of_any_scale_give_a_finite_model(scale, y):
    model = KreinLogisticRegression("precomputed")
    if y is THREE and scale > 1:
        with pytest.raises(ValueError, match="divide the similarities by their scale"):
            model.fit(K * scale, y)
        model.multi_class = "ovr"
    with np.errstate(all="raise", under="ignore", over="ignore"):
        quiet(model, K * scale, y)
    assert model.status_ != "nonfinite"
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.predict_proba(K * scale)).all()
    assert model.status_ == "converged"


def test_overflow_keeps_the_last_finite_iterate_and_warns():
    model = KreinLogisticRegression("precomputed", lam=1e-200)
    with pytest.warns(DivergenceWarning) as told:
        model.fit(K, TWO)
    assert model.status_ == "nonfinite"
    assert np.isfinite(model.dual_coef_).all()
    assert model.residual_ < 0.1  # far along, where 1 is the worst
    said = str(told[0].message)
    assert "the last finite iterate was kept. Raise lam" in said
    assert "Use solver='newton'" not in said


def test_coefficients_beyond_doubles_are_refused():
    with pytest.raises(ValueError, match=r"'lam' must be at least 1e-250"):
        KreinLogisticRegression("precomputed", lam=1e-300).fit(K, TWO)
    with (
        np.errstate(all="ignore"),
        pytest.raises(
            ValueError, match=r"coefficients overflow with lam=1e-200: raise"
        ),
    ):
        quiet(KreinLogisticRegression("precomputed", lam=1e-200), K * 1e120, TWO)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_weights_that_double_precision_rounds_to_zero_are_zero(y):
    tiny, none = np.ones(N), np.ones(N)
    tiny[::3], none[::3] = 1e-31, 0.0
    fits = [
        KreinLogisticRegression("precomputed").fit(K, y, weights)
        for weights in (tiny, none)
    ]
    np.testing.assert_array_equal(fits[0].dual_coef_, fits[1].dual_coef_)
    tiny[::3] = 1e-29  # these count
    other = KreinLogisticRegression("precomputed").fit(K, y, tiny)
    assert (other.dual_coef_[:, ::3] != 0).any()


def test_no_end_of_scores_without_bounds():
    model = KreinLogisticRegression("precomputed", lam=1e-12, max_iter=30)
    quiet(model, np.diag(np.geomspace(1e-6, 1e6, N)), THREE)
    assert np.isfinite(model.dual_coef_).all()
    assert model.history_[-1]["products"] < 20_000


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_diagonal_over_twelve_decades_takes_few_products(n_classes):
    rng = np.random.default_rng(0)
    K = np.diag(10.0 ** rng.uniform(-6, 6, 300))
    y = rng.integers(n_classes, size=300)
    rows = []
    model = KreinLogisticRegression("precomputed", lam=1e-12, verbose=rows.append)
    model.fit(K, y)
    assert model.status_ == "converged" and model.n_iter_ <= 60
    assert rows[-1]["products"] < 300  # with one number for all, no end
