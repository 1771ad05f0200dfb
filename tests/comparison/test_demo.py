"""The similarities of the demo, and sentences about results."""

import numpy as np

from kreinlearn.app.comparison import demo
from kreinlearn.spectrum import describe


def test_distances_are_always_the_same_and_not_euclidean():
    D, y = demo.make_gaps()
    np.testing.assert_array_equal(D, demo.make_gaps()[0])
    np.testing.assert_array_equal(D, D.T)
    assert D.shape == (200, 200) and y.sum() == 100
    off = D[~np.eye(200, dtype=bool)]
    assert off.min() > 0 and not np.diag(D).any()  # disjoint
    K, _ = demo.make_job("balls").split_similarities((0, 0), "precomputed")
    report = describe(K)
    assert report["signature"][1] > 120 and report["negative_share"] > 0.02


def test_gaps_and_radii_are_distances_of_points_in_three_dimensions():
    D, y = demo.make_gaps(60)
    radii = np.where(y == 1, 2, 1)
    distances = D + (radii + radii[:, None]) * (1 - np.eye(60))
    center = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(-center @ distances**2 @ center / 2)
    assert (values > 100).sum() == 3 and np.abs(values[:-3]).max() < 1e-7
    assert distances.max() < 100 * 3**0.5  # in the box


def row(method, right, *, gap=(-0.1, 0.1), low=None, loss=0.4, loss_gap=(-1, 1)):
    """Return a method that classifies so many of 200 cells correctly."""
    ends = dict(zip(("low", "high"), gap, strict=True))
    loss_ends = dict(zip(("low", "high"), loss_gap, strict=True))
    return {
        "method": method,
        "accuracy": right / 200,
        "accuracy_low": low,
        "log_loss": loss,
        "confusion": [[right - 60, 40], [160 - right, 60]],
        "behind": {"accuracy": ends, "log_loss": loss_ends},
    }


def sentences(*rows):
    about = {"signature": [10, 150, 0], "negative_share": 0.035}
    data = {"n": 200, "kernels": {"precomputed": about}}
    named = {"flip + KLR": row("flip + KLR", 100)}
    named |= {each["method"]: each for each in rows}
    return demo._state_balls(named, demo._state_spectrum({"data": data}))


def sure_record(method):
    return {"method": method, "proba": [0.95, 0.97, 0.02, 0.6], "truth": [1, 0, 0, 0]}


def test_sentences_state_the_results():
    said = sentences(
        row("SVC raw", 96, low=0.4),
        row("SVC clip", 140, gap=(-0.3, -0.1)),
        row("KreinCV", 180),
    )
    assert said[0] == (
        "KreinCV classifies 180 of 200 cells correctly. An SVM on the same matrix gets "
        "96, no better than chance."
    )
    assert said[1].startswith("150 of 160 eigenvalues of the similarities are negative")
    assert "3.5% of" in said[1]
    assert "140 cells are correct" in said[1]
    assert said[1].endswith(
        "the difference from the best is beyond the margin of error."
    )
    assert said[2].startswith("Of the others, SVC clip (140) is the best; ")
    better = row("SVC raw", 160, low=0.7)
    found = sentences(better, row("SVC clip", 140), row("KreinCV", 180))
    assert "chance" not in found[0]


def test_sentences_name_a_better_method():
    others = row("SVC raw", 96, low=0.4), row("SVC clip", 140)
    ahead = row("SVC flip", 184)
    said = sentences(*others, ahead, row("KreinCV", 180))[2]
    assert said.startswith("KreinCV is not the best here: SVC flip (184) is ahead; ")
    assert said.endswith("is within the margin of error.")
    clear = sentences(*others, ahead, row("KreinCV", 180, gap=(-0.05, -0.01)))[2]
    assert clear.endswith("is beyond the margin of error.")
    alike = row("SVC flip", 180), row("k-NN", 180)
    said = sentences(*others, *alike, row("KreinCV", 180, gap=(None, None)))[2]
    assert said.endswith("SVC flip and k-NN (180) are the best, as good as KreinCV.")


