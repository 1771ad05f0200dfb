"""Against the worked example of Demšar 2006, section 3.2: C4.5 and three variants."""

import numpy as np
import pytest

from reproduction.ranks import (
    compute_critical_difference,
    compute_mean_ranks,
    rank_methods,
)

METHODS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
# Table 6 of the article: AUC on fourteen data sets.
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9752, 0.9748],  # printed 0.975 twice, ranked 2 and 3
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_friedman_of_the_example():
    ranks, (N, k) = compute_mean_ranks(AUC), AUC.shape
    # The article gives 9.28, by the formula without a correction for ties.
    plain = 12 * N / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.01)
    ranking = rank_methods(AUC, METHODS)
    assert ranking.statistic >= plain
    assert ranking.statistic == pytest.approx(plain, rel=0.15)
    assert ranking.pvalue < 0.05


def test_nemenyi_of_the_example():
    # Table 5 of the article: q at 0.05 is 2.569 for four, 2.343 for three methods.
    assert compute_critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert compute_critical_difference(4, 14, 0.1) == pytest.approx(1.12, abs=0.005)
    q3 = compute_critical_difference(3, 10) / np.sqrt(3 * 4 / 60)
    assert q3 == pytest.approx(2.343, abs=1e-3)
    ranking = rank_methods(AUC, METHODS)
    # The article finds no difference between any two methods at 0.05.
    assert ranking.methods == ("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")
    assert ranking.cliques == ((0, 3),)
    assert ranking.n_datasets == 14


@pytest.mark.parametrize("shape", [(5, 2), (1, 4)])
def test_too_little_to_compare(shape, rng):
    assert rank_methods(rng.uniform(size=shape), ["m"] * shape[1]) is None
    assert rank_methods(np.ones((5, 4)), ["m"] * 4) is None
