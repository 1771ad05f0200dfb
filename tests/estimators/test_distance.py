"""Distances in every estimator, and the transformer that makes similarities."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

import kreinlearn
from kreinlearn import (
    DCASVC,
    DistanceSimilarity,
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    KreinSVC,
    SpectrumRepair,
)
from kreinlearn.exceptions import IndefiniteKernelWarning
from kreinlearn.kernels.transforms import DEFAULT_CANDIDATES, FORMS

SINGLE = [KreinLogisticRegression(), KreinSVC(), DCASVC()]
ALL = [*SINGLE, KreinLogisticRegressionCV(lams=[0.1, 0.01], norms=("hilbert",), cv=3)]


@pytest.fixture
def data():
    """Return distances among training and of new samples, and labels."""
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(70, 2))
    y = np.where(np.abs(X - 0.5).sum(axis=1) > 0.5, "out", "in")
    D = np.abs(X[:, None] - X).sum(axis=2)
    return D[:50, :50], y[:50], D[50:, :50], y[50:]


@pytest.mark.parametrize("model", SINGLE, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_as_similarities_made_by_hand(data, model, form, dtype):
    D, y, new, _ = data
    D, new = D.astype(dtype), new.astype(dtype)
    params = {"form": form, "width": 0.8}
    ours = clone(model).set_params(kernel="distance", kernel_params=params).fit(D, y)
    change = DistanceSimilarity(**params).fit(D)
    other = clone(model).set_params(kernel="precomputed").fit(change.transform(D), y)
    np.testing.assert_array_equal(ours.dual_coef_, other.dual_coef_)
    np.testing.assert_allclose(
        ours.decision_function(new),
        other.decision_function(change.transform(new)),
        rtol=1e-6,
        atol=1e-6,
    )


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_contract(data, model, tmp_path):
    D, y, new, y_new = data
    model = clone(model).set_params(kernel="distance")
    assert get_tags(model).input_tags.pairwise
    assert cross_val_score(model, D, y, cv=3).mean() > 0.7
    model.fit(D, y)
    assert model.score(new, y_new) > 0.7
    expected = model.decision_function(new)
    for again in (clone(model).fit(D, y), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.decision_function(new), expected)
    kreinlearn.save(model, tmp_path / "m.krein")
    again = kreinlearn.load(tmp_path / "m.krein")
    np.testing.assert_array_equal(again.decision_function(new), expected)
    needed = new[:, model.support_]
    np.testing.assert_array_equal(again.decision_function(needed), expected)


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_the_support_are_enough_if_the_form_allows(data, form):
    D, y, new, _ = data
    weights = (np.arange(50) % 3 != 0).astype(float)
    model = KreinSVC(kernel="distance", kernel_params={"form": form})
    model.fit(D, y, sample_weight=weights)
    if form == "centered":  # the mean is taken over all of them
        assert len(model.support_) == 50
        with pytest.raises(ValueError, match="the distances between new and training"):
            model.predict(new[:, weights > 0])
        return
    assert len(model.support_) < 50
    np.testing.assert_array_equal(
        model.decision_function(new[:, model.support_]), model.decision_function(new)
    )


def test_the_search_tries_forms_and_widths(data):
    D, y, new, y_new = data
    model = KreinLogisticRegressionCV(
        lams=[0.1, 0.01], norms=("hilbert",), kernel="distance", cv=3
    ).fit(D, y)
    assert [params for _, params in model.kernel_settings_] == list(DEFAULT_CANDIDATES)
    assert model.kernel_ == "distance"
    assert model.kernel_params_ in DEFAULT_CANDIDATES
    assert model.score(new, y_new) > 0.7
    # Each part is what a single estimator would be.
    for each in model.estimators_:
        alone = clone(each).fit(D, y)
        np.testing.assert_allclose(
            each.decision_function(new), alone.decision_function(new), atol=1e-4
        )


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_distances_are_refused_as_similarities(data, model):
    D, y, _, _ = data
    model = clone(model).set_params(kernel="precomputed")
    words = r"looks like distances.*kernel='distance' \(--distance.*'check': False"
    with pytest.raises(ValueError, match=words):
        model.fit(D, y)
    with pytest.raises(ValueError, match=words):
        model.fit(D + 1e-9 * np.eye(50), y)
    model.set_params(kernel_params={"check": False}).fit(D, y)
    model.set_params(kernel_params={"check": True}).fit(-D, y)
    for params in ({"check": 1}, {"width": 1.0}):
        with pytest.raises(
            TypeError, match="takes 'check', True or False, and 'missing'"
        ):
            model.set_params(kernel_params=params).fit(-D, y)


def test_what_does_not_look_like_distances(data):
    _, y, _, _ = data
    model = KreinLogisticRegression("precomputed")
    for K in (np.zeros((50, 50)), np.eye(50), 1e-3 * np.ones((50, 50))):
        model.fit(K, y)
    block = np.zeros((50, 50))
    block[:20, :20] = 1.0 - np.eye(20)  # a block of zeros beside
    with pytest.raises(ValueError, match="looks like distances"):
        model.fit(block, y)


def test_two_samples():
    D, y = np.array([[0.0, 2.0], [2.0, 0.0]]), [0, 1]
    model = KreinLogisticRegression("distance").fit(D, y)
    assert model.predict(D).tolist() == y
    with pytest.raises(ValueError, match="looks like distances"):
        KreinLogisticRegression("precomputed").fit(D, y)


def test_bad_distances_at_fit_and_predict(data):
    D, y, new, _ = data
    model = KreinLogisticRegression("distance").fit(D, y)
    with pytest.raises(
        ValueError, match="'operator' must be 'auto'.*kernel='distance'"
    ):
        KreinLogisticRegression("distance", operator="blocked").fit(D, y)
    D[3, 5] = np.nan
    with pytest.raises(ValueError, match="got nan in row 3, column 5"):
        KreinLogisticRegression("distance").fit(D, y)
    new[2, 7] = np.nan
    with pytest.raises(ValueError, match="got nan in row 2, column 7"):
        model.predict(new)
    new[2, 7] = -1.0
    with pytest.raises(ValueError, match="not be negative, got -1 in row 2, column 7"):
        model.predict(new)


def test_bad_parameters(data):
    D, y, _, _ = data
    for params, error in (({"sigma": 1.0}, TypeError), ({"form": "x"}, ValueError)):
        with pytest.raises(error):
            KreinLogisticRegression("distance", kernel_params=params).fit(D, y)
    with pytest.raises(ValueError, match="'kernel_grid' must be empty"):
        KreinLogisticRegressionCV(
            kernel="precomputed", kernel_grid={"check": [True]}
        ).fit(-D, y)
    with pytest.raises(ValueError, match="nor 'distance'"):
        KreinLogisticRegressionCV(kernel=("distance", "tl1")).fit(D, y)


def test_one_kernel_in_a_tuple(data):
    D, y, new, _ = data
    settings = {"norms": ("hilbert",), "cv": 3, "kernel_params": {"form": "negative"}}
    first = KreinLogisticRegressionCV(lams=[0.1], kernel=("distance",), **settings)
    second = KreinLogisticRegressionCV(lams=[0.1], kernel="distance", **settings)
    assert get_tags(first).input_tags.pairwise
    np.testing.assert_array_equal(
        first.fit(D, y).decision_function(new), second.fit(D, y).decision_function(new)
    )


def test_samples_that_are_all_the_same(data):
    _, y, _, _ = data
    with pytest.warns(IndefiniteKernelWarning, match="another form or width"):
        KreinLogisticRegression("distance").fit(np.zeros((50, 50)), y)


def test_samples_of_which_most_are_copies(data):
    D, y, _, _ = data
    where = np.where(np.arange(50) < 40, 0, np.arange(50))
    D = D[np.ix_(where, where)]  # a block of zeros
    assert np.median(D[np.triu_indices(50, 1)]) == 0.0
    model = KreinLogisticRegression("distance").fit(D, y)
    assert model.distance_median_ == np.median(D[(D > 0) & np.triu(D, 1).astype(bool)])
    assert np.isfinite(model.decision_function(D)).all()


def test_protein(data_home):
    path = Path(data_home, "sim", "protein.npz")
    if not path.exists():
        pytest.skip(f"needs {path}")
    with np.load(path) as held:
        D, y = held["D"], held["y"]
    with pytest.raises(ValueError, match="looks like distances"):
        KreinLogisticRegression("precomputed").fit(D, y)
    upside_down = KreinLogisticRegression("precomputed", kernel_params={"check": False})
    assert cross_val_score(upside_down, D, y).mean() < 0.2
    assert cross_val_score(KreinLogisticRegression("distance"), D, y).mean() > 0.9


@pytest.fixture
def three():
    """Return distances of sixty points in three classes, on a line with a gap."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(k, k + 0.8, 20) for k in range(3)])
    order = rng.permutation(60)
    return np.abs(x[:, None] - x)[np.ix_(order, order)], np.repeat([0, 1, 2], 20)[order]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_training_rows_are_what_training_gave_them(three, form, dtype):
    D = three[0].astype(dtype)
    model = DistanceSimilarity(form, width=0.7)
    K = model.fit_transform(D)
    assert K.dtype == dtype
    np.testing.assert_array_equal(model.transform(D), K)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(model.transform(D[:3]), K[:3], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(clone(model).fit(D).transform(D), K)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(D), K)
    assert (model.means_ is None) == (form != "centered")


