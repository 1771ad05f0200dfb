"""Samples of every kind for the golden fits, generated from seeds."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

LETTERS = list("ARNDCQEGHILKMFPSTWYV")


class Data(NamedTuple):
    """Training samples, labels, and new samples."""

    X: Any
    y: Any
    new: Any


def make_rows(n, n_classes=2, dtype=float, n_features=4):
    """Return rows in the unit cube; the class depends on the distance to its center."""
    rng = np.random.default_rng(n + n_features)
    X = rng.uniform(size=(n + 12, n_features))
    score = np.abs(X - 0.5).sum(axis=1) + 0.1 * rng.standard_normal(n + 12)
    bounds = np.quantile(score, np.arange(1, n_classes) / n_classes)
    y = np.digitize(score, bounds)
    return Data(X[:n].astype(dtype), y[:n], X[n:].astype(dtype))


def make_frame(n):
    rows = make_rows(n)
    names = list("abcd")
    labels = np.array(["no", "yes"])[rows.y]
    return Data(
        pd.DataFrame(rows.X, columns=names), labels, pd.DataFrame(rows.new, None, names)
    )


def make_covariances(n, n_classes=2, dtype=float):
    rng = np.random.default_rng(n)
    y = np.arange(n + 6) % n_classes
    A = rng.standard_normal((n + 6, 3, 12)) * (1 + y[:, None, None] * [[1], [0], [0]])
    S = (A @ A.transpose(0, 2, 1) / 12).astype(dtype)
    return Data(S[:n], y[:n], S[n:])


def make_series(n, channels=1):
    """Return waves of unequal lengths; the class sets the frequency."""
    rng, found = np.random.default_rng(n + channels), []
    for i in range(n + 6):
        time = np.linspace(0, 3, int(rng.integers(8, 14)))
        wave = np.sin(time * (1 + 2 * (i % 2)))[:, None] + np.zeros(channels)
        wave = wave + 0.5 * rng.standard_normal(wave.shape)
        found.append(wave[:, 0] if channels == 1 else wave)
    return Data(found[:n], np.arange(n) % 2, found[n:])


def make_sequences(n):
    rng = np.random.default_rng(n)
    ancestors = rng.choice(LETTERS, (2, 20))
    found = []
    for i in range(n + 6):
        is_kept = rng.uniform(size=20) < 0.6
        letters = np.where(is_kept, ancestors[i % 2], rng.choice(LETTERS, 20))
        found.append("".join(letters[: rng.integers(14, 21)]))
    return Data(found[:n], np.arange(n) % 2, found[n:])


def make_graphs(n):
    """Return paths and cycles with a random chord, as (number of nodes, edges)."""
    rng, found = np.random.default_rng(n), []
    for i in range(n + 6):
        size = int(rng.integers(5, 9))
        edges = [(a, a + 1) for a in range(size - 1)] + [(0, size - 1)] * (i % 2)
        found.append((size, [*edges, (0, int(rng.integers(2, size - 1)))]))
    return Data(found[:n], np.arange(n) % 2, found[n:])


def make_clouds(n):
    rng = np.random.default_rng(n)
    shapes = [(int(rng.integers(3, 6)), 2) for _ in range(n + 6)]
    found = [rng.standard_normal(s) + 0.8 * (i % 2) for i, s in enumerate(shapes)]
    return Data(found[:n], np.arange(n) % 2, found[n:])


def make_histograms(n):
    rng = np.random.default_rng(n)
    H = np.array(
        [rng.dirichlet([3, 1, 2] if i % 2 else [1, 2, 2]) for i in range(n + 6)]
    )
    return Data(H[:n], np.arange(n) % 2, H[n:])


def make_distances(n, n_classes=2, dtype=float, skew=0.0):
    """Return l1 distances between rows, a tenth of them perturbed."""
    rows = make_rows(n, n_classes)
    rng = np.random.default_rng(n)
    X = np.concatenate([rows.X, rows.new])
    D = np.abs(X[:, None] - rows.X).sum(axis=2)
    noise = rng.uniform(0.5, 1.5, D.shape) ** (rng.uniform(size=D.shape) < 0.1)
    D[:n] *= np.sqrt(noise[:n] * noise[:n].T)
    D[:n] += skew * np.triu(rng.uniform(size=(n, n)), 1)
    return Data(D[:n].astype(dtype), rows.y, D[n:].astype(dtype))


def make_matrix(n, n_classes=2, dtype=float, skew=0.0):
    """Return an indefinite similarity matrix: truncated distances."""
    D = make_distances(n, n_classes, dtype, skew)
    return Data(np.maximum(1.3 - D.X, -0.2), D.y, np.maximum(1.3 - D.new, -0.2))


def make_named_matrix(n):
    """Return a matrix with labels of rows and columns; new columns in another order."""
    K = make_matrix(n)
    names = [f"s{i}" for i in range(n)]
    new = pd.DataFrame(K.new, [f"n{i}" for i in range(len(K.new))], names)
    return Data(pd.DataFrame(K.X, names, names), K.y, new[names[::-1]])


def make_rectangle(n):
    K = make_matrix(n)
    return Data(K.X[:, : n // 2], K.y, K.new[:, : n // 2])


def make_images(n):
    rng = np.random.default_rng(n)
    images = rng.uniform(size=(n + 4, 12, 12))
    images[::2] = images[::2].cumsum(axis=1) / 6
    return Data(images[:n], (np.arange(n) + 1) % 2, images[n:])


SAMPLES = {
    "rows": lambda: make_rows(60),
    "rows3": lambda: make_rows(66, 3),
    "rows32": lambda: make_rows(60, dtype=np.float32),
    "rows3_32": lambda: make_rows(66, 3, np.float32),
    "more rows": lambda: make_rows(180),
    "more rows3": lambda: make_rows(120, 3),
    "wide rows": lambda: make_rows(40, n_features=30),
    "frame": lambda: make_frame(60),
    "spd": lambda: make_covariances(36),
    "spd3": lambda: make_covariances(36, 3),
    "spd32": lambda: make_covariances(36, dtype=np.float32),
    "series": lambda: make_series(28),
    "channels": lambda: make_series(24, 2),
    "sequences": lambda: make_sequences(28),
    "graphs": lambda: make_graphs(28),
    "clouds": lambda: make_clouds(28),
    "histograms": lambda: make_histograms(28),
    "distances": lambda: make_distances(60),
    "distances3": lambda: make_distances(60, 3),
    "distances32": lambda: make_distances(60, dtype=np.float32),
    "matrix": lambda: make_matrix(60),
    "matrix3": lambda: make_matrix(60, 3),
    "matrix32": lambda: make_matrix(60, dtype=np.float32),
    "skew matrix": lambda: make_matrix(48, skew=0.2),
    "skew distances": lambda: make_distances(48, skew=0.2),
    "named matrix": lambda: make_named_matrix(40),
    "rectangle": lambda: make_rectangle(60),
    "images": lambda: make_images(24),
}


@cache
def get_samples(name):
    """Return the samples of a name in `SAMPLES`."""
    return SAMPLES[name]()
