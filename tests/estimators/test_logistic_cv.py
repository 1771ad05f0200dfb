from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import make_moons
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)

from kreinlearn import KreinLogisticRegression, KreinLogisticRegressionCV
from kreinlearn.exceptions import ConvergenceWarning
from kreinlearn.kernels import gram
from kreinlearn.operators import Dense, General
from kreinlearn.search.crossval import FoldedMatrix
from kreinlearn.search.grid import MORE_UNITS, UNITS
from kreinlearn.search.scoring import (
    MAX_MODELS,
    MIN_WEIGHT,
    PSEUDO_ERRORS,
    HeldOutScorer,
    weigh_models,
)
from kreinlearn.spectrum.norms import compute_scale
from tests.conftest import scaled

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def moons():
    X, y = make_moons(90, noise=0.25, random_state=1)
    return scaled(X), y


LAMS = [1e-1, 1e-2, 1e-3]


@pytest.fixture
def exact(monkeypatch):
    """Solve the convex problems of folds to a small error."""
    monkeypatch.setattr("kreinlearn.search.candidates.RIDGE_TOL", 1e-6)


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "roc_auc"])
@pytest.mark.parametrize("norm", ["krein", "hilbert"])
def test_scores_are_those_of_grid_search(moons, scoring, norm):
    X, y = moons
    cv = StratifiedKFold(4, shuffle=True, random_state=3)
    mine = KreinLogisticRegressionCV(
        lams=LAMS,
        norms=[norm],
        kernel="tl1",
        kernel_grid={"ratio": [0.4, 0.8]},
        cv=cv,
        scoring=scoring,
    ).fit(X, y)
    grid = GridSearchCV(
        KreinLogisticRegression(norm=norm),
        {"kernel_params": [{"ratio": 0.4}, {"ratio": 0.8}], "lam": LAMS},
        cv=cv,
        scoring=scoring,
    ).fit(X, y)
    theirs = np.array([grid.cv_results_[f"split{f}_test_score"] for f in range(4)])
    assert mine.scores_.shape == (2, 1, 3, 4)
    np.testing.assert_allclose(mine.scores_[:, 0], theirs.T.reshape(2, 3, 4), atol=1e-4)
    assert mine.best_score_ == pytest.approx(grid.best_score_, abs=1e-4)


def mean_scale(make, K, w, folds):
    """Return the mean scale among the training samples of the folds."""
    parts = ((K[np.ix_(train, train)], w[train]) for train, _ in folds)
    return np.mean([compute_scale(make(part), own) for part, own in parts])


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("norm", ["krein", "hilbert", "euclidean"])
def test_folds_are_fits_of_their_own(moons, norm, weighted):
    X, y = moons
    K = gram(X, kernel="tl1", ratio=0.4)
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    cv = StratifiedKFold(4, shuffle=True, random_state=3)
    mine = KreinLogisticRegressionCV(
        lams=LAMS, norms=[norm], kernel="precomputed", cv=cv
    )
    mine.fit(K, y, sample_weight=w)
    w = np.ones(len(y)) if w is None else w
    folds = list(cv.split(K, y))
    for f, (train, test) in enumerate(folds):
        part, unit = K[np.ix_(train, train)], 1.0
        if norm == "euclidean":  # the scale is the same in all folds
            unit = mean_scale(Dense, K, w, folds) / compute_scale(Dense(part), w[train])
        for j, lam in enumerate(LAMS):
            one = KreinLogisticRegression("precomputed", lam=lam * unit, norm=norm)
            one.fit(part, y[train], sample_weight=w[train])
            logs = one.predict_log_proba(K[np.ix_(test, train)])
            mean = np.average(logs[np.arange(len(test)), y[test]], weights=w[test])
            assert mine.scores_[0, 0, j, f] == pytest.approx(mean, abs=5e-4)