def test_saved_and_loaded(three, tmp_path):
    D, y = three
    model = make_pipeline(DistanceSimilarity("centered"), SVC(kernel="precomputed"))
    model.fit(D, y)
    kreinlearn.save(model, tmp_path / "m.krein")
    again = kreinlearn.load(tmp_path / "m.krein")
    np.testing.assert_array_equal(
        again.decision_function(D), model.decision_function(D)
    )


def test_in_pipelines_and_searches(three):
    D, y = three
    model = make_pipeline(
        DistanceSimilarity(), SpectrumRepair("clip"), SVC(kernel="precomputed")
    )
    assert get_tags(model).input_tags.pairwise
    assert cross_val_score(model, D, y, cv=3).mean() > 0.9
    grid = {"distancesimilarity__width": [1e-3, 1.0]}
    search = GridSearchCV(model, grid, cv=3).fit(D, y)
    assert search.best_params_ == {"distancesimilarity__width": 1.0}
    # The inner matrix is that of the training rows: by hand, with slices.
    train, test = np.arange(40), np.arange(40, 60)
    change = DistanceSimilarity().fit(D[np.ix_(train, train)])
    upper = D[np.ix_(train, train)][np.triu_indices(40, 1)]
    assert change.median_ == np.median(upper)
    K = change.transform(D[np.ix_(test, train)])
    np.testing.assert_allclose(K, np.exp(-D[np.ix_(test, train)] / np.median(upper)))


