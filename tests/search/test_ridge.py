"""Convex cross-validation against scikit-learn, on the same features."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kreinlearn.operators import Dense, General
from kreinlearn.search import ridge
from kreinlearn.search.crossval import FoldedMatrix, out_of_fold_scores
from kreinlearn.search.ridge import compute_features, warm_start_scores
from kreinlearn.spectrum.norms import compute_scale
from tests.conftest import gram_of_signature

N = 60
HELD = np.arange(0, N, 4)
LAMS = np.array([1.0, 0.1, 0.01])


def matrix(kind):
    K = gram_of_signature(35, 25)
    if kind == "general":
        return General(K + 0.3 * np.random.default_rng(1).standard_normal((N, N)))
    if kind == "wide":
        return General(np.random.default_rng(2).standard_normal((N, 20)))
    return Dense(K)


def ridge_scores(fold, norms, scale, columns, lams, **settings):
    """Return scores and what converged of one fold."""
    every = np.tile(lams, (1, len(norms), 1))
    fold.last.clear()
    about = ([fold], [scale], [norms], every, columns)
    scores, converged = ridge.ridge_scores(*about, **settings)
    return scores[0], converged[0]


def held_out(matrix, norms, columns, lams, **settings):
    """Return the scores of one matrix by norm."""
    paths = [(matrix, norm, lams) for norm in norms]
    return dict(zip(norms, out_of_fold_scores(paths, columns, **settings), strict=True))


def make_columns(n_classes, seed=0):
    index = np.random.default_rng(seed).integers(0, n_classes, N)
    onehot = (index[:, None] == np.arange(n_classes)).astype(float)
    return index, onehot[:, 1:] if n_classes == 2 else onehot


def features(K, norm, w, scale):
    """Features of all samples whose plain ridge is the norm, by eigenvectors."""
    train = np.flatnonzero(w > 0)
    A = K.K[:, train] if K.shape[0] == K.shape[1] else K.K
    if norm == "euclidean":
        v = w[train] if K.shape[0] == K.shape[1] else np.ones(K.shape[1])
        return A * np.sqrt(v / scale)
    root = np.sqrt(w[train] / w.max())
    values, vectors = np.linalg.eigh(root[:, None] * A[train] * root)
    return A @ (root[:, None] * vectors / np.sqrt(np.abs(values)))


def reference(Phi, index, w, lam, fit_intercept):
    """Scores of scikit-learn, whose C is one over the sum of weights times lam."""
    train = w > 0
    model = LogisticRegression(
        C=1 / (lam * w.sum()), tol=1e-10, max_iter=10_000, fit_intercept=fit_intercept
    )
    model.fit(Phi[train], index[train], sample_weight=w[train])
    return model.decision_function(Phi)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(
    ("norm", "kind"),
    [
        ("hilbert", "dense"),
        ("euclidean", "dense"),
        ("euclidean", "general"),
        ("euclidean", "wide"),
    ],
)
def test_two_classes(norm, kind, fit_intercept, weighted):
    K = matrix(kind)
    index, columns = make_columns(2)
    w = np.random.default_rng(3).uniform(0.5, 2.0, N) if weighted else np.ones(N)
    scale = compute_scale(K, w)
    w[HELD] = 0
    fold = compute_features(K, w, HELD)
    found, converged = ridge_scores(
        fold,
        [norm],
        scale,
        columns,
        LAMS,
        multinomial=False,
        fit_intercept=fit_intercept,
        max_iter=100,
        tol=1e-7,
    )
    assert converged.all() and found.shape == (1, 3, len(HELD), 1)
    Phi = features(K, norm, w, scale)
    for lam, scores in zip(LAMS, found[0], strict=True):
        expected = reference(Phi, index, w, lam, fit_intercept)[HELD]
        np.testing.assert_allclose(scores[:, 0], expected, atol=2e-4)


@pytest.mark.parametrize("norm", ["hilbert", "euclidean"])
def test_three_classes(norm):
    K = matrix("dense")
    index, columns = make_columns(3)
    w = np.ones(N)
    scale = compute_scale(K, w)
    w[HELD] = 0
    settings = {"fit_intercept": True, "max_iter": 100, "tol": 1e-7}
    fold = compute_features(K, w, HELD)
    about = (fold, [norm], scale, columns, LAMS)
    found, _ = ridge_scores(*about, multinomial=True, **settings)
    Phi = features(K, norm, w, scale)
    for lam, scores in zip(LAMS, found[0], strict=True):
        expected = reference(Phi, index, w, lam, True)[HELD]
        centered = [
            each - each.mean(axis=1, keepdims=True) for each in (scores, expected)
        ]
        np.testing.assert_allclose(*centered, atol=3e-4)
    apart, _ = ridge_scores(*about, multinomial=False, **settings)
    for c in range(3):
        alone = (fold, [norm], scale, columns[:, [c]], LAMS)
        one, _ = ridge_scores(*alone, multinomial=False, **settings)
        np.testing.assert_allclose(apart[..., c], one[..., 0], atol=1e-5)


SETTINGS = {"multinomial": False, "fit_intercept": True, "max_iter": 100}


def two_folds():
    """Return two folds, and the weights of all samples in them."""
    folds = [(np.setdiff1d(np.arange(N), held), held) for held in (HELD, HELD + 1)]
    weights = np.ones((N, 2))
    for f, (_, held) in enumerate(folds):
        weights[held, f] = 0
    return weights, folds


def test_both_norms_at_once_and_in_threads():
    K, (_, columns) = matrix("dense"), make_columns(2)
    folded = FoldedMatrix(K, *two_folds(), ["hilbert", "euclidean"])
    both = held_out(folded, folded.norms, columns, LAMS, tol=1e-7, **SETTINGS)
    for norm in both:
        alone = held_out(folded, [norm], columns, LAMS, tol=1e-7, **SETTINGS)[norm]
        for one, other in zip(both[norm][0], alone[0], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)
    scale = compute_scale(K, np.ones(N))
    assert folded.scale == pytest.approx(scale, rel=0.1)
    assert FoldedMatrix(K, *two_folds(), ["krein"]).scale == pytest.approx(scale)


def test_steps_that_end_early_are_not_converged():
    K, (_, columns) = matrix("dense"), make_columns(2)
    w = np.ones(N)
    w[HELD] = 0
    _, converged = ridge_scores(
        compute_features(K, w, HELD),
        ["hilbert"],
        1.0,
        columns,
        LAMS / 1000,
        multinomial=False,
        fit_intercept=True,
        max_iter=1,
        tol=1e-4,
    )
    assert not converged.any()


def test_warm_starts_are_scores_of_all_samples():
    K, (index, columns) = matrix("dense"), make_columns(2)
    w = np.ones(N)
    w[:5] = 0
    norms, lams = ("hilbert", "euclidean"), (0.1, 0.01)
    found = warm_start_scores(K, w, 2.0, norms, lams, columns, **SETTINGS)
    for norm, lam, scores in zip(norms, lams, found, strict=True):
        Phi = features(K, norm, w, 2.0)
        expected = reference(Phi, index, w, lam, True)
        np.testing.assert_allclose(scores[:, 0], expected, atol=1e-3)


@pytest.fixture
def precisions(monkeypatch):
    """Note the precision of every path of lam that is solved."""
    seen, path = [], ridge._solve_path

    def spy(folds, scales, norms, lams, dtype, **settings):
        seen.append(np.dtype(dtype).name)
        return path(folds, scales, norms, lams, dtype, **settings)

    monkeypatch.setattr(ridge, "_solve_path", spy)
    return seen


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["dense", "general", "wide"])
def test_single_precision_finds_the_same(kind, n_classes, precisions, monkeypatch):
    K, (_, columns) = matrix(kind), make_columns(n_classes)
    w = np.ones(N)
    w[HELD] = 0
    fold = compute_features(K, w, HELD)
    lams = np.array([10.0, 0.1, 1e-3]) * fold.scale / N
    norms = ["hilbert", "euclidean"] if kind == "dense" else ["euclidean"]
    about = (fold, norms, fold.scale, columns, lams)
    settings = {"multinomial": n_classes > 2, "fit_intercept": True, "max_iter": 100}
    single, converged = ridge_scores(*about, tol=1e-4, **settings)
    assert precisions == ["float32"] and converged.all()
    exact, _ = ridge_scores(*about, tol=1e-9, **settings)
    assert precisions[1:] == ["float64"]
    monkeypatch.setattr(ridge, "SINGLE_TOL", np.inf)
    double, _ = ridge_scores(*about, tol=1e-4, **settings)
    assert precisions[2:] == ["float64"]
    size = np.abs(exact).max(axis=(2, 3), keepdims=True)
    assert (np.abs(single - exact) / size).max() < 5e-3  # as the tolerance has it
    assert (np.abs(single - double) / size).max() < 2e-3


def test_tiny_lam_has_the_same_scores_in_single_precision(monkeypatch):
    K, (_, columns) = matrix("dense"), make_columns(2)
    w = np.ones(N)
    w[HELD] = 0
    fold = compute_features(K, w, HELD)
    lams = np.array([1e-3, 1e-5, 1e-7]) * fold.scale / N
    about = (fold, ["hilbert", "euclidean"], fold.scale, columns, lams)
    single, _ = ridge_scores(*about, tol=1e-3, **SETTINGS)
    monkeypatch.setattr(ridge, "SINGLE_TOL", np.inf)
    double, _ = ridge_scores(*about, tol=1e-3, **SETTINGS)
    size = np.abs(double).max(axis=(2, 3), keepdims=True)
    assert (np.abs(single - double) / size).max() < 0.02


def test_paths_that_fail_are_solved_in_double_precision(precisions):
    K, (_, columns) = matrix("dense"), make_columns(2)
    w = np.ones(N)
    w[HELD] = 0
    fold = compute_features(K, w, HELD)
    about = (fold, ["hilbert"], fold.scale, columns, LAMS * fold.scale / N)
    ridge_scores(*about, tol=1e-4, **{**SETTINGS, "max_iter": 1})
    assert precisions == ["float32", "float64"]


@pytest.mark.parametrize("seed", range(5))
def test_next_to_no_penalty_on_separable_classes_stays_finite(seed):
    index, columns = make_columns(3, seed)
    K = Dense(10.0 * (index[:, None] == index) + gram_of_signature(35, 25))
    w = np.ones(N)
    w[HELD] = 0
    fold = compute_features(K, w, HELD)
    found, _ = ridge_scores(
        fold,
        ["hilbert", "euclidean"],
        fold.scale,
        columns,
        10.0 ** np.arange(0, -13, -1.0) * fold.scale / N,
        multinomial=True,
        fit_intercept=True,
        max_iter=100,
        tol=1e-9,
    )
    assert np.isfinite(found).all() and np.abs(found).max() < 1e4


def test_a_race_by_single_precision_sees_nearly_the_same():
    K, (_, columns) = matrix("dense"), make_columns(2)
    single, double = (
        held_out(
            FoldedMatrix(K, *two_folds(), ["hilbert"], dtype),
            ["hilbert"],
            columns,
            LAMS,
            tol=1e-4,
            **SETTINGS,
        )
        for dtype in (np.float32, np.float64)
    )
    pair = single["hilbert"][0][0], double["hilbert"][0][0]
    np.testing.assert_allclose(*pair, atol=1e-2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stacked_folds_give_the_scores_of_single_folds(n_classes, precisions):
    K, (_, columns) = matrix("dense"), make_columns(n_classes)
    held = [HELD, np.arange(1, N, 7), np.arange(2, N, 3)]  # folds of three sizes
    folds = []
    for rows in held:
        w = np.ones(N)
        w[rows] = 0
        folds.append(compute_features(K, w, rows))
    lams = np.array([10.0, 0.1, 1e-3]) * folds[0].scale / N
    about = (["hilbert", "euclidean"], folds[0].scale, columns, lams)
    settings = {"multinomial": n_classes > 2, "fit_intercept": True, "max_iter": 100}
    stacked, converged = ridge.ridge_scores(
        folds,
        [folds[0].scale] * 3,
        [about[0]] * 3,
        np.tile(lams, (3, 2, 1)),
        columns,
        tol=1e-8,
        **settings,
    )
    assert converged.shape == (3, 2, 3) and converged.all()
    for fold, scores in zip(folds, stacked, strict=True):
        single, _ = ridge_scores(fold, *about, tol=1e-8, **settings)
        np.testing.assert_allclose(scores, single, atol=1e-5)


def test_only_folds_that_fail_are_solved_again(precisions, monkeypatch):
    K, (_, columns) = matrix("dense"), make_columns(2)
    folds = []
    for rows in (HELD, HELD + 1):
        w = np.ones(N)
        w[rows] = 0
        folds.append(compute_features(K, w, rows))
    path, sizes = ridge._solve_path, []

    def fail_once(some, scales, norms, lams, dtype, **settings):
        sizes.append(len(some))
        scores, converged = path(some, scales, norms, lams, dtype, **settings)
        converged[1:] = False
        return scores, converged

    monkeypatch.setattr(ridge, "_solve_path", fail_once)
    lams = LAMS * folds[0].scale
    _, converged = ridge.ridge_scores(
        folds,
        [folds[0].scale] * 2,
        [["hilbert"]] * 2,
        np.tile(lams, (2, 1, 1)),
        columns,
        multinomial=False,
        fit_intercept=True,
        max_iter=100,
        tol=1e-4,
    )
    assert precisions == ["float32", "float64"] and sizes == [2, 1]
    assert converged.all()


@pytest.mark.parametrize("unit", [1e-150, 1e-20, 1e20, 1e150])
def test_scores_do_not_depend_on_the_unit_of_the_matrix(unit):
    _, columns = make_columns(2)
    w = np.ones(N)
    w[HELD] = 0
    found = []
    for factor in (1.0, unit):
        fold = compute_features(Dense(matrix("dense").K * factor), w, HELD)
        scores, converged = ridge_scores(
            fold,
            ["hilbert", "euclidean"],
            fold.scale,
            columns,
            LAMS * fold.scale,
            multinomial=False,
            fit_intercept=True,
            max_iter=100,
            tol=1e-4,
        )
        assert converged.all()
        found.append(scores)
    np.testing.assert_allclose(*found, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_matrices_together_give_the_scores_of_each(n_classes, monkeypatch):
    monkeypatch.setattr(ridge, "STACK_SCORES", 500)  # several stacks
    _, columns = make_columns(n_classes)
    norms = ["hilbert", "krein", "euclidean"]
    matrices = [
        FoldedMatrix(K, *two_folds(), norms)
        for K in (
            matrix("dense"),
            Dense(7.0 * gram_of_signature(50, 10)),
            matrix("dense"),
        )
    ]
    paths = [
        (folded, norm, LAMS * folded.scale * factor)
        for folded, factor in zip(matrices, (1, 0.1, 0.01), strict=True)
        for norm in norms
    ]
    paths[0] = (*paths[0][:2], paths[0][2][:1])  # of another length
    settings = {**SETTINGS, "multinomial": n_classes > 2, "tol": 1e-8}
    together = out_of_fold_scores(paths, columns, **settings)
    for path, found in zip(paths, together, strict=True):
        (alone,) = out_of_fold_scores([path], columns, **settings)
        assert found[1].shape == (2, len(path[2]))
        for one, other in zip(found[0], alone[0], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-4)


def test_a_path_starts_where_the_last_one_ended():
    K, (_, columns) = matrix("dense"), make_columns(3)
    w = np.ones(N)
    w[HELD] = 0
    norms = ["hilbert", "euclidean"]
    fold = compute_features(K, w, HELD)
    lams = np.array([0.1, 0.01]) * fold.scale
    model = {"multinomial": True, "fit_intercept": True, "tol": 1e-3}
    about = ([fold], [fold.scale], [norms], np.tile(lams, (1, 2, 1)), columns)
    first, _ = ridge.ridge_scores(*about, max_iter=100, **model)
    coef, intercept = fold.last["hilbert"]
    assert coef.shape == (1, 3, len(fold.sizes)) and intercept.shape == (1, 3)
    again = (*about[:3], np.tile(lams[1:], (1, 2, 1)), columns)
    second, converged = ridge.ridge_scores(*again, max_iter=0, **model)
    assert converged.all()  # without a step
    np.testing.assert_allclose(second[0][:, 0], first[0][:, 1], atol=1e-6)
