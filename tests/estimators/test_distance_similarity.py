"""The transformer of distances, and what is refused as distances or similarities."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

import kreinlearn
from kreinlearn import DistanceSimilarity, SpectrumRepair
from kreinlearn.kernels.transforms import FORMS


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
