"""Selection of landmarks among candidates.

Candidates are drawn in the first pass, uniformly among rows with positive weight.
"""

import numpy as np
from sklearn.cluster import kmeans_plusplus

from kreinlearn._typing import Array
from kreinlearn.kernels import ResolvedKernel
from kreinlearn.landmarks.passes import DataSummary, fit_columns
from kreinlearn.landmarks.penalty import build_penalty, landmark_gram
from kreinlearn.operators import take_samples

SELECTION_METHODS = ("uniform", "kmeans++", "leverage")
CANDIDATES_PER_LANDMARK = 10
"""Rows drawn for each landmark, unless the selection is uniform."""
MAX_PILOTS = 500
"""Maximum number of candidates that define approximate leverage scores."""


def count_candidates(method: str, n_landmarks: int) -> int:
    """Return the number of candidates to draw in the first pass."""
    return n_landmarks * (1 if method == "uniform" else CANDIDATES_PER_LANDMARK)


def select_landmarks(
    summary: DataSummary,
    method: str,
    n_landmarks: int,
    kernel: ResolvedKernel,
    seed: int,
) -> Array:
    """Return positions of landmarks among the candidates of the first pass.

    Parameters
    ----------
    summary : DataSummary
        With as many candidates as `count_candidates` returns.
    method : {"uniform", "kmeans++", "leverage"}
        Selection method.
    n_landmarks : int
        Number of landmarks; all candidates are landmarks if there are no more.
    kernel : ResolvedKernel
        The kernel, for leverage scores.
    seed : int
        Seed.

    Returns
    -------
    ndarray of int
        Increasing.
    """
    X, weights, n = summary.samples, summary.weight, len(summary.row)
    if n <= n_landmarks:
        return np.arange(n)
    if method == "kmeans++":
        return select_distant(X, weights, n_landmarks, seed)
    pilots = np.linspace(0, n - 1, min(n, MAX_PILOTS)).astype(int)
    columns = fit_columns(kernel, take_samples(X, pilots))
    K = landmark_gram(columns, "hilbert")
    return sample_by_leverage(columns(X), K, weights, n_landmarks, seed)


def select_distant(X: Array, weights: Array, n_landmarks: int, seed: int) -> Array:
    """Return increasing positions of n_landmarks distant rows, by k-means++."""
    rows, options = np.asarray(X, dtype=float), {"sample_weight": weights}
    _, found = kmeans_plusplus(rows, n_landmarks, **options, random_state=seed)
    if len(np.unique(found)) < n_landmarks:  # some rows are equal
        rest = np.setdiff1d(np.arange(len(X)), found)
        found = np.append(np.unique(found), rest)[:n_landmarks]
    return np.sort(found)


def sample_by_leverage(
    C: Array, K: Array, weights: Array, n_landmarks: int, seed: int
) -> Array:
    """Draw candidates with probabilities given by approximate leverage scores.

    Parameters
    ----------
    C : ndarray of shape (n, p)
        Similarities of all candidates with p pilots, which are some of them.
    K : ndarray of shape (p, p)
        Similarities among the pilots, symmetric.
    weights : ndarray of shape (n,)
        Weights of the candidates.
    n_landmarks : int
        Number of landmarks; fewer than candidates.
    seed : int
        Seed.

    Returns
    -------
    ndarray of shape (n_landmarks,)
        Positions, increasing.

    Notes
    -----
    Features of a candidate are its similarities with the pilots, scaled so that their
    inner products approximate the modulus of K. Its leverage is the part of it that
    other candidates do not explain, with a ridge that leaves about ``n_landmarks``
    dimensions.
    """
    features = C @ build_penalty("hilbert", K).T
    values, vectors = np.linalg.eigh(features.T @ features)
    values = np.maximum(values, 0.0)
    ridge = values.sum() / max(1, n_landmarks)
    scaled = features @ (vectors / (values + ridge))
    scores = np.einsum("ij,ij->i", scaled, features @ vectors)
    chances = np.maximum(scores, 1e-12) * weights
    rng = np.random.default_rng(seed)
    # The largest of these keys are a draw without replacement.
    keys = rng.exponential(size=len(C)) / chances
    return np.sort(np.argsort(keys)[:n_landmarks])
