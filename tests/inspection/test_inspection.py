"""Signatures that are known, negative parts with and without labels, and words."""

import json

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from kreinlearn import (
    KreinLogisticRegression,
    KreinLogisticRegressionCV,
    SpectrumRepair,
    inspect_similarity,
)
from kreinlearn.app.inspection import evidence, verdict
from kreinlearn.app.inspection.page import matrix_figure
from kreinlearn.app.methods import inner_folds
from kreinlearn.datasets import make_gram
from kreinlearn.kernels import gram
from kreinlearn.spectrum import decompose
from tests.conftest import gram_of_signature

FEW_LAMS = (10.0, 0.3)


def inspect_matrix(K, y=None, **options):
    """Return the results for a matrix of similarities."""
    return inspect_similarity(K, y, kernel="precomputed", **options).results


def halves(n, rng, n_classes=2, *, labels_in_negative=True, noise=0.3):
    """Return K = X X' - Z Z' with labels from X and Z, or from X alone."""
    X, Z = rng.standard_normal((n, 3)), rng.standard_normal((n, 3))
    Q, _ = np.linalg.qr(np.hstack([X, Z]))  # both parts are what they seem
    X, Z = Q[:, :3] * np.sqrt(n), Q[:, 3:] * np.sqrt(n)
    signal = X[:, 0] + (2 * Z[:, 0] if labels_in_negative else 0)
    signal = signal + noise * rng.standard_normal(n)
    cuts = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X @ X.T - Z @ Z.T, np.searchsorted(cuts, signal)


@pytest.mark.parametrize("signature", [(3, 2, 0), (20, 5, 7), (4, 0, 3)])
def test_the_signature_and_the_extreme_eigenvalues_are_found(signature):
    K = gram_of_signature(*signature)
    found = inspect_matrix(K)
    mu = np.linalg.eigvalsh(K)
    assert found["signature"] == list(signature)
    np.testing.assert_allclose(found["eigenvalues"], mu[::-1], atol=1e-10)
    assert found["mu_min"] == pytest.approx(mu[0], abs=1e-10)
    assert found["mu_max"] == pytest.approx(mu[-1])
    share = -mu[mu < -1e-9].sum() / np.abs(mu).sum()
    assert found["negative_share"] == pytest.approx(share, abs=1e-12)
    assert found["unique_lam"] == pytest.approx(
        max(0, -mu[0]) / (4 * len(K)), abs=1e-12
    )


def test_labels_in_the_negative_part_mean_keep(rng):
    K, y = halves(60, rng)
    found = inspect_matrix(K, y, permutations=200)
    value = found["value"]
    scores = value["scores"]
    assert found["recommendation"] == value["what"] == "keep"
    assert value["p_better"] == value["p_beyond"] == pytest.approx(1 / 201)
    assert value["p_value"] == max(value["p_better"], value["p_beyond"])
    assert scores["unrepaired"]["accuracy"] > scores["clip"]["accuracy"] + 0.1
    assert found["sentences"][0].startswith("The labels are predictable: KreinCV, the")
    assert found["sentences"][1].startswith("Keep the negative part: without it")
    assert "falls from" in found["sentences"][1]
    assert "(p = 0.005)" in found["sentences"][1]
    assert found["n_verdict"] == 2
    assert 0.8 < found["model"]["accuracy"] <= 1 and found["model"]["majority"] == 0.5
    assert json.loads(json.dumps(found)) == found


def test_noise_in_the_negative_part_means_repair(rng):
    n = 80
    X, y = halves(n, rng, labels_in_negative=False)
    G = rng.standard_normal((n, 20))
    found = inspect_matrix(X - 3 * G @ G.T, y, permutations=200)
    assert found["recommendation"] == "repair"
    assert found["value"]["p_worse"] <= 0.05
    assert found["sentences"][1].startswith("Clip the negative part: without it")
    assert 'SpectrumRepair("clip")' in found["sentences"][-1]