@pytest.mark.usefixtures("exact")
def test_folds_of_a_rectangular_or_asymmetric_matrix(moons):
    X, y = moons
    lopsided = gram(X, kernel="tl1", ratio=0.4) + np.triu(np.full((90, 90), 0.3))
    cv = StratifiedKFold(4, shuffle=True, random_state=3)
    for K in (lopsided, lopsided[:, :25]):
        mine = KreinLogisticRegressionCV(
            lams=LAMS, norms=["euclidean"], kernel="precomputed", cv=cv
        )
        mine.fit(K, y)
        for f, (train, test) in enumerate(cv.split(K, y)):
            columns = train if K.shape[1] == 90 else np.arange(25)
            part, rows = K[np.ix_(train, columns)], K[np.ix_(test, columns)]
            scale = mine.lam_units_[0] * 90
            unit = scale / compute_scale(General(part), np.ones(len(train)))
            one = KreinLogisticRegression(
                "precomputed", lam=LAMS[1] * unit, norm="euclidean"
            ).fit(part, y[train])
            mean = one.predict_log_proba(rows)[np.arange(len(test)), y[test]].mean()
            assert mine.scores_[0, 0, 1, f] == pytest.approx(mean, abs=5e-4)


def test_the_grid_is_in_units_of_the_matrix(moons):
    X, y = moons
    K = gram(X, kernel="tl1", ratio=0.4)
    fits = [
        KreinLogisticRegressionCV(kernel="precomputed").fit(scale * K, y)
        for scale in (1.0, 1000.0)
    ]
    s = np.abs(np.linalg.eigvalsh(K)).mean()
    np.testing.assert_allclose(fits[0].lam_units_, [s / len(y)], rtol=0.1)
    s = fits[0].lam_units_[0] * len(y)  # the mean over folds
    np.testing.assert_allclose(fits[0].lams_[0, :10], np.array(UNITS) * s / len(y))
    np.testing.assert_allclose(fits[1].lams_, 1000 * fits[0].lams_)
    np.testing.assert_allclose(fits[1].scores_, fits[0].scores_, atol=1e-3)
    np.testing.assert_allclose(
        fits[1].predict_proba(1000 * K), fits[0].predict_proba(K), atol=1e-3
    )


@pytest.mark.usefixtures("exact")
def test_the_grid_grows_while_its_end_is_the_best(moons):
    X, y = moons

    def confident(estimator, X, y):
        return np.abs(estimator.decision_function(X)).mean()

    def humble(estimator, X, y):
        return -confident(estimator, X, y)

    settings = {"kernel": "tl1", "kernel_grid": {"ratio": [0.3]}}
    grown = KreinLogisticRegressionCV(scoring=confident, **settings).fit(X, y)
    units = [*UNITS, *MORE_UNITS]
    assert grown.scores_.shape == (1, 2, len(units), 5)
    np.testing.assert_allclose(grown.lams_[0] / grown.lam_units_[0], units)
    assert not np.isnan(grown.scores_).any() and grown.lam_ == grown.lams_[0, -1]
    kept = KreinLogisticRegressionCV(scoring=humble, **settings).fit(X, y)
    assert kept.scores_.shape == (1, 2, len(UNITS), 5)
    assert kept.lam_ == kept.lams_[0, 0]
    fixed = KreinLogisticRegressionCV(lams=LAMS, scoring=confident, **settings).fit(
        X, y
    )
    np.testing.assert_array_equal(fixed.lams_, [LAMS])


def test_what_was_not_tried_is_nan(moons):
    X, y = moons

    def moderate(estimator, X, y):  # stops one setting earlier than another
        return -abs(np.abs(estimator.decision_function(X)).mean() - 8.0)

    model = KreinLogisticRegressionCV(
        kernel=("linear", "tl1"), kernel_grid={"tl1": {}}, scoring=moderate
    ).fit(X, y)
    tried = ~np.isnan(model.scores_).any(axis=3)
    assert tried[:, :, : len(UNITS)].all() and not tried.all()
    ends = tried.sum(axis=2)
    assert len(np.unique(ends)) > 1 and ends.max() == model.scores_.shape[2]
    for i, j in np.ndindex(2, 2):
        assert tried[i, j, : ends[i, j]].all()
    assert np.isfinite(model.lams_).all()


def test_an_error_more_than_were_seen():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 30)
    scores = [rng.standard_normal((10, 3)) for _ in range(3)]
    folds = [(None, np.arange(10 * f, 10 * f + 10)) for f in range(3)]
    model = KreinLogisticRegressionCV()
    model.classes_, model._link = np.arange(3), "multinomial"
    about = (y, None, model.classes_, model._link)
    scorer = HeldOutScorer(model, "neg_log_loss", *about)
    total = unseen = 0.0
    for each, (_, rows) in zip(scores, folds, strict=True):
        for p, label in zip(np.exp(each), y[rows], strict=True):
            p /= p.sum()
            total += np.log(p[label])
            others = [j for j in range(3) if j != p.argmax()]
            share = sum(p[j] for j in others)
            unseen += sum(p[j] / share * np.log(p[j]) for j in others)
    expected = (total + PSEUDO_ERRORS * unseen / 30) / (30 + PSEUDO_ERRORS)
    models = [each[None] for each in scores]
    fold_scores, criteria = scorer.score(models, folds)
    assert criteria == pytest.approx([expected])
    assert fold_scores[0].sum() * 10 == pytest.approx(total)
    by_accuracy = HeldOutScorer(model, "accuracy", *about)
    hits = np.concatenate(scores).argmax(axis=1) == y
    assert by_accuracy.score(models, folds)[1] == pytest.approx([hits.mean()])