def test_log_losses_are_compared():
    others = row("SVC raw", 96, low=0.4), row("SVC clip", 140)
    rival = row("flip + KLR", 180, loss=0.2)
    ours = row("KreinCV", 180, loss=0.3, loss_gap=(0.05, 0.2))
    said = sentences(*others, rival, ours)[3]
    assert "KreinCV, with a log-loss of 0.300, and flip + KLR, with 0.200" in said
    assert said.endswith("the difference is beyond the margin of error.")


def test_sure_predictions_are_counted():
    record = sure_record("KreinCV")
    found = demo._state_reliability("balls", [record, {"method": "SVC raw"}])
    assert (
        found == "KreinCV was at least 90% sure of 3 cells, and right about 2 of them."
    )
    unsure = {"method": "KreinCV", "proba": [0.6, 0.3], "truth": [1, 0]}
    found = demo._state_reliability("balls", [unsure])
    assert found == "KreinCV was never 90% sure of a cell."
    several = {"method": "KreinCV", "truth": [0, 2]}
    several["proba"] = [[0.95, 0.03, 0.02], [0.2, 0.7, 0.1]]
    found = demo._state_reliability("digits", [several])
    assert found.endswith("sure of 1 digits, and right about 1 of them.")


def naive_distance(first, second):
    """Return the modified Hausdorff distance by its definition."""
    a, b = np.argwhere(first), np.argwhere(second)
    pairs = np.linalg.norm(a[:, None] - b, axis=2)
    return max(pairs.min(axis=1).mean(), pairs.min(axis=0).mean())


def test_digits_are_compared_by_the_modified_hausdorff_distance():
    images, y = demo.load_digit_images()
    assert images.shape == (400, 8, 8) and (np.bincount(y) == 40).all()
    dark = images[:30] >= demo.DARK_LEVEL
    D = demo.compare_dark_pixels(dark)
    naive = [[naive_distance(a, b) for b in dark] for a in dark]
    np.testing.assert_allclose(D, naive, atol=1e-12)
    np.testing.assert_array_equal(demo.make_job("digits").X[:30, :30], D)
    assert (D[:, None] > D[:, :, None] + D[None] + 1e-9).any()  # not a metric


def digit_row(method, errors, left, loss, *, is_clear):
    confusion = np.zeros((10, 10), int)
    confusion[0, 0], confusion[0, 1] = 400 - errors, errors
    ends = {"low": 0.1, "high": 0.2} if is_clear else {"low": -0.1, "high": 0.2}
    return {
        "method": method,
        "confusion": confusion.tolist(),
        "log_loss": loss,
        "behind": {"log_loss": ends},
        "review": {"fraction": [0, 0.2, 1], "left": [errors, left, 0]},
    }


def test_sentences_about_digits_credit_the_logistic_model():
    machine = digit_row("SVC clip + Platt", 29, 17, 0.3, is_clear=True)
    ours = digit_row("KreinCV", 33, 3, 0.11, is_clear=False)

    def state(rival):
        rows = {row["method"]: row for row in (machine, rival, ours)}
        return demo._state_digits(rows, "")

    said = state(digit_row("clip + KLR", 34, 4, 0.1, is_clear=False))
    assert said[0].startswith("KreinCV classifies 367 of 400 handwritten digits")
    assert "leaves 3 of its 33 errors (SVC clip + Platt: 17 of 29; " in said[1]
    assert said[2].endswith("so the gain over the SVMs comes from the logistic model.")
    said = state(digit_row("clip + KLR", 34, 4, 0.2, is_clear=True))
    assert said[2].endswith("the difference is beyond the margin of error.")


def test_contributions_are_those_of_the_model_that_was_scored():
    job = demo.make_job("digits")
    (train, test), cell = job.splits[0, 0], demo._make_cell(job, "KreinCV", 0, 0)
    figure = demo._make_contribution_figure(job, int(test[0]))
    _, heads, body = figure.numbers
    assert heads == "training image, digit, contribution" and len(body) == 8
    shown = [float(row[2]) for row in body]
    assert shown[:4] == sorted(shown[:4], reverse=True) and shown[3] > 0 > shown[7]
    assert {int(row[0]) for row in body} <= set(train.tolist())
    assert cell.method == "KreinCV"
