import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import kreinlearn
from kreinlearn import KreinLogisticRegression, LandmarkLogisticRegression
from kreinlearn.exceptions import ConvergenceWarning
from kreinlearn.kernels import dtw, gram
from kreinlearn.landmarks.sources import draw_folds
from kreinlearn.spectrum.decompose import decompose
from tests.conftest import scaled

FEW = pytest.mark.filterwarnings("ignore:n_landmarks:UserWarning")
WITHOUT_LAMS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "it sets cv, and values of lam "
    "that are tried then depend on the number of rows"
    for kind in ("dense", "sparse")
}
NORMS = ("hilbert", "euclidean", "krein")


@parametrize_with_checks([LandmarkLogisticRegression(lams=[0.1])])
@FEW
@pytest.mark.filterwarnings("ignore:The Gram matrix")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        LandmarkLogisticRegression("rbf", norm="euclidean", multi_class="ovr", lam=0.1),
        LandmarkLogisticRegression("rbf", cv=2, lams=[1e-2, 1e-3]),
    ],
    expected_failed_checks=lambda estimator: {} if estimator.lams else WITHOUT_LAMS,
)
@FEW
def test_scikit_learn_contract_with_other_settings(estimator, check):
    check(estimator)


def made(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 5))
    noise = 0.1 * rng.standard_normal(n)
    return X, (np.abs(X - 0.5).sum(axis=1) + noise > 1.25).astype(int)


@pytest.fixture(scope="module")
def squares():
    return made(300)


@FEW
@pytest.mark.parametrize("norm", NORMS)
def test_all_samples_as_landmarks_are_the_exact_estimator(norm):
    X, y = made(1000)
    lam = 0.1 if norm == "krein" else 1e-2
    exact = KreinLogisticRegression(norm=norm, lam=lam, tol=1e-9).fit(X, y)
    model = LandmarkLogisticRegression(norm=norm, lam=lam, tol=1e-9).fit(X, y)
    assert exact.regime_ == "unique"
    found, expected = model.decision_function(X), exact.decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(model.landmark_indices_, np.arange(1000))


@FEW
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("multi_class", ["ovr", "multinomial"])
def test_all_samples_as_landmarks_with_weights_and_classes(squares, norm, multi_class):
    X, y = squares
    y = y + (X[:, 0] > 0.6)
    w = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    shared = {"norm": norm, "lam": 0.2, "tol": 1e-9, "multi_class": multi_class}
    exact = KreinLogisticRegression(class_weight="balanced", **shared).fit(X, y, w)
    model = LandmarkLogisticRegression(class_weight="balanced", **shared).fit(X, y, w)
    found, expected = model.predict_log_proba(X), exact.predict_log_proba(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("norm", NORMS)
def test_a_weight_is_a_row_repeated(squares, norm):
    X, y = squares
    w = np.random.default_rng(1).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), w)
    model = LandmarkLogisticRegression(norm=norm, lam=0.05, landmarks=X[:40], tol=1e-10)
    one, two = clone(model).fit(X, y, w), clone(model).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=0, atol=1e-6)
    f, g = one.decision_function(X), two.decision_function(X)
    np.testing.assert_allclose(f, g, rtol=0, atol=1e-8)


@FEW
def test_a_weight_is_a_row_repeated_if_all_are_landmarks(squares):
    X, y = squares
    w = np.random.default_rng(1).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), w)
    for norm in NORMS:
        model = LandmarkLogisticRegression(norm=norm, lam=0.1, tol=1e-10)
        f = clone(model).fit(X, y, w).decision_function(X)
        g = clone(model).fit(X[rows], y[rows]).decision_function(X)
        np.testing.assert_allclose(f, g, rtol=0, atol=1e-8)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("settings", [{}, {"memory": 0}, {"memory": "9KB"}])
def test_chunks_and_memory_change_nothing(squares, norm, settings):
    X, y = squares
    model = LandmarkLogisticRegression(n_landmarks=30, norm=norm, lam=1e-2)
    usual = clone(model).fit(X, y)
    other = clone(model).set_params(**settings, chunk_size=37).fit(X, y)
    np.testing.assert_allclose(other.coef_, usual.coef_, rtol=0, atol=1e-8)
    assert usual.converged_


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_chunks_change_nothing_in_single_precision(squares, dtype):
    X, y = made(4000)
    model = LandmarkLogisticRegression(n_landmarks=30, lam=1e-4, dtype=dtype)
    usual = clone(model).fit(X, y)
    other = clone(model).set_params(chunk_size=301, memory=0).fit(X, y)
    np.testing.assert_allclose(other.coef_, usual.coef_, rtol=0, atol=1e-8)
    assert usual.residual_ <= 1e-6


