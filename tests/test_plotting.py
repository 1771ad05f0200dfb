"""Displays: curves against a count by hand, and what is drawn."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.datasets import make_gram
from kreinlearn.kernels import gram
from kreinlearn.plotting import (
    ContributionDisplay,
    ReviewCurveDisplay,
    SimilarityMatrixDisplay,
    SpectrumDisplay,
    review_curve,
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    K, y = make_gram((5, 3), n_samples=60, random_state=0)
    labels = np.array(["no", "yes"])[(y > 0).astype(int)]
    model = KreinLogisticRegressionCV(kernel="precomputed").fit(
        K[:40, :40], labels[:40]
    )
    return model, K[40:, :40], labels[40:]


def test_review_curve_counts_errors_after_the_least_certain():
    rng = np.random.default_rng(0)
    is_error, confidence = rng.random(50) < 0.3, rng.permutation(50)
    fraction, left = review_curve(is_error, confidence)
    order = np.argsort(confidence)
    for k in range(51):
        assert left[k] == is_error[order[k:]].sum()
    np.testing.assert_allclose(fraction, np.arange(51) / 50)


def test_equal_confidence_is_reviewed_at_once():
    fraction, left = review_curve([True, False, True, False], [0.5] * 4)
    assert fraction.tolist() == [0, 1] and left.tolist() == [2, 0]


def test_review_curve_of_an_estimator_is_that_of_its_predictions(fitted):
    model, X, y = fitted
    display = ReviewCurveDisplay.from_estimator(model, X, y)
    wrong = (model.predict(X) != y).sum()
    assert display.errors_left[0] == wrong and display.errors_left[-1] == 0
    assert display.ax_.get_legend().get_texts()[0].get_text().startswith("Krein")
    again = ReviewCurveDisplay.from_predictions(
        y, model.predict_proba(X), ax=display.ax_, color="red"
    )
    np.testing.assert_array_equal(again.errors_left, display.errors_left)
    assert again.line_.get_color() == "red" and len(display.ax_.lines) == 2


def test_probabilities_of_another_shape_raise(fitted):
    with pytest.raises(ValueError, match=r"must have shape \(3, 2\).*got \(3, 3\)"):
        ReviewCurveDisplay.from_predictions([0, 1, 0], np.ones((3, 3)))


def test_contributions_are_those_of_explain(fitted):
    model, X, _ = fitted
    display = ContributionDisplay.from_estimator(model, X[:1], top=4)
    expected = model.explain(X[:1], top=4)["contribution"]
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, expected)
    assert display.ax_.get_xlabel() == "contribution to the score of class yes"


def test_contributions_are_of_one_sample_and_a_known_class(fitted):
    model, X, _ = fitted
    with pytest.raises(ValueError, match="one sample, got 2"):
        ContributionDisplay.from_estimator(model, X[:2])
    with pytest.raises(ValueError, match="'label' must be one of .* got 'maybe'"):
        ContributionDisplay.from_estimator(model, X[:1], label="maybe")


def test_spectrum_of_a_matrix_and_of_an_estimator(fitted):
    K = np.diag([4.0, -1.0, 0.0]) @ np.eye(3)
    display = SpectrumDisplay.from_matrix(K)
    assert display.eigenvalues.tolist() == [4, 0, -1]
    assert display.negative_fraction == 0.2
    assert display.ax_.get_yscale() == "symlog" and len(display.ax_.collections) == 2
    assert len(SpectrumDisplay.from_matrix(np.eye(3)).ax_.collections) == 1
    K, y = make_gram((5, 3), n_samples=60, random_state=0)
    K = K[:40, :40]
    found = SpectrumDisplay.from_estimator(fitted[0], K, ax=display.ax_)
    np.testing.assert_allclose(
        found.eigenvalues, np.linalg.eigvalsh(K)[::-1], atol=1e-10
    )
    with pytest.raises(ValueError, match="must be square"):
        SpectrumDisplay.from_matrix(K[:5])


def test_matrices_are_ordered_by_class(fitted):
    K, y = make_gram((5, 3), n_samples=60, random_state=0)
    K, labels = K[:40, :40], np.array(["no", "yes"])[(y[:40] > 0).astype(int)]
    display = SimilarityMatrixDisplay.from_matrix(K, labels, cmap="gray")
    order = [i for k in ("no", "yes") for i in range(40) if labels[i] == k]
    np.testing.assert_array_equal(display.image_.get_array(), K[order][:, order])
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names == ["no", "yes"] and len(display.ax_.lines) == 2
    plain = SimilarityMatrixDisplay.from_estimator(fitted[0], K)
    np.testing.assert_array_equal(plain.image_.get_array(), K)
    with pytest.raises(ValueError, match="'y' must have 40 labels"):
        SimilarityMatrixDisplay(K, y=labels[:3])


def test_similarities_of_samples_and_of_several_matrices():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    table = KreinLogisticRegressionCV(kernel="rbf", average=False).fit(X, y)
    K = SimilarityMatrixDisplay.from_estimator(table, X).matrix
    np.testing.assert_allclose(K, gram(X, kernel="rbf", **table.kernel_params_))
    D = np.stack([np.abs(X[:, None, i] - X[:, i]) for i in range(2)], axis=2)
    several = KreinLogisticRegressionCV(kernel="distance", average=False).fit(D, y)
    assert SpectrumDisplay.from_estimator(several, D).eigenvalues.shape == (40,)