def test_folds_without_a_seed_are_those_of_seed_zero(rings):
    X, y = rings
    settings = {"kernel": "tl1", "lams": [0.1, 0.01], "refit": False}
    scores = [
        KreinLogisticRegressionCV(**settings, random_state=seed).fit(X, y).scores_
        for seed in (None, None, 0, 1)
    ]
    assert np.array_equal(scores[0], scores[1], equal_nan=True)
    assert np.array_equal(scores[0], scores[2], equal_nan=True)
    assert not np.array_equal(scores[0], scores[3], equal_nan=True)
    assert "seed 0 unless you set `random_state`" in (DOCS / "faq.md").read_text()


def test_certificates_are_those_of_the_worst_averaged_model(rings):
    X, y = rings
    model = KreinLogisticRegressionCV(norms=("krein", "hilbert"), kernel="tl1", cv=3)
    model.fit(X, y)
    parts = model.estimators_
    assert len(parts) > 1
    assert model.residual_ == max(part.residual_ for part in parts) <= model.tol
    assert model.n_iter_ == max(part.n_iter_ for part in parts)
    assert model.status_ == "converged"
    regimes = [part.regime_ for part in parts]
    assert model.regime_ == ("nonconvex" if "nonconvex" in regimes else "unique")
    for worst in ("unknown", "nonconvex"):
        parts[0]._regime, parts[0]._open = worst, None
        parts[1]._regime, parts[1]._open = "unknown", None
        assert model.regime_ == worst
    parts[-1].residual_ = 0.5
    assert model.residual_ == 0.5
    without = KreinLogisticRegressionCV(kernel="tl1", cv=3, refit=False).fit(X, y)
    assert not hasattr(without, "residual_") and not hasattr(without, "regime_")


def test_best_setting_is_refitted(moons):
    X, y = moons
    model = KreinLogisticRegressionCV(
        lams=LAMS, kernel="tl1", average=False, random_state=0
    ).fit(X, y)
    assert model.scores_.shape == (6, 2, 3, 5)
    np.testing.assert_array_equal(model.lams_, [LAMS] * 6)
    i = model.kernel_settings_.index((model.kernel_, model.kernel_params_))
    j, k = model.norms.index(model.norm_), LAMS.index(model.lam_)
    best = model.scores_.mean(axis=3)
    assert model.best_score_ == np.nanmax(best) == best[i, j, k]
    alone = KreinLogisticRegression(
        kernel_params=model.kernel_params_, norm=model.norm_, lam=model.lam_
    ).fit(X, y)
    assert len(model.estimators_) == 1 and model.weights_.tolist() == [1.0]
    near = {"atol": 1e-5}  # it starts elsewhere
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), **near)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_allclose(
        model.decision_function(X), alone.decision_function(X), **near
    )
    np.testing.assert_allclose(
        np.exp(model.predict_log_proba(X)), model.predict_proba(X)
    )


def test_settings_are_averaged_by_their_weights(moons):
    X, y = moons
    model = KreinLogisticRegressionCV(lams=LAMS).fit(X, y)
    assert {name for name, _ in model.kernel_settings_} == {"tl1", "rbf", "laplacian"}
    assert len(model.estimators_) > 1
    assert model.weights_.sum() == pytest.approx(1)
    assert model.weights_.min() >= MIN_WEIGHT and len(model.weights_) <= MAX_MODELS
    pooled = sum(
        weight * estimator.decision_function(X)
        for weight, estimator in zip(model.weights_, model.estimators_, strict=True)
    )
    np.testing.assert_allclose(model.decision_function(X), pooled)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(pooled))
    np.testing.assert_array_equal(model.predict(X), pooled > 0)
    assert model.score(X, y) > 0.9


