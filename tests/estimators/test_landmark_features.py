import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kreinlearn import LandmarkFeatures, LandmarkLogisticRegression
from kreinlearn.kernels import gram


@pytest.mark.filterwarnings("ignore:n_landmarks:UserWarning")
def test_products_with_signs_are_the_similarities(rng):
    X = rng.uniform(size=(40, 3))
    features = LandmarkFeatures()
    phi = features.fit_transform(X)
    K = gram(X)
    np.testing.assert_allclose((phi * features.signs_) @ phi.T, K, atol=1e-8)
    values, vectors = np.linalg.eigh(K)
    modulus = (vectors * np.abs(values)) @ vectors.T
    np.testing.assert_allclose(phi @ phi.T, modulus, atol=1e-8)
    assert (features.signs_ < 0).any()


def test_features_are_those_of_the_estimator(rng):
    X = rng.uniform(size=(60, 3))
    y = (X[:, 0] > 0.5).astype(int)
    features = LandmarkFeatures(n_landmarks=30).fit(X)
    phi = features.transform(X)
    model = LandmarkLogisticRegression(n_landmarks=30, lam=1e-2, tol=1e-9).fit(X, y)
    np.testing.assert_array_equal(model.landmarks_, features.landmarks_)
    peer = LogisticRegression(C=1 / 0.6, tol=1e-10, max_iter=10_000).fit(phi, y)
    found, expected = peer.decision_function(phi), model.decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    moduli = np.abs(np.linalg.eigvalsh(gram(features.landmarks_)))
    raised = np.sort(np.abs(features.eigenvalues_))
    assert (raised >= np.sort(moduli)[-len(raised) :] - 1e-9).all()
    single = features.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, phi, rtol=0, atol=1e-4)
    names = features.get_feature_names_out()
    assert names[0] == "landmarkfeatures0" and len(names) == phi.shape[1]
    frame = features.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(names)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "precomputed"}, "'kernel' must compare samples"),
        ({"landmarks": "best"}, "'landmarks' must be one of"),
    ],
)
def test_bad_parameters_are_one_sentence(rng, settings, words):
    with pytest.raises(ValueError, match=words):
        LandmarkFeatures(**settings).fit(rng.uniform(size=(20, 2)))