def directions(model, X):
    """Eigenvectors of the similarities among landmarks, and moduli, raised."""
    C, spectrum = gram(X, model.landmarks_), decompose(gram(model.landmarks_))
    outside = np.sqrt(C.shape[1] * ((C @ spectrum.vectors) ** 2).mean(axis=0))
    return spectrum.vectors, np.maximum(np.abs(spectrum.values), outside)


def objective(model, X, y):
    """Value, gradient and penalty matrix by plain NumPy."""
    C, K = gram(X, model.landmarks_), gram(model.landmarks_)
    vectors, moduli = directions(model, X)
    R = (vectors * moduli) @ vectors.T
    s, b = 2 * y - 1, model.coef_[0]
    f = C @ b + model.intercept_[0]
    r = -s / (1 + np.exp(s * f)) / len(y)
    value = np.logaddexp(0, -s * f).mean() + model.lam / 2 * b @ R @ b
    return value, C.T @ r + model.lam * R @ b, r.sum(), R, np.abs(K).mean(axis=0)


def test_the_certificate_is_correct(squares):
    X, y = squares
    model = LandmarkLogisticRegression(n_landmarks=30, lam=1e-3, tol=1e-4).fit(X, y)
    value, g, g_c, R, sizes = objective(model, X, y)
    residual = max(np.abs(g / sizes).max(), abs(g_c))
    np.testing.assert_allclose(model.residual_, residual, rtol=1e-6, atol=1e-15)
    gap = g @ np.linalg.solve(R, g) / (2 * model.lam)
    np.testing.assert_allclose(model.gap_, gap, rtol=1e-6, atol=1e-18)
    best = clone(model).set_params(tol=1e-10).fit(X, y)
    distance = value - objective(best, X, y)[0]
    assert -1e-14 <= distance <= gap + 1e-12


def compute_features(model, X):
    """Features whose plain ridge is the norm of the model."""
    vectors, moduli = directions(model, X)
    return gram(X, model.landmarks_) @ (vectors / np.sqrt(moduli))