def spoiled(D, i, j, value):
    D = D.copy()
    D[i, j] = value
    return D


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda D: spoiled(D, 3, 5, np.nan), "no NaN or infinity, got nan in row 3, c"),
        (
            lambda D: spoiled(D, 3, 5, -1.0),
            "not be negative, got -1 in row 3, column 5",
        ),
        (lambda D: spoiled(D, 4, 4, 0.5), "zero on its diagonal.*0.5 for sample 4"),
        (
            lambda D: spoiled(D, 3, 5, 9.0),
            r"has 9 from 3 to 5 and .* symmetrize='mean'",
        ),
        (lambda D: np.exp(-D), "there it is largest, as in a matrix of similarities"),
        (lambda D: D - 5 * np.eye(60) - 5, "must not be negative"),
        (lambda D: D[:, :30], "must be square"),
    ],
)
def test_bad_distances_get_one_sentence(three, change, words):
    D, _ = three
    with pytest.raises(ValueError, match=words):
        DistanceSimilarity().fit(change(D))


def test_bad_new_distances(three):
    D, _ = three
    model = DistanceSimilarity().fit(D)
    for value, words in (
        (np.nan, "got nan in row 1, column 5"),
        (-1.0, "got -1 in row"),
    ):
        with pytest.raises(ValueError, match=words):
            model.transform(spoiled(D[:2], 1, 5, value))
    with pytest.raises(ValueError, match="60 features"):
        model.transform(D[:, :30])


def test_rounding_is_forgiven(three):
    D, _ = three
    noisy = D + 1e-12 * np.arange(60)  # diagonal and both directions
    with pytest.warns(UserWarning, match="not quite symmetric"):
        K = DistanceSimilarity().fit_transform(noisy)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, DistanceSimilarity().fit_transform(D), atol=1e-9)
    almost = np.where(D > 0, D, -1e-17)
    np.testing.assert_allclose(DistanceSimilarity().fit_transform(almost), K, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_extremes(form):
    model = DistanceSimilarity(form)
    assert np.isfinite(model.fit_transform(np.zeros((3, 3)))).all()
    assert model.median_ == 1.0
    two = np.array([[0.0, 5.0], [5.0, 0.0]])
    assert np.isfinite(model.fit_transform(two)).all()
    assert model.median_ == 5.0
    wide = np.array([[0.0, 1e200], [1e200, 0.0]])
    if form != "centered":
        assert np.isfinite(model.fit(two).transform(wide)).all()


@pytest.mark.parametrize("mode", ["clip", "flip"])
def test_distances_are_not_repaired(three, mode):
    D, _ = three
    with pytest.raises(
        ValueError, match=r"looks like distances.*DistanceSimilarity\(\)"
    ):
        SpectrumRepair(mode).fit(D)
    SpectrumRepair(mode, check=False).fit(D)
    SpectrumRepair(mode).fit(-D)
    SpectrumRepair(mode).fit(np.zeros((3, 3)))