def test_a_negative_part_that_is_too_small_to_matter(rng):
    K, y = halves(60, rng, labels_in_negative=False)
    tiny = 1e-4 * rng.standard_normal((60, 60))
    found = inspect_matrix(K @ K / 60 + tiny + tiny.T, y, permutations=50)
    assert found["matrix"] == "indefinite"
    assert found["recommendation"] == "either"
    assert "no difference that matters" in found["sentences"][1]


@pytest.mark.slow
def test_noise_is_rarely_called_information(monkeypatch):
    """At a level of 5%, at most 2 of 20 problems without information give "keep"."""
    monkeypatch.setattr(evidence, "UNITS", FEW_LAMS)
    p_values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, G = rng.standard_normal((30, 4)), rng.standard_normal((30, 6))
        y = (X[:, 0] + 0.5 * rng.logistic(size=30) > 0).astype(int)
        K = gram(X, kernel="rbf", sigma=3) - 0.1 * G @ G.T
        if seed % 2:  # nothing to learn at all, and noise of both signs
            y = rng.permutation(np.arange(30) % 2)
            K = X @ X.T + G @ G.T[:, ::-1] + G[::-1] @ G.T
        p_values.append(inspect_matrix(K, y, permutations=99)["value"]["p_value"])
    assert np.mean(np.array(p_values) <= 0.05) <= 0.1
    assert np.median(p_values) > 0.2


def test_held_out_predictions_are_those_of_the_estimators(rng, monkeypatch):
    """One lam only: unrepaired with the first norm, clipped as in a pipeline."""
    monkeypatch.setattr(evidence, "UNITS", (1.0,))
    K, y = halves(40, rng)
    folds = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    found = evidence.predict_treatments(K, y, folds, lambda: None)
    lam = np.abs(np.linalg.eigvalsh(K)).mean() / 40
    train, held = folds[0]
    clip = SpectrumRepair("clip")
    within = clip.fit_transform(K[np.ix_(train, train)])
    model = KreinLogisticRegression("precomputed", lam=lam).fit(within, y[train])
    expected = model.predict_log_proba(clip.transform(K[np.ix_(held, train)]))
    np.testing.assert_allclose(found["clip"].logs[held], expected, atol=1e-3)
    model = KreinLogisticRegression("precomputed", lam=lam, norm="hilbert")
    model.fit(K[np.ix_(train, train)], y[train])
    expected = model.predict_log_proba(K[np.ix_(held, train)])
    np.testing.assert_allclose(found["flip"].logs[held], expected, atol=1e-3)


def test_labels_are_exchanged_as_far_as_the_model_leaves_them_open(rng):
    index = np.arange(40) % 2
    folds = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    sure = np.log(np.where(np.eye(2)[index] > 0, 1 - 1e-12, 1e-12))
    open_ = np.full((40, 2), np.log(0.5))
    half = np.where(np.arange(40)[:, None] < 20, sure, open_)
    drawn = evidence.permute_labels(index, half, folds, 400, rng)
    assert (drawn[:, :20] == index[:20]).all()
    assert (drawn[:, 20:].sum(axis=1) == 10).all()
    assert np.abs(drawn[:, 20:].mean(axis=0) - 0.5).max() < 0.12  # 5 deviations


def test_the_smoother_is_ridge_regression_with_an_intercept(rng):
    X, Z, y = (rng.standard_normal(shape) for shape in ((12, 3), (5, 3), 12))
    whole = np.vstack([X, Z]) @ np.vstack([X, Z]).T
    train, held = np.arange(12), np.arange(12, 17)
    kept = decompose(whole[np.ix_(train, train)]).positive()
    smoother = evidence._compute_smoother(whole[np.ix_(held, train)], kept, 0.7)
    expected = Ridge(alpha=0.7).fit(X, y).predict(Z)
    np.testing.assert_allclose(smoother @ y, expected, atol=1e-10)


