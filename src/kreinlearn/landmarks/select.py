"""Which samples become landmarks.

All ways begin with rows that were drawn in the first pass, uniformly among those with
positive weight.
"""

import numpy as np
from sklearn.cluster import kmeans_plusplus

from kreinlearn._typing import Array
from kreinlearn.landmarks.penalty import penalty_of

WAYS = ("uniform", "kmeans++", "leverage")
CANDIDATES = 10
"""Rows drawn for each landmark, among which it is chosen, unless it is uniform."""
PILOTS = 500
"""Most candidates that approximate leverage scores are measured by."""


def n_candidates(way: str, n_landmarks: int) -> int:
    """Return how many rows the first pass should draw.

    Parameters
    ----------
    way : {"uniform", "kmeans++", "leverage"}
        How landmarks are chosen.
    n_landmarks : int
        Their number.

    Returns
    -------
    int
        As many as landmarks, or ten times as many.
    """
    return n_landmarks if way == "uniform" else CANDIDATES * n_landmarks


def kmeans(X: Array, weights: Array, n_landmarks: int, seed: int) -> Array:
    """Return positions of rows that are far from each other, by k-means++.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Candidates.
    weights : ndarray of shape (n,)
        Their weights.
    n_landmarks : int
        How many are wanted; fewer than candidates.
    seed : int
        For the choice.

    Returns
    -------
    ndarray of shape (n_landmarks,)
        Increasing.
    """
    _, found = kmeans_plusplus(
        np.asarray(X, dtype=float),
        n_landmarks,
        sample_weight=weights,
        random_state=seed,
    )
    if len(np.unique(found)) < n_landmarks:  # copies of what was chosen before
        rest = np.setdiff1d(np.arange(len(X)), found)
        found = np.append(np.unique(found), rest)[:n_landmarks]
    return np.sort(found)


def leverage(C: Array, K: Array, weights: Array, n_landmarks: int, seed: int) -> Array:
    """Return positions of candidates, drawn by approximate leverage scores.

    Parameters
    ----------
    C : ndarray of shape (n, p)
        Similarities of all candidates with p pilots, which are some of them.
    K : ndarray of shape (p, p)
        Those among the pilots, symmetric.
    weights : ndarray of shape (n,)
        Weights of the candidates.
    n_landmarks : int
        How many are wanted; fewer than candidates.
    seed : int
        For the choice.

    Returns
    -------
    ndarray of shape (n_landmarks,)
        Increasing.

    Notes
    -----
    Features of a candidate are its similarities with the pilots, scaled so that their
    inner products approximate the modulus of K. Its leverage is how much of it no other
    candidate explains, with a ridge that leaves about ``n_landmarks`` dimensions.
    """
    features = C @ penalty_of("hilbert", K).T
    values, vectors = np.linalg.eigh(features.T @ features)
    values = np.maximum(values, 0.0)
    ridge = values.sum() / max(1, n_landmarks)
    scores = np.einsum(
        "ij,ij->i", features @ (vectors / (values + ridge)), features @ vectors
    )
    chances = np.maximum(scores, 1e-12) * weights
    rng = np.random.default_rng(seed)
    # The largest of these keys are a draw without replacement.
    keys = rng.exponential(size=len(C)) / chances
    return np.sort(np.argsort(keys)[:n_landmarks])
