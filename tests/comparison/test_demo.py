"""The similarities of the demo, and what is said of results."""

import numpy as np

from kreinlearn.app.comparison import demo
from kreinlearn.app.comparison.demo_data import gaps
from kreinlearn.spectrum import describe


def test_distances_are_always_the_same_and_not_euclidean():
    cells, again = gaps(), gaps()
    for one, other in zip(cells, again, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(cells.D, cells.D.T)
    assert cells.D.shape == (200, 200) and cells.y.sum() == 100
    off = cells.D[~np.eye(200, dtype=bool)]
    assert off.min() > 0 and not np.diag(cells.D).any()  # disjoint
    K, _ = demo.job().matrices(0, 0, "precomputed")
    report = describe(K)
    assert report["signature"][1] > 120 and report["negative_share"] > 0.02


def test_gaps_and_radii_are_distances_of_points_in_three_dimensions():
    cells = gaps(60)
    radii = np.where(cells.y == 1, 2, 1)
    distances = cells.D + (radii + radii[:, None]) * (1 - np.eye(60))
    center = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(-center @ distances**2 @ center / 2)
    assert (values > 100).sum() == 3 and np.abs(values[:-3]).max() < 1e-7
    assert distances.max() < 100 * 3**0.5  # in the box


def test_every_sample_is_judged_once():
    held = [test for _, test in demo.job().splits.values()]
    assert len(held) == demo.FOLDS
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(200))


def row(method, right, *, gap=(-0.1, 0.1), low=None, loss=None, loss_gap=(-1, 1)):
    """Return a method that told so many of 200 cells right."""
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


def verdict(*rows):
    kernels = {"precomputed": {"signature": [10, 150, 0]}}
    data = [{"n": 200, "kernels": kernels}]
    return demo._verdict({"rows": rows, "data": data})


def test_the_verdict_says_what_came_out():
    said = verdict(
        row("SVC raw", 96, low=0.4),
        row("SVC clip", 140, gap=(-0.3, -0.1)),
        row("IKLR", 180),
    )
    assert said[0].startswith("From the gaps as they are, IKLR tells 180 of 200 cells")
    assert said[0].endswith("tells 96, no better than a coin.")
    assert said[1].startswith("150 of 160 eigenvalues are negative. Without them")
    assert said[1].endswith("is 140; the difference from the best is beyond chance.")
    assert said[2:] == [
        "Of the others, SVC clip (140) is the best; the difference is beyond chance."
    ]
    better = row("SVC raw", 160, low=0.7)
    assert "coin" not in verdict(better, row("SVC clip", 140), row("IKLR", 180))[0]


def test_the_verdict_admits_who_is_ahead():
    others = row("SVC raw", 96, low=0.4), row("SVC clip", 140)
    ahead = row("SVC flip", 184)
    said = verdict(*others, ahead, row("IKLR", 180))[2]
    assert said.startswith("IKLR is not the best here: SVC flip (184) is ahead; ")
    assert said.endswith("is within chance.")
    clear = verdict(*others, ahead, row("IKLR", 180, gap=(-0.05, -0.01)))[2]
    assert clear.endswith("is beyond chance.")
    alike = row("SVC flip", 180), row("k-NN", 180)
    said = verdict(*others, *alike, row("IKLR", 180, gap=(None, None)))[2]
    assert (
        said == "Of the others, SVC flip and k-NN (180) are the best, as good as IKLR."
    )


def test_probabilities_are_compared_with_those_after_a_repair():
    others = row("SVC raw", 96, low=0.4), row("SVC clip", 140)
    rival = row("flip + KLR", 180, loss=0.2)
    said = verdict(*others, rival, row("IKLR", 180, loss=0.3, loss_gap=(0.05, 0.2)))[3]
    assert "IKLR, with a log-loss of 0.300, and flip + KLR, with 0.200" in said
    assert said.endswith("the difference is beyond chance.")
    said = verdict(*others, rival, row("IKLR", 180, loss=0.1))[3]
    assert said.endswith("the difference is within chance.")


def test_trust_is_counted_where_the_method_is_sure():
    record = {"method": "IKLR", "proba": [0.95, 0.97, 0.02, 0.6], "truth": [1, 0, 0, 0]}
    said = demo._trust([record, {"method": "SVC raw"}])
    assert (
        "Of 3 cells IKLR was at least 90\u00a0% sure, on average 97\u00a0%; 2" in said
    )
    unsure = {"method": "IKLR", "proba": [0.6, 0.3], "truth": [1, 0]}
    assert (
        demo._trust([unsure]) == "IKLR was never as much as 90\u00a0% sure of a cell."
    )