def test_a_positive_semidefinite_matrix_needs_no_test(rng):
    X = rng.standard_normal((30, 4))
    found = inspect_matrix(X @ X.T, X[:, 0] > 0)
    assert found["recommendation"] == "either"
    assert found["value"] is None
    assert found["model"]["accuracy"] > 0.8
    assert "The labels are predictable" in found["sentences"][0]
    assert "positive semidefinite: any kernel method applies" in found["sentences"][1]


@pytest.mark.parametrize(
    ("K", "words"),
    [
        (np.zeros((5, 5)), "similarities are zero"),
        (np.full((5, 5), 2.0), "almost equal"),
        (np.diag([1.0, 2.0, -1.0, 3.0]), "almost diagonal"),
    ],
)
def test_uninformative_matrices(K, words):
    found = inspect_matrix(K, np.arange(len(K)) % 2)
    assert words in found["sentences"][0]
    assert found["recommendation"] == "either"
    assert found["value"] is None


def test_an_asymmetric_matrix_is_inspected_by_its_symmetric_part():
    K, _ = make_gram((5, 3), n_samples=20, random_state=0)
    skew = np.zeros((20, 20))
    skew[0, 1], skew[1, 0] = 0.25, -0.25
    found = inspect_matrix(K + skew)
    assert found["signature"] == [5, 3, 12]
    assert found["asymmetry"]["largest"] == pytest.approx(0.5)
    assert found["asymmetry"]["relative"] == pytest.approx(0.5 / np.abs(K + skew).max())
    share = np.sqrt(2) * 0.25 / np.linalg.norm(K + skew)
    assert found["asymmetry"]["share"] == pytest.approx(share)
    assert any(
        "differs from its transpose by up to 0.5" in s for s in found["sentences"]
    )


def test_without_labels_nothing_is_advised():
    K, _ = make_gram((5, 3), n_samples=20, random_state=0)
    found = inspect_matrix(K)
    assert found["recommendation"] == "unknown"
    assert "no labels were given" in found["sentences"][0]
    assert found["sentences"][1].startswith("3 of its 20 eigenvalues are negative")


@pytest.mark.parametrize(
    ("n", "y", "words"),
    [
        (12, [0, 1] * 6, "at least 20 samples are needed, and there are 12"),
        (
            24,
            [0] * 22 + [1] * 2,
            "classes of at least 3 samples are needed, and there is",
        ),
        (24, list(range(24)), "and there are none"),
    ],
)
def test_too_few_samples_raise(n, y, words):
    K, _ = make_gram((5, 3), n_samples=n, random_state=0)
    found = inspect_matrix(K, y)
    assert found["recommendation"] == "unknown"
    assert words in found["sentences"][0]


def test_rare_classes_are_left_out_and_folds_reduced(rng, monkeypatch):
    monkeypatch.setattr(evidence, "UNITS", FEW_LAMS)
    K, y = halves(40, rng)
    y[:2], y[2:6] = 7, 8
    model = inspect_matrix(K, y, permutations=20)["model"]
    assert (model["left_out"], model["n"], model["folds"]) == ([7], 38, 4)


def test_large_matrices_are_sample_rows(rng, monkeypatch):
    monkeypatch.setattr(verdict, "MAX_SAMPLES", 50)
    monkeypatch.setattr(verdict, "MAX_LEARNED", 40)
    monkeypatch.setattr(evidence, "UNITS", FEW_LAMS)
    K, y = halves(80, rng)
    seen = []
    found = inspect_matrix(
        K, y, permutations=20, progress=lambda *done: seen.append(done)
    )
    assert (found["n"], found["n_given"], found["model"]["n"]) == (50, 80, 40)
    assert "These are 50 of 80 samples, drawn at random." in found["sentences"]
    assert any("of 40 samples drawn from them" in said for said in found["sentences"])
    assert seen == [(done, 10) for done in range(1, 11)]


