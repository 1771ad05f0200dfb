"""Several matrices in one model: against models by hand, containers, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import minmax_scale

import kreinlearn
from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.estimators._several import SCALED_MEAN, measure_scale
from kreinlearn.search.scoring import HeldOutScorer, stack_models

TRAIN, NEW = np.arange(0, 178, 2), np.arange(1, 178, 2)
NAMES = ["acids", "all", "noise"]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    noise = np.random.default_rng(0).normal(size=(178, 3))
    D = [cdist(X[:, :6], X[:, :6], "canberra"), cdist(X[:, 5:], X[:, 5:])]
    return np.stack([*D, cdist(noise, noise)], axis=2), y


@pytest.fixture(scope="module")
def model(wine):
    D, y = wine
    matrices = dict(zip(NAMES, np.moveaxis(D[np.ix_(TRAIN, TRAIN)], 2, 0), strict=True))
    return KreinLogisticRegressionCV(kernel="distance").fit(matrices, y[TRAIN])


def combine(D, scales):
    return sum(D[..., i] / scales[i] for i in range(3)) / 3


@pytest.mark.parametrize("kernel", ["distance", "precomputed"])
def test_predictions_are_those_of_single_models_by_hand(wine, kernel):
    D, y = wine
    X = D if kernel == "distance" else np.exp(-D)
    train, new = X[np.ix_(TRAIN, TRAIN)], X[np.ix_(NEW, TRAIN)]
    model = KreinLogisticRegressionCV(kernel=kernel, tol=1e-10).fit(train, y[TRAIN])
    scales = [measure_scale(train[..., i], kernel == "distance") for i in range(3)]
    scores = 0
    used = zip(
        model.weights_, model.estimators_, model.estimator_similarities_, strict=True
    )
    for weight, one, name in used:
        pair = [
            combine(each, scales) if name == SCALED_MEAN else each[..., int(name)]
            for each in (train, new)
        ]
        single = KreinLogisticRegression(**one.get_params(deep=False))
        scores += weight * single.fit(pair[0], y[TRAIN]).decision_function(pair[1])
    np.testing.assert_allclose(model.decision_function(new), scores, atol=2e-5)
    assert model.score(new, y[NEW]) > 0.95


def test_one_matrix_in_an_array_is_that_matrix(wine):
    D, y = wine
    D = D[np.ix_(TRAIN, TRAIN)]
    several = KreinLogisticRegressionCV(kernel="distance").fit(D[..., :1], y[TRAIN])
    single = KreinLogisticRegressionCV(kernel="distance").fit(D[..., 0], y[TRAIN])
    np.testing.assert_array_equal(
        several.predict_proba(D[..., :1]), single.predict_proba(D[..., 0])
    )
    assert several.similarity_weights_["weight"].tolist() == [pytest.approx(1)]
    with pytest.raises(AttributeError, match="several matrices were fitted, got one"):
        single.similarity_weights_  # noqa: B018


def test_weights_name_the_matrices_and_sum_to_one(model):
    found = model.similarity_weights_
    assert found.index.tolist() == NAMES
    assert found["weight"].sum() == pytest.approx(1)
    assert found["weight"]["noise"] < 0.34 and found["score_alone"]["noise"] < -1
    assert (found["standard_error"] >= 0).all() and found.notna().all(axis=None)
    assert model.weights_.sum() == pytest.approx(1)  # an average
    assert set(model.estimator_similarities_) <= {*NAMES, SCALED_MEAN}
    assert found["weight"]["all"] == found["weight"].max()
    assert {"similarity", "form"} <= set(model.kernel_settings_[0][1])
    assert "similarity" not in model.kernel_params_


def test_independent_evidence_adds_up_beside_noise():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    views = [rng.normal(size=(400, 1)) + 2 * y[:, None] for _ in range(2)]
    views += [rng.standard_cauchy(size=(400, 1)) for _ in range(4)]
    D = np.stack([cdist(X, X) for X in views], axis=2)
    train, new = D[:250, :250], D[250:, :250]
    model = KreinLogisticRegressionCV(kernel="distance").fit(train, y[:250])
    assert model.weights_.sum() > 1.3
    found = model.similarity_weights_
    assert found["weight"].sum() == pytest.approx(1)
    assert found["weight"][:2].min() > 0.25 > found["weight"][2:].max()
    assert 0 < found["standard_error"][:2].max() < 0.2
    losses = [log_loss(y[250:], model.predict_proba(new))]
    for i in range(2):
        single = KreinLogisticRegressionCV(kernel="distance")
        single.fit(train[..., i], y[:250])
        losses.append(log_loss(y[250:], single.predict_proba(new[..., i])))
    assert losses[0] < min(losses[1:]) - 0.05


def test_stacked_weights_maximize_the_likelihood():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    scores = (2 * y - 1) + rng.normal(size=(3, 400)) * [[1.0], [1.5], [9.0]]
    model = KreinLogisticRegressionCV()
    model.classes_ = np.array([0, 1])
    scorer = HeldOutScorer(model, "neg_log_loss", y, None, model.classes_, "logistic")
    groups = np.arange(400) % 5
    found, logs, draws = stack_models(scorer, scores[..., None], np.arange(400), groups)
    X = (scores * 1.0).T
    exact = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(found, exact.coef_[0], rtol=0.05, atol=0.01)
    assert draws.shape == (3, 5) and (found > 0).sum() >= 2
    for f in range(5):  # weights from other folds
        total = draws[:, f] @ scores[:, groups == f]
        sign = np.where(y[groups == f] == 1, 1, -1)
        np.testing.assert_allclose(logs[groups == f], -np.log1p(np.exp(-sign * total)))


def test_containers_and_labels_do_not_matter(wine, model):
    D, y = wine
    train, new = D[np.ix_(TRAIN, TRAIN)], D[np.ix_(NEW, TRAIN)]
    expected = model.predict_proba(list(np.moveaxis(new, 2, 0)))
    np.testing.assert_array_equal(model.predict_proba(new), expected)
    rng, ids = np.random.default_rng(0), [f"s{i}" for i in TRAIN]
    frames, others = {}, {}
    for i, name in enumerate(NAMES):
        order, shuffled = rng.permutation(ids), rng.permutation(ids)
        frame = pd.DataFrame(train[..., i], ids, ids)
        frames[name] = frame.loc[ids if i == 0 else order, shuffled]
        others[name] = pd.DataFrame(new[..., i], NEW.astype(str), ids)[order]
    others = dict(reversed(others.items()))
    others["acids"] = others["acids"].sample(frac=1, random_state=0)
    again = clone(model).fit(frames, pd.Series(y[TRAIN], ids))
    rows = others["noise"].index  # the first of the mapping
    found = pd.DataFrame(again.predict_proba(others), rows).loc[NEW.astype(str)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert again.explain(others, top=1)["sample"].iloc[0] == rows[0]


def test_cross_validation_of_scikit_learn_slices_arrays(wine):
    D, y = wine
    model = KreinLogisticRegressionCV(kernel="distance", norms=("euclidean",))
    assert cross_val_score(model, D, y, cv=3).min() > 0.9
    search = GridSearchCV(model, {"average": [True, False]}, cv=2).fit(D, y)
    assert search.best_score_ > 0.9
    assert search.predict(D).shape == y.shape


def test_contributions_sum_to_the_scores(wine, model):
    D, _ = wine
    new = D[np.ix_(NEW[:5], TRAIN)]
    parts = model.explain(new, top=None).groupby(["sample", "class"])["contribution"]
    offset = np.tensordot(model.weights_, [e.intercept_ for e in model.estimators_], 1)
    found = parts.sum().unstack().to_numpy() + offset
    np.testing.assert_allclose(found, model.decision_function(new), atol=1e-10)


def test_saved_models_keep_names_and_weights(wine, model, tmp_path):
    new = wine[0][np.ix_(NEW, TRAIN)]
    kreinlearn.save(model, tmp_path / "m.krein")
    loaded = kreinlearn.load(tmp_path / "m.krein")
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    pd.testing.assert_frame_equal(loaded.similarity_weights_, model.similarity_weights_)
    narrow = new[:, model.support_]
    np.testing.assert_array_equal(loaded.predict(narrow), model.predict(new))


def frame(names, n=None):
    n = len(names) if n is None else n
    return pd.DataFrame(1.0 - np.eye(len(names), n), names, names[:n])


@pytest.mark.parametrize(
    "X, message",
    [
        ({"a": np.eye(4), "b": np.eye(5)}, "4 rows in 'a' and 5 in 'b'"),
        (np.ones((3, 50, 50)), r"got \(3, 50, 50\); np.moveaxis"),
        ({"a": frame(list("wxyz")), "b": frame(list("wxyq"))}, "'b' has no row 'z'"),
        ({"a": frame(list("wxyz")), "b": frame(list("wxyzq"))}, "'a' has no row 'q'"),
        ({}, "at least one matrix"),
        ({1: np.eye(4), "1": np.eye(4)}, "must differ, .* got 1, '1'; rename one"),
        ({"scaled mean": np.eye(4)}, "also from 'scaled mean'"),
        ({"a": 1 - np.eye(4), "b": np.eye(4)}, "Matrix 'b': .* zero on its diagonal"),
    ],
)
def test_matrices_of_different_samples_raise(X, message):
    model = KreinLogisticRegressionCV(kernel="distance", cv=2)
    with pytest.raises(ValueError, match=message):
        model.fit(X, [0, 0, 1, 1])


def test_new_samples_need_the_same_matrices(wine, model):
    new = wine[0][np.ix_(NEW, TRAIN)]
    with pytest.raises(ValueError, match=r"3 matrices \(acids, all, noise\), got one"):
        model.predict(new[..., 0])
    with pytest.raises(ValueError, match="got 2; pass as many"):
        model.predict(new[..., :2])
    wrong = dict(zip(["acids", "all", "other"], np.moveaxis(new, 2, 0), strict=True))
    with pytest.raises(ValueError, match="names of training, .* got 'other'"):
        model.predict(wrong)
    with pytest.raises(ValueError, match="Matrix 'all': .* pass its transpose"):
        model.predict([new[..., 0], new[..., 1].T[:, :-1], new[..., 2]])


def test_names_of_new_samples_that_occur_twice_must_agree(wine, model):
    ids = [str(i) for i in range(len(TRAIN))]
    new = wine[0][np.ix_(NEW[:3], TRAIN)]
    rows = (["a", "b", "b"], ["a", "b", "b"], ["b", "a", "b"])
    frames = [pd.DataFrame(new[..., i], rows[i], ids) for i in range(3)]
    with pytest.raises(ValueError, match="some occur twice in '0' or '2'"):
        model.predict(frames)


@pytest.mark.parametrize("kernel", ["distance", "precomputed"])
def test_sparse_matrices_need_a_value_for_missing_pairs(wine, kernel):
    D, y = wine
    X = D[..., 1] if kernel == "distance" else np.exp(-D[..., 1])
    full, value = X[np.ix_(TRAIN, TRAIN)], 3.0 if kernel == "distance" else 0.0
    near = np.argsort(D[np.ix_(TRAIN, TRAIN)][..., 1], axis=1)[:, :20]
    rows = np.repeat(np.arange(len(TRAIN)), 20)
    stored = sparse.csr_array(
        (full[rows, near.ravel()], (rows, near.ravel())), full.shape
    )
    dense = np.full(full.shape, value)
    dense[rows, near.ravel()] = full[rows, near.ravel()]
    dense[near.ravel(), rows] = full[rows, near.ravel()]
    with pytest.raises(ValueError, match=r"stores .* pairs; state a value"):
        KreinLogisticRegression(kernel=kernel).fit(stored, y[TRAIN])
    params = {"missing": value}
    for model in (
        KreinLogisticRegression(kernel=kernel, kernel_params=params),
        KreinLogisticRegressionCV(kernel=kernel, kernel_params=params),
    ):
        model.fit(stored, y[TRAIN])
        expected = clone(model).set_params(kernel_params=None).fit(dense, y[TRAIN])
        np.testing.assert_array_equal(
            model.predict_proba(sparse.coo_array(dense[:9] + 0.1)),
            expected.predict_proba(dense[:9] + 0.1),
        )
    with pytest.raises(TypeError, match="'missing' must be a finite number"):
        KreinLogisticRegression(kernel=kernel, kernel_params={"missing": "max"}).fit(
            stored, y[TRAIN]
        )