@pytest.mark.parametrize("multi_class", ["ovr", "multinomial"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scikit_learn_finds_the_same_on_explicit_features(multi_class, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = scaled(X)[y < n_classes], np.array(["a", "b", "c"])[y[y < n_classes]]
    lam = 1e-3
    model = LandmarkLogisticRegression(
        n_landmarks=20, lam=lam, multi_class=multi_class, tol=1e-9
    ).fit(X, y)
    peer = LogisticRegression(C=1 / (len(X) * lam), tol=1e-10, max_iter=10_000)
    if multi_class == "ovr" and n_classes == 3:
        peer = OneVsRestClassifier(peer)
    features = compute_features(model, X)
    expected = peer.fit(features, y).predict_proba(features)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-5)


def test_many_classes_converge_without_the_whole_newton_matrix(monkeypatch):
    from kreinlearn.landmarks import objective as module

    X, y = load_iris(return_X_y=True)
    X = scaled(X)
    model = LandmarkLogisticRegression(n_landmarks=20, lam=1e-3)
    whole = clone(model).fit(X, y)
    monkeypatch.setattr(module, "MAX_DIRECT_SIZE", 10)
    blocks = clone(model).fit(X, y)
    assert blocks.converged_
    found, expected = blocks.predict_proba(X), whole.predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


# The norm "hilbert" looks at all samples, without labels, to raise small eigenvalues.
@pytest.mark.parametrize(("norm", "close"), [("euclidean", 1e-3), ("hilbert", 5e-3)])
@pytest.mark.parametrize("multi_class", ["ovr", "multinomial"])
def test_a_search_is_separate_fits(squares, multi_class, norm, close):
    X, y = squares
    y = y + (X[:, 0] > 0.6)
    shared = {"landmarks": X[:30], "multi_class": multi_class, "norm": norm}
    lams = [1e-2, 1e-3, 1e-1]
    model = LandmarkLogisticRegression(lams=lams, cv=3, **shared).fit(X, y)
    folds = draw_folds(np.arange(len(X)), 3, model._draw_seed())
    expected = np.zeros((1, 3, 3))
    for i, lam in enumerate(sorted(lams, reverse=True)):
        for f in range(3):
            held = folds == f
            one = LandmarkLogisticRegression(lam=lam, **shared)
            one.fit(X[~held], y[~held])
            expected[0, i, f] = -log_loss(y[held], one.predict_proba(X[held]))
    np.testing.assert_allclose(model.scores_, expected, rtol=0, atol=close)
    np.testing.assert_allclose(model.lams_, [[1e-1, 1e-2, 1e-3]])
    assert model.lam_ == model.lams_[0, expected[0].mean(axis=1).argmax()]
    alone = LandmarkLogisticRegression(lam=model.lam_, **shared).fit(X, y)
    found, wanted = model.decision_function(X), alone.decision_function(X)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-3)


def test_settings_of_the_kernel_are_chosen(squares):
    X, y = squares
    model = LandmarkLogisticRegression(
        n_landmarks=40, kernel_grid={"ratio": [0.1, 0.7]}
    ).fit(X, y)
    assert model.scores_.shape == (2, 10, 3)
    assert model.kernel_params_ == {"ratio": 0.7}
    one = LandmarkLogisticRegression(
        n_landmarks=40, kernel_params={"ratio": 0.7}, cv=3
    ).fit(X, y)
    np.testing.assert_allclose(one.scores_[0], model.scores_[1], rtol=0, atol=1e-3)


class Ended(Exception):
    pass


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("after", [1, 3])
def test_a_fit_goes_on_where_it_was_ended(tmp_path, norm, after):
    X, y = made(4000)
    file = tmp_path / "state.npz"
    seen = []

    def end(row):
        seen.append(row)
        if sum("iteration" in each for each in seen) > after:
            raise Ended

    lam = 0.05 if norm == "krein" else 1e-4
    model = LandmarkLogisticRegression(n_landmarks=30, norm=norm, lam=lam)
    whole = clone(model).fit(X, y)
    with pytest.raises(Ended):
        clone(model).set_params(checkpoint=file, verbose=end).fit(X, y)
    rest = clone(model).set_params(checkpoint=file).fit(X, y)
    assert len(rest.history_) < len(whole.history_)
    np.testing.assert_allclose(rest.coef_, whole.coef_, rtol=0, atol=1e-10)
    with pytest.raises(ValueError, match=r"belongs to another fit, since its data or"):
        clone(model).set_params(checkpoint=file, lam=0.5).fit(X, y)
    moved = X.copy()
    moved[~np.isin(range(4000), whole.landmark_indices_)] *= 0.9
    with pytest.raises(ValueError, match=r"belongs to another fit, since the rows"):
        clone(model).set_params(checkpoint=file).fit(moved, y)


def test_a_broken_checkpoint_is_one_sentence(tmp_path, squares):
    file = tmp_path / "state.npz"
    file.write_bytes(b"nothing")
    model = LandmarkLogisticRegression(n_landmarks=10, checkpoint=file)
    with pytest.raises(ValueError, match=r"could not be read .*; remove it"):
        model.fit(*squares)
    np.savez(file, key="abc", u=np.zeros((11, 1, 1)))
    with pytest.raises(ValueError, match=r"\(it lacks what a state has\); remove it"):
        model.fit(*squares)


def test_given_columns_are_those_of_the_kernel(squares):
    X, y = squares
    usual = LandmarkLogisticRegression(n_landmarks=30, lam=1e-2).fit(X, y)
    rows = usual.landmark_indices_
    C = gram(X, X[rows])
    model = LandmarkLogisticRegression("precomputed", landmarks=rows, lam=1e-2)
    found = model.fit(C, y).decision_function(C[:7])
    np.testing.assert_allclose(found, usual.decision_function(X[:7]), atol=1e-7)
    whole = LandmarkLogisticRegression("precomputed", n_landmarks=30, lam=1e-2)
    K = gram(X)
    whole.fit(K, y)
    np.testing.assert_array_equal(whole.support_, rows)
    for new in (K[:7], C[:7]):
        found = whole.decision_function(new)
        np.testing.assert_allclose(found, usual.decision_function(X[:7]), atol=1e-7)


def test_distances_and_their_kernel_agree():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20)).cumsum(axis=1)
    y = (X[:, -1] > 0).astype(int)
    params = {"form": "gaussian", "width": 0.5}
    shared = {"kernel_params": params, "lam": 1e-2}
    usual = LandmarkLogisticRegression("dtw", n_landmarks=20, **shared).fit(X, y)
    rows = usual.landmark_indices_
    D = dtw(X, X[rows])
    given = LandmarkLogisticRegression("distance", landmarks=rows, **shared).fit(D, y)
    found, expected = given.decision_function(D), usual.decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    assert given.distance_median_ == usual.distance_median_


SAMPLES = {
    "smith_waterman": (["ACDE", "ACDF", "WWYY", "WYWY"] * 5, [0, 0, 1, 1] * 5),
}


@pytest.mark.parametrize("landmarks", ["uniform", "leverage"])
def test_sequences_are_samples(landmarks, tmp_path):
    X, y = SAMPLES["smith_waterman"]
    model = LandmarkLogisticRegression(
        "smith_waterman", n_landmarks=6, landmarks=landmarks, lam=1e-2
    ).fit(X, y)
    assert model.score(X, y) == 1.0
    assert len(model.landmarks_) == 6
    kreinlearn.save(model, tmp_path / "model.krein")
    same = kreinlearn.load(tmp_path / "model.krein")
    found, expected = same.decision_function(X), model.decision_function(X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_covariance_matrices_are_samples():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 4, 8)) * (1 + (np.arange(40) % 2))[:, None, None]
    X, y = A @ A.swapaxes(1, 2), np.arange(40) % 2
    model = LandmarkLogisticRegression("spd_stein", n_landmarks=15, lam=1e-3)
    assert model.fit(X, y).score(X, y) > 0.9