@pytest.mark.parametrize(
    ("K", "y", "words"),
    [
        (np.ones((2, 3)), None, r"square.*\(2, 3\)"),
        ([[1.0, np.nan], [0.0, 1.0]], None, "finite, got nan in row 0, column 1"),
        (np.eye(3), [0, 1], r"shape \(3,\).*got shape \(2,\)"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(K, y, words):
    with pytest.raises(ValueError, match=words):
        inspect_matrix(K, y)


def test_random_labels_are_hardly_predictable(rng):
    X = rng.standard_normal((40, 3))
    D = np.abs(X[:, None] - X).sum(axis=2)
    found = inspect_similarity(D, np.arange(40) % 2, permutations=20)
    assert "The labels are hardly predictable: KreinCV" in found.verdict
    assert found.results["params"] == {"form": "exponential", "width": 1.0}


def test_the_model_is_that_of_a_search_on_distances(rng):
    """Nested in folds; the same folds within as any method of a comparison."""
    X = rng.standard_normal((40, 3))
    D, y = np.abs(X[:, None] - X).sum(axis=2), np.where(X[:, 0] > 0, "a", "b")
    model = inspect_similarity(D, y).results["model"]
    index = np.unique(y, return_inverse=True)[1]
    hits = []
    for train, held in inner_folds(index, 0, least=2):
        search = KreinLogisticRegressionCV(
            kernel="distance", cv=inner_folds(index[train], 0)
        ).fit(D[np.ix_(train, train)], y[train])
        hits.append(search.predict(D[np.ix_(held, train)]) == y[held])
    assert model["accuracy"] == np.concatenate(hits).mean()


def test_results_in_a_notebook(rng, tmp_path):
    K, y = halves(40, rng)
    found = inspect_similarity(K, y, kernel="precomputed", permutations=20)
    assert found.table.index[:2].tolist() == ["KreinCV", "majority class"]
    assert found.verdict in found._repr_html_() and "<table" in found._repr_html_()
    assert found.verdict in repr(found)
    path = tmp_path / "page.html"
    assert found.save(path) is found
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(FileExistsError, match="exists already"):
        found.save(path)


@pytest.mark.slow
def test_real_dissimilarities(data_home):
    """Cat cortex: connection strengths of 65 regions, in four classes."""
    from pathlib import Path

    path = Path(data_home) / "sim" / "cat-cortex.npz"
    if not path.exists():
        pytest.skip("needs sim/cat-cortex.npz")
    with np.load(path) as held:
        D, y = held["D"].astype(float), held["y"]
    found = inspect_matrix(-D, y)
    assert found["signature"] == [49, 16, 0]
    assert found["recommendation"] == "either"
    assert found["value"]["scores"]["unrepaired"]["accuracy"] > 0.85


def test_the_page_shows_the_matrix_by_class(tmp_path):
    K, y = make_gram((5, 3), n_samples=40, random_state=0)
    labels = np.where(y > 0, "yes", "no")
    found = inspect_similarity(K, labels, kernel="precomputed", permutations=20)
    figure = matrix_figure(found.similarities, found.labels)
    rows = {(str(a), str(b)): mean.value for a, b, mean in figure.numbers[2]}
    same = K[np.ix_(labels == "no", labels == "no")]
    n = len(same)
    mean = (same.sum() - same.trace()) / (n * (n - 1))
    assert rows["no", "no"] == pytest.approx(mean, rel=1e-3)
    across = K[np.ix_(labels == "no", labels == "yes")].mean()
    assert rows["no", "yes"] == pytest.approx(across, rel=1e-3)
    page = found.save(tmp_path / "page.html") and (tmp_path / "page.html").read_text()
    assert "The matrix, ordered by class" in page
    alone = inspect_similarity(K, kernel="precomputed").save(tmp_path / "alone.html")
    assert alone.labels is None
    assert "ordered by class" not in (tmp_path / "alone.html").read_text()
