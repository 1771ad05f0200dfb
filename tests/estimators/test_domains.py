"""Kernels by name between samples that are not rows of numbers."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score

from kreinlearn import (
    DCASVC,
    DistanceSimilarity,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    load,
    save,
)
from kreinlearn.kernels import KERNELS, dtw, gram

Y = np.arange(30) % 2


@pytest.fixture
def series(rng):
    """Random walks of unequal lengths, half of them with a wave."""
    lengths = rng.integers(15, 30, len(Y))
    walks = [np.cumsum(rng.standard_normal(n)) for n in lengths]
    waves = [4 * np.sin(np.linspace(0, 6, n)) for n in lengths]
    parts = zip(walks, waves, Y, strict=True)
    return [walk + label * wave for walk, wave, label in parts]


def make_samples(kind, rng):
    if kind == "series":
        return [rng.standard_normal(rng.integers(5, 9)) + label for label in Y]
    if kind == "sequences":
        return ["".join(rng.choice(list("ACDE" if c else "KLMN"), 8)) for c in Y]
    if kind == "graphs":
        return [(4, [(0, 1), (1, 2)] + [(2, 3)] * label) for label in Y.tolist()]
    return [rng.standard_normal((rng.integers(3, 6), 2)) + label for label in Y]


DOMAINS = [name for name, kernel in KERNELS.items() if kernel.check is not None]
QUICK = ("dtw", "smith_waterman", "jaro_winkler", "sliced_wasserstein")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow)
        for name in DOMAINS
    ],
)
def test_every_kernel_learns_and_is_saved(name, rng, tmp_path):
    kernel = KERNELS[name]
    if name in ("levenshtein", "jaro_winkler"):
        pytest.importorskip("rapidfuzz")
    if name in ("wasserstein", "histogram_wasserstein"):
        pytest.importorskip("ot")
    X = make_samples(kernel.samples, rng)
    if name == "histogram_wasserstein":
        X = rng.dirichlet(np.where(Y[:, None] == 1, [5, 1, 1], [1, 1, 5])[0], 30)
        X[Y == 1] = X[Y == 1][:, ::-1]
    model = KreinLogisticRegression(name, norm="hilbert").fit(X, Y)
    assert model.status_ == "converged" and model.score(X, Y) > 0.5
    new = X[:4]
    expected = model.predict_proba(new)
    save(model, tmp_path / "model.krein")
    assert_array_equal(load(tmp_path / "model.krein").predict_proba(new), expected)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(new), expected)


@pytest.mark.parametrize("form", ["exponential", "gaussian", "negative", "truncated"])
def test_a_form_is_learned_as_from_given_distances(series, form):
    params = {"window": 0.3, "form": form, "width": 0.7}
    mine = KreinLogisticRegression("dtw", kernel_params=params, norm="hilbert").fit(
        series, Y
    )
    change = DistanceSimilarity(form, 0.7)
    K = change.fit_transform(dtw(series, window=0.3))
    other = KreinLogisticRegression("precomputed", norm="hilbert").fit(K, Y)
    assert_array_equal(mine.dual_coef_, other.dual_coef_)
    new = [x[::-1] for x in series[:7]]
    rows = change.transform(dtw(new, series, window=0.3))
    assert_allclose(mine.predict_proba(new), other.predict_proba(rows), rtol=1e-12)


def test_a_search_measures_once_and_tries_forms(series, monkeypatch):
    calls = []
    measure = KERNELS["dtw"].measure

    def counted(X, Y=None, **params):
        calls.append(params)
        return dtw(X, Y, **params)

    object.__setattr__(measure, "function", counted)
    try:
        model = KreinLogisticRegressionCV(kernel="dtw", cv=3).fit(series, Y)
        assert calls == [{}]
        forms = {params["form"] for _, params in model.kernel_settings_}
        assert forms == {"exponential", "gaussian", "negative", "truncated"}
        grid = {"window": [0.1, 0.5], "form": ["negative"], "width": [1.0, 2.0]}
        model.set_params(kernel_grid=grid).fit(series, Y)
        assert len(model.kernel_settings_) == 2 and len(calls) == 3
    finally:
        object.__setattr__(measure, "function", dtw)


def test_other_estimators_and_scikit_learn(series):
    for model in (KreinSVC(kernel="dtw"), DCASVC(kernel="dtw")):
        assert model.fit(series, Y).score(series, Y) > 0.6
    fits = np.array(series, dtype=object)
    scores = cross_val_score(KreinLogisticRegression("dtw"), fits, Y, cv=3)
    assert scores.mean() > 0.5
    aeon = np.stack([x[:15] for x in series])[:, None]  # samples, channels, times
    assert KreinLogisticRegression("dtw").fit(aeon, Y).predict(aeon).shape == (30,)


def test_bad_calls_are_one_sentence(series):
    bad = [*series[:5], np.array([1.0, np.nan, 2.0]), *series[6:]]
    with pytest.raises(ValueError, match="5"):
        KreinLogisticRegression("dtw").fit(bad, Y)
    with pytest.raises(
        TypeError, match="'dtw' takes 'window', 'derivative', 'form', 'width', got"
    ):
        KreinLogisticRegression("dtw", kernel_params={"sigma": 1.0}).fit(series, Y)
    with pytest.raises(ValueError, match="'form' must be one of"):
        KreinLogisticRegression("dtw", kernel_params={"form": "cubic"}).fit(series, Y)
    with pytest.raises(ValueError, match="'operator' must be 'auto' or 'dense'"):
        KreinLogisticRegression("dtw", operator="blocked").fit(series, Y)
    with pytest.raises(ValueError, match="is a distance, whose transform is fitted"):
        gram(series, kernel="dtw")