def overlap(X, Y):
    return np.array([[len(set(x) & set(z)) for z in Y] for x in X], dtype=float)


def test_a_function_is_a_kernel():
    X, y = SAMPLES["smith_waterman"]
    model = LandmarkLogisticRegression(overlap, n_landmarks=6, lam=1e-2).fit(X, y)
    assert model.score(X, y) == 1.0


def test_kmeans_chooses_rows(squares):
    X, y = squares
    model = LandmarkLogisticRegression(n_landmarks=20, landmarks="kmeans++").fit(X, y)
    rows = model.landmark_indices_
    assert len(np.unique(rows)) == 20
    np.testing.assert_array_equal(X[rows], model.landmarks_)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.landmark_indices_, rows)
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert (other.landmark_indices_ != rows).any()


@pytest.mark.parametrize("settings", [{}, {"kernel": "dtw"}, {"cv": 2}])
def test_a_model_is_saved(squares, tmp_path, settings):
    X, y = squares[0][:80], squares[1][:80]
    model = LandmarkLogisticRegression(n_landmarks=10, **settings).fit(X, y)
    kreinlearn.save(model, tmp_path / "model.krein")
    same = kreinlearn.load(tmp_path / "model.krein")
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))


def test_more_landmarks_than_samples_warns(squares):
    X, y = squares
    with pytest.warns(UserWarning, match=r"all of them are landmarks"):
        LandmarkLogisticRegression().fit(X[:50], y[:50])


def test_no_convergence_warns(squares):
    with pytest.warns(ConvergenceWarning, match=r"status 'max_iter' after 1 steps"):
        model = LandmarkLogisticRegression(n_landmarks=10, max_iter=1).fit(*squares)
    assert not model.converged_


def test_a_search_without_convergence_warns(squares):
    model = LandmarkLogisticRegression(n_landmarks=20, lams=[1e-2, 1e-9], cv=2)
    model.set_params(max_iter=1)
    with pytest.warns(ConvergenceWarning) as said:
        model.fit(*squares)
    found = [str(each.message) for each in said]
    assert any("of the 4 fits of the search ended before" in text for text in found)


def test_kept_similarities_are_reported(squares):
    rows = []
    model = LandmarkLogisticRegression(n_landmarks=10, verbose=rows.append, memory=0)
    model.fit(*squares)
    assert rows[0] == {"landmarks": 10, "GiB in single": 12000 / 2**30, "share kept": 0}
    assert rows[-1]["residual"] <= 1e-6


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"landmarks": "random"}, "'landmarks' must be one of 'uniform', 'kmeans"),
        ({"n_landmarks": 0}, "'n_landmarks' must be a positive whole number"),
        ({"memory": "much"}, "'memory' must be a number of bytes, or text such as"),
        ({"cv": 1}, "'cv' must be at least 2 folds, got 1"),
        ({"lams": [0.0]}, "'lams' must be a positive number"),
        ({"norm": "l1"}, "'norm' must be one of"),
        ({"kernel": "dtw", "landmarks": "kmeans++"}, "vectors only"),
        ({"kernel": "precomputed"}, "must be positions of the samples"),
        ({"kernel": "precomputed", "landmarks": [0, 1]}, "must be 5 positions from 0"),
        ({"landmarks": np.ones((3, 2))}, "has 2 features, but .* is expecting 5"),
        ({"kernel_grid": []}, "'kernel_grid' must hold at least one setting"),
    ],
)
def test_bad_parameters_are_one_sentence(squares, settings, words):
    with pytest.raises(ValueError, match=words):
        LandmarkLogisticRegression(**settings).fit(*squares)


def test_given_folds_are_used(squares):
    X, y = squares
    folds = KFold(3, shuffle=True, random_state=0)
    shared = {"landmarks": X[:30], "norm": "euclidean"}
    model = LandmarkLogisticRegression(cv=folds, lams=[1e-2], **shared).fit(X, y)
    for f, (train, held) in enumerate(folds.split(X)):
        one = LandmarkLogisticRegression(lam=1e-2, **shared)
        one.fit(X[train], y[train])
        expected = -log_loss(y[held], one.predict_proba(X[held]))
        np.testing.assert_allclose(model.scores_[0, 0, f], expected, atol=1e-3)
    with pytest.raises(ValueError, match=r"'cv' must hold each sample out once"):
        LandmarkLogisticRegression(cv=ShuffleSplit(2), **shared).fit(X, y)
