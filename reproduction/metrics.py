"""Table 1: eigenvalues of Gaussians of distances between covariance matrices.

Letters: S a random symmetric positive definite matrix of size d, K the similarities
among n of them, mu its eigenvalues.
"""

import numpy as np

from kreinlearn._typing import Array
from kreinlearn.app.runs import Cell, Record
from kreinlearn.kernels import spd_distances

SEARCHED_METRICS = {
    "Euclidean": "euclid",
    "Log-Euclidean": "log_euclid",
    "Affine-invariant": "affine_invariant",
    "Stein": "stein",
}
"""Names in tables to names in `spd_distances`."""
SIZES = {"2 x 2": 2, "3 x 3": 3, "5 x 5": 5, "9 x 9": 9}
"""Sizes of matrices by the names that cells have for them."""
SPREADS = (0.3, 1.0, 3.0)
"""Standard deviations of the logarithms of eigenvalues."""
WIDTH_FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Multiples of the median distance."""
STACKS = 10
"""Random stacks for each spread."""
SAMPLES = 50
"""Matrices in a stack."""
LARGEST_ERROR = 1e-11
"""Negative eigenvalues that are rounding errors, relative to the largest, at most."""


def random_stack(n: int, d: int, spread: float, rng: np.random.Generator) -> Array:
    """Return n random symmetric positive definite matrices of size d.

    The spread is the standard deviation of the logarithms of their eigenvalues; all
    directions of eigenvectors are equally likely.
    """
    Q, _ = np.linalg.qr(rng.standard_normal((n, d, d)))
    values = np.exp(spread * rng.standard_normal((n, 1, d)))
    S = (Q * values) @ Q.transpose(0, 2, 1)
    return (S + S.transpose(0, 2, 1)) / 2


def search(cell: Cell) -> Record:
    """Look for negative eigenvalues of the Gaussian of one metric.

    The record holds how many kernel matrices were tried, how many of them are
    indefinite, and the smallest of all ratios of the smallest to the largest
    eigenvalue. All metrics of a run see the same matrices.
    """
    rng = np.random.default_rng(cell.half_seed)
    tried, indefinite, worst = 0, 0, np.inf
    for spread in SPREADS:
        for _ in range(STACKS):
            X = random_stack(SAMPLES, SIZES[cell.dataset], spread, rng)
            D = spd_distances(X, metric=SEARCHED_METRICS[cell.method])
            middle = np.median(D[np.triu_indices(len(D), 1)])
            for width in WIDTH_FACTORS:
                mu = np.linalg.eigvalsh(np.exp(-D / (width**2 * middle)))
                ratio = mu[0] / mu[-1]
                tried += 1
                indefinite += bool(ratio < -LARGEST_ERROR)
                worst = min(worst, float(ratio))
    counts = {"tried": tried, "indefinite": indefinite, "mu_ratio": worst}
    return {"status": "done", "n": SAMPLES, "m": SIZES[cell.dataset], **counts}