def weigh(logs, weights):
    """Weigh models that are certain of their predictions to be the same degree."""
    return weigh_models(logs, weights, np.full(len(logs), -1.0))[0]


def test_weights_of_models():
    rng = np.random.default_rng(0)
    good, bad = -rng.uniform(0.1, 0.2, 200), -rng.uniform(1.0, 2.0, 200)
    weights = weigh(np.stack([good, bad, good]), np.ones(200))
    np.testing.assert_allclose(weights, [0.5, 0.0, 0.5], atol=1e-12)
    # close calls count nearly alike, although their sums differ by several units
    noise = 0.3 * rng.standard_normal((2, 200))
    assert weigh(-np.abs(0.5 + noise), np.ones(200)).min() > 0.1
    # an impossible event does not make a number of nothing
    wrong = good.copy()
    wrong[0] = -np.inf
    assert np.isfinite(weigh(np.stack([good, wrong]), np.ones(200))).all()
    # a weight of two is a sample seen twice
    twice = weigh(np.stack([good, bad]), np.full(200, 2.0))
    np.testing.assert_allclose(twice, [1.0, 0.0], atol=1e-12)
    # many models that are the same: the first ones stay
    many = weigh(np.stack([good] * (MAX_MODELS + 3)), np.ones(200))
    np.testing.assert_allclose(many[:MAX_MODELS], 1 / MAX_MODELS)
    assert not many[MAX_MODELS:].any()
    # certainty costs if one more prediction turns out to be wrong
    errors = np.array([-9.0, -1.0])
    certain, _ = weigh_models(np.stack([good, good]), np.ones(200), errors)
    assert certain[1] > 0.8


def test_both_norms_are_solved_once_where_they_are_the_same(moons, monkeypatch):
    X, y = moons
    seen = []

    def spy(*args):
        seen.append(args)
        return FoldedMatrix(*args)

    monkeypatch.setattr("kreinlearn.search.candidates.FoldedMatrix", spy)
    norms = ("krein", "hilbert")
    model = KreinLogisticRegressionCV(
        lams=LAMS, norms=norms, kernel="rbf", kernel_grid={}
    )
    model.fit(X, y)
    assert len(seen) == 1 and len(model.estimators_) == 1
    assert np.isnan(model.scores_[:, 1]).all() and model.norm_ == "krein"


def test_nothing_is_stored_if_blocked(moons, monkeypatch):
    X, y = moons
    monkeypatch.setattr("kreinlearn.kernels.ResolvedKernel.matrix", None)
    settings = {"lams": [0.1], "norms": ["krein"], "cv": 2}
    model = KreinLogisticRegressionCV(operator="blocked", **settings).fit(X, y)
    assert {each.operator_ for each in model.estimators_} == {"blocked"}


def test_held_out_probabilities_are_cross_val_predict(moons):
    X, y = moons
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    model = KreinLogisticRegressionCV(
        lams=[1e-2], norms=["krein"], kernel="tl1", kernel_grid={}, cv=cv
    ).fit(X, y)
    expected = cross_val_predict(
        KreinLogisticRegression(), X, y, cv=cv, method="predict_proba"
    )
    np.testing.assert_allclose(model.held_out_proba_, expected, atol=1e-4)


def test_ties_go_to_more_regularization(moons):
    X, y = moons

    def indifferent(estimator, X, y):
        return 1.0

    model = KreinLogisticRegressionCV(lams=LAMS, scoring=indifferent).fit(X, y)
    assert model.lam_ == 0.1 and model.norm_ == "hilbert"
    assert (model.kernel_, model.kernel_params_) == ("tl1", {"ratio": 0.1})


def test_splitters_groups_and_scorers(moons):
    X, y = moons
    groups = np.arange(90) // 6
    settings = {"lams": LAMS, "kernel": "tl1", "kernel_grid": {}, "norms": ["krein"]}
    model = KreinLogisticRegressionCV(cv=GroupKFold(3), **settings)
    assert model.fit(X, y, groups=groups).scores_.shape == (1, 1, 3, 3)
    random = ShuffleSplit(2, test_size=0.2, random_state=0)
    model = KreinLogisticRegressionCV(cv=random, **settings).fit(X, y)
    assert np.isnan(model.held_out_proba_).any()
    listed = list(StratifiedKFold(2).split(X, y))
    scorer = make_scorer(accuracy_score)
    model = KreinLogisticRegressionCV(cv=listed, scoring=scorer, **settings).fit(X, y)
    assert 0.5 < model.best_score_ <= 1.0


def test_weights_are_used_in_fits_and_scores(moons):
    X, y = moons
    listed = list(StratifiedKFold(3).split(X, y))
    weights = np.where(np.arange(90) % 4 == 0, 2.0, 1.0)
    settings = {"lams": LAMS, "kernel": "tl1", "kernel_grid": {}, "norms": ["krein"]}
    model = KreinLogisticRegressionCV(cv=listed, **settings)
    weighted = model.fit(X, y, sample_weight=weights).scores_.copy()
    rows = np.repeat(np.arange(90), weights.astype(int))
    place = [np.flatnonzero(np.isin(rows, held)) for _, held in listed]
    folds = [(np.setdiff1d(np.arange(len(rows)), p), p) for p in place]
    repeated = KreinLogisticRegressionCV(cv=folds, **settings).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted, repeated.scores_, atol=1e-4)
    balanced = KreinLogisticRegressionCV(class_weight="balanced", **settings)
    assert balanced.fit(X[:60], y[:60]).score(X, y) > 0.8
    names = np.array(["no", "yes"])[y]
    named = KreinLogisticRegressionCV(class_weight={"no": 1, "yes": 5}, **settings)
    assert (named.fit(X, names).predict(X) == "yes").mean() > 0.5


def test_without_refit_there_is_nothing_to_predict_with(moons):
    X, y = moons
    model = KreinLogisticRegressionCV(lams=LAMS, kernel="tl1", refit=False).fit(X, y)
    assert model.lam_ in LAMS
    with pytest.raises(AttributeError, match="refit=False.*set refit=True"):
        model.predict(X)


def test_unconverged_fits_are_counted(moons):
    X, y = moons
    model = KreinLogisticRegressionCV(
        lams=[1e-3], kernel="tl1", kernel_grid={}, max_iter=1, refit=False
    )
    with pytest.warns(ConvergenceWarning, match="10 of 10 fits .* max_iter=1 in"):
        model.fit(X, y)


def test_verbose_prints_a_line_a_norm(moons, capsys):
    X, y = moons
    corners = np.random.default_rng(0).integers(0, 3, (60, 5)) / 2  # indefinite
    KreinLogisticRegressionCV(
        lams=LAMS, kernel="tl1", kernel_grid={"ratio": [0.7]}, verbose=1, refit=False
    ).fit(corners, y[:60])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == "kernel ratio norm lam score best done".split()
    assert len(lines) == 3
    shown = [line.split() for line in lines[1:]]
    best = max(float(line[4]) for line in shown)
    assert all(float(line[5]) == best and float(line[6]) == 1.0 for line in shown)


@pytest.mark.parametrize("search", ["auto", "full"])
def test_settings_side_by_side_give_the_same(moons, search):
    X, y = moons
    given = {"search": search, "kernel": ("tl1", "rbf"), "cv": 3}
    one = KreinLogisticRegressionCV(**given).fit(X, y)
    two = KreinLogisticRegressionCV(n_jobs=2, **given).fit(X, y)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert one.dropped_ == two.dropped_


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"lams": []}, "'lams' must be a sequence of positive numbers, got"),
        ({"lams": 0.1}, "'lams' must be a sequence of positive numbers, got 0.1"),
        ({"lams": [0.1, -1.0]}, "'lams' must be a positive number, got -1.0"),
        ({"norms": "krein"}, "'norms' must be a sequence .* got 'krein'"),
        ({"norms": ["l2"]}, "'norms' must be one of .* got 'l2'"),
        ({"scoring": "fame"}, "fame"),
        ({"n_jobs": 0}, "'n_jobs' must be None or an integer other than 0.* got 0"),
        ({"n_jobs": "two"}, "'n_jobs' must be None or an integer .* got 'two'"),
        ({"kernel": "tl2"}, "'kernel' must be one of .* got 'tl2'"),
        ({"kernel": ("tl1", "tl2")}, "'kernel' must be one of .* got 'tl2'"),
        ({"kernel_params": {"tau": 1}}, "Several kernels go with neither .*'tau': 1"),
        ({"kernel": ("tl1", "precomputed")}, "Several kernels go with neither"),
    ],
)
def test_bad_parameters(moons, params, words):
    X, y = moons
    with pytest.raises(ValueError, match=words):
        KreinLogisticRegressionCV(**params).fit(X, y)
